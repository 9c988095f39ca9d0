"""Compares a target with what Transformers says of a checkpoint.

Sequences: logits of all positions, greedy tokens, calls with a cache, batches padded on the left, rows that
end at different lengths. A token may differ where the oracle's two likeliest tokens are as good as equal (a
near tie); the oracle's is then fed to both and the comparison goes on.
"""

import dataclasses

import numpy as np

from axon_verify.answers import Answers
from axon_verify.command import Failure
from axon_verify.targets import batch_of

TOLERANCE = 1e-4  # of float32 logits with a spread of one
NEAR_TIE = 1e-3


@dataclasses.dataclass
class Result:
    """What was seen of one output of one target; None where a comparison does not apply."""

    model: str
    target: str
    output: str
    tolerance: float
    positions: int = 0
    logits_max_abs: float | None = None
    top1_equal: int | None = None
    tokens_compared: int = 0
    tokens_equal: int | None = None
    near_ties: int = 0
    smallest_gap: float | None = None  # of those that were near
    cached_max_abs: float | None = None
    padded_max_abs: float | None = None
    padded_equal: bool | None = None  # tokens
    ends_equal: bool | None = None
    windows: list[int] = dataclasses.field(default_factory=list)
    longest_prompt: int = 0
    first_divergence: dict | None = None
    trace: dict | None = None  # with --trace, where something differs
    failures: list[str] = dataclasses.field(default_factory=list)
    unsupported: bool = False  # the target cannot write the program

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not self.failures

    def json(self) -> dict:
        """The object that `axon verify --json` prints."""
        out = dataclasses.asdict(self)
        top1 = self.top1_equal
        out["top1_agreement"] = None if top1 is None else top1 / max(1, self.positions)
        same = self.tokens_equal
        out["tokens_equal"] = None if same is None else same == self.tokens_compared
        out["tokens_compared"] = self.tokens_compared
        del out["top1_equal"], out["unsupported"]
        if self.trace is None:
            del out["trace"]
        else:
            del out["trace"]["text"]
        return out | {"pass": self.passed}


def largest(found: np.ndarray, want: np.ndarray, what: str) -> float:
    """The largest difference of two arrays."""
    if found.shape != want.shape:
        raise Failure(f"{what}: shape {found.shape}, expected {want.shape}")
    wrong = np.count_nonzero(~np.isfinite(found))
    if wrong:
        raise Failure(f"{what}: {wrong} values are not finite")
    return float(np.abs(found - want).max()) if found.size else 0.0


def spread_of(want: Answers) -> float:
    """How far apart the oracle's values are, at least one: tolerances for real models grow with it."""
    kept = ("logits.", "output.")
    found = [x.std() for name, x in want.arrays.items() if name.startswith(kept)]
    return max(1.0, float(max(found, default=1.0)))


