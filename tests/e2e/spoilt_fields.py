#!/usr/bin/env python3
# test: short root
"""Each field of File, Directory and Symlink is spoilt by hand: observe names exactly it, and enforce repairs it
or, where documents forbid to replace what is there, fails by name and touches nothing.

All rows live in one root, so that three passes answer them all; every row is a case of its own."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

CONTENT = "as declared\n"
FILE_MODE, FOLDER_MODE = 0o640, 0o750


def put_fifo(path):
    os.mkfifo(path)


def put_socket(path):
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/{path.name}")  # a socket's path is short, a scratch folder's may not be
    os.close(here)


def put_folder(path):
    path.mkdir()
    (path / "inside").write_text("foreign\n")


def put_empty_folder(path):
    path.mkdir()


def put_file(path):
    path.write_text("foreign\n")


def put_link(path):
    (path.parent / f"{path.name}.elsewhere").write_text("not to be touched\n")
    path.symlink_to(f"{path.name}.elsewhere")


def put_link_to_folder(path):
    (path.parent / f"{path.name}.elsewhere").mkdir()
    path.symlink_to(f"{path.name}.elsewhere")


def put_dangling_link(path):
    path.symlink_to("nowhere")


def put_device(path):
    os.mknod(path, 0o644 | 0o020000, os.makedev(1, 3))


def instead(put):
    def spoil(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        put(path)
    return spoil


def remove(path):
    instead(lambda _: None)(path)


def rewrite(path):
    path.write_text("changed by hand\n")


def make_empty(path):
    path.write_text("")


def append(path):
    with open(path, "a", encoding="utf-8") as opened:
        opened.write("one more line\n")


def change_owner(path):
    os.chown(path, 1234, -1)


def change_group(path):
    os.chown(path, -1, 4321)


def widen(path):
    path.chmod(0o755)


def add_setuid(path):
    path.chmod(0o4640)


def change_all(path):
    rewrite(path)
    os.chown(path, 1234, 4321)
    path.chmod(0o600)


def retarget(path):
    path.unlink()
    path.symlink_to("elsewhere")


# type, what is done to it, the fields that observe names, whether enforce repairs it, the case's title
ROWS = {
    "content": ("File", rewrite, ["content"], True, "changed content of a file"),
    "grown": ("File", append, ["content"], True, "a line more in a file"),
    "emptied": ("File", make_empty, ["content"], True, "an emptied file [R06]"),
    "owner": ("File", change_owner, ["owner"], True, "a file's owner without an account [F33]"),
    "group": ("File", change_group, ["group"], True, "a file's group"),
    "mode": ("File", widen, ["mode"], True, "a file's mode"),
    "setuid": ("File", add_setuid, ["mode"], True, "a setuid bit on a file"),
    "all": ("File", change_all, ["content", "group", "mode", "owner"], True, "all fields of a file at once"),
    "missing": ("File", remove, ["state"], True, "a missing file"),
    "file-link": ("File", instead(put_link), ["type"], True, "a symlink in a file's place, whose target stays"),
    "file-dangling": ("File", instead(put_dangling_link), ["type"], True, "a dangling symlink in a file's place"),
    "file-folder": ("File", instead(put_folder), ["type"], False, "a full folder in a file's place [F09]"),
    "file-empty": ("File", instead(put_empty_folder), ["type"], False, "an empty folder in a file's place [F09]"),
    "file-fifo": ("File", instead(put_fifo), ["type"], False, "a named pipe in a file's place"),
    "file-socket": ("File", instead(put_socket), ["type"], False, "a socket in a file's place"),
    "file-device": ("File", instead(put_device), ["type"], False, "a device in a file's place"),
    "d-owner": ("Directory", change_owner, ["owner"], True, "a folder's owner"),
    "d-group": ("Directory", change_group, ["group"], True, "a folder's group"),
    "d-mode": ("Directory", widen, ["mode"], True, "a folder's mode"),
    "d-missing": ("Directory", remove, ["state"], True, "a missing folder"),
    "d-file": ("Directory", instead(put_file), ["type"], False, "a file in a folder's place [F09]"),
    "d-link": ("Directory", instead(put_link_to_folder), ["type"], False, "a symlink in a folder's place [S03]"),
    "d-fifo": ("Directory", instead(put_fifo), ["type"], False, "a named pipe in a folder's place"),
    "d-socket": ("Directory", instead(put_socket), ["type"], False, "a socket in a folder's place"),
    "l-target": ("Symlink", retarget, ["target"], True, "a symlink's target"),
    "l-missing": ("Symlink", remove, ["state"], True, "a missing symlink"),
    "l-file": ("Symlink", instead(put_file), ["type"], False, "a file in a symlink's place"),
    "l-folder": ("Symlink", instead(put_empty_folder), ["type"], False, "a folder in a symlink's place"),
    "l-fifo": ("Symlink", instead(put_fifo), ["type"], False, "a named pipe in a symlink's place"),
}


def declare_row(name):
    kind, path = ROWS[name][0], f"/rows/{name}"
    if kind == "File":
        return fleet.file(name, path, CONTENT, owner="0", group="0", mode="0640")
    if kind == "Directory":
        return fleet.directory(name, path, owner="0", group="0", mode="0750")
    return fleet.symlink(name, path, "declared")


def is_as_declared(path, kind):
    seen = os.lstat(path)
    if kind == "Symlink":
        return os.readlink(path) == "declared"
    if (seen.st_uid, seen.st_gid) != (0, 0):
        return False
    if kind == "Directory":
        return path.is_dir() and not path.is_symlink() and seen.st_mode & 0o7777 == FOLDER_MODE
    return not path.is_symlink() and path.read_text() == CONTENT and seen.st_mode & 0o7777 == FILE_MODE


class SpoiltFields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = bench = fleet.Bench()
        cls.resources = {name: declare_row(name) for name in ROWS}
        bench.declare(fleet.directory("rows", "/rows", mode="0755"), *cls.resources.values())
        created = bench.enforce()
        assert created.code == 0, created.text
        for name, row in ROWS.items():
            row[1](bench.root / "rows" / name)
        cls.before = fleet.listing(bench.root)
        cls.observed = bench.observe("--json")
        cls.enforced = bench.enforce("--json")
        cls.after = fleet.listing(bench.root)
        cls.drifts, cls.outcomes = fleet.drifts(cls.observed), fleet.outcomes(cls.enforced)

    @classmethod
    def tearDownClass(cls):
        cls.bench.close()

    def check(self, name):
        kind, _, fields, repaired, _ = ROWS[name]
        reference, path = f"{kind}[{name}]", f"/rows/{name}"
        self.assertEqual(self.drifts.get(reference), fields)
        outcome = self.outcomes[(reference, path)]
        inside = os.fsencode(f"rows/{name}")
        if repaired:
            self.assertEqual(outcome["outcome"], "done", outcome)
            self.assertTrue(is_as_declared(self.bench.path(path), kind), self.after[inside])
        else:
            self.assertEqual(outcome["outcome"], "failed", outcome)
            self.assertIn("type conflict", f"{outcome['refusal']} {outcome['message']}")
            below = {key: value for key, value in self.before.items() if key == inside or key.startswith(inside + b"/")}
            self.assertEqual(below, {key: self.after.get(key) for key in below})
        elsewhere = inside + b".elsewhere"
        self.assertEqual(self.before.get(elsewhere), self.after.get(elsewhere))

    def test_exit_codes(self):
        """spoilt: observe exits 2, and so does enforce when something may not be replaced"""
        self.assertEqual((self.observed.code, self.enforced.code), (2, 2), self.enforced.text)

    def test_exactly_these(self):
        """spoilt: observe names exactly the resources that were spoilt"""
        self.assertEqual(set(self.drifts), {resource.reference for resource in self.resources.values()})

    def test_nothing_left(self):
        """spoilt: nothing of Datum's own is left below the root, whatever failed"""
        self.assertEqual(fleet.leftovers(self.bench.root), [])

    def test_failures_are_recorded_once(self):
        """spoilt: the same failure again is recorded as a reference to the first"""
        failures = sum(1 for row in ROWS.values() if not row[3])
        self.assertEqual(self.bench.enforce().code, 2)  # its plan is another one: what is repaired left it
        before = len(self.bench.events())
        self.assertEqual(self.bench.enforce().code, 2)
        added = self.bench.events()[before:]
        self.assertLessEqual(len(added), 4 + failures)
        first = {event["event"]["sameAs"] for event in added if event["kind"] == "actionFailed"}
        self.assertEqual(len(first), failures, added)
        self.assertTrue(all(0 < seq <= before for seq in first), first)


