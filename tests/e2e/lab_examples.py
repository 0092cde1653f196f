#!/usr/bin/env python3
# test: long root
"""Both example fleets on bare Debian machines with a real systemd and apt: the first plan is complete, the first pass that
enforces converges, and the second finds nothing to do. Debian's packages are fetched once and lie in each machine, which has
no network; the vendor's are in a signed repository of the test. What a container's kernel does not let a machine do is
replaced: kernel values are files of the machine's own, and units that a container does not run do nothing."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import debs  # noqa: E402
import fleet  # noqa: E402
import machine  # noqa: E402
import tap  # noqa: E402

EXAMPLES = fleet.TOP / "docs/examples"
LAB_LAYER = "datum: v1alpha1\ntype: Layer\nname: lab\nprecedence: 100\n"
PASS_LIMIT_S = 900  # packages are fetched and unpacked in it
MUTATING = ("create", "update", "replace", "remove", "purge", "leave")
VENDOR, DEBIAN = "/srv/vendor", "/srv/debian"

# A unit that is there, and of which the container runs nothing.
IDLE = "[Unit]\nConditionVirtualization=\nConditionSecurity=\nConditionCapability=\nConditionKernelCommandLine=\n" \
    "AssertPathIsDirectory=\n"
IDLE_SERVICE = IDLE + "[Service]\nType=oneshot\nRemainAfterExit=yes\nPIDFile=\nExecStartPre=\nExecStartPost=\nExecStop=\n" \
    "ExecStopPost=\nExecReload=\nExecReload=/bin/true\nExecStart=\nExecStart=/bin/true\n"

SHOP_UNIT = "[Unit]\nDescription=shop\n[Service]\nUser=shop\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
SHOP = {"/usr/lib/systemd/system/shop.service": SHOP_UNIT, "/usr/share/shop/pages/start/index.html": "start\n",
        "/etc/shop/README": "settings\n"}


class Vendor:
    """A repository in a folder of the machine, signed with a key of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.home = tempfile.mkdtemp(prefix="datum-gpg-")
        self.gpg("--quick-generate-key", "--passphrase", "", "Vendor <vendor@localhost>", "ed25519", "sign", "never")
        self.key = self.gpg("--armor", "--export")

    def gpg(self, *arguments):
        done = subprocess.run(["gpg", "--homedir", self.home, "--batch", "--yes", "--quiet", *arguments], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout

    def close(self):
        subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "all"], check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def publish(self):
        """All packages that lie in the folder."""
        index_folder = self.folder / f"dists/bookworm/main/binary-{debs.ARCHITECTURE}"
        index_folder.mkdir(parents=True, exist_ok=True)
        (index_folder / "Packages").write_bytes(index(self.folder))
        release = self.folder / "dists/bookworm"
        head = "Origin: vendor\nSuite: bookworm\nCodename: bookworm\nComponents: main\nArchitectures: " + debs.ARCHITECTURE + "\n"
        done = subprocess.run(["sh", "-c", "cd dists/bookworm && find main -type f -exec sha256sum {} +"], cwd=self.folder,
                              stdout=subprocess.PIPE, text=True, check=True)
        sums = "".join(f" {line.split()[0]} {(release / line.split()[1]).stat().st_size} {line.split()[1]}\n"
                       for line in done.stdout.splitlines())
        (release / "Release").write_text(head + "Date: Mon, 02 Nov 2026 00:00:00 UTC\nSHA256:\n" + sums)
        self.gpg("--clearsign", "-o", str(release / "InRelease"), str(release / "Release"))


def sysctls(folder):
    """key → declared value, of the whole fleet."""
    found = {}
    for path in folder.rglob("*.yaml"):
        for document in path.read_text().split("\n---\n"):
            name, value = re.search(r"^name: (\S+)$", document, re.M), re.search(r'^  value: "(.*)"$', document, re.M)
            if re.search(r"^type: Sysctl$", document, re.M) and name and value:
                found[name.group(1)] = value.group(1)
    return found


def packages(folder):
    """Names that the fleet wants to be there."""
    found = set()
    for path in folder.rglob("*.yaml"):
        for document in path.read_text().split("\n---\n"):
            if re.search(r"^type: Package$", document, re.M) and "state: absent" not in document:
                found.add(re.search(r"^name: (\S+)$", document, re.M).group(1))
    return sorted(found)


def index(folder):
    done = subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout


