#!/usr/bin/env python3
# test: short root
"""Content that others may not read never leaves the file: not into output, records, the journal's bytes or
argument vectors. Neither does its plain digest, from which a short secret could be guessed.

Old and new content both carry a canary. Blobs of the store, readable by root only, may hold it: that is how a
change is taken back."""

import base64
import hashlib
import os
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

CANARY = "canary-7f3a91"


def secret(what):
    return f"password = {CANARY}-{what}\nanother line\n"


# name → (declared fields, mode of the old file or None)
FILES = {
    "sensitive": ({"content": secret("a-new"), "sensitive": True, "mode": "0644"}, 0o644),
    "closed": ({"content": secret("b-new"), "mode": "0600"}, 0o600),
    "closing": ({"content": secret("c-new"), "mode": "0640"}, 0o644),
    "opening": ({"content": "for everybody now\n", "mode": "0644"}, 0o600),
    "undeclared-mode": ({"content": secret("e-new")}, 0o600),
    "created": ({"content": secret("f-new"), "mode": "0600"}, None),
    "created-sensitive": ({"content": secret("g-new"), "sensitive": True}, None),
    "rejected": ({"content": "{ \"password\": \"" + CANARY + "-h-new\", }\n", "mode": "0600", "validate": "json"}, 0o600),
    "in-place": ({"content": secret("i-new"), "mode": "0600", "replace": "inPlace"}, 0o600),
    "backup": ({"content": secret("j-new"), "mode": "0600", "onConflict": "backup"}, 0o600),
    "goes": ({"state": "absent"}, 0o600),
}


def plain_digests():
    texts = [fields["content"] for name, (fields, _) in FILES.items()
             if CANARY in fields.get("content", "")] + [secret(f"{name}-old") for name in FILES]
    return [hashlib.sha256(text.encode()).digest() for text in texts + [secret("purged"), secret("by-hand")]]


