#!/usr/bin/env python3
# test: short
"""datum history: at each drift, what else lies in the window between the last good look and the drift, from crafted
logs below the root. It lists; it never names a cause."""

import datetime
import gzip
import os
import pathlib
import struct
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

ZONE = "UTC"


def stamp(seconds, between=" "):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(f"%Y-%m-%d{between}%H:%M:%S")


def utmp(kind, line="", user="", host="", at=0):
    return struct.pack("<h2xi32s4s32s256s4xiii16s20x", kind, 1, line.encode(), b"", user.encode(), host.encode(), 0,
                       int(at), 0, b"")


class HistoryWindow(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.root = self.bench.root
        (self.root / "etc").mkdir()
        (self.root / "etc/motd").write_text("as declared\n")
        self.bench.declare(fleet.file("motd", "/etc/motd", "as declared\n", mode="0644"))
        self.assertEqual(self.bench.observe().code, 0)
        self.begun = time.time()

    def drift(self):
        with open(self.root / "etc/motd", "w", encoding="utf-8") as opened:
            opened.write("by somebody\n")
        self.drifted = (self.root / "etc/motd").stat().st_mtime
        self.assertEqual(self.bench.observe().code, 2)

    def log(self, path, body):
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body if isinstance(body, bytes) else body.encode())
        return place

    def history(self, *form):
        done = fleet.datum("history", "/etc/motd", "--state", self.bench.state, *form, env={**os.environ, "TZ": ZONE})
        self.assertEqual(done.code, 0, done.text)
        return done

    def window(self):
        windows = [line for line in self.history("--json").lines if "window" in line]
        self.assertEqual(len(windows), 1)
        return windows[0]

    def texts(self, window=None):
        return [entry["text"] for entry in (window or self.window())["inWindow"]]

    def test_bounds(self):
        """history: the window begins no later than the last good pass and ends with the record of the drift"""
        self.bench.observe()
        self.drift()
        window = self.window()
        events = {event["seq"]: event for event in self.bench.events()}
        self.assertEqual(events[window["window"]]["kind"], "resourceObserved")
        self.assertEqual(window["to"], events[window["window"]]["time"])
        starts = [seq for seq, event in events.items() if event["kind"] == "passStarted"]
        self.assertEqual(window["goodPass"], starts[-2])
        self.assertEqual(window["from"], events[starts[-2]]["time"])
        self.assertEqual(window["clockJumpNs"], 0)

    def test_traces(self):
        """history: the inode's own words at the drift are recorded and shown: times, owner, mode"""
        os.utime(self.root / "etc/motd", (1, 1_000_000_000))
        self.drift()
        seen = (self.root / "etc/motd").stat()
        traces = self.window()["traces"]
        self.assertEqual((traces["uid"], traces["gid"], traces["mode"]), (seen.st_uid, seen.st_gid, "0644"))
        for member, ns in (("mtime", seen.st_mtime_ns), ("ctime", seen.st_ctime_ns)):
            self.assertEqual(traces[member][:23], datetime.datetime.fromtimestamp(ns // 1_000_000 / 1000, datetime.timezone.utc)
                             .strftime("%Y-%m-%dT%H:%M:%S.%f")[:23])
        recorded = [event["event"] for event in self.bench.events("--kind", "resourceObserved")][-1]["traces"]
        self.assertEqual((recorded["uid"], recorded["mode"]), (seen.st_uid, 0o644))

    def test_package_manager(self):
        """history: entries of dpkg and apt in the window are listed, others are not, and the owner is told"""
        self.log("/var/lib/dpkg/info/base-files.list", "/.\n/etc\n/etc/motd\n")
        self.log("/var/lib/dpkg/info/other:amd64.list", "/.\n/etc\n/etc/motd.d\n/etc/motd2\n")
        self.drift()
        now = self.drifted
        self.log("/var/log/dpkg.log", f"{stamp(self.begun - 86400)} upgrade base-files:amd64 1 2\n"
                 f"{stamp(self.begun - 86400)} upgrade other:amd64 1 2\n"
                 f"{stamp(now)} upgrade base-files:amd64 2 3\n{stamp(now)} status unpacked base-files:amd64 3\n"
                 f"{stamp(now + 3600)} upgrade late:amd64 2 3\n")
        self.log("/var/log/apt/history.log", f"\nStart-Date: {stamp(now, '  ')}\nCommandline: apt-get upgrade\n"
                 "Requested-By: anna (1000)\nUpgrade: base-files:amd64 (2, 3)\n"
                 f"End-Date: {stamp(now, '  ')}\n")
        window = self.window()
        self.assertEqual(window["package"], "base-files")
        self.assertEqual(sorted(self.texts(window)), ["apt-get upgrade by anna (1000): Upgrade base-files:amd64 (2, 3)",
                                                      "upgrade base-files:amd64 2 3"])
        self.assertEqual([entry["text"] for entry in window["packageBefore"]], ["upgrade base-files:amd64 1 2"])
        text = self.history().out
        self.assertIn("in this window:", text)
        self.assertIn("of package base-files", text)
        self.assertIn("Datum did nothing to it in this window", text)
        for claim in ("caus", "because", "changed by"):
            self.assertNotIn(claim, text)

    def test_rotated(self):
        """history: rotated logs, packed ones too, are read as far back as the window reaches"""
        self.drift()
        now = self.drifted
        self.log("/var/log/dpkg.log", f"{stamp(now)} install new:all <none> 1\n")
        self.log("/var/log/dpkg.log.1", f"{stamp(now)} install rotated:all <none> 1\n")
        for number, name in ((2, "packed"), (3, "older")):
            self.log(f"/var/log/dpkg.log.{number}.gz", gzip.compress(f"{stamp(now)} install {name}:all <none> 1\n".encode()))
        self.log("/var/log/dpkg.log.4.gz", gzip.compress(f"{stamp(now - 864000)} install oldest:all <none> 1\n".encode()))
        self.log("/var/log/dpkg.log.5.gz", gzip.compress(f"{stamp(now)} install never:all <none> 1\n".encode()))
        window = self.window()
        self.assertEqual(sorted(text.split()[1] for text in self.texts(window)),
                         ["new:all", "older:all", "packed:all", "rotated:all"])
        self.assertIn("/var/log/dpkg.log.4.gz", window["logsRead"])
        self.assertNotIn("/var/log/dpkg.log.5.gz", window["logsRead"])

    def test_boots_and_logins(self):
        """history: boots and logins in the window are listed, with those that began before it and still lasted"""
        self.drift()
        now = self.drifted
        self.log("/var/log/wtmp", utmp(7, "tty1", "early", at=self.begun - 7200) + utmp(8, "tty1", at=self.begun - 3600)
                 + utmp(7, "tty2", "lasting", at=self.begun - 7200) + utmp(2, "~", "reboot", "6.1", self.begun - 86400)
                 + utmp(7, "pts/0", "anna", "10.0.0.3", now) + utmp(7, "pts/1", "late", at=now + 3600)
                 + utmp(7, "pts/2", "cut", at=now)[:-1])
        # In the order of the file, a boot ends what was open before it.
        self.assertEqual(self.texts(), ["anna on pts/0 from 10.0.0.3"])
        self.log("/var/log/wtmp", utmp(2, "~", "reboot", "6.1", self.begun - 86400)
                 + utmp(7, "tty2", "lasting", at=self.begun - 7200) + utmp(2, "~", "reboot", "6.2", now))
        window = self.window()
        self.assertEqual(self.texts(window), ["lasting on tty2", "boot, 6.2"])
        self.assertEqual([entry["source"] for entry in window["inWindow"]], ["login", "boot"])
        self.assertIn("lasting on tty2, until ", self.history().out)

    def test_missing_and_hostile(self):
        """history: what cannot be read is named; links, pipes, broken archives and control characters do no harm"""
        self.drift()
        window = self.window()
        self.assertEqual(window["inWindow"], [])
        self.assertEqual(sorted(line.split(":")[0] for line in window["logsNotRead"]),
                         ["/var/lib/dpkg/info", "/var/log/apt/history.log", "/var/log/dpkg.log", "/var/log/wtmp"])
        now = self.drifted
        outside = self.bench.scratch / "outside.log"
        outside.write_text(f"{stamp(now)} install outside:all <none> 1\n")
        (self.root / "var/log/apt").mkdir(parents=True)
        os.symlink(outside, self.root / "var/log/dpkg.log")
        os.mkfifo(self.root / "var/log/wtmp")
        self.log("/var/log/dpkg.log.1", f"{stamp(now)} install \x1b[31mred\x1b:all\x07 <none> 1\n{stamp(now)} install ok:all\n")
        self.log("/var/log/dpkg.log.2.gz", gzip.compress(b"x" * 9999)[:-3])
        self.log("/var/log/dpkg.log.3.gz", gzip.compress(bytes(64 << 20)))
        self.log("/var/log/apt/history.log", bytes(range(256)) * 4096 + b"\n\nStart-Date: 9999-12-31  23:59:59\nCommandline: late\n")
        for form in ([], ["--json"]):
            out = self.history(*form).out
            self.assertNotIn("\x1b", out)
            self.assertNotIn("\x07", out)
            self.assertNotIn("outside", out)
        window = self.window()
        self.assertIn("install ok:all", self.texts(window))
        named = " ".join(window["logsNotRead"])
        for path in ("dpkg.log:", "dpkg.log.2.gz", "dpkg.log.3.gz", "wtmp"):
            self.assertIn(path, named)

    def test_corrected(self):
        """history: after a correction the next window begins there, and each drift has one of its own"""
        self.drift()
        self.assertEqual(self.bench.enforce().code, 0)
        self.drift()
        windows = [line for line in self.history("--json").lines if "window" in line]
        self.assertEqual(len(windows), 2)
        self.assertLess(windows[0]["to"], windows[1]["from"])
        corrected = [event["seq"] for event in self.bench.events("--kind", "actionSucceeded")]
        self.assertEqual(windows[1]["good"], corrected[-1])

    def test_declaration(self):
        """history: a drift that came with another declaration says so, and one that came without it does not"""
        self.drift()
        self.assertFalse(self.window()["declarationChanged"])
        self.assertEqual(self.bench.enforce().code, 0)
        self.bench.declare(fleet.file("motd", "/etc/motd", "declared otherwise\n", mode="0644"))
        self.assertEqual(self.bench.observe().code, 2)
        windows = [line for line in self.history("--json").lines if "window" in line]
        self.assertEqual([window["declarationChanged"] for window in windows], [False, True])
        self.assertIn("the declaration changed in this window", self.history().out)

    def test_copy(self):
        """history: of a journal that was imported no logs are read: they would be another machine's"""
        self.drift()
        self.log("/var/log/dpkg.log", f"{stamp(self.drifted)} install here:all <none> 1\n")
        self.assertEqual(self.texts(), ["install here:all <none> 1"])
        story, other = self.bench.scratch / "story", self.bench.scratch / "other"
        self.assertEqual(fleet.datum("journal", "export", story, "--state", self.bench.state).code, 0)
        self.assertEqual(fleet.datum("journal", "import", story, "--state", other).code, 0)
        done = fleet.datum("history", "/etc/motd", "--state", other, "--json")
        self.assertEqual(done.code, 0, done.text)
        window = [line for line in done.lines if "window" in line][0]
        self.assertEqual((window["inWindow"], window["logsRead"], len(window["logsNotRead"])), ([], [], 1))

    def test_never_good(self):
        """history: what was never seen as declared has no window"""
        (self.root / "etc/other").write_text("x\n")
        self.bench.declare(fleet.file("other", "/etc/other", "declared\n"))
        self.assertEqual(self.bench.observe().code, 2)
        done = fleet.datum("history", "/etc/other", "--state", self.bench.state, "--json")
        self.assertEqual([line for line in done.lines if "window" in line], [])


if __name__ == "__main__":
    tap.main()
