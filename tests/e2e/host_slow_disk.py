#!/usr/bin/env python3
# test: long root
"""A disk that takes over a minute for one commit: the service says so, feeds its watchdog all the while, and goes on when the
disk does. Needs strace."""

import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

SLOW_US = 100_000_000


class SlowDisk(unittest.TestCase):
    def test_slow(self):
        """disk: a commit of over a minute is told while it lasts, and the pass is whole afterwards"""
        bench = hosting.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.file("motd", "/motd", "hello\n"))
        bench.configure(mode="enforce", interval="1s")
        host = bench.start(watchdog_us=10_000_000)
        host.wait_until(lambda: (bench.root / "motd").exists())
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                                   f"inject=fdatasync:delay_exit={SLOW_US}:when=1", "-p", str(host.process.pid)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        host.wait_for(lambda message: "nothing can be recorded" in message.get("STATUS", ""))
        fed = [message for message in host.heard if "WATCHDOG" in message]
        self.assertGreater(len(fed), 8)
        status = fleet.datum("status", "--root", bench.root, "--state", bench.state)
        self.assertIn("has not ended a commit", status.out)
        host.wait_for(lambda message: message.get("STATUS") == "converged")
        self.assertIn("the disk has ended its commit", host.said)
        self.assertEqual(host.stop(), 0, host.said)


if __name__ == "__main__":
    tap.main()
