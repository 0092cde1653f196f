#!/usr/bin/env python3
# test: short root
"""Sysctls in a network and a mount namespace of their own, where /proc/sys/net and /etc/sysctl.d are the test's: each
field, each way to spoil it, what observe says of it, what repair and removal do. And a drop-in alone, under --root."""

import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

FORWARD, PORTS = "net.ipv4.ip_forward", "net.ipv4.ip_local_port_range"
DROP_IN = f"/etc/sysctl.d/70-datum-{FORWARD}.conf"
OTHERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d")


def sysctl(name, value=None, keys=None, **fields):
    return fleet.Resource("Sysctl", name, {**({} if value is None else {"value": value}), **fields}, keys or {})


class Network(fleet.Bench):
    """A bench whose root is "/" as a process in new namespaces sees it: nothing of it is the machine's own."""

    def __init__(self):
        super().__init__()
        hide = "".join(f" && mkdir -p {folder} && mount -t tmpfs none {folder}" for folder in OTHERS)
        # An /etc that is written to in memory only. And a container may have the kernel's values read-only; those of
        # a network of one's own are one's own.
        make = ("mount -t tmpfs none /run && mkdir /run/upper /run/work && mount -t overlay none /etc -o "
                f"lowerdir=/etc,upperdir=/run/upper,workdir=/run/work {hide} && mount -t proc none /proc && "
                "touch /etc/sysctl.conf && mount --bind /dev/null /etc/sysctl.conf && echo ready; exec sleep infinity")
        self.inside = subprocess.Popen(["unshare", "-m", "-n", "sh", "-c", make], stdout=subprocess.PIPE, text=True)
        if self.inside.stdout.readline() != "ready\n":
            raise AssertionError("no namespaces")

    def close(self):
        self.inside.kill()
        self.inside.wait()
        self.inside.stdout.close()
        super().close()

    @property
    def before(self):
        return ["nsenter", "-t", str(self.inside.pid), "-m", "-n"]

    def run(self, *arguments, state=None, **options):
        verb, *rest = arguments
        return fleet.datum(verb, "--fleet", self.fleet, "--host", fleet.HOST, "--state", state or self.state, *rest,
                           before=self.before, **options)

    def sh(self, command):
        done = subprocess.run([*self.before, "sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout}")
        return done.stdout

    def rename_loopback(self, name):
        """The one interface that there is gets another name, and its keys with it."""
        script = ("import fcntl, socket, struct, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
                  "fcntl.ioctl(s, 0x8923, struct.pack('16s16s8x', b'lo', sys.argv[1].encode()))")  # SIOCSIFNAME
        subprocess.run([*self.before, sys.executable, "-c", script, name], check=True, timeout=60)

    def live(self, key):
        return " ".join(self.sh(f"cat /proc/sys/{key.replace('.', '/')}").split())


def live(value):
    return f"echo '{value}' > /proc/sys/net/ipv4/ip_forward"


# how it is spoilt: (command, {field: what observe says of it}, whether a repair makes it as declared)
ROWS = {
    "value, by another live value": (live(0), {"value": "0"}, True),
    "persisted, by no drop-in": (f"rm {DROP_IN}", {"persisted": "absent"}, True),
    "persisted, by another value in ours": (f"echo '{FORWARD}=0' > {DROP_IN}", {"persisted": "0"}, True),
    "persisted, by another key in ours": (f"echo 'net.ipv4.tcp_sack = 1' > {DROP_IN}",
                                          {"persisted": "a file that does not set it"}, True),
    "persisted, by an empty file": (f": > {DROP_IN}", {"persisted": "a file that does not set it"}, True),
    "persisted, by the key with slashes and no spaces": (f"echo 'net/ipv4/ip_forward=0' > {DROP_IN}",
                                                         {"persisted": "0"}, True),
    "persisted, by a link": (f"ln -sf /dev/null {DROP_IN}", {"persisted": "a symbolic link"}, True),
    "persisted, by a file that others can write": (
        f"chmod 0666 {DROP_IN}", {"persisted": "1, in a file that others than root can write"}, True),
    "persisted, by a file of somebody else": (
        f"chown 1234 {DROP_IN}", {"persisted": "1, in a file that others than root can write"}, True),
    "both": (f"rm {DROP_IN}; {live(0)}", {"value": "0", "persisted": "absent"}, True),
    "a folder in the drop-in's place": (f"rm {DROP_IN}; mkdir {DROP_IN}", {"persisted": "a directory"}, False),
    "persisted, by a later drop-in": (f"echo '{FORWARD} = 0' > /etc/sysctl.d/99-x.conf",
                                      {"persisted": "0 by /etc/sysctl.d/99-x.conf"}, False),
    "persisted, by a later drop-in in /run": (f"echo '{FORWARD} = 0' > /run/sysctl.d/80-x.conf",
                                              {"persisted": "0 by /run/sysctl.d/80-x.conf"}, False),
    "persisted, by a later drop-in of a package": (f"echo '-{FORWARD} = 0' > /usr/lib/sysctl.d/80-x.conf",
                                                   {"persisted": "0 by /usr/lib/sysctl.d/80-x.conf"}, False),
    "persisted, by sysctl.conf": (
        f"umount /etc/sysctl.conf; printf '{FORWARD} = 0\\n' > /run/conf; mount --bind /run/conf /etc/sysctl.conf",
        {"persisted": "0 by /etc/sysctl.conf"}, False),
    "persisted, by a link to a later file": (
        f"echo '{FORWARD} = 0' > /run/elsewhere; ln -s /run/elsewhere /etc/sysctl.d/99-x.conf",
        {"persisted": "0 by /etc/sysctl.d/99-x.conf"}, False),
}
# What says nothing against ours.
HARMLESS = {
    "an earlier drop-in": f"echo '{FORWARD} = 0' > /etc/sysctl.d/10-x.conf",
    "a later drop-in with the same value": f"echo '{FORWARD}=  1 ' > /etc/sysctl.d/99-x.conf",
    "a later drop-in with a wildcard": "echo 'net.ipv4.ip_* = 0' > /etc/sysctl.d/99-x.conf",
    "a later drop-in with a comment": f"echo '# {FORWARD} = 0' > /etc/sysctl.d/99-x.conf",
    "a later drop-in that is masked": f"echo '{FORWARD} = 0' > /usr/lib/sysctl.d/99-x.conf; "
                                      "ln -s /dev/null /etc/sysctl.d/99-x.conf",
    "a file of another name": f"echo '{FORWARD} = 0' > /etc/sysctl.d/99-x.conf.bak",
}


class Case(fleet.DriftCase):
    def setUp(self):
        self.bench = Network()
        self.addCleanup(self.bench.close)


class Rows(Case):
    def check_row(self, title):
        command, expected, repaired = ROWS[title]
        self.enforce(sysctl(FORWARD, "1"))
        self.bench.sh(command)
        self.assertEqual(self.seen(), expected)
        done = self.bench.enforce()
        if not repaired:
            self.assertEqual(done.code, 2, done.text)
            self.assertIn("failed: ", done.out)
            self.assertEqual(self.seen(), expected)
            self.assertEqual(self.bench.live(FORWARD), "1")
            return
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.bench.live(FORWARD), "1")
        self.assertIn(f"\n{FORWARD} = 1\n", self.bench.sh(f"cat {DROP_IN}"))
        self.assertEqual(self.bench.sh(f"stat -c %a:%u {DROP_IN}"), "644:0\n")
        plan = self.bench.run("plan")
        self.assertEqual((plan.code, "create" in plan.out or "update" in plan.out), (0, False), plan.text)

    def test_harmless(self):
        """sysctl: earlier, equal, masked and wildcard settings of others are no drift"""
        self.enforce(sysctl(FORWARD, "1"))
        for title, command in HARMLESS.items():
            with self.subTest(title):
                self.bench.sh(command)
                self.assertEqual(self.seen(), {})
                self.bench.sh("rm -f /etc/sysctl.d/??-x.* /usr/lib/sysctl.d/*")


