#!/usr/bin/env python3
# test: long root
"""Accounts and secrets on a machine with a real systemd: what getent, id and the login records say of an account, and
secrets that the service manager hands to a unit as credentials."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from machine import Node  # noqa: E402

HASH = "$6$salt$machine"


def user(name, **fields):
    return fleet.Resource("User", name, {"state": "present", **fields})


def group(name, **fields):
    return fleet.Resource("Group", name, {"state": "present", **fields})


class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node("accounts")
        cls.addClassCleanup(cls.node.drop)
        cls.node.boot()
        cls.node.must("mkdir", "-p", "-m", "700", "/etc/datum/secrets")

    def setUp(self):
        self.node.must("rm", "-rf", self.node.STATE)

    def enforce(self, *resources, code=0):
        self.node.declare(*resources)
        done = self.node.enforce()
        self.assertEqual(done.code, code, done.text)
        return done

    def test_whole_life(self):
        """accounts: the machine itself knows an account as it is declared, and no more once it left; its home stays"""
        self.node.put("/etc/datum/secrets/anna", HASH + "\n", 0o600)
        home = fleet.with_keys(fleet.directory("home", "/srv/anna", owner="anna", group="crew", mode="0700"),
                               requires=["User[anna]"])
        wanted = dict(uid=6000, primaryGroup="crew", groups=["adm"], home="/srv/anna", shell="/bin/bash", passwordRef="anna")
        self.enforce(user("anna", **wanted), group("crew", gid=6100), home)
        self.assertEqual(self.node.must("getent", "passwd", "anna"), "anna:x:6000:6100::/srv/anna:/bin/bash\n")
        self.assertEqual(self.node.must("id", "-Gn", "anna"), "crew adm\n")
        self.assertIn(f"anna:{HASH}:", self.node.must("getent", "shadow", "anna"))
        self.assertEqual(self.node.must("stat", "-c", "%U:%G:%a", "/srv/anna"), "anna:crew:700\n")
        self.enforce(user("anna", **{**wanted, "groups": [], "locked": True}), group("crew", gid=6100), home)
        self.assertEqual(self.node.must("id", "-Gn", "anna"), "crew\n")
        self.assertEqual(self.node.must("passwd", "-S", "anna").split()[1], "L")
        self.enforce(fleet.directory("d", "/srv/d"))
        self.assertNotEqual(self.node.run("getent", "passwd", "anna").returncode, 0)
        self.assertNotEqual(self.node.run("getent", "group", "crew").returncode, 0)
        self.node.must("pwck", "-r", "-q")
        self.node.must("grpck", "-r")

    def test_an_account_in_use(self):
        """accounts: one that somebody uses is not removed, in the tool's words, and goes in a later pass"""
        self.enforce(user("busy"))
        self.node.must("systemd-run", "--unit=busy-shell", "--uid=busy", "sleep", "infinity")
        done = self.enforce(user("busy", state="absent"), code=2)
        self.assertIn("user busy is currently used by process", done.out)
        self.node.must("systemctl", "stop", "busy-shell")
        self.enforce(user("busy", state="absent"))
        self.assertNotEqual(self.node.run("getent", "passwd", "busy").returncode, 0)

    def test_credentials(self):
        """secrets: a unit's credentials are resolved, and a shell, which has none, leaves the file as it is"""
        self.node.put("/etc/datum/agent.yaml", "secrets: {backend: credentials}\n")
        self.addCleanup(self.node.must, "rm", "/etc/datum/agent.yaml")
        self.node.put("/root/token", "from a credential\n", 0o600)
        self.node.declare(fleet.file("f", "/srv/f", secretRef="token", mode="0600"))
        done = self.node.enforce()
        self.assertEqual(done.code, 4, done.text)
        self.assertIn("$CREDENTIALS_DIRECTORY names no folder", done.text)
        self.node.must("systemd-run", "--wait", "-p", "LoadCredential=token:/root/token", "/usr/bin/datum", "reconcile", "--mode",
                       "enforce", "--fleet", "/srv/fleet", "--host", fleet.HOST, "--state", self.node.STATE)
        self.assertEqual(self.node.must("cat", "/srv/f"), "from a credential\n")


if __name__ == "__main__":
    tap.main()
