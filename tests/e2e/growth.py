#!/usr/bin/env python3
# test: short
"""The journal's growth as people meet it: by hand and by settings records leave for the archive, everything archived
is found again, a death in between loses nothing, blobs that nobody names go, a damaged store is set aside."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.write(0)
        self.config = self.bench.scratch / "etc"
        self.config.mkdir()

    def write(self, version):
        self.bench.declare(*[fleet.file(f"f{number}", f"/f{number}", f"{number} in version {version}\n") for number in range(8)])

    def live(self, versions):
        for version in versions:
            self.write(version)
            done = self.bench.enforce()
            self.assertEqual(done.code, 0, done.text)

    def journal(self, verb, *arguments, **options):
        return fleet.datum("journal", verb, "--state", self.bench.state, *arguments, **options)

    def stat(self):
        return self.journal("stat", "--json").lines[0]

    def passes_above_limit(self):
        """Passes that soon cross the limit of their agent.yaml."""
        (self.config / "agent.yaml").write_text("journal: {archiveAbove: 16MiB, archiveAfter: 365d}\n")
        self.config.chmod(0o700)
        # Long paths make long records: a pass over these files takes some 10 MiB.
        names = ["d" * 240] * 12
        folders = ["/" + "/".join(names[:depth + 1]) for depth in range(len(names))]
        files = [f"{folders[-1]}/{number:04}" for number in range(800)]
        self.bench.declare(*[fleet.directory(f"d{depth:02}", folder) for depth, folder in enumerate(folders)],
                           *[fleet.file(f"g{number:04}", path, f"{number}\n") for number, path in enumerate(files)])
        for _ in range(6):
            done = self.bench.enforce("--config", self.config)
            self.assertEqual(done.code, 0, done.text)
            yield done
            for path in files:
                (self.bench.root / path[1:]).write_text("by hand\n")

    def files(self):
        folder = self.bench.state / "archive"
        return sorted(os.listdir(folder)) if folder.exists() else []

    def check_whole(self, events):
        now = self.bench.events()
        self.assertEqual(now[:len(events)], events)
        self.assertEqual([event["seq"] for event in now], list(range(1, len(now) + 1)))
        verified = self.journal("verify")
        self.assertEqual(verified.code, 0, verified.text)


class Archive(Case):
    def test_by_hand(self):
        """archive: what left the journal is listed, shown, found by target and verified as before"""
        self.live(range(4))
        events = self.bench.events()
        history = fleet.datum("history", "/f3", "--root", self.bench.root, "--state", self.bench.state, "--json").lines
        done = self.journal("archive", "--through", "60", "--json")
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(done.lines[0]["records"], 60)
        self.assertEqual(self.files(), ["journal-00000000000000000001-00000000000000000060.export"])
        self.assertEqual(self.stat()["first"], 61)
        self.check_whole(events)
        shown = self.journal("show", "5", "--json")
        self.assertEqual(shown.lines, [events[4]])
        after = fleet.datum("history", "/f3", "--root", self.bench.root, "--state", self.bench.state, "--json").lines
        self.assertEqual(after, history)
        self.assertEqual(self.journal("archive", "--through", "60").out, "Nothing is due: no record was archived.\n")
        self.assertEqual(self.bench.enforce().code, 0)

    def test_the_newest_stays(self):
        """archive: the newest record never leaves, however much is asked for"""
        self.live([0])
        head = self.stat()["head"]
        self.assertEqual(self.journal("archive", "--through", "999999999").code, 0)
        stat = self.stat()
        self.assertGreaterEqual(stat["first"], head)
        self.assertGreaterEqual(stat["records"], 1)
        self.assertEqual(self.bench.enforce().code, 0)

    def test_by_settings(self):
        """archive: a pass that crosses the limit of agent.yaml archives at its end, oldest first"""
        for done in self.passes_above_limit():
            self.assertEqual(done.err, "")
            if self.files():
                break
        self.assertEqual(len(self.files()), 1)
        stat = self.stat()
        print(f"# journal {stat['liveBytes']} bytes in use, archive {stat['archive'][0]['bytes']} bytes")
        self.assertGreater(stat["first"], 100)
        self.assertLess(stat["liveBytes"], 16 << 20)
        events = self.bench.events()
        self.assertEqual(len(events), stat["head"])
        self.check_whole(events)

    def test_nothing_due(self):
        """archive: below both limits nothing leaves the journal"""
        self.live([0, 1])
        self.assertEqual(self.files(), [])
        done = self.journal("archive", "--json")
        self.assertEqual((done.code, done.lines[0]["records"]), (0, 0))

    def test_taken_elsewhere(self):
        """archive: a file that was taken elsewhere is read there, and the rest of the journal here, with a note"""
        self.live(range(4))
        events = self.bench.events()
        self.assertEqual(self.journal("archive", "--through", "60").code, 0)
        away = self.bench.scratch / self.files()[0]
        (self.bench.state / "archive" / self.files()[0]).rename(away)
        self.assertEqual(self.bench.events()[0]["seq"], 61)
        shown = self.journal("show", "5")
        self.assertEqual(shown.code, 1, shown.text)
        self.assertIn("record 5 is archived, and no file of the archive has it", shown.err)
        listed = fleet.datum("journal", "list", "--journal", away, "--json")
        self.assertEqual(listed.lines, events[:60])
        self.check_missing("1 to 60", away.name)
        self.assertEqual(self.bench.enforce().code, 0)
        away.rename(self.bench.state / "archive" / away.name)
        self.check_whole(events)

    def check_missing(self, records, *names):
        """What verify and everything that reads say of records that are missing, and that the rest is read."""
        folder = self.bench.state / "archive"
        note = f"note: records {records} are missing: they were archived, and no file in {folder} holds them"
        verified = self.journal("verify")
        self.assertEqual(verified.code, 1, verified.text)
        self.assertIn(f"Damaged: {note.removeprefix('note: ')}", verified.out)
        for name in names:
            self.assertIn(name, verified.out)
        bound = ["--root", self.bench.root, "--state", self.bench.state]
        for words in (["journal", "list"], ["journal", "list", "--json"], ["history", "/f3"], ["replay", "passes"], ["postmortem"],
                      ["journal", "tail"], ["journal", "show", str(self.stat()["head"])]):
            with self.subTest(words):
                done = fleet.datum(*words, *bound)
                self.assertEqual(done.code, 0, done.text)
                self.assertEqual(done.err.count(note), 1, done.err)
                self.assertEqual(len(done.err.splitlines()), 1, done.err)

    def archive_thrice(self):
        """Three files; the pass that begins in the second ends in the third."""
        self.live(range(10))
        events = self.bench.events()
        for through in (60, 120, 150):
            self.assertEqual(self.journal("archive", "--through", str(through)).code, 0)
        self.assertEqual(len(self.files()), 3)
        return events, [self.bench.state / "archive" / name for name in self.files()]

    def test_gap(self):
        """archive: where a file between others is gone, the records before it and behind it are read, and no pass is told without its end"""
        events, files = self.archive_thrice()
        files[1].unlink()
        seqs = [event["seq"] for event in self.bench.events()]
        self.assertEqual(seqs[:len(events) - 60], [event["seq"] for event in events if not 61 <= event["seq"] <= 120])
        self.check_missing("61 to 120", files[1].name)
        bound = ["--state", self.bench.state]
        begun = [event["seq"] for event in events if event["kind"] == "passStarted"]
        ended = {event["event"]["pass"]: event["seq"] for event in events if event["kind"] == "passFinished"}
        told = {row["pass"]: row["end"] for row in fleet.datum("replay", "passes", *bound, "--json").lines}
        for seq in begun:
            with self.subTest(seq):
                if 61 <= seq <= 120:
                    self.assertNotIn(seq, told)
                    self.assertIn("is archived, and no file", fleet.datum("postmortem", str(seq), *bound).err)
                    continue
                is_cut = seq <= 60 < ended[seq]
                self.assertEqual(told[seq], "unknown" if is_cut else "finished")
                done = fleet.datum("postmortem", str(seq), *bound)
                self.assertEqual(done.code, 1 if is_cut else 0, done.text)
                self.assertEqual("did not end before record 61" in done.err, is_cut, done.err)
        self.assertIn("unknown", told.values())
        # An export holds its records without a gap.
        made = self.journal("export", self.bench.scratch / "rest", "--json")
        self.assertEqual((made.code, made.lines[0]["first"]), (0, 121), made.text)
        self.assertIn("records 61 to 120 are missing", made.err)
        refused = self.journal("export", self.bench.scratch / "all", "--from", "1")
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("holds records 121 to", refused.err)
        # Nothing is undone from half of a pass.
        reverted = fleet.datum("revert", str(begun[0]), "--root", self.bench.root, *bound)
        self.assertIn("are not here any more", reverted.err)

    def test_newest_gone(self):
        """archive: where the newest file is gone, the older ones are read all the same"""
        events, files = self.archive_thrice()
        files[2].unlink()
        seqs = [event["seq"] for event in self.bench.events()]
        self.assertEqual(seqs[:len(events) - 30], [event["seq"] for event in events if not 121 <= event["seq"] <= 150])
        self.check_missing("121 to 150", files[2].name)

    def test_no_file(self):
        """archive: a link, a folder or a pipe in a file's place is named, and not followed"""
        _, files = self.archive_thrice()
        away = self.bench.scratch / "away"
        files[0].rename(away)
        for make in (lambda path: path.symlink_to(away), lambda path: path.mkdir(), os.mkfifo):
            make(files[0])
            self.check_missing("1 to 60", f"there is something else than a file at {files[0].name}")
            self.assertIn("something else than a file", self.journal("list").err)
            files[0].rmdir() if files[0].is_dir() and not files[0].is_symlink() else files[0].unlink()
        away.rename(files[0])
        self.assertEqual(self.journal("verify").code, 0)

    def test_damaged_file(self):
        """archive: a file with one altered byte is named by verify and never read as if it were whole"""
        self.live(range(4))
        self.assertEqual(self.journal("archive", "--through", "60").code, 0)
        path = self.bench.state / "archive" / self.files()[0]
        body = bytearray(path.read_bytes())
        body[len(body) // 2] ^= 1
        path.write_bytes(bytes(body))
        verified = self.journal("verify")
        self.assertEqual(verified.code, 1, verified.text)
        self.assertEqual(self.journal("list").code, 1)
        # The live store does not suffer from it.
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.journal("set-aside").code, 1)

    def test_blobs(self):
        """archive: plans that only archived records name are gone, those of live ones, the last one and all old content are not"""
        self.live(range(12))
        before = self.stat()["blobBytes"]
        events = self.bench.events()
        last = [event["seq"] for event in events if event["kind"] == "passStarted"][-1]
        done = self.journal("archive", "--through", str(last - 1), "--json")
        self.assertEqual(done.code, 0, done.text)
        self.assertGreater(done.lines[0]["blobBytesFreed"], 0)
        self.assertEqual(self.stat()["blobBytes"], before - done.lines[0]["blobBytesFreed"])
        blobs = {path.name for path in (self.bench.state / "blobs").glob("??/*")}
        plans = {True: set(), False: set()}
        for event in events:
            plans[event["seq"] >= last].add(event["event"].get("plan"))
        old = {action["oldContent"] for event in events for action in event["event"].get("actions", [])} - {None, ""}
        names = lambda digests: {digest.removeprefix("sha256:") for digest in digests if digest}  # noqa: E731
        self.assertGreater(len(old), 80)
        self.assertLessEqual(names(old), blobs)
        self.assertTrue(names(plans[True]))
        self.assertLessEqual(names(plans[True]), blobs)
        gone = names(plans[False]) - names(plans[True])
        self.assertTrue(gone)
        self.assertFalse(gone & blobs)
        self.assertEqual(self.bench.enforce().code, 0)


