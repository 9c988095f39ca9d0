"""An emitted PyTorch module and the library's class, with the same weights."""

import ast
import inspect
import pathlib
import subprocess
import sys
import tempfile

from axon_verify.torch_target import model_class
from binary import Failure
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
        return self.logits_of(self.ours, ids, mask, **options)

    def logits_of(
        self, ours: nn.Module, ids: Tensor, mask: Tensor | None = None, **options
    ) -> Tensor:
        """The same of another emitted model."""
        given = {self.mask: mask} | self.decoded(ids) | options
        return first(ours(input_ids=ids, **given))

    def library_logits(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        given = {"input_ids": ids, "attention_mask": mask} | self.decoded(ids)
        return first(self.theirs(**given, return_dict=False))

    def decoded(self, ids: Tensor) -> dict[str, Tensor]:
        """What a decoder beside an encoder is given: other ids, in another number."""
        if "decoder_input_ids" not in self.inputs:
            return {}
        return {"decoder_input_ids": ids.flip(1)[:, ids.shape[1] // 3 :]}


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
    allowed = {"torch", "safetensors"} | sys.stdlib_module_names
    seen = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            seen |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            seen.add((node.module or "").partition(".")[0])
    same(seen - allowed, set(), "other imports")


def load_model(text: str, folder: pathlib.Path) -> nn.Module:
    """The model of an emitted source."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(text)
    return model_class(pathlib.Path(file.name)).from_pretrained(folder)
