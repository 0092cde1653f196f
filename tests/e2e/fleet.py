"""A fleet, a root and a store in a scratch folder, and what the tests around here ask about them.

Knows documents, the command line and the file system; never looks into a store except through the program."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
DATUM = str(pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build")).resolve() / "src/datum/datum")
PASS_LIMIT_S = 600  # a pass takes well under a second, on a busy machine who knows; a hang is a failure, not a wait
HOST = "h1"


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def mapping(fields, indent):
    lines = []
    for key, value in fields.items():
        if isinstance(value, list):
            lines.append(f"{indent}{key}:" + ("" if value else " []"))
            lines += [f"{indent}  - {scalar(item)}" for item in value]
        else:
            lines.append(f"{indent}{key}: {scalar(value)}")
    return lines


@dataclasses.dataclass
class Resource:
    type: str
    name: str
    desired: dict
    keys: dict = dataclasses.field(default_factory=dict)  # requires, policy, protect

    @property
    def reference(self):
        return f"{self.type}[{self.name}]"

    def document(self):
        head = [f"type: {self.type}", f"name: {self.name}", *mapping(self.keys, ""), "desired:"]
        return "\n".join(["---", "datum: v1alpha1", *head, *mapping(self.desired, "  ")]) + "\n"


def file(name, path, content=None, **fields):
    return Resource("File", name, {"path": path, **({} if content is None else {"content": content}), **fields})


def directory(name, path, **fields):
    return Resource("Directory", name, {"path": path, **fields})


def symlink(name, path, target, **fields):
    return Resource("Symlink", name, {"path": path, "target": target, **fields})


def with_keys(resource, **keys):
    return dataclasses.replace(resource, keys={**resource.keys, **keys})


def write_fleet(folder, layers):
    """Replaces the fleet in `folder`: layer name → resources, a later layer above an earlier one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "datum.yaml").write_text("datum: v1alpha1\ntype: Fleet\nname: test\n")
    (folder / "host.yaml").write_text(f"datum: v1alpha1\ntype: Host\nname: {HOST}\n")
    for precedence, (layer, resources) in enumerate(layers.items()):
        (folder / layer).mkdir()
        (folder / layer / "layer.yaml").write_text(
            f"datum: v1alpha1\ntype: Layer\nname: {layer}\nprecedence: {precedence}\n")
        if resources:
            text = "".join(resource.document() for resource in resources)
            (folder / layer / "resources.yaml").write_text(text, encoding="utf-8")


