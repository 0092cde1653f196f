#!/usr/bin/env python3
# test: long root
"""Packages on a machine with a real apt and systemd: each field, each way to spoil it, what observe says of it, what repair
and removal do; what a transaction may not touch; and a pass that dies in the middle of one."""

import pathlib
import sys
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import debs  # noqa: E402
import fleet  # noqa: E402
import tap  # noqa: E402
from machine import RUN_LIMIT_S, Node  # noqa: E402

REPO = "/srv/repo"
LOOK_S = 0.05  # between two looks at what another process does


def package(name, state="present", keys=None, **fields):
    return fleet.Resource("Package", name, {"state": state, **fields}, keys or {})


def deb(name, version="1.0"):
    return f"{REPO}/{debs.Package(name, version).file_name}"


def in_status(name, status):
    return ["sed", "-i", f"/^Package: {name}$/,/^$/s/^Status: .*/Status: {status}/", "/var/lib/dpkg/status"]


INSTALLED, GONE = "install ok installed", ""

# name: (declared, how it is spoilt, drifted fields that observe names, status and version after the repair)
ROWS = {
    "a missing package": (package("alpha"), [["dpkg", "-r", "alpha"]], ["state"], (INSTALLED, "1:1.0")),
    "a package of which only configuration is left": (
        package("conf", version="1.0"), [["dpkg", "-r", "conf"]], ["state"], (INSTALLED, "1.0")),
    "a package that shall not be there": (
        package("alpha", "absent"), [["dpkg", "-i", deb("alpha")]], ["state"], (GONE, "")),
    "an older version": (
        package("alpha", version="2.0"), [["dpkg", "-i", deb("alpha")]], ["version"], (INSTALLED, "2.0")),
    "a newer version": (
        package("alpha", version="1.0"), [["dpkg", "-i", deb("alpha", "2.0")]], ["version"], (INSTALLED, "1.0")),
    "a version of another epoch": (
        package("alpha", version="1.0"), [["dpkg", "-i", deb("alpha", "1:1.0")]], ["version"], (INSTALLED, "1.0")),
    "a hold that was taken away": (
        package("alpha", pinned=True), [["apt-mark", "unhold", "alpha"]], ["pinned"], ("hold ok installed", "1:1.0")),
    "a hold that nobody declared": (
        package("alpha", pinned=False), [["apt-mark", "hold", "alpha"]], ["pinned"], (INSTALLED, "1:1.0")),
    "another version under its hold": (
        package("alpha", version="2.0", pinned=True), [["dpkg", "-i", deb("alpha")], ["apt-mark", "hold", "alpha"]],
        ["version"], ("hold ok installed", "2.0")),
    "a package that is only unpacked": (
        package("alpha", version="2.0"), [["dpkg", "--unpack", deb("alpha", "2.0")]], ["state"], (INSTALLED, "2.0")),
    "a half-configured package": (
        package("alpha", version="2.0"), [in_status("alpha", "install ok half-configured")], ["state"],
        (INSTALLED, "2.0")),
    "a half-installed package": (
        package("alpha", version="2.0"), [in_status("alpha", "install reinstreq half-installed")], ["state"],
        (INSTALLED, "2.0")),
    "an interrupted package that shall not be there": (
        package("alpha", "absent"), [["dpkg", "--unpack", deb("alpha", "2.0")]], ["state"], (GONE, "")),
}


