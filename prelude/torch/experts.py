"""Modules of one form, of which every row of a tensor goes through the one chosen for it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def by_expert(
    call: Callable[[int, Tensor], Tensor], count: int, rows: Tensor, numbers: Tensor
) -> Tensor:
    """Rows [N, D] through `call(number, rows)`, each for its own of the `count` numbers [N]."""
    if (
        torch.compiler.is_compiling()
    ):  # every expert on every row: sizes must not depend on data
        out = call(0, rows)
        for number in range(1, count):
            out = torch.where((numbers == number)[:, None], call(number, rows), out)
        return out
    order = numbers.argsort(stable=True)
    sizes = numbers.bincount(minlength=count).tolist()
    parts = rows[order].split(sizes)
    done = torch.cat([call(i, part) for i, part in enumerate(parts) if len(part)])
    return done[order.argsort()]


class Experts(nn.ModuleList):
    """The experts as a list."""

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        """[..., D] and the numbers of experts [...] -> [..., E]."""
        rows, numbers = x.flatten(0, -2), chosen.flatten()
        out = by_expert(lambda i, part: self[i](part), len(self), rows, numbers)
        return out.unflatten(0, chosen.shape)
