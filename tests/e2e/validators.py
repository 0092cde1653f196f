#!/usr/bin/env python3
# test: short root
"""Validators that are programs: what they are given, and what their answer does to the file. They are scripts of a
scratch root of its own, with a shell; once it is the root of a pass (--root), once the machine itself (chroot)."""

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

SUDOERS = "/etc/sudoers.d/team"
ENVIRONMENT = ["HOME=/", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb"]
# A shell moves descriptors about; this says what it was given and refuses.
SAYS_ALL = r"""
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char** arguments, char** environment) {
  char name[64], what[256];
  for (int i = 1; i < count; ++i) printf("argument: %s\n", arguments[i]);
  while (*environment) printf("environment: %s\n", *environment++);
  for (int i = 0; i < 1024; ++i) {
    snprintf(name, sizeof name, "/proc/self/fd/%d", i);
    const ssize_t size = readlink(name, what, sizeof what);
    if (size > 0) printf("descriptor: %d %.*s\n", i, (int)size, what);
  }
  printf("umask: %04o\n", umask(0));
  return 1;
}
"""


def copy_program(root, program):
    """The program and the libraries that it names, under the same paths in the root."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for path in [program, *re.findall(r"(/\S+) \(0x", listed)]:
        inside = root / path.lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(path), inside)


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        for folder in ("dev", "proc", "run", "etc/sudoers.d", "usr/sbin"):
            (self.bench.root / folder).mkdir(parents=True)
        for program in ("/bin/sh", "/usr/bin/grep"):
            copy_program(self.bench.root, program)
        subprocess.run(["mknod", "-m", "666", self.bench.root / "dev/null", "c", "1", "3"], check=True)
        if subprocess.run(["mount", "-t", "proc", "proc", self.bench.root / "proc"], check=False).returncode != 0:
            self.skipTest("/proc cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.bench.root / "proc"], check=False)
        self.at = self.bench.path(SUDOERS)
        self.at.write_text("old\n")
        self.at.chmod(0o644)

    def validator(self, script, program="/usr/sbin/visudo"):
        path = self.bench.path(program)
        path.write_text(script)
        path.chmod(0o755)

    def declare(self, content, *more, **fields):
        self.bench.declare(fleet.file("team", SUDOERS, content, validate="sudoers", **fields), *more)

    def action(self, run, path=SUDOERS):
        return next(line for line in run.lines if line.get("target") == path and "ordinal" in line)

    def clean(self):
        self.assertEqual(sorted(self.bench.root.joinpath("etc").rglob(".datum-*")), [])


class Answers(Case):
    def test_verdicts(self):
        """[F21] what the validator refuses never goes live and blocks what needs it; what it accepts does"""
        self.validator("#!/bin/sh\nif grep -q yes \"$3\"; then echo \"$3:1: syntax error\"; exit 1; fi\n")
        after = fleet.with_keys(fleet.file("after", "/after", "x\n"), requires=["File[team]"])
        self.declare("permit yes\n", after, mode="0644")
        run = self.bench.enforce("--json")
        refused = self.action(run)
        self.assertEqual((run.code, refused["outcome"]), (2, "failed"))
        self.assertIn("validate: sudoers: refused, exit status 1", refused["message"])
        self.assertRegex(refused["output"], r"^/etc/sudoers\.d/\.datum-\S+:1: syntax error\n$")
        self.assertEqual(self.at.read_text(), "old\n")
        self.assertFalse((self.bench.root / "after").exists())
        self.assertEqual(self.action(run, "/after")["outcome"], "blocked")
        self.clean()
        self.declare("permit no\n", after, mode="0644")
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.at.read_text(), "permit no\n")
        self.assertTrue((self.bench.root / "after").exists())
        self.clean()

    def test_missing(self):
        """a validator that the root does not have is a failure, whatever this machine has"""
        self.declare("new\n", mode="0644")
        self.assertIn("/usr/sbin/visudo is not installed", self.action(self.bench.enforce("--json"))["message"])
        self.assertEqual(self.at.read_text(), "old\n")
        self.clean()

    def test_observe(self):
        """observe and plan run no validator"""
        self.validator("#!/bin/sh\n: > /ran\n")
        self.declare("new\n", mode="0644")
        self.bench.observe()
        self.bench.run("plan")
        self.assertFalse((self.bench.root / "ran").exists())

    def test_untrusted(self):
        """a validator that others can write is not run as root"""
        self.validator("#!/bin/sh\n: > /ran\n")
        self.bench.path("/usr/sbin/visudo").chmod(0o777)
        self.declare("new\n", mode="0644")
        self.assertIn("its mode 0777", self.action(self.bench.enforce("--json"))["message"])
        self.assertFalse((self.bench.root / "ran").exists())

    def test_sensitive(self):
        """[S08] what a validator writes about a file that others may not read is neither shown nor recorded"""
        self.validator("#!/bin/sh\necho hunter2\nexit 1\n")
        self.declare("hunter2\n", mode="0440")
        run = self.bench.enforce("--json")
        self.assertEqual(self.action(run)["output"], "(redacted)")
        self.assertNotIn("hunter2", run.text + str(self.bench.events()))

    def test_output(self):
        """of much output the first and the last 8 KiB are kept, and the gap is named"""
        self.validator("#!/bin/sh\nprintf begin\ni=0; while [ $i -lt 2000 ]; do echo 0123456789012345678; i=$((i+1)); done\n"
                       "printf end\nexit 1\n")
        self.declare("new\n", mode="0644")
        output = self.action(self.bench.enforce("--json"))["output"]
        self.assertTrue(output.startswith("begin") and output.endswith("end"), output[:20])
        self.assertIn("[23624 bytes were left out here]", output)
        self.assertLess(len(output), 16 * 1024 + 64)


class Surroundings(Case):
    def says_all(self):
        subprocess.run(["cc", "-static", "-x", "c", "-o", self.bench.path("/usr/sbin/visudo"), "-"], input=SAYS_ALL, text=True,
                       check=True)

    def check_said(self, output):
        self.assertEqual(sorted(re.findall("environment: (.*)", output)), ENVIRONMENT, output)
        descriptors = dict(re.findall(r"descriptor: (\d+) (.*)", output))
        self.assertEqual(list(descriptors), ["0", "1", "2"], descriptors)
        self.assertEqual(descriptors["0"], "/dev/null")
        self.assertTrue(descriptors["1"].startswith("pipe:") and descriptors["1"] == descriptors["2"], descriptors)
        self.assertIn("umask: 0022", output)
        self.assertRegex(output, r"argument: -c\nargument: -f\nargument: /etc/sudoers\.d/\.datum-\S+\n")

    def test_under_root(self):
        """under --root a validator sees its own root, an exact environment, /dev/null and no descriptor of datum's"""
        self.says_all()
        self.declare("new\n", mode="0644")
        self.check_said(self.action(self.bench.enforce("--json"))["output"])

    def test_on_the_machine(self):
        """on the machine itself it is the same, whatever descriptors and variables datum was started with"""
        copy_program(self.bench.root, fleet.DATUM)
        inside = self.bench.root / "datum"
        shutil.move(self.bench.root / fleet.DATUM.lstrip("/"), inside)
        self.says_all()
        self.declare("new\n", mode="0644")
        shutil.copytree(self.bench.fleet, self.bench.root / "fleet")
        left_open = os.open("/etc/passwd", os.O_RDONLY)
        self.addCleanup(os.close, left_open)
        # A scratch folder may be on a file system without devices.
        enter = 'mount --bind /dev/null "$1/dev/null" && exec chroot "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", enter, "sh", self.bench.root, "/datum", "reconcile", "--mode",
                               "enforce", "--fleet", "/fleet", "--host", fleet.HOST, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=fleet.PASS_LIMIT_S, check=False, pass_fds=[left_open],
                              env={**os.environ, "SECRET": "x", "LD_DEBUG_X": "y"})
        run = fleet.Run(done.returncode, done.stdout, done.stderr)
        self.assertEqual(run.code, 2, run.text)
        self.check_said(self.action(run)["output"])


if __name__ == "__main__":
    tap.main()
