#!/usr/bin/env python3
# test: short
"""A control plane with three nodes over loopback: a push in stages, one that pauses, is resumed and aborted, and what
--json prints of nodes."""

import json
import pathlib
import re
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import control  # noqa: E402
import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

NAMES = ("n1", "n2", "n3")


class Stages(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        folder = self.bench.scratch / "plane"
        folder.mkdir(mode=0o700)
        self.plane = control.Plane(folder)
        self.addCleanup(self.plane.stop)
        self.metrics = self.bench.scratch / "control.prom"
        self.assertTrue(self.plane.start("--heartbeat", "1s", "--metrics", self.metrics), self.plane.lines)
        token = self.plane.ask("token", "create", "--multi", "--label", "site=lab").stdout.strip()
        self.nodes = {name: self.start(name, token) for name in NAMES}
        hosting.wait(lambda: self.status()["linked"] == 3)

    def start(self, name, token):
        node = hosting.Bench()
        self.addCleanup(node.close)
        node.configure(f"host: {name}\nreconciliation: {{mode: enforce, interval: 1h}}\n"
                       f'control: ["127.0.0.1:{self.plane.port}"]\n')
        done = fleet.datum("enrol", "--root", node.root, "--config", node.config, "--state", node.state, "--name", name, token)
        self.assertEqual(done.code, 0, done.text)
        node.start().wait_ready()
        return node

    def ask(self, *words):
        done = self.plane.ask(*map(str, words), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def status(self):
        return self.ask("status")[0]

    def push(self, text, *flags):
        self.bench.declare(fleet.file("motd", "/motd", text), fleet.file("long", "/long", text * 3000))
        (self.bench.fleet / "host.yaml").unlink()
        for name in NAMES:
            (self.bench.fleet / f"{name}.yaml").write_text(f"datum: v1alpha1\ntype: Host\nname: {name}\n")
        return self.ask("push", "--fleet", self.bench.fleet, *flags)[0]

    def drift(self, *flags):
        done = self.plane.ask("drift", "--json", *flags)
        self.assertEqual(done.stderr, "")
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def test_silent(self):
        """stages: who is silent is told with since when, and a script may branch on it; others are not"""
        self.assertEqual(self.plane.ask("status", "--silent", "1s").returncode, 0)
        self.nodes["n2"].hosts[0].kill()
        done = hosting.wait(lambda: (asked := self.plane.ask("status", "--silent", "2s", "--json")).returncode == 2 and asked)
        (told,) = map(json.loads, done.stdout.splitlines())
        page = (fleet.TOP / "docs/reference/json.md").read_text(encoding="utf-8")
        members = re.findall(r"^\| `(\w+)` \|", re.search(r"^## control silent\n(.*?)(?=^## )", page,
                                                         re.MULTILINE | re.DOTALL)[1], re.MULTILINE)
        self.assertEqual((list(told), told["node"], told["wasHeard"]), (members, "n2", True))
        self.assertIn("n2: silent for", self.plane.ask("status").stdout)
        self.assertEqual(self.status()["unknown"], 3)  # nothing was declared yet

    def content(self, name):
        path = self.nodes[name].root / "motd"
        return path.read_text() if path.is_file() else None

    def kinds(self, kind):
        told = control.subprocess.run([control.CONTROL, "history", "--state", self.plane.state, "--json"],
                                      capture_output=True, text=True)
        return [record["fields"] for record in map(json.loads, told.stdout.splitlines()) if record["kind"] == kind]

    def test_stages(self):
        """stages: each begins when the one before is converged, in the order of names, and all have it in the end"""
        pushed = self.push("one\n", "--stages", "1,2")
        self.assertEqual((pushed["nodes"], pushed["later"]), (1, 2))
        hosting.wait(lambda: self.status()["match"] == 3)
        self.assertEqual([self.content(name) for name in NAMES], ["one\n"] * 3)
        self.assertEqual([each["node"] for each in self.kinds("declarationReleased")], list(NAMES))
        self.assertEqual([each["stage"] for each in self.kinds("stageBegun")], [1, 2])
        hosting.wait(lambda: "\ndatum_control_nodes_matching 3\n" in self.metrics.read_text())
        self.assertIn("\ndatum_control_nodes 3\n", "\n" + self.metrics.read_text())
        page = (fleet.TOP / "docs/reference/json.md").read_text(encoding="utf-8")
        members = {title: re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE) for title, body in re.findall(
            r"^## (control .*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)}
        self.assertEqual(list(pushed), members["control push"])
        for node in self.ask("nodes"):
            self.assertEqual(list(node), members["control node"])
            self.assertEqual((node["condition"], node["labels"]), ("converged", {"site": "lab"}))

    def test_pause(self):
        """stages: a failed action pauses a push until a person goes on or aborts it; nodes that wait get nothing"""
        (self.nodes["n1"].root / "long").mkdir()
        (self.nodes["n1"].root / "long/mine").write_text("not to be lost\n")
        self.push("one\n", "--stages", "1,2")
        hosting.wait(lambda: "paused: n1" in self.status()["stage"])
        self.assertEqual([self.content("n2"), self.content("n3")], [None, None])
        self.assertEqual(self.status()["flags"]["failed"], ["n1"])
        hosting.wait(lambda: self.drift() == (2, [{"resource": "File[long]", "count": 1, "nodes": ["n1"]}]))
        self.assertEqual(self.drift("--label", "site=far"), (0, []))
        self.assertEqual(self.ask("push", "resume")[0]["done"], "pushResume")
        hosting.wait(lambda: self.content("n3") == "one\n")
        self.push("two\n", "--stages", "1,2")
        hosting.wait(lambda: "paused: n1" in self.status()["stage"])
        self.ask("push", "abort", "--reason", "n1 is in the way")
        self.assertIn("aborted", self.status()["stage"])
        self.assertEqual(self.plane.ask("push", "resume").returncode, 1)
        self.assertEqual([self.content("n2"), self.content("n3")], ["one\n"] * 2)
        self.assertEqual((self.nodes["n1"].root / "long/mine").read_text(), "not to be lost\n")


if __name__ == "__main__":
    tap.main()