class Comparison:
    """All comparisons of one target with one checkpoint's expected results."""

    def __init__(
        self, model: str, name: str, target, want: Answers, tolerance: float
    ) -> None:
        self.target = target
        self.want = want
        self.tolerance = tolerance
        self.make = lambda output: Result(
            model,
            name,
            output,
            self.tolerance,
            windows=want.facts["windows"],
            longest_prompt=max(map(len, want.facts["prompts"])),
        )

    def run(self) -> list[Result]:
        """One result for each output that the oracle gives."""
        kinds = {
            "causal": self.causal,
            "encoder": self.encoder,
            "seq2seq": self.seq2seq,
        }
        return kinds[self.want.facts["kind"]]()

    def attempt(self, result: Result, action) -> None:
        """A failure is noted, and what comes after it is still compared."""
        try:
            action(result)
        except Failure as failure:
            result.failures.append(str(failure))

    def judge(self, result: Result, what: str, off: float) -> None:
        """Notes a difference beyond the tolerance."""
        if off > self.tolerance:
            allowed = f"allowed {self.tolerance:.3g}"
            result.failures.append(f"{what} differ by {off:.3g}, {allowed}")

    # ---- decoders ----------------------------------------------------------------------------

    def causal(self) -> list[Result]:
        """Everything that is asked of a decoder."""
        result = self.make("logits")
        self.alone: list[list[int]] = []
        steps = [self.logits, self.tokens, self.cached, self.padded, self.ends]
        for step in steps:
            self.attempt(result, step)
        return [result]

    def logits(self, result: Result) -> None:
        """Every position of each whole prompt."""
        result.logits_max_abs, result.top1_equal = 0.0, 0
        for number, ids in enumerate(self.want.facts["prompts"]):
            want = self.want.arrays[f"logits.{number}"]
            found = self.target.logits(ids)
            off = largest(found, want, f"logits of prompt {number}")
            result.logits_max_abs = max(result.logits_max_abs, off)
            best = np.sort(want, -1)
            near = best[:, -1] - best[:, -2] < NEAR_TIE
            equal = (found.argmax(-1) == want.argmax(-1)) | near
            result.top1_equal += int(equal.sum())
            result.positions += len(ids)
            wrong = np.abs(found - want).max(-1) > self.tolerance
            if wrong.any() and result.first_divergence is None:
                result.first_divergence = logits_place(number, found, want, wrong)
        self.judge(result, "logits", result.logits_max_abs)

    def tokens(self, result: Result) -> None:
        """Greedy tokens after each prompt."""
        result.tokens_equal = 0
        for number, case in enumerate(self.want.facts["greedy"]):
            found, equal = self.follow(result, case)
            self.alone.append(found)
            result.tokens_compared += len(case["tokens"])
            result.tokens_equal += equal
            if equal < len(case["tokens"]) and result.first_divergence is None:
                result.first_divergence = {"prompt": number, "token": equal}
        if result.tokens_equal < result.tokens_compared:
            said = f"{result.tokens_equal} of {result.tokens_compared}"
            result.failures.append(f"greedy tokens: {said} are equal")

    def follow(self, result: Result, case: dict) -> tuple[list[int], int]:
        """The tokens that the prompt alone gives, and how many equal the oracle's before one differs."""
        tokens, gaps, first = case["tokens"], case["gaps"], None
        done = 0
        while done < len(tokens):
            prompt = case["prompt"] + tokens[:done]
            found = self.target.generate([prompt], len(tokens) - done)[0]
            if len(found) != len(tokens) - done:
                raise Failure(f"{len(found)} new tokens, expected {len(tokens) - done}")
            first = first or found
            pairs = enumerate(zip(found, tokens[done:]))
            place = next((i for i, (x, y) in pairs if x != y), None)
            if place is None:
                return first, len(tokens)
            done += place
            if gaps[done] >= NEAR_TIE:
                return first, done
            result.near_ties += 1
            least = result.smallest_gap
            result.smallest_gap = min(gaps[done], least or gaps[done])
            done += 1
        return first or [], len(tokens)

    def cached(self, result: Result) -> None:
        """A sequence through a cache equals the whole at once."""
        if not self.want.facts["independent"]:
            return  # what is in the cache was computed for another length
        ids = self.want.facts["prompts"][0]
        off = largest(
            self.target.stepped(ids), self.target.logits(ids), "cached logits"
        )
        result.cached_max_abs = off
        self.judge(result, "cached and uncached logits", off)

    def batch(self) -> tuple[list[list[int]], np.ndarray, np.ndarray]:
        """The prompts, and their ids and mask as one batch padded on the left."""
        members = self.want.facts["prompts"]
        ids, mask = batch_of(members, "left")
        return members, ids, mask

    def padded(self, result: Result) -> None:
        """Rows of a batch equal the rows alone: their logits, and the tokens after them."""
        if not self.want.facts["independent"]:
            return
        members, ids, mask = self.batch()
        outputs = self.target.outputs({"input_ids": ids, "attn_mask": mask})
        found = next(iter(outputs.values()))
        off = 0.0
        for row in range(len(members)):
            real = found[row][mask[row] == 1]
            want = self.want.arrays[f"logits.{row}"]
            off = max(off, largest(real, want, f"row {row} of a padded batch"))
        result.padded_max_abs = off
        self.judge(result, "rows of a padded batch and rows alone", off)
        self.compare_batch(result, "padded_equal", ())

    def ends(self, result: Result) -> None:
        """Rows of one batch end at end tokens, at different lengths."""
        if not self.want.facts["independent"] or len(self.alone) < 2:
            return
        ends = tuple(row[:place][-1] for row, place in zip(self.alone, (3, 6)))
        self.compare_batch(result, "ends_equal", ends)

    def compare_batch(self, result: Result, field: str, ends: tuple[int, ...]) -> None:
        """Tokens of one batch and of its rows alone, up to where the oracle saw a near tie."""
        members = self.want.facts["prompts"]
        count = min(12, len(self.want.facts["greedy"][0]["tokens"]))
        rows = self.target.generate(members, count, ends)
        equal = len(rows) == len(members)
        for row, alone, case in zip(rows, self.alone, self.want.facts["greedy"]):
            stop = next((i for i, x in enumerate(alone) if x in ends), count)
            alone = alone[: min(stop, count)]
            gaps = case["gaps"][:count]
            sure = next((i for i, gap in enumerate(gaps) if gap < NEAR_TIE), count)
            if row[:sure] != alone[:sure] or (sure == count and len(row) != len(alone)):
                equal = False
        setattr(result, field, equal)
        if not equal:
            what = "end tokens" if ends else "tokens"
            result.failures.append(f"{what} of a batch differ from those of its rows")

    # ---- encoders and encoder-decoders -------------------------------------------------------

    def inputs(self) -> dict[str, np.ndarray]:
        """The batch that the oracle was given."""
        given = self.want.arrays.items()
        start = "input."
        return {
            name.removeprefix(start): x for name, x in given if name.startswith(start)
        }

    def output(
        self, result: Result, outputs: dict, want: np.ndarray, real: np.ndarray
    ) -> float:
        """The largest difference of one output, at real positions where it has any."""
        found = outputs.get(result.output, outputs.get(""))
        if found is None:
            raise Failure(f"no output `{result.output}` among {', '.join(outputs)}")
        if found.shape != want.shape:
            raise Failure(f"shape {found.shape}, expected {want.shape}")
        wide = want.ndim == 3
        off = largest(
            found[real] if wide else found, want[real] if wide else want, result.output
        )
        if off > self.tolerance and result.first_divergence is None and wide:
            wrong = (np.abs(found - want).max(-1) > self.tolerance) & real
            row, place = (int(i) for i in np.argwhere(wrong)[0])
            result.first_divergence = {"row": row, "position": place}
        return off

    def encoder(self) -> list[Result]:
        """Each output of a padded batch, and of a row alone."""
        inputs = self.inputs()
        real = inputs["attn_mask"] == 1
        results = []
        alone = np.ones((1, real.shape[1]), dtype=bool)
        calls = [({"input_ids": inputs["input_ids"][:1]}, alone), (inputs, real)]
        outputs = [self.target.outputs(given) for given, _ in calls]
        for name, want in self.want.arrays.items():
            if not name.startswith("output."):
                continue
            result = self.make(name.removeprefix("output."))
            wants = [self.want.arrays[name.replace("output.", "alone.")], want]

            def look(result: Result, wants: list = wants) -> None:
                sides = zip(outputs, wants, calls)
                off = [self.output(result, o, w, call[1]) for o, w, call in sides]
                result.logits_max_abs, result.padded_max_abs = off
                result.positions = int(real.sum())
                self.judge(result, "values of a row", off[0])
                self.judge(result, "values of a padded batch", off[1])

            self.attempt(result, look)
            results.append(result)
        return results

    def seq2seq(self) -> list[Result]:
        """Logits at every step of a padded batch of sources, and the tokens after each of them."""
        result = self.make("logits")
        self.alone = []
        for step in (self.answers, self.whole, self.answer_tokens, self.answer_batch):
            self.attempt(result, step)
        return [result]

    def answers(self, result: Result) -> None:
        """The encoder, then all tokens of the decoder at once, or token by token."""
        want = self.want.arrays["output.logits"]
        real = np.ones(want.shape[:2], dtype=bool)
        outputs = self.target.outputs(self.inputs())
        off = self.output(result, outputs, want, real)
        result.logits_max_abs = result.padded_max_abs = off
        self.judge(result, "logits", off)
        found = outputs.get("logits", outputs.get(""))
        best = np.sort(want, -1)
        near = best[..., -1] - best[..., -2] < NEAR_TIE
        equal = (found.argmax(-1) == want.argmax(-1)) | near
        result.positions, result.top1_equal = equal.size, int(equal.sum())
        steps = self.output(result, self.target.decoded(self.inputs()), want, real)
        result.cached_max_abs = steps
        self.judge(result, "logits of steps", steps)

    def whole(self, result: Result) -> None:
        """One call with a mask of the decoder, which takes encoder and decoder together."""
        want = self.want.arrays["output.logits"]
        inputs = self.inputs()
        inputs["decoder_attention_mask"] = np.ones_like(inputs["decoder_input_ids"])
        real = np.ones(want.shape[:2], dtype=bool)
        off = self.output(result, self.target.outputs(inputs), want, real)
        self.judge(result, "logits of one call", off)

    def answer_tokens(self, result: Result) -> None:
        """Greedy tokens for each source, up to a near tie: a decoder cannot be given another's tokens."""
        result.tokens_equal = 0
        for number, case in enumerate(self.want.facts["greedy"]):
            tokens, gaps = case["tokens"], case["gaps"]
            found = self.target.generate([case["prompt"]], len(tokens))[0]
            self.alone.append(found)
            ties = [i for i, gap in enumerate(gaps) if gap < NEAR_TIE]
            sure = min([*ties, len(tokens)])
            result.near_ties += len(ties)
            result.tokens_compared += sure
            same = next(
                (i for i in range(sure) if found[i : i + 1] != [tokens[i]]), sure
            )
            result.tokens_equal += same
            if same < sure and result.first_divergence is None:
                result.first_divergence = {"prompt": number, "token": same}
        if result.tokens_equal < result.tokens_compared:
            said = f"{result.tokens_equal} of {result.tokens_compared}"
            result.failures.append(f"greedy tokens: {said} are equal")

    def answer_batch(self, result: Result) -> None:
        """Sources of different lengths in one batch, and rows that end at different places."""
        self.compare_batch(result, "padded_equal", ())
        seen = sorted({token for row in self.alone for token in row[:10]})
        lengths = {
            end: len({row.index(end) if end in row else len(row) for row in self.alone})
            for end in seen
        }
        self.compare_batch(result, "ends_equal", (max(seen, key=lengths.get),))


def logits_place(
    number: int, found: np.ndarray, want: np.ndarray, wrong: np.ndarray
) -> dict:
    """The first position whose logits differ."""
    place = int(wrong.argmax())
    off = np.abs(found[place] - want[place])
    token = int(off.argmax())
    return {
        "prompt": number,
        "position": place,
        "id": token,
        "saw": float(found[place, token]),
        "expected": float(want[place, token]),
    }
