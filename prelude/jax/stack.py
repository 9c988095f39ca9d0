"""Layers as one tree with a leading axis, as `lax.scan` takes them."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from .params import Params


def stack(layers: Sequence[Params]) -> Params:
    """Each parameter of all layers as one array."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)
