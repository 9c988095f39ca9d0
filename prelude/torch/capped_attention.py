"""Attention whose scores are held within limits."""

import torch
from torch import Tensor


def capped_attention(
    q: Tensor, k: Tensor, v: Tensor, keep: Tensor, scale: float, cap: float
) -> Tensor:
    """Scores within -cap … cap; heads of `q` share those of `k`: [B, H, S, D]."""
    shared = q.unflatten(1, (k.shape[1], -1))
    scores = cap * torch.tanh(shared @ k[:, :, None].mT * (scale / cap))
    seen = keep[:, None]
    least = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~seen, least).softmax(-1).masked_fill(~seen, 0)
    return (weights @ v[:, :, None]).flatten(1, 2)