class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node("packages")
        cls.addClassCleanup(cls.node.drop)
        cls.node.boot()
        cls.node.must("sh", "-c", "rm -f /etc/apt/sources.list.d/* /etc/apt/sources.list; rm -rf /var/lib/apt/lists/*")
        cls.node.put("/etc/apt/sources.list", f"deb [trusted=yes] file:{REPO} ./\n")
        cls.repository = debs.Repository(cls.node.path(REPO))
        cls.repository.add(
            debs.Package("alpha"), debs.Package("alpha", "2.0"), debs.Package("alpha", "1:1.0"),
            debs.Package("conf", conffiles={"/etc/conf.conf": "one\n"}),
            debs.Package("conf", "2.0", conffiles={"/etc/conf.conf": "two\n"}),
            debs.Package("gamma"), debs.Package("lib"), debs.Package("lib", "2.0"),
            debs.Package("user", Depends="lib"), debs.Package("newer", Depends="lib (>= 2.0)"),
            debs.Package("eater", Conflicts="gamma"), debs.Package("datum"), debs.Package("rival", Conflicts="datum"),
            debs.Package("bad", scripts={"postinst": "echo this is broken >&2; exit 7"}))

    def setUp(self):
        self.node.must("rm", "-rf", self.node.STATE, "/etc/datum")
        names = sorted({one.name for one in self.repository.packages.values()})
        self.node.run("apt-mark", "unhold", *names)
        self.node.run("dpkg", "--purge", "--force-all", *names)

    def converge(self, *resources):
        self.node.declare(*resources)
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        return done

    def fails(self, *resources):
        self.node.declare(*resources)
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)
        return done

    def status(self, name):
        done = self.node.run("dpkg-query", "-W", "-f", "${Status}|${Version}", name)
        words = done.stdout.strip().split("|") if done.returncode == 0 else ["", ""]
        return (GONE, "") if words[0].split()[-1:] in ([], ["not-installed"], ["config-files"]) else tuple(words)

    def wait_for(self, happened):
        pause, deadline = threading.Event(), time.monotonic() + RUN_LIMIT_S
        while not happened():
            self.assertLess(time.monotonic(), deadline, "it did not happen")
            pause.wait(LOOK_S)

    def started(self):
        """A pass beside the test, which does not outlive it."""
        running = self.node.start("reconcile")
        self.addCleanup(running.wait, timeout=RUN_LIMIT_S)
        self.addCleanup(running.kill)
        return running

    def head(self):
        return max(event["seq"] for event in self.node.events())

    def live_events(self):
        """Of a pass that may not have made its store yet."""
        try:
            return self.node.events()
        except AssertionError:
            return []

    def announced(self, since):
        return [event for event in self.node.events() if event["seq"] > since and event["kind"] == "actionsAnnounced"]

    def assert_quiet(self):
        """Nothing is left of tools, and dpkg has nothing to finish."""
        self.assertEqual(self.node.must("dpkg", "--audit"), "")
        self.assertNotIn("datum-", self.node.must("systemctl", "list-units", "--all", "--plain", "--no-legend", "datum-*"))
        self.assertEqual(list(self.node.path(self.node.STATE + "/tools").iterdir()), [])


class Rows(Lab):
    def check_row(self, title):
        declared, spoil, fields, repaired = ROWS[title]
        self.converge(declared)
        for command in spoil:
            self.node.must(*command)
        before = self.node.must("sha256sum", "/var/lib/dpkg/status")
        seen = self.node.observe("--json")
        self.assertEqual((seen.code, fleet.drifts(seen)), (2, {declared.reference: fields}), seen.text)
        self.assertEqual(self.node.must("sha256sum", "/var/lib/dpkg/status"), before)
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.status(declared.name), repaired, done.text)
        self.assert_quiet()
        head = self.head()
        again = self.node.enforce()
        self.assertEqual((again.code, self.announced(head)), (0, []), again.text)
        # What Datum installed goes when it leaves the declaration.
        self.node.declare(fleet.directory("d", "/srv/d"))
        left = self.node.enforce()
        self.assertEqual(left.code, 0, left.text)
        self.assertEqual(self.status(declared.name), (GONE, ""), left.text)


def add_rows():
    for number, title in enumerate(ROWS):
        def check(self, title=title):
            self.check_row(title)
        rows = {"a half-configured package": " [P02]", "another version under its hold": " [P05]",
                "a version of another epoch": " [P07]"}.get(title, "")
        check.__doc__ = f"package: {title} is seen, repaired in one pass, and goes when it leaves the declaration{rows}"
        setattr(Rows, f"test_{number:02}", check)


