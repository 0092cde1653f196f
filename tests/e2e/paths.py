#!/usr/bin/env python3
# test: short root
"""Names and ways: odd names, planted links, mounts, other people's folders, running programs, lent identities."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

USER = 1234  # somebody without rights here, and without an account


def is_found(run, reference):
    """The line of a `--json` report about this resource."""
    return next((line for line in run.lines if line.get("reference") == reference), None)


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root

    def converge(self, *resources):
        self.bench.declare(*resources)
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        return done

    def check_idempotent(self):
        before, records = fleet.listing(self.root), len(self.bench.events())
        again = self.bench.enforce()
        self.assertEqual(again.code, 0, again.text)
        self.assertEqual(before, fleet.listing(self.root))
        self.assertLessEqual(len(self.bench.events()) - records, 4)


class OddNames(Case):
    NAMES = ["a=b", " a b ", "-rf", "--", "*", "$(id)", "`id`", "a'b\"c", "back\\slash", "#hash", "a:b", "%s%n", "~",
             "é", "日本", "x" * 253, "y" * 247 + "ééé", ".hidden", "...", "[a]", "{b}", "a;b|c&d", "key: value"]

    def test_declared(self):
        """odd names: each is created, corrected, shown and removed as bytes, no shell and no option [F18]"""
        resources = [fleet.file(f"n{number}", f"/{name}", f"{number}\n") for number, name in enumerate(self.NAMES)]
        kept = fleet.file("kept", "/kept", "kept\n")
        self.converge(kept, *resources)
        self.assertEqual(sorted(os.listdir(self.root)), sorted([*self.NAMES, "kept"]))
        for name in self.NAMES:
            (self.root / name).write_text("by hand\n")
        observed = self.bench.observe("--json")
        self.assertEqual({line["target"] for line in observed.lines if "target" in line}, {f"/{n}" for n in self.NAMES})
        self.converge(kept, *resources)
        self.assertEqual([(self.root / name).read_text() for name in self.NAMES],
                         [f"{number}\n" for number in range(len(self.NAMES))])
        listed = self.bench.owned()
        self.assertLessEqual({f"/{name}" for name in self.NAMES}, set(listed))
        self.bench.declare(kept)
        self.assertEqual(self.bench.enforce("--allow-removals", "100").code, 0)
        self.assertEqual(os.listdir(self.root), ["kept"])

    def test_directories_and_links(self):
        """odd names: folders and links take them too, a link's text is taken literally [F18]"""
        self.converge(*[resource for number, name in enumerate(self.NAMES) for resource in (
            fleet.directory(f"d{number}", f"/d-{name}"), fleet.symlink(f"l{number}", f"/d-{name}/l", name))])
        for name in self.NAMES:
            self.assertEqual(os.readlink(self.root / f"d-{name}/l"), name)
        self.check_idempotent()

    def test_foreign(self):
        """odd names: foreign ones under purge, newline and bad UTF-8 among them, are listed and removed [F18]"""
        self.bench.declare(fleet.directory("d", "/d", purge=True))
        (self.root / "d").mkdir()
        names = [b"new\nline", b"bad\xff\xfeutf8", b"\x1b[31mred", b"-rf", b"tab\there", b"z" * 255, b"\xff" * 255, b" ",
                 "e\u0301".encode(), b"\x01\x7f"]
        for name in names:
            with open(os.path.join(os.fsencode(self.root), b"d", name), "w", encoding="utf-8") as opened:
                opened.write("foreign\n")
        for form in ([], ["--json"]):
            observed = self.bench.observe(*form)
            self.assertEqual(observed.code, 2, observed.text)
            observed.out.encode("utf-8")  # fails on what was no UTF-8
            self.assertNotIn("\x1b", observed.out)
        self.assertEqual(len(is_found(observed, "Directory[d]")["notDeclared"]), len(names))
        done = self.bench.enforce("--json")
        done.out.encode("utf-8")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(os.listdir(self.root / "d"), [])
        for form in ([], ["--json"]):
            listed = fleet.datum("journal", "list", "--state", self.bench.state, *form)
            self.assertEqual(listed.code, 0, listed.text)
            listed.out.encode("utf-8")
            self.assertNotIn("\x1b", listed.out)

    def test_foreign_link_text(self):
        """odd names: a link whose text is no UTF-8 is seen, shown escaped and corrected"""
        os.symlink(b"bad\xff\n\x1b[31m", os.fsencode(self.root / "l"))
        self.bench.declare(fleet.symlink("l", "/l", "good"))
        for form in ([], ["--json"]):
            observed = self.bench.observe(*form)
            self.assertEqual(observed.code, 2)
            observed.out.encode("utf-8")
            self.assertNotIn("\x1b", observed.out)
        self.converge(fleet.symlink("l", "/l", "good"))
        self.assertEqual(os.readlink(self.root / "l"), "good")

    def test_too_long(self):
        """odd names: a name of 255 bytes works, with a temp name beside it, and one of 256 is refused by name [F18]"""
        self.converge(fleet.file("f", "/" + "n" * 255, "one\n"))
        self.converge(fleet.file("f", "/" + "n" * 255, "two\n"))
        self.assertEqual((self.root / ("n" * 255)).read_text(), "two\n")
        self.bench.declare(fleet.file("f", "/" + "n" * 255, "two\n"), fleet.file("g", "/" + "n" * 256, "x\n"))
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("at most 255 bytes", done.err)
        self.assertEqual(os.listdir(self.root), ["n" * 255])

    def test_refused(self):
        """odd names: what documents forbid is refused with its place, and nothing is made"""
        for path in ("/a\nb", "/a\x01", "/a//b", "/a/../b", "/a/", "a", "/" + "x/" * 2048 + "x", "/e\u0301", "/a\u202eb", ""):
            with self.subTest(path=path):
                self.bench.declare(fleet.file("f", path, "x\n"))
                done = self.bench.enforce()
                self.assertEqual(done.code, 1, done.text)
                self.assertRegex(done.err, r"resources\.yaml:\d+:\d+")
                self.assertEqual(os.listdir(self.root), [])


