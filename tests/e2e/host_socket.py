#!/usr/bin/env python3
# test: short
"""Commands beside a service that has the store: passes through its socket, judgements, holds, the mode, what only it
knows; a service that does not answer; bytes that are no request."""

import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402


class Socket(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("motd", "/motd", "hello\n"), fleet.file("big", "/big", "x" * 3000))
        self.motd = self.bench.root / "motd"

    def start(self, **options):
        self.bench.configure(**options)
        host = self.bench.start()
        host.wait_pass()
        return host

    def datum(self, *arguments, config=True):
        """A command as on the machine: its root, its store, its configuration."""
        place = ["--root", self.bench.root, "--state", self.bench.state]
        return fleet.datum(*arguments, *place, *(["--config", self.bench.config] if config else []))

    def raw(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.bench.root / "run/datum/host.sock"))
        connection.settimeout(hosting.LIMIT_S)
        return connection

    def kinds(self):
        return [event["kind"] for event in self.bench.events()]

    def test_passes(self):
        """socket: a pass that a person asks for is the service's, with that person in the record, and reads as ever"""
        host = self.start()
        self.assertEqual(stat.S_IMODE((self.bench.root / "run/datum").stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((self.bench.root / "run/datum/host.sock").stat().st_mode), 0o600)
        seen = self.datum("observe")
        self.assertEqual(seen.code, 2, seen.text)
        self.assertIn("File[motd]", seen.out)
        self.assertFalse(self.motd.exists())
        done = self.datum("reconcile", "--mode", "enforce")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.motd.read_text(), "hello\n")
        self.assertEqual((self.bench.root / "big").read_text(), "x" * 3000)
        (line,) = [line for line in self.datum("observe", "--json").lines if "pass" in line]
        self.assertEqual(host.stop(), 0, host.said)
        started = self.bench.events("--kind", "passStarted")[-1]["event"]
        self.assertEqual(started["trigger"], "manual")
        self.assertEqual(started["actor"]["command"], "datum observe")
        self.assertEqual(self.kinds().count("storeOpened"), 0)
        alone = self.datum("observe", "--json").lines[-1]
        self.assertEqual({k: v for k, v in alone.items() if k != "pass"}.keys(), {k: v for k, v in line.items() if k != "pass"}.keys())

    def test_judgements(self):
        """socket: acknowledging and keeping go through the service, and are refused in its words"""
        host = self.start()
        acknowledged = self.datum("ack", "/motd", "--until", "1h", "--reason", "known", config=False)
        self.assertEqual(acknowledged.code, 0, acknowledged.text)
        self.assertIn("acknowledged until", acknowledged.out)
        kept = self.datum("keep", "File[big]", config=False)
        self.assertEqual(kept.code, 0, kept.text)
        again = self.datum("ack", "/nowhere", "--until", "1h", "--reason", "known", config=False)
        self.assertEqual(again.code, 1, again.text)
        lifted = self.datum("ack", "/motd", "--lift", config=False)
        self.assertEqual(lifted.code, 0, lifted.text)
        self.assertEqual(self.datum("ack", "/motd", "--lift", config=False).code, 1)
        self.assertEqual(host.stop(), 0, host.said)
        kinds = self.kinds()
        self.assertEqual((kinds.count("targetAcknowledged"), kinds.count("targetKept")), (2, 1), kinds)

    def test_hold(self):
        """hold: it stops the service at once, says by whom and why, and lets go when it is lifted"""
        host = self.start(mode="enforce", interval="4s")  # a beat between file and word would tell of itself
        host.wait_until(lambda: self.motd.exists())
        held = self.datum("hold", "--for", "2h", "--reason", "database migration")
        self.assertEqual(held.code, 0, held.text)
        self.assertIn("database migration, until", held.out)
        host.wait_pass()
        self.motd.write_text("by hand\n")
        host.wait_pass()
        host.wait_pass()
        self.assertEqual(self.motd.read_text(), "by hand\n")
        self.assertIn("held here", self.datum("status", config=False).out)
        self.assertEqual(self.datum("hold", "--lift").code, 0)
        host.wait_until(lambda: self.motd.read_text() == "hello\n")
        self.assertEqual(self.datum("hold", "--lift").code, 1)
        self.assertEqual(host.stop(), 0, host.said)
        (event,) = self.bench.events("--kind", "holdSet")
        self.assertEqual(event["event"]["actor"]["command"], "datum hold", event)
        (event,) = self.bench.events("--kind", "holdLifted")
        self.assertEqual(event["event"]["actor"]["command"], "datum hold", event)

    def held_back(self, boundary, *arguments):
        """A command that stands still before that step, and the file that holds it there."""
        held = self.bench.scratch / "held"
        preload = str(pathlib.Path(fleet.DATUM).parents[2] / "tests/e2e/boundary.so")
        environment = {**os.environ, "LD_PRELOAD": preload, "BOUNDARY": str(boundary), "HELD_FILE": str(held)}
        command = subprocess.Popen([fleet.DATUM, *arguments, "--root", self.bench.root, "--state", self.bench.state,
                                    "--config", self.bench.config], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=environment)
        self.addCleanup(command.communicate)
        self.addCleanup(command.kill)
        self.addCleanup(held.unlink, missing_ok=True)
        hosting.wait(lambda: held.exists() or command.poll() is not None)
        self.assertTrue(held.exists(), command.poll())
        return command, held

    def test_hold_seen_first(self):
        """hold: who set or lifted it is in the journal, also where the service sees the file before the command's word"""
        host = self.start()
        file = self.bench.config / "hold"
        # Both are synced, moved to their place, and the folder is synced: the third step comes before the word.
        for arguments, kind in ((("hold", "--reason", "migration"), "holdSet"), (("hold", "--lift"), "holdLifted")):
            command, held = self.held_back(3, *arguments)
            self.assertEqual(file.exists(), kind == "holdSet")
            host.signal(signal.SIGHUP)
            hosting.wait(lambda kind=kind: kind in self.kinds())
            held.unlink()
            said, _ = command.communicate(timeout=hosting.LIMIT_S)
            self.assertEqual(command.returncode, 0, said)
            (event,) = self.bench.events("--kind", kind)
            actor = event["event"]["actor"]
            self.assertEqual((actor["kind"], actor["uid"], actor["command"]), ("person", os.getuid(), "datum hold"), event)
        self.assertEqual(sorted(path.name for path in self.bench.config.iterdir()), ["agent.yaml", "witness"])
        # A script's file, and one that others can write: nobody's word is known.
        for text, mode in (("reason: a\n", 0o644), ("reason: b\nby: 0\n", 0o666)):
            file.write_text(text)
            file.chmod(mode)
            host.signal(signal.SIGHUP)
            hosting.wait(lambda text=text: self.bench.events("--kind", "holdSet")[-1]["event"]["reason"] == text[8])
            self.assertEqual(self.bench.events("--kind", "holdSet")[-1]["event"]["actor"]["kind"], "service")
        self.assertEqual(host.stop(), 0, host.said)

    def test_hold_is_a_folder(self):
        """hold: a folder in the place of its file holds, is named, and is not removed"""
        folder = self.bench.config / "hold"
        self.bench.configure(mode="enforce")
        folder.mkdir()
        for arguments in (("--lift",), ("--reason", "x")):
            done = self.datum("hold", *arguments)
            self.assertEqual(done.code, 1, done.text)
            self.assertIn(f"{folder}: a folder lies there", done.err)
        self.assertTrue(folder.is_dir())
        self.assertEqual(self.datum("reconcile").code, 2)
        self.assertFalse(self.motd.exists())

    def test_hold_alone(self):
        """hold: without a service it stands all the same, and the store is told here"""
        self.bench.configure(mode="enforce")
        self.assertEqual(self.datum("reconcile").code, 0)
        self.assertEqual(self.datum("hold", "--reason", "by hand").code, 0)
        self.motd.write_text("by hand\n")
        self.assertEqual(self.datum("reconcile").code, 2)
        self.assertEqual(self.motd.read_text(), "by hand\n")
        self.assertEqual(self.datum("hold", "--lift").code, 0)
        kinds = self.kinds()
        self.assertEqual((kinds.count("holdSet"), kinds.count("holdLifted")), (1, 1), kinds)
        refused = self.datum("hold")
        self.assertEqual(refused.code, 1)
        self.assertIn("--reason", refused.err)

    def test_mode(self):
        """mode: what would be done is shown first, then the file changes and nothing else of it, and the service follows"""
        host = self.start()
        before = (self.bench.config / "agent.yaml").read_text()
        shown = self.datum("mode", "enforce")
        self.assertEqual(shown.code, 0, shown.text)
        self.assertIn("/motd", shown.out)
        self.assertIn("mode: enforce", shown.out)
        self.assertEqual((self.bench.config / "agent.yaml").read_text(), before.replace("mode: observe", "mode: enforce"))
        self.assertEqual(self.datum("reconcile").code, 0)
        self.assertTrue(self.motd.exists())
        self.assertEqual(self.datum("mode", "observe").code, 0)
        self.assertEqual((self.bench.config / "agent.yaml").read_text(), before)
        self.motd.unlink()
        self.assertEqual(self.datum("reconcile").code, 2)
        self.assertFalse(self.motd.exists())
        self.assertEqual(host.stop(), 0, host.said)
        changes = [event["event"] for event in self.bench.events("--kind", "modeChanged")]
        self.assertEqual([change["to"]["mode"] for change in changes], ["enforce", "observe"], changes)
        self.assertEqual(changes[0]["actor"]["command"], "datum mode")

    def test_mode_of_a_broken_fleet(self):
        """mode: nothing is allowed that could not be shown"""
        self.bench.configure()
        (self.bench.fleet / "base/resources.yaml").write_text("---\ndatum: v1alpha1\ntype: Nothing\nname: x\n")
        refused = self.datum("mode", "enforce")
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("mode: observe", (self.bench.config / "agent.yaml").read_text())

    def test_config_check(self):
        """config: each value is said with the line it comes from, and a fault with its place"""
        self.bench.configure(mode="enforce")
        checked = self.datum("config", "check")
        self.assertEqual(checked.code, 0, checked.text)
        self.assertIn(f"reconciliation.mode: enforce  ({self.bench.config}/agent.yaml:2)\n", checked.out)
        self.assertIn("removals.max: 10  (default)\n", checked.out)
        self.bench.configure("host: a\nunknown: 1\n")
        refused = self.datum("config", "check")
        self.assertEqual(refused.code, 1)
        self.assertIn("agent.yaml:2:1: unknown key", refused.err)

    def test_status(self):
        """status: beside a service it says what only that one knows"""
        host = self.start()
        self.assertNotIn("not in force", self.datum("status", config=False).out)
        self.bench.configure("unknown: 1\n")
        host.signal(signal.SIGHUP)
        host.wait_ready()
        self.assertIn("agent.yaml is not in force", self.datum("status", config=False).out)
        self.assertEqual(host.stop(), 0, host.said)
        self.assertNotIn("not in force", self.datum("status", config=False).out)

    def test_silent(self):
        """socket: a service that has the store and does not answer is named, with 3"""
        host = self.start()
        host.signal(signal.SIGSTOP)
        try:
            asked = self.datum("observe")
            began = time.monotonic()
            status = self.datum("status", config=False)
            took = time.monotonic() - began
        finally:
            host.signal(signal.SIGCONT)
        self.assertIn(f"process {host.process.pid}) has the store and does not answer", status.out)
        self.assertIn("this is from the store alone", status.out)
        self.assertIn("h1: drifted", status.out)
        self.assertLess(took, 10)
        self.assertEqual(asked.code, 3, asked.text)
        self.assertIn(f"process {host.process.pid}", asked.err)
        self.assertEqual(host.stop(), 0, host.said)

    def test_killed(self):
        """socket: a service that is killed with a request in its hands has ended, and does not count as one that is silent"""
        host = self.start()
        host.signal(signal.SIGSTOP)
        asked = subprocess.Popen([fleet.DATUM, "status", "--root", self.bench.root, "--state", self.bench.state],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(asked.kill)
        queued = f"{self.bench.root}/run/datum/host.sock"
        hosting.wait(lambda: sum(queued in line for line in pathlib.Path("/proc/net/unix").read_text().splitlines()) > 1)
        host.kill()
        said, _ = asked.communicate(timeout=hosting.LIMIT_S)
        self.assertNotIn("does not answer", said)
        self.assertIn(f"the service (process {host.process.pid}) hung up before it answered, so it ended", said)
        # And its socket, which nobody listens on, is no service.
        for words in (("status",), ("observe",)):
            done = self.datum(*words, config=words != ("status",))
            self.assertEqual(done.code, 2, done.text)
            self.assertNotIn("the service", done.text)
        zero = self.datum("revert", "0")
        self.assertEqual(zero.code, 1)
        self.assertIn("no pass has the number 0", zero.err)

    def test_hostile(self):
        """socket: bytes that are no request are answered or hung up on, and the service goes on"""
        host = self.start()
        frames = [b"\xff" * 64, struct.pack("<IB", 4, 1) + b"\x00\xff{}", struct.pack("<IB", 2, 2) + b"{}",
                  struct.pack("<IB", 65537, 1), struct.pack("<IB", 100, 1) + b"cut",
                  struct.pack("<IB", 26, 1) + b'{"verb":"facts","more":1} ']
        for frame in frames:
            with self.raw() as connection:
                answer = b""
                try:
                    connection.sendall(frame)
                    connection.shutdown(socket.SHUT_WR)
                    while part := connection.recv(4096):
                        answer += part
                except ConnectionError:
                    pass  # hung up on in the middle of it
                self.assertNotIn(struct.pack("<IB", 0, 16), answer[:5])
        for _ in range(20):
            self.raw().close()
        many = [self.raw() for _ in range(12)]
        for connection in many:
            connection.close()
        self.assertEqual(self.datum("observe").code, 2)
        self.assertEqual(host.stop(), 0, host.said)

    def test_gone_caller(self):
        """socket: a caller that is gone before its answer loses only that"""
        host = self.start()
        request = b'{"verb":"facts","state":"%s"}' % os.fsencode(self.bench.state)
        for _ in range(20):
            with self.raw() as connection:
                connection.sendall(struct.pack("<IB", len(request), 1) + request)
        self.assertEqual(self.datum("observe").code, 2)
        self.assertEqual(host.stop(), 0, host.said)

    def test_other_user(self):
        """socket: another user does not even reach it"""
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        host = self.start()
        self.bench.scratch.chmod(0o755)
        pid = os.fork()
        if pid == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                self.raw()
            except PermissionError:
                os._exit(7)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
        self.assertEqual(host.stop(), 0, host.said)


if __name__ == "__main__":
    tap.main()
