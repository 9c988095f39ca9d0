"""A linear layer."""

from jax import Array


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x @ weight + bias: [..., in] -> [..., out]."""
    y = x @ weight
    return y if bias is None else y + bias
