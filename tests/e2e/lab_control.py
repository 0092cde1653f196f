#!/usr/bin/env python3
# test: long root
"""The package of the control plane in a machine with a real systemd: its user and groups, the service under the restrictions
of its unit, who may ask it, an upgrade while it runs, and what a removal leaves."""

import json
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import machine  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

UNIT = "datum-control.service"
LIMIT_S = 90


class Package(unittest.TestCase):
    def setUp(self):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-lab-control-"))
        self.addCleanup(shutil.rmtree, scratch)
        deb = packages_made.make("control", scratch)
        self.lab = machine.Machine("control")
        self.addCleanup(self.lab.drop)
        self.lab.boot()
        shutil.copy(deb, self.lab.path("/srv/control.deb"))

    def wait_until(self, holds, what):
        limit = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > limit:
                self.fail(f"{what}: not within {LIMIT_S} s\n" + self.lab.run("journalctl", "-u", UNIT, "-n", "40").stdout)
            self.lab.run("sleep", "0.2")

    def show(self, name):
        return self.lab.must("systemctl", "show", "-P", name, UNIT).strip()

    def ask_as(self, user, *words):
        return self.lab.run("runuser", "-u", user, "--", "datum-control", *words)

    def answers(self):
        return self.lab.run("datum-control", "status").returncode == 0

    def test_life(self):
        """control package: installed it starts nothing; started it serves its groups as its own user, is upgraded, and goes"""
        self.lab.must("dpkg", "-i", "/srv/control.deb")
        self.assertEqual((self.show("ActiveState"), self.show("UnitFileState")), ("inactive", "disabled"))
        self.lab.put("/etc/default/datum-control", 'OPTIONS="--mesh prod"\n')
        for user, group in (("ada", "datum-admin"), ("rob", "datum-read"), ("eve", "users")):
            self.lab.must("useradd", "--groups", group, user)
        self.lab.must("systemctl", "enable", "--now", UNIT)
        self.wait_until(self.answers, "it answers")
        status = json.loads(self.lab.must("datum-control", "status", "--json"))
        self.assertEqual((status["mesh"], status["nodes"]), ("prod", 0))
        self.assertEqual(self.ask_as("ada", "token", "create").returncode, 0)
        self.assertEqual(self.ask_as("rob", "status").returncode, 0)
        self.assertEqual(self.ask_as("rob", "token", "create").returncode, 1)
        self.assertEqual(self.ask_as("eve", "status").returncode, 1)
        self.assertEqual(self.lab.must("stat", "-c", "%U %a", "/var/lib/datum-control").strip(), "datum-control 700")
        pid = self.show("MainPID")
        proc = self.lab.must("cat", f"/proc/{pid}/status")
        self.assertIn("CapEff:\t0000000000000000", proc)
        self.assertIn("NoNewPrivs:\t1", proc)
        log = self.lab.must("journalctl", "-u", UNIT, "-o", "json")
        said = [json.loads(line) for line in log.splitlines()]
        self.assertTrue([each for each in said if each["PRIORITY"] == "5" and each["MESSAGE"].startswith("mesh prod listens")])
        self.lab.must("dpkg", "-i", "/srv/control.deb")
        self.wait_until(lambda: self.show("MainPID") not in ("0", pid) and self.answers(), "it is started anew")
        self.assertEqual(json.loads(self.lab.must("datum-control", "status", "--json"))["openTokens"], 1)
        self.lab.must("dpkg", "--purge", "datum-control")
        self.assertEqual(self.lab.run("pidof", "datum-control").returncode, 1)
        self.lab.must("test", "-e", "/var/lib/datum-control/authority.key")


if __name__ == "__main__":
    tap.main()