class Death(Case):
    def test_killed_anywhere(self):
        """archive: killed at any system call that writes, it loses no record, and the next one ends what it began"""
        self.live(range(3))
        events = self.bench.events()
        saved = self.bench.scratch / "saved"
        subprocess.run(["cp", "-a", self.bench.state, saved], check=True)
        kills = 0
        for call in ("fdatasync", "fsync", "renameat2", "rename", "unlink"):
            for when in range(1, 40):
                subprocess.run(["rm", "-rf", self.bench.state], check=True)
                subprocess.run(["cp", "-a", saved, self.bench.state], check=True)
                done = self.journal("archive", "--through", "40", before=[
                    "strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}"])
                if done.code == 0:
                    break
                kills += 1
                with self.subTest(call=call, when=when):
                    self.check_whole(events)
                    again = self.journal("archive", "--through", "50")
                    self.assertEqual(again.code, 0, again.text)
                    self.check_whole(events)
                    self.assertEqual(self.bench.enforce().code, 0)
        print(f"# killed at {kills} calls")
        self.assertGreater(kills, 8)


class Strays(Case):
    """Files in the archive that no record explains may be the only copy of what they hold."""

    def names_it(self, name, why):
        words = f"{self.bench.state}/archive/{name} {why}"
        refused = self.journal("archive", "--through", "20")
        self.assertEqual(refused.code, 1, refused.text)
        for said in (refused.err, self.journal("verify").out,
                     fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state).out):
            self.assertIn(words, said)
            self.assertIn("move it away", said)
        self.assertEqual(self.journal("verify").code, 1)

    def passes_go_on(self):
        """A pass of which records are due goes on, removes nothing of archive and blobs, and says why once."""
        blobs = set(self.bench.state.glob("blobs/??/*"))
        said = next(done.err for done in self.passes_above_limit() if done.err)
        self.assertEqual(said.count("the journal was not archived: "), 1, said)
        self.assertLessEqual(blobs, set(self.bench.state.glob("blobs/??/*")))

    def test_put_back(self):
        """archive: a store put back from an older copy over a newer one never removes the newer one's records, nor reads them as its own"""
        self.live(range(4))
        saved = self.bench.scratch / "saved"
        subprocess.run(["cp", "-a", self.bench.state, saved], check=True)
        self.live(range(4, 12))
        self.assertEqual(self.journal("archive", "--through", "150").code, 0)
        (name,) = self.files()
        whole = (self.bench.state / "archive" / name).read_bytes()
        subprocess.run(["cp", "-a", f"{saved}/.", f"{self.bench.state}/"], check=True)
        self.live(["other"])
        events = self.bench.events()
        self.names_it(name, "holds other records than the journal does")
        self.passes_go_on()
        self.assertEqual((self.files(), (self.bench.state / "archive" / name).read_bytes()), ([name], whole))
        self.assertEqual(self.bench.events()[:len(events)], events)
        (self.bench.state / "archive" / name).rename(self.bench.scratch / name)
        self.assertEqual(self.journal("archive", "--through", "20").code, 0)
        self.check_whole(events)
        self.assertEqual(len(fleet.datum("journal", "list", "--journal", self.bench.scratch / name, "--json").lines), 150)

    def test_other_name(self):
        """archive: a file under another name is named, not removed, and its records are missed and not mistaken"""
        self.live(range(4))
        self.assertEqual(self.journal("archive", "--through", "20").code, 0)
        folder = self.bench.state / "archive"
        (name,) = self.files()
        for first, last in ((21, 40), (2, 21), (500, 519)):
            other = f"journal-{first:020}-{last:020}.export"
            (folder / name).rename(folder / other)
            refused = self.journal("archive", "--through", "60")
            self.assertEqual(refused.code, 1, refused.text)
            self.assertIn(f"{folder}/{other} holds other records than", refused.err)
            self.assertEqual(self.files(), [other])
            self.assertEqual(self.bench.events()[0]["seq"], 21)
            self.assertEqual(self.journal("verify").code, 1)
            (folder / other).rename(folder / name)
        self.assertEqual(self.journal("verify").code, 0)
        self.assertEqual(self.journal("archive", "--through", "60").code, 0)

    def test_other_store(self):
        """archive: a file of another store is named and not removed"""
        self.live(range(4))
        self.assertEqual(self.journal("archive", "--through", "20").code, 0)
        (name,) = self.files()
        (self.bench.state / "archive" / name).rename(self.bench.scratch / name)
        subprocess.run(["rm", "-r", self.bench.state], check=True)
        self.live(range(4))
        (self.bench.state / "archive").mkdir(mode=0o700)
        (self.bench.scratch / name).rename(self.bench.state / "archive" / name)
        self.names_it(name, "is of another store")
        self.assertEqual(self.files(), [name])


