"""A linear layer whose weight is stored [in, out]."""

import math

import torch
from torch import Tensor, nn


class TransposedLinear(nn.Module):
    """x @ weight + bias, with the weight [in, out]."""

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        if self.bias is None:
            return x @ self.weight
        rows = x.reshape(-1, x.shape[-1])
        return torch.addmm(self.bias, rows, self.weight).reshape(*x.shape[:-1], -1)
