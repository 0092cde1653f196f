"""A guest of lab/vm: one boot of an image, what its console says, and the end of its power.

Knows qemu's way of it; nothing of what runs inside. Needs root and what lab/vm needs."""

import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time

import fleet

VM = str(fleet.TOP / "tests/e2e/lab/vm")
LAB = pathlib.Path(os.environ.get("DATUM_LAB") or os.path.join(os.environ.get("TMPDIR", "/tmp"), "datum-lab")) / "vm"
BOOT_LIMIT_S = 180  # 5 to 10 s where nothing else runs
TOOLS = ("qemu-system-x86_64", "mke2fs", "cpio", "ldd", "strip")


def run(*command, check=True):
    done = subprocess.run(list(map(os.fspath, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{command[0]} exits {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done


def copy_program(path, into):
    """With every library that it loads, at their own places."""
    shutil.copy(path, into / "bin" / os.path.basename(path))
    for library in re.findall(r"(/\S+) \(0x", run("ldd", path).stdout):
        place = into / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            shutil.copy(os.path.realpath(library), place)


class Guest:
    """One boot. Lines of its console that are for us, as they come."""

    def __init__(self, image, program, disks=(), more=()):
        options = list(more)
        for number, disk in enumerate(disks):
            options += ["-drive", f"file={disk},format=raw,if=none,id=x{number},cache=writeback",
                        "-device", f"virtio-blk-pci,drive=x{number}"]
        self.child = subprocess.Popen([VM, "run", str(image), program, *options], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        os.set_blocking(self.child.stdout.fileno(), False)
        self.lines, self.text, self.rest = [], "", b""

    def read(self, limit_s):
        """Whatever comes within that time. False once it has ended."""
        if not select.select([self.child.stdout], [], [], limit_s)[0]:
            return True
        data = self.child.stdout.read()
        if not data:
            return False
        self.text += data.decode("utf-8", "replace")
        *whole, self.rest = (self.rest + data).split(b"\n")
        # Firmware ends without a line's end.
        told = [line.partition(b"@ ")[2] for line in whole]
        self.lines += [line.strip().decode("utf-8", "replace") for line in told if line]
        return True

    def read_until(self, line, limit_s=BOOT_LIMIT_S):
        end = time.monotonic() + limit_s
        while line not in self.lines:
            if not self.read(1) or time.monotonic() > end:
                raise AssertionError(f"the guest never said {line!r}: {self.text[-2000:]}")

    def read_for(self, seconds, before):
        """Ends early when it says `before`."""
        end = time.monotonic() + seconds
        while before not in self.lines and time.monotonic() < end and self.read(max(0.0, end - time.monotonic())):
            pass

    def cut(self):
        """The power goes; what it had said by then is read."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        while self.read(0):
            pass
        self.child.stdout.close()

    def durable(self):
        said = [line.split() for line in self.lines if line.startswith("durable ")]
        return [(int(words[1]), words[2]) for words in said if len(words) == 3 and len(words[2]) == 64]

    def version(self):
        return max((int(line.split()[1]) for line in self.lines if line.startswith("begin ")), default=0)
