#!/usr/bin/env python3
"""Compares emitted modules with Transformers: run_emit.py AXON [NAME ...].

Every tiny checkpoint is compiled to a PyTorch module, imported here and held against the library's own
class: logits, greedy tokens, cached and padded calls, parameter names, gradients. The demonstration model
and MiniLM follow with their real weights. The last line says how many checks passed and failed.
"""

import ast
import importlib.util
import inspect
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch
from safetensors import safe_open
from torch import Tensor, nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from binary import Failure  # noqa: E402
from checkpoints import fetched, smollm_folder, tiny_checkpoints  # noqa: E402
from run_parity import NEAR_TIE, TINY_LOGITS, tiny_prompts  # noqa: E402

REAL_LOGITS = 1e-3
GRADIENTS = 1e-4  # relative
NEW_TOKENS = 32
MASK_NAME = "attn_mask"


def near(found: Tensor, want: Tensor, tolerance: float, what: str) -> None:
    """Fails unless every element is within the tolerance."""
    if found.shape != want.shape:
        raise Failure(
            f"{what}: shape {tuple(found.shape)}, expected {tuple(want.shape)}"
        )
    worst = (found - want).abs().max().item() if found.numel() else 0.0
    if not worst <= tolerance:
        raise Failure(f"{what}: differs by {worst:.3g}, allowed {tolerance:.3g}")


def same(found: object, want: object, what: str) -> None:
    """Fails unless the two are equal."""
    if found != want:
        raise Failure(f"{what}: saw {found}, expected {want}")


class Tally:
    """Runs checks one after the other: the models share one process and its threads."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def check(self, name: str, action) -> None:
        """A failed check is printed, and the next goes on."""
        try:
            action()
        except Failure as failure:
            self.failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
        else:
            self.passed += 1
            print(f"ok   {name}", flush=True)


# ---- models ----------------------------------------------------------------------------------


class Pair:
    """An emitted model and the library's, with the same weights."""

    def __init__(self, axon: str, folder: pathlib.Path, source: pathlib.Path) -> None:
        self.folder = folder
        self.source_text = emit(axon, folder)
        check_standalone(self.source_text)
        self.ours = load_model(self.source_text, folder)
        self.theirs = library_model(source)

    def logits(self, ids: Tensor, mask: Tensor | None = None, **options) -> Tensor:
        return first(self.ours(ids, **({MASK_NAME: mask} | options)))

    def library_logits(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return first(self.theirs(input_ids=ids, attention_mask=mask, return_dict=False))


def first(result) -> Tensor:
    """The first of several results, or the one."""
    return result if isinstance(result, Tensor) else result[0]


def emit(axon: str, folder: pathlib.Path) -> str:
    """The module's source; two runs must give the same bytes, and a third must not overwrite."""
    texts = []
    with tempfile.TemporaryDirectory() as place:
        for number in range(2):
            out = pathlib.Path(place) / str(number) / "model.py"
            out.parent.mkdir()
            command = [axon, "compile", folder, "--target", "torch", "-o", out]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failure(f"compile: {done.stderr.strip()}")
            texts.append(out.read_text(encoding="utf-8"))
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        same(again.returncode, 2, "status where the file exists")
    same(texts[0] == texts[1], True, "two runs give the same bytes")
    return texts[0]


def check_standalone(text: str) -> None:
    """The file imports the framework, safetensors and the standard library."""
    allowed = {"torch", "safetensors", "collections", "json", "pathlib", "typing"}
    seen = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            seen |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            seen.add((node.module or "").partition(".")[0])
    same(seen - allowed, set(), "other imports")


def load_module(text: str):
    """The source as a module."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location("emitted", file.name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_model(text: str, folder: pathlib.Path) -> nn.Module:
    """The model of an emitted source: its last class that can load weights."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(load_module(text), inspect.isclass)
        if hasattr(kind, "from_pretrained")
    ]
    same(len(kinds), 1, "classes with from_pretrained")
    return kinds[0].from_pretrained(folder)


def library_model(folder: pathlib.Path) -> nn.Module:
    """The class that the configuration names, in float32."""
    import transformers

    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    kind = getattr(transformers, name)
    return kind.from_pretrained(folder, dtype=torch.float32).eval()


