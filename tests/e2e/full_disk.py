#!/usr/bin/env python3
# test: short root
"""A disk that is full, for the machine or for the store: the pass fails by name, nothing is half done, nothing lies
about, and once there is room one pass converges.

File systems are small ones in loop-mounted images where that is possible, else a tmpfs of a fixed size."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

BODY = "0123456789abcdef" * 4096  # 64 KiB


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)

    def mount(self, folder, mebibytes):
        """A file system of that size on the folder."""
        folder.mkdir(exist_ok=True)
        image = self.bench.scratch / f"{folder.name}.img"
        with open(image, "wb") as opened:
            opened.truncate(mebibytes << 20)
        made = call("mkfs.ext4", "-q", "-m", "0", "-F", str(image))
        mounted = made.returncode == 0 and call("mount", "-o", "loop", str(image), str(folder)).returncode == 0
        if not mounted:
            mounted = call("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", str(folder)).returncode == 0
        if not mounted:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(call, "umount", "-l", str(folder))
        folder.chmod(0o755)

    def fill(self, folder, leave_bytes=0):
        """A file that takes all room there but `leave_bytes`. Returns its path."""
        path, block = folder / "ballast", b"\0" * 65536
        free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
        with open(path, "wb", buffering=0) as opened:
            try:
                for _ in range(max(0, free - leave_bytes) // len(block) + (1 << 20 if leave_bytes == 0 else 0)):
                    opened.write(block)
            except OSError:
                pass
        return path

    def verify(self):
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)


class FullCopy(Case):
    def test_no_lock(self):
        """store: on a full disk a copy without LMDB's lock file is read, or refused in words"""
        self.bench.declare(fleet.file("f", "/f", "text\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        disk = self.bench.scratch / "disk"
        self.mount(disk, 16)
        shutil.copytree(self.bench.state, disk / "store")
        (disk / "store" / "journal" / "lock.mdb").unlink(missing_ok=True)
        self.fill(disk)
        for words in (["status", "--root", self.bench.root], ["journal", "list"], ["journal", "verify"]):
            done = fleet.datum(*words, "--state", disk / "store")
            self.assertIn(done.code, (0, 1, 3), done.text)
            if done.code != 0:
                self.assertIn("lock.mdb: No space left on device", done.text)


class FullImage(Case):
    def test_image(self):
        """image: on a full disk it is made, or refused with nothing touched; once there is room it is made"""
        disk = self.bench.scratch / "disk"
        self.mount(disk, 24)
        self.bench.state = disk / "state"
        self.bench.declare(fleet.file("f", "/f", BODY))
        self.assertEqual(self.bench.enforce().code, 0)
        (self.bench.state / "identity").mkdir()
        (self.bench.state / "identity/key.pem").write_text("x\n")
        ballast = self.fill(disk)
        before = fleet.listing(self.bench.state)
        command = ("prepare-image", "--root", self.bench.root, "--state", self.bench.state)
        done = fleet.datum(*command)
        if done.code != 0:
            self.assertEqual(done.code, 1, done.text)
            self.assertRegex(done.err, "No space left on device; nothing was touched")
            self.assertEqual(before, fleet.listing(self.bench.state))
            ballast.unlink()
            done = fleet.datum(*command)
        self.assertEqual(done.code, 0, done.text)
        self.assertFalse((self.bench.state / "identity").exists())
        (aside,) = self.bench.state.glob("image-*")
        self.assertEqual({path.name for path in aside.iterdir()}, {"journal", "blobs", "key"})
        self.assertEqual(fleet.datum("journal", "verify", "--state", aside).code, 0)


class FullRoot(Case):
    def setUp(self):
        super().setUp()
        self.mount(self.bench.root, 48)
        (self.bench.root / "old").write_text("old\n")
        self.files = [fleet.file(f"f{number:02}", f"/f{number:02}", BODY) for number in range(40)]

    def old_is_whole(self):
        self.assertEqual((self.bench.root / "old").read_text(), "old\n")

    def names(self):
        return sorted(name for name in os.listdir(self.bench.root) if name not in ("lost+found", "ballast"))

    def test_full_before(self):
        """full root: the pass is refused before the first change, by name, and converges once there is room [L01]"""
        ballast = self.fill(self.bench.root)
        self.bench.declare(fleet.file("old", "/old", BODY), *self.files)
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertRegex(done.out, r"bytes.*free")
        self.assertEqual(before, fleet.listing(self.bench.root))
        self.verify()
        ballast.unlink()
        again = self.bench.enforce()
        self.assertEqual(again.code, 0, again.text)
        self.assertEqual((self.bench.root / "old").read_text(), BODY)

    def test_faults_in_the_middle(self):
        """faulty disk: a call that fails in the middle of a wave fails its actions by name, nothing is half done [L13]"""
        self.bench.declare(fleet.file("old", "/old", BODY), *self.files)
        self.assertEqual(self.bench.enforce().code, 0)
        for fault in ("write:error=ENOSPC:when=20", "fchmod:error=EROFS:when=9+", "fsync:error=EIO:when=5+",
                      "renameat:error=ENOSPC:when=12+"):
            with self.subTest(fault=fault):
                for number in range(40):
                    (self.bench.root / f"f{number:02}").write_text("by hand\n")
                failed = self.bench.enforce("--json", before=["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                                              f"trace={fault.split(':')[0]}", "-e", f"inject={fault}"])
                self.assertEqual(failed.code, 2, failed.text[-2000:])
                outcomes = fleet.outcomes(failed)
                for number in range(40):
                    reference, path = f"File[f{number:02}]", f"/f{number:02}"
                    outcome, body = outcomes[(reference, path)], self.bench.path(path).read_text()
                    self.assertIn(body, ("by hand\n", BODY))
                    if outcome["outcome"] == "done":
                        self.assertEqual(body, BODY)
                    else:
                        self.assertEqual(outcome["outcome"], "failed")
                        self.assertTrue(outcome["message"], outcome)
                self.verify()
                again = self.bench.enforce()
                self.assertEqual(again.code, 0, again.text)
                self.assertEqual(fleet.leftovers(self.bench.root), [])

    def test_observe_on_a_full_root(self):
        """full root: observe and status do not need room there"""
        self.fill(self.bench.root)
        self.bench.declare(fleet.file("old", "/old", "old\n"), *self.files[:3])
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual(self.bench.run("plan").code, 2)
        self.old_is_whole()


class SmallStore(Case):
    def setUp(self):
        super().setUp()
        self.mount(self.bench.scratch / "disk", 24)
        self.bench.state = self.bench.scratch / "disk/state"
        (self.bench.root / "old").write_text("old\n")
        self.resources = [fleet.file("old", "/old", "new\n"), *[
            fleet.file(f"f{number:03}", f"/f{number:03}", f"{number}\n") for number in range(200)]]
        self.bench.declare(*self.resources)


class FullStore(SmallStore):
    def check_refused(self, *codes):
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce()
        self.assertIn(done.code, codes, done.text[-2000:])
        self.assertRegex(done.text, r"(?i)no space|bytes are free|space")
        self.assertEqual(before, fleet.listing(self.bench.root))

    def check_well(self, ballast):
        ballast.unlink()
        again = self.bench.enforce()
        self.assertEqual(again.code, 0, again.text)
        self.assertEqual((self.bench.root / "old").read_text(), "new\n")
        self.verify()

    def test_full_from_the_start(self):
        """full store: a store that cannot be made exits 1 and the machine is untouched; then it is made"""
        ballast = self.fill(self.bench.scratch / "disk")
        self.check_refused(1)
        self.check_well(ballast)

    def test_full_later(self):
        """full store: without room for its records no wave begins, by name; the next pass is well [L01]"""
        self.assertEqual(self.bench.observe().code, 2)
        ballast = self.fill(self.bench.scratch / "disk")
        self.check_refused(1, 2)  # 2 where the little that is left sufficed to record that it ended early
        self.check_well(ballast)

    def test_plan_cannot_be_stored(self):
        """full store: a plan or a declaration for which there is no room ends the command with 1 and names the folder"""
        self.assertEqual(self.bench.observe().code, 2)
        blobs = self.bench.state / "blobs"
        if call("mount", "-t", "tmpfs", "-o", "size=4k,mode=0700", "none", str(blobs)).returncode != 0:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(call, "umount", "-l", str(blobs))
        self.fill(blobs)
        self.bench.declare(*self.resources[:2])
        done = self.bench.observe()
        self.assertEqual(done.code, 1, done.text)
        self.assertRegex(done.text, rf"store the [a-z ]+ in {blobs}: blob: .*[Nn]o space")

    def test_observe_cannot_record(self):
        """full store: observe exits 1 when it cannot record, and the store is sound afterwards"""
        self.bench.declare(*self.resources[:2])
        self.assertEqual(self.bench.observe().code, 2)
        ballast = self.fill(self.bench.scratch / "disk")
        self.bench.declare(*self.resources)
        done = self.bench.observe()
        self.assertEqual(done.code, 1, done.text)
        ballast.unlink()
        self.assertEqual(self.bench.observe().code, 2)
        self.verify()

    def test_failing_sync(self):
        """failing disk: a journal that cannot be synced ends the command with 1, nothing more is applied"""
        for when in (1, 2, 3, 4):
            with self.subTest(when=when):
                self.bench.state = self.bench.scratch / f"disk/s{when}"
                done = self.bench.enforce(before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                                                  f"inject=fdatasync:error=EIO:when={when}+"])
                self.assertEqual(done.code, 1, done.text)
                self.assertRegex(done.err, r"(?i)input/output|EIO|sync")
                again = self.bench.enforce()
                self.assertEqual(again.code, 0, again.text)
                self.assertEqual(fleet.leftovers(self.bench.root), [])
                self.verify()
                (self.bench.root / "old").write_text("old\n")


class FailingStore(SmallStore):
    def test_quota(self):
        """failing disk: a quota that is reached at any write or sync ends the command with 1, and nothing is lost"""
        for call_name, when in (("fdatasync", 1), ("fdatasync", 3), ("pwrite64", 1), ("pwrite64", 4), ("writev", 1), ("fallocate", 1)):
            with self.subTest(call=call_name, when=when):
                self.bench.state = self.bench.scratch / f"disk/{call_name}{when}"
                self.assertEqual(self.bench.observe().code, 2)
                events = self.bench.events()
                before = fleet.listing(self.bench.root)
                done = self.bench.enforce(before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call_name}", "-e",
                                                  f"inject={call_name}:error=EDQUOT:when={when}+"])
                if done.code not in (0, 2):
                    self.assertEqual(done.code, 1, done.text)
                    self.assertRegex(done.err, r"(?i)quota")
                    self.assertEqual(before, fleet.listing(self.bench.root))
                again = self.bench.enforce()
                self.assertEqual(again.code, 0, again.text)
                self.assertEqual(self.bench.events()[:len(events)], events)
                self.verify()
                for path in self.bench.root.glob("f*"):
                    path.unlink()
                (self.bench.root / "old").write_text("old\n")

    def test_read_only(self):
        """failing disk: one that became read-only ends the command with 1 in words, and the next run goes on"""
        self.assertEqual(self.bench.observe().code, 2)
        events = self.bench.events()
        disk = str(self.bench.scratch / "disk")
        if call("mount", "-o", "remount,ro", disk).returncode != 0:
            self.skipTest("nothing can be remounted here")
        before = fleet.listing(self.bench.root)
        for done in (self.bench.observe(), self.bench.enforce()):
            self.assertEqual(done.code, 1, done.text)
            self.assertRegex(done.err, r"(?i)read-only")
        self.assertEqual(before, fleet.listing(self.bench.root))
        self.assertEqual(self.bench.events(), events)
        self.assertEqual(self.bench.run("plan").code, 2)
        self.assertEqual(call("mount", "-o", "remount,rw", disk).returncode, 0)
        self.assertEqual(self.bench.enforce().code, 0)
        self.verify()

    def test_hung(self):
        """failing disk: one that hangs holds the command back with nothing applied, and lets it end once it answers"""
        self.assertEqual(self.bench.observe().code, 2)
        disk = str(self.bench.scratch / "disk")
        if call("fsfreeze", "-f", disk).returncode != 0:
            self.skipTest("nothing can be frozen here")
        before = fleet.listing(self.bench.root)
        try:
            started = subprocess.Popen([fleet.DATUM, "reconcile", "--mode", "enforce", "--fleet", self.bench.fleet, "--host",
                                        fleet.HOST, "--root", self.bench.root, "--state", self.bench.state],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.wait_until_blocked(started)
            self.assertEqual(before, fleet.listing(self.bench.root))
        finally:
            call("fsfreeze", "-u", disk)
        _, err = started.communicate(timeout=fleet.PASS_LIMIT_S)
        self.assertEqual(started.returncode, 0, err)
        self.assertEqual((self.bench.root / "old").read_text(), "new\n")
        self.verify()

    def wait_until_blocked(self, process):
        """One of its threads waits for the disk."""
        while process.poll() is None:
            for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat"):
                try:
                    state = task.read_text().rsplit(")", 1)[1].split()[0]
                except (FileNotFoundError, ProcessLookupError):
                    continue  # a thread that has just ended
                if state == "D":
                    return
        self.fail("it ended on a frozen disk")


if __name__ == "__main__":
    tap.main()
