#!/usr/bin/env python3
# test: short
"""The Debian package of the control plane: what is in it, what its scripts do and leave alone, and that its program takes
the place of an older one under a node that is linked."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import mesh  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

FILES = ["usr/lib/systemd/system/datum-control.service", "usr/lib/sysusers.d/datum-control.conf", "usr/sbin/datum-control",
         "usr/share/bash-completion/completions/datum-control", "usr/share/doc/datum-control/copyright",
         "usr/share/man/man8/datum-control.8.gz"]
TOOLS = ("systemctl", "systemd-sysusers", "getent", "groupadd", "useradd")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-control-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.deb = packages_made.make("control", cls.scratch / "out")
        cls.root = cls.scratch / "root"
        subprocess.run(["dpkg-deb", "-R", cls.deb, cls.root], check=True)

    def test_content(self):
        """control package: it has program, unit, users, page and completion, all root's, needs glibc, and is made the same again"""
        found = sorted(str(path.relative_to(self.root)) for path in (self.root / "usr").rglob("*") if path.is_file())
        self.assertEqual(found, FILES)
        listed = subprocess.run(["dpkg-deb", "-c", self.deb], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"root/root"})
        head = subprocess.run(["objdump", "-p", self.root / FILES[2]], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(set(re.findall(r"NEEDED +(\S+)", head)),
                             {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
        control = (self.root / "DEBIAN/control").read_text()
        said = subprocess.run([self.root / FILES[2], "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"Version: {said.split()[1].rstrip(',')}\n", control)
        again = packages_made.make("control", self.scratch / "again")
        self.assertEqual(self.deb.read_bytes(), again.read_bytes())

    def run_script(self, script, *arguments, without=()):
        bin_, calls = self.scratch / "bin", self.scratch / "calls"
        shutil.rmtree(bin_, ignore_errors=True)
        bin_.mkdir()
        for tool in TOOLS:
            (bin_ / tool).write_text(f'#!/bin/sh\necho "{tool} $*" >>"{calls}"\n[ "{tool}" != getent ]\n')
            (bin_ / tool).chmod(0o755)
        calls.write_text("")
        text = (self.root / "DEBIAN" / script).read_text()
        # As on a machine with systemd, or without: this one's own folders are not asked.
        text = text.replace("/run/systemd/system", str(bin_)).replace("/usr/bin/systemd-sysusers", str(bin_ / "systemd-sysusers"))
        text = text.replace("/bin/systemd-sysusers", "/nowhere/systemd-sysusers") if "systemd-sysusers" in without else text
        done = subprocess.run(["sh", "-c", text, script, *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": f"{bin_}:/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stdout), (0, ""), (script, done.stderr))
        return [line for line in calls.read_text().splitlines() if "daemon-reload" not in line]

    def test_scripts(self):
        """control package: nothing is started by an installation, an upgrade starts anew what runs, a removal keeps the store"""
        self.assertEqual(self.run_script("postinst", "configure"), ["systemd-sysusers datum-control.conf"])
        self.assertEqual(self.run_script("postinst", "configure", "0.0.9"),
                         ["systemd-sysusers datum-control.conf", "systemctl --system try-restart datum-control.service"])
        bare = self.run_script("postinst", "configure", without=("systemd-sysusers",))
        self.assertEqual([line.split()[-1] for line in bare if not line.startswith("getent")],
                         ["datum-control", "datum-admin", "datum-read", "datum-control"])
        self.assertEqual(self.run_script("prerm", "upgrade", "0.2.0"), [])
        self.assertEqual(self.run_script("prerm", "remove"), ["systemctl --system disable --now datum-control.service"])
        self.assertEqual((self.run_script("postrm", "remove"), self.run_script("postrm", "purge")), ([], []))

    def test_unit(self):
        """control package: the unit runs what is packaged as its own user, with the groups that are made, and no capability"""
        unit = (self.root / FILES[0]).read_text()
        users = (self.root / FILES[1]).read_text()
        (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
        self.assertEqual(line.split()[0], "/usr/sbin/datum-control")
        for flag in ("--admin-group", "--read-group"):
            self.assertRegex(users, rf"(?m)^g {line.split()[line.split().index(flag) + 1]} ")
        self.assertRegex(users, r"(?m)^u datum-control ")
        for setting in ("User=datum-control", "CapabilityBoundingSet=", "NoNewPrivileges=yes", "ProtectSystem=strict",
                        "StateDirectoryMode=0700"):
            self.assertIn(f"\n{setting}\n", unit)


class Upgrade(unittest.TestCase):
    declare, push, enrol, content = mesh.Mesh.declare, mesh.Mesh.push, mesh.Mesh.enrol, mesh.Mesh.content

    def test_under_a_node(self):
        """control package: its program takes an older one's place under a node that goes on, comes back, and is pushed to"""
        mesh.Mesh.setUp(self)
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        deb = packages_made.make("control", self.bench.scratch / "out")
        newer = self.bench.scratch / "newer"
        subprocess.run(["dpkg-deb", "-x", deb, newer], check=True)
        program = newer / "usr/sbin/datum-control"
        data = program.read_bytes()
        (old,) = re.findall(rb"datum-version=([0-9.]+) \(", data)
        new = (b"8" if old[:1] == b"9" else b"9") + old[1:]
        program.write_bytes(data.replace(b"datum-version=" + old, b"datum-version=" + new))
        before = self.plane.node()
        self.plane.end()
        self.addCleanup(setattr, mesh, "CONTROL", mesh.CONTROL)
        mesh.CONTROL = program
        self.plane.start()
        hosting.wait(lambda: self.plane.node()["linked"])
        after = self.plane.node()
        for key in ("fingerprint", "store", "enrolled", "certificateUntil", "newest", "applied"):
            self.assertEqual(after[key], before[key], key)
        self.push("two\n")
        host.wait_until(lambda: self.content() == "two\n")
        self.assertIn(f'"version":"{new.decode()}', self.told(program))
        self.assertEqual(host.stop(), 0, host.said)

    def told(self, program):
        return subprocess.run([program, "history", "--state", self.plane.folder / "state", "--json"], capture_output=True,
                              text=True, check=True).stdout


if __name__ == "__main__":
    tap.main()
