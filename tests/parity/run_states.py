#!/usr/bin/env python3
"""Checks sessions on saved programs of real checkpoints: run_states.py AXON.

program_save plans a checkpoint's program and writes it; session_check, which has no compiler, reads it back
and compares chunks, turns, single steps, capacities, padded batches, and states that are cut, copied and
reordered with fresh runs. The command, which compiles, must give the same bytes of logits.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import prompts  # noqa: E402
from binary import Axon, Failure, same  # noqa: E402
from checkpoints import Tally, fetched, smollm_folder, tiny_checkpoints  # noqa: E402

SAME_PROGRAM = 1e-4


def tool(axon: Axon, name: str, *words: object) -> str:
    """Standard output of a test program beside the command."""
    command = [str(axon.path.parent / name), *[str(word) for word in words]]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1200, check=False
    )
    if done.returncode not in (0, 1) or (done.returncode and not done.stdout):
        raise Failure(f"{name}: status {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


class Run:
    """What session_check says of one model."""

    def __init__(self, axon: Axon, model: pathlib.Path, ids: list[int]) -> None:
        with tempfile.TemporaryDirectory(dir=axon.scratch) as folder:
            program = pathlib.Path(folder) / "program"
            logits = pathlib.Path(folder) / "logits"
            tool(axon, "program_save", model, program)
            words = ",".join(str(number) for number in ids)
            self.said = tool(axon, "session_check", program, model, logits, words)
            found = np.fromfile(logits, dtype=np.float32).reshape(len(ids), -1)
        direct = axon.logits(model, ids, "--chunk", len(ids))
        self.same_bytes = found.tobytes() == direct.tobytes()
        threaded = axon.logits(model, ids, "--chunk", len(ids), "--threads", 3)
        self.threads = float(np.abs(threaded - direct).max())


def take(tally: Tally, label: str, run: Run) -> None:
    """Counts what a run found."""
    lines = re.findall(r"^(ok  |FAIL) (.*): (.*)$", run.said, re.M)
    tally.report(f"{label}: all checks", len(lines) >= 20, f"{len(lines)} made")
    for outcome, name, detail in lines:
        tally.report(f"{label} {name}", outcome == "ok  ", detail)
    tally.report(f"{label}: the program read back gives the same bytes", run.same_bytes)
    tally.report(
        f"{label}: three threads",
        run.threads <= SAME_PROGRAM,
        f"off by {run.threads:.2g}",
    )


def chat_counts(axon: Axon, model: pathlib.Path) -> str:
    """Of a conversation, each turn runs its own tokens alone: no position is run twice."""
    words = ["chat", model, "--greedy", "--math", "exact", "-n", 12, "--threads", 1]
    lines = ["Name a colour.", "/stats", "Name another one.", "/stats", "/quit"]
    done = subprocess.run(
        [str(axon.path), *[str(word) for word in words]],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    same(done.returncode, 0, "status of chat")
    pattern = r"(\d+) of \d+ positions, (\d+) tokens run"
    counts = [tuple(map(int, found)) for found in re.findall(pattern, done.stderr)]
    same(len(counts), 2, f"number of counts in `{done.stderr}`")
    (first, _), (second, _) = counts
    same(first < second, True, "positions grow")
    for positions, run in counts:
        same(run, positions, "tokens run")
    return f"{first} tokens, then {second - first} more"


def prompt_of(axon: Axon, model: pathlib.Path) -> list[int]:
    """The long prompt's first 700 tokens."""
    text = axon.scratch / "story.txt"
    text.write_text(
        "".join(prompts.paragraph(number) for number in range(20)), encoding="utf-8"
    )
    said = axon.call("tokenize", model, "-f", text, "--ids")
    ids = [int(word) for word in said.split(",")][:700]
    same(len(ids), 700, "length of the prompt")
    return ids


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        gguf = fetched("smollm2")
        tally.check("two turns of a chat", lambda: chat_counts(axon, gguf))
        long = prompt_of(axon, gguf)
        runs = {
            "float32": (smollm_folder(gguf, "float32"), long),
            "gguf": (gguf, long[:96]),
        }
        draw = np.random.default_rng(11)
        for folder in tiny_checkpoints("llama", "gpt2"):
            runs[folder.name] = (folder, draw.integers(3, 60, 47).tolist())
        started = {
            label: tally.pool.submit(Run, axon, model, ids)
            for label, (model, ids) in runs.items()
        }
        for label, future in started.items():
            try:
                take(tally, label, future.result())
            except Failure as failure:
                tally.report(label, False, str(failure))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
