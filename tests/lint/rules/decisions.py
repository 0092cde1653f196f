"""Decision records, and what rests on them.

A record is docs/decisions/NNNN-words.md with a line `Status: accepted|proposed|superseded by NNNN` and a line
`Extends: NNNN, …` or `Extends: none`. Every other page of docs/ has a line `Rests on: NNNN, …` or
`Rests on: none`, and `Status: proposed` if it is not accepted yet. What is accepted rests on accepted records."""

import re

from tree import Finding

_RECORD = re.compile(r"^docs/decisions/(\d{4})-[a-z0-9-]+\.md$")
_PAGE_LIMIT = 60  # lines: a record fits on one page


def _field(text, name):
    found = re.search(rf"^{name}: (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else None


def _numbers(value):
    return re.findall(r"\b\d{4}\b", value or "")


def _check_numbers(path, field, value, statuses, accepted):
    if value is None:
        yield Finding(path, 1, f"has no line `{field}: NNNN, …` or `{field}: none`")
        return
    if value != "none" and not _numbers(value):
        yield Finding(path, 1, f"`{field}: {value}` names no record; say `none`")
    for number in _numbers(value):
        if number not in statuses:
            yield Finding(path, 1, f"{field.lower()} {number}, which does not exist")
        elif accepted and not (statuses[number] or "").startswith("accepted"):
            yield Finding(path, 1, f"is accepted, but {field.lower()} {number}, which is {statuses[number]}")


def check(tree):
    records = {}
    for path in tree.match("docs/decisions/*"):
        found = _RECORD.match(path)
        if not found:
            yield Finding(path, 1, "a decision record is called NNNN-words.md")
        elif found.group(1) in records:
            yield Finding(path, 1, f"number {found.group(1)} is taken by {records[found.group(1)]}")
        else:
            records[found.group(1)] = path
    statuses = {number: _field(tree.read(path), "Status") for number, path in records.items()}
    for number, path in records.items():
        text, status = tree.read(path), statuses[number] or ""
        superseding = re.fullmatch(r"superseded by (\d{4})", status)
        if status not in ("accepted", "proposed") and not (superseding and superseding.group(1) in records):
            yield Finding(path, 1, f"`Status: {status}` is none of accepted, proposed, superseded by NNNN")
        if text.count("\n") > _PAGE_LIMIT:
            yield Finding(path, _PAGE_LIMIT, f"longer than {_PAGE_LIMIT} lines: a record fits on a page")
        yield from _check_numbers(path, "Extends", _field(text, "Extends"), statuses, status == "accepted")
    for path in tree.match("docs/*.md"):
        if not path.startswith(("docs/decisions/", "docs/examples/")):
            text = tree.read(path)
            accepted = _field(text, "Status") in (None, "accepted")
            yield from _check_numbers(path, "Rests on", _field(text, "Rests on"), statuses, accepted)
