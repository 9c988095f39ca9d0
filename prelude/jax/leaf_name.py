"""Names of parameters by their place in the tree."""

from jax.tree_util import KeyPath, keystr


def leaf_name(path: KeyPath) -> str:
    """The name in the checkpoint: `model.layers.0.mlp.up_proj.weight`."""
    return keystr(path, simple=True, separator=".")
