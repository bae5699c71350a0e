"""A learned embedding of positions, as a PyTorch module."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.nn._added import Added
from pe_lib.nn._arguments import as_positions, ends_of
from pe_lib.table import sinusoidal_table

INITS = ("normal", "sinusoidal")


class LearnedPositionalEmbedding(Added):
    r"""Adds a learned vector for each position to x.

    .. math:: y_t = x_t + W_t

    with one row of weights W a position, as Gehring et al. (2017), BERT and GPT-2
    have it. There are no rows past `max_length` and none between two positions, so
    that both are an error here. The result has the dtype of x, under autocast too.
    For sentences padded on the left positions are
    ``(mask.cumsum(-1) - 1).clamp(min=0)``.

    Learning starts with `init`: "normal", independent numbers with standard deviation
    0.02, as in BERT and GPT-2; or "sinusoidal", the table of
    :func:`pe_lib.sinusoidal_table`. The row `padding_idx` is that of padding, as in
    RoBERTa (1): it is zero and stays so. Position 0 has the row after it, and position
    -1 is padding; so weights have max_length + padding_idx + 1 rows, and the positions
    of a mask are ``mask.cumsum(-1) * mask - 1``. The other arguments, and what is
    raised, are those of :class:`SinusoidalPositionalEncoding`.

    >>> embed = LearnedPositionalEmbedding(4, max_length=8, init="sinusoidal")
    >>> embed(torch.zeros(1, 4), offset=1).detach()
    tensor([[0.8415, 0.5403, 0.0100, 0.9999]])
    >>> embed(torch.zeros(9, 4))
    Traceback (most recent call last):
    ...
    ValueError: offset + length must be at most max_length = 8, got 0 + 9
    """

    def __init__(
        self,
        d_model: int,
        *,
        max_length: int,
        init: str = "normal",
        padding_idx: int | None = None,
        dropout: float = 0.0,
        batch_first: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._take(d_model, dropout, batch_first)
        self.max_length = as_integer("max_length", max_length, at_least=1)
        self.init = as_choice("init", init, INITS)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.padding_idx = as_integer("padding_idx", padding_idx, at_least=0)
        self._first = 0 if self.padding_idx is None else self.padding_idx + 1
        with torch.inference_mode(mode=False):  # wherever it is made, it can be trained
            shape = self._first + self.max_length, self.d_model
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
            first = self._first + offset
            return self.weight[first : first + length]
        as_positions("positions", positions, whole=True)
        moved, lowest = positions.long() + offset, 0
        if self.padding_idx is not None:  # padding stays padding
            moved, lowest = moved.masked_fill(positions == -1, -1), -1
        ends = ends_of(moved)
        if ends is None:  # no other negative one may find the rows before padding
            moved = moved.masked_fill(moved < -1, -1 - self._first)
        elif ends[0] < lowest or ends[1] >= self.max_length:
            raise ValueError(
                f"positions + offset must lie within {lowest} and max_length - 1 = "
                f"{self.max_length - 1}, got {ends[0]} to {ends[1]}"
            )
        return functional.embedding(moved + self._first, self.weight, self.padding_idx)

    def reset_parameters(self) -> None:
        """Begin anew, as `init` says."""
        with torch.no_grad():
            if self.init == "normal":
                nn.init.normal_(self.weight, std=0.02)
            elif not self.weight.is_meta:
                table = sinusoidal_table(self.max_length, self.d_model)
                self.weight[self._first :] = torch.from_numpy(table)
            if self.padding_idx is not None:
                self.weight[: self._first] = 0

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.d_model}, max_length={self.max_length}, init={self.init!r}, "
            f"batch_first={self.batch_first}"
        )
