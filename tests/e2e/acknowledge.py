#!/usr/bin/env python3
# test: short
"""`datum ack`: who, why and until when stand beside a known drift everywhere, and the word never changes."""

import pathlib
import re
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

WORDS = "vendor mends it, ticket 4711"


class Acknowledge(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.bench.declare(fleet.file("a", "/a", "declared\n"), fleet.file("b", "/b", "declared\n"))
        self.bench.observe()

    def ack(self, *arguments):
        return fleet.datum("ack", *arguments, "--state", self.bench.state)

    def status(self, *arguments):
        return fleet.datum("status", "--state", self.bench.state, *arguments)

    def test_shown(self):
        """ack: status, observe, plan, history and their JSON tell who, why and until when; the word stays"""
        done = self.ack("/a", "--until", "7d", "--reason", WORDS)
        self.assertEqual(done.code, 0, done.text)
        self.assertRegex(done.out, r"^/a: acknowledged until \d{4}-\d\d-\d\dT")
        told = rf"acknowledged by \S+ until \S+: {re.escape(WORDS)}"
        status = self.status()
        self.assertEqual(status.code, 2)
        self.assertRegex(status.out, r"h1: drifted, 2 drifted, 1 acknowledged")
        self.assertRegex(status.out, told)
        self.assertLess(status.out.index("File[b]"), status.out.index("File[a]"), "those that nobody knows of come first")
        for verb in ("observe", "plan"):
            run = self.bench.run(verb)
            self.assertEqual(run.code, 2, run.text)
            self.assertEqual(len(re.findall(told, run.out)), 1, run.out)
            lines = {line["reference"]: line["acknowledged"] for line in self.bench.run(verb, "--json").lines if "reference" in line}
            self.assertEqual((lines["File[a]"]["reason"], lines["File[b]"]), (WORDS, None))
        resources = {line["reference"]: line for line in self.status("--json").lines[0]["resources"]}
        self.assertEqual((resources["File[a]"]["acknowledged"]["reason"], resources["File[b]"]["acknowledged"]), (WORDS, None))
        history = fleet.datum("history", "/a", "--state", self.bench.state)
        self.assertRegex(history.out, rf"targetAcknowledged .*{re.escape(WORDS)}")

    def test_lifted(self):
        """ack: --lift ends it, by reference as well as by path, and a second one is refused"""
        self.ack("/a", "--until", "2h", "--reason", WORDS)
        self.assertEqual(self.ack("File[a]", "--lift").code, 0)
        self.assertNotIn("acknowledged", self.status().out)
        again = self.ack("/a", "--lift")
        self.assertEqual((again.code, "is not acknowledged" in again.err), (1, True), again.text)

    def test_expires(self):
        """ack: once its time is past nothing is acknowledged any more"""
        done = self.ack("/a", "--until", "1ms", "--reason", WORDS)
        self.assertEqual(done.code, 0, done.text)
        self.assertNotIn(WORDS, self.status().out)

    def test_refused(self):
        """ack: unknown targets, times that are past or none, and missing words are refused and record nothing"""
        before = len(self.bench.events())
        for words, arguments in (("neither declared nor owned", ("/nowhere", "--until", "1h", "--reason", "x")),
                                 ("no resource of that name", ("File[x]", "--until", "1h", "--reason", "x")),
                                 ("is past", ("/a", "--until", "2001-01-01T00:00:00Z", "--reason", "x")),
                                 ("was expected", ("/a", "--until", "tomorrow", "--reason", "x")),
                                 ("--until", ("/a", "--reason", "x")), ("--reason", ("/a", "--until", "1h")),
                                 ("excludes", ("/a", "--until", "1h", "--lift")),
                                 ("--reason", ("/a", "--until", "1h", "--reason", "a\nb"))):
            with self.subTest(arguments):
                done = self.ack(*arguments)
                self.assertEqual((done.code, done.out, words in done.err), (1, "", True), done.text)
        added = [event["kind"] for event in self.bench.events()[before:]]
        self.assertEqual(set(added) - {"storeOpened", "storeClosed"}, set(), added)

    def test_no_store(self):
        """ack: without a store there is nothing to acknowledge, and none is made"""
        done = fleet.datum("ack", "/a", "--until", "1h", "--reason", "x", "--state", self.bench.scratch / "none")
        self.assertEqual((done.code, (self.bench.scratch / "none").exists()), (1, False), done.text)


if __name__ == "__main__":
    tap.main()
