#!/usr/bin/env python3
# test: long root
"""The packages on bare machines with a real systemd and dpkg: installation from both, an upgrade by declaration, and releases
that do not work, each put back by the service manager alone."""

import datetime
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import debs  # noqa: E402
import fleet  # noqa: E402
import machine  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

UNIT = "datum-host.service"
REPO = "/srv/repo"
LIMIT_S = 240
ROLLED_BACK_WITHIN_S = 120  # with a pass limit of 20 s
LOOK_S = 0.3
AGENT = "host: {host}\nreconciliation: {{mode: {mode}, interval: 5s, passLimit: 20s}}\nsource: /srv/fleet\n"

# A service that says what it is and passes the check, and then does not work.
BAD = """#!/bin/sh
# datum-version={version} (bad)
# datum-level=1
case "$*" in
  --version) echo "datum-host {version} (bad), store level 1"; exit 0 ;;
  --check) exit 0 ;;
esac
{life}
"""
LIVES = {
    "exits at once": "exit 1",
    "crashes after five seconds": "systemd-notify --ready; sleep 5; kill -SEGV $$",
    "never says that it is ready": "sleep 600 & wait",
    "never finishes a pass": "systemd-notify --ready; while :; do systemd-notify WATCHDOG=1; sleep 5; done",
}


def package(name, version=None):
    return fleet.Resource("Package", name, {"state": "present", **({"version": version} if version else {})})


class Bare(machine.Machine):
    """Nothing but Debian in it, and what a test puts there."""

    events = machine.Node.events
    datum = machine.Node.datum
    declare = machine.Node.declare
    show = machine.Node.show
    unit = machine.Node.unit
    STATE = machine.Node.STATE

    def copy(self, path, inside):
        place = self.path(inside)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)

    def configure(self, mode):
        self.put("/etc/datum/agent.yaml", AGENT.format(host=fleet.HOST, mode=mode))

    def kinds(self):
        return [event["kind"] for event in self.events()]

    def of_kind(self, kind):
        return [event for event in self.events() if event["kind"] == kind]

    def running(self):
        """Version of the program that is installed."""
        return self.must("/usr/sbin/datum-host", "--version").split()[1]


class LabCase(unittest.TestCase):
    @classmethod
    def begin(cls, name, kind):
        """A bare machine runs; the release as a package of that kind."""
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix=f"datum-lab-{name}-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        made = packages_made.make(kind, cls.scratch)
        cls.lab = Bare(name)
        cls.addClassCleanup(cls.lab.drop)
        cls.lab.boot()
        return made

    def wait_until(self, holds, what, limit=LIMIT_S):
        pause, end = threading.Event(), time.monotonic() + limit
        while not holds():
            if time.monotonic() > end:
                self.fail(f"{what}: not within {limit} s\n" + self.lab.run("journalctl", "-n", "60", "-o", "cat").stdout)
            pause.wait(LOOK_S)

    def is_active(self):
        return self.lab.show(UNIT, "ActiveState")["ActiveState"] == "active"

    def status_text(self):
        return self.lab.show(UNIT, "StatusText")["StatusText"]


class DebCase(LabCase):
    """A bare machine whose apt knows one repository, in it what a test offers."""

    @classmethod
    def begin_deb(cls, name):
        """The package of this build."""
        cls.deb = cls.begin(name, "deb")
        cls.lab.must("sh", "-c", "rm -f /etc/apt/sources.list.d/* /etc/apt/sources.list; rm -rf /var/lib/apt/lists/*")
        cls.lab.put("/etc/apt/sources.list", f"deb [trusted=yes] file:{REPO} ./\n")
        cls.offered = [cls.deb]
        cls.repository = debs.Repository(cls.lab.path(REPO))
        cls.repository.add(debs.Package("alpha"))

    def offer(self, deb):
        """In the repository, where apt finds it."""
        shutil.copy(deb, self.lab.path(REPO))
        if deb not in self.offered:
            self.offered.append(deb)
        self.repository.write_index()
        index = self.lab.path(REPO) / "Packages"
        text = index.read_text()
        for made in self.offered:
            shutil.copy(made, self.lab.path(REPO))
            control = subprocess.run(["dpkg-deb", "-f", made], capture_output=True, text=True, check=True).stdout
            digest = hashlib.sha256(made.read_bytes()).hexdigest()
            text += f"\n{control}Filename: ./{made.name}\nSize: {made.stat().st_size}\nSHA256: {digest}\n"
        index.write_text(text)
        self.lab.must("apt-get", "-q", "update")

    def version(self, number, program=None):
        return packages_made.make_version(self.deb, number, self.scratch, program)

    def declare(self, version, *more):
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "hello\n"), package("datum-host", version), *more)

    def wait_confirmed(self, version):
        self.wait_until(lambda: any(version in event["event"]["version"] for event in self.lab.of_kind("versionConfirmed")),
                        f"{version} is confirmed")


