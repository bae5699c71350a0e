"""A learned embedding of positions, as a PyTorch module."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_integer
from pe_lib.nn._added import Added
from pe_lib.nn._arguments import ends_of


class LearnedPositionalEmbedding(Added):
    r"""Adds a learned vector for each position to x.

    .. math:: y_t = x_t + W_t

    with one row of weights W a position, as Gehring et al. (2017), BERT and GPT-2
    have it; learning starts with independent numbers of standard deviation 0.02, as
    theirs does. There are no rows past `max_length` and none between two positions, so
    that both are an error here. The result has the dtype of x, under autocast too.
    For sentences padded on the left positions are
    ``(mask.cumsum(-1) - 1).clamp(min=0)``. The other arguments, and what is raised,
    are those of :class:`SinusoidalPositionalEncoding`.

    >>> embed = LearnedPositionalEmbedding(4, max_length=8)
    >>> last = embed(torch.zeros(1, 4), offset=7)
    >>> torch.equal(last, embed.weight[7:])
    True
    >>> embed(torch.zeros(9, 4))
    Traceback (most recent call last):
    ...
    ValueError: offset + length must be at most max_length = 8, got 0 + 9
    """

    _whole_only = True

    def __init__(
        self,
        d_model: int,
        *,
        max_length: int,
        dropout: float = 0.0,
        batch_first: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._take(d_model, dropout, batch_first)
        self.max_length = as_integer("max_length", max_length, at_least=1)
        with torch.inference_mode(mode=False):  # wherever it is made, it can be trained
            shape = self.max_length, self.d_model
            self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def _rows(
        self,
        x: Tensor,  # noqa: ARG002
        positions: Tensor | None,
        length: int,
        offset: Any,
    ) -> Tensor:
        if positions is None:
            if offset < 0:
                raise ValueError(f"offset must be at least 0, got {offset}")
            if offset + length > self.max_length:
                raise ValueError(
                    f"offset + length must be at most max_length = {self.max_length}, "
                    f"got {offset} + {length}"
                )
            return self.weight[offset : offset + length]
        rows = positions.long() + offset
        ends = ends_of(rows)
        if ends and (ends[0] < 0 or ends[1] >= self.max_length):
            raise ValueError(
                "positions + offset must lie within 0 and max_length - 1 = "
                f"{self.max_length - 1}, got {ends[0]} to {ends[1]}"
            )
        return functional.embedding(rows, self.weight)

    def reset_parameters(self) -> None:
        """Begin anew, with other numbers."""
        nn.init.normal_(self.weight, std=0.02)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.d_model}, max_length={self.max_length}, "
            f"batch_first={self.batch_first}"
        )
