"""All rules by name. A rule takes a Tree and yields Findings; it holds for the tree as it is, without history."""

from rules import commands, decisions, docs, format, functions, headers, layers, patterns, sizes, test_files

ALL = {
    "layers": layers.check,
    "cycles": layers.check_cycles,
    "third-party": layers.check_third_party,
    "patterns": patterns.check,
    "sizes": sizes.check,
    "functions": functions.check,
    "globals": functions.check_globals,
    "nodiscard": headers.check_nodiscard,
    "opening": headers.check_opening,
    "test-names": test_files.check_names,
    "test-listed": test_files.check_listed,
    "decisions": decisions.check,
    "links": docs.check_links,
    "verbs": docs.check_verbs,
    "commands": commands.check,
    "format": format.check,
}
