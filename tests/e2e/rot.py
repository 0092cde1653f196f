#!/usr/bin/env python3
# test: short root
"""Pages of a store that was closed in order rot on the disk: inode, size and times stay as they were, so nothing but the
bytes tells. Each command then ends with the records as they were, or in words; no altered record is ever shown."""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PAGE = 4096
DISK_MIB = 24
PASSES = 6
SEED = int(os.environ.get("DATUM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
ASTRAY = "though it was closed in order"


def call(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@unittest.skipUnless(fleet.has_loop_devices(), "no loop device is to be had")
class Rot(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.image, self.disk = self.bench.scratch / "image", self.bench.scratch / "disk"
        self.disk.mkdir()
        call("truncate", "-s", f"{DISK_MIB}M", self.image)
        # Without sums of its own, which would turn some of this into failing reads.
        call("mke2fs", "-q", "-F", "-t", "ext4", "-b", PAGE, "-O", "^has_journal,^metadata_csum", self.image)
        self.mount()
        self.addCleanup(lambda: os.path.ismount(self.disk) and call("umount", self.disk))
        self.bench.state = self.disk / "state"
        self.bench.declare(*(fleet.file(f"f{number}", f"/f{number}", f"{number}\n") for number in range(40)))
        for number in range(PASSES):
            (self.bench.root / "f1").write_text(f"spoilt {number}\n") if number else None
            self.assertEqual(self.bench.enforce().code, 0)
        self.records = self.list().out
        self.pages = self.find_pages()
        call("umount", self.disk)
        self.good = self.image.read_bytes()
        self.numbers = itertools.count()

    def mount(self):
        call("mount", "-o", "loop,noatime", self.image, self.disk)

    def find_pages(self):
        """Where the pages of the data file lie on the disk, in bytes."""
        pages = []
        for line in call("filefrag", f"-b{PAGE}", "-v", self.bench.state / "journal/data.mdb").splitlines():
            words = line.replace(":", " ").replace("..", " ").split()
            if words and words[0].isdigit():
                pages += [(int(words[3]) + number) * PAGE for number in range(int(words[5]))]
        return pages

    def run_datum(self, *words):
        done = fleet.datum(*words, "--state", self.bench.state)
        self.assertIn(done.code, (0, 1), f"{words} ends with {done.code}: {done.text}")
        return done

    def list(self):
        return self.run_datum("journal", "list", "--json")

    def on_rotten(self, changes, look):
        disk = bytearray(self.good)
        for at, page in changes:
            disk[at:at + PAGE] = page
        # Each time another file: a loop device that is not gone yet would be taken again, with what it remembers.
        self.image.unlink()
        self.image = self.image.with_suffix(f".{next(self.numbers)}")
        self.image.write_bytes(disk)
        self.mount()
        try:
            return look()
        finally:
            call("umount", self.disk)

    def look_at_list(self):
        """`same`, `named`, or `astray`: LMDB was led astray, which was told, and the damage is named the next time."""
        first = self.list()
        if first.code == 0:
            self.assertEqual(first.out, self.records)
            return "same"
        for line in first.out.split("\n")[:-1]:  # what was printed before the damage was met; the last line may be cut
            self.assertIn(json.dumps(json.loads(line)), self.known)
        if ASTRAY not in first.err:
            return "named"
        second = self.list()
        self.assertEqual((second.code, ASTRAY in second.err), (1, False), second.text)
        return "astray"

    def look_at_verify(self):
        verified = self.run_datum("journal", "verify")
        self.assertNotIn(ASTRAY, verified.err)
        if verified.code == 0:
            self.assertEqual(self.list().out, self.records)
            return "sound"
        self.assertEqual(self.run_datum("journal", "set-aside").code, 0)
        return "damaged"

    def test_pages(self):
        """journal: a page that rots in a closed store is named, or the records are what they were, whoever reads first"""
        chance = random.Random(SEED)
        self.known = {json.dumps(json.loads(line)) for line in self.records.splitlines()}
        counts = {}

        def rot(kind, changes, look):
            with self.subTest(kind=kind, pages=[self.pages.index(at) for at, _ in changes], look=look.__name__):
                found = self.on_rotten(changes, look)
                counts[f"{kind} {found}"] = counts.get(f"{kind} {found}", 0) + 1
                return found

        # Most pages are free, and nobody misses what is in those.
        used = [at for at in self.pages if rot("zeroed", [(at, bytes(PAGE))], self.look_at_verify) == "damaged"]
        self.assertGreater(len(used), 10)
        for at in used:
            other = chance.choice(used)
            swapped = [(at, self.good[other:other + PAGE]), (other, self.good[at:at + PAGE])]
            rot("zeroed", [(at, bytes(PAGE))], self.look_at_list)
            rot("swapped", swapped, self.look_at_list)
            rot("swapped", swapped, self.look_at_verify)
        print(f"# seed {SEED}, {len(self.pages)} pages, {len(used)} in use: "
              + ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())) + ", violations 0")


if __name__ == "__main__":
    tap.main()
