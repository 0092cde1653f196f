#!/usr/bin/env python3
# test: short root
"""`datum revert`: a pass is undone target by target, what cannot be is named first, and what was undone is kept."""

import json
import os
import pathlib
import random
import stat
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

SECRET = "hunter2-of-the-old-days"


def tree(folder):
    """The tree without what no document can set: inodes, times, numbers of names."""
    return {path: seen[:4] + seen[6:7] + seen[9:] for path, seen in fleet.listing(folder).items()}


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root

    def put(self, name, body, mode=0o644, owner=(0, 0), **attributes):
        path = self.root / name
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        os.chown(path, *owner)
        path.chmod(mode)
        for key, value in attributes.items():
            os.setxattr(path, f"user.{key}", value)
        return path

    def last_pass(self):
        return self.bench.events("--kind", "passStarted")[-1]["seq"]

    def enforce(self, *resources, code=0):
        self.bench.declare(*resources)
        done = self.bench.enforce()
        self.assertEqual(done.code, code, done.text)
        return self.last_pass()

    def revert(self, number, *arguments, code=2, mode="enforce", removals=100, before=()):
        done = fleet.datum("revert", str(number), "--root", self.root, "--state", self.bench.state,
                           "--allow-removals", str(removals), *(["--mode", mode] if mode else []), *arguments,
                           before=before)
        self.assertEqual(done.code, code, done.text)
        return done

    def keep(self, *arguments, code=0):
        done = fleet.datum("keep", *arguments, "--root", self.root, "--state", self.bench.state)
        self.assertEqual(done.code, code, done.text)
        return done

    def sound(self):
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)
        self.assertEqual(fleet.leftovers(self.root), [])

    def make_odd_tree(self):
        """Something of everything that a pass can change, and the documents that change it."""
        os.mkdir(self.root / "etc", 0o755)
        self.put("etc/text", "old text\n", 0o640, (11, 12), note=b"mine")
        self.put("etc/empty", "", 0o644)
        self.put("etc/binary", bytes(range(256)) * 999, 0o4755, (1, 1))
        self.put("etc/secret", SECRET, 0o600, (7, 7))
        self.put("etc/wrapped", b"DKEPT\x01\0\0" + b"looks like kept content", 0o644)
        self.put("etc/meta", "same\n", 0o604, (3, 4), tag=b"\0binary")
        self.put("etc/gone", "removed by the pass\n", 0o2644, (5, 6), tag=b"x")
        os.symlink("old/target", self.root / "etc/link")
        os.lchown(self.root / "etc/link", 21, 22)
        os.symlink("text", self.root / "etc/was-link")
        os.mkdir(self.root / "etc/folder", 0o1777)
        os.chown(self.root / "etc/folder", 9, 9)
        os.mkdir(self.root / "etc/purged", 0o755)
        self.put("etc/purged/entry", "nobody declares me\n", 0o400, (8, 8))
        os.symlink("entry", self.root / "etc/purged/link")
        os.mkdir(self.root / "etc/purged/empty", 0o711)
        return [
            fleet.file("text", "/etc/text", "new text\n", mode="0644", owner="0"),
            fleet.file("empty", "/etc/empty", "not empty any more\n"),
            fleet.file("binary", "/etc/binary", "short\n", mode="0755", owner="0", group="0"),
            fleet.file("secret", "/etc/secret", "not secret\n", mode="0644"),
            fleet.file("wrapped", "/etc/wrapped", "plain\n"),
            fleet.file("meta", "/etc/meta", mode="0600", owner="0", group="0"),
            fleet.file("gone", "/etc/gone", state="absent"),
            fleet.symlink("link", "/etc/link", "new/target"),
            fleet.file("was-link", "/etc/was-link", "a file now\n"),
            fleet.directory("folder", "/etc/folder", mode="0700", owner="0", group="0"),
            fleet.directory("purged", "/etc/purged", purge=True, purgeDirectories=True),
            fleet.directory("made", "/etc/made", mode="0750"),
            fleet.file("inside", "/etc/made/inside", "made\n"),
            fleet.symlink("made-link", "/etc/made/link", "inside"),
        ]


