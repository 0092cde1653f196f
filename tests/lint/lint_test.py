#!/usr/bin/env python3
# test: short
"""Every rule is fed a bad example and has to find it, and a good one that it has to leave alone."""

import pathlib
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import cpp  # noqa: E402
import rules  # noqa: E402
import tap  # noqa: E402
from rules import layers, patterns  # noqa: E402
from tree import Tree  # noqa: E402

LONG = "".join(f"  f({line});\n" for line in range(80))


def find(rule, files):
    """What a rule says of a tree made of these files, as 'path: text'."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            whole = pathlib.Path(folder, path)
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_text(text)
        return [f"{finding.path}:{finding.line}: {finding.text}" for finding in rules.ALL[rule](Tree(folder, files))]


class Rules(unittest.TestCase):
    def assert_found(self, rule, files, *words):
        found = find(rule, files)
        self.assertTrue(any(all(word in line for word in words) for line in found), f"{words} not in {found}")

    def assert_clean(self, rule, files):
        self.assertEqual(find(rule, files), [])

    def test_every_rule_has_an_example(self):
        """lint: every rule is fed a bad example here"""
        text = pathlib.Path(__file__).read_text()
        self.assertEqual([name for name in rules.ALL if f'assert_found("{name}"' not in text], [])

    def test_layers(self):
        """lint: an include of a higher or unnamed module is found"""
        core = {"src/core/include/datum/core/a.hpp": "// A.\n", "src/engine/include/datum/engine/e.hpp": "// E.\n"}
        self.assert_found("layers", {**core, "src/core/a.cpp": '#include "datum/engine/e.hpp"\n'}, "core may not include engine")
        self.assert_found("layers", {**core, "src/text/a.cpp": '#include "datum/core/a.hpp"\n'}, "text may not include core")
        self.assert_found("layers", {"src/core/a.cpp": '#include "nowhere.hpp"\n'}, "nothing here is called")
        self.assert_found("layers", {"src/new/a.cpp": "\n"}, "no row")
        self.assert_found("layers", {"src/core/a.cpp": '#include "event.capnp.h"\n'}, "core may not include schema")
        self.assert_clean("layers", {**core, "src/engine/a.cpp": '#include "datum/core/a.hpp"\n#include "datum/engine/e.hpp"\n'})

    def test_programs(self):
        """lint: a program that includes another program is found"""
        files = {"src/datum-host/wiring.hpp": "// W.\n", "src/datum/main.cpp": '#include "../datum-host/wiring.hpp"\n'}
        self.assert_found("layers", files, "src/datum may not include")

    def test_table(self):
        """lint: a row that allows a higher or equal layer is found"""
        rows = {"modules": {"a": {"layer": 1, "may": ["b"]}, "b": {"layer": 1, "may": []}}}
        self.assertEqual(len(list(layers.faults_of(rows))), 1)

    def test_cycles(self):
        """lint: an include cycle is found, once"""
        files = {"src/core/a.hpp": '#include "b.hpp"\n', "src/core/b.hpp": '#include "c.hpp"\n', "src/core/c.hpp": '#include "a.hpp"\n'}
        self.assert_found("cycles", files, "include cycle")
        self.assertEqual(len(find("cycles", files)), 1)
        self.assert_clean("cycles", {"src/core/a.hpp": '#include "b.hpp"\n', "src/core/b.hpp": "\n", "src/core/c.hpp": '#include "a.hpp"\n#include "b.hpp"\n'})

    def test_third_party(self):
        """lint: a library's header in a module that may not name it is found"""
        self.assert_found("third-party", {"src/core/a.cpp": "#include <lmdb.h>\n"}, "core may not name lmdb")
        self.assert_found("third-party", {"src/crypto/a.cpp": "#include <openssl/ssl.h>\n"}, "may not name libssl")
        self.assert_found("third-party", {"src/core/a.cpp": "#include <unistd.h>\n"}, "may not name posix")
        self.assert_found("third-party", {"src/core/a.cpp": "#include <boost/any.hpp>\n"}, "in no row")
        self.assert_found("third-party", {f"src/datum/{name}.cpp": "#include <spdlog/spdlog.h>\n" for name in "abcd"}, "4 files, 3 at most")
        self.assert_clean("third-party", {"src/core/a.cpp": "#include <vector>\n#include <cstdint>\n", "journal/src/a.cpp": "#include <lmdb.h>\n"})

    def test_patterns(self):
        """lint: each forbidden pattern catches its own example where it applies"""
        self.assert_found("patterns", {"src/core/a.cpp": "// TO" + "DO: later\n"}, "unfinished")
        for entry in patterns.entries():
            bad = "".join(entry["bad"])
            path = bad if entry.get("in_names") else next(
                place for place in ("src/core/a.cpp", "tests/unit/core/a_test.cpp") if patterns.applies(entry, place))
            self.assertTrue(patterns.search(entry, path, bad), entry["name"])
            self.assertFalse(patterns.search(entry, "src/core/plan.cpp", "const int wave = first(order);  // as journalled\n"), entry["name"])

    def test_sizes(self):
        """lint: a file over its limit is found"""
        self.assert_found("sizes", {"src/core/a.cpp": "\n" * 501}, "501 lines, 500 at most")
        self.assert_found("sizes", {"tests/unit/a.cpp": "\n" * 801}, "801 lines")
        self.assert_clean("sizes", {"src/core/a.cpp": "\n" * 500, "tests/unit/a.cpp": "\n" * 800})

    def test_functions(self):
        """lint: a function over 70 lines is found, wherever it stands"""
        self.assert_found("functions", {"src/core/a.cpp": f"namespace a {{\nint f(int x) {{\n{LONG}}}\n}}\n"}, "f has 82 lines")
        self.assert_found("functions", {"src/core/a.cpp": f"struct A {{\n  A() : b_{{1}}, c_{{2}} {{\n{LONG}}}\n}};\n"}, "A has 82 lines")
        self.assert_found("functions", {"tests/a.cpp": f'TEST_CASE("a: long", "[x]") {{\n{LONG}}}\n'}, "TEST_CASE a: long has 82 lines")
        self.assert_clean("functions", {"src/core/a.cpp": "int f() { return 1; }\n" * 80})

    def test_ratchet(self):
        """lint: a recorded long function may not grow, and has to be lowered when it shrinks"""
        text, record = f"int f() {{\n{LONG}}}\n", "tests/lint/long_functions.txt"
        self.assert_clean("functions", {"src/a.cpp": text, record: "src/a.cpp:f 82\n"})
        self.assert_found("functions", {"src/a.cpp": text, record: "src/a.cpp:f 81\n"}, "82 lines, 81 at most")
        self.assert_found("functions", {"src/a.cpp": text, record: "src/a.cpp:f 90\n"}, "lower its number")
        self.assert_found("functions", {"src/a.cpp": "int f() { return 1; }\n", record: "src/a.cpp:f 82\n"}, "take it off")
        self.assert_found("functions", {record: "src/a.cpp:f 82\n"}, "is gone")
        self.assert_found("functions", {"src/a.cpp": "int g() { return 1; }\n", record: "src/a.cpp:f 82\n"}, "is gone")

    def test_globals(self):
        """lint: a mutable global, or a mutable static in a function, is found"""
        for bad in ("namespace a {\nint count = 0;\n}\n", "static std::vector<int> seen;\n", "std::atomic<bool> stop{false};\n",
                    "int f() {\n  static int n = 0;\n  return ++n;\n}\n"):
            self.assert_found("globals", {"src/core/a.cpp": bad}, "mutable")
        self.assert_clean("globals", {"src/core/a.cpp": "namespace {\nconstexpr int kA = 1;\nconst std::array<int, 2> kB = {1, 2};\nint f(int);\nstruct A;\n"
                                      "int g() {\n  static constexpr int kC = 1;\n  struct L {\n    static int h() { return 1; }\n  };\n  return kC;\n}\n}\n"})

    def test_nodiscard(self):
        """lint: a declaration of a result without [[nodiscard]] is found"""
        for bad in ("Status f();\n", "class A {\n public:\n  virtual Result<std::map<int, Bytes>> f(int a) const = 0;\n};\n",
                    "template <class T>\nResult<T> f(T t) { return t; }\n", "struct A { Status f() override; };\n"):
            self.assert_found("nodiscard", {"src/core/include/datum/core/a.hpp": bad}, "f returns a result")
        self.assert_clean("nodiscard", {"a.hpp": "[[nodiscard]] Status f();\nusing S = Result<void>;\nstruct A { Status last; std::function<Status(int)> g; };\n"
                                                 "inline int h() { Status s(1); return 0; }\ntemplate <class T>\n[[nodiscard]] Result<T> k(T t);\n"})

    def test_opening(self):
        """lint: a file without its opening paragraph is found"""
        self.assert_found("opening", {"src/core/include/datum/core/a.hpp": "#pragma once\n"}, "opens without")
        self.assert_found("opening", {"tests/e2e/a.sh": "#!/usr/bin/env bash\nset -e\n"}, "opens without")
        self.assert_found("opening", {"src/core/a.cpp": "namespace datum {}\n"}, "opens neither")
        self.assert_clean("opening", {"src/core/a.cpp": '#include "a.hpp"\n', "src/core/a.hpp": "// What it is.\n#pragma once\n"})

    def test_test_names(self):
        """lint: a test name that is no sentence is found"""
        for bad in ("append", "journal: works", "appends after reopening", "journal: append continues the sequence."):
            self.assert_found("test-names", {"tests/a.cpp": f'TEST_CASE("{bad}", "[j]") {{}}\n'}, "is not of the form")
        self.assert_clean("test-names", {"tests/a.cpp": 'TEST_CASE("journal: append after reopen "\n          "continues the sequence [L01]") {}\n'})

    def test_test_listed(self):
        """lint: a source that no meson.build lists, and a folder that none reaches, are found"""
        root = {"meson.build": "subdir('tests')\n"}
        self.assert_found("test-listed", {**root, "tests/meson.build": "", "tests/unit/a_test.cpp": ""}, "no meson.build lists")
        self.assert_found("test-listed", {**root, "tests/meson.build": "", "tests/unit/meson.build": "files('a_test.cpp')", "tests/unit/a_test.cpp": ""}, "no subdir() reaches")
        self.assert_clean("test-listed", {**root, "tests/meson.build": "subdir('unit')\n", "tests/unit/meson.build": "files('a_test.cpp')", "tests/unit/a_test.cpp": ""})

    def test_decisions(self):
        """lint: records without status, and pages that rest on what is not accepted, are found"""
        def record(number, status, extends="none"):
            return {f"docs/decisions/{number}-words.md": f"# {number}\n\nStatus: {status}\nExtends: {extends}\n"}
        good = record("0001", "accepted")
        self.assert_found("decisions", {"docs/decisions/0001-words.md": "# x\n"}, "is none of")
        self.assert_found("decisions", record("0001", "superseded by 0009"), "is none of")
        self.assert_found("decisions", {"docs/decisions/words.md": ""}, "NNNN-words.md")
        self.assert_found("decisions", {**good, "docs/decisions/0001-other.md": good["docs/decisions/0001-words.md"]}, "is taken")
        self.assert_found("decisions", {**good, **record("0002", "accepted", "0007")}, "does not exist")
        self.assert_found("decisions", {**record("0001", "proposed"), **record("0002", "accepted", "0001")}, "which is proposed")
        self.assert_found("decisions", {**good, "docs/a.md": "# A\n"}, "no line `Rests on")
        self.assert_found("decisions", {**record("0001", "proposed"), "docs/a.md": "# A\n\nRests on: 0001\n"}, "which is proposed")
        self.assert_clean("decisions", {**record("0001", "proposed"), **record("0002", "proposed", "0001"), **record("0003", "accepted"),
                                        "docs/a.md": "Status: proposed\nRests on: 0001\n", "docs/b.md": "Rests on: 0003\n", "docs/c.md": "Rests on: none\n"})

    def test_links(self):
        """lint: a link to a file that is not there is found"""
        self.assert_found("links", {"docs/a.md": "see [b](b.md)\n"}, "b.md is not there")
        self.assert_clean("links", {"docs/a.md": "see [b](sub/b.md#x), [c](..), [d](https://example.org/), `[e](e.md)`\n", "docs/sub/b.md": ""})

    def test_verbs(self):
        """lint: a page that names a verb which ./dev has not is found"""
        dev = {"dev": "build() { # makes\n}\ntest_() { # runs\n}\n"}
        self.assert_found("verbs", {**dev, "README.md": "run ./dev fly\n"}, "no verb fly")
        self.assert_clean("verbs", {**dev, "README.md": "run ./dev test, ./dev build\n"})

    def test_commands(self):
        """lint: a man page or completion that is not what the table makes, and a flag without a row, are found"""
        top = pathlib.Path(__file__).resolve().parents[2]
        made = ["docs/man/*.[18]", "packaging/completions/*", "docs/reference/commands.md", "docs/reference/generate.py"]
        files = {path.relative_to(top).as_posix(): path.read_text() for glob in made for path in top.glob(glob)}
        table = files["docs/reference/commands.md"]
        self.assert_clean("commands", files)
        self.assert_found("commands", {**files, "docs/man/datum.1": "old"}, "docs/man/datum.1", "is not what")
        self.assert_found("commands", {**files, "docs/man/datum-fly.1": "old"}, "is not made from")
        self.assert_found("commands", {**files, "docs/reference/commands.md": table.replace("| `DIR` | `--host` |", "| `DIR` | `--fly` |")}, "init takes --fly")
        self.assert_found("commands", {**files, "docs/reference/commands.md": table.replace("| `--all` |", "| `--fly` | | fly |\n| `--all` |")}, "no command takes it")
        self.assert_found("commands", {"docs/reference/commands.md": ""}, "is not there")

    def test_format(self):
        """lint: a file that is laid out otherwise is found"""
        self.assert_found("format", {".clang-format": "BasedOnStyle: Google\n", "src/a.cpp": "int  f( ) {return 1 ;}\n"}, "not laid out")
        self.assert_clean("format", {".clang-format": "BasedOnStyle: Google\n", "src/a.cpp": "int f() { return 1; }\n"})


