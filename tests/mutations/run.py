#!/usr/bin/env python3
"""Breaks the product on purpose, one line at a time, and asks the named test whether it notices.

A mutation (`*.toml` beside this file) names a file, a text that stands in it once, what takes its place, the test
program and the case that must fail. Each is applied to a copy of the tree in `build-mutations/`; only the program is
built. One that survives is a defect of a test. What passed is remembered for as long as no file of the tree changes,
so a run that was cut off goes on where it was; `--again` forgets it.

    tests/mutations/run.py [--again] [--list] [WORD...]     only mutations whose file, case or row has a WORD
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from xml.etree import ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD_LIMIT_S = 3600  # the first build of a bare copy
CASE_LIMIT_S = 600  # a mutation that never ends is noticed too, but not for ever
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


def tracked_files():
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    names = [os.fsdecode(name) for name in listing.split(b"\0") if name]
    return [name for name in names if (ROOT / name).is_file()]


def digest_tree(names):
    """Of what programs are built from."""
    digest = hashlib.sha256()
    for name in names:
        if not name.endswith((".cpp", ".hpp", ".capnp", "meson.build", "meson.options", "meson_options.txt")):
            continue
        digest.update(f"{name}\0".encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return digest.hexdigest()


class Copy:
    """The tree that is broken. Files that are as they should be keep their times, so little is built anew."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.build = self.tree / "build"  # where `./dev build` has it too, so that a compiler cache knows the commands

    def follow(self, names):
        for above, folders, files in os.walk(self.tree):
            if pathlib.Path(above) == self.tree and "build" in folders:
                folders.remove("build")
            for path in (pathlib.Path(above) / name for name in files):
                if path.relative_to(self.tree).as_posix() not in names:
                    path.unlink()
        for name in names:
            target, body = self.tree / name, (ROOT / name).read_bytes()
            if target.is_file() and target.read_bytes() == body:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
            shutil.copymode(ROOT / name, target)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", self.build, self.tree], check=True, stdout=subprocess.DEVNULL)

    def make(self, program):
        """Empty, or what the compiler said."""
        jobs = os.environ.get("JOBS", str(len(os.sched_getaffinity(0))))
        done = subprocess.run(["ninja", "-C", self.build, "-j", jobs, f"tests/{program}"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=BUILD_LIMIT_S, check=False)
        return "" if done.returncode == 0 else done.stdout[-4000:]

    def run(self, program, case):
        """passed, failed, or missing (there is no such case)."""
        name = "".join("\\" + char if char in '\\,[]"*' else char for char in case)
        with tempfile.TemporaryDirectory(prefix="datum-mutation-") as scratch:
            child = subprocess.Popen([self.build / "tests" / program, name], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                     env={**os.environ, "TMPDIR": scratch})
            try:
                output, _ = child.communicate(timeout=CASE_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                child.communicate()
                return "failed"
        if b"No test cases matched" in output or b"No tests ran" in output:
            return "missing"
        return "passed" if child.returncode == 0 else "failed"

    def find_others(self, program):
        """Which cases of the program do fail: perhaps the wrong one was named."""
        with tempfile.TemporaryDirectory(prefix="datum-mutation-") as scratch:
            report = os.path.join(scratch, "report.xml")
            subprocess.run([self.build / "tests" / program, "--reporter", "xml", "--out", report], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": scratch},
                           timeout=CASE_LIMIT_S, check=False)
            try:
                cases = ElementTree.parse(report).iter("TestCase")
                names = [one.get("name") for one in cases if one.find("OverallResult").get("success") != "true"]
            except (ElementTree.ParseError, FileNotFoundError):
                return "the program as a whole dies of it"
        return f"{len(names)} other cases notice it" + "".join(f"\n         {name}" for name in names[:4])

    def judge(self, mutation):
        """Empty if the case notices the mutation, else what is wrong."""
        path = self.tree / mutation["file"]
        body = path.read_text(encoding="utf-8")
        path.write_text(body.replace(mutation["old"], mutation["new"]), encoding="utf-8")
        try:
            problem = self.make(mutation["program"])
            if problem:
                return "does not compile: " + problem
            if self.run(mutation["program"], mutation["case"]) == "failed":
                return ""
            return "survived; " + self.find_others(mutation["program"])
        finally:
            path.write_text(body, encoding="utf-8")


class Memory:
    """What passed with this tree: a line for each, so that nothing is lost when a run is cut off."""

    def __init__(self, path, tree, forget):
        self.path, self.tree = path, tree
        if forget:
            path.unlink(missing_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.known = {line for line in lines if line.startswith(tree)}

    def key(self, what):
        return f"{self.tree} {hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()}"

    def has(self, what):
        return self.key(what) in self.known

    def add(self, what):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(self.key(what) + "\n")


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
            problem = copy.judge(one)
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
