"""Checkpoints that run all the same: what is odd about them is said once, and what needs little gets by with little."""

import json
import math
import pathlib
import re
import signal
import struct
import subprocess
import time

import checkpoints as ck
import harness as h

S = h.suite()


def test_unread_tensors() -> None:
    """Weights that the program does not read are a warning of every verb that runs it; buffers are none."""
    model = ck.llama_directory(
        S.folder / "short", config=ck.llama_config(num_hidden_layers=1)
    )
    text = S.folder / "text.txt"
    text.write_text("the sky")
    warned = r"warning: .*model\.layers\.1\..*lists all 9 \[W-PARAM-EXTRA\]"
    for verb in (["run", model, "the", "-n", 1], ["score", model, "-f", text]):
        answer = S.run(*verb)
        S.answers(f"{verb[0]}: unread weights", answer, 0, err=warned)
        S.check(
            f"{verb[0]}: unread weights, once",
            answer.err.count("W-PARAM") == 1,
            answer.err,
        )
        quiet = S.run(*verb, "-q")
        S.check(f"{verb[0]}: unread weights, quiet", not quiet.err, quiet.err)
    body = S.run("run", model, "the", "-n", 1, "--json").body()
    S.check(
        "run: unread weights in JSON",
        any("W-PARAM-EXTRA" in w for w in body.get("warnings", [])),
        str(body.get("warnings")),
    )
    shapes = {
        **ck.llama_shapes(),
        "model.layers.0.self_attn.rotary_emb.inv_freq": (4,),
        "model.layers.0.self_attn.attn.bias": (1, 1, 8, 8),
    }
    buffers = ck.llama_directory(S.folder / "buffers", tensors=ck.filled(shapes))
    answer = S.run("run", buffers, "the", "-n", 1)
    S.check("run: unread buffers", "W-PARAM" not in answer.err, answer.err)
    whole = ck.filled(ck.llama_shapes())
    whole["blk.7.odd.weight"] = ((4,), ck.floats(4, 1))
    records, data = ck.gguf_body(
        {k: v for k, v in whole.items() if not k.startswith("blk")}
    )
    records.append(
        ck.gguf_tensor("blk.7.odd.weight", [4], 0, len(data) + -len(data) % 32)
    )
    data += b"\0" * (-len(data) % 32) + b"\0" * 16
    path = S.folder / "odd.gguf"
    path.write_bytes(
        ck.gguf_raw([ck.gguf_pair(*p) for p in ck.gguf_metadata()], records, data)
    )
    answer = S.run("run", path, "the", "-n", 1)
    S.answers(
        "run: unread weights of GGUF", answer, 0, err=r"blk\.7\.odd.*W-PARAM-EXTRA"
    )


def test_special_ids() -> None:
    """Ids outside of the vocabulary are ignored with a warning, -1 is none, and other types are errors."""

    def gguf(*pairs) -> pathlib.Path:
        path = S.folder / "ids.gguf"
        names = {p[0] for p in pairs}
        kept = [p for p in ck.gguf_metadata() if p[0] not in names]
        path.write_bytes(ck.gguf([*kept, *pairs]))
        return path

    eos, bos = "tokenizer.ggml.eos_token_id", "tokenizer.ggml.bos_token_id"
    S.fails(
        "GGUF: end token of another type",
        ["run", gguf((eos, ck.STRING, "end")), "the", "-n", 1],
        3,
        "FILE-FORMAT",
        says="eos_token_id.*end",
    )
    answer = S.run("run", gguf((bos, ck.U32, 99999)), "the", "-n", 1)
    S.answers(
        "GGUF: begin token outside", answer, 0, err="bos_token_id` 99999.*is ignored"
    )
    answer = S.run("run", gguf((bos, ck.U32, (1 << 32) - 1)), "the", "-n", 1)
    S.check("GGUF: begin token -1", "bos" not in answer.err, answer.err)
    model = ck.llama_directory(S.folder / "ids")
    generation = model / "generation_config.json"
    generation.write_text(json.dumps({"eos_token_id": [0, 5000], "pad_token_id": -1}))
    answer = S.run("run", model, "the", "-n", 1)
    S.answers(
        "directory: end token outside", answer, 0, err="eos_token_id` 5000.*is ignored"
    )
    S.check("directory: no padding token", "pad_token" not in answer.err, answer.err)
    generation.write_text("[]")
    S.fails(
        "generation config that is a list",
        ["run", model, "the", "-n", 1],
        3,
        "FILE-CONFIG",
        says="generation_config.json.*not a JSON object",
    )


def test_logits_that_are_no_numbers() -> None:
    """Neither generation nor a score goes on from NaN."""
    tensors = ck.filled(ck.llama_shapes())
    shape, data = tensors["model.norm.weight"]
    tensors["model.norm.weight"] = (shape, struct.pack("<f", math.nan) + data[4:])
    model = ck.llama_directory(S.folder / "nan", tensors=tensors)
    text = S.folder / "nan.txt"
    text.write_text("the sky")
    S.fails(
        "run: NaN",
        ["run", model, "the", "-n", 2],
        1,
        "RUN-VALUE",
        says="not finite.*NaN",
    )
    S.fails(
        "score: NaN", ["score", model, "-f", text], 1, "RUN-VALUE", says="not finite"
    )


