"""Functions of at most 70 lines, with a recorded list that may only shrink, and no mutable globals."""

import re

import cpp
from tree import Finding

_LIMIT = 70
_LIST = "tests/lint/long_functions.txt"
_NOT_A_VARIABLE = re.compile(
    r"^(?:using|typedef|namespace|template|static_assert|extern|friend|class|struct|union|enum|return|public|private)\b")

# After `static`: a function with its body, which is a member of a local type.
_MEMBER_FUNCTION = re.compile(r"[^;={()]*\([^;{}]*\)[\w\s]*\{")


def _recorded(tree):
    lines = tree.read(_LIST).splitlines() if _LIST in tree.known else []
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines if line and not line.startswith("#")}


def check(tree):
    recorded = _recorded(tree)
    present = set()
    for path in tree.cpp():
        text = tree.read(path)
        lines = cpp.Lines(text)
        for item in cpp.read_items(text):
            if item.kind != "function":
                continue
            length = lines.of(item.end) - lines.of(item.start) + 1
            key = f"{path}:{cpp.name_of(item, text)}"
            allowed = recorded.get(key, _LIMIT)
            present.add(key)
            if length > allowed:
                yield Finding(path, lines.of(item.start), f"{cpp.name_of(item, text)} has {length} lines, {allowed} at most")
            elif key in recorded and length < allowed:
                yield Finding(_LIST, 1, f"{key} has {length} lines now: lower its number or take it off")
    for key in recorded.keys() - present:
        yield Finding(_LIST, 1, f"{key} is gone: take it off")


def check_globals(tree):
    for path in tree.match("src/*.cpp", "src/*.hpp", "journal/*.cpp", "journal/*.hpp"):
        text = tree.read(path)
        lines = cpp.Lines(text)
        for item in cpp.read_items(text):
            if item.kind == "function":
                body = cpp.blank(text[item.start:item.end])
                for found in re.finditer(r"\bstatic\s+(?!const\b|constexpr\b|constinit\b)", body):
                    line = lines.of(item.start + found.start())
                    if "{" in body[:found.start()] and not _MEMBER_FUNCTION.match(body, found.end()):
                        yield Finding(path, line, "a mutable static in a function: main builds and passes")
            elif item.kind == "statement" and item.scope == "namespace" and _is_mutable(item.header):
                yield Finding(path, lines.of(item.start), "a mutable global: main builds and passes")


def _is_mutable(header):
    plain = cpp.without_templates(re.sub(r"\[\[.*?\]\]", " ", header)).strip()
    if _NOT_A_VARIABLE.match(plain) or "operator" in plain:
        return False
    before_value = re.split(r"[={]", plain)[0]
    if "(" in before_value or not re.match(r"[\w:*&\s]+\s[*&]?\w+(?:\[[^\]]*\])?\s*$", before_value):
        return False  # a function, or a macro
    return not re.search(r"\b(?:const|constexpr)\b", before_value)
