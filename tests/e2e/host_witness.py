#!/usr/bin/env python3
# test: short
"""The store of a service is gone, damaged, another one or an older copy of itself: the witness outside of it says so, what
is declared goes on being applied, and what only the lost store knew of waits for somebody's decision."""

import os
import pathlib
import shutil
import stat
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

UNKNOWN, DRIFTED = 4, 2


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.configure(mode="enforce")
        self.declare("motd", "old")
        self.witness = self.bench.config / "witness"
        self.host = None

    def declare(self, *names):
        self.bench.declare(*(fleet.file(name, f"/{name}", f"{name}\n") for name in names))

    def path(self, name):
        return self.bench.root / name

    def start(self, **options):
        self.host = self.bench.start(**options)
        self.host.wait_pass()
        return self.host

    def stop(self):
        self.assertEqual(self.host.stop(), 0, self.host.said)

    def datum(self, verb, *arguments, code=0, config=False):
        place = ["--root", self.bench.root, "--state", self.bench.state]
        done = fleet.datum(verb, *arguments, *place, *(["--config", self.bench.config] if config else []))
        self.assertEqual(done.code, code, done.text)
        return done

    def status(self, code):
        return self.datum("status", "--json", code=code).lines[0]

    def remove(self, *arguments, code=0):
        return self.datum("remove", *arguments, config=True, code=code)

    def events(self, *kinds):
        return [event for event in self.bench.events() if event["kind"] in kinds]

    def owned_before(self):
        """A service that owned two files, and of one of them no document is left."""
        self.start()
        self.stop()
        self.assertEqual({name for name in os.listdir(self.bench.root) if self.path(name).is_file()}, {"motd", "old"})
        self.declare("motd")

    def assert_lost(self, kind, orphans=("/old",)):
        """Told once, never converged, and the declaration goes on being applied."""
        status = self.status(UNKNOWN)
        self.assertIn("store-lost", status["flags"])
        self.assertEqual(status["reason"], "the store was lost and its orphans are undecided")
        lost = self.events("storeLossDetected")
        self.assertEqual([event["event"]["kind"] for event in lost], [kind])
        self.assertEqual([line["target"] for line in self.datum("owned", "--orphans", "--json").lines], list(orphans))
        self.path("motd").write_text("by hand\n")
        self.datum("reconcile", config=True, code=UNKNOWN)
        self.assertEqual(self.path("motd").read_text(), "motd\n")

    def assert_decided(self):
        status = self.status(0)
        self.assertEqual((status["condition"], status["flags"]), ("converged", []))
        self.assertIn("No orphan", self.datum("owned", "--orphans").out)
        self.assertIn("Sound", fleet.datum("journal", "verify", "--state", self.bench.state).out)


