#!/usr/bin/env python3
# test: short
"""kill -9 in the middle of a pass, again and again, with an oracle that never looks into the store.

Two versions of one fleet alternate: every round drives the tree from one to the other and kills the process at
a random moment. A moment is a number of file-system events below the root (inotify), so that nearly all kills
lie between the first announcement and the last record: before the announcement nothing below the root changes.
Every tenth round kills at a random time instead, which also hits the start and the end. A busy machine lets a pass run on
before the kill comes: rounds are added, up to as many again, until three quarters of KILL_ROUNDS were hit in mid-apply.
After each kill: every declared name holds the whole old or the whole new state, or nothing; then the journal
verifies, one more pass converges, and nothing of Datum's lies about. A killed process is no power cut: the page
cache survives. What an unsynced write does is shown on the modelled disk.

Environment: DATUM_BUILD (build folder), DATUM_SEED, KILL_ROUNDS (200).
"""

import ctypes
import os
import pathlib
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
DATUM = str(BUILD / "src/datum/datum")
ROUNDS = int(os.environ.get("KILL_ROUNDS", "200"))
SEED = int(os.environ.get("DATUM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
FOLDERS = ["etc", "etc/app", "etc/app/conf.d", "srv", "srv/data"]
PASS_LIMIT_S = 600  # one pass takes a fraction of a second, on a busy machine who knows; a hang is a failure

libc = ctypes.CDLL(None, use_errno=True)
IN_CREATE, IN_MOVED_TO, IN_DELETE, IN_MODIFY, IN_ATTRIB, IN_NONBLOCK = 0x100, 0x80, 0x200, 0x2, 0x4, 0o4000


def content(version, number):
    body = f"version {version} of file {number}\n" * (1 + number * 7 % 50)
    return body.encode()


def desired(version):
    """path → ('file', bytes) or ('link', target) of one version of the fleet."""
    state = {}
    for number in range(48):
        folder = FOLDERS[number % len(FOLDERS)]
        if number % 12 == version:  # a few exist in one version only: they are created and removed
            continue
        state[f"{folder}/f{number:02d}"] = ("file", content(version, number))
    for number in range(6):
        state[f"srv/link{number}"] = ("link", f"data/f{number:02d}-{version}")
    return state


def write_fleet(folder, version):
    (folder / "base").mkdir(parents=True)
    (folder / "datum.yaml").write_text("datum: v1alpha1\ntype: Fleet\nname: kill\n")
    (folder / "host.yaml").write_text("datum: v1alpha1\ntype: Host\nname: k1\n")
    (folder / "base/layer.yaml").write_text("datum: v1alpha1\ntype: Layer\nname: base\n")
    documents = []
    for number, path in enumerate(FOLDERS):
        documents.append(("Directory", f"d{number}", [f"path: /{path}", "mode: \"0755\""]))
    for number, (path, (kind, value)) in enumerate(sorted(desired(version).items())):
        name = path.replace("/", "-")
        if kind == "link":
            documents.append(("Symlink", name, [f"path: /{path}", f"target: {value}"]))
        else:
            mode = "0640" if number % 3 == version else "0644"
            text = value.decode().replace("\n", "\n    ").rstrip(" ")
            documents.append(("File", name, [f"path: /{path}", f"mode: \"{mode}\"", f"content: |\n    {text}".rstrip("\n")]))
    with open(folder / "base/resources.yaml", "w", encoding="utf-8") as file:
        for kind, name, fields in documents:
            file.write(f"---\ndatum: v1alpha1\ntype: {kind}\nname: {name}\ndesired:\n")
            file.writelines(f"  {field}\n" for field in fields)


def run(*arguments):
    return subprocess.run([DATUM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PASS_LIMIT_S, check=False)


class Watch:
    """Counts events in all folders below the root, as soon as they exist."""

    def __init__(self, root):
        self.root, self.known, self.count = root, {}, 0
        self.fd = libc.inotify_init1(IN_NONBLOCK)
        self.add(".")

    def add(self, path):
        mask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ATTRIB
        watch = libc.inotify_add_watch(self.fd, os.fsencode(self.root / path), mask)
        if watch < 0:
            return
        self.known[watch] = path
        try:
            entries = list(os.scandir(self.root / path))
        except FileNotFoundError:  # renamed meanwhile: its new name tells of itself
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self.add(f"{path}/{entry.name}")

    def poll(self, timeout_s):
        if not select.select([self.fd], [], [], timeout_s)[0]:
            return
        data, at = os.read(self.fd, 1 << 16), 0
        while at < len(data):
            watch, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16:at + 16 + length].rstrip(b"\0").decode()
            at += 16 + length
            self.count += 1
            if mask & (IN_CREATE | IN_MOVED_TO) and mask & 0x40000000 and watch in self.known:
                self.add(f"{self.known[watch]}/{name}")

    def close(self):
        os.close(self.fd)


def kill_in_pass(command, root, after_events, after_s):
    """Runs the pass and kills it. Returns (whether it was killed, events seen)."""
    watch = Watch(root)
    with tempfile.TemporaryFile() as output:
        # On this process's one processor and behind it: whoever counts runs before whoever is counted goes on.
        child = subprocess.Popen(["nice", "-n", "19", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        started = time.monotonic()
        while child.poll() is None:
            watch.poll(0.0005)
            spent = time.monotonic() - started
            if (after_events is not None and watch.count >= after_events) or (after_s is not None and spent >= after_s):
                break
            if spent > PASS_LIMIT_S:
                break
        killed = child.poll() is None
        if killed:
            os.kill(child.pid, signal.SIGKILL)
        child.wait()
    count = watch.count
    watch.close()
    return killed, count


def look(root, before, after):
    """Everything that is neither the whole old nor the whole new state of a declared name."""
    faults = []
    for path in sorted(set(before) | set(after)):
        at = root / path
        allowed = [state[path] for state in (before, after) if path in state]
        if at.is_symlink():
            found = ("link", os.readlink(at))
        elif at.exists():
            found = ("file", at.read_bytes())
        elif path not in before or path not in after:
            continue
        else:
            faults.append(f"{path}: gone, and both versions have it")
            continue
        if found not in allowed:
            faults.append(f"{path}: {found[0]} of {len(found[1])} bytes is neither version")
    return faults


def leftovers(root):
    return [str(path) for path in root.rglob("*") if path.name.startswith(".datum-")]


def differences(root, wanted):
    faults = look(root, wanted, wanted)
    known = set(wanted) | set(FOLDERS)
    faults += [f"{path.relative_to(root)}: should not be there" for path in root.rglob("*")
               if str(path.relative_to(root)) not in known]
    return faults


def main():
    os.sched_setaffinity(0, {random.SystemRandom().choice(sorted(os.sched_getaffinity(0)))})
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-kill-"))
    root, chance = scratch / "root", random.Random(SEED)
    root.mkdir()
    for version in (0, 1):
        write_fleet(scratch / f"fleet{version}", version)
    common = ["--host", "k1", "--root", str(root), "--state", str(scratch / "state"), "--mode", "enforce",
              "--allow-removals", "50"]
    command = lambda version: [DATUM, "reconcile", "--fleet", str(scratch / f"fleet{version}"), *common]
    print(f"# seed {SEED}, {ROUNDS} rounds")
    version, faults, rounds, kills, inside, histogram = 0, [], 0, 0, 0, [0] * 10
    wanted_inside = (3 * ROUNDS + 3) // 4
    try:
        for target in (0, 1):  # both ways once undisturbed, to learn how many events a pass makes
            killed, events = kill_in_pass(command(target), root, 1 << 30, None)
            wrong = differences(root, desired(target))
            assert not killed and not wrong, f"an undisturbed pass left: {wrong[:5]}"
            version = target
        for number in range(2 * ROUNDS):
            if number >= ROUNDS and inside >= wanted_inside:
                break
            before, target = desired(version), 1 - version
            by_time = number % 10 == 9
            killed, seen = kill_in_pass(command(target), root,
                                        None if by_time else chance.randrange(1, max(2, int(events * 0.95))),
                                        chance.uniform(0, 0.15) if by_time else None)
            if killed:
                kills += 1
                inside += 0 < seen < events
                histogram[min(9, seen * 10 // max(1, events))] += 1
            faults += [f"round {number}, after the kill: {fault}" for fault in look(root, before, desired(target))]
            verified = run("journal", "verify", "--state", str(scratch / "state"))
            if verified.returncode != 0:
                faults.append(f"round {number}: journal verify exits {verified.returncode}: {verified.stdout[-500:]}")
            again = run(*command(target)[1:])
            if again.returncode != 0:
                faults.append(f"round {number}: the next pass exits {again.returncode}: {again.stdout[-1000:]}")
            faults += [f"round {number}, converged: {fault}" for fault in differences(root, desired(target))]
            faults += [f"round {number}: left behind: {path}" for path in leftovers(root)]
            version, rounds = target, rounds + 1
            if len(faults) > 20:
                break
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    bars = " ".join(f"{index * 10}%:{count}" for index, count in enumerate(histogram))
    print(f"# {rounds} rounds, {kills} kills, {inside} of them in mid-apply; by share of the pass's file events: {bars}")
    for fault in faults[:20]:
        print(f"# {fault}")
    ok = lambda good, what: print(f"{'ok' if good else 'not ok'} - {what}")
    ok(not faults, f"crash: after every kill the tree is whole, the journal verifies and one pass converges ({len(faults)} violations)")
    ok(inside >= wanted_inside, f"crash: at least {wanted_inside} kills fell between announcement and end")
    return 1 if faults or inside < wanted_inside else 0


if __name__ == "__main__":
    sys.exit(main())
