"""What goes wrong: one exception for each of the three kinds of fault, and what the compiler says.

AxonError
  ProgramError    the program, or what it says of the checkpoint, is wrong; has diagnostics
  UsageError      an argument makes no sense (also a ValueError)
  WorldError      a file is missing, cut short or malformed, memory is short (also an OSError)
"""

from __future__ import annotations

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Note:
    """A further place that a diagnostic points at."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclasses.dataclass(frozen=True)
class Fix:
    """A replacement that certainly mends the mistake."""

    text: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What the compiler says of a place in a program; lines and columns count from 1."""

    code: str
    severity: str  # error or warning
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    notes: tuple[Note, ...] = ()
    fix: tuple[Fix, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.message} [{self.code}]"


class AxonError(Exception):
    """Anything that goes wrong here; `code` is permanent, `axon explain CODE` says more of it."""

    def __init__(self, message: str, code: str = "", hint: str = "") -> None:
        super().__init__(f"{message} [{code}]" if code else message)
        self.message = message
        self.code = code
        self.hint = hint


class ProgramError(AxonError):
    """The program and the model do not agree, or one of them is wrong."""

    def __init__(
        self,
        message: str,
        code: str = "",
        hint: str = "",
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        super().__init__(message, code, hint)
        self.diagnostics = diagnostics


class UsageError(AxonError, ValueError):
    """An argument makes no sense."""


class WorldError(AxonError, OSError):
    """A file or the machine is not as it must be; `filename` says which file, where one does."""

    def __str__(self) -> str:
        return str(self.args[0])


KINDS: dict[int, type[AxonError]] = {1: ProgramError, 2: UsageError, 3: WorldError}


def make(code: str, message: str, file: str, hint: str, status: int) -> AxonError:
    """The exception for an error of the compiled half."""
    error = KINDS.get(status, AxonError)(message, code, hint)
    if isinstance(error, WorldError) and file:
        error.filename = file
    return error


def _picked(kind: type, found: dict) -> dict:
    """The fields that a class has."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in found.items() if name in names}


def diagnostic(line: str) -> Diagnostic:
    """From one line of `axon check --json`."""
    found = json.loads(line)
    notes = tuple(Note(**_picked(Note, note)) for note in found.pop("notes", ()))
    fixes = found.pop("fix", ())
    fixes = fixes if isinstance(fixes, list) else [fixes]
    fix = tuple(Fix(**_picked(Fix, one)) for one in fixes if one)
    return Diagnostic(**_picked(Diagnostic, found), notes=notes, fix=fix)


def from_diagnostics(lines: list[str]) -> ProgramError:
    """The exception for a program with errors."""
    found = tuple(diagnostic(line) for line in lines)
    errors = [one for one in found if one.severity == "error"]
    message = "\n".join(map(str, errors))
    return ProgramError(message, errors[0].code, diagnostics=found)
