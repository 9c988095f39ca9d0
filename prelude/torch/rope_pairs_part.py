"""Rotary positions on neighbouring elements of the first part of each head."""

import torch
from torch import Tensor

from .rope_pairs import rope_pairs


def rope_pairs_part(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns the first elements of each head, as many as there are sines: [B, H, S, D]."""
    width = sin.shape[-1]
    return torch.cat((rope_pairs(x[..., :width], sin, cos), x[..., width:]), -1)
