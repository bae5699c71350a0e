"""What the checker is told, and what a first outside exam found it deaf to."""

import math

import torch
from torch import Tensor, nn

from pe_lib.check import check


class CausalMask(nn.Module):
    """A mask alone is a bias, too."""

    def forward(self, queries: int, keys: int) -> Tensor:
        """Later keys are hidden."""
        later = torch.ones(queries, keys).triu(keys - queries + 1).bool()
        return torch.zeros(8, queries, keys).masked_fill(later, -math.inf)


class FromOffset(nn.Module):
    """It is told where the first query stands, or is not."""

    def __init__(self, *, used: bool) -> None:
        super().__init__()
        self.used = used

    def forward(self, queries: int, keys: int, offset: int = 0) -> Tensor:
        """Falls with the distance."""
        first = offset if self.used else 0
        q, k = torch.arange(queries) + first, torch.arange(keys)
        slopes = 2.0 ** -torch.arange(1, 9)
        return -slopes[:, None, None] * (q[:, None] - k).abs()


class Divided(nn.Module):
    """The commonest slip, in float32 throughout."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        t = torch.arange(1000).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(1e4) / d_model))
        table = torch.zeros(1000, d_model)
        table[:, 0::2], table[:, 1::2] = (
            torch.sin(t / div_term),
            torch.cos(t / div_term),
        )
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        """Add it."""
        return x + self.table[: x.shape[1]]


class ByTokens(nn.Embedding):
    """Of token ids [batch, length] it takes the length."""

    def __init__(self, d_model: int) -> None:
        super().__init__(1024, d_model)

    def forward(self, ids: Tensor, past: int = 0) -> Tensor:
        """As models with a cache call it."""
        return (
            super()
            .forward(torch.arange(past, past + ids.shape[1]))
            .expand(len(ids), -1, -1)
        )


def test_a_mask_is_no_error() -> None:
    """Keys that are hidden are not keys that got the same number."""
    assert not check(lambda _: CausalMask(), d_model=8, kind="bias").errors


def test_the_position_of_the_first_query_is_given() -> None:
    """One query of many keys is asked for with its own position."""
    for used in (True, False):
        report = check(
            lambda _, used=used: FromOffset(used=used),
            d_model=8,
            kind="bias",
            positions="offset",
        )
        assert [e.check for e in report.errors] == ([] if used else ["decoding"])


def test_divided_in_float32() -> None:
    """Angles that float32 rounds to whole radians are still told as divided."""
    report = check(Divided, d_model=64)
    assert "divided where they should be multiplied" in str(report)


def test_token_ids_by_their_axes() -> None:
    """Axes without one for the columns are those of ids."""
    report = check(
        ByTokens, d_model=64, kind="table", axes="batch length", positions="past"
    )
    assert not report.errors
