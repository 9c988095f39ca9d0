#!/usr/bin/env python3
"""Emitted files beside Transformers: transformers_peer.py AXON --python ENV/bin/python --jax ENV/bin/python [--gate].

Both sides are processes that hold the same weights and take turns; who begins changes from round to round. A
line a test has the best, the median and the worst milliseconds of each side and the ratios of the first two
(below 1: ours is faster). A round beside other load is thrown away. With --gate the exit status says whether
all bounds hold; --only REGEX chooses lines, --page FILE puts the table into a page.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
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
JAX_BOUND = 1.0


@dataclasses.dataclass(frozen=True)
class Group:
    """Tests that one pair of processes runs: bounds by test, None for the bound by profile."""

    model: str
    tests: dict[str, float | None]
    dtypes: tuple[str, ...] = ("f32", "bf16")
    threads: tuple[int, ...] = (2,)
    compile: bool = False
    first_call: float | None = None
    jax: bool = False  # beside eager PyTorch of two threads also our JAX


GROUPS = (
    Group(
        "smollm2",
        {"prefill 512": None, "decode 1": 0.8, "decode 4": 0.8},
        threads=(1, 2),
        jax=True,
    ),
    Group(
        "minilm",
        {"forward 1x16": None, "forward 1x128": None, "forward 32x128": 1.0},
        threads=(1, 2),
        jax=True,
    ),
    Group("t5", {"t5 forward": None, "t5 tokens": 0.8}, threads=(1, 2), jax=True),
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
        environment = os.environ | {
            "OMP_NUM_THREADS": str(threads),
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",  # first calls are first
        }
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.command = " ".join(str(word) for word in command)

    def wait(self) -> None:
        """Waits until it takes commands."""
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"failed: {self.command}")

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


def rounds(
    sides: list[Side], test: str, args: argparse.Namespace, till: float
) -> list[list[float]]:
    """Milliseconds of each side; a test that takes long has fewer rounds, three at least."""
    times: list[list[float]] = [[] for _ in sides]
    disturbed = 0
    while len(times[0]) < args.rounds:
        if len(times[0]) >= 3 and time.monotonic() > till:
            break
        first = len(times[0]) % len(sides)
        order = [*range(first, len(sides)), *range(first)]
        try:
            taken = {i: sides[i].ask("run", test, alone=args.gate) for i in order}
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


@dataclasses.dataclass(frozen=True)
class Line:
    """What was measured of a test: best, median and worst milliseconds of both sides, and the worst ratio allowed."""

    label: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    ratios: tuple[float, ...]
    bound: float
    note: str

    @property
    def holds(self) -> bool:
        """Whether the bound holds for the best and for the median."""
        return max(self.ratios) <= self.bound

    def text(self) -> str:
        """For the terminal."""
        ours, theirs = (
            " ".join(f"{value:9.2f}" for value in side)
            for side in (self.ours, self.theirs)
        )
        ratios = " / ".join(f"{ratio:.3f}" for ratio in self.ratios)
        return (
            f"{'pass' if self.holds else 'FAIL'}  {self.label:<40} axon {ours}  transformers {theirs}  "
            f"ratio {ratios}, at most {self.bound}  {self.note}".rstrip()
        )

    def row(self) -> str:
        """For the page."""
        ours, theirs = (
            " / ".join(f"{value:.4g}" for value in side)
            for side in (self.ours, self.theirs)
        )
        ratios = " / ".join(f"{ratio:.2f}" for ratio in self.ratios)
        result = "pass" if self.holds else "FAIL"
        return f"| {self.label} | {ours} | {theirs} | {ratios} | {self.bound} | {result} | {self.note} |"


def spread(times: list[float]) -> tuple[float, float, float]:
    """Best, median and worst."""
    return min(times), statistics.median(times), max(times)


def judge_test(
    group: Group, sides: dict[str, Side], test: str, label: str, args
) -> list[Line]:
    """Runs a test on all sides and prints its lines."""
    first = {name: side.ask("prepare", test) for name, side in sides.items()}
    bound, note = group.tests[test], ""
    if bound is None:
        share = sides["transformers"].ask("profile", test)
        bound = PRODUCT_BOUND if share < MOST_PRODUCTS else 1.0
        note = f"products and attention are {share:.0%} of Transformers"
    till = time.monotonic() + args.seconds * len(sides)
    seen = rounds(list(sides.values()), test, args, till)
    times = dict(zip(sides, map(spread, seen)))
    theirs = times["transformers"]
    kind = "compiled" if group.compile else "eager"
    bounds = {"axon": (kind, bound, note), "jax": ("jax", JAX_BOUND, "")}
    lines: list[Line] = []
    for name, (how, most, why) in bounds.items():
        if name not in sides:
            continue
        ours = times[name]
        ratios = (ours[0] / theirs[0], ours[1] / theirs[1])
        lines.append(Line(f"{label}, {how}", ours, theirs, ratios, most, why))
    if group.first_call is not None:
        both = [(first[name],) for name in ("axon", "transformers")]
        ratio = both[0][0] / both[1][0]
        name = f"{label}, {kind}, first call"
        lines.append(Line(name, *both, (ratio,), group.first_call, ""))
    for line in lines:
        print(line.text(), flush=True)
    return lines


def run_group(
    group: Group, dtype: str, threads: int, folder: str, args: argparse.Namespace
) -> list[Line]:
    """Processes that hold one model, one for each side."""
    with_jax = group.jax and threads == 2 and args.jax
    kinds = ["compiled" if group.compile else "eager", *(["jax"] if with_jax else [])]
    labels = {t: f"{t}, {dtype}, {threads} threads" for t in group.tests}
    wanted = [
        test
        for test, label in labels.items()
        if any(re.search(args.only, f"{label}, {kind}") for kind in kinds)
    ]
    if not wanted:
        return []
    worker = [args.python, HERE / "peer" / "torch_worker.py"]
    more = [folder, "--dtype", dtype, "--axon", args.axon]
    of_torch = [*more, "--threads", threads]
    of_torch += ["--compile"] if group.compile else []
    of_torch += ["--train"] if group.model == "train" else []
    sides = {
        name: Side([*worker, name, *of_torch], threads)
        for name in ("axon", "transformers")
    }
    if with_jax:
        sides["jax"] = Side([args.jax, HERE / "peer" / "jax_worker.py", *more], threads)
    for side in sides.values():
        side.wait()
    lines: list[Line] = []
    for test in wanted:
        lines += judge_test(group, sides, test, labels[test], args)
    for side in sides.values():
        side.close()
    return lines


MARK = "<!-- the table of ./dev bench --peer transformers --page -->"


def write_page(page: pathlib.Path, lines: list[Line], args: argparse.Namespace) -> None:
    """Replaces what follows the mark."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    versions = subprocess.run(
        [args.python, "-m", "pip", "freeze"], stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
    named = [v for v in versions if v.startswith(("torch==", "transformers=="))]
    how = "every round alone on the machine" if args.gate else "beside other programs"
    table = [
        f"{os.cpu_count()} cores of {model}; {', '.join(named)}; {time.strftime('%Y-%m-%d')}; {how}.",
        f"{sum(line.holds for line in lines)} of {len(lines)} bounds hold.",
        "",
        "| test | axon, ms: best / median / worst | Transformers, ms | ratio: best / median | at most | result | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(line.row() for line in lines),
        "",
    ]
    head = page.read_text(encoding="utf-8").partition(MARK)[0]
    scratch = page.with_suffix(".new")
    scratch.write_text(head + MARK + "\n" + "\n".join(table), encoding="utf-8")
    scratch.replace(page)


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
    parser.add_argument(
        "--seconds", type=float, default=6, help="of a test, after three rounds"
    )
    parser.add_argument("--jax", help="Python of the JAX environment")
    parser.add_argument("--page", type=pathlib.Path, help="put the table into a page")
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
    lines: list[Line] = []
    print("milliseconds: best, median, worst")
    for group in GROUPS:
        for dtype in group.dtypes:
            for threads in group.threads:
                lines += run_group(group, dtype, threads, folders[group.model], args)
    if args.page:
        write_page(args.page, lines, args)
    holds = all(line.holds for line in lines)
    print(f"{'all bounds hold' if holds else 'a bound is not reached'}", end="")
    print(f" ({time.monotonic() - begin:.0f} s)")
    return 0 if holds or not args.gate else 1


if __name__ == "__main__":
    sys.exit(main())
