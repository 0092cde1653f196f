#!/usr/bin/env python3
# test: short
"""What becomes of a store that something was done to, as people meet it. Each case ends in a named refusal (exit
status 1 or 3, never a signal), with the store as it was, or in exactly the same records; none takes longer than the
walk may. Counts are printed."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PAGE = 4096
LIMIT_S = 300  # the walk's own limit is 10 s; a busy machine takes more for all of a command, but an end there is


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(*[fleet.file(f"f{number}", f"/f{number}", f"{number}\n") for number in range(12)])
        self.assertEqual(self.bench.enforce().code, 0)
        self.journal = self.bench.state / "journal"
        self.data = self.journal / "data.mdb"
        self.good = self.data.read_bytes()
        self.listed = self.bench.events()
        self.text = self.call("journal", "list", "--state", self.bench.state, "--json").stdout
        self.cases = self.refused = self.whole = 0

    def call(self, *arguments):
        return subprocess.run([fleet.DATUM, *map(os.fspath, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=LIMIT_S, check=False)

    def judge(self, what, word=None):
        """After something was done to the store: every command refuses and changes nothing, or all is there."""
        self.cases += 1
        before = self.data.read_bytes() if self.data.exists() else None
        listed = self.call("journal", "list", "--state", self.bench.state, "--json")
        self.assertGreaterEqual(listed.returncode, 0, f"{what}: died of signal {-listed.returncode}")
        if listed.returncode == 0:
            self.whole += 1
            self.assertEqual(listed.stdout, self.text, what)
            return
        self.refused += 1
        self.assertIn(listed.returncode, (1, 3), what)
        self.assertTrue(listed.stderr.startswith("datum: "), (what, listed.stderr))
        if word:
            self.assertIn(word, listed.stderr, what)
        for verb in ("observe", "reconcile"):
            done = self.bench.run(verb)
            self.assertIn(done.code, (1, 3), (what, verb, done.text))
        after = self.data.read_bytes() if self.data.exists() else None
        self.assertEqual(before, after, what)

    def report(self, what):
        print(f"# {what}: {self.cases} cases, {self.refused} refused by name, {self.whole} whole, violations 0")


class Bytes(Case):
    def put(self, body):
        self.data.write_bytes(body)

    def test_cut(self):
        """damage: cut at every page it is refused or whole [L06]"""
        for size in range(0, len(self.good), PAGE):
            self.put(self.good[:size])
            self.judge(f"cut at {size}")
        self.report("cut")
        self.assertGreater(self.refused, 3)

    def test_zeroed(self):
        """damage: with any page zeroed, and with both meta pages, it is refused or whole [L04] [L06]"""
        for page in range(len(self.good) // PAGE):
            body = bytearray(self.good)
            body[page * PAGE:(page + 1) * PAGE] = bytes(PAGE)
            self.put(bytes(body))
            self.judge(f"page {page} zeroed")
        self.put(bytes(2 * PAGE) + self.good[2 * PAGE:])
        self.judge("both meta pages zeroed", "page")
        self.report("zeroed")
        self.assertGreater(self.refused, 3)

    def test_foreign(self):
        """damage: an empty file, a text and another program's data are refused [L06]"""
        for body in (b"", b"hello\n", os.urandom(100_000), b"SQLite format 3\0" + bytes(8192), bytes(1 << 20)):
            self.put(body)
            self.judge(f"{len(body)} foreign bytes")
        self.report("foreign")
        self.assertEqual(self.whole, 0)

    def test_torn_copy(self):
        """damage: a copy whose halves are of two moments is refused or whole, and verify says which [L08]"""
        self.bench.declare(*[fleet.file(f"f{number}", f"/f{number}", f"{number} again\n") for number in range(12)])
        self.assertEqual(self.bench.enforce().code, 0)
        later = self.data.read_bytes()
        torn = 0
        for cut in range(PAGE, len(self.good), PAGE):
            copy = self.bench.scratch / f"copy{cut}"
            shutil.copytree(self.bench.state, copy)
            (copy / "journal/data.mdb").write_bytes(self.good[:cut] + later[cut:])
            done = self.call("journal", "verify", "--state", copy)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            torn += done.returncode
            shutil.rmtree(copy)
        print(f"# torn copies: {torn} found")
        self.assertGreater(torn, 3)


class Access(Case):
    def test_modes(self):
        """damage: a folder or file that others may use is refused with what to do"""
        self.journal.chmod(0o755)
        self.assertIn("chmod 700", self.bench.observe().err)
        self.journal.chmod(0o700)
        self.data.chmod(0o644)
        self.assertIn("chmod 600", self.bench.observe().err)
        self.data.chmod(0o600)
        self.assertEqual(self.bench.observe().code, 0)

    def test_second_writer(self):
        """damage: a second writer is told who the first is and ends with 3; the first goes on [L12]"""
        first = subprocess.Popen(["flock", "--no-fork", self.journal / "writer.lock", "sleep", "600"])
        try:
            while subprocess.run(["flock", "--nonblock", self.journal / "writer.lock", "true"], check=False).returncode == 0:
                pass
            done = self.bench.enforce()
            self.assertEqual(done.code, 3, done.text)
            self.assertIn("in use", done.err)
        finally:
            first.kill()
            first.wait()
        self.assertEqual(self.bench.enforce().code, 0)

    def test_stopped_reader(self):
        """damage: readers that are stopped or killed keep no writer out and lose no record [L03] [L11]"""
        readers = []
        for _ in range(4):
            reader = subprocess.Popen([fleet.DATUM, "journal", "tail", "--follow", "--state", str(self.bench.state)],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            reader.stdout.readline()
            readers.append(reader)
        try:
            for reader in readers[:2]:
                reader.send_signal(signal.SIGSTOP)
            for reader in readers[2:]:
                reader.kill()
                reader.wait()
            for version in range(3):
                (self.bench.root / "f1").write_text(f"by hand {version}\n")
                done = self.bench.enforce()
                self.assertEqual(done.code, 0, done.text)
        finally:
            for reader in readers:
                reader.kill()
                reader.wait()
                reader.stdout.close()
        verified = self.call("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertEqual(self.bench.events()[:len(self.listed)], self.listed)

    def test_linked(self):
        """damage: a store behind a linked folder is used, a linked data file refused, and no link is replaced [L17]"""
        real = self.bench.scratch / "real"
        self.bench.state.rename(real)
        self.bench.state.symlink_to(real)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertTrue(self.bench.state.is_symlink())
        moved = self.bench.scratch / "data.mdb"
        self.data.rename(moved)
        self.data.symlink_to(moved)
        self.assertEqual(self.bench.observe().code, 1)
        self.assertTrue(self.data.is_symlink())


if __name__ == "__main__":
    tap.main()
