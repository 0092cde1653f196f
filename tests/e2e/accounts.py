#!/usr/bin/env python3
# test: short root
"""Users and Groups in a scratch root, by the tools' own --prefix, and in a mount namespace with an /etc of its own: each
field, each way to spoil it, what observe says of it, what repair and removal do. No account of this machine is looked at."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

HASH = "$6$salt$7f8Zc5hVQ1canaryOfAnHash"
FILES = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "shadow": "root:*:19000:0:99999:7:::\n",
    "group": "root:x:0:\nadm:x:4:\nwww:x:33:\nstaff:x:50:\nother:x:77:\n",
    "gshadow": "root:*::\nadm:*::\nwww:!::\nstaff:*::\nother:!::\n",
}
UID, GROUP, HOME, SHELL, COMMENT = 2, 3, 5, 6, 4  # fields of a line of passwd
ANNA = {"state": "present", "uid": 6000, "primaryGroup": "staff", "groups": ["adm", "www"], "home": "/srv/anna",
        "shell": "/bin/sh", "comment": "Anna A", "passwordRef": "anna", "locked": False}


def user(name="anna", keys=None, **fields):
    return fleet.Resource("User", name, {"state": "present", **fields}, keys or {})


def group(name, keys=None, **fields):
    return fleet.Resource("Group", name, {"state": "present", **fields}, keys or {})


class Etc:
    """The four files, and how somebody spoils them by hand."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).write_text(text)
        for name in ("shadow", "gshadow"):
            (folder / name).chmod(0o640)

    def lines(self, name):
        return [line.split(":") for line in (self.folder / name).read_text().splitlines()]

    def entry(self, name, who):
        found = [line for line in self.lines(name) if line[0] == who]
        return found[0] if len(found) == 1 else found

    def put(self, name, lines):
        (self.folder / name).write_text("".join(":".join(line) + "\n" for line in lines))

    def edit(self, name, who, field, value):
        lines = self.lines(name)
        for line in lines:
            if line[0] == who:
                line[field] = value
        self.put(name, lines)

    def drop(self, name, who):
        self.put(name, [line for line in self.lines(name) if line[0] != who])

    def repeat(self, name, who):
        lines = self.lines(name)
        self.put(name, lines + [line for line in lines if line[0] == who])

    def groups_of(self, who, name="group"):
        return sorted(line[0] for line in self.lines(name) if who in line[3].split(","))

    def snapshot(self):
        return {name: (self.folder / name).read_text() for name in FILES}


