#!/usr/bin/env python3
# test: short
"""The packages that packaging/build-package makes of this build: what is in them, what they need of a machine, that the
same build gives the same bytes, and that the tarball installs, upgrades and goes below a scratch folder."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import packages_made  # noqa: E402
import tap  # noqa: E402

# What a machine must bring: Debian 12, Ubuntu 23.04 and newer, RHEL 10. docs/operating/install.md says the same.
FLOOR = "2.36"


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.deb = packages_made.make("deb", cls.scratch / "out")
        cls.rpm = packages_made.make("rpm", cls.scratch / "out")
        cls.tar = packages_made.make("tar", cls.scratch / "out")
        subprocess.run(["tar", "-C", cls.scratch, "-xf", cls.tar], check=True)
        (cls.tree,) = cls.scratch.glob("datum-*/install.sh")
        cls.tree = cls.tree.parent
        cls.root = cls.scratch / "root"
        subprocess.run(["dpkg-deb", "-x", cls.deb, cls.root], check=True)

    def control(self, field):
        done = subprocess.run(["dpkg-deb", "-f", self.deb, field], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def install(self, *arguments, tree=None):
        return subprocess.run([(tree or self.tree) / "install.sh", *arguments], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_same_bytes(self):
        """packages: the same build gives the same bytes"""
        for kind, first in (("deb", self.deb), ("rpm", self.rpm), ("tar", self.tar)):
            again = packages_made.make(kind, self.scratch / "again")
            self.assertEqual(first.read_bytes(), again.read_bytes(), kind)

    def test_glibc(self):
        """packages: programs need glibc and no other library, in a version that is stated"""
        for program in ("usr/bin/datum", "usr/sbin/datum-host"):
            head = subprocess.run(["objdump", "-p", self.root / program], capture_output=True, text=True, check=True).stdout
            needed = set(re.findall(r"NEEDED +(\S+)", head))
            self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
            versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", head)]
            self.assertLessEqual(max(versions), tuple(map(int, FLOOR.split("."))))
        stated = (self.tree / "glibc").read_text().strip()
        self.assertEqual(self.control("Depends"), f"libc6 (>= {stated})")
        self.assertLessEqual(tuple(map(int, stated.split("."))), tuple(map(int, FLOOR.split("."))))

    def test_note(self):
        """packages: a program says what the note of its file says, and has that in no second place"""
        stated = self.control("Version")
        other = ("8" if stated[0] == "9" else "9") + stated[1:]
        tree = self.scratch / "renamed"
        shutil.copytree(self.root, tree)
        packages_made.rename_version(tree, stated, other)
        for program in packages_made.PROGRAMS:
            said = subprocess.run([tree / program, "--version"], capture_output=True, text=True, check=True).stdout
            self.assertEqual(said.split()[1], other, program)

    def ask_rpm(self, *arguments):
        return subprocess.run(["rpm", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout

    def test_rpm(self):
        """rpm: it has the files of the Debian package, all root's, and needs a shell and what that needs of glibc"""
        made = set(self.ask_rpm("-qpl", self.rpm).split())
        files = {f"/{path.relative_to(self.root)}" for path in self.root.rglob("*") if path.is_file()}
        self.assertEqual({path for path in made if path in files}, files)
        self.assertEqual(made - files, {"/usr/lib/datum", "/usr/share/doc/datum-host", "/usr/share/doc/datum-host/examples"})
        self.assertEqual(set(self.ask_rpm("-qp", "--qf", "[%{FILEUSERNAME}:%{FILEGROUPNAME} ]", self.rpm).split()), {"root:root"})
        self.assertEqual(self.ask_rpm("-qp", "--qf", "%{VERSION}", self.rpm), self.control("Version"))
        needed = {line.split("(")[0].split()[0] for line in self.ask_rpm("-qp", "--requires", self.rpm).splitlines()}
        self.assertLessEqual(needed, {"/bin/sh", "rpmlib", "rtld", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2",
                                      "ld-linux-aarch64.so.1"})
        floor = (self.tree / "glibc").read_text().strip()
        self.assertIn(f"libc.so.6(GLIBC_{floor})", self.ask_rpm("-qp", "--requires", self.rpm))

    @unittest.skipUnless(os.geteuid() == 0, "needs root: rpm changes into the folder")
    def test_rpm_installs(self):
        """rpm: it installs, upgrades and goes in an empty root, and leaves what is not its own"""
        root = self.scratch / "rpm-root"
        (root / "etc/datum").mkdir(parents=True)
        (root / "etc/datum/agent.yaml").write_text("host: a\n")
        within = ["--root", str(root), "--dbpath", "/var/lib/rpm", "--nodeps", "--noscripts"]
        self.ask_rpm(*within, "-i", str(self.rpm))
        self.assertEqual(self.ask_rpm(*within[:-1], "-V", "datum-host"), "")
        program = root / "usr/sbin/datum-host"
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(self.control("Version"), version)
        with open(program, "rb") as old:
            self.ask_rpm(*within, "-U", "--replacepkgs", str(self.rpm))
            self.assertNotEqual(program.stat().st_ino, os.fstat(old.fileno()).st_ino)
            self.assertEqual(old.read(4), b"\x7fELF")
        self.ask_rpm(*within, "-e", "datum-host")
        left = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        self.assertEqual([path for path in left if not path.startswith("var/lib/rpm/")],
                         ["etc/datum/agent.yaml"])

    def test_rpm_scripts(self):
        """rpm: no script stops or restarts anything at an upgrade, and a removal ends the service [U01] [U07]"""
        bin_, calls = self.scratch / "rpm-bin", self.scratch / "rpm-calls"
        bin_.mkdir()
        (bin_ / "systemctl").write_text(f'#!/bin/sh\necho "$*" >>"{calls}"\n')
        (bin_ / "systemctl").chmod(0o755)

        def run(*steps):
            calls.write_text("")
            for script, left in steps:
                text = self.ask_rpm("-qp", "--qf", f"%{{{script}}}", self.rpm)
                done = subprocess.run(["sh", "-c", text, "script", left], capture_output=True, text=True, check=False,
                                      env={"PATH": f"{bin_}:/usr/bin:/bin"})
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), script)
            return {line for line in calls.read_text().splitlines() if line != "daemon-reload"}

        self.assertEqual(run(("POSTIN", "2"), ("PREUN", "1"), ("POSTUN", "1")), set())
        self.assertIn("--no-reload preset datum-host.service", run(("POSTIN", "1")))
        self.assertIn("--no-reload disable datum-host.service", run(("PREUN", "0")))

    def test_whole(self):
        """packages: both have programs, units, script, pages and completion, owned by root, and no configuration"""
        listed = subprocess.run(["dpkg-deb", "-c", self.deb], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("datum-control", listed)  # that has a package of its own, and is not kept for a rollback
        for path in ("usr/bin/datum", "usr/sbin/datum-host", "usr/lib/datum/datum-release", "usr/lib/datum/files",
                     "usr/lib/systemd/system/datum-host.service", "usr/lib/systemd/system/datum-rollback.service",
                     "usr/share/man/man8/datum-host.8.gz", "usr/share/man/man1/datum.1.gz",
                     "usr/share/bash-completion/completions/datum", "usr/share/doc/datum-host/examples/agent.yaml"):
            self.assertTrue((self.root / path).is_file(), path)
            self.assertTrue((self.tree / "root" / path).is_file(), path)
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"root/root"})
        self.assertFalse((self.root / "etc").exists())

    def test_list(self):
        """packages: the list of what is kept for a rollback names programs, script and units, and itself"""
        listed = (self.root / "usr/lib/datum/files").read_text().splitlines()
        self.assertEqual(listed, ["/usr/bin/datum", "/usr/lib/datum/datum-release", "/usr/lib/datum/files",
                                  "/usr/lib/systemd/system/datum-host.service",
                                  "/usr/lib/systemd/system/datum-rollback.service", "/usr/sbin/datum-host"])

    def test_scripts(self):
        """packages: maintainer scripts are of a plain shell, and no upgrade stops or restarts anything [U01] [U07]"""
        control = self.scratch / "control"
        subprocess.run(["dpkg-deb", "-e", self.deb, control], check=True)
        bin_ = self.scratch / "bin"
        bin_.mkdir()
        for tool in ("systemctl", "deb-systemd-helper", "deb-systemd-invoke"):
            (bin_ / tool).write_text(f'#!/bin/sh\necho "{tool} $*" >>"{self.scratch}/calls"\n')
            (bin_ / tool).chmod(0o755)
        for script, *arguments in (("prerm", "upgrade", "0.2.0"), ("preinst", "upgrade", "0.1.0"),
                                   ("postrm", "upgrade", "0.2.0"), ("postinst", "configure", "0.1.0"),
                                   ("prerm", "failed-upgrade", "0.1.0"), ("postinst", "abort-upgrade", "0.2.0")):
            done = subprocess.run(["sh", control / script, *arguments], capture_output=True, text=True, check=False,
                                  env={"PATH": f"{bin_}:/usr/bin:/bin"})
            self.assertEqual((done.returncode, done.stdout), (0, ""), (script, done.stderr))
        calls = (self.scratch / "calls").read_text()
        self.assertIsNone(re.search(r"\b(stop|restart|start|reload|kill|disable)\b", calls.replace("daemon-reload", "")))

    def test_tarball(self):
        """tarball: it installs, upgrades by renames and goes away without touching what is not its own"""
        dest = self.scratch / "dest"
        (dest / "etc/datum").mkdir(parents=True)
        (dest / "etc/datum/agent.yaml").write_text("host: a\n")
        (dest / "usr/bin").mkdir(parents=True)
        (dest / "usr/bin/other").write_text("")
        done = self.install("--destdir", dest)
        self.assertEqual(done.returncode, 0, done.stdout)
        program = dest / "usr/sbin/datum-host"
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn((self.tree / "version").read_text().strip(), version)
        with open(program, "rb") as old:
            before = os.fstat(old.fileno()).st_ino
            self.assertEqual(self.install("--destdir", dest).returncode, 0)
            self.assertNotEqual(program.stat().st_ino, before)
            self.assertEqual(old.read(4), b"\x7fELF")
        self.assertEqual([str(path) for path in dest.rglob("*.datum-new")], [])
        self.assertEqual(self.install("--uninstall", "--destdir", dest).returncode, 0)
        left = sorted(str(path.relative_to(dest)) for path in dest.rglob("*") if path.is_file())
        self.assertEqual(left, ["etc/datum/agent.yaml", "usr/bin/other"])

    def test_tarball_refuses(self):
        """tarball: a machine that cannot run it is refused in words before anything is there"""
        old = self.scratch / "old"
        shutil.copytree(self.tree, old)
        (old / "glibc").write_text("99.1\n")
        done = self.install("--destdir", self.scratch / "nowhere", tree=old)
        self.assertEqual(done.returncode, 1)
        self.assertIn("99.1 or newer is needed", done.stdout)
        (old / "architecture").write_text("pdp11\n")
        self.assertIn("for pdp11", self.install("--destdir", self.scratch / "nowhere", tree=old).stdout)
        self.assertIn("no argument", self.install("--now", tree=old).stdout)
        self.assertFalse((self.scratch / "nowhere").exists())


if __name__ == "__main__":
    tap.main()