def test_tokenizer_alone(gguf: pathlib.Path) -> None:
    """`tokenize` needs neither configuration nor weights."""
    model = ck.llama_directory(S.folder / "bare")
    whole = S.run("tokenize", model, "the sky", "--ids")
    (model / "model.safetensors").unlink()
    (model / "config.json").unlink()
    answer = S.run("tokenize", model, "the sky", "--ids")
    S.answers("tokenize without weights", answer, 0)
    S.check("tokenize without weights: ids", answer.out == whole.out, answer.out)
    pairs = [p for p in ck.gguf_metadata() if p[0].startswith("tokenizer.")]
    path = S.folder / "words.gguf"
    path.write_bytes(ck.gguf_raw([ck.gguf_pair(*p) for p in pairs], []))
    answer = S.run("tokenize", path, "the sky", "--ids")
    S.answers("tokenize a vocabulary file", answer, 0)
    S.check("tokenize a vocabulary file: ids", answer.out == whole.out, answer.out)


def test_interrupted_tokenizer(model: pathlib.Path) -> None:
    """An interrupt ends the encoding of a long text."""
    path = S.folder / "long.txt"
    path.write_text("the sky is as blue as ever\n" * 600_000)
    for verb in ("tokenize", "score"):
        process = S.start(
            verb,
            model,
            "-f",
            path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(1.0)
        early = process.poll()
        if early is not None:  # too fast a machine to be caught at it
            S.check(f"{verb}: interrupt", early in (0, 1), str(early))
            continue
        status, seconds = h.interrupt(process, signal.SIGINT)
        S.check(
            f"{verb}: interrupt", status == 130 and seconds < 1, f"{status}, {seconds}"
        )


def test_standard_input(model: pathlib.Path, encoder: pathlib.Path) -> None:
    """`-f -` is standard input."""
    path = S.folder / "in.txt"
    path.write_text("the sky")
    for verb, where, *more in (
        ("run", model, "-n", 3), ("score", model), ("embed", encoder), ("tokenize", model),
    ):  # fmt: skip
        from_file = S.run(verb, where, "-f", path, *more)
        piped = S.run(verb, where, "-f", "-", *more, stdin=b"the sky")
        S.answers(f"{verb} -f -", piped, 0)
        S.check(f"{verb} -f -: same", piped.out == from_file.out, piped.out[:300])


def test_batch_ids(model: pathlib.Path) -> None:
    """Ids of a batch are passed on, and JSON is one object or lines, never both."""
    lines = b'{"prompt": "the", "id": "a1"}\n{"prompt": "sky", "id": 7}\n"the"\n'
    words = ["run", model, "--batch", "-", "-n", 2]
    rows = S.run(*words, stdin=lines).lines()
    S.check("batch: ids", [r.get("id") for r in rows] == ["a1", 7, None], str(rows))
    answer = S.run(*words, "--json", stdin=lines)
    S.answers("batch --json", answer, 0)
    S.check(
        "batch --json: one object",
        [r.get("id") for r in answer.body().get("results", [])] == ["a1", 7, None],
        answer.out[:300],
    )


def test_rows_of_tokens(encoder: pathlib.Path) -> None:
    """Rows of single tokens are not made unit vectors by the model's files."""
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "2", "type": "sentence_transformers.models.Normalize"},
    ]  # fmt: skip
    path = ck.bert_directory(S.folder / "unit")
    (path / "modules.json").write_text(json.dumps(modules))

    def lengths(*words) -> list[float]:
        body = S.run("embed", path, "the sky", *words, "--json").body()
        return [math.hypot(*row) for row in body["embeddings"]]

    def are_one(found: list[float]) -> bool:
        return all(abs(x - 1) < 1e-5 for x in found)

    S.check("embed: unit length by the files", are_one(lengths()))
    found = lengths("--pool", "none")
    S.check("embed --pool none: as they are", not are_one(found), str(found))
    S.check(
        "embed --pool none --normalize",
        are_one(lengths("--pool", "none", "--normalize")),
    )


def test_drawings(model: pathlib.Path) -> None:
    """Graphs as Graphviz draws them; other stages have text only."""
    words = ["dump", "llama", "--checkpoint", model, "--stage"]
    for stage in ("graph-ir", "final"):
        answer = S.run(*words, stage, "--format", "dot")
        S.answers(
            f"dump {stage} as dot", answer, 0, out=r"^digraph .*rmsnorm.*->.*\}\n$"
        )
        ends = {
            e for e in re.findall(r"^    (\w+) -> (\w+) ", answer.out, re.M) for e in e
        }
        boxes = set(re.findall(r"^    (\w+) \[label", answer.out, re.M))
        S.check(
            f"dump {stage} as dot: arrows join boxes",
            bool(ends) and ends <= boxes,
            str(ends - boxes),
        )
    S.fails(
        "dump parse as dot",
        [*words, "parse", "--format", "dot"],
        2,
        "USE-VALUE",
        says="graph-ir",
    )


if __name__ == "__main__":
    S.run_all(
        test_unread_tensors,
        test_special_ids,
        test_logits_that_are_no_numbers,
        test_tokenizer_alone,
        test_interrupted_tokenizer,
        test_standard_input,
        test_batch_ids,
        test_rows_of_tokens,
        test_drawings,
    )
