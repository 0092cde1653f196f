#!/usr/bin/env python3
# test: short
"""A node and its control plane as programs, over loopback: enrolment, declarations pushed and applied, the journal kept
upstream, a way that breaks or lets nothing through, either end killed and started again."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", fleet.TOP / "build"))
CONTROL = BUILD / "src/datum-control/datum-control"
LIMIT_S = 60  # everything here takes a second or two; a hang is a failure, not a wait


class Way:
    """Between the node and its control plane: passes bytes on, or breaks, or holds everything back without a word."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = None
        self.held = False
        self.gate = None  # while it says so what comes is lost
        self.pairs = {}
        self.wake, self.woken = socket.socketpair()
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over:
            waits = [self.woken] if self.held else [self.listener, self.woken, *self.pairs]
            for ready in select.select(waits, [], [])[0]:
                if ready is self.woken:
                    if self.woken.recv(1) == b"b":
                        self.drop()
                    break
                if ready is self.listener:
                    self.take()
                elif ready in self.pairs:
                    self.pass_on(ready)

    def take(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            near.close()
            return
        self.pairs[near], self.pairs[far] = far, near

    def pass_on(self, side):
        other = self.pairs[side]
        try:
            data = side.recv(65536)
            if data:
                if not (self.gate and self.gate()):
                    other.sendall(data)
                return
        except OSError:
            pass
        self.pairs.pop(side, None)
        self.pairs.pop(other, None)
        side.close()
        other.close()

    def drop(self):
        for side in list(self.pairs):
            side.close()
        self.pairs.clear()

    def break_all(self):
        self.wake.send(b"b")

    def hold_back(self, held):
        self.held = held
        self.wake.send(b"w")

    def close(self):
        self.over = True
        self.wake.send(b"w")
        self.thread.join(LIMIT_S)
        self.drop()
        for each in (self.listener, self.wake, self.woken):
            each.close()


class Plane:
    """`datum-control serve` in a folder of its own, asked through its socket."""

    def __init__(self, folder, way):
        self.folder, self.way = folder, way
        self.socket = folder / "run/control.sock"
        self.process = None

    def start(self, *flags):
        self.log = open(self.folder / "log", "ab")
        before = self.log.tell()
        self.process = subprocess.Popen(
            [CONTROL, "serve", "--state", self.folder / "state", "--socket", self.socket, "--listen", "127.0.0.1:0",
             "--heartbeat", "1s", *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        said = hosting.wait(lambda: re.search(rb"listens at \S+:(\d+)", (self.folder / "log").read_bytes()[before:]))
        self.way.target = int(said[1])

    def end(self, number=signal.SIGTERM):
        if self.process is None:
            return
        self.process.send_signal(number)
        self.process.wait(LIMIT_S)
        self.log.close()
        self.process = None

    def ask(self, *words):
        done = subprocess.run([CONTROL, *map(os.fspath, words), "--socket", self.socket], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S)
        if done.returncode == 1:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def token(self, *flags):
        return re.search(r"dtm1_\w+", self.ask("token", "create", *flags))[0]

    def node(self, name=fleet.HOST):
        return json.loads(self.ask("node", name, "--json"))


class Mesh(unittest.TestCase):
    def setUp(self):
        self.bench = hosting.Bench()
        self.addCleanup(self.bench.close)
        self.way = Way()
        self.addCleanup(self.way.close)
        folder = self.bench.scratch / "plane"
        folder.mkdir()
        self.plane = Plane(folder, self.way)
        self.addCleanup(self.plane.end)
        self.plane.start()
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: 1h}}\n"
                             f'control: ["127.0.0.1:{self.way.port}"]\n')
        self.motd = self.bench.root / "motd"

    def declare(self, text):
        self.bench.declare(fleet.file("motd", "/motd", text), fleet.file("long", "/long", text * 3000))

    def push(self, text):
        self.declare(text)
        self.plane.ask("push", "--fleet", self.bench.fleet)

    def enrol(self, *arguments):
        token = self.bench.scratch / "token"
        token.write_text(self.plane.token("--names", "h*"))
        return fleet.datum("enrol", "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state,
                           "--name", fleet.HOST, "--from-file", token, *arguments)

    def content(self):
        return self.motd.read_text() if self.motd.exists() else None

    def kinds(self):
        return [event["kind"] for event in self.bench.events()]

    def is_kept(self):
        """Everything that the node's journal holds is kept upstream, record for record."""
        kept = subprocess.run([CONTROL, "journal", fleet.HOST, "--state", self.plane.folder / "state", "--json"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
        ours = [(event["seq"], event["kind"]) for event in self.bench.events()]
        theirs = [(event["seq"], event["kind"]) for event in map(json.loads, kept.stdout.splitlines())]
        self.assertEqual(theirs, ours[:len(theirs)])
        return len(theirs) == len(ours)

    def test_name(self):
        """mesh: a store made by enrol --name is that node's: the service opens it with and without the name in agent.yaml"""
        done = fleet.datum("enrol", "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state,
                           "--name", "A B", "token")
        self.assertEqual((done.code, self.bench.state.exists()), (1, False), done.text)
        self.assertIn("--name A B", done.text)
        for name in ("", f"host: {fleet.HOST}\n", ""):
            self.bench.configure(f'{name}reconciliation: {{mode: enforce, interval: 1h}}\ncontrol: ["127.0.0.1:{self.way.port}"]\n')
            if "storeCreated" not in (self.kinds() if self.bench.state.exists() else ()):
                done = self.enrol()
                self.assertEqual(done.code, 0, done.text)
            host = self.bench.start()
            host.wait_ready()
            hosting.wait(lambda: self.plane.node()["linked"])
            self.assertEqual(host.stop(), 0, host.said)
        self.bench.configure("host: another\n")
        refused = self.bench.start()
        self.assertEqual(refused.wait_end(), 74)
        self.assertIn(f"bound to the host {fleet.HOST}, not to another", refused.said)

    def test_life(self):
        """mesh: enrolled without the service, pushed to, applied, and everything that it did is kept upstream"""
        done = self.enrol()
        self.assertEqual((done.code, "enrolled: h1" in done.out), (0, True), done.text)
        key = self.bench.state / "identity/key.pem"
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
        host = self.bench.start()
        host.wait_ready()
        hosting.wait(lambda: self.plane.node()["linked"])
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 1)
        node = hosting.wait(lambda: (now := self.plane.node())["condition"] == "converged" and now)
        self.assertEqual(node["report"]["lifecycle"], "enrolled")
        self.assertEqual(node["report"]["mode"], "enforce")
        self.assertIn("hostname", node["profile"])
        self.assertIn("memory", node["inventory"])
        hosting.wait(self.is_kept)
        self.push("two\n")
        host.wait_until(lambda: self.content() == "two\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        self.assertEqual(host.stop(), 0, host.said)
        kinds = self.kinds()
        for kind in ("keyCreated", "enrolmentRequested", "enrolmentGranted", "linkUp"):
            self.assertEqual(kinds.count(kind), 1, kinds)
        for kind in ("declarationReceived", "declarationStored", "declarationAccepted"):
            self.assertEqual(kinds.count(kind), 2, kinds)
        self.assertEqual(kinds.count("declarationSuperseded"), 1, kinds)
        triggers = [event["event"]["trigger"] for event in self.bench.events("--kind", "passStarted")]
        self.assertEqual(triggers, ["declaration", "declaration"])
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)

    def test_longest_names(self):
        """mesh: a mesh and a node with names of 63 are made, enrolled and linked, and both ends start again with them"""
        mesh, node = "m" * 63, "n" * 63
        self.plane.end()
        shutil.rmtree(self.plane.folder / "state")
        self.plane.start("--mesh", mesh)
        token = self.bench.scratch / "token"
        token.write_text(self.plane.token())
        self.bench.configure(f'host: {node}\nreconciliation: {{mode: enforce}}\ncontrol: ["127.0.0.1:{self.way.port}"]\n')
        done = fleet.datum("enrol", "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state,
                           "--name", node, "--from-file", token)
        self.assertEqual((done.code, f"enrolled: {node} in {mesh}" in done.out), (0, True), done.text)
        for _ in range(2):
            host = self.bench.start()
            host.wait_ready()
            hosting.wait(lambda: self.plane.node(node)["linked"])
            self.assertEqual(host.stop(), 0, host.said)
            self.plane.end()
            self.plane.start()

    def test_through_service(self):
        """mesh: enrolled through the service, which is hosted before and linked at once; a second time is refused"""
        host = self.bench.start()
        host.wait_ready()
        done = self.enrol()
        self.assertEqual((done.code, "enrolled: h1" in done.out), (0, True), done.text)
        hosting.wait(lambda: self.plane.node()["linked"])
        again = self.enrol()
        self.assertEqual(again.code, 1, again.text)
        self.assertIn("already", again.text)
        self.assertEqual(host.stop(), 0, host.said)
        self.assertEqual(self.changes(), [("unmanaged", "hosted"), ("hosted", "enrolled")])

    def test_refused(self):
        """mesh: a token that is none, or was used, is refused with what to do, and told; no secret is anywhere"""
        done = fleet.datum("enrol", "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state,
                           "--name", fleet.HOST, self.plane.token("--require", "datum/os=plan9"))
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("datum-control token create", done.text)
        (told,) = self.bench.events("--kind", "enrolmentRefused")
        self.assertIn("plan9", told["event"]["reason"])
        self.assertFalse((self.bench.state / "identity/grant").exists())
        token = (self.bench.scratch / "token")
        self.assertEqual(self.enrol().code, 0)
        secret = token.read_text()[15:80].encode()
        for path in self.bench.scratch.rglob("*"):
            if path.is_file() and path != token:
                self.assertNotIn(secret, path.read_bytes(), path)

    def test_another_mesh(self):
        """mesh: enrolled anew in another mesh it is not held, takes the first declaration and order of it"""
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        for text in ("one\n", "two\n"):
            self.push(text)
            host.wait_until(lambda text=text: self.content() == text)
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 2)
        self.plane.ask("hold", fleet.HOST, "--reason", "migration")
        hosting.wait(lambda: self.plane.node()["order"].get("state") == "acknowledged")
        self.push("never\n")
        hosting.wait(lambda: self.kinds().count("declarationAccepted") == 3)
        self.plane.end()
        shutil.rmtree(self.plane.folder / "state")
        self.plane.start("--mesh", "other")
        done = self.enrol("--new-key")
        self.assertEqual((done.code, "enrolled: h1 in other" in done.out), (0, True), done.text)
        hosting.wait(lambda: self.plane.node()["linked"])
        self.assertEqual(self.kinds().count("holdLifted"), 1)
        self.push("other\n")
        host.wait_until(lambda: self.content() == "other\n")
        hosting.wait(lambda: self.plane.node()["applied"] == {"epoch": 1, "number": 1})
        self.plane.ask("hold", fleet.HOST, "--reason", "numbers begin anew")
        hosting.wait(lambda: self.plane.node()["order"].get("state") == "acknowledged")
        self.motd.write_text("by hand\n")
        self.plane.ask("lift", fleet.HOST)
        host.wait_until(lambda: self.content() == "other\n")  # long before the next beat
        self.assertEqual(host.stop(), 0, host.said)
        accepted = [event["event"]["declaration"]["number"] for event in self.bench.events("--kind", "declarationAccepted")]
        self.assertEqual(accepted, [1, 2, 3, 1])

    def test_by_hand(self):
        """mesh: where a person decides the command asks again until they have"""
        token = self.plane.token("--by-hand")
        arguments = ["enrol", "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state, "--name",
                     fleet.HOST, token]
        once = fleet.datum(*arguments, "--once")
        self.assertEqual(once.code, 3, once.text)
        self.plane.ask("nodes", "accept", fleet.HOST, "--reason", "known")
        done = fleet.datum(*arguments)
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.kinds().count("keyCreated"), 1)

    def test_faults(self):
        """mesh: the way breaks, lets nothing through, either end dies: what was pushed meanwhile arrives, nothing is lost"""
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        self.way.break_all()
        self.push("two\n")
        host.wait_until(lambda: self.content() == "two\n")
        self.way.hold_back(True)
        hosting.wait(lambda: not self.plane.node()["linked"])
        self.motd.write_text("by hand\n")
        self.push("three\n")
        self.way.break_all()
        self.way.hold_back(False)
        host.wait_until(lambda: self.content() == "three\n")
        self.plane.end(signal.SIGKILL)
        self.plane.start()
        hosting.wait(lambda: self.plane.node()["linked"])
        host.kill()
        host.wait_end()
        self.push("four\n")
        host = self.bench.start()
        host.wait_until(lambda: self.content() == "four\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 4)
        self.assertEqual(host.stop(), 0, host.said)
        verified = fleet.datum("journal", "verify", "--state", self.bench.state)
        self.assertEqual(verified.code, 0, verified.text)
        self.assertEqual(self.kinds().count("declarationAccepted"), 4)

    def by_person(self, verb, *arguments):
        return fleet.datum(verb, "--root", self.bench.root, "--config", self.bench.config, "--state", self.bench.state, *arguments)

    def test_upgrade(self):
        """mesh: a node that makes room for another version and is not heard of again is told as silent since that"""
        self.assertEqual(self.enrol().code, 0)
        program = self.bench.scratch / "datum-host"
        shutil.copy(hosting.HOST, program)
        self.bench.configure(f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: 1s}}\n"
                             f'control: ["127.0.0.1:{self.way.port}"]\n')
        host = self.bench.start(program=program)
        host.wait_ready()
        self.push("one\n")
        hosting.wait(lambda: self.plane.node()["applied"]["number"] == 1)
        self.assertEqual(self.plane.node()["report"]["upgradingTo"], "")
        version = self.plane.node()["report"]["hostVersion"]
        shutil.copy(hosting.HOST, self.bench.scratch / "new")
        os.rename(self.bench.scratch / "new", program)
        self.assertEqual(host.wait_end(), 0, host.said)
        self.assertEqual(self.plane.node()["report"]["upgradingTo"], version)
        self.assertIn("upgradePending", subprocess.run([CONTROL, "journal", fleet.HOST, "--state", self.plane.folder / "state"],
                                                       capture_output=True, text=True, timeout=LIMIT_S).stdout)
        said = hosting.wait(lambda: f"{fleet.HOST}: " in (now := self.plane.ask("status")) and now)
        self.assertIn(f"{fleet.HOST}: silent since upgrading to {version}, for ", said)
        (silent,) = json.loads(self.plane.ask("status", "--json"))["silent"]
        self.assertEqual((silent["node"], silent["upgradingTo"]), (fleet.HOST, version))
        self.plane.end(signal.SIGKILL)  # what it knows is in its journal
        self.plane.start()
        said = hosting.wait(lambda: "not heard of" in (now := self.plane.ask("status")) and now)
        self.assertIn(f"silent since upgrading to {version}", said)
        host = self.bench.start(program=program)
        hosting.wait(lambda: (now := self.plane.node())["linked"] and now["report"]["upgradingTo"] == "")
        self.assertNotIn("since upgrading", self.plane.ask("status"))
        self.assertEqual(host.stop(), 0, host.said)

    def test_person(self):
        """mesh: what a person runs on a node is about its accepted declaration, with the service and without, and about no other"""
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        for beside_service in (True, False):
            with self.subTest(beside_service=beside_service):
                self.motd.write_text("by hand\n")
                self.assertEqual(self.by_person("observe").code, 2)
                self.assertEqual(self.content(), "by hand\n")
                self.assertEqual(self.by_person("diff").code, 2)
                done = self.by_person("reconcile")
                self.assertEqual((done.code, self.content()), (0, "one\n"), done.text)
                self.declare("two\n")
                other = self.by_person("reconcile", "--fleet", self.bench.fleet, "--host", fleet.HOST)
                self.assertEqual((other.code, self.content()), (1, "one\n"), other.text)
                self.assertIn("accepted declaration", other.text)
                plan = self.by_person("plan", "--fleet", self.bench.fleet, "--host", fleet.HOST)
                self.assertEqual(plan.code, 2, plan.text)
            if beside_service:
                self.assertEqual(host.stop(), 0, host.said)
        for started in self.bench.events("--kind", "passStarted"):
            self.assertEqual(started["event"]["declaration"]["number"], 1, started)

    def changes(self):
        return [(event["event"]["from"], event["event"]["to"]) for event in self.bench.events("--kind", "lifecycleChanged")]

    def test_alone(self):
        """mesh: alone a node is disconnected, enforces what it accepted last, and tells all of it once when it is back [R01]"""
        self.assertEqual(self.enrol().code, 0)
        host = self.bench.start()
        host.wait_ready()
        self.push("one\n")
        host.wait_until(lambda: self.content() == "one\n")
        self.plane.end(signal.SIGKILL)
        hosting.wait(lambda: self.changes()[-1] == ("enrolled", "disconnected"))
        self.assertEqual(host.stop(), 0, host.said)
        self.motd.write_text("by hand\n")
        host = self.bench.start()
        host.wait_until(lambda: self.content() == "one\n")
        said = fleet.datum("status", "--root", self.bench.root, "--state", self.bench.state)
        self.assertIn("no link", said.text)
        self.assertIn("disconnected", said.text)
        self.plane.start()
        hosting.wait(lambda: self.changes()[-1] == ("disconnected", "enrolled"))
        hosting.wait(lambda: self.plane.node()["condition"] == "converged")
        hosting.wait(self.is_kept)
        self.assertEqual(host.stop(), 0, host.said)
        triggers = [event["event"]["trigger"] for event in self.bench.events("--kind", "passStarted")]
        self.assertEqual(triggers, ["declaration", "start", "reconnect"])


if __name__ == "__main__":
    tap.main()
