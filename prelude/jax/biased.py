"""What attention adds to its scores."""

import jax.numpy as jnp
from jax import Array


def biased(bias: Array, keep: Array | None) -> Array:
    """The bias, and the least number where a key is not seen."""
    return bias if keep is None else jnp.where(keep, bias, jnp.finfo(bias.dtype).min)
