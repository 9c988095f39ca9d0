#!/usr/bin/env python3
"""Compares library definitions with PyTorch and Transformers: run_library.py AXON.

Each case is a small program over tensors of fixed shape that `axon forward` runs; the expected values are
computed here from the definitions' formulas or taken from Transformers' own functions.
"""

import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import torch
from safetensors.numpy import save_file
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position
from transformers.models.t5.modeling_t5 import T5Attention

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from binary import Axon, Failure, near  # noqa: E402

TOLERANCE = 1e-4
LOWEST = torch.finfo(torch.float32).min


class Case:
    """A program's body over named inputs, the parameters it reads and what it must return."""

    def __init__(
        self,
        name: str,
        body: str,
        inputs: dict,
        expected: dict,
        params: dict | None = None,
    ) -> None:
        self.name = name
        self.body = body
        self.inputs = inputs
        self.expected = expected
        self.params = params or {"unused": torch.zeros(1)}

    def program(self) -> str:
        """The text, with one parameter for each input and one result for each expected value."""
        modules = ["Activations", "Attention", "Masking", "Positions", "SSM", "Tensor"]
        imports = [f"import {name} ()" for name in modules if f"{name}." in self.body]
        shapes = [
            f"Tensor[{','.join(map(str, value.shape))}]"
            for value in self.inputs.values()
        ]
        results = ", ".join(["Tensor"] * len(self.expected))
        signature = " -> ".join(
            [*shapes, f"({results})" if len(self.expected) > 1 else results]
        )
        lines = [f"  {line.strip()}" for line in self.body.strip().splitlines()]
        head = f"main {' '.join(self.inputs)} = do"
        return "\n".join(
            [
                *imports,
                f"main :: {signature}",
                head,
                *lines,
                f"  return {', '.join(self.expected)}",
                "",
            ]
        )

    def run(self, axon: Axon) -> None:
        """Fails unless every result is near what is expected."""
        with tempfile.TemporaryDirectory(dir=axon.scratch) as folder:
            place = pathlib.Path(folder)
            (place / "config.json").write_text(json.dumps({"architectures": ["Case"]}))
            save_file({name: value.contiguous().numpy() for name, value in self.params.items()},
                      place / "model.safetensors")  # fmt: skip
            (place / "case.axon").write_text(self.program())
            inputs = {name: value.numpy() for name, value in self.inputs.items()}
            found = axon.forward(place, inputs, "--program", place / "case.axon")
        for name, value in self.expected.items():
            wanted = value.to(torch.float32).numpy()
            scale = max(1.0, float(np.abs(wanted[wanted > LOWEST / 2]).max(initial=0)))
            near(
                found[name if name in found else "logits"].astype(np.float32),
                wanted,
                TOLERANCE * scale,
                name,
            )


# ---- rotary embeddings -----------------------------------------------------------------------

POSITIONS = torch.arange(5)[None] + torch.tensor([[0], [40]])


