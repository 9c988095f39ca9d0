"""Tensor data at every alignment gives the same tokens."""

import checkpoints as ck
import harness as h

S = h.suite()


def same_ids(name: str, make, words: list) -> None:
    """`make(pad)` writes a model whose data lies `pad` bytes further on."""

    def ids(pad: int):
        answer = S.run("run", make(pad), "--prompt-ids", "9,20,31", "-n", 3, *words)
        results = answer.body().get("results") or [{"ids": (answer.status, answer.err)}]
        return results[0]["ids"]

    found = S.each(ids, range(64))
    bad = [(pad, f) for pad, f in enumerate(found) if f != found[0] or len(f) != 3]
    S.check(f"{name} at 64 alignments", not bad, f"{bad[:3]}, expected {found[0]}")


def test_safetensors() -> None:
    """Blanks behind the header."""
    weights = ck.filled(ck.llama_shapes())

    def make(pad: int):
        folder = S.folder / f"align-{pad}"
        return ck.llama_directory(folder, tensors=weights, tokenizer=False, pad=pad)

    same_ids("safetensors", make, ["--json", "--math", "exact"])


def test_gguf() -> None:
    """No alignment, and bytes before the first tensor."""
    weights = ck.filled(ck.llama_shapes())
    pairs = ck.gguf_metadata(tokenizer=False)

    def make(pad: int):
        path = S.folder / f"align-{pad}.gguf"
        path.write_bytes(ck.gguf(pairs, weights, alignment=1, shift=pad))
        return path

    same_ids("gguf", make, ["--json", "--math", "exact"])


def test_blocks() -> None:
    """The same for blocks of 18 to 34 bytes, whose rows start anywhere."""
    weights = ck.filled(ck.llama_shapes(hidden=64, inner=96))
    pairs = ck.gguf_metadata(tokenizer=False, hidden=64, inner=96)
    pairs.append(("general.alignment", ck.U32, 1))
    records, data = ck.gguf_body(weights, alignment=1, quantised=True)

    def make(pad: int):
        path = S.folder / f"blocks-{pad}.gguf"
        longer = [*pairs, ("general.name", ck.STRING, "x" * pad)]
        path.write_bytes(
            ck.gguf_raw([ck.gguf_pair(*p) for p in longer], records, data, 1)
        )
        return path

    same_ids("blocks", make, ["--json", "--math", "auto"])


if __name__ == "__main__":
    S.run_all(test_safetensors, test_gguf, test_blocks)
