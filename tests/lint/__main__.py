"""`python3 tests/lint [RULE...]`: every rule over the whole tree; exit status 1 when one finds something."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import rules  # noqa: E402
from tree import Tree  # noqa: E402


def main(names):
    unknown = set(names) - set(rules.ALL)
    if unknown:
        print(f"no such rule: {', '.join(sorted(unknown))}; there are: {', '.join(rules.ALL)}")
        return 1
    tree = Tree(pathlib.Path(__file__).resolve().parents[2])
    total = 0
    for name in names or rules.ALL:
        findings = sorted(set(map(str, rules.ALL[name](tree))))
        total += len(findings)
        for finding in findings:
            print(f"{finding} [{name}]")
    print(f"lint: {len(names or rules.ALL)} rules, {len(tree.paths)} files, {total} findings")
    return 1 if total else 0


sys.exit(main(sys.argv[1:]))
