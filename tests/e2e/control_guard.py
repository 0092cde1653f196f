#!/usr/bin/env python3
# test: short
"""A declaration that is undone unless the node is heard upstream in time: it cuts the way and is reverted, all passes of it,
wherever the service dies; where the way stays it stays; the control plane knows which, and what could not be undone."""

import hashlib
import pathlib
import signal
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import mesh  # noqa: E402
import tap  # noqa: E402


BOUNDARY = str(pathlib.Path(fleet.DATUM).parents[2] / "tests/e2e/boundary.so")
MANY = 800  # of one wave
MIDDLE = "m400"  # by name: whoever dies before it has its content has done some and not all


class Guard(unittest.TestCase):
    declare, enrol, content = mesh.Mesh.declare, mesh.Mesh.enrol, mesh.Mesh.content

    def setUp(self):
        mesh.Mesh.setUp(self)
        self.assertEqual(self.enrol().code, 0)
        self.host = self.bench.start()
        self.host.wait_ready()
        self.push("one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 1)
        self.assertEqual(self.content(), "one\n")

    def push(self, text, *flags):
        self.declare(text)
        self.plane.ask("push", "--fleet", self.bench.fleet, *flags)

    def cut_with(self, text):
        """From the moment that the machine has `text` on not a byte goes through."""
        self.way.gate = lambda: self.content() == text

    def heal(self):
        self.way.gate = None
        self.way.break_all()

    def passes(self):
        return len(self.bench.events("--kind", "passReverted"))

    def told(self):
        return self.bench.events("--kind", "declarationRejected")

    def push_many(self, text, *flags):
        self.bench.declare(fleet.file("motd", "/motd", text), *(fleet.file(f"m{at}", f"/m{at}", text) for at in range(MANY)))
        self.plane.ask("push", "--fleet", self.bench.fleet, *flags)

    def many(self, text, step=1):
        """How many of them have that content."""
        return sum(self.bench.path(f"/m{at}").read_text() == text for at in range(0, MANY, step))

    def start_to_die(self, turn):
        """The service anew; it dies right before the one in the middle gets its content for that time."""
        self.assertEqual(self.host.stop(), 0)
        self.host = self.bench.start(before=("env", f"LD_PRELOAD={BOUNDARY}", f"DEADLY_NAME={MIDDLE}", f"DEADLY_TURN={turn}"))
        self.host.wait_pass()
        hosting.wait(lambda: self.plane.node()["linked"])

    def kill(self):
        self.host.kill()
        self.host.wait_end()

    def begin_many(self):
        """All of one generation, kept upstream; then the way is cut by the next, whose service dies inside of its pass."""
        self.push_many("one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        self.start_to_die(1)
        self.way.gate = lambda: self.many("two\n", 40) > 0
        self.push_many("two\n", "--revert-unless-linked", "6s")
        self.host.wait_end()
        self.assertEqual((self.many("two\n") > 0, self.many("one\n") > 0), (True, True))

    def wait_reverted(self, number):
        node = hosting.wait(lambda: (now := self.plane.node())["rejected"]["number"] == number and now)
        (told,) = self.told()
        self.assertEqual(node["rejectedWhy"], told["event"]["reason"])
        self.assertEqual(node["applied"]["number"], number - 1)
        return node["rejectedWhy"]

    def test_death_inside(self):
        """guard: the service dies inside of the pass and the next one does the rest: both are undone, the newer first"""
        self.begin_many()
        self.host = self.bench.start()
        hosting.wait(lambda: self.many("two\n", 40) == MANY // 40)
        hosting.wait(lambda: self.told())
        self.assertEqual((self.many("one\n"), self.content()), (MANY, "one\n"))
        undone = [event["event"]["pass"] for event in self.bench.events("--kind", "passReverted")]
        self.assertEqual((len(undone), undone), (2, sorted(undone, reverse=True)))
        self.heal()
        self.assertIn("reverted: no link within 6 s", self.wait_reverted(3))

    def test_no_pass_ends(self):
        """guard: where no pass comes to an end within a pass limit and its time, none is tried again, and it is undone"""
        self.begin_many()
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: 1s, passLimit: 10s}}\n"
                             f'control: ["127.0.0.1:{self.way.port}"]\n')
        done = self.many("two\n")
        over = time.monotonic() + 17
        hosting.wait(lambda: time.monotonic() > over)
        self.host = self.bench.start()
        for _ in range(3):
            self.host.wait_pass()
            self.assertEqual(self.many("two\n"), done)
        hosting.wait(lambda: self.told())
        self.assertEqual((self.many("one\n"), self.passes()), (MANY, 1))
        self.heal()
        self.wait_reverted(3)

    def test_nothing_left(self):
        """guard: what a dead pass did is undone where the next one found nothing to do; what a person did meanwhile stays"""
        self.begin_many()
        by_person = [at for at in range(MANY) if self.bench.path(f"/m{at}").read_text() == "one\n"]
        for name in ["motd", *(f"m{at}" for at in by_person)]:
            self.bench.path(f"/{name}").write_text("two\n")
        self.host = self.bench.start()
        hosting.wait(lambda: self.told())
        self.assertEqual(self.passes(), 1)
        self.assertEqual({at for at in range(MANY) if self.bench.path(f"/m{at}").read_text() == "two\n"}, set(by_person))
        self.heal()
        self.wait_reverted(3)

    def test_death_while_undoing(self):
        """guard: an undoing that began comes to its end, though the service dies in it and has its link back at once"""
        self.push_many("one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        self.start_to_die(2)
        self.cut_with("two\n")
        self.push_many("two\n", "--revert-unless-linked", "6s")
        hosting.wait(lambda: self.many("two\n") == MANY)
        self.host.wait_end()
        self.assertEqual((self.many("two\n") > 0, self.many("one\n") > 0), (True, True))
        self.heal()
        self.host = self.bench.start()
        self.assertIn("reverted: no link within 6 s", self.wait_reverted(3))
        self.assertEqual((self.many("one\n"), self.content()), (MANY, "one\n"))
        self.kill()
        self.host = self.bench.start()
        self.host.wait_pass()
        self.assertEqual((self.many("one\n"), len(self.told())), (MANY, 1))

    def test_by_hand(self):
        """guard: two passes are undone; what was edited before it stays and is named at both ends; and nothing is put back later"""
        self.cut_with("two\n")
        self.bench.path("/large").write_bytes(bytes(17 << 20))  # more than is kept
        self.bench.declare(*(fleet.file(name, f"/{name}", "two\n") for name in ("motd", "other", "long", "large")))
        self.plane.ask("push", "--fleet", self.bench.fleet, "--revert-unless-linked", "8s")
        self.host.wait_until(lambda: self.content() == "two\n")
        self.bench.path("/other").write_text("drift\n")
        self.assertEqual(mesh.Mesh.by_person(self, "reconcile").code, 0)
        self.bench.path("/long").write_text("by hand\n")
        hosting.wait(lambda: self.told())
        self.assertEqual(self.passes(), 2)
        self.assertEqual((self.content(), self.bench.path("/other").read_text()), ("one\n", "drift\n"))
        self.motd.write_text("edited\n")
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: 1s}}\n"
                             f'control: ["127.0.0.1:{self.way.port}"]\n')
        self.host.signal(signal.SIGHUP)
        for _ in range(3):
            self.host.wait_pass()
        self.assertEqual(mesh.Mesh.by_person(self, "reconcile").code, 2)
        self.assertEqual((self.content(), self.bench.path("/long").read_text()), ("edited\n", "by hand\n"))
        self.heal()
        why = self.wait_reverted(2)
        self.assertIn("not undone: ", why)
        self.assertIn("File[long] (/long): conflict: changed since", why)
        self.assertIn("File[large] (/large): cannot be undone: its old content was not kept", why)
        self.push("three\n")
        self.host.wait_until(lambda: self.content() == "three\n")

    def test_damaged(self):
        """guard: a damaged file of it is named in the log and the journal, written anew, and the link has its time once more"""
        self.cut_with("two\n")
        self.push("two\n", "--revert-unless-linked", "8s")
        self.host.wait_until(lambda: self.content() == "two\n")
        self.kill()
        guard = self.bench.state / "identity/guard"
        sound = guard.read_bytes()
        for damage in (bytes([sound[0] ^ 1]) + sound[1:], sound[:-1], None):
            guard.write_bytes(damage) if damage else guard.unlink()
            self.host = self.bench.start()
            self.host.wait_pass()
            self.assertIn("identity/guard: ", self.host.said)
            self.assertIn("has its whole time", self.host.said)
            self.kill()
            self.assertEqual(guard.read_bytes()[:32], sound[:32])
        named = [event["event"]["file"] for event in self.bench.events("--kind", "configRejected")]
        self.assertEqual(named, [str(guard)] * 3)
        self.host = self.bench.start()
        hosting.wait(lambda: self.told())
        self.assertEqual(self.content(), "one\n")
        for stand in (None, 1, 3):  # damaged; or a death came between the record of its end and the file
            self.kill()
            words = sound[:48] + (stand or 0).to_bytes(8, "little")
            guard.write_bytes(words + hashlib.sha256(words).digest() if stand else b"")
            self.host = self.bench.start()
            self.host.wait_pass()
            self.assertEqual(guard.read_bytes()[48:56], (4).to_bytes(8, "little"))
        self.heal()
        self.wait_reverted(2)
        self.assertEqual((self.content(), self.passes()), ("one\n", 1))

    def test_reverts(self):
        """guard: a declaration after which nobody upstream hears the node is undone, told when the way is back, and not done again"""
        self.cut_with("two\n")
        self.push("two\n", "--revert-unless-linked", "5s")
        hosting.wait(lambda: self.content() == "two\n")
        hosting.wait(lambda: self.content() == "one\n")
        self.assertEqual((self.bench.root / "long").read_text(), "one\n" * 3000)
        hosting.wait(lambda: self.passes() == 1)
        self.heal()
        node = hosting.wait(lambda: (now := self.plane.node())["rejected"]["number"] == 2 and now)
        self.assertIn("reverted: no link within 5 s", node["rejectedWhy"])
        self.assertEqual(node["applied"]["number"], 1)
        self.assertEqual(self.host.stop(), 0, self.host.said)
        self.host = self.bench.start()
        self.host.wait_pass()
        self.assertEqual(self.content(), "one\n")
        self.push("three\n")
        self.host.wait_until(lambda: self.content() == "three\n")

    def test_over_a_death(self):
        """guard: the service is killed and started again inside of the time, and the pass is undone all the same [E17]"""
        self.cut_with("two\n")
        self.push("two\n", "--revert-unless-linked", "6s")
        hosting.wait(lambda: [event for event in self.bench.events("--kind", "passFinished")][-1:] and
                     self.content() == "two\n" and (self.bench.state / "identity/guard").exists())
        self.host.signal(signal.SIGKILL)
        self.host.wait_end()
        self.assertEqual(self.content(), "two\n")
        self.host = self.bench.start()
        hosting.wait(lambda: self.content() == "one\n")
        hosting.wait(lambda: self.passes() == 1)
        self.host.kill()
        self.host.wait_end()
        self.host = self.bench.start()
        self.host.wait_pass()
        self.assertEqual((self.content(), self.passes()), ("one\n", 1))

    def test_late_start(self):
        """guard: after a start that comes when its time is over the way up has time yet, though passes end before it is up"""
        guard = self.bench.state / "identity/guard"
        for number, text, is_damaged in ((2, "two\n", False), (3, "three\n", True)):
            self.cut_with(text)
            self.push(text, "--revert-unless-linked", "10s")
            hosting.wait(lambda: self.content() == text)
            hosting.wait(lambda: [event["event"]["declaration"]["number"] for event in self.bench.events("--kind", "passStarted")
                                  if self.bench.events("--kind", "passFinished")[-1]["seq"] > event["seq"]][-1] == number)
            self.kill()
            if is_damaged:
                guard.write_bytes(b"")
            over = time.monotonic() + 11
            hosting.wait(lambda: time.monotonic() > over)
            self.host = self.bench.start()
            self.host.wait_pass()
            self.assertEqual(mesh.Mesh.by_person(self, "reconcile").code, 0)
            self.heal()
            hosting.wait(lambda: self.plane.node()["applied"]["number"] == number)
            hosting.wait(lambda: guard.read_bytes()[48:56] == (2).to_bytes(8, "little"))
            self.assertEqual((self.content(), self.told(), self.passes()), (text, [], 0))

    def test_stays(self):
        """guard: once the end of the pass is kept upstream it stays, however long the way is cut and whoever dies then"""
        self.push("two\n", "--revert-unless-linked", "8s")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        hosting.wait(lambda: mesh.Mesh.is_kept(self))
        # The node has to hear of it, too, which nothing shows: its answer has a heartbeat's time.
        heard = self.plane.node()["lastHeard"]
        hosting.wait(lambda: self.plane.node()["lastHeard"] != heard)
        self.way.gate = lambda: True
        self.assertEqual(self.host.stop(), 0, self.host.said)
        self.host = self.bench.start()
        self.host.wait_pass()
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: 3s}}\n"
                             f'control: ["127.0.0.1:{self.way.port}"]\n')
        self.host.signal(signal.SIGHUP)
        for _ in range(4):  # longer than it would have had
            self.host.wait_pass()
        self.assertEqual((self.content(), self.passes()), ("two\n", 0))

    def test_refused(self):
        """guard: a time that makes no sense is refused in words, and nothing is pushed"""
        for time in ("1s", "2d", "0s"):
            self.declare("two\n")
            done = mesh.subprocess.run([mesh.CONTROL, "push", "--fleet", self.bench.fleet, "--revert-unless-linked", time,
                                        "--socket", self.plane.socket], capture_output=True, text=True)
            self.assertEqual((done.returncode, "--revert-unless-linked" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    tap.main()