class Deb(DebCase):
    """One machine, whose life the cases follow in the order of their names."""

    @classmethod
    def setUpClass(cls):
        cls.begin_deb("release")
        cls.first = cls.deb.name.split("_")[1]

    def test_1_install(self):
        """deb: on a bare machine it is installed by dpkg alone, and the machine is hosted and only observes"""
        self.lab.put("/etc/datum/agent.yaml", f"host: {fleet.HOST}\n")
        self.lab.copy(self.deb, "/srv/first.deb")
        self.lab.must("dpkg", "-i", "/srv/first.deb")
        self.wait_until(self.is_active, "the service is active")
        self.wait_until(lambda: "lifecycleChanged" in self.lab.kinds(), "it is hosted")
        (told,) = self.lab.of_kind("lifecycleChanged")
        self.assertEqual(told["event"]["to"], "hosted")
        self.assertEqual(self.lab.must("systemctl", "is-enabled", UNIT).strip(), "enabled")
        self.assertIn("idle", self.status_text())
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "hello\n"))
        self.lab.put("/etc/datum/agent.yaml", f"host: {fleet.HOST}\nsource: /srv/fleet\nreconciliation: {{interval: 5s}}\n")
        self.lab.must("systemctl", "reload", UNIT)
        self.wait_until(lambda: self.status_text() == "drifted", "it has looked")
        self.assertFalse(self.lab.path("/etc/datum-test").exists())

    def test_2_drift(self):
        """deb: told to enforce, it repairs drift made by hand at the next beat [D01]"""
        self.lab.configure("enforce")
        self.lab.must("systemctl", "reload", UNIT)
        file = self.lab.path("/etc/datum-test")
        self.wait_until(lambda: file.exists() and file.read_text() == "hello\n", "the file is made")
        file.write_text("by hand\n")
        self.wait_until(lambda: file.read_text() == "hello\n", "it is repaired")
        self.wait_until(lambda: self.lab.path("/var/lib/datum/release/confirmed").exists(), "the release is kept")

    def test_3_upgrade_observed(self):
        """deb: in observe a newer version is drift, and nothing is installed"""
        self.lab.configure("observe")
        self.lab.must("systemctl", "reload", UNIT)
        self.offer(self.version("0.2.0"))
        self.declare("0.2.0", package("alpha"))
        self.wait_until(lambda: self.status_text() == "drifted", "it is drift")
        self.assertEqual(self.lab.running(), self.first)
        self.assertNotEqual(self.lab.run("dpkg", "-s", "alpha").returncode, 0)

    def test_4_upgrade(self):
        """deb: upgraded by declaration with other resources, all is applied once, it ends once, and is confirmed [U01] [U06]"""
        before = len(self.lab.events())
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "hello\n"), package("datum-host", "0.2.0"), package("alpha"),
                         fleet.file("zz", "/etc/zz-test", "last\n"))
        self.lab.configure("enforce")
        self.lab.must("systemctl", "reload", UNIT)
        self.wait_confirmed("0.2.0")
        self.wait_until(lambda: self.status_text() == "converged", "all is as declared")
        events = self.lab.events()[before:]
        kinds = [event["kind"] for event in events]
        self.assertEqual(kinds.count("upgradePending"), 1, kinds)
        self.assertEqual(kinds.count("actionSucceeded"), 3, kinds)
        self.assertEqual(kinds.count("actionFailed") + kinds.count("passInterrupted") + kinds.count("rolledBack"), 0, kinds)
        # The pass finished on the old version, which then made room; the upgrade was the last that it did.
        self.assertLess(kinds.index("passFinished"), kinds.index("upgradePending"))
        self.assertEqual(kinds[kinds.index("upgradePending") + 1], "storeClosed")
        succeeded = [event for event in events if event["kind"] == "actionSucceeded"]
        self.assertIn("datum-host", repr(succeeded[-1]))
        self.assertEqual(self.lab.running(), "0.2.0")
        self.assertEqual(self.lab.must("dpkg", "--audit"), "")
        self.assertEqual(self.lab.show(UNIT, "Result")["Result"], "success")
        kept = self.lab.path("/var/lib/datum/release")
        self.wait_until(lambda: len(list(kept.glob("0.*"))) == 1 and list(kept.glob("0.2.0*")), "the new release is kept")

    def roll_back(self, version, life, scripts=None):
        """Declares a version that does not work; how long it took from its first start to the end of the rollback."""
        made = self.version(version, BAD.format(version=version, life=life))
        if scripts:
            tree = self.scratch / f"tree-{version}"
            for name, text in scripts.items():
                (tree / "DEBIAN" / name).write_text(text)
            packages_made.pack(tree, made)
        self.offer(made)
        before = len(self.lab.of_kind("rolledBack"))
        self.declare(version, package("alpha"))
        self.wait_until(lambda: len(self.lab.of_kind("rolledBack")) > before, f"{version} is rolled back")
        told = self.lab.of_kind("rolledBack")
        self.assertEqual(len(told), before + 1)
        self.assertIn(f"{version} (bad)", repr(told[-1]))
        times = [datetime.datetime.fromisoformat(one["time"].replace("Z", "+00:00"))
                 for one in (self.lab.of_kind("upgradePending")[-1], told[-1])]
        took = (times[1] - times[0]).total_seconds()
        print(f"# {version}: back {took:.1f} s after it was due: {told[-1]['event']['cause']}")
        self.assertLessEqual(took, ROLLED_BACK_WITHIN_S)
        return told[-1]

    def stays(self, version):
        """The good one runs, the machine is drifted with the fact, and the bad one is not installed again."""
        passes = len(self.lab.of_kind("passFinished"))
        self.assertEqual(self.lab.running(), "0.2.0")
        self.wait_until(self.is_active, "the old version is active")
        self.wait_until(lambda: self.status_text() == "drifted", "it is drift")
        failed = [event for event in self.lab.of_kind("actionFailed") if f"{version} (bad) was rolled back" in repr(event)]
        self.wait_until(lambda: [event for event in self.lab.of_kind("actionFailed")
                                 if f"{version} (bad) was rolled back" in repr(event)], "the fact is told")
        self.assertGreaterEqual(len(self.lab.of_kind("passFinished")), passes)
        self.assertLessEqual(len(failed), 1)
        seen = self.lab.datum("observe", "--fleet", "/srv/fleet", "--host", fleet.HOST)
        self.assertIn("0.2.0 (dpkg's database says", seen.out)
        self.assertEqual(self.lab.path("/etc/datum-test").read_text(), "hello\n")

    def test_5_exits(self):
        """deb: a release that exits at once is rolled back once, and not applied again until another is declared [U14]"""
        self.roll_back("0.3.1", LIVES["exits at once"])
        self.stays("0.3.1")

    def test_5_crashes(self):
        """deb: a release that crashes after five seconds is rolled back once"""
        self.roll_back("0.3.2", LIVES["crashes after five seconds"])
        self.stays("0.3.2")

    def test_5_hangs(self):
        """deb: a release that never says that it is ready is rolled back once [U13]"""
        self.roll_back("0.3.3", LIVES["never says that it is ready"])
        self.stays("0.3.3")

    def test_5_never_passes(self):
        """deb: a release that lives and never finishes a pass is rolled back once, when its time is over"""
        told = self.roll_back("0.3.4", LIVES["never finishes a pass"])
        self.assertIn("finished no pass within 60 s", repr(told))
        self.stays("0.3.4")

    def test_6_half_configured(self):
        """deb: a release whose package stays half-configured is rolled back too, by files alone"""
        self.roll_back("0.3.5", LIVES["exits at once"], {"postinst": "#!/bin/sh\nexit 7\n"})
        self.assertEqual(self.lab.running(), "0.2.0")
        self.assertIn("half-configured", self.lab.must("dpkg", "-s", "datum-host"))

    def roll_back_units(self, version, change, program=None):
        """Declares a release of good programs whose unit file is `change` of the good one (None: it has none)."""
        made = self.version(version, program)
        tree = self.scratch / f"tree-{version}"
        unit = tree / "usr/lib/systemd/system" / UNIT
        text = change(unit.read_text())
        if text is None:
            unit.unlink()
        else:
            unit.write_text(text)
        packages_made.pack(tree, made)
        self.offer(made)
        before = len(self.lab.of_kind("rolledBack"))
        self.declare(version, package("alpha"))
        self.wait_until(lambda: len(self.lab.of_kind("rolledBack")) > before, f"{version} is rolled back")
        told = self.lab.of_kind("rolledBack")
        self.assertEqual(len(told), before + 1)
        self.assertIn(f"{version} (", repr(told[-1]))
        print(f"# {version}: {told[-1]['event']['cause']}")
        self.assertEqual(self.lab.running(), "0.2.0")
        self.wait_until(self.is_active, "the old version is active")
        self.wait_until(lambda: [event for event in self.lab.of_kind("actionFailed") if f"was rolled back" in repr(event)
                                 and f"version {version} (" in repr(event)], "the fact is told")
        self.assertFalse(self.lab.path("/run/systemd/system/datum-rollback.service").exists())
        return told[-1]["event"]["cause"]

    def test_6_unit_does_not_load(self):
        """deb: a release whose unit file does not load is rolled back, though nothing of it ever ran [U13]"""
        def without_start(text):
            return "".join(line for line in text.splitlines(True) if not line.startswith("ExecStart="))
        self.assertIn("does not load (bad-setting)", self.roll_back_units("0.3.6", without_start))

    def test_6_unit_missing(self):
        """deb: a release without its unit file is rolled back"""
        self.assertIn("does not load", self.roll_back_units("0.3.7", lambda text: None))

    def test_6_start_missing(self):
        """deb: a release whose unit names a program that is not there, and nothing that would count, is rolled back"""
        def bare(text):
            kept = [line for line in text.splitlines(True) if not line.startswith("Exec")]
            return "".join(kept).replace("[Service]\n", "[Service]\nExecStart=/usr/sbin/nowhere\n")
        self.assertIn("finished no pass", self.roll_back_units("0.3.8", bare))

    def test_6_boot(self):
        """deb: a release whose unit does not load, installed while the service was stopped, is rolled back at the next boot"""
        made = self.version("0.3.9")
        tree = self.scratch / "tree-0.3.9"
        (tree / "usr/lib/systemd/system" / UNIT).write_text("[Unit]\nDescription=nothing to start\n")
        packages_made.pack(tree, made)
        self.declare("0.2.0", package("alpha"))
        self.lab.copy(made, "/srv/0.3.9.deb")
        before = len(self.lab.of_kind("rolledBack"))
        self.lab.must("systemctl", "stop", UNIT)
        self.lab.must("dpkg", "-i", "/srv/0.3.9.deb")
        machine.lab("off", self.lab.name)
        self.lab.boot()
        self.wait_until(lambda: len(self.lab.of_kind("rolledBack")) > before, "it is rolled back")
        self.assertEqual(self.lab.running(), "0.2.0")
        self.wait_until(self.is_active, "the old version is active")

    def test_7_next(self):
        """deb: a version that works is installed after those that did not, and all is forgiven"""
        self.offer(self.version("0.4.0"))
        self.declare("0.4.0", package("alpha"))
        self.wait_confirmed("0.4.0")
        self.wait_until(lambda: self.status_text() == "converged", "all is as declared")
        self.assertEqual(self.lab.must("dpkg", "--audit"), "")
        self.wait_until(lambda: not self.lab.path("/var/lib/datum/release/rolled-back").exists(), "the note is gone")

    def test_8_by_hand(self):
        """deb: an upgrade by hand ends no service that runs, which then makes room by itself, and starts none that was stopped [U07]"""
        self.lab.put("/etc/datum/agent.yaml", AGENT.format(host=fleet.HOST, mode="observe").replace("5s", "1h"))
        self.lab.must("systemctl", "reload", UNIT)
        for number in ("0.5.0", "0.6.0"):
            self.lab.copy(self.version(number), f"/srv/{number}.deb")
        # Whatever ran at a beat of five seconds is over when this answers; the next beat is within the hour.
        observe = ("observe", "--fleet", "/srv/fleet", "--host", fleet.HOST)
        self.lab.datum(*observe)
        before = self.lab.show(UNIT, "MainPID", "NRestarts")
        self.lab.must("dpkg", "-i", "/srv/0.5.0.deb")
        self.assertEqual(self.lab.show(UNIT, "MainPID", "NRestarts"), before)
        self.lab.datum(*observe)
        self.wait_confirmed("0.5.0")
        self.lab.must("systemctl", "stop", UNIT)
        self.lab.must("dpkg", "-i", "/srv/0.6.0.deb")
        self.assertEqual(self.lab.show(UNIT, "ActiveState")["ActiveState"], "inactive")
        self.lab.must("systemctl", "start", UNIT)
        self.wait_confirmed("0.6.0")

    def test_9_remove(self):
        """deb: removed, it leaves what it managed; purged, it keeps the journal unless it is asked not to"""
        self.lab.must("dpkg", "-r", "datum-host")
        self.assertEqual(self.lab.path("/etc/datum-test").read_text(), "hello\n")
        self.assertFalse(self.lab.path("/usr/sbin/datum-host").exists())
        self.assertFalse(self.lab.path("/var/lib/datum/release").exists())
        self.lab.must("dpkg", "-P", "datum-host")
        self.assertTrue(self.lab.path("/var/lib/datum/journal").exists())
        self.lab.must("dpkg", "-i", "/srv/first.deb")
        self.wait_until(self.is_active, "it is active again")
        self.lab.put("/etc/datum/purge-journal", "")
        self.lab.must("dpkg", "-P", "datum-host")
        self.assertFalse(self.lab.path("/var/lib/datum").exists())
        self.assertEqual(self.lab.path("/etc/datum-test").read_text(), "hello\n")


