#!/usr/bin/env python3
# test: long
"""Every byte of a store of 64 records altered in turn: each ends in an error with a name or in exactly the same
records, and never in the death of the process. A process for each processor takes its part. Prints the counts."""

import os
import pathlib
import re
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[3] / "build"))
CASE = "journal: bytes altered one by one are refused or harmless"
COUNTS = re.compile(r"^# single bytes: (\d+) cases, (\d+) refused as corrupt, (\d+) whole, violations 0$", re.MULTILINE)


def main():
    parts = len(os.sched_getaffinity(0))
    began = time.monotonic()
    running = [subprocess.Popen([BUILD / "tests/unit-journal", CASE], env={**os.environ, "DATUM_DAMAGE": f"{part}/{parts}"},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for part in range(parts)]
    sums, passed = [0, 0, 0], True
    for child in running:
        output, _ = child.communicate()
        counts = COUNTS.search(output)
        if child.returncode != 0 or "All tests passed" not in output or not counts:
            passed = False
            print("".join(f"# {line}\n" for line in output.splitlines()), end="")
            continue
        sums = [total + int(count) for total, count in zip(sums, counts.groups())]
    print(f"# every byte: {sums[0]} cases, {sums[1]} refused as corrupt, {sums[2]} whole, "
          f"violations {0 if passed else 'above'}, {parts} processes, {time.monotonic() - began:.0f} s")
    # A store of 64 records has 23 pages; a table of less would be a part that was left out.
    passed = passed and sums[0] >= 20 * 4096
    print(f"{'ok' if passed else 'not ok'} 1 - journal: every byte of a store altered in turn is refused or harmless")
    print("1..1")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
