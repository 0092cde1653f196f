#!/usr/bin/env python3
# test: short
"""The list of mutations is whole, and its runner refuses entries that change nothing and remembers what passed."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import run  # noqa: E402
import tap  # noqa: E402

CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def case_names(folder):
    names = set()
    for path in folder.rglob("*.cpp"):
        for literals in CASE.findall(path.read_text(encoding="utf-8")):
            names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"'))
    return names


class Mutations(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def test_list(self):
        """mutations: there are at least forty, each fits the tree and names a case that exists, none twice"""
        mutations, names = run.read_mutations(), case_names(run.HERE.parent)
        self.assertGreaterEqual(len(mutations), 40)
        self.assertEqual([one["case"] for one in mutations if one["case"] not in names], [])
        unfit = [f"{one['file']}: {one['old']}: {run.find_problem(one)}" for one in mutations if run.find_problem(one)]
        self.assertEqual(unfit, [])
        changes = {(one["file"], one["old"], one["new"], one["case"]) for one in mutations}
        self.assertEqual(len(changes), len(mutations))

    def test_fit(self):
        """mutations: an entry whose text is gone, stands twice, or does not change is told"""
        (self.root / "a.cpp").write_text("one;\ntwo;\ntwo;\n")
        entry = {"file": "a.cpp", "old": "one;", "new": "", "program": "p", "case": "c"}
        self.assertEqual(run.find_problem(entry, self.root), "")
        for change in ({"old": "two;"}, {"old": "three;"}, {"file": "b.cpp"}, {"new": "one;"}, {"old": "one;\ntwo;"},
                       {"new": "1;\n2;"}):
            self.assertNotEqual(run.find_problem({**entry, **change}, self.root), "", change)

    def test_memory(self):
        """mutations: what passed is known to the next run, and not for another tree"""
        path = self.root / "passed"
        run.Memory(path, "tree", False).add({"a": 1})
        self.assertTrue(run.Memory(path, "tree", False).has({"a": 1}))
        self.assertFalse(run.Memory(path, "tree", False).has({"a": 2}))
        self.assertFalse(run.Memory(path, "other", False).has({"a": 1}))
        self.assertFalse(run.Memory(path, "tree", True).has({"a": 1}))

    def test_copy(self):
        """mutations: the copy follows the tree, and a file that is as it was keeps its time"""
        copy = run.Copy(self.root)
        (copy.build).mkdir(parents=True)
        (copy.build / "build.ninja").write_text("")
        names = {"tests/tap.py", "dev"}
        copy.follow(names)
        before = (copy.tree / "dev").stat().st_mtime_ns
        (copy.tree / "tests/tap.py").write_text("broken")
        (copy.tree / "stray").write_text("")
        copy.follow(names)
        self.assertEqual((copy.tree / "dev").stat().st_mtime_ns, before)
        self.assertEqual((copy.tree / "tests/tap.py").read_bytes(), (run.ROOT / "tests/tap.py").read_bytes())
        self.assertFalse((copy.tree / "stray").exists())
        self.assertTrue((copy.build / "build.ninja").exists())


if __name__ == "__main__":
    tap.main()
