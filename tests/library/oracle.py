"""What library definitions must give, written out in PyTorch or taken from Transformers: names for tests/library."""

import math

import torch
import torch.nn.functional as F
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position
from transformers.models.t5.modeling_t5 import T5Attention

LOWEST = torch.finfo(torch.float32).min
POSITIONS = torch.arange(5)[None] + torch.tensor([[0], [40]])
THETA = 10000.0


# ---- rotary embeddings -----------------------------------------------------------------------


def frequencies(width: int, theta: float = THETA) -> torch.Tensor:
    """theta^(-2i/width)."""
    return theta ** (-torch.arange(width // 2) * 2.0 / width)


def angles(positions: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """Angles of both halves: [B,1,S,R]."""
    half = positions[:, :, None].to(torch.float32) * inverse
    return torch.cat([half, half], -1)[:, None]


def angles_in_pairs(positions: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """Angles of neighbours: [B,1,S,R]."""
    half = positions[:, :, None].to(torch.float32) * inverse
    return half.repeat_interleave(2, -1)[:, None]


def turned(x: torch.Tensor) -> torch.Tensor:
    """(a, b) becomes (-b, a) for elements half the width apart."""
    left, right = x.chunk(2, -1)
    return torch.cat([-right, left], -1)


def turned_pairs(x: torch.Tensor) -> torch.Tensor:
    """(a, b) becomes (-b, a) for neighbours."""
    return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)


def rotated(x: torch.Tensor, angle: torch.Tensor, gain: float = 1.0) -> torch.Tensor:
    """Rotation by halves."""
    return (x * angle.cos() + turned(x) * angle.sin()) * gain


def rotated_pairs(x: torch.Tensor, positions=POSITIONS) -> torch.Tensor:
    """Rotation of neighbours by base frequencies."""
    angle = angles_in_pairs(positions, frequencies(x.shape[-1]))
    return x * angle.cos() + turned_pairs(x) * angle.sin()


def apart(x: torch.Tensor) -> torch.Tensor:
    """Neighbours moved half the width apart."""
    return torch.cat([x[..., 0::2], x[..., 1::2]], -1)


def prefix(x: torch.Tensor, width: int, change) -> torch.Tensor:
    """The first `width` components changed."""
    return torch.cat([change(x[..., :width]), x[..., width:]], -1)


def suffix(x: torch.Tensor, width: int, change) -> torch.Tensor:
    """The last `width` components changed."""
    return torch.cat([x[..., :-width], change(x[..., -width:])], -1)


def of_config(kind: str, width: int = 32, **changes) -> tuple[torch.Tensor, float]:
    """Frequencies and gain of a rotary kind as Transformers computes them."""
    rotary = {"rope_type": kind, "rope_theta": THETA, **changes}
    config = LlamaConfig(hidden_size=2 * width, num_attention_heads=2, head_dim=width, max_position_embeddings=512,
                         rope_parameters=rotary)  # fmt: skip
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu")


def yarn(width: int = 32, **changes) -> tuple[torch.Tensor, float]:
    """Frequencies and gain of Transformers, for a context of 64 and a factor of 8."""
    given = {
        "factor": 8.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 64,
    }
    return of_config("yarn", width, **(given | changes))


def llama3(width: int = 32) -> torch.Tensor:
    """Frequencies of Transformers for factor 8, low 1, high 4 and a context of 64."""
    return of_config("llama3", width, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                     original_max_position_embeddings=64)[0]  # fmt: skip


# ---- positions, masks, attention ---------------------------------------------------------------


def sinusoids(
    positions: torch.Tensor, width: int, offset: int, steps: float
) -> torch.Tensor:
    """Sines, cosines, a zero column for odd widths."""
    angle = (positions + offset)[..., None] * THETA ** (
        -torch.arange(width // 2) / steps
    )
    return torch.cat(
        [angle.sin(), angle.cos(), torch.zeros(*positions.shape, width % 2)], -1
    )


def attended(
    q, k, v, keep, bias=None, scale=None, sinks=None, cap=None, clear=True
) -> torch.Tensor:
    """Attention as written out; key and value heads are repeated to as many as q has."""
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    scores = cap * torch.tanh(scores / cap) if cap else scores
    scores = scores + torch.where(keep, 0.0, LOWEST)
    scores = scores if bias is None else scores + bias
    scores = scores if sinks is None else torch.cat([scores, sinks], -1)
    weights = scores.softmax(-1)[..., : k.shape[-2]]
    return (torch.where(keep, weights, 0.0) if clear else weights) @ v


def causal(queries: int, keys: int, window: int | None = None) -> torch.Tensor:
    """Which keys each of the last `queries` positions sees: [1,1,Q,K]."""
    row, column = (
        torch.arange(queries)[:, None] + keys - queries,
        torch.arange(keys)[None],
    )
    keep = column <= row
    return (keep if window is None else keep & (column > row - window))[None, None]


def near(
    queries: int, keys: int, window: int, first: int | None = None
) -> torch.Tensor:
    """Keys at most `window` away: [1,1,Q,K]."""
    first = keys - queries if first is None else first
    row, column = torch.arange(queries)[:, None] + first, torch.arange(keys)[None]
    return ((row - column).abs() <= window)[None, None]


def blocks(
    heads: int, queries: int, keys: int, size: int, local: int, stride: int, homo: bool
) -> torch.Tensor:
    """Kept places of the block pattern: [H,Q,K]."""
    row, column = (
        torch.arange(queries)[:, None] + keys - queries,
        torch.arange(keys)[None],
    )
    block, head = row // size - column // size, torch.arange(heads)[:, None, None]
    shift = 0 if homo else head * max(1, stride // heads)
    vertical = (column // size + shift + 1) % stride == 0
    return (block >= 0) & ((block < local) | vertical) & (column <= row)


def head_split(x: torch.Tensor, heads: int) -> torch.Tensor:
    """[B,S,D] as [B,H,S,D / H]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


# ---- experts and scans -------------------------------------------------------------------------


def experts(x, scores, index, gate, up, down, before=False, limit=None) -> torch.Tensor:
    """Gated experts token by token; weights are [E,out,in]."""
    out = torch.zeros_like(x)
    for b, t, slot in torch.cartesian_prod(
        *(torch.arange(n) for n in index.shape)
    ).tolist():
        e, score = int(index[b, t, slot]), scores[b, t, slot]
        row = x[b, t] * score if before else x[b, t]
        g, u = gate[e] @ row, up[e] @ row
        if limit is not None:
            g, u = g.clamp(max=limit), u.clamp(-limit, limit)
        y = down[e] @ (F.silu(g) * u)
        out[b, t] += y if before else y * score
    return out


def scanned(u, delta, b, c, a, d) -> torch.Tensor:
    """The selective scan from a state of zero."""
    state, out = torch.zeros(u.shape[0], u.shape[2], b.shape[2]), []
    for t in range(u.shape[1]):
        dt = F.softplus(delta[:, t])
        state = (
            torch.exp(dt[..., None] * a) * state
            + (dt * u[:, t])[..., None] * b[:, t, None]
        )
        out.append((state * c[:, t, None]).sum(-1) + d * u[:, t])
    return torch.stack(out, 1)


def scanned2(
    u, gate, dt, b, c, p, groups: int, width: int, low=0.0, high=1e30
) -> torch.Tensor:
    """The scan with one decay a head, gated and normalised in groups."""
    batch, steps, size = u.shape
    heads = size // width
    state, out = torch.zeros(batch, heads, width, b.shape[2] // groups), []
    for t in range(steps):
        step = F.softplus(dt[:, t] + p["dt_bias"]).clamp(low, high)
        b_t, c_t = (
            s[:, t].view(batch, groups, -1).repeat_interleave(heads // groups, 1)
            for s in (b, c)
        )
        u_t = u[:, t].view(batch, heads, width)
        decay = torch.exp(-p["A_log"].exp() * step)[..., None, None]
        state = state * decay + (step[..., None] * u_t)[..., None] * b_t[:, :, None]
        out.append(
            ((state * c_t[:, :, None]).sum(-1) + p["D"][None, :, None] * u_t).flatten(1)
        )
    z = (torch.stack(out, 1) * F.silu(gate)).unflatten(-1, (groups, -1))
    z = z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + 1e-5)
    return z.flatten(-2) * p["norm"]


def alibi(mask: torch.Tensor, heads: int) -> torch.Tensor:
    """Linear biases of Transformers: [B,H,1,K]."""
    return build_alibi_tensor(mask, heads, torch.float32).view(
        mask.shape[0], heads, 1, -1
    )


def bucket_bias(
    table: torch.Tensor,
    queries: int,
    keys: int,
    past: int,
    both: bool,
    buckets=32,
    reach=128,
):
    """T5's relative biases: [1,H,Q,K]."""
    distance = torch.arange(keys)[None] - torch.arange(queries)[:, None] - past
    bucket = T5Attention._relative_position_bucket(distance, both, buckets, reach)
    return table[bucket].permute(2, 0, 1)[None]


def buckets_of(
    distance: torch.Tensor, both: bool, buckets: int, reach: int
) -> torch.Tensor:
    """T5's bucket of each distance."""
    return T5Attention._relative_position_bucket(distance, both, buckets, reach)


def log_buckets(distance: torch.Tensor, buckets: int, reach: int) -> torch.Tensor:
    """DeBERTa's bucket of each distance."""
    return make_log_bucket_position(distance, buckets, reach).long()


def disentangled(q, k, p, at: str, buckets: int, reach: int) -> torch.Tensor:
    """DeBERTa's two biases by distance with shared keys; `buckets` 0: distances as they are."""
    length, heads, width = q.shape[2], q.shape[1], q.shape[3]
    rows = 2 * (buckets or reach)
    gain, bias = p[f"{at}.LayerNorm.weight"], p[f"{at}.LayerNorm.bias"]
    table = F.layer_norm(
        p[f"{at}.rel_embeddings.weight"][:rows], gain.shape, gain, bias, 1e-7
    )

    def projected(name: str) -> torch.Tensor:
        out = F.linear(table, p[f"{at}.{name}.weight"], p[f"{at}.{name}.bias"])
        return out.view(rows, heads, width).permute(1, 2, 0)

    distance = torch.arange(length)[:, None] - torch.arange(length)[None]
    placed = log_buckets(distance, buckets, reach) if buckets else distance
    index = (placed + rows // 2).clamp(0, rows - 1).expand(*q.shape[:2], length, length)
    by_query = (q @ projected("key_proj")).gather(-1, index)
    by_key = (k @ projected("query_proj")).gather(-1, index.mT)
    return (by_query + by_key.mT) / math.sqrt(3 * width)
