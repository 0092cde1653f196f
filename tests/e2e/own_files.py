#!/usr/bin/env python3
# test: short root
"""Datum's own files are never managed, on whatever way a document reaches them: links, mounts of the store or of a
part of it, other names of its files, purges around it, another --root."""

import os
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

BODY = "not Datum's\n"
CASES = {"tried": 0}


class OwnFiles(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root
        # The store lies below the root, as on a live machine, and has a record and a blob.
        self.state = self.root / "var/lib/datum"
        self.state.parent.mkdir(parents=True)
        (self.root / "etc").mkdir()
        (self.root / "etc/changed").write_text("old\n")
        self.bench.declare(fleet.file("c", "/etc/changed", "new\n" * 200))
        self.assertEqual(self.pass_(), 0)
        self.journal = next(self.state.rglob("data.mdb"))

    def pass_(self, *arguments, verb="reconcile", **options):
        mode = ["--mode", "enforce"] if verb == "reconcile" else []
        self.done = self.bench.run(verb, *mode, *arguments, state=self.state, **options)
        return self.done.code

    def listing(self):
        """Inodes, modes and owners of the store's files, and the bytes of those that no pass appends to."""
        seen = {}
        for path in [self.state, *sorted(self.state.rglob("*"))]:
            found = os.lstat(path)
            appended = path.name in ("data.mdb", "lock.mdb", "clean") or "blobs" in path.parts
            body = path.read_bytes() if path.is_file() and not appended else None
            if body is not None and body.strip().isdigit():
                body = None  # who holds the lock
            if "blobs" not in path.parts and path.name != "clean":
                seen[str(path)] = (found.st_ino, found.st_mode, found.st_uid, body)
        return seen

    def check_untouched(self, *resources, before=(), codes=(2, 4)):
        """Neither what is declared nor its removal touches the store, and the journal stays sound."""
        self.bench.declare(*resources)
        listed = self.listing()
        for verb in ("observe", "reconcile", "reconcile"):
            CASES["tried"] += 1
            code = self.pass_("--json", "--allow-removals", "100", verb=verb, before=before) if verb == "reconcile" else \
                self.pass_("--json", verb=verb, before=before)
            self.assertIn(code, codes, self.done.text)
            self.assertEqual(self.listing(), listed, verb)
        verified = fleet.datum("journal", "verify", "--state", self.state)
        self.assertEqual(verified.code, 0, verified.text)

    def in_namespace(self, script):
        """The command in a mount namespace of its own, after `script`, which knows $r (root) and $s (store)."""
        return ["unshare", "-m", "sh", "-ec", f'r="$1"; s="$2"; shift 2; {script}; exec "$@"', "sh", str(self.root),
                str(self.state)]

    def mutations(self, path):
        """Everything that a document can say about a file there."""
        yield fleet.file("x", path, BODY)
        yield fleet.file("x", path, BODY, replace="inPlace")
        yield fleet.file("x", path, BODY, hardLinks="inPlace")
        yield fleet.file("x", path, BODY, hardLinks="break", mode="0666")
        yield fleet.file("x", path, mode="0666", owner="1234", hardLinks="inPlace")
        yield fleet.file("x", path, state="absent")
        yield fleet.symlink("x", path, "/etc/passwd")

    def test_by_name(self):
        """own files: by their own name every document is refused, or leaves them alone"""
        for inside in ("", "/journal/data.mdb", "/blobs"):
            path = f"/var/lib/datum{inside}"
            for resource in self.mutations(path):
                with self.subTest(path=path, desired=resource.desired):
                    self.check_untouched(resource, codes=(1, 2, 4))

    def test_link(self):
        """own files: through a link of root's that leads into the store"""
        os.symlink("var/lib", self.root / "way")
        os.symlink("var/lib/datum/" + self.journal.relative_to(self.state).parts[0], self.root / "inner")
        for path in ("/way/datum/" + str(self.journal.relative_to(self.state)), "/inner/data.mdb"):
            for resource in self.mutations(path):
                with self.subTest(path=path, desired=resource.desired):
                    self.check_untouched(resource)

    def test_bind_mounts(self):
        """own files: a mount of the store, of a folder in it, of one above it or of a single file elsewhere"""
        inner = self.journal.relative_to(self.state)
        (self.root / "srv").mkdir()
        (self.root / "one").write_text("")
        ways = {
            'mount --bind "$s" "$r/srv"': f"/srv/{inner}",
            f'mount --bind "$s/{inner.parent}" "$r/srv"': f"/srv/{inner.name}",
            'mount --bind "$r/var" "$r/srv"': f"/srv/lib/datum/{inner}",
            'mount --bind "$s/blobs" "$r/srv"': "/srv/new",
            f'mount --bind "$s/{inner}" "$r/one"': "/one",
        }
        for script, path in ways.items():
            for resource in self.mutations(path):
                with self.subTest(script=script, desired=resource.desired):
                    # A file that is absent anyway has nothing to refuse.
                    self.check_untouched(resource, before=self.in_namespace(script), codes=(2, 4))

    def test_folder_under_bind_mount(self):
        """own files: a folder of the store under another mount is neither purged nor given away"""
        (self.root / "srv").mkdir()
        inner = self.journal.relative_to(self.state).parent
        for script in ('mount --bind "$s" "$r/srv"', f'mount --bind "$s/{inner}" "$r/srv"'):
            with self.subTest(script=script):
                self.check_untouched(fleet.directory("x", "/srv", purge=True, purgeDirectories=True, mode="0777", owner="1234"),
                                     before=self.in_namespace(script))

    def test_hard_link(self):
        """own files: another name of the journal, of a blob or of a configuration file"""
        (self.root / "etc/datum").mkdir()
        (self.root / "etc/datum/agent.yaml").write_text("host: h1\n")
        blob = next(path for path in (self.state / "blobs").rglob("*") if path.is_file())
        for number, own in enumerate((self.journal, blob, self.root / "etc/datum/agent.yaml")):
            name = self.root / f"name{number}"
            os.link(own, name)
            body, mode = own.read_bytes() if own != self.journal else None, own.stat().st_mode
            for resource in self.mutations(f"/name{number}"):
                with self.subTest(own=own.name, desired=resource.desired):
                    self.check_untouched(resource)
                    self.assertEqual(name.stat().st_ino, own.stat().st_ino)
                    self.assertEqual(own.stat().st_mode, mode)
                    if body is not None:
                        self.assertEqual(own.read_bytes(), body)

    def test_program(self):
        """own files: the program itself, and another name of it"""
        program = self.root / "usr/bin/datum"
        program.parent.mkdir(parents=True)
        program.write_bytes(pathlib.Path(fleet.DATUM).read_bytes())
        program.chmod(0o755)
        os.link(program, self.root / "tool")
        before = program.read_bytes()
        original, fleet.DATUM = fleet.DATUM, str(program)
        try:
            for path in ("/usr/bin/datum", "/tool"):
                for resource in self.mutations(path):
                    with self.subTest(path=path, desired=resource.desired):
                        self.check_untouched(resource, codes=(1, 2, 4))
                        self.assertEqual(program.read_bytes(), before)
                        self.assertEqual(program.stat().st_mode & 0o7777, 0o755)
        finally:
            fleet.DATUM = original

    def test_purge_around(self):
        """own files: a purge of every folder above removes all but the way to the store"""
        for path in ("/var/lib", "/var", "/etc"):
            with self.subTest(path=path):
                (self.root / path.lstrip("/") / "foreign").write_text("x\n")
                self.bench.declare(fleet.directory("x", path, purge=True, purgeDirectories=True))
                listed = self.listing()
                code = self.pass_("--allow-removals", "100")
                self.assertIn(code, (1, 2, 4) if path != "/etc" else (0, 1, 2, 4), self.done.text)
                self.assertEqual(self.listing(), listed)
                CASES["tried"] += 1

    def test_another_root(self):
        """own files: a store outside of the root, and a root inside of the store"""
        outside = self.bench.scratch / "outside"
        self.bench.declare(fleet.file("f", "/f", BODY))
        self.assertEqual(self.bench.enforce(state=outside).code, 0)
        listed = sorted(str(path) for path in outside.rglob("*"))
        done = fleet.datum("reconcile", "--mode", "enforce", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root",
                           str(outside), "--state", str(self.bench.scratch / "third"))
        CASES["tried"] += 1
        # That store is not this pass's own; the one that is, lies elsewhere. It is a tree like others.
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(sorted(set(listed) - {str(path) for path in outside.rglob("*")}), [])
        inside = fleet.datum("reconcile", "--mode", "enforce", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root",
                             str(outside), "--state", str(outside))
        self.assertNotEqual(inside.code, 0, inside.text)

    @classmethod
    def tearDownClass(cls):
        print(f"# own files: {CASES['tried']} passes, violations 0 where all cases above are ok")


if __name__ == "__main__":
    tap.main()
