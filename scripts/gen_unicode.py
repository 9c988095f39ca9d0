#!/usr/bin/env python3
"""Writes src/runtime/text/unicode_data.inc: gen_unicode.py [OUT].

Needs the packages unicodedata2 16.0.0 (general categories, what patterns see) and tokenizers 0.23.3.
The latter's normalizers and pre-tokenizers carry tables of other Unicode versions, so those sets are
measured, one code point at a time.
"""

import pathlib
import sys

import tokenizers
import unicodedata2 as ucd
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
OUT = (
    pathlib.Path(__file__).resolve().parent.parent / "src/runtime/text/unicode_data.inc"
)


def ranges(members: set[int]) -> list[tuple[int, int]]:
    """Inclusive ranges; the surrogate gap does not split one."""
    out: list[tuple[int, int]] = []
    for point in sorted(members):
        if out and (
            point == out[-1][1] + 1 or (point == 0xE000 and out[-1][1] == 0xD7FF)
        ):
            out[-1] = (out[-1][0], point)
        else:
            out.append((point, point))
    return out


def removed_by(step: pre_tokenizers.PreTokenizer) -> set[int]:
    return {c for c in POINTS if not step.pre_tokenize_str(chr(c))}


def deleted_by(step: normalizers.Normalizer) -> set[int]:
    return {c for c in POINTS if step.normalize_str(f"a{chr(c)}b") == "ab"}


def measured_sets() -> dict[str, set[int]]:
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.Whitespace()
    bert = dict(handle_chinese_chars=False, lowercase=False)
    word_like = set()
    for c in POINTS:
        pieces = words.pre_tokenize_str("a" + chr(c))
        if len(pieces) == 1 and pieces[0][0] != "a":
            word_like.add(c)
    return {
        "kNumeric": {
            c for c in POINTS if len(digits.pre_tokenize_str("a" + chr(c))) == 2
        },
        "kWhitespace": removed_by(pre_tokenizers.WhitespaceSplit()),
        "kPunctuation": removed_by(pre_tokenizers.Punctuation("removed")),
        "kWord": word_like,
        "kPatternWord": removed_by(pre_tokenizers.Split(Regex(r"\w"), "removed")),
        "kCleaned": deleted_by(
            normalizers.BertNormalizer(clean_text=True, strip_accents=False, **bert)
        ),
        "kNonspacingMark": deleted_by(
            normalizers.BertNormalizer(clean_text=False, strip_accents=True, **bert)
        ),
        "kCombiningMark": deleted_by(normalizers.StripAccents()),
        "kNotNormalised": not_normalised(),
    }


def not_normalised() -> set[int]:
    """Points with decompositions or classes that the measured normalizers, being older, do not know."""
    nfd, nfkd, nfc = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC()
    out, composing = set(), set()
    for c in POINTS:
        char = chr(c)
        parts = ucd.decomposition(char).split()
        if parts and nfkd.normalize_str(char) == char:
            out.add(c)
        elif len(parts) == 2 and parts[0][0] != "<":
            if nfc.normalize_str("".join(chr(int(part, 16)) for part in parts)) == char:
                composing.add(int(parts[0], 16))
        if ucd.combining(char) and not parts:
            moves = nfd.normalize_str(f"a{char}\u0334") == f"a\u0334{char}"
            moves |= nfd.normalize_str(f"a\u0301{char}") == f"a{char}\u0301"
            moves |= nfd.normalize_str(f"a\u0345{char}") == f"a{char}\u0345"
            if not moves:
                out.add(c)
    for c in list(out):
        parts = ucd.decomposition(chr(c)).split()
        if (
            len(parts) == 2
            and parts[0][0] != "<"
            and int(parts[0], 16) not in composing
        ):
            out.add(int(parts[0], 16))
    return out


def lowercase_rows() -> list[tuple[int, int, int, int]]:
    """(first, last, step, difference) for code points with a lowercase form of one code point."""
    lower = normalizers.Lowercase()
    rows: list[tuple[int, int, int, int]] = []
    for c in POINTS:
        small = lower.normalize_str(chr(c))
        if len(small) != 1:
            assert (c, small) == (0x130, "i\u0307"), (
                "a new long lowercase form needs code"
            )
            continue
        delta = ord(small) - c
        if delta == 0:
            continue
        if rows:
            first, last, step, old = rows[-1]
            gap = c - last
            if old == delta and gap in (1, 2) and (first == last or gap == step):
                rows[-1] = (first, c, gap, delta)
                continue
        rows.append((c, c, 1, delta))
    return rows


def category_rows() -> list[tuple[int, str]]:
    """(first, category) wherever the category changes; surrogates are Cs."""
    out: list[tuple[int, str]] = []
    for c in range(0x110000):
        category = "Cs" if 0xD800 <= c < 0xE000 else ucd.category(chr(c))
        if not out or out[-1][1] != category:
            out.append((c, category))
    return out


def lines(items: list[str]) -> str:
    text, line = "", "   "
    for item in items:
        if len(line) + len(item) + 1 > 100:
            text += line + "\n"
            line = "   "
        line += " " + item
    return text + line + "\n"


def main() -> None:
    assert ucd.unidata_version == "16.0.0", "categories are those of Unicode 16"
    assert tokenizers.__version__ == "0.23.3", "the measured sets belong to one version"
    out = "// Generated by scripts/gen_unicode.py; do not edit.\n"
    rows = [f"{{0x{c:X}, Category::{name}}}," for c, name in category_rows()]
    out += f"constexpr CategoryStart kCategories[] = {{\n{lines(rows)}}};\n"
    rows = [f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}," for a, b, s, d in lowercase_rows()]
    out += f"constexpr CaseRow kLowercase[] = {{\n{lines(rows)}}};\n"
    for name, members in measured_sets().items():
        rows = [f"{{0x{a:X}, 0x{b:X}}}," for a, b in ranges(members)]
        out += f"constexpr CodeRange {name}[] = {{\n{lines(rows)}}};\n"
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    if not target.exists() or target.read_text(encoding="utf-8") != out:
        target.write_text(out, encoding="utf-8")


if __name__ == "__main__":
    main()
