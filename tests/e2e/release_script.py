#!/usr/bin/env python3
# test: short
"""packaging/release/datum-release over a scratch root: what is kept, what counts as a failed end, when the kept release is
put back, and when it is not. The service manager is a script that notes what it is asked; nobody sleeps."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import tap  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "packaging/release/datum-release"
LIMIT_S = 60
PROGRAM = "/usr/sbin/datum-host"
SCRIPT_PATH, WATCHER_PATH = "/usr/lib/datum/datum-release", "/usr/lib/systemd/system/datum-rollback.service"
FILES = [PROGRAM, "/usr/bin/datum", SCRIPT_PATH, "/usr/lib/datum/files", "/usr/lib/systemd/system/datum-host.service",
         WATCHER_PATH]
# A stop runs what the unit file says for it, as systemd does.
SYSTEMCTL = """#!/bin/sh
if [ "$1" = show ]; then
  cat "$NOTES/load" 2>/dev/null
  exit 0
fi
echo "$*" >>"$NOTES/calls"
if [ "$*" = "stop datum-host.service" ]; then
  MAINPID=77 "$SCRIPT" --root "$ROOT" stop
  SERVICE_RESULT=success EXIT_CODE=killed EXIT_STATUS=TERM "$SCRIPT" --root "$ROOT" ended
