#!/usr/bin/env python3
# test: long root
"""Services on a machine with a real systemd: each field, each way to spoil it, what observe says of it, what repair
and removal do; and what a notification does to a unit."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402
from machine import Node, service  # noqa: E402

ENABLED = {"UnitFileState": "enabled", "ActiveState": "active"}
INSTALL = "[Install]\nWantedBy=multi-user.target\n"


def unit_text(start="/bin/sleep infinity", install=INSTALL, reload="/bin/true", more=""):
    text = f"[Service]\nExecStart={start}\n" + (f"ExecReload={reload}\n" if reload else "") + more
    return text + install


# name: (declared, how it is spoilt, drifted fields that observe names, what systemd says after the repair)
ROWS = {
    "a stopped unit": (service("row"), ["systemctl stop row"], ["state"], ENABLED),
    "a unit that was killed": (service("row"), ["systemctl kill -s KILL row"], ["state"], ENABLED),
    "a unit that runs and shall not": (service("row", "stopped", False), ["systemctl start row"], ["state"],
                                       {"UnitFileState": "disabled", "ActiveState": "inactive"}),
    "a disabled unit": (service("row"), ["systemctl disable row"], ["enabled"], ENABLED),
    "a unit enabled for this boot only": (service("row"), ["systemctl disable row", "systemctl enable --runtime row"],
                                          ["enabled"], ENABLED),
    "an enabled unit that shall not be": (service("row", "stopped", False), ["systemctl enable row"], ["enabled"],
                                          {"UnitFileState": "disabled"}),
    "a masked unit": (service("row", masked=False), ["systemctl mask --now row"], ["enabled", "masked", "state"],
                      {**ENABLED, "LoadState": "loaded"}),
    "an unmasked unit": (service("row", "stopped", False, masked=True), ["systemctl unmask row"], ["masked"],
                         {"LoadState": "masked", "ActiveState": "inactive"}),
    "a unit masked for this boot only": (service("row", "stopped", False, masked=True),
                                         ["systemctl unmask row", "systemctl mask --runtime row"], ["masked"],
                                         {"LoadState": "masked"}),
    "an alias of a stopped unit": (service("other", unit="row-too.service"), ["systemctl stop row"], ["state"], ENABLED),
}


class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node("services")
        cls.addClassCleanup(cls.node.drop)
        cls.node.boot()

    def setUp(self):
        self.node.must("rm", "-rf", self.node.STATE)
        self.node.run("systemctl", "unmask", "row")
        self.node.run("systemctl", "unmask", "--runtime", "row")
        self.node.run("systemctl", "disable", "--runtime", "row")
        self.node.run("systemctl", "disable", "--now", "row")
        self.node.run("systemctl", "reset-failed", "row")
        self.node.unit("row.service", unit_text())

    def converge(self, *resources):
        self.node.declare(*resources)
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        return done

    def acted(self, since):
        kinds = {"actionsAnnounced", "deliveryStarted"}
        return [event for event in self.node.events() if event["seq"] > since and event["kind"] in kinds]

    def head(self):
        return max(event["seq"] for event in self.node.events())

    def shows(self, unit, expected):
        self.assertEqual(self.node.show(unit, *expected), expected)


class Rows(Lab):
    def check_row(self, title):
        declared, spoil, fields, repaired = ROWS[title]
        if declared.desired.get("unit"):
            self.node.must("ln", "-sfn", "/usr/lib/systemd/system/row.service", "/usr/lib/systemd/system/row-too.service")
            self.node.must("systemctl", "daemon-reload")
            self.addCleanup(self.node.must, "rm", "-f", "/usr/lib/systemd/system/row-too.service")
        self.converge(declared)
        for command in spoil:
            self.node.must(*command.split())
        before = self.node.show("row", "InvocationID", "StateChangeTimestampMonotonic")
        seen = self.node.observe("--json")
        self.assertEqual((seen.code, fleet.drifts(seen)), (2, {declared.reference: fields}), seen.text)
        self.assertEqual(self.node.show("row", "InvocationID", "StateChangeTimestampMonotonic"), before)
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.shows("row", repaired)
        head = self.head()
        again = self.node.enforce()
        self.assertEqual((again.code, self.acted(head)), (0, []), again.text)
        # Leaving the declaration stops and disables nothing.
        state = self.node.show("row", "ActiveState", "UnitFileState", "LoadState", "InvocationID")
        self.node.declare(fleet.directory("d", "/srv/d"))
        left = self.node.enforce()
        self.assertEqual(left.code, 0, left.text)
        self.assertRegex(left.out, r"release +Service\[")
        self.assertEqual(self.node.show("row", "ActiveState", "UnitFileState", "LoadState", "InvocationID"), state)


def add_rows():
    for number, title in enumerate(ROWS):
        def check(self, title=title):
            self.check_row(title)
        ids = {"an alias of a stopped unit": " [V03]", "a unit enabled for this boot only": " [V05]"}.get(title, "")
        check.__doc__ = f"service: {title} is seen, repaired once, and left alone when it leaves the declaration{ids}"
        setattr(Rows, f"test_{number:02}", check)


add_rows()


class Units(Lab):
    def test_states_without_an_answer(self):
        """service: static, indirect and generated units are never drifted in `enabled`, and a warning says so [V05]"""
        self.node.unit("static.service", unit_text(install=""))
        self.node.unit("indirect.service", unit_text(install="[Install]\nAlso=row.service\n"))
        self.node.put("/etc/fstab", "none /srv/gen tmpfs defaults,noauto 0 0\n")
        self.node.must("mkdir", "-p", "/srv/gen")
        self.node.must("systemctl", "daemon-reload")
        wanted = [service("static"), service("indirect"), service("gen", unit="srv-gen.mount")]
        self.converge(*wanted)
        for unit in ("static.service", "indirect.service", "srv-gen.mount"):
            self.shows(unit, {"ActiveState": "active"})
        for enabled in (True, False):
            self.node.declare(*[service(one.name, enabled=enabled, **({"unit": "srv-gen.mount"} if one.name == "gen" else {}))
                                for one in wanted])
            seen = self.node.observe()
            self.assertEqual(seen.code, 0, seen.text)
            for word in ("static", "indirect", "generated"):
                self.assertIn(f"its unit file is {word}", seen.err)
        self.node.must("systemctl", "stop", "srv-gen.mount", "static", "indirect")

    def test_linked(self):
        """service: a linked unit is not enabled, and enabling it makes it so [V05]"""
        self.node.put("/opt/linked.service", unit_text())
        self.node.must("systemctl", "link", "/opt/linked.service")
        self.node.declare(service("linked", "stopped", True))
        seen = self.node.observe("--json")
        self.assertEqual(fleet.drifts(seen), {"Service[linked]": ["enabled"]}, seen.text)
        self.assertIn("(linked)", seen.out)
        self.assertEqual(self.node.enforce().code, 0)
        self.shows("linked.service", {"UnitFileState": "enabled"})

    def test_masked_under_an_alias(self):
        """service: what is masked is masked under every name, and is not started through an alias [V01]"""
        self.node.must("ln", "-sfn", "/usr/lib/systemd/system/row.service", "/usr/lib/systemd/system/row-too.service")
        self.addCleanup(self.node.must, "rm", "-f", "/usr/lib/systemd/system/row-too.service")
        self.node.must("systemctl", "mask", "row")
        self.node.declare(service("too", unit="row-too.service"))
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("masked", done.out)
        self.shows("row", {"ActiveState": "inactive", "LoadState": "masked"})

    def test_missing(self):
        """service: a unit that does not exist is missing, and enforcing says what to declare"""
        self.node.declare(service("nowhere"))
        seen = self.node.observe("--json")
        self.assertEqual(fleet.drifts(seen), {"Service[nowhere]": ["state"]}, seen.text)
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("there is no unit nowhere.service", done.out)

    def test_brought_by_a_file(self):
        """service: a unit that a File brings is started in the same pass, by the definition that the File has [V08]"""
        path = "/etc/systemd/system/brought.service"
        text = unit_text("/bin/sleep 1001")
        unit = fleet.file("unit", path, text, mode="0644")
        run = service("brought", keys={"requires": ["File[unit]"], "restartOn": ["File[unit]"]})
        self.converge(unit, run)
        self.shows("brought", ENABLED)
        changed = fleet.file("unit", path, text.replace("1001", "1002"), mode="0644")
        self.converge(changed, run)
        self.assertIn("sleep 1002", self.node.must("cat", f"/proc/{self.node.show('brought', 'MainPID')['MainPID']}/cmdline")
                      .replace("\0", " "))
        self.shows("brought", {"NeedDaemonReload": "no"})

    def test_bad_starts(self):
        """service: a unit that fails to start, and one that dies within settle, are failures with the reason"""
        self.node.unit("bad.service", unit_text("/bin/false", more="Type=oneshot\n"))
        self.node.unit("brief.service", unit_text("/bin/sh -c 'sleep 0.5; exit 3'"))
        self.node.declare(service("bad"), service("brief"))
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertIn("its start job ended as failed", done.out)
        self.assertRegex(done.out, r"started and ended soon after: failed: its main process ended with status 3")

    def test_templates(self):
        """service: an instance of a template runs; a bare one is enabled only with a default instance [V06]"""
        self.node.unit("tpl@.service", unit_text(install=INSTALL + "DefaultInstance=one\n"))
        self.node.unit("bare@.service", unit_text())
        self.converge(service("tpl", "stopped", True, unit="tpl@.service"), service("tpl-a", unit="tpl@a.service"))
        self.shows("tpl@a.service", {"ActiveState": "active"})
        self.node.declare(service("bare", "stopped", True, unit="bare@.service"))
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)

    def test_other_root(self):
        """service: under another root it is skipped with the reason, and this machine's unit is left alone"""
        self.node.must("systemctl", "start", "row")
        before = self.node.show("row", "InvocationID")
        self.node.must("mkdir", "-p", "/srv/other")
        self.node.declare(service("row", "stopped", False))
        common = ["--fleet", "/srv/fleet", "--host", fleet.HOST, "--root", "/srv/other", "--state", "/srv/other-state"]
        self.assertEqual(self.node.datum("reconcile", "--mode", "enforce", *common).code, 4)
        seen = self.node.datum("observe", "--json", *common)
        self.assertEqual([line.get("reason") for line in seen.lines if "reference" in line], ["not under --root"])
        self.assertEqual(self.node.show("row", "InvocationID"), before)