class Case(fleet.DriftCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        (self.bench.root / "etc/datum/secrets").mkdir(parents=True)
        self.etc = Etc(self.bench.root / "etc")
        (self.bench.root / "etc/login.defs").write_text("USERGROUPS_ENAB yes\nUID_MIN 1000\nGID_MIN 1000\nSYS_UID_MAX 999\n"
                                                        "SYS_GID_MAX 999\n")
        self.secret("anna", HASH + "\n")

    def secret(self, name, text, mode=0o600):
        path = self.bench.root / "etc/datum/secrets" / name
        path.write_text(text)
        path.chmod(mode)

    def check_unique(self):
        for name in FILES:
            names = [line[0] for line in self.etc.lines(name)]
            self.assertEqual(len(names), len(set(names)), name)


def passwd(field, value):
    return lambda etc: etc.edit("passwd", "anna", field, value)


def shadow(value):
    return lambda etc: etc.edit("shadow", "anna", 1, value)


def member(name, members):
    def spoil(etc):
        etc.edit("group", name, 3, members)
        etc.edit("gshadow", name, 3, members)
    return spoil


def gone(etc):
    for name in ("passwd", "shadow"):
        etc.drop(name, "anna")
    for name in ("adm", "www"):
        member(name, "")(etc)


# how it is spoilt: (by what, {field: what observe says of it}, whether a repair makes it as declared)
ROWS = {
    "uid": (passwd(UID, "6001"), {"uid": "6001"}, False),
    "primaryGroup, by another": (passwd(GROUP, "77"), {"primaryGroup": "other"}, True),
    "primaryGroup, by a number without a name": (passwd(GROUP, "5432"), {"primaryGroup": "5432"}, True),
    "groups, by one that is missing": (member("adm", ""), {"groups": "www"}, True),
    "groups, by one too many": (member("other", "anna"), {"groups": "adm, other, www"}, True),
    "groups, by none": (lambda etc: (member("adm", "")(etc), member("www", "root")(etc)), {"groups": "none"}, True),
    "home": (passwd(HOME, "/home/anna"), {"home": "/home/anna"}, True),
    "shell": (passwd(SHELL, "/bin/bash"), {"shell": "/bin/bash"}, True),
    "shell, by none": (passwd(SHELL, ""), {"shell": "empty"}, True),
    "comment": (passwd(COMMENT, "Bert"), {"comment": "Bert"}, True),
    "passwordRef, by another hash": (shadow("$6$salt$other"), {"passwordRef": "(redacted)"}, True),
    "passwordRef, by no password": (shadow(""), {"passwordRef": "(redacted)"}, True),
    "locked, by a lock": (shadow("!" + HASH), {"locked": "true"}, True),
    "locked and passwordRef, by a star": (shadow("*"), {"passwordRef": "(redacted)", "locked": "true"}, True),
    "everything but the number": (lambda etc: (passwd(HOME, "/x")(etc), passwd(SHELL, "/y")(etc), passwd(COMMENT, "z")(etc),
                                               passwd(GROUP, "77")(etc), member("www", "")(etc), shadow("!")(etc)),
                                  {"primaryGroup": "other", "groups": "adm", "home": "/x", "shell": "/y", "comment": "z",
                                   "passwordRef": "(redacted)", "locked": "true"}, True),
    "the account itself": (gone, {"state": "absent"}, True),
}


class Users(Case):
    def check_as_declared(self):
        self.assertEqual(self.etc.entry("passwd", "anna"), ["anna", "x", "6000", "50", "Anna A", "/srv/anna", "/bin/sh"])
        self.assertEqual(self.etc.entry("shadow", "anna")[1], HASH)
        self.assertEqual((self.etc.groups_of("anna"), self.etc.groups_of("anna", "gshadow")), (["adm", "www"],) * 2)
        self.check_unique()

    def check_row(self, title):
        spoil, expected, repaired = ROWS[title]
        self.enforce(user(**ANNA))
        self.check_as_declared()
        spoil(self.etc)
        self.assertEqual(self.seen(), expected)
        before = self.etc.snapshot()
        done = self.bench.enforce()
        self.assertEqual(done.code, 0 if repaired else 2, done.text)
        if not repaired:
            self.assertIn("not corrected", done.out)
            self.assertEqual(self.etc.snapshot(), before)
            return
        self.check_as_declared()
        self.assertEqual((self.bench.run("plan").code, self.seen()), (0, {}))
        (self.bench.root / "srv/anna").mkdir(parents=True)
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual([self.etc.entry(name, "anna") for name in ("passwd", "shadow")], [[], []])
        self.assertEqual(self.etc.groups_of("anna"), [])
        self.assertTrue((self.bench.root / "srv/anna").is_dir())

    def test_order_of_groups(self):
        """user: the same groups in another order, and the primary one among them, are no drift [G01]"""
        self.enforce(user(**ANNA))
        self.bench.declare(user(**{**ANNA, "groups": ["www", "staff", "adm"]}))
        self.assertEqual(self.seen(), {})

    def test_include(self):
        """user: with groupsMode include other groups stay; with exact and an empty list none does"""
        self.enforce(user(groups=["adm"]))
        member("other", "anna")(self.etc)
        self.enforce(user(groups=["www"], groupsMode="include"))
        self.assertEqual(self.etc.groups_of("anna"), ["adm", "other", "www"])
        self.assertEqual(self.seen(), {})
        self.enforce(user(groups=[]))
        self.assertEqual(self.etc.groups_of("anna"), [])

    def test_undeclared_fields(self):
        """user: what is not declared is not managed, a lock over a rotated password included"""
        self.enforce(user(passwordRef="anna"))
        shadow("!" + HASH)(self.etc)
        passwd(SHELL, "/bin/false")(self.etc)
        self.assertEqual(self.seen(), {})
        self.secret("anna", "$6$salt$rotated")
        self.assertEqual(self.seen(), {"passwordRef": "(redacted)"})
        self.enforce(user(passwordRef="anna"))
        self.assertEqual(self.etc.entry("shadow", "anna")[1], "!$6$salt$rotated")
        self.assertEqual(self.etc.entry("passwd", "anna")[SHELL], "/bin/false")

    def test_locked(self):
        """user: a star and an exclamation mark both are a lock, and a new account with a password can be locked at once"""
        self.enforce(user(locked=True, passwordRef="anna"))
        self.assertEqual(self.etc.entry("shadow", "anna")[1], "!" + HASH)
        self.enforce(user(locked=True))
        for field in ("*", "!", "!!", "*LK*"):
            shadow(field)(self.etc)
            self.assertEqual(self.seen(), {}, field)
        shadow(HASH)(self.etc)
        self.assertEqual(self.seen(), {"locked": "false"})
        self.enforce(user(locked=True))
        self.assertEqual(self.etc.entry("shadow", "anna")[1], "!" + HASH)
        self.enforce(user(locked=False))
        self.assertEqual(self.etc.entry("shadow", "anna")[1], HASH)

    def test_unlocking_without_a_password(self):
        """user: an account without a password is not unlocked, in words, and stays as it is"""
        self.enforce(user())
        for field in ("!", "*", "!*"):
            shadow(field)(self.etc)
            done = self.enforce(user(locked=False), code=2)
            self.assertIn("no password: ", done.out)
            self.assertEqual(self.etc.entry("shadow", "anna")[1], field)

    def test_no_plain_password(self):
        """user: a secret that is no crypt hash is refused, its value is nowhere shown, and nothing is made [G02]"""
        for text in ("hunter2", "", "$6$", "$6$a:b$c", "$6$salt$x\nroot:$6$salt$y"):
            self.secret("anna", text)
            done = self.enforce(user(passwordRef="anna"), code=4)
            self.assertIn("no crypt hash", done.text)
            self.assertNotIn("hunter2", done.text)
            self.assertEqual(self.etc.entry("passwd", "anna"), [])
        self.secret("anna", HASH)
        self.enforce(user(passwordRef="anna"))
        head = len(self.bench.events())
        self.enforce(user(passwordRef="anna"))
        self.assertNotIn("actionsAnnounced", [event["kind"] for event in self.bench.events()[head:]])

    def test_no_such_secret(self):
        """user: a secret that is not there fails its own user, leaves everything, and does not stop the pass"""
        done = self.enforce(user(passwordRef="nowhere"), group("made"), code=4)
        self.assertIn("secrets/nowhere", done.text)
        self.assertEqual(self.etc.entry("passwd", "anna"), [])
        self.assertEqual(self.etc.entry("group", "made")[0], "made")

    def test_entries_that_stand_twice(self):
        """user: an account that stands twice is unknown, named with its file, and no tool touches it [G09]"""
        self.enforce(user(**ANNA), group("made"))
        for name, who in (("passwd", "anna"), ("shadow", "anna"), ("group", "made"), ("gshadow", "made")):
            before = self.etc.snapshot()
            self.etc.repeat(name, who)
            spoilt = self.etc.snapshot()
            done = self.enforce(user(**{**ANNA, "shell": "/bin/zsh"}) if who == "anna" else user(**ANNA), group("made"), code=4)
            self.assertIn(f"/etc/{name}: {who} stands twice", done.out)
            self.assertEqual(self.etc.snapshot(), spoilt)
            for file, text in before.items():
                (self.etc.folder / file).write_text(text)

    def test_spoilt_lines(self):
        """user: an account whose line is not of the format is unknown, named with its file, and no tool touches it [G09]"""
        self.enforce(user(**ANNA), group("made"))
        before = self.etc.snapshot()
        for name, who, line in (("passwd", "anna", "anna:x:6000:50"), ("passwd", "anna", "anna:x:six:50:Anna A:/srv/anna:/bin/sh"),
                                ("shadow", "anna", "anna"), ("group", "made", "made:x:"), ("group", "made", "made:x:-1:"),
                                ("gshadow", "made", "made:!")):
            with self.subTest(line=line):
                self.etc.drop(name, who)
                self.etc.put(name, [*self.etc.lines(name), line.split(":")])
                spoilt = self.etc.snapshot()
                done = self.enforce(user(**{**ANNA, "shell": "/bin/zsh"}) if who == "anna" else user(**ANNA), group("made"), code=4)
                self.assertIn(f"/etc/{name}: the line of {who} is not of the format", done.out)
                self.assertEqual(self.etc.snapshot(), spoilt)
                for file, text in before.items():
                    (self.etc.folder / file).write_text(text)

    def test_hidden_members(self):
        """user: a group of which only one of the two files says that the user is in it is named [G09]"""
        self.enforce(user(**ANNA))
        self.etc.edit("gshadow", "adm", 3, "")
        text = self.bench.observe().text
        self.assertIn("/etc/group and /etc/gshadow do not agree on whether anna is in adm", text)
        self.assertEqual(self.seen(), {})

    def test_files_that_disagree(self):
        """group: what group and gshadow, or passwd and shadow, do not agree on is named with its file [G09]"""
        self.enforce(user(**ANNA), group("made"))
        self.etc.drop("gshadow", "made")
        self.etc.drop("shadow", "anna")
        text = self.bench.observe().text
        self.assertIn("/etc/gshadow has no line for made", text)
        self.assertIn("/etc/shadow has no line for anna", text)

    def test_same_named_group(self):
        """user: a group of its name is its primary one where that, or the Group, is declared; else the tool's words [G10]"""
        self.enforce(group("anna", gid=4000))
        self.enforce(group("anna", gid=4000), user())
        self.assertEqual(self.etc.entry("passwd", "anna")[GROUP], "4000")
        self.enforce(group("bert", gid=4001))
        self.enforce(group("bert", gid=4001, keys={"policy": "observe"}), user("bert", primaryGroup="bert"), user())
        self.assertEqual(self.etc.entry("passwd", "bert")[GROUP], "4001")
        self.etc.put("group", [*self.etc.lines("group"), ["carl", "x", "4002", ""]])
        done = self.enforce(user("carl"), code=2)
        self.assertIn("group carl exists", done.out)

    def test_a_declared_group_stays(self):
        """user: the group of its name that userdel takes with it comes back with its number where it is declared"""
        self.enforce(group("anna", gid=4000), user())
        self.enforce(group("anna", gid=4000), user(state="absent"))
        self.assertEqual(self.etc.entry("group", "anna")[:3], ["anna", "x", "4000"])
        self.assertEqual(self.bench.run("plan").code, 0)

    def test_order(self):
        """accounts: those with a number are made first, a group before who is in it, and removed after them"""
        wanted = [user("zoe", uid=1000, primaryGroup="zgroup", groups=["agroup"]), user("bert"), group("agroup"),
                  group("zgroup", gid=1000)]
        self.enforce(*wanted)
        self.assertEqual((self.etc.entry("passwd", "zoe")[UID], self.etc.entry("group", "zgroup")[2]), ("1000", "1000"))
        self.assertEqual(self.etc.groups_of("zoe"), ["agroup"])
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual(self.etc.snapshot()["passwd"], FILES["passwd"])
        self.assertEqual(self.etc.snapshot()["group"], FILES["group"])

    def test_system(self):
        """accounts: system ones get a number of the system's range; nothing else of them differs"""
        self.enforce(group("daemon1", system=True), user("daemon1", system=True))
        self.assertLess(int(self.etc.entry("passwd", "daemon1")[UID]), 1000)
        self.assertLess(int(self.etc.entry("group", "daemon1")[2]), 1000)

    def test_removal_of_what_was_there(self):
        """user: one that was there before Datum is let go, and one that somebody changed since too"""
        self.etc.put("passwd", [*self.etc.lines("passwd"), ["old", "x", "3000", "50", "", "/", "/bin/sh"]])
        self.enforce(user("old"), user())
        passwd(SHELL, "/bin/false")(self.etc)
        done = self.enforce(fleet.directory("d", "/d"))
        self.assertRegex(done.out, r"release +User\[old\]")
        self.assertRegex(done.out, r"release +User\[anna\]")
        self.assertTrue(self.etc.entry("passwd", "old") and self.etc.entry("passwd", "anna"))

    def test_argument_vectors(self):
        """user: no hash is in any argument vector or environment, in records, or in what is printed [S08]"""
        trace = self.bench.scratch / "trace"
        self.bench.declare(user(**ANNA))
        done = self.bench.enforce(before=["strace", "-f", "-v", "-s", "4096", "-e", "trace=execve", "-o", trace])
        self.assertEqual(done.code, 0, done.text)
        text = trace.read_text()
        self.assertIn("chpasswd", text)
        for where in (text, done.text, str(self.bench.events()), self.bench.run("diff").text):
            self.assertNotIn(HASH, where)
            self.assertNotIn("canaryOfAnHash", where)

    def test_observing_writes_nothing(self):
        """user: observing changes no file of the root"""
        self.bench.declare(user(**ANNA), group("made"))
        before = fleet.listing(self.bench.root)
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual(fleet.listing(self.bench.root), before)


def add_rows():
    for number, title in enumerate(ROWS):
        def check(self, title=title):
            self.check_row(title)
        what = "repaired, and the account removed with its home left" if ROWS[title][2] else "told, and not corrected"
        check.__doc__ = f"user: {title}: seen and {what}"
        setattr(Users, f"test_{number:02}", check)


add_rows()


class Groups(Case):
    def test_gid(self):
        """group: a number is given at creation, and a difference is told and not corrected"""
        self.enforce(group("made", gid=4321))
        self.assertEqual(self.etc.entry("group", "made"), ["made", "x", "4321", ""])
        self.etc.edit("group", "made", 2, "4322")
        self.assertEqual(self.seen(), {"gid": "4322"})
        done = self.enforce(group("made", gid=4321), code=2)
        self.assertIn("not corrected", done.out)
        self.assertEqual(self.etc.entry("group", "made")[2], "4322")

    def test_members(self):
        """group: who is in it is no matter of the Group, neither for drift nor for its removal"""
        self.enforce(group("made"))
        self.etc.edit("group", "made", 3, "root")
        self.etc.edit("gshadow", "made", 3, "root")
        self.assertEqual(self.seen(), {})
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual([self.etc.entry(name, "made") for name in ("group", "gshadow")], [[], []])

    def test_root(self):
        """group: the one with number 0 is never removed, whatever its name, and the refusal is Datum's own"""
        for name in ("root", "wheel"):
            self.etc.put("group", [[name, "x", "0", ""], *self.etc.lines("group")[1:]])
            done = self.enforce(group(name, state="absent"), code=4)
            self.assertIn("a group with gid 0 is never removed", done.out)
            self.assertEqual(self.etc.entry("group", name)[2], "0")

    def test_absent(self):
        """group: absent removes it once; one that is somebody's primary group fails with the tool's words"""
        self.etc.put("passwd", [*self.etc.lines("passwd"), ["old", "x", "3000", "77", "", "/", "/bin/sh"]])
        self.enforce(group("www", state="absent"))
        self.assertEqual(self.etc.entry("group", "www"), [])
        done = self.enforce(group("other", state="absent"), code=2)
        self.assertIn("cannot remove the primary group of user 'old'", done.out)
        self.assertEqual(self.etc.entry("group", "other")[0], "other")


class Unreadable(Case):
    """A link, a folder or a FIFO where a file of accounts belongs."""

    def replace(self, name, how):
        path = self.etc.folder / name
        path.unlink()
        {"link": lambda: path.symlink_to("elsewhere"), "folder": path.mkdir, "fifo": lambda: os.mkfifo(path)}[how]()

    def check(self, name, how):
        owner = {"group": "staff"} if name == "group" else {"owner": "anna"}
        wanted = [fleet.file("plain", "/plain", "x\n"), fleet.file("number", "/number", "x\n", owner="0", group="0"),
                  fleet.file("root", "/root", "x\n", owner="root", group="root"),
                  fleet.with_keys(fleet.file("named", "/named", "x\n", **owner), requires=["User[anna]"]),
                  user(shell="/bin/sh"), group("made")]
        self.enforce(*wanted)
        self.replace(name, how)
        (self.bench.root / "plain").write_text("by hand\n")
        done = self.enforce(*wanted, code=4)
        self.assertEqual((self.bench.root / "plain").read_text(), "x\n")
        status = fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state, "--json").lines[0]
        self.assertEqual(status["condition"], "unknown")
        self.assertEqual({one["reference"]: one["condition"] for one in status["resources"]},
                         dict.fromkeys(("File[named]", "User[anna]", "Group[made]"), "unknown"), done.text)

    def test_passwd(self):
        """accounts: where passwd cannot be read, what needs it is unknown and everything else goes on [G09]"""
        for how in ("link", "folder", "fifo"):
            with self.subTest(how=how):
                self.setUp()
                self.check("passwd", how)

    def test_group(self):
        """accounts: where group cannot be read, what needs it is unknown and everything else goes on [G09]"""
        for how in ("link", "folder", "fifo"):
            with self.subTest(how=how):
                self.setUp()
                self.check("group", how)


