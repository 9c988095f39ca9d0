"""Programs and answers of docs/language.md; the README's excerpts; docs/mistakes.md made from its cases.

With AXON_ACCEPT=1 the answers and the page are written anew.
"""

import os
import re
import shlex

import diag_cases as d
import error_page
import harness as h

S = h.suite()
PAGE = d.ROOT / "docs" / "language.md"
ACCEPT = bool(os.environ.get("AXON_ACCEPT"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def answers(text: str) -> str:
    """The lines of a transcript with what the commands say now."""
    out = []
    for line in text.split("\n"):
        if not line.startswith("$ "):
            continue
        answer = S.run(*shlex.split(line[2:])[1:])
        said = error_page.answer_text(answer).replace(f"{S.folder}/", "")
        out += [line, *([said] if said else [])]
    return "\n".join(out) + "\n"


def check_program(number: int, text: str, has_answer: bool) -> None:
    """A program of the page checks without a warning and is laid out; one with an answer may be wrong."""
    named = re.match(r"-- (\w+\.axon)\n", text)
    name = named.group(1) if named else "main.axon"
    (S.folder / name).write_text(text)
    layout = S.run("fmt", "--check", name)
    S.check(f"program {number} is laid out", layout.status == 0, text + layout.err)
    if named or has_answer:
        return
    answer = S.run("check", "--strict", "-q", name)
    S.answers(f"program {number} checks", answer, 0)
    S.check(f"program {number}: no warning", not answer.err, text + answer.err)


def test_language() -> None:
    """The page on the language."""
    page = PAGE.read_text(encoding="utf-8")
    S.check("at most 400 lines", page.count("\n") <= 400, str(page.count("\n")))
    blocks = list(BLOCK.finditer(page))
    S.check("programs", len(blocks) > 12, str(len(blocks)))
    new = page
    for number, block in enumerate(blocks):
        kind, text = block.groups()
        behind = blocks[number + 1] if number + 1 < len(blocks) else None
        has_answer = behind is not None and behind.group(2).startswith("$ ")
        if kind == "axon":
            check_program(number, text, has_answer)
        elif kind == "text":
            now = answers(text)
            S.check(f"answer {number}", ACCEPT or now == text, f"{text}\n{now}")
            new = new.replace(block.group(0), f"```text\n{now}```")
    if ACCEPT and new != page:
        PAGE.write_text(new, encoding="utf-8")


def test_readme() -> None:
    """What the README shows of a program and of an emitted module stands in them."""
    page = (d.ROOT / "README.md").read_text(encoding="utf-8")
    places = {
        "axon": d.ROOT / "zoo" / "llama.axon",
        "class": d.ROOT / "tests" / "emit" / "llama.torch.py",
    }
    found = []
    for kind, text in BLOCK.findall(page):
        kind = "class" if text.startswith("class ") else kind
        if kind in places:
            found.append(kind)
            S.check(f"README: {kind}", text in places[kind].read_text("utf-8"), text)
    S.check("README: a program and a module", sorted(found) == ["axon", "class"])
    lines = places["axon"].read_text("utf-8").count("\n")
    S.check("README: length", f"which has {lines} lines" in page, str(lines))


def test_mistakes() -> None:
    """The page of mistakes is what its cases and the command give."""
    path = d.ROOT / "docs" / "mistakes.md"
    cases = [d.Case(p) for p in sorted((d.ROOT / "tests" / "mistakes").glob("*.case"))]
    S.check("ten mistakes", len(cases) == 10, str(len(cases)))
    found = []
    for case in cases:
        answer = case.run(S, fixed=False)
        S.check(f"{case.code} is told", "error " in answer.err, answer.err)
        fixed = case.run(S, fixed=True)
        S.answers(f"{case.code} is mended", fixed, 0)
        S.check(f"{case.code}: no warning", "warning " not in fixed.err, fixed.err)
        found.append((case, answer))
    text = error_page.mistakes_page(found)
    if ACCEPT:
        path.write_text(text, encoding="utf-8")
    current = path.read_text(encoding="utf-8") if path.exists() else ""
    S.check("docs/mistakes.md is in step", current == text, "run ./dev accept")


for test in (test_language, test_readme, test_mistakes):
    test()
S.finish()