class SetAside(Case):
    def test_lost(self):
        """set-aside: a store that has lost its journal gets no new history in silence; set aside, the next one says so"""
        self.live(range(4))
        self.assertEqual(self.journal("archive", "--through", "20").code, 0)
        saved = self.bench.scratch / "saved"
        self.bench.state.rename(saved)
        data, folder = ["journal/data.mdb"], ["journal"]
        for lost in (folder, data, data + ["journal/lock.mdb", "journal/clean"], ["journal/*"], folder + ["archive"],
                     folder + ["archive", "key"], folder + ["blobs", "key"]):
            with self.subTest(lost):
                subprocess.run(["rm", "-rf", self.bench.state], check=True)
                subprocess.run(["cp", "-a", saved, self.bench.state], check=True)
                subprocess.run(["sh", "-c", "cd \"$1\" && shift && rm -r $@", "sh", self.bench.state, *lost], check=True)
                before = fleet.listing(self.bench.state)
                refused = self.bench.observe()
                self.assertEqual(refused.code, 1, refused.text)
                for words in ("has lost its journal", "from a copy", "datum journal set-aside --state"):
                    self.assertIn(words, refused.err)
                self.assertEqual(fleet.listing(self.bench.state), before)
                done = self.journal("set-aside", "--json")
                self.assertEqual(done.code, 0, done.text)
                moved = pathlib.Path(done.lines[0]["movedTo"])
                for name in {"archive", "blobs"} - set(lost):
                    self.assertTrue((moved / name).is_dir(), name)
                self.assertEqual(self.bench.observe().code, 0)
                self.assertEqual([event["kind"] for event in self.bench.events()[:2]], ["storeCreated", "corruptDetected"])
                self.assertEqual(self.journal("verify").code, 0)

    def damage(self):
        data = self.bench.state / "journal/data.mdb"
        body = bytearray(data.read_bytes())
        for place in range(8192, len(body), 512):
            body[place:place + 16] = b"\xa5" * 16
        data.write_bytes(bytes(body))
        return bytes(body)

    def test_whole(self):
        """set-aside: a damaged store is kept whole, and the next one begins with saying so [L04] [L16]"""
        self.live(range(2))
        damaged = self.damage()
        refused = self.bench.enforce()
        self.assertEqual(refused.code, 1, refused.text)
        self.assertIn("datum journal set-aside --state", refused.err)
        self.assertEqual(self.journal("list").code, 1)
        done = self.journal("set-aside", "--json")
        self.assertEqual(done.code, 0, done.text)
        moved = pathlib.Path(done.lines[0]["movedTo"])
        self.assertEqual(moved.parent, self.bench.state)
        self.assertEqual((moved / "journal/data.mdb").read_bytes(), damaged)
        self.assertTrue((moved / "blobs").is_dir())
        self.assertIn(done.lines[0]["problem"], (moved / "problem").read_text())
        before = fleet.listing(self.bench.root)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(before, fleet.listing(self.bench.root))
        events = self.bench.events()
        self.assertEqual([event["kind"] for event in events[:2]], ["storeCreated", "corruptDetected"])
        self.assertEqual(events[1]["event"]["movedTo"], str(moved))
        self.assertEqual(len(self.bench.owned()), 8)

    def test_sound(self):
        """set-aside: a sound store is refused and not touched, and so is none at all"""
        self.live([0])
        done = self.journal("set-aside")
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("sound", done.err)
        self.assertEqual(fleet.datum("journal", "set-aside", "--state", self.bench.scratch / "nowhere").code, 1)
        self.assertEqual(len(self.bench.owned()), 8)

    def test_twice(self):
        """set-aside: there is nothing left to set aside a second time"""
        self.live([0])
        self.damage()
        self.assertEqual(self.journal("set-aside").code, 0)
        again = self.journal("set-aside")
        self.assertEqual(again.code, 1, again.text)


if __name__ == "__main__":
    tap.main()
