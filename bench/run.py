#!/usr/bin/env python3
"""Timed comparisons with named peers: bench/run.py AXON [--gate] [--model GGUF] [--rounds 7] [--threads 1,2].

Both sides run in turn on the same file, the same threads and the same context. Printed are the ratios of the
best and of the median rounds; with --gate the exit status says whether they reach the bounds. Nothing is
judged beside other load.
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

import llama_cpp  # noqa: E402

PREFILL, DECODE = 512, 128
FIRST_TOKEN_PROMPT = " ".join(["word"] * 32)
BOUNDS = {"decode": 0.8, "prefill": 0.8, "memory": 1.2, "first token": 0.7}


def busy() -> float:
    """Share of one core that other programs use now."""

    def ticks() -> tuple[int, int]:
        fields = [
            int(x)
            for x in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        ]
        return sum(fields), fields[3] + fields[4]

    total, idle = ticks()
    time.sleep(1.0)
    total_after, idle_after = ticks()
    spent = (total_after - total) - (idle_after - idle)
    return spent / max(1, total_after - total) * os.cpu_count()


def call(command: list[object]) -> tuple[str, float, int]:
    """Standard output, wall seconds and peak resident bytes of a command."""
    before = time.monotonic()
    with subprocess.Popen(
        [str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        out = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(str(w) for w in command)}")
    return out, time.monotonic() - before, usage.ru_maxrss * 1024


def axon_rates(
    axon: pathlib.Path, model: pathlib.Path, threads: int
) -> dict[str, float]:
    """Tokens per second and peak memory of our side."""
    out, _, peak = call(
        [
            axon,
            "bench",
            model,
            "-p",
            PREFILL,
            "-n",
            DECODE,
            "-t",
            threads,
            "-r",
            1,
            "--json",
        ]
    )
    rows = {row["test"]: row["tokens_per_s"]["best"] for row in json.loads(out)["rows"]}
    return {"prefill": rows["prefill"], "decode": rows["decode"], "memory": peak}


def peer_rates(
    bench: pathlib.Path, model: pathlib.Path, threads: int
) -> dict[str, float]:
    """The same of llama-bench."""
    out, _, peak = call(
        [
            bench,
            "-m",
            model,
            "-p",
            PREFILL,
            "-n",
            DECODE,
            "-t",
            threads,
            "-r",
            1,
            "-o",
            "json",
        ]
    )
    rates = {"memory": peak}
    for row in json.loads(out):
        rates["prefill" if row["n_prompt"] else "decode"] = row["avg_ts"]
    return rates


def first_token(command: list[object]) -> float:
    """Seconds from process start until one token has been written and the process has ended."""
    return call(command)[1]


def compare(
    name: str, ours: list[float], theirs: list[float], higher_is_better: bool
) -> bool:
    """Prints both sides' spread and the ratios; true when the bound holds for both."""
    best = max if higher_is_better else min
    ratios = (
        best(ours) / best(theirs),
        statistics.median(ours) / statistics.median(theirs),
    )
    bound = BOUNDS[name.split(",")[0]]
    holds = (
        all(r >= bound for r in ratios)
        if higher_is_better
        else all(r <= bound for r in ratios)
    )
    sign = "at least" if higher_is_better else "at most"
    print(
        f"{name:<24} axon {best(ours):>10.3f} (median {statistics.median(ours):.3f})  peer {best(theirs):>10.3f} "
        f"(median {statistics.median(theirs):.3f})  ratio {ratios[0]:.2f} / {ratios[1]:.2f}, {sign} {bound}: "
        f"{'ok' if holds else 'NOT REACHED'}",
        flush=True,
    )
    return holds


def main() -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("axon", type=pathlib.Path)
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    args = parser.parse_args()
    model = args.model
    if model is None:
        script = HERE.parent / "scripts" / "fetch_models.py"
        done = subprocess.run(
            [sys.executable, script, "smollm2"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        model = pathlib.Path(done.stdout.strip().splitlines()[-1])
    peer = llama_cpp.build()
    load = busy()
    if load > 0.2:
        print(f"other programs use {load:.1f} cores: not judged")
        return 3 if args.gate else 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    holds = True
    for threads in [int(t) for t in args.threads.split(",")]:
        ours: dict[str, list[float]] = {
            "prefill": [],
            "decode": [],
            "memory": [],
            "first token": [],
        }
        theirs: dict[str, list[float]] = {name: [] for name in ours}
        for _ in range(args.rounds):
            for name, value in axon_rates(args.axon, model, threads).items():
                ours[name].append(value)
            for name, value in peer_rates(peer["llama-bench"], model, threads).items():
                theirs[name].append(value)
            ours["first token"].append(
                first_token(
                    [
                        args.axon,
                        "run",
                        model,
                        "--raw",
                        "-p",
                        FIRST_TOKEN_PROMPT,
                        "-n",
                        1,
                        "-t",
                        threads,
                    ]
                )
            )
            theirs["first token"].append(
                first_token(
                    [
                        peer["llama-completion"],
                        "-m",
                        model,
                        "-p",
                        FIRST_TOKEN_PROMPT,
                        "-n",
                        1,
                        "-t",
                        threads,
                        "-no-cnv",
                        "-c",
                        1024,
                    ]
                )
            )
        for name in ours:
            holds &= compare(
                f"{name}, {threads} threads",
                ours[name],
                theirs[name],
                name in ("prefill", "decode"),
            )
    return 0 if holds or not args.gate else 1


if __name__ == "__main__":
    sys.exit(main())
