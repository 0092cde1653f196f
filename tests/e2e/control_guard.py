#!/usr/bin/env python3
# test: short
"""A declaration that is undone unless the node is heard upstream in time: it cuts the way and is reverted, over a death of
the service too; where the way stays it stays; and the control plane knows which."""

import pathlib
import signal
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import mesh  # noqa: E402
import tap  # noqa: E402


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
