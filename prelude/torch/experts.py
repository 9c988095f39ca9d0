"""Modules of one form, of which every row of a tensor goes through the one chosen for it."""

import torch
from torch import Tensor, nn


class Experts(nn.ModuleList):
    """Experts as a list; after `pack` as one bank of weights, under the same names."""

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        """[..., D] and the numbers of experts [...] -> [..., E]."""
        rows, numbers = x.flatten(0, -2), chosen.flatten()
        if torch.compiler.is_compiling():
            return self.all_rows(rows, numbers).unflatten(0, chosen.shape)
        parts, places = [], []
        for number, expert in enumerate(self):
            mine = (numbers == number).nonzero()[:, 0]
            parts.append(expert(rows[mine]))
            places.append(mine)
        order = torch.cat(places).argsort()
        return torch.cat(parts)[order].unflatten(0, chosen.shape)

    def all_rows(self, rows: Tensor, numbers: Tensor) -> Tensor:
        """Every expert on every row: no size depends on the data."""
        out = self[0](rows)
        for number, expert in enumerate(self):
            out = torch.where((numbers == number)[:, None], expert(rows), out)
        return out
