#!/usr/bin/env python3
# test: short root
"""A target that somebody keeps changing: three corrections in 24 hours make it contested. Real passes over the command
line; hours pass in a time namespace, whose boot clock is ahead, while the wall clock stays where it is."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

HOUR_S = 3600


def after(hours):
    return ["unshare", "--time", "--boottime", str(int(hours * HOUR_S)), "--fork"] if hours else []


class Contested(unittest.TestCase):
    def setUp(self):
        if subprocess.run([*after(1), "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no time namespaces here")
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.file = self.bench.root / "motd"
        self.bench.declare(fleet.file("motd", "/motd", "declared\n", mode="0644"), fleet.file("calm", "/calm", "calm\n"))
        self.assertEqual(self.bench.enforce().code, 0)

    def fight(self, *hours, text="theirs"):
        """One change by somebody and one correction at each of these hours."""
        for number, hour in enumerate(hours):
            self.file.write_text(f"{text} {number}\n")
            done = self.bench.enforce(before=after(hour))
            self.assertEqual(done.code, 0, done.text)

    def status(self, hours=0):
        """The status as JSON, that many hours after the machine's boot clock."""
        done = fleet.datum("status", "--state", self.bench.state, "--json", before=after(hours))
        self.assertEqual(done.code, 0, done.text)
        return done.lines[0]

    def events(self, kind):
        return self.bench.events("--kind", kind)

    def test_three_times(self):
        """contested: two corrections are none, the third is said once, and the fourth says nothing new"""
        self.fight(0, 1)
        self.assertNotIn("contested", self.status()["flags"])
        self.assertEqual(self.status()["contested"], [])
        self.fight(2)
        self.assertEqual(len(self.events("targetContested")), 1)
        self.assertIn("contested", self.status(2)["flags"])
        self.fight(3, 4)
        self.assertEqual(len(self.events("targetContested")), 1)
        self.assertEqual(self.events("targetContested")[0]["event"]["corrections"], 3)

    def test_shown(self):
        """contested: status names the target, when it was corrected and from what; history and the journal tell it"""
        self.fight(0, 1, 2)
        contested = self.status(2)["contested"]
        self.assertEqual([(line["reference"], line["target"]) for line in contested], [("File[motd]", "/motd")])
        corrections = contested[0]["corrections"]
        self.assertEqual([[drift["field"] for drift in one["from"]] for one in corrections], [["content"]] * 3)
        self.assertEqual(len({one["from"][0]["observed"] for one in corrections}), 3, "each what was there then")
        self.assertEqual([one["seq"] for one in corrections],
                         [event["seq"] for event in self.events("actionSucceeded") if event["event"]["target"] == "/motd"][-3:])
        text = fleet.datum("status", "--state", self.bench.state, before=after(2)).out
        self.assertRegex(text, r"\[.*contested.*\]")
        self.assertRegex(text, r"contested +File\[motd\] +/motd\n( +corrected .* from content sha256:.*\n){3}")
        self.assertIn("targetContested", fleet.datum("history", "/motd", "--state", self.bench.state).out)
        finished = self.events("passFinished")[-1]["event"]["flags"]
        self.assertIn("contested", finished)

    def test_more_than_a_day(self):
        """contested: three corrections over more than a day are none, though the wall clock did not move"""
        self.fight(0, 13, 26, 39)
        self.assertEqual(self.events("targetContested"), [])
        self.assertNotIn("contested", self.status(39)["flags"])

    def test_peace(self):
        """contested: a day of peace ends it, also for a status that nobody's pass came before"""
        self.fight(0, 1, 2)
        self.assertIn("contested", self.status(25)["flags"])
        self.assertNotIn("contested", self.status(27)["flags"])
        self.assertEqual(self.status(27)["contested"], [])
        self.assertEqual(self.bench.enforce(before=after(27)).code, 0)
        self.assertNotIn("contested", self.status(27)["flags"])

    def test_no_tight_loop(self):
        """contested: one pass corrects once, and a converged pass over it appends no more than any other"""
        self.fight(0, 1, 2)
        self.file.write_text("theirs again\n")
        before = len(self.events("actionSucceeded"))
        self.assertEqual(self.bench.enforce(before=after(3)).code, 0)
        self.assertEqual(len(self.events("actionSucceeded")), before + 1)
        records = len(self.bench.events())
        self.assertEqual(self.bench.enforce(before=after(3)).code, 0)
        self.assertLessEqual(len(self.bench.events()) - records, 4)

    def test_declaration(self):
        """contested: what a changed declaration changes is no correction"""
        for number in range(4):
            self.bench.declare(fleet.file("motd", "/motd", f"version {number}\n"), fleet.file("calm", "/calm", "calm\n"))
            self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual(self.events("targetContested"), [])

    def test_sensitive(self):
        """contested: what a sensitive target was corrected from stays redacted"""
        self.bench.declare(fleet.file("motd", "/motd", "declared\n", sensitive=True), fleet.file("calm", "/calm", "calm\n"))
        self.assertEqual(self.bench.enforce().code, 0)
        self.file.chmod(0o600)
        self.fight(0, 1, 2, text="canary-51")
        for form in ([], ["--json"]):
            done = fleet.datum("status", "--state", self.bench.state, *form, before=after(2))
            self.assertIn("(redacted)", done.out)
            self.assertNotIn("canary", done.out)
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    tap.main()
