"""What modules of lists compute once for many calls."""

from typing import Any

from torch import Tensor, nn


def encode(module: nn.Module | Tensor, *given: Any) -> Any:
    """What the module's own `encode` gives; the type of a list's elements has no such method."""
    return getattr(module, "encode")(*given)
