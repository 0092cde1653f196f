"""Every C++ file is laid out as clang-format-14 lays it out (`./dev fmt`)."""

import concurrent.futures
import os
import re
import shutil
import subprocess

from tree import Finding

_PROGRAM = "clang-format-14"
_AT_ONCE = 16  # files a process: few starts, yet all cores busy to the end


def _check_some(root, paths):
    done = subprocess.run([_PROGRAM, "--style=file", "--dry-run", "--Werror", *paths], cwd=root, capture_output=True, text=True)
    places = re.findall(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", done.stderr, re.MULTILINE)
    if done.returncode and not places:
        places = [(paths[0], 1)]
    firsts = {}
    for path, line in places:
        firsts.setdefault(path, int(line))
    return [Finding(path, line, "not laid out by .clang-format: ./dev fmt") for path, line in firsts.items()]


def check(tree):
    if not shutil.which(_PROGRAM):
        yield Finding("dev", 1, f"{_PROGRAM} is not installed: ./dev setup")
        return
    paths = tree.cpp()
    parts = [paths[at:at + _AT_ONCE] for at in range(0, len(paths), _AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for findings in pool.map(lambda part: _check_some(tree.root, part), parts):
            yield from findings