def add_rows():
    for number, title in enumerate(ROWS):
        def check(self, title=title):
            self.check_row(title)
        what = "repaired" if ROWS[title][2] else "told, and fails with the reason"
        ids = " [C05]" if title.startswith("value") else ""
        check.__doc__ = f"sysctl: {title}: seen and {what}{ids}"
        setattr(Rows, f"test_{number:02}", check)


add_rows()


class Values(Case):
    def test_white_space(self):
        """sysctl: tabs of the kernel and spaces of a document are the same; a second plan is empty [C01]"""
        self.enforce(sysctl("ports", "40000   50000", key="net/ipv4/ip_local_port_range"))
        self.assertIn("\t", self.bench.sh("cat /proc/sys/net/ipv4/ip_local_port_range"))
        self.assertEqual((self.seen(), self.bench.run("plan").code), ({}, 0))

    def test_interface_with_a_dot(self):
        """sysctl: the dot of an interface's name is written as a slash, in either spelling of the key"""
        self.bench.rename_loopback("v0.7")
        for key in ("net.ipv4.conf.v0/7.forwarding", "net/ipv4/conf/v0.7/forwarding"):
            self.enforce(sysctl("vlan", "1", key=key))
            self.assertEqual(self.bench.sh("cat /proc/sys/net/ipv4/conf/v0.7/forwarding"), "1\n")
            self.bench.sh("test -f /etc/sysctl.d/70-datum-net.ipv4.conf.v0%2F7.forwarding.conf")
            self.assertEqual(self.bench.observe().code, 0)

    def test_missing_key(self):
        """sysctl: a key that the kernel lacks is written for later and fails with the reason until a module brings it [C03]"""
        wanted = sysctl("later", "1", key="net.ipv4.conf.late0.forwarding")
        self.enforce(wanted, code=2)
        self.bench.sh("grep -q forwarding /etc/sysctl.d/70-datum-net.ipv4.conf.late0.forwarding.conf")
        done = self.enforce(wanted, code=2)
        self.assertIn("no such key", done.out)
        self.bench.rename_loopback("late0")
        self.enforce(wanted)
        self.assertEqual(self.bench.live("net.ipv4.conf.late0.forwarding"), "1")

    def test_refused_value(self):
        """sysctl: a value that the kernel refuses fails with its words, and does not stay in a drop-in"""
        before = self.bench.live(PORTS)
        done = self.enforce(sysctl(PORTS, "no numbers"), code=2)
        self.assertIn("the kernel did not take the value", done.out)
        self.assertEqual((self.bench.live(PORTS), self.bench.sh("ls /etc/sysctl.d")), (before, ""))
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.enforce(sysctl(PORTS, "no numbers"), code=2)
        self.assertIn("40000 50000", self.bench.sh(f"cat /etc/sysctl.d/70-datum-{PORTS}.conf"))

    def test_read_only(self):
        """sysctl: a value that nobody can write fails and is named; nothing is left of the attempt"""
        done = self.enforce(sysctl("ro", "7", key="kernel.ngroups_max"), code=2)  # 0444 in every kernel
        self.assertIn("read-only", done.out)
        self.assertEqual(self.bench.sh("ls -A /etc/sysctl.d"), "")

    def test_contested(self):
        """sysctl: what another tool resets again and again is corrected, and called contested after three times [C05]"""
        self.enforce(sysctl(FORWARD, "1"))
        for _ in range(3):
            self.bench.sh(live(0))
            self.enforce(sysctl(FORWARD, "1"))
        kinds = [event["kind"] for event in self.bench.events()]
        self.assertEqual(kinds.count("targetContested"), 1)

    def test_observing_writes_nothing(self):
        """sysctl: observing opens nothing for writing and changes neither place"""
        self.bench.declare(sysctl(FORWARD, "1"))
        self.assertEqual(self.bench.observe().code, 2)
        self.assertEqual((self.bench.live(FORWARD), self.bench.sh("ls -A /etc/sysctl.d")), ("0", ""))


