#!/usr/bin/env python3
"""Writes the `expected` parts of tests/templates/cases.txt with the template renderer of Transformers.

Usage: make_template_cases.py [--check]; with --check nothing is written and a difference fails.
"""

import datetime
import json
import pathlib
import re
import sys

from transformers.utils import chat_template_utils

CASES = pathlib.Path(__file__).resolve().parent.parent / "templates" / "cases.txt"


class Clock(datetime.datetime):
    """A clock that stands at the time named in the file."""

    @classmethod
    def now(cls, tz=None):
        """Always the same moment."""
        return cls(2024, 7, 4, 12, 34, 56)


def expected(template: str, variables: dict) -> str:
    """The rendered text, or `!` for a failure."""
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
        return compiled.render(**variables)
    except Exception:  # any failure of the oracle is an expected failure
        return "!"


def main() -> int:
    """Rewrites or checks the file."""
    chat_template_utils.datetime = Clock
    text = (
        CASES.read_text(encoding="utf-8", newline="")
        if sys.version_info >= (3, 13)
        else CASES.read_bytes().decode()
    )
    head, *cases = re.split(r"(?m)^=== ", text)
    out = [head]
    for case in cases:
        name, rest = case.split("\n--- variables\n", 1)
        variables, rest = rest.split("\n--- template\n", 1)
        template = rest.split("\n--- expected\n", 1)[0]
        result = expected(template, json.loads(variables))
        out.append(
            f"=== {name}\n--- variables\n{variables}\n--- template\n{template}\n--- expected\n{result}\n"
        )
    new = "".join(out)
    if "--check" in sys.argv:
        print(
            "templates agree"
            if new == text
            else "tests/templates/cases.txt differs from Transformers"
        )
        return int(new != text)
    CASES.write_bytes(new.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
