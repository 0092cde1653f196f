#!/usr/bin/env python3
# test: long
"""Ten thousand nodes against one control plane on this machine, for five minutes of heartbeats."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import load  # noqa: E402
import tap  # noqa: E402


class Load(unittest.TestCase):
    def test_ten_thousand(self):
        """load: ten thousand nodes enrol, take two pushes, hold their heartbeats, and are back after a restart, nothing lost"""
        done = load.run(10_000, 300, 3000)
        print("\n".join("# " + line for line in done.stdout.splitlines()), flush=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    tap.main()