class Tools(Case):
    def replace_tool(self, name, script):
        """A namespace in which that tool is another program."""
        tool = self.bench.scratch / name
        tool.write_text("#!/bin/sh\n" + script)
        tool.chmod(0o755)
        return ["unshare", "-m", "sh", "-c", f'mount --bind {tool} /usr/sbin/{name} && exec "$@"', "-"]

    def test_success_without_effect(self):
        """account: a tool that says that it succeeded and did nothing is a failure"""
        self.bench.declare(group("made"))
        done = self.bench.enforce(before=self.replace_tool("groupadd", "exit 0\n"))
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("it did not take effect: state is absent", done.out)

    def test_a_tool_that_dies(self):
        """account: a tool that fails is told with its status and last words; the next pass does it"""
        self.bench.declare(group("made"))
        done = self.bench.enforce(before=self.replace_tool("groupadd", "echo out of paper >&2; exit 7\n"))
        self.assertIn("groupadd ended with status 7: out of paper", done.out)
        self.assertEqual(done.out.count("out of paper"), 1, done.out)
        done = self.bench.enforce(before=self.replace_tool("groupadd", "kill -9 $$\n"))
        self.assertIn("groupadd died of signal 9", done.out)
        self.assertEqual(self.bench.enforce().code, 0)

    def test_death_of_the_host(self):
        """account: after a death in the middle of a tool the files tell what happened, and the next pass goes on"""
        for late in (False, True):
            name = "late" if late else "early"
            real = 'cp /usr/sbin/groupadd.real /tmp/x 2>/dev/null; '
            kill = "kill -9 $(ps -o ppid= -p $$)"
            run = f"{real}{self.bench.scratch}/real \"$@\"" if late else ":"
            shutil.copy("/usr/sbin/groupadd", self.bench.scratch / "real")
            self.bench.declare(group(name))
            died = self.bench.enforce(before=self.replace_tool("groupadd", f"{run}; {kill}\n"))
            self.assertNotIn(died.code, (0, 1, 2, 3, 4), died.text)
            done = self.bench.enforce()
            self.assertEqual(done.code, 0, done.text)
            told = [event for event in self.bench.events() if event["kind"] == "actionRecovered"][-1]
            self.assertEqual(told["event"]["outcome"], "tookEffect" if late else "didNot")
            self.assertEqual(self.bench.owned()[f"group:{name}"]["how"], "created")
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual([self.etc.entry("group", name) for name in ("early", "late")], [[], []])

    def test_half_made(self):
        """account: one that a tool made before the next tool failed is Datum's own, is told by revert, and goes later"""
        self.bench.declare(user(groups=["adm"], passwordRef="anna"))
        done = self.bench.enforce(before=self.replace_tool("chpasswd", "echo no >&2; exit 1\n"))
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(self.etc.entry("passwd", "anna")[0], "anna")
        self.assertEqual(self.bench.owned()["user:anna"]["how"], "created")
        number = self.bench.events("--kind", "passStarted")[-1]["seq"]
        told = fleet.datum("revert", str(number), "--root", self.bench.root, "--state", self.bench.state, "--mode", "enforce")
        self.assertEqual(told.code, 2, told.text)
        self.assertIn("user:anna", told.text)
        self.assertIn("Nothing was undone.", told.out)
        self.assertNotIn("converged", told.text)
        self.enforce(user(groups=["adm"], passwordRef="anna"))
        self.enforce(fleet.directory("d", "/d"))
        self.assertEqual(self.etc.entry("passwd", "anna"), [])

    def test_lock(self):
        """account: a lock that somebody holds is waited for a while, and then its holder is named"""
        (self.etc.folder / "group.lock").write_text(str(os.getpid()))
        done = self.enforce(group("made"), code=2)
        self.assertRegex(done.out, r"cannot lock /.*etc/group.*; pid %d \(.*\) by /etc/group.lock holds it" % os.getpid())
        (self.etc.folder / "group.lock").unlink()
        self.enforce(group("made"))


