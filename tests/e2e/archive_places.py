#!/usr/bin/env python3
# test: short
"""What lies where the archive does and is no part of it: each of several strange files is named, none is counted, and
something else than a folder in its place is told in words. And what `datum-host --check` says, line by line."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402


def name_of(first, last):
    return f"journal-{first:020d}-{last:020d}.export"


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = self.make_bench()

    def make_bench(self):
        bench = hosting.Bench()
        self.addCleanup(bench.close)
        bench.configure()
        for text in ("one\n", "two\n", "three\n"):
            bench.declare(fleet.file("f", "/f", text))
            self.assertEqual(bench.enforce().code, 0)
        return bench

    def datum(self, *arguments, code=0, bench=None):
        bench = bench or self.bench
        place = ["--state", bench.state] if arguments[:2] != ("journal", "archive") else [
            "--state", bench.state, "--root", bench.root, "--config", bench.config]
        done = fleet.datum(*arguments, *place)
        self.assertEqual(done.code, code, done.text)
        return done

    def archive_most(self, bench=None):
        """The name of the one file that then is in the archive."""
        bench = bench or self.bench
        self.datum("journal", "archive", "--through", str(bench.events()[-1]["seq"] - 2), bench=bench)
        (name,) = os.listdir(bench.state / "archive")
        return name


class Strays(Case):
    def test_each(self):
        """archive: every strange file is named by verify as by status, and stat counts none of them as the archive's"""
        own = self.archive_most()
        other = self.make_bench()
        strange = other.state / "archive" / self.archive_most(other)
        before = self.datum("journal", "stat", "--json").lines[0]
        self.assertEqual((before["strays"], [file["file"] for file in before["archive"]]), ([], [own]))
        names = [name_of(1, 3), name_of(2, 5), name_of(4, 6)]
        for name in names:
            shutil.copy(strange, self.bench.state / "archive" / name)
        verified = self.datum("journal", "verify", code=1)
        status = fleet.datum("status", "--state", self.bench.state)
        for name in names:
            self.assertIn(f"{name} is of another store", verified.out)
            self.assertIn(f"{name} is of another store", status.out)
        after = self.datum("journal", "stat", "--json").lines[0]
        self.assertEqual(after.pop("strays"), names)
        before.pop("strays")
        for usage in (before, after):
            usage.pop("head"), usage.pop("headTime")
        self.assertEqual(after, before)
        shown = self.datum("journal", "stat").out
        self.assertIn("1 file", shown)
        self.assertIn("no part of it: " + " ".join(names), shown)
        for name in names:
            (self.bench.state / "archive" / name).unlink()
        self.assertIn("Sound", self.datum("journal", "verify").out)


class InTheWay(Case):
    def test_no_folder(self):
        """archive: a plain file in the place of its folder is told by verify, status and archive, and keeps no pass out"""
        (self.bench.state / "archive").write_text("a note\n")
        words = f"{self.bench.state}/archive is no folder, and the journal's archive belongs there: move it away"
        self.assertIn(words, self.datum("journal", "verify", code=1).out)
        self.assertIn(words, fleet.datum("status", "--state", self.bench.state).out)
        through = str(self.bench.events()[-1]["seq"] - 1)
        self.assertIn(words, self.datum("journal", "archive", "--through", through, code=1).err)
        self.bench.declare(fleet.file("f", "/f", "four\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual((self.bench.state / "archive").read_text(), "a note\n")
        (self.bench.state / "archive").unlink()
        self.archive_most()
        self.assertIn("Sound", self.datum("journal", "verify").out)

    def test_instead(self):
        """archive: where its folder was taken away and a file lies there, the records that are missing are named, and why"""
        self.archive_most()
        archive = self.bench.state / "archive"
        archive.rename(self.bench.scratch / "away")
        archive.write_text("a note\n")
        verified = self.datum("journal", "verify", code=1)
        self.assertIn("are missing", verified.out)
        self.assertIn("it is no folder", verified.out)
        self.assertEqual(self.bench.observe().code, 0)
        archive.unlink()
        (self.bench.scratch / "away").rename(archive)
        self.assertIn("Sound", self.datum("journal", "verify").out)


class Check(unittest.TestCase):
    def test_lines(self):
        """datum-host --check: what is wrong with a configuration is said line by line, with 78; a good one is called that"""
        bench = hosting.Bench()
        self.addCleanup(bench.close)
        arguments = [hosting.HOST, "--check", "--root", bench.root, "--config", bench.config, "--state", bench.state]
        bench.configure()
        good = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((good.returncode, good.stderr), (0, ""))
        bench.configure("host: h1\nunknown: 1\nstrange: 2\n")
        bad = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((bad.returncode, bad.stdout), (78, ""))
        self.assertNotIn("\\x0a", bad.stderr)
        self.assertIn("agent.yaml:2:1: unknown key", bad.stderr)
        self.assertIn("agent.yaml:3:1: unknown key", bad.stderr)
        self.assertGreater(len(bad.stderr.splitlines()), 1, bad.stderr)


if __name__ == "__main__":
    tap.main()
