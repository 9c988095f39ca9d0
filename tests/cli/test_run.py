"""Generation: prompts by every road, the JSON forms, streams, sampling, batches."""

import json
import pathlib

import harness as h

S = h.suite()


def test_run(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Prompts by every road, and the JSON form."""
    base = ["run", model, "-n", 6, "--math", "exact", "--ignore-eos"]
    answer = S.run(*base, "the sky", "--json")
    S.answers("run --json", answer, 0)
    body = answer.body() or {}
    keys = (
        "schema",
        "model",
        "program",
        "numeric_policy",
        "seed",
        "results",
        "usage",
        "timings",
        "warnings",
    )
    S.check("run --json: keys", all(k in body for k in keys), answer.out[:400])
    result = body["results"][0]
    S.check(
        "run --json: result",
        len(result["ids"]) == 6 and result["finish_reason"] == "length",
        str(result),
    )
    S.check(
        "run --json: template",
        result["prompt_ids"][0] == 1 and result["prompt_ids"][-1] == 2,
        str(result),
    )
    S.check(
        "run --json: usage",
        body["usage"]["prompt_tokens"] == len(result["prompt_ids"])
        and body["usage"]["new_tokens"] == 6,
        str(body["usage"]),
    )
    times = (
        "load_s",
        "prefill_s",
        "first_token_s",
        "decode_s",
        "prefill_tokens_per_s",
        "decode_tokens_per_s",
    )
    S.check(
        "run --json: timings",
        all(body["timings"][k] >= 0 for k in times),
        str(body["timings"]),
    )
    ids, prompt_ids = result["ids"], result["prompt_ids"]

    def same(name: str, *words, stdin: bytes = b"") -> None:
        answer = S.run(
            "run",
            *words,
            "-n",
            6,
            "--math",
            "exact",
            "--ignore-eos",
            "--json",
            stdin=stdin,
        )
        body = answer.body() or {"results": [{"ids": answer.err}]}
        S.check(
            name,
            body["results"][0]["ids"] == ids,
            f"{body['results'][0]['ids']}, expected {ids}",
        )

    (S.folder / "prompt.txt").write_text("the sky")
    same("run -p", model, "-p", "the sky")
    same("run -f", model, "-f", S.folder / "prompt.txt")
    same("run from a pipe", model, stdin=b"the sky")
    same("run -p -", model, "-p", "-", stdin=b"the sky")
    same("run --prompt-ids", model, "--prompt-ids", ",".join(map(str, prompt_ids)))
    same("run GGUF", gguf, "the sky")
    same("run a .safetensors file", model / "model.safetensors", "the sky")
    same("run --no-mmap", model, "the sky", "--no-mmap")
    same("run --chunk 3", model, "the sky", "--chunk", 3)
    same("run --threads 2", model, "the sky", "--threads", 2)
    same("run --optimize=0", model, "the sky", "--optimize=0")
    same("run --program", model, "the sky", "--program", h.ZOO / "llama.axon")
    words = [
        "run",
        model,
        "--max_new_tokens",
        6,
        "--math",
        "exact",
        "--ignore-eos",
        "--json",
        "the sky",
    ]
    S.check(
        "run with Hugging Face spellings",
        S.run(*words).json()["results"][0]["ids"] == ids,
        "",
    )
    plain = S.run(*base, "the sky")
    S.answers("run as text", plain, 0)
    S.check(
        "run as text: same",
        plain.out == result["text"] + "\n" or "\ufffd" in plain.out,
        f"{plain.out!r} {result['text']!r}",
    )
    S.check("run as text: nothing else", plain.err == "", repr(plain.err))
    S.answers(
        "run --echo", S.run(*base, "--raw", "the sky", "--echo"), 0, out="^the sky"
    )
    S.answers(
        "run --stats",
        S.run(*base, "the sky", "--stats"),
        0,
        err=r"prompt tokens.*new tokens",
    )
    raw = S.run(*base, "the sky", "--raw", "--json").body()
    S.check(
        "run --raw",
        raw["results"][0]["prompt_ids"] == [261, 36, 119, 111, 125],
        str(raw["results"][0]),
    )
    system = S.run(*base, "the", "--system", "be kind", "--json").body()
    S.check(
        "run --system",
        system["results"][0]["prompt_ids"][0] == 3,
        str(system["results"][0]),
    )
    template = S.folder / "own.jinja"
    template.write_text("{{ messages[0]['content'] }}!")
    own = S.run(*base, "the", "--chat-template", template, "--json").body()
    S.check(
        "run --chat-template",
        own["results"][0]["prompt_ids"] == [261, 4 + ord("!")],
        str(own["results"][0]),
    )
    template.write_text("{% if %}")
    S.fails(
        "run with a broken template",
        [*base, "the", "--chat-template", template],
        1,
        "TMPL-[A-Z]+",
    )


def test_run_streams(model: pathlib.Path) -> None:
    """Token lines, log-probabilities, stop strings, sampling, batches."""
    base = ["run", model, "-n", 8, "--math", "exact", "--ignore-eos", "-p", "the sky"]
    answer = S.run(*base, "--jsonl")
    lines = answer.lines()
    S.check("run --jsonl: lines", len(lines) == 9, answer.out[:300])
    tokens, last = lines[:-1], lines[-1]
    S.check(
        "run --jsonl: indices",
        [t["index"] for t in tokens] == list(range(8)),
        str(tokens),
    )
    S.check(
        "run --jsonl: ids",
        [t["id"] for t in tokens] == last["results"][0]["ids"],
        str(tokens),
    )
    joined = "".join(t["text"] for t in tokens)
    S.check(
        "run --jsonl: text",
        last["results"][0]["text"].startswith(joined),
        f"{joined!r} {last['results'][0]['text']!r}",
    )
    answer = S.run(*base, "--json", "--logprobs", 3)
    result = answer.json()["results"][0]
    rows = result["logprobs"]
    S.check(
        "run --logprobs: rows",
        len(rows) == 8 and all(len(r["likeliest"]) == 3 for r in rows),
        str(rows)[:300],
    )
    greedy = all(
        r["likeliest"][0]["id"] == r["id"]
        and r["likeliest"][0]["logprob"] == r["logprob"] <= 0
        for r in rows
    )
    S.check("run --logprobs: greedy takes the first", greedy, str(rows)[:300])
    falling = all(
        a["logprob"] >= b["logprob"]
        for r in rows
        for a, b in zip(r["likeliest"], r["likeliest"][1:])
    )
    S.check("run --logprobs: falling", falling, str(rows)[:300])
    stop = next((c for c in result["text"][1:] if c != "\ufffd"), None)
    if S.check("run --stop: a character to stop at", stop is not None, result["text"]):
        answer = S.run(*base, "--json", "--stop", stop)
        stopped = answer.json()["results"][0]
        good = (
            stopped["finish_reason"] == "stop"
            and stopped["stop_string"] == stop
            and stop not in stopped["text"]
        )
        S.check("run --stop", good, str(stopped))
        two = S.run(*base, "--json", "--stop", "never seen", "--stop", stop).json()[
            "results"
        ][0]
        S.check("run --stop twice", two["stop_string"] == stop, str(two))
    drawn = [
        S.run(*base, "--json", "--temp", 2, "--seed", seed).json()["results"][0]["ids"]
        for seed in (1, 1, 2)
    ]
    S.check("run --seed repeats", drawn[0] == drawn[1], str(drawn))
    S.check("run --seed differs", drawn[0] != drawn[2], str(drawn))
    cold = S.run(*base, "--json", "--temp", 0, "--seed", 5).json()["results"][0]["ids"]
    S.check("run --temp 0 is greedy", cold == result["ids"], f"{cold} {result['ids']}")
    batch, out = S.folder / "batch.jsonl", S.folder / "out.jsonl"
    batch.write_text('{"prompt": "the sky"}\n\n"the sea"\n')
    answer = S.run(
        "run",
        model,
        "--batch",
        batch,
        "-o",
        out,
        "-n",
        8,
        "--math",
        "exact",
        "--ignore-eos",
    )
    S.answers("run --batch", answer, 0)
    rows = (
        [json.loads(line) for line in out.read_text().splitlines()]
        if out.exists()
        else []
    )
    S.check(
        "run --batch: rows",
        len(rows) == 2 and rows[0]["ids"] == result["ids"],
        str(rows)[:300],
    )
    answer = S.run("run", model, "--batch", batch, "-n", 2)
    S.check(
        "run --batch to standard output", len(answer.lines()) == 2, answer.out[:200]
    )
    batch.write_text('{"prompt": "the sky"}\n{"prompt": 3}\n')
    S.fails(
        "run --batch with a bad line",
        ["run", model, "--batch", batch, "-n", 2],
        3,
        "FILE-JSON",
        says="line 2",
    )


if __name__ == "__main__":
    S.run_all(test_run, test_run_streams)
