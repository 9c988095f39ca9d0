"""The emitted JAX functions as a side of the comparison: jax_worker.py FOLDER --axon AXON, commands as in torch_worker.py."""

import argparse
import contextlib
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

NEW_TOKENS, T5_TOKENS, PROMPT = 128, 64, 16
DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}


def emitted(axon: str, folder: pathlib.Path) -> ModuleType:
    """The emitted file as a module."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "model.py"
        command = [axon, "compile", folder, "--target", "jax", "-o", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        spec = importlib.util.spec_from_file_location("emitted", out)
        module = sys.modules["emitted"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def random_ids(rows: int, width: int) -> jax.Array:
    """Ids in the range of the other side's."""
    draw = np.random.default_rng(rows * 10007 + width)
    return jnp.asarray(draw.integers(10, 8000, (rows, width)), jnp.int32)


class Side:
    """Calls of the emitted functions; each has been waited for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.module = emitted(args.axon, args.folder)
        self.dtype = DTYPES[args.dtype]
        self.params, _ = self.module.load(args.folder, self.dtype)
        self.forward = jax.jit(self.module.forward)

    def prefill(self, width: int) -> Callable:
        ids = random_ids(1, width)

        def call() -> object:
            cache = self.module.init_cache(1, width + 128, self.dtype)
            return self.module.compiled(self.params, ids, past_kv=cache, last=1)

        return call

    def decode(self, rows: int) -> Callable:
        ids = random_ids(rows, PROMPT)
        count = NEW_TOKENS
        return lambda: self.module.generate(self.params, ids, max_new_tokens=count)

    def encode(self, rows: int, width: int) -> Callable:
        ids = random_ids(rows, width)
        return lambda: self.forward(self.params, ids)

    def seq2seq(self) -> Callable:
        ids, start = random_ids(1, 64), random_ids(1, T5_TOKENS)
        return lambda: self.forward(self.params, ids, decoder_input_ids=start)

    def seq2seq_tokens(self) -> Callable:
        ids, count = random_ids(1, 64), T5_TOKENS
        return lambda: self.module.generate(self.params, ids, max_new_tokens=count)


TESTS: dict[str, Callable[[Side], Callable]] = {
    "prefill 512": lambda side: side.prefill(512),
    "decode 1": lambda side: side.decode(1),
    "decode 4": lambda side: side.decode(4),
    "forward 1x16": lambda side: side.encode(1, 16),
    "forward 1x128": lambda side: side.encode(1, 128),
    "forward 32x128": lambda side: side.encode(32, 128),
    "t5 forward": lambda side: side.seq2seq(),
    "t5 tokens": lambda side: side.seq2seq_tokens(),
}


def milliseconds(action: Callable) -> float:
    """One call."""
    begin = time.perf_counter()
    jax.block_until_ready(action())
    return (time.perf_counter() - begin) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--axon", required=True)
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    args = parser.parse_args()
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        side = Side(args)
        ready: dict[str, Callable] = {}
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            command, test = line.strip().split(" ", 1)
            if command == "prepare":
                ready[test] = TESTS[test](side)
            print(milliseconds(ready[test]), file=answers, flush=True)


if __name__ == "__main__":
    main()
