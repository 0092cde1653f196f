#!/usr/bin/env python3
# test: long root
"""A declaration that upgrades the host together with 20 resources, on a machine with a real systemd and dpkg: once as it
goes, then with the service killed right before and right after each commit of its journal in turn, in the old version and in
the new one, with the package manager held at its steps, with the whole machine going down; and as a node whose control
plane is gone all the while.

Moments are found from the journal's own pages (commits.cpp) and from maintainer scripts that say where they are."""

import collections
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import debs  # noqa: E402
import fleet  # noqa: E402
import lab_release  # noqa: E402
import machine  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

UNIT, WATCHER, REPO = lab_release.UNIT, "datum-rollback.service", lab_release.REPO
COMMITS = packages_made.BUILD / "tests/e2e/commits.so"
CONTROL = packages_made.BUILD / "src/datum-control/datum-control"
PLANE = ("--socket", "/run/plane/control.sock")
FILES = 16
STOP_LIMIT_S = 25  # TimeoutStopSec= of the unit
AGENT = """host: {host}
reconciliation: {{mode: {mode}, interval: 1h, passLimit: 60s}}
source: /srv/fleet
control: ["127.0.0.1:7600"]
"""
# Started again at once, and with what /srv/armed-VERSION says where that version comes up.
DROP_IN = """[Service]
RestartSec=100ms
ExecStartPre=-/srv/arm
EnvironmentFile=-/srv/environment
"""
ARM = """#!/bin/sh
version=$(/usr/sbin/datum-host --version)
version=${version#* }
mv -f "/srv/armed-${version%% *}" /srv/environment 2>/dev/null || rm -f /srv/environment
"""
APP = """[Service]
ExecStart=/bin/sh -c 'cat /etc/upgrade/f0 >>/srv/app; exec sleep infinity'
[Install]
WantedBy=multi-user.target
"""
# A maintainer script that says that it was reached, and waits until it may go on.
HELD = """
if [ -e /srv/hold-{name} ]; then
  : >/srv/at-{name}
  while [ -e /srv/hold-{name} ]; do sleep 0.05; done
fi
"""
# Ends of the way of the old version and of the new one, as (kind, which of its kind): each is tried without a control plane too.
LINKLESS = (("passStarted", 1), ("actionsAnnounced", 1), ("actionSucceeded", 1), ("upgradePending", 1), ("storeOpened", 1),
            ("versionConfirmed", 1))


