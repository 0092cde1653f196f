#!/usr/bin/env python3
# test: long root
"""What the next boot would do, asked of those who do it: systemd-sysctl and procps' sysctl apply the files of a namespace
of their own, and set what observe says is persisted."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import tap  # noqa: E402
from sysctl import FORWARD, HARMLESS, ROWS, Case, live, sysctl  # noqa: E402

APPLY = {"systemd-sysctl": "/usr/lib/systemd/systemd-sysctl", "procps": "/usr/sbin/sysctl --system"}
# Read by one of the two alone; observe names it all the same.
NOT_BY_SYSTEMD = "persisted, by sysctl.conf"


class Boot(Case):
    def boot(self, how):
        """The value after it, from another one before."""
        self.bench.sh(live(5))
        self.bench.sh(f"{APPLY[how]} >/dev/null 2>&1 || true")
        return self.bench.live(FORWARD)

    def test_ours(self):
        """sysctl: at boot our drop-in sets its key, a dot inside of a part included"""
        self.bench.rename_loopback("v0.7")
        self.enforce(sysctl(FORWARD, "1"), sysctl("vlan", "1", key="net.ipv4.conf.v0/7.accept_local"))
        for how in APPLY:
            self.assertEqual(self.boot(how), "1", how)
            self.bench.sh("echo 0 > /proc/sys/net/ipv4/conf/v0.7/accept_local")
            self.bench.sh(f"{APPLY[how]} >/dev/null 2>&1 || true")
            self.assertEqual(self.bench.sh("cat /proc/sys/net/ipv4/conf/v0.7/accept_local"), "1\n", how)

    def test_later_files(self):
        """sysctl: what observe names as winning over ours does so at boot"""
        for title, (command, expected, repaired) in ROWS.items():
            if repaired or "later" not in title and title != NOT_BY_SYSTEMD:
                continue
            self.enforce(sysctl(FORWARD, "1"))
            self.bench.sh(command)
            self.assertIn(" by ", expected["persisted"])
            for how in APPLY:
                wanted = "1" if how == "systemd-sysctl" and title == NOT_BY_SYSTEMD else "0"
                self.assertEqual(self.boot(how), wanted, f"{title}, {how}")
            self.bench.sh("rm -f /etc/sysctl.d/99-x.* /run/sysctl.d/* /usr/lib/sysctl.d/*; mount --bind /dev/null /etc/sysctl.conf")

    def test_harmless(self):
        """sysctl: what observe does not mind does not win over ours at boot"""
        self.enforce(sysctl(FORWARD, "1"))
        for title, command in HARMLESS.items():
            self.bench.sh(command)
            for how in APPLY:
                self.assertEqual(self.boot(how), "1", f"{title}, {how}")
            self.bench.sh("rm -f /etc/sysctl.d/??-x.* /usr/lib/sysctl.d/*")


if __name__ == "__main__":
    tap.main()
