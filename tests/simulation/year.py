#!/usr/bin/env python3
# test: long
"""A simulated year of 10,000 resources, a pass every five minutes, one target contested: the journal stays below
1 GiB and everything archived is found again. Minutes of work. Prints the sizes."""

import os
import pathlib
import subprocess
import sys

build = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
run = subprocess.run([build / "tests/simulation-growth"], env={**os.environ, "DATUM_GROWTH": "year"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in run.stdout.splitlines():
    print(line if line.startswith("#") else "# " + line)
passed = run.returncode == 0 and "All tests passed" in run.stdout
print(f"{'ok' if passed else 'not ok'} 1 - growth: a year of 10,000 resources stays under 1 GiB")
print("1..1")
sys.exit(0 if passed else 1)
