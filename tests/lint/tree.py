"""The files a lint looks at, and what it says about them. Reads each file once; changes nothing."""

import dataclasses
import fnmatch
import functools
import pathlib
import subprocess


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Tree:
    """`paths` are relative to `root`, in order. Without them: all that git tracks or would track."""

    def __init__(self, root, paths=None):
        self.root = pathlib.Path(root)
        if paths is None:
            listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
                                     check=True, capture_output=True)
            paths = {path for path in listing.stdout.decode().split("\0") if path}
        self.paths = sorted(path for path in paths if (self.root / path).is_file())
        self.known = frozenset(self.paths)

    @functools.lru_cache(maxsize=None)
    def read(self, path):
        """The text, or "" for what is not text."""
        data = (self.root / path).read_bytes()
        return "" if b"\0" in data[:4096] else data.decode("utf-8", "replace")

    def match(self, *patterns):
        """Paths that match one of the globs; `*` crosses folders."""
        return [path for path in self.paths if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)]

    def cpp(self):
        return self.match("*.cpp", "*.hpp")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