class Removal(Case):
    def test_leaving(self):
        """sysctl: what left the declaration loses its drop-in and gets back the value from before Datum, over an update"""
        before = self.bench.live(PORTS)
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.enforce(sysctl(PORTS, "41000 50000"))
        done = self.enforce(fleet.directory("d", "/run/d"))
        self.assertIn(f"the live value goes back from 41000 50000 to {before}", done.out)
        self.assertEqual((self.bench.live(PORTS), self.bench.sh("ls -A /etc/sysctl.d")), (before, ""))

    def test_absent(self):
        """sysctl: state absent removes the drop-in and puts the live value back, once"""
        self.enforce(sysctl(FORWARD, "1"))
        self.enforce(sysctl(FORWARD, state="absent"))
        self.assertEqual((self.bench.live(FORWARD), self.bench.sh("ls -A /etc/sysctl.d")), ("0", ""))
        self.bench.sh(live(1))
        self.enforce(sysctl(FORWARD, state="absent"))
        self.assertEqual(self.bench.live(FORWARD), "1")

    def test_somebody_else_set_it(self):
        """sysctl: a live value that is not ours any more stays at a removal, and the plan says so"""
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.bench.sh("echo 42000 43000 > /proc/sys/net/ipv4/ip_local_port_range")
        done = self.enforce(fleet.directory("d", "/run/d"))
        self.assertIn("stays: it is not ours any more", done.out)
        self.assertEqual((self.bench.live(PORTS), self.bench.sh("ls -A /etc/sysctl.d")), ("42000 43000", ""))

    def test_changed_drop_in(self):
        """sysctl: a drop-in that somebody changed since is left alone when it leaves the declaration"""
        self.enforce(sysctl(FORWARD, "1"))
        self.bench.sh(f"echo '# mine' >> {DROP_IN}")
        done = self.enforce(fleet.directory("d", "/run/d"))
        self.assertIn("it stays", done.out)
        self.assertEqual((self.bench.live(FORWARD), self.bench.sh("ls /etc/sysctl.d")), ("1", DROP_IN.split("/")[-1] + "\n"))

    def test_lost_before(self):
        """sysctl: where the drop-in was lost meanwhile, what was before is not made up"""
        self.enforce(sysctl(FORWARD, "1"))
        self.bench.sh(f"rm {DROP_IN}")
        self.enforce(sysctl(FORWARD, "1"))
        done = self.enforce(fleet.directory("d", "/run/d"))
        self.assertIn("stays: what it was before is not known", done.out)
        self.assertEqual(self.bench.live(FORWARD), "1")


