#!/usr/bin/env python3
# test: short
"""Every planted fault still fits the tree, and the runner says which one does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import run  # noqa: E402
import tap  # noqa: E402

DIFF = "diff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n@@ -1,2 +1,2 @@\n one;\n-two;\n+three;\n"


class Planted(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def test_all_fit(self):
        """planted: there are at least 25 faults, each applies to the tree as it is and says in words what it breaks"""
        faults = run.read_faults()
        self.assertGreaterEqual(len(faults), 25)
        self.assertEqual([problem for problem in map(run.find_problem, faults) if problem], [])
        self.assertEqual([one.name for one in faults if ": " not in one.words or not one.words.endswith(".")], [])
        self.assertEqual(len({one.diff for one in faults}), len(faults))

    def test_unfit(self):
        """planted: a diff whose lines have changed is named, and nothing of it is applied"""
        (self.root / "a.cpp").write_text("one;\nother;\n")
        fault = run.Fault("of-two", "words", DIFF)
        self.assertIn("of-two.diff does not apply any more", run.find_problem(fault, self.root))
        self.assertIn("of-two.diff does not apply any more", run.apply(fault, self.root))
        self.assertEqual((self.root / "a.cpp").read_text(), "one;\nother;\n")

    def test_apply(self):
        """planted: a fault is applied to the copy, which lies below a repository, and not to the tree above it"""
        subprocess.run(["git", "init", "-q", self.root], check=True)
        copy = self.root / "copy"
        copy.mkdir()
        for folder in (self.root, copy):
            (folder / "a.cpp").write_text("one;\ntwo;\n")
        self.assertEqual(run.apply(run.Fault("of-two", "words", DIFF), copy), "")
        self.assertEqual((copy / "a.cpp").read_text(), "one;\nthree;\n")
        self.assertEqual((self.root / "a.cpp").read_text(), "one;\ntwo;\n")

    def test_head(self):
        """planted: a diff without a line of words is refused by name"""
        (self.root / "mute.diff").write_text(DIFF)
        with self.assertRaisesRegex(SystemExit, "mute.diff"):
            run.read_faults(self.root)

    def test_order(self):
        """planted: programs of the module that is broken come first, and only those that are linked from it run"""
        fault = run.Fault("a", "b", DIFF.replace("a.cpp", "src/core/a.cpp"))
        names = ["unit-base", "property-core", "unit-core", "crash-journal"]
        self.assertEqual(run.order_programs(names, fault), ["unit-core", "property-core", "unit-base", "crash-journal"])
        self.assertTrue(run.is_reached({"src/base", "src/core"}, fault))
        self.assertFalse(run.is_reached({"src/base", "src/core/linux", "src/co"}, fault))

    def test_seed(self):
        """planted: what caught a fault names the case, and of a simulation the seed"""
        self.assertEqual(run.describe("simulation-host", ["a"], "x seed 17 y"), "`simulation-host`: a (seed 17)")
        self.assertEqual(run.describe("unit-core", ["a", "b"], "seed 17"), "`unit-core`: a")
        self.assertIn("dies", run.describe("unit-core", [], ""))


if __name__ == "__main__":
    tap.main()