class Bare(machine.Node):
    """Without a network: nothing that it starts is reached from outside, and its packet filter is its own."""

    def boot(self):
        booted = machine.lab("boot", self.name, "--private-network")
        if booted.returncode != 0:
            raise AssertionError(booted.stdout)
        self.install(fleet.DATUM)
        self.must("sh", "-c", "rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*")
        self.put("/etc/apt/sources.list", f"deb [trusted=yes] file:{DEBIAN} ./\n")
        shutil.copytree(Lab.debian, self.path(DEBIAN))
        # An image of today: a package that needs a newer one of the base would touch what nobody named.
        for command in (["apt-get", "-q", "update"], ["apt-get", "-q", "-y", "dist-upgrade"]):
            done = machine.lab("exec", self.name, *command, limit=PASS_LIMIT_S)
            if done.returncode != 0:
                raise AssertionError(f"{command} exits {done.returncode}: {done.stdout}")
        self.must("sh", "-c", "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin")

    def own_kernel_values(self, declared):
        """Files of the machine's own under /proc/sys. Datum writes a value as the kernel takes it, over what is there, so none
        may be longer than what it will be; what stays as it is has a value that the machine can live with."""
        self.must("sh", "-c", "mkdir /run/sys && cd /proc/sys && find . -type d -exec mkdir -p /run/sys/{} ';' && find . -type f "
                  "-exec sh -c 'for f; do cat \"$f\" > \"/run/sys/$f\" 2> /dev/null; done; true' - {} + ; true")
        for key, value in declared.items():
            path = "/run/sys/" + key.replace(".", "/")
            short = "1" if value.startswith("0") else "0"
            self.must("sh", "-c", f"mkdir -p $(dirname {path}); now=$(cat {path} 2> /dev/null); "
                      f"[ -n \"$now\" ] && [ ${{#now}} -le {len(value)} ] || echo {short} > {path}")
        self.must("mount", "--bind", "/run/sys", "/proc/sys")

    def idle(self, *units):
        for unit in units:
            self.put(f"/etc/systemd/system/{unit}.d/lab.conf", IDLE_SERVICE)

    def use(self, source, host, **layer):
        """The example as it stands, and a layer of the lab above it."""
        folder = self.path("/srv/fleet")
        shutil.copytree(EXAMPLES / source, folder)
        self.host = host
        for name, text in {"layer.yaml": LAB_LAYER, **layer.get("files", {})}.items():
            self.put(f"/srv/fleet/lab/{name}", text)

    def secret(self, name, text):
        self.put(f"/etc/datum/secrets/{name}", text, 0o600)

    def one_pass(self, verb, *arguments, before=()):
        command = [*before, "/usr/bin/datum", verb, "--fleet", "/srv/fleet", "--host", self.host, "--state", self.STATE, *arguments]
        done = subprocess.run([self.LAB, "exec", self.name, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PASS_LIMIT_S, check=False)
        return fleet.Run(done.returncode, done.stdout, done.stderr)


class Lab(unittest.TestCase):
    debian = None  # a folder with all packages of Debian that the fleets bring, and their index

    def bare(self, name):
        node = Bare(name)
        self.addCleanup(node.drop)
        node.boot()
        return node

    def check_first_passes(self, node):
        plan = node.one_pass("plan", "--json")
        self.assertEqual(plan.code, 2, plan.text)
        planned = {line["target"]: line for line in plan.lines if "target" in line}
        refused = {target: line["refusal"] for target, line in planned.items() if line.get("refusal") and not line["observeOnly"]}
        self.assertEqual(refused, {}, "\n".join(f"{target}: {why}" for target, why in refused.items()))
        done = node.enforce()
        announced = {action["target"] for event in node.events("--kind", "actionsAnnounced")
                     for action in event["event"]["actions"]}
        self.assertEqual(announced - {target for target, line in planned.items() if line["action"] in MUTATING}, set())
        self.assertEqual(done.code, 0, node.datum("status", "--state", node.STATE, "--all").text + done.text)
        head = len(node.events())
        again = node.enforce()
        self.assertEqual(again.code, 0, again.text)
        self.assertLessEqual(len(node.events()) - head, 4, [event["kind"] for event in node.events()[head:]])


class Web(Lab):
    def vendor(self, node):
        vendor = Vendor(node.path(VENDOR))
        self.addCleanup(vendor.close)
        vendor.folder.mkdir(parents=True)
        original = next(Lab.debian.glob("nginx_*.deb"))
        tree = vendor.folder / "tree"
        subprocess.run(["dpkg-deb", "-R", original, tree], check=True)
        control = (tree / "DEBIAN/control").read_text()
        (tree / "DEBIAN/control").write_text(re.sub(r"^Version: .*$", "Version: 1.24.0-2+site1", control, flags=re.M))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, vendor.folder / "nginx.deb"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)
        for version in ("3.4.0-1", "3.5.0-1"):
            debs.Package("shop", version, files=SHOP).build(vendor.folder)
        vendor.publish()
        return vendor

    def web(self, host):
        node = self.bare("web")
        vendor = self.vendor(node)
        keys = node.path("/srv/keys")
        keys.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=www.example.org", "-keyout",
                        keys / "key", "-out", keys / "pem"], check=True, stderr=subprocess.DEVNULL)
        site = f"datum: v1alpha1\ntype: Repository\nname: vendor\ndesired:\n  url: file:{VENDOR}\n  signingKey: vendor.asc\n" \
               "---\ndatum: v1alpha1\ntype: File\nname: tls-certificate\ndesired:\n  source: site.pem\n"
        node.use("web", host, files={"vendor.asc": vendor.key, "site.pem": (keys / "pem").read_text(), "site.yaml": site})
        node.secret("web/tls-key", (keys / "key").read_text())
        node.secret("shop/database-password", "x")
        node.secret("shop/session-key", "y")
        self.base(node)
        return node

    def base(self, node):
        node.secret("oncall/password-hash", "$6$salt$7f8Zc5hVQ1aHashOfNothing")
        node.own_kernel_values(sysctls(node.path("/srv/fleet")))
        node.idle("chrony.service")

    def test_web(self):
        """examples: a web server of the web fleet converges from a bare image in the pass that was planned"""
        node = self.web("web-1")
        self.check_first_passes(node)
        self.assertEqual(node.show("nginx", "ActiveState")["ActiveState"], "active")
        self.assertEqual(node.show("shop", "ActiveState")["ActiveState"], "active")

    def test_canary(self):
        """examples: the canary of the web fleet converges from a bare image, with the version of its layer"""
        node = self.web("web-2")
        self.check_first_passes(node)
        self.assertEqual(node.must("dpkg-query", "-W", "-f", "${Version}", "shop"), "3.5.0-1")

    def test_database(self):
        """examples: the database server of the web fleet converges from a bare image, with its service only observed"""
        node = self.bare("db")
        node.use("web", "db-1")
        self.base(node)
        self.check_first_passes(node)
        self.assertEqual(node.must("stat", "-c", "%U %a", "/etc/postgresql/15/main/conf.d/site.conf"), "postgres 640\n")


