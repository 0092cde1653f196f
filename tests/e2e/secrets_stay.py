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
import re
import shutil
import subprocess
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
    "rejected-key": ({"content": f"{CANARY}-k: 1\n{CANARY}-k: 2\n", "mode": "0600", "validate": "yaml"}, 0o600),
    "rejected-alias": ({"content": f"a: *{CANARY}-l\n", "mode": "0600", "validate": "yaml"}, 0o600),
    "rejected-tag": ({"content": f"a: !{CANARY}-m x\n", "sensitive": True, "validate": "yaml"}, 0o644),
    "rejected-scalar": ({"content": f"a: \"{CANARY}-m\n", "sensitive": True, "validate": "yaml"}, 0o644),
    "rejected-word": ({"content": f"{{\"a\": {CANARY}-n}}\n", "sensitive": True, "validate": "json"}, 0o644),
    "rejected-twice": ({"content": f"{{\"{CANARY}-o\": 1, \"{CANARY}-o\": 2}}\n", "mode": "0600", "validate": "json"}, 0o600),
    "in-place": ({"content": secret("i-new"), "mode": "0600", "replace": "inPlace"}, 0o600),
    "backup": ({"content": secret("j-new"), "mode": "0600", "onConflict": "backup"}, 0o600),
    "goes": ({"state": "absent"}, 0o600),
    "by-reference": ({"secretRef": "whole"}, 0o600),
    "by-reference-open": ({"secretRef": "whole", "mode": "0644"}, 0o644),
    "filled": ({"template": "filled.tpl"}, 0o644),
    "filled-anew": ({"template": "filled.tpl", "mode": "0644"}, None),
    "unresolved": ({"secretRef": "nowhere"}, 0o600),
}
SECRETS = {"whole": secret("p-new"), "deep/part": f"{CANARY}-q-new"}
TEMPLATE = "user = x\npassword = {{ secrets.deep/part }}\nagain = {{ secrets.deep/part }}\n"
FILLED = TEMPLATE.replace("{{ secrets.deep/part }}", SECRETS["deep/part"])


def plain_digests():
    texts = [*SECRETS.values(), FILLED] + [fields["content"] for name, (fields, _) in FILES.items()
             if CANARY in fields.get("content", "")] + [secret(f"{name}-old") for name in FILES]
    return [hashlib.sha256(text.encode()).digest() for text in texts + [secret("purged"), secret("by-hand")]]