class Upgrade(lab_release.LabCase):
    @classmethod
    def setUpClass(cls):
        deb = cls.begin("upgrade", "deb")
        cls.line = packages_made.Line(deb, cls.scratch)
        lab = cls.lab
        lab.must("sh", "-c", "rm -f /etc/apt/sources.list.d/* /etc/apt/sources.list; rm -rf /var/lib/apt/lists/*")
        lab.put("/etc/apt/sources.list", f"deb [trusted=yes] file:{REPO} ./\n")
        lab.copy(COMMITS, "/usr/lib/commits.so")
        lab.copy(CONTROL, "/usr/bin/datum-control")
        lab.copy(deb, "/srv/first.deb")
        lab.put("/srv/arm", ARM, 0o755)
        lab.put(f"/etc/systemd/system/{UNIT}.d/test.conf", DROP_IN)
        lab.put("/usr/lib/systemd/system/app.service", APP)
        lab.must("sh", "-c", "mkdir -p /etc/upgrade /srv/dir; systemctl daemon-reload")
        cls.repository = debs.Repository(lab.path(REPO))
        for name in ("preinst", "postinst"):
            cls.line.add_to_script(name, HELD.format(name=name))
        cls.number = 0
        lab.put("/etc/datum/agent.yaml", AGENT.format(host=fleet.HOST, mode="enforce"))
        lab.must("dpkg", "-i", "/srv/first.deb")

    def events(self, since):
        return self.lab.events("--from", str(since + 1))

    def head(self):
        (last,) = self.lab.events("--limit", "1")
        return last["seq"]

    def kinds(self, since):
        return [event["kind"] for event in self.events(since)]

    def configure(self, mode):
        self.lab.put("/etc/datum/agent.yaml", AGENT.format(host=fleet.HOST, mode=mode))

    # --- one upgrade

    def prepare(self):
        """The next version is offered and declared, with a change of all 20 others."""
        cls = type(self)
        cls.number += 1
        number, made = cls.number, self.line.make_next()
        self.repository.clear()
        counted = f"echo \"$1 {number}\" >>/srv/alpha"
        self.repository.add(debs.Package("alpha", f"{number}.0", scripts={"postinst": counted}))
        shutil.copy(made, self.lab.path(REPO))
        control = subprocess.run(["dpkg-deb", "-f", made], capture_output=True, text=True, check=True).stdout
        digest = subprocess.run(["sha256sum", made], capture_output=True, text=True, check=True).stdout.split()[0]
        index = self.lab.path(REPO) / "Packages"
        index.write_text(f"{index.read_text()}\n{control}Filename: ./{made.name}\nSize: {made.stat().st_size}\n"
                         f"SHA256: {digest}\n")
        self.lab.must("apt-get", "-q", "update")
        files = [fleet.file(f"f{each}", f"/etc/upgrade/f{each}", f"{number}\n") for each in range(FILES)]
        self.lab.declare(
            *files, fleet.symlink("link", "/etc/upgrade-link", f"/nowhere/{number}"),
            fleet.directory("dir", "/srv/dir", mode="0750" if number % 2 else "0755"),
            fleet.Resource("User", "worker", {"state": "present", "comment": f"round {number}"}),
            lab_release.package("alpha", f"{number}.0"), machine.service("app", keys={"restartOn": ["File[f0]"]}),
            lab_release.package("datum-host", self.line.version))
        return number, self.line.version

    def wait_done(self, version, since):
        """The version is confirmed, everything is as declared, and nobody watches any more."""
        def confirmed():
            return any(event["kind"] == "versionConfirmed" and event["event"]["version"].startswith(version + " ")
                       for event in self.events(since))
        self.wait_until(confirmed, f"{version} is confirmed")
        self.wait_until(lambda: self.status_text().startswith("converged"), "all is as declared")
        self.wait_until(lambda: self.lab.show(WATCHER, "ActiveState")["ActiveState"] == "inactive", "nobody watches")

    def check(self, number, version, since, boots=0):
        """What must hold after an upgrade, whatever happened on the way. `boots`: each starts the unit once more, perhaps."""
        events, lab = self.events(since), self.lab
        took = [event["event"]["target"] for event in events if event["kind"] == "actionSucceeded"
                or (event["kind"] == "actionRecovered" and event["event"]["outcome"] == "tookEffect")]
        wanted = [*(f"/etc/upgrade/f{each}" for each in range(FILES)), "/etc/upgrade-link", "/srv/dir", "user:worker",
                  "package:alpha", "package:datum-host"]
        self.assertEqual(collections.Counter(took), collections.Counter(wanted))
        kinds = collections.Counter(event["kind"] for event in events)
        for kind in ("actionFailed", "rolledBack", "actionQuarantined", "storeLossDetected", "corruptDetected"):
            self.assertEqual(kinds[kind], 0, [event for event in events if event["kind"] == kind])
        self.assertLessEqual(kinds["upgradePending"], 1)
        for each in range(FILES):
            self.assertEqual(lab.path(f"/etc/upgrade/f{each}").read_text(), f"{number}\n")
        self.assertIn(f":round {number}:", lab.path("/etc/passwd").read_text())
        repeated = sum(event["kind"] == "notificationDelivered" and event["event"]["repeated"] for event in events)
        reads = lab.path("/srv/app").read_text().splitlines().count(str(number))
        self.assertIn(reads, range(1 + repeated, 2 + repeated + boots), "the unit was not restarted once")
        self.assertEqual(lab.path("/srv/alpha").read_text().splitlines().count(f"configure {number}"), 1)
        self.assertEqual(lab.must("dpkg", "--audit"), "")
        status = lab.must("dpkg-query", "-W", "-f", "${Version} ${db:Status-Abbrev}", "datum-host")
        self.assertEqual(status.strip(), f"{version} ii")
        log = lab.path("/var/log/dpkg.log").read_text().splitlines()
        self.assertEqual(sum(f" status installed datum-host:amd64 {version}" in line for line in log), 1, version)
        self.assertEqual(lab.running(), version)
        self.assert_one_service()
        verified = lab.datum("journal", "verify")
        self.assertEqual(verified.code, 0, verified.text)

    def assert_one_service(self):
        listed = self.lab.must("sh", "-c", "for p in /proc/[0-9]*; do echo ${p#/proc/} $(readlink $p/exe); done")
        running = [line.split()[0] for line in listed.splitlines() if "/usr/sbin/datum-host" in line]
        self.assertEqual(running, [self.lab.show(UNIT, "MainPID")["MainPID"]])
        units = self.lab.must("systemctl", "list-units", "--all", "--plain", "--no-legend", "datum-*.service").splitlines()
        self.assertEqual([line.split()[0] for line in units if WATCHER not in line], [UNIT])

    def arm(self, version, **environment):
        lines = [f"LD_PRELOAD=/usr/lib/commits.so\nDIED_FILE=/srv/died\n", *(f"{key}={text}\n" for key, text in environment.items())]
        self.lab.put(f"/srv/armed-{version}", "".join(lines))

    def has_died(self):
        return self.lab.path("/srv/died").exists()

    def forget_death(self):
        self.lab.must("sh", "-c", "rm -f /srv/died /srv/armed-* /srv/hold-* /srv/at-*")

    def upgrade_from_stop(self, arm=None, declare=None):
        """The service is stopped, the upgrade declared, and `arm(old, new)` says what shall happen to it. Number, version and
        the head before."""
        self.forget_death()
        if declare is None:
            self.lab.must("systemctl", "stop", UNIT)
            old = self.lab.running()
            number, version = self.prepare()
        else:
            old = self.lab.running()
            number, version = declare()
        since = self.head()
        if arm:
            arm(old, version)
        self.lab.must("systemctl", "start", "--no-block", UNIT)
        return number, version, since

    # --- the moments

    def find_moments(self, declare=None):
        """An upgrade that nothing disturbs, and the last record of each of its commits: (new?, kind, number of the kind)."""
        def arm(old, new):
            self.arm(old, COMMIT_LOG="/srv/log-old")
            self.arm(new, COMMIT_LOG="/srv/log-new")
        self.lab.must("sh", "-c", "rm -f /srv/log-*")
        number, version, since = self.upgrade_from_stop(arm, declare)
        self.wait_done(version, since)
        self.check(number, version, since)
        names = {event["seq"]: event["kind"] for event in self.events(since)}
        moments = []
        for is_new, path in ((False, "/srv/log-old"), (True, "/srv/log-new")):
            for line in self.lab.path(path).read_text().splitlines():
                sequence, kind, which = map(int, line.split())
                if is_new and names[sequence] == "storeClosed":
                    break  # its end is the beginning of the next round
                moments.append((is_new, names[sequence], kind, which))
                if is_new and names[sequence] == "versionConfirmed":
                    break
        return moments, [event["kind"] for event in self.events(since)]

    def kill_at(self, side, moment, declare=None, whole=False):
        """One upgrade with a death there; afterwards everything is as if it had not been."""
        is_new, name, kind, which = moment

        def arm(old, new):
            self.arm(new if is_new else old, COMMIT=f"{side} {kind} {which}", **({"HELD": "1"} if whole else {}))
        number, version, since = self.upgrade_from_stop(arm, declare)
        self.wait_until(self.has_died, f"it came {side} {name} {which}")
        if whole:
            self.lab.kill()
            self.lab.boot()
        self.wait_done(version, since)
        self.check(number, version, since, boots=whole)
        return self.events(since)

    def begin_rounds(self):
        """The first upgrade makes what later ones change."""
        if self.number > 0:
            return
        self.wait_until(self.is_active, "the service is active")
        _, version, since = self.upgrade_from_stop()
        self.wait_done(version, since)

    def test_1_undisturbed(self):
        """upgrade: the host and 20 resources by one declaration: all applied once, one clean exit, confirmed, dpkg clean [U01] [U06]"""
        self.begin_rounds()
        moments, kinds = self.find_moments()
        type(self).moments = moments
        print("# moments: " + ", ".join(f"{'new' if new else 'old'} {name} {which}" for new, name, _, which in moments))
        self.assertEqual(kinds.count("upgradePending"), 1, kinds)
        self.assertEqual(kinds.count("storeClosed"), 1, kinds)
        self.assertEqual(kinds.count("storeOpened"), 2, kinds)
        self.assertEqual(kinds.count("passInterrupted"), 0, kinds)
        self.assertEqual(kinds[kinds.index("upgradePending") + 1], "storeClosed")
        self.assertEqual(self.lab.show(UNIT, "Result", "NRestarts")["Result"], "success")

    def test_2_killed(self):
        """upgrade: killed before and after each commit in turn, in the old version and in the new, it still ends there [U01] [U03]"""
        interrupted = 0
        for moment in self.moments:
            for side in ("before", "after"):
                with self.subTest(moment=moment, side=side):
                    events = self.kill_at(side, moment)
                    interrupted += any(event["kind"] == "passInterrupted" for event in events)
        print(f"# {2 * len(self.moments)} deaths, {interrupted} of them in a pass")
        self.assertGreater(interrupted, len(self.moments) // 2)

    def hold_at(self, script):
        """An upgrade whose package manager stands in that script; number, version, head before."""
        number, version, since = self.upgrade_from_stop(lambda old, new: self.lab.put(f"/srv/hold-{script}", ""))
        self.wait_until(lambda: self.lab.path(f"/srv/at-{script}").exists(), f"{script} is reached")
        return number, version, since

    def test_3_package_manager(self):
        """upgrade: killed while the package manager unpacks or configures, the next start waits for its end and records it once [U01]"""
        for script in ("preinst", "postinst"):
            with self.subTest(script=script):
                number, version, since = self.hold_at(script)
                before = self.lab.show(UNIT, "MainPID")["MainPID"]
                self.lab.must("sh", "-c", f"kill -9 {before}")
                self.wait_until(lambda since=since: "actionToolAdopted" in self.kinds(since), "the transaction is adopted")
                self.assertNotIn(self.lab.show(UNIT, "MainPID")["MainPID"], (before, "0"))
                self.forget_death()
                self.wait_done(version, since)
                self.check(number, version, since)

    def test_3_stopped(self):
        """upgrade: told to stop by a script of its own package it ends within its limit, and the next start ends what is left [U03]"""
        number, version, since = self.hold_at("preinst")
        began = time.monotonic()
        self.lab.must("systemctl", "stop", UNIT)
        took = time.monotonic() - began
        self.assertLess(took, STOP_LIMIT_S)
        print(f"# stopped within {took:.1f} s")
        shown = self.lab.show(UNIT, "ActiveState", "Result")
        self.assertEqual((shown["ActiveState"], shown["Result"]), ("inactive", "success"))
        announced = [event for event in self.events(since) if event["kind"] == "actionsAnnounced"]
        self.assertIn("datum-host", repr(announced[-1]))
        self.forget_death()  # and with it what holds the script
        self.wait_until(lambda: self.lab.running() == version, "the package manager goes on by itself")
        self.lab.must("systemctl", "start", UNIT)
        self.wait_done(version, since)
        self.check(number, version, since)

    def test_4_machine(self):
        """upgrade: the whole machine goes down in the middle, and it ends there after its next boot"""
        chosen = [moment for moment in self.moments
                  if moment[:2] in ((False, "upgradePending"), (True, "storeOpened"))] + self.moments[-1:]
        for moment in chosen:
            with self.subTest(moment=moment):
                self.kill_at("after", moment, whole=True)

    def test_5_machine_in_dpkg(self):
        """upgrade: the whole machine goes down with the package unpacked and not configured, and dpkg is clean in the end [P02]"""
        number, version, since = self.hold_at("postinst")
        self.lab.kill()
        self.lab.path("/srv/hold-postinst").unlink()
        self.lab.boot()
        self.wait_done(version, since)
        self.check(number, version, since, boots=1)

    # --- as a node

    def enrol(self):
        self.lab.unit("plane.service", "[Service]\nType=exec\nRuntimeDirectory=plane\nRuntimeDirectoryMode=0700\nExecStart="
                      "/usr/bin/datum-control serve --state /srv/plane --listen 127.0.0.1:7600 --heartbeat 1s "
                      f"{' '.join(PLANE)}\n")
        self.lab.must("systemctl", "start", "plane.service")
        self.wait_until(lambda: self.lab.run("datum-control", "status", *PLANE).returncode == 0, "the control plane answers")
        token = self.lab.must("datum-control", "token", "create", "--names", "h*", *PLANE).split()
        (word,) = [each for each in token if each.startswith("dtm1_")]
        self.lab.put("/srv/token", word)
        self.lab.must("datum", "enrol", "--control", "127.0.0.1:7600", "--name", fleet.HOST, "--from-file", "/srv/token")

    def declare_linkless(self):
        """Pushed and accepted while the machine only observes; then the control plane ends, and the machine may act."""
        self.configure("observe")
        self.lab.must("systemctl", "start", "plane.service")
        since = self.head()
        number, version = self.prepare()
        self.wait_until(lambda: self.lab.run("datum-control", "push", "--fleet", "/srv/fleet", *PLANE).returncode == 0,
                        "it is pushed")
        self.lab.must("systemctl", "restart", UNIT)
        self.wait_until(lambda: "declarationAccepted" in self.kinds(since), "it is accepted")
        self.wait_until(lambda: self.status_text().startswith("drifted"), "it has looked")
        self.lab.must("systemctl", "stop", UNIT, "plane.service")
        self.configure("enforce")
        return number, version

    def test_6_linkless(self):
        """upgrade: the same as a node that has accepted it, with the control plane gone all the while [R01]"""
        self.begin_rounds()
        self.enrol()
        moments, kinds = self.find_moments(self.declare_linkless)
        self.assertEqual((kinds.count("upgradePending"), kinds.count("linkUp")), (1, 0), kinds)
        chosen = [moment for moment in moments if (moment[1], moment[3]) in LINKLESS]
        self.assertGreaterEqual(len(chosen), len(LINKLESS) - 2, moments)
        for moment in chosen:
            for side in ("before", "after"):
                with self.subTest(moment=moment, side=side):
                    events = self.kill_at(side, moment, self.declare_linkless)
                    self.assertNotIn("linkUp", [event["kind"] for event in events])
        self.assertNotEqual(self.lab.run("systemctl", "is-active", "plane.service").stdout.strip(), "active")


if __name__ == "__main__":
    tap.main()
