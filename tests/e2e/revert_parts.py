#!/usr/bin/env python3
# test: short root
"""`datum revert` of what is no path: names, zones, keys, values, lines of fstab. What the pass changed is as before, byte
for byte, or it is named beforehand why not, and nothing is touched."""

import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import parts  # noqa: E402
import tap  # noqa: E402

from parts import INI, JSON, KEY, KEYS, OTHER, SSH, gone, key, keys_file, lens_setting, link, named, setting, write  # noqa: E402

FSTAB = "/etc/fstab"
LINE = "UUID=ab-cd /data ext4 nosuid,noatime 0 2\n"


def mount(state="present", **fields):
    return named("Mount", **{"path": "/data", "device": "UUID=ab-cd", "fsType": "ext4", "options": "nosuid", "state": state,
                             **fields})


def with_folder(spoil):
    """The user's .ssh, as the user would have made it."""
    def prepare(bench):
        bench.path(SSH).mkdir(mode=0o700)
        os.chown(bench.path(SSH), parts.ANNA, parts.ANNA)
        spoil(bench)
    return prepare


# what is undone: (what is there before, what the pass declares)
UNDONE = {
    "a name": (write("/etc/hostname", "old.example\n"), named("Hostname", hostname="web-1")),
    "a zone": (link("/etc/localtime", "/usr/share/zoneinfo/UTC"), named("Timezone", zone="Europe/Berlin")),
    "a key that was made": (with_folder(keys_file(OTHER + " b\n")), key(comment="x")),
    "options and comment of a key": (with_folder(keys_file(f"{OTHER} b\nno-pty {KEY} me\n")), key(options="", comment="x")),
    "a key that was taken out": (with_folder(keys_file(f"{OTHER} b\nno-pty {KEY} me\n")), key(state="absent")),
    "a value that was made": (write("/etc/app.ini", INI), setting(key="new")),
    "a value that was changed": (write("/etc/app.ini", INI), setting(value="9")),
    "a value that was taken out": (write("/etc/app.ini", INI), setting(section="other", state="absent")),
    "a value that a lens changed": (write("/etc/app.json", JSON), lens_setting(value="9")),
    "a line of fstab that was made": (write(FSTAB, "# static\n"), mount()),
    "a line of fstab that was changed": (write(FSTAB, "# static\n" + LINE), mount(device="LABEL=x")),
    "a line of fstab that was taken out": (write(FSTAB, "# static\nUUID=ab-cd /data ext4 nosuid 0 0\n"), mount("absent")),
}
# what is not: (before, declared, what is said)
NAMED = {
    "a name where there was none": (gone("/etc/hostname"), named("Hostname", hostname="web-1"), "there was no /etc/hostname"),
    "a zone that was a file": (write("/etc/localtime", "TZif"), named("Timezone", zone="UTC"),
                               "what it was is not kept|did not lead to a zone"),
    "a zone beside another name of it": (
        lambda bench: (link("/etc/localtime", "/usr/share/zoneinfo/UTC")(bench), write("/etc/timezone", "Mars\n")(bench)),
        named("Timezone", zone="Europe/Berlin"), "persisted was Mars"),
    "a key of lines that did not agree": (with_folder(keys_file(f"no-pty {KEY}\n{KEY}\n")), key(options="no-pty"),
                                          "its lines did not agree"),
    "a key of a file that others could write": (with_folder(keys_file(f"{KEY}\n", 0o666)), key(options="no-pty"),
                                                "mode was 0666"),
    "a value of a private file": (write("/etc/app.ini", INI, 0o600), setting(value="9"), "is not kept: it is a secret"),
    "a value of lines that did not agree": (write("/etc/app.ini", INI.replace("; end", "level = 5")), setting(value="9"),
                                            "what it was is not kept"),
    "several lines of fstab": (write(FSTAB, LINE + LINE), mount(), "fstab had several lines of it"),
}


class Case(parts.Case):
    def last_pass(self):
        return self.bench.events("--kind", "passStarted")[-1]["seq"]

    def revert(self, number, *arguments, mode="enforce"):
        return fleet.datum("revert", str(number), "--root", self.bench.root, "--state", self.bench.state, "--allow-removals",
                           "100", "--mode", mode, *arguments)

    def files(self):
        """Text or link of every file, with owner and mode."""
        return {name: (seen[1], seen[2], seen[3], seen[-1]) for name, seen in fleet.listing(self.bench.root).items()
                if not seen[0].startswith("d")}


class Undone(Case):
    def check_row(self, title):
        prepare, wanted = UNDONE[title]
        prepare(self.bench)
        if title == "a zone":
            write("/etc/timezone", "UTC\n")(self.bench)
        before = self.files()
        self.enforce(wanted)
        number = self.last_pass()
        self.assertNotEqual(self.files(), before)
        done = self.revert(number)
        self.assertEqual((done.code, self.files()), (2, before), done.text)
        self.assertNotIn("cannot be undone", done.text)
        again = self.bench.enforce()
        self.assertEqual(self.files(), before, again.text)
        self.assertEqual(fleet.leftovers(self.bench.root), [])


class Named(Case):
    def check_row(self, title):
        prepare, wanted, said = NAMED[title]
        prepare(self.bench)
        self.enforce(wanted)
        number, after = self.last_pass(), self.files()
        shown = self.revert(number, mode="observe")
        self.assertRegex(shown.text, said)
        done = self.revert(number)
        self.assertEqual((done.code, self.files()), (2, after), done.text)
        self.assertRegex(done.text, f"cannot be undone: .*({said})")


class Changed(Case):
    def test_conflict(self):
        """revert: a value that somebody changed since is named and stays, its neighbours may change"""
        self.enforce(setting(value="9"))
        number = self.last_pass()
        text = self.bench.path("/etc/app.ini").read_text()
        write("/etc/app.ini", text.replace("= 9", "= 8"))(self.bench)
        done = self.revert(number)
        self.assertIn("conflict: changed since", done.text)
        self.assertEqual(self.bench.path("/etc/app.ini").read_text(), text.replace("= 9", "= 8"))
        write("/etc/app.ini", text.replace("name = x", "name = y"))(self.bench)
        self.assertEqual(self.revert(number).code, 2)
        self.assertEqual(self.bench.path("/etc/app.ini").read_text(), INI.replace("name = x", "name = y"))

    def test_secret(self):
        """revert: a secret is kept nowhere, and its Setting is named as not undone"""
        config = self.bench.scratch / "config/secrets"
        config.mkdir(parents=True, mode=0o700)
        (config / "token").write_text("canaryOfARevert\n")
        (config / "token").chmod(0o600)
        self.bench.declare(named("Setting", path="/etc/app.ini", format="ini", section="main", key="level", secretRef="token"))
        done = self.bench.enforce("--config", config.parent)
        self.assertEqual(done.code, 0, done.text)
        done = self.revert(self.last_pass(), "--config", config.parent)
        self.assertRegex(done.text, "cannot be undone: .*is not kept: it is a secret")
        self.assertNotIn("canaryOfARevert", done.text)


def add_rows(case, rows, words):
    for number, title in enumerate(rows):
        def check(self, title=title):
            self.check_row(title)
        check.__doc__ = f"revert: {title} is {words}"
        setattr(case, f"test_{number:02}", check)


add_rows(Undone, UNDONE, "as before, and only observed from then on")
add_rows(Named, NAMED, "named beforehand as not undone, with the reason, and nothing is touched")


if __name__ == "__main__":
    tap.main()
