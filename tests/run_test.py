#!/usr/bin/env python3
# test: short
"""The test runner, seen from outside: a fake `meson` lists fake programs, each of which ends in its own way."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap

RUN = pathlib.Path(__file__).resolve().parent / "run"
CASE = '<TestCase name="{}">{}<OverallResult success="{}"/></TestCase>'
WRONG = '<Expression success="false" type="CHECK" filename="f.cpp" line="7"><Original>a == b</Original><Expanded>1 == 2</Expanded></Expression>'
WRITE = "import sys, os, time; open(sys.argv[sys.argv.index('--out') + 1], 'w').write({!r}); {}"


def report(*cases, failures=0):
    return f'<Catch name="t"><Group name="t">{"".join(cases)}</Group><OverallResults successes="1" failures="{failures}"/></Catch>'


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.programs = []
        (self.path / "scripts").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text, then="", timeout=30):
        command = [sys.executable, "-c", WRITE.format(text, then)]
        self.programs.append({"name": name, "cmd": command, "env": {}, "timeout": timeout})

    def script(self, name, text):
        (self.path / "scripts" / name).write_text(text)

    def run_tests(self, *options):
        meson = self.path / "meson"
        meson.write_text(f"#!{sys.executable}\nprint({json.dumps(self.programs)!r})\n")
        meson.chmod(0o755)
        done = subprocess.run([str(RUN), str(self.path), "--scripts", str(self.path / "scripts"), *options], text=True,
                              capture_output=True, env={**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"})
        return done.returncode, done.stdout, done.stdout.splitlines()[-1]

    def test_pass(self):
        """runner: cases are counted, not programs"""
        self.program("unit-a", report(CASE.format("one", "", "true"), CASE.format("two", "", "true")))
        self.program("unit-b", report(CASE.format("three", "", "true")))
        self.assertEqual(self.run_tests()[::2], (0, "3 passed, 0 failed"))

    def test_failing_case(self):
        """runner: a failing case is named with its place and values"""
        self.program("unit-a", report(CASE.format("one", WRONG, "false"), failures=1), "sys.exit(1)")
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "0 passed, 1 failed"))
        self.assertIn("FAILED unit-a: one", text)
        self.assertIn("f.cpp:7: CHECK( a == b ) is 1 == 2", text)

    def test_crash(self):
        """runner: a program that dies in mid report fails, and what passed before stays counted"""
        self.program("unit-a", '<Catch name="t"><Group name="t">' + CASE.format("one", "", "true"), "os.abort()")
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "1 passed, 1 failed"))
        self.assertIn("ended by SIGABRT", text)

    def test_crash_at_exit(self):
        """runner: a program that dies after a good report fails"""
        self.program("unit-a", report(CASE.format("one", "", "true")), "os.abort()")
        self.assertEqual(self.run_tests()[::2], (1, "1 passed, 1 failed"))

    def test_unexplained_status(self):
        """runner: an exit status that the report does not explain fails (a leak found at exit)"""
        skip = CASE.format("two", "<Warning>skipped: no root</Warning>", "false")
        self.program("unit-a", report(CASE.format("one", "", "true"), skip, failures=1), "sys.exit(23)")
        self.assertEqual(self.run_tests()[::2], (1, "1 passed, 1 failed"))

    def test_timeout(self):
        """runner: a program past its limit is ended and fails"""
        self.program("unit-a", report(CASE.format("one", "", "true")), "time.sleep(600)", timeout=0.5)
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "1 passed, 1 failed"))
        self.assertIn("still running after", text)

    def test_missing_program(self):
        """runner: a program that was not built fails, and the others still run"""
        self.programs.append({"name": "unit-gone", "cmd": [str(self.path / "gone")], "env": {}, "timeout": 5})
        self.program("unit-b", report(CASE.format("one", "", "true")))
        self.assertEqual(self.run_tests()[::2], (1, "1 passed, 1 failed"))

    def test_empty_program(self):
        """runner: a program without a single case fails"""
        self.program("unit-a", report())
        self.assertEqual(self.run_tests()[::2], (1, "0 passed, 1 failed"))

    def test_nothing(self):
        """runner: a run of no test fails"""
        self.assertEqual(self.run_tests()[::2], (1, "0 passed, 0 failed"))

    def test_skips(self):
        """runner: a skipped case is neither passed nor failed, and has to be in the list"""
        skip = CASE.format("two", "<Warning>skipped: no root</Warning>", "false")
        self.program("unit-a", report(CASE.format("one", "", "true"), skip, failures=1), "sys.exit(1)")
        allowed = self.path / "skipped.txt"
        allowed.write_text("# why\nunit-a: two # needs root\n")
        self.assertEqual(self.run_tests("--skipped", str(allowed))[::2], (0, "1 passed, 0 failed"))
        allowed.write_text("")
        status, text, _ = self.run_tests("--skipped", str(allowed))
        self.assertEqual(status, 1)
        self.assertIn("1 skipped: unit-a: two", text)

    def test_stale_skip(self):
        """runner: a name in the list that is not skipped any more fails"""
        self.program("unit-a", report(CASE.format("one", "", "true")))
        allowed = self.path / "skipped.txt"
        allowed.write_text("unit-a: two # needs root\n")
        self.assertEqual(self.run_tests("--skipped", str(allowed))[0], 1)

    def test_skip_hides_nothing(self):
        """runner: a case that warns of a skip and then fails is failed"""
        case = CASE.format("one", "<Warning>skipped: no root</Warning>" + WRONG, "false")
        self.program("unit-a", report(case, failures=1), "sys.exit(1)")
        self.assertEqual(self.run_tests()[::2], (1, "0 passed, 1 failed"))

    def test_scripts(self):
        """runner: scripts count by TAP, or else by their status, and only marked ones run"""
        self.script("a.sh", "# test: short\necho ok 1 - fine\necho 'ok 2 - later # SKIP no bus'\necho not ok 3 - broken\nexit 1\n")
        self.script("b.sh", "# test: short\nexit 77\n")
        self.script("c.sh", "# test: short\ntrue\n")
        self.script("d.sh", "# test: long\nexit 1\n")
        self.script("e.sh", "exit 1\n")
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "2 passed, 1 failed"))
        self.assertIn("2 skipped: tests/a.sh: later, tests/b.sh", text)

    def test_script_status(self):
        """runner: a script that says ok and exits with a fault fails"""
        self.script("a.sh", "# test: short\necho ok 1 - fine\nexit 3\n")
        self.assertEqual(self.run_tests()[::2], (1, "1 passed, 1 failed"))

    def test_parts(self):
        """runner: a unittest case fails when one of its parts does"""
        text = f"# test: short\nimport sys, unittest\nsys.path.insert(0, {str(RUN.parent)!r})\nimport tap\n"
        text += "class A(unittest.TestCase):\n  def test_a(self):\n    'a: parts are equal'\n"
        text += "    for n in (1, 2, 2):\n      with self.subTest(n):\n        self.assertEqual(n, 1)\n"
        self.script("a.py", text + "  def test_b(self):\n    'b: fine'\ntap.main()\n")
        status, text, last = self.run_tests()
        self.assertEqual((status, last), (1, "1 passed, 1 failed"))
        self.assertIn("FAILED tests/a.py: a: parts are equal", text)

    def test_left_children(self):
        """runner: what a test leaves running is ended with it"""
        self.script("a.sh", f"# test: short\nsleep 600 & echo $! >{self.path}/pid\n")
        self.assertEqual(self.run_tests()[0], 0)
        pid = int((self.path / "pid").read_text())
        state = pathlib.Path(f"/proc/{pid}/stat")
        self.assertTrue(not state.exists() or ") Z " in state.read_text())


if __name__ == "__main__":
    tap.main()
