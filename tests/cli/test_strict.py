"""Library and zoo check without a warning, each definition of the library by itself too.

The library is the place where primitives are called, a file with one entry chosen leaves the others out, and some of its
signatures name one size twice: none of that is a warning here.
"""

import pathlib
import re
import tempfile

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


NAME = re.compile(r"^(?:type )?(\w+)[ \[:]", re.M)


def items(text: str) -> dict[str, str]:
    """Blocks between empty lines by the name that each defines; imports and comments by themselves."""
    out = {}
    for block in text.strip().split("\n\n"):
        code = "\n".join(
            line for line in block.splitlines() if not line.startswith("--")
        )
        found = NAME.match(code)
        out[found[1] if found else block] = block
    return out


def imports(text: str) -> list[str]:
    """The imports of a file."""
    return re.findall(r"^import .*(?:\n .*)*", text, re.M)


def test_overlays() -> None:
    """What lies over a module of the library, laid over its text: each file, each definition as the entry."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((d.ROOT / "stdlib").glob("*/*.axon")):
            over = path.read_text(encoding="utf-8")
            base = (d.ROOT / "stdlib" / path.name).read_text(encoding="utf-8")
            merged = {**items(base), **items(over)}
            for name in ("import", "export"):
                merged.pop(name, None)
            lines = list(dict.fromkeys([*imports(base), *imports(over)]))
            text = "\n\n".join(["\n".join(lines), *merged.values()]) + "\n"
            file = pathlib.Path(folder) / path.name
            file.write_text(text, encoding="utf-8")
            shown = f"{path.parent.name}/{path.name}"
            clean(shown, file, "--overlay", path.parent.name)
            for name in SIGNATURE.findall(over):
                if f"\n{name}@" not in over:
                    words = ("--overlay", path.parent.name, "--main", name)
                    clean(f"{shown} {name}", file, *words)


for test in (test_files, test_definitions, test_overlays):
    test()
S.finish()
