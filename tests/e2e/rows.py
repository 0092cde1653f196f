#!/usr/bin/env python3
# test: short root
"""Situations from the field that no other script carries: declarations that must not pass, one pass at a time, and
deaths in the middle of a wave that come again and again."""

import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

PLACE = r"base/resources\.yaml:\d+:\d+: "


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root

    def check_refused(self, *resources, raw=None, saying=PLACE):
        """Every command that reads the fleet refuses it at its place; nothing below the root and no store is made."""
        self.bench.declare(*resources)
        if raw is not None:
            (self.bench.fleet / "base/resources.yaml").write_text(raw)
        before = fleet.listing(self.root)
        for done in (fleet.datum("validate", "--fleet", self.bench.fleet), self.bench.run("plan"), self.bench.observe(),
                     self.bench.enforce("--allow-removals", "100")):
            self.assertEqual(done.code, 1, done.text)
            self.assertRegex(done.text, saying)
        self.assertEqual(before, fleet.listing(self.root))
        self.assertFalse(self.bench.state.exists())


class Declarations(Case):
    def test_empty_component(self):
        """documents: an empty part of a path, or a slash at its end, is refused with its place and removes nothing [F11]"""
        (self.root / "etc/x").mkdir(parents=True)
        (self.root / "etc/x/kept").write_text("kept\n")
        for path in ("/etc/x/", "/etc//x", "//etc/x", "/", "", "/etc/x/.", "/etc/x/../y", "etc/x"):
            for make in (lambda p: fleet.file("x", p, state="absent"), lambda p: fleet.directory("x", p, state="absent")):
                with self.subTest(path=path):
                    self.check_refused(make(path))

    def test_null_in_a_path(self):
        """documents: a null or empty value where a path or a list item belongs is refused with its place [F11]"""
        head = "datum: v1alpha1\ntype: File\nname: x\ndesired:\n"
        for body in ("  path:\n  state: absent\n", "  path: null\n  state: absent\n", "  path: ~\n  state: absent\n",
                     '  path: ""\n  state: absent\n'):
            self.check_refused(raw=head + body)
        self.check_refused(raw="datum: v1alpha1\ntype: File\nname: x\nrequires:\n  -\ndesired: {path: /x, state: absent}\n")

    def test_protected_roots(self):
        """documents: the folders that a system stands on are neither removed nor purged, by any type [F11]"""
        roots = ["/etc", "/usr", "/var", "/home", "/bin", "/boot", "/dev", "/lib", "/proc", "/root", "/run", "/sbin", "/sys",
                 "/usr/bin", "/usr/lib", "/var/lib", "/var/log", "/srv", "/opt", "/lib64"]
        passed, tried = [], 0
        for path in roots:
            (self.root / path.lstrip("/") / "kept").mkdir(parents=True)
            purged = [] if path in ("/srv", "/opt") else [fleet.directory("x", path, purge=True, purgeDirectories=True)]
            for resource in (*purged, fleet.directory("x", path, state="absent"), fleet.file("x", path, state="absent"),
                             fleet.symlink("x", path, "y", state="absent")):
                self.bench.declare(resource)
                done = fleet.datum("validate", "--fleet", self.bench.fleet)
                tried += 1
                if done.code != 1 or "base/resources.yaml:" not in done.text:
                    passed.append((resource.type, path, resource.desired))
                self.bench.enforce("--allow-removals", "100")
                self.assertTrue((self.root / path.lstrip("/") / "kept").is_dir(), path)
        self.assertEqual(passed, [])
        print(f"# protected roots: {tried} cases, violations 0")

    def test_modes(self):
        """documents: a mode that is no octal text is refused with line and column, decimal ones above all [F23]"""
        head = "datum: v1alpha1\ntype: File\nname: x\ndesired:\n  path: /x\n  content: x\n  mode: "
        for mode in ("600", "2775", "0644", "420", "0o644", "0x1a4", "1e3", "true", '"0999"', '"644 "', '"u=rw"', '"77777"', '""',
                     "[0644]", '"-644"', '"６４４"'):
            with self.subTest(mode=mode):
                self.check_refused(raw=head + mode + "\n", saying=r"base/resources\.yaml:7:\d+: ")
        self.bench.declare(fleet.file("x", "/x", "x", mode="0600"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual((self.root / "x").stat().st_mode & 0o7777, 0o600)

    def test_one_place_two_spellings(self):
        """documents: one place under two spellings, or as a file and a folder, is refused before anything is done [F25]"""
        self.check_refused(fleet.directory("a", "/dir", mode="0755"), fleet.file("b", "/dir/./file", "x\n", mode="0666"))
        self.check_refused(fleet.directory("a", "/dir", mode="0755"), fleet.directory("b", "/dir", mode="0666"))
        self.check_refused(fleet.directory("a", "/dir", mode="0755"), fleet.file("b", "/dir", "x\n"))
        self.check_refused(fleet.directory("a", "/dir"), fleet.directory("b", "/dir/"))

    def test_implied_parents(self):
        """documents: a file below what is declared a file, a link or absent never goes live there [F25] [F09]"""
        for above in (fleet.file("a", "/dir", "x\n"), fleet.symlink("a", "/dir", "elsewhere"),
                      fleet.directory("a", "/dir", state="absent")):
            with self.subTest(above=above.type):
                self.setUp()
                self.bench.declare(above, fleet.file("b", "/dir/file", "x\n"))
                done = self.bench.enforce()
                self.assertNotEqual(done.code, 0, done.text)
                self.assertFalse((self.root / "dir/file").exists())

    def test_duplicate_key(self):
        """documents: a key that stands twice is refused, and both places are named [Y01]"""
        self.check_refused(raw="datum: v1alpha1\ntype: File\nname: x\ndesired:\n  path: /x\n  mode: \"0600\"\n  path: /y\n",
                           saying=r"(?s)resources\.yaml:7:3.*\b5\b")

    def test_words_stay_words(self):
        """documents: yes, no, on, off and their like are text where text belongs, and refused where a boolean does [Y03]"""
        for word in ("yes", "no", "on", "off", "ON", "True", "y", "n"):
            with self.subTest(word=word):
                self.setUp()
                head = f"datum: v1alpha1\ntype: File\nname: x\ndesired:\n  path: /x\n"
                if word != "True":
                    self.bench.declare()
                    (self.bench.fleet / "base/resources.yaml").write_text(head + f"  content: {word}\n")
                    self.assertEqual(self.bench.enforce().code, 0)
                    self.assertEqual((self.root / "x").read_text(), word)
                self.setUp()
                self.check_refused(raw=head + f"  sensitive: {word}\n" if word != "True" else head + '  sensitive: "true"\n')

    def test_cycle(self):
        """documents: a cycle is refused at validation and by every pass; the smallest one is printed, without others [Y08]"""
        resources = [fleet.with_keys(fleet.file(name, f"/{name}", "x\n"), requires=[f"File[{after}]"])
                     for name, after in (("a", "b"), ("b", "c"), ("c", "a"), ("far", "a"), ("x", "y"))]
        self.check_refused(*resources, fleet.file("y", "/y", "y\n"), saying=r"File\[a\].*File\[b\].*File\[c\]")
        told = fleet.datum("validate", "--fleet", self.bench.fleet).text
        for bystander in ("File[far]", "File[x]", "File[y]"):
            self.assertNotIn(bystander, told)


class OneAtATime(Case):
    def start(self, held):
        """A pass in the background; a held one stays three seconds before its first rename."""
        before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                  "inject=renameat2:delay_enter=3000000:when=1"]
        return subprocess.Popen([*(before if held else []), fleet.DATUM, "reconcile", "--mode", "enforce", "--fleet",
                                 str(self.bench.fleet), "--host", fleet.HOST, "--root", str(self.root), "--state",
                                 str(self.bench.state)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_lock_files(self):
        """lock: files that look like locks, empty or with dead owners, disable nothing [R04]"""
        self.bench.declare(fleet.file("a", "/a", "a\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        made = 0
        for folder in (self.bench.state, *[path for path in self.bench.state.rglob("*") if path.is_dir()]):
            for name in ("lock", "pass", "writer", "pid", "datum.lock", "agent_disabled.lock"):
                if not (folder / name).exists() and folder.name != "blobs" and "blobs" not in folder.parts:
                    (folder / name).write_bytes(b"")
                    made += 1
        for path in self.bench.state.rglob("*"):  # a lock of ours that was cut off
            if path.is_file() and path.name in ("lock", "pass", "writer", "pass.lock", "writer.lock"):
                os.truncate(path, 0)
        (self.root / "a").unlink()
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertTrue((self.root / "a").exists())
        self.assertGreater(made, 0)
        print(f"# lock files: {made} cases, violations 0")

    def test_many_at_once(self):
        """lock: of many passes at once one runs, the others say so at once and queue nothing [R04] [R13]"""
        self.bench.declare(fleet.file("a", "/a", "a\n"))
        first = self.start(held=True)
        self.addCleanup(first.stdout.close)
        deadline = time.monotonic() + fleet.PASS_LIMIT_S
        while not list(self.root.glob(".datum-*")) and first.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        others = [self.start(held=False) for _ in range(5)]
        codes = []
        for other in others:
            out, _ = other.communicate(timeout=fleet.PASS_LIMIT_S)
            codes.append(other.returncode)
            self.assertIn(b"in use", out)
        self.assertEqual(codes, [3] * 5)
        first.communicate(timeout=fleet.PASS_LIMIT_S)
        self.assertEqual(first.returncode, 0)
        events = self.bench.events()
        open_pass = 0
        for event in events:
            open_pass += (event["kind"] == "passStarted") - (event["kind"] in ("passFinished", "passInterrupted"))
            self.assertIn(open_pass, (0, 1), "two passes never overlap")
        self.assertEqual(sum(event["kind"] == "passStarted" for event in events), 1)
        self.assertEqual(len([event for event in events if event["kind"] == "actionSucceeded"]), 1)


class Deaths(Case):
    def die(self, call="renameat2"):
        """A pass that is killed at its first such call."""
        done = self.bench.enforce(before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                          f"inject={call}:signal=KILL:when=1"])
        self.assertNotIn(done.code, (0, 2, 4), done.text)

    def ends(self):
        """ordinals by pass that were announced, and that ended."""
        announced, ended = set(), set()
        for event in self.bench.events():
            body = event["event"]
            if event["kind"] == "actionsAnnounced":
                announced |= {(body["pass"], action["ordinal"]) for action in body["actions"]}
            elif event["kind"].startswith("action") and "ordinal" in body:
                ended.add((body["pass"], body["ordinal"]))
        return announced, ended

    def test_every_action_ends(self):
        """deaths: after recovery no action is left without an end, and no resource between two states [R10] [R08]"""
        self.bench.declare(*[fleet.file(f"f{n}", f"/f{n}", f"{n}\n") for n in range(5)])
        for call in ("renameat2", "fsync", "fchmod"):
            self.die(call)
        self.assertEqual(self.bench.enforce().code, 0)
        announced, ended = self.ends()
        self.assertGreaterEqual(len(announced), 5)
        self.assertEqual(announced - ended, set())
        status = fleet.datum("status", "--state", self.bench.state, "--json").lines[0]
        self.assertEqual((status["condition"], status["resources"]), ("converged", []))
        self.assertEqual(fleet.leftovers(self.root), [])

    def test_quarantine(self):
        """deaths: an action whose wave of one died three times is not run a fourth time, and says so; looking is free [R09]"""
        self.bench.declare(fleet.file("f", "/f", "f\n"))
        deaths = 0
        for _ in range(8):
            self.assertEqual(self.bench.observe().code, 2)  # harmless reports count nothing
            done = self.bench.enforce(before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                                              "inject=renameat2:signal=KILL:when=1"])
            if done.code in (0, 2, 4):
                break
            deaths += 1
        self.assertIn(deaths, (3, 4))
        self.assertEqual(done.code, 2, done.text)
        self.assertFalse((self.root / "f").exists())
        told = self.bench.events("--kind", "actionQuarantined")
        self.assertEqual([event["event"]["deaths"] for event in told], [3])
        again = self.bench.enforce()
        self.assertEqual(again.code, 2, again.text)
        self.assertFalse((self.root / "f").exists())
        status = fleet.datum("status", "--state", self.bench.state, "--json").lines[0]
        self.assertIn("failed", status["flags"])

    def test_fast_after_kill(self):
        """deaths: after kill -9 the next pass waits for nothing [R02]"""
        self.bench.declare(fleet.file("f", "/f", "f\n"))
        self.die()
        done = subprocess.run([fleet.DATUM, "reconcile", "--mode", "enforce", "--fleet", str(self.bench.fleet), "--host", fleet.HOST,
                               "--root", str(self.root), "--state", str(self.bench.state)], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=fleet.PASS_LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.root / "f").read_text(), "f\n")


class Drift(Case):
    """One-shot passes: what the service's timer starts is such a pass."""

    def setUp(self):
        super().setUp()
        self.bench.declare(fleet.file("a", "/a", "a\n"), fleet.file("b", "/b", "b\n"))
        self.assertEqual(self.bench.enforce().code, 0)

    def test_same_revision(self):
        """drift: what changed after a good pass is corrected under the same revision, and a third pass finds nothing [D01]"""
        self.bench.path("/a").write_text("by hand\n")
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.bench.path("/a").read_text(), "a\n")
        before = len(self.bench.events())
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertLessEqual(len(self.bench.events()) - before, 4)

    def test_after_a_failure(self):
        """drift: a pass with a failed action stops neither the next pass nor its other corrections [N09]"""
        self.bench.path("/a").unlink()
        self.bench.path("/a").mkdir()
        for round_ in range(3):
            self.bench.path("/b").write_text(f"by hand {round_}\n")
            self.assertEqual(self.bench.enforce().code, 2)
            self.assertEqual(self.bench.path("/b").read_text(), "b\n")
        self.bench.path("/a").rmdir()
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.bench.path("/a").read_text(), "a\n")

    def test_failing_again(self):
        """drift: what failed is tried in every pass and its failure told once; another declaration is told anew [D05]"""
        missing = fleet.file("c", "/c", "c\n", owner="nobody-has-this")
        self.bench.declare(missing)
        for _ in range(4):
            self.assertEqual(self.bench.enforce("--allow-removals", "9").code, 2)
        failures = [event["event"] for event in self.bench.events() if event["kind"] == "actionFailed"]
        self.assertEqual(len(failures), 4)
        self.assertEqual([bool(failure["message"]) for failure in failures], [True, False, False, False])
        self.bench.declare(fleet.file("c", "/c", "c\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.bench.path("/c").read_text(), "c\n")


if __name__ == "__main__":
    tap.main()