class PlantedLinks(Case):
    def setUp(self):
        super().setUp()
        (self.root / "etc").mkdir()
        (self.root / "etc/passwd").write_text(f"root:x:0:0::/root:/bin/sh\nuser:x:{USER}:{USER}::/home/user:/bin/sh\n")
        (self.root / "etc/group").write_text(f"root:x:0:\nuser:x:{USER}:\n")
        home = self.root / "home/user"
        home.mkdir(parents=True)
        os.chown(home, USER, USER)

    def check_outside_unchanged(self, *resources, code=4):
        before = fleet.listing(self.root)
        self.bench.declare(*resources)
        for run in (self.bench.observe("--json"), self.bench.enforce("--json")):
            self.assertEqual(run.code, code, run.text)
        after = fleet.listing(self.root)
        self.assertEqual(before, after)
        return run

    def test_middle_component(self):
        """links: one that a user planted in the middle of a path is refused by name, its target unchanged [S01] [S05]"""
        os.symlink("/etc", self.root / "home/user/conf")
        os.lchown(self.root / "home/user/conf", USER, USER)
        run = self.check_outside_unchanged(fleet.file("f", "/home/user/conf/passwd", "pwned\n", owner="0", mode="0666"))
        for told in (self.bench.observe("--json"), run):
            reason = is_found(told, "File[f]")["reason"]
            self.assertIn("conf", reason)
            self.assertIn(str(USER), reason)
        self.assertIn("File[f]", self.bench.enforce().out)

    def test_middle_component_inside_home(self):
        """links: one in a user's folder is refused even when it leads to the user's own"""
        (self.root / "home/user/real").mkdir()
        os.symlink("real", self.root / "home/user/conf")
        self.check_outside_unchanged(fleet.file("f", "/home/user/conf/f", "x\n"))

    def test_dot_dot_link(self):
        """links: one that leads out of the root stays inside it"""
        outside = self.bench.scratch / "outside"
        outside.mkdir()
        os.symlink("../../../../../../../.." + str(outside), self.root / "way")
        os.symlink(str(outside), self.root / "absolute")
        self.bench.declare(fleet.file("f", "/way/f", "x\n"), fleet.file("g", "/absolute/g", "x\n"))
        self.bench.enforce()
        self.assertEqual(os.listdir(outside), [])

    def test_trusted_link(self):
        """links: root's own links in root's own folders are followed, as a merged /usr needs"""
        (self.root / "usr/bin").mkdir(parents=True)
        os.symlink("usr/bin", self.root / "bin")
        self.converge(fleet.file("f", "/bin/tool", "#!/bin/sh\n", mode="0755"))
        self.assertEqual((self.root / "usr/bin/tool").read_text(), "#!/bin/sh\n")
        self.assertTrue((self.root / "bin").is_symlink())
        self.check_idempotent()

    def test_same_place_twice(self):
        """links: two resources that reach one place on two ways are both left alone, by name"""
        (self.root / "usr/bin").mkdir(parents=True)
        os.symlink("usr/bin", self.root / "bin")
        self.bench.declare(fleet.file("f", "/bin/tool", "one\n"), fleet.file("g", "/usr/bin/tool", "two\n"))
        for _ in range(2):
            done = self.bench.enforce("--json")
            self.assertEqual(done.code, 4, done.text)
        self.assertEqual(os.listdir(self.root / "usr/bin"), [])
        observed = self.bench.observe("--json")
        self.assertIn("File[g]", is_found(observed, "File[f]")["reason"])
        self.assertIn("File[f]", is_found(observed, "File[g]")["reason"])

    def test_purge_through_a_link(self):
        """purge: what another resource declares on another way to the same folder stays [F27]"""
        (self.root / "srv/real").mkdir(parents=True)
        os.symlink("srv/real", self.root / "alias")
        self.converge(fleet.directory("d", "/srv/real", purge=True), fleet.file("f", "/alias/one", "one\n"))
        (self.root / "srv/real/two").write_text("foreign\n")
        self.converge(fleet.directory("d", "/srv/real", purge=True), fleet.file("f", "/alias/one", "one\n"))
        self.assertEqual(os.listdir(self.root / "srv/real"), ["one"])

    def test_swapped_for_a_link(self):
        """links: a managed folder or file that was swapped for a link keeps its hands off the link's target [S03]"""
        victim = self.root / "etc/passwd"
        managed = [fleet.directory("d", "/srv", owner="0", mode="0700"), fleet.file("m", "/motd", owner="0", mode="0600")]
        (self.root / "motd").write_text("hello\n")
        self.converge(*managed)
        os.chown(victim, USER, USER)
        (self.root / "srv").rmdir()
        (self.root / "motd").unlink()
        os.symlink("etc/passwd", self.root / "srv")
        os.symlink("etc/passwd", self.root / "motd")
        before = fleet.entry(victim)
        observed = self.bench.observe("--json")
        self.assertEqual(fleet.drifts(observed), {"Directory[d]": ["type"], "File[m]": ["type"]})
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(before, fleet.entry(victim))

    def test_authorized_keys(self):
        """links: authorized_keys and .ssh as links of the user never lead root's hand elsewhere [S06]"""
        keys = fleet.file("keys", "/home/user/.ssh/authorized_keys", "ssh-ed25519 AAAA\n", owner="user", mode="0600")
        before = fleet.entry(self.root / "etc/passwd")
        os.symlink("/etc", self.root / "home/user/.ssh")
        os.lchown(self.root / "home/user/.ssh", USER, USER)
        self.check_outside_unchanged(keys)
        (self.root / "home/user/.ssh").unlink()
        (self.root / "home/user/.ssh").mkdir(mode=0o700)
        os.symlink("/etc/passwd", self.root / "home/user/.ssh/authorized_keys")
        for path in ("home/user/.ssh", "home/user/.ssh/authorized_keys"):
            os.lchown(self.root / path, USER, USER)
        self.converge(keys)
        self.assertEqual(before, fleet.entry(self.root / "etc/passwd"))
        made = self.root / "home/user/.ssh/authorized_keys"
        self.assertFalse(made.is_symlink())
        self.assertEqual((made.read_text(), made.stat().st_uid, made.stat().st_mode & 0o7777),
                         ("ssh-ed25519 AAAA\n", USER, 0o600))

    def test_unknown_owner_is_shown(self):
        """owner: a number without an account is shown beside the declared name [F33]"""
        (self.root / "f").write_text("x\n")
        os.chown(self.root / "f", 7779, 0)
        self.bench.declare(fleet.file("f", "/f", "x\n", owner="user"))
        observed = self.bench.observe()
        self.assertEqual(observed.code, 2)
        self.assertIn("7779 -> user", observed.out)
        self.converge(fleet.file("f", "/f", "x\n", owner="user"))
        self.assertEqual((self.root / "f").stat().st_uid, USER)

    def test_unknown_declared_owner(self):
        """owner: a declared name that nobody has fails that file by name, and nothing of it is made"""
        self.bench.declare(fleet.file("f", "/f", "x\n", owner="nobody-here"), fleet.file("g", "/g", "x\n"))
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("nobody-here", done.text)
        self.assertEqual((self.root / "g").read_text(), "x\n")
        self.assertFalse((self.root / "f").exists())
        self.assertEqual(fleet.leftovers(self.root), [])

    def test_own_store(self):
        """own files: the store under another way is never touched, whatever is declared"""
        state = self.root / "data"
        os.symlink("data", self.root / "alias")
        self.bench.declare(fleet.file("f", "/alias/journal/data.mdb", state="absent"),
                           fleet.directory("d", "/data", purge=True, purgeDirectories=True, mode="0777"))
        self.assertNotEqual(self.bench.observe(state=state).code, 1)
        names = sorted(os.listdir(state))
        done = self.bench.enforce(state=state)
        self.assertNotEqual(done.code, 0, done.text)
        self.assertEqual(sorted(os.listdir(state)), names)
        self.assertEqual(state.stat().st_mode & 0o7777, 0o700)
        verified = fleet.datum("journal", "verify", "--state", state)
        self.assertEqual(verified.code, 0, verified.text)


