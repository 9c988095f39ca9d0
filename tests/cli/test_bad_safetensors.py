"""Headers of safetensors with fields that are wrong."""

import json

import checkpoints as ck
import harness as h

S = h.suite()


def test_safetensors_headers() -> None:
    """The same for the other format."""
    model = ck.llama_directory(S.folder / "headers")
    path = model / "model.safetensors"

    def case(name: str, data: bytes, code: str = "FILE-FORMAT", says: str = "") -> None:
        path.write_bytes(data)
        S.fails(
            f"safetensors: {name}", ["inspect", model], 3, code, says=says, offset=True
        )

    def entry(dtype="F32", shape=(2, 2), offsets=(0, 16)):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}

    big = (1 << 42) + 1
    data = b"\0" * 64
    case("dimension 2^42+1", ck.raw_safetensors({"a": entry(shape=(big, big))}, data))
    case(
        "product of 2^64",
        ck.raw_safetensors(
            {"a": entry(shape=(1 << 32, 1 << 32), offsets=(0, 0))}, data
        ),
    )
    case(
        "size that wraps to the range",
        ck.raw_safetensors({"a": entry(shape=(1 << 62, 1), offsets=(0, 0))}, data),
    )
    case(
        "offset beyond the end",
        ck.raw_safetensors({"a": entry(offsets=(1000, 1016))}, data),
        "FILE-TRUNCATED",
    )
    far = (1 << 63) - 17
    case(
        "offset near 2^63",
        ck.raw_safetensors({"a": entry(offsets=(far, far + 16))}, data),
        "FILE-TRUNCATED",
    )
    case(
        "offsets the wrong way round",
        ck.raw_safetensors({"a": entry(offsets=(16, 0))}, data),
    )
    case("negative offset", ck.raw_safetensors({"a": entry(offsets=(-16, 0))}, data))
    case(
        "negative dimension",
        ck.raw_safetensors({"a": entry(shape=(-2, -2))}, data),
        says="dimension",
    )
    case(
        "dimension that is text",
        ck.raw_safetensors({"a": entry(shape=("2", 2))}, data),
        says="dimension",
    )
    case("dimension 2^70", ck.raw_safetensors({"a": entry(shape=(1 << 70,))}, data))
    case(
        "range and shape differ",
        ck.raw_safetensors({"a": entry(offsets=(0, 12))}, data),
        says="needs 16",
    )
    case(
        "unknown element type",
        ck.raw_safetensors({"a": entry(dtype="Q9")}, data),
        says="Q9",
    )
    case(
        "no shape",
        ck.raw_safetensors({"a": {"dtype": "F32", "data_offsets": [0, 16]}}, data),
        says="shape",
    )
    case("header is a list", ck.raw_safetensors([1, 2], data))
    case("header is no JSON", ck.raw_safetensors(b'{"a": ', data), "FILE-(JSON|FORMAT)")
    one = json.dumps(entry())
    twice = f'{{"a": {one}, "a": {one}}}'.encode()
    case(
        "tensor twice",
        ck.raw_safetensors(twice, data),
        "FILE-(JSON|FORMAT)",
        says="twice|duplicate",
    )
    case("nothing but data", ck.raw_safetensors({}, data), says="64 bytes follow")
    case(
        "bytes after the last tensor",
        ck.raw_safetensors({"a": entry()}, data),
        says="48 bytes",
    )
    two = {"a": entry(), "b": entry(offsets=(8, 24))}
    case("tensors that overlap", ck.raw_safetensors(two, data[:24]), says="`b` begins")
    two["b"] = entry(offsets=(20, 36))
    case("bytes between tensors", ck.raw_safetensors(two, data[:36]), says="`b` begins")
    case("length 2^62", ck.raw_safetensors({}, data, length=1 << 62))
    case("length 2^64-1", ck.raw_safetensors({}, data, length=(1 << 64) - 1))
    case(
        "length past the end",
        ck.raw_safetensors({}, data, length=5000),
        "FILE-TRUNCATED",
    )
    deep = b'{"a": ' + b"[" * 100000 + b"]" * 100000 + b"}"
    case("deep nesting", ck.raw_safetensors(deep, data), "FILE-(JSON|FORMAT)")


if __name__ == "__main__":
    S.run_all(test_safetensors_headers)
