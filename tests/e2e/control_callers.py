#!/usr/bin/env python3
# test: short root
"""Who may ask a control plane what: its user and root, members of its two groups, and nobody else."""

import grp
import os
import pathlib
import shutil
import socket
import struct
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import control  # noqa: E402
import tap  # noqa: E402

ADMINS, READERS, OTHERS = "games", "users", "nogroup"  # of every Debian; nothing on the machine is changed
NOBODY = 65534
STATUS = b'{"verb":"status"}'
TOKEN = b'{"verb":"tokenCreate","names":"*","ttl":3600000000000}'


def frame(kind, message):
    return struct.pack("<IB", len(message), kind) + message


class Callers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="datum-callers-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.plane = control.Plane(folder.name)
        self.addCleanup(self.plane.stop)
        self.program = shutil.copy(control.CONTROL, folder.name)  # the build may lie where others cannot reach it

    def ask_as(self, groups, *frames):
        """What a user who is a member of `groups` hears from the socket; the first is that user's own."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([grp.getgrnam(name).gr_gid for name in groups[1:]])
                os.setgid(grp.getgrnam(groups[0]).gr_gid)
                os.setuid(NOBODY)
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(control.LIMIT_S)
                    connection.connect(str(self.plane.socket))
                    try:
                        connection.sendall(b"".join(frames))
                    except OSError:
                        pass
                    os.write(writer, control.read_all(connection) or b"(nothing)")
            except OSError as error:
                os.write(writer, repr(error).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as heard:
            said = heard.read()
        os.waitpid(child, 0)
        return said

    def test_groups(self):
        """callers: members of one group command, of the other only ask, whichever way they are members; others are told why not"""
        self.assertTrue(self.plane.start("--admin-group", ADMINS, "--read-group", READERS), self.plane.lines)
        for groups in ([ADMINS], [OTHERS, ADMINS], [READERS, ADMINS]):
            self.assertIn(b"dtm1_", self.ask_as(groups, frame(1, TOKEN)), groups)
        for groups in ([READERS], [OTHERS, READERS]):
            self.assertIn(b"0 of 0 hosts match", self.ask_as(groups, frame(1, STATUS)), groups)
            said = self.ask_as(groups, frame(1, TOKEN))
            self.assertNotIn(b"dtm1_", said)
            self.assertIn(b"for members of games", said)
            said = self.ask_as(groups, frame(2, b"x" * 70_000), frame(3, b"0" * 64), frame(1, STATUS))
            self.assertIn(b"for members of games", said)
            self.assertNotIn(b"hosts match", said)
            said = self.ask_as(groups, frame(4, b" " * 70_000), frame(1, STATUS))
            self.assertIn(b"for members of games", said)
        self.assertIn(b"does not answer: uid 65534 may not ask here", self.ask_as([OTHERS], frame(1, STATUS)))
        many = [OTHERS, *[each.gr_name for each in grp.getgrall() if each.gr_name not in (ADMINS, READERS)]]
        self.assertIn(b"does not answer: uid 65534 may not ask here", self.ask_as(many, frame(1, STATUS)))
        self.assertEqual([path for path in (self.plane.state / "blobs").rglob("*") if path.is_file()], [])
        self.assertEqual(self.plane.ask("status").returncode, 0)
        token = self.plane.ask("token", "list", "--json").stdout
        self.assertIn('"by":"nobody"', token)

    def test_guests(self):
        """callers: those who may only ask and say nothing leave room for those who command"""
        self.assertTrue(self.plane.start("--admin-group", ADMINS, "--read-group", READERS), self.plane.lines)
        told, tell = os.pipe()
        heard, hear = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(tell)
                os.setgroups([])
                os.setgid(grp.getgrnam(READERS).gr_gid)
                os.setuid(NOBODY)
                held = [socket.socket(socket.AF_UNIX) for _ in range(16)]
                for each in held:
                    each.connect(str(self.plane.socket))
                os.write(hear, b"x")
                os.read(told, 1)
            finally:
                os._exit(0)
        os.read(heard, 1)
        try:
            for _ in range(3):
                self.assertIn(b"dtm1_", self.ask_as([ADMINS], frame(1, TOKEN)))
            self.assertEqual(self.plane.ask("status").returncode, 0)
            self.assertIn(b"4 others who may only read ask at this moment", self.ask_as([READERS], frame(1, STATUS)))
        finally:
            os.write(tell, b"x")
            os.waitpid(child, 0)
            for end in (told, tell, heard, hear):
                os.close(end)
        limit = time.monotonic() + control.LIMIT_S
        while b"hosts match" not in self.ask_as([READERS], frame(1, STATUS)):
            self.assertLess(time.monotonic(), limit)

    def test_without_groups(self):
        """callers: without groups nobody but its own user comes as far as the socket, and a group must exist"""
        self.assertTrue(self.plane.start())
        self.assertIn(b"PermissionError", self.ask_as([ADMINS], frame(1, STATUS)))
        self.plane.stop()
        self.assertFalse(self.plane.start("--admin-group", "no-such-group"))
        self.assertEqual(self.plane.stop(), 1)
        self.assertIn("no group no-such-group", "".join(self.plane.lines))

    def test_store(self):
        """callers: what opens the store itself is for its owner, and anybody else is told whom to be"""
        self.assertTrue(self.plane.start())
        os.chmod(self.plane.folder, 0o755)
        passphrase = self.plane.folder / "passphrase"
        passphrase.write_text("correct horse battery\n")
        for words in (["history"], ["journal", "web-1"], ["backup", "--output", "/tmp/never", "--passphrase-file", passphrase]):
            done = control.subprocess.run([self.program, *words, "--state", self.plane.state], capture_output=True, text=True,
                                          user=NOBODY, stdin=control.subprocess.DEVNULL)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("run this as that user (runuser -u root -- datum-control ...)", done.stderr)
        os.chown(self.plane.state, NOBODY, -1)
        done = control.subprocess.run([self.program, "history", "--state", self.plane.state], capture_output=True, text=True,
                                      stdin=control.subprocess.DEVNULL)
        self.assertEqual((done.returncode, "user nobody: run this as that user" in done.stderr), (1, True), done.stderr)
        os.chown(self.plane.state, 0, -1)

    def test_folder(self):
        """callers: a socket in a folder that others can write is not listened at, and one of a stranger's is not talked to"""
        run = self.plane.folder / "run"
        run.mkdir()
        run.chmod(0o777)
        self.assertFalse(self.plane.start("--admin-group", ADMINS))
        self.assertEqual(self.plane.stop(), 1)
        self.assertIn("chmod 0755", "".join(self.plane.lines))
        run.chmod(0o755)
        self.assertTrue(self.plane.start("--admin-group", ADMINS), self.plane.lines)
        os.chown(run, NOBODY, -1)
        for uid in (NOBODY, 0):
            done = control.subprocess.run([self.program, "status", "--socket", self.plane.socket], capture_output=True,
                                          text=True, user=uid, stdin=control.subprocess.DEVNULL)
            self.assertEqual(done.returncode, 1 if uid == NOBODY else 0, done.stderr)


if __name__ == "__main__":
    tap.main()
