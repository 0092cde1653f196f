#!/usr/bin/env python3
# test: long root
"""[F16] The same as large_file.py with a sparse file of 5 GiB."""

import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
os.environ["LARGE_FILE_GIB"] = "5"

from large_file import LargeFile  # noqa: E402, F401
import tap  # noqa: E402

if __name__ == "__main__":
    tap.main()
