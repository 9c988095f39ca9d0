"""The verbs as a user meets them: text, JSON forms, files, pipes, colours."""

import json
import os
import pathlib
import re
import struct
import subprocess
import time

import harness as h

S = h.suite()
HERE = pathlib.Path(__file__).resolve().parent
ZOO = HERE.parent.parent / "zoo"
STAGES = ("parse", "resolve", "materialize", "normalize", "elaborate", "flatten", "typecheck", "graph-ir",
          "graph-ir-axon", "final", "plan")  # fmt: skip

TYPE_ERROR = """-- Widths that do not agree.
main :: Tensor[B,3] -> Tensor[B,4] -> Tensor[B,3]
main x y = do
  z <- x + y
  return z
"""
SYNTAX_ERROR = """f :: Tensor[B] -> Tensor[B]
f x = (x + 1

g x = x
"""
WARNING = """same :: Tensor[B] -> Tensor[B]
same x = x

main :: Tensor[B] -> Tensor[B] -> Tensor[B]
main a b = do
  x <- same (a) * b
  return x
"""
REQUIRED_KEY = """import Config
import NN
import Tensor (TokenIds)

WIDTH <- Config.dim @@width_of_model

main :: TokenIds[B,S] -> Tensor[B,S,WIDTH]
main input_ids = NN.embedding@@model.embed_tokens input_ids dim=WIDTH
"""


def one_json(answer: h.Answer):
    """The one JSON value of an answer, or None."""
    try:
        return answer.json()
    except ValueError:
        return None


# ---- run -----------------------------------------------------------------------------------


