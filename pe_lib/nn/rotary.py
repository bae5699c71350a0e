"""Rotary positions as a PyTorch module."""

from collections.abc import Callable
from typing import Any, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from pe_lib._arguments import as_base, as_choice, as_integer
from pe_lib.beyond.rotary import BASE, _pair_speeds
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.nn._angles import codes_at, make_columns
from pe_lib.nn._arguments import as_offset, with_float64
from pe_lib.nn._checkpoints import drop_tables
from pe_lib.nn._guests import as_leaf, is_guest
from pe_lib.nn._turning import turn


class RotaryEmbedding(nn.Module):
    r"""Turns queries and keys by the angles of their positions, as Su et al. (2021).

    What :func:`pe_lib.beyond.rotary.apply_rotary` computes, for tensors: cosines and
    sines are that function's, rounded once to float32 (to float64 for float64
    queries), whatever the dtype of the module; the turn is computed in float32 and
    rounded once to the dtype of what is turned, under autocast too.

    The module has no parameters, saves nothing, and remembers nothing: what it has
    turned before, and how long that was, changes no number. It keeps the turns of
    positions 0 to max_length - 1 ready. Others, and given positions, are computed
    in each call; where many layers need the same ones, :meth:`turns_at` computes
    them once.

    Parameters
    ----------
    head_dim : int
        Width of a head, at least 2.
    max_length : int
        How many positions are kept ready, at least 0. No limit for the module, nor
        under torch.compile; a program that torch.export wrote down from an example
        within it keeps these positions alone. With 0 all are computed.
    base, layout, rotary_dim, frequencies
        As in :func:`pe_lib.beyond.rotary.apply_rotary`.

    Raises
    ------
    TypeError, ValueError
        If :func:`pe_lib.beyond.rotary.apply_rotary` would raise, or `head_dim` or
        `max_length` is out of range.

    Examples
    --------
    Eight query heads share two key heads; the same turn serves both:

    >>> rotary = RotaryEmbedding(64)
    >>> queries, keys = torch.randn(1, 8, 10, 64), torch.randn(1, 2, 10, 64)
    >>> turned = rotary(queries, keys)
    >>> [list(part.shape) for part in turned]
    [[1, 8, 10, 64], [1, 2, 10, 64]]

    The next word, with ten in the cache, is at position 10:

    >>> last, _ = rotary(queries[..., :1, :], keys[..., :1, :], offset=10)

    Two documents in one text, each counted from 0, and angles computed once for all
    layers:

    >>> turns = rotary.turns_at(torch.tensor([0, 1, 2, 3, 4, 5, 0, 1, 2, 3]))
    >>> again, _ = rotary(queries, keys, turns=turns)
    >>> torch.allclose(again[..., :6, :], turned[0][..., :6, :], atol=1e-6)
    True
    """

    table: Tensor

    def __init__(
        self,
        head_dim: int,
        *,
        max_length: int = 2048,
        base: float = BASE,
        layout: str = "interleaved",
        rotary_dim: int | None = None,
        frequencies: ArrayLike | None = None,
    ) -> None:
        super().__init__()
        self.head_dim = as_integer("head_dim", head_dim, at_least=2)
        self.max_length = as_integer("max_length", max_length, at_least=0)
        self.base = as_base(base)
        self.layout = as_choice("layout", layout, LAYOUTS)
        self._given = frequencies is not None
        speeds, steps = _pair_speeds(self.head_dim, self.base, rotary_dim, frequencies)
        self.rotary_dim, self._speeds = 2 * len(speeds), tuple(speeds.tolist())
        # Cosines stand where the first numbers of the pairs stand, sines second.
        cosines, sines = layout_columns(self.rotary_dim, self.layout)
        with torch.inference_mode(mode=False):  # so that it may be used in training
            self._columns = make_columns(self.rotary_dim, sines, cosines, steps)
            table = torch.empty(self.max_length, self.rotary_dim, dtype=torch.float32)
            self.register_buffer("table", table, persistent=False)
            self.reset_parameters()

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        turns: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys, turned to their positions.

        Parameters
        ----------
        queries, keys : tensors [..., length, head_dim]
            Floating-point numbers of one length; the axis before the last is the
            text. [batch, heads, length, head_dim] where positions are given for
            each sentence; the number of heads may differ. Tensors
            [batch, length, heads, head_dim] have to be transposed first: nothing
            in them says which axis is which.
        positions : tensor [length] or [batch, length]
            Real numbers, negative and fractional ones too; 0, ..., length - 1 if
            left out. Nobody looks at their values: exact up to 2**31, NaN gives NaN.
        offset : int
            Is added to every position.
        turns : tensor
            What :meth:`turns_at` returned, in the place of positions and offset.

        Returns
        -------
        tuple of two tensors
            Of the shapes and dtypes of queries and keys.

        Raises
        ------
        TypeError
            If queries or keys are no floating-point numbers, positions no real
            numbers, or offset no integer.
        ValueError
            If shapes do not fit, or `turns` come with positions or an offset.
            Queries and keys of different lengths stand at different positions: turn
            them apart, with :meth:`turn`.
        """
        if is_guest(queries) or is_guest(keys):
            given = {"positions": positions, "offset": offset, "turns": turns}
            leaf = as_leaf(self, queries, keys, **given)
            if leaf is not None:
                return leaf  # type: ignore[no-any-return]
        length = self._length_of("queries", queries)
        of_keys = self._length_of("keys", keys)
        if length != of_keys:
            raise ValueError(
                f"keys must have the length of queries, {length}, got {of_keys}; "
                "turn() takes each with its own positions"
            )
        if turns is None:
            turns = self._turns(queries, positions, offset)
        elif positions is not None or type(offset) is not int or offset:
            raise ValueError(
                "turns must come without positions and offset, which they hold, got "
                f"positions of type {type(positions).__name__} and offset {offset}"
            )
        return self._turn("queries", queries, turns), self._turn("keys", keys, turns)

    def turn(
        self, x: Tensor, *, positions: Tensor | None = None, offset: int = 0
    ) -> Tensor:
        """Turn queries alone, or keys alone; otherwise as :meth:`forward`."""
        self._length_of("x", x)
        return self._turn("x", x, self._turns(x, positions, offset))

    def turns_at(
        self,
        positions: Tensor,
        *,
        offset: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Cosines and sines of positions [...]: [..., rotary_dim], for :meth:`forward`.

        float32, or float64 for float64 queries; in the columns of the layout, the
        cosine where the first number of a pair stands.
        """
        if not isinstance(positions, Tensor):
            raise TypeError(
                f"positions must be a tensor, got {type(positions).__name__}"
            )
        if positions.dtype == torch.bool or positions.is_complex():
            raise TypeError(f"positions must be real numbers, got {positions.dtype}")
        if dtype not in (torch.float32, torch.float64):
            raise TypeError(
                f"dtype must be torch.float32 or torch.float64, got {dtype}: angles "
                "of fewer bits confuse positions"
            )
        return codes_at(positions, as_offset(offset), self._columns, dtype)

    def _turns(self, x: Tensor, positions: Tensor | None, offset: Any) -> Tensor:
        """The turns of positions + offset, from the table where it has them."""
        length, offset = x.shape[-2], as_offset(offset)
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        if positions is not None:
            return self.turns_at(positions, offset=offset, dtype=dtype)
        table = self.table
        inside = offset >= 0 and offset + length <= self.max_length
        if inside and table.dtype == dtype and table.device == x.device:
            return table[offset : offset + length]
        positions = torch.arange(length, device=x.device)
        return codes_at(positions, offset, self._columns, dtype)

    def _turn(self, name: str, x: Tensor, turns: Tensor) -> Tensor:
        rows, length = turns.shape[:-1], x.shape[-2]
        each = len(rows) == 2 and x.ndim > 2
        if not (rows == (x.shape[0], length) if each else rows == (length,)):
            allowed = f"[{length}]"
            if x.ndim > 2:
                allowed += f" or [{x.shape[0]}, {length}]"
            raise ValueError(
                f"positions must have shape {allowed}, as these {name} have, got "
                f"{list(rows)}"
            )
        if turns.shape[-1] != self.rotary_dim:
            raise ValueError(
                f"turns must have {self.rotary_dim} columns, got {turns.shape[-1]}"
            )
        if x.dtype == torch.float64 and turns.dtype != torch.float64:
            raise TypeError(
                f"turns must be float64 for float64 {name}, got {turns.dtype}"
            )
        if each:
            turns = turns[(slice(None), *[None] * (x.ndim - 3))]
        return turn(x, turns.to(x.device), self.layout)

    def _length_of(self, name: str, x: Tensor) -> int:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(x).__name__}")
        if x.is_nested:
            raise TypeError(
                f"{name} must be no nested tensor: turn its values() as one text, "
                "with positions that begin anew in each"
            )
        if not x.is_floating_point():
            raise TypeError(f"{name} must be floating-point numbers, got {x.dtype}")
        if x.ndim < 2 or x.shape[-1] != self.head_dim:
            raise ValueError(
                f"{name} must have shape [..., length, head_dim] with head_dim = "
                f"{self.head_dim}, got {list(x.shape)}"
            )
        return x.shape[-2]

    def reset_parameters(self) -> None:
        """Compute the table, on its device. On the meta device it stays empty."""
        table = self.table
        if table.is_meta:
            return
        device = with_float64(table.device)
        self._columns = tuple(part.to(device) for part in self._columns)
        positions = torch.arange(self.max_length, device=table.device)
        table.copy_(codes_at(positions, 0, self._columns, table.dtype))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Compute the table anew where .to, .half, .cuda, to_empty ... replaced it.

        It has 32 bits or more, whatever the module is cast to.
        """
        before = self.table
        if before.is_meta:
            self.table = torch.empty_like(before, device="cpu")
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.table is not before:
            exact = self.table.dtype == torch.float64
            dtype = torch.float64 if exact else torch.float32
            with torch.inference_mode(mode=False):
                self.table = torch.empty_like(self.table, dtype=dtype)
                self.reset_parameters()
        return self

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *more: Any
    ) -> None:
        """Leave out the ``inv_freq`` of another module's checkpoint, if it is ours."""

        def own(count: int) -> Tensor:
            return torch.tensor(self._speeds, dtype=torch.float64).expand(count, -1)

        drop_tables(state_dict, prefix, own, len(self._speeds), more[-1])
        super()._load_from_state_dict(state_dict, prefix, *more)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        speeds = "frequencies given" if self._given else f"base={self.base:g}"
        return (
            f"{self.head_dim}, max_length={self.max_length}, {speeds}, "
            f"layout={self.layout!r}, rotary_dim={self.rotary_dim}"
        )
