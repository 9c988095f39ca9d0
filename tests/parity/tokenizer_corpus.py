#!/usr/bin/env python3
"""Writes what the reference tokenizers make of a corpus, for tokenize_check to compare.

tokenizer_corpus.py OUT [--gguf FILE] [--wordpiece DIR] [--count N]

For each tokenizer OUT gets NAME.expected, and NAME.json where the tokenizer is made here: from the
GGUF file's metadata, or trained small on this corpus. The corpus is the same at every run.
"""

import argparse
import itertools
import json
import pathlib
import random
import struct
import sys

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it? They'll say they've seen it; I'm sure you'd agree.",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)  # 1, 1, 2, 3, 5\n\n\nprint(fib(10))\r\n",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. STRASSE, Straße, ẞ.",
    "Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis. Noël à l'œil nu.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; ¿añoraba a su niño?",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Ёлка, ВЫХОД.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΟΔΟΣ, Ὀδυσσεύς, ᾳ ᾼ ΐ ϐ.",
    "我能吞下玻璃而不伤身体。今天天气怎么样？二〇二四年１２月３１日，㈱㌔①。",
    "いろはにほへと ちりぬるを。ガギグゲゴ ｶﾞｷﾞｸﾞ カタカナ・ひらがな、々〆ヶ。",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다. 각간갇 가각",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر. ١٢٣ ۴۵۶ لَا إِلٰهَ",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה. שָׁלוֹם ״כן״",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश। क़ख़ १२३",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ๑๒๓ กำ",
    "Pchnąć w tę łódź jeża lub ośm skrzyń fig. İstanbul'da ılık IĞDIR. Příliš žluťoučký kůň.",
    "Tiếng Việt: Con sói nâu nhảy qua con chó lười. Đường phố Hà Nội ế ệ ǹ ṩ q\u0307\u0323.",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪🇯🇵 ❤️ ☺︎ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🫠 #️⃣ 🧑🏿‍🚀 ©®™",
    "∀ε>0 ∃δ: |x−a|<δ ⇒ |f(x)−f(a)|<ε; ½ ¾ x² H₂O √2 ≈ 1.41421356 ℝ ℵ₀ ﬁ ﬂ Ⅷ ⁹",
    "user@example.com https://example.org/a?b=c&d=%20e#f C:\\Temp\\new 192.168.0.1 +1 (555) 010-9999 $3,141.59",
    '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n{"a": [1, 2.5e-3, null], "b": "\\u00e9"}<|endoftext|>',
    "[CLS] a [MASK] b [SEP][PAD][UNK] ## ##ing un##ed ' ' n't 's 've 're do not . , ! ?",
    "I'LL 'S 'Ve 'rE ‘tis ’twas don’t rock'n'roll O'Neil's 'ſ Ka 'K",
    "aaaaaaaaaaaaaaaa" * 8 + " " + "ab" * 60 + " " + "xyzzy" * 30,
    "Ａｆｕｌｌｗｉｄｔｈ　ｔｅｘｔ ﷺ ﷽ ㍿ ㎏ ｢｣ ﾟ ﾞ ﾊﾟ ﾊﾞ",
]

BLANKS = [
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\u00a0",
    "\u2003",
    "\u200b",
    "\u3000",
    "\u0085",
    "\u2028",
    "\v",
    "\f",
    "\ufeff",
    "\x1c",
    "\u180e",
]


# First code points of blocks inside the sparsely sampled ranges: each is sampled for certain.
BLOCKS = [
    *(0x3400, 0x4DC0, 0x4E00, 0x9F80, 0xAC00, 0xD780, 0xD7B0, 0xE000, 0xF880, 0x20000, 0x2A700, 0x2B740),
    *(0x2B820, 0x2CEB0, 0x2EBF0, 0x2F800, 0x30000, 0x31350, 0x323B0, 0xE0000, 0xE0100, 0xF0000, 0x100000),
]  # fmt: skip


def block_samples(rng: random.Random) -> list[str]:
    """Three samples of every run of 128 code points, alone, between letters, and mixed."""
    out = []
    for start in range(0, 0x110000, 128):
        if 0xD800 <= start < 0xE000:
            continue
        dense = start < 0x3400 or 0xA000 <= start < 0xAC00 or 0xF900 <= start < 0x20000
        named = any(start <= first < start + 128 for first in BLOCKS)
        if not dense and not named and rng.random() > 0.02:
            continue
        for _ in range(4 if dense or named else 1):
            chars = [
                chr(start + rng.randrange(128)) for _ in range(rng.randrange(1, 12))
            ]
            out.append("".join(chars))
            out.append(" ".join(chars) + "a" + "e".join(chars) + "1")
            out.append(
                "".join(
                    c + rng.choice(["", " ", "x", "\u0301", "7", "'s", "."])
                    for c in chars
                )
            )
    return out