def stored_names(folder: pathlib.Path) -> set[str]:
    """Names of all tensors of a checkpoint."""
    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "pt") as file:
            names |= set(file.keys())
    return names


def padded(members: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Ids and mask of a batch padded on the left."""
    width = max(len(ids) for ids in members)
    ids = torch.zeros((len(members), width), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, member in enumerate(members):
        ids[row, width - len(member) :] = torch.tensor(member)
        mask[row, width - len(member) :] = 1
    return ids, mask


# ---- checks ----------------------------------------------------------------------------------


def check_greedy(pair: Pair, prompt: list[int]) -> None:
    """The same greedy tokens as the library, up to a near tie."""
    ids = torch.tensor([prompt])
    found = pair.ours.generate(ids, max_new_tokens=NEW_TOKENS)[
        0, len(prompt) :
    ].tolist()
    want = pair.theirs.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )[0, len(prompt) :].tolist()
    if found == want:
        return
    place = next(i for i in range(NEW_TOKENS) if found[i] != want[i])
    whole = torch.tensor([prompt + want[:place]])
    best = pair.library_logits(whole)[0, -1].topk(2).values
    gap = (best[0] - best[1]).item()
    if gap >= NEAR_TIE:
        raise Failure(f"token {place}: saw {found[place]}, expected {want[place]}")


def check_cached(pair: Pair, prompt: list[int]) -> None:
    """A prompt in one call, in two, and token by token."""
    ids = torch.tensor([prompt])
    whole = pair.logits(ids)
    half = len(prompt) // 2
    for parts in ([half, len(prompt)], list(range(half, len(prompt) + 1))):
        cache, start, seen = None, 0, []
        for end in parts:
            options = (
                {"past_kv": cache} if cache else {"use_cache": True, "capacity": 61}
            )
            out = pair.ours(ids[:, start:end], **options)
            cache, start = out.new_kv, end
            seen.append(out.logits)
        near(torch.cat(seen, 1), whole, TINY_LOGITS, f"{len(parts)} calls")


def check_padded(pair: Pair, members: list[list[int]]) -> None:
    """Rows of a batch equal the rows alone: in one call, and generated."""
    ids, mask = padded(members)
    together = pair.logits(ids, mask)
    tokens = pair.ours.generate(ids, mask, max_new_tokens=12)
    for row, member in enumerate(members):
        alone = torch.tensor([member])
        near(
            together[row, -len(member) :],
            pair.logits(alone)[0],
            TINY_LOGITS,
            f"row {row}",
        )
        single = pair.ours.generate(alone, max_new_tokens=12)[0, len(member) :]
        same(
            tokens[row, ids.shape[1] :].tolist(),
            single.tolist(),
            f"tokens of row {row}",
        )


def check_ends(pair: Pair, members: list[list[int]]) -> None:
    """Rows end at end tokens at different lengths; ended rows are padded."""
    ids, mask = padded(members)
    free = pair.ours.generate(ids, mask, max_new_tokens=12)[:, ids.shape[1] :]
    ends = [free[0, 2].item(), free[1, 5].item()]
    pad = 1
    got = pair.ours.generate(
        ids, mask, max_new_tokens=12, eos_token_id=ends, pad_token_id=pad
    )[:, ids.shape[1] :]
    lengths = []
    for row in range(len(members)):
        want = free[row].tolist()
        stop = next((i for i, token in enumerate(want) if token in ends), 11)
        lengths.append(stop + 1)
        width = got.shape[1]
        want = (want[: stop + 1] + [pad] * 12)[:width]
        same(got[row].tolist(), want, f"row {row}")
    same(got.shape[1], max(lengths), "length of the result")


def check_names(pair: Pair) -> None:
    """Parameters have the checkpoint's names; the others are listed as not read."""
    keys = set(pair.ours.state_dict())
    stored = {
        name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
            "LayerNorm.beta", "LayerNorm.bias"
        )
        for name in stored_names(pair.folder)
    }
    same(keys - stored, set(), "parameters without a stored tensor")
    same(set(pair.ours.unread), stored - keys, "tensors that are not read")