class Undoing(Case):
    def test_former_tree(self):
        """revert: what a pass changed is as before it, in content, owner, mode, attributes and type"""
        resources = self.make_odd_tree()
        before = tree(self.root)
        number = self.enforce(*resources)
        self.assertNotEqual(tree(self.root), before)
        done = self.revert(number)
        self.assertEqual(tree(self.root), before, done.text)
        self.assertIn("undone", done.out)
        self.assertNotIn("not undone", done.text)
        self.sound()

    def test_kept(self):
        """revert: what was undone is only observed until something else is declared"""
        resources = self.make_odd_tree()
        before = tree(self.root)
        number = self.enforce(*resources)
        self.revert(number)
        again = self.bench.enforce()
        self.assertEqual(again.code, 2, again.text)
        self.assertEqual(tree(self.root), before)
        self.assertIn("observed only", again.out)
        self.assertIn("/etc/text", self.keep().out)
        plan = self.bench.run("plan", "--json")
        self.assertTrue(all(line["observeOnly"] for line in fleet.outcomes(plan).values()), plan.out)
        self.bench.declare(*resources, fleet.file("more", "/more", "x\n"))
        changed = self.bench.enforce()
        self.assertEqual(changed.code, 0, changed.text)
        self.assertEqual((self.root / "etc/text").read_text(), "new text\n")
        self.assertIn("Nothing is kept", self.keep().out)

    def test_status_tells_drift(self):
        """revert: the host is drifted as soon as its last pass was undone, and owns what it owned before"""
        self.put("a", "old\n")
        number = self.enforce(fleet.file("a", "/a", "new\n"), fleet.file("b", "/b", "made\n"))
        self.revert(number)
        status = fleet.datum("status", "--root", self.root, "--state", self.bench.state, "--json")
        self.assertEqual(status.code, 2, status.text)
        self.assertEqual(status.lines[0]["counts"]["drifted"], 2)
        self.assertEqual(self.bench.owned(), {})
        self.assertFalse((self.root / "b").exists())

    def status(self, code):
        status = fleet.datum("status", "--root", self.root, "--state", self.bench.state, "--json")
        self.assertEqual(status.code, code, status.text)
        return status.lines[0]

    def test_found_changed(self):
        """revert: what it finds changed by hand is drifted in status, which names the reverting pass"""
        files = [fleet.file("a", "/a", "one\n"), fleet.file("b", "/b", "two\n")]
        number = self.enforce(*files)
        with open(self.root / "a", "a") as opened:
            opened.write("hand\n")
        self.revert(number, mode="observe")
        status = self.status(2)
        self.assertEqual(status["condition"], "drifted")
        self.assertEqual((status["counts"]["drifted"], status["counts"]["converged"]), (1, 1))
        self.assertEqual([line["target"] for line in status["resources"]], ["/a"])
        self.assertEqual((status["lastPass"]["pass"], status["lastPass"]["reverts"]), (self.last_pass(), number))
        self.assertEqual(self.bench.run("observe").code, 2)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.status(0)["lastPass"]["reverts"], 0)
        self.assertEqual((self.root / "a").read_text(), "one\n")
        self.sound()

    def test_found_changed_mode(self):
        """revert: a change of something that may not be declared is unknown, until the next look tells"""
        number = self.enforce(fleet.file("a", "/a", "one\n"))
        (self.root / "a").chmod(0o600)
        self.revert(number)
        self.assertEqual(self.status(4)["counts"]["unknown"], 1)
        self.assertEqual(self.bench.run("observe").code, 0)
        self.status(0)

    def test_owned_as_before(self):
        """revert: a removed file that Datum had made is Datum's again, and the next declaration removes it"""
        self.enforce(fleet.file("a", "/a", "made\n"), fleet.file("b", "/b", "b\n"))
        number = self.enforce(fleet.file("b", "/b", "b\n"))
        self.assertFalse((self.root / "a").exists())
        self.revert(number)
        self.assertEqual((self.root / "a").read_text(), "made\n")
        self.assertEqual(self.bench.owned()["/a"]["how"], "created")
        self.enforce(fleet.file("b", "/b", "b\n"), code=2)
        self.assertTrue((self.root / "a").exists())
        self.enforce(fleet.file("b", "/b", "b2\n"))
        self.assertFalse((self.root / "a").exists())

    def test_observe(self):
        """revert: in observe the plan is printed and pending, and nothing is touched"""
        resources = self.make_odd_tree()
        number = self.enforce(*resources)
        before = fleet.listing(self.root)
        for mode in ("observe", None):
            done = self.revert(number, mode=mode)
            self.assertIn("to be undone", done.out)
        told = self.revert(number, "--json", mode="observe").lines
        self.assertEqual(told[-2]["undone"], 0)
        self.assertGreater(told[-2]["pending"], 10)
        self.assertEqual(fleet.listing(self.root), before)
        self.assertIn("Nothing is kept", self.keep().out)

    def test_twice(self):
        """revert: undoing what is undone already does nothing, and says so"""
        number = self.enforce(*self.make_odd_tree())
        self.revert(number)
        before = fleet.listing(self.root)
        done = self.revert(number, "--json")
        self.assertEqual(done.lines[-2]["undone"], 0)
        self.assertEqual(done.lines[-2]["already"], 16)
        self.assertEqual(fleet.listing(self.root), before)

    def test_revert_of_revert(self):
        """revert: a pass that undid another can be undone, and then keeps nothing"""
        resources = self.make_odd_tree()
        number = self.enforce(*resources)
        enforced = tree(self.root)
        self.revert(number)
        self.revert(self.last_pass(), code=4)
        self.assertEqual(tree(self.root), enforced)
        self.assertIn("Nothing is kept", self.keep().out)
        self.enforce(*resources)
        self.assertEqual(tree(self.root), enforced)
        self.sound()

    def test_only_that_pass(self):
        """revert: what other passes made stays, and nothing else is planned"""
        self.enforce(fleet.file("a", "/a", "one\n"))
        number = self.enforce(fleet.file("a", "/a", "one\n"), fleet.file("b", "/b", "two\n"))
        done = self.revert(number, "--json")
        self.assertEqual([line["target"] for line in done.lines if "ordinal" in line], ["/b"])
        self.assertEqual(sorted(os.listdir(self.root)), ["a"])

    def test_random_trees(self):
        """revert: whatever tree and documents, an enforcing pass undone leaves the former tree"""
        for seed in range(int(os.environ.get("DATUM_SEEDS", "12"))):
            with self.subTest(seed=seed):
                bench = fleet.Bench()
                self.bench, self.root = bench, bench.root
                dice = random.Random(seed)
                names = self.make_random_tree(dice)
                before = tree(self.root)
                bench.declare(*[resource for name in names for resource in self.random_documents(dice, name)])
                done = bench.enforce()
                self.assertIn(done.code, (0, 2), done.text)
                changed = tree(self.root) != before
                reverted = fleet.datum("revert", str(self.last_pass()), "--root", self.root, "--state", bench.state,
                                       "--mode", "enforce", "--allow-removals", "1000")
                self.assertEqual(tree(self.root), before, reverted.text)
                self.assertEqual(reverted.code == 1, not changed, reverted.text)
                self.sound()
                bench.close()

    def make_random_tree(self, dice):
        names = []
        for folder in ("a", "b", "c"):
            os.mkdir(self.root / folder)
            (self.root / folder).chmod(dice.choice([0o755, 0o700, 0o1755, 0o2750]))
            names += [f"{folder}/{number}" for number in range(8)]
        for name in names:
            kind, owner = dice.choice(["file", "file", "file", "link", "folder", "nothing"]), dice.randrange(4)
            if kind == "file":
                attributes = {"x": dice.randbytes(5)} if dice.random() < 0.3 else {}
                self.put(name, dice.randbytes(dice.choice([0, 1, 4095, 70_000])), dice.randrange(0o10000),
                         (owner, dice.randrange(4)), **attributes)
            elif kind == "link":
                os.symlink(dice.choice(["x", "../a", "/nowhere", "1"]), self.root / name)
                os.lchown(self.root / name, owner, owner)
            elif kind == "folder":
                os.mkdir(self.root / name)
                os.chown(self.root / name, owner, owner)
                (self.root / name).chmod(dice.randrange(0o10000))
        return names

    @staticmethod
    def random_documents(dice, name):
        kind, path = dice.choice(["content", "metadata", "link", "folder", "absent", "nothing"]), f"/{name}"
        document = name.replace("/", "-")
        fields = {}
        if dice.random() < 0.5:
            fields["mode"] = oct(dice.randrange(0o1000))[2:].zfill(4)
        if dice.random() < 0.5:
            fields["owner"] = str(dice.randrange(4))
        if kind == "content":
            return [fleet.file(document, path, dice.choice(["", "x", "y" * 5000]), **fields)]
        if kind == "metadata" and fields:
            return [fleet.file(document, path, **fields)]
        if kind == "link":
            return [fleet.symlink(document, path, dice.choice(["x", "1", "/nowhere"]))]
        if kind == "folder":
            return [fleet.directory(document, path, **fields)]
        return [fleet.file(document, path, state="absent")] if kind == "absent" else []

    def test_in_place(self):
        """revert: a file with several names that was written in place is written in place again"""
        self.put("a", "old\n", 0o600, (4, 4))
        os.link(self.root / "a", self.root / "other")
        inode = (self.root / "a").stat().st_ino
        number = self.enforce(fleet.file("a", "/a", "new\n", hardLinks="inPlace", mode="0644"))
        self.revert(number)
        seen = (self.root / "other").stat()
        self.assertEqual((seen.st_ino, seen.st_nlink, stat.S_IMODE(seen.st_mode)), (inode, 2, 0o600))
        self.assertEqual((self.root / "other").read_text(), "old\n")


