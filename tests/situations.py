#!/usr/bin/env python3
# test: short
"""Which situation of tests/situations.txt is answered by which tests, by the ids in their names. Fails for a row that
matters and has none, for a reason that is no more, and for an id that nobody described."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tap  # noqa: E402
import unittest  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r"^([A-Z]\d\d) ([123]) (.+?)(?:  waits: (.+))?$")
ID = re.compile(r"\[([A-Z]\d\d)\]")
MAX_LEFT = 5  # rows of weight 2 without a test that wait for nothing named


def read_rows(text):
    """id → (weight, what, what it waits for or None); in the order of the file."""
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        found = ROW.match(line)
        if not found or found[1] in rows:
            raise ValueError(f"situations.txt:{number}: {line}")
        rows[found[1]] = (int(found[2]), found[3], found[4])
    return rows


def find_tests(folder=HERE):
    """id → files, with the number of names that carry it in each."""
    tests = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".py", ".cpp") or "lint" in path.parts or path == pathlib.Path(__file__).resolve():
            continue
        for name in ID.findall(path.read_text(encoding="utf-8")):
            files = tests.setdefault(name, {})
            files[path.relative_to(folder).as_posix()] = files.get(path.relative_to(folder).as_posix(), 0) + 1
    return tests


def judge(rows, tests):
    """Complaints."""
    kinds = {name[0] for name in rows}
    complaints = [f"[{name}] is no row of situations.txt" for name in sorted(tests) if name[0] in kinds and name not in rows]
    left = []
    for name, (weight, what, waits) in rows.items():
        if name in tests and waits:
            complaints.append(f"{name} has a test and is said to wait for {waits}")
        if name in tests or waits:
            continue
        if weight == 3:
            complaints.append(f"{name} has no test: {what}")
        elif weight == 2:
            left.append(name)
    if len(left) > MAX_LEFT:
        complaints.append(f"{len(left)} rows of weight 2 have no test: {' '.join(left)}")
    return complaints


class Situations(unittest.TestCase):
    def test_all(self):
        """situations: every row that can be tested today has a test with its id"""
        rows, tests = read_rows((HERE / "situations.txt").read_text(encoding="utf-8")), find_tests()
        for name, (weight, what, waits) in rows.items():
            files = tests.get(name, {})
            answer = f"{sum(files.values())} in {', '.join(files)}" if files else f"waits for {waits}" if waits else "none"
            print(f"# {name} {weight} {what}: {answer}")
        answered = [name for name in rows if name in tests]
        print(f"# {len(rows)} rows, {len(answered)} answered, {sum(1 for row in rows.values() if row[2])} wait")
        self.assertEqual(judge(rows, tests), [])

    def test_bad_lists(self):
        """situations: a missing test, a stale reason, an unknown id and a bad line are told"""
        rows = read_rows("A01 3 one\nA02 2 two  waits: more\nA03 3 three\n\n# words\n")
        self.assertEqual(judge(rows, {"A01": {}, "A02": {}, "A04": {}, "B01": {}}),
                         ["[A04] is no row of situations.txt", "A02 has a test and is said to wait for more",
                          "A03 has no test: three"])
        many = {f"A{number:02}": (2, "what", None) for number in range(MAX_LEFT + 1)}
        self.assertEqual(len(judge(many, {})), 1)
        for line in ("A1 3 one", "A01 4 one", "A01 3", "A01 3 one\nA01 3 one"):
            with self.assertRaises(ValueError):
                read_rows(line)


if __name__ == "__main__":
    tap.main()
