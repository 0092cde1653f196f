#!/usr/bin/env python3
# test: long
"""A look at fifty packages of this machine: dpkg's database is opened once, and nothing is run. Needs strace."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

COUNT = 50


def installed():
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Status}\\n"], stdout=subprocess.PIPE, text=True, check=True)
    return sorted({line.split()[0] for line in shown.stdout.splitlines() if line.endswith("ok installed")})[:COUNT]


class Quiet(unittest.TestCase):
    @unittest.skipUnless(shutil.which("strace") and shutil.which("dpkg-query"), "strace or dpkg is not here")
    def test_fifty(self):
        """package: a look at fifty converged packages opens the database once and runs no child"""
        names = installed()
        self.assertEqual(len(names), COUNT)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            fleet.write_fleet(folder / "fleet", {"base": [fleet.Resource("Package", name, {"state": "present"}) for name in names]})
            trace = folder / "trace"
            done = subprocess.run(
                ["strace", "-f", "-qq", "-e", "trace=openat,execve,fork,vfork", "-o", trace, fleet.DATUM, "observe", "--fleet",
                 folder / "fleet", "--host", fleet.HOST, "--config", folder / "none", "--state", folder / "state"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(f"{COUNT} converged", done.stdout)
            calls = trace.read_text(encoding="utf-8")
            self.assertEqual(len(re.findall(r'openat\(\d+, "status"', calls)), 1, calls)
            self.assertEqual(len(re.findall(r"\b(execve|fork|vfork)\(", calls)), 1, "a child was run")


if __name__ == "__main__":
    tap.main()
