"""What is asked of an emitted module: each function fails with what it saw and what it expected."""

import copy
from collections.abc import Callable

import numpy
import oracle
import torch
import torch.nn.functional as F
from binary import Failure
from axon_verify.oracle import stored_names
from emit_pair import Pair, first, load_model, near, same
from run_parity import NEAR_TIE, TINY_LOGITS
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

GRADIENTS = 1e-4  # relative
NEW_TOKENS = 32
HALF_LOGITS = 0.5  # in bfloat16, the worst
# In bfloat16, on average: where there are experts, a token may go through others, and nothing bounds the worst.
HALF_LOGITS_MEAN = 0.1


def check_greedy(pair: Pair, prompt: list[int]) -> None:
    """The same greedy tokens as the library, up to a near tie."""
    ids = torch.tensor([prompt])
    found = pair.ours.generate(ids, max_new_tokens=NEW_TOKENS)[
        0, len(prompt) :
    ].tolist()
    want, gaps = oracle.greedy(pair.theirs, prompt, NEW_TOKENS)
    if found == want:
        return
    place = next(i for i in range(NEW_TOKENS) if found[i] != want[i])
    if gaps[place] >= NEAR_TIE:
        raise Failure(f"token {place}: saw {found[place]}, expected {want[place]}")


def check_long(pair: Pair) -> None:
    """A prompt of several blocks of queries; the blocks alone, with gradients, in float64."""
    ids = torch.arange(300)[None] * 7 % pair.theirs.config.vocab_size
    with torch.no_grad():
        near(pair.logits(ids), pair.library_logits(ids), TINY_LOGITS, "logits")
    draw = torch.Generator().manual_seed(5)
    given = [
        torch.randn(2, heads, 300, 12, generator=draw, dtype=torch.float64)
        for heads in (6, 2, 2, 6)
    ]
    inputs = [x.requires_grad_() for x in given[:3]]
    blocks = type(pair.ours).forward.__globals__["causal_blocks"]
    for scale in (None, 12**-0.5):
        found = blocks(*inputs, scale)
        want = F.scaled_dot_product_attention(*inputs, is_causal=True, enable_gqa=True)
        near(found, want, 1e-12, "attention")
        grads = (torch.autograd.grad(x, inputs, given[3]) for x in (found, want))
        for ours, theirs in zip(*grads):
            near(ours, theirs, 1e-12, "gradient")


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


def stored_gradients(model: nn.Module) -> dict[str, Tensor]:
    """Gradients of the library's model under the names and in the shapes of its checkpoints."""
    from transformers.core_model_loading import revert_weight_conversion

    found = {name: p.grad for name, p in model.named_parameters()}
    return revert_weight_conversion(
        model, {name: grad for name, grad in found.items() if grad is not None}
    )


def check_gradients(pair: Pair, ids: Tensor) -> None:
    """Gradients of the mean logit-weighted loss, parameter by parameter; in float64, where those that cancel do."""
    pair.ours.double()
    pair.theirs.double()
    pair.theirs.set_experts_implementation(
        "eager"
    )  # the grouped product has no float64
    try:
        compare_gradients(pair, ids)
    finally:
        pair.ours.float()
        pair.theirs.float()


def compare_gradients(pair: Pair, ids: Tensor) -> None:
    """The comparison, in the element type that the two models have."""
    torch.manual_seed(3)
    want = pair.library_logits(ids)
    weight = torch.randn(want.shape, dtype=want.dtype)
    for model in (pair.ours, pair.theirs):
        model.zero_grad()
    (pair.logits(ids) * weight).mean().backward()
    (want * weight).mean().backward()
    theirs = stored_gradients(pair.theirs)
    theirs |= {name.removeprefix("transformer."): g for name, g in theirs.items()}
    compared = 0
    grads = {name: p.grad for name, p in pair.ours.named_parameters()}
    for name, found in grads.items():
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
    if compared < len(grads) * 0.9:
        raise Failure(f"compared {compared} gradients of {len(grads)}")


