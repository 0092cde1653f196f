#!/usr/bin/env python3
# test: short
"""A store of every level that was ever written, kept in tests/golden/stores, is opened by this build: verified, read, folded and
gone on with, its old content included. tests/golden/stores/make.py made them."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

STORES = fleet.TOP / "tests/golden/stores"


def level_of_this_build():
    """The newest level that it knows."""
    said = subprocess.run([hosting.HOST, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"store level (\d+)", said)[1])


def unpack(archive, folder):
    folder.mkdir(mode=0o700)
    with tarfile.open(archive) as packed:
        packed.extractall(folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        if os.geteuid() == 0:
            os.chown(path, 0, 0)


def ask(*words):
    done = fleet.datum(*words)
    if done.code == 1:
        raise AssertionError(f"{words}: {done.text}")
    return done


def describe(store):
    """What is to be found in it, whoever reads: kinds with their counts, what is owned, the content that is kept."""
    events = ask("journal", "list", "--journal", store, "--json").lines
    kinds = collections.Counter(event["kind"] for event in events)
    lines = [f"first {events[0]['seq']}, last {events[-1]['seq']}", *(f"{kind} {kinds[kind]}" for kind in sorted(kinds))]
    owned = ask("replay", "owned", "--journal", store, "--json").lines
    lines += sorted(f"owned {line['target']}" for line in owned)
    lines.append(f"blobs {sum(1 for path in (store / 'blobs').rglob('*') if path.is_file())}")
    return "\n".join(lines) + "\n"


class Stores(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-golden-"))
        self.addCleanup(shutil.rmtree, self.scratch)

    def unpacked(self, level):
        store = self.scratch / f"level-{level}"
        unpack(STORES / f"level-{level}.tar.gz", store)
        return store

    def levels(self):
        return range(1, level_of_this_build() + 1)

    def test_there(self):
        """golden: a store of every level up to this build's is kept, and none of a later one"""
        wanted = {f"level-{level}.{end}" for level in self.levels() for end in ("tar.gz", "txt")}
        self.assertEqual({path.name for path in STORES.glob("level-*")}, wanted)

    def test_read(self):
        """golden: a store of every level is sound, and says what it said when it was made"""
        for level in self.levels():
            with self.subTest(level=level):
                store = self.unpacked(level)
                self.assertEqual(ask("journal", "verify", "--state", store).code, 0)
                self.assertEqual(describe(store), (STORES / f"level-{level}.txt").read_text())
                for words in (["postmortem"], ["replay", "status"], ["replay", "drift"], ["status"], ["journal", "stat"],
                              ["history", "/etc/app-conf"]):
                    ask(*words, *(["--journal", store] if words[0] in ("postmortem", "replay") else ["--state", store]))

    def test_go_on(self):
        """golden: a store of every level is opened, written and closed, and its chain goes on"""
        for level in self.levels():
            with self.subTest(level=level):
                store = self.unpacked(level)
                before = ask("journal", "list", "--state", store, "--json").lines
                # An observing pass: what the store owns is looked for on this machine, and nothing is touched.
                documents = self.scratch / f"fleet-{level}"
                fleet.write_fleet(documents, {"base": [fleet.directory("root", "/etc")]})
                done = ask("observe", "--fleet", documents, "--host", fleet.HOST, "--state", store,
                           "--config", self.scratch / "none")
                self.assertIn(done.code, (0, 2), done.text)
                after = ask("journal", "list", "--state", store, "--json").lines
                self.assertEqual(after[:len(before)], before)
                kinds = [event["kind"] for event in after[len(before):]]
                self.assertEqual((kinds[0], kinds[-1]), ("storeOpened", "storeClosed"))
                self.assertNotIn("corruptDetected", kinds)
                self.assertEqual(ask("journal", "verify", "--state", store).code, 0)


if __name__ == "__main__":
    tap.main()
