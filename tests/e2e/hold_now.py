#!/usr/bin/env python3
# test: short root
"""A hold in the middle of a pass of slow actions: at the end of its wave, or with --now before the next action. Through
the service and by the file alone, and of a command's own pass. Each rename is made slow in front of the system call;
needs strace."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

COUNT = 40  # slow actions of the first wave
SLOW_US = 150_000
SLOW = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat,renameat2", "-e",
        f"inject=renameat,renameat2:delay_enter={SLOW_US}"]
# A look every quarter of a second, and as much again for a busy machine.
MOST_AFTER = 10


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class HoldNow(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        (self.bench.root / "d").mkdir(mode=0o755)
        first = [fleet.file(f"f{n:02}", f"/d/f{n:02}", f"{n}\n") for n in range(COUNT)]
        after = fleet.with_keys(fleet.file("after", "/d/after", "x\n"), requires=[one.reference for one in first])
        self.bench.declare(*first, after)
        self.bench.configure()
        self.file = self.bench.config / "hold"

    def place(self):
        return ["--root", str(self.bench.root), "--state", str(self.bench.state), "--config", str(self.bench.config)]

    def datum(self, *arguments, code=0):
        done = fleet.datum(*arguments, *self.place())
        self.assertEqual(done.code, code, done.text)
        return done

    def made(self):
        return sorted(name for name in os.listdir(self.bench.root / "d") if not name.startswith(".datum-"))

    def begin(self, before=()):
        """A pass in enforce in the middle of its first wave."""
        command = [*before, fleet.DATUM, "reconcile", "--mode", "enforce", *self.place()]
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        hosting.wait(lambda: len(self.made()) >= 3)
        return running

    def slow_service(self):
        host = self.bench.start()
        host.wait_pass()
        tracer = subprocess.Popen([*SLOW, "-p", str(host.process.pid)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        hosting.wait(lambda: "TracerPid:\t0" not in pathlib.Path(f"/proc/{host.process.pid}/status").read_text())
        return host, tracer

    def check_cut(self, running, count, at_once):
        """The pass ended; what had been made when the hold came was `count`."""
        said = running.communicate(timeout=hosting.LIMIT_S)[0].decode()
        self.assertEqual(running.returncode, 2, said)
        made = self.made()
        self.assertNotIn("after", made, "another wave was begun")
        if at_once:
            self.assertLessEqual(len(made), count + MOST_AFTER, said)
        else:
            self.assertEqual(len(made), COUNT, said)
        self.assertEqual(fleet.leftovers(self.bench.root), [])
        self.assertIn("the mode is observe now", said)
        self.assertEqual("not begun: the pass was held at once" in said, at_once, said)
        (cut,) = self.bench.events("--kind", "passInterrupted")
        self.assertEqual(cut["event"]["cause"], "modeLowered", cut)
        skipped = [event["event"] for event in self.bench.events("--kind", "actionSkipped")]
        self.assertEqual(len(skipped), COUNT - len(made))
        self.assertEqual({event["reason"] for event in skipped}, {"not begun: the pass was held at once"} if at_once else set())
        done = self.bench.events("--kind", "actionSucceeded")
        self.assertEqual(len(done), len(made))

    def go_on(self):
        """Lifted, the next pass does the rest, and each action once."""
        if self.file.exists():
            self.datum("hold", "--lift")
        self.datum("reconcile", "--mode", "enforce")
        self.assertEqual(len(self.made()), COUNT + 1)
        done = [event["event"]["target"] for event in self.bench.events("--kind", "actionSucceeded")]
        self.assertEqual(len(done), len(set(done)))
        self.assertIn("Sound", fleet.datum("journal", "verify", "--state", self.bench.state).out)

    def test_service(self):
        """hold --now: the service's pass begins no other action of its wave, ends, and the rest is done once lifted"""
        host, tracer = self.slow_service()
        running = self.begin()
        count = len(self.made())
        self.assertIn("held: fire", self.datum("hold", "--now", "--reason", "fire").out)
        self.check_cut(running, count, at_once=True)
        self.assertIn("held here", fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state).out)
        tracer.terminate()
        tracer.wait()
        self.go_on()
        self.assertEqual(host.stop(), 0, host.said)

    def test_service_wave(self):
        """hold: without --now the service's pass ends with its wave, and begins no other one"""
        host, tracer = self.slow_service()
        running = self.begin()
        self.datum("hold", "--reason", "backup")
        self.check_cut(running, COUNT, at_once=False)
        tracer.terminate()
        tracer.wait()
        self.go_on()
        self.assertEqual(host.stop(), 0, host.said)

    def test_file(self):
        """hold: `now: true` in a file that a script drops does it too, beside the service and without one"""
        for number, has_service in enumerate((True, False)):
            with self.subTest(has_service=has_service):
                if number:
                    self.bench.close()
                    self.setUp()
                host, tracer = self.slow_service() if has_service else (None, None)
                running = self.begin(before=() if has_service else SLOW)
                count = len(self.made())
                self.file.write_text("# by the watchman\nnow: true\n")
                self.check_cut(running, count, at_once=True)
                if tracer:
                    tracer.terminate()
                    tracer.wait()
                self.go_on()
                if host:
                    self.assertEqual(host.stop(), 0, host.said)

    def test_past(self):
        """hold: one with `now: true` whose time is over holds nothing"""
        self.file.write_text("now: true\nuntil: 2001-01-01T00:00:00Z\n")
        self.datum("reconcile", "--mode", "enforce")
        self.assertEqual(len(self.made()), COUNT + 1)

    def test_unclear(self):
        """hold: a file that is not clear holds, and ends a pass with its wave"""
        running = self.begin(before=SLOW)
        self.file.write_text("now: maybe\n")
        self.check_cut(running, COUNT, at_once=False)
        held = self.datum("hold", "--reason", "x", "--for", "1h", "--now", "--json").lines
        self.assertEqual((held[0]["held"], held[0]["now"], held[0]["reason"]), (True, True, "x"))
        began = time.monotonic()
        self.datum("reconcile", "--mode", "enforce", code=2)
        self.assertLess(time.monotonic() - began, hosting.LIMIT_S)
        self.assertEqual(fleet.datum("hold", "--lift", "--now", *self.place()).code, 1)


if __name__ == "__main__":
    tap.main()