def add_rows():
    for name, (_, _, fields, repaired, title) in ROWS.items():
        def case(self, name=name):
            self.check(name)
        end = "repaired" if repaired else "left alone, and fails by name"
        case.__doc__ = f"spoilt: {title} is seen as {' '.join(fields)}, and {end}"
        setattr(SpoiltFields, f"test_row_{name}", case)


class Purge(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)

    def prepare(self, **fields):
        self.bench.declare(fleet.directory("parts", "/parts", purge=True, **fields),
                           fleet.file("one", "/parts/test", CONTENT), fleet.symlink("two", "/parts/link", "test"),
                           fleet.directory("three", "/parts/kept.d"), fleet.file("below", "/parts/kept.d/below", CONTENT),
                           fleet.file("off", "/parts/off", state="absent"))
        created = self.bench.enforce()
        self.assertEqual(created.code, 0, created.text)
        return self.bench.root / "parts"

    def test_removes_what_nobody_declares(self):
        """purge: files, links, pipes and sockets that nobody declares go; everything declared stays [F27] [F28]"""
        parts = self.prepare()
        declared = fleet.listing(parts)
        (parts / "test1").write_text("foreign\n")
        (parts / "tes").write_text("a declared name begins like this one\n")
        (parts / ".hidden").write_text("foreign\n")
        (parts / "foreign-link").symlink_to("kept.d")
        put_fifo(parts / "pipe")
        put_socket(parts / "socket")
        observed = self.bench.observe("--json")
        listed = {line["reference"]: line["notDeclared"] for line in observed.lines if line.get("notDeclared")}
        self.assertEqual(observed.code, 2, observed.text)
        self.assertEqual(list(listed), ["Directory[parts]"])
        names = sorted(entry["name"] for entry in listed["Directory[parts]"])
        self.assertEqual(names, [".hidden", "foreign-link", "pipe", "socket", "tes", "test1"])
        enforced = self.bench.enforce()
        self.assertEqual(enforced.code, 0, enforced.text)
        after = fleet.listing(parts)
        self.assertEqual(set(after), set(declared))
        self.assertEqual({k: v for k, v in after.items() if k != b"."}, {k: v for k, v in declared.items() if k != b"."})

    def test_folders_stay(self):
        """purge: foreign folders are listed and are no drift without purgeDirectories [F30]"""
        parts = self.prepare()
        put_folder(parts / "foreign.d")
        put_empty_folder(parts / "empty.d")
        before = fleet.listing(parts)
        observed = self.bench.observe("--json", "--all")
        self.assertEqual(observed.code, 0, observed.text)
        self.assertIn("foreign.d", observed.out)
        enforced = self.bench.enforce()
        self.assertEqual(enforced.code, 0, enforced.text)
        self.assertEqual(before, fleet.listing(parts))

    def test_full_folder_fails(self):
        """purge: with purgeDirectories empty folders go, and a full one is drift that fails by name [F30]"""
        parts = self.prepare(purgeDirectories=True)
        put_folder(parts / "foreign.d")
        put_empty_folder(parts / "empty.d")
        full = fleet.listing(parts / "foreign.d")
        enforced = self.bench.enforce("--json")
        self.assertEqual(enforced.code, 2, enforced.text)
        failed = fleet.outcomes(enforced)[("Directory[parts]", "/parts/foreign.d")]
        self.assertEqual(failed["outcome"], "failed", failed)
        self.assertFalse((parts / "empty.d").exists())
        self.assertEqual(full, fleet.listing(parts / "foreign.d"))

    def test_mount_is_not_removed(self):
        """purge: a mount point is never removed, and fails by name"""
        parts = self.prepare(purgeDirectories=True)
        (parts / "mounted").mkdir()
        script = 'mount -t tmpfs none "$1" && shift && exec "$@"'
        done = self.bench.enforce("--json", before=["unshare", "-m", "sh", "-c", script, "sh", str(parts / "mounted")])
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(fleet.outcomes(done)[("Directory[parts]", "/parts/mounted")]["outcome"], "failed")
        self.assertTrue((parts / "mounted").is_dir())


