#!/usr/bin/env python3
# test: short root
"""The story of a pass: of real passes that failed, were cut off by kill -9, or met hostile names; told from the
store, and from an export by another user on what might be another machine."""

import html
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

NOBODY = 65534


def load_kill9():
    spec = importlib.util.spec_from_file_location("kill9", fleet.TOP / "tests/crash/kill9.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)

    def tell(self, *arguments):
        done = fleet.datum("postmortem", *arguments, "--state", self.bench.state)
        self.assertEqual(done.code, 0, done.text)
        return done.out

    def objects(self, *arguments):
        """The pass, its actions by reference, its notifications."""
        lines = [json.loads(line) for line in self.tell(*arguments, "--json").splitlines()]
        return lines[0], {line["reference"]: line for line in lines[1:] if "ordinal" in line}

    def write(self, *arguments):
        path = self.bench.scratch / "page.html"
        self.tell(*arguments, "--html", path)
        return path

    def a_chain(self):
        """Three resources that wait for each other, the first of which must fail."""
        (self.bench.root / "way").write_text("no folder\n")
        self.bench.declare(fleet.file("a", "/way/a", "1\n"), fleet.with_keys(fleet.file("b", "/b", "1\n"), requires=["File[a]"]),
                           fleet.with_keys(fleet.file("c", "/c", "1\n"), requires=["File[b]"]), fleet.file("d", "/d", "1\n"))
        self.assertEqual(self.bench.enforce().code, 2)

    def a_crash(self):
        """A pass that was killed between its announcement and its end, and the pass after it. Its number."""
        kill9, chance = load_kill9(), random.Random(7)
        files = [fleet.file(f"f{number}", f"/f{number}", f"{'x' * 500}{number}\n") for number in range(300)]
        self.bench.declare(*files)
        command = [fleet.DATUM, "reconcile", "--fleet", str(self.bench.fleet), "--host", fleet.HOST, "--root",
                   str(self.bench.root), "--state", str(self.bench.state), "--mode", "enforce", "--allow-removals", "999"]
        for attempt in range(20):
            killed, _ = kill9.kill_in_pass(command, self.bench.root, chance.randrange(5, 250), None)
            self.assertEqual(fleet.datum(*command[1:]).code, 0)
            cut = self.bench.events("--kind", "passInterrupted")
            if killed and cut:
                return cut[-1]["event"]["pass"]
            self.bench.declare(*[fleet.file(f"f{number}", f"/f{number}", f"{attempt}{'x' * 500}{number}\n") for number in range(300)])
        raise AssertionError("no kill fell into a pass")


class Failure(Case):
    def test_first_failure(self):
        """postmortem: the first line says what happened, the second which failure explains the rest"""
        self.a_chain()
        text = self.tell().splitlines()
        self.assertRegex(text[0], r"^Pass \d+ on h1 finished after .* and left the host drifted: 1 done, 1 failed, 2 blocked\.$")
        self.assertRegex(text[1], r"^Why: File\[a\] /way/a failed: .*2 other actions did not happen because of it\.$")
        told, actions = self.objects()
        self.assertEqual(told["firstFailure"], actions["File[a]"]["ordinal"])
        self.assertEqual(actions["File[c]"]["chain"], [actions["File[b]"]["ordinal"], actions["File[a]"]["ordinal"]])
        self.assertEqual({name: action["outcome"] for name, action in actions.items()},
                         {"File[a]": "failed", "File[b]": "blocked", "File[c]": "blocked", "File[d]": "done"})
        chain = "File[c] /c is blocked by File[b] /b, which is blocked by File[a] /way/a, which failed"
        self.assertIn(chain, self.tell())

    def test_provenance(self):
        """postmortem: each action names the document lines that asked for it, of all layers"""
        self.bench.declare(low=[fleet.file("a", "/a", "1\n"), fleet.file("b", "/b", "1\n")],
                           high=[fleet.file("a", "/a", "2\n")])
        self.assertEqual(self.bench.enforce().code, 0)
        _, actions = self.objects()
        self.assertRegex(actions["File[b]"]["documents"], r"^low/resources.yaml:\d+$")
        self.assertRegex(actions["File[a]"]["documents"], r"^low/resources.yaml:\d+, high/resources.yaml:\d+$")
        for action in actions.values():
            file, line = action["documents"].split(", ")[-1].rsplit(":", 1)
            self.assertIn("---", (self.bench.fleet / file).read_text().splitlines()[max(0, int(line) - 2):int(line) + 1] + ["---"])

    def test_which(self):
        """postmortem: last is the newest pass, a number that begins no pass is refused"""
        self.a_chain()
        self.assertEqual(self.tell("last"), self.tell())
        for name in ("1", "0", "99999", "first", "-1"):
            done = fleet.datum("postmortem", "--state", self.bench.state, "--", name)
            self.assertEqual(done.code, 1, name)

    def test_observed(self):
        """postmortem: a pass that only observed says so, and that nothing was changed"""
        self.bench.declare(fleet.file("a", "/a", "1\n"))
        self.bench.observe()
        self.assertIn("only observed", self.tell().splitlines()[0])
        self.assertIn("nothing was changed", self.tell().splitlines()[0])


class Crash(Case):
    def test_killed(self):
        """postmortem: a kill in mid-apply is told to the record, with what was durable and what recovery found"""
        number = str(self.a_crash())
        told, actions = self.objects(number)
        cut = told["interruption"]
        events = {event["seq"]: event for event in self.bench.events()}
        self.assertEqual(cut["cause"], "crash")
        self.assertEqual(events[cut["last"]["seq"]]["kind"], cut["lastKind"])
        self.assertEqual(events[cut["reopened"]["seq"]]["kind"], "storeOpened")
        self.assertEqual(cut["reopened"]["seq"], cut["last"]["seq"] + 1)
        self.assertEqual(events[cut["recorded"]["seq"]]["kind"], "passInterrupted")
        self.assertEqual(events[cut["followedBy"]]["kind"], "passStarted")
        open_ones = [action for action in actions.values() if action["announced"] and not action["ended"]]
        self.assertEqual(cut["underWay"], len(open_ones))
        self.assertTrue(all(action["recovered"] for action in open_ones))
        recovered = [event["event"] for event in events.values() if event["kind"] == "actionRecovered"
                     and event["event"]["pass"] == int(number)]
        # One that left a file is told once more when the file has gone.
        self.assertEqual({event["ordinal"] for event in recovered}, {action["ordinal"] for action in open_ones})
        text = self.tell(number)
        self.assertIn("was cut off by a crash", text.splitlines()[0])
        self.assertIn("the process died after record", text.splitlines()[1])
        self.assertRegex(text, r"durable +every record up to " + str(cut["last"]["seq"]))

    def by_ordinal(self, number):
        lines = [json.loads(line) for line in self.tell(number, "--json").splitlines()]
        return lines[0], {line["ordinal"]: line for line in lines[1:] if "ordinal" in line}

    def check_counts(self, number, told, actions):
        """Headline, actions and the list of passes say the same number; that number."""
        done = sum(action["outcome"] == "done" for action in actions.values())
        said = re.search(r"[:,] (\d+) done", told["headline"])
        self.assertEqual(int(said.group(1)) if said else 0, done, told["headline"])
        listed = fleet.datum("replay", "passes", "--json", "--state", self.bench.state)
        row = next(line for line in listed.lines if line["pass"] == int(number))
        self.assertEqual(row["succeeded"], done)
        return done

    def test_swept(self):
        """postmortem: once the plan's body was swept, only what records name is told, and of the rest how much it was"""
        number = str(self.a_crash())
        told, actions = self.by_ordinal(number)
        self.assertEqual((told["planMissing"], told["untold"], told["changes"]), ("", 0, len(actions)))
        done = self.check_counts(number, told, actions)
        archived = fleet.datum("journal", "archive", "--through", "999999", "--root", self.bench.root, "--state", self.bench.state)
        self.assertEqual(archived.code, 0, archived.text)
        left, some = self.by_ordinal(number)
        self.assertIn(left["plan"], left["planMissing"])
        self.assertEqual(self.check_counts(number, left, some), done)
        self.assertEqual(left["changes"], len(actions))
        self.assertEqual(left["untold"], len(actions) - len(some))
        for ordinal, action in some.items():
            self.assertTrue(action["announced"] or action["ended"], action)
            same = ("action", "target", "outcome", "fate", "wave", "announced", "ended", "recovered")
            self.assertEqual({key: action[key] for key in same}, {key: actions[ordinal][key] for key in same})
        text = self.tell(number)
        self.assertIn(f"plan       {len(actions)} changes; sha256:", text)
        page = self.write(number).read_text(encoding="utf-8")
        for shown in (text, html.unescape(page)):
            self.assertIn(f"so only what records name is told: {len(some)} actions", shown)
            if left["untold"]:
                self.assertRegex(shown, f"{left['untold']} (more )?changes? of the plan not begun, or only observed")
        self.assertEqual(page.count("<li id=a"), len(some))

    def test_dead_machine(self):
        """postmortem: the journal of a dead machine, exported, is verified, replayed and told by another user elsewhere"""
        number = str(self.a_crash())
        here = self.tell(number, "--all")
        away = self.bench.scratch / "away"
        away.mkdir()
        self.assertEqual(fleet.datum("journal", "export", away / "story", "--state", self.bench.state).code, 0)
        shutil.rmtree(self.bench.state)
        shutil.rmtree(self.bench.root)
        for path in (self.bench.scratch, away):
            path.chmod(0o755)
        os.chown(away, NOBODY, NOBODY)
        os.chown(away / "story", NOBODY, NOBODY)

        def become_nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        # By descriptor: the folder of the build may be closed to others.
        program = os.open(fleet.DATUM, os.O_RDONLY)
        self.addCleanup(os.close, program)
        run = lambda *words: subprocess.run([fleet.DATUM, *map(str, words), "--journal", str(away / "story")], cwd=away,
                                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                            executable=f"/proc/self/fd/{program}", pass_fds=[program],
                                            preexec_fn=become_nobody)
        self.assertEqual(run("journal", "verify").returncode, 0)
        self.assertIn("interrupted by crash", run("replay", "passes").stdout)
        self.assertEqual(run("postmortem", number, "--all").stdout, here)
        made = run("postmortem", number, "--html", away / "page.html")
        self.assertEqual(made.returncode, 0, made.stderr)
        info = (away / "page.html").stat()
        self.assertEqual((info.st_mode & 0o777, info.st_uid), (0o600, NOBODY))


class Page(Case):
    def test_everything(self):
        """postmortem: the page says every fact without a script, and refers to nothing outside of it"""
        number = str(self.a_crash())
        path = self.write(number)
        text = path.read_text(encoding="utf-8")
        plain = html.unescape(re.sub(r"<[^>]*>", "", text))
        told, actions = self.objects(number)
        for line in (told["headline"], told["why"]):
            self.assertIn(line, plain)
        for action in actions.values():
            self.assertIn(f"{action['fate']} {action['action']} {action['reference']} {action['target']}", plain)
        self.assertIn("cut off", text)
        self.assertIn("opened again", text)
        for forbidden in ("<script", "http:", "https:", "src=", "@import", "url(", "javascript:"):
            self.assertNotIn(forbidden, text)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertFalse((self.bench.scratch / "page.html.part").exists())

    def test_hostile(self):
        """postmortem: hostile names are shown and obeyed nowhere: no markup, no control, no direction"""
        (self.bench.root / "d").mkdir()
        (self.bench.root / "d" / "<img src=x onerror=1>&\u202egnp\u0007'\"").write_text("nobody declared it\n")
        self.bench.declare(fleet.directory("d", "/d", purge=True))
        done = self.bench.enforce()
        self.assertEqual(done.code, 0, done.text)
        text = self.write().read_text(encoding="utf-8")
        self.assertNotIn("<img", text)
        self.assertNotIn("\u202e", text)
        self.assertNotIn("\u0007", text)
        self.assertIn("\\u202e", text)
        self.assertIn("&lt;img src=x onerror=1&gt;&amp;", text)
        for shown in (self.tell(), self.tell("--json")):
            self.assertNotIn("\u202e", shown)
            self.assertNotIn("\u0007", shown)


if __name__ == "__main__":
    tap.main()
