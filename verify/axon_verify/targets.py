"""What a checkpoint can be run by: the native runtime, and the frameworks that `axon compile` writes for.

A target is an object with
  outputs(inputs)               all outputs of one call, arrays by name; inputs by the program's names
  logits(ids)                   logits of one sequence without a cache: [S,V]
  stepped(ids)                  the same through a cache, in several calls
  generate(prompts, n, ends)    greedy tokens of one batch, padded on the left; rows stop before end tokens
made by the `load(axon, request, scratch)` of its module.
"""

import dataclasses
import importlib
import importlib.util
import pathlib

from axon_verify.command import Axon


@dataclasses.dataclass(frozen=True)
class Request:
    """A checkpoint, and options that choose its program."""

    folder: pathlib.Path
    options: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Kind:
    """A target's module here, and the packages that it needs."""

    module: str
    needs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ("causal", "encoder", "seq2seq")  # kinds of families


KINDS = {
    "native": Kind("native"),
    "torch": Kind("torch_target", ("torch",), ("causal", "encoder")),
}
# What the oracle needs, whatever is compared with it.
ORACLE = ("torch", "transformers", "safetensors", "numpy")


def missing(names: list[str]) -> list[str]:
    """Packages that are not installed and that these targets or the oracle need."""
    needs = [*ORACLE, *(need for name in names for need in KINDS[name].needs)]
    found = [name for name in needs if importlib.util.find_spec(name) is None]
    return list(dict.fromkeys(found))


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
