"""Rotary positions on a grid as a PyTorch module: M-RoPE, axial and mixed."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from pe_lib._exact_angles import as_fixed_point
from pe_lib.beyond.grid import _axis_frequencies
from pe_lib.beyond.rotary import BASE
from pe_lib.layouts import layout_columns
from pe_lib.nn._angles import make_columns
from pe_lib.nn._arguments import as_positions, wide_of
from pe_lib.nn.rotary import RotaryEmbedding


class GridRotaryEmbedding(nn.Module):
    r"""Rotates queries and keys by their coordinates, as Qwen2-VL's M-RoPE does.

    .. math:: \theta_j = \sum_a \omega_{a,j}\, p_a

    What :func:`pe_lib.beyond.grid.rotate_grid` computes, for tensors. A position is a
    row of coordinates: (time, row, column) of a patch, or the same number three times
    for a word. transformers keeps such ids as [axes, batch, length]; here the axes
    come last, so give ``position_ids.movedim(0, -1)``.

    `sections`, `interleave` and `base` are those of
    :func:`pe_lib.beyond.grid.section_frequencies`, in Qwen2-VL (16, 24, 24) with base
    10**6. In their place may come `frequencies` [axes, head_dim / 2] from -pi to pi, of
    :func:`pe_lib.beyond.grid.axial_frequencies` or mixed. Layout,
    attention_factor and seq_dim are those of :class:`RotaryEmbedding`; Qwen's weights
    have "half_split". Raises TypeError or ValueError if
    :func:`pe_lib.beyond.grid.rotate_grid` would.

    >>> rotary = GridRotaryEmbedding(12, sections=(2, 2, 2), layout="half_split")
    >>> queries, keys = torch.randn(1, 8, 5, 12), torch.randn(1, 2, 5, 12)
    >>> word = torch.arange(5)[:, None].expand(5, 3)  # the same on all axes
    >>> rotated, _ = rotary(queries, keys, positions=word)
    >>> usual, _ = RotaryEmbedding(12, layout="half_split")(queries, keys)
    >>> torch.allclose(rotated, usual, atol=1e-6)
    True
    """

    def __init__(
        self,
        head_dim: int,
        *,
        sections: Sequence[int] | None = None,
        interleave: bool = False,
        base: float = BASE,
        frequencies: ArrayLike | None = None,
        layout: str = "interleaved",
        attention_factor: float = 1.0,
        seq_dim: int = -2,
        device: torch.device | str | int | None = None,
    ) -> None:
        super().__init__()
        self.rotary = RotaryEmbedding(
            head_dim,
            max_length=0,
            layout=layout,
            attention_factor=attention_factor,
            seq_dim=seq_dim,
            device=device,
        )
        self._rule = "frequencies given" if sections is None else f"base={base:g}"
        turning = _axis_frequencies(head_dim, sections, interleave, base, frequencies)
        self.frequencies = tuple(map(tuple, turning.tolist()))
        units = [as_fixed_point(tuple(row)) for row in np.abs(turning).tolist()]
        signed = [
            (whole.view(np.int64) * sign.astype(np.int64), rest * sign)
            for (whole, rest), sign in zip(units, np.sign(turning), strict=True)
        ]
        cosines, sines = layout_columns(head_dim, "half_split")
        self.rotary._exact = make_columns(head_dim, sines, cosines, *signed)
        self.rotary.reset_parameters()  # which takes them to the device

    def forward(
        self, queries: Tensor, keys: Tensor, *, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys as of a :class:`RotaryEmbedding`, rotated.

        Positions are real numbers, [length, axes] or [batch, length, axes]. Where many
        layers need the same ones, give what :meth:`cos_sin` returns to
        ``module.rotary(queries, keys, cos_sin=...)``. Raises TypeError if they are no
        real numbers, ValueError if shapes do not fit.
        """
        dtype = torch.promote_types(wide_of(queries), wide_of(keys))
        angles = self.cos_sin(positions, dtype=dtype)
        rotated: tuple[Tensor, Tensor] = self.rotary(queries, keys, cos_sin=angles)
        return rotated

    def cos_sin(
        self, positions: Tensor, *, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor]:
        """Cosines and sines of positions [..., axes]: two [..., head_dim / 2]."""
        positions, axes = as_positions("positions", positions), len(self.frequencies)
        if not positions.ndim or positions.shape[-1] != axes:
            raise ValueError(
                f"positions must have shape [..., {axes}], one number for each axis, "
                f"got {list(positions.shape)}"
            )
        return self.rotary._cos_sin(positions.unbind(-1), 0, dtype)

    def __repr__(self) -> str:
        """Its own line alone: the module within has no base that turns anything."""
        factor = self.rotary.attention_factor
        more = "" if factor == 1 else f", attention_factor={factor:.4g}"
        return (
            f"{type(self).__name__}({self.rotary.head_dim}, {len(self.frequencies)} "
            f"axes, {self._rule}, layout={self.rotary.layout!r}{more})"
        )
