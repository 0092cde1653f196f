#!/usr/bin/env python3
# test: long
"""Every byte of a store of 64 records altered in turn: each ends in an error with a name or in exactly the same
records, and never in the death of the process. Minutes of work. Prints the counts."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import long_program  # noqa: E402

long_program.main("tests/unit-journal", "DATUM_DAMAGE", "all", ["journal: bytes altered one by one are refused or harmless"],
                  "journal: every byte of a store altered in turn is refused or harmless")
