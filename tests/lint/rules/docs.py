"""Pages point at what is there: links between files, and the verbs of ./dev."""

import posixpath
import re

from tree import Finding

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_VERB = re.compile(r"\./dev ([a-z]+)")


def _without_code(text):
    """Fenced and quoted code as spaces: nothing in it is a link."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", lambda found: re.sub(r"[^\n]", " ", found.group()), text,
                  flags=re.DOTALL | re.MULTILINE)


def check_links(tree):
    folders = {posixpath.dirname(path) for path in tree.paths}
    folders |= {parent for folder in list(folders) for parent in _parents(folder)}
    for path in tree.match("*.md"):
        text = _without_code(tree.read(path))
        for found in _LINK.finditer(text):
            target = found.group(1).split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if whole not in tree.known and whole not in folders and whole != ".":
                yield Finding(path, text.count("\n", 0, found.start()) + 1, f"{target} is not there")


def _parents(folder):
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def check_verbs(tree):
    verbs = set(re.findall(r"^([a-z]+)_?\(\) \{ # ", tree.read("dev"), re.MULTILINE)) if "dev" in tree.known else set()
    for path in tree.match("*.md", ".ci/run", "*.sh"):
        text = tree.read(path)
        for found in _VERB.finditer(text):
            if found.group(1) not in verbs:
                yield Finding(path, text.count("\n", 0, found.start()) + 1, f"./dev has no verb {found.group(1)}")