class CarriedAlong(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.path = self.bench.root / "f"

    def prepare(self, content="old\n", **fields):
        self.path.write_text(content)
        self.bench.declare(fleet.file("f", "/f", CONTENT, **fields))

    def test_attributes(self):
        """repair: extended attributes, access lists, owner and mode that nobody declares survive new content [F02]"""
        self.prepare()
        os.chown(self.path, 1234, 4321)
        self.path.chmod(0o640)
        os.setxattr(self.path, "user.note", b"kept")
        os.setxattr(self.path, "user.other", b"kept as well")
        subprocess.run(["setfacl", "-m", "u:77:rw,g:78:r", str(self.path)], check=True)
        attributes, before = fleet.entry(self.path)[9], os.lstat(self.path)
        self.assertEqual(len(attributes), 3, attributes)
        enforced = self.bench.enforce()
        self.assertEqual(enforced.code, 0, enforced.text)
        after = os.lstat(self.path)
        self.assertEqual(self.path.read_text(), CONTENT)
        self.assertEqual(fleet.entry(self.path)[9], attributes)
        self.assertEqual((after.st_uid, after.st_gid, after.st_mode), (before.st_uid, before.st_gid, before.st_mode))
        self.assertNotEqual(after.st_ino, before.st_ino)

    def test_folder_attributes(self):
        """repair: a folder's attributes and default access list survive another mode"""
        folder = self.bench.root / "d"
        folder.mkdir()
        os.setxattr(folder, "user.note", b"kept")
        subprocess.run(["setfacl", "-d", "-m", "u:77:rw", str(folder)], check=True)
        names = set(os.listxattr(folder))
        self.bench.declare(fleet.directory("d", "/d", mode="0700"))
        enforced = self.bench.enforce()
        self.assertEqual(enforced.code, 0, enforced.text)
        self.assertEqual(folder.stat().st_mode & 0o7777, 0o700)
        self.assertLessEqual(names, set(os.listxattr(folder)))

    def hard_linked(self, policy):
        self.prepare(**({"hardLinks": policy} if policy else {}))
        os.link(self.path, self.bench.root / "other")
        observed = self.bench.observe()
        self.assertEqual(observed.code, 2)
        self.assertIn("2 names", observed.out)
        return self.bench.enforce("--json")

    def test_hard_link_fails(self):
        """hard link: by default a file with two names is left alone, and fails by name [F06]"""
        before_body = "old\n"
        done = self.hard_linked(None)
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(fleet.outcomes(done)[("File[f]", "/f")]["outcome"], "failed")
        self.assertEqual((self.path.read_text(), (self.bench.root / "other").read_text()), (before_body, before_body))
        self.assertEqual(self.path.stat().st_nlink, 2)

    def test_hard_link_breaks(self):
        """hard link: break gives the declared name its own file, the other keeps the old bytes [F06]"""
        done = self.hard_linked("break")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual((self.path.read_text(), (self.bench.root / "other").read_text()), (CONTENT, "old\n"))

    def test_hard_link_in_place(self):
        """hard link: inPlace writes into the one file of both names [F06]"""
        done = self.hard_linked("inPlace")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual((self.path.read_text(), (self.bench.root / "other").read_text()), (CONTENT, CONTENT))
        self.assertEqual(self.path.stat().st_nlink, 2)

    def test_on_conflict_fail(self):
        """first contact: onConflict fail leaves an unmanaged file alone, and fails by name [F31]"""
        self.prepare(onConflict="fail")
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_on_conflict_backup(self):
        """first contact: onConflict backup keeps the old file under a name that overwrites nothing [F31]"""
        self.prepare(onConflict="backup")
        taken = self.bench.root / "f.datum-orig"
        taken.write_text("taken\n")
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(taken.read_text(), "taken\n")
        bodies = sorted(path.read_text() for path in self.bench.root.iterdir() if path.name.startswith("f.datum-orig"))
        self.assertEqual(bodies, ["old\n", "taken\n"])

    def test_rejected_by_validator(self):
        """validate: content that its validator rejects never goes live [F21]"""
        self.path.write_text("{}\n")
        self.bench.declare(fleet.file("f", "/f", "{ not json\n", validate="json"))
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(before[b"f"], fleet.listing(self.bench.root)[b"f"])
        self.assertEqual(fleet.leftovers(self.bench.root), [])


add_rows()

if __name__ == "__main__":
    tap.main()
