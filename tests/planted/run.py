#!/usr/bin/env python3
"""Plants a fault that an engineer could really commit, one after the other, and says which test catches it.

A fault is a `*.diff` beside this file. Its first line says in words what was done wrong and what it breaks for a user.
They were chosen from the design and the product, by somebody who had not read the tests: so, unlike a mutation, none
names the case that must fail. Each is applied to a copy of the tree in `build-planted/`; first the simulations run, with
so many new seeds, then every other program that the change reaches, and the first that fails has caught it.

What was found is remembered for as long as no file of the tree changes, so a run that was cut off goes on where it was;
`--again` forgets it. The table lies in `build-planted/table.md`. One that nothing catches is a test that is missing.

    tests/planted/run.py [--seeds N] [--again] [--list] [--simulations] [WORD...]     only faults whose name has a WORD
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from broken_tree import ROOT, Copy, Memory, digest_tree, tracked_files  # noqa: E402

SIMULATIONS = ["simulation-mesh", "simulation-host"]  # the quicker one first
KINDS = ["unit", "conformance", "property", "crash", "golden"]
TOUCHED = re.compile(r"^\+\+\+ b/(.+)$", re.MULTILINE)
SEED = re.compile(r"\bseed[ :=]+(\d+)", re.IGNORECASE)
NOTHING = "nothing"
DOES_NOT_COMPILE = "does not compile: "


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    words: str
    diff: str

    @property
    def files(self):
        return TOUCHED.findall(self.diff)


def read_faults(folder=HERE):
    faults = []
    for path in sorted(folder.glob("*.diff")):
        first, _, diff = path.read_text(encoding="utf-8").partition("\n")
        if not first.startswith("# ") or not TOUCHED.search(diff):
            sys.exit(f"{path.name}: a fault is a line '# what was done wrong: what it breaks' and a diff")
        faults.append(Fault(path.stem, first[2:], diff))
    return faults


def apply(fault, tree, *options):
    """Empty, or why it does not fit. The copy lies in a folder that git ignores, so git must not look above it."""
    tree = pathlib.Path(tree).resolve()
    done = subprocess.run(["git", "apply", *options, "-"], input=fault.diff, cwd=tree, capture_output=True, text=True,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}, check=False)
    return "" if done.returncode == 0 else f"{fault.name}.diff does not apply any more: {done.stderr.strip()}"


def find_problem(fault, tree=ROOT):
    return apply(fault, tree, "--check")


def order_programs(names, fault):
    """Those of the module that is broken first."""
    parts = {part for file in fault.files for part in file.split("/")}
    return sorted(names, key=lambda name: (name.split("-", 1)[1] not in parts, KINDS.index(name.split("-")[0]), name))


def find_programs(copy):
    """Those that can notice, each with the folders of the libraries that it is linked from."""
    def ask(*words):
        return subprocess.run(["ninja", "-C", copy.build, "-t", *words], capture_output=True, text=True, check=True).stdout

    names = re.findall(r"^tests/([a-z]+-[a-z-]+): cpp_LINKER", ask("targets", "all"), re.MULTILINE)
    return {name: set(re.findall(r"^([^/\n].*)/lib\w+\.a$", ask("inputs", f"tests/{name}"), re.MULTILINE))
            for name in names if name.split("-")[0] in KINDS or name in SIMULATIONS}


def is_reached(folders, fault):
    return any(file.startswith(f"{folder}/") for folder in folders for file in fault.files)


def describe(program, names, said):
    """What caught it: of a simulation the seed too, if it was one."""
    words = f"`{program}`: " + (names[0] if names else "the program dies of it")
    seed = SEED.search(said)
    return words + (f" (seed {seed[1]})" if seed and program in SIMULATIONS else "")


class Trial:
    """One fault in the copy, and the programs that were found to pass without it."""

    def __init__(self, copy, memory, seeds):
        self.copy, self.memory, self.seeds = copy, memory, seeds

    def watch(self, program):
        return self.copy.watch(program, "--abort", DATUM_SEEDS=str(self.seeds))

    def check_whole(self, programs):
        """A program that fails in the whole tree would prove nothing."""
        sound = []
        for program in programs:
            if not self.memory.has(["whole", program]):
                problem = self.copy.make(program)
                if problem:
                    sys.exit(f"{program} does not build:\n{problem}")
                passed, names, _ = self.watch(program)
                if not passed:
                    print(f"left out: {describe(program, names, '')}: fails in the whole tree", flush=True)
                    continue
                self.memory.add(["whole", program])
            sound.append(program)
        return sound

    def judge(self, fault, programs):
        """What caught it, or that nothing did."""
        bodies = {name: (self.copy.tree / name).read_bytes() for name in fault.files}
        problem = apply(fault, self.copy.tree)
        if problem:
            sys.exit(problem)
        try:
            for program in programs:
                problem = self.copy.make(program)
                if problem:
                    return DOES_NOT_COMPILE + problem
                passed, names, said = self.watch(program)
                if not passed:
                    return describe(program, names, said)
            return NOTHING
        finally:
            for name, body in bodies.items():
                (self.copy.tree / name).write_bytes(body)

    def find(self, fault, stage, programs):
        what = [stage, fault.diff, self.seeds if stage == "simulations" else 0]
        if not self.memory.has(what):
            began = time.monotonic()
            caught = self.judge(fault, programs)
            if caught.startswith(DOES_NOT_COMPILE):
                sys.exit(f"{fault.name}.diff {caught}")
            self.memory.add(what, caught)
            print(f"{time.monotonic() - began:6.0f} s {stage}: {fault.name}: {caught}", flush=True)
        return self.memory.find(what)


def write_table(path, faults, caught):
    rows = ["| fault | caught by |", "| --- | --- |"]
    rows += [f"| {fault.words} | {caught[fault.name].replace('|', chr(92) + '|')} |" for fault in faults
             if fault.name in caught]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Plants one fault after the other and says what catches it.")
    parser.add_argument("--seeds", type=int, default=40, help="new seeds of each simulation (40)")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--simulations", action="store_true", help="only the simulations, not the other programs")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-planted", help="where the copy lies")
    parser.add_argument("words", nargs="*", help="only faults whose name has one of them")
    options = parser.parse_args()
    faults = [one for one in read_faults() if not options.words or any(word in one.name for word in options.words)]
    if options.list:
        for fault in faults:
            print(f"{fault.name}\n    {fault.words}")
        return 0
    problems = [problem for problem in map(find_problem, faults) if problem]
    if problems or not faults:
        sys.exit("\n".join(problems) or "no fault has such a word")
    names = tracked_files()
    copy = Copy(options.folder.resolve())
    copy.follow(set(names))
    trial = Trial(copy, Memory(options.folder / "found", digest_tree(names), options.again), options.seeds)
    caught, table, reach = {}, options.folder / "table.md", find_programs(copy)
    sound = trial.check_whole(SIMULATIONS)
    for fault in faults:
        caught[fault.name] = trial.find(fault, "simulations", [name for name in sound if is_reached(reach[name], fault)])
        write_table(table, faults, caught)
    left = [fault for fault in faults if caught[fault.name] == NOTHING]
    if left and not options.simulations:
        others = trial.check_whole([name for name in reach if name not in SIMULATIONS
                                    and any(is_reached(reach[name], fault) for fault in left)])
        for fault in left:
            reached = order_programs([name for name in others if is_reached(reach[name], fault)], fault)
            caught[fault.name] = trial.find(fault, "others", reached)
            write_table(table, faults, caught)
    missed = [fault.name for fault in faults if caught[fault.name] == NOTHING]
    for name in missed:
        print(f"NOT CAUGHT {name}")
    print(f"{len(faults) - len(missed)} passed, {len(missed)} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
