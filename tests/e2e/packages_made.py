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
    for program in PROGRAMS:
        rename_version_in(tree / program, old, new)


def rename_version_in(program, old, new):
    """In one program's file."""
    assert len(old) == len(new)
    data = program.read_bytes()
    mark = b"datum-version=%s (" % old.encode()
    assert data.count(mark) == 1, (program, data.count(mark))
    program.write_bytes(data.replace(mark, b"datum-version=%s (" % new.encode()))


def pack(tree, out, compression=("-Zgzip", "-z1")):
    """A .deb of an unpacked one; with its sums made anew."""
    listed = sorted(str(path.relative_to(tree)) for path in (tree / "usr").rglob("*") if path.is_file())
    sums = subprocess.run(["md5sum", *listed], cwd=tree, capture_output=True, text=True, check=True).stdout
    (tree / "DEBIAN/md5sums").write_text(sums)
    subprocess.run(["dpkg-deb", "--root-owner-group", *compression, "--build", tree, out], check=True,
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


class Line:
    """Versions of one package, each made of the one before it in a second: 0.1.1, 0.1.2 and so on to 9.9.9."""

    def __init__(self, deb, scratch):
        self.tree, self.scratch, self.made = scratch / "line", scratch, None
        subprocess.run(["dpkg-deb", "-R", deb, self.tree], check=True)
        control = (self.tree / "DEBIAN/control").read_text().splitlines()
        (self.version,) = (line.split(": ")[1] for line in control if line.startswith("Version: "))

    def make_next(self):
        """The path of the package; the one before is gone."""
        old, number = self.version, int(self.version.replace(".", "")) + 1
        self.version = f"{number // 100}.{number // 10 % 10}.{number % 10}"
        control = self.tree / "DEBIAN/control"
        control.write_text(control.read_text().replace(f"\nVersion: {old}\n", f"\nVersion: {self.version}\n"))
        rename_version(self.tree, old, self.version)
        if self.made:
            self.made.unlink()
        self.made = self.scratch / f"datum-host_{self.version}_line.deb"
        pack(self.tree, self.made, ("-Znone",))
        return self.made

    def add_to_script(self, name, text):
        """At the end of a maintainer script of all versions from now on."""
        script = self.tree / "DEBIAN" / name
        script.write_text(script.read_text() + text)
