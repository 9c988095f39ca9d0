"""The targets by name, and the packages that each needs; uses the standard library alone."""

import dataclasses
import importlib.util


@dataclasses.dataclass(frozen=True)
class Kind:
    """A target's module here, and the packages that it needs."""

    module: str
    needs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ("causal", "encoder", "seq2seq")  # kinds of families


KINDS = {
    "native": Kind("native"),
    "torch": Kind("torch_target", ("torch",)),
    "jax": Kind("jax_target", ("jax",)),
}
# What the oracle needs, whatever is compared with it.
ORACLE = ("torch", "transformers", "safetensors", "numpy")


def missing(names: list[str]) -> list[str]:
    """Packages that are not installed and that these targets or the oracle need."""
    needs = [*ORACLE, *(need for name in names for need in KINDS[name].needs)]
    found = [name for name in needs if importlib.util.find_spec(name) is None]
    return list(dict.fromkeys(found))