def lettered(number: int) -> str:
    """A token of letters alone, capitals and accents among them."""
    return f"Qé{chr(97 + number // 8)}{chr(97 + number % 8)}ß"


def added_contents() -> list[str]:
    made = [f"<a{i:02d}>" for i in range(32)] + [lettered(i) for i in range(32)]
    return made + [
        "Straße",
        "NASA",
        "naïve",
        "e\u0301t",
        "ing",
        "  ",
        "É",
    ]


def corpus(count: int) -> list[str]:
    rng = random.Random(20240607)
    out = ["", " ", "a", "\n", "\x00", "\ufffd", "\U0010ffff"] + SENTENCES
    out += block_samples(rng)
    special = added_contents() + [
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "[CLS]",
        "[MASK]",
        "[SEP]",
        "[UNK]",
    ]
    for token in added_contents():
        for form in (token, token.lower(), token.upper()):
            out += [form, f"wo{form}rd", f"{form}{form}", f" {form} ", f"wo {form} rd"]
            out += [
                f"wo{form} rd",
                f"wo {form}rd",
                f"\u00a0{form}\n",
                f"é{form}_{form}1",
                f"-{form}.",
            ]
    for sentence in SENTENCES:
        for cut in range(0, len(sentence), 3):
            out.append(sentence[cut : cut + rng.randrange(1, 40)])
    while len(out) < count:
        kind = rng.randrange(7)
        if kind == 0:
            out.append(
                rng.randbytes(rng.randrange(1, 60)).decode("utf-8", errors="replace")
            )
        elif kind == 1:
            out.append(
                "".join(
                    rng.choice(BLANKS) * rng.randrange(1, 6)
                    + rng.choice(["", "a", "1", ".", "é"])
                    for _ in range(rng.randrange(1, 9))
                )
            )
        elif kind == 2:
            out.append(
                "".join(
                    rng.choice("0123456789٣३五Ⅷ²½.,-eE +")
                    for _ in range(rng.randrange(1, 40))
                )
            )
        elif kind in (3, 4):
            text = list(rng.choice(SENTENCES)[: rng.randrange(1, 60)])
            for _ in range(rng.randrange(1, 6)):
                token = rng.choice(special)
                token = rng.choice(
                    [
                        token,
                        token.lower(),
                        token.upper(),
                        rng.choice(BLANKS) + token + rng.choice(BLANKS),
                    ]
                )
                text.insert(rng.randrange(len(text) + 1), token)
            out.append("".join(text))
        elif kind == 5:
            marks = "\u0300\u0301\u0323\u0327\u0334\u0345\u05b0\u0651\u3099\u0e38\u1ac0\U0001e8d0\U00011938\U00011930"
            out.append(
                "".join(
                    rng.choice("aeiouAEO가ㄱ각한の\U00011935")
                    + "".join(rng.choice(marks) for _ in range(rng.randrange(4)))
                    for _ in range(rng.randrange(1, 9))
                )
            )
        else:
            out.append(
                "".join(
                    rng.choice(
                        [
                            chr(rng.randrange(0x20, 0x7F)),
                            chr(rng.randrange(0x80, 0x800)),
                            chr(rng.randrange(0x800, 0xD800)),
                            chr(rng.randrange(0x10000, 0x20000)),
                        ]
                    )
                    for _ in range(rng.randrange(1, 30))
                )
            )
    return out


def every_flag() -> list[AddedToken]:
    out = []
    for i, flags in enumerate(itertools.product([False, True], repeat=5)):
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        out.append(AddedToken(f"<a{i:02d}>", **dict(zip(names, flags))))
        out.append(AddedToken(lettered(i), **dict(zip(names, flags))))
    out += [
        AddedToken("Straße", single_word=True, normalized=True),
        AddedToken("NASA", lstrip=True, rstrip=True, normalized=True),
        AddedToken("naïve", normalized=True, special=True),
        AddedToken("e\u0301t", normalized=True),
        AddedToken("ing", normalized=False, single_word=False),
        AddedToken("  ", normalized=False, rstrip=True),
    ]
    return out


def from_gguf(path: str) -> Tokenizer:
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    out = Tokenizer(
        models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges)
    )
    out.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    out.decoder = decoders.ByteLevel()
    out.add_special_tokens(
        [
            AddedToken(t, special=True, normalized=False)
            for t, k in zip(tokens, types)
            if k == 3
        ]
    )
    return out


