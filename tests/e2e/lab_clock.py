#!/usr/bin/env python3
# test: long root
"""The service in a guest whose clock is today's, then ten years ahead, today's again, ten years back, and today's once more,
over one store: drift is repaired when it starts and at its beats, a hold ends by the clock of the machine, status is of this
moment, and the journal is whole and says where the clock jumped [K03].

Environment: DATUM_LAB (where lab/vm keeps its parts). Needs what lab/vm needs."""

import calendar
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import hosting  # noqa: E402
import tap  # noqa: E402
from guest import LAB, TOOLS, VM, Guest, copy_program, run  # noqa: E402

YEARS = 10 * 365 * 86400
INTERVAL_S = 5
REPAIRED_WITHIN_S = 60  # a beat and a pass, under emulation, on a machine with other work
BOOT_S = 600
# Seconds since the guest began, which no clock's date moves.
SCRIPT = """#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc p /proc; $b mount -t sysfs s /sys; $b mount -o remount,rw /; $b mount -t tmpfs t /run
places="--root /managed --state /state"
config="--config /config"
motd=/managed/motd
up() {{ $b cut -d. -f1 /proc/uptime; }}
repaired() {{
  from=$(up)
  while [ "$($b cat $motd 2>/dev/null)" != hello ]; do
    [ $(($(up) - from)) -gt {limit} ] && {{ echo "@ never $1"; return; }}
    $b sleep 0.2
  done
  echo "@ repaired $1 $(($(up) - from))"
}}
echo "@ clock $($b date +%s)"
/bin/datum status $places --json 2>&1 | $b sed 's/^/@ before /'
$b printf 'by hand\\n' >$motd
/bin/datum-host $places $config >/run/log 2>&1 &
host=$!
{held}
repaired start
for n in 1 2 3; do $b printf 'by hand\\n' >$motd; repaired beat; done
/bin/datum status $places --json 2>&1 | $b sed 's/^/@ status /'
{last}
kill -TERM $host; wait $host; echo "@ ends $?"
$b sed 's/^/@ log /' /run/log
/bin/datum journal verify $places 2>&1 | $b sed 's/^/@ verify /'
for kind in clockJumped storeOpened passStarted passFinished actionSucceeded holdSet holdLifted; do
  /bin/datum journal list $places --kind $kind --json 2>&1 | $b sed "s/^/@ event /"
done
$b sync; $b mount -o remount,ro /
echo "@ all done"; echo o >/proc/sysrq-trigger; $b sleep 9
"""
SET_HOLD = '/bin/datum hold $places $config --for 24h --reason tomorrow >/dev/null || echo "@ not held"'
LIFT_HOLD = f"""$b sleep {4 * INTERVAL_S}
echo "@ held $($b cat $motd)"
/bin/datum hold --lift $places $config >/dev/null || echo "@ not lifted" """


class Clock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in TOOLS:
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"{tool} is not here")
        run(VM, "prepare")
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-clock-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        guest = cls.scratch / "guest"
        for folder in ("bin", "proc", "sys", "dev", "run", "etc", "config", "managed/run", "managed/srv"):
            (guest / folder).mkdir(parents=True)
        shutil.copy(LAB / "initrd/bin/busybox", guest / "bin/busybox")
        for program in (fleet.DATUM, hosting.HOST):
            copy_program(program, guest)
            run("strip", guest / "bin" / os.path.basename(program))
        fleet.write_fleet(guest / "managed/srv/fleet", {"base": [fleet.file("motd", "/motd", "hello\n")]})
        (guest / "config/agent.yaml").write_text(
            f"host: {fleet.HOST}\nreconciliation: {{mode: enforce, interval: {INTERVAL_S}s}}\nsource: /srv/fleet\n")
        plain = {"limit": REPAIRED_WITHIN_S, "held": "", "last": ""}
        for name, parts in (("first", {"last": SET_HOLD}), ("plain", {}), ("held", {"held": LIFT_HOLD})):
            (guest / name).write_text(SCRIPT.format(**{**plain, **parts}))
            (guest / name).chmod(0o755)
        run("chown", "-R", "0:0", guest)
        cls.image = cls.scratch / "guest.img"
        run(VM, "disk", guest, cls.image, "192M")

    def boot(self, script, ahead):
        """What the guest said, by its first word, with its clock that many seconds ahead of today's."""
        base = time.gmtime(time.time() + ahead)
        guest = Guest(self.image, f"/{script}", more=["-rtc", f"base={time.strftime('%Y-%m-%dT%H:%M:%S', base)},clock=vm"])
        try:
            guest.read_until("all done", BOOT_S)
        finally:
            guest.cut()
        said = {}
        for line in guest.lines:
            word, _, rest = line.partition(" ")
            said.setdefault(word, []).append(rest)
        self.assertLess(abs(int(said["clock"][0]) - calendar.timegm(base)), BOOT_S, "the guest has another clock")
        return said

    def check(self, said, ahead):
        self.assertNotIn("never", said, said.get("log"))
        self.assertEqual([line.split()[0] for line in said["repaired"]], ["start", "beat", "beat", "beat"])
        self.assertEqual(said["ends"], ["0"], said.get("log"))
        self.assertTrue(said["verify"][0].startswith("Sound"), said["verify"])
        status = json.loads(said["status"][0])
        self.assertEqual(status["condition"], "converged", status)
        self.assertEqual(set(status["flags"]) & {"stale", "held", "unrecorded"}, set(), status)
        now = time.time() + ahead
        events = [json.loads(line) for line in said["event"]]
        mine = [event for event in events if abs(calendar.timegm(time.strptime(event["time"][:19], "%Y-%m-%dT%H:%M:%S")) - now) < 3600]
        kinds = [event["kind"] for event in mine]
        # One correction at the start and one for each drift made by hand: nothing twice, nothing left out.
        return mine, kinds

    def test_years(self):
        """clock: ten years ahead and back, on one store: repaired at each start and beat, sound, of this moment [K03]"""
        first = self.boot("first", 0)
        _, kinds = self.check(first, 0)
        self.assertEqual(kinds.count("actionSucceeded"), 4, kinds)
        self.assertEqual((kinds.count("holdSet"), kinds.count("clockJumped")), (1, 0), kinds)
        # The hold of today is long over then.
        ahead = self.boot("plain", YEARS)
        _, kinds = self.check(ahead, YEARS)
        self.assertEqual(kinds.count("actionSucceeded"), 4, kinds)
        # Today it still stands, and ends by hand; what is recorded of 2036 holds nothing up.
        again = self.boot("held", 0)
        self.assertEqual(again["held"], ["by hand"], again.get("log"))
        mine, kinds = self.check(again, 0)
        self.assertNotIn("not", again)
        self.assertEqual(kinds.count("clockJumped"), 1, kinds)
        (jump,) = [event["event"] for event in mine if event["kind"] == "clockJumped"]
        self.assertGreater(int(jump["before"][:4]) - int(jump["after"][:4]), 8, jump)
        back = self.boot("plain", -YEARS)
        _, kinds = self.check(back, -YEARS)
        self.assertEqual((kinds.count("clockJumped"), kinds.count("actionSucceeded")), (1, 4), kinds)
        last = self.boot("plain", 0)
        self.check(last, 0)
        before = json.loads(last["before"][0])
        self.assertIn(before["condition"], ("converged", "drifted"), before)


if __name__ == "__main__":
    tap.main()
