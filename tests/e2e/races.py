#!/usr/bin/env python3
# test: short root
"""Somebody else changes the machine while a wave is between its announcement and its renames: their change stands.

The wave is held by delaying every sync (strace), since which of them is a thread's first differs from run to run;
what it staged is seen below the root, so that the moment is known and no time has to be guessed."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

HELD_MS = 400


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root

    def enforce_and(self, act, calls="fsync", staged=1, signals=()):
        """An enforce pass, with `act` done while its first wave is staged and not renamed."""
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e",
                   f"inject={calls}:delay_enter={HELD_MS * 1000}", fleet.DATUM, "reconcile", "--mode", "enforce",
                   "--json", "--fleet", str(self.bench.fleet), "--host", fleet.HOST, "--root", str(self.root), "--state",
                   str(self.bench.state)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            deadline = time.monotonic() + fleet.PASS_LIMIT_S
            while len(self.temps()) < staged and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            seen = len(self.temps())
            act()
            for number in signals:
                os.kill(self.datum_below(child.pid), number)
            out, err = child.communicate(timeout=fleet.PASS_LIMIT_S)
        self.assertGreaterEqual(seen, staged, "the wave was seen while it was staged")
        return fleet.Run(child.returncode, out, err)

    def temps(self):
        return [name for folder, _, names in os.walk(self.root) for name in names if name.startswith(".datum-")]

    @staticmethod
    def datum_below(pid):
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def check_skipped(self, done, reference, path):
        self.assertEqual(done.code, 2, done.text)
        outcome = fleet.outcomes(done)[(reference, path)]
        self.assertEqual(outcome["outcome"], "skipped", outcome)
        self.assertTrue(outcome["message"])
        self.assertEqual(self.temps(), [])
        again = self.bench.enforce()
        self.assertEqual(again.code, 0, again.text)


class OthersChange(Case):
    def test_changed_file(self):
        """race: a file that changes after it was observed is skipped with its new bytes, and corrected by the next pass"""
        (self.root / "f").write_text("old\n")
        self.bench.declare(fleet.file("f", "/f", "declared\n"), fleet.file("g", "/g", "g\n"))
        done = self.enforce_and(lambda: (self.root / "f").write_text("theirs\n"))
        self.assertEqual((self.root / "g").read_text(), "g\n")
        outcome = fleet.outcomes(done)[("File[f]", "/f")]
        self.assertEqual((outcome["outcome"], (self.root / "f").read_text()), ("skipped", "theirs\n"), outcome)
        self.check_skipped(done, "File[f]", "/f")

    def test_appeared_file(self):
        """race: a file that appears where none was is not overwritten"""
        self.bench.declare(fleet.file("f", "/f", "declared\n"))
        bodies = []
        done = self.enforce_and(lambda: (self.root / "f").write_text("theirs\n"))
        bodies.append((self.root / "f").read_text())
        self.assertEqual(bodies, ["theirs\n"])
        self.check_skipped(done, "File[f]", "/f")

    def test_replaced_by_a_folder(self):
        """race: a file that became a folder is left alone"""
        (self.root / "f").write_text("old\n")
        self.bench.declare(fleet.file("f", "/f", "declared\n"))

        def act():
            (self.root / "f").unlink()
            (self.root / "f").mkdir()
            (self.root / "f/theirs").write_text("theirs\n")

        done = self.enforce_and(act)
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual((self.root / "f/theirs").read_text(), "theirs\n")
        self.assertEqual(self.temps(), [])

    def test_folder_swapped_for_a_link(self):
        """race: a folder that is swapped for a link to another one leads no write there [S01]"""
        (self.root / "d").mkdir()
        (self.root / "victim").mkdir()
        (self.root / "victim/f").write_text("victim\n")
        self.bench.declare(fleet.file("f", "/d/f", "declared\n", mode="0666"))
        before = fleet.listing(self.root / "victim")

        def act():
            (self.root / "d").rename(self.root / "aside")
            (self.root / "d").symlink_to("victim")

        done = self.enforce_and(act)
        self.assertNotEqual(done.code, 1, done.text)
        self.assertEqual(before, fleet.listing(self.root / "victim"))
        self.assertEqual(self.temps(), [])

    def test_removal_of_what_changed(self):
        """race: what leaves the declaration and changes before it is removed is kept"""
        self.bench.declare(fleet.file("f", "/f", "old\n"), fleet.file("g", "/g", "g\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        (self.root / "g").write_text("by hand\n")
        self.bench.declare(fleet.file("g", "/g", "g\n"))
        self.enforce_and(lambda: (self.root / "f").write_text("theirs\n"))
        self.assertEqual((self.root / "f").read_text(), "theirs\n")

    def test_purge_of_what_changed(self):
        """race: a foreign entry that changes before it is purged is kept in this pass"""
        (self.root / "d").mkdir()
        (self.root / "d/foreign").write_text("old\n")
        self.bench.declare(fleet.directory("d", "/d", purge=True), fleet.file("g", "/g", "g\n"))
        done = self.enforce_and(lambda: (self.root / "d/foreign").write_text("theirs\n"))
        self.assertEqual((self.root / "d/foreign").read_text(), "theirs\n")
        self.assertEqual(done.code, 2, done.text)


class Stops(Case):
    def prepare(self):
        self.bench.declare(fleet.file("a", "/a", "a\n"),
                           fleet.with_keys(fleet.file("b", "/b", "b\n"), requires=["File[a]"]))
        self.config = self.root / "etc/datum"
        self.config.mkdir(parents=True)

    def check_first_wave_only(self):
        self.assertEqual((self.root / "a").read_text(), "a\n")
        self.assertFalse((self.root / "b").exists())
        self.assertEqual(self.temps(), [])
        kinds = [event["kind"] for event in self.bench.events()]
        self.assertIn("passInterrupted", kinds)
        self.assertIn("actionsNotStarted", kinds)

    def test_hold(self):
        """hold: a hold file that appears in the middle of a pass ends it after the running wave"""
        self.prepare()
        done = self.enforce_and(lambda: (self.config / "hold").write_text(""))
        self.assertNotEqual(done.code, 0, done.text)
        self.check_first_wave_only()
        (self.config / "hold").unlink()
        self.assertEqual(self.bench.enforce().code, 0)

    def test_signals(self):
        """stop: SIGTERM and SIGINT end a pass after the running wave, and what was not begun is named"""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                self.setUp()
                self.prepare()
                done = self.enforce_and(lambda: None, signals=(number,))
                self.assertNotEqual(done.code, 0, done.text)
                self.check_first_wave_only()
                self.assertEqual(self.bench.enforce().code, 0)

    def test_kill(self):
        """kill -9 in the middle of a wave: the next pass removes what was staged and converges [R02]"""
        self.prepare()

        def kill():
            pass

        self.enforce_and(kill, signals=(signal.SIGKILL,))
        self.assertFalse((self.root / "a").exists())
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.temps(), [])
        kinds = [event["kind"] for event in self.bench.events()]
        self.assertIn("passInterrupted", kinds)
        self.assertIn("actionRecovered", kinds)

    def test_kill_and_observe(self):
        """kill -9 in the middle of a wave: observe leaves what was staged where it is [N03]"""
        self.prepare()
        self.enforce_and(lambda: None, signals=(signal.SIGKILL,))
        before = fleet.listing(self.root)
        self.assertEqual(len(self.temps()), 1)
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual(before, fleet.listing(self.root))
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.temps(), [])


if __name__ == "__main__":
    tap.main()
