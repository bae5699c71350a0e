"""Cosines and sines that a module returns, and what they do to a vector."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tables:
    """Two tables, of cosines and of sines, as a module returns them."""

    cosine_first: bool
    shared: bool  # one column per pair, and not two
    length: int  # how many positions they are for

    def rows(self, output: Any) -> tuple[Tensor, Tensor]:
        """Cosines and sines [rows, columns] of an output like the one looked at."""
        cosine, sine = _both(output) if self.cosine_first else _both(output)[::-1]
        width = cosine.shape[-1]
        return cosine.reshape(-1, width), sine.reshape(-1, width)


def tables_in(output: Any, d_model: int) -> Tables | None:
    """What cosines and sines an output holds; None if it does not."""
    both = _both(output)
    if len(both) != 2 or not all(isinstance(table, Tensor) for table in both):
        return None
    first, second = both
    if first.ndim < 2 or first.shape != second.shape or not first.numel():
        return None
    if not first.is_floating_point() or first.shape[-1] > d_model:
        return None
    squares = first.double() ** 2 + second.double() ** 2
    size = float(squares.mean())
    if not size or not float(squares.std()) <= 1e-3 * size:
        return None
    ahead = bool((first.reshape(-1, first.shape[-1])[0] > 0.5 * size**0.5).all())
    return Tables(ahead, _says_once(first), first.numel() // first.shape[-1])


def _says_once(table: Tensor) -> bool:
    """Whether a table has one column per pair, and not one for each number of it."""
    columns = table.reshape(-1, table.shape[-1])
    half, even = columns.shape[-1] // 2, columns.shape[-1] % 2 == 0
    twice = even and (
        torch.equal(columns[:, :half], columns[:, half:])
        or torch.equal(columns[:, 0::2], columns[:, 1::2])
    )
    return not twice


def _both(output: Any) -> tuple[Any, ...]:
    """The parts of complex numbers, or the things in a tuple or list."""
    if isinstance(output, Tensor) and output.is_complex():
        return output.real, output.imag
    return tuple(output) if isinstance(output, tuple | list) else ()


def turned_by(rows: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rows [length, dim] turned by tables [length, width].

    A table says twice what a pair turns by, at its two numbers, or once. One that
    says it twice may be narrower than the rows; the rest stands still.
    """
    dim, width = rows.shape[-1], cosine.shape[-1]
    half, even = width // 2, width % 2 == 0
    if even and torch.equal(cosine[:, :half], cosine[:, half:]):
        turning, ends = width, (slice(0, half), slice(half, width))
    elif even and (width == dim or torch.equal(cosine[:, 0::2], cosine[:, 1::2])):
        turning, ends = width, (slice(0, width, 2), slice(1, width, 2))
    else:
        turning, ends = 2 * width, (slice(0, width), slice(width, 2 * width))
        cosine, sine = (torch.cat([part, part], -1) for part in (cosine, sine))
    turned = rows.clone().to(torch.promote_types(rows.dtype, cosine.dtype))
    first, second = (rows[:, :turning][:, end] for end in ends)
    turned[:, ends[0]] = first * cosine[:, ends[0]] - second * sine[:, ends[0]]
    turned[:, ends[1]] = first * sine[:, ends[1]] + second * cosine[:, ends[1]]
    return turned
