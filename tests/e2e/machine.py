"""One throw-away machine of tests/e2e/lab: a Debian with a real systemd, and this build's `datum` in it.

Knows the lab's verbs and how a machine is killed; nothing of what runs inside."""

import os
import pathlib
import shutil
import subprocess

LAB = pathlib.Path(__file__).resolve().parent / "lab/machine"
PACKAGES = ("libuv1",)  # what the programs need beyond a minimal system
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
