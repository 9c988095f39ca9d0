"""Tokenizers and side files with odd values: an answer or an error, never a crash or endless memory."""

import copy
import json
import pathlib
import random
import shutil

import checkpoints as ck
import harness as h

S = h.suite()
ODD = [None, True, -1, 0, 7, 1 << 40, 1e300, "", "x", "\ud83d", [], [[]], {}, {"type": "Sequence"}]  # fmt: skip


def places(value, path: tuple = ()) -> list[tuple]:
    """Paths to everything in a JSON value; of long lists and maps the first and last items."""
    found = [path] if path else []
    if isinstance(value, dict):
        keys = list(value)
        inner = [(key, value[key]) for key in (keys[:9] + keys[-1:])]
    elif isinstance(value, list):
        inner = [(i, value[i]) for i in sorted({0, len(value) - 1}) if value]
    else:
        inner = []
    for key, item in inner:
        found += places(item, (*path, key))
    return found


def changed(value, path: tuple, odd):
    """A copy with another value at a path."""
    out = copy.deepcopy(value)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    return out


def fault(name: str, words: list) -> str | None:
    """What is wrong with an answer: a crash, our own bug, or a failure without a code."""
    answer = S.run(*words, "--json", timeout=120)
    if answer.status == 0:
        return None
    error = answer.body().get("error") or {}
    good = answer.status in (1, 2, 3) and error.get("code") and error.get("message")
    return None if good else f"{name}: status {answer.status}, {answer.err[:400]}"


def test_tokenizer_json(model: pathlib.Path) -> None:
    """Odd values at every place of tokenizer.json."""
    whole = json.loads((model / "tokenizer.json").read_text())
    source = random.Random(5)
    cases = [(p, odd) for p in places(whole) for odd in source.sample(ODD, 3)]

    def one(case):
        number, (path, odd) = case
        folder = S.folder / f"tok-{number}"
        folder.mkdir()
        for name in ("config.json", "model.safetensors"):
            (folder / name).symlink_to(model / name)
        text = json.dumps(changed(whole, path, odd))
        (folder / "tokenizer.json").write_text(text)
        return fault(
            f"{path} = {odd!r}", ["tokenize", folder, "the sky é\u0301 <|end|>"]
        )

    bad = [text for text in S.each(one, enumerate(cases)) if text]
    S.check(
        f"tokenizer.json: {len(cases)} odd values", not bad, "\n     ".join(bad[:6])
    )


def test_gguf_tokenizer() -> None:
    """Metadata of a tokenizer with other types, lengths and values."""
    pairs = ck.gguf_metadata()
    odd = [
        (ck.STRING, "x"), (ck.U32, 1 << 31), (ck.I32, -1), (ck.BOOL, True),
        (ck.ARRAY, (ck.STRING, [])), (ck.ARRAY, (ck.I32, [1, 2, -3])), (ck.ARRAY, (ck.STRING, ["a"] * 300)),
        (ck.F32, 1e30),
    ]  # fmt: skip
    cases = []
    for i, (key, _, _) in enumerate(pairs):
        for kind, value in odd:
            cases.append([*pairs[:i], (key, kind, value), *pairs[i + 1 :]])
        cases.append([*pairs[:i], *pairs[i + 1 :]])
    body = ck.gguf_body(ck.filled(ck.llama_shapes()))

    def one(case):
        number, entries = case
        path = S.folder / f"tok-{number}.gguf"
        path.write_bytes(ck.gguf_raw([ck.gguf_pair(*pair) for pair in entries], *body))
        changed = [pair for pair in entries if pair not in pairs]
        words = ["tokenize", path, "the sky é <|end|>"]
        if not changed or not changed[0][0].startswith("tokenizer."):
            words = ["run", path, "the sky", "-n", 1]
        return fault(str(changed), words)

    bad = [text for text in S.each(one, enumerate(cases)) if text]
    S.check(f"GGUF metadata: {len(cases)} odd values", not bad, "\n     ".join(bad[:6]))


def test_side_files(model: pathlib.Path) -> None:
    """Odd values in the configuration and in the files beside it."""
    config = json.loads((model / "config.json").read_text())
    generation = {"eos_token_id": [0, 5], "temperature": 0.5, "top_k": 3, "do_sample": True, "max_new_tokens": 4}  # fmt: skip
    side = {"chat_template": ck.TEMPLATE, "bos_token": "<|user|>", "eos_token": {"content": "<|end|>"},
            "added_tokens_decoder": {"0": {"content": "<|end|>", "special": True}}}  # fmt: skip
    wholes = {
        "config.json": config,
        "generation_config.json": generation,
        "tokenizer_config.json": side,
    }
    source = random.Random(9)
    cases = [
        (name, path, odd)
        for name, whole in wholes.items()
        for path in places(whole)
        for odd in source.sample(ODD, 4)
    ]

    def one(case):
        number, (name, path, odd) = case
        folder = S.folder / f"side-{number}"
        folder.mkdir()
        for other in model.iterdir():
            shutil.copy(other, folder)
        (folder / name).write_text(json.dumps(changed(wholes[name], path, odd)))
        words = ["run", folder, "the sky", "-n", 2]
        return fault(f"{name}: {path} = {odd!r}", words)

    bad = [text for text in S.each(one, enumerate(cases)) if text]
    S.check(f"side files: {len(cases)} odd values", not bad, "\n     ".join(bad[:6]))


if __name__ == "__main__":
    S.run_all(test_tokenizer_json, test_gguf_tokenizer, test_side_files)
