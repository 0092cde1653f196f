#!/usr/bin/env python3
# test: short root
"""Secrets on the machine: both backends, whole contents and templates, rotation, and what cannot be resolved. That none
of them is ever shown is a matter of secrets_stay.py."""

import os
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

TEMPLATE = "user = {{ labels.who }}\npassword = {{ secrets.db/password }}\nliteral = {{{{ x }}\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)
        self.secrets = self.bench.root / "etc/datum/secrets"
        self.secrets.mkdir(parents=True)

    def put(self, name, value, mode=0o600, folder=None):
        path = (folder or self.secrets) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value)
        path.chmod(mode)

    def declare(self, *resources):
        self.bench.declare(*resources)
        (self.bench.fleet / "base/t.tpl").write_text(TEMPLATE)
        host = self.bench.fleet / "host.yaml"
        host.write_text(host.read_text() + "labels: {who: anna}\n")

    def enforce(self, code=0, **options):
        done = self.bench.enforce(**options)
        self.assertEqual(done.code, code, done.text)
        return done

    def text(self, path):
        return self.bench.path(path).read_text()


class Secrets(Case):
    def test_contents(self):
        """secrets: a whole file and a template get them, byte for byte, and a second pass has nothing to do"""
        self.put("whole", "line one\n\x7f\nlast without an end")
        self.put("db/password", "p{{ secrets.whole }}w\n")
        self.declare(fleet.file("whole", "/whole", secretRef="whole", mode="0600"),
                     fleet.file("filled", "/filled", template="t.tpl", mode="0640"))
        self.enforce()
        self.assertEqual(self.text("/whole"), "line one\n\x7f\nlast without an end")
        self.assertEqual(self.text("/filled"),
                         "user = anna\npassword = p{{ secrets.whole }}w\n\nliteral = {{ x }}\n")
        self.assertEqual(self.bench.run("plan").code, 0)

    def test_rotation(self):
        """secrets: a rotated one is drift in observe, is put in place by enforce, and can be undone"""
        self.put("db/password", "one")
        self.declare(fleet.file("filled", "/filled", template="t.tpl"),
                     fleet.file("inside", "/inside", secretRef="db/password", replace="inPlace"))
        self.enforce()
        self.put("db/password", "two")
        seen = self.bench.observe("--json")
        self.assertEqual((seen.code, fleet.drifts(seen)),
                         (2, {"File[filled]": ["content"], "File[inside]": ["content"]}))
        self.enforce()
        self.assertEqual((self.text("/inside"), "password = two\n" in self.text("/filled")), ("two", True))
        last = max(event["seq"] for event in self.bench.events("--kind", "passStarted"))
        undone = fleet.datum("revert", str(last), "--root", self.bench.root, "--state", self.bench.state, "--mode", "enforce")
        self.assertEqual(undone.code, 2, undone.text)  # it is not as declared any more
        self.assertEqual(self.text("/inside"), "one")

    def test_unresolved(self):
        """secrets: what cannot be resolved leaves its file as it was, says why in both modes, and stops nothing else"""
        self.bench.path("/old").write_text("as it was\n")
        self.put("open", "x", 0o644)
        self.put("shared/x", "x")
        (self.secrets / "shared").chmod(0o777)
        os.symlink("/etc/passwd", self.secrets / "link")
        (self.secrets / "folder").mkdir()
        reasons = {"nowhere": "secrets/nowhere", "open": "is not kept as a secret (uid 0, mode 0644)",
                   "shared/x": "is not trusted with secrets (uid 0, mode 0777)", "link": "secrets/link", "folder": "secrets/folder"}
        for name, why in reasons.items():
            with self.subTest(name):
                self.declare(fleet.file("old", "/old", secretRef=name), fleet.file("other", f"/{name.replace('/', '-')}", "made\n"))
                for done in (self.bench.observe(), self.bench.enforce()):
                    self.assertIn(done.code, (2, 4), done.text)
                    self.assertIn(f"secret {name} cannot be resolved", done.text)
                    self.assertIn(why, done.text)
                self.assertEqual(self.bench.path("/old").read_text(), "as it was\n")
                self.assertEqual(self.text(f"/{name.replace('/', '-')}"), "made\n")

    def test_owner(self):
        """secrets: a secret of somebody else than root is refused"""
        self.put("mine", "x")
        os.chown(self.secrets / "mine", 1234, -1)
        self.declare(fleet.file("f", "/f", secretRef="mine"))
        self.assertIn("is not kept as a secret (uid 1234, mode 0600)", self.enforce(code=4).text)
        self.assertFalse(self.bench.path("/f").exists())

    def test_path(self):
        """secrets: agent.yaml's path is taken below the root"""
        self.put("x", "from elsewhere", folder=self.bench.root / "srv/secrets")
        (self.bench.root / "etc/datum/agent.yaml").write_text("secrets: {backend: file, path: /srv/secrets}\n")
        self.declare(fleet.file("f", "/f", secretRef="x"))
        self.enforce()
        self.assertEqual(self.text("/f"), "from elsewhere")

    def test_credentials(self):
        """secrets: the service manager's credentials are a backend; without their folder each of them is unresolved"""
        (self.bench.root / "etc/datum/agent.yaml").write_text("secrets: {backend: credentials}\n")
        credentials = self.bench.scratch / "credentials"
        self.put("x", "a credential", 0o400, credentials)
        self.declare(fleet.file("f", "/f", secretRef="x"))
        environment = {key: value for key, value in os.environ.items() if key != "CREDENTIALS_DIRECTORY"}
        done = self.enforce(code=4, env=environment)
        self.assertIn("$CREDENTIALS_DIRECTORY names no folder", done.text)
        self.enforce(env={**environment, "CREDENTIALS_DIRECTORY": str(credentials)})
        self.assertEqual(self.text("/f"), "a credential")

    def test_new_owner(self):
        """accounts: a File that requires a User of the same pass belongs to it"""
        for name, text in {"passwd": "root:x:0:0::/root:/bin/sh\n", "shadow": "root:*:1::::::\n", "group": "root:x:0:\n",
                           "gshadow": "root:*::\n", "login.defs": "USERGROUPS_ENAB yes\n"}.items():
            (self.bench.root / "etc" / name).write_text(text)
        self.declare(fleet.Resource("User", "svc", {"state": "present", "uid": 7001}),
                     fleet.with_keys(fleet.file("f", "/f", "f\n", owner="svc"), requires=["User[svc]"]))
        self.enforce()
        self.assertEqual(self.bench.path("/f").stat().st_uid, 7001)


if __name__ == "__main__":
    tap.main()
