"""Prompts and options that cannot be served."""

import pathlib

import checkpoints as ck
import harness as h

S = h.suite()
IDS = ["--prompt-ids", "5,17", "-n", "2"]


def test_prompts() -> None:
    """Prompts that cannot be run."""
    model = ck.llama_directory(S.folder / "prompts")
    for name, words, stdin in (
        ("empty -p", ["-p", ""], b""),
        ("empty pipe", [], b""),
        ("empty -p -", ["-p", "-"], b""),
    ):
        S.fails(
            name,
            ["run", model, *words, "-n", 2],
            2,
            "USE-PROMPT",
            says="empty",
            stdin=stdin,
        )
    S.fails(
        "prompt beyond the context",
        ["run", model, "--raw", "-p", "x" * 300],
        2,
        "USE-CONTEXT",
        says="300.*256",
    )
    S.fails(
        "prompt beyond --ctx",
        ["run", model, "--raw", "-p", "x" * 30, "-c", 16],
        2,
        "USE-CONTEXT",
        says="30.*16",
    )
    S.fails(
        "--ctx beyond the model",
        ["run", model, "-p", "x", "-c", 1000],
        2,
        "USE-CONTEXT",
        says="1000.*256",
    )
    for count in ("0", "-1"):
        S.fails(
            f"-n {count}",
            ["run", model, "-p", "x", "-n", count],
            2,
            "USE-VALUE",
            says="-n",
        )
    S.fails(
        "a context of 2^40",
        ["run", wide(), *IDS, "-c", 1 << 40],
        3,
        "MEM-[A-Z]+",
        says="ctx",
    )
    S.fails(
        "-n 2^63-1 without a limit",
        ["run", wide(), "--prompt-ids", "5", "-n", (1 << 63) - 1],
        3,
        "MEM-[A-Z]+",
    )
    S.answers(
        "-n 2^63-1 within a context",
        S.run("run", model, "--prompt-ids", "5", "-n", (1 << 63) - 1),
        0,
    )
    S.fails(
        "unknown overlay",
        ["run", model, "-p", "x", "--overlay", "statik"],
        2,
        "USE-VALUE",
        says="static",
    )
    S.fails(
        "unknown entry",
        ["run", model, "-p", "x", "--main", "nrom"],
        1,
        "RES-MAIN",
        says="norm",
    )
    S.fails(
        "a directory as a prompt",
        ["run", model, "-f", S.folder],
        3,
        "FILE-READ",
        says="directory",
    )
    S.fails("no name", ["check", ""], 3, "FILE-READ")
    S.fails(
        "text as ids",
        ["run", model, "--prompt-ids", "5,x"],
        2,
        "USE-VALUE",
        says="prompt-ids",
    )
    # A head that is larger than the table of embeddings.
    shapes = ck.llama_shapes()
    shapes["model.embed_tokens.weight"] = (200, ck.HIDDEN)
    small = ck.llama_directory(S.folder / "small-table", tensors=ck.filled(shapes))
    for verb in ("run", "score"):
        S.fails(
            f"{verb}: id beyond the table",
            [verb, small, "--prompt-ids", "5,201"],
            1,
            "RUN-INDEX",
            says="index 201 is outside of 200 rows of `model.embed_tokens.weight`",
        )
    few = S.run("run", model, *IDS, "--json")
    many = S.run("run", model, *IDS, "--json", "--threads", 1024)
    S.answers("more threads than processors", many, 0, err="1024.*W-THREADS")
    S.check(
        "more threads than processors: JSON",
        "1024" in str(many.body().get("warnings"))
        and many.body().get("results") == few.body().get("results"),
        many.out,
    )
    S.fails("empty ids", ["run", model, "--prompt-ids", ","], 2, "USE-(VALUE|PROMPT)")
    S.fails(
        "id beyond the vocabulary",
        ["run", model, "--prompt-ids", "5,99999"],
        2,
        "USE-(VALUE|PROMPT)",
        says="99999",
    )
    S.fails(
        "id beyond 64 bits",
        ["run", model, "--prompt-ids", "99999999999999999999999"],
        2,
        "USE-VALUE",
    )
    S.fails(
        "no such prompt file",
        ["run", model, "-f", S.folder / "none"],
        3,
        "FILE-READ",
        says="none",
    )
    S.fails(
        "prompt file not UTF-8",
        ["run", model, "-f", binary_file()],
        2,
        "USE-UTF8",
        says="byte 2",
        offset=True,
    )
    S.fails(
        "pipe not UTF-8", ["run", model], 2, "USE-UTF8", says="byte 2", stdin=b"ab\xff"
    )
    S.fails(
        "argument not UTF-8",
        ["run", model, "-p", b"ab\xffc"],
        2,
        "USE-UTF8",
        says="byte 2",
        offset=True,
    )
    S.fails("path not UTF-8", ["inspect", b"/x/\xff"], 2, "USE-UTF8")
    for words, code in ((["--temp", "-1"], "USE-VALUE"), (["--top-p", "2"], "USE-VALUE"), (["--min-p", "-1"], "USE-VALUE"),
                        (["--top-k", "-2"], "USE-VALUE"), (["--temp", "hot"], "USE-(OPTION|VALUE)"),
                        (["--threads", "0"], "USE-(OPTION|VALUE)"), (["--math", "wrong"], "USE-(OPTION|VALUE)"),
                        (["--isa", "z80"], "USE-(ISA|VALUE)"), (["--kv-dtype", "q1"], "USE-(OPTION|VALUE)")):  # fmt: skip
        S.fails(
            " ".join(words),
            ["run", model, "-p", "x", "-n", 1, *words],
            2,
            code,
            says=words[0] if words[0] != "--isa" else "z80",
        )
    bare = ck.llama_directory(S.folder / "no-tokenizer", tokenizer=False)
    S.fails(
        "no tokenizer", ["run", bare, "-p", "x"], 3, "TOK-MISSING", says="tokenizer"
    )
    S.fails(
        "no tokenizer in gguf",
        ["tokenize", bare_gguf(), "x"],
        3,
        "TOK-MISSING",
        says="tokenizer",
    )
    S.answers(
        "ids need no tokenizer", S.run("run", bare, *IDS, "--json"), 0, out='"ids"'
    )
    S.fails("chat without a template", ["chat", bare], 3, "TOK-MISSING")
    (model / "tokenizer_config.json").unlink()
    S.fails(
        "--system without a template",
        ["run", model, "-p", "x", "--system", "y"],
        2,
        "TMPL-MISSING",
        says="template",
    )
    (model / "tokenizer.json").write_text('{"model": {"type": "BPE"')
    S.fails(
        "tokenizer cut",
        ["tokenize", model, "x"],
        3,
        "TOK-FORMAT",
        says="tokenizer.json",
        offset=True,
    )
    (model / "tokenizer.json").write_text('{"model": {"type": "Magic", "vocab": []}}')
    S.fails(
        "tokenizer of an unknown kind",
        ["tokenize", model, "x"],
        3,
        "TOK-UNSUPPORTED",
        says="Magic",
    )


