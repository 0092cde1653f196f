#!/usr/bin/env python3
"""Makes man pages and bash completion from commands.md, so that there is one table of the command line.

`python3 docs/reference/generate.py` writes docs/man and packaging/completions/datum. The lint calls `make`
and compares; nothing else reads this."""

import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "docs/reference/commands.md"
COMPLETION = "packaging/completions/datum"
CONTROL_COMPLETION = "packaging/completions/datum-control"
_MADE = '.\\" Made by docs/reference/generate.py from docs/reference/commands.md.\n'


def parse(text):
    """commands.md as values: groups of commands, the service, flags, exit codes, status words, flag words."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    table = {"groups": [], "flags": {}, "codes": [], "words": []}
    for section in sections:
        title, _, body = section.partition("\n")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()
                if line.startswith("|") and not line.startswith("| ---")]
        if title.endswith("datum-control(8)"):
            table["control"] = _control(title, body, rows)
        elif title.endswith("(8)"):
            table["service"] = _service(title, body, rows)
        elif ": datum-" in title:
            table["groups"].append(_group(title, body, rows))
        elif title == "Flags":
            table["flags"] = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows[1:]}
        elif title == "Exit codes":
            table["codes"] = [(row[0], row[1]) for row in rows[1:]]
        elif title == "Status words":
            table["words"] = [(row[0], row[1]) for row in rows if row[0] not in ("word", "flag")]
    return table


def _prose(body):
    return [" ".join(part.split()) for part in body.split("\n\n") if part.strip() and not part.lstrip().startswith("|")]


def _service(title, body, rows):
    """A program of its own, with a page in section 8: arguments, files and signals, and exit codes."""
    subject, page = title.split(": ")
    flags = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows if row[0].startswith("`--")}
    return {"subject": subject.lower(), "page": page.removesuffix("(8)"), "prose": _prose(body), "flags": flags,
            "signals": [(row[0], row[1]) for row in rows if row[0].startswith("SIG")],
            "files": [(row[0].strip("`"), row[1]) for row in rows if row[0].startswith("`/")],
            "codes": [(row[0], row[1]) for row in rows if row[0].isdigit()]}


def _control(title, body, rows):
    """A program with commands of its own, and a page in section 8."""
    table = _service(title, body, [row for row in rows if not row[0].startswith("`datum-control ")])
    table["commands"] = [{"name": row[0].strip("`").removeprefix("datum-control "), "arguments": row[1].strip("`"),
                          "flags": re.findall(r"--[a-z-]+", row[2]), "summary": row[3]}
                         for row in rows if row[0].startswith("`datum-control ")]
    return table


def _group(title, body, rows):
    prose = _prose(body)
    commands = []
    for row in rows[1:]:
        commands.append({"name": row[0].strip("`").removeprefix("datum "), "arguments": row[1].strip("`"),
                         "flags": re.findall(r"--[a-z-]+", row[2]), "summary": row[3]})
    subject, page = title.split(": ")
    return {"subject": subject.lower(), "page": page, "prose": prose, "commands": commands}


def _roff(text):
    """Prose of a page: `code` in bold, and what roff would take for itself escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return "\\&" + text if text.startswith((".", "'")) else text


def _flag(table, flag, optional=True):
    value = table["flags"][flag][0]
    text = "\\fB" + flag.replace("-", "\\-") + "\\fR" + (f"\\ \\fI{value}\\fR" if value else "")
    return f"[{text}]" if optional else text


def _list(rows):
    return "".join(f".TP\n{head}\n{_roff(text)}\n" for head, text in rows)


def _exit_status(table):
    return ".SH EXIT STATUS\n" + _list((code, text) for code, text in table["codes"])


def _head(page, section, subject):
    """Of a page, to where the ways to call it follow."""
    text = _MADE + f'.TH {_roff(page.upper())} {section} "" "Datum" "Datum"\n'
    return text + f".SH NAME\n{_roff(page)} \\- {subject}\n.SH SYNOPSIS\n.nh\n.ad l\n"


def _ways(program, table, commands):
    text = ""
    for command in commands:
        text += f".HP\n\\fB{_roff(program)} {_roff(command['name'])}\\fR {' '.join(_flag(table, flag) for flag in command['flags'])}"
        text += f" \\fI{_roff(command['arguments'])}\\fR\n" if command["arguments"] else "\n"
    return text


def _description(prose):
    return ".ad b\n.hy\n.SH DESCRIPTION\n" + ".PP\n".join(_roff(part) + "\n" for part in prose)


def _commands(program, commands):
    return ".SH COMMANDS\n" + _list((f"\\fB{_roff(program)} {_roff(command['name'])}\\fR", command["summary"] + ".")
                                   for command in commands)


def _options(table, flags):
    return ".SH OPTIONS\n" + _list((_flag(table, flag, False), table["flags"][flag][1] + ".") for flag in flags)


def _life(service):
    """What only a program has that lives on: its signals, files and exit status."""
    text = ".SH SIGNALS\n" + _list((f"\\fB{name}\\fR", meaning + ".") for name, meaning in service["signals"])
    text += ".SH FILES\n" + _list((f"\\fI{_roff(name)}\\fR", meaning + ".") for name, meaning in service["files"])
    return text + ".SH EXIT STATUS\n" + _list((code, meaning + ".") for code, meaning in service["codes"])


def _page(table, group):
    commands = group["commands"]
    text = _head(group["page"], 1, f"{_roff(group['subject'])}: {_roff(', '.join(command['name'] for command in commands))}")
    text += _ways("datum", table, commands) + _description(group["prose"]) + _commands("datum", commands)
    text += _options(table, sorted({flag for command in commands for flag in command["flags"]}))
    others = [other["page"] for other in table["groups"] if other is not group]
    return text + _exit_status(table) + ".SH SEE ALSO\n" + ",\n".join(
        f".BR {_roff(other)} (1)" for other in ["datum"] + others) + "\n"


