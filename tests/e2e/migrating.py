#!/usr/bin/env python3
# test: short root
"""The commands of docs/operating/migrating.md, in its order, on a root of the test; and what `datum adopt --print` says of
files, folders, links and accounts, which plans clean there and on a second root in the same state."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PAGE = fleet.TOP / "docs/operating/migrating.md"
PASSWD = "root:x:0:0:root:/root:/bin/bash\ndeploy:x:2000:2000:For releases:/srv/deploy:/bin/sh\n"
KEYS = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"]
ODD = "{{ not a substitution }} and {{{{ neither\n\ttab, \"quotes\", 'single', # no comment\n\n  indented: yes\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root
        self.fill(self.root)

    def fill(self, root):
        for folder in ("etc/ssh", "srv/deploy", "usr/share/zoneinfo/Etc", "usr/local/bin"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        texts = {"etc/passwd": PASSWD, "etc/shadow": "root:*:1::::::\ndeploy:$6$a$hidden:1::::::\n",
                 "etc/group": "root:x:0:\nadm:x:4:deploy\ndeploy:x:2000:\n", "etc/gshadow": "root:*::\nadm:*::deploy\ndeploy:!::\n",
                 "etc/motd": "Welcome\n", "etc/odd": ODD, "etc/empty": "", "etc/no-end": "no line end", "etc/ends": "two\n\n",
                 "etc/hostname": "web-1\n", "etc/timezone": "Etc/UTC\n", "etc/debian_version": "12\n",
                 "etc/fstab": "# static\nUUID=ab-cd /srv/a\\040b ext4 nosuid,noatime 0 2\n", "etc/x.json": '{ "a": "b" }\n',
                 "etc/x.ini": "[main]\nlevel = {{3\n", "etc/ssh/x_config": "PermitTTY  no\n",
                 "etc/long": "line\n" * 2000, "etc/secret": "hunter2\n", "usr/local/bin/tool": "#!/bin/sh\n"}
        for name, text in texts.items():
            (root / name).write_text(text)
            (root / name).chmod(0o644)
        (root / "usr/share/zoneinfo/Etc/UTC").write_text("TZif")
        (root / "srv/deploy/.ssh").mkdir(exist_ok=True, mode=0o700)
        (root / "srv/deploy/.ssh/authorized_keys").write_text(f"# mine\n{KEYS[0]} a@desk\nno-pty,command=\"x y\" {KEYS[1]}\n")
        for name in ("", "/authorized_keys"):
            os.chown(root / f"srv/deploy/.ssh{name}", 2000, 2000)
        (root / "etc/binary").write_bytes(bytes(range(256)))
        (root / "etc/binary").chmod(0o644)
        for name in ("etc/shadow", "etc/gshadow", "etc/secret"):
            (root / name).chmod(0o640)
        (root / "usr/local/bin/tool").chmod(0o4755)
        (root / "etc/ssh").chmod(0o755)
        os.chown(root / "srv/deploy", 2000, 2000)
        (root / "srv/deploy").chmod(0o2750)
        os.chown(root / "etc/odd", 2000, 4)
        link = root / "etc/localtime"
        if not link.is_symlink():
            link.symlink_to("/usr/share/zoneinfo/Etc/UTC")

    def adopt(self, *names, root=None, code=0):
        done = fleet.datum("adopt", "--print", *names, "--root", root or self.root)
        self.assertEqual(done.code, code, done.text)
        return done


class Page(Case):
    def test_commands(self):
        """migrating: the commands of the page do what it says: the plan is clean, the first pass adopts and changes nothing"""
        work = self.bench.scratch / "work"
        tools = self.bench.scratch / "tools"
        for folder in (work, tools):
            folder.mkdir()
        place = f"--root {self.root}"
        store = f"{place} --state {self.bench.state}"
        (tools / "datum").write_text(f"""#!/bin/sh
case $1 in
  adopt) exec {fleet.DATUM} "$@" {place} ;;
  observe|plan|reconcile|owned) exec {fleet.DATUM} "$@" {store} ;;
  *) exec {fleet.DATUM} "$@" ;;
