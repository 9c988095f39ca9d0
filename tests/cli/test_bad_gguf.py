"""GGUF headers with fields that are too large, too small, twice or unknown."""

import struct

import checkpoints as ck
import harness as h

S = h.suite()


def gguf_case(
    name: str, data: bytes, code: str = "FILE-FORMAT", says: str = ""
) -> None:
    """A file that must be refused at an offset."""
    path = S.folder / "case.gguf"
    path.write_bytes(data)
    S.fails(f"gguf: {name}", ["inspect", path], 3, code, says=says, offset=True)


def test_gguf_headers() -> None:
    """Fields that are too large, too small, twice, or unknown."""
    base = [ck.gguf_pair(*pair) for pair in ck.gguf_metadata(tokenizer=False)]

    def tensor(*args, **kwargs):
        return ck.gguf_raw(base, [ck.gguf_tensor(*args, **kwargs)], b"\0" * 4096)

    big = (1 << 42) + 1
    gguf_case(
        "dimension 2^42+1",
        tensor("token_embd.weight", [big, big], 0, 0),
        says="token_embd",
    )
    gguf_case(
        "dimension 2^42+1 alone",
        tensor("token_embd.weight", [big], 0, 0),
        "FILE-TRUNCATED",
        says="end",
    )
    gguf_case("product of 2^64", tensor("token_embd.weight", [1 << 32, 1 << 32], 0, 0))
    gguf_case(
        "dimension 2^63", tensor("token_embd.weight", [1 << 63], 0, 0), says="dimension"
    )
    gguf_case(
        "dimension 0", tensor("token_embd.weight", [0, 4], 0, 0), says="dimension"
    )
    gguf_case(
        "offset beyond the end",
        tensor("token_embd.weight", [4, 4], 0, 1 << 20),
        "FILE-TRUNCATED",
    )
    gguf_case(
        "offset that wraps",
        tensor("token_embd.weight", [4, 4], 0, (1 << 64) - 32),
        "FILE-TRUNCATED",
    )
    gguf_case(
        "offset off the alignment",
        tensor("token_embd.weight", [4, 4], 0, 5),
        says="multiple of 32",
    )
    for count in (0, 5, 1 << 31):
        gguf_case(
            f"n_dims {count}",
            tensor("token_embd.weight", [4, 4], 0, 0, n_dims=count),
            says=f"{count} dim",
        )
    gguf_case(
        "unknown tensor type",
        tensor("token_embd.weight", [4, 4], 99, 0),
        says="type number 99",
    )
    gguf_case(
        "retired tensor type",
        tensor("token_embd.weight", [32, 4], 4, 0),
        says="type number 4",
    )
    gguf_case(
        "row that ends inside a block", tensor("token_embd.weight", [33, 4], 2, 0)
    )
    twice = [ck.gguf_tensor("token_embd.weight", [4, 4], 0, 0)] * 2
    gguf_case("tensor twice", ck.gguf_raw(base, twice, b"\0" * 4096), says="twice")
    gguf_case("key twice", ck.gguf_raw([*base, base[0]], []), says="twice")
    for value in (0, 3, 1 << 30):
        pair = ck.gguf_pair("general.alignment", ck.U32, value)
        gguf_case(
            f"alignment {value}", ck.gguf_raw([*base, pair], []), says="alignment"
        )
    pair = ck.gguf_pair("general.alignment", ck.STRING, "32")
    gguf_case("alignment as text", ck.gguf_raw([*base, pair], []), says="alignment")
    long_string = (
        ck.gguf_string("a.b") + struct.pack("<IQ", ck.STRING, 1 << 40) + b"x" * 64
    )
    gguf_case(
        "string of 2^40", ck.gguf_raw([*base, long_string], []), says="1099511627776"
    )
    long_key = struct.pack("<Q", 1 << 40) + b"x" * 64
    gguf_case("key of 2^40", ck.gguf_raw([*base, long_key], []), says="1099511627776")
    for item, least in ((ck.U32, "2\\^?"), (ck.STRING, "")):
        array = (
            ck.gguf_string("a.b")
            + struct.pack("<IIQ", ck.ARRAY, item, 1 << 40)
            + b"x" * 64
        )
        gguf_case(
            f"array of 2^40 items of type {item}",
            ck.gguf_raw([*base, array], []),
            says="1099511627776",
        )
    wraps = (
        ck.gguf_string("a.b")
        + struct.pack("<IIQ", ck.ARRAY, ck.U64, (1 << 61) + 1)
        + b"x" * 64
    )
    gguf_case("array whose size wraps", ck.gguf_raw([*base, wraps], []))
    inner = struct.pack("<IQ", ck.U32, 0)
    nested = (
        ck.gguf_string("a.b") + struct.pack("<IIQ", ck.ARRAY, ck.ARRAY, 2) + inner * 2
    )
    gguf_case("nested arrays", ck.gguf_raw([*base, nested], []), says="array of arrays")
    odd = ck.gguf_string("a.b") + struct.pack("<I", 77) + b"x" * 64
    gguf_case("unknown metadata type", ck.gguf_raw([*base, odd], []), says="type 77")
    gguf_case(
        "count of tensors 2^40",
        ck.gguf_raw(base, [], counts=(1 << 40, len(base))),
        says="1099511627776",
    )
    gguf_case(
        "count of entries 2^40",
        ck.gguf_raw(base, [], counts=(0, 1 << 40)),
        says="1099511627776",
    )
    for version, says in ((1, "version 1"), (9, "version 9"), (3 << 24, "big-endian")):
        data = bytearray(ck.gguf_raw(base, []))
        data[4:8] = struct.pack("<I", version)
        gguf_case(f"version {version}", bytes(data), says=says)
    fewer = [p for p in ck.gguf_metadata() if p[0] != "llama.vocab_size"]
    gguf_case(
        "vocabulary of other size than the embedding",
        ck.gguf([*fewer, ("llama.vocab_size", ck.U32, ck.VOCAB // 2)]),
        says=f"`token_embd.weight` has {ck.VOCAB} rows, but `llama.vocab_size` is {ck.VOCAB // 2}",
    )
    path = S.folder / "other.gguf"
    path.write_bytes(b"GGML" + b"\0" * 64)
    S.fails("gguf: other magic", ["inspect", path], 3, "FILE-FORMAT", says="GGUF")
    path.write_bytes(ck.gguf([("general.architecture", ck.STRING, "llamb")], {}))
    S.fails(
        "gguf: unknown architecture",
        ["inspect", path],
        3,
        "FILE-MODEL",
        says="did you mean `llama`",
    )
    path.write_bytes(
        ck.gguf([pair for pair in ck.gguf_metadata() if pair[0] != "llama.block_count"])
    )
    S.fails(
        "gguf: no layer count",
        ["run", path, "the", "-n", "2"],
        3,
        "FILE-FORMAT",
        says="llama.block_count",
    )


if __name__ == "__main__":
    S.run_all(test_gguf_headers)
