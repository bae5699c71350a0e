"""What the two modules that add to x have in common."""

from typing import Any

from torch import Tensor, nn

from pe_lib._arguments import as_flag, as_integer
from pe_lib.nn._arguments import (
    as_float_tensor,
    as_positions,
    as_share,
    as_whole,
    match_rows,
)


class Added(nn.Module):
    """Adds a row for each position to x."""

    max_length: int
    _whole_only = False  # whether positions must be integers

    def _take(self, d_model: Any, dropout: Any, batch_first: Any) -> None:
        """Keep the arguments that both have."""
        self.d_model = as_integer("d_model", d_model, at_least=1)
        self.batch_first = as_flag("batch_first", batch_first)
        share = as_share("dropout", dropout)
        self.dropout = nn.Dropout(share) if share else None

    def forward(
        self, x: Tensor, *, positions: Tensor | None = None, offset: int = 0
    ) -> Tensor:
        """Return x plus the rows of its positions, in the shape and dtype of x.

        Raises TypeError if a dtype is not one that is named below, or offset is no
        integer; ValueError if shapes do not fit, or nothing was learned for a position.
        On other devices than the CPU, and in compiled code, PyTorch itself stops at
        such a `positions`.

        Parameters
        ----------
        x : tensor [..., length, d_model]
            Floating-point numbers; [length, batch, d_model] or [length, d_model]
            if the module was made with batch_first=False.
        positions : tensor [length], [1, length] or [batch, length]
            0, ..., length - 1 if left out; the batch comes first with either
            batch_first. Of a sinusoid they are real numbers, exact up to 2**31, and
            NaN gives NaN; of a learned embedding integers.
        offset : int
            Is added to every position.
        """
        length, offset = self._length_of(x), as_whole("offset", offset)
        length_first = x.ndim == 3 and not self.batch_first
        if positions is not None:
            at = as_positions("positions", positions, whole=self._whole_only)
            leading = x.shape[1::-1] if length_first else x.shape[:-1]
            positions = match_rows("x", at, length, leading).to(x.device)
        rows = self._rows(x, positions, length, offset)
        rows = rows if rows.dtype == x.dtype else rows.to(x.dtype)
        if length_first:
            rows = rows.unsqueeze(1) if rows.ndim == 2 else rows.transpose(0, 1)
        x = x + rows
        return x if self.dropout is None else self.dropout(x)

    def _rows(
        self, x: Tensor, positions: Tensor | None, length: int, offset: Any
    ) -> Tensor:
        """Of positions + offset, or 0, 1, ... + offset: [..., length, d_model]."""
        raise NotImplementedError

    def _length_of(self, x: Tensor) -> int:
        """The number of positions in `x`, which must be possible."""
        shape, first = as_float_tensor("x", x).shape, self.batch_first
        axes = len(shape) >= 2 if first else len(shape) in (2, 3)
        if axes and shape[-1] == self.d_model:
            return shape[-2] if first else shape[0]
        wanted, since = "[..., length, d_model]", ""
        if not first:
            wanted = "[length, batch, d_model] or [length, d_model]"
            since = ", since batch_first=False"
        raise ValueError(
            f"x must have shape {wanted} with d_model = {self.d_model}{since}, got "
            f"{list(shape)}"
        )
