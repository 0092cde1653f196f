"""The include line names the layer: who includes whom, cycles, and which module may name which library.
The table is layers.toml; this file knows no module by name."""

import functools
import pathlib
import posixpath
import re
import tomllib

from tree import Finding

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)


@functools.lru_cache(maxsize=None)
def table():
    with open(pathlib.Path(__file__).resolve().parent.parent / "layers.toml", "rb") as file:
        return tomllib.load(file)


def faults_of(rows):
    """Rows of the table that contradict the layering itself."""
    for name, row in rows["modules"].items():
        for other in row["may"]:
            if rows["modules"][other]["layer"] >= row["layer"]:
                yield f"{name} (layer {row['layer']}) may not include {other} (layer {rows['modules'][other]['layer']})"


def module_of(path):
    """The module, program or test folder that owns a path, by its longest folder; None for others."""
    rows = table()
    owners = {row["folder"]: name for name, row in rows["modules"].items()}
    owners |= {folder: folder for folder in rows["programs"]["folders"]}
    owners |= {folder: "tests" for folder in rows["tests"]["folders"]}
    fitting = [folder for folder in owners if path.startswith(folder + "/")]
    return owners[max(fitting, key=len)] if fitting else None


def group_of(module):
    return "programs" if module in table()["programs"]["folders"] else module


def includes(tree, path):
    """(line, is quoted, name) of every include of a file."""
    text = tree.read(path)
    for found in _INCLUDE.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found.group(1) == '"', found.group(2)


def resolve(tree, path, name):
    """The file of the tree that a quoted include names, or None."""
    if name.startswith("datum/"):
        module = name.split("/")[1]
        row = table()["modules"].get(module)
        candidates = [f"{row['folder']}/include/{name}"] if row else []
        candidates += [f"{folder}/include/{name}" for folder in table()["tests"]["folders"] + table()["programs"]["folders"]]
        if row is None:
            candidates += [other for other in tree.match("tests/*.hpp") if other.endswith("/" + name)]
    else:
        folder, candidates = posixpath.dirname(path), []
        while folder:
            candidates.append(posixpath.normpath(f"{folder}/{name}"))
            folder = posixpath.dirname(folder)
        if module_of(path) == "tests":  # a test may look behind its module's public headers
            candidates += [other for other in tree.match("src/*.hpp", "journal/*.hpp") if other.endswith("/" + name)]
    return next((candidate for candidate in candidates if candidate in tree.known), None)


def _target_module(tree, path, name):
    """The module that an include leads to; None for a header that nobody here owns."""
    generated = table()["generated"]
    for suffix, module in generated["suffixes"].items():
        if name.endswith(suffix):
            return module
    if name in generated["names"]:
        return generated["names"][name]
    found = resolve(tree, path, name)
    return module_of(found) if found else None


def check(tree):
    for fault in faults_of(table()):
        yield Finding("tests/lint/layers.toml", 1, fault)
    modules = table()["modules"]
    for path in tree.cpp():
        own = module_of(path)
        if own is None:
            yield Finding(path, 1, "no row of tests/lint/layers.toml owns this folder")
            continue
        for line, quoted, name in includes(tree, path):
            if not quoted and not name.startswith("datum/"):
                continue
            target = _target_module(tree, path, name)
            if target is None:
                yield Finding(path, line, f"nothing here is called {name}")
            elif target == own or own == "tests" or target == group_of(own):
                continue
            elif target not in modules:
                yield Finding(path, line, f"{own} may not include {name}: it belongs to {target}")
            elif own in modules and target not in modules[own]["may"]:
                yield Finding(path, line, f"{own} may not include {target} ({name}): see tests/lint/layers.toml")


def check_cycles(tree):
    edges = {}
    for path in tree.cpp():
        found = (resolve(tree, path, name) for _, _, name in includes(tree, path) if not name.endswith(".capnp.h"))
        edges[path] = sorted({other for other in found if other and other != path})
    done, reported = set(), set()
    for start in edges:
        stack = [(start, iter(edges[start]))]
        trail = [start]
        while stack and start not in done:
            other = next(stack[-1][1], None)
            if other is None:
                done.add(stack.pop()[0])
                trail.pop()
            elif other in trail:
                cycle = trail[trail.index(other):]
                if frozenset(cycle) not in reported:
                    reported.add(frozenset(cycle))
                    yield Finding(other, 1, "include cycle: " + " → ".join(cycle + [other]))
            elif other not in done:
                stack.append((other, iter(edges.get(other, ()))))
                trail.append(other)


def _library_of(name):
    """The library of a bracketed header, by its longest prefix; None for the language's own."""
    fitting = [(len(prefix), library) for library, row in table()["headers"].items()
               for prefix in row["prefixes"] if name.startswith(prefix)]
    if fitting:
        return max(fitting)[1]
    return None if re.fullmatch(r"[a-z_0-9]+", name) else "unknown"


def check_third_party(tree):
    users = {}
    for path in tree.cpp():
        own = group_of(module_of(path))
        for line, quoted, name in includes(tree, path):
            library = None if quoted or name.startswith("datum/") else _library_of(name)
            if library is None:
                continue
            row = table()["headers"].get(library)
            if row is None:
                yield Finding(path, line, f"<{name}> is in no row of tests/lint/layers.toml")
            elif own not in row["modules"] and own != "tests":
                yield Finding(path, line, f"{own} may not name {library} (<{name}>)")
            elif own != "tests":
                users.setdefault(library, set()).add(path)
    for library, paths in users.items():
        limit = table()["headers"][library].get("files")
        if limit and len(paths) > limit:
            yield Finding(sorted(paths)[-1], 1, f"{library} is included by {len(paths)} files, {limit} at most: {', '.join(sorted(paths))}")
