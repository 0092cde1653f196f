"""One table of the command line: docs/reference/commands.md. Man pages and completions are made from it and must
be what it makes; every flag it gives to a command has a row. (What `--help` says is compared by tests/e2e/help.py.)"""

import importlib.util

from tree import Finding

_SOURCE, _GENERATOR = "docs/reference/commands.md", "docs/reference/generate.py"


def _generator(tree):
    spec = importlib.util.spec_from_file_location("generate", tree.root / _GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(tree):
    if _GENERATOR not in tree.known or _SOURCE not in tree.known:
        yield Finding(_SOURCE, 1, "the table of commands, or what reads it, is not there")
        return
    generator = _generator(tree)
    text = tree.read(_SOURCE)
    table = generator.parse(text)
    used = {flag: command["name"] for group in table["groups"] for command in group["commands"] for flag in command["flags"]}
    for flag in sorted(used.keys() - table["flags"].keys()):
        yield Finding(_SOURCE, 1, f"{used[flag]} takes {flag}, which has no row under Flags")
    for flag in sorted(table["flags"].keys() - used.keys()):
        yield Finding(_SOURCE, 1, f"{flag} has a row under Flags, and no command takes it")
    if used.keys() - table["flags"].keys():
        return
    made = generator.make(text)
    for path, wanted in made.items():
        if path not in tree.known or tree.read(path) != wanted:
            yield Finding(path, 1, f"is not what {_SOURCE} makes: python3 {_GENERATOR}")
    for path in tree.match("docs/man/*", "packaging/completions/*"):
        if path not in made:
            yield Finding(path, 1, f"is not made from {_SOURCE}")
