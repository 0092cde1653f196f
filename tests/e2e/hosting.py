"""One `datum-host` of this build on the root, configuration and store of a bench, and what it says to a service manager.

Of a service nothing is waited for but its datagrams: whoever waits gets the next one, or a failure."""

import os
import pathlib
import select
import signal
import socket
import subprocess
import time

import fleet

HOST = str(pathlib.Path(os.environ.get("DATUM_BUILD", fleet.TOP / "build")).resolve() / "src/datum-host/datum-host")
# Every step takes milliseconds; on a machine with other work, who knows. A hang is a failure, not a wait.
LIMIT_S = 120
LOOK_S = 0.02


def wait(found):
    """What `found` returns once it is true."""
    limit = time.monotonic() + LIMIT_S
    while not (value := found()):
        if time.monotonic() > limit:
            raise AssertionError("it never came")
        select.select([], [], [], LOOK_S)
    return value


class Bench(fleet.Bench):
    """A fleet's bench with a configuration folder, and any number of services over it."""

    def __init__(self):
        super().__init__()
        self.config = self.scratch / "config"
        self.config.mkdir(mode=0o755)
        (self.root / "run").mkdir(mode=0o755)
        (self.root / "srv").mkdir(mode=0o755)
        self.fleet = self.root / "srv/fleet"  # agent.yaml's paths are below the root
        self.hosts = []

    def close(self):
        for host in self.hosts:
            host.end()
        super().close()

    def configure(self, text=None, mode="observe", interval="1h", **keys):
        """agent.yaml of the usual keys, or exactly `text`."""
        if text is None:
            lines = [f"host: {fleet.HOST}", f"reconciliation: {{mode: {mode}, interval: {interval}}}",
                     "source: /srv/fleet", *(f"{key}: {value}" for key, value in keys.items())]
            text = "\n".join(lines) + "\n"
        part = self.config / "agent.yaml.part"
        part.write_text(text)
        part.rename(self.config / "agent.yaml")

    def start(self, **options):
        host = Host(self, len(self.hosts), **options)
        self.hosts.append(host)
        return host


class Host:
    def __init__(self, bench, number, program=HOST, before=(), watchdog_us=None, arguments=(), has_state=True):
        self.bench = bench
        address = bench.scratch / f"notify-{number}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(address))
        self.heard = []
        self.log = bench.scratch / f"log-{number}"
        environment = {**os.environ, "NOTIFY_SOCKET": str(address)}
        environment.pop("WATCHDOG_USEC", None)
        environment.pop("JOURNAL_STREAM", None)
        if watchdog_us:
            environment["WATCHDOG_USEC"] = str(watchdog_us)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*before, program, "--root", bench.root, "--config", bench.config,
                 *(["--state", bench.state] if has_state else []), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd="/")

    @property
    def said(self):
        return self.log.read_text(errors="replace")

    def hear(self):
        """The next datagram, as a dictionary."""
        self.socket.settimeout(LIMIT_S)
        try:
            data = self.socket.recv(65536).decode()
        except TimeoutError as error:
            raise AssertionError(f"nothing heard for {LIMIT_S} s; so far {self.heard}\n{self.said}") from error
        message = dict(line.split("=", 1) for line in data.splitlines())
        self.heard.append(message)
        return message

    def wait_for(self, wanted):
        """Hears until `wanted(message)`, for as long as it speaks at all."""
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            message = self.hear()
            if wanted(message):
                return message
        raise AssertionError(f"not heard within {LIMIT_S} s: {self.heard[-10:]}\n{self.said}")

    def wait_ready(self):
        return self.wait_for(lambda message: message.get("READY") == "1")

    def wait_pass(self):
        """Until a pass that begins from now on, or began a moment ago, has ended."""
        self.wait_for(lambda message: message.get("STATUS") == "a pass runs")
        return self.wait_for(lambda message: message.get("STATUS", "a pass runs") != "a pass runs")["STATUS"]

    def wait_until(self, holds):
        """After some pass from now on `holds()`."""
        limit = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > limit:
                raise AssertionError(f"it never held: {self.heard[-10:]}\n{self.said}")
            self.wait_pass()

    def signal(self, number):
        self.process.send_signal(number)

    def wait_end(self):
        return self.process.wait(timeout=LIMIT_S)

    def stop(self):
        """Ends it as a service manager does; the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait_end()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.kill()
        self.socket.close()
