#!/usr/bin/env python3
"""Counts lines of emitted modules beside Transformers: run_lines.py AXON [FAMILY[-VARIANT] ...].

Lines of code: no blank ones, comments or docstrings. Of an emitted file all lines, and those of its module classes,
without the helpers that load, keep caches and generate; of Transformers the classes and functions of the model's
own source file that the checkpoint's class reaches, where all of that is inherited. The last line says how many
models are as short as they should be.
"""

import ast
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from binary import Failure  # noqa: E402 first: it says where axon_verify is
from checkpoints import made, source_of  # noqa: E402
from emit_alone import text_faults  # noqa: E402
from run_families import chosen  # noqa: E402


def code_lines(source: str) -> int:
    """Lines that are neither blank nor a comment nor of a docstring."""
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        number not in texts and not line.strip().startswith("#") and bool(line.strip())
        for number, line in enumerate(source.splitlines(), 1)
    )


def mentioned(thing: object) -> list[str]:
    """Names that a definition mentions."""
    tree = ast.parse(inspect.getsource(thing))
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def reached(start: type) -> int:
    """Lines of the classes and functions of its own file that a class reaches, itself among them."""
    lines = 0
    seen: set[int] = set()
    waiting: list[object] = [start]
    while waiting:
        thing = waiting.pop()
        defined = inspect.isclass(thing) or isinstance(thing, types.FunctionType)
        if not defined or thing.__module__ != start.__module__ or id(thing) in seen:
            continue
        seen.add(id(thing))
        lines += code_lines(inspect.getsource(thing))
        names = vars(sys.modules[start.__module__])
        waiting += [names.get(name) for name in mentioned(thing)]
    return lines


def emitted(axon: str, folder: pathlib.Path) -> str:
    """The PyTorch module of a checkpoint."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "model.py"
        command = [axon, "compile", folder, "--target", "torch", "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"compile: {done.stderr.strip()}")
        return out.read_text(encoding="utf-8")


def own_lines(text: str) -> int:
    """Lines of the classes that are modules of the model."""
    count = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and any(
            ast.unparse(base) == "nn.Module" for base in node.bases
        ):
            lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
            count += code_lines("\n".join(lines))
    return count


def main() -> int:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from axon_verify.oracle import class_of

    axon, *names = sys.argv[1:]
    row = "{:24} {:>6} {:>8} {:>13}  {}"
    print(row.format("model", "file", "classes", "transformers", ""))
    right = wrong = 0
    for family, variant in chosen(set(names), False):
        folder = made(family, variant)
        text = emitted(axon, folder)
        classes, theirs = own_lines(text), reached(class_of(source_of(folder)))
        faults = text_faults(text)
        if classes >= theirs:
            faults.append("its classes are no shorter")
        said = "; ".join(faults) or "ok"
        print(row.format(folder.name, code_lines(text), classes, theirs, said))
        right, wrong = right + (not faults), wrong + bool(faults)
    print(f"{right} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