class Staying(Case):
    def test_conflicts(self):
        """revert: what somebody changed since stays as it is and is named before anything is done"""
        for name in "abcdef":
            self.put(name, f"old {name}\n")
        number = self.enforce(*[fleet.file(name, f"/{name}", f"new {name}\n") for name in "abcdef"],
                              fleet.file("g", "/g", "made\n"))
        (self.root / "a").write_text("by hand\n")
        (self.root / "b").chmod(0o600)
        (self.root / "c").unlink()
        os.chown(self.root / "d", 5, 0)
        os.setxattr(self.root / "e", "user.note", b"mine")
        (self.root / "g").write_text("filled by somebody\n")
        before = tree(self.root)
        done = self.revert(number)
        after = tree(self.root)
        for name in (b"a", b"b", b"d", b"e", b"g"):
            self.assertEqual(before[name], after[name])
        self.assertNotIn(b"c", after)
        self.assertEqual((self.root / "f").read_text(), "old f\n")
        for name, why in [("a", "content"), ("b", "mode"), ("c", "absent now"), ("d", "owner"), ("e", "attributes"),
                          ("g", "content")]:
            self.assertRegex(done.err, rf"not undone: /{name}: conflict: changed since \(.*{why}")
        self.assertEqual([line.split()[0] for line in self.keep().out.splitlines()[1:]], ["/f"])

    def test_changed_by_a_later_pass(self):
        """revert: what a later pass changed again stays, and that pass can be undone first"""
        self.put("a", "one\n")
        first = self.enforce(fleet.file("a", "/a", "two\n"))
        second = self.enforce(fleet.file("a", "/a", "three\n"))
        self.assertIn("conflict", self.revert(first).err)
        self.assertEqual((self.root / "a").read_text(), "three\n")
        self.revert(second)
        self.assertEqual((self.root / "a").read_text(), "two\n")

    def test_blob_gone(self):
        """revert: where the old content is not kept any more that is said first, and the rest is undone"""
        self.put("a", "old a\n")
        self.put("b", "old b\n")
        number = self.enforce(fleet.file("a", "/a", "new a\n"), fleet.file("b", "/b", "new b\n"))
        announced = self.bench.events("--kind", "actionsAnnounced")[-1]["event"]["actions"]
        digest = next(action["oldContent"] for action in announced if action["target"] == "/a")
        (self.bench.state / "blobs" / digest[:2] / digest).unlink()
        done = self.revert(number)
        self.assertRegex(done.err, "not undone: /a: cannot be undone: its old content is not kept any more")
        self.assertEqual((self.root / "a").read_text(), "new a\n")
        self.assertEqual((self.root / "b").read_text(), "old b\n")

    def test_blob_damaged(self):
        """revert: damaged old content is never put back"""
        self.put("a", "old a\n" * 40)
        number = self.enforce(fleet.file("a", "/a", "new a\n"))
        digest = self.bench.events("--kind", "actionsAnnounced")[-1]["event"]["actions"][0]["oldContent"]
        blob = self.bench.state / "blobs" / digest[:2] / digest
        body = bytearray(blob.read_bytes())
        body[-1] ^= 1
        blob.write_bytes(body)
        self.assertRegex(self.revert(number).err, "not undone: /a: cannot be undone: its old content cannot be read")
        self.assertEqual((self.root / "a").read_text(), "new a\n")

    def test_too_large(self):
        """revert: a file that was too large to keep is named with the reason"""
        with open(self.root / "big", "wb") as big:
            big.truncate((16 << 20) + 1)
        self.put("small", "old\n")
        number = self.enforce(fleet.file("big", "/big", "new\n"), fleet.file("small", "/small", "new\n"))
        done = self.revert(number)
        self.assertRegex(done.err, "not undone: /big: cannot be undone: its old content was not kept: larger than 16 MiB")
        self.assertEqual((self.root / "small").read_text(), "old\n")

    def test_special_file(self):
        """revert: a purged FIFO does not come back, and that is said"""
        os.mkdir(self.root / "d")
        os.mkfifo(self.root / "d/pipe")
        self.put("d/file", "x\n")
        number = self.enforce(fleet.directory("d", "/d", purge=True))
        done = self.revert(number)
        self.assertRegex(done.err, "not undone: /d/pipe: cannot be undone: what was there was no file, folder or link")
        self.assertEqual(os.listdir(self.root / "d"), ["file"])

    def test_full_folder(self):
        """revert: a folder that the pass made and somebody filled stays, and it is said why"""
        number = self.enforce(fleet.directory("d", "/d"), fleet.file("f", "/d/f", "x\n"))
        self.put("d/foreign", "mine\n")
        done = self.revert(number)
        self.assertRegex(done.err, "not undone: /d: not empty")
        self.assertEqual(os.listdir(self.root / "d"), ["foreign"])

    def test_no_folder_any_more(self):
        """revert: what lay in a folder that is gone is not put back, and no folder is invented"""
        os.mkdir(self.root / "d")
        self.put("d/a", "old\n")
        number = self.enforce(fleet.file("a", "/d/a", state="absent"))
        os.rmdir(self.root / "d")
        self.assertRegex(self.revert(number).err, "not undone: /d/a: missing folder")
        self.assertEqual(os.listdir(self.root), [])

    def test_protected(self):
        """revert: what is protected is not removed"""
        number = self.enforce(fleet.with_keys(fleet.file("a", "/a", "x\n"), protect=True), fleet.file("b", "/b", "x\n"))
        self.assertRegex(self.revert(number).err, "not undone: /a: protected")
        self.assertEqual(os.listdir(self.root), ["a"])

    def test_brake(self):
        """revert: more removals than the brake allows are not done, unless they are allowed"""
        number = self.enforce(*[fleet.file(f"f{i}", f"/f{i}", "x\n") for i in range(12)])
        done = self.revert(number, removals=0)
        self.assertIn("brake", done.err)
        self.assertEqual(len(os.listdir(self.root)), 12)
        self.revert(number, removals=12)
        self.assertEqual(os.listdir(self.root), [])

    def test_local_list(self):
        """revert: what agent.yaml holds in observe is not touched"""
        config = self.bench.scratch / "config"
        config.mkdir()
        (config / "agent.yaml").write_text('reconciliation: {mode: enforce}\nobserve: ["File[a]"]\n')
        self.put("a", "old\n")
        self.put("b", "old\n")
        number = self.enforce(fleet.file("a", "/a", "new\n"), fleet.file("b", "/b", "new\n"))
        self.revert(number, "--config", config, mode=None)
        self.assertEqual((self.root / "a").read_text(), "new\n")
        self.assertEqual((self.root / "b").read_text(), "old\n")

    def test_read_only(self):
        """revert: on a file system that refuses, each action fails, and undoing can be tried again"""
        self.put("a", "old\n")
        number = self.enforce(fleet.file("a", "/a", state="absent"))
        # With this flag nothing but a new name on the machine is made: blobs and journal are written all the same.
        refuse = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EROFS"]
        done = self.revert(number, before=refuse)
        self.assertIn("failed", done.out)
        self.assertEqual(os.listdir(self.root), [])
        self.assertIn("Nothing is kept", self.keep().out)
        self.revert(number)
        self.assertEqual((self.root / "a").read_text(), "old\n")
        self.sound()


