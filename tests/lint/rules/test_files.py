"""Tests by their names and their lists: a name is a sentence that can be false, and every test is built."""

import posixpath
import re

from tree import Finding

_CASE = re.compile(r'\b(?:TEST_CASE|SCENARIO|TEST_CASE_METHOD|TEMPLATE_TEST_CASE)\s*\(\s*(?:\w+\s*,\s*)?((?:"(?:\\.|[^"\\\n])*"\s*)+)')
_SENTENCE = re.compile(r"^[A-Za-z0-9][\w ./:+-]*: .*\w+ .*\w+.*[^.\s]$")


def check_names(tree):
    for path in tree.match("tests/*.cpp", "journal/sim/*.cpp"):
        text = tree.read(path)
        for found in _CASE.finditer(re.sub(r"^[ \t]*#.*$", lambda line: " " * len(line.group()), text, flags=re.MULTILINE)):
            name = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', found.group(1)))
            line = text.count("\n", 0, found.start()) + 1
            if not _SENTENCE.match(name):
                yield Finding(path, line, f'"{name}" is not of the form "what: sentence that can be false"')


def check_listed(tree):
    """Every source in tests/ stands in a meson.build beside or above it, and every folder is reached."""
    builds = {posixpath.dirname(path): tree.read(path) for path in tree.match("*meson.build")}
    for path in tree.match("tests/*.cpp", "src/*.cpp", "journal/*.cpp"):
        folder, name = posixpath.split(path)
        while True:
            if folder in builds:
                relative = posixpath.relpath(path, folder or ".")
                if f"'{relative}'" in builds[folder]:
                    break
            if not folder:
                yield Finding(path, 1, "no meson.build lists this file: it is not built")
                break
            folder = posixpath.dirname(folder)
    for folder, text in builds.items():
        for name in re.findall(r"^\s*subdir\('([^']+)'\)", text, re.MULTILINE):
            if posixpath.normpath(posixpath.join(folder, name)) not in builds:
                yield Finding(posixpath.join(folder, "meson.build"), 1, f"subdir {name} has no meson.build")
    reached = {""} | {posixpath.normpath(posixpath.join(folder, name)) for folder, text in builds.items()
                      for name in re.findall(r"\bsubdir\('([^']+)'\)", text)}
    for folder in builds:
        if folder not in reached and not folder.startswith("subprojects/"):
            yield Finding(f"{folder}/meson.build", 1, "no subdir() reaches this folder: nothing in it is built")
