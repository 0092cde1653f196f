#!/usr/bin/env python3
# test: short
"""The service as a service manager runs it: ready, passes at start and with every beat, modes, holds, configuration read
again, a store that is taken, damaged or not its own, orders to end, an upgrade, deaths."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402


class Scene:
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("motd", "/motd", "hello\n"))
        self.motd = self.bench.root / "motd"

    def kinds(self, *arguments):
        return [event["kind"] for event in self.bench.events(*arguments)]

    def assert_sound(self):
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)

    def content(self):
        return self.motd.read_text() if self.motd.exists() else None


class Service(Scene, unittest.TestCase):
    def test_life(self):
        """host: it is ready, hosts the node, observes, is confirmed by its first pass, and ends in order"""
        self.bench.configure()
        host = self.bench.start()
        self.assertEqual(host.wait_ready()["READY"], "1")
        self.assertEqual(host.wait_pass(), "drifted")
        self.assertEqual(host.stop(), 0, host.said)
        self.assertFalse(self.motd.exists(), "observe changed the machine")
        kinds = self.kinds()
        for kind in ("storeCreated", "lifecycleChanged", "passStarted", "passFinished", "versionConfirmed", "storeClosed"):
            self.assertEqual(kinds.count(kind), 1, kinds)
        self.assertEqual(kinds[-1], "storeClosed")
        (changed,) = self.bench.events("--kind", "lifecycleChanged")
        self.assertEqual((changed["event"]["from"], changed["event"]["to"]), ("unmanaged", "hosted"), changed)
        (started,) = self.bench.events("--kind", "passStarted")
        self.assertEqual(started["event"]["trigger"], "start")
        host.wait_for(lambda message: message.get("STOPPING") == "1")
        self.assert_sound()

    def test_steady(self):
        """host: a start over a store that knows everything appends its own records and two of the pass, no more"""
        self.bench.configure(mode="enforce")
        for _ in range(2):
            host = self.bench.start()
            host.wait_pass()
            self.assertEqual(host.stop(), 0, host.said)
        before = len(self.kinds())
        host = self.bench.start()
        host.wait_pass()
        self.assertEqual(host.stop(), 0, host.said)
        self.assertEqual(self.kinds()[before:], ["storeOpened", "passStarted", "passFinished", "storeClosed"])

    def test_drift_at_the_beat(self):
        """host: enforcing, drift made by hand is gone after a beat, without a new declaration [D01] [N09]"""
        self.bench.configure(mode="enforce", interval="1s")
        host = self.bench.start()
        host.wait_until(lambda: self.content() == "hello\n")
        self.motd.write_text("by hand\n")
        host.wait_until(lambda: self.content() == "hello\n")
        self.assertEqual(host.stop(), 0, host.said)
        triggers = {event["event"]["trigger"] for event in self.bench.events("--kind", "passStarted")}
        self.assertEqual(triggers, {"start", "timer"})
        self.assert_sound()

    def test_no_configuration(self):
        """host: without agent.yaml it idles, holds the store, and ends in order"""
        host = self.bench.start()
        self.assertIn("idle", host.wait_pass())
        self.assertEqual(host.stop(), 0, host.said)
        self.assertNotIn("passStarted", self.kinds())

    def test_bad_configuration(self):
        """host: a configuration that is wrong, or that others can change, is refused with 78 and in words"""
        self.bench.configure("reconciliation: {mood: enforce}\n")
        host = self.bench.start()
        self.assertEqual(host.wait_end(), 78)
        self.assertIn("agent.yaml:1:", host.said)
        self.assertTrue(host.said.startswith("datum-host: "), host.said)  # no manager reads it: no mark
        self.bench.configure()
        (self.bench.config / "agent.yaml").chmod(0o666)
        host = self.bench.start()
        self.assertEqual(host.wait_end(), 78)
        self.assertIn("chmod go-w", host.said)
        self.assertFalse(self.bench.state.exists(), "a store was made")

    def test_foreign_store(self):
        """host: a store that is bound to another host is refused with 74 and in words"""
        self.bench.configure()
        self.assertEqual(self.make_store(), 2)
        self.bench.configure("host: other\nsource: /srv/fleet\n")
        host = self.bench.start()
        self.assertEqual(host.wait_end(), 74)
        self.assertIn("bound to the host", host.said)

    def make_store(self):
        return self.bench.observe().code

    def test_two(self):
        """host: a second one says who has the store, waits without a failure, and takes over when the first one ends [R02]"""
        self.bench.configure()
        first = self.bench.start()
        first.wait_pass()
        second = self.bench.start()
        said = second.wait_ready()["STATUS"]
        self.assertIn("waits for the store", said)
        self.assertIn(str(first.process.pid), said)
        self.assertEqual(first.stop(), 0, first.said)
        second.wait_pass()
        self.assertEqual(second.stop(), 0, second.said)
        self.assertEqual(self.kinds().count("storeOpened"), 1)
        self.assert_sound()

    def test_waiting_ends(self):
        """host: one that waits for the store ends when it is told to"""
        self.bench.configure()
        first = self.bench.start()
        first.wait_pass()
        second = self.bench.start()
        second.wait_ready()
        self.assertEqual(second.stop(), 0, second.said)
        self.assertEqual(first.stop(), 0, first.said)

    def test_reload(self):
        """host: SIGHUP takes over a good configuration, and journals a bad one while the last good one stays in force"""
        self.bench.configure(mode="enforce", interval="1s")
        host = self.bench.start()
        host.wait_until(lambda: self.content() == "hello\n")
        self.bench.configure("reconciliation: {mode: enforce}\nunknown: 1\n")
        host.signal(signal.SIGHUP)
        host.wait_for(lambda message: "RELOADING" in message)
        host.wait_for(lambda message: "not in force" in message.get("STATUS", ""))
        self.motd.write_text("by hand\n")
        host.wait_until(lambda: self.content() == "hello\n")
        self.bench.configure(mode="observe", interval="1s")
        host.signal(signal.SIGHUP)
        host.wait_for(lambda message: "RELOADING" in message)
        self.assertNotIn("not in force", host.wait_ready()["STATUS"])
        host.wait_pass()
        self.motd.write_text("by hand\n")
        host.wait_pass()
        host.wait_pass()
        self.assertEqual(self.content(), "by hand\n")
        self.assertEqual(host.stop(), 0, host.said)
        rejected = self.bench.events("--kind", "configRejected")
        self.assertEqual(len(rejected), 1, rejected)
        self.assertEqual((rejected[0]["event"]["line"], rejected[0]["event"]["column"]), (2, 1), rejected)

    def test_lost_peer(self):
        """host: the signal of a write to somebody who hung up does not end it"""
        self.bench.configure(mode="enforce", interval="1s")
        host = self.bench.start()
        host.wait_ready()
        host.signal(signal.SIGPIPE)
        host.wait_pass()
        host.wait_pass()
        self.assertEqual(host.stop(), 0, host.said)

    def test_hold_file(self):
        """host: a hold that any script drops keeps the machine as it is, is journalled, and lets go when it is removed"""
        self.bench.configure(mode="enforce", interval="1s")
        (self.bench.config / "hold").write_text("reason: database migration\n")
        host = self.bench.start()
        host.wait_pass()
        host.wait_pass()
        self.assertIsNone(self.content())
        (self.bench.config / "hold").unlink()
        host.wait_until(lambda: self.content() == "hello\n")
        self.assertEqual(host.stop(), 0, host.said)
        kinds = self.kinds()
        self.assertEqual((kinds.count("holdSet"), kinds.count("holdLifted")), (1, 1), kinds)
        (held,) = self.bench.events("--kind", "holdSet")
        self.assertEqual(held["event"]["reason"], "database migration")

    def test_broken_fleet(self):
        """host: a fleet that does not resolve is told once, and the first good one is enforced"""
        self.bench.configure(mode="enforce", interval="1s")
        (self.bench.fleet / "base/resources.yaml").write_text("---\ndatum: v1alpha1\ntype: Nothing\nname: x\n")
        host = self.bench.start()
        host.wait_pass()
        host.wait_pass()
        self.assertEqual(host.said.count("error(s) in the fleet"), 1, host.said)
        self.bench.declare(fleet.file("motd", "/motd", "hello\n"))
        host.wait_until(lambda: self.content() == "hello\n")
        self.assertEqual(host.stop(), 0, host.said)

    def test_damaged_store(self):
        """host: a damaged store is set aside whole, and a new one begins that says so [L04]"""
        self.bench.configure()
        self.make_store()
        data = self.bench.state / "journal/data.mdb"
        (self.bench.state / "journal/clean").unlink()
        body = bytearray(data.read_bytes())
        for at in range(2 * 4096, len(body)):
            body[at] ^= 0x5A
        data.write_bytes(body)
        host = self.bench.start()
        host.wait_pass()
        self.assertEqual(host.stop(), 0, host.said)
        self.assertIn("corruptDetected", self.kinds())
        (moved,) = self.bench.state.glob("damaged-*")
        self.assertEqual((moved / "journal/data.mdb").read_bytes(), bytes(body))

    def test_lost_journal(self):
        """host: a store that has lost its journal is set aside with what is left, and a new one begins that says so"""
        self.bench.configure()
        self.make_store()
        shutil.rmtree(self.bench.state / "journal")
        host = self.bench.start()
        host.wait_pass()
        self.assertEqual(host.stop(), 0, host.said)
        self.assertIn("has lost its journal", host.said)
        self.assertEqual(self.kinds()[:2], ["storeCreated", "corruptDetected"])
        (moved,) = self.bench.state.glob("damaged-*")
        self.assertTrue((moved / "blobs").is_dir())

    def test_upgrade(self):
        """host: another program under its name is told as an upgrade, and makes it end in order [U06]"""
        self.bench.configure(interval="1s")
        program = self.bench.scratch / "datum-host"
        shutil.copy(hosting.HOST, program)
        host = self.bench.start(program=program)
        host.wait_pass()
        shutil.copy(hosting.HOST, self.bench.scratch / "new")
        os.rename(self.bench.scratch / "new", program)
        self.assertEqual(host.wait_end(), 0, host.said)
        kinds = self.kinds()
        self.assertEqual(kinds[-2:], ["upgradePending", "storeClosed"])

    def install_release(self):
        """The program and the rollback script where packages put them; the program's place."""
        program = self.bench.root / "usr/sbin/datum-host"
        script = self.bench.root / "usr/lib/datum/datum-release"
        for path in (program, script):
            path.parent.mkdir(parents=True)
        shutil.copy(hosting.HOST, program)
        shutil.copy(fleet.TOP / "packaging/release/datum-release", script)
        (script.parent / "files").write_text("/usr/lib/datum/datum-release\n/usr/lib/datum/files\n/usr/sbin/datum-host\n")
        return program

    def test_release(self):
        """host: a confirmed release is kept for the way back, whole, and names the record that it rests on [U09]"""
        self.bench.configure(interval="1s")
        program = self.install_release()
        host = self.bench.start(program=program)
        release = self.bench.root / "var/lib/datum/release"
        host.wait_until((release / "confirmed").exists)
        self.assertEqual(host.stop(), 0, host.said)
        noted = dict(line.split("=", 1) for line in (release / "confirmed").read_text().splitlines())
        (confirmed,) = [event for event in self.bench.events() if event["kind"] == "versionConfirmed"]
        self.assertEqual(noted["version"], confirmed["event"]["version"])
        self.assertGreaterEqual(int(noted["sequence"]), confirmed["seq"])
        (kept,) = release.glob("*/usr/sbin/datum-host")
        self.assertEqual(kept.read_bytes(), program.read_bytes())

    def test_release_place(self):
        """host: the kept release lies in /var/lib/datum/release also where agent.yaml puts the store elsewhere"""
        self.bench.configure(interval="1s", state="/srv/store")
        host = self.bench.start(program=self.install_release(), has_state=False)
        release = self.bench.root / "var/lib/datum/release"
        host.wait_until((release / "confirmed").exists)
        self.assertEqual(host.stop(), 0, host.said)
        store = self.bench.root / "srv/store"
        self.assertIn("versionConfirmed", [event["kind"] for event in self.bench.events(state=store)])
        self.assertFalse((store / "release").exists())
        self.assertEqual([path.name for path in release.parent.iterdir()], ["release"])

    def test_rolled_back(self):
        """host: what the rollback script did is in the journal, once"""
        self.bench.configure(interval="1s")
        program = self.install_release()
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        version = version.removeprefix("datum-host ").split(",")[0]
        release = self.bench.root / "var/lib/datum/release"
        release.mkdir(parents=True)
        (release / "rolled-back").write_text(f"from=9.9 (bad)\nto={version}\ncause=it failed 3 times\n")
        for _ in range(2):
            host = self.bench.start(program=program)
            host.wait_pass()
            self.assertEqual(host.stop(), 0, host.said)
        told = [event["event"] for event in self.bench.events() if event["kind"] == "rolledBack"]
        self.assertEqual(told, [{"from": "9.9 (bad)", "to": version, "cause": "it failed 3 times"}])
        self.assertEqual(host.said.count("was rolled back"), 0)

    def test_no_pass(self):
        """host: without a source it says for the rollback script that no pass can run, and takes it back [U10]"""
        (self.bench.root / "run/datum").mkdir()
        marker = self.bench.root / "run/datum/no-pass"
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{interval: 1s}}\n")
        host = self.bench.start()
        host.wait_until(marker.exists)
        self.bench.configure(interval="1s")
        host.wait_until(lambda: not marker.exists())
        self.assertEqual(host.stop(), 0, host.said)

    def test_broken_upgrade(self):
        """host: a program that does not even say its version is no upgrade: the old one goes on"""
        self.bench.configure(interval="1s")
        program = self.bench.scratch / "datum-host"
        shutil.copy(hosting.HOST, program)
        host = self.bench.start(program=program)
        host.wait_pass()
        (self.bench.scratch / "new").write_text("#!/bin/false\n")
        (self.bench.scratch / "new").chmod(0o755)
        os.rename(self.bench.scratch / "new", program)
        host.wait_pass()
        host.wait_pass()
        host.wait_pass()
        self.assertIsNone(host.process.poll(), host.said)
        self.assertEqual(host.said.count("does not say its version"), 1, host.said)
        self.assertEqual(host.stop(), 0)
        self.assertNotIn("upgradePending", self.kinds())

    def test_metrics(self):
        """host: after each pass the file for node_exporter holds counts, and no resource's name"""
        metrics = self.bench.scratch / "metrics/datum.prom"
        metrics.parent.mkdir()
        (self.bench.root / str(metrics.parent)[1:]).mkdir(parents=True)
        self.bench.configure(metrics=metrics)
        host = self.bench.start()
        host.wait_pass()
        text = (self.bench.root / str(metrics)[1:]).read_text()
        self.assertIn('datum_resources{state="drifted"} 1\n', text)
        self.assertIn('datum_condition{condition="drifted"} 1\n', text)
        self.assertIn("datum_enforces 0\n", text)
        self.assertNotIn("motd", text)
        self.assertEqual(host.stop(), 0, host.said)

    def test_watchdog(self):
        """host: it feeds the watchdog twice in the manager's time, waiting for the store too"""
        self.bench.configure()
        host = self.bench.start(watchdog_us=200_000)
        for _ in range(5):
            host.wait_for(lambda message: message.get("WATCHDOG") == "1")
        second = self.bench.start(watchdog_us=200_000)
        second.wait_ready()
        for _ in range(5):
            second.wait_for(lambda message: message.get("WATCHDOG") == "1")
        self.assertEqual(second.stop(), 0, second.said)
        self.assertEqual(host.stop(), 0, host.said)


