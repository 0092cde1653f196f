#!/usr/bin/env python3
# test: long
"""Every byte of a store of 64 records altered in turn: each ends in an error with a name or in exactly the same
records, and never in the death of the process. Minutes of work. Prints the counts."""

import os
import pathlib
import subprocess
import sys

build = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[3] / "build"))
run = subprocess.run([build / "tests/unit-journal", "journal: bytes altered one by one are refused or harmless"],
                     env={**os.environ, "DATUM_DAMAGE": "all"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in run.stdout.splitlines():
    print(line if line.startswith("#") else "# " + line)
passed = run.returncode == 0 and "All tests passed" in run.stdout
print(f"{'ok' if passed else 'not ok'} 1 - journal: every byte of a store altered in turn is refused or harmless")
print("1..1")
sys.exit(0 if passed else 1)
