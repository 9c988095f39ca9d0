"""Tiny checkpoints made from nothing: safetensors directories and GGUF files, whole or broken on purpose."""

import array
import json
import pathlib
import random
import re
import struct
import sys

# ---- files ---------------------------------------------------------------------------------


def floats(count: int, seed: int, scale: float = 0.3, around: float = 0.0) -> bytes:
    """Little-endian float32 values that depend on the seed only."""
    source = random.Random(seed)
    values = array.array(
        "f", (around + source.uniform(-scale, scale) for _ in range(count))
    )
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def product(shape) -> int:
    """Number of elements."""
    total = 1
    for extent in shape:
        total *= extent
    return total


def safetensors(tensors: dict, pad: int = 0) -> bytes:
    """A file of {name: (shape, float32 bytes)}; `pad` blanks move the data to another alignment."""
    header, offset = {}, 0
    for name, (shape, data) in tensors.items():
        header[name] = {
            "dtype": "F32",
            "shape": list(shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
    text = json.dumps(header).encode() + b" " * pad
    return (
        struct.pack("<Q", len(text))
        + text
        + b"".join(data for _, data in tensors.values())
    )


def raw_safetensors(header, data: bytes = b"", length: int | None = None) -> bytes:
    """A file with this header (text or JSON value) and any length field."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


# ---- llama as a directory ------------------------------------------------------------------

HIDDEN, INNER, HEADS, KV_HEADS, LAYERS = 16, 24, 2, 1, 2
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]


def byte_characters() -> list[str]:
    """The printable character by which byte-level BPE writes each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    extra = iter(range(256, 512))
    return [chr(b if b in plain else next(extra)) for b in range(256)]


def vocabulary() -> list[str]:
    """Special tokens, all bytes, two merges."""
    return SPECIAL + byte_characters() + ["th", "the"]


MERGES = [("t", "h"), ("th", "e")]
VOCAB = len(SPECIAL) + 256 + 2
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def llama_config(**changes) -> dict:
    """The configuration; a change to None removes the key."""
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS, "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": False,
        "vocab_size": VOCAB, "eos_token_id": 0, "attention_bias": False, "mlp_bias": False,
    }  # fmt: skip
    config.update(changes)
    return {key: value for key, value in config.items() if value is not None}


def llama_shapes(
    hidden: int = HIDDEN, inner: int = INNER, layers: int = LAYERS
) -> dict:
    """Published names and shapes."""
    head = hidden // HEADS
    shapes = {"model.embed_tokens.weight": (VOCAB, hidden), "model.norm.weight": (hidden,),
              "lm_head.weight": (VOCAB, hidden)}  # fmt: skip
    for i in range(layers):
        base = f"model.layers.{i}."
        shapes[base + "input_layernorm.weight"] = (hidden,)
        shapes[base + "post_attention_layernorm.weight"] = (hidden,)
        shapes[base + "self_attn.q_proj.weight"] = (HEADS * head, hidden)
        shapes[base + "self_attn.k_proj.weight"] = (KV_HEADS * head, hidden)
        shapes[base + "self_attn.v_proj.weight"] = (KV_HEADS * head, hidden)
        shapes[base + "self_attn.o_proj.weight"] = (hidden, HEADS * head)
        shapes[base + "mlp.gate_proj.weight"] = (inner, hidden)
        shapes[base + "mlp.up_proj.weight"] = (inner, hidden)
        shapes[base + "mlp.down_proj.weight"] = (hidden, inner)
    return shapes


def filled(shapes: dict) -> dict:
    """Random weights for names and shapes; norms near one."""
    out = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        out[name] = (
            shape,
            floats(product(shape), seed, around=1.0 if "norm" in name.lower() else 0.0),
        )
    return out


def tokenizer_json() -> dict:
    """Byte-level BPE with special tokens."""
    added = [
        {"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i, text in enumerate(SPECIAL)
    ]  # fmt: skip
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": None, "pre_tokenizer": level, "post_processor": level, "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False,
                  "vocab": {text: i for i, text in enumerate(vocabulary())},
                  "merges": [" ".join(pair) for pair in MERGES]},
    }  # fmt: skip


