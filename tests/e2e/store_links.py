#!/usr/bin/env python3
# test: short root
"""Links in the place of a store's own files: what they lead to is neither written nor removed."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

READERS = (["journal", "list"], ["journal", "verify"], ["postmortem", "last"], ["owned"], ["status"])


class StoreLinks(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("f", "/f", "text\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.journal = self.bench.state / "journal"
        self.victim = self.bench.scratch / "victim"

    def read_all(self):
        for words in READERS:
            root = ["--root", self.bench.root] if words[0] in ("owned", "status") else []
            done = fleet.datum(*words, *root, "--state", self.bench.state)
            self.assertEqual(done.code, 0, f"{words}: {done.text}")

    def test_lock(self):
        """store: a link or another file's name in the place of lock.mdb is read past, and a pass names it [S03]"""
        lock = self.journal / "lock.mdb"
        for kind in ("link", "dangling", "name"):
            with self.subTest(kind=kind):
                lock.unlink(missing_ok=True)
                if kind != "dangling":
                    self.victim.write_text("somebody's\n")
                os.link(self.victim, lock) if kind == "name" else lock.symlink_to(self.victim)
                self.read_all()
                done = self.bench.observe()
                self.assertNotEqual(done.code, 0)
                self.assertIn("lock.mdb is ", done.text)
                if kind == "dangling":
                    self.assertFalse(self.victim.exists())
                else:
                    self.assertEqual(self.victim.read_text(), "somebody's\n")
                    self.victim.unlink()
        lock.unlink(missing_ok=True)
        self.assertEqual(self.bench.observe().code, 0)

    def test_compacting(self):
        """store: a link beside the journal, to another store, costs that store nothing"""
        other = self.bench.scratch / "other"
        shutil.copytree(self.journal, other)
        before = {path.name: path.read_bytes() for path in other.iterdir()}
        (self.bench.state / "journal.compacting").symlink_to(other)
        self.assertEqual(self.bench.observe().code, 0)
        self.assertEqual({path.name: path.read_bytes() for path in other.iterdir()}, before)


if __name__ == "__main__":
    tap.main()
