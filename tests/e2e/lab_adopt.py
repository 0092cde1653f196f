#!/usr/bin/env python3
# test: long root
"""`datum adopt --print` on a machine with a real systemd and dpkg: what it prints plans clean there and on a second machine in
the same state. And what the machine says of a restart that it waits for."""

import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from machine import Node  # noqa: E402

UNIT = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
KEY = "kernel.panic_on_oops"
TIMER = ("# Kept by Datum: changes made here are undone.\n[Unit]\nDescription=Starts job.service at its times\n\n[Timer]\n"
         "OnCalendar=*-*-* 03:00:00\nOnCalendar=Mon 12:00\nPersistent=true\nUnit=job.service\n\n[Install]\nWantedBy=timers.target\n")
NAMES = ["Hostname[x]", "Timezone[x]", "Timer[job]", "mount:/srv/m", "/etc/systemd", "/etc/mtab", "/usr/bin/mount", "Package[libc6]", "Package[systemd]", "Service[running]",
         "Service[stopped]", "Service[disabled]", "Service[masked]", "Service[systemd-journald]", "Service[apt-daily.timer]",
         "User[nobody]", "User[root]", "Group[adm]", f"Sysctl[{KEY}]"]


class Case(unittest.TestCase):
    def machine(self, name):
        node = Node(name)
        self.addCleanup(node.drop)
        node.boot()
        return node


class Adopt(Case):
    def prepare(self, node):
        for name in ("running", "stopped", "disabled"):
            node.unit(f"{name}.service", UNIT)
        node.must("systemctl", "enable", "--now", "running")
        node.must("systemctl", "enable", "stopped")
        node.must("systemctl", "mask", "masked")
        node.must("apt-mark", "hold", "systemd")
        node.put("/etc/hostname", "same\n")
        node.put("/usr/share/zoneinfo/Etc/UTC", "TZif")
        node.put("/etc/timezone", "Etc/UTC\n")
        node.unit("job.service", "[Service]\nExecStart=/bin/true\n")
        node.put("/etc/systemd/system/job.timer", TIMER)
        node.put("/etc/fstab", "tmpfs /srv/m tmpfs nosuid,size=1m 0 0\n")
        node.must("sh", "-c", "ln -sfn /usr/share/zoneinfo/Etc/UTC /etc/localtime; hostname same; "
                  "mkdir -p /srv/m; systemctl daemon-reload; mount /srv/m; systemctl enable --now job.timer")

    def check_clean(self, node):
        plan = node.one_pass("plan", "--json")
        changing = {line["reference"]: [change["field"] for change in line["changes"]] for line in plan.lines
                    if line.get("action") not in (None, "adopt")}
        # That a kernel value holds after a restart too is said above its document.
        self.assertEqual(changing, {f"Sysctl[{KEY}]": ["persisted"]}, plan.text)
        self.assertEqual(sum("action" in line for line in plan.lines), len(NAMES), plan.text)

    def test_two_machines(self):
        """adopt: what is printed of packages, units, accounts, files and kernel values plans clean here and on a second machine"""
        first, second = self.machine("adopt-a"), self.machine("adopt-b")
        for node in (first, second):
            self.prepare(node)
        first.declare()
        printed = first.datum("adopt", "--print", *NAMES, "--into", "/srv/fleet/now")
        self.assertEqual(printed.code, 0, printed.text)
        self.check_clean(first)
        shutil.copytree(first.path("/srv/fleet"), second.path("/srv/fleet"))
        self.check_clean(second)
        second.must("systemctl", "stop", "running")
        second.must("apt-mark", "unhold", "systemd")
        seen = fleet.drifts(second.observe("--json"))
        self.assertEqual(seen["Service[running]"], ["state"])
        self.assertEqual(seen["Package[systemd]"], ["pinned"])


class Restart(Case):
    def status(self, node):
        return node.datum("status", "--state", node.STATE, "--json").lines[0]

    def ask(self, node, *packages):
        """As Debian's packages do: /run is the machine's own and lies in no file system that is seen from here."""
        node.must("sh", "-c", "echo '*** System restart required ***' > /run/reboot-required")
        if packages:
            node.must("sh", "-c", "printf '%s\\n' \"$@\" > /run/reboot-required.pkgs", "sh", *packages)

    def test_seen(self):
        """restart: what asks for one is a flag with its cause from the next pass on, in both modes, and nothing restarts"""
        node = self.machine("restart")
        node.declare(fleet.file("a", "/srv/a", "a\n"))
        self.assertEqual(node.enforce().code, 0)
        self.assertNotIn("awaiting-reboot", self.status(node)["flags"])
        boot = node.must("cat", "/proc/sys/kernel/random/boot_id")
        self.ask(node, "libc6")
        for one_pass in (node.observe, node.enforce):
            self.assertEqual(one_pass().code, 0)
            status = self.status(node)
            self.assertIn("awaiting-reboot", status["flags"])
            self.assertEqual((status["condition"], status["rebootRequiredBy"]), ("converged", "/run/reboot-required (libc6)"))
        self.assertIn("wanted by /run/reboot-required (libc6)", node.datum("status", "--state", node.STATE).out)
        told = [event for event in node.events() if event["kind"] == "rebootRequired"]
        self.assertEqual(len(told), 1)
        head = len(node.events())
        self.assertEqual(node.enforce().code, 0)
        self.assertLessEqual(len(node.events()) - head, 4)
        self.assertEqual(node.must("cat", "/proc/sys/kernel/random/boot_id"), boot)
        node.must("rm", "/run/reboot-required", "/run/reboot-required.pkgs")
        self.assertEqual(node.enforce().code, 0)
        self.assertNotIn("awaiting-reboot", self.status(node)["flags"])
        self.assertEqual([event["kind"] for event in node.events() if event["kind"].startswith("reboot")],
                         ["rebootRequired", "rebootRequired"])
        self.assertEqual(node.events("--kind", "rebootRequired")[-1]["event"]["by"], "")

    def test_after_it(self):
        """restart: one that happened ends it, by the machine's boot"""
        node = self.machine("restarted")
        node.declare(fleet.file("a", "/srv/a", "a\n"))
        self.ask(node)
        self.assertEqual(node.enforce().code, 0)
        self.assertIn("awaiting-reboot", self.status(node)["flags"])
        node.kill()
        node.boot()
        self.assertEqual(node.enforce().code, 0)
        self.assertNotIn("awaiting-reboot", self.status(node)["flags"])
        self.assertEqual(node.events("--kind", "rebootSeen")[-1]["kind"], "rebootSeen")


if __name__ == "__main__":
    tap.main()
