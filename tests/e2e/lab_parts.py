#!/usr/bin/env python3
# test: long root
"""Mounts and Timers on a machine with a real systemd: each field, each way to spoil it, what observe says of it, what repair
and removal do; and sshd's own word for a key file that Datum made."""

import pathlib
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from machine import Node  # noqa: E402

LINE = "tmpfs /srv/m tmpfs nosuid,noexec 0 0"
TIMER = "/etc/systemd/system/job.timer"


def mount(state="mounted", **fields):
    return fleet.Resource("Mount", "m", {"path": "/srv/m", "device": "tmpfs", "fsType": "tmpfs", "options": "nosuid,noexec",
                                         "state": state, **fields})


def timer(**fields):
    return fleet.Resource("Timer", "job", {"onCalendar": ["*-*-* 03:00:00", "Mon 12:00"], "persistent": False,
                                           "randomizedDelay": "5m", **fields})


# name: (how it is spoilt, what observe says)
MOUNTS = {
    "a mount that is not mounted [M03]": ("umount /srv/m", {"state": "in fstab, not mounted"}),
    "a mount with other options [M03]": ("mount -o remount,exec,nosuid /srv/m", {"mountedOptions": "nosuid"}),
    "a mount that may do less than declared": ("mount -o remount,ro,exec,suid /srv/m", {"mountedOptions": "ro"}),
    "a line with other options [M03]": ("sed -i s/nosuid,noexec/ro/ /etc/fstab", {"options": "ro"}),
    "a line with another type": ("sed -i 's/m tmpfs/m ramfs/' /etc/fstab", {"fsType": "ramfs"}),
    "a line with another device": ("sed -i 's/^tmpfs /none /' /etc/fstab", {"device": "none"}),
    "a line that is gone": ("sed -i /srv/d /etc/fstab", {"state": "mounted, not in fstab"}),
    "a line that is gone, and not mounted": ("umount /srv/m; sed -i /srv/d /etc/fstab", {"state": "absent"}),
}
TIMERS = {
    "a stopped timer": ("systemctl stop job.timer", {"running": "stopped"}),
    "a disabled timer": ("systemctl disable job.timer", {"enabled": "disabled"}),
    "a timer of another time": (f"sed -i 's/03:00/04:00/' {TIMER}; systemctl daemon-reload",
                                {"onCalendar": "*-*-* 04:00:00; Mon 12:00"}),
    "a timer whose file the manager has not read": (f"touch -d '+1 min' {TIMER}", {"loaded": "as an older file said"}),
    "a timer with another unit": (f"sed -i 's/^Unit=.*/Unit=other.service/' {TIMER}; systemctl daemon-reload",
                                  {"unit": "other.service"}),
    "a timer that makes up for missed times": (f"sed -i 's/^Persistent=.*/Persistent=true/' {TIMER}; systemctl daemon-reload",
                                               {"persistent": "true"}),
    "a timer with another delay": (f"sed -i 's/^Randomized.*/RandomizedDelaySec=1h/' {TIMER}; systemctl daemon-reload",
                                   {"randomizedDelay": "1h"}),
    "a timer with other lines": (f"echo '# mine' >> {TIMER}; systemctl daemon-reload", {"content": "other lines"}),
    "a timer without its file": (f"rm {TIMER}; systemctl daemon-reload", {"state": "absent"}),
}


class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node("parts")
        cls.addClassCleanup(cls.node.drop)
        cls.node.boot()

    def setUp(self):
        self.sh("rm -rf " + Node.STATE + "; umount /srv/m 2>/dev/null; mkdir -p /srv/m; echo '# static' > /etc/fstab; "
                f"systemctl disable --now job.timer 2>/dev/null; rm -f {TIMER}; systemctl daemon-reload")
        self.node.unit("job.service", "[Service]\nType=oneshot\nExecStart=/bin/touch /run/ran\n")

    def sh(self, command):
        return self.node.must("sh", "-c", command + "; true")

    def enforce(self, *resources, code=0):
        self.node.declare(*resources)
        done = self.node.enforce()
        self.assertEqual(done.code, code, done.text)
        return done

    def revert(self):
        number = self.node.events("--kind", "passStarted")[-1]["seq"]
        done = self.node.datum("revert", str(number), "--state", Node.STATE, "--mode", "enforce", "--allow-removals", "10")
        self.assertNotIn("cannot be undone", done.text)
        self.assertEqual(done.code, 2, done.text)

    def seen(self):
        seen = self.node.observe("--json")
        lines = [line for line in seen.lines if line.get("condition") == "drifted" and "drifts" in line]
        return {drift["field"]: drift["observed"] for line in lines for drift in line["drifts"]}

    def check_row(self, wanted, row):
        spoil, expected = row
        self.enforce(wanted)
        self.assertEqual(self.seen(), {})
        self.sh(spoil)
        self.assertEqual(self.seen(), expected)
        self.enforce(wanted)
        self.assertEqual(self.seen(), {})
        plan = self.node.one_pass("plan")
        self.assertEqual(plan.code, 0, plan.text)


