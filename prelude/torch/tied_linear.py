"""Logits from the table of an embedding."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .linear_part import linear_of
from .pack_linears import BlockedLinear, laid_out, packed


class TiedEmbedding(nn.Module):
    """An embedding whose table makes logits as well, for which it is kept in blocks too."""

    def __init__(self, plain: nn.Embedding) -> None:
        super().__init__()
        self.weight = plain.weight
        self.refresh()
        self.register_load_state_dict_post_hook(TiedEmbedding.refresh)

    def forward(self, ids: Tensor) -> Tensor:
        """[...] -> [..., width]."""
        return F.embedding(ids, self.weight)

    def refresh(self, *_: Any) -> None:
        """Follows the table; in a list the blocks are no part of `state_dict`."""
        self.head = [BlockedLinear(linear_of(self.weight, None))]

    def _apply(self, change: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        super()._apply(change, recurse)
        self.refresh()
        return self


def packed_table(table: nn.Embedding) -> Any:
    """The embedding in the form that suits its element type and device."""
    kind = type(packed(linear_of(table.weight[:1], None), 1))
    if kind is BlockedLinear:
        return TiedEmbedding(table)
    if kind is not nn.Linear:
        table.weight.data = laid_out(table.weight)
    return table


def tied_linear(x: Tensor, table: nn.Embedding) -> Tensor:
    """x @ table.T: [..., in] -> [..., out], with oneDNN where that is faster."""
    weight = table.weight
    if torch.compiler.is_compiling():
        return F.linear(x, weight)
    if isinstance(table, TiedEmbedding):
        return table.head[0](x)
    if weight.is_contiguous() or x.numel() == x.shape[-1] or x.dtype != weight.dtype:
        return F.linear(x, weight)
    return torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")
