#!/usr/bin/env python3
# test: short root
"""Observe and enforce look in the same way; only enforce writes, and in the end there is nothing left to do."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

WRITES = ["rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "mknod", "mknodat",
          "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "link", "linkat",
          "symlink", "symlinkat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
          "utime", "utimes", "utimensat", "futimesat", "truncate", "ftruncate", "fallocate", "write", "writev",
          "pwrite64", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice", "ioctl", "mount", "umount2",
          "bind", "creat"]
OPENS = ["open", "openat", "openat2"]
OPENED_TO_WRITE = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
# Standard streams, wake-ups, and the name of a thread of its own.
HARMLESS_WRITE = re.compile(r"[12]<|\d+<(anon_inode|pipe|socket|/proc/\d+/task/\d+/comm>)")


def declared():
    return [
        fleet.directory("etc", "/etc", mode="0755"),
        fleet.directory("app", "/etc/app", mode="0750", owner="0", group="0"),
        fleet.directory("parts", "/etc/app/parts", mode="0755", purge=True),
        fleet.file("motd", "/etc/motd", "hello\n", mode="0644"),
        fleet.file("key", "/etc/app/key", "only root reads this\n", mode="0600", owner="0"),
        fleet.file("part", "/etc/app/parts/one.conf", "one\n"),
        fleet.file("large", "/etc/app/large", "0123456789abcdef" * 20_000),
        fleet.file("metadata", "/etc/app/metadata", mode="0640"),
        fleet.file("gone", "/etc/app/gone", state="absent"),
        fleet.file("below", "/srv/missing/below", "a parent is missing\n"),
        fleet.symlink("current", "/etc/app/current", "releases/2"),
        fleet.symlink("stays", "/etc/app/stays", "motd"),
    ]


def populate(root):
    """Some of it as declared, some spoilt, some foreign, and kinds that are nobody's."""
    (root / "etc/app/parts").mkdir(parents=True)
    (root / "srv").mkdir()
    (root / "etc/motd").write_text("hello, and more\n")
    (root / "etc/app/key").write_text("another key\n")
    (root / "etc/app/key").chmod(0o600)
    (root / "etc/app/parts/one.conf").write_text("one\n")
    (root / "etc/app/parts/two.conf").write_text("foreign\n")
    (root / "etc/app/large").write_text("0123456789abcdef" * 20_000)
    (root / "etc/app/metadata").write_text("whatever\n")
    (root / "etc/app/metadata").chmod(0o604)
    (root / "etc/app/gone").write_text("still there\n")
    (root / "etc/app/current").symlink_to("releases/1")
    (root / "etc/app/stays").symlink_to("motd")
    os.mkfifo(root / "etc/pipe")
    os.chown(root / "etc/app", 1234, 1234)
    os.setxattr(root / "etc/motd", "user.note", b"kept")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(root / "etc", os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)


class Trace:
    def __init__(self, bench, name, *arguments):
        path = bench.scratch / f"{name}.trace"
        calls = ",".join(f"?{call}" for call in OPENS + WRITES)
        before = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={calls}", "-e", "signal=none", "-o", str(path)]
        state = bench.scratch / f"{name}.state"  # new, so that the plan's body is written once the plan is made
        self.run = bench.run(*arguments, before=before, state=state)
        self.root, self.state = str(bench.root), str(state)
        self.calls = fleet.read_trace(path)

    def is_below(self, path, folder):
        return path is not None and (path == folder or path.startswith(folder + "/"))

    def opened(self):
        """Paths below the root that were opened before the plan was made: its body is the first blob."""
        found = set()
        for name, arguments, _, path in self.calls:
            if name not in OPENS:
                continue
            if OPENED_TO_WRITE.search(arguments) and self.is_below(path, f"{self.state}/blobs"):
                return found
            if self.is_below(path, self.root):
                found.add(path)
        raise AssertionError("the trace shows no plan")

    def writes(self):
        """Write-like calls that name neither the store nor a stream of the process."""
        found = []
        for name, arguments, result, path in self.calls:
            if name in OPENS:
                if not OPENED_TO_WRITE.search(arguments) or self.is_below(path, self.state):
                    continue
                if f'"{self.state}' in arguments or f"<{self.state}" in arguments or "/dev/null" in arguments:
                    continue
                if re.search(r'"/proc/self/task/\d+/comm"', arguments):
                    continue
            elif self.is_harmless(name, arguments):
                continue
            found.append(f"{name}({arguments}) = {result}")
        return found

    def is_harmless(self, name, arguments):
        target = re.match(r"\d+<([^>]*)>", arguments)
        where = target.group(1) if target else ""
        if name in ("write", "writev") and HARMLESS_WRITE.match(arguments):
            return True
        if name == "ioctl":  # asks, like isatty; no ioctl of a file's flags is among these
            return re.search(r"TCGETS|FIONBIO|FIOCLEX|TIOCGWINSZ|FS_IOC_GETFLAGS", arguments) is not None
        quoted = re.search(r'"([^"]*)"', arguments)
        named = quoted.group(1) if quoted else ""
        return self.is_below(where, self.state) or (named.startswith("/") and self.is_below(named, self.state))


