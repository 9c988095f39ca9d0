"""What a checkpoint can be run by: the native runtime, and the frameworks that `axon compile` writes for.

A target is an object with
  outputs(inputs)               all outputs of one call, arrays by name; inputs by the program's names
  logits(ids)                   logits of one sequence without a cache: [S,V]
  stepped(ids)                  the same through a cache, in several calls
  decoded(inputs)               outputs for a batch of sources; the decoder goes token by token
  generate(prompts, n, ends)    greedy tokens of one batch, padded on the left; rows stop before end tokens
made by the `load(axon, request, scratch)` of its module.
"""

import dataclasses
import importlib
import importlib.util
import pathlib
import sys

import numpy as np

from axon_verify.command import Axon, Failure
from axon_verify.kinds import KINDS


@dataclasses.dataclass(frozen=True)
class Request:
    """A checkpoint, and options that choose its program."""

    folder: pathlib.Path
    options: tuple[str, ...] = ()


def load(name: str, axon: Axon, request: Request, scratch: pathlib.Path):
    """The target of this name for one checkpoint."""
    module = importlib.import_module(f"axon_verify.{KINDS[name].module}")
    return module.load(axon, request, scratch)


def emitted(
    axon: Axon, request: Request, target: str, scratch: pathlib.Path
) -> pathlib.Path:
    """The file that `axon compile` writes."""
    out = scratch / f"{request.folder.name}_{target}.py"
    words = ("--target", target, "-o", out, "--force", *request.options)
    axon.call("compile", request.folder, *words)
    return out


def load_module(path: pathlib.Path):
    """A source file as a module."""
    name = f"emitted_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Failure(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def batch_of(prompts: list[list[int]], side: str) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask of prompts as one batch, padded on this side."""
    width = max(map(len, prompts))
    ids = np.zeros((len(prompts), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        start = 0 if side == "right" else width - len(prompt)
        ids[row, start : start + len(prompt)] = prompt
        mask[row, start : start + len(prompt)] = 1
    return ids, mask


def cut(rows: list[list[int]], ends: tuple[int, ...]) -> list[list[int]]:
    """Rows up to their first end token, without it."""
    stops = [next((i for i, x in enumerate(row) if x in ends), None) for row in rows]
    return [row[:stop] for row, stop in zip(rows, stops)]
