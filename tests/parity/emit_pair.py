"""An emitted PyTorch module and the library's class, with the same weights."""

import ast
import importlib.util
import inspect
import json
import pathlib
import subprocess
import tempfile

import torch
from binary import Failure
from safetensors import safe_open
from torch import Tensor, nn

MASKS = ("attn_mask", "attention_mask")


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


class Pair:
    """An emitted model and the library's, with the same weights."""

    def __init__(self, axon: str, folder: pathlib.Path, theirs: nn.Module) -> None:
        self.folder = folder
        self.source_text = emit(axon, folder)
        check_standalone(self.source_text)
        self.ours = load_model(self.source_text, folder)
        self.theirs = theirs
        self.inputs = list(inspect.signature(self.ours.forward).parameters)
        self.mask = next(name for name in MASKS if name in self.inputs)

    def logits(self, ids: Tensor, mask: Tensor | None = None, **options) -> Tensor:
        return first(self.ours(ids, **({self.mask: mask} | options)))

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
