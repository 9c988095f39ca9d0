"""Examples of the library's definitions, one file a module: MODULE.cases, and OVERLAY/MODULE.cases for an overlay.

    == linear                          the definition; `== linear: more` is a further case of it
    in x Tensor[2,3]                   an input; `= EXPRESSION` says what it holds, else it is random
    param fc.weight [4,3]              a stored tensor, likewise
    config {"width": 4}                the configuration
    let w = p["fc.weight"] * 2         a name for what follows
    | y <- NN.linear@fc x              lines of the program's body
    out y Tensor[2,4] = F.linear(x, w) a result, its type, and what it must be
    small                              half precision is used, which straight lines compute in float32

Expressions are Python over PyTorch (`oracle.py` has more names); a line that starts with two blanks continues the one
before. The first case of a definition is its example in docs/library.md.
"""

import dataclasses
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
MODULES = re.compile(r"\b([A-Z][A-Za-z]*)\.[a-zA-Z]")


@dataclasses.dataclass
class Value:
    """An input, stored tensor or result: its type or sizes, and the expression for its contents."""

    name: str
    type: str
    contents: str


@dataclasses.dataclass
class Case:
    """A program with what goes in and what must come out."""

    overlay: str
    module: str
    definition: str
    title: str
    inputs: list[Value] = dataclasses.field(default_factory=list)
    params: list[Value] = dataclasses.field(default_factory=list)
    lets: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    results: list[Value] = dataclasses.field(default_factory=list)
    config: dict = dataclasses.field(default_factory=dict)
    body: list[str] = dataclasses.field(default_factory=list)
    small: bool = False

    @property
    def name(self) -> str:
        """Unique among all cases."""
        place = (
            self.module if self.overlay == "base" else f"{self.overlay}/{self.module}"
        )
        more = f": {self.title}" if self.title else ""
        return f"{place}.{self.definition}{more}"

    def program(self) -> str:
        """The whole text: what the body needs imported, a main definition with a full signature."""
        text = "\n".join(self.body)
        modules = sorted(set(MODULES.findall(text)))
        types = " -> ".join(value.type for value in self.inputs)
        results = ", ".join(value.type for value in self.results)
        if len(self.results) > 1:
            results = f"({results})"
        names = ", ".join(value.name for value in self.results)
        head = " ".join(["main", *[value.name for value in self.inputs]])
        return "\n".join(
            [
                *[f"import {module} ()" for module in modules],
                "",
                f"main :: {types} -> {results}",
                f"{head} = do",
                *[f"  {line}" for line in self.body],
                f"  return {names}",
                "",
            ]
        )


def value_of(rest: str) -> Value:
    """`NAME TYPE [= EXPRESSION]`; types have no blank before their `=`."""
    front, _, contents = rest.partition(" = ")
    name, kind = front.split(None, 1)
    return Value(name, kind.strip(), contents.strip())


def add_line(case: Case, line: str) -> None:
    """One line of a case."""
    word, _, rest = line.partition(" ")
    if word == "in":
        case.inputs.append(value_of(rest))
    elif word == "param":
        case.params.append(value_of(rest))
    elif word == "out":
        case.results.append(value_of(rest))
    elif word == "config":
        case.config = json.loads(rest)
    elif word == "let":
        name, _, contents = rest.partition(" = ")
        case.lets.append((name.strip(), contents.strip()))
    elif word == "small":
        case.small = True
    elif word == "|":
        case.body.append(rest)
    else:
        raise ValueError(f"{case.name}: `{line}` is no line of a case")


def read(path: pathlib.Path) -> list[Case]:
    """The cases of a file."""
    parent = path.parent.relative_to(FOLDER).as_posix()
    overlay = "base" if parent == "." else parent
    logical: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and logical:
            logical[-1] += " " + line.strip()
        elif line and not line.startswith("#"):
            logical.append(line)
    cases: list[Case] = []
    for line in logical:
        if line.startswith("== "):
            definition, _, title = line[3:].partition(": ")
            cases.append(Case(overlay, path.stem, definition.strip(), title.strip()))
        else:
            add_line(cases[-1], line)
    return cases


def read_all() -> list[Case]:
    """All cases, in the order of files."""
    return [case for path in sorted(FOLDER.glob("**/*.cases")) for case in read(path)]
