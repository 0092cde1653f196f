#!/usr/bin/env python3
# test: long root
"""A validator that never ends: after its limit of 30 seconds it is gone, its action failed, and the pass goes on."""

from validators import Case, fleet, tap


class Hanging(Case):
    def test_hangs(self):
        """a validator that hangs is killed with all its children, and the rest of the pass is done"""
        self.validator("#!/bin/sh\necho begun\nwhile :; do read -r line < /proc/self/status; done &\nwait\n")
        self.declare("new\n", fleet.file("other", "/other", "x\n"), mode="0644")
        run = self.bench.enforce("--json")
        self.assertIn("it did not end within 30 seconds and was killed", self.action(run)["message"])
        self.assertEqual(self.action(run)["output"], "begun\n")
        self.assertEqual(self.at.read_text(), "old\n")
        self.assertTrue((self.bench.root / "other").exists())
        self.clean()


if __name__ == "__main__":
    tap.main()