class Baseline(Lab):
    def check_host(self, host):
        node = self.bare("base")
        node.use("baseline", host)
        node.own_kernel_values(sysctls(node.path("/srv/fleet")))
        node.idle("chrony.service", "auditd.service", "apparmor.service", "nftables.service")
        if host != "plain":  # as the installer of such a machine leaves it
            node.put("/boot/grub/grub.cfg", "menuentry 'Debian' {}\n", 0o444)
        self.check_first_passes(node)
        return node

    def test_plain(self):
        """examples: a plain server of the baseline converges from a bare image in the pass that was planned"""
        node = self.check_host("plain")
        self.assertIn("permitrootlogin no", node.must("sshd", "-T"))

    def test_gate(self):
        """examples: a router of the baseline that boots by GRUB converges from a bare image"""
        node = self.check_host("gate")
        self.assertEqual(node.must("cat", "/proc/sys/net/ipv4/ip_forward"), "1\n")


def setUpModule():
    """On a machine of the same image, which has a network, so that no package is missing and none too many."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="datum-debs-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    node = machine.Node("fetch")
    unittest.addModuleCleanup(node.drop)
    node.boot()
    names = sorted(set(packages(EXAMPLES / "web") + packages(EXAMPLES / "baseline")) - {"shop"})
    for command in (["rm", "-f", "/etc/apt/sources.list"], ["apt-get", "-q", "update"],
                    ["apt-get", "-q", "-y", "--download-only", "dist-upgrade"],
                    ["apt-get", "-q", "-y", "--download-only", "install", *names]):
        done = machine.lab("exec", node.name, *command, limit=PASS_LIMIT_S)
        if done.returncode != 0:
            raise AssertionError(f"{command} exits {done.returncode}: {done.stdout}")
    for deb in node.path("/var/cache/apt/archives").glob("*.deb"):
        shutil.copy(deb, folder)
    (folder / "Packages").write_bytes(index(folder))
    folder.chmod(0o755)
    Lab.debian = folder


if __name__ == "__main__":
    tap.main()