def angles(positions: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Angles of both halves: [B,1,S,R]."""
    half = positions[:, :, None].to(torch.float32) * frequencies
    return torch.cat([half, half], -1)[:, None]


def frequencies(width: int) -> torch.Tensor:
    return 10000.0 ** (-torch.arange(width // 2) * 2.0 / width)


def rotated(x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    left, right = x.chunk(2, -1)
    return x * angle.cos() + torch.cat([-right, left], -1) * angle.sin()


def rotated_pairs(x: torch.Tensor) -> torch.Tensor:
    half = POSITIONS[:, :, None] * frequencies(x.shape[-1])
    angle = half.repeat_interleave(2, -1)[:, None]
    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * angle.cos() + turned * angle.sin()


def yarn(**changes) -> tuple[torch.Tensor, float]:
    """Frequencies and gain of Transformers."""
    rotary = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0,
              "original_max_position_embeddings": 64, **changes}  # fmt: skip
    config = LlamaConfig(hidden_size=64, num_attention_heads=2, head_dim=32, max_position_embeddings=512,
                         rope_parameters=rotary)  # fmt: skip
    return ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")


def rotary_factor_cases() -> list[Case]:
    cases = []
    for truncate in (True, False):
        inverse, gain = yarn(truncate=truncate)
        angle = angles(POSITIONS, inverse)
        body = """sin, cos <- Positions.rope_hf_yarn_factors ref pos 10000.0 8.0 1.0 32.0 64 """
        body += f"attention_factor={gain} truncate={str(truncate).lower()}"
        expected = {"sin": angle.sin() * gain, "cos": angle.cos() * gain}
        cases.append(
            Case(
                f"hf yarn, truncate {truncate}",
                body,
                {"ref": torch.zeros(2, 1, 5, 32), "pos": POSITIONS},
                expected,
            )
        )
    inverse, gain = yarn(mscale=0.7, mscale_all_dim=1.0)
    angle = angles(POSITIONS, inverse)
    body = """sin, cos <- Positions.rope_yarn_factors_for_position_ids pos 32 10000.0 8.0 32.0 1.0 64 mscale=0.7 mscale_all_dim=1.0"""
    cases.append(
        Case(
            "yarn",
            body,
            {"pos": POSITIONS},
            {"sin": angle.sin() * gain, "cos": angle.cos() * gain},
        )
    )
    for first, divisor, gain in (
        (0, [1.0, 1.1, 1.2, 1.3], 1.2),
        (60, [2.0, 3.0, 4.0, 5.0], 1.5),
    ):
        angle = angles(POSITIONS + first, frequencies(8) / torch.tensor(divisor))
        body = """sin, cos <- Positions.rope_longrope_factors pos 8 10000.0 64 [2.0, 3.0, 4.0, 5.0] [1.0, 1.1, 1.2, 1.3] long_mscale=1.5 short_mscale=1.2"""
        expected = {"sin": angle.sin() * gain, "cos": angle.cos() * gain}
        cases.append(
            Case(f"longrope from {first}", body, {"pos": POSITIONS + first}, expected)
        )
    return cases


def rotary_apply_cases() -> list[Case]:
    x = torch.randn(2, 3, 5, 8)
    body = """
      pairs <- Positions.rope_apply_base x pos interleaved=true
      part <- Positions.rope_apply_base x pos partial_rotary_factor=0.5
      tail <- Positions.rope_apply_trailing x pos 10000.0 4
      back <- Positions.rope_apply_trailing_inverse tail pos 10000.0 4
      apart, _ <- Positions.rope_pair_base_split_interleaved x x pos
      some, _ <- Positions.rope_pair_proportional x x pos partial_rotary_factor=0.5
    """
    narrow = angles(POSITIONS, frequencies(4))
    partial = frequencies(8) * torch.tensor([1.0, 1.0, 0.0, 0.0])
    expected = {
        "pairs": rotated_pairs(x),
        "part": torch.cat([rotated(x[..., :4], narrow), x[..., 4:]], -1),
        "tail": torch.cat([x[..., :4], rotated(x[..., 4:], narrow)], -1),
        "back": x,
        "apart": rotated(
            torch.cat([x[..., 0::2], x[..., 1::2]], -1),
            angles(POSITIONS, frequencies(8)),
        ),
        "some": rotated(x, angles(POSITIONS, partial)),
    }
    return [Case("rotary application", body, {"x": x, "pos": POSITIONS}, expected)]


# ---- positions and biases --------------------------------------------------------------------


def sinusoids(offset: int, steps: float) -> torch.Tensor:
    angle = (POSITIONS + offset)[..., None] * 10000.0 ** (-torch.arange(4) / steps)
    return torch.cat([angle.sin(), angle.cos(), torch.zeros(2, 5, 1)], -1)


def bias_cases() -> list[Case]:
    body = """
      padded <- Positions.sinusoidal_positions ref pos padding_idx=3
      rope <- Positions.sinusoidal_positions ref pos mode="rope" offset=0
    """
    expected = {
        "padded": sinusoids(2, 3.0) * (POSITIONS != 3)[..., None],
        "rope": sinusoids(0, 4.0),
    }
    cases = [
        Case(
            "sinusoidal positions",
            body,
            {"ref": torch.zeros(2, 5, 9), "pos": POSITIONS},
            expected,
        )
    ]
    mask = torch.tensor([[1] * 7, [0, 0, 1, 1, 1, 1, 1]])
    for heads in (5, 8, 12):
        alibi = build_alibi_tensor(mask, heads, torch.float32).reshape(2, heads, 1, 7)
        body = f"bias <- Positions.linear_position_bias mask {heads}"
        cases.append(
            Case(f"linear bias of {heads} heads", body, {"mask": mask}, {"bias": alibi})
        )
    table = torch.randn(32, 4)
    q, k = torch.randn(1, 4, 60, 8), torch.randn(1, 4, 70, 8)
    distance = torch.arange(70)[None] - torch.arange(60)[:, None] - 7
    for both in (True, False):
        bucket = T5Attention._relative_position_bucket(
            distance, bidirectional=both, num_buckets=32, max_distance=128
        )
        body = f"bias <- Positions.relative_position_bias@rel q k bidirectional={str(both).lower()} past_length=7"
        expected = {"bias": table[bucket].permute(2, 0, 1)[None]}
        cases.append(
            Case(
                f"bucket bias, both sides {both}",
                body,
                {"q": q, "k": k},
                expected,
                {"rel.weight": table},
            )
        )
    return [*cases, disentangled_case()]


def disentangled_case() -> Case:
    heads, length, width, buckets, reach = 2, 40, 6, 8, 30
    model = heads * width
    q, k = torch.randn(1, heads, length, width), torch.randn(1, heads, length, width)
    params = {
        f"att.{name}.bias": torch.randn(model)
        for name in ("query_proj", "key_proj", "LayerNorm")
    }
    params |= {
        f"att.{name}.weight": torch.randn(model, model) / 3
        for name in ("query_proj", "key_proj")
    }
    params |= {
        "att.LayerNorm.weight": torch.randn(model),
        "att.rel_embeddings.weight": torch.randn(2 * buckets + 3, model),
    }
    table = torch.nn.functional.layer_norm(
        params["att.rel_embeddings.weight"][: 2 * buckets], (model,), params["att.LayerNorm.weight"],
        params["att.LayerNorm.bias"], 1e-7,
    )  # fmt: skip

    def projected(name: str) -> torch.Tensor:
        out = table @ params[f"att.{name}.weight"].T + params[f"att.{name}.bias"]
        return out.view(2 * buckets, heads, width).permute(1, 2, 0)

    distance = torch.arange(length)[:, None] - torch.arange(length)[None]
    index = (make_log_bucket_position(distance, buckets, reach).long() + buckets).clamp(
        0, 2 * buckets - 1
    )
    by_query = torch.gather(
        q[0] @ projected("key_proj"), -1, index.expand(heads, length, length)
    )
    by_key = torch.gather(
        k[0] @ projected("query_proj"), -1, index.T.expand(heads, length, length)
    )
    expected = (by_query + by_key.transpose(1, 2))[None] / math.sqrt(3 * width)
    body = f"bias <- Positions.relative_bias_disentangled@att q k position_buckets={buckets} max_relative_positions={reach}"
    return Case("disentangled bias", body, {"q": q, "k": k}, {"bias": expected}, params)


# ---- attention and masks ---------------------------------------------------------------------


def attended(
    q, k, v, keep, bias=None, scale=None, sinks=None, cap=None, clear=True
) -> torch.Tensor:
    """Attention as written out."""
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    scores = cap * torch.tanh(scores / cap) if cap else scores
    scores = scores + torch.where(keep, 0.0, LOWEST)
    scores = scores if bias is None else scores + bias
    scores = scores if sinks is None else torch.cat([scores, sinks], -1)
    weights = scores.softmax(-1)[..., : k.shape[-2]]
    return (torch.where(keep, weights, 0.0) if clear else weights) @ v


def attention_cases() -> list[Case]:
    q, k, v = torch.randn(2, 6, 4, 8), torch.randn(2, 6, 7, 8), torch.randn(2, 6, 7, 5)
    few_k, few_v = torch.randn(2, 2, 7, 8), torch.randn(2, 2, 7, 5)
    keep = torch.rand(2, 1, 4, 7) > 0.4
    keep[0, 0, 1] = False
    bias, sinks = torch.randn(2, 6, 4, 7), torch.randn(2, 6, 4, 1)
    body = """
      kept <- Tensor.cast keep dtype="bool"
      ids <- Tensor.sum kept dim=-1 |> Tensor.reshape shape=[2, 4]
      mask <- Attention.mask_to_additive_for_input ids kept 6
      full <- Attention.attention q k v kept rel_bias=bias sink_logits=sinks softcap=2.0 scale=0.3
      scaled <- Attention.attention_scaled q k v kept 0.4
      capped <- Attention.attention_softcap q k v kept 1.5 0.4
      made <- Attention.attention_with_additive_mask q k v mask kept rel_bias=bias
      numbers <- Attention.attention q k v keep
      grouped <- Attention.attention_gqa_with_additive_mask q few_k few_v mask kept rel_bias=bias sink_logits=sinks
    """
    expected = {
        "full": attended(q, k, v, keep, bias, 0.3, sinks, 2.0),
        "scaled": attended(q, k, v, keep, scale=0.4),
        "capped": attended(q, k, v, keep, scale=0.4, cap=1.5, clear=False),
        "made": attended(q, k, v, keep, bias),
        "numbers": attended(q, k, v, keep),
        "grouped": attended(
            q,
            few_k.repeat_interleave(3, 1),
            few_v.repeat_interleave(3, 1),
            keep,
            bias,
            None,
            sinks,
        ),
    }
    inputs = {
        "q": q,
        "k": k,
        "v": v,
        "few_k": few_k,
        "few_v": few_v,
        "keep": keep,
        "bias": bias,
        "sinks": sinks,
    }
    return [Case("attention", body, inputs, expected), banded_case()]


def banded_case() -> Case:
    q, k, v = torch.randn(2, 6, 9, 8), torch.randn(2, 2, 9, 8), torch.randn(2, 2, 9, 5)
    real = torch.ones(2, 9, dtype=torch.int64)
    real[1, 7:] = 0
    offset = torch.arange(9)[None] - torch.arange(9)[:, None]
    keep = ((offset >= -2) & (offset <= 1))[None, None] & (real[:, None, None] != 0)
    body = """
      index, keep <- Masking.banded_mask_for_input real 9 2 1 padding_mask=real
      out <- Attention.attention_gqa_banded q k v index keep
    """
    expected = attended(q, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1), keep)
    return Case(
        "banded attention",
        body,
        {"q": q, "k": k, "v": v, "real": real},
        {"out": expected},
    )


def mask_cases() -> list[Case]:
    ids, real = (
        torch.zeros(2, 4, dtype=torch.int64),
        torch.ones(2, 7, dtype=torch.int64),
    )
    real[1, :2] = 0
    q, k = torch.randn(2, 2, 4, 3), torch.randn(2, 2, 7, 3)
    body = """
      window <- Masking.causal_mask_for_input ids 7 padding_mask=real window=3
      near <- Masking.bidirectional_mask_for_input ids 5 padding_mask=real window=1
      causal <- Masking.causal_mask q k
      around <- Masking.bidirectional_mask q k padding_mask=real window=2
      blocks <- Masking.blocksparse_mask q k padding_mask=real block_size=2 local_blocks=1 vert_stride=2
    """
    row, column, kept = (
        torch.arange(4)[:, None] + 3,
        torch.arange(7)[None],
        real[:, None, None] != 0,
    )
    block = row // 2 - column // 2
    vertical = (column // 2 + torch.arange(2)[:, None, None] + 1) % 2 == 0
    seen = ((block >= 0) & ((block == 0) | vertical) & (column <= row))[None] & kept
    expected = {
        "window": ((column <= row) & (column >= row - 2))[None, None] & kept,
        "near": ((row - 2 - column[:, :5]).abs() <= 1)[None, None] & kept[..., :5],
        "causal": (column <= row)[None, None].expand(2, 1, 4, 7),
        "around": ((row - column).abs() <= 2)[None, None] & kept,
        "blocks": torch.where(seen, 0.0, LOWEST),
    }
    return [Case("masks", body, {"ids": ids, "real": real, "q": q, "k": k}, expected)]


def head_cases() -> list[Case]:
    x = torch.randn(2, 3, 24)
    body = """
      q, k, _ <- Attention.split_qkv_heads x heads=2
      _, mixed, _ <- Attention.split_qkv_heads x heads=2 layout="interleaved"
      group, key, _ <- Attention.split_qkv_grouped x 4 2
    """
    packed, slots = x.view(2, 3, 3, 2, 4).permute(2, 0, 3, 1, 4), x.view(2, 3, 2, 4, 3)
    expected = {
        "q": packed[0],
        "k": packed[1],
        "mixed": x.view(2, 3, 2, 3, 4)[:, :, :, 1].permute(0, 2, 1, 3),
        "group": slots[:, :, :, :2].reshape(2, 3, 4, 3).permute(0, 2, 1, 3),
        "key": slots[:, :, :, 2].permute(0, 2, 1, 3),
    }
    return [Case("head layouts", body, {"x": x}, expected)]


# ---- state-space layers ----------------------------------------------------------------------


def scan_cases() -> list[Case]:
    x, delta = torch.randn(2, 6, 4), torch.randn(2, 6, 4)
    b, c = torch.randn(2, 6, 5), torch.randn(2, 6, 5)
    mask = torch.ones(2, 6, dtype=torch.int64)
    mask[1, :2] = 0
    params = {"conv.weight": torch.randn(4, 1, 3), "conv.bias": torch.randn(4), "A_log": torch.randn(4, 5) * 0.3,
              "D": torch.randn(4)}  # fmt: skip
    padded = torch.nn.functional.pad((x * mask[..., None]).transpose(1, 2), (2, 0))
    conv = torch.nn.functional.conv1d(
        padded, params["conv.weight"], params["conv.bias"], groups=4
    )
    state, steps = torch.zeros(2, 4, 5), []
    for t in range(6):
        dt = torch.nn.functional.softplus(delta[:, t])
        state = (
            torch.exp(-dt[..., None] * params["A_log"].exp()) * state
            + (dt * x[:, t])[..., None] * b[:, t, None]
        )
        steps.append((state * c[:, t, None]).sum(-1) + params["D"] * x[:, t])
    body = """
      conv <- SSM.causal_conv1d@conv x attention_mask=mask
      scan <- SSM.mamba_scan x delta b c
    """
    expected = {
        "conv": torch.nn.functional.silu(conv).transpose(1, 2) * mask[..., None],
        "scan": torch.stack(steps, 1),
    }
    return [
        Case(
            "convolution and scan",
            body,
            {"x": x, "mask": mask, "delta": delta, "b": b, "c": c},
            expected,
            params,
        )
    ]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.manual_seed(11)
    groups = (
        rotary_factor_cases,
        rotary_apply_cases,
        bias_cases,
        attention_cases,
        mask_cases,
        head_cases,
        scan_cases,
    )
    cases = [case for group in groups for case in group()]
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        for case in cases:
            try:
                case.run(axon)
                print(f"ok   {case.name}")
            except Failure as failure:
                failed += 1
                print(f"FAIL {case.name}: {failure}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
