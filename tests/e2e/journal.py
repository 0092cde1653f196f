#!/usr/bin/env python3
# test: short root
"""Reading the journal: list, tail, export, import, of a real store, by its owner and by somebody else."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

NOBODY = 65534
# Values of fields, a tool's words, and a person's name: what --redact must leave out.
SECRETIVE = ["0640", "0600", "nobody-knows-this"]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.scratch = self.bench.root.parent
        self.state = str(self.bench.state)

    def datum(self, *arguments, uid=None, code=0):
        """Runs the command, as another user if `uid` says so, and returns what it printed."""
        def other():
            if uid is not None:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
        # By descriptor: the folder of the build may be closed to others.
        program = os.open(fleet.DATUM, os.O_RDONLY)
        self.addCleanup(os.close, program)
        done = subprocess.run([str(fleet.DATUM), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=fleet.PASS_LIMIT_S, check=False, preexec_fn=other,
                              executable=f"/proc/self/fd/{program}", pass_fds=[program])
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr if code else done.stdout

    def some_history(self):
        """A created, a changed and a failed file, in two passes."""
        (self.bench.root / "mode").write_text("same\n")
        (self.bench.root / "mode").chmod(0o640)
        (self.bench.root / "way").write_text("in the way: nobody-knows-this\n")
        self.bench.declare(fleet.file("mode", "/mode", "same\n", mode="0600"), fleet.file("new", "/new", "one\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.bench.declare(fleet.file("mode", "/mode", "same\n", mode="0600"), fleet.file("new", "/new", "two\n"),
                           fleet.file("under", "/way/under", "x\n"))
        self.assertEqual(self.bench.enforce().code, 2)


class List(Case):
    def test_filters(self):
        """journal: list finds records by kind, pass, target and time, and all of them agree with the whole"""
        self.some_history()
        whole = lines(self.datum("journal", "list", "--state", self.state, "--json"))
        kinds = [record["kind"] for record in whole]
        listed = lambda *more: lines(self.datum("journal", "list", "--state", self.state, "--json", *more))
        self.assertEqual([r["kind"] for r in listed("--kind", "passStarted")], ["passStarted"] * kinds.count("passStarted"))
        of_target = listed("--target", "/new")
        self.assertTrue(of_target and all("/new" in json.dumps(record) for record in of_target))
        second = [record["seq"] for record in whole if record["kind"] == "passStarted"][1]
        of_pass = listed("--pass", second)
        self.assertTrue(all(r["seq"] == second or r["event"]["pass"] == second for r in of_pass))
        middle = whole[len(whole) // 2]["time"]
        since, until = listed("--since", middle), listed("--until", middle)
        self.assertTrue(all(record["time"] >= middle for record in since[1:]))
        self.assertGreaterEqual(len(since) + len(until), len(whole))
        self.assertEqual(listed("--since", "1h"), whole)
        self.assertEqual(listed("--until", "1h"), [])
        self.assertEqual(listed("--since", "1h", "--limit", "2"), whole[-2:])
        for flag in ("--limit", "--pass"):
            said = self.datum("journal", "list", "--state", self.state, flag, "0", code=1)
            self.assertIn(f"{flag}: 0: the first is 1", said)

    def test_times_that_are_none(self):
        """journal: a time that is none is refused, and says what one looks like"""
        self.some_history()
        for text in ("yesterday", "2026-13-01T00:00:00Z", "-2h", "2"):
            said = self.datum("journal", "list", "--state", self.state, f"--since={text}", code=1)
            self.assertIn("2026-11-29T16:22:42Z", said)


class Tail(Case):
    def test_last(self):
        """journal: tail shows the newest records, in order"""
        self.some_history()
        whole = lines(self.datum("journal", "list", "--state", self.state, "--json"))
        stat = json.loads(self.datum("journal", "stat", "--state", self.state, "--json"))
        self.assertEqual(stat["store"], whole[0]["event"]["store"])
        self.assertEqual(lines(self.datum("journal", "tail", "--state", self.state, "--json")), whole[-10:])
        self.assertEqual(lines(self.datum("journal", "tail", "--state", self.state, "--json", "--lines", "3")), whole[-3:])
        self.assertEqual(lines(self.datum("journal", "tail", "--state", self.state, "--json", "-n", "9999")), whole)

    def test_follow(self):
        """journal: a follower shows each record of later passes once and in order, and keeps no pass from running"""
        self.some_history()
        before = lines(self.datum("journal", "list", "--state", self.state, "--json"))
        follower = subprocess.Popen([str(fleet.DATUM), "journal", "tail", "-f", "--lines", "1", "--state", self.state, "--json"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(json.loads(follower.stdout.readline()), before[-1])  # it looks from now on
            seen = []
            for number in range(3):
                self.bench.declare(fleet.file("new", "/new", f"round {number}\n"))
                self.assertEqual(self.bench.enforce("--allow-removals", "9").code, 0)
                wanted = lines(self.datum("journal", "list", "--state", self.state, "--json"))[len(before):]
                while len(seen) < len(wanted):
                    seen.append(json.loads(follower.stdout.readline()))
                self.assertEqual(seen, wanted)
            follower.send_signal(signal.SIGINT)
            self.assertEqual(follower.wait(timeout=fleet.PASS_LIMIT_S), 0)
            self.assertEqual(follower.stdout.read(), "")
        finally:
            if follower.poll() is None:
                follower.kill()
            follower.wait()
            follower.stdout.close()

    def test_export_does_not_grow(self):
        """journal: following an export is refused"""
        self.some_history()
        file = self.scratch / "story"
        self.datum("journal", "export", file, "--state", self.state)
        self.assertIn("nothing is added", self.datum("journal", "tail", "-f", "--journal", file, code=1))


class Export(Case):
    def test_read_elsewhere(self):
        """journal: an export is read by another user, without the store, and says the same"""
        self.some_history()
        file = self.scratch / "story"
        self.datum("journal", "export", file, "--state", self.state)
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        truth = self.datum("journal", "list", "--state", self.state, "--json")
        shutil.rmtree(self.bench.state)
        self.scratch.chmod(0o755)
        os.chown(file, NOBODY, NOBODY)
        self.assertEqual(self.datum("journal", "list", "--journal", file, "--json", uid=NOBODY), truth)
        self.assertIn("Sound", self.datum("journal", "verify", "--journal", file, uid=NOBODY))

    def test_contents(self):
        """journal: plans travel with an export, old content only where it is asked for"""
        self.some_history()
        counts = {}
        for name, flags in {"plain": [], "content": ["--content"], "redacted": ["--redact"]}.items():
            made = self.datum("journal", "export", self.scratch / name, "--state", self.state, "--json", *flags)
            counts[name] = json.loads(made)["contents"]
            self.assertEqual(json.loads(made)["missing"], 0)
        self.assertGreaterEqual(counts["plain"], 2)
        self.assertEqual(counts["content"], counts["plain"] + 1)  # "one", which "two" replaced
        self.assertIn("excludes", self.datum("journal", "export", self.scratch / "x", "--state", self.state, "--redact",
                                             "--content", code=1).lower())

    def test_redacted(self):
        """journal: a redacted export holds no value, message or name, verifies, and names the head it came from"""
        self.some_history()
        file = self.scratch / "redacted"
        self.datum("journal", "export", file, "--state", self.state, "--redact")
        head = json.loads(self.datum("journal", "verify", "--state", self.state, "--json"))["hash"]
        found = json.loads(self.datum("journal", "verify", "--journal", file, "--json"))
        self.assertTrue(found["sound"])
        self.assertEqual(found["redactedFrom"], head)
        self.assertNotEqual(found["hash"], head)
        text = self.datum("journal", "list", "--journal", file, "--json")
        whole = self.datum("journal", "list", "--state", self.state, "--json")
        for word in [f'"{mode}"' for mode in SECRETIVE[:2]] + ['"root"']:  # bare digits stand in many a digest
            self.assertIn(word, whole)
            self.assertNotIn(word, text.replace('"root":"', ""))
        self.assertIn("/new", text)
        self.assertEqual([r["kind"] for r in lines(text)], [r["kind"] for r in lines(whole)])

    def test_never_replaces(self):
        """journal: an export replaces no file, and a range that is not there is refused"""
        self.some_history()
        file = self.scratch / "story"
        file.write_text("mine")
        self.datum("journal", "export", file, "--state", self.state, code=1)
        self.assertEqual(file.read_text(), "mine")
        self.datum("journal", "export", self.scratch / "other", "--state", self.state, "--to", "99999", code=1)
        self.assertFalse((self.scratch / "other").exists())

    def test_every_byte(self):
        """journal: every altered byte of an export is found; in a record, the record is named"""
        self.bench.declare(fleet.file("new", "/new", "one\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        file = self.scratch / "story"
        self.datum("journal", "export", file, "--state", self.state)
        good = file.read_bytes()
        for at in range(0, len(good), 97):  # all bytes one by one: tests/unit/journal
            file.write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1:])
            done = subprocess.run([str(fleet.DATUM), "journal", "verify", "--journal", str(file), "--json"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, f"byte {at}")
        file.write_bytes(good)
        self.datum("journal", "verify", "--journal", file)


class Import(Case):
    def test_only_read(self):
        """journal: an imported store says what the export says, and no pass runs on it"""
        self.some_history()
        file, folder = self.scratch / "story", self.scratch / "imported"
        self.datum("journal", "export", file, "--content", "--state", self.state)
        self.datum("journal", "import", file, "--state", folder)
        truth = self.datum("journal", "list", "--state", self.state, "--json")
        self.assertEqual(self.datum("journal", "list", "--state", folder, "--json"), truth)
        self.datum("journal", "verify", "--state", folder)
        self.assertEqual(self.datum("status", "--state", folder, "--json", code=2),
                         self.datum("status", "--state", self.state, "--json", code=2))
        done = self.bench.run("reconcile", "--mode", "enforce", state=folder)
        self.assertEqual(done.code, 1)
        self.assertIn("made from an export", done.text)
        self.datum("journal", "verify", "--state", folder)

    def test_another_user(self):
        """journal: another user makes a store of an export in a folder of his own and reads it"""
        self.some_history()
        self.scratch.chmod(0o777)
        file = self.scratch / "story"
        self.datum("journal", "export", file, "--state", self.state)
        os.chown(file, NOBODY, NOBODY)
        folder = self.scratch / "his"
        self.datum("journal", "import", file, "--state", folder, uid=NOBODY)
        self.assertIn("Sound", self.datum("journal", "verify", "--state", folder, uid=NOBODY))

    def test_bad(self):
        """journal: of a damaged export, or into a folder that holds anything, nothing is imported"""
        self.some_history()
        file = self.scratch / "story"
        self.datum("journal", "export", file, "--state", self.state)
        good = file.read_bytes()
        file.write_bytes(good[:2000] + b"x" + good[2001:])
        self.datum("journal", "import", file, "--state", self.scratch / "new", code=1)
        self.assertFalse((self.scratch / "new").exists())
        file.write_bytes(good)
        (self.scratch / "full").mkdir()
        (self.scratch / "full/mine").write_text("x")
        self.datum("journal", "import", file, "--state", self.scratch / "full", code=1)
        self.assertEqual(os.listdir(self.scratch / "full"), ["mine"])

    def test_cut_off(self):
        """journal: an import that was cut off is called that, by whoever reads the folder and by the next import, with what to do"""
        self.some_history()
        file, folder = self.scratch / "story", self.scratch / "imported"
        self.datum("journal", "export", file, "--state", self.state)
        for when in (1, 2, 4, 6):
            shutil.rmtree(folder, ignore_errors=True)
            cut = fleet.datum("journal", "import", file, "--state", folder, before=[
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", f"inject=fsync,fdatasync:signal=KILL:when={when}"])
            self.assertNotEqual(cut.code, 0, cut.text)
            self.assertFalse((folder / "journal").exists())
            for verb in (["list"], ["verify"], ["import", file]):
                done = fleet.datum("journal", *verb, "--state", folder)
                self.assertEqual(done.code, 1, done.text)
                self.assertIn("an import into this folder was cut off", done.err)
                self.assertIn("rm -r", done.err)
        shutil.rmtree(folder)
        self.datum("journal", "import", file, "--state", folder)


if __name__ == "__main__":
    tap.main()