@dataclasses.dataclass
class Run:
    code: int
    out: str
    err: str

    @property
    def text(self):
        return self.out + self.err

    @property
    def lines(self):
        """JSON lines of the standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


def datum(*arguments, before=(), **options):
    command = [*before, DATUM, *map(os.fspath, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PASS_LIMIT_S, check=False, **options)
    return Run(done.returncode, done.stdout.decode("utf-8", "surrogateescape"),
               done.stderr.decode("utf-8", "surrogateescape"))


def has_loop_devices():
    """Containers have none, as a rule."""
    return subprocess.run(["losetup", "--find"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


class Bench:
    """Scratch folder with `root`, `state` and `fleet`; gone after `close`."""

    def __init__(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-e2e-"))
        self.root, self.state, self.fleet = (self.scratch / name for name in ("root", "state", "fleet"))
        self.root.mkdir(mode=0o755)
        self.root.chmod(0o755)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def declare(self, *resources, **layers):
        """The fleet is these resources in one layer, or the layers given by name."""
        write_fleet(self.fleet, layers or {"base": list(resources)})

    def run(self, *arguments, state=None, **options):
        """One pass command over the fleet."""
        verb, *rest = arguments
        return datum(verb, "--fleet", self.fleet, "--host", HOST, "--root", self.root, "--state", state or self.state,
                     *rest, **options)

    def observe(self, *arguments, **options):
        return self.run("observe", *arguments, **options)

    def enforce(self, *arguments, **options):
        return self.run("reconcile", "--mode", "enforce", *arguments, **options)

    def events(self, *arguments, state=None):
        listed = datum("journal", "list", "--state", state or self.state, "--json", *arguments)
        if listed.code != 0:
            raise AssertionError(f"journal list exits {listed.code}: {listed.text}")
        return listed.lines

    def owned(self):
        listed = datum("owned", "--root", self.root, "--state", self.state, "--json")
        if listed.code != 0:
            raise AssertionError(f"owned exits {listed.code}: {listed.text}")
        return {line["target"]: line for line in listed.lines}

    def path(self, inside):
        return self.root / inside.lstrip("/")


def drifts(run):
    """reference → names of the drifted fields, of the resources that an `observe --json` reports as drifted."""
    return {line["reference"]: sorted(drift["field"] for drift in line["drifts"])
            for line in run.lines if line.get("condition") == "drifted" and "reference" in line}


def outcomes(run):
    """(reference, target) → action line of a `reconcile --json` or `plan --json`."""
    return {(line["reference"], line["target"]): line for line in run.lines if "ordinal" in line}


def entry(path):
    """Everything about one name but its access time."""
    path = os.fsencode(path)
    seen = os.lstat(path)
    attributes = {}
    if not stat.S_ISLNK(seen.st_mode):
        attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    body = None
    if stat.S_ISLNK(seen.st_mode):
        body = os.readlink(path)
    elif stat.S_ISREG(seen.st_mode):
        with open(path, "rb") as opened:
            body = hashlib.file_digest(opened, "sha256").hexdigest()
    return (stat.filemode(seen.st_mode), oct(seen.st_mode), seen.st_uid, seen.st_gid, seen.st_ino, seen.st_nlink,
            seen.st_size if not stat.S_ISDIR(seen.st_mode) else None, seen.st_mtime_ns, seen.st_ctime_ns,
            tuple(sorted(attributes.items())), body)


def listing(folder):
    """path below `folder` → entry, of the folder itself and of everything in it."""
    folder = os.fsencode(folder)
    found = {b".": entry(folder)}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            found[os.path.relpath(path, folder)] = entry(path)
    return found


def leftovers(folder):
    return sorted(path for path in listing(folder) if os.path.basename(path).startswith(b".datum-"))


def strip_ids(value):
    """An event or report without what differs between any two passes: sequence numbers, ids and times."""
    dropped = {"seq", "time", "boot", "monotonicNs", "pass", "store", "since", "durationNs", "mtime", "ctime"}
    if isinstance(value, dict):
        return {key: strip_ids(item) for key, item in value.items() if key not in dropped}
    return [strip_ids(item) for item in value] if isinstance(value, list) else value


TRACED_CALL = re.compile(r"^\d+ +(\w+)\((.*?)\)? += (-?\d+|\?)(?:<(.*?)>)?(?: .*)?$")
UNFINISHED = re.compile(r"^(\d+) +(.*?) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")


def read_trace(path):
    """(name, arguments, result, path of the descriptor it returned) of each system call of an `strace -f -y -o`."""
    calls, begun = [], {}
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        if match := UNFINISHED.match(line):
            begun[match.group(1)] = match.group(2)
            continue
        if match := RESUMED.match(line):
            line = f"{match.group(1)} {begun.pop(match.group(1), '')}{match.group(2)}"
        if match := TRACED_CALL.match(line):
            calls.append(match.groups())
    return calls


class DriftCase(unittest.TestCase):
    """For tests of one resource on a `bench`, which their setUp makes."""

    def enforce(self, *resources, code=0):
        self.bench.declare(*resources)
        done = self.bench.enforce()
        self.assertEqual(done.code, code, done.text)
        return done

    def seen(self):
        """field → what was observed, of the one resource that drifts."""
        seen = self.bench.observe("--json")
        lines = [line for line in seen.lines if line.get("condition") == "drifted" and "drifts" in line]
        return {drift["field"]: drift["observed"] for line in lines for drift in line["drifts"]}
