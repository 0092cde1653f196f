#!/usr/bin/env python3
# test: short
"""datum prepare-image: what a machine to copy from loses and keeps, when it is refused, and how a copy of it comes up."""

import fcntl
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

IDENTITY = ("identity/key.pem", "identity/grant", "declarations/1.1", "incoming", "tools/x.out")
MARKS = ("var/lib/datum/release/trial", "var/lib/datum/release/rolled-back", "var/lib/datum/release/stopped",
         "run/datum/no-pass", "run/datum/stopping", "run/datum-started", "run/datum-failures", "srv/datum.prom")
KEPT = ("var/lib/datum/release/confirmed", "var/lib/datum/release/0.1.0/about")
HISTORY = ("journal", "blobs", "key")


class Image(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.configure(mode="enforce", metrics="/srv/datum.prom")
        self.bench.declare(fleet.file("motd", "/motd", "hello\n" * 100))
        self.state, self.root = self.bench.state, self.bench.root
        self.live()

    def live(self):
        """A life of the service over the store, which ends in order, and what a machine has gathered besides."""
        host = self.bench.start()
        host.wait_ready()
        host.wait_until(lambda: (self.root / "motd").exists())
        self.assertEqual(host.stop(), 0, host.said)
        for base, names in ((self.state, IDENTITY), (self.root, MARKS + KEPT)):
            for name in names:
                (base / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                (base / name).write_text("# HELP datum_x y\n" if name.endswith(".prom") else "x\n")
        if not (self.root / "run/datum/host.sock").exists():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
                os.chdir(self.root / "run/datum")
                left.bind("host.sock")
                os.chdir("/")

    def prepare(self, *arguments):
        return fleet.datum("prepare-image", "--root", self.root, "--config", self.bench.config, "--state", self.state, *arguments)

    def aside(self):
        return sorted(self.state.glob("image-*"))

    def check_stripped(self):
        for base, names in ((self.state, IDENTITY + HISTORY), (self.root, (*MARKS, "run/datum/host.sock"))):
            for name in names:
                self.assertFalse((base / name).exists(), name)
        for name in KEPT:
            self.assertTrue((self.root / name).exists(), name)
        self.assertTrue((self.bench.config / "agent.yaml").exists())

    def check_new(self):
        """A copy: the service comes up hosted, with a journal that begins, and adopts what is there."""
        before = self.store
        host = self.bench.start()
        host.wait_ready()
        host.wait_until(lambda: "passFinished" in [event["kind"] for event in self.bench.events()])
        self.assertEqual(host.stop(), 0, host.said)
        events = self.bench.events()
        kinds = [event["kind"] for event in events]
        self.assertEqual((events[0]["seq"], kinds[0]), (1, "storeCreated"))
        self.assertEqual([event["event"]["to"] for event in events if event["kind"] == "lifecycleChanged"], ["hosted"])
        self.assertNotIn("corruptDetected", kinds)
        self.assertNotEqual(events[0]["event"]["store"], before)
        verified = fleet.datum("journal", "verify", "--state", self.state)
        self.assertEqual(verified.code, 0, verified.text)

    @property
    def store(self):
        places = [self.state, *self.aside()]
        for place in places:
            if (place / "journal/data.mdb").exists():
                return self.bench.events("--limit", "1000", state=place)[0]["event"]["store"]
        return None

    def test_set_aside(self):
        """image: the identity goes, history is set aside and can be read, the release stays, and a copy begins anew"""
        store, events = self.store, self.bench.events()
        done = self.prepare()
        self.assertEqual(done.code, 0, done.text)
        self.check_stripped()
        (aside,) = self.aside()
        self.assertEqual({path.name for path in aside.iterdir()}, set(HISTORY))
        self.assertEqual(self.bench.events(state=aside), events)
        self.assertEqual(fleet.datum("journal", "verify", "--state", aside).code, 0)
        self.assertIn(f"lies in {aside}", done.out)
        self.assertIn("it names the host h1", done.err)
        again = self.prepare()
        self.assertEqual((again.code, len(self.aside())), (0, 1), again.text)
        self.assertIn("an image already", again.out)
        self.check_new()
        self.assertEqual(self.bench.events(state=aside)[0]["event"]["store"], store)

    def test_discard(self):
        """image: history is deleted only when that is said, and then what was set aside before too"""
        self.assertEqual(self.prepare().code, 0)
        self.check_new()
        self.live()
        self.assertEqual(len(self.aside()), 1)
        lines = self.prepare("--discard-journal", "--json").lines
        self.check_stripped()
        self.assertEqual(self.aside(), [])
        outcomes = {line["outcome"] for line in lines}
        self.assertEqual(outcomes, {"removed", "discarded", "kept"})
        self.assertEqual(sum(line["outcome"] == "discarded" for line in lines), 2)

    def test_refused(self):
        """image: while anybody has the store, a rollback is done, or a pass was cut off, nothing is touched"""
        before = fleet.listing(self.state)
        host = self.bench.start()
        host.wait_ready()
        done = self.prepare()
        self.assertEqual(done.code, 3, done.text)
        self.assertIn("stop it (systemctl stop datum-host)", done.err)
        self.assertEqual(host.stop(), 0)
        with open(self.state / "journal/writer.lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            done = self.prepare()
            self.assertEqual(done.code, 3, done.text)
            self.assertIn("the store is in use", done.err)
        restoring = self.root / "var/lib/datum/release/restoring"
        restoring.write_text("from=b\nto=a\ncause=c\n")
        done = self.prepare()
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("a rollback is being done", done.err)
        restoring.unlink()
        self.assertEqual(set(before), set(fleet.listing(self.state)))
        self.assertEqual(self.aside(), [])

    def test_cut_off(self):
        """image: cut off before each rename and removal in turn, the next run comes to the same end, in one folder"""
        preload = str(pathlib.Path(fleet.DATUM).parents[2] / "tests/e2e/boundary.so")
        for boundary in range(1, 100):
            shutil.rmtree(self.state)
            self.live()
            died = fleet.datum("prepare-image", "--root", self.root, "--config", self.bench.config, "--state", self.state,
                               before=["env", f"LD_PRELOAD={preload}", f"BOUNDARY={boundary}"])
            self.assertIn(died.code, (0, -9, 137), died.text)
            done = self.prepare()
            self.assertEqual(done.code, 0, done.text)
            self.check_stripped()
            (aside,) = self.aside()
            self.assertEqual({path.name for path in aside.iterdir()}, set(HISTORY), boundary)
            if died.code == 0:
                break
        print(f"# {boundary - 1} moments")
        self.assertGreater(boundary, 10)

    def held(self, boundary):
        """prepare-image as it stands before that step, and the file that holds it there; None if it has ended."""
        held = self.bench.scratch / "held"
        preload = str(pathlib.Path(fleet.DATUM).parents[2] / "tests/e2e/boundary.so")
        environment = {**os.environ, "LD_PRELOAD": preload, "BOUNDARY": str(boundary), "HELD_FILE": str(held)}
        preparing = subprocess.Popen([fleet.DATUM, "prepare-image", "--root", self.root, "--config", self.bench.config,
                                      "--state", self.state], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, env=environment)
        self.addCleanup(preparing.communicate)
        self.addCleanup(preparing.kill)
        self.addCleanup(held.unlink, missing_ok=True)
        hosting.wait(lambda: held.exists() or preparing.poll() is not None)
        return preparing, held

    def test_start_in_the_middle(self):
        """image: a service or a command that starts anywhere in the middle waits or is refused, and takes nothing of what moves"""
        middles = 0
        for boundary in range(1, 200, 3):
            shutil.rmtree(self.state)
            self.live()
            events = self.bench.events()
            preparing, held = self.held(boundary)
            if not held.exists():
                self.assertEqual(preparing.wait(), 0)
                break
            middles += 1
            before = fleet.listing(self.state)
            host = self.bench.start()
            waits = host.wait_for(lambda message: "STATUS" in message)["STATUS"]
            self.assertIn("waits for the store", waits)
            self.assertIn(f"process {preparing.pid} moves it away", waits)
            for words in (("observe", "--root", self.root, "--config", self.bench.config), ("journal", "set-aside"),
                          ("journal", "archive", "--root", self.root, "--config", self.bench.config)):
                done = fleet.datum(*words, "--state", self.state)
                self.assertEqual(done.code, 3, done.text)
                self.assertIn("moves it away", done.err)
            self.assertEqual(set(before), set(fleet.listing(self.state)))
            held.unlink()
            said, _ = preparing.communicate(timeout=hosting.LIMIT_S)
            self.assertEqual(preparing.returncode, 0, said)
            (aside,) = self.aside()
            self.assertEqual({path.name for path in aside.iterdir()}, set(HISTORY))
            self.assertEqual(self.bench.events(state=aside), events)
            # Then it begins anew, as a copy does.
            host.wait_pass()
            self.assertEqual(host.stop(), 0, host.said)
            new = self.bench.events()
            self.assertEqual((new[0]["seq"], new[0]["kind"]), (1, "storeCreated"))
            self.assertNotIn("corruptDetected", [event["kind"] for event in new])
            self.assertNotEqual(new[0]["event"]["store"], events[0]["event"]["store"])
        print(f"# {middles} moments")
        self.assertGreater(middles, 3)

    def test_opened_now(self):
        """image: while somebody opens the store nothing of it moves, for an image or as damaged"""
        before = fleet.listing(self.state)
        folder = os.open(self.state, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_SH)
            for done in (self.prepare(), fleet.datum("journal", "set-aside", "--state", self.state)):
                self.assertEqual(done.code, 3, done.text)
                self.assertIn(f"process {os.getpid()} opens it", done.err)
        finally:
            os.close(folder)
        self.assertEqual(before, fleet.listing(self.state))

    def test_steps_that_fail(self):
        """image: whichever step fails, nothing was touched, or it says what is done, and the same command does the rest"""
        untouched = half = 0
        for call in ("mkdirat", "renameat2", "unlinkat", "fsync"):
            for number in range(1, 40):
                shutil.rmtree(self.state)
                self.live()
                before = fleet.listing(self.state)
                done = fleet.datum("prepare-image", "--root", self.root, "--config", self.bench.config, "--state", self.state,
                                   before=["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=" + call, "-e",
                                           f"inject={call}:error=ENOSPC:when={number}"])
                if done.code == 0:
                    break
                self.assertEqual(done.code, 1, done.text)
                self.assertIn("No space left", done.err)
                gone = set(before) - set(fleet.listing(self.state))
                if gone:
                    half += 1
                    self.assertIn("this machine is no image yet. Done so far: ", done.err)
                    for name in {os.fsdecode(path).split("/", maxsplit=1)[0] for path in gone}:
                        self.assertIn(str(self.state / name), done.err)
                else:
                    untouched += 1
                again = self.prepare()
                self.assertEqual(again.code, 0, again.text)
                self.check_stripped()
                (aside,) = self.aside()
                self.assertEqual({path.name for path in aside.iterdir()}, set(HISTORY), (call, number))
        print(f"# {untouched} without a trace, {half} in the middle")
        self.assertGreater(min(untouched, half), 1)

    def test_not_datums(self):
        """image: what only looks like Datum's stays: a file or folder that metrics names, a folder that is no store, names like its own"""
        other = self.root / "srv/datum.prom"
        other.write_text("somebody else's\n")
        notes = self.state / "image-notes"
        notes.mkdir()
        (notes / "read me").write_text("mine\n")
        (self.state / "image-file").write_text("mine\n")
        done = self.prepare("--discard-journal")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(other.read_text(), "somebody else's\n")
        self.assertEqual(((notes / "read me").read_text(), (self.state / "image-file").read_text()), ("mine\n", "mine\n"))
        other.unlink()
        other.mkdir()
        (other / "sub").write_text("x\n")
        self.assertEqual(self.prepare().code, 0)
        self.assertTrue((other / "sub").exists())
        home = self.root / "home"
        for name in ("identity", "tools", "blobs"):
            (home / name).mkdir(parents=True)
            (home / name / "f").write_text("mine\n")
        done = fleet.datum("prepare-image", "--root", self.root, "--config", self.bench.config, "--state", home)
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("no journal lies there", done.err)
        self.assertEqual(len(list(home.rglob("f"))), 3)

    def test_links(self):
        """image: below another root no link is followed, so that an image's own links do not lead to this machine"""
        outside = self.root.parent / "outside"
        for name in ("datum/host.sock", "datum-started"):
            (outside / name).parent.mkdir(parents=True, exist_ok=True)
            (outside / name).write_text("x\n")
        shutil.rmtree(self.root / "run")
        (self.root / "run").symlink_to(outside)
        done = self.prepare()
        self.assertNotEqual(done.code, 0, done.text)
        self.assertIn(str(self.root / "run"), done.err)
        self.assertTrue((outside / "datum/host.sock").exists() and (outside / "datum-started").exists())
        store = self.root.parent / "elsewhere"
        shutil.copytree(self.state, store, symlinks=True)
        inside = self.root / "var/lib/datum-state"
        inside.symlink_to(store)
        before = sorted(str(path) for path in store.rglob("*"))
        done = fleet.datum("prepare-image", "--root", self.root, "--config", self.bench.config, "--state", inside)
        self.assertNotEqual(done.code, 0, done.text)
        self.assertEqual(sorted(str(path) for path in store.rglob("*")), before)

    def test_damaged(self):
        """image: a damaged store is refused until it is set aside, which then is history like the rest"""
        data = self.state / "journal/data.mdb"
        data.write_bytes(b"damaged" + data.read_bytes()[7:])
        done = self.prepare()
        self.assertEqual(done.code, 1, done.text)
        self.assertRegex(done.err, re.escape("journal set-aside"))
        self.assertEqual(fleet.datum("journal", "set-aside", "--state", self.state).code, 0)
        self.assertEqual(self.prepare().code, 0)
        (aside,) = self.aside()
        self.assertTrue(list(aside.glob("damaged-*")))
        self.check_new()


if __name__ == "__main__":
    tap.main()