add_rows()


class Transactions(Lab):
    def test_adopted_stays(self):
        """package: one that was there before Datum is adopted, and stays when it leaves the declaration"""
        self.node.must("dpkg", "-i", deb("gamma"))
        self.converge(package("gamma"))
        self.node.declare(fleet.directory("d", "/srv/d"))
        self.assertEqual(self.node.enforce().code, 0)
        self.assertEqual(self.status("gamma"), (INSTALLED, "1.0"))

    def test_dependencies(self):
        """package: what a named one needs is installed with it, in one transaction"""
        self.converge(package("user"), package("alpha"))
        self.assertEqual([self.status(name)[0] for name in ("user", "lib", "alpha")], [INSTALLED] * 3)
        log = self.node.path("/var/log/apt/history.log").read_text().split("Start-Date")[-1]
        for name in ("user", "lib", "alpha"):
            self.assertIn(f" {name}:", log)

    def test_unnamed_removed(self):
        """package: a transaction that would remove what nobody named fails with its name, and removes nothing"""
        self.node.must("dpkg", "-i", deb("gamma"))
        self.assertIn("remove gamma", self.fails(package("eater")).out)
        self.assertEqual((self.status("gamma")[0], self.status("eater")[0]), (INSTALLED, GONE))

    def test_unnamed_changed(self):
        """package: a transaction that would change what nobody named fails with name and versions"""
        self.node.must("dpkg", "-i", deb("lib"))
        self.assertIn("change lib (1.0 to 2.0)", self.fails(package("newer")).out)
        self.assertEqual(self.status("lib"), (INSTALLED, "1.0"))
        self.converge(package("newer"), package("lib", version="2.0"))

    def test_named_exchange(self):
        """package: what is named may be removed for what is named too"""
        self.converge(package("gamma"))
        self.converge(package("gamma", "absent"), package("eater"))
        self.assertEqual((self.status("gamma")[0], self.status("eater")[0]), (GONE, INSTALLED))

    def test_own_package(self):
        """package: Datum's own is never removed, neither by its name nor for another's sake"""
        self.node.must("dpkg", "-i", deb("datum"))
        self.assertIn("never removed", self.fails(package("datum", "absent")).out)
        self.assertIn("Datum's own package datum", self.fails(package("rival"), package("datum", "absent")).out)
        self.assertEqual(self.status("datum")[0], INSTALLED)

    def test_failing_script(self):
        """package: one whose script fails is failed with its own output, and the others are done"""
        done = self.fails(package("bad"), package("alpha"), package("nowhere"))
        self.assertEqual(self.status("alpha")[0], INSTALLED)
        self.assertIn("this is broken", done.out)
        self.assertIn("interrupted (half-configured)", done.out)
        self.assertIn("Unable to locate package nowhere", done.out)
        self.assertEqual(list(self.node.path(self.node.STATE + "/tools").iterdir()), [])
        # It can still be removed, and does not hold back others that the same documents name.
        self.converge(package("bad", "absent"), package("alpha"), package("gamma"))
        self.assert_quiet()

    def test_conffiles(self):
        """package: a changed configuration file is kept, or replaced where that is declared, and nobody is asked [P03]"""
        for policy, text in (("keep", "mine\n"), ("replace", "two\n")):
            with self.subTest(policy=policy):
                self.setUp()
                self.converge(package("conf", version="1.0"))
                self.node.put("/etc/conf.conf", "mine\n")
                self.converge(package("conf", version="2.0", conffiles=policy))
                self.assertEqual(self.node.path("/etc/conf.conf").read_text(), text)
                told = "/etc/conf.conf.dpkg-dist" in self.node.observe().text
                self.assertEqual(told, policy == "keep")

    def test_mixed_conffiles(self):
        """package: keeping and replacing in one pass are each done as declared"""
        self.converge(package("conf", version="1.0"))
        self.node.put("/etc/conf.conf", "mine\n")
        self.converge(package("conf", version="2.0", conffiles="replace"), package("alpha"), package("gamma"))
        self.assertEqual(self.node.path("/etc/conf.conf").read_text(), "two\n")

    def test_holds_stay(self):
        """package: every hold is what it was before, of named and of other packages [P05]"""
        self.node.must("dpkg", "-i", deb("gamma"), deb("alpha"))
        self.node.must("apt-mark", "hold", "gamma", "alpha")
        self.converge(package("alpha", version="2.0"), package("user"))
        self.assertEqual(self.node.must("apt-mark", "showhold").split(), ["alpha", "gamma"])
        self.assertEqual(self.status("alpha")[1], "2.0")

    def test_somebody_elses_interruption(self):
        """package: what somebody else's run left is told, and finished only where agent.yaml allows it [P02]"""
        self.node.must("dpkg", "--unpack", deb("gamma"))
        self.assertIn("gamma (unpacked)", self.fails(package("alpha")).out)
        self.assertEqual(self.status("gamma")[0], "install ok unpacked")
        self.node.put("/etc/datum/agent.yaml", "packages: {finishInterrupted: true}\n")
        self.converge(package("alpha"))
        self.assertEqual(self.status("gamma")[0], INSTALLED)

    def test_new_version_is_found(self):
        """package: a version that the lists do not have yet is looked for once, and found"""
        self.converge(package("alpha", version="1.0"))
        self.repository.add(debs.Package("alpha", "3.0"))
        self.addCleanup(self.repository.write_index)
        self.converge(package("alpha", version="3.0"))
        self.assertEqual(self.status("alpha")[1], "3.0")
        self.assertIn("was not found", self.fails(package("alpha", version="4.0")).out)

    def test_observe_changes_nothing(self):
        """package: observe and plan touch neither database nor lists nor cache"""
        self.node.declare(package("alpha"), package("lib", version="9"), package("user", pinned=True))
        find = ["find", "/var/lib/dpkg", "/var/lib/apt", "/var/cache/apt", "/etc/apt", "-printf", "%p %T@ %C@ %s\\n"]
        before = self.node.must(*find)
        self.assertEqual(self.node.observe().code, 2)
        self.assertEqual(self.node.one_pass("plan").code, 2)
        self.assertEqual(self.node.must(*find), before)

    def test_other_root(self):
        """package: under another root it is skipped with the reason"""
        self.node.must("mkdir", "-p", "/srv/other")
        self.node.declare(package("alpha"))
        seen = self.node.datum("observe", "--json", "--fleet", "/srv/fleet", "--host", fleet.HOST, "--root", "/srv/other",
                               "--state", "/srv/other-state")
        self.assertEqual([line.get("reason") for line in seen.lines if "reference" in line], ["not under --root"])

    def test_lock(self):
        """package: a pass waits while somebody else has dpkg's lock, and goes on when it is free [P01]"""
        self.node.put("/srv/holder.pl", "use Fcntl; open F, '+<', '/var/lib/dpkg/lock-frontend'; "
                      "my $lock = pack('s s x4 q q l x4', F_WRLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $lock) or die; "
                      "open G, '>', '/srv/locked'; close G; sleep 1000;\n")
        self.node.must("systemd-run", "--unit=holder", "--collect", "perl", "/srv/holder.pl")
        self.addCleanup(self.node.run, "systemctl", "stop", "holder")
        self.wait_for(lambda: self.node.path("/srv/locked").exists())
        self.node.declare(package("alpha"))
        running = self.started()
        self.wait_for(lambda: any(event["kind"] == "actionsAnnounced" for event in self.live_events()))
        self.assertIsNone(running.poll())
        self.assertEqual(self.status("alpha")[0], GONE)
        self.node.must("systemctl", "stop", "holder")
        self.assertEqual(running.wait(timeout=RUN_LIMIT_S), 0)
        self.assertEqual(self.status("alpha")[0], INSTALLED)

KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nnot one, but apt asks for it only in a signed repository\n"
LIST, KEYFILE, PIN = "/etc/apt/sources.list.d/own.sources", "/etc/apt/keyrings/own.asc", "/etc/apt/preferences.d/own.pref"

# field: (how it is spoilt, drifted fields that observe names)
REPOSITORY_ROWS = {
    "a missing list": (["rm", LIST], ["state"]),
    "url": (["sed", "-i", "s#file:/srv/own#file:/srv/evil#", LIST], ["url"]),
    "suite": (["sed", "-i", "s#Suites: ./#Suites: ./x/#", LIST], ["suite"]),
    "components": (["sed", "-i", "s#^Suites#Components: main\\nSuites#", LIST], ["components"]),
    "unsigned": (["sed", "-i", "/^Trusted/d", LIST], ["unsigned"]),
    "enabled": (["sed", "-i", "s#^Suites#Enabled: no\\nSuites#", LIST], ["enabled"]),
    "priority": (["sed", "-i", "s#Priority: 700#Priority: 1#", PIN], ["priority"]),
    "a missing pin": (["rm", PIN], ["priority"]),
    "mode": (["chmod", "666", LIST], ["mode"]),
    "a key that nobody declared": (["sh", "-c", f"mkdir -p /etc/apt/keyrings; echo x > {KEYFILE}"], ["signingKey"]),
    "lines of somebody else": (["sh", "-c", f"echo 'Languages: none' >> {LIST}"], ["content"]),
}