class Notifications(Lab):
    def setUp(self):
        super().setUp()
        self.node.must("rm", "-f", "/srv/reloads")
        self.node.unit("row.service", unit_text(reload="/bin/sh -c 'cat /etc/row-* >> /srv/reloads'"))

    def files(self, text):
        return [fleet.file(name, f"/etc/row-{name}", f"{name} {text}\n") for name in ("a", "b")]

    def run_with(self, text, key="reloadOn", **fields):
        return [*self.files(text), service("row", keys={key: ["File[a]", "File[b]"]}, **fields)]

    def reloads(self):
        path = self.node.path("/srv/reloads")
        return path.read_text() if path.exists() else ""

    def test_reload_once(self):
        """notification: two changed files are one reload, after both, and a second pass sends none"""
        self.converge(*self.run_with("one"))
        self.assertEqual(self.reloads(), "")  # it was started after the files were there
        invocation = self.node.show("row", "InvocationID")
        done = self.converge(*self.run_with("two"))
        self.assertEqual(self.reloads(), "a two\nb two\n")
        self.assertIn("Notification of Service[row] (row.service), reload: delivered", done.out)
        self.assertEqual(self.node.show("row", "InvocationID"), invocation)
        self.converge(*self.run_with("two"))
        self.assertEqual(self.reloads(), "a two\nb two\n")

    def test_restart(self):
        """notification: restartOn starts the unit anew, and its settling is watched"""
        self.converge(*self.run_with("one", "restartOn"))
        invocation = self.node.show("row", "InvocationID")
        self.converge(*self.run_with("two", "restartOn"))
        self.assertNotEqual(self.node.show("row", "InvocationID"), invocation)
        self.assertEqual(self.reloads(), "")

    def test_observe_keeps_it(self):
        """notification: what could not be delivered is pending, not converged, and outlives observe and a new version"""
        self.node.unit("row.service", unit_text(reload="/bin/false"))
        self.converge(*self.run_with("one"))
        self.node.declare(*self.run_with("two"))
        failed = self.node.enforce()
        self.assertEqual(failed.code, 2, failed.text)
        self.assertIn("reload: failed: its reload job ended as failed", failed.out)
        seen = self.node.observe()
        self.assertEqual(seen.code, 2, seen.text)
        self.assertIn("Notification of Service[row] (row.service), reload: pending", seen.out)
        self.node.unit("row.service", unit_text(reload="/bin/sh -c 'cat /etc/row-* >> /srv/reloads'"))
        self.node.declare(*self.run_with("two"), fleet.directory("d", "/srv/d"))
        self.assertEqual(self.node.enforce().code, 0)
        self.assertEqual(self.reloads(), "a two\nb two\n")

    def test_only_observed(self):
        """notification: of a Service held in observe it stays pending, and is delivered once that ends"""
        self.converge(*self.run_with("one"))
        held = self.run_with("two")
        held[-1] = fleet.with_keys(held[-1], policy="observe")
        self.node.declare(*held)
        done = self.node.enforce()
        self.assertEqual((done.code, self.reloads()), (2, ""), done.text)
        self.assertIn("pending: its Service is only observed", done.out)
        self.converge(*self.run_with("two"))
        self.assertEqual(self.reloads(), "a two\nb two\n")

    def test_left_and_stopped(self):
        """notification: of a Service that left the declaration, or is to be stopped, it is dropped with the reason"""
        self.node.unit("row.service", unit_text(reload="/bin/false"))
        self.converge(*self.run_with("one"))
        self.node.declare(*self.run_with("two"))
        self.assertEqual(self.node.enforce().code, 2)
        self.node.declare(*self.files("two"))
        done = self.node.enforce()
        self.assertEqual(done.code, 0, done.text)
        self.assertIn("reload: dropped: Service[row] left the declaration", done.out)

    def test_no_reload(self):
        """notification: a unit that cannot reload fails the reload; it is not restarted instead"""
        self.node.unit("row.service", unit_text(reload=""))
        self.converge(*self.run_with("one"))
        invocation = self.node.show("row", "InvocationID")
        self.node.declare(*self.run_with("two"))
        done = self.node.enforce()
        self.assertEqual(done.code, 2, done.text)
        self.assertRegex(done.out, r"reload: failed: reload: Job type reload is not applicable")
        self.assertEqual(self.node.show("row", "InvocationID"), invocation)

    def test_half_changed(self):
        """notification: while one of the files could not be changed, the unit is told nothing [V10]"""
        self.converge(*self.run_with("one"))
        self.node.must("chattr", "+i", "/etc/row-b")
        self.addCleanup(self.node.must, "chattr", "-i", "/etc/row-b")
        self.node.declare(*self.run_with("two"))
        done = self.node.enforce()
        self.assertEqual((done.code, self.reloads()), (2, ""), done.text)
        self.assertIn("pending: File[b] was not changed as planned", done.out)
        self.shows("row", {"ActiveState": "active"})


if __name__ == "__main__":
    tap.main()
