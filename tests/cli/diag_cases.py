"""Cases of tests/diag: for each diagnostic code its meaning, a program or command that shows it, and the way out.

A case file `CODE.case` holds a paragraph that says what the code means, one that says what to do, and sections:

    === NAME              a file of the example (`NAME/` is an empty folder)
    === fixed NAME        the same file without the mistake
    === $ axon WORDS      the command; `axon check main.axon` when there is none
    === fixed $ WORDS     the command without the mistake
    === llama NAME        a tiny checkpoint; the text is a JSON object of changes to its configuration
    === tensors NAME      a safetensors file; each line is a name and its extents
    === also CODE         another code that cannot be kept out of the example
    === test FILE         what the command cannot show: the test that produces the code
    === unused            nothing reports the code: it is kept for what is to come

`<<1001 ( >>` stands for 1001 repetitions.
"""

import json
import pathlib
import re
import shlex
import shutil

import checkpoints as ck
import harness as h

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "tests" / "diag"
CHECK = "axon check main.axon"


class Row:
    """A row of diag.def."""

    def __init__(
        self, ident: str, code: str, kind: str, status: int, message: str
    ) -> None:
        self.ident, self.code, self.kind, self.status, self.message = (
            ident,
            code,
            kind,
            status,
            message,
        )


def rows() -> list[Row]:
    """All diagnostics, in the order of the table."""
    text = (ROOT / "src" / "source" / "diag.def").read_text(encoding="utf-8")
    pattern = r'^AXON_DIAG\((\w+),\s*"([A-Z0-9-]+)",\s*(\w+),\s*(\d+),\s*"((?:[^"\\]|\\.)*)"\)'
    found = re.findall(pattern, text, re.M)
    return [
        Row(i, c, k, int(s), m.replace('\\"', '"').replace("\\\\", "\\"))
        for i, c, k, s, m in found
    ]


def is_used(row: Row) -> bool:
    """Whether any source reports the code."""
    pattern = re.compile(rf'\bDiag::{row.ident}\b|"{row.code}"')
    return any(
        pattern.search(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "src").rglob("*.cc"))
    )


class Case:
    """One case file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.code = path.stem
        text = path.read_text(encoding="utf-8")
        head, *sections = re.split(r"^=== ", text, flags=re.M)
        paragraphs = [
            " ".join(p.split()) for p in head.strip().split("\n\n") if p.strip()
        ]
        if len(paragraphs) != 2:
            raise ValueError(f"{path}: needs a meaning and a way out")
        self.meaning, self.way_out = paragraphs
        self.files: dict[str, str] = {}
        self.fixed: dict[str, str] = {}
        self.models: dict[str, str] = {}
        self.tensors: dict[str, str] = {}
        self.also: set[str] = set()
        self.unused = False
        self.command, self.fixed_command, self.test = CHECK, None, None
        for section in sections:
            title, _, body = section.partition("\n")
            self.add_section(title.strip(), body)
        self.fixed_command = self.fixed_command or self.command

    def add_section(self, title: str, body: str) -> None:
        """One `===` section."""
        if title.startswith("$ "):
            self.command = title[2:]
        elif title.startswith("fixed $ "):
            self.fixed_command = title[8:]
        elif title.startswith("fixed "):
            self.fixed[title[6:]] = body
        elif title.startswith("llama "):
            self.models[title[6:]] = body.strip()
        elif title.startswith("tensors "):
            self.tensors[title[8:]] = body
        elif title.startswith("also "):
            self.also |= set(title[5:].split())
        elif title == "unused":
            self.unused = True
        elif title.startswith("test "):
            self.test = title[5:]
        else:
            self.files[title] = body

    def has_fix(self) -> bool:
        """Whether the case says how it looks without the mistake."""
        return bool(self.fixed) or self.fixed_command != self.command

    def write(self, folder: pathlib.Path, files: dict[str, str]) -> None:
        """Makes the files of the example."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, changes in self.models.items():
            ck.llama_directory(
                folder / name, config=ck.llama_config(**json.loads(changes or "{}"))
            )
        for name, lines in self.tensors.items():
            shapes = [line.split() for line in lines.split("\n") if line.split()]
            tensors = {}
            for tensor, *extents in shapes:
                shape = [int(e) for e in extents]
                tensors[tensor] = (shape, ck.floats(ck.product(shape), len(tensors)))
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(ck.safetensors(tensors))
        for name, text in files.items():
            path = folder / name
            if name.endswith("/"):
                path.mkdir(parents=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(expand(text), encoding="utf-8")

    def run(self, suite: h.Suite, *, fixed: bool) -> h.Answer:
        """The answer to the example, or to what it looks like without the mistake."""
        folder = suite.folder / "case"
        self.write(folder, {**self.files, **self.fixed} if fixed else self.files)
        command = self.fixed_command if fixed else self.command
        words = shlex.split(command.split(" | ")[-1])
        stdin = (
            b"" if " | " not in command else shlex.split(command)[1].encode() + b"\n"
        )
        before, suite.folder = suite.folder, folder
        try:
            answer = suite.run(*words[1:], stdin=stdin)
        finally:
            suite.folder = before
        for place in (folder.resolve(), folder):
            answer.err = answer.err.replace(f"{place}/", "")
            answer.out = answer.out.replace(f"{place}/", "")
        # What follows is the machine's own.
        answer.err = re.sub(r"(; it has ref)[ a-z0-9_]*", r"\1 …", answer.err)
        return answer


def expand(text: str) -> str:
    """The text with its repetitions written out."""
    return re.sub(r"<<(\d+) (.+?) >>", lambda m: int(m.group(1)) * m.group(2), text)


def shown(text: str) -> str:
    """The text with its repetitions named."""
    return re.sub(r"<<(\d+) (.+?) >>", r"\2 … (\1 times)", text).rstrip("\n")


def cases() -> dict[str, Case]:
    """All cases by code."""
    return {path.stem: Case(path) for path in sorted(CASES.glob("*.case"))}
