#!/usr/bin/env python3
# test: short
"""docs/reference/commands.md says of every command exactly what `datum COMMAND --help` says: flags, values and
arguments, no more and no fewer; and a wrong use ends with 1."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))

import tap  # noqa: E402

DATUM = pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build")) / "src/datum/datum"
EVERYWHERE = {"--help", "--help-all", "--version"}


def read_table():
    spec = importlib.util.spec_from_file_location("generate", TOP / "docs/reference/generate.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    return generator.parse((TOP / generator.SOURCE).read_text(encoding="utf-8"))


def run(*arguments):
    return subprocess.run([str(DATUM), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


class Help(unittest.TestCase):
    def setUp(self):
        self.table = read_table()
        self.commands = [command for group in self.table["groups"] for command in group["commands"]]

    def test_commands(self):
        """help: the commands of the program are those of the table"""
        def listed(*words):
            text = run(*words, "--help").stdout.partition("Subcommands:")[2]
            return set(re.findall(r"^  ([a-z-]+)", text, re.MULTILINE))
        self.assertEqual(listed(), {command["name"].split()[0] for command in self.commands})
        for parent in {command["name"].split()[0] for command in self.commands if " " in command["name"]}:
            names = {command["name"] for command in self.commands if command["name"].startswith(parent + " ")}
            self.assertEqual({f"{parent} {word}" for word in listed(parent)}, names)

    def test_flags(self):
        """help: each command takes the flags of its row, with their values, and no other"""
        for command in self.commands:
            with self.subTest(command["name"]):
                done = run(*command["name"].split(), "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                found = dict(re.findall(r"^  (?:-\w,)?(--[a-z-]+)(?: ([A-Z]+(?: [A-Z]\b)*)(?![a-z]))?", done.stdout, re.MULTILINE))
                wanted = {flag: self.table["flags"][flag][0] for flag in command["flags"]}
                self.assertEqual({flag: value for flag, value in found.items() if flag not in EVERYWHERE}, wanted)

    def test_arguments(self):
        """help: each command takes the arguments of its row"""
        for command in self.commands:
            with self.subTest(command["name"]):
                text = run(*command["name"].split(), "--help").stdout
                positionals = text.partition("Positionals:")[2].partition("\n\n")[0].partition("Options:")[0]
                wanted = re.findall(r"[A-Z]+", command["arguments"])
                self.assertEqual(re.findall(r"^  ([A-Z]+)\b", positionals, re.MULTILINE), wanted)

    def test_summaries(self):
        """help: the program describes each command as its row does"""
        for command in self.commands:
            with self.subTest(command["name"]):
                self.assertIn(command["summary"], run(*command["name"].split(), "--help").stdout)

    def test_wrong_use(self):
        """help: an unknown command, an unknown flag and a missing argument end with 1 and say so on standard error"""
        for words in ([], ["fly"], ["observe", "--fly"], ["explain"], ["reconcile", "--mode", "fly"], ["journal"]):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual((done.returncode, bool(done.stderr)), (1, True))

    def test_version(self):
        """help: --version names version, commit and store level"""
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^datum \d+\.\d+\.\d+ \(\S+\), store level \d+\n$")


if __name__ == "__main__":
    tap.main()
