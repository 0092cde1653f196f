#!/usr/bin/env python3
# test: short root
"""Readers of the journal beside passes: one whose output nobody takes, and many that follow one another."""

import array
import fcntl
import os
import pathlib
import shutil
import signal
import struct
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


def opener_of(lmdb_lock):
    """The process that holds LMDB's lock for opening; 0 for none."""
    wanted = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0)
    with open(lmdb_lock, "rb") as file:
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, wanted))
    return 0 if kind == fcntl.F_UNLCK else pid


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

    def count_lock_calls(self):
        """How many fcntl calls a reader makes until it has LMDB's lock for opening."""
        trace = self.bench.scratch / "trace"
        subprocess.run(["strace", "-qq", "-e", "trace=fcntl", "-o", trace, fleet.DATUM, "journal", "stat", "--state",
                        str(self.bench.state)], check=True, stdout=subprocess.DEVNULL)
        calls = trace.read_text().splitlines()
        return next(number for number, call in enumerate(calls, 1) if "F_SETLK," in call and "F_WRLCK" in call)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_stopped(self):
        """journal: a reader that is stopped while it opens the store keeps a pass out for no longer than it is named"""
        when = self.count_lock_calls()
        reader = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", "trace=fcntl", "-e",
                                   f"inject=fcntl:signal=STOP:when={when}", fleet.DATUM, "journal", "stat", "--state",
                                   str(self.bench.state)], stdout=subprocess.DEVNULL)
        stopped = 0
        while not stopped:
            self.assertIsNone(reader.poll(), "the reader was not stopped")
            stopped = opener_of(self.bench.state / "journal" / "lock.mdb")
        try:
            done = self.bench.enforce()
            self.assertEqual(done.code, 3, done.text)
            self.assertIn(f"process {stopped} began to open it", done.text)
        finally:
            os.kill(stopped, signal.SIGCONT)
            self.assertEqual(reader.wait(fleet.PASS_LIMIT_S), 0)
        self.check_passes()


if __name__ == "__main__":
    tap.main()