class Tarball(LabCase):
    @classmethod
    def setUpClass(cls):
        cls.tar = cls.begin("tarball", "tar")

    def unpack(self, inside):
        place = self.lab.path(inside)
        place.mkdir(parents=True)
        subprocess.run(["tar", "-C", place, "--strip-components=1", "-xf", self.tar], check=True)
        return place

    def test_1_install(self):
        """tarball: on a bare machine its installer makes it hosted, and it only observes"""
        self.lab.put("/etc/datum/agent.yaml", f"host: {fleet.HOST}\n")
        self.unpack("/srv/first")
        self.lab.must("/srv/first/install.sh")
        self.wait_until(self.is_active, "the service is active")
        self.wait_until(lambda: "lifecycleChanged" in self.lab.kinds(), "it is hosted")
        self.lab.declare(fleet.file("motd", "/etc/datum-test", "hello\n"))
        self.lab.configure("observe")
        self.lab.must("systemctl", "reload", UNIT)
        self.wait_until(lambda: self.status_text() == "drifted", "it has looked")
        self.assertFalse(self.lab.path("/etc/datum-test").exists())
        self.wait_until(lambda: self.lab.path("/var/lib/datum/release/confirmed").exists(), "the release is kept")

    def test_2_rollback(self):
        """tarball: an upgrade by hand to a release that does not work is rolled back, without a package manager"""
        bad = self.unpack("/srv/bad")
        program = bad / "root/usr/sbin/datum-host"
        program.write_text(BAD.format(version="0.3.0", life=LIVES["exits at once"]))
        first = self.lab.running()
        self.lab.must("/srv/bad/install.sh")
        self.wait_until(lambda: self.lab.of_kind("rolledBack"), "it is rolled back")
        self.assertEqual(self.lab.running(), first)

    def test_3_uninstall(self):
        """tarball: its installer takes it away, and leaves journal, configuration and what was managed"""
        self.lab.must("/srv/first/install.sh", "--uninstall")
        self.assertFalse(self.lab.path("/usr/sbin/datum-host").exists())
        self.assertTrue(self.lab.path("/var/lib/datum/journal").exists())
        self.assertTrue(self.lab.path("/etc/datum/agent.yaml").exists())


if __name__ == "__main__":
    tap.main()
