#!/usr/bin/env python3
# test: short root
"""Targets in folders that others than root can change: they are told in the report, and refused with
`trust.strictPaths`, in words that name the folder, its owner and what was not done."""

import os
import pathlib
import re
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

ANNA = 1234


class Untrusted(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        for folder in ("home", "home/anna", "etc", "etc/datum"):
            (self.bench.root / folder).mkdir()
        os.chown(self.bench.root / "home/anna", ANNA, ANNA)
        self.bench.declare(fleet.file("hers", "/home/anna/x", "new\n"), fleet.file("ours", "/ours", "new\n"))

    def strict(self, text="trust: {strictPaths: true}\n"):
        (self.bench.root / "etc/datum/agent.yaml").write_text(text)

    def there(self):
        return (self.bench.root / "home/anna/x").exists(), (self.bench.root / "ours").exists()

    def test_warned(self):
        """untrusted: by default they are managed, and observe, plan and reconcile say where others can change names"""
        for verb in ("observe", "plan"):
            run = self.bench.run(verb)
            self.assertEqual(run.code, 2, run.text)
            told = rf"others than root can change what lies here: /home/anna: owner uid {ANNA}"
            self.assertRegex(run.err, rf"warning: File\[hers\] \(/home/anna/x\): {told}\n")
            self.assertNotIn("ours", run.err)
            self.assertEqual(bool(re.search(told, run.out)), verb == "plan", run.out)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.there(), (True, True))
        self.assertIn("warning: File[hers]", self.bench.observe().err)

    def test_refused(self):
        """untrusted: [S05] with strictPaths the resource is unknown, nothing of it is touched, and the words say so"""
        self.strict()
        run = self.bench.enforce()
        self.assertEqual(run.code, 4, run.text)
        self.assertEqual(self.there(), (False, True))
        self.assertIn(f"trust.strictPaths: not looked at and not touched; others than root can change what lies here: "
                      f"/home/anna: owner uid {ANNA}", run.out)

    def test_leaving(self):
        """untrusted: with strictPaths a target there that leaves the declaration stays, and stays owned"""
        self.assertEqual(self.bench.enforce().code, 0)
        self.strict()
        self.bench.declare(fleet.file("ours", "/ours", "new\n"))
        self.bench.enforce()
        self.assertEqual(self.there(), (True, True))
        self.assertIn("/home/anna/x", self.bench.owned())

    def test_swapped(self):
        """untrusted: a folder that becomes somebody else's later is told in the next pass [S01]"""
        self.assertEqual(self.bench.enforce().code, 0)
        os.chown(self.bench.root / "home", ANNA, 0)
        self.assertIn(f"/home: owner uid {ANNA}", self.bench.observe().err)

    def test_fleet(self):
        """untrusted: with strictPaths a fleet that others can change is not read"""
        self.strict()
        os.chown(self.bench.fleet, ANNA, 0)
        run = self.bench.enforce()
        self.assertEqual((run.code, run.out), (1, ""), run.text)
        self.assertIn("can be changed by others than root", run.err)
        self.assertEqual(self.there(), (False, False))


if __name__ == "__main__":
    tap.main()
