"""One throw-away machine of tests/e2e/lab: a Debian with a real systemd, and this build's `datum` in it.

Knows the lab's verbs and how a machine is killed; nothing of what runs inside."""

import os
import pathlib
import shutil
import subprocess

import fleet

LAB = pathlib.Path(__file__).resolve().parent / "lab/machine"
PACKAGES = ()  # what the programs need beyond a minimal system
IMAGE_LIMIT_S = 600  # the first image is fetched and unpacked
RUN_LIMIT_S = 120


def lab(*arguments, limit=RUN_LIMIT_S):
    done = subprocess.run([LAB, *map(os.fspath, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=limit, check=False)
    return done


class Machine:
    """Named for this process, so that tests may run side by side. `drop` leaves nothing of it."""

    def __init__(self, name):
        self.name = f"{name}-{os.getpid()}"
        image = lab("image", *PACKAGES, limit=IMAGE_LIMIT_S)
        if image.returncode != 0:
            raise AssertionError(f"no image: {image.stdout}")

    def boot(self):
        booted = lab("boot", self.name)
        if booted.returncode != 0:
            raise AssertionError(booted.stdout)

    def kill(self):
        killed = lab("kill", self.name)
        if killed.returncode != 0:
            raise AssertionError(killed.stdout)

    def drop(self):
        lab("drop", self.name)

    def run(self, *command):
        return lab("exec", self.name, *command)

    def must(self, *command):
        done = self.run(*command)
        if done.returncode != 0:
            raise AssertionError(f"{command} exits {done.returncode}: {done.stdout}")
        return done.stdout

    def path(self, inside):
        return pathlib.Path(lab("root", self.name).stdout.strip() + inside)

    def put(self, inside, text, mode=0o644):
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def install(self, program):
        shutil.copy(program, self.path("/usr/bin/datum"))


class Node(Machine):
    """A machine with `datum` in it, a fleet, and what tests ask about units."""

    STATE = "/var/lib/datum"
    LAB = LAB

    def boot(self):
        super().boot()
        self.install(fleet.DATUM)

    def declare(self, *resources):
        fleet.write_fleet(self.path("/srv/fleet"), {"base": list(resources)})

    def datum(self, verb, *arguments, before=()):
        """Run with standard output and error apart, as `fleet.Run`."""
        command = [*before, "/usr/bin/datum", verb, *arguments]
        done = subprocess.run([LAB, "exec", self.name, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=RUN_LIMIT_S, check=False)
        return fleet.Run(done.returncode, done.stdout, done.stderr)

    def one_pass(self, verb, *arguments, before=()):
        return self.datum(verb, "--fleet", "/srv/fleet", "--host", fleet.HOST, "--state", self.STATE, *arguments,
                          before=before)

    def observe(self, *arguments):
        return self.one_pass("observe", *arguments)

    def enforce(self, *arguments, before=()):
        return self.one_pass("reconcile", "--mode", "enforce", *arguments, before=before)

    def start(self, verb):
        """A pass that goes on beside the test; /srv/pid names its process, as the machine numbers it."""
        command = [LAB, "exec", self.name, "sh", "-c", f"echo $$ > /srv/pid; exec /usr/bin/datum {verb} --mode enforce "
                   f"--fleet /srv/fleet --host {fleet.HOST} --state {self.STATE}"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def events(self, *arguments):
        listed = self.datum("journal", "list", "--state", self.STATE, "--json", *arguments)
        if listed.code != 0:
            raise AssertionError(f"journal list exits {listed.code}: {listed.text}")
        return listed.lines

    def unit(self, name, text):
        """A unit file where packages put theirs, read by the manager."""
        self.put(f"/usr/lib/systemd/system/{name}", text)
        self.must("systemctl", "daemon-reload")

    def show(self, unit, *properties):
        arguments = [argument for name in properties for argument in ("-p", name)]
        lines = self.must("systemctl", "show", unit, *arguments).splitlines()
        return dict(line.split("=", 1) for line in lines)


def service(name, state="running", enabled=True, keys=None, **fields):
    return fleet.Resource("Service", name, {"state": state, "enabled": enabled, **fields}, keys or {})