def binary_file() -> pathlib.Path:
    """Two letters and a byte that is no text."""
    path = S.folder / "binary.txt"
    path.write_bytes(b"ab\xff")
    return path


def wide() -> pathlib.Path:
    """A model that allows more positions than there is memory for."""
    return ck.llama_directory(
        S.folder / "wide", config=ck.llama_config(max_position_embeddings=1 << 40)
    )


def bare_gguf() -> pathlib.Path:
    """A model without tokenizer metadata."""
    path = S.folder / "bare.gguf"
    path.write_bytes(ck.gguf(ck.gguf_metadata(tokenizer=False)))
    return path


def test_usage() -> None:
    """Unknown verbs and options, with the closest that exists."""
    model = ck.llama_directory(S.folder / "usage")
    S.fails("no verb", [], 2, "USE-OPTION")
    S.fails(
        "unknown verb",
        ["rnu"],
        2,
        "USE-OPTION",
        says="unknown verb `rnu`.*did you mean `run`",
    )
    S.fails("unknown verb far from all", ["quuxify"], 2, "USE-OPTION", says="--help")
    S.fails(
        "unknown option",
        ["run", model, "--temprature", "1"],
        2,
        "USE-OPTION",
        says="did you mean `--temperature`",
    )
    S.fails(
        "unknown option with =",
        ["check", "llama", "--checkpont=x"],
        2,
        "USE-OPTION",
        says="did you mean `--checkpoint`",
    )
    S.fails("option without a value", ["run", model, "-n"], 2, "USE-OPTION")
    S.fails("nothing at all", [], 2, "USE-OPTION", says="a verb is missing")
    S.fails(
        "unknown verb after an option",
        ["--color", "never", "rnu"],
        2,
        "USE-OPTION",
        says="did you mean `run`",
    )
    S.fails(
        "unknown verb near a verb",
        ["compil"],
        2,
        "USE-OPTION",
        says="did you mean `compile`",
    )
    S.fails("nearly a program", ["check", "llamaa"], 3, "FILE-MODEL", says="`llama`")
    S.fails("no model", ["score"], 2, "USE-OPTION", says="axon score --help")
    lines = S.folder / "lines.jsonl"
    lines.write_text('{"prompt": "a"}\n\n{"prompt": ""}\n')
    S.fails(
        "empty prompt in a batch",
        ["run", model, "--batch", lines, "-n", 1],
        2,
        "USE-PROMPT",
        says="line 3.*empty",
    )
    for name, words in (
        ("two prompts", ["-p", "a", "b"]),
        ("a prompt and a file", ["a", "-f", lines]),
        ("a prompt and a batch", ["-p", "a", "--batch", lines]),
        ("ids and a prompt", ["-p", "a", *IDS]),
    ):
        S.fails(name, ["run", model, *words], 2, "USE-OPTION", says="more than one")
    S.fails(
        "empty stop string",
        ["run", model, "-p", "x", "--stop", ""],
        2,
        "USE-VALUE",
        says="--stop",
    )
    S.answers(
        "log-probabilities nowhere",
        S.run("run", model, "-p", "x", "--logprobs", 2),
        2,
        err="--json.*USE-OPTION",
    )
    for count, code in ((1, "USE-VALUE"), (-4, "USE-VALUE"), (1000, "USE-CONTEXT")):
        S.fails(
            f"score in windows of {count}",
            ["score", model, "--prompt-ids", "5,6,7", "-c", count],
            2,
            code,
            says="--ctx",
        )
    S.fails(
        "score of no text",
        ["score", model, "-f", binary_file()],
        2,
        "USE-UTF8",
        says="byte 2",
    )
    for words, code in (
        (["-p", "-5"], "USE-VALUE"),
        (["-b", "0"], "USE-VALUE"),
        (["-p", "1600"], "USE-CONTEXT"),
        (["-n", "200", "-d", "100"], "USE-CONTEXT"),
    ):
        S.fails("bench " + " ".join(words), ["bench", model, *words], 2, code)
    S.fails("number that is text", ["run", model, "-n", "many"], 2, "USE-OPTION")
    S.fails("dump without a stage", ["dump", "llama"], 2, "USE-OPTION", says="--stage")
    S.fails(
        "unknown stage",
        ["dump", "llama", "--stage", "parsed"],
        2,
        "USE-VALUE",
        says="parse",
    )
    S.fails(
        "unknown diagnostic",
        ["explain", "TYP-DIMM"],
        2,
        "USE-CODE",
        says="did you mean",
    )
    S.fails(
        "-o without --batch",
        ["run", model, "x", "-o", "y"],
        2,
        "USE-OPTION",
        says="--batch",
    )


if __name__ == "__main__":
    S.run_all(test_prompts, test_usage)
