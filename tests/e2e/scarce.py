#!/usr/bin/env python3
# test: short root
"""What the caller's limits and odd ways take away: descriptors, room in a file, a link that leads to nothing."""

import os
import pathlib
import resource
import socket
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import tap  # noqa: E402

NOBODY = 65534


class Case(unittest.TestCase):
    def setUp(self):
        self.bench = fleet.Bench()
        self.addCleanup(self.bench.close)

    def limited(self, limit):
        return ["sh", "-c", f'ulimit {limit} && exec "$@"', "-"]


class Limits(Case):
    def test_descriptors(self):
        """limits: too few open files end a command with 1 and words, at any number; enough hard ones are taken"""
        self.bench.declare(fleet.file("a", "/a", "a\n"))
        for number in (8, 20, 63):
            done = self.bench.observe(before=self.limited(f"-n {number}"))
            self.assertEqual((done.code, done.out), (1, ""), done.text)
            self.assertIn(f"{number} open files are allowed (ulimit -n)", done.err)
        for number in ("-n 64", "-S -n 8"):
            self.assertEqual(self.bench.observe(before=self.limited(number)).code, 2, number)

    def test_threads(self):
        """limits: where not one thread can be made, that is said with 1 and words"""
        self.bench.declare(fleet.file("a", "/a", "a\n"))
        self.bench.scratch.chmod(0o755)
        # By descriptor: the folder of the build may be closed to others.
        program = os.open(fleet.DATUM, os.O_RDONLY)
        self.addCleanup(os.close, program)

        def become_nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        alone = {"executable": f"/proc/self/fd/{program}", "pass_fds": [program], "preexec_fn": become_nobody}
        sound = fleet.datum("validate", "--fleet", self.bench.fleet, **alone)
        self.assertEqual(sound.code, 0, sound.text)
        done = self.bench.observe(**alone)
        self.assertEqual((done.code, done.out), (1, ""), done.text)
        self.assertIn("no thread can be made", done.err)
        self.assertNotIn(".cpp", done.err)

    def test_file_size(self):
        """limits: a store that may not grow is an error that names its file, and no death"""
        self.bench.declare(*[fleet.file(f"f{n}", f"/f{n}", f"{n}\n") for n in range(300)])
        codes = set()
        for blocks in (1, 32, 64, 128):
            done = self.bench.enforce(before=self.limited(f"-f {blocks}"))
            self.assertIn(done.code, (0, 1, 2), f"{blocks}: {done.text}")
            codes.add(done.code)
            if done.code == 1:
                self.assertRegex(done.err, r"/state\b.*: .")
        self.assertIn(1, codes)
        self.assertEqual(self.bench.enforce().code, 0)


class Ways(Case):
    def test_dangling_link(self):
        """paths: a link on the way that leads to nothing is named with where it leads, not a folder that is missing"""
        (self.bench.root / "srv").symlink_to("/mnt/data")
        self.bench.declare(fleet.file("a", "/srv/app/a", "a\n"))
        done = self.bench.run("plan")
        self.assertIn("missing folder: /srv (a link to /mnt/data) does not exist", done.out)
        (self.bench.root / "mnt/data/app").mkdir(parents=True)
        self.assertEqual(self.bench.enforce().code, 0)
        self.assertEqual((self.bench.root / "mnt/data/app/a").read_text(), "a\n")

    def test_no_folder(self):
        """paths: what is on the way and is no folder is named with what it is, and not said to be missing"""
        (self.bench.root / "d").mkdir()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.bench.root / "d/sock"))
            self.bench.declare(fleet.file("a", "/d/sock/a", "a\n"), fleet.file("b", "/d/sock/in/b", "b\n"))
            done = self.bench.run("plan")
        self.assertEqual(done.out.count("missing folder: /d/sock (a socket, no folder) and nothing in the plan makes it"), 2, done.out)
        self.assertNotIn("does not exist", done.out)

    def test_summary(self):
        """plan: the summary line counts what will fail of all actions, removals included"""
        (self.bench.root / "d").mkdir()
        (self.bench.root / "d/x").mkdir()
        (self.bench.root / "d/x/y").write_text("")
        (self.bench.root / "f").mkdir()
        self.bench.declare(fleet.directory("d", "/d", state="absent"), fleet.file("f", "/f", "f\n"))
        out = self.bench.run("plan").out
        self.assertIn("; of all 2 actions 2 will fail; ", out)
        self.assertTrue(out.splitlines()[-2].startswith("Plan: ") or "Plan: " in out)


if __name__ == "__main__":
    tap.main()
