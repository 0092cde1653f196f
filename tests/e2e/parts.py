#!/usr/bin/env python3
# test: short root
"""Hostname, Timezone, AuthorizedKey and Setting under --root, and the running name in namespaces of its own: each field,
each way to spoil it, what observe says of it, what repair and removal do."""

import os
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
SSH, KEYS = "/home/anna/.ssh", "/home/anna/.ssh/authorized_keys"
ANNA = 1234
JSON = '{ "a": {"b": 1,\n   "level": "3" } }\n'
INI = "# app\n[main]\nname = x\nlevel = 3\n; end\n[other]\nlevel = 9\n"


def named(type_, name="x", keys=None, **fields):
    return fleet.Resource(type_, name, fields, keys or {})


def key(**fields):
    return named("AuthorizedKey", user="anna", key=KEY, **fields)


def setting(name="x", **fields):
    return named("Setting", name, **{"path": "/etc/app.ini", "format": "ini", "section": "main", "key": "level",
                                     "value": "3", **fields})


def lens_setting(name="lens", **fields):
    return named("Setting", name, **{"path": "/etc/app.json", "format": "augeas", "lens": "Json", "value": "3",
                                     "key": "dict/entry[. = 'a']/dict/entry[. = 'level']/string", **fields})


WANTED = {
    "Hostname": (named("Hostname", hostname="web-1"),),
    "Timezone": (named("Timezone", zone="Europe/Berlin"),),
    "AuthorizedKey": (key(options="no-pty", comment="anna@desk"),),
    "Setting": (setting(),),
    "Setting by a lens": (lens_setting(),),
}