def own(**fields):
    desired = {"id": "own", "url": "file:/srv/own", "suite": "./", "unsigned": True, "enabled": True, "priority": 700}
    return fleet.Resource("Repository", "own", {**desired, **fields})


class Repositories(Lab):
    def setUp(self):
        super().setUp()
        self.node.must("rm", "-f", LIST, KEYFILE, PIN)
        self.other = debs.Repository(self.node.path("/srv/own"))
        self.other.add(debs.Package("theirs"))

    def test_rows(self):
        """repository: each field that is spoilt is seen by its name, repaired in one pass, and apt reads what was written"""
        for title, (spoil, fields) in REPOSITORY_ROWS.items():
            with self.subTest(title):
                self.setUp()
                self.converge(own())
                self.node.must(*spoil)
                seen = self.node.observe("--json")
                self.assertEqual((seen.code, fleet.drifts(seen)), (2, {"Repository[own]": fields}), seen.text)
                self.converge(own())
                self.assertIn("file:/srv/own", self.node.must("apt-get", "indextargets", "--format", "$(REPO_URI)"))
                self.assertIn("700", self.node.must("apt-cache", "policy"))

    def test_package_of_it(self):
        """repository: what requires it is found in it in the same pass, and removal takes all its files"""
        self.converge(own(), package("theirs", keys={"requires": ["Repository[own]"]}))
        self.assertEqual(self.status("theirs")[0], INSTALLED)
        self.node.declare(fleet.directory("d", "/srv/d"))
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertEqual(self.status("theirs")[0], GONE)
        for path in (LIST, KEYFILE, PIN):
            self.assertFalse(self.node.path(path).exists(), path)

    def test_key(self):
        """repository: a signed one has its key where its list says, and the key is seen and repaired"""
        fleet.write_fleet(self.node.path("/srv/fleet"), {"base": [fleet.Resource(
            "Repository", "own", {"id": "own", "url": "https://deb.invalid/debian", "suite": "stable", "components": ["main"],
                                  "signingKey": "own.asc"})]})
        self.node.put("/srv/fleet/own.asc", KEY)
        self.assertEqual(self.node.enforce().code, 0)
        self.assertEqual(self.node.path(KEYFILE).read_text(), KEY)
        self.assertIn(f"Signed-By: {KEYFILE}", self.node.path(LIST).read_text())
        self.node.put(KEYFILE, "another")
        self.assertEqual(fleet.drifts(self.node.observe("--json")), {"Repository[own]": ["signingKey"]})
        self.assertEqual(self.node.enforce().code, 0)
        self.assertEqual(self.node.path(KEYFILE).read_text(), KEY)


