"""Every diagnostic code has a case that produces it, and docs/errors.md says what the command answers.

With AXON_ACCEPT=1 the page is written anew.
"""

import os
import re
import subprocess
import sys
import time

import checkpoints as ck
import diag_cases as d
import error_page
import harness as h

S = h.suite()
ONLY = sys.argv[2:]


def codes_of(answer: h.Answer) -> list[str]:
    """Codes of the answer, errors before warnings."""
    text = answer.err + answer.out
    found = re.findall(r"^(?:\S+: )?(?:error|warning) ([A-Z][A-Z0-9-]+): ", text, re.M)
    return found + re.findall(r"\[([A-Z]+-[A-Z0-9-]+)\]$", text, re.M)


def check_case(row: d.Row, case: d.Case) -> h.Answer | None:
    """The example produces the code and nothing else; without the mistake it does not."""
    if case.unused:
        S.check(f"{row.code} is unused", not d.is_used(row), "it is reported: show how")
        return None
    if case.test:
        source = (d.ROOT / case.test).read_text(encoding="utf-8")
        family = row.code.split("-")[0] + "-[A-Z]+"
        named = row.ident in source or row.code in source or family in source
        S.check(
            f"{row.code} is produced by {case.test}", named, "the test does not name it"
        )
        return None
    answer = case.run(S, fixed=False)
    codes = codes_of(answer)
    extra = sorted(set(codes) - {row.code} - case.also)
    S.check(
        f"{row.code} is produced", row.code in codes, f"{codes}\n{answer.err[-2000:]}"
    )
    S.check(f"{row.code} breeds no other", not extra, f"{extra}\n{answer.err[-2000:]}")
    if row.kind == "Error":
        status = row.status
        S.check(f"{row.code} exit status", answer.status == status, f"{answer.status}")
    if not S.check(f"{row.code} has a way out", case.has_fix(), "no `fixed` section"):
        return answer
    fixed = case.run(S, fixed=True)
    S.check(
        f"{row.code} is mended",
        fixed.status == 0 and row.code not in codes_of(fixed),
        f"status {fixed.status}\n{fixed.err[-2000:]}",
    )
    return answer


def check_page(rows: list[d.Row], cases: dict, answers: dict) -> None:
    """docs/errors.md is what the table, the cases and the command give."""
    path = d.ROOT / "docs" / "errors.md"
    text = error_page.page(rows, cases, answers)
    if os.environ.get("AXON_ACCEPT"):
        path.write_text(text, encoding="utf-8")
    current = path.read_text(encoding="utf-8") if path.exists() else ""
    detail = "differs; run ./dev accept and review"
    if current != text:
        for a, b in zip(current.split("\n"), text.split("\n"), strict=False):
            if a != b:
                detail += f"\n     has  {a}\n     made {b}"
                break
    S.check("docs/errors.md is in step", current == text, detail)


def expected_places(text: str) -> list[tuple[int, str]]:
    """What a file of tests/recovery says of itself: a code behind a line, or `^` lines below it."""
    places = []
    for number, line in enumerate(text.split("\n"), 1):
        behind = re.search(r"-- ([A-Z]+-[A-Z-]+)$", line)
        below = re.search(r"^-- (\^+) ([A-Z]+-[A-Z-]+)", line)
        if below:
            places.append((number - len(below.group(1)), below.group(2)))
        elif behind:
            places.append((number, behind.group(1)))
    return places


def check_recovery() -> None:
    """Independent mistakes in one file are all told, and none breeds another."""
    files = sorted((d.ROOT / "tests" / "recovery").glob("*.axon"))
    S.check("recovery: files", len(files) >= 4, str(files))
    for path in files:
        answer = S.run("check", "--json", path)
        found = [
            (line["line"], line["code"])
            for line in answer.lines()
            if line["severity"] == "error"
        ]
        expected = expected_places(path.read_text(encoding="utf-8"))
        missing = sorted(set(expected) - set(found))
        detail = f"missing {missing}, more {sorted(set(found) - set(expected))}"
        S.check(f"recovery: {path.name}", sorted(found) == sorted(expected), detail)


def check_interrupt() -> None:
    """RUN-INTERRUPTED: a command that waits for its prompt is interrupted."""
    model = ck.llama_directory(S.folder / "interrupted")
    for wait in (0.5, 5):  # longer where the machine is busy
        process = S.start("run", model, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(wait)
        status, _ = h.interrupt(process)
        text = process.stderr.read().decode()
        good = status == 130 and "[RUN-INTERRUPTED]" in text
        if good:
            break
    S.check("RUN-INTERRUPTED is produced", good, f"{status} {text}")


def check_explain(rows: list[d.Row]) -> None:
    """`axon explain` knows every code, in any case, and says what is near an unknown one."""
    page = (d.ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for row in rows:
        answer = S.run("explain", row.code)
        holds = answer.status == 0 and answer.out.startswith(row.code + "\n")
        S.check(f"explain {row.code}", holds, answer.out[:200] + answer.err[:200])
    answer = S.run("explain", "type-dim")
    S.answers("explain in lower case", answer, 0, out="^TYPE-DIM\n.*Way out")
    example = re.search(r"^## TYPE-DIM$.*?^```axon\n(.*?)^```", page, re.M | re.S)
    line = example.group(1).splitlines()[-1]
    S.check("explain shows the example", f"    {line}\n" in answer.out, answer.out)
    body = S.run("explain", "W-TABS", "--json").json()
    good = (body["schema"], body["code"], body["severity"]) == (1, "W-TABS", "warning")
    S.check("explain --json", good, str(body))
    S.fails("an unknown code", ["explain", "TYP-DIMM"], 2, "USE-CODE", says="TYPE-DIM")


def main() -> None:
    """All cases, then the page."""
    rows, cases = d.rows(), d.cases()
    S.check("the table is read", len(rows) > 150, str(len(rows)))
    known = {row.code for row in rows}
    S.check(
        "cases have codes",
        set(cases) <= known,
        f"no such code: {sorted(set(cases) - known)}",
    )
    answers = {}
    for row in rows:
        if ONLY and row.code not in ONLY:
            continue
        if S.check(f"{row.code} has a case", row.code in cases, ""):
            answers[row.code] = check_case(row, cases[row.code])
    if not ONLY:
        check_recovery()
        check_interrupt()
        check_page(rows, cases, answers)
        check_explain(rows)
    S.finish()


main()
