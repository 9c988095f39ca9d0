"""Logits from the table of an embedding."""

import torch
import torch.nn.functional as F
from torch import Tensor


def tied_linear(x: Tensor, table: Tensor) -> Tensor:
    """x @ table.T: [..., in] -> [..., out], with oneDNN for many rows where a table is packed."""
    packed = not (table.is_contiguous() or torch.compiler.is_compiling())
    if packed and x.numel() > x.shape[-1]:
        return torch.ops.mkldnn._linear_pointwise(x, table, None, "none", [], "")
    return F.linear(x, table)
