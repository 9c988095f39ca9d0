"""A norm whose weight is stored less one."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class OffsetRMSNorm(nn.Module):
    """x / rms(x) * (weight + 1), over the last axis."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """[..., width] -> [..., width]."""
        return F.rms_norm(x, self.weight.shape, self.weight + 1.0, self.eps)
