#!/usr/bin/env python3
# test: long root
"""The power goes in the middle of a pass, in a guest whose page cache is really lost, at random moments; and once every
write below the file system is recorded, and the disk is put together as it was after any number of them.

After each cut, on the disk that is left: the file system mounts, the store opens and verifies, the last record that the
guest said to be durable is there with its whole chain, every name holds all of the old or all of the new, nothing was
changed without a durable announcement, no record claims what the disk does not hold, and the next pass converges.

Environment: DATUM_LAB (where lab/vm keeps its parts), DATUM_SEED, POWER_CUTS (20), POWER_REPLAYS (20), DATUM_PROGRAM (another
build's datum). Needs what lab/vm needs, and dmsetup."""

import json
import os
import pathlib
import random
import shutil
import stat
import struct
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from guest import BOOT_LIMIT_S, LAB, TOOLS, VM, Guest, copy_program, run  # noqa: E402

PROGRAM = os.environ.get("DATUM_PROGRAM", fleet.DATUM)
CUTS = int(os.environ.get("POWER_CUTS", "20"))
REPLAYS = int(os.environ.get("POWER_REPLAYS", "20"))
SEED = int(os.environ.get("DATUM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
VERSIONS = 6
DISK_MIB = 64
FILES, LINKS = 44, 8
ORDER = "point \nhit 0\nfails 0\nfile_limit 0\n"  # of a process of the self-test: it is only to say what is durable

# Mounts without the file system's own sync at a rename, which would hide that one is missing.
BEGIN = """#!/bin/busybox sh
b=/bin/busybox
life={data}/life
$b mount -t proc p /proc; $b mount -t sysfs s /sys
size=$($b blockdev --getsz /dev/vdb)
dm() {{ /bin/dmsetup --noudevsync --noudevrules create data --table "0 $size $1" || echo "@ no mapping"; disk=/dev/dm-0; }}
data() {{ $b mount -t ext4 -o noauto_da_alloc $disk {data} || echo "@ no disk"; }}
mark() {{ [ -b /dev/vdc ] && /bin/dmsetup message data 0 mark "$1"; }}
tell() {{
  while read -r line; do
    case $line in
      "@ durable"*) set -- $line; mark "$3:$4"; echo "$line" ;;
      "@ hits"*) ;;
      "@ "* | "datum: "*) echo "$line" ;;
    esac
  done
}}
ends() {{ $b umount {data}; echo "@ all done"; echo o >/proc/sysrq-trigger; $b sleep 9; }}
"""
PASSES = BEGIN + """
disk=/dev/vdb
[ -b /dev/vdc ] && dm "log-writes /dev/vdb /dev/vdc"
data
$b mkdir -p $life/root && $b chmod 700 $life && $b chmod 755 $life/root
$b printf '{order}' >$life/order
n=1
while [ -d /fleets/$n ]; do
  $b rm -rf $life/fleet; $b cp -r /fleets/$n $life/fleet; $b sync
  mark "begin:$n"
  echo "@ begin $n"
  /bin/datum selftest pass-in $life 2>&1 | tell
  echo "@ end $n"
  # The next fleet is not put in place while a cut may still be meant for this pass.
  $b sleep 2
  n=$((n + 1))
done
ends
"""
# After a cut. A store knows the device of what it left: it must have the same number again.
AGAIN = BEGIN + """
disk=/dev/vdb
{mapped}
data
$b mount -t tmpfs t /run
/bin/datum selftest pass-in $life >/run/out 2>&1
echo "@ exits $?"
$b grep "^datum: " /run/out
ends
"""


def tree_of(version):
    """path → (kind, mode, body) of one version."""
    tree = {path: ("dir", 0o755, b"") for path in ("etc", "etc/app", "srv", "srv/data")}
    folders = list(tree)
    for number in range(FILES):
        if number % 11 == version % 3:  # some exist in some versions only
            continue
        body = f"version {version} of file {number}\n" * (1 + number * 37 % 400)
        mode = 0o640 if (number + version) % 7 == 0 else 0o644
        tree[f"{folders[number % 4]}/f{number:02d}-{'new' if number % 2 else 'same'}"] = ("file", mode, body.encode())
    # New names in each version: nothing is replaced there, so nothing but our own sync makes their bytes durable.
    for number in range(4):
        tree[f"srv/data/v{version}-{number}"] = ("file", 0o644, (f"only in version {version}\n" * 300).encode())
    for number in range(LINKS):
        tree[f"srv/l{number}"] = ("link", 0, f"data/{version}-{number}".encode())
    return tree


def write_fleet(folder, version):
    resources = []
    for number, (path, (kind, mode, body)) in enumerate(sorted(tree_of(version).items())):
        name = path.replace("/", "-")
        if kind == "dir":
            resources.append(fleet.directory(name, f"/{path}", mode=f"0{mode:o}"))
        elif kind == "link":
            resources.append(fleet.symlink(name, f"/{path}", body.decode()))
        else:
            resources.append(fleet.file(name, f"/{path}", body.decode(), mode=f"0{mode:o}"))
    fleet.write_fleet(folder, {"base": resources})
    (folder / "host.yaml").write_text("datum: v1alpha1\ntype: Host\nname: selftest\n")


def read_tree(root):
    tree = {}
    for place, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(place, name)
            seen = os.lstat(path)
            if stat.S_ISLNK(seen.st_mode):
                entry = ("link", 0, os.readlink(path).encode())
            elif stat.S_ISDIR(seen.st_mode):
                entry = ("dir", stat.S_IMODE(seen.st_mode), b"")
            else:
                entry = ("file", stat.S_IMODE(seen.st_mode), pathlib.Path(path).read_bytes())
            tree[os.path.relpath(path, root)] = entry
    return tree


def shown(entry):
    return "nothing" if entry is None else f"{entry[0]} {entry[1]:o} of {len(entry[2])} bytes"


@unittest.skipUnless(fleet.has_loop_devices(), "no loop device is to be had")
class PowerCut(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in (*TOOLS, "dmsetup"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"{tool} is not here")
        run(VM, "prepare")
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-power-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.data = cls.scratch / "data"  # the same path inside of the guest: a store is bound to its root's
        cls.data.mkdir()
        guest = cls.scratch / "guest"
        for folder in ("bin", "proc", "sys", "dev", "run", "fleets", str(cls.data).lstrip("/")):
            (guest / folder).mkdir(parents=True)
        shutil.copy(LAB / "initrd/bin/busybox", guest / "bin/busybox")
        copy_program(PROGRAM, guest)
        run("strip", guest / "bin/datum")
        copy_program(shutil.which("dmsetup"), guest)
        for version in range(1, VERSIONS + 1):
            write_fleet(guest / f"fleets/{version}", version)
        for name, script, mapped in (("passes", PASSES, ""), ("again", AGAIN, ""), ("again-mapped", AGAIN, 'dm "linear /dev/vdb 0"')):
            (guest / name).write_text(script.format(data=cls.data, order=ORDER.replace("\n", "\\n"), mapped=mapped))
            (guest / name).chmod(0o755)
        cls.image, cls.disk = cls.scratch / "guest.img", cls.scratch / "data.img"
        run(VM, "disk", guest, cls.image, "192M")
        cls.chance = random.Random(SEED)
        print(f"# seed {SEED}")

    def fresh_disk(self):
        self.disk.unlink(missing_ok=True)
        run("truncate", "-s", f"{DISK_MIB}M", self.disk)
        run("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", self.disk)

    def program(self, *arguments):
        return run(PROGRAM, *arguments, check=False)

    def judge(self, version, durable, again="/again"):
        """What does not hold on the disk that is left, and a line for the table."""
        faults, line = self.on_disk(self.judge_cut, version, durable)
        if version == 0 or faults:
            return faults, line
        guest = Guest(self.image, again, [self.disk])
        try:
            guest.read_until("all done")
        finally:
            guest.cut()
        if "exits 0" not in guest.lines:
            faults.append(f"the next pass fails: {guest.text[-600:]}")
        return faults + self.on_disk(self.judge_end, version), line

    def on_disk(self, judge, *arguments):
        run("mount", "-o", "loop", self.disk, self.data)
        try:
            return judge(*arguments)
        finally:
            run("umount", self.data)

    def judge_cut(self, version, durable):
        life, faults = self.data / "life", []
        state = life / "state"
        before = tree_of(version - 1) if version > 1 else {}
        after = tree_of(version) if version > 0 else {}
        found = read_tree(life / "root") if (life / "root").exists() else {}
        events, head = [], 0
        if durable or (state / "journal/data.mdb").exists():
            verified = self.program("journal", "verify", "--state", state)
            if verified.returncode != 0:
                faults.append(f"journal verify exits {verified.returncode}: {verified.stdout[-300:]}{verified.stderr[-300:]}")
            listed = self.program("journal", "list", "--state", state, "--json")
            events = [json.loads(line) for line in listed.stdout.splitlines()] if listed.returncode == 0 else []
            head = events[-1]["seq"] if events else 0
        if durable:
            faults += self.judge_durable(state, durable[-1])
        claims = self.claims(events, version)
        for path in sorted(set(before) | set(after)):
            now = found.get(path)
            if now not in (before.get(path), after.get(path)):
                faults.append(f"{path}: neither the old nor the new: {shown(now)}")
            if now != before.get(path) and path not in claims["announced"]:
                faults.append(f"{path}: it was changed, and no announcement is there")
            if path in claims["done"] and now != after.get(path):
                faults.append(f"{path}: claimed to be done, and there is {shown(now)}")
            if claims["finished"] >= version and now != after.get(path):
                faults.append(f"{path}: the pass is recorded as finished, and there is {shown(now)}")
        changing = [path for path in set(before) | set(after) if before.get(path) != after.get(path)]
        share = f"{sum(found.get(path) == after.get(path) for path in changing)}/{len(changing)}"
        if claims["finished"] < version - 1:
            faults.append(f"{claims['finished']} passes are recorded as finished, and {version - 1} had ended")
        if version > 0 and not ((life / "order").exists() and (life / "fleet/base/resources.yaml").exists()):
            faults.append("what the guest had synced before the pass is not there")
        line = f"pass {version}, {share} names new; said durable {durable[-1][0] if durable else 0}, head {head}"
        return faults, line

    def judge_durable(self, state, last):
        """The last record that was said to be durable, with its hash, which covers all before it."""
        seq, digest = last
        export = self.scratch / "export"
        export.unlink(missing_ok=True)
        made = self.program("journal", "export", export, "--state", state, "--to", str(seq))
        if made.returncode != 0:
            return [f"record {seq} was said to be durable: {made.stderr.strip()}"]
        verified = self.program("journal", "verify", "--journal", export, "--json")
        found = json.loads(verified.stdout).get("hash") if verified.stdout else None
        return [] if found == digest else [f"record {seq} is not the one that was said to be durable"]

    @staticmethod
    def claims(events, version):
        """What the journal says of the pass of this version, and how many passes it says to have finished."""
        claims, started = {"announced": set(), "done": set(), "finished": 0}, 0
        for event in events:
            body, kind = event["event"], event["kind"]
            if kind == "passStarted":
                claims["announced"], claims["done"], started = set(), set(), started + 1
            elif kind == "passFinished":
                claims["finished"] += 1
            elif kind == "actionsAnnounced":
                claims["announced"] |= {action["target"].lstrip("/") for action in body["actions"]}
            elif kind == "actionSucceeded":
                claims["done"].add(body["target"].lstrip("/"))
        if started < version:  # it had not begun: what is there is about the one before
            claims["announced"], claims["done"] = set(), set()
        return claims

    def judge_end(self, version):
        """After the next pass: exactly what is declared, and a sound journal."""
        life, after, faults = self.data / "life", tree_of(version), []
        found = read_tree(life / "root")
        for path in sorted(set(found) | set(after)):
            if found.get(path) != after.get(path):
                faults.append(f"{path}: after the next pass there is {shown(found.get(path))}")
        verified = self.program("journal", "verify", "--state", life / "state")
        return faults + ([] if verified.returncode == 0 else [f"afterwards verify exits {verified.returncode}"])

    def test_cuts(self):
        """power: after every cut in a pass the store opens, lacks nothing that was said, claims nothing false, and converges"""
        faults, pass_s = [], 3.0
        for number in range(CUTS):
            self.fresh_disk()
            guest = Guest(self.image, "/passes", [self.disk])
            try:
                if number == 0:  # one pass to its end, to know how long it takes
                    guest.read_until("begin 1")
                    began = time.monotonic()
                    guest.read_until("end 1")
                    pass_s = time.monotonic() - began
                target = self.chance.randrange(2 if number == 0 else 1, 4)
                guest.read_until(f"begin {target}")
                moment = self.chance.uniform(0, 1.1 * pass_s)
                guest.read_for(moment, f"end {target}")
            finally:
                guest.cut()
            wrong, line = self.judge(guest.version(), guest.durable())
            print(f"# cut {number + 1:2}: {moment * 1000:5.0f} ms after the begin of pass {target}: {line}: "
                  f"{'holds' if not wrong else wrong[0]}", flush=True)
            faults += [f"cut {number + 1}: {fault}" for fault in wrong]
        self.assertEqual(faults, [])

    def test_every_write(self):
        """power: a disk that has any first part of all writes, in the order in which they became durable, is as good"""
        self.fresh_disk()
        log = self.scratch / "log.img"
        base = self.scratch / "base.img"
        shutil.copy(self.disk, base)
        run("truncate", "-s", "1G", log)
        guest = Guest(self.image, "/passes", [self.disk, log])
        try:
            guest.read_until("end 3", limit_s=5 * BOOT_LIMIT_S)
        finally:
            guest.cut()
        self.assertNotIn("no mapping", guest.lines)
        entries, faults = read_log(log), []
        self.assertGreater(len(entries), 100)
        for number in range(REPLAYS):
            count = len(entries) if number == 0 else self.chance.randrange(1, len(entries))
            marks = replay(log, entries[:count], base, self.disk)
            words = [mark.split(":") for mark in marks]
            begun = [int(word[1]) for word in words if word[0] == "begin"]
            durable = [(int(word[0]), word[1]) for word in words if word[0].isdigit()]
            wrong, line = self.judge(max(begun, default=0), durable, "/again-mapped")
            print(f"# first {count:5} of {len(entries)} writes: {line}: {'holds' if not wrong else wrong[0]}", flush=True)
            faults += [f"{count} writes: {fault}" for fault in wrong]
        self.assertEqual(faults, [])


FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
LOG_MAGIC = 0x6A736677736872


def read_log(path):
    """Entries of a dm-log-writes device: (flags, first byte on the disk, length, where its data lies in the log)."""
    entries = []
    with open(path, "rb") as log:
        magic, _version, count, sector = struct.unpack("<QQQI", log.read(28))
        if magic != LOG_MAGIC:
            raise AssertionError("nothing was logged")
        at = sector
        for _ in range(count):
            log.seek(at)
            first, length, flags, data = struct.unpack("<QQQQ", log.read(32))
            if flags & MARK:
                entries.append((flags, 0, data, at + 32))
                at += sector
            elif flags & DISCARD:
                at += sector
            else:
                entries.append((flags, first * sector, length * sector, at + sector))
                at += sector * (1 + length)
    return entries


def replay(log_path, entries, base, disk):
    """The disk as it is after these writes; the marks among them."""
    shutil.copy(base, disk)
    marks = []
    with open(log_path, "rb") as log, open(disk, "r+b") as image:
        for flags, first, length, data in entries:
            log.seek(data)
            body = log.read(length)
            if flags & MARK:
                marks.append(body.rstrip(b"\0").decode("utf-8", "replace"))
            else:
                image.seek(first)
                image.write(body)
    return marks


if __name__ == "__main__":
    tap.main()