def check_half(pair: Pair, prompt: list[int]) -> None:
    """In bfloat16 everything runs and stays close."""
    ids = torch.tensor([prompt])
    half = load_model(pair.source_text, pair.folder).bfloat16()
    found = pair.logits_of(half, ids)
    same(found.dtype, torch.bfloat16, "element type")
    want = pair.logits(ids)
    if not any(type(part).__name__ == "Experts" for part in half.modules()):
        near(found.float(), want, HALF_LOGITS, "bfloat16 logits")
    off = (found.float() - want).abs().mean().item()
    if not off <= HALF_LOGITS_MEAN:
        raise Failure(f"bfloat16 logits: differ by {off:.3g} on average")
    if hasattr(half, "generate"):
        half.generate(ids, max_new_tokens=3)
        with torch.autocast("cpu", torch.bfloat16):
            pair.ours.generate(ids, max_new_tokens=3)


def check_packed(pair: Pair, prompt: list[int]) -> None:
    """Packed weights compute the same, and go by the names of separate ones both ways."""
    ids = torch.tensor([prompt])
    state = pair.ours.state_dict()
    other = {name: 1.25 * value for name, value in state.items()}
    changed = load_model(pair.source_text, pair.folder)
    changed.load_state_dict(other)
    want_changed = pair.logits_of(changed, ids)
    for rows, dtype in ((1, torch.float32), (4, torch.float32), (1, torch.bfloat16)):
        packed = load_model(pair.source_text, pair.folder).to(dtype)
        packed = packed.pack_for_inference(rows)
        for some in (ids, ids[:, :1], ids.repeat(2, 1)):
            found, want = pair.logits_of(packed, some).float(), pair.logits(some)
            if dtype == torch.float32:
                near(found, want, TINY_LOGITS, f"packed logits for {rows} rows")
            elif not (found - want).abs().mean().item() <= HALF_LOGITS_MEAN:
                raise Failure("packed logits in bfloat16 differ")
        same(packed.state_dict().keys(), state.keys(), "names of the packed model")
        twin = copy.deepcopy(packed)
        twin.load_state_dict(other)
        for name, value in twin.state_dict().items():
            want = other[name].to(value.dtype)
            near(value.float(), want.float(), 0.0, f"{name} of the packed model")
        if dtype == torch.float32:
            found = pair.logits_of(twin, ids)
            near(found, want_changed, 4 * TINY_LOGITS, "logits of loaded weights")
        for name, value in packed.state_dict().items():  # the copy is one
            near(value, state[name].to(dtype), 0.0, f"{name} beside the copy")
        pair.logits_of(packed.to(torch.float32), ids)
        with torch.autocast("cpu", torch.bfloat16):
            found, want = pair.logits_of(packed, ids).float(), pair.logits(ids)
        if not (found - want).abs().mean().item() <= HALF_LOGITS_MEAN:
            raise Failure("packed logits under autocast differ")
        plain = load_model(pair.source_text, pair.folder)
        plain.load_state_dict(twin.state_dict())


def check_compiled(pair: Pair, prompt: list[int]) -> None:
    """One compilation for each length of prompt, one for all further tokens of a capacity."""
    import torch._dynamo as dynamo
    from torch._dynamo.testing import CompileCounter

    model = load_model(pair.source_text, pair.folder)
    want = model.generate(torch.tensor([prompt]), max_new_tokens=64)
    dynamo.reset()
    counter = CompileCounter()
    model.compile(backend=counter, fullgraph=True, dynamic=False)
    found = model.generate(torch.tensor([prompt]), max_new_tokens=64)
    same(found.tolist(), want.tolist(), "tokens of the compiled model")
    encodes = "encoded" in pair.inputs  # its source is compiled beside the first token
    first_calls = 3 if encodes else 2
    same(counter.frame_count, first_calls, "compilations for a prompt and 64 tokens")
    model.generate(torch.tensor([prompt[::-1]]), max_new_tokens=64)
    same(counter.frame_count, first_calls, "compilations after another of that length")
    if encodes:
        return check_encode(model, counter, prompt)
    model.generate(torch.tensor([prompt[3:]]), max_new_tokens=67)
    same(
        counter.frame_count, 3, "compilations after a shorter prompt, the same capacity"
    )


def check_encode(model: nn.Module, counter, prompt: list[int]) -> None:
    """Compiled once for each number and length of sources; copies start uncompiled."""
    plain, before = copy.deepcopy(model), counter.frame_count
    for rows, length, more in ((1, 3, 1), (2, 3, 2), (1, 3, 2), (2, 3, 2)):
        ids = torch.tensor([prompt[:length]] * rows)
        found, want = model.encode(ids), plain.encode(ids)
        for a, b in zip(tree_leaves(found), tree_leaves(want), strict=True):
            if b is not None:
                near(a, b, TINY_LOGITS, "what the compiled `encode` gives")
        same(counter.frame_count - before, more, f"compilations for {rows} x {length}")
    ids = torch.tensor([prompt])
    near(first(model(ids, ids)), first(plain(ids, ids)), TINY_LOGITS, "one whole call")


