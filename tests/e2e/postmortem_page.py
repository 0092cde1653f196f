#!/usr/bin/env python3
# test: long root
"""The page of a story in a browser. Needs Chromium, which nothing else does, so it is no part of a short run."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import fleet  # noqa: E402
import page  # noqa: E402
import postmortem  # noqa: E402
import tap  # noqa: E402


class Widths(postmortem.Case):
    def test_widths(self):
        """postmortem: the page needs no horizontal scroll at 360 and at 1280 pixels"""
        browser = page.find_browser()
        if browser is None:
            self.skipTest("there is no Chromium here")
        long_name = "/" + "/".join("n" * 200 for _ in range(3))
        self.a_chain()
        self.bench.declare(*[fleet.directory(f"d{depth}", "/" + "/".join(["n" * 200] * depth)) for depth in (1, 2)],
                           fleet.file("long", long_name, "1\n"), fleet.file("a", "/way/a", "1\n"))
        self.bench.enforce("--allow-removals", "99")
        for path in (self.write(), self.write(str(self.a_crash()))):
            for width in (360, 1280):
                shown, wanted = page.measure(browser, path, width)
                self.assertLessEqual(wanted, shown, f"{width} pixels")


if __name__ == "__main__":
    tap.main()
