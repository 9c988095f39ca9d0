"""Programs without running them: what the compiler says of one, and the source of a framework's module."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

from axon import _native
from axon.errors import Diagnostic, UsageError, diagnostic
from axon.model import request


def targets() -> list[str]:
    """The names that `compile` takes as `target`."""
    return _native.targets()


def check(
    program: str | os.PathLike[str],
    *,
    checkpoint: str | os.PathLike[str] = "",
    overlays: Sequence[str] = (),
    main: str = "",
    strict: bool = False,
) -> list[Diagnostic]:
    """Everything that the compiler says of a program; nothing is raised for what is wrong in it.

    `program` is an .axon file, the name of a zoo program, or a checkpoint, which stands for the program that
    fits it. With a `checkpoint`, shapes are held against its header; no weight is read. With `strict`, warnings
    count as errors.
    """
    asked = request(overlays=overlays, main=main)
    asked.strict = strict
    lines = _native.check(asked, os.fspath(program), os.fspath(checkpoint))
    return [diagnostic(line) for line in lines]


def compile(
    program: str | os.PathLike[str],
    *,
    target: str = "torch",
    out: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] = "",
    overlays: Sequence[str] = (),
    main: str = "",
    force: bool = False,
) -> str:
    """The source of a standalone module; written to `out` where that is given.

    `program` is a checkpoint, or an .axon file or zoo program with a `checkpoint`. A file that is there is
    written over with `force` alone.
    """
    place = None if out is None else pathlib.Path(out)
    if place and place.exists() and not force:
        raise UsageError(f"`{place}` is there already", "USE-VALUE", "use force=True")
    asked = request(overlays=overlays, main=main)
    words = ["axon", "compile", pathlib.PurePath(program).name]
    if checkpoint:
        words += ["--checkpoint", pathlib.PurePath(checkpoint).name]
    words += ["--target", target, "-o", place.name if place else "model.py"]
    paths = os.fspath(program), os.fspath(checkpoint)
    source = _native.compile(asked, *paths, target, " ".join(words))
    if place:
        part = place.with_name(f"{place.name}.part")
        part.write_text(source, encoding="utf-8")
        part.replace(place)
    return source
