"""Output that cannot be written, readers that go away, signals."""

import json
import pathlib
import select
import signal
import subprocess
import time

import checkpoints as ck
import harness as h

S = h.suite()
IDS = ["--prompt-ids", "5,17", "-n", "2"]


def test_output() -> None:
    """Output that cannot be written; readers that go away."""
    model = ck.llama_directory(S.folder / "output")
    encoder = ck.bert_directory(S.folder / "output-bert")
    batch = S.folder / "batch.jsonl"
    batch.write_text('{"prompt": "the"}\n')
    nowhere = S.folder / "none" / "out.jsonl"
    S.fails(
        "unwritable --batch output",
        ["run", model, "--batch", batch, "-o", nowhere, "-n", 2],
        3,
        "FILE-WRITE",
        says="none",
    )
    S.fails(
        "unwritable embed output",
        ["embed", encoder, "sky", "-o", nowhere.with_suffix(".npy")],
        3,
        "FILE-WRITE",
    )
    S.fails(
        "unwritable dump output",
        ["dump", "llama", "--stage", "parse", "-o", nowhere],
        3,
        "FILE-WRITE",
    )
    S.fails(
        "embed output of another kind",
        ["embed", encoder, "sky", "-o", "x.csv"],
        2,
        "USE-VALUE",
        says="npy",
    )
    with open("/dev/full", "wb") as full:
        for words in (["run", model, *IDS], ["run", model, *IDS, "--json"], ["inspect", model], ["zoo"],
                      ["dump", "llama", "--stage", "parse"], ["tokenize", model, "x"]):  # fmt: skip
            done = subprocess.run(
                [S.binary, *map(str, words)],
                stdout=full,
                stderr=subprocess.PIPE,
                env=S.env,
                check=False,
            )
            good = done.returncode == 3 and b"FILE-WRITE" in done.stderr
            S.check(
                f"full disk: {words[0]}",
                good,
                f"status {done.returncode}, {done.stderr[:200]!r}",
            )


def test_closed_pipe() -> None:
    """`| head -1` ends quietly."""
    model = ck.llama_directory(
        S.folder / "pipe", config=ck.llama_config(max_position_embeddings=1 << 20)
    )
    long = [
        "run",
        model,
        "--prompt-ids",
        "5,17",
        "-n",
        300000,
        "--ignore-eos",
        "--jsonl",
    ]
    for name, words in (("run --jsonl", long), ("dump", ["dump", "llama", "--stage", "parse"]),
                        ("inspect -v", ["inspect", model, "-v"]), ("zoo", ["zoo"])):  # fmt: skip
        begin = time.monotonic()
        process = S.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        try:
            status = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none in 10 s"
        err = process.stderr.read()
        took = time.monotonic() - begin
        S.check(
            f"closed pipe: {name}",
            status == 0 and not err,
            f"status {status} after {took:.1f} s, {err[:200]!r}",
        )


def started(model: pathlib.Path, *more, wait: float = 0) -> subprocess.Popen:
    """A long generation that has begun: its first text is there, or `wait` seconds are over."""
    process = S.start(
        "run", model, "--prompt-ids", "5,17", "-n", 500000, "--ignore-eos", *more,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    if wait:
        time.sleep(wait)
    else:
        select.select([process.stdout], [], [], 30)
    return process


def test_signals() -> None:
    """Interrupts and terminations: the text so far is kept, the status says how it ended."""
    model = ck.llama_directory(
        S.folder / "signals", config=ck.llama_config(max_position_embeddings=1 << 20)
    )
    for _ in range(3):
        process = started(model)
        status, seconds = h.interrupt(process)
        out = process.stdout.read()
        if seconds < 1.0:
            break
    S.check(
        "interrupt: status",
        status == 130,
        f"status {status}, {process.stderr.read()[:300]!r}",
    )
    S.check("interrupt: within a second", seconds < 1.0, f"{seconds:.2f} s")
    S.check("interrupt: text so far", len(out) > 0, repr(out[:80]))
    for wait in (0.5, 2, 8):  # nothing tells from outside that tokens are there
        process = started(model, "--json", wait=wait)
        status, seconds = h.interrupt(process)
        text = process.stdout.read()
        body = json.loads(text) if text else {}
        if "results" in body or status != 130:
            break
        S.check("interrupt before the first token: JSON", "error" in body, str(text))
    result = (body.get("results") or [{}])[0]
    good = (
        status == 130
        and result.get("finish_reason") == "interrupt"
        and len(result.get("ids", [])) > 1
        and seconds < 1.0
    )
    S.check(
        "interrupt: JSON",
        good,
        f"status {status}, {seconds:.2f} s, {text[:200]!r} … {text[-200:]!r}",
    )
    ends("terminated", lambda: started(model), signal.SIGTERM, 143)

    def waiting():
        pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = S.start("run", model, stdout=subprocess.PIPE, **pipes)
        time.sleep(0.4)
        return process

    ends("interrupt while reading the prompt", waiting, signal.SIGINT, 130)
    text = S.folder / "long.txt"
    text.write_text("the sky is blue. " * 2000)

    def scoring():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = S.start("score", model, "-f", text, "--json", **pipes)
        time.sleep(0.6)
        return process

    ends("interrupt of score", scoring, signal.SIGINT, 130)

    def measuring():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = S.start("bench", model, "-p", 64, "-r", 1000, "-t", 1, **pipes)
        time.sleep(0.6)
        return process

    ends("interrupt of bench", measuring, signal.SIGINT, 130)


def ends(name: str, start, number: int, wanted: int) -> None:
    """A signal ends the command within a second; a busy machine gets three tries."""
    for _ in range(3):
        process = start()
        status, seconds = h.interrupt(process, number)
        if status == wanted and seconds < 1.0:
            break
    S.check(
        name,
        status == wanted and seconds < 1.0,
        f"status {status}, {seconds:.2f} s, {process.stderr.read()[:200]!r}",
    )


if __name__ == "__main__":
    S.run_all(test_output, test_closed_pipe, test_signals)
