#!/usr/bin/env python3
# test: short
"""Nodes that speak the real protocol, many in one process, against one control plane (tests/load): enrolled, pushed to, their
links held, the control plane killed and started again."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build")).resolve()


def run(nodes, seconds, limit):
    return subprocess.run([BUILD / "tests/load/datum-load", BUILD / "src/datum-control/datum-control", str(nodes), str(seconds)],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=limit, check=False)


class Load(unittest.TestCase):
    def test_hundred(self):
        """load: a hundred nodes enrol, take two pushes, keep their links, and come back to a control plane that was killed"""
        done = run(100, 2, 250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("100 nodes", done.stdout)
        self.assertIn("the control plane ended in order", done.stdout)

    def test_arguments(self):
        """load: numbers beyond its bounds are refused"""
        for nodes, seconds in (("0", "1"), ("10001", "1"), ("5", "3601"), ("x", "1")):
            self.assertEqual(run(nodes, seconds, 20).returncode, 2, (nodes, seconds))


if __name__ == "__main__":
    tap.main()
