#!/usr/bin/env python3
# test: short root
"""Wrong arguments, missing and damaged input, and stores that may not be used: each is refused by name with exit
code 1, and nothing is created or changed."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

RECORDING = ("observe", "reconcile")
PASSES = (*RECORDING, "diff", "plan")
READERS = (["status"], ["owned"], ["history", "/f"], ["journal", "list"], ["journal", "show", "1"], ["journal", "verify"])


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("f", "/f", "content\n"))

    def everything(self):
        return fleet.listing(self.bench.scratch)

    def check_refused(self, run, *words):
        self.assertEqual(run.code, 1, run.text)
        self.assertEqual(run.out, "", "nothing is printed as if it were a result")
        self.assertTrue(run.err.strip(), "the refusal is said")
        for word in words:
            self.assertIn(str(word), run.err)

    def check_untouched(self, words, call, *arguments, **options):
        before = self.everything()
        self.check_refused(call(*arguments, **options), *words)
        self.assertEqual(before, self.everything())


class Arguments(Case):
    def test_usage(self):
        """usage: unknown commands, flags and values, and missing ones, exit 1 and create nothing"""
        base = ["--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", self.bench.root, "--state", self.bench.state]
        for arguments in (["obsrve"], ["observe", "--nonsense", *base], ["reconcile", "--mode", "enfroce", *base],
                          ["reconcile", "--mode", *base], ["reconcile", "--allow-removals", "-1", *base],
                          ["reconcile", "--allow-removals", "many", *base], ["observe", "--colour", "blue", *base],
                          ["observe", "extra", *base], ["journal"], ["journal", "show"], ["history"],
                          ["journal", "show", "x", "--state", self.bench.state], ["observe", "--mode", "enforce", *base],
                          ["journal", "list", "--limit", "x", "--state", self.bench.state],
                          ["reconcile", "--manifest", "/dev/null", *base], []):
            with self.subTest(arguments=[os.fspath(word) for word in arguments[:3]]):
                before = self.everything()
                done = fleet.datum(*arguments)
                self.assertEqual(done.code, 1, done.text)
                self.assertTrue(done.err.strip() or done.out.strip())
                self.assertEqual(before, self.everything())

    def test_closed_streams(self):
        """streams: closed standard streams change neither the pass nor what is written, and the store is sound"""
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                (self.bench.root / "f").write_text("by hand\n")
                done = self.bench.enforce(before=["sh", "-c", f'exec "$@" {closed}', "sh"])
                self.assertEqual(done.code, 0, done.text)
                self.assertEqual((self.bench.root / "f").read_text(), "content\n")
                verified = fleet.datum("journal", "verify", "--state", self.bench.state)
                self.assertEqual(verified.code, 0, verified.text)

    def test_output_that_cannot_be_written(self):
        """streams: output that cannot be written is an error of its own, exit 1"""
        for command in (f"observe --fleet {self.bench.fleet} --host {fleet.HOST} --root {self.bench.root} --state "
                        f"{self.bench.state}", f"journal list --state {self.bench.state}"):
            done = subprocess.run(["sh", "-c", f"{fleet.DATUM} {command} >/dev/full"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("output", done.stderr)

    def test_output_onto_a_device(self):
        """output: a device, a pipe, a folder or a link is never replaced by a file of ours"""
        names = {name: self.bench.scratch / name for name in ("device", "pipe", "folder", "link")}
        os.mknod(names["device"], 0o020644, os.makedev(1, 3))
        os.mkfifo(names["pipe"])
        names["folder"].mkdir()
        names["link"].symlink_to("elsewhere")
        for name, path in names.items():
            with self.subTest(name=name):
                before = fleet.entry(path)
                for done in (self.bench.run("plan", "--out", path),
                             fleet.datum("render", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--output", path)):
                    self.assertEqual(done.code, 1, done.text)
                    self.assertIn(str(path), done.err)
                self.assertEqual(before, fleet.entry(path))
                self.assertFalse(path.with_name(f"{name}.part").exists())

    def test_environment(self):
        """environment: with none at all a pass does the same"""
        done = subprocess.run(["env", "-i", fleet.DATUM, "observe", "--fleet", str(self.bench.fleet), "--host", fleet.HOST,
                               "--root", str(self.bench.root), "--state", str(self.bench.state)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_root_spellings(self):
        """root: one folder spelled in other ways is the same root"""
        self.assertEqual(self.bench.enforce().code, 0)
        for spelled in (f"{self.bench.root}/", f"{self.bench.root}//", f"{self.bench.root}/.", f"{self.bench.root}/../root"):
            done = fleet.datum("observe", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", spelled, "--state",
                               self.bench.state)
            self.assertEqual(done.code, 0, done.text)
        done = fleet.datum("observe", "--fleet", "fleet", "--host", fleet.HOST, "--root", "root", "--state", "state",
                           cwd=self.bench.scratch)
        self.assertEqual(done.code, 0, done.text)

    def test_missing_fleet(self):
        """input: a fleet that is not there is named by every command, and no store is made"""
        shutil.rmtree(self.bench.fleet)
        for verb in PASSES:
            with self.subTest(verb=verb):
                self.check_untouched([self.bench.fleet], self.bench.run, verb)
        for verb in ("validate", "render"):
            with self.subTest(verb=verb):
                self.check_untouched([self.bench.fleet], fleet.datum, verb, "--fleet", self.bench.fleet)

    def test_folder_without_fleet(self):
        """input: a folder without datum.yaml is named as such"""
        (self.bench.fleet / "datum.yaml").unlink()
        for verb in PASSES:
            with self.subTest(verb=verb):
                self.check_untouched(["datum.yaml"], self.bench.run, verb)

    def test_missing_host(self):
        """input: a host that the fleet does not have is named, and no store is made"""
        for verb in PASSES:
            with self.subTest(verb=verb):
                self.check_untouched(["nobody"], fleet.datum, verb, "--fleet", self.bench.fleet, "--host", "nobody", "--root",
                                     self.bench.root, "--state", self.bench.state)

    def test_missing_root(self):
        """input: a root that is not there is named, and is not made"""
        shutil.rmtree(self.bench.root)
        for verb in PASSES:
            with self.subTest(verb=verb):
                self.check_untouched([self.bench.root], self.bench.run, verb)

    def test_broken_document(self):
        """input: a document with faults names file, line and column of each, and nothing is observed"""
        path = self.bench.fleet / "base/resources.yaml"
        path.write_text(path.read_text() + "---\ndatum: v1alpha1\ntype: File\nname: g\ndesired: {path: /g, mode: 644, nope: 1}\n")
        for verb in PASSES:
            with self.subTest(verb=verb):
                self.check_untouched(["resources.yaml:", "mode", "nope"], self.bench.run, verb)

    def test_missing_arguments_of_readers(self):
        """input: a store that is not there is named by every command that reads one, and is not made"""
        for command in READERS:
            with self.subTest(command=command):
                self.check_untouched([self.bench.state], fleet.datum, *command, "--state", self.bench.state)

    def test_missing_journal_copy(self):
        """input: a journal copy that is not there, is empty or is something else is named"""
        for name, body in (("absent", None), ("empty", b""), ("text", b"hello\n" * 100), ("zeros", b"\0" * 65536)):
            path = self.bench.scratch / name
            if body is not None:
                path.write_bytes(body)
            for command in (["journal", "list"], ["journal", "show", "1"]):
                with self.subTest(name=name, command=command):
                    self.check_untouched([path], fleet.datum, *command, "--journal", path)
            verified = fleet.datum("journal", "verify", "--journal", path)
            self.assertEqual(verified.code, 1, verified.text)


class Manifests(Case):
    def setUp(self):
        super().setUp()
        self.bench.declare(*[fleet.file(f"f{number}", f"/f{number}", f"content {number}\n" * 40) for number in range(20)])
        self.path = self.bench.scratch / "manifest"
        made = fleet.datum("render", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--output", self.path)
        self.assertEqual(made.code, 0, made.text)

    def run_with(self, verb, path, **options):
        return fleet.datum(verb, "--manifest", path, "--root", self.bench.root, "--state", self.bench.state, **options)

    def test_good(self):
        """manifest: the compiled one does what the fleet does, and renders the same on every call"""
        again = self.bench.scratch / "again"
        fleet.datum("render", "--fleet", self.bench.fleet, "--host", fleet.HOST, "--output", again)
        self.assertEqual(self.path.read_bytes(), again.read_bytes())
        done = fleet.datum("reconcile", "--mode", "enforce", "--manifest", self.path, "--root", self.bench.root, "--state",
                           self.bench.state)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual((self.bench.root / "f7").read_text(), "content 7\n" * 40)
        self.assertEqual(self.bench.observe().code, 0)

    def test_missing(self):
        """manifest: one that is not there, is empty, a folder or something else is named by every pass"""
        folder = self.bench.scratch / "folder"
        folder.mkdir()
        for name, body in (("absent", None), ("empty", b""), ("text", b"datum: v1alpha1\n"), ("zeros", b"\0" * 65536)):
            path = self.bench.scratch / name
            if body is not None:
                path.write_bytes(body)
            for verb in PASSES:
                with self.subTest(name=name, verb=verb):
                    self.check_untouched([path], self.run_with, verb, path)
        self.check_untouched([folder], self.run_with, "observe", folder)

    def test_cut_short(self):
        """manifest: one that is cut short anywhere is refused by name"""
        body = self.path.read_bytes()
        cut = self.bench.scratch / "cut"
        for size in (1, 8, 40, len(body) // 3, len(body) // 2, len(body) - 8, len(body) - 1):
            with self.subTest(size=size):
                cut.write_bytes(body[:size])
                self.check_untouched([cut], self.run_with, "observe", cut)

    def test_altered(self):
        """manifest: one with a single altered byte is refused, wherever it is, or means exactly the same"""
        body, chance = self.path.read_bytes(), random.Random(7)
        altered = self.bench.scratch / "altered"
        places = [chance.randrange(len(body)) for _ in range(60)]
        good = self.run_with("plan", self.path)
        for place in places:
            changed = bytearray(body)
            changed[place] ^= 1 << chance.randrange(8)
            altered.write_bytes(changed)
            before = self.everything()
            done = self.run_with("plan", altered)
            self.assertEqual(before, self.everything())
            if done.code == 1:
                self.assertIn(str(altered), done.err)
            else:
                self.assertEqual((done.code, done.out), (good.code, good.out), f"byte {place} of {len(body)}")

    def test_trailing(self):
        """manifest: bytes behind its end are refused"""
        longer = self.bench.scratch / "longer"
        longer.write_bytes(self.path.read_bytes() + b"\0" * 8)
        self.check_untouched([longer], self.run_with, "observe", longer)


class Stores(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.bench.enforce().code, 0)
        self.journal = self.bench.state / "journal"

    def check_all_refuse(self, *words, verbs=PASSES):
        (self.bench.root / "f").write_text("by hand\n")
        before = fleet.listing(self.bench.root)
        for verb in verbs:
            with self.subTest(verb=verb):
                done = self.bench.run(verb, *(["--mode", "enforce"] if verb == "reconcile" else []))
                self.check_refused(done, *words)
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_open_to_others(self):
        """store: one that others can write is refused, with what to do"""
        for path in (self.journal, self.journal / "data.mdb"):
            with self.subTest(path=path.name):
                mode = path.stat().st_mode
                path.chmod(0o777)
                self.check_all_refuse("chmod", path.name, verbs=RECORDING)
                path.chmod(mode)

    def test_outer_folder_open_to_others(self):
        """store: one whose outer folder others can write is refused, with what to do"""
        self.bench.state.chmod(0o777)
        self.check_all_refuse(self.bench.state, "chmod", verbs=RECORDING)

    def test_other_owner(self):
        """store: one that belongs to somebody else is refused, with what to do"""
        os.chown(self.journal, 1234, 1234)
        self.check_all_refuse("1234", self.journal, verbs=RECORDING)

    def test_another_root(self):
        """store: one that is bound to another root or host is refused, naming both [L16]"""
        other = self.bench.scratch / "other"
        other.mkdir()
        for verb in PASSES:
            with self.subTest(verb=verb):
                done = fleet.datum(verb, "--fleet", self.bench.fleet, "--host", fleet.HOST, "--root", other, "--state",
                                   self.bench.state)
                self.check_refused(done, self.bench.root, other)
        self.assertEqual(os.listdir(other), [])

    def test_another_host(self):
        """store: a host other than the one that it is bound to is refused, naming both"""
        (self.bench.fleet / "second.yaml").write_text("datum: v1alpha1\ntype: Host\nname: h2\n")
        for verb in PASSES:
            with self.subTest(verb=verb):
                done = fleet.datum(verb, "--fleet", self.bench.fleet, "--host", "h2", "--root", self.bench.root, "--state",
                                   self.bench.state)
                self.check_refused(done, fleet.HOST, "h2")

    def damage(self, change):
        data = self.journal / "data.mdb"
        body = bytearray(data.read_bytes())
        change(body)
        data.write_bytes(bytes(body))

    def test_damaged(self):
        """store: a damaged one is refused by every command, is never emptied, and nothing is applied [L04] [L06]"""
        good = (self.journal / "data.mdb").read_bytes()

        def cut(body):
            del body[len(body) // 2:]

        def scribble(body):
            for place in range(8192, len(body), 512):
                body[place:place + 16] = b"\xa5" * 16

        def erase(body):
            body[:] = bytes(len(body))

        for change in (cut, scribble, erase):
            with self.subTest(change=change.__name__):
                (self.journal / "data.mdb").write_bytes(good)
                self.damage(change)
                damaged = (self.journal / "data.mdb").read_bytes()
                self.check_all_refuse()
                for command in READERS:
                    done = fleet.datum(*command, "--state", self.bench.state)
                    self.assertEqual(done.code, 1, (command, done.text))
                self.assertEqual((self.journal / "data.mdb").read_bytes(), damaged)

    def test_lost_journal(self):
        """store: one whose journal is gone is refused as that; set aside, it starts anew, adopts and removes nothing [L16]"""
        shutil.rmtree(self.journal)
        self.bench.declare(fleet.file("g", "/g", "g\n"))
        refused = self.bench.enforce()
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("has lost its journal", refused.err)
        self.assertEqual(os.listdir(self.bench.root), ["f"])
        self.assertEqual(fleet.datum("journal", "set-aside", "--state", self.bench.state).code, 0)
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(sorted(os.listdir(self.bench.root)), ["f", "g"])

    def test_without_rights(self):
        """store: somebody without rights gets a refusal by name, and nothing is changed"""
        copy = self.bench.scratch / "datum"
        shutil.copy(fleet.DATUM, copy)
        self.bench.scratch.chmod(0o755)
        before = fleet.listing(self.bench.root)
        for verb in PASSES:
            done = subprocess.run(["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups", str(copy), verb, "--fleet",
                                   str(self.bench.fleet), "--host", fleet.HOST, "--root", str(self.bench.root), "--state",
                                   str(self.bench.state)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(str(self.bench.scratch), done.stderr)
        self.assertEqual(before, fleet.listing(self.bench.root))


if __name__ == "__main__":
    tap.main()
