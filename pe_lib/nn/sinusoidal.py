"""The sinusoidal encoding as a PyTorch module."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_base, as_choice, as_flag, as_integer
from pe_lib._exact_angles import fixed_point_frequencies
from pe_lib.frequencies import SPACINGS
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.nn._angles import codes_at
from pe_lib.nn._arguments import (
    as_offset,
    as_probability,
    ends_of,
    length_first,
    length_of,
    positions_of,
)
from pe_lib.nn._tables import Tabled
from pe_lib.table import sinusoidal_table

SHORTER = (torch.bfloat16, torch.float16)


class SinusoidalPositionalEncoding(Tabled):
    r"""Adds the sinusoidal encoding of Vaswani et al. (2017), section 3.5, to x.

    .. math:: y_t = x_t + P_t

    with the codes P of :func:`pe_lib.sinusoidal`. What is added is that function's
    float32 value, rounded once to the dtype of x; to a float64 x its float64 value,
    within 1e-15. So the dtype of x alone decides, not that of the module, and the
    result has the dtype of x, under autocast too.

    The module has no parameters and saves nothing: its state_dict is empty. A table
    that a different module's checkpoint carries, such as ``pe``, is compared with our
    own and left out; a different encoding is an error that says so.

    It keeps the rows of positions 0 to max_length - 1 ready, in its own dtype, and
    takes whole positions from them on the CPU. Other positions, and codes for an x
    of more bits than the module has, are computed in :meth:`forward`, which takes
    longer and changes nothing.

    Parameters
    ----------
    d_model : int
        Width of x, at least 1, odd widths included.
    max_length : int
        How many rows are kept ready, at least 0. No limit for the module, nor under
        torch.compile. A program that torch.export or torch.jit.trace wrote down from
        an example within these rows keeps them alone, and refuses more; made with
        max_length=0, it computes every row and has no such limit.
    base, spacing, layout
        As in :func:`pe_lib.sinusoidal`.
    dropout : float
        Share of the sums that are set to zero in training, as in section 5.4 of
        the paper. After the sum, not before.
    batch_first : bool
        Whether x is [..., length, d_model] (the default here) or
        [length, batch, d_model] (the default of PyTorch's own modules). From the
        shapes alone a swapped batch and length cannot be told: every token of a
        sentence would silently get the code of one position.
    device, dtype
        Of the table, as in PyTorch's own modules.

    Raises
    ------
    TypeError, ValueError
        If :func:`pe_lib.sinusoidal` would raise, `max_length` is no integer from 0
        on, `dropout` is not between 0 and 1, or `batch_first` is no bool.

    Examples
    --------
    Position 1 in four dimensions: sin 1, cos 1, sin 0.01, cos 0.01.

    >>> encode = SinusoidalPositionalEncoding(4)
    >>> encode(torch.zeros(2, 4))
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    The next token, with two in the cache, is at position 2:

    >>> whole, last = encode(torch.zeros(3, 4)), encode(torch.zeros(1, 4), offset=2)
    >>> torch.equal(whole[2:], last)
    True

    Sentences padded on the left begin where their mask does:

    >>> mask = torch.tensor([[1, 1, 1], [0, 1, 1]])
    >>> positions = mask.cumsum(-1) - 1
    >>> positions
    tensor([[ 0,  1,  2],
            [-1,  0,  1]])
    >>> encode(torch.zeros(2, 3, 4), positions=positions).shape
    torch.Size([2, 3, 4])
    """

    def __init__(
        self,
        d_model: int,
        *,
        max_length: int = 2048,
        base: float = 10_000.0,
        spacing: str = "paper",
        layout: str = "interleaved",
        dropout: float = 0.0,
        batch_first: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.d_model = as_integer("d_model", d_model, at_least=1)
        self.max_length = as_integer("max_length", max_length, at_least=0)
        self.base = as_base(base)
        self.spacing = as_choice("spacing", spacing, SPACINGS)
        self.layout = as_choice("layout", layout, LAYOUTS)
        self.batch_first = as_flag("batch_first", batch_first)
        share = as_probability("dropout", dropout)
        self.dropout = nn.Dropout(share) if share else None
        steps = fixed_point_frequencies(self.d_model, self.base, self.spacing)
        sines, cosines = layout_columns(self.d_model, self.layout)
        self._make_table(self.d_model, (sines, cosines, steps), device, dtype)

    def forward(
        self, x: Tensor, *, positions: Tensor | None = None, offset: int = 0
    ) -> Tensor:
        """Return x plus the codes of its positions.

        Parameters
        ----------
        x : tensor [..., length, d_model]
            Floating-point numbers; [length, batch, d_model] or [length, d_model]
            if the module was made with batch_first=False.
        positions : tensor [length], [1, length] or [batch, length]
            Real numbers, negative and fractional ones too; 0, ..., length - 1
            if left out. The batch comes first here also with batch_first=False,
            as it does in PyTorch's padding masks. Their values are not checked:
            exact up to 2**31, NaN gives NaN.
        offset : int
            Is added to every position.

        Returns
        -------
        tensor of the shape and dtype of x

        Raises
        ------
        TypeError
            If x has no floating-point numbers, positions is no tensor of real
            numbers, or offset is no integer.
        ValueError
            If the shape of x or of positions does not fit.
        """
        length = length_of(x, self.d_model, self.batch_first)
        offset = as_offset(offset)
        end = offset + length
        table = self._ready()
        if table is not None:
            dtype = table.dtype
            fits = dtype == x.dtype or (dtype == torch.float32 and x.dtype in SHORTER)
            table = table if fits and table.device == x.device else None
        inside = offset >= 0 and end <= self.max_length
        if positions is None and table is not None and inside:
            codes = table[offset:end]
            codes = codes if dtype == x.dtype else codes.to(x.dtype)
        else:
            given = positions is not None
            positions = positions_of(x, length, self.batch_first, positions)
            known = given and table is not None
            rows = self._rows(positions, offset) if known else None
            if rows is None or table is None:
                codes = codes_at(positions, offset, self._columns, x.dtype)
            else:
                codes = functional.embedding(rows, table).to(x.dtype)
        if not self.batch_first:
            codes = length_first(codes, x)
        x = x + codes
        return x if self.dropout is None else self.dropout(x)

    def _rows(self, positions: Tensor, offset: Any) -> Tensor | None:
        """The rows of the table that positions + offset are; None if not all are."""
        if positions.is_floating_point():
            return None
        ends = ends_of(positions)
        if ends and ends[0] + offset >= 0 and ends[1] + offset < self.max_length:
            return positions.long() + offset if offset else positions.long()
        return None

    def _fill(self, table: Tensor) -> None:
        rows = sinusoidal_table(
            self.max_length,
            self.d_model,
            base=self.base,
            spacing=self.spacing,
            layout=self.layout,
            dtype=np.float64 if table.dtype == torch.float64 else np.float32,
        )
        table.copy_(torch.from_numpy(rows))

    def _known(self, count: int) -> Tensor:
        return codes_at(torch.arange(count), 0, self._columns, torch.float64).cpu()

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.d_model}, max_length={self.max_length}, base={self.base:g}, "
            f"spacing={self.spacing!r}, layout={self.layout!r}, "
            f"batch_first={self.batch_first}"
        )