class Mounts(Case):
    def in_namespace(self, script, *arguments):
        return self.bench.enforce(*arguments, before=["unshare", "-m", "sh", "-c", script + ' && shift && exec "$@"', "sh",
                                                      str(self.root)])

    def setUp(self):
        super().setUp()
        (self.root / "hosts").write_text("old\n")
        (self.root / "source").write_text("of the container\n")

    def test_bind_mounted_file(self):
        """mounts: a file that is a mount point fails by name, bytes intact, nothing left behind [F01]"""
        self.bench.declare(fleet.file("h", "/hosts", "new\n"))
        done = self.in_namespace('mount --bind "$1/source" "$1/hosts"', "--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("mount point", done.out)
        self.assertEqual(((self.root / "hosts").read_text(), (self.root / "source").read_text()),
                         ("old\n", "of the container\n"))
        self.assertEqual(sorted(os.listdir(self.root)), ["hosts", "source"])

    def test_bind_mounted_file_in_place(self):
        """mounts: with inPlace it is written into, recorded as not atomic, and then there is nothing to do [F01]"""
        self.bench.declare(fleet.file("h", "/hosts", "new\n", replace="inPlace"))
        done = self.in_namespace('mount --bind "$1/source" "$1/hosts"')
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(((self.root / "hosts").read_text(), (self.root / "source").read_text()), ("old\n", "new\n"))
        ended = self.bench.events("--kind", "actionSucceeded")[-1]["event"]
        self.assertFalse(ended["atomic"])
        records = len(self.bench.events())
        again = self.in_namespace('mount --bind "$1/source" "$1/hosts"')
        self.assertEqual(again.code, 0, again.text)
        self.assertLessEqual(len(self.bench.events()) - records, 4)

    def test_absent_mount_point(self):
        """mounts: an absent file that is a mount point fails by name and stays"""
        self.bench.declare(fleet.file("h", "/hosts", state="absent"))
        done = self.in_namespace('mount --bind "$1/source" "$1/hosts"', "--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertTrue((self.root / "hosts").exists())

    def test_folder_on_another_file_system(self):
        """mounts: a folder on another file system is staged there, no copy across [F15]"""
        (self.root / "other").mkdir()
        self.bench.declare(fleet.file("f", "/other/f", "x\n"), fleet.file("g", "/g", "y\n"))
        script = 'mount -t tmpfs -o size=64m none "$1/other"'
        done = self.bench.enforce(before=[
            "unshare", "-m", "sh", "-c", script + ' && r="$1" && shift && "$@"; c=$?; cat "$r/other/f"; exit $c', "sh",
            str(self.root)])
        self.assertEqual(done.out.splitlines()[-1], "x", done.text)


    def test_full_file_system(self):
        """mounts: a file system without room fails the files on it by name, the others are done"""
        (self.root / "other").mkdir()
        self.bench.declare(fleet.file("f", "/other/f", "x" * 60_000), fleet.file("g", "/g", "y\n"))
        done = self.in_namespace('mount -t tmpfs -o size=64k none "$1/other"', "--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(fleet.outcomes(done)[("File[f]", "/other/f")]["outcome"], "failed")
        self.assertIn("/other", fleet.outcomes(done)[("File[f]", "/other/f")]["message"])
        self.assertEqual((self.root / "g").read_text(), "y\n")


class Identities(Case):
    def test_setuid_order(self):
        """mode: owner and a setuid mode are there after one pass, and the second plan is empty [F04]"""
        (self.root / "old").write_text("x\n")
        (self.root / "old").chmod(0o755)
        resources = [fleet.file("old", "/old", owner=str(USER), mode="4755", allowPrivileged=True),
                     fleet.file("new", "/new", "x\n", owner=str(USER), group=str(USER), mode="6755", allowPrivileged=True)]
        self.converge(*resources)
        for name, mode in (("old", 0o4755), ("new", 0o6755)):
            seen = (self.root / name).stat()
            self.assertEqual((seen.st_uid, seen.st_mode & 0o7777), (USER, mode))
        self.check_idempotent()

    def test_privileged_changes_stand_first(self):
        """plan: a change that lends an identity stands first and is marked"""
        self.bench.declare(*[fleet.file(f"a{n}", f"/a{n}", "x\n") for n in range(3)],
                           fleet.file("z", "/z", "x\n", mode="4755", allowPrivileged=True))
        planned = self.bench.run("plan")
        self.assertRegex(planned.out.splitlines()[0], r"^!\+.*File\[z\]")

    def test_capability(self):
        """mode: capabilities of a file that a change loses are shown before it happens [F05]"""
        path = self.root / "tool"
        path.write_text("old\n")
        os.setxattr(path, "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
        for fields in ({"content": "new\n"}, {"owner": str(USER)}):
            with self.subTest(fields=fields):
                self.bench.declare(fleet.file("t", "/tool", **fields))
                for verb in ("observe", "plan"):
                    self.assertIn("capabilit", self.bench.run(verb).out, verb)

    def test_capability_kept(self):
        """mode: capabilities of a file survive another mode [F05]"""
        path = self.root / "tool"
        path.write_text("old\n")
        capability = bytes.fromhex("0100000200040000000000000000000000000000")
        os.setxattr(path, "security.capability", capability)
        self.converge(fleet.file("t", "/tool", mode="0750"))
        self.assertEqual(os.getxattr(path, "security.capability"), capability)

    def test_backup_lends_nothing(self):
        """mode: the backup of a program that lent an identity keeps its bytes, owner and other bits, and lends nothing"""
        path = self.root / "tool"
        path.write_text("theirs\n")
        path.chmod(0o6755)
        os.setxattr(path, "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
        self.converge(fleet.file("t", "/tool", "ours\n", mode="0755", onConflict="backup"))
        backup = self.root / "tool.datum-orig"
        self.assertEqual((backup.read_text(), backup.stat().st_mode & 0o7777), ("theirs\n", 0o755))
        self.assertNotIn("security.capability", os.listxattr(backup))

    def test_running_program(self):
        """content: a program that runs is replaced, and goes on with its old bytes [F15]"""
        program = self.root / "run"
        shutil.copy("/bin/sleep", program)
        with subprocess.Popen([str(program), "60"]) as child:
            try:
                self.converge(fleet.file("r", "/run", "#!/bin/sh\n", mode="0755"))
                self.assertIsNone(child.poll())
                self.assertEqual(program.read_text(), "#!/bin/sh\n")
            finally:
                child.kill()

    def test_immutable(self):
        """content: a file that chattr made immutable fails by name and stays as it is"""
        path = self.root / "f"
        path.write_text("old\n")
        if subprocess.run(["chattr", "+i", str(path)], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file attributes on this file system")
        try:
            self.bench.declare(fleet.file("f", "/f", "new\n"), fleet.file("g", "/g", "g\n"))
            done = self.bench.enforce("--json")
            self.assertEqual(done.code, 2, done.text)
            self.assertEqual(path.read_text(), "old\n")
            self.assertEqual(sorted(os.listdir(self.root)), ["f", "g"])
        finally:
            subprocess.run(["chattr", "-i", str(path)], check=True)

    def test_umask(self):
        """mode: what is made does not depend on the caller's umask"""
        self.bench.declare(fleet.directory("d", "/d"), fleet.file("f", "/d/f", "x\n"), fleet.file("m", "/d/m", "x\n", mode="0666"))
        done = self.bench.enforce(umask=0o077)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual([(self.root / name).stat().st_mode & 0o7777 for name in ("d", "d/f", "d/m")], [0o755, 0o644, 0o666])


class Exhaustion(Case):
    def test_holes(self):
        """exhaustion: an owned file that somebody blew up with holes is corrected, or let go, without reading them all"""
        path = self.root / "f"
        self.converge(fleet.file("f", "/f", "declared\n"), fleet.file("g", "/g", "g\n"))
        for size in (1 << 43, (1 << 43) - 4096):  # eight tebibytes: an hour of reading
            with open(path, "r+b") as opened:
                opened.truncate(size)
            observed = self.bench.observe("--json")
            self.assertEqual(fleet.drifts(observed), {"File[f]": ["content"]})
            self.converge(fleet.file("f", "/f", "declared\n"), fleet.file("g", "/g", "g\n"))
            self.assertEqual(path.read_text(), "declared\n")
        with open(path, "r+b") as opened:
            opened.truncate(1 << 43)
        self.assertEqual(self.bench.owned()["/f"]["now"], "changed")
        self.bench.declare(fleet.file("g", "/g", "g\n"))
        done = self.bench.enforce("--allow-removals", "10", "--json")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(path.stat().st_size, 1 << 43, "changed since: released, not removed")
        self.assertNotIn("/f", self.bench.owned())

    def test_endless(self):
        """exhaustion: a file that says it is empty and does not end makes its resource unknown, and no other"""
        (self.root / "odd").mkdir()  # what stands below /proc itself is refused by the fleet
        self.bench.declare(fleet.file("k", "/odd/kmsg", "x\n"), fleet.file("p", "/odd/kcore", "x\n"),
                           fleet.file("g", "/g", "g\n"))
        done = self.bench.observe("--json", before=["unshare", "-m", "sh", "-ec", 'mount -t proc none "$1/odd"; shift; exec "$@"',
                                                    "sh", str(self.root)])
        self.assertIn(done.code, (2, 4), done.text)
        self.assertIn("File[g]", fleet.drifts(done))


class Attributes(Case):
    LABEL = b"system_u:object_r:etc_t:s0\0"
    CARRIED = {"trusted.datum-test": b"\x00root's own\xff", "security.selinux": LABEL, "security.SMACK64": b"label",
               "user.note": b"somebody's", "user.empty": b""}
    STAYING = {"trusted.overlay.opaque": b"y"}  # what an overlay notes of that very inode
    CAPABILITY = bytes.fromhex("0100000200040000000000000000000000000000")

    def prepare(self, name):
        path = self.root / name
        path.write_text("old\n")
        path.chmod(0o644)
        for attribute, value in {**self.CARRIED, **self.STAYING, "security.capability": self.CAPABILITY}.items():
            try:
                os.setxattr(path, attribute, value)
            except OSError:
                self.skipTest(f"{attribute} cannot be set here")
        return path

    def attributes(self, path):
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}

    def test_carried(self):
        """attributes: labels, trusted and user ones go with a replaced file, capabilities only with its bytes [F02] [F05]"""
        cases = 0
        for name, fields, keeps_capability in (
                ("content", {"content": "new\n"}, False), ("mode", {"content": "old\n", "mode": "0600"}, True),
                ("both", {"content": "new\n", "mode": "0755", "owner": "0"}, False), ("owner", {"owner": str(USER)}, False),
                ("place", {"content": "new\n", "replace": "inPlace"}, False),
                ("backup", {"content": "new\n", "onConflict": "backup"}, False)):
            with self.subTest(name=name):
                path = self.prepare(name)
                self.bench.declare(fleet.file("x", f"/{name}", **fields))
                done = self.bench.enforce("--json")
                self.assertEqual(done.code, 0, done.text)
                seen = self.attributes(path)
                in_place = "content" not in fields or fields["content"] == "old\n" or "replace" in fields
                wanted = {**self.CARRIED, **(self.STAYING if in_place else {}),
                          **({"security.capability": self.CAPABILITY} if keeps_capability else {})}
                self.assertEqual(seen, wanted)
                self.check_idempotent()
                cases += 1
        backup = self.attributes(self.root / "backup.datum-orig")
        self.assertEqual({name: backup.get(name) for name in self.CARRIED}, self.CARRIED)
        print(f"# attributes: {cases} cases, violations 0")

    def test_broken_hard_link(self):
        """attributes: a hard link that is broken keeps them on both sides, its capabilities too [F02] [F06]"""
        path = self.prepare("link")
        os.link(path, self.root / "other")
        before = fleet.entry(self.root / "other")
        self.converge(fleet.file("x", "/link", "old\n", mode="0644", hardLinks="break"))
        self.assertEqual(self.attributes(path), {**self.CARRIED, **self.STAYING, "security.capability": self.CAPABILITY})
        self.assertEqual(fleet.entry(self.root / "other"), before)
        self.converge(fleet.file("x", "/link", "old\n", mode="0640", hardLinks="break"))
        self.assertEqual((self.root / "other").stat().st_mode & 0o777, 0o644)
        self.assertEqual({name: value for name, value in self.attributes(path).items() if name in self.CARRIED}, self.CARRIED)


if __name__ == "__main__":
    tap.main()
