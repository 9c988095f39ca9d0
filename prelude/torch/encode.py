"""What modules of lists compute once for many calls."""

from typing import Any

import torch
from torch import Tensor, nn


def encode(module: nn.Module | Tensor, *given: Any) -> Any:
    """What the module's own `encode` gives; the type of a list's elements has no such method."""
    made = getattr(module, "encode")(*given)
    # A region that is compiled once may not be given two views of one tensor.
    if isinstance(made, tuple) and torch.compiler.is_compiling():
        return tuple(y.clone() if isinstance(y, Tensor) else y for y in made)
    return made
