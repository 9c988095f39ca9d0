#!/usr/bin/env python3
"""Checks emitted JAX files against saved results: emit_jax_checks.py JOBS.json CACHE.

Runs where there is JAX, NumPy and safetensors and nothing else. JOBS.json is a list of {"name", "kind",
"folder", "source", "scan", "want", "parts"}: the checkpoint, the file, the file with scanned layers or
null, the expected arrays, and which checks are wanted. The last line says how many passed and failed.
"""

import importlib.util
import inspect
import json
import pathlib
import re
import sys
from collections.abc import Callable
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from safetensors import safe_open

LOGITS = 1e-4
GRADIENTS = 1e-4  # relative
NEAR_TIE = 1e-3
NEW_TOKENS = 32
NO_END = (-1, -2)
MASKS = ("attn_mask", "attention_mask")


class Failure(Exception):
    """A check that did not hold."""


def near(found: jax.Array, want: np.ndarray, tolerance: float, what: str) -> None:
    """Fails unless every element is within the tolerance."""
    if found.shape != want.shape:
        raise Failure(f"{what}: shape {found.shape}, expected {want.shape}")
    worst = np.abs(np.asarray(found, np.float32) - np.asarray(want)).max(initial=0)
    if not worst <= tolerance:
        raise Failure(f"{what}: differs by {worst:.3g}, allowed {tolerance:.3g}")


def same(found: object, want: object, what: str) -> None:
    """Fails unless the two are equal."""
    if found != want:
        raise Failure(f"{what}: saw {found}, expected {want}")