class SecretsStay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = bench = fleet.Bench()
        cls.said = {}
        folder = bench.root / "d"
        folder.mkdir()
        for name, (_, mode) in FILES.items():
            if mode is not None:
                (folder / name).write_text(secret(f"{name}-old"))
                (folder / name).chmod(mode)
        # What everybody may read and nobody calls sensitive is no secret.
        (folder / "closing").write_text("was for everybody\n")
        (folder / "purged").write_text(secret("purged"))
        (folder / "purged").chmod(0o600)
        resources = [fleet.file(name, f"/d/{name}", **fields) for name, (fields, _) in FILES.items()]
        bench.declare(fleet.directory("d", "/d", purge=True), *resources)
        cls.run_all("first contact")
        cls.say("enforce", bench.enforce("--all"))
        for name in FILES:
            if name != "goes":
                with open(folder / name, "w", encoding="utf-8") as opened:  # keeps owner and mode
                    opened.write("open by hand\n" if name == "opening" else secret("by-hand"))
        (folder / "created").unlink()
        (folder / "created").mkdir()
        cls.run_all("after changes by hand")
        cls.say("enforce --json", bench.enforce("--json", "--all"))
        bench.declare(fleet.directory("d", "/d", mode="0755"), fleet.file("one", "/d/one", "one\n"))
        cls.run_all("leaving")
        cls.say("leaving", bench.enforce("--allow-removals", "100"))
        cls.ask_the_store()

    @classmethod
    def say(cls, what, run):
        cls.said[what] = (run.out + run.err).encode("utf-8", "surrogateescape")

    @classmethod
    def run_all(cls, when):
        for verb in ("observe", "diff", "plan"):
            for form in ([], ["--all"], ["--json"], ["--json", "--all"]):
                cls.say(f"{verb} {' '.join(form)}, {when}", cls.bench.run(verb, *form))
        cls.bench.run("plan", "--out", cls.bench.scratch / "plan.out")
        cls.said[f"plan --out, {when}"] = (cls.bench.scratch / "plan.out").read_bytes()

    @classmethod
    def ask_the_store(cls):
        state = ["--state", cls.bench.state]
        for form in ([], ["--json"]):
            for command in (["status", "--all"], ["owned"], ["journal", "list"], ["journal", "verify"]):
                cls.say(" ".join(command + form), fleet.datum(*command, *state, *form))
            for name in FILES:
                cls.say(f"history {name} {form}", fleet.datum("history", f"/d/{name}", *state, *form))
        for event in cls.bench.events():
            for form in ([], ["--json"]):
                cls.say(f"journal show {event['seq']} {form}",
                        fleet.datum("journal", "show", str(event["seq"]), *state, *form))

    @classmethod
    def tearDownClass(cls):
        cls.bench.close()

    def leaking(self, needles):
        return sorted({what for what, text in self.said.items() for needle in needles if needle in text})

    def test_the_canaries_were_handled(self):
        """secrets: the passes of this test did change the files that carry the canary"""
        self.assertIn(b"File[closed]", self.said["enforce"])
        self.assertIn(b"update", self.said["enforce --json"])
        self.assertGreater(len(self.bench.events("--kind", "actionSucceeded")), 10)
        blobs = [path.read_bytes() for path in (self.bench.state / "blobs").rglob("*") if path.is_file()]
        self.assertTrue(blobs)

    def test_output(self):
        """secrets: no command prints them, as text or as JSON [S08]"""
        self.assertEqual(self.leaking([CANARY.encode()]), [])

    def test_output_digests(self):
        """secrets: no command prints their plain digest [S08]"""
        forms = [form for digest in plain_digests()
                 for form in (digest.hex().encode(), base64.b64encode(digest))]
        self.assertEqual(self.leaking(forms), [])

    def store_files(self):
        return [path for path in self.bench.state.rglob("*")
                if path.is_file() and "blobs" not in path.relative_to(self.bench.state).parts]

    def test_journal_bytes(self):
        """secrets: neither they nor their plain digests are in the bytes of the journal"""
        names = [path.name for path in self.store_files()]
        self.assertIn("data.mdb", names)
        needles = [CANARY.encode(), *plain_digests(), *(digest.hex().encode() for digest in plain_digests())]
        for path in self.store_files():
            body = path.read_bytes()
            self.assertEqual([needle for needle in needles if needle in body], [], path)

    def test_store_is_closed(self):
        """secrets: every folder of the store is for its owner only, and so is every file"""
        for path in [self.bench.state, *self.bench.state.rglob("*")]:
            self.assertEqual(os.lstat(path).st_mode & 0o077, 0, path)

    def test_never_readable_on_the_way(self):
        """secrets: a file is never readable by others while it is staged or written, not even for a moment"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        (bench.root / "old").write_text("open\n")
        (bench.root / "old").chmod(0o644)
        (bench.root / "place").write_text("open\n")
        (bench.root / "place").chmod(0o644)
        bench.declare(fleet.file("new", "/new", secret("k"), mode="0600"), fleet.file("old", "/old", secret("l"), mode="0600"),
                      fleet.file("place", "/place", secret("m"), mode="0600", replace="inPlace"))
        trace = bench.scratch / "trace"
        done = bench.enforce(before=["strace", "-f", "-y", "-qq", "-s", "512", "-e", "signal=none", "-o", str(trace), "-e",
                                     "trace=openat,openat2,fchmod,write,pwrite64,writev,renameat,renameat2,execve"])
        self.assertEqual(done.code, 0, done.text)
        calls = fleet.read_trace(trace)
        written = [place for place, call in enumerate(calls) if call[0] in ("write", "pwrite64") and CANARY in call[1]
                   and f"<{bench.root}" in call[1]]
        self.assertEqual(len(written), 3, "one write for each file")
        for place in written:
            path = calls[place][1].split("<", 1)[1].split(">", 1)[0]
            before = [call for call in calls[:place] if call[0] in ("fchmod", "openat", "openat2") and path in (call[3] or call[1])]
            self.assertTrue(before, path)
            last = before[-1]
            narrow = "0600" in last[1] or ("fchmod" == last[0] and last[1].rstrip().endswith(("0600", "0400", "000")))
            self.assertTrue(narrow, f"{path}: {last}")

    def test_arguments(self):
        """secrets: they are in no argument vector or environment of a child"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.file("f", "/f", "{\"password\": \"" + CANARY + "\"}\n", mode="0600", validate="json"))
        trace = bench.scratch / "trace"
        done = bench.enforce(before=["strace", "-f", "-v", "-qq", "-s", "4096", "-e", "trace=execve", "-o", str(trace)])
        self.assertEqual(done.code, 0, done.text)
        text = trace.read_text(errors="replace")
        self.assertIn("execve(", text)
        self.assertNotIn(CANARY, text)

    def test_open_content_is_shown(self):
        """diff: the same change in a file that everybody may read is shown"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        (bench.root / "f").write_text(secret("open-old"))
        (bench.root / "f").chmod(0o644)
        bench.declare(fleet.file("f", "/f", secret("open-new"), mode="0644"))
        done = bench.run("diff")
        self.assertEqual(done.code, 2, done.text)
        self.assertIn(CANARY + "-open-new", done.out)


if __name__ == "__main__":
    tap.main()