class Cpp(unittest.TestCase):
    def test_blank(self):
        """cpp: comments, literals and directives vanish, offsets stay"""
        text = 'a("}{", \'{\', 1\'000); // {\n/* { \n */ b(R"x({ )" )x");\n#define Z \\\n  {\n'
        blanked = cpp.blank(text)
        self.assertEqual(len(blanked), len(text))
        self.assertNotIn("{", blanked)
        self.assertEqual(blanked.count("\n"), text.count("\n"))
        self.assertIn("1'000", blanked)

    def test_items(self):
        """cpp: functions are told from values, types and lambdas inside"""
        text = ("namespace a::b {\nenum class E { x };\nconstexpr int kA[] = {f(1), 2};\nclass [[nodiscard]] C final : public D<int(int)> {\n"
                " public:\n  C() : x_{1}, y_(2) {}\n  bool operator()(int a = {}) const { return [] { return true; }(); }\n  int x_{0};\n};\n"
                "template <class T>\nauto f(T t) -> Result<T> {\n  if (t) { g(); }\n  return t;\n}\n}\n")
        names = [cpp.name_of(item, text) for item in cpp.read_items(text) if item.kind == "function"]
        self.assertEqual(names, ["C", "operator()", "f"])


if __name__ == "__main__":
    tap.main()
