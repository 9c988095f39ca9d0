"""One side of the comparison in PyTorch: torch_worker.py SIDE FOLDER [--axon AXON] ..., commands on standard input.

SIDE is `axon` (the emitted module) or `transformers` (the class that the configuration names). Commands, one a
line: `prepare TEST` makes a test ready and answers the milliseconds of its first call, `run TEST` answers the
milliseconds of one call, `profile TEST` the share of matrix products and attention in a call.
"""

import argparse
import contextlib
import functools
import importlib.util
import inspect
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F

NEW_TOKENS, T5_TOKENS, PROMPT = 128, 64, 16
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "linear", "dot_product")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def emitted(axon: str, folder: pathlib.Path, dtype: torch.dtype) -> torch.nn.Module:
    """The emitted model with a directory's weights."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "model.py"
        command = [axon, "compile", folder, "--target", "torch", "-o", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        spec = importlib.util.spec_from_file_location("emitted", out)
        module = sys.modules["emitted"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    for _, kind in inspect.getmembers(module, inspect.isclass):
        if hasattr(kind, "from_pretrained"):
            return kind.from_pretrained(folder, dtype=dtype)
    raise SystemExit("the module has no model")


def library(folder: pathlib.Path, dtype: torch.dtype) -> torch.nn.Module:
    """The class of Transformers that the configuration names."""
    import transformers

    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    return getattr(transformers, name).from_pretrained(folder, dtype=dtype).eval()


def random_ids(rows: int, width: int) -> torch.Tensor:
    """The same ids on both sides."""
    generator = torch.Generator().manual_seed(rows * 10007 + width)
    return torch.randint(10, 8000, (rows, width), generator=generator)


def static(compiled: bool) -> dict[str, str]:
    """A compiled peer keeps its cache in place."""
    return {"cache_implementation": "static"} if compiled else {}


class Axon:
    """Calls of the emitted module."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.model = self.loaded() if args.train else self.packed(1)

    def loaded(self) -> torch.nn.Module:
        return emitted(self.args.axon, self.args.folder, DTYPES[self.args.dtype])

    @functools.cache
    def packed(self, rows: int) -> torch.nn.Module:
        model = self.loaded().pack_for_inference(rows)
        if self.args.compile:
            model.compile(dynamic=False)
        return model

    def prefill(self, width: int) -> Callable:
        ids = random_ids(1, width)
        return lambda: self.model(ids, use_cache=True, capacity=width + 128, last=1)

    def decode(self, rows: int) -> Callable:
        ids = random_ids(rows, PROMPT)
        return lambda: self.packed(rows).generate(ids, max_new_tokens=NEW_TOKENS)

    def encode(self, rows: int, width: int) -> Callable:
        ids = random_ids(rows, width)
        return lambda: self.model(ids)

    def seq2seq(self) -> Callable:
        ids, start = random_ids(1, 64), random_ids(1, T5_TOKENS)
        return lambda: self.model(ids, decoder_input_ids=start)

    def seq2seq_tokens(self) -> Callable:
        ids = random_ids(1, 64)
        return lambda: self.model.generate(ids, max_new_tokens=T5_TOKENS)

    def logits(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids).logits


class Transformers:
    """The same calls of the library's class."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.model = library(args.folder, DTYPES[args.dtype])
        self.compiled = args.compile
        if args.compile:
            self.model.compile(dynamic=False)

    def prefill(self, width: int) -> Callable:
        ids = random_ids(1, width)
        return lambda: self.model(ids, use_cache=True, logits_to_keep=1)

    def tokens(self, ids: torch.Tensor, count: int) -> Callable:
        return lambda: self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            **static(self.compiled),
        )

    def decode(self, rows: int) -> Callable:
        return self.tokens(random_ids(rows, PROMPT), NEW_TOKENS)

    def encode(self, rows: int, width: int) -> Callable:
        ids = random_ids(rows, width)
        return lambda: self.model(ids)

    def seq2seq(self) -> Callable:
        ids, start = random_ids(1, 64), random_ids(1, T5_TOKENS)
        return lambda: self.model(ids, decoder_input_ids=start, use_cache=False)

    def seq2seq_tokens(self) -> Callable:
        return self.tokens(random_ids(1, 64), T5_TOKENS)

    def logits(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids, use_cache=False).logits


def training(side: Axon | Transformers) -> Callable:
    """Forward, backward and an AdamW step on 4 x 256 tokens, with the optimizer that is the default of Transformers' trainer."""
    side.model.train()
    optimizer = torch.optim.AdamW(side.model.parameters(), lr=1e-4, fused=True)
    ids = random_ids(4, 257)

    def step() -> None:
        with torch.enable_grad():
            logits = side.logits(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


TESTS: dict[str, Callable[[Axon | Transformers], Callable]] = {
    "prefill 512": lambda side: side.prefill(512),
    "decode 1": lambda side: side.decode(1),
    "decode 4": lambda side: side.decode(4),
    "forward 1x16": lambda side: side.encode(1, 16),
    "forward 1x128": lambda side: side.encode(1, 128),
    "forward 32x128": lambda side: side.encode(32, 128),
    "t5 forward": lambda side: side.seq2seq(),
    "t5 tokens": lambda side: side.seq2seq_tokens(),
    "training step": training,
}


def milliseconds(action: Callable) -> float:
    """One call."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1e3


def product_share(action: Callable) -> float:
    """Self time of matrix products and attention over that of all operations."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    ) as seen:
        action()
    total = products = 0.0
    for event in seen.key_averages():
        total += event.self_cpu_time_total
        if any(
            event.key.removeprefix("aten::").strip("_").startswith(p) for p in PRODUCTS
        ):
            products += event.self_cpu_time_total
        elif "dot_product" in event.key or "mkldnn" in event.key:
            products += event.self_cpu_time_total
    return products / total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("axon", "transformers"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--axon")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--train", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(args.threads)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), torch.no_grad():
        side = (Axon if args.side == "axon" else Transformers)(args)
        ready: dict[str, Callable] = {}
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            command, test = line.strip().split(" ", 1)
            if command == "prepare":
                ready[test] = TESTS[test](side)
            measure = product_share if command == "profile" else milliseconds
            print(measure(ready[test]), file=answers, flush=True)


if __name__ == "__main__":
    main()
