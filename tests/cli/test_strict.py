"""Library and zoo check without a warning, each definition of the library by itself too.

The library is the place where primitives are called, a file with one entry chosen leaves the others out, and some of its
signatures name one size twice: none of that is a warning here.
"""

import re

import diag_cases as d
import harness as h

S = h.suite()
SIGNATURE = re.compile(r"^(\w+) ::", re.M)


def clean(name: str, *words: object) -> None:
    """A check that says nothing."""
    answer = S.run("check", "--strict", *words)
    lines = [
        line
        for line in answer.err.splitlines()
        if re.search(
            r" (error|warning) (?!W-PRIM|W-UNUSED-DEF|W-DIM-MERGED)[A-Z]", line
        )
    ]
    S.check(name, answer.status == 0 and not lines, answer.err)


def test_files() -> None:
    """Every file as it is."""
    for folder in ("stdlib", "zoo"):
        for path in sorted((d.ROOT / folder).glob("*.axon")):
            clean(f"{folder}/{path.name}", path)
            text = path.read_text(encoding="utf-8")
            S.check(
                f"{path.name} calls no primitive",
                folder == "stdlib" or " _" not in text,
                "",
            )


def test_definitions() -> None:
    """Every definition of the library as the entry; those with a path parameter cannot be one."""
    for path in sorted((d.ROOT / "stdlib").glob("*.axon")):
        text = path.read_text(encoding="utf-8")
        for name in SIGNATURE.findall(text):
            if f"\n{name}@" not in text:
                clean(f"{path.stem}.{name}", path, "--main", name)


for test in (test_files, test_definitions):
    test()
S.finish()