class ObserveChangesNothing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = bench = fleet.Bench()
        bench.declare(*declared())
        populate(bench.root)
        cls.before = fleet.listing(bench.root)
        cls.observed = bench.observe("--json")
        cls.after_observe = fleet.listing(bench.root)
        cls.traced_observe = Trace(bench, "observe", "observe")
        cls.after_trace = fleet.listing(bench.root)
        cls.traced_enforce = Trace(bench, "enforce", "reconcile", "--mode", "enforce", "--json")

    @classmethod
    def tearDownClass(cls):
        cls.bench.close()

    def test_exit_code(self):
        """observe: a root that differs is drifted, exit 2"""
        self.assertEqual(self.observed.code, 2, self.observed.text)

    def test_names_exactly_what_differs(self):
        """observe: exactly the fields that differ are named"""
        self.assertEqual(fleet.drifts(self.observed), {
            "Directory[app]": ["group", "mode", "owner"], "Directory[parts]": [], "File[motd]": ["content"],
            "File[key]": ["content"], "File[metadata]": ["mode"], "File[gone]": ["state"],
            "File[below]": ["state"], "Symlink[current]": ["target"]})

    def test_no_inode_changed(self):
        """observe: not one inode below the root changes, times of change included [N03]"""
        self.assertEqual(self.before, self.after_observe)
        self.assertEqual(self.before, self.after_trace)

    def test_no_write_outside_the_store(self):
        """observe: no write-like system call outside the store [N03]"""
        self.assertEqual(self.traced_observe.run.code, 2, self.traced_observe.run.text)
        self.assertEqual(self.traced_observe.writes(), [])
        self.assertNotEqual(self.traced_enforce.writes(), [], "the trace of an enforce pass shows its writes")

    def test_same_files_opened(self):
        """observe: opens the same files as enforce does until its plan is made [N05]"""
        looked = self.traced_observe.opened()
        self.assertTrue(looked, "the trace shows files below the root")
        self.assertEqual(looked, self.traced_enforce.opened())


class Converges(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        resources = [resource for resource in declared() if resource.name != "below"]
        self.bench.declare(*resources)
        populate(self.bench.root)

    def test_third_pass_changes_nothing(self):
        """reconcile: enforce converges, and a third pass changes nothing and appends at most 4 records [D06]"""
        bench = self.bench
        self.assertEqual(bench.observe().code, 2)
        enforced = bench.enforce()
        self.assertEqual(enforced.code, 0, enforced.text)
        before, records = fleet.listing(bench.root), len(bench.events())
        third = bench.enforce()
        self.assertEqual(third.code, 0, third.text)
        self.assertEqual(before, fleet.listing(bench.root))
        self.assertLessEqual(len(bench.events()) - records, 4)
        self.assertEqual(fleet.leftovers(bench.root), [])

    def test_without_mode_it_observes(self):
        """reconcile: without configuration the mode is observe [N10]"""
        before = fleet.listing(self.bench.root)
        done = self.bench.run("reconcile")
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("observing", done.out)
        self.assertEqual(before, fleet.listing(self.bench.root))

    def test_below_what_is_planned(self):
        """observe: a file in a folder that the plan would create is told like the folder, and is no error [N01]"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.directory("d", "/d"), fleet.directory("e", "/d/e"), fleet.file("f", "/d/e/f", "x\n"),
                      fleet.symlink("l", "/d/e/l", "f"))
        for verb in ("observe", "plan", "diff"):
            done = bench.run(verb, "--json")
            self.assertEqual(done.code, 2, done.text)
            told = {line["reference"] for line in done.lines if "reference" in line}
            self.assertEqual(told, {"Directory[d]", "Directory[e]", "File[f]", "Symlink[l]"})
        self.assertEqual(os.listdir(bench.root), [])
        self.assertEqual(bench.enforce().code, 0)

    def test_record_of_a_pass(self):
        """journal: the record of a pass tells its mode, what it planned and what came of it [N07]"""
        self.bench.observe()
        self.bench.enforce()
        started = [event["event"]["mode"]["mode"] for event in self.bench.events("--kind", "passStarted")]
        finished = [event["event"] for event in self.bench.events("--kind", "passFinished")]
        self.assertEqual(started, ["observe", "enforce"])
        self.assertEqual(finished[0]["planned"], finished[1]["planned"])
        self.assertGreater(finished[0]["planned"]["update"], 0)
        self.assertEqual((finished[0]["succeeded"], finished[0]["failed"]), (0, 0))
        self.assertGreater(finished[1]["succeeded"], 0)

    def test_store_below_the_root(self):
        """store: without --state it lies below the root, for its owner only, and folders above it stay open"""
        bench = fleet.Bench()
        self.addCleanup(bench.close)
        bench.declare(fleet.file("f", "/f", "x\n"))
        done = fleet.datum("observe", "--fleet", bench.fleet, "--host", fleet.HOST, "--root", bench.root)
        self.assertEqual(done.code, 2, done.text)
        modes = [(bench.root / path).stat().st_mode & 0o7777 for path in ("var", "var/lib", "var/lib/datum")]
        self.assertEqual(modes, [0o755, 0o755, 0o700])
        self.assertEqual(sorted(os.listdir(bench.root)), ["var"])

    def test_read_only_root(self):
        """observe: a root that is mounted read-only is observed all the same [N03]"""
        script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount namespaces here")
        done = self.bench.observe("--json", before=["unshare", "-m", "sh", "-c", script, "sh", str(self.bench.root)])
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("File[motd]", fleet.drifts(done))


if __name__ == "__main__":
    tap.main()