def module_of(path: str) -> ModuleType:
    """The file as a module of its own name."""
    name = "emitted_" + re.sub(r"\W", "_", path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def first(result: object) -> jax.Array:
    """The first of several results, or the one."""
    return result if isinstance(result, jax.Array) else result[0]  # type: ignore


class Model:
    """A file, its parameters and what is expected of it."""

    def __init__(self, job: dict, source: str) -> None:
        self.job = job
        self.module = module_of(source)
        self.params, self.unread = self.module.load(job["folder"])
        self.want = np.load(job["want"])
        self.inputs = list(inspect.signature(self.module.forward).parameters)
        self.mask = next(name for name in MASKS if name in self.inputs)
        self.call = jax.jit(self.module.forward)

    def logits(self, ids: np.ndarray, **inputs: np.ndarray) -> jax.Array:
        mask = inputs.pop("mask", None)
        given = {} if mask is None else {self.mask: mask}
        return first(self.call(self.params, ids, **given, **inputs))

    def decoded(self) -> dict[str, np.ndarray]:
        """Tokens of the decoder, where there is one."""
        name = "decoder_input_ids"
        return {name: self.want[name]} if name in self.want else {}

    def prompts(self) -> list[np.ndarray]:
        return [self.want[f"prompt.{number}"] for number in range(3)]

    def generate(self, ids: np.ndarray, mask: np.ndarray | None = None, **options):
        """What follows the prompt."""
        given = {} if mask is None else {self.mask: mask}
        options = {"max_new_tokens": NEW_TOKENS, "eos_token_id": NO_END} | options
        out = self.module.generate(self.params, jnp.array(ids), **given, **options)
        return np.asarray(out)[:, ids.shape[1] :]


# ---- checks ----------------------------------------------------------------------------------


def check_names(model: Model) -> None:
    """Parameters have the checkpoint's names; the others are listed as not read."""
    stored: set[str] = set()
    for path in pathlib.Path(model.job["folder"]).glob("*.safetensors"):
        with safe_open(path, "numpy") as file:
            stored |= set(file.keys())
    present = {model.module.present_name(name): name for name in stored}
    leaves = jax.tree_util.tree_flatten_with_path(model.params)[0]
    keys = {model.module.leaf_name(path) for path, _ in leaves}
    same(keys - present.keys(), set(), "parameters without a stored tensor")
    unread = {present[name] for name in present.keys() - keys}
    same(set(model.unread), unread, "tensors that are not read")


def check_logits(model: Model) -> None:
    """Two prompts, one longer than any window."""
    for number in (0, 1):
        prompt = model.want[f"prompt.{number}"]
        near(
            model.logits(prompt[None])[0],
            model.want[f"logits.{number}"],
            LOGITS,
            f"prompt of {len(prompt)}",
        )


def check_states(model: Model) -> None:
    """An encoder's batch with padding, and a row without a mask."""
    want = model.want
    extra = {n: want[n] for n in ("token_type_ids",) if n in want}
    mask = want["attention_mask"]
    found = np.asarray(model.logits(want["input_ids"], mask=mask, **extra))
    near(found[mask == 1], want["states"][mask == 1], LOGITS, "batch")
    near(model.logits(want["alone.ids"]), want["alone"], LOGITS, "row")


def check_answers(model: Model) -> None:
    """Logits for a source; with it encoded once, in several calls of the decoder, the same."""
    ids, want = model.want["grad_ids"], model.want["logits"]
    tokens = model.want["decoder_input_ids"]
    near(model.logits(ids, decoder_input_ids=tokens), want, LOGITS, "logits")
    encoded = model.module.compiled_encode(model.params, ids)
    cache, seen = model.module.init_cache(1, 61), []
    for place in range(tokens.shape[1]):
        now = {"decoder_input_ids": tokens[:, place : place + 1], "encoded": encoded}
        out = model.module.compiled(model.params, ids, **now, past_kv=cache)
        cache = out.new_kv
        seen.append(out.logits)
    near(jnp.concatenate(seen, 1), want, LOGITS, "calls with a cache")
    sizes = [
        f._cache_size() for f in (model.module.compiled, model.module.compiled_encode)
    ]
    same(sizes, [2, 1], "compilations of the decoder and of the encoder")


def check_tokens(found: np.ndarray, model: Model, number: int) -> None:
    """The library's tokens, up to a near tie."""
    want = model.want[f"tokens.{number}"]
    for place, (seen, token) in enumerate(zip(found, want, strict=True)):
        if seen == token:
            continue
        if model.want[f"gaps.{number}"][place] >= NEAR_TIE:
            raise Failure(f"prompt {number} token {place}: {seen}, expected {token}")
        return


def check_cached(model: Model) -> None:
    """A prompt in two calls, and its second half token by token, with one compilation for all."""
    prompt, want = model.prompts()[1], model.want["logits.1"]
    half = len(prompt) // 2
    compiled = model.module.compiled
    for parts in ([half, len(prompt)], list(range(half, len(prompt) + 1))):
        cache, start, seen = model.module.init_cache(1, 61), 0, []
        for end in parts:
            out = compiled(model.params, prompt[None, start:end], past_kv=cache)
            cache, start = out.new_kv, end
            seen.append(out.logits[0])
        near(jnp.concatenate(seen), want, LOGITS, f"{len(parts)} calls")
    same(compiled._cache_size(), 3, "compilations for a start, a second part, a token")


def check_compilations(model: Model) -> None:
    """One for the prompt and one for 64 tokens, whatever the prompt and how many tokens are asked."""
    module, prompt = model.module, jnp.array(model.prompts()[0][None])
    stages = (module.read_prompt, module.append_tokens)
    before = [stage._cache_size() for stage in stages]
    for ids in (prompt, prompt[:, ::-1]):
        model.generate(ids, max_new_tokens=64)
    after = [stage._cache_size() for stage in stages]
    same([b - a for a, b in zip(before, after)], [1, 1], "compilations of 64 tokens")
    cache, size = module.init_cache(1, 96), module.compiled._cache_size()
    out = module.compiled(model.params, prompt, past_kv=cache, last=1)
    for _ in range(64):
        token = out.logits[:, -1].argmax(-1)[:, None]
        out = module.compiled(model.params, token, past_kv=out.new_kv, last=1)
    same(module.compiled._cache_size() - size, 2, "compilations of single calls")


def check_donated(model: Model) -> None:
    """The cache given is used up: its memory holds the new one."""
    cache = model.module.init_cache(1, 61)
    prompt = model.prompts()[0][None]
    out = model.module.compiled(model.params, prompt, past_kv=cache)
    used = [leaf.is_deleted() for leaf in jax.tree.leaves(cache.layers)]
    same(all(used), True, "stores given are used up")
    same(int(out.new_kv.length), prompt.shape[1], "positions in the cache")


def flat(model: Model, tree: dict) -> dict[str, np.ndarray]:
    """Gradients under the checkpoint's names, in the shapes stored there."""
    kinds = jax.tree_util.tree_flatten_with_path(
        model.module.shapes(), is_leaf=lambda n: isinstance(n, model.module.Stored)
    )[0]
    turned = {model.module.leaf_name(path): leaf.turned for path, leaf in kinds}
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    named = {model.module.leaf_name(path): np.asarray(leaf) for path, leaf in leaves}
    return {name: leaf.T if turned[name] else leaf for name, leaf in named.items()}


def check_gradients(model: Model, scanned: Model | None = None) -> None:
    """`jax.grad` of a weighted mean, parameter by parameter; through the stacks of a scan if there is one."""
    ids, weight = model.want["grad_ids"], model.want["grad_weight"]

    def loss(params: dict) -> jax.Array:
        module = model.module
        if scanned:
            module, params = scanned.module, scanned.module.stack_layers(params)
        out = first(module.forward(params, ids, **model.decoded()))
        return (out * weight).mean()

    found = flat(model, jax.jit(jax.grad(loss))(model.params))
    compared = 0
    for name, grad in found.items():
        if f"grad.{name}" not in model.want:
            continue
        want = model.want[f"grad.{name}"]
        near(grad, want, GRADIENTS * np.abs(want).max() + 1e-8, f"gradient of {name}")
        compared += 1
    if compared < len(found) * 0.9:
        raise Failure(f"compared {compared} gradients of {len(found)}")


def check_half(model: Model) -> None:
    """In bfloat16 everything runs and stays close."""
    params, _ = model.module.load(model.job["folder"], jnp.bfloat16)
    ids = model.want["grad_ids"]
    found = first(model.call(params, ids, **model.decoded()))
    same(found.dtype, jnp.bfloat16, "element type")
    near(found, np.asarray(model.logits(ids, **model.decoded())), 0.5, "bfloat16")
    if hasattr(model.module, "generate"):
        model.module.generate(params, jnp.array(ids), max_new_tokens=3)


def check_sampling(model: Model) -> None:
    """The same key gives the same tokens, another key others; top-k 1 is greedy."""
    ids = model.prompts()[1][None]

    def draw(seed: int, **options: float) -> list[int]:
        sampling = model.module.Sampling(temperature=1.5, **options)
        key = jax.random.key(seed)
        return model.generate(ids, sampling=sampling, key=key)[0].tolist()

    same(draw(1) == draw(1), True, "equal keys give equal tokens")
    same(draw(1) != draw(2), True, "other keys give other tokens")
    greedy = model.generate(ids)[0].tolist()
    same(draw(1, top_k=1), greedy, "tokens with top_k 1")
    same(draw(1, top_p=1e-6), greedy, "tokens with a tiny top_p")


def check_specs(model: Model) -> None:
    """The first rule that matches a whole name decides."""
    split = PartitionSpec(None, "model")
    rules = [(r".*embed.*", split), (r".*weight", PartitionSpec("model"))]
    specs = model.module.partition_specs(model.params, rules)
    leaves = jax.tree_util.tree_flatten_with_path(specs)[0]
    for path, spec in leaves:
        name = model.module.leaf_name(path)
        want = split if "embed" in name else PartitionSpec("model")
        same(spec, want if name.endswith("weight") else PartitionSpec(), name)


def instructions(model: Model) -> int:
    """How many instructions a call is compiled from."""
    ids = model.want["grad_ids"]
    return model.call.lower(model.params, ids, **model.decoded()).as_text().count(" = ")


def check_scan(model: Model) -> None:
    """Stacked layers give what the list of them gives, with fewer instructions."""
    scanned = Model(model.job, model.job["scan"])
    want = model.want
    if "alone" in want:
        near(scanned.logits(want["alone.ids"]), want["alone"], LOGITS, "row")
    elif "decoder_input_ids" in want:
        check_answers(scanned)
        tokens = [m.generate(want["grad_ids"]).tolist() for m in (scanned, model)]
        same(tokens[0], tokens[1], "tokens")
    else:
        prompt = want["prompt.0"][None]
        near(scanned.logits(prompt)[0], want["logits.0"], LOGITS, "logits")
        check_tokens(scanned.generate(prompt)[0], scanned, 0)
    same(instructions(scanned) < instructions(model), True, "fewer instructions")
    if "gradients" in model.job["parts"]:
        check_gradients(model, scanned)


CHECKS: dict[str, Callable[[Model], None]] = {
    "names": check_names,
    "logits": check_logits,
    "states": check_states,
    "answers": check_answers,
    "cached calls": check_cached,
    "compilations": check_compilations,
    "donated cache": check_donated,
    "gradients": check_gradients,
    "bfloat16": check_half,
    "sampling": check_sampling,
    "partition specs": check_specs,
    "scanned layers": check_scan,
}


def run(job: dict) -> tuple[int, int]:
    """All wanted checks of one checkpoint: how many passed and failed."""
    passed = failed = 0
    try:
        model = Model(job, job["source"])
    except Exception as error:  # noqa: BLE001
        print(f"FAIL {job['name']}: loading: {error!r}", flush=True)
        return 0, 1
    for part in job["parts"]:
        try:
            CHECKS[part](model)
        except Exception as error:  # noqa: BLE001
            failed += 1
            said = error if isinstance(error, Failure) else repr(error)
            print(f"FAIL {job['name']}: {part}: {said}", flush=True)
        else:
            passed += 1
            print(f"ok   {job['name']}: {part}", flush=True)
    return passed, failed


def main() -> int:
    jobs = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jax.config.update("jax_compilation_cache_dir", sys.argv[2])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    for module in ("torch", "transformers"):
        same(importlib.util.find_spec(module), None, f"{module} in this environment")
    counts = [run(job) for job in jobs]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
