"""Small Debian packages made by `dpkg-deb`, and a folder of them that apt reads as a repository.

Knows formats of Debian only; nothing of Datum and of machines."""

import hashlib
import pathlib
import shutil
import subprocess
import tempfile

ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


class Package:
    """`scripts`: name of a maintainer script → its shell text; `conffiles`: path → content."""

    def __init__(self, name, version="1.0", architecture=ARCHITECTURE, scripts=None, conffiles=None, files=None, **fields):
        self.name, self.version, self.architecture = name, version, architecture
        self.scripts, self.conffiles, self.files = scripts or {}, conffiles or {}, files or {}
        self.fields = {key.replace("_", "-"): value for key, value in fields.items()}

    @property
    def file_name(self):
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"

    def build(self, folder):
        with tempfile.TemporaryDirectory() as scratch:
            tree = pathlib.Path(scratch) / "tree"
            tree.mkdir(0o755)
            for path, text in {**self.files, **self.conffiles}.items():
                place = tree / path.lstrip("/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
            control = tree / "DEBIAN"
            control.mkdir()
            control.chmod(0o755)
            (control / "control").write_text(self.control(), encoding="utf-8")
            for script, text in self.scripts.items():
                (control / script).write_text("#!/bin/sh\nset -e\n" + text + "\n", encoding="utf-8")
                (control / script).chmod(0o755)
            if self.conffiles:
                (control / "conffiles").write_text("".join(path + "\n" for path in self.conffiles), encoding="utf-8")
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, pathlib.Path(folder) / self.file_name],
                           stdout=subprocess.DEVNULL, check=True)

    def control(self):
        fields = {"Package": self.name, "Version": self.version, "Architecture": self.architecture,
                  "Maintainer": "Nobody <nobody@localhost>", "Description": "of a test", **self.fields}
        return "".join(f"{key}: {value}\n" for key, value in fields.items())


class Repository:
    """A flat one: `deb [trusted=yes] file:FOLDER ./`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.packages = {}

    def add(self, *packages):
        for package in packages:
            package.build(self.folder)
            self.packages[package.file_name] = package
        self.write_index()

    def clear(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        self.packages = {}
        self.write_index()

    def write_index(self):
        paragraphs = []
        for name, package in sorted(self.packages.items()):
            content = (self.folder / name).read_bytes()
            paragraphs.append(package.control() + f"Filename: ./{name}\nSize: {len(content)}\n"
                              f"SHA256: {hashlib.sha256(content).hexdigest()}\n")
        (self.folder / "Packages").write_text("\n".join(paragraphs), encoding="utf-8")