fi
"""
SLEEP = """#!/bin/sh
echo "$1" >>"$NOTES/sleeps"
if [ -x "$NOTES/at-sleep" ]; then "$NOTES/at-sleep"; fi
"""


class Release(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="datum-release-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.root, self.notes, bin_ = (self.scratch / name for name in ("root", "notes", "bin"))
        self.folder = self.root / "var/lib/datum/release"
        for path in (self.root / "run/datum", self.root / "proc", self.notes, bin_):
            path.mkdir(parents=True)
        (self.root / "proc/locks").write_text("")
        for name, text in (("systemctl", SYSTEMCTL), ("sleep", SLEEP)):
            (bin_ / name).write_text(text)
            (bin_ / name).chmod(0o755)
        self.environment = {"PATH": f"{bin_}:/usr/sbin:/usr/bin:/sbin:/bin", "NOTES": str(self.notes),
                            "ROOT": str(self.root), "SCRIPT": str(SCRIPT)}

    def run_script(self, *arguments, **environment):
        return subprocess.run(["sh", SCRIPT, "--root", self.root, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
                              env={**self.environment, **environment})

    def must(self, *arguments, **environment):
        done = self.run_script(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def install(self, version, check="exit 0"):
        """A release whose every file names its version."""
        for path in FILES:
            place = self.root / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            text = f"{path} {version}\n"
            if path == PROGRAM:
                text = f"#!/bin/sh\n\0# datum-version={version}\n# datum-level=1\n{check}\n"
            elif path == SCRIPT_PATH:
                text = SCRIPT.read_text() + f"# datum-version={version}\n"
            elif path == WATCHER_PATH:
                text = f"[Service]\nExecStart=/usr/lib/datum/datum-release watch\n# datum-version={version}\n"
            elif path == "/usr/lib/datum/files":
                text = "".join(f"{name}\n" for name in FILES)
            place.write_text(text)
            place.chmod(0o755 if path == PROGRAM else 0o644)

    def installed(self):
        """What each file but the list says of its version."""
        words = {(self.root / path[1:]).read_text().split("datum-version=")[-1].split("\n")[0].removeprefix(path + " ")
                 for path in FILES if path != "/usr/lib/datum/files"}
        return words.pop() if len(words) == 1 else sorted(words)

    def confirm(self, version="1.0 (a)", limit="20"):
        self.must("confirm", version, "17", limit, "1")

    def upgrade(self, version="2.0 (b)"):
        self.install("1.0 (a)")
        self.confirm()
        self.install(version)
        self.must("starting")

    def end(self, result="exit-code", code="exited", status="1"):
        return self.must("ended", SERVICE_RESULT=result, EXIT_CODE=code, EXIT_STATUS=status)

    def note(self, name, key):
        path = self.folder / name
        lines = path.read_text().splitlines() if path.exists() else []
        return dict(line.split("=", 1) for line in lines).get(key)

    def calls(self, name="calls"):
        path = self.notes / name
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def at_sleep(self, text):
        path = self.notes / "at-sleep"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def test_keep(self):
        """release: what is kept is the whole release, once, and it was started before it counts [U09]"""
        self.install("1.0 (a)", check=f'[ "$1" = --check ] && echo started >>"{self.notes}/checks"')
        self.must("keep")
        self.must("keep")
        self.assertEqual(self.calls("checks"), ["started"])
        kept = self.folder / "1.0__a_"
        for path in FILES:
            self.assertEqual((kept / path[1:]).read_bytes(), (self.root / path[1:]).read_bytes())
        self.assertEqual(self.note("1.0__a_/about", "version"), "1.0 (a)")
        self.assertEqual(self.note("1.0__a_/about", "level"), "1")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["1.0__a_"])

    def test_keep_broken(self):
        """release: a copy that does not start is not kept, and that is said [U09]"""
        self.install("1.0 (a)", check="echo cannot; exit 3")
        done = self.run_script("keep")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not start: cannot", done.stdout)
        self.assertFalse((self.folder / "1.0__a_").exists())
        (self.root / "usr/bin/datum").unlink()
        self.assertIn("/usr/bin/datum cannot be kept", self.run_script("keep").stdout)

    def test_confirm(self):
        """release: a confirmed release is the only one that is kept"""
        self.upgrade()
        self.assertEqual(self.note("trial", "failures"), "0")
        self.confirm("2.0 (b)")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["2.0__b_", "confirmed"])
        self.assertEqual((self.note("confirmed", "version"), self.note("confirmed", "sequence")), ("2.0 (b)", "17"))

    def test_confirm_replaced(self):
        """release: a version whose files are replaced already is confirmed only if it was kept before"""
        self.install("1.0 (a)")
        self.must("keep")
        self.install("2.0 (b)")
        self.confirm()
        self.assertEqual(self.note("1.0__a_/about", "version"), "1.0 (a)")
        done = self.run_script("confirm", "3.0", "17", "20", "1")
        self.assertEqual((done.returncode, self.note("confirmed", "version")), (1, "1.0 (a)"))

    def test_starting(self):
        """release: only a version that is not confirmed, with one to go back to, is watched"""
        self.install("1.0 (a)")
        self.must("starting")
        self.confirm()
        self.must("starting")
        self.assertEqual(self.calls(), [])
        self.install("2.0 (b)")
        self.must("starting")
        self.assertEqual(self.calls(), ["start --no-block datum-rollback.service"])
        self.end()
        self.install("3.0 (c)")
        self.must("starting")
        self.assertEqual((self.note("trial", "version"), self.note("trial", "failures")), ("3.0 (c)", "0"))

    def test_ends(self):
        """release: failed ends count; ordered stops, the store's and the configuration's do not, nor does their time [U10]"""
        self.upgrade()
        self.assertIn("1 times", self.end())
        self.end("signal", "killed", "SEGV")
        self.assertEqual(self.note("trial", "failures"), "2")
        self.calls()
        self.end(status="74")
        self.end(status="78")
        self.must("stop", MAINPID="77")
        self.end("timeout", "killed", "KILL")
        self.assertEqual(self.calls(), ["stop --no-block datum-rollback.service"] * 3)
        self.end("success", "exited", "0")
        self.must("starting")
        self.assertEqual(self.note("trial", "failures"), "2")
        self.must("stop")  # of a service that ended by itself: nobody asked for that
        self.end("watchdog", "dumped", "ABRT")
        self.assertEqual(self.note("trial", "failures"), "3")

    def test_restore(self):
        """release: after three failed ends the whole kept release is there again, without any program of Datum's"""
        self.upgrade()
        for _ in range(3):
            self.end()
        (self.root / "usr/bin/datum").write_text("#!/bin/false\n")
        self.calls()
        self.must("watch")
        self.assertEqual(self.installed(), "1.0 (a)")
        self.assertEqual(self.calls(), ["stop datum-host.service", "daemon-reload", "reset-failed datum-host.service",
                                        "start --no-block datum-host.service"])
        self.assertEqual([self.note("rolled-back", key) for key in ("from", "to", "cause")],
                         ["2.0 (b)", "1.0 (a)", "it failed 3 times before it finished a pass"])
        self.assertFalse((self.folder / "trial").exists())
        self.assertEqual([path.name for path in self.root.rglob(".datum-restored")], [])
        self.must("starting")
        self.confirm()
        self.assertEqual(self.note("rolled-back", "from"), "2.0 (b)")
        self.assertEqual(self.calls(), [])

    def test_limit(self):
        """release: what is not confirmed within three pass limits is rolled back, and not before"""
        self.upgrade()
        self.must("watch")
        self.assertEqual(self.installed(), "1.0 (a)")
        self.assertEqual(sum(map(int, self.calls("sleeps"))), 60)
        self.assertEqual(self.note("rolled-back", "cause"), "it finished no pass within 60 s")

    def test_no_pass(self):
        """release: while the service says why no pass can run, time does not count against it"""
        self.upgrade()
        marker = self.root / "run/datum/no-pass"
        marker.write_text("the store is in use\n")
        self.at_sleep(f'[ "$(wc -l <"$NOTES/sleeps")" -lt 50 ] || rm -f "{marker}"\n')
        self.must("watch")
        # The marker went in the fiftieth step, whose two seconds count.
        self.assertEqual(sum(map(int, self.calls("sleeps"))), 98 + 60)

    def test_confirmed_meanwhile(self):
        """release: a version that is confirmed while it is watched stays"""
        self.upgrade()
        self.at_sleep(f'"{SCRIPT}" --root "$ROOT" confirm "2.0 (b)" 30 20 1\n')
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "from")), ("2.0 (b)", None))

    def test_once(self):
        """release: a version that is installed again after its rollback is not rolled back a second time, and that is said [U14]"""
        self.upgrade()
        for _ in range(2):
            self.install("2.0 (b)")
            self.must("starting")
            for _ in range(3):
                self.end()
            done = self.run_script("watch")
        self.assertEqual((done.returncode, self.installed()), (1, "2.0 (b)"))
        self.assertIn("rolled back once already", done.stdout)
        self.calls()
        self.must("starting")
        self.assertEqual(self.calls(), [])
        self.install("3.0 (c)")
        self.must("starting")
        self.assertEqual(self.calls(), ["start --no-block datum-rollback.service"])
        self.confirm("3.0 (c)")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["3.0__c_", "confirmed"])

    def test_level(self):
        """release: a kept release that cannot read the store is not put back [L15]"""
        self.upgrade()
        confirmed = self.folder / "confirmed"
        confirmed.write_text(confirmed.read_text().replace("level=1", "level=2"))
        done = self.run_script("watch")
        self.assertEqual((done.returncode, self.installed()), (1, "2.0 (b)"))
        self.assertIn("newer level", done.stdout)
        self.assertIn("newer level", self.note("stopped", "reason"))

    def test_not_whole(self):
        """release: without a whole kept release nothing is touched"""
        self.upgrade()
        (self.folder / "1.0__a_/about").unlink()
        done = self.run_script("watch")
        self.assertEqual((done.returncode, self.installed()), (1, "2.0 (b)"))
        self.assertIn("is not whole", done.stdout)

    def handed_over(self, version="2.0 (b)", load="bad-setting"):
        """The old version made room for one of whose units nothing ever ran."""
        self.install("1.0 (a)")
        self.confirm()
        self.must("starting")
        self.install(version)
        (self.notes / "load").write_text(load + "\n")
        kept = self.folder / "1.0__a_" / SCRIPT_PATH[1:]
        done = subprocess.run(["sh", kept, "--root", self.root, "handover", version], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_handover(self):
        """release: the version that makes room begins the watch over the next from its own copy, before it ends [U03] [U11]"""
        self.handed_over()
        self.assertEqual(self.calls(), ["daemon-reload", "start --no-block datum-rollback.service"])
        unit = self.root / "run/systemd/system/datum-rollback.service"
        self.assertIn(f"ExecStart=/bin/sh {self.folder}/1.0__a_{SCRIPT_PATH} watch\n", unit.read_text())
        self.assertEqual((self.note("trial", "version"), self.note("trial", "failures")), ("2.0 (b)", "0"))
        self.must("watch")
        self.assertEqual((self.installed(), unit.exists()), ("1.0 (a)", False))
        self.assertEqual(self.note("rolled-back", "cause"), "its unit does not load (bad-setting)")
        self.assertEqual(self.calls(), ["daemon-reload", "stop datum-host.service", "daemon-reload",
                                        "reset-failed datum-host.service", "start --no-block datum-host.service"])

    def test_handover_works(self):
        """release: of a version that works the watch ends with its confirmation, and nothing is left in /run"""
        self.handed_over(load="loaded")
        self.at_sleep(f'"{SCRIPT}" --root "$ROOT" confirm "2.0 (b)" 30 20 1\n')
        self.must("watch")
        self.assertEqual(self.installed(), "2.0 (b)")
        self.assertFalse((self.root / "run/systemd/system/datum-rollback.service").exists())

    def test_masked(self):
        """release: a unit that somebody masked is no fault of the version"""
        self.handed_over(load="masked")
        self.at_sleep(f'"{SCRIPT}" --root "$ROOT" confirm "2.0 (b)" 30 20 1\n')
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "from")), ("2.0 (b)", None))

    def test_boot(self):
        """release: at boot only a version whose unit does not load is put out; any other is watched once it starts"""
        for load, wanted, looks in (("loaded", "2.0 (b)", 60), ("not-found", "1.0 (a)", 0)):
            self.handed_over(load=load)
            (self.root / "run/datum-started").unlink()
            self.must("watch")
            self.assertEqual((self.installed(), len(self.calls("sleeps"))), (wanted, looks))
        self.upgrade("3.0 (c)")
        (self.notes / "load").write_text("loaded\n")
        started = self.root / "run/datum-started"
        started.rename(self.notes / "started")
        self.at_sleep(f'[ "$(wc -l <"$NOTES/sleeps")" != 5 ] || mv "$NOTES/started" "{started}"\n')
        self.must("watch")
        self.assertEqual(self.note("rolled-back", "cause"), "it finished no pass within 60 s")
        self.assertEqual(len(self.calls("sleeps")), 5 + 30)

    def test_own_watcher(self):
        """release: the confirmed release's copy watches, whichever version's script was started [U11]"""
        self.upgrade()
        broken = self.root / SCRIPT_PATH[1:]
        broken.write_text(SCRIPT.read_text().replace("most_failures=3", "most_failures=1000") + "# datum-version=2.0 (b)\n")
        for _ in range(3):
            self.end()
        done = subprocess.run(["sh", broken, "--root", self.root, "watch"], capture_output=True, text=True, timeout=LIMIT_S,
                              check=False, env=self.environment)
        self.assertEqual((done.returncode, self.installed()), (0, "1.0 (a)"), done.stderr)
        self.assertEqual(self.note("rolled-back", "cause"), "it failed 3 times before it finished a pass")

    def test_missing_program(self):
        """release: a release without its program is rolled back when it could not be started three times"""
        self.upgrade()
        (self.root / PROGRAM[1:]).unlink()
        for _ in range(3):
            self.must("starting")
            self.end(status="203")
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "from")), ("1.0 (a)", "unknown"))

    def test_no_ping_pong(self):
        """release: one failed start is none too many, counts outlive a boot, and the version that came back stays, fail as it may [U16]"""
        self.upgrade()
        self.end()
        (self.root / "run/datum-started").unlink()  # a boot
        self.must("starting")
        self.assertEqual(self.note("trial", "failures"), "1")
        for _ in range(2):
            self.end()
        self.must("watch")
        self.assertEqual(self.installed(), "1.0 (a)")
        self.calls()
        for _ in range(5):
            self.must("starting")
            self.end()
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "from")), ("1.0 (a)", "2.0 (b)"))
        self.assertNotIn("start --no-block datum-rollback.service", self.calls())

    def test_package_tool(self):
        """release: a package tool that runs is waited for [P01]"""
        self.upgrade()
        lock = self.root / "var/lib/dpkg/lock-frontend"
        lock.parent.mkdir(parents=True)
        lock.write_text("")
        locks = self.root / "proc/locks"
        locks.write_text(f"1: POSIX  ADVISORY  WRITE 4711 fe:01:{lock.stat().st_ino} 0 EOF\n")
        self.at_sleep('[ "$(wc -l <"$NOTES/sleeps")" -lt 50 ] || : >"$ROOT/proc/locks"\n')
        for _ in range(3):
            self.end()
        self.assertIn("waits for the package tool", self.must("watch"))
        self.assertEqual((self.installed(), len(self.calls("sleeps"))), ("1.0 (a)", 50))

    def test_package_tool_upgrades(self):
        """release: what a package tool put there meanwhile is watched anew, not overwritten"""
        self.upgrade()
        lock = self.root / "var/lib/dpkg/lock"
        lock.parent.mkdir(parents=True)
        lock.write_text("")
        (self.root / "proc/locks").write_text(f"1: POSIX  ADVISORY  WRITE 4711 fe:01:{lock.stat().st_ino} 0 EOF\n")
        self.install("1.0 (a)")
        for path in FILES:
            copy = self.notes / "copy" / path[1:]
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / path[1:], copy)
        self.install("2.0 (b)")
        for _ in range(3):
            self.end()
        self.at_sleep(': >"$ROOT/proc/locks"; cp -rp "$NOTES/copy/." "$ROOT/"\n')
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "from")), ("1.0 (a)", None))

    def test_cut_off(self):
        """release: a rollback that was cut off goes on, before its last file and after it"""
        self.upgrade()
        (self.folder / "restoring").write_text("from=2.0 (b)\nto=1.0 (a)\ncause=it failed\n")
        (self.root / "usr/bin/datum").write_text("/usr/bin/datum 1.0 (a)\n")
        self.must("watch")
        self.assertEqual((self.installed(), self.note("rolled-back", "cause")), ("1.0 (a)", "it failed"))
        (self.folder / "rolled-back").rename(self.folder / "restoring")
        self.must("starting")
        self.assertEqual((self.note("rolled-back", "cause"), (self.folder / "restoring").exists()), ("it failed", False))

    def test_pauses(self):
        """release: a confirmed version that fails is started again without end, after growing pauses"""
        self.install("1.0 (a)")
        self.confirm()
        for _ in range(8):
            self.must("starting")
            self.end()
        self.assertEqual(self.calls("sleeps"), ["1", "2", "4", "8", "16", "20", "20", "20"])
        self.confirm()
        self.end()
        self.assertEqual((self.calls("sleeps"), self.calls()), (["1"], []))


if __name__ == "__main__":
    tap.main()
