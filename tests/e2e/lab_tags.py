#!/usr/bin/env python3
# test: long root
"""The two newest release tags, built from their own trees: each is installed on a bare machine, upgraded to this build by
declaration, rolled back from it where it dies before it is confirmed, and upgraded for good. Skipped where there are fewer
than two tags."""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import lab_release  # noqa: E402
import packages_made  # noqa: E402
import tap  # noqa: E402

TAG = re.compile(r"^v\d+\.\d+\.\d+$")
BUILD_LIMIT_S = 5400
COMMITS = packages_made.BUILD / "tests/e2e/commits.so"
UNIT = lab_release.UNIT
# Every start of the version that was just installed dies before it could be confirmed.
DYING = "[Service]\nRestartSec=100ms\nEnvironmentFile=-/srv/dying\n"
CONFIRMED_KIND = re.compile(r"\| (\d+) \| `versionConfirmed` \|")


def git(*arguments):
    done = subprocess.run(["git", "-C", packages_made.TOP, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def above(version, last):
    """A version that is newer than any other of this length, as packages_made wants it: 0.10.0 becomes 9.99.8 for 8."""
    return re.sub(r"\d", "9", version)[:-1] + str(last)


def newest_tags():
    """Two at most, the older one first."""
    tags = [tag for tag in git("tag", "--list", "v*", "--sort=-version:refname").split() if TAG.match(tag)]
    return tags[:2][::-1]


def run(command, environment, what):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILD_LIMIT_S, env=environment,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{what}: {done.stdout[-4000:]}{done.stderr[-2000:]}")
    return done.stdout


def installed(folder, environment):
    """What a build folder installs, whichever programs that version had: its package is made of all of it."""
    targets = json.loads(run(["meson", "introspect", "--targets", folder], environment, folder))
    return [os.path.relpath(name, folder) for target in targets if target["installed"] for name in target["filename"]]


def build(tag, scratch):
    """The .deb of a tag, from a tree of its own."""
    tree, made = scratch / f"tree-{tag}", scratch / f"packages-{tag}"
    environment = {**os.environ, "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1"}
    subprocess.run(["git", "-C", packages_made.TOP, "worktree", "add", "--detach", tree, tag], check=True, capture_output=True)
    try:
        run(["meson", "setup", tree / "build", tree], environment, tag)
        run(["ninja", "-C", tree / "build", "-j2", *installed(tree / "build", environment)], environment, tag)
        run([tree / "packaging/build-package", "deb", tree / "build", made], environment, tag)
    finally:
        subprocess.run(["git", "-C", packages_made.TOP, "worktree", "remove", "--force", tree], check=False, capture_output=True)
    (deb,) = made.glob("*.deb")
    return deb


class Walk(lab_release.DebCase):
    """One machine for each tag."""

    tag = None

    def begin_tag(self):
        tags, cls = newest_tags(), type(self)
        if len(tags) < 2:
            self.skipTest(f"fewer than two release tags (vN.N.N): {', '.join(tags) or 'none'}")
        cls.tag = tags[cls.which]
        cls.begin_deb(f"tag{cls.which}")
        cls.old = build(cls.tag, cls.scratch)
        cls.old_version = cls.old.name.split("_")[1]
        cls.lab.copy(COMMITS, "/usr/lib/commits.so")
        cls.lab.put(f"/etc/systemd/system/{UNIT}.d/test.conf", DYING)

    def walk(self):
        self.begin_tag()
        lab = self.lab
        lab.configure("enforce")
        self.declare(self.old_version, lab_release.package("alpha"))
        lab.copy(self.old, "/srv/old.deb")
        lab.must("dpkg", "-i", "/srv/old.deb")
        self.wait_confirmed(self.old_version)
        self.wait_until(lambda: lab.path("/var/lib/datum/release/confirmed").exists(), "it is kept")
        # This build, dying at each of its starts before it is confirmed: the old one comes back and opens the store.
        own = self.deb.name.split("_")[1]
        bad, good = above(own, 8), above(own, 9)
        first, second = self.version(bad), self.version(good)
        (kind,) = CONFIRMED_KIND.findall((packages_made.TOP / "docs/formats/events.md").read_text())
        lab.put("/srv/dying", f"LD_PRELOAD=/usr/lib/commits.so\nCOMMIT=before {kind} 1\nDIED_FILE=/srv/died\n")
        self.offer(first)
        self.declare(bad, lab_release.package("alpha"))
        self.wait_until(lambda: lab.of_kind("rolledBack"), f"{bad} is rolled back")
        self.assertTrue(lab.path("/srv/died").exists())
        self.assertEqual(lab.running(), self.old_version)
        self.wait_until(self.is_active, "the old version is active")
        opened = [event["event"]["version"].split()[0] for event in lab.of_kind("storeOpened")]
        self.assertEqual((opened.count(bad) >= 3, opened[-1]), (True, self.old_version), opened)
        # And one that works.
        lab.must("rm", "/srv/dying")
        self.offer(second)
        self.declare(good, lab_release.package("alpha"), fleet.file("new", "/etc/zz-test", "new\n"))
        self.wait_confirmed(good)
        self.wait_until(lambda: self.status_text() == "converged", "all is as declared")
        self.assertEqual(lab.must("dpkg", "--audit"), "")
        verified = lab.datum("journal", "verify")
        self.assertEqual(verified.code, 0, verified.text)
        print(f"# {self.tag}: {self.old_version} -> {bad} -> back -> {good}")


class Older(Walk):
    which = 0

    def test_walk(self):
        """tags: the newest release but one is upgraded to this build, comes back from it, and is upgraded again"""
        self.walk()


class Newer(Walk):
    which = 1

    def test_walk(self):
        """tags: the newest release is upgraded to this build, comes back from it, and is upgraded again"""
        self.walk()


if __name__ == "__main__":
    tap.main()
