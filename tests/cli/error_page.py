"""The text of docs/errors.md, made from diag.def, the cases of tests/diag and what the command answers to them."""

import re

import diag_cases as d

HEADER = """# Diagnostics

Made from `src/source/diag.def` and the cases in `tests/diag/` by `./dev accept`; do not edit. Every example is run by
the tests, and every answer is what the command says. `axon explain CODE` prints a section of this page.

## Exit status

| status | meaning |
| --- | --- |
| 0 | done; warnings alone do not change it |
| 1 | the program, or the program and the model together, are wrong |
| 2 | usage: an option, a value or a prompt that cannot be used |
| 3 | the world: a file, memory or device that is not there or not as it should be |
| 70 | a bug of ours |
| 130 | interrupted; what was generated so far has been written |
| 143 | terminated |

Severity: an *error* stops the compiler after the stage that reported it; definitions that have no error and mention none that
has are checked on, so that independent mistakes are all told. A *warning* does not stop it; `--strict` makes an error of every
warning except those marked *always a warning*.

## JSON

`axon check --json` writes one object a line for each diagnostic, in the order of files and places. Keys may be added in
later versions; none is renamed or removed.

| key | value |
| --- | --- |
| `code` | the code, as on this page |
| `severity` | `"error"` or `"warning"`, with `--strict` taken into account |
| `message` | one line of text |
| `file`, `line`, `column`, `end_line`, `end_column` | the place; lines and columns count from 1, columns in bytes, the end is exclusive; all are null for a diagnostic without a place |
| `context` | the definition it belongs to; absent when there is none |
| `notes` | a list of objects with `message` and a place as above |
| `fix` | a list of objects with `text` and a place: replacing every place by its text mends the mistake; absent when no change is certain |

Errors that have no place in a program (files, options, memory) are one object
`{"schema": 1, "error": {"code", "message", "hint"?, "file"?, "line"?, "offset"?}}`.

"""

KINDS = {
    "Error": "error",
    "Warning": "warning",
    "AlwaysWarning": "always a warning",
}


def block(kind: str, text: str) -> str:
    """A fenced block."""
    return f"```{kind}\n{text.rstrip()}\n```\n"


def answer_text(answer) -> str:
    """What the command wrote; lists that grow with the zoo are cut."""
    lines = (answer.err + answer.out).rstrip("\n").split("\n")
    return "\n".join(x if len(x) <= 200 else x[:200].rstrip() + " …" for x in lines)


def files_text(files: dict[str, str], case: d.Case) -> str:
    """Blocks of the files of an example."""
    out = ""
    for name, text in files.items():
        if name.endswith("/"):
            out += f"`{name[:-1]}` is a folder.\n\n"
            continue
        if name != "main.axon":
            out += f"`{name}`:\n\n"
        kind = name.rpartition(".")[2] if "." in name else ""
        out += block(kind, d.shown(text)) + "\n"
    for name, changes in case.models.items():
        with_changes = f" with `{changes}` in `config.json`" if changes else ""
        out += f"`{name}` is a tiny Llama checkpoint{with_changes}.\n\n"
    for name, lines in case.tensors.items():
        listed = ", ".join(
            f"`{line.split()[0]}` [{','.join(line.split()[1:])}]"
            for line in lines.strip().split("\n")
        )
        out += f"`{name}` holds {listed}.\n\n"
    return out


def section(row: d.Row, case: d.Case, answer) -> str:
    """The section of one code."""
    status = f", exit status {row.status}" if row.kind == "Error" else ""
    out = f"## {row.code}\n\n*{KINDS[row.kind]}{status}.* {case.meaning}\n\n"
    if case.unused:
        out += "This version reports it nowhere.\n\n"
    if case.test or case.unused:
        text = re.sub(r"\{\d\}", "…", row.message)
        out += "" if text == "…" else block("text", text) + "\n"
        return out + f"**Way out.** {case.way_out}\n\n"
    out += files_text(case.files, case)
    command = "" if case.command == d.CHECK else f"$ {case.command}\n"
    out += block("text", command + answer_text(answer)) + "\n"
    out += f"**Way out.** {case.way_out}\n\n"
    for name, text in case.fixed.items():
        if name != "main.axon":
            out += f"`{name}`:\n\n"
        out += block(name.rpartition(".")[2], d.shown(text)) + "\n"
    if case.fixed_command != case.command:
        out += block("text", f"$ {case.fixed_command}") + "\n"
    return out


def page(rows: list[d.Row], cases: dict[str, d.Case], answers: dict) -> str:
    """The whole page."""
    parts = [
        section(row, cases[row.code], answers.get(row.code))
        for row in rows
        if row.code in cases
    ]
    return HEADER + "".join(parts).rstrip("\n") + "\n"


MISTAKES = """# Ten mistakes, and what the compiler says

Made from the cases in `tests/mistakes/` by `./dev accept`; do not edit. Each program is what people write who come
from PyTorch; each answer is what `axon check` says. All codes are explained in [errors.md](errors.md).

"""


def mistakes_page(found: list) -> str:
    """The page of mistakes."""
    out = MISTAKES
    for number, (case, answer) in enumerate(found, 1):
        title, _, meaning = case.meaning.partition(". ")
        out += f"## {number}. {title}\n\n{meaning}\n\n"
        out += files_text(case.files, case)
        command = "" if case.command == d.CHECK else f"$ {case.command}\n"
        out += block("text", command + answer_text(answer)) + "\n"
        out += f"{case.way_out}\n\n"
        for name, text in case.fixed.items():
            if name != "main.axon":
                out += f"`{name}`:\n\n"
            out += block(name.rpartition(".")[2], d.shown(text)) + "\n"
    return out.rstrip("\n") + "\n"
