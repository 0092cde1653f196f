#!/usr/bin/env python3
# test: short root
"""Readers of the journal beside passes: one whose output nobody takes, and many that follow one another."""

import array
import fcntl
import os
import pathlib
import subprocess
import sys
import termios
import threading
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PIPE_SIZE = 4096  # the least that the kernel gives
READERS = 6
PASSES = 8


def waits_for_room(process):
    """Whether the process has filled the pipe that is its standard output."""
    held = array.array("i", [0])
    fcntl.ioctl(process.stdout, termios.FIONREAD, held)
    return held[0] >= PIPE_SIZE


class Readers(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(*(fleet.file(f"f{number}", f"/f{number}", f"{number}\n") for number in range(60)))
        self.assertEqual(self.bench.enforce().code, 0)
        self.first = str(next(line["event"]["pass"] for line in self.bench.events() if line["event"].get("pass")))

    def start_blocked(self, *words):
        """A reader that stands still in the middle of its output."""
        process = subprocess.Popen([fleet.DATUM, *words, "--state", str(self.bench.state)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pipesize=PIPE_SIZE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while not waits_for_room(process):
            self.assertIsNone(process.poll(), f"{words} ended before its output was taken")
        return process

    def die(self):
        """As a killed process leaves the store: not closed."""
        (self.bench.state / "journal" / "clean").unlink(missing_ok=True)

    def check_passes(self):
        for number in range(2):
            (self.bench.root / "f1").write_text(f"spoilt {number}\n")
            done = self.bench.enforce()
            self.assertEqual(done.code, 0, done.text)
            self.assertEqual(self.bench.observe().code, 0)

    def test_blocked(self):
        """journal: a list or a post-mortem that nobody reads on keeps no pass out"""
        for is_closed in (True, False):
            for words in (["journal", "list", "--json"], ["postmortem", self.first, "--json"], ["owned", "--json"]):
                with self.subTest(closed=is_closed, words=words):
                    if not is_closed:
                        self.die()
                    process = self.start_blocked(*words)
                    self.check_passes()
                    self.assertIsNone(process.poll())

    def test_many(self):
        """journal: readers of an unclosed store that follow one another do not keep a writer out"""
        ended = threading.Event()
        failures = []

        def read():
            while not ended.is_set():
                done = fleet.datum("journal", "verify", "--state", self.bench.state)
                if done.code != 0:
                    failures.append(done.text)

        readers = [threading.Thread(target=read) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        try:
            for number in range(PASSES):
                if number % 2:
                    self.die()
                done = self.bench.observe()
                self.assertEqual(done.code, 0, done.text)
        finally:
            ended.set()
            for reader in readers:
                reader.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    tap.main()
