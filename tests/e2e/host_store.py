#!/usr/bin/env python3
# test: short
"""What needs the store for itself, beside a service that has it: undoing a pass, a saved plan, the archive with its
compaction. It reads and exits as without a service; and whenever the service is killed, the store opens and is sound."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

MANY = 1500  # resources whose records take more than what a compaction is worth for


def shape(text):
    """Without numbers, sizes, times and digests, which two stores do not share."""
    return re.sub(r"[0-9a-f]{12,}|[0-9][0-9.,:TZ-]*( [KMG]?i?B| bytes)?", "N", text)


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = self.make_bench()
        self.motd = self.bench.root / "motd"
        self.plan = self.bench.scratch / "saved.plan"

    def make_bench(self, many=0):
        bench = hosting.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.file("motd", "/motd", "hello\n"),
                      *(fleet.file(f"f{n:05}", f"/many/f{n:05}", f"{n}\n") for n in range(many)))
        (bench.root / "many").mkdir(mode=0o755)
        bench.configure()
        return bench

    def start(self, bench=None):
        host = (bench or self.bench).start()
        host.wait_pass()
        return host

    def datum(self, *arguments, bench=None, code=0, config=True, **options):
        bench = bench or self.bench
        place = ["--root", bench.root, "--state", bench.state] if config else ["--state", bench.state]
        done = fleet.datum(*arguments, *place, *(["--config", bench.config] if config else []), **options)
        if code is not None:
            self.assertEqual(done.code, code, done.text)
        return done

    def enforce(self, bench=None):
        done = self.datum("reconcile", "--mode", "enforce", bench=bench)
        return (bench or self.bench).events("--kind", "passStarted")[-1]["seq"], done

    def sound(self, bench=None):
        self.assertIn("Sound", self.datum("journal", "verify", bench=bench, config=False).out)

    def whole(self, bench=None):
        """Every record from the first on, archive and journal together."""
        events = (bench or self.bench).events()
        self.assertEqual([event["seq"] for event in events], list(range(1, len(events) + 1)))
        return events


class Undoing(Case):
    def undo(self, bench):
        (bench.root / "motd").write_text("old\n")
        number, _ = self.enforce(bench)
        runs = [self.datum("revert", str(number), bench=bench, code=2),
                self.datum("revert", str(number), "--mode", "enforce", bench=bench, code=2)]
        self.assertEqual((bench.root / "motd").read_text(), "old\n")
        runs.append(self.datum("revert", str(number), "--mode", "enforce", "--json", bench=bench, code=2))
        runs.append(self.datum("revert", "1", bench=bench, code=1))
        runs.append(self.datum("revert", str(number - 1), "--mode", "enforce", bench=bench, code=1))
        return runs

    def test_as_without(self):
        """revert: through the service it is done, prints and exits as without one"""
        alone = self.make_bench()
        without = self.undo(alone)
        host = self.start()
        beside = self.undo(self.bench)
        self.assertEqual([shape(run.out) for run in beside], [shape(run.out) for run in without])
        self.assertEqual([shape(run.err) for run in beside], [shape(run.err) for run in without])
        self.assertEqual(host.stop(), 0, host.said)
        started = [event["event"] for event in self.bench.events("--kind", "passStarted") if event["event"].get("reverts")]
        self.assertEqual({event["actor"]["command"] for event in started}, {"datum revert"}, started)
        self.assertEqual([event["kind"] for event in self.bench.events()].count("storeOpened"), 0)
        self.sound()

    def test_what_stays(self):
        """revert: what somebody changed since stays and is named, through the service too"""
        host = self.start()
        number, _ = self.enforce()
        self.motd.write_text("by hand\n")
        done = self.datum("revert", str(number), "--mode", "enforce", code=2)
        self.assertIn("warning: not undone: /motd", done.err)
        self.assertEqual(self.motd.read_text(), "by hand\n")
        self.assertEqual(host.stop(), 0, host.said)

    def test_held(self):
        """revert: a hold holds it as it holds any pass"""
        host = self.start()
        number, _ = self.enforce()
        self.datum("hold", "--reason", "migration")
        self.datum("revert", str(number), "--mode", "enforce", code=2)
        self.assertTrue(self.motd.exists())
        self.assertEqual(host.stop(), 0, host.said)


class Killed(Case):
    """The service dies at a random moment of what it was asked for."""
    COUNT = 1500
    ROUNDS = 8

    def setUp(self):
        super().setUp()
        self.bench = self.make_bench(self.COUNT)
        self.generator = random.Random(23)

    def made(self):
        return sorted(name for name in os.listdir(self.bench.root / "many") if not name.startswith(".datum-"))

    def kill_in(self, host, *words):
        """Whether it died in the middle; afterwards another one has recovered."""
        before = len(self.made())
        command = [fleet.DATUM, *words, "--mode", "enforce", "--root", str(self.bench.root), "--state",
                   str(self.bench.state), "--config", str(self.bench.config)]
        asked = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + hosting.LIMIT_S
        while len(self.made()) == before and asked.poll() is None and time.monotonic() < limit:
            pass  # it takes milliseconds
        time.sleep(self.generator.uniform(0, 0.004))
        host.kill()
        code = asked.wait(timeout=hosting.LIMIT_S)
        self.sound()
        again = self.start()
        self.sound()
        return code == 3, again

    def test_revert(self):
        """revert: a service killed in the middle of it recovers, and asked again it undoes the rest"""
        host = self.start()
        number, _ = self.enforce()
        cut = 0
        for _ in range(self.ROUNDS):
            was_cut, host = self.kill_in(host, "revert", str(number), "--allow-removals", "10000")
            cut += was_cut
        done = self.datum("revert", str(number), "--mode", "enforce", "--allow-removals", "10000", code=2)
        self.assertEqual(self.made(), [], done.text)
        self.assertFalse(self.motd.exists())
        self.assertGreater(cut, 0)
        self.assertEqual(host.stop(), 0, host.said)
        self.assertEqual(fleet.leftovers(self.bench.root), [])
        self.whole()
        self.sound()

    def test_plan(self):
        """reconcile --plan: after a death in the middle of it the same plan is refused, and a new one does the rest"""
        host = self.start()
        self.datum("plan", "--out", self.plan, code=2)
        was_cut, host = self.kill_in(host, "reconcile", "--plan", str(self.plan))
        self.assertTrue(was_cut)
        self.assertIn("has changed since", self.datum("reconcile", "--mode", "enforce", "--plan", self.plan, code=1).err)
        self.datum("plan", "--out", self.plan, code=2)
        self.datum("reconcile", "--mode", "enforce", "--plan", self.plan)
        self.assertEqual(len(self.made()), self.COUNT)
        self.assertEqual(host.stop(), 0, host.said)
        self.assertEqual(fleet.leftovers(self.bench.root), [])
        self.whole()
        self.sound()


class Saved(Case):
    def save(self):
        self.datum("plan", "--out", self.plan, code=2)

    def test_done(self):
        """reconcile --plan: the saved plan is what the service does, and it prints and exits as without one"""
        alone = self.make_bench()
        self.datum("plan", "--out", alone.scratch / "saved.plan", bench=alone, code=2)
        without = self.datum("reconcile", "--mode", "enforce", "--plan", alone.scratch / "saved.plan", bench=alone)
        host = self.start()
        self.save()
        beside = self.datum("reconcile", "--mode", "enforce", "--plan", self.plan)
        self.assertEqual((shape(beside.out), beside.err), (shape(without.out), without.err))
        self.assertEqual(self.motd.read_text(), "hello\n")
        self.assertEqual(host.stop(), 0, host.said)
        self.sound()

    def test_moved_on(self):
        """reconcile --plan: the service refuses it, by name, when the machine has moved on, and touches nothing"""
        host = self.start()
        self.save()
        self.motd.write_text("somebody else\n")
        refused = self.datum("reconcile", "--mode", "enforce", "--plan", self.plan, code=1)
        self.assertIn("what the saved plan rests on has changed since: File[motd]", refused.err)
        self.assertEqual(self.motd.read_text(), "somebody else\n")
        self.bench.declare(fleet.file("motd", "/motd", "other\n"))
        refused = self.datum("reconcile", "--mode", "enforce", "--plan", self.plan, code=1)
        self.assertIn("another manifest", refused.err)
        self.assertEqual(self.motd.read_text(), "somebody else\n")
        self.assertEqual(host.stop(), 0, host.said)

    def test_damaged(self):
        """reconcile --plan: a damaged file is refused before anything is asked or opened"""
        host = self.start()
        self.save()
        text = self.plan.read_bytes()
        for broken in (text[:len(text) // 2], b"", text + b"{}", b"\0" * 100, text.replace(b"root ", b"root 0")):
            self.plan.write_bytes(broken)
            refused = self.datum("reconcile", "--mode", "enforce", "--plan", self.plan, code=1)
            self.assertIn(str(self.plan), refused.err)
        self.assertFalse(self.motd.exists())
        self.assertEqual(host.stop(), 0, host.said)


class Requests(Case):
    """Bytes of a caller that is root and wrong all the same."""

    def ask(self, request, *frames):
        connection = socket.socket(socket.AF_UNIX)
        with connection:
            connection.connect(str(self.bench.root / "run/datum/host.sock"))
            connection.settimeout(hosting.LIMIT_S)
            text = request.replace(b"STATE", os.fsencode(self.bench.state))
            try:
                connection.sendall(struct.pack("<IB", len(text), 1) + text)
                for kind, message in frames:
                    connection.sendall(struct.pack("<IB", len(message), kind) + message)
                connection.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass  # answered before all of it was sent
            answer = b""
            try:
                while part := connection.recv(65536):
                    answer += part
            except ConnectionError:
                pass
        return answer.decode(errors="replace")

    def test_named(self):
        """socket: what is wrong with a request of these verbs is said by its name, and the service goes on"""
        host = self.start()
        cases = [
            (b'{"verb":"revert","state":"STATE"}', "pass is missing"),
            (b'{"verb":"revert","state":"STATE","pass":-1}', "pass is out of its range"),
            (b'{"verb":"revert","state":"STATE","pass":"1"}', "pass is of another kind"),
            (b'{"verb":"revert","state":"STATE","pass":1,"hasManifest":true}', "hasManifest means nothing with revert"),
            (b'{"verb":"observe","state":"STATE","hasPlan":true}', "hasPlan means nothing with observe"),
            (b'{"verb":"archive","state":"STATE","through":1.5}', "through is of another kind"),
            (b'{"verb":"facts","state":"STATE","through":5}', "through means nothing with facts"),
            (b'{"verb":"archive","state":"/elsewhere"}', "the service has the store"),
        ]
        for request, words in cases:
            self.assertIn(words, self.ask(request))
        self.datum("observe", code=2)
        self.assertEqual(host.stop(), 0, host.said)

    def test_plan_bytes(self):
        """socket: a saved plan that is none, is cut, is of another kind or is too large is refused in words"""
        host = self.start()
        request = b'{"verb":"reconcile","state":"STATE","hasPlan":true}'
        for frames, words in [
                ([(4, b"rm -rf /\n"), (5, b"")], "the saved plan:1: expected"),
                ([(4, b"datum plan 1\nroot 2f\n"), (5, b"")], "the saved plan:3: expected"),
                ([(4, b"datum plan 1\nroot 2g\n"), (5, b"")], "the saved plan:2: expected"),
                ([(5, b"")], "the saved plan that was sent: an empty file"),
                ([(2, b"datum plan 1\n")], "something else than a saved plan"),
                ([(4, b"x" * 262144)] * 257, "a saved plan of more than 64 MiB")]:
            self.assertIn(words, self.ask(request, *frames))
        self.assertIn("no manifest was sent", self.ask(
            request, (4, b"datum plan 1\nroot 2f\nmanifest " + b"0" * 64 + b"\nplan " + b"0" * 64 + b"\nend\n"), (5, b"")))
        self.assertFalse(self.motd.exists())
        self.datum("observe", code=2)
        self.assertEqual(host.stop(), 0, host.said)


class Archive(Case):
    def setUp(self):
        super().setUp()
        self.bench = self.make_bench(MANY)

    def fill(self, bench):
        """Records of a pass over much, and one more after them."""
        number, _ = self.enforce(bench)
        self.datum("observe", bench=bench)
        return str(bench.events()[-1]["seq"] - 1), number

    @property
    def data(self):
        return self.bench.state / "journal/data.mdb"

    def test_as_without(self):
        """journal archive: through the service records leave, the file shrinks, and it reads as without one [L11]"""
        alone = self.make_bench(MANY)
        without = self.datum("journal", "archive", "--through", self.fill(alone)[0], bench=alone)
        host = self.start()
        through, number = self.fill(self.bench)
        before = self.data.stat()
        beside = self.datum("journal", "archive", "--through", through)
        self.assertEqual(shape(beside.out), shape(without.out))
        self.assertIn("ompact", beside.out)
        self.assertLess(self.data.stat().st_size, before.st_size / 2)
        self.assertFalse((self.bench.state / "journal.compacting").exists())
        self.assertEqual(len(list((self.bench.state / "archive").iterdir())), 1)
        self.sound()
        nothing = self.datum("journal", "archive")
        self.assertIn("othing", nothing.out)
        # What was archived is read back by the service itself, and it goes on recording.
        self.datum("revert", str(number), "--mode", "enforce", "--allow-removals", "100000", code=2)
        self.assertFalse(self.motd.exists())
        self.datum("observe", code=2)
        self.datum("ack", "/many/f00000", "--until", "1h", "--reason", "known", config=False)
        self.assertEqual(host.stop(), 0, host.said)
        self.whole()
        self.sound()

    def test_readers(self):
        """journal archive: who reads beside the service's compaction keeps working or ends in words"""
        host = self.start()
        self.fill(self.bench)
        stop, faults = threading.Event(), []

        def read(*arguments):
            while not stop.is_set():
                run = self.datum(*arguments, config=False, code=None)
                if run.code < 0 or (run.code == 1 and not run.err.startswith("datum: ")) or "amaged" in run.text:
                    faults.append((arguments, run))

        readers = [threading.Thread(target=read, args=words) for words in
                   (("status",), ("journal", "verify"), ("journal", "tail"), ("history", "/motd"))]
        for reader in readers:
            reader.start()
        try:
            done = 0
            limit = time.monotonic() + hosting.LIMIT_S
            while done < 3 and time.monotonic() < limit:
                through = str(self.bench.events()[-1]["seq"] - 1)
                run = self.datum("journal", "archive", "--through", through, code=None)
                if run.code == 3:
                    self.assertIn("reads the store", run.err)
                else:
                    self.assertEqual(run.code, 0, run.text)
                    done += 1
                self.motd.write_text(f"by hand {done}\n")
                self.enforce()
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        self.assertEqual(done, 3)
        self.assertEqual(faults, [])
        self.assertEqual(host.stop(), 0, host.said)
        self.whole()
        self.sound()

    def follow(self, lines=10):
        command = [fleet.DATUM, "journal", "tail", "--follow", "--json", "--lines", str(lines), "--state", str(self.bench.state)]
        follower = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(follower.communicate)
        self.addCleanup(follower.kill)
        return follower

    def catch_up(self, follower, seen):
        last = self.bench.events()[-1]["seq"]
        while seen[-1]["seq"] < last:
            line = follower.stdout.readline()
            self.assertTrue(line, follower.stderr.read() if not line else "")
            seen.append(json.loads(line))

    def archive_unseen(self, follower, seen):
        """A follower that stands still in the middle of a look keeps a compaction out: then once more."""
        for _ in range(20):
            self.catch_up(follower, seen)
            follower.send_signal(signal.SIGSTOP)
            self.motd.write_text(f"by hand {len(seen)}\n")
            self.enforce()
            self.datum("observe")
            through = str(self.bench.events()[-1]["seq"] - 1)
            done = self.datum("journal", "archive", "--through", through, code=None)
            if done.code != 3:
                return done
            follower.send_signal(signal.SIGCONT)
        self.fail(done.text)

    def test_follower(self):
        """journal archive: a follower goes on over the service's compactions and shows each record once, also what was
        archived before it looked"""
        host = self.start()
        first = len(self.bench.events())
        follower = self.follow(lines=1)
        seen = [json.loads(follower.stdout.readline())]
        for number in range(2):
            self.fill(self.bench)
            inode = self.data.stat().st_ino
            done = self.archive_unseen(follower, seen)
            self.assertIn("ompact", done.out)
            self.assertEqual(done.code, 0, done.text)
            self.assertNotEqual(self.data.stat().st_ino, inode)
            self.datum("observe")
            follower.send_signal(signal.SIGCONT)
            self.catch_up(follower, seen)
            shutil.rmtree(self.bench.root / "many")
            (self.bench.root / "many").mkdir(mode=0o755)
        # And over one of a command, with a service that comes after it.
        self.fill(self.bench)
        self.catch_up(follower, seen)
        self.assertEqual(host.stop(), 0, host.said)
        self.datum("journal", "archive", "--through", str(self.bench.events()[-1]["seq"] - 1))
        host = self.start()
        self.assertEqual(host.stop(), 0, host.said)
        self.catch_up(follower, seen)
        self.assertEqual(seen, self.whole()[first - 1:])
        follower.send_signal(signal.SIGTERM)
        said, error = follower.communicate(timeout=hosting.LIMIT_S)
        self.assertEqual((follower.returncode, said, error), (0, "", ""))
        self.sound()

    def test_follower_of_another(self):
        """journal tail: a follower whose store is another one, an older copy, or gone is told, and ends with 1"""
        host = self.start()
        self.assertEqual(host.stop(), 0, host.said)
        kept, journal = self.bench.scratch / "kept", self.bench.state / "journal"
        shutil.copytree(journal, kept, copy_function=shutil.copy2)
        other = self.make_bench()
        self.datum("observe", bench=other, code=2)
        self.datum("observe", code=2)
        ends = {"older": lambda: shutil.copytree(kept, journal, copy_function=shutil.copy2),
                "other": lambda: shutil.copytree(other.state / "journal", journal, copy_function=shutil.copy2),
                "none": lambda: None}
        for name, put in ends.items():
            follower = self.follow()
            self.assertTrue(follower.stdout.readline())
            follower.send_signal(signal.SIGSTOP)
            away = self.bench.scratch / f"away-{name}"
            journal.rename(away)
            put()
            follower.send_signal(signal.SIGCONT)
            _, error = follower.communicate(timeout=hosting.LIMIT_S)
            self.assertEqual(follower.returncode, 1, error)
            self.assertIn("the store was moved, removed or replaced", error)
            shutil.rmtree(journal, ignore_errors=True)
            away.rename(journal)
        self.sound()

    def test_killed(self):
        """journal archive: a service killed at any moment of it leaves a store that opens, is sound and has every record"""
        host = self.start()
        through, _ = self.fill(self.bench)
        self.assertEqual(host.stop(), 0, host.said)
        events = self.whole()
        kept = self.bench.scratch / "kept"
        shutil.copytree(self.bench.state, kept, copy_function=shutil.copy2)
        generator = random.Random(11)
        building = self.bench.state / "journal.compacting"
        seen = {"building": 0, "archived": 0, "done": 0}
        for number in range(24):
            shutil.rmtree(self.bench.state)
            shutil.copytree(kept, self.bench.state, copy_function=shutil.copy2)
            host = self.start()
            command = [fleet.DATUM, "journal", "archive", "--through", through, "--root", str(self.bench.root),
                       "--state", str(self.bench.state), "--config", str(self.bench.config)]
            asked = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            limit = time.monotonic() + hosting.LIMIT_S
            # Two of three wait for the compaction, the others die on the way there.
            while number % 3 and not building.exists() and asked.poll() is None and time.monotonic() < limit:
                time.sleep(0.0002)
            time.sleep(generator.uniform(0, 0.03 if number % 3 else 0.15))
            seen["building"] += building.exists()
            host.kill()
            seen["done"] += asked.wait(timeout=hosting.LIMIT_S) == 0
            self.sound()
            now = self.whole()
            self.assertEqual(now[:len(events)], events, number)
            seen["archived"] += any(event["kind"] == "recordsArchived" for event in now)
            host = self.start()
            self.datum("observe")
            self.assertEqual(host.stop(), 0, host.said)
            self.assertFalse(building.exists())
            self.sound()
        self.assertGreater(seen["building"], 0, seen)
        self.assertGreater(seen["archived"], 0, seen)


if __name__ == "__main__":
    tap.main()
