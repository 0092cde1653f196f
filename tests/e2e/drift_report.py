#!/usr/bin/env python3
# test: short root
"""What a pass reports does not depend on its mode, and the journal grows with change, not with looking."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PASSES = 100
RESOURCES = 500


def declared():
    return [
        fleet.directory("d", "/d", mode="0755", purge=True),
        fleet.directory("sub", "/d/sub", mode="0700", owner="12"),
        *(fleet.file(f"f{number}", f"/d/f{number}", f"number {number}\n", mode="0644") for number in range(30)),
        fleet.file("key", "/d/key", "only root reads this\n", mode="0600"),
        fleet.file("metadata", "/d/metadata", mode="0640"),
        fleet.with_keys(fleet.file("watched", "/d/watched", "never written\n"), policy="observe"),
        fleet.file("orphan", "/nowhere/orphan", "its folder is not declared\n"),
        fleet.symlink("link", "/d/link", "f1"),
    ]


def spoil(root):
    folder = root / "d"
    for number in range(0, 30, 3):
        (folder / f"f{number}").write_text("by hand\n")
    (folder / "f1").unlink()
    (folder / "f2").unlink()
    (folder / "f2").mkdir()
    os.chown(folder / "f4", 77, 78)
    (folder / "f5").chmod(0o600)
    (folder / "key").write_text("another key\n")
    (folder / "metadata").unlink()
    (folder / "sub").rmdir()
    (folder / "link").unlink()
    (folder / "link").symlink_to("f2")
    (folder / "stray").write_text("foreign\n")
    (folder / "stray.d").mkdir()


class SameInBothModes(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        (self.bench.root / "d").mkdir()
        (self.bench.root / "d/metadata").write_text("whatever\n")
        self.bench.declare(*declared())

    def copy_everything(self):
        """An identical copy takes the root's place; a copy of the store stands beside it. Returns that store."""
        bench, copy = self.bench, self.bench.scratch / "copy"
        shutil.copytree(bench.state, bench.scratch / "state2", symlinks=True)
        self.assertEqual(os.system(f"cp -a {bench.root} {copy}"), 0)
        bench.root.rename(bench.scratch / "original")
        copy.rename(bench.root)
        return bench.scratch / "state2"

    def compare(self):
        bench = self.bench
        before = len(bench.events())
        state2 = bench.scratch / "state2"
        observed = bench.observe("--json", "--all")
        seen = bench.events()[before:]
        shutil.rmtree(bench.root)
        (bench.scratch / "original").rename(bench.root)
        enforced = bench.enforce("--json", state=state2)
        acted = bench.events(state=state2)[before:]
        self.assertEqual(observed.code, 2, observed.text)
        self.assertIn(enforced.code, (0, 2), enforced.text)
        return seen, acted

    def test_observations_and_plan(self):
        """observe and enforce: observations, their summary and the plan are the same but for ids and times [N05]"""
        self.bench.enforce()
        spoil(self.bench.root)
        self.copy_everything()
        seen, acted = self.compare()
        announced = next(place for place, event in enumerate(acted) if event["kind"] == "actionsAnnounced")
        kinds = ("resourceObserved", "observationSummarized", "planComputed", "resourcesForgotten")
        looked = [fleet.strip_ids(event) for event in seen if event["kind"] in kinds]
        planned = [fleet.strip_ids(event) for event in acted[:announced] if event["kind"] in kinds]
        self.assertGreater(len(looked), 15)
        self.assertEqual(looked, planned)

    def test_text_of_observe(self):
        """observe: its report, byte for byte, is the same on an identical copy with a store of its own"""
        self.bench.enforce()
        spoil(self.bench.root)
        state2 = self.copy_everything()
        first = self.bench.observe()
        shutil.rmtree(self.bench.root)
        (self.bench.scratch / "original").rename(self.bench.root)
        second = self.bench.observe(state=state2)
        self.assertEqual((first.code, first.out), (2, second.out))

    def test_condition_does_not_depend_on_mode(self):
        """status: the word after a pass that may not correct is the same whether it observed or enforced"""
        self.bench.declare(*(fleet.with_keys(resource, policy="observe") for resource in declared()))
        observed = self.bench.observe("--json").lines[-1]
        enforced = self.bench.enforce("--json").lines[-1]
        self.assertEqual((observed["condition"], observed["counts"]), (enforced["condition"], enforced["counts"]))
        self.assertEqual(os.listdir(self.bench.root / "d"), ["metadata"])


class StandingDrift(unittest.TestCase):
    def test_records(self):
        """observe: 100 passes over 500 resources that drift append at most 100 × 4 + 501 records"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(*(fleet.file(f"f{number}", f"/f{number}", f"number {number}\n") for number in range(RESOURCES)))
        for number in range(PASSES):
            done = bench.observe()
            self.assertEqual(done.code, 2, done.text)
            self.assertIn(f"{RESOURCES} drifted", done.out)
        self.assertLessEqual(len(bench.events()), PASSES * 4 + RESOURCES + 1)
        verified = fleet.datum("journal", "verify", "--state", bench.state)
        self.assertEqual(verified.code, 0, verified.text)


if __name__ == "__main__":
    tap.main()
