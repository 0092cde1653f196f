#!/usr/bin/env python3
# test: long
"""What the service costs while it does nothing: its own memory five seconds after a pass over 10,000 resources, wake-ups in
a minute with the watchdog of the unit, and the time from its start to ready. Prints what it measured."""

import pathlib
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

RESOURCES = 10_000
MOST_RSS_KIB = 12 * 1024
MOST_WAKE_UPS = 6
MOST_READY_S = 0.1
STARTS = 7
WATCHDOG_US = 30_000_000


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def switches(pid):
    """Times that a thread of it began to run again."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if "voluntary_ctxt_switches" in line and not line.startswith("non"):
                total += int(line.split(":")[1])
    return total


class Idle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = hosting.Bench()
        cls.addClassCleanup(cls.bench.close)
        files = [fleet.file(f"f{n}", f"/d/f{n:05}", f"content of {n}\n") for n in range(RESOURCES)]
        cls.bench.declare(fleet.directory("d", "/d"), *files)
        cls.bench.configure(mode="enforce")
        done = cls.bench.enforce("--json")
        assert done.code == 0, done.text[-1000:]

    def test_memory(self):
        """idle: its own memory is at most 12 MiB five seconds after a pass over 10,000 resources"""
        host = self.bench.start(watchdog_us=WATCHDOG_US)
        self.assertEqual(host.wait_pass(), "converged")
        time.sleep(5)
        found = status(host.process.pid)
        own, mapped = int(found["RssAnon"][0]), int(found["RssFile"][0])
        print(f"# RssAnon {own} KiB, RssFile {mapped} KiB, VmHWM {found['VmHWM'][0]} KiB, threads {found['Threads'][0]}")
        before = switches(host.process.pid)
        time.sleep(60)
        woken = switches(host.process.pid) - before
        print(f"# wake-ups in a minute: {woken}")
        self.assertEqual(host.stop(), 0, host.said)
        self.assertLessEqual(own, MOST_RSS_KIB)
        self.assertLessEqual(woken, MOST_WAKE_UPS)

    def test_ready(self):
        """idle: it is ready within 100 ms over a store of 10,000 resources, on the quickest of some starts"""
        took = []
        for _ in range(STARTS):
            began = time.monotonic()
            host = self.bench.start()
            host.wait_ready()
            took.append(time.monotonic() - began)
            self.assertEqual(host.stop(), 0, host.said)
        print("# ready after " + ", ".join(f"{seconds * 1000:.0f} ms" for seconds in sorted(took)))
        self.assertLess(min(took), MOST_READY_S)


if __name__ == "__main__":
    tap.main()
