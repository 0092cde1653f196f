#!/usr/bin/env python3
# test: long root
"""The service as packaging/datum-host.service runs it, in a machine with a real systemd: namespaces, drift repaired at the
beat, stop, death, a stuck loop, a bad configuration, the system journal's fields, a hold over a reboot."""

import json
import pathlib
import shutil
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import machine  # noqa: E402
import tap  # noqa: E402

UNIT = "datum-host.service"
LIMIT_S = 90
AGENT = "host: {host}\nreconciliation: {{mode: {mode}, interval: {interval}}}\nsource: /srv/fleet\n"


class Lab(machine.Node):
    def boot(self):
        super().boot()
        shutil.copy(hosting.HOST, self.path("/usr/sbin/datum-host"))
        shutil.copy(fleet.TOP / "packaging" / UNIT, self.path("/usr/lib/systemd/system/" + UNIT))
        self.must("systemctl", "daemon-reload")

    def configure(self, mode="enforce", interval="2s"):
        self.put("/etc/datum/agent.yaml", AGENT.format(host=fleet.HOST, mode=mode, interval=interval))

    def main_pid(self):
        return int(self.show(UNIT, "MainPID")["MainPID"])


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab("host")
        cls.addClassCleanup(cls.lab.drop)
        cls.lab.boot()

    def setUp(self):
        self.lab.run("systemctl", "stop", UNIT)
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "hello\n"))
        self.lab.configure()
        self.file = self.lab.path("/etc/datum-test")

    def wait_until(self, holds, what):
        limit = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > limit:
                self.fail(f"{what}: not within {LIMIT_S} s\n" + self.lab.run("journalctl", "-u", UNIT, "-n", "40").stdout)
            self.lab.run("sleep", "0.2")

    def is_repaired(self):
        return self.file.exists() and self.file.read_text() == "hello\n"

    def start(self):
        self.lab.must("systemctl", "start", UNIT)

    def test_drift(self):
        """unit: started by systemd it is active when it is ready, and drift made by hand is gone at the next beat [D01]"""
        self.start()
        shown = self.lab.show(UNIT, "ActiveState", "Type", "NRestarts", "Result")
        self.assertEqual((shown["ActiveState"], shown["Type"], shown["Result"]), ("active", "notify", "success"))
        self.wait_until(self.is_repaired, "the file is made")
        self.file.write_text("by hand\n")
        self.wait_until(self.is_repaired, "the drift is repaired")
        self.lab.must("systemctl", "stop", UNIT)
        self.assertEqual(self.lab.show(UNIT, "Result")["Result"], "success")
        self.assertEqual(self.lab.events()[-1]["kind"], "storeClosed")

    def test_namespaces(self):
        """unit: it sees the machine as PID 1 does: same mount, UTS, user and network namespace, and the same /tmp"""
        self.start()
        pid = self.lab.main_pid()
        for name in ("mnt", "uts", "user", "net", "ipc", "pid", "cgroup"):
            own = self.lab.must("readlink", f"/proc/{pid}/ns/{name}")
            if name != "cgroup":
                self.assertEqual(own, self.lab.must("readlink", f"/proc/1/ns/{name}"), name)
        # The file system of machines under test needs no private folder: what systemd says it set up is nothing.
        private = self.lab.show(UNIT, "PrivateTmp", "ProtectSystem", "ProtectHome", "PrivateDevices", "ProtectHostname")
        self.assertEqual(set(private.values()), {"no"}, private)
        status = self.lab.must("cat", f"/proc/{pid}/status")
        self.assertIn("Seccomp:\t2", status)

    def test_tcp(self):
        """unit: it listens on no TCP port, only on its local socket"""
        self.start()
        listening = self.lab.must("ss", "-lxtunp")
        own = [line for line in listening.splitlines() if "datum-host" in line and not line.startswith("u_dgr")]
        self.assertEqual(len(own), 1, listening)
        self.assertIn("/run/datum/host.sock", own[0])

    def test_restrictions(self):
        """unit: accounts, modes with set-uid and units are kept under its restrictions too"""
        self.lab.unit("plain.service", "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
        self.lab.declare(fleet.Resource("Group", "team", {"state": "present"}),
                         fleet.Resource("User", "worker", {"state": "present", "primaryGroup": "team", "home": "/srv/worker",
                                                           "shell": "/usr/sbin/nologin"}),
                         fleet.file("tool", "/usr/local/bin/tool", "#!/bin/sh\n", mode="4755", owner="root", allowPrivileged=True),
                         machine.service("plain"), fleet.file("motd", "/etc/datum-test", "hello\n"))
        self.start()
        self.wait_until(lambda: self.lab.show(UNIT, "StatusText")["StatusText"] == "converged", "all of it is kept")
        self.assertIn("/srv/worker:/usr/sbin/nologin", self.lab.must("getent", "passwd", "worker"))
        self.assertEqual(self.lab.show("plain.service", "ActiveState")["ActiveState"], "active")
        self.assertEqual(self.lab.path("/usr/local/bin/tool").stat().st_mode & 0o7777, 0o4755)

    def slow_units(self):
        """Services that take two seconds each to start, and the first of them started."""
        names = [f"slow{number}" for number in range(8)]
        for name in names:
            self.lab.unit(f"{name}.service", "[Service]\nExecStartPre=/bin/sleep 2\nExecStart=/bin/sleep infinity\n")
        self.lab.declare(*(machine.service(name, enabled=False) for name in names))
        self.start()
        self.wait_until(lambda: self.active(names) > 0, "the first is started")
        return names

    def active(self, names):
        return sum(self.lab.show(f"{name}.service", "ActiveState")["ActiveState"] == "active" for name in names)

    def drop(self, names):
        for name in names:
            self.lab.run("systemctl", "stop", f"{name}.service")

    def test_stop_in_a_pass(self):
        """unit: told to stop in a pass of slow actions it ends at the next boundary, and the rest is done after its next start"""
        names = self.slow_units()
        began = time.monotonic()
        self.lab.must("systemctl", "stop", UNIT)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.lab.show(UNIT, "Result")["Result"], "success")
        self.assertLess(self.active(names), len(names))
        events = self.lab.events()
        self.assertEqual(events[-1]["kind"], "storeClosed")
        (ended,) = [event for event in events if event["kind"] == "passInterrupted" and "the service ends" in event["event"]["detail"]]
        self.assertEqual(ended["event"]["cause"], "stop")
        self.start()
        self.wait_until(lambda: self.active(names) == len(names), "the rest is started")
        self.lab.must("systemctl", "stop", UNIT)
        self.drop(names)

    def test_hold_in_a_pass(self):
        """unit: a hold file that appears in a pass of slow actions ends it with its wave"""
        names = self.slow_units()
        self.lab.put("/etc/datum/hold", "reason: migration\n")
        self.wait_until(lambda: self.lab.show(UNIT, "StatusText")["StatusText"] != "a pass runs", "the pass ends")
        count = self.active(names)
        self.assertLess(count, len(names))
        self.wait_until(lambda: "holdSet" in [event["kind"] for event in self.lab.events()], "the hold is recorded")
        self.assertEqual(self.active(names), count)
        self.lab.must("datum", "hold", "--lift")
        self.wait_until(lambda: self.active(names) == len(names), "the rest is started")
        self.lab.must("systemctl", "stop", UNIT)
        self.drop(names)

    def test_own_unit(self):
        """unit: no notification or start ends the service itself, by an alias, a conflict or a chain of units [U05]"""
        plain = "[Service]\nExecStart=/bin/sleep infinity\n"
        self.lab.unit("ours.service", "[Unit]\nConflicts=datum-host.service\n" + plain)
        self.lab.unit("middle.service", "[Unit]\nPropagatesStopTo=datum-host.service\n" + plain)
        self.lab.unit("tied.service", "[Unit]\nPropagatesStopTo=middle.service\n" + plain)
        self.lab.must("systemctl", "start", "middle", "tied")
        self.lab.must("ln", "-s", f"/usr/lib/systemd/system/{UNIT}", "/etc/systemd/system/agent.service")
        self.lab.must("systemctl", "daemon-reload")
        self.start()
        self.wait_until(self.is_repaired, "the file is made")
        before = self.lab.main_pid()
        told = {"restartOn": ["File[motd]"]}
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "changed\n"), machine.service("agent", keys=told),
                         machine.service("tied", enabled=False, keys=told), machine.service("ours", enabled=False))
        self.wait_until(lambda: self.file.read_text() == "changed\n", "the file is changed")
        self.wait_until(lambda: "deliveryFailed" in [event["kind"] for event in self.lab.events()], "it is told")
        passes = len(self.lab.events("--kind", "passFinished"))
        self.wait_until(lambda: len(self.lab.events("--kind", "passFinished")) > passes, "a pass is over")
        self.assertEqual(self.lab.main_pid(), before)
        self.assertNotEqual(self.lab.show("ours.service", "ActiveState")["ActiveState"], "active")
        failed = [event for event in self.lab.events("--kind", "actionFailed") if "Service[ours]" in repr(event)]
        self.assertIn("would end datum-host.service", repr(failed))
        delivered = [event for event in self.lab.events("--kind", "notificationDelivered") if "unit:agent" in repr(event)]
        self.assertEqual(delivered, [])
        self.lab.must("systemctl", "stop", UNIT)
        self.lab.must("sh", "-c", "systemctl stop middle tied; rm /etc/systemd/system/agent.service; systemctl daemon-reload")

    def test_kill(self):
        """unit: killed, it is started again and goes on [R02]"""
        self.start()
        self.wait_until(self.is_repaired, "the file is made")
        before = self.lab.main_pid()
        self.lab.must("sh", "-c", f"kill -KILL {before}")
        self.file.write_text("by hand\n")
        self.wait_until(lambda: self.lab.main_pid() not in (0, before), "it is started again")
        self.wait_until(self.is_repaired, "the drift is repaired")

    def test_stuck(self):
        """unit: a loop that does not turn is ended by the watchdog and started again"""
        self.lab.put(f"/etc/systemd/system/{UNIT}.d/fast.conf", "[Service]\nWatchdogSec=3s\nRestartSec=1s\n")
        self.lab.must("systemctl", "daemon-reload")
        try:
            self.start()
            before = self.lab.main_pid()
            self.lab.must("sh", "-c", f"kill -STOP {before}")
            self.wait_until(lambda: self.lab.main_pid() not in (0, before), "the watchdog ended it")
            self.assertIn("Watchdog timeout", self.lab.must("journalctl", "-u", UNIT, "-n", "100", "-o", "cat"))
        finally:
            self.lab.must("rm", "-r", f"/etc/systemd/system/{UNIT}.d")
            self.lab.must("systemctl", "daemon-reload")

    def test_bad_configuration(self):
        """unit: a bad configuration ends it with 78 and in words in the journal; a reload of one does not end it"""
        self.start()
        self.wait_until(self.is_repaired, "the file is made")
        self.lab.put("/etc/datum/agent.yaml", "unknown: 1\n")
        self.lab.must("systemctl", "reload", UNIT)
        self.wait_until(lambda: "not in force" in self.lab.show(UNIT, "StatusText")["StatusText"], "the status says it")
        self.assertEqual(self.lab.show(UNIT, "ActiveState")["ActiveState"], "active")
        self.lab.must("systemctl", "stop", UNIT)
        self.lab.run("systemctl", "start", UNIT)
        self.wait_until(lambda: self.lab.show(UNIT, "ExecMainStatus")["ExecMainStatus"] == "78", "it ends with 78")
        self.assertIn("unknown key", self.lab.must("journalctl", "-u", UNIT, "-n", "20", "-o", "cat"))
        self.lab.must("systemctl", "stop", UNIT)

    def test_fields(self):
        """unit: lines of the system journal have fields that can be asked for"""
        self.start()
        self.wait_until(self.is_repaired, "the file is made")
        self.lab.must("systemctl", "stop", UNIT)
        lines = self.lab.must("journalctl", "-u", UNIT, "DATUM_EVENT=passFinished", "-o", "json").splitlines()
        self.assertTrue(lines)
        told = json.loads(lines[-1])
        self.assertEqual((told["SYSLOG_IDENTIFIER"], told["DATUM_CONDITION"]), ("datum-host", "converged"), told)

    def test_hold_over_reboot(self):
        """unit: held, the machine stays as it is over a reboot, until the hold is lifted"""
        self.start()
        self.wait_until(self.is_repaired, "the file is made")
        self.lab.must("systemctl", "enable", UNIT)
        self.lab.must("datum", "hold", "--reason", "migration")
        self.file.write_text("by hand\n")
        machine.lab("off", self.lab.name)
        machine.Machine.boot(self.lab)
        self.wait_until(lambda: self.lab.show(UNIT, "ActiveState")["ActiveState"] == "active", "it is started at boot")
        self.wait_until(lambda: "drifted" in self.lab.show(UNIT, "StatusText")["StatusText"], "it has looked")
        self.file = self.lab.path("/etc/datum-test")
        self.assertEqual(self.file.read_text(), "by hand\n")
        self.lab.must("datum", "hold", "--lift")
        self.wait_until(self.is_repaired, "the drift is repaired")


if __name__ == "__main__":
    tap.main()
