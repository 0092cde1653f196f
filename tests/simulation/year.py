#!/usr/bin/env python3
# test: long
"""A simulated year of 10,000 resources, a pass every five minutes, one target contested: the journal stays below
1 GiB and everything archived is found again. Minutes of work. Prints the sizes."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import long_program  # noqa: E402

long_program.main("tests/simulation-growth", "DATUM_GROWTH", "year", [],
                  "growth: a year of 10,000 resources stays under 1 GiB")
