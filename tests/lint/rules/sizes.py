"""No file that people have to read whole is long: 500 lines, 800 for tests and their scripts."""

from tree import Finding

_LIMIT, _TEST_LIMIT = 500, 800
_KINDS = ("*.cpp", "*.hpp", "*.py", "*.sh", "*.capnp", "*meson.build", "dev", "tests/run", "packaging/*")


def check(tree):
    for path in tree.match(*_KINDS):
        lines = tree.read(path).count("\n")
        limit = _TEST_LIMIT if path.startswith(("tests/", "journal/sim/")) else _LIMIT
        if path == "dev":
            limit = 200
        if lines > limit:
            yield Finding(path, limit + 1, f"{lines} lines, {limit} at most")
