#!/usr/bin/env python3
# test: short
"""Orders of a control plane to a node as programs: a hold and its lift, told to a node that is linked or comes back, kept
over deaths of both ends, beside a hold of the machine's own; and who has not acknowledged one."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import mesh  # noqa: E402
import tap  # noqa: E402


class Orders(unittest.TestCase):
    declare, push, enrol, content = mesh.Mesh.declare, mesh.Mesh.push, mesh.Mesh.enrol, mesh.Mesh.content

    def setUp(self):
        mesh.Mesh.setUp(self)
        self.assertEqual(self.enrol().code, 0)
        self.host = self.bench.start()
        self.host.wait_ready()
        hosting.wait(lambda: self.plane.node()["linked"])
        self.push("one\n")
        self.host.wait_until(lambda: self.content() == "one\n")

    def by_person(self, verb):
        """After the pass that the node runs by itself where an order came."""
        return hosting.wait(lambda: (done := mesh.Mesh.by_person(self, verb)).code != 3 and done)

    def ask(self, *words):
        done = subprocess.run([mesh.CONTROL, *words, "--socket", self.plane.socket], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=mesh.LIMIT_S)
        return done.returncode, done.stdout, done.stderr

    def orders(self, *flags):
        code, out, _ = self.ask("orders", "--json", *flags)
        return code, [json.loads(line) for line in out.splitlines()]

    def acknowledged(self, order):
        """The order to the node, once it says that it was carried out."""
        return hosting.wait(lambda: (found := self.orders("--all"))[0] == 0 and
                            [each for each in found[1] if (each["order"], each["state"]) == (order, "acknowledged")])[0]

    def holds(self):
        return [(event["kind"], event["event"]["origin"]) for event in self.bench.events()
                if event["kind"] in ("holdSet", "holdLifted")]

    def history(self, kind):
        told = subprocess.run([mesh.CONTROL, "history", "--state", self.plane.folder / "state", "--json"],
                              capture_output=True, text=True, check=True)
        return [record["fields"] for record in map(json.loads, told.stdout.splitlines()) if record["kind"] == kind]

    def test_hold_and_lift(self):
        """orders: a held node changes nothing, with what is pushed too, says so, and goes on after the signed lift"""
        code, out, err = self.ask("hold", fleet.HOST, "--reason", "database migration")
        self.assertEqual((code, "1 node, 1 of them linked" in out), (0, True), out + err)
        order = self.acknowledged("hold")
        page = (fleet.TOP / "docs/reference/json.md").read_text(encoding="utf-8")
        members = re.findall(r"^\| `(\w+)` \|", re.search(r"^## control order\n(.*?)(?=^## )", page,
                                                         re.MULTILINE | re.DOTALL)[1], re.MULTILINE)
        self.assertEqual(list(order), members)
        self.assertEqual((order["node"], order["number"], order["reason"], order["until"]),
                         (fleet.HOST, 1, "database migration", ""))
        node = hosting.wait(lambda: "held" in (now := self.plane.node())["report"]["flags"] and now)
        self.assertEqual((node["report"]["mode"], node["order"]["state"]), ("observe", "acknowledged"))
        self.push("two\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        done = self.by_person("reconcile")
        self.assertEqual((done.code, self.content()), (2, "one\n"), done.text)
        said = fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state)
        self.assertIn("database migration", said.text)
        self.assertEqual(self.ask("lift", fleet.HOST)[0], 0)
        self.acknowledged("lift")
        hosting.wait(lambda: self.plane.node()["report"]["mode"] == "enforce")
        self.assertEqual(self.by_person("reconcile").code, 0)
        self.assertEqual(self.content(), "two\n")
        self.assertEqual(self.holds(), [("holdSet", "link"), ("holdLifted", "link")])
        self.assertEqual([each["carriedOut"] for each in self.history("orderAnswered")], [True, True])
        hold, lift = self.history("orderIssued")
        self.assertEqual((bool(hold["order"]["signature"]), bool(lift["order"]["signature"])), (False, True))
        self.assertTrue(hold["by"]["name"])
        code, _, err = self.ask("lift", "--all")
        self.assertEqual(code, 1)
        self.assertIn("is not held from here", err)

    def test_local_hold(self):
        """orders: a lift ends no hold that was set at the machine, nor does the end of that lift the link's"""
        (self.bench.config / "hold").write_text("reason: mine\n")
        self.assertEqual(self.ask("hold", "--all", "--reason", "theirs")[0], 0)
        self.acknowledged("hold")
        self.assertEqual(self.ask("lift", "--all")[0], 0)
        self.acknowledged("lift")
        self.motd.write_text("by hand\n")
        self.assertEqual((self.by_person("reconcile").code, self.content()), (2, "by hand\n"))
        self.assertEqual(self.ask("hold", "--all", "--reason", "theirs")[0], 0)
        self.acknowledged("hold")
        (self.bench.config / "hold").unlink()
        self.assertEqual((self.by_person("reconcile").code, self.content()), (2, "by hand\n"))
        self.assertEqual(self.host.stop(), 0, self.host.said)
        self.assertEqual((self.by_person("reconcile").code, self.content()), (2, "by hand\n"))

    def test_away(self):
        """orders: a node that comes back holds before it runs a pass, whoever died meanwhile; one that did not is told"""
        self.way.hold_back(True)
        hosting.wait(lambda: not self.plane.node()["linked"])
        code, out, err = self.ask("hold", "--all", "--reason", "stop")
        self.assertEqual((code, "0 of them linked" in out), (0, True), out + err)
        code, waiting = self.orders()
        self.assertEqual((code, [each["state"] for each in waiting]), (2, ["waiting"]))
        self.assertIn("waiting (no link)", self.ask("orders")[1])
        self.plane.end(signal.SIGKILL)
        hosting.wait(lambda: [event["event"]["to"] for event in self.bench.events("--kind", "lifecycleChanged")][-1] ==
                     "disconnected")
        self.motd.write_text("by hand\n")
        self.plane.start()
        self.way.break_all()
        self.way.hold_back(False)
        self.acknowledged("hold")
        hosting.wait(lambda: [event["event"]["trigger"] for event in self.bench.events("--kind", "passStarted")][-1] ==
                     "reconnect")
        hosting.wait(lambda: self.plane.node()["condition"] == "drifted")
        self.assertEqual(self.content(), "by hand\n")
        kinds = [event["kind"] for event in self.bench.events()]
        self.assertLess(kinds.index("holdSet"), len(kinds) - 1 - kinds[::-1].index("passStarted"))
        self.host.kill()
        self.host.wait_end()
        self.host = self.bench.start()
        self.host.wait_pass()
        self.assertEqual(self.content(), "by hand\n")
        self.assertEqual(self.ask("lift", fleet.HOST)[0], 0)
        self.acknowledged("lift")
        # It makes up by itself for what the hold kept back.
        hosting.wait(lambda: self.content() == "one\n")
        self.assertEqual((self.by_person("reconcile").code, self.content()), (0, "one\n"))

    def test_ends_by_itself(self):
        """orders: a hold with a time ends by it; what is no order for any node is refused in words"""
        self.assertEqual(self.ask("hold", "--label", "role=none", "--reason", "x")[0], 1)
        for words in (["hold", "--all"], ["hold", "--reason", "x"], ["hold", "nobody", "--reason", "x"], ["lift"],
                      ["hold", fleet.HOST, "--all", "--reason", "x"], ["hold", "--all", "--for", "soon", "--reason", "x"],
                      ["hold", "--all", "--for", "5000d", "--reason", "x"], ["hold", "--all", "--reason", "x" * 1001]):
            with self.subTest(words):
                code, out, err = self.ask(*words)
                self.assertEqual((code, out, bool(err)), (1, "", True))
        self.assertEqual(self.history("orderIssued"), [])
        self.assertEqual(self.ask("hold", "--all", "--for", "1s", "--reason", "short")[0], 0)
        self.acknowledged("hold")
        self.motd.write_text("by hand\n")
        hosting.wait(lambda: self.by_person("reconcile").code == 0)
        self.assertEqual(self.content(), "one\n")


if __name__ == "__main__":
    tap.main()
