#!/usr/bin/env python3
# test: short root
"""A store that is not the one that was meant, or not whole, or not root's alone: each is said, and with what to do."""

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


# What makes things durable, or gives them their names.
STEPS = "fsync,fdatasync,rename,renameat,renameat2"


class Birth(unittest.TestCase):
    def test_dies(self):
        """store: whenever the first pass dies, verify finds nothing damaged, and the next pass goes on [L11]"""
        deaths = 0
        for step in range(1, 60):
            bench = fleet.Bench()
            self.addCleanup(bench.close)
            bench.declare(fleet.file("f", "/f", "text\n"))
            died = bench.observe(before=["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=" + STEPS, "-e",
                                         f"inject={STEPS}:signal=KILL:when={step}"])
            if died.code == 2:
                break
            self.assertEqual(died.code, -signal.SIGKILL, died.text)
            deaths += 1
            verified = fleet.datum("journal", "verify", "--state", bench.state)
            self.assertTrue(verified.code == 0 or "there is no store" in verified.text, f"step {step}: {verified.text}")
            self.assertEqual(bench.observe().code, 2)
            bench.close()
        print(f"# died {deaths} times before the first pass went through")
        self.assertGreater(deaths, 4)


class Whole(Case):
    def test_open_key(self):
        """store: a key that others may read is refused by a pass and named by verify, with the way out"""
        (self.bench.state / "key").chmod(0o644)
        refused = self.bench.observe()
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("key: others may read or write it: chmod 600", refused.err)
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual((verified.code, "chmod 600" in verified.out), (1, True), verified.text)
        (self.bench.state / "key").chmod(0o600)
        self.assertEqual(self.bench.observe().code, 0)

    def test_cut_key(self):
        """store: a key that was cut short is as good as lost: named, and made anew by the next pass"""
        for size in (0, 31, 33):
            (self.bench.state / "key").write_bytes(b"k" * size)
            verified = fleet.datum("journal", "verify", "--state", self.bench.state)
            self.assertEqual((verified.code, f"its key is lost (key: {size} bytes" in verified.out), (1, True), verified.text)
            done = self.bench.observe()
            self.assertEqual((done.code, "had lost its key" in done.err), (0, True), done.text)
            self.assertEqual(len((self.bench.state / "key").read_bytes()), 32)
            self.assertEqual(fleet.datum("journal", "verify", "--state", self.bench.state).code, 0)

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

    def named(self):
        """The blobs that records name: the last plan, and the old content of /f."""
        events = self.bench.events()
        plan = next(event["event"]["plan"] for event in reversed(events) if event["event"].get("plan"))
        old = next(action["oldContent"] for event in events for action in event["event"].get("actions", []))
        paths = {}
        for kind, digest in (("plan", plan), ("old", old)):
            digest = digest.removeprefix("sha256:")
            paths[kind] = self.bench.state / "blobs" / digest[:2] / digest
        return paths

    def test_damaged_blobs(self):
        """store: a blob that is not what its name says is named by verify with its file, and left out of an export with a note"""
        for kind, path in self.named().items():
            whole = path.read_bytes()
            spoilt = {"empty": b"", "random": os.urandom(300), "cut": whole[:-1], "altered": whole[:-1] + bytes([whole[-1] ^ 1])}
            for how, body in spoilt.items():
                with self.subTest(kind=kind, how=how):
                    path.write_bytes(body)
                    self.check_damaged(path, f"{kind}-{how}")
            path.write_bytes(whole)
        self.assertEqual(self.read("journal", "verify").code, 0)

    def check_damaged(self, path, name):
        words = f"blob sha256:{path.name} is damaged: {path}: "
        verified = self.read("journal", "verify", "--json")
        self.assertEqual((verified.code, verified.err), (1, ""), verified.text)
        self.assertFalse(verified.lines[0]["sound"])
        self.assertIn(words, verified.lines[0]["problem"])
        for flags in (["--content"], ["--redact"]):
            file = self.bench.scratch / (name + flags[0])
            made = self.read("journal", "export", file, *flags)
            self.assertEqual(made.code, 0, made.text)
            if flags == ["--content"] or name.startswith("plan"):
                self.assertEqual(made.err.count("note: left out: " + words), 1, made.err)
            self.assertEqual(fleet.datum("journal", "verify", "--journal", file).code, 0)

    def test_no_blob(self):
        """store: a folder, a pipe or a link in a blob's place is named, and never waited for"""
        path = self.named()["plan"]
        whole = path.rename(self.bench.scratch / "whole")
        for number, make in enumerate((lambda: path.mkdir(), lambda: os.mkfifo(path), lambda: path.symlink_to(whole))):
            make()
            self.check_damaged(path, f"plan-{number}")
            path.rmdir() if path.is_dir() else path.unlink()
        verified = self.read("journal", "verify")
        self.assertRegex(verified.out, f"^Damaged: 1 blob that records refer to is missing, first sha256:{path.name}\n$")

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

    def test_beside(self):
        """store: one whose journal lies in journal.compacting alone is neither made anew nor removed, and every verb says what to do"""
        journal, beside = (self.bench.state / name for name in ("journal", "journal.compacting"))
        events = self.bench.events()
        journal.rename(beside)
        whole = (beside / "data.mdb").read_bytes()
        for verb in (["status"], ["journal", "list"], ["journal", "verify"], ["journal", "set-aside"], ["journal", "archive"]):
            done = self.read(*verb)
            self.assertEqual(done.code, 1, done.text)
            self.assertIn(f"mv -T {beside} {journal}", done.err)
        for make in (lambda: None, lambda: journal.mkdir(mode=0o700)):
            make()
            done = self.bench.observe()
            self.assertEqual(done.code, 1, done.text)
            self.assertIn(f"mv -T {beside} {journal}", done.err)
            self.assertEqual((beside / "data.mdb").read_bytes(), whole)
        subprocess.run(["mv", "-T", beside, journal], check=True)
        self.assertEqual(self.bench.events(), events)
        self.assertEqual(self.bench.observe().code, 0)


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
