#!/usr/bin/env python3
# test: short
"""`datum selftest crash-recovery` with no more rounds than there are points: each is hit, everything holds, nothing is
left. As root it runs on a file system in memory of its own, since a process that is ended needs no disk and the disk's
syncs are most of its time. More rounds, and builds that must make it fail, are in selftest_faults.py."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests")]

import tap  # noqa: E402

DATUM = str(pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build")).resolve() / "src/datum/datum")
LIMIT_S = 600  # half a minute in memory; a busy disk takes minutes


def documented():
    """Members of the object that the reference lists."""
    section = (TOP / "docs/reference/json.md").read_text(encoding="utf-8").partition("\n## selftest\n")[2]
    return re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE)


class SelfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="datum-selftest-e2e-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        if os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m,mode=0700", "none", self.scratch],
                                                check=False, capture_output=True).returncode == 0:
            self.addCleanup(subprocess.run, ["umount", "-l", self.scratch], check=True)

    def command(self, *arguments):
        return [DATUM, "selftest", "crash-recovery", "--dir", str(self.scratch), *arguments]

    def test_all_points(self):
        """selftest: every point is hit, all holds after each, and the scratch folder is gone"""
        done = subprocess.run(self.command("--rounds", "1", "--json"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        self.assertEqual(done.stderr, "")
        report = json.loads(done.stdout)
        told = json.dumps(report, indent=1)
        self.assertEqual(done.returncode, 0, told)
        self.assertTrue(report["held"], told)
        self.assertEqual([point for point in report["points"] if point["hits"] == 0], [], told)
        self.assertGreaterEqual(len(report["points"]), 50)
        self.assertGreaterEqual(report["actions"], 50)
        self.assertGreater(report["recoveryMedianNs"], 0)
        self.assertEqual([fault["fault"] for fault in report["faults"]],
                         ["a sync that fails", "a journal that cannot grow", "a full disk"])
        self.assertEqual([fault for fault in report["faults"][:2] if fault["notMade"] or not fault["rounds"]], [])
        self.assertEqual(list(report), documented())
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_stopped(self):
        """selftest: stopped by a signal it says so, exits 1, and leaves neither folder nor process"""
        started = subprocess.Popen(self.command("--seed", "7"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            while started.poll() is None and not list(self.scratch.glob("*/life-1/state")):
                pass
            started.send_signal(signal.SIGINT)
            out, _ = started.communicate(timeout=LIMIT_S)
        finally:
            started.kill()
            started.wait()
        self.assertEqual(started.returncode, 1)
        self.assertIn("A process that is ended is no power cut", out)
        self.assertIn("Stopped before its end.", out)
        self.assertIn("seed 7", out)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_untrusted_folder(self):
        """selftest: a folder that others can change is refused before anything runs"""
        self.scratch.chmod(0o777)
        done = subprocess.run(self.command(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("datum: --dir: ", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_unprepared(self):
        """selftest: its processes do nothing in a folder that the self-test did not prepare"""
        done = subprocess.run([DATUM, "selftest", "pass-in", str(self.scratch)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was done", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    tap.main()