def write(inside, text, mode=None, owner=None):
    def spoil(bench):
        path = bench.path(inside)
        path.unlink(missing_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.chown(path, owner or 0, owner or 0)
        path.chmod(mode or 0o644)
    return spoil


def keys_file(text, mode=0o600, owner=ANNA):
    return write(KEYS, text, mode, owner)


def link(inside, target):
    def spoil(bench):
        bench.path(inside).unlink(missing_ok=True)
        bench.path(inside).symlink_to(target)
    return spoil


def gone(inside):
    return lambda bench: bench.path(inside).unlink()


LINE = f"no-pty {KEY} anna@desk\n"
# type, how it is spoilt: (by what, {field: what observe says of it}, whether a repair makes it as declared)
ROWS = {
    ("Hostname", "persisted, by another name"): (write("/etc/hostname", "old\n"), {"persisted": "old"}, True),
    ("Hostname", "persisted, by no file"): (gone("/etc/hostname"), {"persisted": "absent"}, True),
    ("Hostname", "persisted, by an empty file"): (write("/etc/hostname", ""), {"persisted": "no name"}, True),
    ("Hostname", "persisted, by a link"): (link("/etc/hostname", "/dev/null"), {"persisted": "a symbolic link"}, True),
    ("Hostname", "persisted, by a file that others can write"): (
        write("/etc/hostname", "web-1\n", 0o666), {"persisted": "web-1, in a file that others than root can write"}, True),
    ("Timezone", "zone, by another"): (link("/etc/localtime", "/usr/share/zoneinfo/UTC"), {"zone": "UTC"}, True),
    ("Timezone", "zone, by no link"): (gone("/etc/localtime"), {"zone": "absent"}, True),
    ("Timezone", "zone, by a copy"): (write("/etc/localtime", "TZif"), {"zone": "a regular file"}, True),
    ("Timezone", "zone, by a link to elsewhere"): (link("/etc/localtime", "/srv/zone"), {"zone": "a link to /srv/zone"}, True),
    ("Timezone", "persisted, by another name"): (write("/etc/timezone", "UTC\n"), {"persisted": "UTC"}, True),
    ("Timezone", "persisted, by no file"): (gone("/etc/timezone"), {"persisted": "absent"}, True),
    ("AuthorizedKey", "state, by another file"): (keys_file(OTHER), {"state": "absent"}, True),
    ("AuthorizedKey", "state, by no file"): (gone(KEYS), {"state": "absent"}, True),
    ("AuthorizedKey", "state, by a comment sign"): (keys_file("#" + LINE), {"state": "absent"}, True),
    ("AuthorizedKey", "options, by none"): (keys_file(f"{KEY} anna@desk\n"), {"options": "none"}, True),
    ("AuthorizedKey", "options, on a second line"): (
        keys_file(LINE + f"{KEY} anna@desk\n"), {"options": "none"}, True),
    ("AuthorizedKey", "comment, by another"): (keys_file(f"no-pty {KEY} me"), {"comment": "me"}, True),
    ("AuthorizedKey", "mode, by a file that others can write"): (keys_file(LINE, 0o666), {"mode": "0666"}, True),
    ("AuthorizedKey", "folder, by one that others can write"): (
        lambda bench: bench.path(SSH).chmod(0o777), {"folder": "0777"}, True),
    ("AuthorizedKey", "owner, by root"): (keys_file(LINE, 0o644, 0), {"owner": "root"}, True),
    ("AuthorizedKey", "by a link to another file [S06]"): (link(KEYS, "/etc/shadow"), {}, False),
    ("AuthorizedKey", "by a private file of root's [S06]"): (keys_file(LINE, 0o600, 0), {}, False),
    ("Setting", "value, by another"): (write("/etc/app.ini", INI.replace("= 3", "= 4")), {"value": "4"}, True),
    ("Setting", "value, on a second line"): (
        write("/etc/app.ini", INI.replace("; end", "level = 5")), {"value": "3; 5"}, True),
    ("Setting", "value, by none"): (write("/etc/app.ini", INI.replace("level = 3", "level")), {"value": "no value"}, True),
    ("Setting", "value, by quotes"): (write("/etc/app.ini", INI.replace("= 3", '= "3"')), {"value": '"3"'}, True),
    ("Setting", "value, in a private file"): (
        write("/etc/app.ini", INI.replace("= 3", "= 4"), 0o600), {"value": "(redacted)"}, True),
    ("Setting", "state, by a comment sign"): (
        write("/etc/app.ini", INI.replace("level = 3", "#level = 3")), {"state": "absent"}, True),
    ("Setting", "state, in a file of bytes"): (write("/etc/app.ini", b"\xff\r\n[main]\r\n\x00"), {"state": "absent"}, True),
    ("Setting", "state, by no file"): (gone("/etc/app.ini"), {"state": "absent"}, False),
    ("Setting", "value, continued"): (write("/etc/app.ini", INI.replace("= 3", "= 3\\\n 4")),
                                      {"value": "3\\, which goes on in the next line"}, False),
    ("Setting", "by a link"): (link("/etc/app.ini", "/etc/shadow"), {}, False),
    ("Setting by a lens", "value, by another"): (write("/etc/app.json", JSON.replace('"3"', '"4"')), {"value": "4"}, True),
    ("Setting by a lens", "value, in a private file"): (
        write("/etc/app.json", JSON.replace('"3"', '"4"'), 0o600), {"value": "(redacted)"}, True),
    ("Setting by a lens", "value, by another kind of it"): (
        write("/etc/app.json", JSON.replace('"3"', "3")), {"state": "absent"}, False),
    ("Setting by a lens", "state, by no file"): (gone("/etc/app.json"), {"state": "absent"}, False),
    ("Setting by a lens", "by what the lens does not read"): (write("/etc/app.json", JSON + "}"), {}, False),
    ("Setting by a lens", "by a zero byte"): (write("/etc/app.json", JSON + "\0"), {}, False),
    ("Setting by a lens", "by a file that others can write"): (write("/etc/app.json", JSON, 0o666), {}, False),
    ("Setting by a lens", "by a file of somebody else"): (write("/etc/app.json", JSON, 0o644, ANNA), {}, False),
    ("Setting by a lens", "by a link"): (link("/etc/app.json", "/etc/shadow"), {}, False),
}


class Case(fleet.DriftCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        for folder in ("etc", "home", "usr/share/zoneinfo/Europe"):
            self.bench.path(folder).mkdir(parents=True)
        for zone in ("UTC", "Europe/Berlin"):
            self.bench.path(f"usr/share/zoneinfo/{zone}").write_bytes(b"TZif")
        for name, text in {"passwd": f"root:x:0:0::/root:/bin/sh\nanna:x:{ANNA}:{ANNA}::/home/anna:/bin/sh\n",
                           "group": f"root:x:0:\nanna:x:{ANNA}:\n", "shadow": "root:*:::::::\n",
                           "debian_version": "12\n", "hostname": "old\n", "app.ini": INI, "app.json": JSON}.items():
            self.bench.path(f"etc/{name}").write_text(text)
        self.bench.path("home/anna").mkdir()
        os.chown(self.bench.path("home/anna"), ANNA, ANNA)

    def check_converged(self):
        seen = self.bench.observe("--json")
        self.assertEqual((seen.code, self.bench.run("plan").code), (0, 0), seen.text)
        self.assertEqual(fleet.leftovers(self.bench.root), [])


class Rows(Case):
    def check_row(self, title):
        spoil, expected, repaired = ROWS[title]
        self.enforce(*WANTED[title[0]])
        self.check_converged()
        spoil(self.bench)
        self.assertEqual(self.seen(), expected)
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce()
        if repaired:
            self.assertEqual(done.code, 0, done.text)
            self.check_converged()
            return
        self.assertIn(done.code, (2, 4), done.text)
        after = fleet.listing(self.bench.root)
        for listing in (before, after):  # of folders only their times may differ
            for name in [name for name, seen in listing.items() if seen[0].startswith("d")]:
                del listing[name]
        self.assertEqual(before, after)


def add_rows():
    for number, title in enumerate(ROWS):
        def check(self, title=title):
            self.check_row(title)
        what = "repaired" if ROWS[title][2] else "told, and nothing is touched"
        check.__doc__ = f"parts: {title[0]}: {title[1]}: seen and {what}"
        setattr(Rows, f"test_{number:02}", check)


add_rows()


class Files(Case):
    def test_keys_as_sshd_wants_them(self):
        """parts: a key's folder and file are the user's, 0700 and 0600, and hold nothing but the key"""
        self.enforce(key(comment="anna@desk"))
        for inside, mode in ((SSH, 0o700), (KEYS, 0o600)):
            seen = self.bench.path(inside).stat()
            self.assertEqual((seen.st_uid, seen.st_gid, seen.st_mode & 0o7777), (ANNA, ANNA, mode))
        self.assertEqual(self.bench.path(KEYS).read_text(), f"{KEY} anna@desk\n")

    def test_other_lines(self):
        """parts: comments, order, line ends, odd lines and duplicates stay byte for byte [F22] [F19] [T01]"""
        odd = b"# mine\r\n\r\n" + OTHER.encode() + b" a\n" + OTHER.encode() + b" a\nnonsense \xff"
        self.bench.path(SSH).mkdir()
        os.chown(self.bench.path(SSH), ANNA, ANNA)
        keys_file(odd)(self.bench)
        ini = b"; first\r\n[main]\r\n\tb\t=\t1\r\n\r\n[main]\r\nb = 1\r\njunk\r\n[x]"
        write("/etc/app.ini", ini)(self.bench)
        wanted = (key(), setting())
        self.enforce(*wanted)
        for _ in range(3):
            self.enforce(*wanted)
        self.assertEqual(self.bench.path(KEYS).read_bytes(), odd + b"\n" + KEY.encode() + b"\n")
        self.assertEqual(self.bench.path("/etc/app.ini").read_bytes(), ini.replace(b"junk\r\n", b"junk\r\nlevel\t=\t3\r\n"))

    def test_removal(self):
        """parts: what left the declaration goes where Datum made it; what was there or was changed since stays"""
        self.enforce(key(), setting("made", key="made"), setting("there"), setting("changed", key="changed"))
        text = self.bench.path("/etc/app.ini").read_text()
        write("/etc/app.ini", text.replace("changed = 3", "changed = 4"))(self.bench)
        done = self.enforce(fleet.directory("d", "/d"))
        self.assertEqual(self.bench.path(KEYS).read_bytes(), b"")
        self.assertEqual(self.bench.path("/etc/app.ini").read_text(), INI.replace("; end\n", "; end\nchanged = 4\n"))
        self.assertIn("changed since Datum made it", done.out)

    def test_absent(self):
        """parts: state absent takes every line of a key and of a value, and a second pass has nothing to do"""
        self.enforce(key(), setting())
        wanted = (key(state="absent"), setting(state="absent"))
        self.enforce(*wanted)
        self.assertEqual(self.bench.path(KEYS).read_bytes(), b"")
        self.assertEqual(self.bench.path("/etc/app.ini").read_text(), INI.replace("level = 3\n", ""))
        self.check_converged()

    def test_other_nodes(self):
        """parts: a lens changes the bytes of its value, of each node that the key names, and leaves every other byte [F22]"""
        write("/etc/hosts", "# mine\n127.0.0.1\tlocalhost   # here\n\n10.0.0.1 old  alias\n10.0.0.1\told\n")(self.bench)
        wanted = (lens_setting(), lens_setting("b", key="dict/entry[. = 'a']/dict/entry[. = 'b']/number", value="2"),
                  lens_setting("h", path="/etc/hosts", lens="Hosts.lns", key="*[ipaddr = '10.0.0.1']/canonical", value="new"))
        self.enforce(*wanted)
        self.enforce(*wanted)
        self.assertEqual(self.bench.path("/etc/app.json").read_text(), JSON.replace("1,", "2,"))
        self.assertEqual(self.bench.path("/etc/hosts").read_text(),
                         "# mine\n127.0.0.1\tlocalhost   # here\n\n10.0.0.1 new  alias\n10.0.0.1\tnew\n")
        self.check_converged()

    def test_made_and_removed_by_a_lens(self):
        """parts: a node that a lens makes goes with its document, one that was there stays, absent takes each"""
        ssh = "Port 22\nMatch User a\n  X11Forwarding no\n"
        write("/etc/sshd_config", ssh)(self.bench)
        made = lens_setting("made", path="/etc/sshd_config", lens="Sshd", key="Match/Settings/PermitTTY", value="no")
        there = lens_setting("there", path="/etc/sshd_config", lens="Sshd", key="Port", value="22")
        self.enforce(made, there)
        self.assertEqual(self.bench.path("/etc/sshd_config").read_text(), ssh + "  PermitTTY no\n")
        self.check_converged()
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual(self.bench.path("/etc/sshd_config").read_text(), ssh)
        self.enforce(lens_setting("there", path="/etc/sshd_config", lens="Sshd", key="Match/Settings/*", state="absent"),
                     code=2)
        self.assertEqual(self.bench.path("/etc/sshd_config").read_text(), ssh)
        self.enforce(lens_setting("there", path="/etc/sshd_config", lens="Sshd", key="Port", state="absent"))
        self.assertEqual(self.bench.path("/etc/sshd_config").read_text(), ssh.replace("Port 22\n", ""))

    def test_what_a_lens_refuses(self):
        """parts: no such lens, no path, a path out of the tree and a value that the lens does not write are told, nothing changes"""
        self.bench.path("/srv").mkdir()
        for fields, said, code in (({"lens": "Nosuch"}, "there is no lens Nosuch.lns", 4),
                                   ({"key": "dict["}, "the key is no path of Augeas", 4),
                                   ({"key": "dict | /in"}, "out of the file's tree", 4),
                                   ({"key": "dict/entry[. = 'z']/string"}, "cannot write that value at that place", 2),
                                   ({"path": "/etc/app.ini"}, "the lens Json.lns does not read it: line 1", 4)):
            with self.subTest(said=said):
                before = {name: self.bench.path(f"/etc/{name}").read_bytes() for name in ("app.json", "app.ini")}
                done = self.enforce(lens_setting(**fields), code=code)
                self.assertIn(said, done.text)
                self.assertEqual(before, {name: self.bench.path(f"/etc/{name}").read_bytes() for name in before})

    def test_secret_by_a_lens(self):
        """parts: a secret that a lens writes, or could not write, gets into no record [S10] [S08]"""
        self.put_secret("canaryOfTheLens")
        hidden = {"secretRef": "token", "value": None}
        good = named("Setting", "good", **{key: value for key, value in
                                           {**lens_setting().desired, **hidden}.items() if value is not None})
        bad = named("Setting", "bad", **{**good.desired, "key": "dict/entry[. = 'z']/string"})
        self.bench.declare(good, bad)
        done = self.bench.enforce("--config", self.bench.scratch / "config", "--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertIn('"level": "canaryOfTheLens"', self.bench.path("/etc/app.json").read_text())
        self.check_nowhere("canaryOfTheLens", done)

    def test_name_and_zone_stay(self):
        """parts: a name and a zone that left the declaration stay"""
        self.enforce(*WANTED["Hostname"], *WANTED["Timezone"])
        done = self.enforce(fleet.directory("d", "/d"))
        self.assertIn("a machine keeps its name and its zone", done.out)
        self.assertEqual(self.bench.path("/etc/hostname").read_text(), "web-1\n")
        self.assertEqual(os.readlink(self.bench.path("/etc/localtime")), "/usr/share/zoneinfo/Europe/Berlin")

    def test_zone_that_is_missing(self):
        """parts: a zone that the system does not have fails by its name, and the link stays"""
        self.enforce(*WANTED["Timezone"])
        done = self.enforce(named("Timezone", zone="Mars/North"), code=2)
        self.assertIn("/usr/share/zoneinfo/Mars/North does not exist", done.out)
        self.assertEqual(os.readlink(self.bench.path("/etc/localtime")), "/usr/share/zoneinfo/Europe/Berlin")

    def test_user_of_the_same_pass(self):
        """parts: a key comes after the user and the home that the same pass makes, whatever their names"""
        wanted = (fleet.Resource("User", "zoe", {"state": "present", "home": "/home/zoe"}),
                  fleet.with_keys(fleet.directory("home", "/home/zoe", owner="zoe", mode="0700"), requires=["User[zoe]"]),
                  fleet.Resource("AuthorizedKey", "a", {"user": "zoe", "key": KEY}, {"requires": ["Directory[home]"]}))
        self.enforce(*wanted)
        self.assertEqual(self.bench.path("/home/zoe/.ssh/authorized_keys").read_text(), KEY + "\n")
        self.check_converged()

    def test_observing_changes_nothing(self):
        """parts: observing all four changes no file and no folder"""
        self.bench.declare(*(one for wanted in WANTED.values() for one in wanted), setting("y", key="new"))
        before = fleet.listing(self.bench.root)
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual(fleet.listing(self.bench.root), before)

    def test_secret_value(self):
        """parts: a secret value gets into its file and into no record, and its neighbours are shown [S10] [S08]"""
        self.put_secret("canaryOfTheSecret")
        hidden = named("Setting", "token", path="/etc/app.ini", format="ini", section="main", key="token", secretRef="token")
        self.bench.declare(hidden, setting(value="5"))
        done = self.bench.enforce("--config", self.bench.scratch / "config", "--json")
        self.assertEqual(done.code, 0, done.text)
        self.assertIn("token = canaryOfTheSecret\n", self.bench.path("/etc/app.ini").read_text())
        self.assertIn("level", done.text)
        self.check_nowhere("canaryOfTheSecret", done)

    def put_secret(self, value):
        secrets = self.bench.scratch / "config/secrets"
        secrets.mkdir(parents=True, mode=0o700)
        secrets.chmod(0o700)
        (secrets / "token").write_text(value + "\n")
        (secrets / "token").chmod(0o600)

    def check_nowhere(self, value, done):
        self.assertNotIn(value, done.text + str(self.bench.events()))
        found = subprocess.run(["grep", "-rl", value, self.bench.state], stdin=subprocess.DEVNULL, capture_output=True,
                               check=False)
        self.assertEqual(found.stdout, b"")


class WithoutAugeas(Case):
    def test_missing_library(self):
        """parts: without libaugeas a Setting by a lens is unknown and says what to install, and everything else goes on"""
        hide = ("for library in $(ldconfig -p | sed -n 's/.*libaugeas.so.0.* => //p'); do mount --bind /dev/null $library || "
                'exit 1; done; exec "$@"')
        self.bench.declare(lens_setting(value="5"), setting(value="5"))
        done = self.bench.enforce(before=["unshare", "-m", "sh", "-c", hide, "sh"])
        self.assertEqual(done.code, 4, done.text)
        self.assertIn("install libaugeas0 and augeas-lenses", done.text)
        self.assertEqual(self.bench.path("/etc/app.json").read_text(), JSON)
        self.assertEqual(self.bench.path("/etc/app.ini").read_text(), INI.replace("= 3", "= 5"))


class Running(fleet.DriftCase):
    """The running name, in a process of its own name and /etc."""

    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        # A container may have the kernel's values read-only; a name of one's own is one's own.
        make = "mount -t tmpfs none /etc && mount -t proc none /proc && echo root:x:0:0::/root:/bin/sh > /etc/passwd && echo ready; exec sleep infinity"
        self.inside = subprocess.Popen(["unshare", "-m", "-u", "sh", "-c", make], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.assertEqual(self.inside.stdout.readline(), "ready\n")
        self.bench.run = self.run_inside

    def end(self):
        self.inside.kill()
        self.inside.wait()
        self.inside.stdout.close()

    def run_inside(self, verb, *rest, state=None, **options):
        return fleet.datum(verb, "--fleet", self.bench.fleet, "--host", fleet.HOST, "--state", state or self.bench.state, *rest,
                           before=["nsenter", "-t", str(self.inside.pid), "-m", "-u"], **options)

    def sh(self, command):
        return subprocess.run(["nsenter", "-t", str(self.inside.pid), "-m", "-u", "sh", "-c", command], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=60, check=True).stdout

    def test_running_name(self):
        """parts: the running name and the file are corrected, each by itself, and a second pass has nothing to do"""
        wanted = named("Hostname", hostname="web-1.example.org")
        self.enforce(wanted)
        self.assertEqual(self.sh("uname -n; cat /etc/hostname"), "web-1.example.org\n" * 2)
        self.sh("echo other > /proc/sys/kernel/hostname")
        self.assertEqual(self.seen(), {"hostname": "other"})
        self.enforce(wanted)
        self.assertEqual((self.sh("uname -n"), self.seen()), ("web-1.example.org\n", {}))

    def test_mount_point(self):
        """parts: a hostname file that is a mount point fails, and the bytes behind it stay [F01]"""
        self.sh("echo old > /etc/hostname; echo old > /tmp/datum-e2e-$$; mount --bind /tmp/datum-e2e-$$ /etc/hostname; "
                "rm /tmp/datum-e2e-$$")
        done = self.enforce(named("Hostname", hostname="web-1"), code=2)
        self.assertIn("mount point", done.out)
        self.assertEqual(self.sh("cat /etc/hostname; ls -A /etc | grep -c datum || true"), "old\n0\n")


if __name__ == "__main__":
    tap.main()