def test_run(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Prompts by every road, and the JSON form."""
    base = ["run", model, "-n", 6, "--math", "exact", "--ignore-eos"]
    answer = S.run(*base, "the sky", "--json")
    S.answers("run --json", answer, 0)
    body = one_json(answer) or {}
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
        body = one_json(answer) or {"results": [{"ids": answer.err}]}
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
    same("run --program", model, "the sky", "--program", ZOO / "llama.axon")
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
    raw = one_json(S.run(*base, "the sky", "--raw", "--json"))
    S.check(
        "run --raw",
        raw["results"][0]["prompt_ids"] == [261, 36, 119, 111, 125],
        str(raw["results"][0]),
    )
    system = one_json(S.run(*base, "the", "--system", "be kind", "--json"))
    S.check(
        "run --system",
        system["results"][0]["prompt_ids"][0] == 3,
        str(system["results"][0]),
    )
    template = S.folder / "own.jinja"
    template.write_text("{{ messages[0]['content'] }}!")
    own = one_json(S.run(*base, "the", "--chat-template", template, "--json"))
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


# ---- chat ----------------------------------------------------------------------------------


def test_chat(model: pathlib.Path) -> None:
    """A conversation over a pipe."""
    saved = S.folder / "talk.json"
    text = f"the sky\nand the sea\n/stats\n/save {saved}\n/reset\n/system be kind\n/load {saved}\n/help\n/nonsense\n/quit\nnever\n"
    answer = S.run("chat", model, "--greedy", "-n", 4, stdin=text.encode())
    S.answers(
        "chat",
        answer,
        0,
        err=r"greedy.*of 256 positions.*forgotten.*4 messages.*/reset",
    )
    S.check("chat: two answers", answer.out.count("\n") >= 2, repr(answer.out))
    messages = json.loads(saved.read_text()) if saved.exists() else []
    roles = [m["role"] for m in messages]
    S.check(
        "chat /save", roles == ["user", "assistant", "user", "assistant"], str(messages)
    )
    again = S.run("chat", model, "--greedy", "-n", 4, stdin=b"the sky\n")
    S.check(
        "chat: answers repeat",
        answer.out.startswith(again.out.rstrip("\n")),
        f"{again.out!r} {answer.out!r}",
    )
    S.answers(
        "chat says how it samples",
        S.run("chat", model, stdin=b"/quit\n"),
        0,
        err=r"temperature 0\.7, top-p 0\.9",
    )
    S.answers("chat -q", S.run("chat", model, "-q", stdin=b"/quit\n"), 0)
    long = ("x" * 200 + "\n").encode()
    S.answers(
        "chat at the limit",
        S.run("chat", model, "--greedy", "-n", 4, stdin=long * 2),
        0,
        err="USE-CONTEXT.*drop-oldest",
    )
    drop = S.run(
        "chat", model, "--greedy", "-n", 4, "--overflow", "drop-oldest", stdin=long * 3
    )
    S.answers("chat --overflow drop-oldest", drop, 0)
    S.check(
        "chat --overflow drop-oldest: no complaint",
        "USE-CONTEXT" not in drop.err,
        drop.err,
    )
    S.answers(
        "chat: a line that is not UTF-8",
        S.run("chat", model, "--greedy", "-n", 2, stdin=b"ab\xff\nthe\n"),
        0,
        err="USE-UTF8",
    )


# ---- text and numbers ----------------------------------------------------------------------


def test_tokenize(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Text to ids and back."""
    want = [261, 36, 119, 111, 125]
    for name, target in (("directory", model), ("GGUF", gguf)):
        S.answers(
            f"tokenize {name}",
            S.run("tokenize", target, "the sky"),
            0,
            out=r"261 the\n\s+36 ",
        )
        S.answers(
            f"tokenize --ids {name}",
            S.run("tokenize", target, "the sky", "--ids"),
            0,
            out="^261,36,119,111,125\n$",
        )
        body = one_json(S.run("tokenize", target, "the sky", "--json"))
        S.check(
            f"tokenize --json {name}",
            body == {"schema": 1, "ids": want, "text": "the sky"},
            str(body),
        )
        S.answers(
            f"tokenize --decode {name}",
            S.run("tokenize", target, "--decode", "261,36,119,111,125"),
            0,
            out="^the sky\n$",
        )
    S.answers(
        "tokenize from a pipe",
        S.run("tokenize", model, "--ids", stdin=b"the sky"),
        0,
        out="^261,36",
    )
    S.answers(
        "tokenize special",
        S.run("tokenize", model, "a<|end|>", "--ids"),
        0,
        out=r"^\d+,0\n",
    )
    S.answers(
        "tokenize --decode hides special",
        S.run("tokenize", model, "--decode", "261,0"),
        0,
        out="^the\n$",
    )
    shown = S.run("tokenize", model, "--decode", "261,0", "--show-special")
    S.answers("tokenize --show-special", shown, 0, out=r"^the<\|end\|>\n$")
    text = "Grüße, 世界 👩‍👩‍👧 \t"
    body = one_json(S.run("tokenize", model, text, "--json"))
    back = S.run("tokenize", model, "--decode", ",".join(map(str, body["ids"])))
    S.check("tokenize there and back", back.out == text + "\n", repr(back.out))
    S.fails(
        "tokenize --decode of no ids",
        ["tokenize", model, "--decode", "a"],
        2,
        "USE-VALUE",
    )
    S.fails(
        "tokenize --decode of an unknown id",
        ["tokenize", model, "--decode", "5,100000"],
        2,
        "USE-VALUE",
        says="100000",
    )
    S.answers(
        "tokenize the empty text", S.run("tokenize", model, "", "--ids"), 0, out="^\n$"
    )


def test_score(model: pathlib.Path) -> None:
    """Log-likelihoods."""
    path = S.folder / "score.txt"
    path.write_text("the sky is blue")
    answer = S.run("score", model, "-f", path, "--json", "--math", "exact")
    body = one_json(answer)
    S.answers("score --json", answer, 0)
    S.check(
        "score: one per token but the first",
        len(body["logprobs"]) == len(body["ids"]) - 1,
        str(body),
    )
    total = sum(body["logprobs"])
    S.check("score: total", abs(total - body["total"]) < 1e-6, str(body))
    S.check("score: perplexity", body["perplexity"] > 1, str(body["perplexity"]))
    S.answers(
        "score as text",
        S.run("score", model, "-f", path),
        0,
        out=r"log-likelihood -\d.*perplexity \d",
    )
    S.answers(
        "score of a pipe", S.run("score", model, stdin=b"the sky"), 0, out="perplexity"
    )
    path.write_text("the sky is blue. " * 60)
    S.answers(
        "score beyond the context",
        S.run("score", model, "-f", path),
        0,
        out="perplexity",
    )
    S.fails("score of nothing", ["score", model], 2, "USE-PROMPT", stdin=b"")
    S.fails(
        "score of unknown ids",
        ["score", model, "--prompt-ids", "5,99999"],
        2,
        "USE-(VALUE|PROMPT)",
        says="99999",
    )


def read_safetensors(path: pathlib.Path) -> dict:
    """Names with dtype, shape and bytes."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    return {
        name: (e["dtype"], e["shape"], body[e["data_offsets"][0] : e["data_offsets"][1]])
        for name, e in header.items() if name != "__metadata__"
    }  # fmt: skip


def test_forward(model: pathlib.Path, encoder: pathlib.Path) -> None:
    """Tensors in and out."""
    inputs, outputs = S.folder / "in.safetensors", S.folder / "out.safetensors"

    def write(name, dtype, shape, data) -> None:
        entry = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}
        inputs.write_bytes(h.raw_safetensors(entry, data))

    write("input_ids", "I64", [1, 4], struct.pack("<4q", 5, 17, 30, 2))
    words = ["--inputs", inputs, "-o", outputs]
    S.answers("forward", S.run("forward", model, *words), 0)
    found = read_safetensors(outputs)
    S.check(
        "forward: logits",
        found.get("logits", (0, 0, b""))[:2] == ("F32", [1, 4, h.VOCAB]),
        str(list(found)),
    )
    write("input_ids", "I32", [1, 4], struct.pack("<4i", 5, 7, 4, 2))
    S.answers("forward of an encoder, int32", S.run("forward", encoder, *words), 0)
    found = read_safetensors(outputs)
    S.check("forward: hidden states", "last_hidden_state" in found, str(list(found)))
    S.fails(
        "forward without inputs",
        ["forward", model, "--inputs", S.folder / "none", "-o", outputs],
        3,
        "FILE-READ",
    )
    write("ids", "I64", [1, 4], struct.pack("<4q", 5, 17, 30, 2))
    S.fails(
        "forward with another name",
        ["forward", encoder, *words],
        1,
        "RUN-INPUT",
        says="input_ids",
    )
    write("input_ids", "I64", [4], struct.pack("<4q", 5, 7, 4, 2))
    S.fails(
        "forward with too few axes",
        ["forward", encoder, *words],
        1,
        "RUN-RANK",
        says="axes",
    )
    write("input_ids", "I64", [1, 2], struct.pack("<2q", 5, 99999))
    S.fails(
        "forward with an unknown id",
        ["forward", model, *words],
        2,
        "USE-VALUE",
        says="99999",
    )
    write("input_ids", "I64", [1, 4], struct.pack("<4q", 5, 7, 4, 2))
    S.fails(
        "forward to nowhere",
        ["forward", encoder, "--inputs", inputs, "-o", S.folder / "no" / "x"],
        3,
        "FILE-WRITE",
    )


def test_embed(encoder: pathlib.Path, model: pathlib.Path) -> None:
    """Vectors of texts."""
    answer = S.run("embed", encoder, "the sky", "blue.", "is", "--json")
    S.answers("embed --json", answer, 0)
    rows = answer.json()["embeddings"]
    S.check(
        "embed: shape",
        len(rows) == 3 and all(len(row) == 12 for row in rows),
        answer.out[:200],
    )
    alone = [
        S.run("embed", encoder, text, "--json").json()["embeddings"][0]
        for text in ("the sky", "blue.", "is")
    ]
    most = max(abs(a - b) for x, y in zip(rows, alone) for a, b in zip(x, y))
    S.check("embed: a padded batch equals the rows alone", most < 1e-4, str(most))
    unit = S.run("embed", encoder, "the sky", "--json", "--normalize").json()[
        "embeddings"
    ][0]
    S.check("embed --normalize", abs(sum(x * x for x in unit) - 1) < 1e-4, str(unit))
    pools = [
        S.run("embed", encoder, "the sky", "--json", "--pool", p).json()["embeddings"]
        for p in ("cls", "last", "mean", "none")
    ]
    S.check(
        "embed --pool",
        pools[0][0] == pools[3][0]
        and pools[1][0] == pools[3][-1]
        and len(pools[3]) == 4,
        str(pools)[:300],
    )
    mean = [sum(column) / 4 for column in zip(*pools[3])]
    S.check(
        "embed --pool mean",
        max(abs(a - b) for a, b in zip(mean, pools[2][0])) < 1e-4,
        str(mean),
    )
    (S.folder / "lines.txt").write_text("the sky\nis blue.\n")
    npy = S.folder / "out.npy"
    S.answers(
        "embed -f -o npy",
        S.run("embed", encoder, "-f", S.folder / "lines.txt", "-o", npy),
        0,
    )
    S.check(
        "embed: npy",
        npy.read_bytes()[:6] == b"\x93NUMPY" and b"(2,12,)" in npy.read_bytes()[:128],
        repr(npy.read_bytes()[:80]),
    )
    out = S.folder / "out2.safetensors"
    S.answers("embed -o safetensors", S.run("embed", encoder, "the sky", "-o", out), 0)
    S.check("embed: safetensors", read_safetensors(out)["embeddings"][1] == [1, 12], "")
    S.answers(
        "embed as text",
        S.run("embed", encoder, "the sky"),
        0,
        out=r"^(-?\d\S* ){11}-?\d\S*\n$",
    )
    S.fails("embed of nothing", ["embed", encoder], 2, "USE-PROMPT")
    S.fails(
        "embed beyond the context",
        ["embed", encoder, "the " * 50],
        2,
        "USE-CONTEXT",
        says="52.*32",
    )
    S.fails(
        "embed with a decoder",
        ["embed", model, "the"],
        1,
        "RUN-VALUE",
        says="encoder|hidden",
    )
    S.fails(
        "run with an encoder", ["run", encoder, "the"], 1, "RUN-INPUT", says="logits"
    )


# ---- the compiler --------------------------------------------------------------------------


def test_check(model: pathlib.Path) -> None:
    """Diagnostics at their lines."""
    path = S.folder / "p.axon"
    for name, text, line, code in (
        ("type error", TYPE_ERROR, 4, "[A-Z]+-[A-Z-]+"),
        ("syntax error", SYNTAX_ERROR, 2, "(PAR|LAY)-[A-Z]+"),
    ):
        path.write_text(text)
        answer = S.run("check", path)
        S.answers(
            f"check {name}", answer, 1, err=rf"p\.axon:{line}:\d+: error {code}: "
        )
        S.check(
            f"check {name}: excerpt",
            f"  {line} | " in answer.err and "^" in answer.err,
            answer.err,
        )
        answer = S.run("check", path, "--json")
        lines = answer.lines()
        keys = (
            "code",
            "severity",
            "message",
            "file",
            "line",
            "column",
            "end_line",
            "end_column",
            "notes",
        )
        S.check(
            f"check {name} --json",
            answer.status == 1 and lines and all(k in lines[0] for k in keys),
            answer.out[:300],
        )
        S.check(
            f"check {name} --json: line",
            bool(lines)
            and lines[0]["line"] == line
            and lines[0]["severity"] == "error",
            answer.out[:300],
        )
        failed = one_json(S.run("dump", path, "--stage", "graph-ir", "--json")) or {
            "error": {}
        }
        S.check(f"dump {name} --json", failed["error"].get("line") == line, str(failed))
    path.write_text(WARNING)
    answer = S.run("check", path)
    S.answers("check with a warning", answer, 0, err=r"p\.axon:6:\d+: warning W-GREEDY")
    S.answers(
        "check --strict",
        S.run("check", path, "--strict"),
        1,
        err=r"p\.axon:6:\d+: error W-GREEDY",
    )
    S.check("check -q hides warnings", S.run("check", path, "-q").err == "", "")
    severity = S.run("check", path, "--json").lines()[0]["severity"]
    S.check("check --json: severity", severity == "warning", severity)
    for name in ("llama", "gpt2", "bert"):
        S.answers(f"check {name}", S.run("check", name), 0)
        S.answers(f"check zoo/{name}.axon", S.run("check", ZOO / f"{name}.axon"), 0)
    S.fails(
        "check of no file", ["check", "none.axon"], 3, "FILE-READ", says="none.axon"
    )
    path.write_bytes(b"f x = x\nb\xff = 1\n")
    S.answers(
        "check of bytes that are no text", S.run("check", path), 1, err="p.axon:2|LEX-"
    )


def test_check_checkpoint(model: pathlib.Path) -> None:
    """A program against a checkpoint, from headers."""
    answer = S.run("check", "llama", "--checkpoint", model)
    S.answers(
        "check --checkpoint",
        answer,
        0,
        out=r"config read:.*hidden_size.*config defaulted:.*config ignored:.*tensors read:\s+21",
    )
    S.answers("check DIR", S.run("check", model), 0, out=r"tensors read:\s+21")
    shapes = h.llama_shapes()
    tied = h.llama_directory(
        S.folder / "tied", config=h.llama_config(tie_word_embeddings=True),
        tensors=h.filled({k: v for k, v in shapes.items() if k != "lm_head.weight"} | {"old.weight": (2, 2)}),
    )  # fmt: skip
    S.answers(
        "check: tied and extra",
        S.run("check", tied),
        0,
        out=r"tied:.*model\.embed_tokens\.weight.*extra:.*old\.weight",
    )
    name = "model.layers.1.self_attn.o_proj.weight"
    line = 1 + next(
        i
        for i, text in enumerate((ZOO / "llama.axon").read_text().splitlines())
        if "@o_proj" in text
    )
    wrong = h.llama_directory(
        S.folder / "misshaped",
        tensors=h.filled({**shapes, name: (h.HIDDEN + 2, h.HIDDEN)}),
    )
    answer = S.run("check", "llama", "--checkpoint", wrong)
    S.answers(
        "check: mis-shaped",
        answer,
        1,
        err=rf"llama\.axon:{line}:\d+: error RUN-PARAM-SHAPE: .*{re.escape(name)}.*\[18,16\].*\[16,16\]",
    )
    lines = S.run("check", "llama", "--checkpoint", wrong, "--json").lines()
    S.check(
        "check --json: mis-shaped",
        lines[0]["code"] == "RUN-PARAM-SHAPE" and lines[0]["line"] == line,
        str(lines)[:300],
    )
    fewer = h.llama_directory(
        S.folder / "lacking",
        tensors=h.filled({k: v for k, v in shapes.items() if k != name}),
    )
    S.answers(
        "check: missing",
        S.run("check", "llama", "--checkpoint", fewer),
        1,
        err=rf"llama\.axon:{line}:\d+: error RUN-PARAM: .*{re.escape(name)}",
    )
    program = S.folder / "required.axon"
    program.write_text(REQUIRED_KEY)
    S.answers(
        "check: required key",
        S.run("check", program, "--checkpoint", model),
        1,
        err=r"required\.axon:5:\d+: error RUN-CONFIG: .*width_of_model",
    )
    odd = h.llama_directory(
        S.folder / "odd", config=h.llama_config(width_of_model="wide")
    )
    answer = S.run("check", program, "--checkpoint", odd)
    S.answers(
        "check: key of the wrong type",
        answer,
        1,
        err=r'required\.axon:5:\d+: error RUN-CONFIG-TYPE: .*width_of_model.*"wide".*integer',
    )


def test_headers_only() -> None:
    """A checkpoint of 8 GiB of holes is checked without touching its data."""
    width, inner = 4096, 11008
    shapes = {
        "model.embed_tokens.weight": (32000, width),
        "model.norm.weight": (width,),
        "lm_head.weight": (32000, width),
    }
    for i in range(8):
        base = f"model.layers.{i}."
        shapes[base + "input_layernorm.weight"] = shapes[
            base + "post_attention_layernorm.weight"
        ] = (width,)
        for part in "qkvo":
            shapes[base + f"self_attn.{part}_proj.weight"] = (width, width)
        shapes[base + "mlp.gate_proj.weight"] = shapes[base + "mlp.up_proj.weight"] = (
            inner,
            width,
        )
        shapes[base + "mlp.down_proj.weight"] = (width, inner)
    model = S.folder / "sparse"
    h.llama_directory(
        model, tensors={}, tokenizer=False,
        config=h.llama_config(hidden_size=width, intermediate_size=inner, num_hidden_layers=8, num_attention_heads=32,
                              num_key_value_heads=32, vocab_size=32000),
    )  # fmt: skip
    header, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + 4 * h.product(shape)
        header[name] = {
            "dtype": "F32",
            "shape": list(shape),
            "data_offsets": [offset, end],
        }
        offset = end
    path = model / "model.safetensors"
    path.write_bytes(h.raw_safetensors(header))
    begin = path.stat().st_size
    os.truncate(path, begin + offset)
    answer = S.run("check", "llama", "--checkpoint", model)
    S.answers("check of a sparse file", answer, 0, out=r"tensors read:\s+75")
    resident, limit = h.resident_bytes_of(path), begin + (1 << 16)
    S.check(
        "check reads headers only",
        resident <= limit,
        f"{resident} bytes resident, header {begin}",
    )
    S.check(
        "the file has no data blocks",
        path.stat().st_blocks * 512 <= limit,
        str(path.stat().st_blocks),
    )


def test_dump(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Every stage as text, the same each time."""
    for stage in STAGES:
        answer = S.run("dump", "llama", "--stage", stage, "--checkpoint", model)
        S.answers(f"dump {stage}", answer, 0, out=r"\S")
        S.check(f"dump {stage}: no complaint", answer.err == "", answer.err[:300])
        if stage in ("graph-ir", "plan"):
            S.check(
                f"dump {stage}: same again",
                S.run("dump", "llama", "--stage", stage, "--checkpoint", model).out
                == answer.out,
                "",
            )
        if stage not in ("final", "plan"):
            S.answers(
                f"dump {stage} without a checkpoint",
                S.run("dump", ZOO / "llama.axon", "--stage", stage),
                0,
                out=r"\S",
            )
    S.answers(
        "dump DIR --stage plan", S.run("dump", model, "--stage", "plan"), 0, out="phase"
    )
    S.answers(
        "dump GGUF --stage plan", S.run("dump", gguf, "--stage", "plan"), 0, out="phase"
    )
    out = S.folder / "dumped.txt"
    S.answers("dump -o", S.run("dump", "bert", "--stage", "parse", "-o", out), 0)
    S.check(
        "dump -o: file",
        out.exists()
        and out.read_text() == S.run("dump", "bert", "--stage", "parse").out,
        "",
    )
    answer = S.run("dump", "llama", "--stage", "plan")
    S.check(
        "dump plan without a checkpoint",
        answer.status in (1, 2, 3) and "checkpoint" in answer.err,
        f"{answer.status} {answer.err!r}",
    )


# ---- what comes with the command -----------------------------------------------------------


def test_catalogue(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """inspect, zoo, list, explain, completion, help."""
    for name, target in (("directory", model), ("GGUF", gguf)):
        S.answers(
            f"inspect {name}",
            S.run("inspect", target),
            0,
            out=r"program\s+llama.*tokenizer\s+262.*chat template\s+yes",
        )
        body = one_json(S.run("inspect", target, "--json"))
        good = (
            body["schema"] == 1
            and body["program"] == "llama"
            and len(body["tensors"]) == 21
            and body["parameters"] == 12304
        )
        S.check(f"inspect --json {name}", good, str(body)[:300])
    S.answers(
        "inspect -v",
        S.run("inspect", model, "-v"),
        0,
        out=r"model\.layers\.1\.mlp\.down_proj\.weight\s+F32\s+\[16,24\]",
    )
    S.answers("zoo", S.run("zoo"), 0, out="bert.*gpt2.*llama")
    names = [p["name"] for p in S.run("zoo", "--json").json()["programs"]]
    S.check("zoo --json", {"bert", "gpt2", "llama"} <= set(names), str(names))
    S.answers("list of nothing", S.run("list"), 0, err="AXON_MODELS")
    shelf = S.folder / "shelf"
    h.llama_directory(shelf / "one")
    (shelf / "two.gguf").write_bytes(gguf.read_bytes())
    (shelf / "broken.gguf").write_bytes(b"GGUF")
    (shelf / "notes.txt").write_text("notes")
    S.answers(
        "list",
        S.run("list", env={"AXON_MODELS": str(shelf)}),
        0,
        out=r"llama.*one\n.*two\.gguf\n$",
    )
    body = one_json(S.run("list", "--json", env={"AXON_MODELS": str(shelf)}))
    S.check("list --json", len(body["models"]) == 2, str(body))
    hub = S.folder / "hub" / "models--me--tiny"
    h.llama_directory(hub / "snapshots" / "abc")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("abc")
    S.answers(
        "a hub id",
        S.run("inspect", "me/tiny", env={"HF_HUB_CACHE": str(hub.parent)}),
        0,
        out="program +llama",
    )
    S.answers(
        "list of the hub cache",
        S.run("list", env={"HF_HUB_CACHE": str(hub.parent)}),
        0,
        out="models--me--tiny",
    )
    S.answers(
        "explain",
        S.run("explain", "RUN-PARAM"),
        0,
        out="RUN-PARAM.*checkpoint has no tensor.*1",
    )
    for shell in ("bash", "zsh", "fish"):
        S.answers(f"completion {shell}", S.run("completion", shell), 0, out="run")
    S.answers(
        "--version",
        S.run("--version"),
        0,
        out=r"axon \d+\.\d+.*instruction set.*libraries",
    )
    S.answers("--help", S.run("--help"), 0, out="run.*chat.*check")
    S.answers("run --help", S.run("run", "--help"), 0, out="--max-new-tokens.*--stop")


def test_colour() -> None:
    """Escapes only where they are wanted."""
    path = S.folder / "colour.axon"
    path.write_text(TYPE_ERROR)
    escape = "\x1b["
    S.check("no colour in a pipe", escape not in S.run("check", path).err, "")
    S.check(
        "--color always", escape in S.run("check", path, "--color", "always").err, ""
    )
    S.check(
        "--color never", escape not in S.run("check", path, "--color", "never").err, ""
    )
    for name, env, want in (
        ("a terminal", {}, True),
        ("NO_COLOR on a terminal", {"NO_COLOR": "1"}, False),
    ):
        master, slave = os.openpty()
        process = subprocess.Popen(
            [S.binary, "check", str(path)],
            stderr=slave,
            stdout=subprocess.DEVNULL,
            env={**S.env, **env},
        )
        process.wait(timeout=30)
        os.close(slave)
        text = os.read(master, 65536).decode()
        os.close(master)
        S.check(f"colour on {name}", (escape in text) == want, repr(text[:200]))
    S.fails(
        "--color of another kind",
        ["check", path, "--color", "pink"],
        2,
        "USE-OPTION",
        says="color",
    )


def main() -> None:
    """All of them."""
    model = h.llama_directory(S.folder / "llama-model")
    gguf = S.folder / "llama-model.gguf"
    gguf.write_bytes(h.gguf())
    encoder = h.bert_directory(S.folder / "bert-model")
    tests = (
        (test_run, model, gguf), (test_run_streams, model), (test_chat, model), (test_tokenize, model, gguf),
        (test_score, model), (test_forward, model, encoder), (test_embed, encoder, model), (test_check, model),
        (test_check_checkpoint, model), (test_headers_only,), (test_dump, model, gguf),
        (test_catalogue, model, gguf), (test_colour,),
    )  # fmt: skip
    for test, *arguments in tests:
        begin = time.monotonic()
        try:
            test(*arguments)
        except (
            OSError,
            subprocess.SubprocessError,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
        ) as why:
            S.check(test.__name__, False, f"{type(why).__name__}: {why}")
        if os.environ.get("AXON_TEST_TIMES"):
            print(f"     {test.__name__} {time.monotonic() - begin:.1f} s", flush=True)
    S.finish()


if __name__ == "__main__":
    main()
