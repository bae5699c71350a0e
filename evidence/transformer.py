"""The losses that *A transformer, whole* shows, kept.

    python -m evidence.transformer

It runs the page's own cells, trains each encoding once, and keeps the loss by position,
eight positions a number. The page trains one of them again, and asserts that it comes
near. Three models with RoPE, of a seed each, also read the longer texts in two other
ways: with offsets that end where training ended, and with no farther keys.
"""

import contextlib
import time
from typing import Any

import torch
from torch import Tensor, nn

from evidence import ROOT
from manuscript import read_page
from pe_lib.experiments import matrices
from pe_lib.nn import RotaryEmbedding

PAGE = ROOT / "book/beyond/transformer.ipynb"
KEPT = "data/transformer.csv"
COMMAND = "python -m evidence.transformer"
TOLERANCE = "0.15 bits within the trained length"
RUN = {"STEPS": 1000, "SEED": 0, "LENGTH": 32, "FAR": 128}
SEEDS = (0, 1, 2)
"""Of the models with RoPE that are read in other ways."""
WAYS = ("RoPE as trained", "offsets up to 31", "far keys hidden")
"""In which these read longer texts."""
SETTINGS = {"run": RUN, "three": RUN | {"SEED": SEEDS}}


class Limited(nn.Module):
    """A bias: farther away than `longest`, a key gets the score of that offset."""

    def __init__(self, rotary: RotaryEmbedding, longest: int) -> None:
        super().__init__()
        self.rotary, self.longest = rotary, longest
        rotary.register_forward_hook(self.hear)

    def hear(self, _: nn.Module, heard: Any, rotated: Any) -> None:
        """By how much each score would change."""
        query, key = heard
        positions = torch.full(query.shape[-2:-1], self.longest)
        limited = self.rotary.rotate(query, positions=positions) @ key.mT
        usual = rotated[0] @ rotated[1].mT
        self.change = (limited - usual) / query.shape[-1] ** 0.5

    def forward(self, n: int) -> Tensor:
        """What is added to the scores."""
        return torch.where(offsets(n) > self.longest, self.change, 0)


class Masked(nn.Module):
    """A bias that hides keys farther away than `longest`."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.longest = longest

    def forward(self, n: int) -> Tensor:
        """What is added to the scores."""
        return torch.zeros(n, n).masked_fill(offsets(n) > self.longest, -torch.inf)


def offsets(n: int) -> Tensor:
    """How far each key is behind each query."""
    return torch.arange(n)[:, None] - torch.arange(n)


def cells_before_the_run(seed: int = RUN["SEED"]) -> dict[str, Any]:
    """The names that the page has when it begins to train."""
    cells = read_page(PAGE.stem, PAGE).cells
    names: dict[str, Any] = {}
    with contextlib.chdir(PAGE.parent):
        for cell in cells[: [cell.id for cell in cells].index("run")]:
            if cell.kind == "code" and cell.id != "flow":  # a drawing
                exec(
                    cell.source.replace("SEED = chosen(0", f"SEED = chosen({seed}"),
                    names,
                )
    return names


def found(page: dict[str, Any]) -> dict[str, Tensor]:
    """The losses of each encoding [1, positions / 8]."""
    return {
        name: page["by_position"](
            page["trained"](encoding), page["LENGTH" if name == "learned" else "FAR"]
        )[None]
        for name, encoding in page["encodings"]().items()
    }


def three_ways(page: dict[str, Any]) -> list[Tensor]:
    """The losses of a model with RoPE, in the order of WAYS."""
    model, longest = page["trained"](page["encodings"]()["RoPE"]), page["LENGTH"] - 1
    losses = [page["by_position"](model, page["FAR"])]
    rotary = model.encoding["rotate"]
    for bias in Limited(rotary, longest), Masked(longest):
        model.encoding["bias"] = bias
        losses.append(page["by_position"](model, page["FAR"]))
    return losses


def main() -> None:
    """Train as the page does, and keep the losses."""
    began = time.process_time()
    ways = zip(*(three_ways(cells_before_the_run(seed)) for seed in SEEDS), strict=True)
    of_three = {name: torch.stack(way) for name, way in zip(WAYS, ways, strict=True)}
    losses = found(cells_before_the_run()) | of_three
    made = {"command": COMMAND, "settings": SETTINGS, "tolerance": TOLERANCE}
    seconds = time.process_time() - began
    matrices.save(losses, PAGE.parent / KEPT, seconds=seconds, **made)


if __name__ == "__main__":
    main()