def llama_directory(
    path: pathlib.Path,
    *,
    config: dict | None = None,
    tensors: dict | None = None,
    tokenizer: bool = True,
    pad: int = 0,
) -> pathlib.Path:
    """A llama checkpoint as Hugging Face publishes them."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(
        json.dumps(llama_config() if config is None else config)
    )
    weights = filled(llama_shapes()) if tensors is None else tensors
    (path / "model.safetensors").write_bytes(safetensors(weights, pad))
    if tokenizer:
        (path / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
        (path / "tokenizer_config.json").write_text(
            json.dumps({"chat_template": TEMPLATE})
        )
    return path


# ---- bert as a directory -------------------------------------------------------------------

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "sky", "is", "blue", "##s", "."]


def bert_directory(path: pathlib.Path) -> pathlib.Path:
    """An encoder with a WordPiece tokenizer."""
    path.mkdir(parents=True, exist_ok=True)
    hidden, inner, positions = 12, 20, 32
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": hidden, "intermediate_size": inner,
        "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": positions,
        "type_vocab_size": 2, "vocab_size": len(WORDS), "layer_norm_eps": 1e-12, "hidden_act": "gelu",
        "pad_token_id": 0,
    }  # fmt: skip
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), hidden),
        "embeddings.position_embeddings.weight": (positions, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
    }
    layer = "encoder.layer.0."
    for name, rows, columns in (
        (layer + "attention.self.query", hidden, hidden), (layer + "attention.self.key", hidden, hidden),
        (layer + "attention.self.value", hidden, hidden), (layer + "attention.output.dense", hidden, hidden),
        (layer + "intermediate.dense", inner, hidden), (layer + "output.dense", hidden, inner),
        ("pooler.dense", hidden, hidden),
    ):  # fmt: skip
        shapes[name + ".weight"], shapes[name + ".bias"] = (rows, columns), (rows,)
    for name in (
        "embeddings.LayerNorm",
        layer + "attention.output.LayerNorm",
        layer + "output.LayerNorm",
    ):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (hidden,)
    (path / "config.json").write_text(json.dumps(config))
    (path / "model.safetensors").write_bytes(safetensors(filled(shapes)))
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                           "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}},
    }  # fmt: skip
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": template,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {w: i for i, w in enumerate(WORDS)}},
    }  # fmt: skip
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    return path


# ---- llama as GGUF -------------------------------------------------------------------------

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10


def gguf_string(text: str) -> bytes:
    """A length and the bytes."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(kind: int, value) -> bytes:
    """A metadata value without its type."""
    if kind == STRING:
        return gguf_string(value)
    if kind == ARRAY:
        item, items = value
        return struct.pack("<IQ", item, len(items)) + b"".join(
            gguf_value(item, x) for x in items
        )
    return struct.pack(
        {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q"}[kind], value
    )


def gguf_pair(key: str, kind: int, value) -> bytes:
    """One metadata entry."""
    return gguf_string(key) + struct.pack("<I", kind) + gguf_value(kind, value)


def gguf_metadata(
    tokenizer: bool = True, hidden: int = HIDDEN, inner: int = INNER
) -> list:
    """The entries of a llama model."""
    pairs = [
        ("general.architecture", STRING, "llama"), ("llama.context_length", U32, 256),
        ("llama.embedding_length", U32, hidden), ("llama.block_count", U32, LAYERS),
        ("llama.feed_forward_length", U32, inner), ("llama.attention.head_count", U32, HEADS),
        ("llama.attention.head_count_kv", U32, KV_HEADS),
        ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), ("llama.rope.freq_base", F32, 10000.0),
        ("llama.vocab_size", U32, VOCAB),
    ]  # fmt: skip
    if tokenizer:
        pairs += [
            ("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "gpt-2"),
            ("tokenizer.ggml.tokens", ARRAY, (STRING, vocabulary())),
            ("tokenizer.ggml.token_type", ARRAY, (I32, [3] * len(SPECIAL) + [1] * (VOCAB - len(SPECIAL)))),
            ("tokenizer.ggml.merges", ARRAY, (STRING, [" ".join(pair) for pair in MERGES])),
            ("tokenizer.ggml.eos_token_id", U32, 0), ("tokenizer.chat_template", STRING, TEMPLATE),
        ]  # fmt: skip
    return pairs


GGUF_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def gguf_name(published: str) -> str:
    """The name of a tensor in the format."""
    stem = published.removesuffix(".weight")
    layer = re.fullmatch(r"model\.layers\.(\d+)\.(.*)", stem)
    if layer:
        return f"blk.{layer[1]}.{GGUF_NAMES[layer[2]]}.weight"
    return GGUF_NAMES[stem] + ".weight"


def gguf_tensor(
    name: str, dims: list[int], kind: int, offset: int, n_dims: int | None = None
) -> bytes:
    """One tensor record."""
    count = len(dims) if n_dims is None else n_dims
    out = (
        gguf_string(name)
        + struct.pack("<I", count)
        + b"".join(struct.pack("<Q", d) for d in dims)
    )
    return out + struct.pack("<IQ", kind, offset)


def gguf_interleave(data: bytes, heads: int, columns: int) -> bytes:
    """Rows of q or k as the format stores them: halves of a head interleaved."""
    row = columns * 4
    rows = [data[i : i + row] for i in range(0, len(data), row)]
    size = len(rows) // heads
    out = []
    for h in range(heads):
        part = rows[h * size : (h + 1) * size]
        for i in range(size // 2):
            out += [part[i], part[size // 2 + i]]
    return b"".join(out)


def q8_0(data: bytes) -> bytes:
    """Blocks of 32: a half-precision scale and 32 signed bytes."""
    out = b""
    for at in range(0, len(data), 128):
        block = struct.unpack_from("<32f", data, at)
        scale = max(map(abs, block)) / 127 or 1.0
        out += struct.pack("<e32b", scale, *(round(v / scale) for v in block))
    return out


def q4_1(data: bytes) -> bytes:
    """Blocks of 32: scale, least value, and 32 half bytes, those of the second half above."""
    out = b""
    for at in range(0, len(data), 128):
        block = struct.unpack_from("<32f", data, at)
        least = min(block)
        scale = (max(block) - least) / 15 or 1.0
        codes = [min(15, max(0, round((v - least) / scale))) for v in block]
        packed = bytes(codes[i] | codes[i + 16] << 4 for i in range(16))
        out += struct.pack("<ee", scale, least) + packed
    return out


def gguf_body(
    tensors: dict, alignment: int = 32, shift: int = 0, quantised: bool = False
) -> tuple[list[bytes], bytes]:
    """Records and data of tensors; `shift` moves each tensor (with alignment 1)."""
    records, data = [], b"\0" * shift
    for name, (shape, bytes_) in tensors.items():
        data += b"\0" * (-len(data) % alignment)
        if "q_proj" in name or "k_proj" in name:
            bytes_ = gguf_interleave(
                bytes_, HEADS if "q_proj" in name else KV_HEADS, shape[1]
            )
        kind = 0
        if quantised and len(shape) == 2:
            kind = 3 if "mlp" in name else 8
            bytes_ = q4_1(bytes_) if kind == 3 else q8_0(bytes_)
        records.append(
            gguf_tensor(gguf_name(name), list(reversed(shape)), kind, len(data))
        )
        data += bytes_
    return records, data


def gguf(
    pairs: list | None = None,
    tensors: dict | None = None,
    alignment: int = 32,
    shift: int = 0,
) -> bytes:
    """A llama model file."""
    pairs = gguf_metadata() if pairs is None else pairs
    if alignment != 32:
        pairs = [*pairs, ("general.alignment", U32, alignment)]
    weights = filled(llama_shapes()) if tensors is None else tensors
    records, data = gguf_body(weights, alignment, shift)
    return gguf_raw([gguf_pair(*pair) for pair in pairs], records, data, alignment)


def gguf_raw(
    pairs: list[bytes],
    records: list[bytes],
    data: bytes = b"",
    alignment: int = 32,
    counts: tuple | None = None,
) -> bytes:
    """A file from encoded entries, with any counts."""
    n_tensors, n_pairs = counts or (len(records), len(pairs))
    head = (
        b"GGUF"
        + struct.pack("<IQQ", 3, n_tensors, n_pairs)
        + b"".join(pairs)
        + b"".join(records)
    )
    return head + b"\0" * (-len(head) % alignment) + data
