"""Runs one case of a test program in its long form, asked for by an environment variable, as a test of its own."""

import os
import pathlib
import subprocess
import sys


def main(program, variable, value, case, title):
    """Prints the program's output as comments and one line of TAP; exits 1 unless every assertion held."""
    build = pathlib.Path(os.environ.get("DATUM_BUILD", pathlib.Path(__file__).resolve().parents[1] / "build"))
    run = subprocess.run([build / program, *case], env={**os.environ, variable: value}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    for line in run.stdout.splitlines():
        print(line if line.startswith("#") else "# " + line)
    passed = run.returncode == 0 and "All tests passed" in run.stdout
    print(f"{'ok' if passed else 'not ok'} 1 - {title}")
    print("1..1")
    sys.exit(0 if passed else 1)
