"""Models that encode a source once for many calls of a decoder."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class EncoderDecoder(nn.Module):
    """A module with `encode` beside `forward`: `compile` is for both."""

    encode: Callable[..., Any]

    def compile(self, *args: Any, **options: Any) -> None:
        """Compiles `forward`, and `encode` for calls of it alone."""
        super().compile(*args, **options)
        self.encode = torch.compile(self.encode, *args, **options)

    def __getstate__(self) -> dict[str, Any]:
        """Copies start with nothing compiled, as those of other modules do."""
        state: dict[str, Any] = super().__getstate__()
        state.pop("encode", None)
        return state