def check_gradients(pair: Pair, prompt: list[int]) -> None:
    """Gradients of the mean logit-weighted loss, parameter by parameter."""
    ids = torch.tensor([prompt])
    torch.manual_seed(3)
    weight = torch.randn(pair.library_logits(ids).shape)
    grads = []
    for model, call in ((pair.ours, pair.logits), (pair.theirs, pair.library_logits)):
        model.zero_grad()
        (call(ids) * weight).mean().backward()
        grads.append({name: p.grad for name, p in model.named_parameters()})
    theirs = grads[1] | {
        name.removeprefix("transformer."): grad for name, grad in grads[1].items()
    }
    compared = 0
    for name, found in grads[0].items():
        want = theirs.get(name)
        if want is None or found is None:
            continue
        near(
            found,
            want,
            GRADIENTS * want.abs().max().item() + 1e-9,
            f"gradient of {name}",
        )
        compared += 1
    if compared < len(grads[0]) * 0.9:
        raise Failure(f"compared {compared} gradients of {len(grads[0])}")


def check_half(pair: Pair, prompt: list[int]) -> None:
    """In bfloat16 everything runs and stays close."""
    ids = torch.tensor([prompt])
    half = load_model(pair.source_text, pair.folder).bfloat16()
    found = first(half(ids))
    same(found.dtype, torch.bfloat16, "element type")
    near(found.float(), pair.logits(ids), 0.5, "bfloat16 logits")
    if hasattr(half, "generate"):
        half.generate(ids, max_new_tokens=3)


def check_compiled(pair: Pair, prompt: list[int]) -> None:
    """One compilation for the prompt, one for all further tokens."""
    import torch._dynamo as dynamo
    from torch._dynamo.testing import CompileCounter

    model = load_model(pair.source_text, pair.folder)
    want = model.generate(torch.tensor([prompt]), max_new_tokens=64)
    dynamo.reset()
    counter = CompileCounter()
    model.compile(backend=counter, fullgraph=True, dynamic=False)
    found = model.generate(torch.tensor([prompt]), max_new_tokens=64)
    same(found.tolist(), want.tolist(), "tokens of the compiled model")
    same(counter.frame_count, 2, "compilations for a prompt and 64 tokens")


def check_inductor(pair: Pair, prompt: list[int]) -> None:
    """The framework's own compiler gives the same logits."""
    ids = torch.tensor([prompt])
    model = load_model(pair.source_text, pair.folder)
    want = pair.logits(ids)
    model.compile(fullgraph=True, dynamic=False)
    near(first(model(ids)), want, TINY_LOGITS, "compiled logits")


def check_sampling(pair: Pair, prompt: list[int]) -> None:
    """The same seed gives the same tokens, another seed others; top-k 1 is greedy."""
    ids = torch.tensor([prompt])

    def draw(seed: int, **options) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        out = pair.ours.generate(
            ids, max_new_tokens=24, temperature=1.5, generator=generator, **options
        )
        return out[0].tolist()

    same(draw(1) == draw(1), True, "equal seeds give equal tokens")
    same(draw(1) != draw(2), True, "other seeds give other tokens")
    greedy = pair.ours.generate(ids, max_new_tokens=24)[0].tolist()
    same(draw(1, top_k=1), greedy, "tokens with top_k 1")
    same(draw(1, top_p=1e-6), greedy, "tokens with a tiny top_p")


# ---- groups ----------------------------------------------------------------------------------


def tiny_causal(tally: Tally, pair: Pair) -> None:
    """All checks of a decoder."""
    name = pair.folder.name
    members = tiny_prompts(pair.theirs.config.vocab_size)
    for ids in members:
        row = torch.tensor([ids])
        tally.check(
            f"{name} prompt of {len(ids)}: logits",
            lambda row=row: near(
                pair.logits(row), pair.library_logits(row), TINY_LOGITS, "logits"
            ),
        )
        tally.check(
            f"{name} prompt of {len(ids)}: greedy tokens",
            lambda ids=ids: check_greedy(pair, ids),
        )
    checks = {
        "cached calls": lambda: check_cached(pair, members[0]),
        "padded batch": lambda: check_padded(pair, members[:3]),
        "end tokens": lambda: check_ends(pair, members[:3]),
        "sampling": lambda: check_sampling(pair, members[1]),
        "bfloat16": lambda: check_half(pair, members[0]),
    }
    for what, check in checks.items():
        tally.check(f"{name}: {what}", torch.no_grad()(check))


