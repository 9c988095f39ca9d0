"""Rotary positions on the two halves of each head."""

import torch
from torch import Tensor


def rope(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns element i with element i + D / 2 by the angles of its position: [B, H, S, D]."""
    first, second = x.chunk(2, -1)
    turned = torch.cat((-second, first), -1)
    return x * cos.to(x.dtype) + turned * sin.to(x.dtype)
