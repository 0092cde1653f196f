#!/usr/bin/env python3
"""Breaks the product on purpose, one line at a time, and asks the named test whether it notices.

A mutation (`*.toml` beside this file) names a file, a text that stands in it once, what takes its place, the test
program and the case that must fail. Each is applied to a copy of the tree in `build-mutations/`; only the program is
built. One that survives is a defect of a test. What passed is remembered for as long as no file of the tree changes,
so a run that was cut off goes on where it was; `--again` forgets it.

    tests/mutations/run.py [--again] [--list] [WORD...]     only mutations whose file, case or row has a WORD
"""

import argparse
import pathlib
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from broken_tree import ROOT, Copy, Memory, digest_tree, tracked_files  # noqa: E402

KEYS = {"file", "old", "new", "program", "case", "row", "why"}
OPTIONAL = {"row", "why"}


def read_mutations(folder=HERE):
    mutations = []
    for path in sorted(folder.glob("*.toml")):
        with open(path, "rb") as file:
            entries = tomllib.load(file)["mutation"]
        for number, entry in enumerate(entries, 1):
            if not KEYS - OPTIONAL <= set(entry) <= KEYS:
                sys.exit(f"{path.name}: mutation {number} has the keys {sorted(entry)}")
        mutations += entries
    return mutations


def find_problem(mutation, root=ROOT):
    """Empty if the entry fits the tree: the line may have been changed since it was written."""
    path = root / mutation["file"]
    count = path.read_text(encoding="utf-8").count(mutation["old"]) if path.is_file() else 0
    if count != 1:
        return f"the old text stands there {count} times"
    if "\n" in mutation["old"] + mutation["new"] or mutation["old"] == mutation["new"]:
        return "is not a change of one line"
    return ""


def judge(copy, mutation):
    """Empty if the case notices the mutation, else what is wrong."""
    path = copy.tree / mutation["file"]
    body = path.read_text(encoding="utf-8")
    path.write_text(body.replace(mutation["old"], mutation["new"]), encoding="utf-8")
    try:
        problem = copy.make(mutation["program"])
        if problem:
            return "does not compile: " + problem
        if copy.run(mutation["program"], mutation["case"]) == "failed":
            return ""
        return "survived; " + copy.find_others(mutation["program"])
    finally:
        path.write_text(body, encoding="utf-8")


def check_whole(copy, memory, mutations):
    """What the cases say of the tree as it is: each must exist and pass, or its failure would prove nothing."""
    problems = {}
    wanted = {(mutation["program"], mutation["case"]) for mutation in mutations if not find_problem(mutation)}
    wanted = sorted(pair for pair in wanted if not memory.has(pair))
    for program in sorted({program for program, _ in wanted}):
        problem = copy.make(program)
        if problem:
            sys.exit(f"{program} does not build:\n{problem}")
    for program, case in wanted:
        result = copy.run(program, case)
        if result == "passed":
            memory.add((program, case))
        else:
            problems[program, case] = f"the case is {result} in the whole tree"
    return problems


def main():
    parser = argparse.ArgumentParser(description="Breaks the product one line at a time; each must fail its test.")
    parser.add_argument("--again", action="store_true", help="forget what passed before")
    parser.add_argument("--list", action="store_true", help="print the mutations and end")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-mutations", help="where the copy lies")
    parser.add_argument("words", nargs="*", help="only mutations whose file, case or row has one of them")
    options = parser.parse_args()
    mutations = [one for one in read_mutations() if not options.words or any(
        word in f"{one['file']} {one['case']} {one.get('row', '')}" for word in options.words)]
    if options.list:
        for one in mutations:
            print(f"{one.get('row') or '-':5} {one['file']:36} {one['program']:16} {one['case']}")
        return 0
    names = tracked_files()
    copy = Copy(options.folder.resolve())
    copy.follow(set(names))
    memory = Memory(options.folder / "passed", digest_tree(names), options.again)
    whole = check_whole(copy, memory, mutations)
    failed = 0
    for one in mutations:
        began = time.monotonic()
        problem = find_problem(one) or whole.get((one["program"], one["case"]), "")
        if not problem and not memory.has(one):
            problem = judge(copy, one)
            if not problem:
                memory.add(one)
        failed += 1 if problem else 0
        print(f"{'FAILED' if problem else 'killed'} {time.monotonic() - began:6.1f} s {one.get('row') or '-':5} {one['file']}: "
              f"{one['old'].strip()}  ->  {one['new'].strip() or '(nothing)'}", flush=True)
        if problem:
            print(f"       {one['program']}: {one['case']}: {problem}")
    if not mutations:
        print("no mutation has such a word")
        failed = 1
    print(f"{len(mutations) - failed if mutations else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
