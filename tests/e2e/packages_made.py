"""Packages of this build, and packages of other versions that are made of them.

A version of the same length takes the place of this one's in the programs' notes: program, note and `--version` then say
the other one. Knows nothing of machines."""

import os
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build")).resolve()
SCRIPT = TOP / "packaging/build-package"
LIMIT_S = 300
PROGRAMS = ("usr/bin/datum", "usr/sbin/datum-host")


def make(kind, out):
    done = subprocess.run([SCRIPT, kind, BUILD, out], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise AssertionError(f"build-package {kind}: {done.stderr}")
    return pathlib.Path(done.stdout.strip())


def rename_version(tree, old, new):
    """In both programs below `tree`; `old` and `new` are as long as one another."""
    assert len(old) == len(new)
    for program in PROGRAMS:
        path = tree / program
        data = path.read_bytes()
        mark = b"datum-version=%s (" % old.encode()
        assert data.count(mark) == 1, (program, data.count(mark))
        path.write_bytes(data.replace(mark, b"datum-version=%s (" % new.encode()))


def pack(tree, out):
    """A .deb of an unpacked one; with its sums made anew."""
    listed = sorted(str(path.relative_to(tree)) for path in (tree / "usr").rglob("*") if path.is_file())
    sums = subprocess.run(["md5sum", *listed], cwd=tree, capture_output=True, text=True, check=True).stdout
    (tree / "DEBIAN/md5sums").write_text(sums)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, out], check=True,
                   stdout=subprocess.DEVNULL)


def make_version(deb, version, scratch, program=None):
    """Another version of the package `deb`: the same programs under another version, or, with `program`, a service that
    is this text."""
    tree = scratch / f"tree-{version}"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    control = tree / "DEBIAN/control"
    lines = control.read_text().splitlines()
    (old,) = (line.split(": ")[1] for line in lines if line.startswith("Version: "))
    control.write_text("".join(f"Version: {version}\n" if line.startswith("Version: ") else f"{line}\n" for line in lines))
    rename_version(tree, old, version)
    if program is not None:
        (tree / PROGRAMS[1]).write_text(program)
        (tree / PROGRAMS[1]).chmod(0o755)
    made = scratch / f"datum-host_{version}_made.deb"
    pack(tree, made)
    return made