def tiny_encoder(tally: Tally, pair: Pair) -> None:
    """All checks of an encoder."""
    name = pair.folder.name
    members = tiny_prompts(pair.theirs.config.vocab_size)
    width = max(map(len, members))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in members])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in members])
    segments = (ids * 7) % 3

    def padded_rows() -> None:
        found = first(pair.ours(ids, mask, segments))
        want = first(pair.theirs(ids, mask, token_type_ids=segments, return_dict=False))
        near(found[mask == 1], want[mask == 1], TINY_LOGITS, "states")

    def no_mask() -> None:
        near(pair.logits(ids[:1]), pair.library_logits(ids[:1]), TINY_LOGITS, "states")

    tally.check(f"{name}: padded batch with segments", torch.no_grad()(padded_rows))
    tally.check(f"{name}: without mask and segments", torch.no_grad()(no_mask))
    tally.check(
        f"{name}: bfloat16", torch.no_grad()(lambda: check_half(pair, members[0]))
    )


def tiny_group(axon: str, tally: Tally, wanted: list[str]) -> None:
    """Every family and every spelling of its files."""
    root = tiny_checkpoints()
    compiled_done = False
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if wanted and folder.name not in wanted:
            continue
        source = folder
        if (folder / "oracle.json").exists():
            source = root / json.loads((folder / "oracle.json").read_text())["source"]
        made: list[Pair] = []
        tally.check(
            f"{folder.name}: compiles and loads",
            lambda: made.append(Pair(axon, folder, source)),  # noqa: B023
        )
        if not made:
            continue
        pair = made[0]
        prompt = tiny_prompts(pair.theirs.config.vocab_size)[0]
        encoder = not hasattr(pair.ours, "generate")
        (tiny_encoder if encoder else tiny_causal)(tally, pair)
        tally.check(f"{folder.name}: parameter names", lambda: check_names(pair))
        tally.check(f"{folder.name}: gradients", lambda: check_gradients(pair, prompt))
        if not encoder and not compiled_done:
            compiled_done = True
            tally.check(
                f"{folder.name}: compilations", lambda: check_compiled(pair, prompt)
            )
            tally.check(
                f"{folder.name}: compiled", lambda: check_inductor(pair, prompt)
            )


def real_group(axon: str, tally: Tally, wanted: list[str]) -> None:
    """The demonstration model and the sentence encoder."""
    if not wanted or "smollm" in wanted:
        folder = smollm_folder(fetched("smollm2"), "float32")
        pair = Pair(axon, folder, folder)
        draw = torch.Generator().manual_seed(5)
        ids = torch.randint(100, 40000, (1, 60), generator=draw)
        tally.check(
            "smollm: logits",
            torch.no_grad()(
                lambda: near(
                    pair.logits(ids), pair.library_logits(ids), REAL_LOGITS, "logits"
                )
            ),
        )
        tally.check(
            "smollm: greedy tokens",
            torch.no_grad()(lambda: check_greedy(pair, ids[0, :20].tolist())),
        )
    if not wanted or "minilm" in wanted:
        folder = fetched("minilm")
        pair = Pair(axon, folder, folder)
        ids = torch.randint(
            1000, 20000, (3, 40), generator=torch.Generator().manual_seed(6)
        )
        mask = torch.ones_like(ids)
        mask[1, 30:] = 0

        def states() -> None:
            found = pair.logits(ids, mask)
            want = pair.library_logits(ids, mask)
            near(found[mask == 1], want[mask == 1], REAL_LOGITS, "states")

        tally.check("minilm: states", torch.no_grad()(states))


def main() -> int:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(2)
    axon, *wanted = sys.argv[1:]
    tally = Tally()
    tiny_group(axon, tally, wanted)
    real_group(axon, tally, wanted)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
