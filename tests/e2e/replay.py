#!/usr/bin/env python3
# test: short root
"""What the journal said at one of its records, and how a pass would have gone in the other mode."""

import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402


def mixed():
    """Something of everything that an observation can say."""
    return [fleet.file("new", "/new", "one\n"), fleet.file("other", "/other", "wanted\n", mode="0600"),
            fleet.directory("d", "/d", mode="0750"), fleet.file("in", "/d/in", "x\n"),
            fleet.file("way", "/file/below", "x\n"), fleet.symlink("link", "/link", "new"),
            fleet.with_keys(fleet.file("seen", "/seen", "only observed\n"), policy="observe"),
            fleet.with_keys(fleet.file("needs", "/needs", "x\n"), requires=["File[seen]"]),
            fleet.file("linked", "/linked", "x\n"), fleet.directory("purged", "/purged", purge=True)]


def prepare(bench):
    (bench.root / "other").write_text("found\n")
    (bench.root / "file").write_text("no folder\n")
    (bench.root / "link").symlink_to("elsewhere")
    (bench.root / "linked").write_text("y\n")
    (bench.root / "linked-too").hardlink_to(bench.root / "linked")
    (bench.root / "purged" / "full").mkdir(parents=True)
    for name in ("purged/one", "purged/two", "purged/full/three"):
        (bench.root / name).write_text("nobody declared it\n")
    bench.declare(*mixed())


class Replay(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.bench, self.twin = fleet.Bench(), fleet.Bench()
        self.addCleanup(self.bench.close)
        self.addCleanup(self.twin.close)

    def replay(self, *arguments, code=0, bench=None):
        done = fleet.datum("replay", *arguments, "--state", (bench or self.bench).state)
        self.assertEqual(done.code, code, done.text)
        return done.text if code else done.out

    def test_as_observe(self):
        """replay: an enforcing pass replayed as observe prints what observe printed on a twin, byte for byte"""
        for bench in (self.bench, self.twin):
            prepare(bench)
        self.assertEqual(self.bench.enforce().code, 2)
        for flags in ([], ["--all"]):
            seen = self.twin.observe(*flags)
            self.assertEqual(seen.code, 2)
            self.assertEqual(self.replay("drift", "--as", "observe", *flags), seen.out)
            without_ids = lambda text: [fleet.strip_ids(json.loads(line)) for line in text.splitlines()]
            self.assertEqual(without_ids(self.replay("drift", "--as", "observe", "--json", *flags)),
                             without_ids(self.twin.observe("--json", *flags).out))
        # Later passes change nothing of it.
        before = self.replay("drift", "--as", "observe", "--all")
        place = str([event["seq"] for event in self.bench.events("--kind", "passFinished")][-1])
        self.bench.enforce()
        self.assertEqual(self.replay("drift", "--as", "observe", "--all", "--at", place), before)

    def test_as_enforce(self):
        """replay: an observing pass replayed as enforce shows the plan, each action as one that would be done"""
        for bench in (self.bench, self.twin):
            prepare(bench)
        self.bench.observe()
        planned = {(line["action"], line["target"]): line for line in self.twin.run("plan", "--json").lines if "ordinal" in line}
        shown = [json.loads(line) for line in self.replay("drift", "--as", "enforce", "--json").splitlines()]
        replayed = {(line["action"], line["target"]): line for line in shown if "ordinal" in line}
        self.assertEqual(set(replayed), set(planned))
        for key, line in replayed.items():
            self.assertEqual(line.pop("outcome"), "would be done")
            planned[key].pop("outcome")
            self.assertEqual(line, planned[key])
        self.assertIn("(would be done)", self.replay("drift", "--as", "enforce"))

    def test_places(self):
        """replay: each projection at every record is what the journal had then, and the newest is the default"""
        prepare(self.bench)
        self.bench.enforce()
        head = self.bench.events()[-1]["seq"]
        for projection in ("lifecycle", "owned", "status", "drift", "passes", "notifications"):
            self.assertEqual(self.replay(projection, "--at", str(head)), self.replay(projection))
            for place in range(1, head + 1):
                self.replay(projection, "--at", str(place))
        owned = lambda *place: {json.loads(line)["target"] for line in self.replay("owned", "--json", *place).splitlines()}
        created = self.bench.events("--kind", "ownershipCreated")
        for event in created:
            self.assertNotIn(event["event"]["target"], owned("--at", str(event["seq"] - 1)))
            self.assertIn(event["event"]["target"], owned("--at", str(event["seq"])))
        self.assertEqual(owned(), set(self.bench.owned()))

    def test_time(self):
        """replay: a time means the newest record that is not younger"""
        prepare(self.bench)
        self.bench.enforce()
        self.assertEqual(self.replay("passes", "--at", "2126-01-01T00:00:00Z"), self.replay("passes"))
        self.assertIn("younger", self.replay("passes", "--at", "2001-01-01T00:00:00Z", code=1))
        self.replay("passes", "--at", "99999", code=1)
        self.replay("passes", "--at", "soon", code=1)
        self.replay("nonsense", code=1)

    def test_diff(self):
        """replay: a difference between two places names what changed, and of one with itself nothing"""
        self.bench.declare(fleet.file("a", "/a", "1\n"))
        self.bench.enforce()
        first = str(self.bench.events()[-1]["seq"])
        self.bench.declare(fleet.file("a", "/a", "2\n"), fleet.file("b", "/b", "1\n"))
        self.bench.enforce()
        second = str(self.bench.events()[-1]["seq"])
        changes = {line["key"]: line["change"] for line in
                   map(json.loads, self.replay("owned", "--json", "--diff", first, second).splitlines())}
        self.assertEqual(changes, {"/a": "changed", "/b": "added"})
        back = {line["key"]: line["change"] for line in
                map(json.loads, self.replay("owned", "--json", "--diff", second, first).splitlines())}
        self.assertEqual(back, {"/a": "changed", "/b": "removed"})
        self.assertIn("No difference", self.replay("owned", "--diff", second, second))

    def test_export(self):
        """replay: an export says the same as the store, the plan of a pass included"""
        prepare(self.bench)
        self.bench.enforce()
        file = self.bench.scratch / "story"
        self.assertEqual(fleet.datum("journal", "export", file, "--state", self.bench.state).code, 0)
        for words in (["status"], ["drift"], ["owned"], ["passes"], ["drift", "--as", "observe"], ["drift", "--as", "enforce"]):
            told = fleet.datum("replay", *words, "--journal", file)
            self.assertEqual(told.out, self.replay(*words))


if __name__ == "__main__":
    tap.main()
