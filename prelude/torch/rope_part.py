"""Rotary positions on the first part of each head."""

import torch
from torch import Tensor

from .rope import rope


def rope_part(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns the first elements of each head, as many as there are sines: [B, H, S, D]."""
    width = sin.shape[-1]
    return torch.cat((rope(x[..., :width], sin, cos), x[..., width:]), -1)
