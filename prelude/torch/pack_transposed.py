"""Packs layers whose weights are stored [in, out]."""

from torch import nn

from .linear_part import LinearPart, linear_of
from .pack_linears import packed
from .transposed_linear import TransposedLinear


def pack_transposed(model: nn.Module, rows: int) -> None:
    """Replaces them as `pack_linears` does others."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if not isinstance(child, TransposedLinear):
                continue
            linear = linear_of(child.weight.T, child.bias)
            whole = packed(linear, rows)
            if whole is not linear:
                sizes = [child.weight.shape[1]]
                setattr(module, name, LinearPart(whole, sizes, 0, turned=True))
