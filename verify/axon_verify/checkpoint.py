"""One target on one checkpoint: made, compared, and what went wrong as a result."""

import pathlib

import numpy as np

from axon_verify import targets
from axon_verify.answers import Answers
from axon_verify.command import Axon, Failure
from axon_verify.compare import TOLERANCE, Comparison, Result
from axon_verify.targets import Request


def compare(
    axon: Axon,
    target: str,
    request: Request,
    want: Answers,
    scratch: pathlib.Path,
    tolerance: float = TOLERANCE,
    library=None,
) -> list[Result]:
    """Results of all outputs; a target that cannot be made is one failed result.

    With `library`, the oracle's model, results that differ say where values inside part.
    """
    name = request.folder.name
    try:
        made = targets.load(target, axon, request, scratch)
    except Failure as failure:
        said = str(failure)
        result = Result(name, target, "", tolerance, failures=[said])
        result.unsupported = "[BACK-UNSUPPORTED]" in said
        return [result]
    results = Comparison(name, target, made, want, tolerance).run()
    if library is not None:
        for result in results:
            if not result.passed:
                add_trace(result, axon, request, made, want, library)
    return results


def inputs_of(result: Result, want: Answers) -> dict[str, np.ndarray]:
    """The inputs of the call in which a result first differs."""
    if want.facts["kind"] == "causal":
        place = result.first_divergence or {}
        ids = want.facts["prompts"][place.get("prompt", 0)]
        return {"input_ids": np.array([ids], dtype=np.int64)}
    start = "input."
    given = want.arrays.items()
    return {name.removeprefix(start): x for name, x in given if name.startswith(start)}


def add_trace(
    result: Result, axon: Axon, request: Request, made, want: Answers, library
) -> None:
    """Where the values inside part; why that cannot be said is a further failure."""
    from axon_verify import trace

    try:
        inputs = inputs_of(result, want)
        found = trace.find(axon, request, made, library, inputs, result.tolerance)
    except Failure as failure:
        result.failures.append(f"no trace: {failure}")
        return
    result.trace = found.json() | {"text": found.text()}
