"""Calls of a decoder whose source stays the same."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from .cache import Cache


@dataclass(frozen=True)
class Decoding:
    """A model with its source, as a model of the decoder's tokens."""

    model: nn.Module
    source: dict[str, Any]
    ids: str  # the names of the decoder's inputs
    past: str

    def __call__(self, ids: Tensor, _: Tensor | None, past: Cache, last: int) -> Any:
        """What the model gives for further tokens [B, T]."""
        given = {self.ids: ids, self.past: past, "last": last}
        return self.model(**self.source, **given)
