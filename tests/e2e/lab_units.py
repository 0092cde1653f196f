#!/usr/bin/env python3
# test: long root
"""The suite over os::Units with a real systemd, in a throw-away machine."""

import os
import pathlib
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import machine  # noqa: E402
import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build")).resolve()


class Suite(unittest.TestCase):
    def test_conformance(self):
        """units: systemd does all that the suite over os::Units demands [V01] [V03] [V05] [V08]"""
        lab = machine.Machine("units")
        self.addCleanup(lab.drop)
        lab.boot()
        shutil.copy(BUILD / "tests/conformance-units", lab.path("/root/conformance-units"))
        done = lab.run("env", "DATUM_UNITS=machine", "/root/conformance-units", "--warn", "NoAssertions")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("All tests passed", done.stdout)


if __name__ == "__main__":
    tap.main()