class Lost(Case):
    def lose(self):
        self.owned_before()
        shutil.rmtree(self.bench.state)
        self.start()

    def test_missing(self):
        """lost: a store that is gone is told as lost and never converged until what it owned alone is decided [L16]"""
        self.lose()
        self.assert_lost("missing")
        first = [event["kind"] for event in self.bench.events()][:3]
        self.assertEqual(first, ["storeCreated", "storeLossDetected", "targetOrphaned"])
        self.assertIn("as left", self.datum("owned", "--orphans").out)
        self.assertIn("datum remove --orphans", self.datum("status", code=UNKNOWN).out)
        done = self.remove("--orphans")
        self.assertFalse(self.path("old").exists(), done.text)
        self.assertTrue(self.path("motd").exists())
        self.assert_decided()
        decided = [event["event"] for event in self.events("ownershipCreated") if event["event"].get("actor")]
        self.assertEqual([(event["target"], event["actor"]["command"]) for event in decided], [("/old", "datum remove")])
        self.assertEqual([event["event"]["target"] for event in self.events("ownershipRemoved")], ["/old"])
        self.stop()
        self.start()
        self.assert_decided()
        self.stop()
        self.assertEqual(len(self.events("storeLossDetected")), 1)

    def test_adopt(self):
        """lost: an orphan that is adopted stays, by name, and nothing else is asked of it"""
        self.lose()
        self.datum("adopt", "/motd", code=1)
        done = self.datum("adopt", "/old")
        self.assertIn("1 orphan adopted", done.out)
        self.assert_decided()
        self.datum("reconcile", config=True)
        self.assertEqual(self.path("old").read_text(), "old\n")
        self.assert_decided()
        adopted = [event["event"] for event in self.events("ownershipAdopted") if event["event"].get("actor")]
        self.assertEqual([event["actor"]["command"] for event in adopted], ["datum adopt"])
        self.datum("adopt", "--orphans", code=1)
        self.stop()

    def test_changed(self):
        """lost: what somebody changed since the lost store left it is shown so, and is not removed"""
        self.lose()
        self.path("old").write_text("by hand\n")
        self.assertIn("changed", self.datum("owned", "--orphans").out)
        self.remove("--orphans")
        self.assertEqual(self.path("old").read_text(), "by hand\n")
        self.assertIn("changed since Datum made it", self.events("ownershipReleased")[0]["event"]["reason"])
        self.assert_decided()
        self.stop()

    def test_observed(self):
        """lost: in observe the decision is recorded and nothing is removed: it is drift until the mode allows it"""
        self.lose()
        self.bench.configure(mode="observe")
        self.remove("--orphans", code=DRIFTED)
        self.assertTrue(self.path("old").exists())
        self.assertNotIn("store-lost", self.status(DRIFTED)["flags"])
        self.bench.configure(mode="enforce")
        self.datum("reconcile", config=True)
        self.assertFalse(self.path("old").exists())
        self.stop()

    def test_brake(self):
        """lost: removing orphans is under the brake, and what it lets through is said"""
        names = [f"old{number:02}" for number in range(11)]
        self.declare("motd", *names)
        self.start()
        self.stop()
        self.declare("motd")
        shutil.rmtree(self.bench.state)
        self.start()
        self.remove("--orphans", code=DRIFTED)
        self.assertTrue(all(self.path(name).exists() for name in names))
        self.datum("reconcile", "--allow-removals", "11", config=True)
        self.assertFalse(any(self.path(name).exists() for name in names))
        self.assert_decided()
        self.stop()

    def test_rule(self):
        """lost: with `orphans: remove` in agent.yaml the service removes them by itself, and the journal says by which rule"""
        self.owned_before()
        shutil.rmtree(self.bench.state)
        self.bench.configure(mode="enforce", orphans="remove")
        self.start()
        hosting.wait(lambda: not self.path("old").exists())
        self.stop()
        decided = [event["event"] for event in self.events("ownershipCreated") if event["event"].get("actor")]
        self.assertEqual([event["actor"]["command"] for event in decided], ["agent.yaml: orphans: remove"])
        self.assert_decided()

    def test_killed(self):
        """lost: a service that is killed as soon as it has told of the loss tells of it once, and forgets no orphan"""
        self.owned_before()
        shutil.rmtree(self.bench.state)
        for _ in range(3):
            host = self.bench.start()
            host.wait_ready()
            host.kill()
        self.start()
        self.assert_lost("missing")
        self.stop()


class Other(Case):
    def test_corrupt(self):
        """corrupt: a damaged store is set aside, named, and the new one begins with what that one owned [L04]"""
        self.owned_before()
        data = self.bench.state / "journal/data.mdb"
        (self.bench.state / "journal/clean").unlink(missing_ok=True)
        data.write_bytes(data.read_bytes()[:8192] + b"\xa5" * (data.stat().st_size - 8192))
        self.start()
        self.assert_lost("corrupt")
        aside = self.events("corruptDetected")[0]["event"]["movedTo"]
        self.assertTrue((pathlib.Path(aside) / "journal/data.mdb").exists())
        self.remove("--orphans")
        self.assert_decided()
        self.stop()

    def rewind(self):
        """The store alone as it was before it owned the second file."""
        self.declare("motd")
        self.start()
        self.stop()
        older = self.bench.scratch / "older"
        shutil.copytree(self.bench.state, older, copy_function=shutil.copy2)
        self.declare("motd", "old")
        self.owned_before()
        shutil.rmtree(self.bench.state)
        return older

    def test_rewound(self):
        """behind: a store that was put back to an older copy is told, goes on, and is accepted by deciding"""
        older = self.rewind()
        shutil.copytree(older, self.bench.state, copy_function=shutil.copy2)
        self.start()
        self.assert_lost("behind the witness")
        self.assertEqual(self.events("storeCreated")[0]["seq"], 1)
        self.remove("/old")
        self.assert_decided()
        self.stop()
        self.start()
        self.assertEqual(len(self.events("storeLossDetected")), 1)
        self.stop()

    def test_diverged(self):
        """behind: an older copy that commands went on with until it is as long is told all the same"""
        older = self.rewind()
        shutil.copytree(older, self.bench.state, copy_function=shutil.copy2)
        for number in range(12):
            self.path("motd").write_text(f"{number}\n")
            self.datum("reconcile", config=True)
        self.start()
        self.assert_lost("behind the witness")
        self.stop()

    def test_foreign(self):
        """foreign: a store that somebody made anew is told, and accepted by deciding about what it does not know"""
        self.owned_before()
        shutil.rmtree(self.bench.state)
        self.datum("reconcile", config=True)
        self.assertNotIn("storeLossDetected", [event["kind"] for event in self.bench.events()])
        self.start()
        self.assert_lost("foreign")
        self.datum("adopt", "--orphans")
        self.assert_decided()
        self.stop()

    def test_nothing_left(self):
        """lost: where everything that was owned is declared, the loss is over with the pass that finds it so"""
        self.start()
        self.stop()
        shutil.rmtree(self.bench.state)
        self.start()
        self.assertEqual([event["event"]["kind"] for event in self.events("storeLossDetected")], ["missing"])
        self.assert_decided()
        self.stop()