esac
""")
        (tools / "datum").chmod(0o755)
        blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 3)
        before = None
        for block in blocks:
            for command in block.strip().splitlines():
                done = subprocess.run(["sh", "-c", command], cwd=work, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, command + "\n" + done.stdout + done.stderr)
            before = before or fleet.listing(self.root / "etc")
            self.assertEqual(fleet.listing(self.root / "etc"), before)
        self.assertIn("adopted", done.stdout)


class Adopt(Case):
    ALL = ["/etc/motd", "/etc/odd", "/etc/empty", "/etc/no-end", "/etc/ends", "/etc/long", "/etc/secret", "/etc/ssh", "/srv/deploy",
           "/usr/local/bin/tool", "User[deploy]", "User[root]", "Group[adm]", "Group[deploy]", "Hostname[x]", "Timezone[x]",
           "AuthorizedKey[deploy]", "mount:/srv/a b", "setting:/etc/x.ini [main] level", "setting:/etc/ssh/x_config PermitTTY",
           "setting:/etc/x.json {Json} dict/entry[. = 'a']/string"]

    def write_fleet(self, text):
        fleet.write_fleet(self.bench.fleet, {"base": []})
        (self.bench.fleet / "base/resources.yaml").write_text(text, encoding="utf-8")

    def check_clean(self, root, state):
        done = fleet.datum("plan", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", root, "--state", state, "--json")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual({line["action"] for line in done.lines if "action" in line}, {"adopt"})

    def test_printed(self):
        """adopt: what is printed of files, folders, links and accounts plans clean there and on a second root in the same state"""
        self.write_fleet(self.adopt(*self.ALL).out)
        self.check_clean(self.root, self.bench.state)
        second = self.bench.scratch / "second"
        second.mkdir(mode=0o755)
        self.fill(second)
        self.check_clean(second, self.bench.scratch / "second-state")
        (second / "etc/odd").write_text("other\n")
        done = fleet.datum("observe", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", second, "--state",
                           self.bench.scratch / "second-state", "--json")
        self.assertEqual(fleet.drifts(done), {"File[etc-odd]": ["content"]})

    def test_made_from_it(self):
        """adopt: on an empty root an enforcing pass makes from the documents what they were taken from"""
        names = ["/etc/motd", "/etc/odd", "/etc/empty", "/etc/no-end", "/etc/ends", "/etc/long", "/etc", "/etc/localtime"]
        self.write_fleet(self.adopt(*names).out)
        bare = self.bench.scratch / "bare"
        bare.mkdir(mode=0o755)
        (bare / "etc").mkdir()
        for name in ("passwd", "group"):
            shutil.copy(self.root / "etc" / name, bare / "etc" / name)
        done = fleet.datum("reconcile", "--mode", "enforce", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", bare,
                           "--state", self.bench.scratch / "bare-state")
        self.assertEqual(done.code, 0, done.text)
        for name in names[:6]:
            made, taken = bare / name[1:], self.root / name[1:]
            self.assertEqual(made.read_bytes(), taken.read_bytes(), name)
            self.assertEqual((made.stat().st_mode, made.stat().st_uid, made.stat().st_gid),
                             (taken.stat().st_mode, taken.stat().st_uid, taken.stat().st_gid), name)

    def test_into_a_folder(self):
        """adopt: --into writes long and binary contents beside the documents, which plan clean, and replaces no folder"""
        fleet.write_fleet(self.bench.fleet, {"base": []})
        into = self.bench.fleet / "now"
        self.adopt(*self.ALL, "/etc/binary", "--into", into)
        self.assertEqual(sorted(path.name for path in (into / "files").iterdir()), ["etc-binary", "etc-long"])
        self.check_clean(self.root, self.bench.state)
        before = fleet.listing(into)
        done = self.adopt("/etc/motd", "--into", into, code=1)
        self.assertIn("File exists", done.err)
        self.assertEqual(fleet.listing(into), before)

    def test_secrets_stay(self):
        """adopt: content that others may not read and password hashes are printed nowhere, and it is said"""
        done = self.adopt("/etc/secret", "/etc/shadow", "User[deploy]")
        for hidden in ("hunter2", "$6$", "hidden"):
            self.assertNotIn(hidden, done.text)
        self.assertIn("others may not read it", done.out)
        self.assertIn("it has a password, which is not printed", done.out)

    def test_what_cannot_be(self):
        """adopt: what is not there, is of no declarable type or has no name is said by itself, and the rest is printed"""
        os.mkfifo(self.root / "etc/pipe")
        done = self.adopt("/etc/motd", "/etc/nowhere", "/etc/pipe", "User[nobody-has]", "Package[x]", "relative", "File[x]",
                          "/etc/binary", "setting:/etc/secret x =", "setting:/etc/x.ini [main] none", "mount:/nowhere", "Timer[x]",
                          "AuthorizedKey[root]", "Repository[x]", code=1)
        for word in ("/etc/nowhere: nothing is there", "/etc/pipe: a socket, device or pipe", "User[nobody-has]: there is no such",
                     "Package[x]: not under --root", "relative: an absolute path", "File[x]: name a File", "is no text; --into",
                     "others may not read the file", "nothing gives that value", "neither in fstab nor mounted", "Timer[x]: not under",
                     "there is no such key", "a Repository has no portrait"):
            self.assertIn(word, done.err)
        self.assertIn("name: \"etc-motd\"", done.out)
        self.assertEqual(done.out.count("datum: v1alpha1"), 1)

    def test_without_print(self):
        """adopt: without --print it is refused, and nothing is changed or made in any case"""
        before = fleet.listing(self.root)
        self.assertEqual(fleet.datum("adopt", "/etc/motd", "--root", self.root).code, 1)
        self.adopt("/etc/motd")
        self.assertEqual(fleet.listing(self.root), before)
        self.assertFalse(self.bench.state.exists())


if __name__ == "__main__":
    tap.main()