class Rounds(Scene):
    STARTS, KILLS = 10, 15

    def test_starts_and_stops(self):
        """host: started and stopped again and again, each start finds a clean end, and the store is sound"""
        self.bench.configure(mode="enforce")
        for _ in range(self.STARTS):
            host = self.bench.start()
            host.wait_ready()
            self.assertEqual(host.stop(), 0, host.said)
        ends = {event["event"]["lastEnd"] for event in self.bench.events("--kind", "storeOpened")}
        self.assertEqual(ends, {"clean"})
        self.assert_sound()

    def test_kills(self):
        """host: killed at any moment, the next start has the store at once, says so, and the pass is done at the end [R02]"""
        count = 40
        self.bench.declare(*(fleet.file(f"f{n}", f"/d/f{n}", f"{n}\n") for n in range(count)),
                           fleet.directory("d", "/d"))
        self.bench.configure(mode="enforce", interval="1s")
        for number in range(self.KILLS):
            host = self.bench.start()
            host.wait_ready()
            for _ in range(number % 4):
                host.hear()
            shutil.rmtree(self.bench.root / "d", ignore_errors=True)
            host.kill()
        host = self.bench.start()
        host.wait_until(lambda: all((self.bench.root / f"d/f{n}").exists() for n in range(count)))
        self.assertEqual(host.stop(), 0, host.said)
        ends = [event["event"]["lastEnd"] for event in self.bench.events("--kind", "storeOpened")]
        self.assertEqual(set(ends), {"crashed"})
        self.assert_sound()
        self.assertEqual(self.bench.observe().code, 0)


class Often(Rounds, unittest.TestCase):
    pass


if __name__ == "__main__":
    tap.main()