class Witness(Case):
    def test_upgrade(self):
        """witness: a sound store without one is no loss: it is written, for its owner alone"""
        self.owned_before()
        shutil.rmtree(self.witness)
        self.start()
        self.assertEqual(self.events("storeLossDetected"), [])
        made = self.witness / "store"
        self.assertEqual([stat.S_IMODE(path.stat().st_mode) for path in (self.witness, made)], [0o700, 0o600])
        self.stop()

    def test_damaged(self):
        """witness: a damaged one beside a sound store is written anew; with the store gone too, a loss is suspected"""
        self.owned_before()
        made = self.witness / "store"
        made.write_bytes(made.read_bytes()[:-1])
        self.start()
        self.assertIn("witness of the store says nothing", self.host.said)
        self.assertEqual(self.events("storeLossDetected"), [])
        self.stop()
        made.write_bytes(made.read_bytes()[:-1])
        shutil.rmtree(self.bench.state)
        self.start()
        self.assertEqual([event["event"]["kind"] for event in self.events("storeLossDetected")], ["suspected"])
        self.stop()

    def test_both_gone(self):
        """witness: with the store gone as well, what only Datum leaves makes a loss suspected, until a pass has finished; of an
        image it does not"""
        drop_in = self.bench.root / "etc/sysctl.d/70-datum-vm.swappiness.conf"
        drop_in.parent.mkdir(parents=True)
        for mark, kinds in ((lambda: None, []), (drop_in.touch, ["suspected"]),
                            (lambda: self.witness.mkdir(mode=0o700), [])):
            shutil.rmtree(self.bench.state, ignore_errors=True)
            shutil.rmtree(self.witness, ignore_errors=True)
            mark()
            self.start()
            self.assertEqual([event["event"]["kind"] for event in self.events("storeLossDetected")], kinds)
            self.assert_decided()
            self.stop()

    def test_quiet(self):
        """witness: a pass that changes nothing writes none"""
        self.start()
        self.datum("reconcile", config=True)
        made = self.witness / "store"
        before = made.stat()
        for _ in range(3):
            self.datum("reconcile", config=True)
        self.assertEqual((made.stat().st_ino, made.stat().st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        self.path("motd").write_text("by hand\n")
        self.datum("reconcile", config=True)
        self.assertNotEqual(made.stat().st_ino, before.st_ino)
        self.stop()

    def test_unwritable(self):
        """witness: where it cannot be written that is said once, and the service goes on"""
        self.witness.write_text("not a folder\n")
        self.start()
        self.datum("reconcile", config=True)
        self.assertTrue(self.path("motd").exists())
        self.assertEqual(self.host.said.count("the witness of the store was not written"), 1, self.host.said)
        self.stop()

    def test_named_store(self):
        """witness: commands write none, and a store that somebody names and loses simply begins anew"""
        self.datum("reconcile", config=True)
        self.assertFalse(self.witness.exists())
        shutil.rmtree(self.bench.state)
        self.datum("reconcile", config=True)
        self.assertEqual(self.events("storeLossDetected"), [])

    def test_own_store(self):
        """witness: a command that finds the machine's own store gone begins one that says so, and the service takes it over"""
        self.bench.config = self.bench.root / "etc/datum"
        self.bench.config.mkdir(parents=True)
        self.bench.configure(mode="enforce")
        self.bench.state = self.bench.root / "var/lib/datum"
        self.bench.state.parent.mkdir(parents=True)
        self.witness = self.bench.config / "witness"
        self.host = self.bench.start(has_state=False)
        self.host.wait_pass()
        self.stop()
        self.declare("motd")
        shutil.rmtree(self.bench.state)
        place = ["--root", self.bench.root]
        self.assertEqual(fleet.datum("reconcile", *place).code, UNKNOWN)
        self.assertEqual(fleet.datum("remove", "--orphans", *place).code, 0)
        self.assertFalse(self.path("old").exists())
        self.host = self.bench.start(has_state=False)
        self.host.wait_pass()
        self.stop()
        self.assertEqual([event["event"]["kind"] for event in self.events("storeLossDetected")], ["missing"])
        self.assert_decided()


if __name__ == "__main__":
    tap.main()
