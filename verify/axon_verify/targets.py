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
import pathlib

from axon_verify.command import Axon
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
