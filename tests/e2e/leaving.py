#!/usr/bin/env python3
# test: short root
"""What leaves the declaration, the brake on it, and the words that stand above a pass: mode, hold, saved plan."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402


def files(count, first=0, prefix="f"):
    return [fleet.file(f"{prefix}{number:02}", f"/f{number:02}", f"number {number}\n")
            for number in range(first, first + count)]


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)

    def converge(self, *resources, **layers):
        self.bench.declare(*resources, **layers)
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)

    def there(self):
        return sorted(os.listdir(self.bench.root))

    def body(self, name):
        return (self.bench.root / name).read_text()

    def actions(self, run):
        return {(line["action"], line["target"]) for line in run.lines if "ordinal" in line}


class Leaving(Case):
    def test_created_goes(self):
        """leaving: what Datum created and nobody changed is removed, folders after what is in them"""
        tree = [fleet.directory("d", "/d"), fleet.directory("e", "/d/e"), fleet.file("f", "/d/e/f", "f\n"),
                fleet.symlink("l", "/d/l", "e/f")]
        self.converge(*tree, *files(1))
        self.converge(*files(1))
        self.assertEqual(self.there(), ["f00"])
        self.assertEqual(set(self.bench.owned()), {"/f00"})

    def test_adopted_stays(self):
        """leaving: what was there before Datum is released, and it is said why"""
        (self.bench.root / "same").write_text("number 1\n")
        (self.bench.root / "other").write_text("old\n")
        adopted = [fleet.file("same", "/same", "number 1\n"), fleet.file("other", "/other", "new\n")]
        self.converge(*files(1), *adopted)
        self.bench.declare(*files(1))
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual((self.body("same"), self.body("other")), ("number 1\n", "new\n"))
        for name in ("same", "other"):
            self.assertRegex(done.out, rf"release +File\[{name}\].*\n +adopted")
        self.assertEqual(set(self.bench.owned()), {"/f00"})

    def spoil_and_leave(self, spoil):
        self.converge(*files(1), fleet.file("left", "/left", "left\n", mode="0644"), fleet.directory("dir", "/dir"))
        spoil(self.bench.root / "left", self.bench.root / "dir")
        before = fleet.listing(self.bench.root)
        self.bench.declare(*files(1))
        done = self.bench.enforce()
        return done, before, fleet.listing(self.bench.root)

    def test_changed_content_stays(self):
        """leaving: a file whose content was changed since is released, and it is said why"""
        done, before, after = self.spoil_and_leave(lambda path, _: path.write_text("by hand\n"))
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(before[b"left"], after[b"left"])
        self.assertRegex(done.out, r"release +File\[left\].*\n +changed since")

    def test_replaced_stays(self):
        """leaving: a file that was replaced by another of the same content is released"""
        def replace(path, _):
            shutil.copy(path, path.with_name("tmp"))
            path.with_name("tmp").rename(path)
        done, before, after = self.spoil_and_leave(replace)
        self.assertEqual(before[b"left"], after[b"left"])
        self.assertRegex(done.out, r"release +File\[left\]")

    def test_other_type_stays(self):
        """leaving: a link or a folder in the place of what Datum made is released, its target untouched [F08]"""
        def replace(path, _):
            path.unlink()
            path.symlink_to("f00")
        done, before, after = self.spoil_and_leave(replace)
        self.assertEqual(before[b"left"], after[b"left"])
        self.assertEqual(before[b"f00"], after[b"f00"])
        self.assertRegex(done.out, r"release +File\[left\]")

    def test_full_folder_stays(self):
        """leaving: a folder with a foreign file in it is not removed, and it is said why"""
        done, before, after = self.spoil_and_leave(lambda _, folder: (folder / "foreign").write_text("mine\n"))
        self.assertIn(b"dir/foreign", after)
        self.assertNotIn(b"left", after)
        self.assertRegex(done.out, r"Directory\[dir\].*\n +.*(empty|entr)")

    def test_gone_already(self):
        """leaving: what somebody removed already is forgotten, and nothing fails"""
        done, _, after = self.spoil_and_leave(lambda path, _: path.unlink())
        self.assertEqual(done.code, 0, done.text)
        self.assertNotIn(b"left", after)
        self.assertEqual(set(self.bench.owned()), {"/f00"})

    def test_renamed_document(self):
        """leaving: a renamed document removes nothing and changes not one inode"""
        self.converge(*files(15))
        before = fleet.listing(self.bench.root)
        self.bench.declare(*files(15, prefix="other"))
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(before, fleet.listing(self.bench.root))
        self.assertEqual(self.bench.owned()["/f03"]["reference"], "File[other03]")

    def test_other_type_of_the_same_target(self):
        """leaving: a target that another type declares now changes its type in one pass"""
        self.converge(*files(1), fleet.file("a", "/a", "a\n"), fleet.symlink("b", "/b", "f00"))
        self.converge(*files(1), fleet.symlink("a", "/a", "f00"), fleet.file("b", "/b", "b\n"))
        self.assertEqual((os.readlink(self.bench.root / "a"), self.body("b"), self.body("f00")),
                         ("f00", "b\n", "number 0\n"))

    def test_moved_between_layers(self):
        """leaving: a resource that moved to another layer stays as it is"""
        self.converge(low=files(12), high=files(1, first=20))
        before = fleet.listing(self.bench.root)
        self.converge(low=files(1, first=20), high=files(12))
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_explicit_absent(self):
        """absent: an explicit absence removes what is there, adopted or changed, and stays converged"""
        (self.bench.root / "theirs").write_text("old\n")
        gone = [fleet.file("theirs", "/theirs", state="absent"), fleet.symlink("link", "/link", "x", state="absent"),
                fleet.directory("d", "/d", state="absent")]
        (self.bench.root / "link").symlink_to("f00")
        (self.bench.root / "d").mkdir()
        self.bench.declare(*files(1), *[fleet.Resource(one.type, one.name, {"path": one.desired["path"], "state": "absent"})
                                        for one in gone])
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.there(), ["f00"])
        self.assertEqual(self.bench.observe().code, 0)

    def test_absent_keeps_the_target(self):
        """absent: a symlink is removed and its target kept, for File and for Symlink [F08]"""
        (self.bench.root / "kept").write_text("kept\n")
        (self.bench.root / "one").symlink_to("kept")
        (self.bench.root / "two").symlink_to("kept")
        self.converge(fleet.file("one", "/one", state="absent"),
                      fleet.Resource("Symlink", "two", {"path": "/two", "state": "absent"}))
        self.assertEqual((self.there(), self.body("kept")), (["kept"], "kept\n"))

    def test_absent_full_folder(self):
        """absent: a folder that is not empty is drift that fails, and nothing in it is touched"""
        (self.bench.root / "d").mkdir()
        (self.bench.root / "d/theirs").write_text("mine\n")
        self.bench.declare(fleet.Resource("Directory", "d", {"path": "/d", "state": "absent"}))
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--json")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_absent_is_no_removal(self):
        """brake: explicit absences do not count as removals"""
        self.converge(*files(15))
        self.converge(*files(1), *[fleet.file(f"f{n:02}", f"/f{n:02}", state="absent") for n in range(1, 15)])
        self.assertEqual(self.there(), ["f00"])


class Brake(Case):
    def check_stopped(self, *arguments):
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--json", *arguments)
        self.assertIn(done.code, (0, 2), done.text)
        self.assertEqual(before, fleet.listing(self.bench.root))
        self.assertIn("failed", done.lines[-1]["flags"])
        self.assertIn("brake", done.out)
        return done

    def test_lost_layer(self):
        """brake: a layer lost by mistake, more than ten removals, removes nothing"""
        self.converge(base=files(80), lost=files(11, first=80))
        self.bench.declare(base=files(80), lost=[])
        self.check_stopped()
        stopped = self.bench.enforce()
        self.assertRegex(stopped.out, r"--allow-removals 11")
        self.assertEqual(stopped.code, 2, "what was not removed is still there: that is no converged host")
        self.assertRegex(stopped.out, r"h1: drifted, 80 converged, 11 no longer declared and still there \[failed\]")
        status = fleet.datum("status", "--state", self.bench.state)
        self.assertEqual((status.code, "11 no longer declared" in status.out), (2, True), status.text)
        done = self.bench.enforce("--allow-removals", "11")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(len(self.there()), 80)

    def test_ten_pass(self):
        """brake: ten removals of many are done"""
        self.converge(*files(90))
        self.converge(*files(80))
        self.assertEqual(len(self.there()), 80)

    def test_one_in_five(self):
        """brake: more than one in five of at least ten owned targets removes nothing, one in five is done"""
        self.converge(*files(10))
        self.bench.declare(*files(7))
        self.check_stopped()
        self.converge(*files(8))
        self.assertEqual(len(self.there()), 8)

    def test_few_owned(self):
        """brake: below ten owned targets the share does not count"""
        self.converge(*files(9))
        self.converge(*files(1))
        self.assertEqual(self.there(), ["f00"])

    def test_too_little_leave(self):
        """brake: leave for fewer removals than there are removes nothing"""
        self.converge(*files(20))
        self.bench.declare(*files(5))
        self.check_stopped("--allow-removals", "14")
        self.assertEqual(self.bench.enforce("--allow-removals", "15").code, 0)
        self.assertEqual(len(self.there()), 5)

    def test_purge_counts(self):
        """brake: purge entries are removals, and the rest of the pass is done all the same"""
        self.converge(fleet.directory("d", "/d", purge=True), *files(1))
        for number in range(11):
            (self.bench.root / f"d/{number}").write_text("foreign\n")
        (self.bench.root / "f00").write_text("by hand\n")
        done = self.bench.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(len(os.listdir(self.bench.root / "d")), 11)
        self.assertEqual(self.body("f00"), "number 0\n")
        self.assertEqual(self.bench.enforce("--allow-removals", "11").code, 0)
        self.assertEqual(os.listdir(self.bench.root / "d"), [])

    def test_configured(self):
        """brake: removals.max of the configuration holds"""
        config = self.bench.scratch / "config"
        config.mkdir()
        (config / "agent.yaml").write_text("removals:\n  max: 2\n")
        self.converge(*files(9))
        self.bench.declare(*files(6))
        self.check_stopped("--config", config)

    def test_protect(self):
        """protect: a protected resource that leaves is never removed, and it is said"""
        self.converge(*files(1), fleet.with_keys(fleet.file("kept", "/kept", "kept\n"), protect=True))
        self.bench.declare(*files(1))
        done = self.bench.enforce("--allow-removals", "100")
        self.assertEqual(self.there(), ["f00", "kept"])
        self.assertIn("File[kept]", done.out)
        self.assertRegex(done.out, "protect")

    def test_empty_manifest(self):
        """brake: an empty manifest is refused, and --final accepts it"""
        self.converge(*files(3))
        self.bench.declare(base=[])
        refused = self.bench.enforce("--allow-removals", "100")
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("--final", refused.err)
        self.assertEqual(len(self.there()), 3)
        self.assertEqual(self.bench.enforce("--final").code, 0)
        self.assertEqual(self.there(), [])

    def test_observe_and_plan_remove_nothing(self):
        """leaving: observe and plan remove nothing, and plan names it"""
        self.converge(*files(5))
        self.bench.declare(*files(4))
        before = fleet.listing(self.bench.root)
        self.bench.observe()
        planned = self.bench.run("plan", "--json")
        self.assertEqual(before, fleet.listing(self.bench.root))
        self.assertEqual(self.actions(planned), {("leave", "/f04")})


class Modes(Case):
    def setUp(self):
        super().setUp()
        self.config = self.bench.scratch / "config"
        self.config.mkdir()
        self.bench.declare(*files(2))

    def configure(self, text):
        (self.config / "agent.yaml").write_text(text)

    def reconcile(self, *arguments):
        return self.bench.run("reconcile", "--json", "--config", self.config, *arguments)

    def test_configured_enforce(self):
        """mode: the configuration may say enforce"""
        self.configure("reconciliation: {mode: enforce}\n")
        self.assertEqual(self.reconcile().code, 0)
        self.assertEqual(len(self.there()), 2)

    def test_argument_stands_in(self):
        """mode: --mode observe changes nothing where the configuration enforces"""
        self.configure("reconciliation: {mode: enforce}\n")
        self.assertEqual(self.reconcile("--mode", "observe").code, 2)
        self.assertEqual(self.there(), [])

    def test_observe_after_enforce(self):
        """mode: drift after an enforce pass is only reported in observe, and recorded with who asked for what"""
        self.assertEqual(self.reconcile("--mode", "enforce").code, 0)
        (self.bench.root / "f00").write_text("by hand\n")
        self.assertEqual(self.reconcile().code, 2)
        self.assertEqual(self.body("f00"), "by hand\n")
        started = [event["event"] for event in self.bench.events("--kind", "passStarted")]
        self.assertEqual([event["mode"]["mode"] for event in started], ["enforce", "observe"])
        self.assertEqual([event["mode"]["term"] for event in started][0], "argument")
        self.assertEqual(started[0]["actor"]["uid"], os.getuid())

    def hold(self, text=""):
        (self.config / "hold").write_text(text)

    def test_hold_file(self):
        """hold: an empty hold file stops enforcement, by --mode too, until it is gone"""
        self.hold()
        done = self.reconcile("--mode", "enforce")
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(self.there(), [])
        self.assertIn("held", done.lines[-1]["flags"])
        (self.config / "hold").unlink()
        self.assertEqual(self.reconcile("--mode", "enforce").code, 0)
        self.assertEqual(len(self.there()), 2)

    def test_broken_configuration(self):
        """mode: a configuration that cannot be read never enforces"""
        for text in ("reconciliation: {mode: enfroce}\n", "reconciliation: {mode: [\n",
                     "reconciliation: {mode: enforce}\nunknown: 1\n", "\x00"):
            with self.subTest(text=text):
                self.configure(text)
                done = self.reconcile()
                self.assertEqual(done.code, 1, done.text)
                self.assertIn("agent.yaml", done.err)
                self.assertEqual(self.there(), [])

    def test_writable_by_others(self):
        """mode: a configuration that others can write never enforces"""
        self.configure("reconciliation: {mode: enforce}\n")
        (self.config / "agent.yaml").chmod(0o666)
        self.assertNotEqual(self.reconcile().code, 0)
        self.assertEqual(self.there(), [])

    def test_observe_list(self):
        """mode: a resource on the local observe list is reported and left alone"""
        self.configure("reconciliation: {mode: enforce}\nobserve:\n  - File[f00]\n")
        done = self.reconcile()
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(self.there(), ["f01"])
        self.assertIn("mixed-mode", done.lines[-1]["flags"])

    def test_blocked_by_observed(self):
        """mode: what requires a drifted resource that is only observed is blocked, and says so"""
        self.bench.declare(fleet.with_keys(files(1)[0], policy="observe"),
                           fleet.with_keys(files(1, first=1)[0], requires=["File[f00]"]))
        done = self.bench.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertEqual(self.there(), [])
        self.assertRegex(done.out, r"blocked.*File\[f00\]")


class SavedPlan(Case):
    def setUp(self):
        super().setUp()
        self.converge(*files(3))
        (self.bench.root / "f00").write_text("by hand\n")
        self.plan = self.bench.scratch / "plan.json"

    def save(self):
        done = self.bench.run("plan", "--out", self.plan)
        self.assertEqual(done.code, 2, done.text)

    def test_done_as_saved(self):
        """plan: a saved plan is done as it stands, and plan itself recorded nothing"""
        before = len(self.bench.events())
        self.save()
        self.assertEqual(len(self.bench.events()), before)
        done = self.bench.enforce("--plan", self.plan)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.body("f00"), "number 0\n")

    def check_refused(self, *names):
        before = fleet.listing(self.bench.root)
        done = self.bench.enforce("--plan", self.plan)
        self.assertEqual(done.code, 1, done.text)
        for name in names:
            self.assertIn(name, done.err)
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_refused_when_moved(self):
        """plan: a saved plan is refused, by name, when what it rests on has moved"""
        self.save()
        (self.bench.root / "f00").write_text("by hand once more\n")
        self.check_refused("f00")

    def test_refused_when_more_drifts(self):
        """plan: a saved plan is refused when something else drifts now"""
        self.save()
        (self.bench.root / "f01").unlink()
        self.check_refused("f01")

    def test_refused_for_another_manifest(self):
        """plan: a saved plan is refused when the manifest is another one"""
        self.save()
        self.bench.declare(*files(2))
        self.check_refused("manifest")

    def test_refused_when_damaged(self):
        """plan: a saved plan that was cut off or altered is refused"""
        self.save()
        text = self.plan.read_bytes()
        for place, broken in enumerate((text[:len(text) // 2], b"", text + b"{}", b"\0" * 100)):
            with self.subTest(place=place):
                self.plan.write_bytes(broken)
                self.check_refused(self.plan.name)

    def test_missing(self):
        """plan: a saved plan that is not there is refused by its name"""
        self.check_refused(self.plan.name)


class OnePassAtATime(Case):
    def start_and_stop(self):
        """A pass stopped (SIGSTOP) while it holds the store."""
        self.bench.declare(*files(300))
        command = [fleet.DATUM, "reconcile", "--mode", "enforce", "--fleet", str(self.bench.fleet), "--host", fleet.HOST,
                   "--root", str(self.bench.root), "--state", str(self.bench.state)]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + fleet.PASS_LIMIT_S
        while not os.listdir(self.bench.root) and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.0005)
        os.kill(child.pid, signal.SIGSTOP)
        while child.poll() is None and not self.is_stopped(child.pid):
            time.sleep(0.001)
        self.assertIsNone(child.poll(), "the pass was still running when it was stopped")
        return child

    @staticmethod
    def is_stopped(pid):
        states = [pathlib.Path(f"/proc/{pid}/task/{task}/stat").read_text().rsplit(")", 1)[1].split()[0]
                  for task in os.listdir(f"/proc/{pid}/task")]
        return all(state == "T" for state in states)

    def test_second_exits_3(self):
        """lock: a second pass exits 3, names the holder and changes nothing; the first ends well [R02]"""
        child = self.start_and_stop()
        try:
            before = fleet.listing(self.bench.root)
            for done in (self.bench.enforce(), self.bench.observe()):
                self.assertEqual(done.code, 3, done.text)
                self.assertIn(str(child.pid), done.err)
            self.assertEqual(before, fleet.listing(self.bench.root))
            status = fleet.datum("status", "--state", self.bench.state)
            self.assertEqual(status.code in (0, 2, 4), True, status.text)
            listed = fleet.datum("journal", "list", "--state", self.bench.state)
            self.assertEqual(listed.code, 0, listed.text)
        finally:
            os.kill(child.pid, signal.SIGCONT)
            _, errors = child.communicate(timeout=fleet.PASS_LIMIT_S)
        self.assertEqual(child.returncode, 0, errors)
        self.assertEqual(self.bench.observe().code, 0)

    def test_lock_goes_with_the_process(self):
        """lock: after kill -9 the next pass finds nothing locked and converges [R02]"""
        child = self.start_and_stop()
        child.kill()
        child.communicate()
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(fleet.leftovers(self.bench.root), [])

    def test_stop_request(self):
        """stop: SIGTERM ends a pass at a boundary, by name, and the next one converges"""
        child = self.start_and_stop()
        os.kill(child.pid, signal.SIGTERM)
        os.kill(child.pid, signal.SIGCONT)
        child.communicate(timeout=fleet.PASS_LIMIT_S)
        self.assertIn(child.returncode, (0, 1, 2, 4))
        self.assertEqual(fleet.leftovers(self.bench.root), [])
        self.assertEqual(self.bench.enforce().code, 0)
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)


if __name__ == "__main__":
    tap.main()
