#!/usr/bin/env python3
"""Times an emitted PyTorch module beside Transformers: torch_peer.py AXON MODEL_DIR [-t 1,2] [-r 9].

Both hold the same float32 weights in one process and take turns, so that a busy machine slows both. One line
a test: best, median and worst milliseconds of each, and the ratio of the medians (below 1: ours is faster).
Run it on a quiet machine; nothing here judges a result.
"""

import argparse
import importlib.util
import inspect
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import torch


def emitted(axon: str, folder: pathlib.Path):
    """The emitted model of a directory."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "model.py"
        command = [axon, "compile", folder, "--target", "torch", "-o", out]
        subprocess.run(command, check=True)
        spec = importlib.util.spec_from_file_location("emitted", out)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    for _, kind in inspect.getmembers(module, inspect.isclass):
        if hasattr(kind, "from_pretrained"):
            return kind.from_pretrained(folder)
    raise SystemExit("the module has no model")


def library(folder: pathlib.Path):
    """The class that the configuration names."""
    import transformers

    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    kind = getattr(transformers, name)
    return kind.from_pretrained(folder, dtype=torch.float32).eval()


def milliseconds(action) -> float:
    """One run."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1e3


def compare(label: str, ours, theirs, repeats: int) -> None:
    """Runs the two in turns and prints a line."""
    ours(), theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for place, action in enumerate((ours, theirs)):
            times[place].append(milliseconds(action))
    shown = []
    for row in times:
        shown.append(f"{min(row):8.2f} {statistics.median(row):8.2f} {max(row):8.2f}")
    ratio = statistics.median(times[0]) / statistics.median(times[1])
    print(f"{label:<22} ours {shown[0]}  transformers {shown[1]}  ratio {ratio:.3f}")


def decoder_tests(ours, theirs, repeats: int) -> None:
    """Prefill of 512, then 128 tokens one by one, for one row and for four."""
    ids = torch.randint(10, theirs.config.vocab_size, (1, 512))
    compare(
        "prefill 512",
        lambda: ours(ids, use_cache=True, capacity=640, last=1),
        lambda: theirs(ids, use_cache=True, logits_to_keep=1),
        repeats,
    )
    for rows in (1, 4):
        prompt = torch.randint(10, theirs.config.vocab_size, (rows, 16))
        compare(
            f"128 tokens, {rows} rows",
            lambda: ours.generate(prompt, max_new_tokens=128),
            lambda: theirs.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                max_new_tokens=128,
                do_sample=False,
                eos_token_id=None,
                pad_token_id=0,
            ),
            max(3, repeats // 3),
        )


def encoder_tests(ours, theirs, repeats: int) -> None:
    """One short row, one long row, a batch."""
    for rows, width in ((1, 16), (1, 128), (32, 128)):
        ids = torch.randint(10, theirs.config.vocab_size, (rows, width))
        compare(
            f"forward {rows} x {width}", lambda: ours(ids), lambda: theirs(ids), repeats
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("axon")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("-t", "--threads", default="2")
    parser.add_argument("-r", "--repeats", type=int, default=9)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    ours, theirs = emitted(args.axon, args.model), library(args.model)
    tests = decoder_tests if hasattr(ours, "generate") else encoder_tests
    for threads in args.threads.split(","):
        torch.set_num_threads(int(threads))
        print(f"threads {threads}, float32, eager; best, median, worst milliseconds")
        with torch.no_grad():
            tests(ours, theirs, args.repeats)


if __name__ == "__main__":
    main()
