"""Runs the unittest cases of the calling module and prints TAP, which tests/run counts case by case.

A case's title is the first line of its docstring: a sentence that can be false."""

import sys
import unittest


class _TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.broken = False
        self._failing = None

    def _line(self, word, test, note=""):
        title = (test.shortDescription() or test.id()).replace("#", "")
        print(f"{word} {self.testsRun} - {title}{note}", flush=True)

    def _not_ok(self, test, error):
        self.broken = True
        self._line("not ok", test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        self._line("ok", test)

    def addFailure(self, test, error):
        self._not_ok(test, error)

    def addError(self, test, error):
        self._not_ok(test, error)

    def addSubTest(self, test, subtest, error):
        # The case itself gets no call of its own when one of its parts fails: one line for it, at the first.
        if error and self._failing is not test:
            self._failing = test
            self._not_ok(test, error)
            print(f"# {subtest.id()}")

    def addUnexpectedSuccess(self, test):
        self.broken = True
        self._line("not ok", test)

    def addSkip(self, test, reason):
        self._line("ok", test, f" # SKIP {reason}")


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = _TapResult()
    suite.run(result)
    print(f"1..{result.testsRun}")
    sys.exit(1 if result.broken or result.testsRun == 0 else 0)
