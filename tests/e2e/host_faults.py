#!/usr/bin/env python3
# test: short root
"""A disk that takes nothing more while the service runs: it stays, looks, changes nothing, says so, and records again once
the disk does. Faults are put in front of the system call; needs strace."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class Faults(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("motd", "/motd", "hello\n"))
        self.motd = self.bench.root / "motd"
        self.bench.configure(mode="enforce", interval="1s")

    def trace(self, host):
        """Injects into the running service what the arguments of `strace` say; ends with it."""
        def attach(*inject):
            tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-p", str(host.process.pid),
                                       *inject], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(tracer.wait)
            self.addCleanup(tracer.kill)
            return tracer
        return attach

    def test_unwritable(self):
        """disk: one that fails makes the service observe and say so; when it works again the journal says how long it did not [L16]"""
        host = self.bench.start()
        host.wait_until(lambda: self.motd.exists())
        tracer = self.trace(host)("-e", "inject=fdatasync:error=EIO")
        host.wait_until(lambda: "nothing can be recorded" in host.heard[-1].get("STATUS", ""))
        self.motd.write_text("by hand\n")
        host.wait_pass()
        host.wait_pass()
        self.assertEqual(self.motd.read_text(), "by hand\n", "it changed what it could not record")
        status = fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state)
        self.assertIn("nothing can be recorded", status.out)
        self.assertIn("unrecorded", status.out)
        tracer.terminate()
        tracer.wait()
        host.wait_until(lambda: self.motd.read_text() == "hello\n")
        self.assertEqual(host.stop(), 0, host.said)
        kinds = [event["kind"] for event in self.bench.events()]
        self.assertEqual((kinds.count("storeUnwritable"), kinds.count("storeWritableAgain")), (1, 1), kinds)
        self.assertEqual(kinds[-1], "storeClosed")
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)

    def test_unwritable_end(self):
        """disk: told to end while nothing can be recorded, it does, and the next start recovers"""
        host = self.bench.start()
        host.wait_until(lambda: self.motd.exists())
        self.trace(host)("-e", "inject=fdatasync:error=EIO")
        host.wait_until(lambda: "nothing can be recorded" in host.heard[-1].get("STATUS", ""))
        self.assertEqual(host.stop(), 0, host.said)
        self.motd.unlink()
        again = self.bench.start()
        again.wait_until(lambda: self.motd.exists())
        self.assertEqual(again.stop(), 0, again.said)


if __name__ == "__main__":
    tap.main()
