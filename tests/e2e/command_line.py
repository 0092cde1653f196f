#!/usr/bin/env python3
# test: short
"""The command line itself: wrong words and what was perhaps meant, help of everything, paths as people write them."""

import os
import pathlib
import resource
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)


class Words(Case):
    def test_nearest(self):
        """words: a command that does not exist is named, with the one that was perhaps meant"""
        for words, meant in ((["obsrve"], "observe"), (["reconcil"], "reconcile"), (["staus"], "status"), (["plna"], "plan"),
                             (["journal", "lsit"], "list"), (["journal", "verfiy", "--json"], "verify")):
            with self.subTest(words):
                done = fleet.datum(*words)
                self.assertEqual((done.code, done.out), (1, ""))
                self.assertIn(f'there is no command "{words[-1] if len(words) == 1 else words[1]}"; did you mean {meant}?', done.err)
        done = fleet.datum("frobnicate")
        self.assertEqual((done.code, "did you mean" in done.err, "datum --help" in done.err), (1, False, True), done.err)
        self.assertNotIn("\x1b", fleet.datum("\x1b[31mred").err)

    def test_help_of_all(self):
        """words: --help-all has the flags of every command, those below journal too"""
        text = fleet.datum("--help-all").out
        for flag in ("--allow-removals", "--kind", "--limit", "--journal", "--until"):
            self.assertIn(flag, text)


class Init(Case):
    def test_made(self):
        """init: the folder and those above it are made, the fleet is sound, and readable by all"""
        folder = self.bench.scratch / "new/deep/fleet"
        done = fleet.datum("init", folder, "--host", "web1")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(fleet.datum("validate", "--fleet", folder).code, 0)
        self.assertEqual(oct(folder.parent.stat().st_mode), "0o40755")

    def test_refused(self):
        """init: a fleet that is there, and a folder that holds something else, are refused and left alone"""
        folder = self.bench.scratch / "x"
        self.assertEqual(fleet.datum("init", folder, "--host", "web1").code, 0)
        before = fleet.listing(folder)
        done = fleet.datum("init", folder, "--host", "web1")
        self.assertEqual((done.code, "holds a fleet already" in done.err), (1, True), done.text)
        self.assertEqual(before, fleet.listing(folder))
        other = self.bench.scratch / "other"
        other.mkdir()
        (other / "notes").write_text("mine\n")
        done = fleet.datum("init", other, "--host", "web1")
        self.assertEqual((done.code, "is not empty: it holds notes" in done.err), (1, True), done.text)
        self.assertEqual(os.listdir(other), ["notes"])


class Affected(Case):
    def test_paths(self):
        """affected: a file may be written as the fleet names it, absolute, with ./ and through a link to the fleet"""
        self.bench.declare(fleet.file("a", "/a", "x\n"))
        link = self.bench.scratch / "link"
        link.symlink_to(self.bench.fleet)
        for written in ("base/resources.yaml", "./base/resources.yaml", self.bench.fleet / "base/resources.yaml",
                        link / "base/resources.yaml"):
            done = fleet.datum("affected", "--fleet", self.bench.fleet, written)
            self.assertEqual((done.code, done.out), (0, "base/resources.yaml: 1 host\n  h1\n"), done.text)
        self.assertEqual(fleet.datum("affected", "--fleet", self.bench.fleet, "/etc/passwd").code, 1)


class Leaving(Case):
    def test_observed(self):
        """leaving: observe and diff name what left the declaration, and the word is drifted until it is gone"""
        self.bench.declare(fleet.file("a", "/a", "x\n"), fleet.file("b", "/b", "x\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.bench.declare(fleet.file("a", "/a", "x\n"))
        for verb in ("observe", "diff"):
            run = self.bench.run(verb)
            self.assertEqual(run.code, 2, run.text)
            self.assertRegex(run.out, r"- leave +File\[b\] +/b\n +left the declaration\n")
            self.assertIn("h1: drifted, 1 converged, 1 no longer declared and still there", run.out)
            lines = self.bench.run(verb, "--json").lines
            self.assertEqual([line["target"] for line in lines if line.get("action") == "leave"], ["/b"])
            self.assertEqual(lines[-1]["counts"]["leaving"], 1)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.bench.observe().code, 0)

    def test_final(self):
        """leaving: observe and diff take --final for an empty manifest, and refuse one without it"""
        self.bench.declare(fleet.file("a", "/a", "x\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.bench.declare(base=[])
        for verb in ("observe", "diff"):
            self.assertEqual(self.bench.run(verb).code, 1)
            run = self.bench.run(verb, "--final")
            self.assertEqual(run.code, 2, run.text)
            self.assertIn("/a", run.out)


class Limits(Case):
    def test_few_descriptors(self):
        """limits: with 128 descriptors a pass over 400 folders does the same as with a thousand"""
        folders = [fleet.directory(f"d{n}", f"/d{n}", mode="0755") for n in range(400)]
        files = [fleet.file(f"f{n}", f"/d{n}/f", "x\n") for n in range(400)]
        self.bench.declare(*folders, *files)
        few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))}
        self.assertEqual(self.bench.observe(**few).code, 2)
        done = self.bench.enforce(**few)
        self.assertEqual(done.code, 0, done.text[-2000:])
        self.assertEqual(len(os.listdir(self.bench.root)), 400)
        self.assertEqual(self.bench.observe(**few).code, 0)


if __name__ == "__main__":
    tap.main()
