"""Programs with mistakes: every syntax error says where, what was found and what was expected."""

import random
import re

import harness as h

S = h.suite()
PLACE = re.compile(r"^(\S+):(\d+):(\d+): (error|warning) ([A-Z-]+): (.*)$", re.M)
SYNTAX = re.compile(r"found .+ in .+, expected .+")


def mutated(text: str, source: random.Random) -> str:
    """One small mistake: characters lost, doubled, swapped, or put where they do not belong."""
    at = source.randrange(len(text))
    kind = source.randrange(5)
    if kind == 0:
        return text[:at] + text[at + source.randint(1, 3) :]
    if kind == 1:
        return text[:at] + text[at] + text[at:]
    if kind == 2:
        return text[:at] + source.choice("()[]{}@<-:|?=,.\"'\t#") + text[at:]
    if kind == 3:
        end = text.find("\n", at)
        return text[:at] + text[end:]
    other = source.randrange(len(text))
    low, high = sorted((at, other))
    return text[:low] + text[high] + text[low + 1 : high] + text[low] + text[high + 1 :]


def fault(case: tuple) -> str | None:
    """What is wrong with the answer to a program, if anything."""
    name, text = case
    path = S.folder / f"{name}.axon"
    path.write_text(text)
    answer = S.run("check", path)
    lines = [line for line in answer.err.splitlines() if ": error " in line]
    if answer.status not in (0, 1) or (answer.status == 1) != bool(lines):
        return f"{name}: status {answer.status}, {answer.err[:400]}"
    for line in lines:
        found = PLACE.match(line)
        if not found or found[1] != str(path) and not found[1].startswith("library/"):
            return f"{name}: no place in {line}"
        inside = 1 <= int(found[2]) <= text.count("\n") + 2 and int(found[3]) >= 1
        if not inside and found[1] == str(path):
            return f"{name}: beyond the file: {line}"
        if found[5] == "PAR-SYNTAX" and not SYNTAX.fullmatch(found[6]):
            return f"{name}: nothing found or expected in {line}"
    return None


def test_mutations() -> None:
    """Programs of the zoo with one mistake each."""
    source = random.Random(11)
    texts = {p.stem: p.read_text() for p in sorted(h.ZOO.glob("*.axon"))}
    cases = []
    for i in range(60):
        name = source.choice(sorted(texts))
        cases.append((f"{name}-{i}", mutated(texts[name], source)))
    bad = [text for text in S.each(fault, cases) if text]
    S.check("mutated programs", not bad, "\n     ".join(bad[:5]))


def test_hostile_text() -> None:
    """Programs that nobody would write."""
    cases = [
        ("deep-brackets", "f x = " + "(" * 5000 + "x" + ")" * 5000 + "\n"),
        ("deep-lists", "f x = " + "[" * 100000 + "\n"),
        ("deep-lambda", "f x = do\n" + "".join(" " * (2 * i) + "if x then\n" for i in range(1, 400))),
        ("long-line", "f x = " + " + ".join(["x"] * 4000) + "\n"),
        ("long-name", "f" * 1000000 + " x = x\n"),
        ("many-errors", "= = =\n" * 20000),
        ("no-end", "f x = x"),
        ("nothing", ""),
        ("blank", "\n \n\t\n"),
        ("comment", "-- only\n"),
        ("string", 'f x = "' + "a" * 100000),
        ("numbers", "f x = x + 999999999999999999999999\n"),
        ("returns", "f x = x\r\ng x = x\r"),
        ("nul", "f x = x\0\n"),
    ]  # fmt: skip
    bad = [text for text in S.each(fault, cases) if text]
    S.check("hostile programs", not bad, "\n     ".join(bad[:5]))


if __name__ == "__main__":
    S.run_all(test_mutations, test_hostile_text)