class Refused(Case):
    def test_refused(self):
        """revert: a pass that is none, changed nothing or is not here any more is refused with 1, and none is begun"""
        self.put("a", "x\n")
        first = self.enforce(fleet.file("a", "/a", "y\n"))
        idle = self.enforce(fleet.file("a", "/a", "y\n"))
        started = len(self.bench.events("--kind", "passStarted"))
        for number, words in [(idle, "changed nothing"), (first + 1, "begins no pass"), (99999, "there is no pass")]:
            self.assertIn(words, self.revert(number, code=1).err)
        self.archive(idle)
        self.assertEqual(len(self.bench.events("--kind", "passStarted")), started)
        for file in (self.bench.state / "archive").iterdir():
            file.unlink()
        self.assertIn("not here any more", self.revert(first, code=1).err)

    def archive(self, through):
        archived = fleet.datum("journal", "archive", "--through", str(through), "--root", self.root, "--state", self.bench.state)
        self.assertEqual(archived.code, 0, archived.text)

    def test_archived(self):
        """revert: a pass whose records are in the archive is undone as others are"""
        resources = self.make_odd_tree()
        before = tree(self.root)
        number = self.enforce(*resources)
        self.archive(self.enforce(*resources))
        self.revert(number)
        self.assertEqual(tree(self.root), before)
        self.sound()

    def test_usage(self):
        """revert: without a number it is refused as wrongly used"""
        for arguments in ([], ["last"], ["-1"], [""]):
            done = fleet.datum("revert", *arguments, "--root", self.root, "--state", self.bench.state)
            self.assertEqual(done.code, 1, done.text)


