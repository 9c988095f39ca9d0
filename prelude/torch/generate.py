"""Generation with a cache: greedy or by sampling, rows padded on the left."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .cache import Cache


class Sampling(NamedTuple):
    """How the next token is drawn from logits."""

    temperature: float
    top_k: int
    top_p: float
    generator: torch.Generator | None

    def pick(self, logits: Tensor) -> Tensor:
        """The likeliest token of each row, or one drawn: [B, V] -> [B]."""
        if self.temperature <= 0:
            return logits.argmax(-1)
        logits = logits.float() / self.temperature
        if self.top_k > 0:
            least = logits.topk(min(self.top_k, logits.shape[-1])).values[:, -1:]
            logits = logits.masked_fill(logits < least, float("-inf"))
        weights = logits.softmax(-1)
        if self.top_p < 1.0:
            ranked, order = weights.sort(-1, descending=True)
            ranked = ranked * (ranked.cumsum(-1) - ranked <= self.top_p)
            weights = torch.zeros_like(weights).scatter(-1, order, ranked)
        return torch.multinomial(weights, 1, generator=self.generator)[:, 0]


def generate(
    model: Callable[..., Any],
    cache: Cache,
    ids: Tensor,
    mask: Tensor | None,
    count: int,
    ends: int | Sequence[int] | None,
    pad: int | None,
    sampling: Sampling,
) -> Tensor:
    """Appends up to `count` tokens to `ids` [B, S]; ended rows get the padding token."""
    rows, prompt = ids.shape
    if ids.numel() == 0:
        raise ValueError(f"the prompt is {rows}x{prompt}, needs a row and a token")
    if mask is not None and mask.shape != ids.shape:
        raise ValueError(f"the mask is {tuple(mask.shape)}, the prompt {rows}x{prompt}")
    if count < 0:
        raise ValueError(f"{count} new tokens, needs 0 or more")
    if not 0 <= sampling.top_p <= 1:
        raise ValueError(f"top_p is {sampling.top_p}, needs 0 to 1")
    stops = torch.as_tensor(() if ends is None else ends, device=ids.device).ravel()
    if pad is None:
        pad = int(stops[0]) if len(stops) else 0
    out = ids.new_full((rows, prompt + count), pad)
    out[:, :prompt] = ids
    if mask is not None:  # as wide as the cache from the start: new tokens are real
        mask = torch.cat((mask.bool(), mask.new_ones((rows, count)).bool()), 1)
    running = torch.ones(rows, dtype=torch.bool, device=ids.device)
    for place in range(prompt, prompt + count):
        logits = model(ids, mask, cache, last=1)[0]
        token = torch.where(running, sampling.pick(logits[:, -1]), pad)
        out[:, place] = token
        ids = token[:, None]
        if len(stops):
            running = running & ~torch.isin(token, stops)
            if not running.any():
                return out[:, : place + 1]
    return out