class LocalFiles(unittest.TestCase):
    """The root "/" of a namespace whose /etc is the test's own."""

    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        etc = self.bench.scratch / "etc"
        (etc / "datum/secrets").mkdir(parents=True)
        self.etc = Etc(etc)
        (etc / "datum/secrets/anna").write_text(HASH)
        (etc / "datum/secrets/anna").chmod(0o600)
        hide = "".join(f"mount -t tmpfs none {folder} && " for folder in ("/var/log", "/var/mail"))
        make = f"mount --bind {etc} /etc && {hide} echo ready && exec sleep infinity"
        self.inside = subprocess.Popen(["unshare", "-m", "sh", "-c", make], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.assertEqual(self.inside.stdout.readline(), "ready\n")

    def stop(self):
        self.inside.kill()
        self.inside.wait()
        self.inside.stdout.close()

    def run_pass(self, verb, *arguments):
        return fleet.datum(verb, *arguments, "--fleet", self.bench.fleet, "--host", fleet.HOST, "--state", self.bench.state,
                           before=["nsenter", "-t", str(self.inside.pid), "-m"])

    def test_whole_life(self):
        """user: on the root / an account is made from the local files, changed, and removed"""
        self.bench.declare(user(**ANNA))
        done = self.run_pass("reconcile", "--mode", "enforce")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.etc.entry("passwd", "anna"), ["anna", "x", "6000", "50", "Anna A", "/srv/anna", "/bin/sh"])
        self.assertEqual(self.etc.entry("shadow", "anna")[1], HASH)
        self.bench.declare(user(**{**ANNA, "shell": "/bin/bash", "groups": ["other"], "locked": True}))
        self.assertEqual(self.run_pass("reconcile", "--mode", "enforce").code, 0)
        self.assertEqual((self.etc.entry("passwd", "anna")[SHELL], self.etc.groups_of("anna")), ("/bin/bash", ["other"]))
        self.assertEqual(self.etc.entry("shadow", "anna")[1], "!" + HASH)
        self.bench.declare(fleet.directory("d", str(self.bench.scratch / "d")))
        self.assertEqual(self.run_pass("reconcile", "--mode", "enforce").code, 0)
        self.assertEqual(self.etc.entry("passwd", "anna"), [])

    def test_record_lock(self):
        """account: the lock that glibc's tools take is waited for, and its holder named when that lasts too long"""
        lock = open(self.etc.folder / ".pwd.lock", "w", encoding="utf-8")
        self.addCleanup(lock.close)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        self.bench.declare(group("made"))
        done = self.run_pass("reconcile", "--mode", "enforce")
        self.assertEqual(done.code, 2, done.text)
        self.assertRegex(done.out, r"cannot lock .*; pid %d \(.*\) by /etc/.pwd.lock holds it" % os.getpid())
        fcntl.lockf(lock, fcntl.LOCK_UN)
        self.assertEqual(self.run_pass("reconcile", "--mode", "enforce").code, 0)

    def test_other_sources_of_names(self):
        """user: a name that only another source of names has is planned as a local account, and the conflict is told [G07]"""
        self.etc.put("passwd", [*self.etc.lines("passwd")])
        (self.etc.folder / "nsswitch.conf").write_text("passwd: systemd files\ngroup: systemd files\n")
        self.bench.declare(user("nobody", locked=True))
        plan = self.run_pass("plan")
        self.assertRegex(plan.out, r"create +User\[nobody\]")
        done = self.run_pass("reconcile", "--mode", "enforce")
        if done.code == 0:  # no such source on this machine: made locally, which is the other right end
            self.assertEqual(self.etc.entry("passwd", "nobody")[0], "nobody")
        else:
            self.assertIn("another source of names than the local files", done.out)


if __name__ == "__main__":
    tap.main()
