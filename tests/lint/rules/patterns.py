"""Words and calls that may not stand in the tree: patterns.toml says which, where, and why."""

import fnmatch
import functools
import pathlib
import re
import tomllib

from tree import Finding


@functools.lru_cache(maxsize=None)
def entries():
    with open(pathlib.Path(__file__).resolve().parent.parent / "patterns.toml", "rb") as file:
        return tomllib.load(file)["pattern"]


def applies(entry, path):
    inside = any(fnmatch.fnmatchcase(path, glob) for glob in entry.get("only", ["*"]))
    return inside and not any(fnmatch.fnmatchcase(path, glob) for glob in entry.get("except", []))


def search(entry, path, text):
    """Offsets where the entry's pattern stands in a path (-1) or a text."""
    flags = re.MULTILINE | (re.IGNORECASE if entry.get("ignore_case") else 0)
    if entry.get("in_names"):
        return [-1] if re.search(entry["regex"], path, flags) else []
    return [found.start() for found in re.finditer(entry["regex"], text, flags)]


def check(tree):
    for path in tree.paths:
        for entry in entries():
            if not applies(entry, path):
                continue
            text = "" if entry.get("in_names") else tree.read(path)
            for offset in search(entry, path, text):
                yield Finding(path, text.count("\n", 0, max(offset, 0)) + 1, f"{entry['why']} ({entry['name']})")
