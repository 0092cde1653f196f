#!/usr/bin/env python3
# test: short
"""Two versions of the service over one store: the newer one killed at every boundary of its start and its first pass, up to
the record that confirms it, and the older one started again on what that left.

The newer one is this build under another version; a boundary is a sync or a rename, counted over all threads (boundary.cpp),
or a commit of the journal (commits.cpp), before it and after it."""

import pathlib
import select
import shutil
import signal
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

TOOLS = pathlib.Path(hosting.HOST).parents[2] / "tests/e2e"
FILES = 4
MOST = 400


class Older(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.configure(mode="enforce")
        self.newer = self.bench.scratch / "datum-host-newer"
        shutil.copy(hosting.HOST, self.newer)
        self.old = hosting_version(hosting.HOST)
        packages_made.rename_version_in(self.newer, self.old, "0.9.9")
        (self.bench.root / "d").mkdir()
        self.round = 0
        self.declare()
        self.run_older()

    def declare(self):
        """A change for every resource, one of which is new."""
        self.round += 1
        files = [fleet.file(f"f{each}", f"/d/f{each}", f"{self.round}\n" * 100) for each in range(FILES)]
        new = fleet.directory("new", f"/d/new{self.round}")
        self.bench.declare(*files, new, fleet.symlink("link", "/d/link", f"/nowhere/{self.round}"))

    def is_declared(self):
        return all((self.bench.root / f"d/f{each}").read_text() == f"{self.round}\n" * 100 for each in range(FILES)) and \
            (self.bench.root / f"d/new{self.round}").is_dir()

    def run_newer(self, **environment):
        """Until it dies, or has finished a pass and is stopped; its status."""
        before = ["env", *(f"{key}={value}" for key, value in environment.items())]
        host = self.bench.start(program=self.newer, before=before)
        statuses = []
        while host.process.poll() is None:
            if not select.select([host.socket], [], [], hosting.LOOK_S)[0]:
                continue
            statuses.append(host.hear().get("STATUS"))
            if statuses[-1] == "converged" and "a pass runs" in statuses:
                host.signal(signal.SIGTERM)
                host.wait_end()
        return host.process.returncode

    def run_older(self):
        """It opens the store, finishes a pass with everything as declared, and the store is sound and says so."""
        host = self.bench.start()
        self.assertEqual(host.wait_pass(), "converged", host.said)
        self.assertEqual(host.stop(), 0, host.said)
        self.assertNotIn("damaged", host.said)
        self.assertTrue(self.is_declared())

    def check(self, since):
        """After a death of the newer one: the older one verifies, opens and goes on."""
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)
        self.run_older()
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)
        events = self.bench.events("--from", str(since + 1))
        kinds = [event["kind"] for event in events]
        for kind in ("corruptDetected", "storeLossDetected", "actionFailed", "levelRaised", "storeCreated"):
            self.assertNotIn(kind, kinds)
        opened = [event["event"]["version"].split()[0] for event in events if event["kind"] == "storeOpened"]
        self.assertEqual(opened[-1], self.old)
        return opened

    def head(self):
        return self.bench.events("--limit", "1")[-1]["seq"]

    def test_boundaries(self):
        """rollback: the newer version killed at each sync and rename up to its first confirmed pass, the older one opens the store each time"""
        began = 0
        for boundary in range(1, MOST):
            with self.subTest(boundary=boundary):
                since = self.head()
                self.declare()
                ended = self.run_newer(LD_PRELOAD=TOOLS / "boundary.so", BOUNDARY=boundary)
                self.assertIn(ended, (0, -signal.SIGKILL))
                if ended == 0:
                    break
                began += len(self.check(since)) > 1
        print(f"# {boundary - 1} boundaries, at {began} of them the newer version had opened the store")
        self.assertGreater(boundary, 20)
        self.assertGreater(began, 10)

    def test_commits(self):
        """rollback: the newer version killed before and after each commit up to the one that confirms it, the older one opens the store each time"""
        log = self.bench.scratch / "commits"
        since = self.head()
        self.declare()
        self.assertEqual(self.run_newer(LD_PRELOAD=TOOLS / "commits.so", COMMIT_LOG=log), 0)
        names = {event["seq"]: event["kind"] for event in self.bench.events("--from", str(since + 1))}
        moments = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
        self.assertIn("versionConfirmed", names.values())
        self.run_older()
        died = set()
        for sequence, kind, number in moments:
            if names[sequence] == "storeClosed":
                continue
            for side in ("before", "after"):
                with self.subTest(side=side, moment=f"{names[sequence]} {number}"):
                    since = self.head()
                    self.declare()
                    ended = self.run_newer(LD_PRELOAD=TOOLS / "commits.so", COMMIT=f"{side} {kind} {number}")
                    self.assertEqual(ended, -signal.SIGKILL)
                    died.add(names[sequence])
                    self.check(since)
        print(f"# {len(moments)} commits: {', '.join(names[sequence] for sequence, _, _ in moments)}")
        self.assertLessEqual({"storeOpened", "versionConfirmed"}, died)


def hosting_version(program):
    """What the note in its file says, as a version of three numbers."""
    data = pathlib.Path(program).read_bytes()
    at = data.index(b"datum-version=") + len(b"datum-version=")
    return data[at:at + 32].split(b" ")[0].decode()


if __name__ == "__main__":
    tap.main()
