#!/usr/bin/env python3
# test: short root
"""A store that is not the one that was meant, or not whole, or not root's alone: each is said, and with what to do."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

NOBODY = 65534


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        (self.bench.root / "f").write_text("old\n")
        self.bench.declare(fleet.file("f", "/f", "new\n"))
        self.assertEqual(self.bench.enforce().code, 0)

    def read(self, *verb, root=None):
        return fleet.datum(*verb, "--state", self.bench.state, *(["--root", root] if root else []))


class Meant(Case):
    def test_other_root(self):
        """store: every verb that reads one refuses a --root that it is not bound to, and names the one that it is"""
        for verb in (["status"], ["owned"], ["history", "/f"], ["journal", "list"], ["journal", "show", "1"],
                     ["ack", "/f", "--until", "1h", "--reason", "x"]):
            with self.subTest(verb):
                done = self.read(*verb, root="/")
                self.assertEqual((done.code, done.out), (1, ""), done.text)
                self.assertIn(f"bound to the root {self.bench.root}", done.err)
                self.assertEqual(self.read(*verb, root=self.bench.root).code, 0)


class Whole(Case):
    def test_lost_key(self):
        """store: a lost key is named by status and verify, and by the pass that makes a new one"""
        (self.bench.state / "key").unlink()
        status = self.read("status")
        self.assertIn("its key is missing", status.out)
        self.assertIn("its key is missing", fleet.datum("status", "--json", "--state", self.bench.state).lines[0]["faults"][0])
        verified = self.read("journal", "verify")
        self.assertEqual((verified.code, "its key is missing" in verified.out), (1, True), verified.text)
        self.assertIn("had lost its key", self.bench.observe().err)
        self.assertNotIn("key", self.read("status").out)
        self.assertEqual(self.read("journal", "verify").code, 0)

    def test_lost_blobs(self):
        """store: blobs that records refer to and that are gone are counted by verify, and named by status"""
        shutil.rmtree(self.bench.state / "blobs")
        self.assertIn("its blobs are missing", self.read("status").out)
        verified = self.read("journal", "verify")
        self.assertEqual((verified.code, "refer to are missing" in verified.out), (1, True), verified.text)
        self.assertEqual(self.bench.observe().code, 0)
        verified = self.read("journal", "verify")
        self.assertEqual(verified.code, 1, verified.text)
        self.assertRegex(verified.out, r"^Damaged: 2 blobs that records refer to are missing, first sha256:[0-9a-f]{64}\n$")

    def test_plan_again(self):
        """store: a plan whose blob was lost is stored again by the next pass that has it"""
        (self.bench.root / "f").write_text("drift\n")
        self.assertEqual(self.bench.observe().code, 2)
        shutil.rmtree(self.bench.state / "blobs")
        self.assertEqual(self.bench.observe().code, 2)
        self.assertNotIn("missing", self.read("status").out)

    def test_lost_journal(self):
        """store: one that has lost its data file is said to have lost its history, not never to have been"""
        (self.bench.state / "journal/data.mdb").unlink()
        for verb in (["status"], ["journal", "list"], ["journal", "verify"]):
            done = self.read(*verb)
            self.assertEqual(done.code, 1, done.text)
            self.assertIn("has lost its journal", done.err)
            self.assertIn("from a copy", done.err)


class Owner(Case):
    def refused(self, *words):
        before = (self.bench.root / "f").read_text()
        done = self.bench.enforce()
        self.assertEqual((done.code, done.out), (1, ""), done.text)
        for word in words:
            self.assertIn(str(word), done.err)
        self.assertEqual((self.bench.root / "f").read_text(), before)

    def test_foreign_folder(self):
        """store: a folder of somebody else's is refused, with the owner"""
        os.chown(self.bench.state, NOBODY, 0)
        self.refused(self.bench.state, f"belongs to uid {NOBODY}")

    def test_foreign_ancestor(self):
        """store: so is one below a folder of somebody else's, or one that others can write, before anything is made"""
        home = self.bench.scratch / "home"
        home.mkdir()
        self.bench.state = home / "deep/state"
        os.chown(home, NOBODY, 0)
        self.refused(home, f"belongs to uid {NOBODY}")
        os.chown(home, 0, 0)
        home.chmod(0o777)
        self.refused(home, "chmod go-w")
        self.assertEqual(os.listdir(home), [])
        home.chmod(0o1777)
        self.assertEqual(self.bench.enforce().code, 0)


if __name__ == "__main__":
    tap.main()