def _service_page(table):
    service = table["service"]
    text = _head(service["page"], 8, _roff(service["subject"]))
    text += f".HP\n\\fB{_roff(service['page'])}\\fR {' '.join(_flag(service, flag) for flag in service['flags'])}\n"
    return text + _description(service["prose"]) + _options(service, service["flags"]) + _life(service) + ".SH SEE ALSO\n.BR datum (1)\n"


def _control_page(control):
    commands = control["commands"]
    text = _head(control["page"], 8, _roff(control["subject"])) + _ways("datum-control", control, commands)
    text += _description(control["prose"]) + _commands("datum-control", commands) + _options(control, control["flags"])
    return text + _life(control) + ".SH SEE ALSO\n.BR datum (1),\n.BR datum\\-host (8)\n"


def _control_completion(control):
    words = sorted({command["name"].split()[0] for command in control["commands"]})
    cases = "".join(f'    "{command["name"]}") flags="{" ".join(command["flags"])}" ;;\n' for command in control["commands"])
    below = "".join(f'    {word}) more="{" ".join(sorted(command["name"].split()[1] for command in control["commands"] if command["name"].startswith(word + " ")))}" ;;\n'
                    for word in words if any(command["name"].startswith(word + " ") for command in control["commands"]))
    return f"""# Completion of datum-control for bash. Made by docs/reference/generate.py from docs/reference/commands.md.
_datum_control() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} more= flags=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{' '.join(words)} --help --version" -- "$word"))
    return
  fi
  case $command in
{below}  esac
  if [[ " $more " == *" ${{COMP_WORDS[2]}} "* && -n ${{COMP_WORDS[2]}} ]]; then command="$command ${{COMP_WORDS[2]}}"; fi
  case $command in
{cases}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags --help" -- "$word"))
  elif ((COMP_CWORD == 2)) && [[ -n $more ]]; then
    COMPREPLY=($(compgen -W "$more" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _datum_control datum-control
"""


def _overview(table):
    text = _MADE + '.TH DATUM 1 "" "Datum" "Datum"\n.SH NAME\ndatum \\- keep a machine in its declared state, and show what was done to it\n'
    text += ".SH SYNOPSIS\n\\fBdatum\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n"
    text += _roff("Desired state is a folder of YAML documents, a fleet. Datum resolves it for one host, observes the machine, "
                  "names every difference, and corrects it only where the machine's configuration, or the command line, says "
                  "enforce. Everything it did stands in an append-only journal. Without configuration it only observes.") + "\n"
    for group in table["groups"]:
        text += f".SS {group['subject'].capitalize()} (\\fB{_roff(group['page'])}\\fR(1))\n"
        text += _list((f"\\fB{_roff(command['name'])}\\fR", command["summary"] + ".") for command in group["commands"])
    text += ".SH STATUS WORDS\n" + _list((f"\\fB{_roff(word)}\\fR", meaning + ".") for word, meaning in table["words"])
    text += _exit_status(table)
    text += ".SH FILES\n" + _list([("\\fI/etc/datum\\fR", "configuration, below the root; missing means observe."),
                                    ("\\fI/var/lib/datum\\fR", "the store, below the root; only root reads it.")])
    pages = [group["page"] for group in table["groups"]]
    return text + ".SH SEE ALSO\n" + ",\n".join(f".BR {_roff(page)} (1)" for page in pages) + f",\n.BR {_roff(table['service']['page'])} (8)\n"


def _completion(table):
    commands = [command for group in table["groups"] for command in group["commands"]]
    words = sorted({command["name"].split()[0] for command in commands})
    journal = sorted(command["name"].split()[1] for command in commands if " " in command["name"])
    values = {"DIR": "-d", "FILE": "-f", "PATH": "-f", "MODE": '-W "observe enforce"', "WHEN": '-W "auto always never"'}
    cases = "".join(f"    {'|'.join(flags)}) COMPREPLY=($(compgen {how} -- \"$word\")); return ;;\n" for how, flags in (
        (how, [flag for flag, (value, _) in table["flags"].items() if values.get(value) == how]) for how in dict.fromkeys(values.values())))
    valued = "|".join(flag for flag, (value, _) in table["flags"].items() if value and value not in values)
    flags = "".join(f'    "{command["name"]}") flags="{" ".join(command["flags"])}" ;;\n' for command in commands)
    return f"""# Completion of datum for bash. Made by docs/reference/generate.py from docs/reference/commands.md.
_datum() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} flags=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{' '.join(words)} --help --help-all --version" -- "$word"))
    return
  fi
  if [[ $command == journal ]]; then
    if ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W "{' '.join(journal)} --help" -- "$word")); return; fi
    command="journal ${{COMP_WORDS[2]}}"
  fi
  case $before in
{cases}    {valued}) return ;;
  esac
  case $command in
{flags}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags --help" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _datum datum
"""


def make(text):
    """Every file that is made from commands.md, by its path."""
    table = parse(text)
    files = {f"docs/man/{group['page']}.1": _page(table, group) for group in table["groups"]}
    return files | {"docs/man/datum.1": _overview(table), f"docs/man/{table['service']['page']}.8": _service_page(table),
                    COMPLETION: _completion(table), f"docs/man/{table['control']['page']}.8": _control_page(table["control"]),
                    CONTROL_COMPLETION: _control_completion(table["control"])}


def main():
    for path, text in make((TOP / SOURCE).read_text(encoding="utf-8")).items():
        whole = TOP / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