class Mounts(Lab):
    def check_mounted(self):
        self.assertEqual(self.sh("cat /etc/fstab"), f"# static\n{LINE}\n")
        self.assertIn("nosuid", self.sh("findmnt -n -o OPTIONS /srv/m"))

    def test_absent(self):
        """mount: absent unmounts and takes the line; what is in use fails, and the line stays until it is done [M03]"""
        self.enforce(mount())
        self.check_mounted()
        busy = self.sh("cd /srv/m && exec sleep 600 >/dev/null 2>&1 & echo $!").strip()
        done = self.enforce(mount("absent"), code=2)
        self.assertIn("failed", done.out)
        self.check_mounted()
        self.sh(f"kill {busy}; sleep 0.2")
        self.enforce(mount("absent"))
        self.assertEqual(self.sh("cat /etc/fstab; findmnt -n /srv/m"), "# static\n")

    def test_leaving(self):
        """mount: what left the declaration loses its line and stays mounted"""
        self.enforce(mount())
        done = self.enforce(fleet.directory("d", "/srv/d"))
        self.assertIn("it stays mounted", done.out)
        self.assertEqual(self.sh("cat /etc/fstab"), "# static\n")
        self.assertIn("/srv/m", self.sh("findmnt -n /srv/m"))

    def test_states(self):
        """mount: present leaves the mount alone, unmounted ends it and keeps the line"""
        self.enforce(mount("present"))
        self.assertEqual(self.sh(f"cat /etc/fstab; findmnt -n /srv/m"), f"# static\n{LINE}\n")
        self.enforce(mount())
        self.enforce(mount("unmounted"))
        self.assertEqual(self.sh(f"cat /etc/fstab; findmnt -n /srv/m"), f"# static\n{LINE}\n")

    def test_failing_mount(self):
        """mount: what the kernel does not mount fails with the tool's words, and the line is there for the next try"""
        done = self.enforce(mount(fsType="nosuchfs"), code=2)
        self.assertIn("failed", done.out)
        self.assertEqual(self.seen(), {"state": "in fstab, not mounted"})

    def test_below(self):
        """mount: what the same plan makes below it lies on the mount"""
        self.enforce(mount(), fleet.file("a", "/srv/m/file", "x\n"), fleet.directory("z", "/srv/m/folder"))
        self.assertEqual(self.sh("ls /srv/m; umount /srv/m; ls /srv/m"), "file\nfolder\n")

    def test_space(self):
        """mount: a path with a space is mounted, and stands in fstab once however often it is declared [M05]"""
        self.sh("mkdir -p '/srv/a b'")
        wanted = mount(path="/srv/a b")
        for _ in range(3):
            self.enforce(wanted)
        self.assertEqual(self.sh("grep -c 040 /etc/fstab"), "1\n")
        self.assertIn("/srv/a b", self.sh("findmnt -n -o TARGET '/srv/a b'"))
        self.enforce(mount("absent", path="/srv/a b"))


    def test_revert(self):
        """mount: a reverted pass is unmounted and out of fstab again, one that unmounted is mounted again"""
        self.enforce(mount("unmounted"))
        before = self.sh("cat /etc/fstab")
        self.enforce(mount())
        self.revert()
        self.assertEqual(self.sh("cat /etc/fstab; findmnt -n /srv/m"), before)
        self.enforce(mount(), fleet.directory("d", "/srv/d"))
        self.check_mounted()
        self.enforce(mount("absent"))
        self.assertEqual(self.sh("cat /etc/fstab; findmnt -n /srv/m"), "# static\n")
        self.revert()
        self.check_mounted()

    def wait_for(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        self.fail("waited a minute")

    def test_dying(self):
        """mount: a pass that dies while mount(8) runs is taken over by the next, which waits for its end; it is mounted once [M03]"""
        self.node.put("/usr/sbin/mount.slow", "#!/bin/sh\necho >> /srv/reached\nuntil [ -e /srv/go ]; do sleep 0.02; done\n"
                      'exec mount -i -t tmpfs none "$2"\n', 0o755)
        self.sh("rm -f /srv/reached /srv/go")
        reached = self.node.path("/srv/reached")
        self.node.declare(mount(fsType="slow", options="defaults"))
        running = self.node.start("reconcile")
        self.wait_for(reached.exists)
        self.sh("kill -9 $(cat /srv/pid)")
        running.wait(timeout=60)
        running = self.node.start("reconcile")
        self.wait_for(lambda: any(event["kind"] == "actionToolAdopted" for event in self.node.events()))
        self.node.put("/srv/go", "")
        self.assertEqual(running.wait(timeout=60), 0)
        self.assertEqual((reached.read_text(), self.sh("findmnt -n -o TARGET /srv/m")), ("\n", "/srv/m\n"))
        ends = [event["event"]["outcome"] for event in self.node.events("--kind", "actionRecovered")]
        self.assertEqual((ends, self.seen()), (["tookEffect"], {}))


class Timers(Lab):
    def test_revert(self):
        """timer: a reverted pass leaves the timer as it was, enabled and waiting; one that it made is gone"""
        self.enforce(timer())
        before = self.sh(f"cat {TIMER}")
        self.enforce(timer(onCalendar=["daily"], persistent=True))
        self.revert()
        self.assertEqual(self.sh(f"cat {TIMER}"), before)
        self.enforce(timer(state="absent"))
        self.revert()
        self.assertEqual(self.sh(f"cat {TIMER}"), before)
        self.assertEqual(self.node.show("job.timer", "UnitFileState", "SubState"), {"UnitFileState": "enabled", "SubState": "waiting"})
        self.enforce(timer(state="absent"), fleet.directory("d", "/srv/d"))
        self.enforce(timer())
        self.revert()
        self.assertEqual(self.node.show("job.timer", "LoadState", "ActiveState"), {"LoadState": "not-found", "ActiveState": "inactive"})

    def test_elapses(self):
        """timer: it is enabled and active, waits for its times, and starts its unit when one comes [T05]"""
        self.enforce(timer())
        shown = self.node.show("job.timer", "UnitFileState", "ActiveState", "SubState", "Unit")
        self.assertEqual(shown, {"UnitFileState": "enabled", "ActiveState": "active", "SubState": "waiting",
                                 "Unit": "job.service"})
        self.assertIn("job.timer", self.sh("systemctl list-timers --no-pager job.timer"))
        self.sh("rm -f /run/ran")
        self.enforce(fleet.Resource("Timer", "job", {"onCalendar": ["*-*-* *:*:*"]}))
        # A timer elapses within its accuracy, a minute where it says nothing.
        self.sh("for i in $(seq 900); do test -e /run/ran && break; sleep 0.1; done")
        self.assertEqual(self.sh("ls /run/ran"), "/run/ran\n")

    def test_refused(self):
        """timer: a time that systemd does not take fails, and the old file stays and runs"""
        self.enforce(timer())
        before = self.sh(f"cat {TIMER}")
        done = self.enforce(timer(onCalendar=["Mon..Noday 25:00"]), code=2)
        self.assertIn("failed", done.out)
        self.assertEqual(self.sh(f"cat {TIMER}"), before)
        self.assertEqual(self.node.show("job.timer", "ActiveState"), {"ActiveState": "active"})

    def test_leaving(self):
        """timer: what left the declaration is stopped, disabled and gone; and absent does the same once"""
        for last in (fleet.directory("d", "/srv/d"), timer(state="absent")):
            self.enforce(timer())
            self.enforce(last)
            self.assertEqual(self.sh(f"ls {TIMER} /etc/systemd/system/timers.target.wants/job.timer 2>/dev/null"), "")
            self.assertEqual(self.node.show("job.timer", "LoadState", "ActiveState"),
                             {"LoadState": "not-found", "ActiveState": "inactive"})
            self.assertEqual(self.node.observe().code, 0)


def add_rows(case, kind, wanted, rows):
    for number, title in enumerate(rows):
        def check(self, title=title):
            self.check_row(wanted, rows[title])
        check.__doc__ = f"{kind}: {title} is seen and corrected"
        setattr(case, f"test_row_{number:02}", check)


add_rows(Mounts, "mount", mount(), MOUNTS)
add_rows(Timers, "timer", timer(), TIMERS)


if __name__ == "__main__":
    tap.main()
