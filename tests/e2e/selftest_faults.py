#!/usr/bin/env python3
# test: long root
"""Tests that must fail do: programs are built from a copy of the tree in which one order of steps is wrong, and the
self-test, the modelled disk and the guest whose power is cut find it.

A process that is ended keeps what it did not sync, so a missing sync is not the self-test's to find: the modelled disk and
the guest find that. Each change is a text that must stand in the source exactly once; when it does not, the test says so
and is to be written anew.

Environment: DATUM_LAB (where lab/vm keeps its parts), JOBS."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

ANNOUNCE = """  DATUM_CO_TRY(execute(running, announce));
  auto waiting = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await waiting);
"""
RECORD = "  DATUM_CO_TRY(execute(running, record));\n"
EARLY = """  core::RecordResults early;
  for (const auto& one : *prepared) {
    core::ActionResult result;
    result.ordinal = one.ordinal;
    early.results.push_back(std::move(result));
  }
  early.plan = plan;
  early.manifest = running.request.manifest.get();
  DATUM_CO_TRY(execute(running, early));
  auto recorded = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await recorded);
"""
SYNC = """    bench_.crash_point("sync", work);
  }
  sync_by_device(std::move(all));
"""
PASS, WAVE_SYNC = "src/engine/pass.cpp", "src/resource/wave_sync.cpp"
ROUNDS = 40  # beyond one for each point; the first few show it


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-faults-"))
        cls.addClassCleanup(shutil.rmtree, scratch, ignore_errors=True)
        cls.scratch, cls.tree = scratch, scratch / "tree"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=fleet.TOP, capture_output=True, text=True, check=True)
        for path in listed.stdout.split("\0"):
            if path and (fleet.TOP / path).is_file():
                (cls.tree / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(fleet.TOP / path, cls.tree / path)
        cls.call("meson", "setup", "build")

    @classmethod
    def call(cls, *command):
        # What was compiled elsewhere is taken from there, if the home folder has it.
        environment = {"CCACHE_BASEDIR": str(cls.tree), **os.environ, "CCACHE_NOHASHDIR": "1", "HOME": os.path.expanduser("~root")}
        done = subprocess.run(command, cwd=cls.tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stdout[-3000:]}{done.stderr[-1000:]}")

    def build(self, path, changes, *targets):
        """The targets with these changes of one file; it is put back after the test."""
        source = self.tree / path
        text = source.read_text(encoding="utf-8")
        self.addCleanup(source.write_text, text, encoding="utf-8")
        for old, new in changes:
            self.assertEqual(text.count(old), 1, f"{path} does not hold this exactly once any more:\n{old}")
            text = text.replace(old, new)
        source.write_text(text, encoding="utf-8")
        self.call("ninja", "-C", "build", "-j", os.environ.get("JOBS", "2"), *targets)
        return self.tree / "build"

    def selftest(self, build, words):
        """The self-test of that build finds something that it says in these words, and exits with 1."""
        disk = self.scratch / "disk"
        disk.mkdir(exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "none", disk], check=False, capture_output=True)
        if mounted.returncode == 0:
            self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        done = subprocess.run([build / "src/datum/datum", "selftest", "crash-recovery", "--rounds", str(ROUNDS), "--seed", "11",
                               "--dir", disk, "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout[-2000:] + done.stderr[-2000:])
        report = json.loads(done.stdout)
        self.assertFalse(report["held"])
        found = [one for one in report["violations"] if words in one["words"]]
        self.assertTrue(found, f"nothing says {words!r}: {report['violations'][:5]}")
        self.assertTrue(pathlib.Path(found[0]["evidence"]).is_dir())
        print(f"# {len(report['violations'])} violations in {report['rounds']} rounds, {len(found)} of them say: {words}")

    def test_acts_before_it_announces(self):
        """selftest: a build that acts before its announcement is durable does not pass"""
        build = self.build(PASS, [(ANNOUNCE, ""), (RECORD, ANNOUNCE + RECORD)], "src/datum/datum")
        self.selftest(build, "no announcement of that is durable")

    def test_records_before_it_renames(self):
        """selftest: a build that records an action as done before it renames does not pass"""
        build = self.build(PASS, [(ANNOUNCE, ANNOUNCE + EARLY), (RECORD, "")], "src/datum/datum")
        self.selftest(build, "the journal claims that it was done")

    def test_missing_sync(self):
        """power: a build that does not sync staged files before it renames them is found by the modelled disk and by the guest"""
        without = SYNC.replace("sync_by_device(std::move(all));", "static_cast<void>(all);")
        build = self.build(WAVE_SYNC, [(SYNC, without)], "src/datum/datum", "tests/unit-resource", "tests/simulation-host")
        for program, case in (("unit-resource", "resource: [L13] what a wave reports as done is there after the power goes*"),
                              ("unit-resource", "resource: [R06] a power cut at any moment leaves old content or new content*"),
                              ("simulation-host", "simulation: one host survives every fault*")):
            done = subprocess.run([build / "tests" / program, case.replace("[", "\\[")], capture_output=True, text=True, check=False)
            self.assertNotIn("No test cases matched", done.stdout, case)
            self.assertNotEqual(done.returncode, 0, f"{case} passes without the sync")
            print(f"# fails without the sync: {case}")
        environment = {**os.environ, "DATUM_PROGRAM": str(build / "src/datum/datum"), "POWER_CUTS": "8", "POWER_REPLAYS": "12",
                       "DATUM_SEED": "3"}
        done = subprocess.run([sys.executable, "-B", str(fleet.TOP / "tests/e2e/power_cut.py")], env=environment,
                              capture_output=True, text=True, check=False)
        if "SKIP" in done.stdout:
            self.skipTest(done.stdout.strip().splitlines()[0])
        self.assertIn("not ok", done.stdout, f"the guest holds without the sync: {done.stdout[-3000:]}")
        print("\n".join(line for line in done.stdout.splitlines() if line.startswith(("# cut", "# first"))))


if __name__ == "__main__":
    tap.main()