class Dying(Case):
    def kill_at(self, when, calls="renameat,renameat2"):
        return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e",
                f"inject={calls}:signal=KILL:when={when}"]

    def new_bench(self):
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        self.bench, self.root = bench, bench.root

    def points(self):
        """Numbers of calls of a thread that make or take a name, one after the other until `done` is set."""
        for calls in ("renameat", "renameat2", "unlinkat"):
            self.done = False
            for when in range(1, 100):
                if self.done:
                    break
                self.new_bench()
                yield calls, when

    def test_killed(self):
        """revert: killed at each rename and removal in turn and run again, the tree is as before and nothing is left over"""
        killed = 0
        for point in self.points():
            with self.subTest(point=point):
                resources = self.make_odd_tree()
                before = tree(self.root)
                number = self.enforce(*resources)
                done = fleet.datum("revert", str(number), "--root", self.root, "--state", self.bench.state, "--mode", "enforce",
                                   "--allow-removals", "100", before=self.kill_at(point[1], point[0]))
                self.done = done.code == 2
                self.revert(number)
                self.assertEqual(tree(self.root), before)
                self.sound()
                self.assertEqual(len(self.keep("--json").out.splitlines()), 16)
                killed += not self.done
        self.assertGreater(killed, 10)

    def test_killed_then_enforced(self):
        """revert: what a killed one had undone stays undone in the next pass over the same declaration"""
        for name in "ab":
            self.put(name, f"old {name}\n")
        number = self.enforce(*[fleet.file(name, f"/{name}", f"new {name}\n") for name in "ab"])
        fleet.datum("revert", str(number), "--root", self.root, "--state", self.bench.state, "--mode", "enforce",
                    before=self.kill_at(2))
        undone = [name for name in "ab" if (self.root / name).read_text().startswith("old")]
        self.bench.enforce()
        self.assertEqual([name for name in "ab" if (self.root / name).read_text().startswith("old")], undone)
        self.assertEqual([line.split()[0] for line in self.keep().out.splitlines()[1:]], [f"/{name}" for name in undone])

    def test_pass_that_died(self):
        """revert: of a pass that died only what took effect is undone"""
        undone = 0
        for point in self.points():
            with self.subTest(point=point):
                resources = self.make_odd_tree()
                before = tree(self.root)
                self.bench.declare(*resources)
                self.done = self.bench.enforce(before=self.kill_at(point[1], point[0])).code == 0
                if self.done:
                    continue
                self.bench.observe()
                changed = tree(self.root) != before
                number = self.bench.events("--kind", "passStarted")[0]["seq"]
                self.revert(number, code=2 if changed else 1)
                self.assertEqual(tree(self.root), before)
                self.sound()
                undone += changed
        self.assertGreater(undone, 3)


