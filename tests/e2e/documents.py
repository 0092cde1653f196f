#!/usr/bin/env python3
# test: short
"""The example fleets and the reference of documents, held against the program itself."""

import json
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
EXAMPLES = TOP / "docs/examples"


def run(*arguments):
    return subprocess.run([str(DATUM), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def hosts_of(fleet):
    text = "\n---\n".join(path.read_text(encoding="utf-8") for path in fleet.rglob("*.yaml"))
    return sorted(re.findall(r"^type: Host\nname: (\S+)$", text, re.MULTILINE))


def rendered(fleet, host):
    return json.loads(run("render", "--fleet", fleet, "--host", host, "--json").stdout)


def documented_types():
    """Fields by type, as docs/reference/documents.md has them."""
    text = (TOP / "docs/reference/documents.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text.partition("## Resource types")[2], flags=re.MULTILINE)[1:]
    return {section.split("\n")[0]: set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) for section in sections}


def schema_types():
    """Fields by type, as `datum schema` has them."""
    schema = json.loads(run("schema").stdout)

    def resolve(node):
        while isinstance(node, dict) and "$ref" in node:
            target = schema
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    found = {}

    def walk(node):
        if isinstance(node, dict):
            properties = node.get("properties", {})
            kind = resolve(properties.get("type", {}))
            name = kind.get("const") or (kind.get("enum") or [None])[0] if isinstance(kind, dict) else None
            if "desired" in properties and isinstance(name, str):
                found[name] = set(resolve(properties["desired"]).get("properties", {}))
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(schema)
    return found


class Documents(unittest.TestCase):
    def test_sound(self):
        """documents: every example fleet is sound for all its hosts"""
        fleets = sorted(path.parent for path in EXAMPLES.glob("*/datum.yaml"))
        self.assertEqual([fleet.name for fleet in fleets], ["baseline", "first", "web"])
        for fleet in fleets:
            with self.subTest(fleet.name):
                done = run("validate", "--fleet", fleet)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_baseline(self):
        """documents: every host of the baseline gets at least 150 resources"""
        for host in hosts_of(EXAMPLES / "baseline"):
            with self.subTest(host):
                self.assertGreaterEqual(len(rendered(EXAMPLES / "baseline", host)["resources"]), 150)

    def test_repeatable(self):
        """documents: two renders of one fleet give one digest"""
        first, second = (rendered(EXAMPLES / "web", "web-1")["digest"] for _ in range(2))
        self.assertEqual(first, second)

    def test_override(self):
        """documents: the canary's override changes the two resources it names, and no other"""
        def bodies(host):
            return {resource["reference"]: resource["digest"] for resource in rendered(EXAMPLES / "web", host)["resources"]}
        steady, canary = bodies("web-1"), bodies("web-2")
        self.assertEqual(steady.keys(), canary.keys())
        # The host's own name stands in the site's template, so that differs between any two hosts.
        self.assertEqual({name for name in steady if steady[name] != canary[name]},
                         {"File[nginx-limits]", "Package[shop]", "File[nginx-site]"})

    def test_reference(self):
        """documents: the reference has exactly the types and fields of the program's schema"""
        self.assertEqual(documented_types(), schema_types())


if __name__ == "__main__":
    tap.main()
