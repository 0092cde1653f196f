#!/usr/bin/env python3
"""Makes the golden store of the level that this build writes: `make.py`, as root, with a build in $DATUM_BUILD.

A machine of tests/e2e/lab lives for a while with the service in it; its store, closed in order, becomes `level-N.tar.gz`
beside this file, with `level-N.txt`, which says what a reader has to find. An archive that is there is never made anew:
what an older version wrote cannot be made by a newer one."""

import io
import json
import pathlib
import shutil
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "e2e"), str(HERE.parents[1])]

import debs  # noqa: E402
import fleet  # noqa: E402
import golden_stores  # noqa: E402
import machine  # noqa: E402

SERVICE = "[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
PARTS = ("journal/data.mdb", "journal/clean", "key", "blobs", "archive")


def live(lab):
    """Events of as many kinds as one life of one machine brings."""
    lab.unit("app.service", SERVICE)
    lab.put("/etc/apt/sources.list", "deb [trusted=yes] file:/srv/repo ./\n")
    debs.Repository(lab.path("/srv/repo")).add(debs.Package("alpha"), debs.Package("bad", scripts={"postinst": "exit 3"}))
    lab.must("apt-get", "-q", "update")
    lab.put("/etc/adopted", "was there\n")
    secret = fleet.file("secret", "/etc/secret", "hidden\n" * 40, mode="0600", sensitive=True)
    package = fleet.Resource("Package", "alpha", {"state": "present"})
    user = fleet.Resource("User", "worker", {"state": "present", "comment": "one"})
    app = machine.service("app", keys={"restartOn": ["File[conf]"]})
    for number, more in enumerate(([fleet.directory("d", "/srv/d"), fleet.symlink("l", "/srv/l", "/srv/d")],
                                   [package, user], [fleet.Resource("Package", "bad", {"state": "present"})], [])):
        lab.declare(fleet.file("conf", "/etc/app-conf", f"{number}\n" * 300), fleet.file("adopted", "/etc/adopted", "was there\n"),
                    app, secret, *more)
        lab.enforce("--allow-removals", "10")
        if number == 1:
            lab.must("datum", "journal", "archive", "--through", "5")
    lab.put("/etc/app-conf", "by hand\n")
    lab.observe()
    lab.must("datum", "ack", "/etc/app-conf", "--until", "1h", "--reason", "known")
    lab.must("datum", "hold", "--reason", "golden")
    lab.must("datum", "hold", "--lift")
    lab.enforce()


def main():
    level = golden_stores.level_of_this_build()
    out = HERE / f"level-{level}.tar.gz"
    if out.exists():
        sys.exit(f"{out.name} is there, and stays")
    lab = machine.Node("golden")
    try:
        lab.boot()
        live(lab)
        store = lab.path(lab.STATE)
        with tarfile.open(out, "w:gz", compresslevel=9) as archive:
            for part in PARTS:
                for path in sorted([store / part, *(store / part).rglob("*")]):
                    if not path.exists():
                        continue
                    info = archive.gettarinfo(path, path.relative_to(store))
                    info.uid = info.gid = info.mtime = 0
                    info.uname = info.gname = ""
                    archive.addfile(info, io.BytesIO(path.read_bytes()) if path.is_file() else None)
        copy = HERE / "copy"
        try:
            golden_stores.unpack(out, copy)
            out.with_suffix("").with_suffix(".txt").write_text(golden_stores.describe(copy))
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    finally:
        lab.drop()
    print(json.dumps({"made": out.name, "bytes": out.stat().st_size}))


if __name__ == "__main__":
    main()
