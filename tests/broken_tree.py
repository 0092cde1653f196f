"""A copy of the tree in which the product is broken on purpose, its programs, and what is known from a run before."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD_LIMIT_S = 3600  # the first build of a bare copy
CASE_LIMIT_S = 600  # what never ends is noticed too, but not for ever
SCRATCH = "datum-broken-"


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
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as scratch:
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

    def watch(self, program, *options, **environment):
        """Runs all of a program: whether it passed, the cases that failed as far as they are known, and what was said."""
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as scratch:
            report = pathlib.Path(scratch, "report.xml")
            command = [self.build / "tests" / program, "--reporter", "xml", "--out", report, *options]
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     start_new_session=True, env={**os.environ, **environment, "TMPDIR": scratch})
            try:
                output, _ = child.communicate(timeout=CASE_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                output, _ = child.communicate()
            text = report.read_text(encoding="utf-8", errors="replace") if report.exists() else ""
        try:
            cases = ElementTree.fromstring(text).iter("TestCase")
            names = [one.get("name") for one in cases if one.find("OverallResult").get("success") != "true"]
        except ElementTree.ParseError:
            names = []
        return child.returncode == 0, names, text + output.decode(errors="replace")

    def find_others(self, program):
        """Which cases of the program do fail: perhaps the wrong one was named."""
        _, names, _ = self.watch(program)
        if not names:
            return "the program as a whole dies of it"
        return f"{len(names)} other cases notice it" + "".join(f"\n         {name}" for name in names[:4])


class Memory:
    """What was found with this tree: a line for each, so that nothing is lost when a run is cut off."""

    def __init__(self, path, tree, forget):
        self.path, self.tree = path, tree
        if forget:
            path.unlink(missing_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        parts = [line.split(" ", 2) for line in lines if line.startswith(tree)]
        self.known = {part[1]: part[2] if len(part) > 2 else "" for part in parts}

    @staticmethod
    def key(what):
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()

    def has(self, what):
        return self.key(what) in self.known

    def find(self, what):
        """What was found of it in words, or nothing."""
        return self.known.get(self.key(what))

    def add(self, what, words=""):
        self.known[self.key(what)] = words
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{self.tree} {self.key(what)} {words}".rstrip() + "\n")
