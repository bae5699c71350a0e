"""The sinusoidal encoding as a PyTorch module."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib._arguments import as_base, as_choice, as_integer
from pe_lib._exact_angles import fixed_point_frequencies
from pe_lib.frequencies import SPACINGS
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.nn._added import Added
from pe_lib.nn._angles import codes_at, make_columns
from pe_lib.nn._tables import Tabled
from pe_lib.table import sinusoidal_table


class SinusoidalPositionalEncoding(Added, Tabled):
    r"""Adds the sinusoidal encoding of Vaswani et al. (2017), section 3.5, to x.

    .. math:: y_t = x_t + P_t

    with the encodings P of :func:`pe_lib.sinusoidal`. What is added is that function's
    float32 value, rounded once to the dtype of x; to a float64 x its float64 value,
    within 1e-15. So the dtype of x alone decides, not that of the module, and the
    result has the dtype of x, under autocast too.

    The state_dict is empty: of a checkpoint that has a table, leave that out. Rows of
    positions 0 to max_length - 1 are kept ready in the module's own dtype, and whole
    positions taken from them on the CPU. Other positions, and encodings of more bits,
    are computed in each call, to the same numbers but for what
    :func:`pe_lib.sinusoidal_table` says of its rows.

    Raises TypeError or ValueError if an argument has a wrong type or is out of range.

    Parameters
    ----------
    d_model : int
        Width of x, at least 1, odd widths included.
    max_length : int
        How many rows are kept ready, at least 0. No limit, but for a program that
        torch.export or torch.jit.trace wrote down from an example within them. 0
        computes all.
    base, spacing, layout
        As in :func:`pe_lib.sinusoidal`.
    dropout : float
        Share of the sums that are set to zero in training, as in section 5.4.
    batch_first : bool
        Whether x is [..., length, d_model] (the default here) or
        [length, batch, d_model] (the default of PyTorch's own modules). Shapes alone
        do not tell: every token would silently get the encoding of one position.
    device, dtype
        Of the table, as in PyTorch's own modules.

    Examples
    --------
    Position 1 in four dimensions: sin 1, cos 1, sin 0.01, cos 0.01.

    >>> encode = SinusoidalPositionalEncoding(4)
    >>> encode(torch.zeros(2, 4))
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    The next token, with two in the cache, is at position 2, and sentences padded on
    the left begin where their mask does:

    >>> last = encode(torch.zeros(1, 4), offset=2)
    >>> mask = torch.tensor([[1, 1, 1], [0, 1, 1]])
    >>> padded = encode(torch.zeros(2, 3, 4), positions=mask.cumsum(-1) - 1)
    >>> torch.equal(padded[0, 2:], last), torch.equal(padded[1, 1:], padded[0, :2])
    (True, True)
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
        self._take(d_model, dropout, batch_first)
        self.max_length = as_integer("max_length", max_length, at_least=0)
        self.base = as_base(base)
        self.spacing = as_choice("spacing", spacing, SPACINGS)
        self.layout = as_choice("layout", layout, LAYOUTS)
        units = fixed_point_frequencies(self.d_model, self.base, self.spacing)
        sines, cosines = layout_columns(self.d_model, self.layout)
        columns = make_columns(self.d_model, sines, cosines, units)
        self._make_table((self.max_length, self.d_model), columns, device, dtype)

    def _rows(
        self, x: Tensor, positions: Tensor | None, length: int, offset: Any
    ) -> Tensor:
        rows = self._looked_up(self._ready_for(x), positions, length, offset)
        if rows is not None:
            return rows
        if positions is None:
            positions = torch.arange(length, device=x.device)
        return codes_at((positions,), offset, self._exact, x.dtype)

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

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.d_model}, max_length={self.max_length}, base={self.base:g}, "
            f"spacing={self.spacing!r}, layout={self.layout!r}, "
            f"batch_first={self.batch_first}"
        )
