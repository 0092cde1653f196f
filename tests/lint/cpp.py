"""A light reader of C++: enough to find declarations and measure functions, by braces alone.

It knows nothing of macros or templates beyond their brackets; the code it reads is laid out by clang-format
and compiles, so it need not be a parser."""

import bisect
import dataclasses
import re

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
    re.DOTALL | re.MULTILINE)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)")
_TYPE = re.compile(r"^(?:export\s+|template\s+|typedef\s+)*(?:class|struct|union)\b[^()=]*$")
_ASSIGNED = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_LAMBDA = re.compile(r"\]\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?[^()]*$")


def blank(text):
    """The text with comments, literals and preprocessor lines as spaces: every offset and line stays."""
    return _TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def without_templates(text):
    """Removes what stands in balanced angle brackets."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", " ", text)
    return text


def without_parentheses(text):
    """Empties what stands in balanced parentheses."""
    before = None
    while before != text:
        before, text = text, re.sub(r"\([^()]+\)", "()", text)
    return text


@dataclasses.dataclass
class Item:
    kind: str  # function (with a body), variable (with a braced value), statement, type
    scope: str  # namespace or type: what it stands in
    header: str  # its text up to the body or the semicolon, blanked
    start: int  # offsets into the text
    end: int


class _Reader:
    def __init__(self, text):
        self.text = blank(text)
        self.items = []
        self.scopes = ["namespace"]
        self.start = 0

    def close_of(self, at):
        """The offset after the bracket that closes the one at `at`."""
        depth = 0
        for found in re.compile(r"[(){}\[\]]").finditer(self.text, at):
            depth += 1 if found.group() in "({[" else -1
            if depth == 0:
                return found.end()
        return len(self.text)

    def add(self, kind, end):
        header = self.text[self.start:end].strip()
        offset = self.start + len(self.text[self.start:end]) - len(self.text[self.start:end].lstrip())
        self.items.append(Item(kind, self.scopes[-1], header, offset, end))

    def brace(self, at):
        """Takes the `{` at `at`; returns the offset to go on from."""
        header = _ATTRIBUTE.sub(" ", self.text[self.start:at]).strip()
        plain = without_templates(header).strip()
        if re.match(r"(?:inline\s+)?namespace\b|extern\s*$", plain):
            self.scopes.append("namespace")
            self.start = at + 1
            return at + 1
        if _TYPE.match(plain):
            self.add("type", at)
            self.scopes.append("type")
            self.start = at + 1
            return at + 1
        end = self.close_of(at)
        top = without_parentheses(plain).replace("operator=", "")
        is_lambda = "[" in plain and _LAMBDA.search(plain)
        is_value = re.match(r"enum\b", plain) or "(" not in plain or (_ASSIGNED.search(top) and not is_lambda)
        after = self.text[end:].lstrip()[:1]
        if is_value or after in (",", "{"):  # a braced value, or an initialiser of a constructor's list
            return end
        self.add("function", at)
        self.items[-1].end = end
        self.start = end
        return end

    def read(self):
        at = 0
        token = re.compile(r"[(){};\[]|\b(?:public|private|protected)\s*:(?!:)")
        while found := token.search(self.text, at):
            at = found.end()
            if found.group() in ("(", "["):
                at = self.close_of(found.start())
            elif found.group() == "{":
                at = self.brace(found.start())
            elif found.group() == "}":
                if len(self.scopes) > 1:
                    self.scopes.pop()
                self.start = at
            elif found.group() == ";":
                if self.text[self.start:found.start()].strip():
                    self.add("statement", found.start())
                self.start = at
            elif found.group() != ")":
                self.start = at
        return self.items


def read_items(text):
    """Declarations and definitions at namespace and type scope, in order of their ends."""
    return _Reader(text).read()


def name_of(item, text):
    """A function's name as it is written; a test case's title."""
    header = without_templates(_ATTRIBUTE.sub(" ", item.header))
    found = re.search(r"(operator\s*[^\w\s(]+|operator\s*\(\s*\)|[~\w:]+)\s*\(", header)
    name = found.group(1) if found else header.split("(")[0].strip()
    if name.isupper():
        title = re.search(r'"((?:\\.|[^"\\])*)"', text[item.start:item.end])
        return f"{name} {title.group(1)}" if title else name
    return name


class Lines:
    """Line numbers of offsets."""

    def __init__(self, text):
        self.ends = [found.start() for found in re.finditer("\n", text)]

    def of(self, offset):
        return bisect.bisect_left(self.ends, offset) + 1
