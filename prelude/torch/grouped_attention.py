"""Attention of heads that share keys and values."""

import torch.nn.functional as F
from torch import Tensor

from .causal_blocks import causal_blocks, suits_blocks


def grouped_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    keep: Tensor | None,
    causal: bool = True,
    scale: float | None = None,
) -> Tensor:
    """Heads of `q` [B, H, S, D] share those of `k` and `v`; `causal` where there is no mask.

    Of one query, the heads that share keys are as good as several queries of one head.
    """
    if q.shape[2] == 1 and keep is not None:
        heads = q.reshape(q.shape[0], k.shape[1], -1, q.shape[3])
        x = F.scaled_dot_product_attention(heads, k, v, attn_mask=keep, scale=scale)
        return x.reshape(*q.shape[:3], -1)
    if causal and keep is None and suits_blocks(q, k):
        return causal_blocks(q, k, v, scale)
    return F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=keep,
        is_causal=causal and keep is None,
        scale=scale,
        enable_gqa=True,
    )
