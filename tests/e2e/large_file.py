#!/usr/bin/env python3
# test: short root
"""[F16] A sparse file of 1 GiB is observed, rendered and applied in bounded memory, and keeps its holes.

LARGE_FILE_GIB=5 in the environment makes it 5 GiB, as large_file_long.py does."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

GIBIBYTES = int(os.environ.get("LARGE_FILE_GIB", "1"))
LIMIT_KIB = 64 * 1024  # of anonymous memory (design §8); what is mapped from files is not counted
EDGES = (0, 1 << 20, (GIBIBYTES << 30) - 4096)  # where the file has data


def run_measured(arguments, limit_s=280):
    """(exit code, output, largest RssAnon in KiB) of the command. Looked at often: peaks last long here."""
    with subprocess.Popen([fleet.DATUM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as child:
        peak = 0
        while True:
            try:
                output, _ = child.communicate(timeout=0.02)
                return child.returncode, output, peak
            except subprocess.TimeoutExpired:
                limit_s -= 0.02
                if limit_s < 0:
                    child.kill()
            try:
                with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
                    values = dict(line.split(":", 1) for line in status)
                peak = max(peak, int(values.get("RssAnon", "0 kB").split()[0]))
            except (FileNotFoundError, ProcessLookupError):
                pass


def write_sparse(path, mark):
    with open(path, "wb") as opened:
        opened.truncate(GIBIBYTES << 30)
        for place in EDGES:
            opened.seek(place)
            opened.write(mark * 4096)


class LargeFile(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("large", "/large", source="large.bin", mode="0644"))
        write_sparse(self.bench.fleet / "base/large.bin", b"n")

    def pass_arguments(self, verb, *more):
        return [verb, "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", self.bench.root, "--state", self.bench.state,
                *more]

    def check(self, code, *arguments):
        done, output, peak = run_measured(arguments)
        self.assertEqual(done, code, output)
        self.assertLess(peak, LIMIT_KIB, " ".join(map(str, arguments[:1])))
        return peak

    def test_bounded_memory(self):
        """large file: created, observed and corrected in less than 64 MiB, with its holes kept [F16]"""
        path, size = self.bench.root / "large", GIBIBYTES << 30
        peaks = [self.check(0, *self.pass_arguments("reconcile", "--mode", "enforce"))]
        self.assertEqual(path.stat().st_size, size)
        self.assertLess(path.stat().st_blocks * 512, 64 << 20, "holes are kept")
        with open(path, "rb") as opened:
            for place in EDGES:
                opened.seek(place)
                self.assertEqual(opened.read(4096), b"n" * 4096)
        with open(path, "r+b") as opened:
            opened.seek(size // 2)
            opened.write(b"by hand")
        inode = path.stat().st_ino
        peaks.append(self.check(2, *self.pass_arguments("observe")))
        peaks.append(self.check(0, *self.pass_arguments("reconcile", "--mode", "enforce")))
        with open(path, "rb") as opened:
            opened.seek(size // 2)
            self.assertEqual(opened.read(7), b"\0" * 7)
        self.assertNotEqual(path.stat().st_ino, inode)
        print(f"# peaks of RssAnon in KiB: {peaks}")
        self.assertEqual([event["event"]["target"] for event in self.bench.events("--kind", "oldContentNotKept")], ["/large"])


if __name__ == "__main__":
    tap.main()