def place_shell(root):
    """A shell, cat and env below the root, with the libraries that they name."""
    for name in ("bin", "usr/sbin"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for program in ("sh", "cat", "env"):
        path = shutil.which(program)
        shutil.copy(path, root / "bin" / program)
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", listed):
            place = root / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                shutil.copy(library, place)


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
        for name, value in SECRETS.items():
            path = bench.root / "etc/datum/secrets" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value)
            path.chmod(0o600)
        resources = [fleet.file(name, f"/d/{name}", **fields) for name, (fields, _) in FILES.items()]
        bench.declare(fleet.directory("d", "/d", purge=True), *resources)
        (bench.fleet / "base/filled.tpl").write_text(TEMPLATE)
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
        for form in ([], ["--json"]):
            for what in (["lifecycle"], ["owned"], ["status"], ["drift"], ["passes"], ["notifications"], ["drift", "--as", "observe"],
                         ["status", "--as", "observe"], ["drift", "--as", "enforce"], ["drift", "--all"]):
                cls.say(f"replay {what} {form}", fleet.datum("replay", *what, *state, *form))
        for form in ([], ["--redact"]):
            file = cls.bench.scratch / f"story{len(form)}"
            cls.say(f"journal export {form}", fleet.datum("journal", "export", file, *state, *form))
            cls.said[f"the export {form}"] = file.read_bytes()
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
        self.assertIn(b"File[filled-anew]", self.said["enforce"])
        self.assertIn(b"secrets/nowhere", self.said["enforce"])
        self.assertIn(b"update", self.said["enforce --json"])
        self.assertGreater(len(self.bench.events("--kind", "actionSucceeded")), 10)
        self.assertGreater(min(len(self.said[f"the export {form}"]) for form in ([], ["--redact"])), 10_000)
        blobs = [path.read_bytes() for path in (self.bench.state / "blobs").rglob("*") if path.is_file()]
        self.assertTrue(blobs)

    def test_output(self):
        """secrets: no command prints them, as text or as JSON, and no export holds them [S08]"""
        self.assertEqual(self.leaking([CANARY.encode()]), [])
        print(f"# secrets: {len(self.said)} outputs, plan files and exports, violations 0")

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

    def blob(self, path):
        """The plain content of a blob file: a header of 16 bytes, then the bytes as they are or packed."""
        body = path.read_bytes()
        self.assertEqual(body[:4], b"DBL1")
        if body[4] != 2:
            return body[16:]
        return subprocess.run(["zstd", "-dcq"], input=body[16:], capture_output=True, check=True).stdout

    def test_blobs(self):
        """secrets: no blob but old content that an announcement names holds them; the plan's body does not"""
        if shutil.which("zstd") is None:
            self.skipTest("no zstd to unpack blobs with")
        kept = {action["oldContent"] for event in self.bench.events("--kind", "actionsAnnounced")
                for action in event["event"]["actions"] if action["oldContent"]}
        self.assertGreater(len(kept), 5)
        seen = 0
        for path in (self.bench.state / "blobs").rglob("*"):
            if not path.is_file():
                continue
            seen += 1
            digest = path.name if len(path.name) == 64 else path.parent.name + path.name
            self.assertEqual(len(digest), 64, path)
            if digest in kept:
                continue
            body = self.blob(path)
            self.assertEqual([needle for needle in [CANARY.encode(), *plain_digests()] if needle in body], [], path)
        self.assertGreater(seen, len(kept))

    def test_fleet_commands(self):
        """secrets: no command that shows documents shows content that is declared sensitive"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(*[fleet.file(name, f"/d/{name}", **FILES[name][0]) for name in ("sensitive", "closed")])
        for verb in (["render"], ["validate"], ["explain", "File[sensitive]"], ["explain", "File[closed]"]):
            for form in ([], ["--json"]):
                host = ["--host", fleet.HOST] if verb[0] != "validate" else []
                done = fleet.datum(*verb, "--fleet", bench.fleet, *host, *form)
                self.assertEqual(done.code, 0, done.text)
                self.assertNotIn(CANARY, done.text, f"{verb} {form}")

    def fail_with(self, injections, resources):
        """One pass that fails at the given system calls; neither it nor the store tells anything."""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        for resource in resources:
            path = bench.path(resource.desired["path"])
            path.write_text(secret("old"))
            path.chmod(0o600)
        bench.declare(*resources)
        before = ["strace", "-f", "-qq", "-o", "/dev/null"]
        for injection in injections:
            before += ["-e", f"inject={injection}"]
        done = bench.enforce("--json", before=before)
        said = [done.text, *(fleet.datum("journal", "list", "--state", bench.state, *form).text for form in ([], ["--json"]))]
        for event in bench.events():
            said.append(fleet.datum("journal", "show", str(event["seq"]), "--state", bench.state).text)
        self.assertEqual([text for text in said if CANARY in text], [])
        for path in bench.state.rglob("*"):
            if path.is_file() and "blobs" not in path.parts:
                body = path.read_bytes()
                self.assertNotIn(CANARY.encode(), body, path)
                self.assertNotIn(hashlib.sha256(secret("old").encode()).digest(), body, path)
        self.assertEqual(fleet.leftovers(bench.root), [])
        return done

    def test_failures(self):
        """secrets: a failing rename, sync, or change of mode or owner tells nothing of them and leaves no copy behind"""
        resources = [fleet.file("a", "/a", secret("failing"), mode="0600", owner="1234"),
                     fleet.file("b", "/b", secret("failing-in-place"), mode="0600", replace="inPlace"),
                     fleet.file("c", "/c", secret("failing-backup"), mode="0600", onConflict="backup")]
        failed = 0
        for injections in (["renameat2:error=EIO"], ["renameat2:error=EROFS"], ["fchmod:error=EPERM"], ["fchown:error=EPERM"],
                           ["fsync:error=EIO:when=9+"]):
            with self.subTest(injections=injections):
                done = self.fail_with(injections, resources)
                self.assertNotEqual(done.code, 3, done.text)
                failed += done.code != 0
        self.assertGreaterEqual(failed, 3, "the injected faults did happen")

    def test_full_disk(self):
        """secrets: a file system that fills up while they are staged keeps no part of them"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        (bench.root / "full").mkdir()
        # More than what is left beside the reserve that is proved before a wave.
        bench.declare(fleet.file("f", "/full/f", secret("full") * 2_000, mode="0600"), fleet.file("g", "/g", "g\n"))
        script = 'root="$1"; shift; mount -t tmpfs -o size=16k none "$root/full"; "$@"; code=$?; ls -A "$root/full"; exit $code'
        done = bench.enforce("--json", before=["unshare", "-m", "sh", "-c", script, "sh", str(bench.root)])
        self.assertEqual(done.code, 2, done.text)
        self.assertNotIn(CANARY, done.text)
        self.assertTrue(done.out.splitlines()[-1].startswith("{"), "nothing is left in the full file system")
        full = fleet.Bench()
        self.addCleanup(full.close)
        full.declare(fleet.file("f", "/f", secret("full") * 2_000, mode="0600"))
        done = full.enforce("--json", before=["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                              "inject=write:error=ENOSPC:when=2+", "-P", str(full.root)])
        self.assertNotIn(CANARY, done.text)

    def test_validator(self):
        """secrets: what a validator prints of a closed file is recorded and shown nowhere; of an open file it is"""
        for status in (0, 1):
            bench = fleet.Bench()
            self.addCleanup(bench.close)
            place_shell(bench.root)
            program = bench.root / "usr/sbin/visudo"
            program.write_text(f'#!/bin/sh\ncat "$3"; cat "$3" >&2; env; exit {status}\n')
            program.chmod(0o755)
            bench.declare(fleet.file("closed", "/closed", secret("v"), mode="0600", validate="sudoers"),
                          fleet.file("marked", "/marked", secret("w"), sensitive=True, validate="sudoers"),
                          fleet.file("open", "/open", "everybody reads this\n", mode="0644", validate="sudoers"))
            done = bench.enforce("--json")
            self.assertEqual(done.code, 2 if status else 0, done.text)
            said = {"enforce": done.text, "again": bench.enforce().text, "observe": bench.observe().text}
            for event in bench.events():
                for form in ([], ["--json"]):
                    said[f"show {event['seq']} {form}"] = fleet.datum("journal", "show", str(event["seq"]), "--state",
                                                                      bench.state, *form).text
            self.assertEqual([what for what, text in said.items() if CANARY in text], [])
            for path in bench.state.rglob("*"):
                if path.is_file() and "blobs" not in path.parts:
                    self.assertNotIn(CANARY.encode(), path.read_bytes(), path)
            self.assertEqual(fleet.leftovers(bench.root), [])
            if status:
                self.assertIn("everybody reads this", said["enforce"])
                self.assertIn("(redacted)", said["enforce"])
                self.assertFalse((bench.root / "closed").exists())

    def test_no_core(self):
        """secrets: before anything is read the program forbids images of its memory"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.file("f", "/f", secret("core"), mode="0600"))
        trace = bench.scratch / "trace"
        done = bench.observe(before=["strace", "-f", "-y", "-qq", "-o", str(trace), "-e",
                                     "trace=prctl,prlimit64,setrlimit,openat,openat2"])
        self.assertEqual(done.code, 2, done.text)
        calls = fleet.read_trace(trace)
        dumpable = [place for place, call in enumerate(calls)
                    if call[0] == "prctl" and "PR_SET_DUMPABLE, SUID_DUMP_DISABLE" in call[1]]
        limited = [place for place, call in enumerate(calls)
                   if "limit" in call[0] and "RLIMIT_CORE" in call[1] and "rlim_cur=0" in call[1]]
        read = [place for place, call in enumerate(calls)
                if call[0].startswith("openat") and str(bench.fleet) in (call[3] or call[1])]
        self.assertTrue(dumpable and limited and read, (dumpable, limited, read))
        self.assertLess(max(dumpable[0], limited[0]), read[0])

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
