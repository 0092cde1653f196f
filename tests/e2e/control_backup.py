#!/usr/bin/env python3
# test: short
"""The drill: a control plane is backed up while it runs, lost, and restored elsewhere; its nodes come back to it, what is newer
than the backup waits for a person, and no file that was changed is believed."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import mesh  # noqa: E402
import tap  # noqa: E402


class Backup(unittest.TestCase):
    declare, push, enrol, content = mesh.Mesh.declare, mesh.Mesh.push, mesh.Mesh.enrol, mesh.Mesh.content

    def setUp(self):
        mesh.Mesh.setUp(self)
        self.state = self.plane.folder / "state"
        self.file = self.bench.scratch / "backup"
        self.passphrase = self.bench.scratch / "passphrase"
        self.passphrase.write_text("correct horse battery\n")

    def run_alone(self, *words):
        return subprocess.run([mesh.CONTROL, *map(str, words)], capture_output=True, text=True, timeout=mesh.LIMIT_S,
                              stdin=subprocess.DEVNULL, check=False)

    def backup(self, output=None):
        return self.run_alone("backup", "--state", self.state, "--output", output or self.file, "--passphrase-file",
                              self.passphrase)

    def restore(self, file=None, state=None, passphrase=None):
        return self.run_alone("restore", file or self.file, "--state", state or self.state, "--passphrase-file",
                              passphrase or self.passphrase)

    def status(self):
        return json.loads(self.plane.ask("status", "--json"))

    def test_drill(self):
        """backup: taken beside the server, restored after a loss; nodes come back, newer ones by name, and the next push wins"""
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 1)
        self.plane.ask("hold", fleet.HOST, "--reason", "x")
        hosting.wait(lambda: self.plane.node()["order"].get("state") == "acknowledged")
        self.plane.ask("lift", fleet.HOST)
        hosting.wait(lambda: self.plane.node()["order"]["order"] == "lift" and
                     self.plane.node()["order"]["state"] == "acknowledged")
        hosting.wait(lambda: mesh.Mesh.is_kept(self))
        done = self.backup()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("and the journals of 1 store of nodes\n"), done.stdout)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(path.name for path in self.bench.scratch.iterdir() if "backup" in path.name), ["backup"])
        kept = {path.relative_to(self.state): path.read_bytes() for path in self.state.glob("*.key")}
        for key in kept.values():
            for line in key.splitlines()[1:-1]:
                self.assertNotIn(line, self.file.read_bytes())
        self.push("two\n")
        host.wait_until(lambda: self.content() == "two\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        before = self.plane.node()
        self.plane.end()
        shutil.rmtree(self.state)
        done = self.restore()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("generation 1.1", done.stdout)
        self.assertEqual({path.relative_to(self.state): path.read_bytes() for path in self.state.glob("*.key")}, kept)
        self.plane.start()
        generation = self.status()["generation"]
        self.assertEqual(generation["number"], 0)
        self.assertGreater(generation["epoch"], 1)
        self.assertIn(f"is of epoch {generation['epoch']}\n", done.stdout)
        hosting.wait(lambda: self.status()["newer"] == [fleet.HOST])
        self.assertFalse(self.plane.node()["linked"])
        self.assertIn("0 nodes linked, 1 machine waiting, ", self.plane.ask("status"))
        said = (self.plane.folder / "log").read_text()
        self.assertIn("restored, and without the content of former pushes until the next one\n", said)
        self.assertNotIn("cannot be read", said)
        self.assertEqual(self.content(), "two\n")
        self.plane.ask("nodes", "accept", fleet.HOST, "--reason", "it is right")
        self.way.break_all()
        host.stop()
        host = self.bench.start()
        host.wait_ready()
        node = hosting.wait(lambda: (now := self.plane.node())["linked"] and now)
        for key in ("fingerprint", "store", "enrolled"):
            self.assertEqual(node[key], before[key], key)
        self.assertEqual(self.status()["newer"], [])
        hosting.wait(lambda: mesh.Mesh.is_kept(self))
        self.push("three\n")
        host.wait_until(lambda: self.content() == "three\n")
        hosting.wait(lambda: self.plane.node()["applied"] == {"epoch": generation["epoch"], "number": 1})
        self.plane.ask("hold", fleet.HOST, "--reason", "numbers go on")
        hosting.wait(lambda: self.plane.node()["order"]["state"] == "acknowledged")
        self.assertEqual(host.stop(), 0, host.said)

    def test_twice(self):
        """backup: each restore of the same file begins an epoch of its own, above the one that a former restore began"""
        self.plane.token()
        self.assertEqual(self.backup().returncode, 0)
        epochs = []
        for name in ("first", "second"):
            done = self.restore(state=self.bench.scratch / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            epochs.append(int(re.search(r"is of epoch (\d+)$", done.stdout, re.MULTILINE)[1]))
            began = int(time.time())
            hosting.wait(lambda: int(time.time()) > began)
        self.assertLess(epochs[0], epochs[1])

    def test_what_lies_beside(self):
        """backup: nothing beside its output is touched, and nothing of it is left there"""
        beside = [self.file.with_name(self.file.name + end) for end in (".part", ".records", ".partial")]
        for path in beside:
            path.write_text("of somebody else\n")
        before = sorted(path.name for path in self.bench.scratch.iterdir())
        self.assertEqual(self.backup().returncode, 0)
        self.assertEqual([path.read_text() for path in beside], ["of somebody else\n"] * 3)
        self.assertEqual(sorted(path.name for path in self.bench.scratch.iterdir()), sorted([*before, self.file.name]))

    def test_cut_off(self):
        """backup: no server begins a mesh where a restore was cut off, and one that failed leaves nothing"""
        self.plane.token()
        self.assertEqual(self.backup().returncode, 0)
        target = self.bench.scratch / "restored"
        bad = self.bench.scratch / "bad"
        bad.write_bytes(self.file.read_bytes()[:-20])
        done = self.restore(bad, target)
        self.assertEqual((done.returncode, list(target.iterdir())), (1, []), done.stderr)
        (target / "restoring").mkdir(mode=0o700)
        done = self.restore(state=target)
        self.assertEqual((done.returncode, "was cut off" in done.stderr), (1, True), done.stderr)
        done = self.run_alone("serve", "--state", target, "--listen", "127.0.0.1:0", "--socket", target / "socket")
        self.assertEqual((done.returncode, "was cut off" in done.stderr), (74, True), done.stderr)
        self.assertEqual([path.name for path in target.iterdir()], ["restoring"])
        (target / "restoring").rmdir()
        self.assertEqual(self.restore(state=target).returncode, 0)

    def test_refused(self):
        """backup: another passphrase, a changed or cut file, a folder that has something are refused, and nothing is made"""
        self.plane.token()
        self.assertEqual(self.backup().returncode, 0)
        self.assertEqual(self.backup().returncode, 1)  # it is not replaced
        other = self.bench.scratch / "other"
        for text in ("", "short\n", "x" * 2000 + "\n"):
            other.write_text(text)
            self.assertEqual(self.run_alone("backup", "--state", self.state, "--output", other.with_suffix(".b"),
                                            "--passphrase-file", other).returncode, 1)
        self.assertFalse(other.with_suffix(".b").exists())
        target = self.bench.scratch / "restored"
        other.write_text("another passphrase\n")
        done = self.restore(state=target, passphrase=other)
        self.assertEqual((done.returncode, "the passphrase is another" in done.stderr), (1, True), done.stderr)
        self.assertFalse((target / "authority.key").exists())
        whole = self.file.read_bytes()
        bad = self.bench.scratch / "bad"
        for at in (0, 7, 9, 20, 29, 40, len(whole) // 2, len(whole) - 1):
            with self.subTest(at):
                bad.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
                shutil.rmtree(target, ignore_errors=True)
                done = self.restore(bad, target)
                self.assertEqual((done.returncode, bool(done.stderr)), (1, True))
                self.assertFalse((target / "journal").exists())
        for size in (0, 8, 27, 28, 30, len(whole) // 2, len(whole) - 1):
            bad.write_bytes(whole[:size])
            shutil.rmtree(target, ignore_errors=True)
            self.assertEqual(self.restore(bad, target).returncode, 1, size)
        bad.write_bytes(whole + b"x")
        shutil.rmtree(target, ignore_errors=True)
        self.assertEqual(self.restore(bad, target).returncode, 1)
        done = self.restore()
        self.assertEqual((done.returncode, "is not empty" in done.stderr), (1, True), done.stderr)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=0o700)
        done = subprocess.run([mesh.CONTROL, "restore", self.file, "--state", target, "--passphrase-file", "-"],
                              input="correct horse battery\n", capture_output=True, text=True, timeout=mesh.LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    tap.main()
