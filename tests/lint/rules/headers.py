"""What a header owes its reader: a paragraph at its top, and results that nobody can ignore."""

import re

import cpp
from tree import Finding

_PREFIX = re.compile(r"^(?:(?:\[\[[^\]]*\]\]|virtual|static|inline|constexpr|explicit|extern)\s*)*")
_RETURNS = re.compile(r"(?:::)?(?:datum::)?(?:Result\s*<|Status\b)")
_DECLARES = re.compile(r"\s+(\w+)\s*\(")


def _without_template_head(header):
    while header.startswith("template"):
        depth = 0
        for offset, letter in enumerate(header):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                header = header[offset + 1:].lstrip()
                break
        else:
            return header
    return header


def declared_result(header):
    """(name, has [[nodiscard]]) of a function declaration that returns a Result or Status, or None."""
    header = _without_template_head(header)
    prefix = _PREFIX.match(header).group()
    rest = header[len(prefix):]
    returns = _RETURNS.match(rest)
    if not returns:
        return None
    at = returns.end()
    if rest[at - 1] == "<":
        depth = 1
        while depth and at < len(rest):
            depth += (rest[at] == "<") - (rest[at] == ">")
            at += 1
    name = _DECLARES.match(rest, at)
    return (name.group(1), "[[nodiscard]]" in prefix) if name else None


def check_nodiscard(tree):
    for path in tree.match("*.hpp"):
        text = tree.read(path)
        lines = cpp.Lines(text)
        for item in cpp.read_items(text):
            found = declared_result(item.header) if item.kind in ("statement", "function") else None
            if found and not found[1]:
                yield Finding(path, lines.of(item.start), f"{found[0]} returns a result: it has to be [[nodiscard]]")


def check_opening(tree):
    for path in tree.match("*.hpp", "*.py", "*.sh", "dev", ".ci/run", "tests/run", "tests/e2e/*", "schema/*.capnp"):
        text = tree.read(path)
        if text.startswith("#!"):
            text = text.partition("\n")[2]
        if text and not text.lstrip().startswith(("// ", "# ", '"""', "#\n")):
            yield Finding(path, 1, "opens without a paragraph that says what it is for")
    for path in tree.match("src/*.cpp", "journal/*.cpp"):
        first = tree.read(path).lstrip()
        if not first.startswith(("// ", "#include")):
            yield Finding(path, 1, "opens neither with a paragraph nor with the header that has it")
