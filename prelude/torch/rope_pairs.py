"""Rotary positions on neighbouring elements of each head."""

import torch
from torch import Tensor


def rope_pairs(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns element 2i with element 2i + 1 by the angles of its position: [B, H, S, D]."""
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cos.to(x.dtype) + turned * sin.to(x.dtype)
