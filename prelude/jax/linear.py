"""A linear layer."""

import jax.numpy as jnp
from jax import Array


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x @ weight + bias: [..., in] -> [..., out]."""
    # Of half precision XLA's fast products on processors give float32, of two rows or more.
    alone = x.dtype != jnp.float32 and x.size == x.shape[-1] and x.ndim > 1
    rows = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (0, 0)]) if alone else x
    wide = jnp.matmul(rows, weight, preferred_element_type=jnp.float32)
    y = wide[..., :1, :] if alone else wide
    return (y if bias is None else y + bias).astype(jnp.result_type(x, weight))