class Keeping(Case):
    def test_keep_and_lift(self):
        """keep: a target is only observed until it is lifted, and both are recorded with who said so"""
        self.enforce(fleet.file("a", "/a", "x\n"))
        self.assertIn("only observed until", self.keep("File[a]").out)
        (self.root / "a").write_text("by hand\n")
        self.assertEqual(self.bench.enforce().code, 2)
        self.assertEqual((self.root / "a").read_text(), "by hand\n")
        self.assertIn("no longer kept", self.keep("/a", "--lift").out)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual((self.root / "a").read_text(), "x\n")
        kept = [line["event"] for line in self.bench.events("--kind", "targetKept")]
        self.assertEqual([event["untilGeneration"] for event in kept], [1, 0])
        self.assertTrue(all(event["actor"]["kind"] == "person" and event["actor"]["name"] for event in kept))

    def test_refused(self):
        """keep: what nobody knows cannot be kept, and what is not kept cannot be lifted"""
        self.enforce(fleet.file("a", "/a", "x\n"))
        self.assertIn("neither declared nor owned", self.keep("/b", code=1).err)
        self.assertIn("is not kept", self.keep("/a", "--lift", code=1).err)
        self.keep("--lift", code=1)

    def test_restored_entry_stays(self):
        """keep: an entry that came back into a purged folder is not purged again"""
        os.mkdir(self.root / "d")
        self.put("d/entry", "mine\n")
        resources = [fleet.directory("d", "/d", purge=True)]
        number = self.enforce(*resources)
        self.revert(number, code=4)
        self.enforce(*resources, code=2)
        self.assertEqual((self.root / "d/entry").read_text(), "mine\n")
        self.keep("/d/entry", "--lift")
        self.enforce(*resources)
        self.assertEqual(os.listdir(self.root / "d"), [])


class Secrets(Case):
    def test_secrets_stay(self):
        """revert: old content that others may not read is put back and told nowhere [S08]"""
        self.put("s", SECRET + "\n", 0o600, (7, 7), key=SECRET.encode())
        number = self.enforce(fleet.file("s", "/s", "public\n", mode="0644"))
        done = self.revert(number)
        self.assertEqual((self.root / "s").read_text(), SECRET + "\n")
        told = [done.text, self.revert(number, "--json").text, json.dumps(self.bench.events()),
                fleet.datum("postmortem", "--state", self.bench.state, "--json").text]
        for text in told:
            self.assertNotIn(SECRET, text)
        for base, _, names in os.walk(self.bench.state / "journal"):
            for name in names:
                self.assertNotIn(SECRET.encode(), (pathlib.Path(base) / name).read_bytes())
        self.assertEqual(oct((self.root / "s").stat().st_mode), oct(0o100600))


if __name__ == "__main__":
    tap.main()
