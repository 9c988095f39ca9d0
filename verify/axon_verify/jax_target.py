"""An emitted file of JAX functions as a target."""

import os
import pathlib
from types import ModuleType

# Without a word from outside, nothing here asks for a GPU's whole memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

from axon_verify.command import Axon
from axon_verify.targets import Request, batch_of, cut, emitted, load_module


class Jax:
    """Calls of one file's functions, arrays in and out."""

    def __init__(self, module: ModuleType, params: dict) -> None:
        self.module = module
        self.params = params
        self.forward = jax.jit(module.forward)
        self.encodes = hasattr(module, "encode")

    def outputs(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All outputs of one call; a lone one has no name."""
        return arrays(self.forward(self.params, **given(inputs)))

    def logits(self, ids: list[int]) -> np.ndarray:
        """Logits of one sequence in one call: [S,V]."""
        found = self.outputs({"input_ids": np.array([ids])})
        return next(iter(found.values()))[0]

    def stepped(self, ids: list[int]) -> np.ndarray:
        """The same, half of the sequence at once and then token by token into the cache."""
        whole = jnp.array([ids], jnp.int32)
        start, seen = 0, []
        cache = self.module.init_cache(1, len(ids) + 3)
        for end in range(max(1, len(ids) // 2), len(ids) + 1):
            out = self.module.compiled(self.params, whole[:, start:end], past_kv=cache)
            cache, start = out.new_kv, end
            seen.append(out.logits[0])
        return np.concatenate(seen)

    def decoded(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The encoder once, then one call for each token of the decoder."""
        source = given(inputs)
        tokens = source.pop("decoder_input_ids")
        encoded = jax.jit(self.module.encode)(self.params, **source)
        cache = self.module.init_cache(tokens.shape[0], tokens.shape[1] + 3)
        seen = []
        for place in range(tokens.shape[1]):
            now = tokens[:, place : place + 1]
            out = self.module.compiled(
                self.params,
                **source,
                decoder_input_ids=now,
                encoded=encoded,
                past_kv=cache,
            )
            cache = out.new_kv
            seen.append(out.logits)
        return {"logits": np.concatenate(seen, 1)}

    def generate(
        self, prompts: list[list[int]], count: int, ends: tuple[int, ...] = ()
    ) -> list[list[int]]:
        """Greedy tokens of one batch, each row up to where an end token came."""
        ids, mask = batch_of(prompts, "right" if self.encodes else "left")
        asked = [jnp.array(x, jnp.int32) for x in (ids, mask)]
        out = self.module.generate(
            self.params,
            *asked[: 1 if len(prompts) == 1 else 2],
            max_new_tokens=count,
            eos_token_id=ends,
            pad_token_id=1,
        )
        # What comes first is the prompt, or the token that a decoder starts from.
        start = 1 if self.encodes else ids.shape[1]
        return cut(np.asarray(out)[:, start:].tolist(), ends)


def given(inputs: dict[str, np.ndarray]) -> dict[str, jax.Array]:
    """Inputs as the functions take them: whole numbers have 32 bits, and real ones too."""
    return {
        name: jnp.asarray(value, jnp.float32 if value.dtype.kind == "f" else jnp.int32)
        for name, value in inputs.items()
    }


def arrays(out) -> dict[str, np.ndarray]:
    """Arrays of a result by name."""
    if isinstance(out, jax.Array):
        return {"": np.asarray(out)}
    named = out._asdict().items()
    return {name: np.asarray(x) for name, x in named if isinstance(x, jax.Array)}


def load(axon: Axon, request: Request, scratch: pathlib.Path) -> Jax:
    """The target for one checkpoint; what was compiled for those before is let go.

    Each compiled function holds memory maps, of which a process may have some ten thousand.
    """
    jax.clear_caches()
    module = load_module(emitted(axon, request, "jax", scratch))
    params, _ = module.load(request.folder)
    return Jax(module, params)