class Undoing(Case):
    def undo(self, number):
        passes = [event["seq"] for event in self.bench.events("--kind", "passStarted")]
        done = fleet.datum("revert", str(passes[number]), "--state", self.bench.state, "--mode", "enforce",
                           before=self.bench.before)
        self.assertNotIn("cannot be undone", done.text)
        self.assertNotIn("failed", done.out)
        return done

    def test_update(self):
        """sysctl: undoing an update gives both places the value that the drop-in had, and undoing the creation none"""
        before = self.bench.live(PORTS)
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.enforce(sysctl(PORTS, "41000 50000"))
        self.undo(1)
        self.assertEqual(self.bench.live(PORTS), "40000 50000")
        self.assertIn(f"# before: {before}\n{PORTS} = 40000 50000\n", self.bench.sh(f"cat /etc/sysctl.d/70-datum-{PORTS}.conf"))

    def test_creation(self):
        """sysctl: undoing a creation takes the drop-in away and gives the kernel back what it had"""
        before = self.bench.live(PORTS)
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.undo(0)
        self.assertEqual((self.bench.live(PORTS), self.bench.sh("ls -A /etc/sysctl.d")), (before, ""))

    def test_removal(self):
        """sysctl: undoing a removal makes the drop-in again and gives the kernel its value"""
        self.enforce(sysctl(PORTS, "40000 50000"))
        self.enforce(fleet.directory("d", "/run/d"))
        passes = [event["seq"] for event in self.bench.events("--kind", "passStarted")]
        done = fleet.datum("revert", str(passes[1]), "--state", self.bench.state, "--mode", "enforce", before=self.bench.before)
        self.assertEqual(self.bench.live(PORTS), "40000 50000", done.text)


class OtherRoot(unittest.TestCase):
    def test_drop_in_alone(self):
        """sysctl: under --root only the drop-in is made and removed, and a warning says so; this kernel is not asked"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.path("/etc").mkdir(parents=True)
        key = "kernel.no_such_key_anywhere"
        bench.declare(sysctl(key, "7"))
        done = bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertIn("the live value is not under --root", done.text)
        self.assertTrue(bench.path(f"/etc/sysctl.d/70-datum-{key}.conf").read_text().endswith(f"{key} = 7\n"))
        bench.declare(fleet.directory("d", "/d"))
        done = bench.enforce()
        self.assertIn("only the drop-in goes", done.out)
        self.assertEqual(list(bench.path("/etc/sysctl.d").iterdir()), [])


if __name__ == "__main__":
    tap.main()
