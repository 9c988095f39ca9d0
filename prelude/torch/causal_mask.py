"""Which keys each query sees in a causal model, always as a tensor."""

import torch
from torch import Tensor


def causal_mask(
    slots: Tensor, count: int, real: Tensor | None, window: int | None = None
) -> Tensor:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    behind = slots[:, None] - torch.arange(count, device=slots.device)
    keep = behind >= 0 if window is None else (behind >= 0) & (behind < window)
    return keep[None, None] if real is None else keep & real[:, None, None, :]
