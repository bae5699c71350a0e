"""Modules that keep a table ready which is computed, and never loaded or saved."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib.nn._arguments import WIDE, ends_of, wide_of, with_float64


class Tabled(nn.Module):
    """A module with a buffer `table`, computed again wherever it was moved or cast.

    Loaders that build a model without memory put another tensor in the place of the
    table, and fill it with nothing. So the module remembers the tensor that it filled,
    and takes rows from no other.
    """

    table: Tensor
    _exact: Tensor  # what the table is made of: it is moved, never cast
    _filled: Tensor | None = None
    _always_wide = False  # whether the table has 32 bits or more in every module

    def _make_table(
        self, shape: Sequence[int], exact: Tensor, device: Any, dtype: Any
    ) -> None:
        if dtype is not None and not getattr(dtype, "is_floating_point", False):
            raise TypeError(f"dtype must be a floating-point dtype, got {dtype!r}")
        if self._always_wide and dtype not in WIDE:
            dtype = torch.float32
        self._exact = exact
        with torch.inference_mode(mode=False):  # so that it may be used in training
            table = torch.empty(*shape, device=device, dtype=dtype)
            self.register_buffer("table", table, persistent=False)
            self.reset_parameters()

    def _fill(self, table: Tensor) -> None:
        """Write the rows of positions 0, 1, ... into `table`."""
        raise NotImplementedError

    def _ready_for(self, x: Tensor) -> Tensor | None:
        """The table that was filled, if its rows are right for x."""
        table = self._filled
        if table is None or table.device != x.device:
            return None
        return table if table.dtype in (x.dtype, wide_of(x)) else None

    @staticmethod
    def _looked_up(
        table: Tensor | None, positions: Tensor | None, length: int, offset: Any
    ) -> Tensor | None:
        """The rows of whole positions, or of 0, 1, ..., if `table` has all of them."""
        if table is None or (positions is not None and positions.is_floating_point()):
            return None
        if positions is None:
            end = offset + length
            within = offset >= 0 and end <= table.shape[0]
            return table[offset:end] if within else None
        ends = ends_of(positions)
        if not ends or ends[0] + offset < 0 or ends[1] + offset >= table.shape[0]:
            return None
        rows = positions.long()
        return functional.embedding(rows + offset if offset else rows, table)

    def reset_parameters(self) -> None:
        """Compute the table, in its dtype and on its device.

        The name is PyTorch's for what has to run where memory was allocated and
        not filled. A table on the meta device stays empty.
        """
        table = self.table
        if table.is_meta:
            self._filled = None
            return
        device = with_float64(table.device)
        self._exact = self._exact.to(device)
        self._fill(table)
        self._filled = table

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Compute the table anew where .to, .half, .cuda, to_empty ... replaced it.

        Casting the old one would keep its rounding for ever, and from the meta
        device there is nothing to copy: there an empty one takes its place first.
        """
        before = self.table
        if before.is_meta:
            self.table = torch.empty_like(before, device="cpu")
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        table = self.table
        if table is not before:
            wide = self._always_wide and table.dtype not in WIDE
            dtype = torch.float32 if wide else table.dtype
            with torch.inference_mode(mode=False):
                if wide or table.is_inference():
                    self.table = torch.empty_like(table, dtype=dtype)
                self.reset_parameters()
        return self
