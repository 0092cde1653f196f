#!/usr/bin/env python3
# test: short
"""The control plane as a program: its first start and the next ones, tokens, what a stranger may do to its port and
its socket, and what it refuses in words."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import ssl
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(TOP / "tests")]

import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build"))
CONTROL = BUILD / "src/datum-control/datum-control"
LIMIT_S = 20
KEYS = ("authority.key", "authority.der", "signer.key")


class Plane:
    """A control plane in a folder of its own, on a free port of this machine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.state = self.folder / "state"
        self.socket = self.folder / "run/control.sock"
        self.process = None

    def start(self, *arguments):
        self.process = subprocess.Popen(
            [CONTROL, "serve", "--state", self.state, "--socket", self.socket, "--listen", "127.0.0.1:0", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(r"mesh (\S+) listens at \S+:(\d+), authority sha256:(\w+)", line)
            if found:
                self.mesh, self.port, self.pin = found[1], int(found[2]), found[3]
                return True
        self.process.wait(LIMIT_S)
        return False

    def stop(self, number=signal.SIGTERM):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(LIMIT_S)
        self.lines += self.process.stderr.readlines()
        self.process.stderr.close()
        code, self.process = self.process.returncode, None
        return code

    def ask(self, *words):
        return subprocess.run([CONTROL, *words, "--socket", self.socket], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S)

    def connect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        raw = socket.create_connection(("127.0.0.1", self.port), LIMIT_S)
        return context.wrap_socket(raw)


def read_all(connection):
    got = b""
    try:
        while part := connection.recv(65536):
            got += part
    except (ssl.SSLError, ConnectionError):
        pass
    return got


class Control(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="datum-control-")
        self.addCleanup(folder.cleanup)
        self.plane = Plane(folder.name)
        self.addCleanup(self.plane.stop)

    def keys(self):
        return {name: (self.plane.state / name).read_bytes() for name in KEYS}

    def test_first_start(self):
        """control: the first start makes store and keys for one user alone, later ones take them as they are"""
        self.assertTrue(self.plane.start("--mesh", "lab"), self.plane.lines)
        self.assertEqual(stat.S_IMODE(self.plane.state.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(self.plane.socket.stat().st_mode), 0o600)
        for name in KEYS:
            self.assertEqual(stat.S_IMODE((self.plane.state / name).stat().st_mode), 0o600)
        keys, pin = self.keys(), self.plane.pin
        self.assertEqual(self.plane.stop(), 0)
        self.assertTrue(self.plane.start(), self.plane.lines)
        self.assertEqual((self.keys(), self.plane.pin, self.plane.mesh), (keys, pin, "lab"))
        self.assertEqual(self.plane.stop(signal.SIGKILL), -signal.SIGKILL)
        self.assertTrue(self.plane.start(), self.plane.lines)
        self.assertEqual(self.plane.pin, pin)

    def test_cut_first_start(self):
        """control: keys of a first start that was cut off before its first record are taken, not replaced"""
        self.assertTrue(self.plane.start())
        self.plane.stop()
        keys = self.keys()
        for path in sorted((self.plane.state / "journal").iterdir()):
            path.unlink()
        (self.plane.state / "journal").rmdir()
        (self.plane.state / "signer.key").unlink()
        self.assertTrue(self.plane.start(), self.plane.lines)
        now = self.keys()
        self.assertEqual(now["authority.key"], keys["authority.key"])
        self.assertEqual(now["authority.der"], keys["authority.der"])
        self.assertNotEqual(now["signer.key"], keys["signer.key"])

    def test_keys_refused(self):
        """control: a key that is missing, another, or readable for others ends the start with 74 and what to do"""
        self.assertTrue(self.plane.start())
        self.plane.stop()
        signer, authority = self.plane.state / "signer.key", self.plane.state / "authority.key"
        whole = signer.read_bytes()
        signer.chmod(0o644)
        self.assertFalse(self.plane.start())
        self.assertEqual(self.plane.stop(), 74)
        self.assertIn("chmod 0600", self.plane.lines[-1])
        signer.unlink()
        self.assertFalse(self.plane.start())
        self.assertEqual(self.plane.stop(), 74)
        self.assertIn("backup", self.plane.lines[-1])
        self.assertFalse(signer.exists())
        signer.write_bytes(authority.read_bytes())
        signer.chmod(0o600)
        self.assertFalse(self.plane.start())
        self.assertIn("not the one that the journal names", self.plane.lines[-1])
        self.plane.stop()
        signer.write_bytes(whole)
        self.assertTrue(self.plane.start(), self.plane.lines)

    def test_places_refused(self):
        """control: another mesh's store, a folder of others, a taken store or port, and wrong words are refused"""
        self.assertTrue(self.plane.start("--mesh", "lab"))
        second = Plane(self.plane.folder / "second")
        second.folder.mkdir(mode=0o700)
        self.addCleanup(second.stop)
        self.assertFalse(second.start("--listen", f"127.0.0.1:{self.plane.port}"))
        self.assertEqual(second.stop(), 1)
        second.state = self.plane.state
        self.assertFalse(second.start())
        self.assertEqual(second.stop(), 74)
        self.plane.stop()
        self.assertFalse(self.plane.start("--mesh", "other"))
        self.assertEqual(self.plane.stop(), 74)
        self.assertIn("mesh lab", self.plane.lines[-1])
        self.plane.state.chmod(0o755)
        self.assertFalse(self.plane.start())
        self.assertEqual(self.plane.stop(), 74)
        self.assertIn("chmod 0700", self.plane.lines[-1])
        self.plane.state.chmod(0o700)
        for words in ([], ["fly"], ["serve", "--listen", "nowhere"], ["serve", "--mesh", "A B"], ["node"],
                      ["token"], ["token", "create", "--ttl", "soon"], ["revoke", "web-1"], ["push"]):
            with self.subTest(words):
                done = subprocess.run([CONTROL, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, bool(done.stderr)), (1, True))
        done = self.plane.ask("status")
        self.assertEqual(done.returncode, 1)
        self.assertIn("datum-control serve", done.stderr)

    def test_commit_fails(self):
        """control: what cannot be recorded is not answered as done; the server ends with 74 and goes on from what is durable"""
        self.assertTrue(self.plane.start())
        self.assertEqual(self.plane.ask("token", "create", "--names", "a-*").returncode, 0)
        limits = resource.prlimit(self.plane.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.plane.process.pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
        done = self.plane.ask("token", "create", "--names", "b-*")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertNotEqual(done.stderr, "")
        self.plane.process.wait(LIMIT_S)
        self.assertEqual(self.plane.stop(), 74)
        self.assertTrue(self.plane.start(), self.plane.lines)
        kept = [json.loads(line)["names"] for line in self.plane.ask("token", "list", "--json").stdout.splitlines()]
        self.assertEqual(kept, ["a-*"])
        self.assertEqual(self.plane.ask("token", "create", "--names", "b-*").returncode, 0)

    def test_tokens(self):
        """control: a token's secret is printed once and kept nowhere; its rule, maker and end are known"""
        self.assertTrue(self.plane.start())
        done = self.plane.ask("token", "create", "--names", "web-*", "--label", "role=web")
        self.assertEqual(done.returncode, 0, done.stderr)
        token = done.stdout.strip()
        self.assertRegex(token, r"^dtm1_[0-9a-z]{96}$")
        one = json.loads(self.plane.ask("token", "list", "--json").stdout)
        self.assertEqual((one["state"], one["names"], one["labels"]), ("open", "web-*", {"role": "web"}))
        self.assertTrue(one["by"])
        self.assertEqual(self.plane.ask("token", "withdraw", one["token"]).returncode, 0)
        self.assertEqual(self.plane.ask("token", "withdraw", one["token"]).returncode, 1)
        self.plane.stop()
        kept = b"".join(path.read_bytes() for path in self.plane.state.rglob("*") if path.is_file())
        self.assertNotIn(token[13:80].encode(), kept)
        self.assertTrue(self.plane.start())
        self.assertEqual(json.loads(self.plane.ask("token", "list", "--json").stdout)["state"], "withdrawn")
        for words in (["--names", "["], ["--ttl", "0s"], ["--ttl", "900d"], ["--require", "os"], ["--names", ""]):
            with self.subTest(words):
                done = self.plane.ask("token", "create", *words)
                self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_hostile_port(self):
        """control: bytes that are no TLS, and frames that are none, end their connection and nothing else"""
        self.assertTrue(self.plane.start())
        good = self.plane.connect()
        self.addCleanup(good.close)
        self.assertEqual(good.version(), "TLSv1.3")
        for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\0" * 600, b"\0" * 9000):
            with socket.create_connection(("127.0.0.1", self.plane.port), LIMIT_S) as raw:
                raw.sendall(noise)
                raw.shutdown(socket.SHUT_WR)
                try:
                    while raw.recv(4096):
                        pass
                except ConnectionError:
                    pass
        for frame in (struct.pack("<IB", 0xffffffff, 10), struct.pack("<IB", 64 * 1024 + 1, 10),
                      struct.pack("<IB", 24, 10) + b"\xff" * 24, struct.pack("<IB", 0, 10),
                      struct.pack("<IB", 0, 1), struct.pack("<IB", 16, 30) + b"\0" * 16):
            with self.subTest(frame[:5]), self.plane.connect() as connection:
                connection.sendall(frame)
                answer = read_all(connection)
                self.assertEqual(answer[4:5], b"\x03", answer)  # a goodbye
        # What a later version may say is passed over: that connection stays.
        good.sendall(struct.pack("<IB", 3, 200) + b"new")
        good.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            good.recv(1)
        done = self.plane.ask("status", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["nodes"], 0)

    def test_strangers_hang_up(self):
        """control: strangers who begin a handshake and hang up in the middle of it do not end it, however many"""
        self.assertTrue(self.plane.start())
        coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = ssl._create_unverified_context().wrap_bio(coming, going)
        with self.assertRaises(ssl.SSLWantReadError):
            session.do_handshake()
        hello = going.read()
        for _ in range(600):
            # One of more than 64 may be hung up on before it has said all.
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.plane.port), LIMIT_S) as raw:
                raw.sendall(hello)
                raw.shutdown(socket.SHUT_WR)
                # Closed at once, so that the answer comes to a connection that is gone: a signal, where nobody forbids it.
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.assertEqual(self.plane.ask("status").returncode, 0)
        self.assertEqual(self.plane.stop(), 0)

    def test_strangers_have_a_limit(self):
        """control: 64 connections that say nothing keep nobody out for long, and the log tells of them"""
        self.assertTrue(self.plane.start())
        held = []
        self.addCleanup(lambda: [each.close() for each in held])
        for _ in range(64):
            held.append(self.plane.connect())
        limit = time.monotonic() + LIMIT_S
        while len(held) == 64:  # until one of them has said nothing for long enough
            self.assertLess(time.monotonic(), limit)
            try:
                held.append(self.plane.connect())
            except OSError:
                continue
        self.assertEqual(self.plane.ask("status").returncode, 0)
        self.assertEqual(self.plane.stop(), 0)
        self.assertIn("the connection is ended: ", "".join(self.plane.lines))

    def test_hostile_socket(self):
        """control: what is no request on the local socket is refused in words, and the next one is answered"""
        self.assertTrue(self.plane.start())
        for frame in (struct.pack("<IB", 2, 1) + b"{}", struct.pack("<IB", 0xffffffff, 1),
                      struct.pack("<IB", 1, 9) + b"x",
                      struct.pack("<IB", 1, 2) + b"x" + struct.pack("<IB", 64, 3) + b"0" * 64):
            with self.subTest(frame[:8]), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.plane.socket))
                connection.settimeout(LIMIT_S)
                connection.sendall(frame)
                self.assertIn(b"datum-control: ", read_all(connection))
        status, part = b'{"verb":"nodes"}', 64 * 1024
        for text, expected in ((b" " * 3 * part + status, b"no node is known"), (b" " * (4 << 20) + status, b"4 MiB at most"),
                               (b'{"verb":[' + b"1," * 150_000 + b"1]}", b"datum-control: ")):
            with self.subTest(len(text)), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.plane.socket))
                connection.settimeout(LIMIT_S)
                pieces = [text[at:at + part] for at in range(0, len(text), part)]
                try:
                    for number, piece in enumerate(pieces):
                        connection.sendall(struct.pack("<IB", len(piece), 1 if number == len(pieces) - 1 else 4) + piece)
                except OSError:  # it was hung up on: what it said is there
                    pass
                self.assertIn(expected, read_all(connection))
        self.assertEqual(self.plane.ask("nodes").stdout, "no node is known\n")

    def test_hung_up_on(self):
        """control: a command that gets no answer is told why: eight others ask, the server ends, the server was killed"""
        self.assertTrue(self.plane.start())
        held = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        self.addCleanup(lambda: [each.close() for each in held])
        for each in held:
            each.settimeout(LIMIT_S)
            each.connect(str(self.plane.socket))
        refused = self.plane.ask("status")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the server does not answer: 8 others ask at this moment, and no more may: try again", refused.stderr)
        self.assertEqual(self.plane.stop(), 0)
        for each in held:
            self.assertIn(b"the server does not answer: it ends", read_all(each))
        with socket.socket(socket.AF_UNIX) as listener:  # in the place of one that dies with the request in its hands
            listener.bind(str(self.plane.socket))
            listener.listen()
            asking = subprocess.Popen([CONTROL, "status", "--socket", self.plane.socket], stderr=subprocess.PIPE, text=True,
                                      stdin=subprocess.DEVNULL)
            with listener.accept()[0] as taken:
                taken.recv(5)
            said = asking.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(asking.returncode, 1)
        self.assertIn(f"the server (process {os.getpid()}) hung up before it answered, so it ended", said)

    def test_json(self):
        """control: what --json prints has the members of docs/reference/json.md, and a line tells who did what"""
        self.assertTrue(self.plane.start("--mesh", "lab"))
        page = (TOP / "docs/reference/json.md").read_text(encoding="utf-8")
        members = {title: re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)
                   for title, body in re.findall(r"^## (control .*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)}
        made = json.loads(self.plane.ask("token", "create", "--json").stdout)
        self.assertEqual(list(made), members["control token made"])
        for title, words in (("control token", ["token", "list"]), ("control status", ["status"]),
                             ("control done", ["token", "withdraw", made["id"]])):
            for line in self.plane.ask(*words, "--json").stdout.splitlines():
                self.assertEqual(list(json.loads(line)), members[title])
        told = subprocess.run([CONTROL, "history", "--state", self.plane.state, "--json"], capture_output=True, text=True)
        records = [json.loads(line) for line in told.stdout.splitlines()]
        self.assertEqual(list(records[0]), members["control record"])
        self.assertEqual([record["kind"] for record in records],
                         ["planeCreated", "keyMade", "keyMade", "planeOpened", "tokenMade", "tokenWithdrawn"])
        self.assertEqual(records[-1]["fields"]["by"]["command"], "datum-control token withdraw")
        self.assertNotIn(made["token"][13:80], told.stdout)
        shown = subprocess.run([CONTROL, "history", "--state", self.plane.state], capture_output=True, text=True).stdout
        self.assertEqual(len(shown.splitlines()), len(records))
        self.assertIn("names=*", shown)
        self.plane.stop()
        again = subprocess.run([CONTROL, "history", "--state", self.plane.state], capture_output=True, text=True).stdout
        self.assertTrue(again.startswith(shown) and "planeClosed reason=signal" in again, again)

    def test_help(self):
        """control: docs/reference/commands.md has every command of the program with its flags"""
        sys.path.insert(0, str(TOP / "docs/reference"))
        import generate  # noqa: E402
        table = generate.parse((TOP / generate.SOURCE).read_text(encoding="utf-8"))["control"]
        for command in table["commands"]:
            with self.subTest(command["name"]):
                done = subprocess.run([CONTROL, *command["name"].split(), "--help"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", done.stdout, re.MULTILINE)) - {"--help"}
                self.assertEqual(found, set(command["flags"]))
                self.assertIn(command["summary"], done.stdout)
        shown = subprocess.run([CONTROL, "--help"], capture_output=True, text=True).stdout.partition("Subcommands:")[2]
        self.assertEqual(set(re.findall(r"^  ([a-z-]+)", shown, re.MULTILINE)),
                         {command["name"].split()[0] for command in table["commands"]})


if __name__ == "__main__":
    tap.main()
