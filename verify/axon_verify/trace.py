"""Finds the first value inside of a model that differs from Transformers'.

Compared are the values at parameter paths: what a linear layer, a norm or a table gives. They have the same
meaning in any program for the checkpoint, because parameters have the same names; what lies between two of
them, a program may compute in its own way. The native runtime gives them with their source lines, for one
call without fusion; an emitted module by hooks on its modules. Of emitted functions only the results are seen:
the native values stand in for what is inside.
"""

import dataclasses

import numpy as np
import torch
from torch import nn

from axon_verify.command import Axon
from axon_verify.native import Native
from axon_verify.targets import Request


@dataclasses.dataclass
class Value:
    """A value at a parameter path."""

    path: str
    array: np.ndarray
    line: str = ""  # FILE:LINE of the program


@dataclasses.dataclass
class Trace:
    """Where two models part."""

    compared: int
    last_equal: Value | None
    first_different: Value | None
    off: float = 0.0
    place: tuple[int, ...] = ()
    native: bool = False  # the values are not the target's own: functions show none

    def json(self) -> dict:
        """The object under `trace` of `axon verify --json`."""
        different = named(self.first_different)
        if different:
            different |= {"off": self.off, "place": list(self.place)}
        return {
            "compared": self.compared,
            "native": self.native,
            "last_equal": named(self.last_equal),
            "first_different": different,
        }

    def text(self) -> str:
        """The same for people."""
        head = f"{self.compared} values at parameter paths compared"
        if self.native:
            head += " natively, as functions show none inside"
        if not self.first_different:
            where = "after the last of them"
            if self.native:
                where += ", or in the emitted functions alone: see --target native"
            return f"{head}: all agree, so what differs comes {where}"
        lines = [head]
        if self.last_equal:
            lines.append(f"  agrees   {shown(self.last_equal)}")
        place = ",".join(map(str, self.place))
        lines.append(
            f"  differs  {shown(self.first_different)}: by {self.off:.3g} at [{place}]"
        )
        return "\n".join(lines)


def named(value: Value | None) -> dict | None:
    """A value by its path and line."""
    return value and {"path": value.path, "line": value.line or None}


def shown(value: Value) -> str:
    """A value by its line and path."""
    return f"{value.line}  {value.path}" if value.line else value.path


def hooked(model: nn.Module, call) -> list[Value]:
    """What the modules that own parameters give, in order, the first time each is called."""
    seen: dict[str, np.ndarray] = {}

    def keep(name: str):
        def hook(_module, _given, out) -> None:
            if isinstance(out, torch.Tensor) and name not in seen:
                seen[name] = out.detach().numpy().copy()

        return hook

    handles = [
        module.register_forward_hook(keep(name))
        for name, module in model.named_modules()
        if list(module.parameters(recurse=False))
    ]
    with torch.no_grad():
        call()
    for handle in handles:
        handle.remove()
    return [Value(name, array) for name, array in seen.items()]


def native_values(
    axon: Axon, request: Request, inputs: dict[str, np.ndarray]
) -> list[Value]:
    """The values that `axon forward --trace` adds to the outputs."""
    words = ("--trace", *request.options)
    outputs = axon.forward(request.folder, inputs, *words)
    found = []
    for name, array in outputs.items():
        if name.startswith("trace."):
            number, _, rest = name.removeprefix("trace.").partition(".")
            path, _, line = rest.partition("@")
            found.append((int(number), Value(path, array, line)))
    return [value for _, value in sorted(found, key=lambda item: item[0])]


def same_path(ours: str, theirs: str) -> bool:
    """Whether two names are one, but for a leading part that a class adds."""
    return ours == theirs or theirs.endswith(f".{ours}") or ours.endswith(f".{theirs}")


def compare(ours: list[Value], theirs: list[Value], tolerance: float) -> Trace:
    """The first of our values that differs, where theirs has one of that path and size."""
    trace = Trace(0, None, None)
    for value in ours:
        match = [x for x in theirs if same_path(value.path, x.path)]
        if len(match) != 1 or match[0].array.size != value.array.size:
            continue
        want = match[0].array
        found = value.array.reshape(want.shape)
        off = np.abs(found - want)
        trace.compared += 1
        if np.isfinite(found).all() and off.max() <= tolerance * max(1.0, want.std()):
            trace.last_equal = value
            continue
        place = np.unravel_index(
            int(np.nan_to_num(off, nan=np.inf).argmax()), off.shape
        )
        trace.first_different = value
        trace.off, trace.place = float(off[place]), tuple(int(i) for i in place)
        break
    return trace


def lines_of(values: list[Value], lines: list[Value]) -> list[Value]:
    """Values with the lines that the native trace knows of their paths."""
    known = {value.path: value.line for value in lines}
    for value in values:
        value.line = known.get(value.path, "")
    return values


def find(
    axon: Axon,
    request: Request,
    target,
    library: nn.Module,
    inputs: dict[str, np.ndarray],
    tolerance: float,
) -> Trace:
    """Where a target's values part from the library's, for one call."""
    names = {"attn_mask": "attention_mask"}
    asked = {names.get(name, name): torch.from_numpy(x) for name, x in inputs.items()}
    theirs = hooked(library, lambda: library(**asked))
    ours = native_values(axon, request, inputs)
    model = getattr(target, "model", None)
    if isinstance(model, nn.Module):
        ours = lines_of(hooked(model, lambda: target.outputs(inputs)), ours)
    found = compare(ours, theirs, tolerance)
    found.native = model is None and not isinstance(target, Native)
    return found