NAMES = ("s1", "s2", "s3", "s4", "s5")
STEPS = 2 * len(NAMES)  # a script before each is unpacked, one when it is configured
# Says that it was reached, and waits until as many steps as it is may pass.
STEP = """echo $0 >> /srv/reached
number=$(wc -l < /srv/reached)
until [ -e /srv/go ] || [ -e /srv/go-$number ]; do sleep 0.02; done"""


class Dying(Lab):
    """Maintainer scripts that say where they are and wait until they may go on."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in NAMES:
            cls.repository.add(debs.Package(name, scripts={"preinst": STEP, "postinst": STEP}))

    def reached(self):
        path = self.node.path("/srv/reached")
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def run_to(self, step):
        """A pass whose transaction stands in its `step`th script."""
        self.setUp()
        self.node.must("sh", "-c", "rm -f /srv/reached /srv/go*")
        for earlier in range(1, step):
            self.node.put(f"/srv/go-{earlier}", "")
        self.node.declare(*[package(name) for name in NAMES])
        running = self.started()
        self.wait_for(lambda: len(self.reached()) == step)
        return running

    def test_ten_moments(self):
        """recovery: a pass killed at ten moments of a transaction is taken over by the next, which waits for its end, records it once and repeats nothing [U01] [P02]"""
        for step in range(1, STEPS + 1):
            with self.subTest(step=step):
                running = self.run_to(step)
                self.node.must("sh", "-c", "kill -9 $(cat /srv/pid)")
                running.wait(timeout=RUN_LIMIT_S)
                tools = self.node.must("systemctl", "list-units", "--plain", "--no-legend", "datum-*")
                self.assertIn("running", tools, "the transaction ended with who began it")
                running = self.started()
                self.wait_for(lambda: any(event["kind"] == "actionToolAdopted" for event in self.node.events()))
                self.node.put("/srv/go", "")
                self.assertEqual(running.wait(timeout=RUN_LIMIT_S), 0)
                self.assertEqual(len(self.reached()), STEPS, "a script ran twice, or not")
                self.check_records()
                self.assert_quiet()

    def check_records(self):
        events = self.node.events()
        ends = [event["event"]["target"] for event in events if event["kind"] in ("actionRecovered", "actionSucceeded", "actionFailed")]
        self.assertEqual(sorted(ends), [f"package:{name}" for name in NAMES])
        outcomes = {event["event"]["outcome"] for event in events if event["kind"] == "actionRecovered"}
        self.assertEqual(outcomes, {"tookEffect"})
        for kind in ("actionToolAdopted", "ownershipCreated"):
            self.assertEqual(len([event for event in events if event["kind"] == kind]), len(NAMES))
        self.assertEqual([event["event"]["cause"] for event in events if event["kind"] == "passInterrupted"], ["crash"])

    def test_machine_dies(self):
        """recovery: a machine that goes down in the middle of a transaction converges after its next boot, and dpkg is whole [P02]"""
        for step in (3, 6, 10):
            with self.subTest(step=step):
                running = self.run_to(step)
                self.node.kill()
                running.wait(timeout=RUN_LIMIT_S)
                self.node.boot()
                self.node.put("/srv/go", "")
                done = self.node.enforce()
                self.assertEqual(done.code, 0, done.text)
                self.assertEqual([self.status(name)[0] for name in NAMES], [INSTALLED] * len(NAMES))
                self.assert_quiet()


if __name__ == "__main__":
    tap.main()
