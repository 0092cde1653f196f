#!/usr/bin/env python3
# test: long root
"""A node that dies at every boundary between two steps of a pass, in turn: the process alone, and the whole machine.

A boundary is a sync, a rename or a message to the service manager, counted over all threads (boundary.cpp). What the
unit has read, and how often, it writes down itself; the store is asked only by the program."""

import itertools
import os
import pathlib
import select
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from machine import Node, service  # noqa: E402

BOUNDARY = pathlib.Path(fleet.DATUM).parents[2] / "tests/e2e/boundary.so"
READ = "/bin/sh -c 'cat /etc/app-a /etc/app-b >> /srv/read; echo end >> /srv/read'"
UNIT = f"[Service]\nExecStartPre={READ}\nExecStart=/bin/sleep infinity\nExecReload={READ}\n[Install]\nWantedBy=multi-user.target\n"
SPREAD = 4  # a pass over a longer journal may sync or ask once more, or less
HELD_LIMIT_S = 60  # a pass takes a second or two


def target_of(event):
    target = event["event"]["target"]
    return target["name"] if isinstance(target, dict) else target


class Dying(unittest.TestCase):
    def prepare(self, name):
        node = Node(name)
        self.addCleanup(node.drop)
        node.boot()
        node.put("/etc/app-a", "a 0\n")
        node.put("/etc/app-b", "b 0\n")
        node.unit("app.service", UNIT)
        shutil.copy(BOUNDARY, node.path("/usr/lib/boundary.so"))
        self.node = node
        self.declare(0)
        done = node.enforce()
        self.assertEqual(done.code, 0, done.text)

    def declare(self, version):
        files = [fleet.file(name, f"/etc/app-{name}", f"{name} {version}\n") for name in ("a", "b")]
        self.node.declare(*files, service("app", keys={"reloadOn": ["File[a]", "File[b]"]}))

    def reads(self):
        """What the unit read, once for each start and reload."""
        return self.node.path("/srv/read").read_text(encoding="utf-8").split("end\n")[:-1]

    def head(self):
        return max(event["seq"] for event in self.node.events())

    def count_boundaries(self):
        self.declare("counted")
        done = self.node.enforce(before=["env", "LD_PRELOAD=/usr/lib/boundary.so", "COUNT_FILE=/srv/count"])
        self.assertEqual(done.code, 0, done.text)
        return int(self.node.path("/srv/count").read_text(encoding="utf-8"))

    def check_after(self, version, since, known):
        """One more pass, and what it, the unit and the journal say. `known`: reads before this version."""
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        for name in ("a", "b"):
            self.assertEqual(self.node.path(f"/etc/app-{name}").read_text(), f"{name} {version}\n")
        wanted = f"a {version}\nb {version}\n"
        new = self.reads()[known:]
        self.assertEqual(new[-1:], [wanted], "the reload was lost")
        events = [event for event in self.node.events() if event["seq"] > since]
        self.assert_not_repeated(events)
        whole = [read for read in new if read == wanted]
        repeated = [event for event in events if event["kind"] == "notificationDelivered" and event["event"]["repeated"]]
        return events, len(whole), len(repeated)

    def assert_not_repeated(self, events):
        done = [target_of(event) for event in events if event["kind"] == "actionSucceeded"
                or (event["kind"] == "actionRecovered" and event["event"]["outcome"] == "took effect")]
        files = [target for target in done if target.startswith("/etc/app-")]
        self.assertEqual(len(files), len(set(files)), f"finished actions were repeated: {done}")

    def assert_told(self, events, cause):
        """The journal knows that the pass died, and the post-mortem names it."""
        cut = [event for event in events if event["kind"] == "passInterrupted"]
        if not cut:
            return False  # it died before the pass began, or after its last record
        self.assertEqual([event["event"]["cause"] for event in cut], [cause])
        story = self.node.datum("postmortem", str(cut[0]["event"]["pass"]), "--state", self.node.STATE)
        self.assertEqual(story.code, 0, story.text)
        self.assertRegex(story.out.lower(), r"interrupted|crash|reboot")
        return True

    def test_process(self):
        """recovery: the process killed at each boundary of a pass in turn converges next, repeats nothing that was finished, loses no reload, and its post-mortem names the point [R02] [R08]"""
        self.prepare("recover")
        boundaries, told, delivered = self.count_boundaries(), 0, 0
        self.assertGreater(boundaries, 15)
        for boundary in itertools.count(1):
            with self.subTest(boundary=boundary):
                since, known = self.head(), len(self.reads())
                self.declare(boundary)
                died = self.node.enforce(before=["env", "LD_PRELOAD=/usr/lib/boundary.so", f"BOUNDARY={boundary}"])
                if died.code == 0 and boundary > boundaries - SPREAD:
                    break
                self.assertIn(died.code, (137, -9), f"boundary {boundary} of {boundaries}: {died.text}")
                reached = len(self.reads()) > known
                events, times, marked = self.check_after(boundary, since, known)
                self.assertEqual(times, 1 + marked, f"read {times} times, marked {marked}: {self.reads()[known:]}")
                told += self.assert_told(events, "crash")
                delivered += reached
        print(f"# {boundaries} boundaries, {told} passes told as interrupted, {delivered} times the reload had happened")
        self.assertGreater(told, boundaries // 2)
        self.assertGreater(delivered, 0)

    def test_machine(self):
        """recovery: the whole machine killed at each boundary of a pass in turn converges after its next boot, and the unit has read what was written"""
        self.prepare("reboot")
        boundaries, told = self.count_boundaries(), 0
        for boundary in itertools.count(1):
            with self.subTest(boundary=boundary):
                since, known = self.head(), len(self.reads())
                self.declare(boundary)
                if not self.die_at(boundary):
                    self.assertGreater(boundary, boundaries - SPREAD)
                    break
                self.node.boot()
                events, times, _ = self.check_after(boundary, since, known)
                self.assertIn(times, (1, 2))  # at its start, and once more where the cause was told only after it
                told += self.assert_told(events, "reboot")
        print(f"# {boundaries} boundaries, {told} passes told as cut off by a reboot")
        self.assertGreater(told, boundaries // 2)

    def die_at(self, boundary):
        """The pass is held there, and then everything goes. False if it ended before it got there."""
        held = self.node.path("/srv/held")
        if not held.exists():
            os.mkfifo(held)
        command = [self.node.LAB, "exec", self.node.name, "env", "LD_PRELOAD=/usr/lib/boundary.so", f"BOUNDARY={boundary}",
                   "HELD_FILE=/srv/held", "/usr/bin/datum", "reconcile", "--mode", "enforce", "--fleet", "/srv/fleet",
                   "--host", fleet.HOST, "--state", self.node.STATE]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            came, ended = os.open(held, os.O_RDWR | os.O_NONBLOCK), os.pidfd_open(child.pid)
            ready = select.select([came, ended], [], [], HELD_LIMIT_S)[0]
            os.close(came)
            os.close(ended)
            if came not in ready:
                self.assertEqual(child.wait(timeout=HELD_LIMIT_S), 0)
                return False
            self.node.kill()
            child.wait(timeout=HELD_LIMIT_S)
            return True


if __name__ == "__main__":
    tap.main()
