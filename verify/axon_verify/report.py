"""Prints results of comparisons: a table for people, one JSON object an output for scripts."""

import json

from axon_verify.compare import Result


def number(value: float | None) -> str:
    """A difference in a column."""
    return "" if value is None else f"{value:.1e}"


def share(equal: int | None, of: int) -> str:
    """How many of how many are equal."""
    return "" if equal is None else f"{equal}/{of}"


def yes(equal: bool | None) -> str:
    """Whether two things are equal."""
    return "" if equal is None else "equal" if equal else "DIFFER"


def windows(result: Result) -> str:
    """The longest prompt beside the windows that it must exceed."""
    sizes = ", ".join(map(str, result.windows))
    if not sizes:
        return f"{result.longest_prompt}" if result.longest_prompt else ""
    sign = ">" if result.longest_prompt > max(result.windows) else "<="
    return f"{result.longest_prompt} {sign} {sizes}"


COLUMNS = {
    "model": lambda r: r.model,
    "target": lambda r: r.target,
    "output": lambda r: r.output,
    "logits off": lambda r: number(r.logits_max_abs),
    "top-1": lambda r: share(r.top1_equal, r.positions),
    "tokens": lambda r: share(r.tokens_equal, r.tokens_compared),
    "ties": lambda r: f"{r.near_ties}" if r.tokens_compared else "",
    "cached": lambda r: number(r.cached_max_abs),
    "padded": lambda r: number(r.padded_max_abs),
    "batch": lambda r: yes(r.padded_equal),
    "ends": lambda r: yes(r.ends_equal),
    "prompt > window": windows,
    "result": lambda r: (
        "pass" if r.passed else "not written" if r.unsupported else "FAIL"
    ),
}


def cells(results: list[Result]) -> list[list[str]]:
    """The table's head and rows; columns that nothing fills are left out."""
    rows = [[make(result) for make in COLUMNS.values()] for result in results]
    kept = [i for i in range(len(COLUMNS)) if any(row[i] for row in rows)]
    names = list(COLUMNS)
    return [[names[i] for i in kept], *[[row[i] for i in kept] for row in rows]]


def table(results: list[Result]) -> str:
    """The table in columns of equal width."""
    rows = cells(results)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def markdown(results: list[Result]) -> str:
    """The same as a page has it."""
    head, *rows = cells(results)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def place(result: Result) -> str:
    """Where a result first differs."""
    where = result.first_divergence or {}
    words = [
        f"{name} {where[name]}"
        for name in ("prompt", "row", "position", "token")
        if name in where
    ]
    if "saw" in where:
        words.append(
            f"logit {where['id']}: saw {where['saw']:.6g}, expected {where['expected']:.6g}"
        )
    return ", ".join(words)


def details(results: list[Result]) -> str:
    """What failed, and where it begins."""
    lines = []
    for result in results:
        label = f"{result.model} {result.target} {result.output}"
        lines += [f"{label}: {failure}" for failure in result.failures]
        if result.first_divergence:
            lines.append(f"{label}: first difference at {place(result)}")
        if result.trace:
            lines.append(f"{label}: {result.trace['text']}")
    return "\n".join(lines)


def jsonl(results: list[Result]) -> str:
    """One object a line."""
    return "\n".join(json.dumps(result.json()) for result in results)
