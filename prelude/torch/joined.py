"""Linear layers that read one tensor."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .linear_part import LinearPart, linear_of
from .pack_linears import packed


def joined(x: Tensor, *layers: nn.Module) -> Sequence[Tensor]:
    """What each of the layers makes of `x`: one product where `join_linears` has joined them."""
    first = layers[0]
    if isinstance(first, LinearPart):
        return first.whole(x).split(first.sizes, -1)
    return [layer(x) for layer in layers]


def join_linears(
    model: nn.Module, rows: int, kind: type[nn.Module], *names: str
) -> None:
    """Makes the layers of these names one packed layer, in every module of class `kind`."""
    for module in [part for part in model.modules() if type(part) is kind]:
        layers = [module.get_submodule(name) for name in names]
        plain = [layer for layer in layers if type(layer) is nn.Linear]
        if len(plain) < len(names):
            continue
        bias = None
        if plain[0].bias is not None:
            bias = torch.cat([layer.bias for layer in plain])
        weight = torch.cat([layer.weight for layer in plain])
        whole = packed(linear_of(weight, bias), rows)
        sizes = [layer.out_features for layer in plain]
        for index, name in enumerate(names):
            module.set_submodule(name, LinearPart(whole, sizes, index))
