"""Rotary positions on the two halves of each head, with sines that carry the sign."""

import torch
from torch import Tensor


def rope(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns element i with element i + D / 2 by the angles of its position: [B, H, S, D].

    The first half of `sin` is negated, which saves negating half of every `x`.
    """
    swapped = x.roll(x.shape[-1] // 2, -1)
    return torch.addcmul(x * cos.to(x.dtype), swapped, sin.to(x.dtype))
