"""Layers that repeat, under `torch.compile`."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def compiled_once(forward: Callable[P, R]) -> Callable[P, R]:
    """One compilation for all layers of a kind; not where gradients are recorded, which PyTorch
    2.13 compiles wrongly for such regions.
    """
    region: Callable[P, R] = torch.compiler.nested_compile_region(forward)

    @wraps(forward)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.is_grad_enabled() or not torch.compiler.is_compiling():
            return forward(*args, **kwargs)
        return region(*args, **kwargs)

    return call
