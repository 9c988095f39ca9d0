"""The tree of parameters: nested dicts under the names of the checkpoint."""

from typing import Any, NamedTuple

Params = dict[str, Any]


class Stored(NamedTuple):
    """A parameter's shape here; in the checkpoint, `turned` ones have their axes reversed."""

    shape: tuple[int, ...]
    turned: bool = False


def dense(
    inputs: int, outputs: int, bias: bool = True, turned: bool = True
) -> dict[str, Stored]:
    """A linear layer: its weight is [in, out] here and mostly stored [out, in]."""
    weight = {"weight": Stored((inputs, outputs), turned)}
    return weight | {"bias": Stored((outputs,))} if bias else weight


def scale(size: int, bias: bool = False) -> dict[str, Stored]:
    """A normalisation's weight, and its bias where it has one."""
    weight = {"weight": Stored((size,))}
    return weight | {"bias": Stored((size,))} if bias else weight


def table(rows: int, width: int) -> dict[str, Stored]:
    """Vectors that are looked up by number."""
    return {"weight": Stored((rows, width))}
