#!/usr/bin/env python3
# test: long
"""host.py with a hundred starts and stops, and a hundred deaths."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import host  # noqa: E402
import tap  # noqa: E402

ROUNDS = 100


class Many(host.Rounds, unittest.TestCase):
    STARTS = KILLS = ROUNDS


if __name__ == "__main__":
    tap.main()