def trained_bpe(texts: list[str]) -> Tokenizer:
    out = Tokenizer(models.BPE())
    out.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    out.decoder = decoders.ByteLevel()
    out.post_processor = processors.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    out.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=3000, initial_alphabet=sorted(alphabet), show_progress=False
        ),
    )
    out.add_tokens(every_flag())
    return out


def trained_split_bpe(texts: list[str]) -> Tokenizer:
    """The steps of newer byte-level tokenizers, with normalization and a template."""
    out = Tokenizer(models.BPE(ignore_merges=True))
    out.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"\s{3,}"), "  "),
            normalizers.Strip(left=False, right=True),
        ]
    )
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    out.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
        ]
    )
    out.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    out.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=3000, initial_alphabet=sorted(alphabet), show_progress=False
        ),
    )
    out.add_tokens(every_flag())
    out.post_processor = processors.TemplateProcessing(
        single="<a01> $A <a31>",
        special_tokens=[
            ("<a01>", out.token_to_id("<a01>")),
            ("<a31>", out.token_to_id("<a31>")),
        ],
    )
    return out


def trained_wordpiece(texts: list[str]) -> Tokenizer:
    out = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    out.normalizer = normalizers.BertNormalizer(lowercase=False)
    out.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    out.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    out.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=2500, special_tokens=special, show_progress=False
        ),
    )
    out.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    out.add_tokens(every_flag())
    return out


def trained_fallback_bpe(texts: list[str]) -> Tokenizer:
    """Blanks as letters, bytes for unknown ones: what converted sentence-piece tokenizers do."""
    out = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    out.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    out.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("merged_with_previous"),
            pre_tokenizers.Digits(individual_digits=False),
        ]
    )
    out.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    bytes_ = [f"<0x{b:02X}>" for b in range(256) if b % 16 != 9]
    ascii_only = ["".join(c for c in text if c < "\x7f") for text in texts]
    out.train_from_iterator(
        ascii_only,
        trainers.BpeTrainer(
            vocab_size=1500, special_tokens=["<unk>"] + bytes_, show_progress=False
        ),
    )
    out.add_tokens(every_flag())
    return out


def trained_plain_wordpiece(texts: list[str]) -> Tokenizer:
    out = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    out.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    )
    out.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Whitespace(),
            pre_tokenizers.Split(Regex(r"\d\d"), "merged_with_next", invert=False),
        ]
    )
    out.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    out.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=2000, special_tokens=["[UNK]"], show_progress=False
        ),
    )
    out.add_tokens(every_flag())
    return out


def write_expected(path: pathlib.Path, tokenizer: Tokenizer, texts: list[str]) -> None:
    """Records: text, ids with and without special tokens, decoded text without and with special tokens."""

    def text(value: str) -> bytes:
        raw = value.encode("utf-8")
        return struct.pack("<I", len(raw)) + raw

    def ids(values: list[int]) -> bytes:
        return struct.pack(f"<I{len(values)}i", len(values), *values)

    tokenizer.no_truncation()
    tokenizer.no_padding()
    with open(path, "wb") as out:
        out.write(b"AXTK" + struct.pack("<I", len(texts)))
        for item in texts:
            full = tokenizer.encode(item).ids
            bare = tokenizer.encode(item, add_special_tokens=False).ids
            out.write(text(item) + ids(full) + ids(bare))
            out.write(
                text(tokenizer.decode(full))
                + text(tokenizer.decode(full, skip_special_tokens=False))
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument(
        "--gguf", help="a GGUF file with a tokenizer of the smollm kind"
    )
    parser.add_argument(
        "--wordpiece", type=pathlib.Path, help="a directory with tokenizer.json"
    )
    parser.add_argument("--count", type=int, default=22000)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    texts = corpus(args.count)
    train = SENTENCES * 20
    made = {
        "bpe": trained_bpe(train),
        "split_bpe": trained_split_bpe(train),
        "wordpiece": trained_wordpiece(train),
        "fallback_bpe": trained_fallback_bpe(train),
        "plain_wordpiece": trained_plain_wordpiece(train),
    }
    if args.gguf:
        made["gguf"] = from_gguf(args.gguf)
    for name, tokenizer in made.items():
        tokenizer.save(str(args.out / f"{name}.json"))
    # What a file says is what counts, so the reference reads its own file back.
    found = {name: Tokenizer.from_file(str(args.out / f"{name}.json")) for name in made}
    if args.wordpiece:
        found["checkpoint"] = Tokenizer.from_file(
            str(args.wordpiece / "tokenizer.json")
        )
    for name, tokenizer in found.items():
        write_expected(args.out / f"{name}.expected", tokenizer, texts)
    print(json.dumps({"strings": len(texts), "tokenizers": sorted(found)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
