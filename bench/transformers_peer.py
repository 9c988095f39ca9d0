#!/usr/bin/env python3
"""Emitted modules beside Transformers: transformers_peer.py AXON --python ENV/bin/python [--gate] [--only REGEX].

Both sides are processes that hold the same weights and take turns; who begins changes from round to round. A
line a test has the best and the median milliseconds of each side and their ratios (below 1: ours is faster).
A round beside other load is thrown away. With --gate the exit status says whether all bounds hold.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import quiet  # noqa: E402

CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)
# Where Transformers spends nearly all of its time in products that both sides share, equal is the bound.
PRODUCT_BOUND, MOST_PRODUCTS = 0.9, 0.85


@dataclasses.dataclass(frozen=True)
class Group:
    """Tests that one pair of processes runs: bounds by test, None for the bound by profile."""

    model: str
    tests: dict[str, float | None]
    dtypes: tuple[str, ...] = ("f32", "bf16")
    threads: tuple[int, ...] = (2,)
    compile: bool = False
    first_call: float | None = None


GROUPS = (
    Group(
        "smollm2",
        {"prefill 512": None, "decode 1": 0.8, "decode 4": 0.8},
        threads=(1, 2),
    ),
    Group(
        "minilm",
        {"forward 1x16": None, "forward 1x128": None, "forward 32x128": 1.0},
        threads=(1, 2),
    ),
    Group("t5", {"t5 forward": None, "t5 tokens": 0.8}, threads=(1, 2)),
    Group("train", {"training step": None}),
    Group(
        "smollm2",
        {"prefill 512": 1.0, "decode 1": 0.95},
        ("f32",),
        compile=True,
        first_call=0.7,
    ),
    Group("minilm", {"forward 1x128": 1.0}, ("f32",), compile=True, first_call=0.7),
)


class Side:
    """A worker process that answers with numbers."""

    def __init__(self, command: list[object], threads: int) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"failed: {' '.join(str(w) for w in command)}")

    def ask(self, command: str, test: str, alone: bool = False) -> float:
        """The answer to a command; `alone` asks for the machine to itself."""
        before, own = quiet.busy_seconds(), quiet.process_seconds(self.process.pid)
        begin = time.monotonic()
        self.process.stdin.write(f"{command} {test}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"the worker ended in `{command} {test}`")
        took = time.monotonic() - begin
        if alone:
            own = quiet.process_seconds(self.process.pid) - own
            quiet.check_alone(quiet.busy_seconds() - before - own, took)
        return float(answer)

    def close(self) -> None:
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait()


def rounds(sides: list[Side], test: str, count: int, judge: bool) -> list[list[float]]:
    """Milliseconds of each side."""
    times: list[list[float]] = [[], []]
    disturbed = 0
    while len(times[0]) < count:
        order = (0, 1) if len(times[0]) % 2 == 0 else (1, 0)
        try:
            taken = {i: sides[i].ask("run", test, alone=judge) for i in order}
        except quiet.Disturbed as reason:
            disturbed += 1
            if disturbed > quiet.MOST_DISTURBED:
                print(f"{test}: {reason}: not judged")
                sys.exit(3)
            time.sleep(1)
            continue
        for i, value in taken.items():
            times[i].append(value)
    return times


def spread(times: list[float]) -> str:
    """Best, median and worst."""
    return f"{min(times):9.2f} {statistics.median(times):9.2f} {max(times):9.2f}"


def judge_test(group: Group, sides: list[Side], test: str, label: str, args) -> bool:
    """Runs a test on both sides and prints its line; true when its bound holds."""
    first = [side.ask("prepare", test) for side in sides]
    bound, note = group.tests[test], ""
    if bound is None:
        share = sides[1].ask("profile", test)
        bound = PRODUCT_BOUND if share < MOST_PRODUCTS else 1.0
        note = f"  (products and attention are {share:.0%} of Transformers)"
    ours, theirs = rounds(sides, test, args.rounds, args.gate)
    ratios = (
        min(ours) / min(theirs),
        statistics.median(ours) / statistics.median(theirs),
    )
    holds = max(ratios) <= bound
    print(
        f"{'pass' if holds else 'FAIL'}  {label:<34} axon {spread(ours)}  transformers {spread(theirs)}  "
        f"ratio {ratios[0]:.3f} / {ratios[1]:.3f}, at most {bound}{note}",
        flush=True,
    )
    if group.first_call is not None:
        ratio = first[0] / first[1]
        holds &= ratio <= group.first_call
        print(
            f"{'pass' if ratio <= group.first_call else 'FAIL'}  {label + ', first call':<34} "
            f"axon {first[0] / 1e3:.1f} s  transformers {first[1] / 1e3:.1f} s  "
            f"ratio {ratio:.3f}, at most {group.first_call}",
            flush=True,
        )
    return holds


def run_group(
    group: Group, dtype: str, threads: int, folder: str, args: argparse.Namespace
) -> bool:
    """One pair of processes."""
    kind = "compiled" if group.compile else "eager"
    labels = {t: f"{t}, {dtype}, {threads} threads, {kind}" for t in group.tests}
    wanted = [t for t, label in labels.items() if re.search(args.only, label)]
    if not wanted:
        return True
    worker = [args.python, HERE / "peer" / "torch_worker.py"]
    more = ["--dtype", dtype, "--threads", threads, "--axon", args.axon]
    more += ["--compile"] if group.compile else []
    more += ["--train"] if group.model == "train" else []
    sides = [
        Side([*worker, n, folder, *more], threads) for n in ("axon", "transformers")
    ]
    holds = True
    for test in wanted:
        holds &= judge_test(group, sides, test, labels[test], args)
    for side in sides:
        side.close()
    return holds


def main() -> int:
    """Runs the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("axon", type=pathlib.Path)
    parser.add_argument("--python", required=True, help="of the oracle environment")
    parser.add_argument("--peer", choices=("transformers",), default="transformers")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument(
        "--only", default="", help="labels to run, a regular expression"
    )
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    load = quiet.other_load(2.0)
    if args.gate and load > quiet.MOST_OTHER_LOAD:
        print(f"other programs use {load:.2f} cores: not judged")
        return 3
    (CACHE / "bench").mkdir(parents=True, exist_ok=True)
    made = subprocess.run(
        [args.python, HERE / "peer" / "models.py", CACHE / "bench"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    folders = json.loads(made.stdout.splitlines()[-1])
    begin = time.monotonic()
    holds = True
    print("milliseconds: best, median, worst")
    for group in GROUPS:
        for dtype in group.dtypes:
            for threads in group.threads:
                holds &= run_group(group, dtype, threads, folders[group.model], args)
    print(f"{'all bounds hold' if holds else 'a bound is not reached'}", end="")
    print(f" ({time.monotonic() - begin:.0f} s)")
    return 0 if holds or not args.gate else 1


if __name__ == "__main__":
    sys.exit(main())
