#!/usr/bin/env python3
# test: short
"""What --json prints has exactly the members that docs/reference/json.md lists, object by object."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
DATUM = str(pathlib.Path(os.environ.get("DATUM_BUILD", TOP / "build")) / "src/datum/datum")


def documented():
    """object → its members, from the page's tables."""
    objects, name = {}, None
    for line in (TOP / "docs/reference/json.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            name = line[3:].strip()
            objects[name] = []
        member = re.match(r"\| `(\w+)` \|", line)
        if member and name:
            objects[name].append(member.group(1))
    return objects


def run(*arguments):
    done = subprocess.run([DATUM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
    if not done.stdout:
        raise SystemExit(f"datum {' '.join(arguments)} printed nothing: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    objects, failed = documented(), 0
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(f"{scratch}/root")
        state = ["--state", f"{scratch}/state"]
        common = ["--fleet", str(TOP / "docs/examples/first"), "--host", "workbench", "--root", f"{scratch}/root", *state, "--json"]
        observed, planned = run("observe", *common), run("plan", *common)
        reconciled = run("reconcile", *common, "--mode", "enforce")
        with open(f"{scratch}/root/etc/motd", "a", encoding="utf-8") as changed:
            changed.write("by hand\n")
        run("observe", *common)

        def history(kind):
            """Both kinds of line that it prints."""
            return [line for line in run("history", "/etc/motd", *state, "--json") if ("window" in line) == (kind == "window")]

        seen = [
            ("drift", observed[:-1]), ("pass", observed[-1:]), ("action", reconciled[:-2]), ("summary", reconciled[-2:-1]),
            ("pass", reconciled[-1:]), ("status", run("status", *state, "--json")), ("owned", run("owned", *state, "--json")),
            ("acknowledgement", run("ack", "/etc/motd", "--until", "1h", "--reason", "known", *state, "--json")),
            ("hold", run("hold", "--for", "1h", "--reason", "test", "--root", f"{scratch}/root", "--config", f"{scratch}/config", *state, "--json")),
            ("setting", run("config", "check", "--config", f"{scratch}/config", "--json")),
            ("record", run("journal", "list", *state, "--json")), ("record", run("journal", "show", "1", *state, "--json")),
            ("record", run("journal", "tail", *state, "--json")),
            ("lifecycle", run("replay", "lifecycle", *state, "--json")), ("owned then", run("replay", "owned", *state, "--json")),
            ("status", run("replay", "status", *state, "--json")), ("pass then", run("replay", "passes", *state, "--json")),
            ("drift", run("replay", "drift", "--as", "observe", *state, "--json")[:-1]),
            ("difference", run("replay", "status", "--diff", "3", "30", *state, "--json")),
            ("postmortem", run("postmortem", *state, "--json")[:1]), ("postmortem action", run("postmortem", *state, "--json")[1:]),
            ("export", run("journal", "export", f"{scratch}/story", *state, "--json")),
            ("import", run("journal", "import", f"{scratch}/story", "--state", f"{scratch}/other", "--json")),
            ("record", history("record")), ("window", history("window")), ("verification", run("journal", "verify", *state, "--json")),
        ]
        reverted = run("revert", str(reconciled[-1]["pass"]), "--root", f"{scratch}/root", *state, "--json")
        seen += [("summary", reverted[-3:-2]), ("revert", reverted[-2:-1]), ("pass", reverted[-1:]),
                 ("kept", run("keep", "/etc/motd", *state, "--json")), ("kept", run("keep", *state, "--json"))]
        archived = run("journal", "archive", "--through", "5", *state, "--json")
        seen += [("archive", archived), ("stat", run("journal", "stat", *state, "--json"))]
        data = pathlib.Path(scratch) / "state/journal/data.mdb"
        data.write_bytes(b"damaged" + data.read_bytes()[7:])
        seen.append(("aside", run("journal", "set-aside", *state, "--json")))
        place = ["--root", f"{scratch}/root", "--config", f"{scratch}/config"]
        seen.append(("image", run("prepare-image", *place, *state, "--json")))
        only_after_a_pass = {"message", "output"}
        seen_planned = [member for member in objects["action"] if member not in only_after_a_pass]
        cases = [(f"{name}, {len(lines)} lines", objects[name], lines) for name, lines in seen]
        cases.append(("action, before a pass", seen_planned, planned[:-2]))
        for title, members, lines in cases:
            wrong = [list(line) for line in lines if list(line) != members]
            good = bool(lines) and not wrong
            failed += not good
            print(f"{'ok' if good else 'not ok'} - json: {title}: members are those of the reference")
            if wrong:
                print(f"# printed    {wrong[0]}\n# documented {members}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
