#!/usr/bin/env python3
# test: short
"""Every field that is compared with the machine has its row in a table of the tests: tests/fields.txt says in which, and where
that runs. Held against the product's table of types, against the scripts and against when they run."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tap  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LINE = re.compile(r"^([A-Z]\w+) (\w+): (.+)$")
ARRAY = re.compile(r"constexpr std::array (k\w+)\{(.*?)\n\};", re.DOTALL)
TYPE = re.compile(r"\{ResourceType::\w+, \"(\w+)\", \"[^\"]*\",\s*(k\w+),")
SHARED = {"kOwner": "owner", "kGroup": "group", "kMode": "mode", "kState": "state"}
WHERE = {"short": "ci", "long": "machine"}


def elements(body):
    """The top-level parts of a braced list."""
    parts, depth, text = [], 0, ""
    for char in re.sub(r'"[^"]*"', lambda found: found[0].replace(",", "\0").replace("(", "\1").replace(")", "\2"), body):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text.strip())
            text = ""
        else:
            text += char
    return [part for part in parts + [text.strip()] if part]


def compared_fields(source):
    """type → fields that are compared with the machine; the path of a target is none."""
    arrays = dict(ARRAY.findall(source))
    types = {}
    for name, array in TYPE.findall(source):
        fields = []
        for part in elements(arrays[array]):
            inner = re.sub(r"^required\((.*)\)$", r"\1", part, flags=re.DOTALL).strip()
            if inner in SHARED:
                fields.append(SHARED[inner])
            elif inner.startswith(("observed(", "choice(")):
                fields.append(re.search(r'"(\w+)"', inner)[1])
        types[name] = fields
    return types


def read_rows(text):
    """(type, field) → list of (script, where)."""
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        found = LINE.match(line)
        if not found or (found[1], found[2]) in rows:
            raise ValueError(f"fields.txt:{number}: {line}")
        rows[found[1], found[2]] = [tuple(one.split()) for one in found[3].split(", ")]
    return rows


def find_where(path, text):
    """Where a script runs, by itself: what a program of CI holds is modelled."""
    if path.suffix == ".cpp":
        return "model"
    return WHERE[re.search(r"^# test: (\w+)", text, re.MULTILINE)[1]]


def judge(rows, types, folder=HERE):
    """Complaints."""
    wanted = {(name, field) for name, fields in types.items() for field in fields}
    complaints = [f"{name} {field} has no row" for name, field in sorted(wanted - set(rows))]
    complaints += [f"{name} {field} is compared with no machine" for name, field in sorted(set(rows) - wanted)]
    for (name, field), scripts in rows.items():
        for script, where in scripts:
            path = folder / script
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if not re.search(rf"\b{field}\b", text) or not re.search(rf"\b{name}\b|::{name.lower()}\b", text):
                complaints.append(f"{name} {field}: nothing of it is in {script}")
            elif find_where(path, text) != where:
                complaints.append(f"{name} {field}: {script} does not run where the list says")
        if {where for _, where in scripts} == {"machine"}:
            complaints.append(f"{name} {field} is shown by no test that runs with every change")
    return complaints


class Types(unittest.TestCase):
    def test_all(self):
        """types: every field that is compared has its row, in a test that runs where the list says"""
        types = compared_fields((HERE.parent / "src/model/descriptor.cpp").read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(types), 15)
        rows = read_rows((HERE / "fields.txt").read_text(encoding="utf-8"))
        self.assertEqual(judge(rows, types), [])
        places = [where for scripts in rows.values() for _, where in scripts]
        print(f"# {len(types)} types, {len(rows)} fields; " + ", ".join(
            f"{places.count(where)} in {where}" for where in ("ci", "model", "machine")))

    def test_bad_lists(self):
        """types: a field without a row, a row without a field, and a script that is elsewhere or says nothing of it are told"""
        rows = read_rows("Sysctl value: e2e/sysctl.py ci\nSysctl state: e2e/sysctl.py machine\nSysctl none: e2e/none.py ci\n")
        self.assertEqual(judge(rows, {"Sysctl": ["value", "state", "more"]}), [
            "Sysctl more has no row", "Sysctl none is compared with no machine",
            "Sysctl state: e2e/sysctl.py does not run where the list says",
            "Sysctl state is shown by no test that runs with every change", "Sysctl none: nothing of it is in e2e/none.py"])
        for text in ("Sysctl", "Sysctl value", "Sysctl value: a ci\nSysctl value: a ci"):
            with self.assertRaises(ValueError):
                read_rows(text)


if __name__ == "__main__":
    tap.main()
