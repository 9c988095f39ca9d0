#!/usr/bin/env python3
"""Timed comparisons with llama.cpp: bench/run.py AXON [--gate] [--model GGUF] [--rounds 7] [--threads 1,2].

Both sides run in turn on the same file, the same threads and the same context, and change who begins. Printed
are the ratios of the best and of the median rounds, a line for each bound; with --gate the exit status says
whether all hold. A round beside other load is thrown away, and nothing is judged when that happens often.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import agreement  # noqa: E402
import llama_cpp  # noqa: E402
from quiet import MOST_DISTURBED, MOST_OTHER_LOAD, Disturbed  # noqa: E402
from quiet import busy_seconds, check_alone, other_load  # noqa: E402

PREFILL, DECODE, CONTEXT = 512, 128, 1024
FIRST_TOKEN_PROMPT = " ".join(["word"] * 32)
HIGHER_IS_BETTER = {"decode", "prefill"}
BOUNDS = {"decode": 0.8, "prefill": 0.8, "peak memory": 1.2, "first token": 0.7}


def call(command: list[object]) -> tuple[str, float, int]:
    """Standard output, wall seconds and peak resident bytes of a command that had the machine to itself."""
    before, begin = busy_seconds(), time.monotonic()
    with subprocess.Popen(
        [str(w) for w in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        out = process.stdout.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(str(w) for w in command)}")
    check_alone(busy_seconds() - before - usage.ru_utime - usage.ru_stime, took)
    return out, took, usage.ru_maxrss * 1024


class Axon:
    """Our side."""

    def __init__(self, binary: pathlib.Path, model: pathlib.Path) -> None:
        self.binary, self.model = binary, model

    def rates(self, threads: int) -> dict[str, float]:
        """Tokens per second and peak memory."""
        command = [self.binary, "bench", self.model, "-p", PREFILL, "-n", DECODE]
        out, _, peak = call([*command, "-t", threads, "-r", 1, "--json"])
        rows = json.loads(out)["rows"]
        best = {row["test"]: row["tokens_per_s"]["best"] for row in rows}
        return {
            "prefill": best["prefill"],
            "decode": best["decode"],
            "peak memory": peak / 2**20,
        }

    def first_token(self, threads: int) -> float:
        """Seconds from the start of the process until one token is written and the process has ended."""
        command = [self.binary, "run", self.model, "--raw", "-p", FIRST_TOKEN_PROMPT]
        return call([*command, "-n", 1, "-c", CONTEXT, "-t", threads])[1]


class Peer:
    """llama.cpp's commands."""

    def __init__(self, commands: dict[str, pathlib.Path], model: pathlib.Path) -> None:
        self.commands, self.model = commands, model

    def rates(self, threads: int) -> dict[str, float]:
        """Tokens per second and peak memory."""
        command = [self.commands["llama-bench"], "-m", self.model, "-p", PREFILL]
        command += ["-n", DECODE, "-t", threads, "-r", 1, "-o", "json"]
        out, _, peak = call(command)
        rates = {"peak memory": peak / 2**20}
        for row in json.loads(out):
            rates["prefill" if row["n_prompt"] else "decode"] = row["avg_ts"]
        return rates

    def first_token(self, threads: int, *more: str) -> float:
        """The same of llama-completion, as it comes."""
        command = [self.commands["llama-completion"], "-m", self.model]
        command += ["-p", FIRST_TOKEN_PROMPT, "-n", 1, "-t", threads, "-c", CONTEXT]
        return call([*command, "-no-cnv", *more])[1]


def measure(side: Axon | Peer, threads: int) -> dict[str, float]:
    """One round of one side."""
    values = side.rates(threads)
    values["first token"] = side.first_token(threads)
    if isinstance(side, Peer):
        values["first token, no warm-up"] = side.first_token(threads, "--no-warmup")
    return values


def rounds(sides: list[Axon | Peer], count: int, threads: int) -> list[dict]:
    """Values by name of each side, a list a side; who begins changes from round to round."""
    values: list[dict[str, list[float]]] = [{} for _ in sides]
    done = disturbed = 0
    while done < count:
        order = [0, 1] if done % 2 == 0 else [1, 0]
        try:
            measured = {i: measure(sides[i], threads) for i in order}
        except Disturbed as reason:
            disturbed += 1
            print(f"round thrown away: {reason}", flush=True)
            if disturbed > MOST_DISTURBED:
                print("the machine is not quiet: not judged")
                sys.exit(3)
            time.sleep(5)
            continue
        for i in order:
            for name, value in measured[i].items():
                values[i].setdefault(name, []).append(value)
        done += 1
    return values


def compare(name: str, threads: int, ours: list[float], theirs: list[float]) -> bool:
    """Prints both sides' spread and the ratios; true when the bound holds for both."""
    higher = name in HIGHER_IS_BETTER
    best = max if higher else min
    middle = statistics.median
    ratios = (best(ours) / best(theirs), middle(ours) / middle(theirs))
    bound = BOUNDS[name]
    holds = all(r >= bound if higher else r <= bound for r in ratios)
    print(
        f"{'pass' if holds else 'FAIL'}  {name:<12} {threads} threads  "
        f"axon {best(ours):>9.3f} (median {middle(ours):.3f})  "
        f"peer {best(theirs):>9.3f} (median {middle(theirs):.3f})  "
        f"ratio {ratios[0]:.2f} / {ratios[1]:.2f}, {'at least' if higher else 'at most'} {bound}",
        flush=True,
    )
    return holds


def print_agreement(axon: Axon, peer: Peer) -> None:
    """Forced agreement of the preset `auto` with `exact`, and the peer's; not judged."""
    command = [axon.binary, "bench", axon.model, "-p", 0, "-n", 0, "-t", 2]
    command += ["--quality", "--json"]
    done = subprocess.run(
        [str(w) for w in command], capture_output=True, text=True, check=True
    )
    ours = json.loads(done.stdout)["quality"]
    theirs, of = agreement.agreement(
        axon.binary, peer.commands["llama-completion"], axon.model, ours["cases"]
    )
    print(
        f"      forced top-1 agreement with exact: axon auto {ours['agree']} of {ours['positions']}, "
        f"llama.cpp {theirs} of {of}; perplexity of exact's text {ours['perplexity']:.4f} "
        f"(exact {ours['exact_perplexity']:.4f}), divergence {ours['divergence']:.6f}",
        flush=True,
    )


def demo_model() -> pathlib.Path:
    """The demonstration model's file."""
    script = HERE.parent / "scripts" / "fetch_models.py"
    done = subprocess.run(
        [sys.executable, script, "smollm2"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def main() -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("axon", type=pathlib.Path)
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    args = parser.parse_args()
    model = args.model or demo_model()
    axon, peer = Axon(args.axon, model), Peer(llama_cpp.build(), model)
    load = other_load(2.0)
    if load > MOST_OTHER_LOAD:
        print(f"other programs use {load:.2f} cores: not judged")
        return 3
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begin = time.monotonic()
    holds = True
    for threads in [int(t) for t in args.threads.split(",")]:
        ours, theirs = rounds([axon, peer], args.rounds, threads)
        for name in BOUNDS:
            holds &= compare(name, threads, ours[name], theirs[name])
        cold = theirs["first token, no warm-up"]
        print(f"      first token of the peer without its warm-up: {min(cold):.3f} s")
    print_agreement(axon, peer)
    print(f"{'all bounds hold' if holds else 'a bound is not reached'}", end="")
    print(f" ({time.monotonic() - begin:.0f} s)")
    return 0 if holds or not args.gate else 1


if __name__ == "__main__":
    sys.exit(main())