def check_inductor(pair: Pair, prompt: list[int]) -> None:
    """The framework's own compiler gives the same logits, of packed weights too, and gradients."""
    ids = torch.tensor([prompt])
    plain = load_model(pair.source_text, pair.folder)
    want, want_one = pair.logits_of(plain, ids), pair.logits_of(plain, ids[:, :1])
    for rows in (0, 1, 4):
        model = load_model(pair.source_text, pair.folder)
        if rows > 0:
            model.pack_for_inference(rows)
        model.compile(fullgraph=True, dynamic=False)
        with torch.no_grad():
            near(pair.logits_of(model, ids), want, TINY_LOGITS, "compiled logits")
            one = pair.logits_of(model, ids[:, :1])
            near(one, want_one, TINY_LOGITS, "compiled logits of one token")
    model = load_model(pair.source_text, pair.folder)
    model.compile(fullgraph=True, dynamic=False)
    torch.manual_seed(3)
    weight = torch.randn_like(want)
    (want * weight).mean().backward()
    (pair.logits_of(model, ids) * weight).mean().backward()
    whole = max(p.grad.abs().max() for p in plain.parameters() if p.grad is not None)
    for (name, found), own in zip(model.named_parameters(), plain.parameters()):
        if own.grad is not None:
            near(found.grad, own.grad, 1e-4 * whole.item(), f"compiled: {name}")


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
    begin = len(greedy) - 24
    end = greedy[begin]
    for ends in (end, [end], torch.tensor(end), numpy.int64(end), numpy.array([end])):
        short = pair.ours.generate(ids, max_new_tokens=24, eos_token_id=ends)[0]
        same(short.tolist(), greedy[: begin + 1], f"tokens before {ends!r}")
    for top_p in (1e-6, 0.0):
        same(draw(1, top_p=top_p), greedy, f"tokens with top_p {top_p}")


def refused(
    what: str, kind: type[Exception], word: str, call: Callable[[], object]
) -> None:
    """The call fails with an exception of this kind, whose text has the word."""
    try:
        call()
    except kind as error:
        if word not in str(error):
            raise Failure(f"{what}: said {error}, expected {word!r} in it") from error
        return
    raise Failure(f"{what}: not refused")


def check_refusals(pair: Pair, prompt: list[int]) -> None:
    """What cannot be answered is refused in words, before anything is computed."""
    model, ids = pair.ours, torch.tensor([prompt])
    count = len(prompt)
    cases = {
        "an empty prompt": ("1x0", lambda: model.generate(ids[:, :0])),
        "a mask that is too short": (
            f"(1, {count - 1})",
            lambda: model.generate(ids, torch.ones_like(ids[:, 1:])),
        ),
        "fewer tokens than none": (
            "-1 new tokens",
            lambda: model.generate(ids, max_new_tokens=-1),
        ),
        "a share that is none": ("top_p", lambda: model.generate(ids, top_p=-1.0)),
        "the last none": ("last is 0", lambda: model(ids, last=0)),
        "a prompt that the cache has no room for": (
            f"{count} positions",
            lambda: model(ids, use_cache=True, capacity=count - 1),
        ),
    }
    for what, (word, call) in cases.items():
        refused(what, ValueError, word, call)


def check_packed_refusals(pair: Pair) -> None:
    """Packed weights have the element types and shapes that they were packed for."""
    packed = load_model(pair.source_text, pair.folder).pack_for_inference()
    refused("float16", TypeError, "float16", packed.half)
    state = packed.state_dict()
    for name, value in state.items():
        if value.dim() == 2:
            wrong = state | {name: value[:-1]}
            refused(name, RuntimeError, name, lambda w=wrong: packed.load_state_dict(w))
        fewer = {other: state[other] for other in state if other != name}
        refused(name, RuntimeError, name, lambda w=fewer: packed.load_state_dict(w))
    wants = [name for name, p in packed.named_parameters() if p.requires_grad]
    same(wants, [], "parameters of a packed model that want gradients")
