"""Rotary positions as a PyTorch module."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, cat

from pe_lib._arguments import as_base, as_integer, as_positive
from pe_lib.beyond.rotary import BASE, _as_layout, _pair_frequencies
from pe_lib.layouts import layout_columns
from pe_lib.nn._angles import codes_at, make_columns
from pe_lib.nn._arguments import (
    WIDE,
    as_float_tensor,
    as_positions,
    as_turning,
    as_whole,
    is_traced,
    match_rows,
    wide_of,
)
from pe_lib.nn._configs import rotary_arguments
from pe_lib.nn._rotate import laid_out, parts_of, rotate_by, row_of
from pe_lib.nn._tables import Tabled

CosSin = tuple[Tensor, Tensor]
Parts = Sequence[Tensor]
Given = tuple[Tensor | None, int, CosSin | None]  # positions, offset, cos_sin


class RotaryEmbedding(Tabled):
    r"""Rotates queries and keys by the angles of their positions, as Su et al. (2021).

    What :func:`pe_lib.beyond.rotary.apply_rotary` computes, for tensors: cosines and
    sines are that function's, rounded once to float32 (to float64 for float64
    queries), whatever the dtype of the module; the rotation is computed in float32
    and rounded once to the dtype of what is rotated, under autocast too.

    The module has no parameters, saves nothing, and what it has rotated before
    changes no number. Angles of positions 0 to max_length - 1 are kept ready, in 32
    bits or more, and whole positions that are given are looked up there on the CPU,
    unless the call is compiled or exported. Others are computed in each call; where
    many layers need the same ones, :meth:`cos_sin` computes them once.

    Raises TypeError or ValueError if an argument has a wrong type or is out of range.

    Parameters
    ----------
    head_dim : int, at least 2, and even where all of it turns
    max_length : int
        How many positions are kept ready, at least 0. No limit, but for a program
        that torch.export wrote down from an example within them. 0 computes all.
        131,072 of 128 numbers are 64 MiB, or 128 in "half_split", which has each twice
        so that one token costs less. It is a buffer, which DistributedDataParallel
        broadcasts: ``broadcast_buffers=False`` spares that.
    base, layout, rotary_dim, frequencies
        As in :func:`pe_lib.beyond.rotary.apply_rotary`; the base is ``theta`` in other
        programs. The layout must be that of the weights: "half_split" for Llama,
        Mistral, Qwen, Gemma, Phi and GPT-NeoX as transformers has them, "interleaved"
        for GPT-J, Cohere, GLM and Meta's own Llama files, as :meth:`from_config` knows.
        A wrong one raises no error, and scores differ. The frequencies in use are in
        the module's attribute `frequencies`.
    attention_factor : float above 0
        Multiplies what is rotated, and so scores by its square. A key from a cache
        that is rotated once more has it twice: :meth:`unrotate` it first. The word is
        that of transformers; YaRN's paper divides scores by a temperature t instead,
        and the factor is its 1 / sqrt(t).
    seq_dim : int
        The axis of the length, counted from the end: -2 for
        [batch, heads, length, head_dim], -3 for [batch, length, heads, head_dim].

    Examples
    --------
    Eight query heads share two key heads; the same angles serve both:

    >>> rotary = RotaryEmbedding(64)
    >>> queries, keys = torch.randn(1, 8, 10, 64), torch.randn(1, 2, 10, 64)
    >>> rotated = rotary(queries, keys)
    >>> [list(part.shape) for part in rotated]
    [[1, 8, 10, 64], [1, 2, 10, 64]]

    The next word, with ten in the cache, is at position 10:

    >>> last, _ = rotary(queries[..., :1, :], keys[..., :1, :], offset=10)

    Two documents in one text, each counted from 0, and angles computed once for all
    layers:

    >>> cos_sin = rotary.cos_sin(torch.tensor([0, 1, 2, 3, 4, 5, 0, 1, 2, 3]))
    >>> again, _ = rotary(queries, keys, cos_sin=cos_sin)
    >>> torch.allclose(again[..., :6, :], rotated[0][..., :6, :], atol=1e-6)
    True
    """

    _always_wide = True

    def __init__(
        self,
        head_dim: int,
        *,
        max_length: int = 2048,
        base: float = BASE,
        layout: str = "interleaved",
        rotary_dim: int | None = None,
        frequencies: ArrayLike | None = None,
        attention_factor: float = 1.0,
        seq_dim: int = -2,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.head_dim = as_integer("head_dim", head_dim, at_least=2)
        self.max_length = as_integer("max_length", max_length, at_least=0)
        self.base = as_base(base)
        self.layout = _as_layout(layout)
        self._given = frequencies is not None
        turning, units = _pair_frequencies(
            self.head_dim, self.base, rotary_dim, frequencies
        )
        self.frequencies: tuple[float, ...] = tuple(turning.tolist())
        self.rotary_dim = 2 * len(turning)
        self.attention_factor = as_positive("attention_factor", attention_factor)
        self.seq_dim = as_integer("seq_dim", seq_dim)
        if self.seq_dim > -2:
            raise ValueError(
                "seq_dim must be counted from the end, -2 or -3 as a rule, got "
                f"{self.seq_dim}"
            )
        cosines, sines = layout_columns(self.rotary_dim, "half_split")
        columns = make_columns(self.rotary_dim, sines, cosines, units)
        kept = self.rotary_dim * (1 if self.layout == "interleaved" else 2)
        self._make_table((self.max_length, kept), columns, device, dtype)

    @classmethod
    def from_config(
        cls,
        config: Any,
        *,
        layout: str | None = None,
        layer_type: str | None = None,
        length: int | None = None,
        **options: Any,
    ) -> Self:
        """The rotary module of a model that transformers describes.

        From its configuration or the dict of its config.json, also the text's part of
        one: `rope_parameters`, or `rope_theta` and `rope_scaling` of older files, with
        the rules "default", "linear", "llama3", "yarn", "proportional", "dynamic" and
        "longrope"; the width of a head and the share that turns. What is not
        understood is an error. Options are `max_length`, `seq_dim`, `device` and
        `dtype` of the module; `max_length` is 2048 whatever a configuration says, for
        it limits exported programs alone.

        `layout` must be given where it is not known from `model_type`; `layer_type`
        where kinds of layers turn in ways of their own, as in Gemma 3; `length`, that
        of the longest text, where angles depend on it ("dynamic", "longrope"). Keys
        in a cache keep the angles of the module that turned them.

        Raises ValueError if one of these is missing, or the base, or a number of the
        rule, or a parameter is not understood; TypeError if `config` is neither.

        Position interpolation by a factor of 8:

        >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}
        >>> config["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
        >>> config["max_position_embeddings"] = 8192
        >>> RotaryEmbedding.from_config(config).frequencies
        (0.125, 0.00125)
        """
        found = rotary_arguments(config, layout, layer_type, length)
        return cls(**found, **options)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        cos_sin: CosSin | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys, rotated by their positions.

        Raises TypeError if a dtype is not one that is named below, or offset is no
        integer; ValueError if shapes do not fit, `cos_sin` comes with positions or an
        offset, or lengths differ: :meth:`rotate` takes queries and keys apart.

        Parameters
        ----------
        queries, keys : tensors [..., length, head_dim]
            Floating-point numbers of one length, in the axis `seq_dim`; heads and
            dtypes may differ. Nothing in a tensor says which axis is the length:
            [batch, length, heads, head_dim] needs seq_dim=-3.
        positions : tensor [length], [1, length] or [batch, length]
            Real numbers, negative and fractional ones too; 0, ..., length - 1 if
            left out. Their values are not checked: exact up to 2**31, NaN gives NaN.
            Positions that are learned get their gradient.
        offset : int
            Is added to every position.
        cos_sin : tuple of two tensors
            What :meth:`cos_sin` returned, in the place of positions and offset: of
            float64 if queries or keys are.
        """
        queries = self._length_before_last("queries", queries)
        keys = self._length_before_last("keys", keys)
        length, as_many = queries.shape[-2], keys.shape[-2]
        if length != as_many:
            raise ValueError(
                f"keys must have the length of queries, {length}, got {as_many}; "
                "[batch, length, heads, head_dim] needs seq_dim=-3, and rotate() "
                "takes queries and keys of different lengths, each with its positions"
            )
        given, traced = (positions, offset, cos_sin), is_traced()
        parts = self._parts("queries", queries, given, traced)
        turned = self._turned("queries", queries, parts, traced)
        if keys.dtype != queries.dtype and wide_of(keys) != wide_of(queries):
            parts = self._parts("keys", keys, given, traced)
        return turned, self._turned("keys", keys, parts, traced)

    def rotate(
        self,
        x: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        cos_sin: CosSin | None = None,
    ) -> Tensor:
        """Rotate queries alone, or keys alone; otherwise as :meth:`forward`."""
        x, traced = self._length_before_last("x", x), is_traced()
        parts = self._parts("x", x, (positions, offset, cos_sin), traced)
        return self._turned("x", x, parts, traced)

    def unrotate(
        self,
        x: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        cos_sin: CosSin | None = None,
    ) -> Tensor:
        """Take :meth:`rotate` back, with its attention_factor.

        For keys in a cache that move, because those before them were dropped: take
        them back from where they were, and rotate them to where they are.

        >>> rotary, keys = RotaryEmbedding(64, attention_factor=1.2), torch.randn(9, 64)
        >>> kept = rotary.rotate(keys)[4:]
        >>> moved = rotary.rotate(rotary.unrotate(kept, offset=4))
        >>> torch.allclose(moved, rotary.rotate(keys[4:]), atol=1e-5)
        True
        """
        x, traced = self._length_before_last("x", x), is_traced()
        given = self._checked("x", x, (positions, offset, cos_sin))
        cos, sin = (part / self.attention_factor**2 for part in self._angles(x, given))
        return self._turned("x", x, laid_out(cos, -sin, self.layout, traced), traced)

    def cos_sin(
        self, positions: Tensor, *, offset: int = 0, dtype: torch.dtype = torch.float32
    ) -> CosSin:
        """Cosines and sines of positions [...]: two [..., rotary_dim / 2].

        One number a pair, float32, or float64 for float64 queries, times
        `attention_factor`. Models of transformers that pair halves, as Llama does,
        keep each twice:

        >>> rotary = RotaryEmbedding(4, layout="half_split")
        >>> cos, sin = rotary.cos_sin(torch.tensor([1]))
        >>> torch.cat([cos, cos], -1)
        tensor([[0.5403, 0.9999, 0.5403, 0.9999]])
        """
        positions = as_positions("positions", positions)
        if dtype not in WIDE:
            raise TypeError(
                f"dtype must be torch.float32 or torch.float64, got {dtype}: angles "
                "of fewer bits confuse positions"
            )
        return self._cos_sin((positions,), as_whole("offset", offset), dtype)

    def _cos_sin(
        self, axes: tuple[Tensor, ...], offset: Any, dtype: torch.dtype
    ) -> CosSin:
        """The same, of positions on each of the axes, or on all alike."""
        axes = axes * (len(self._exact) // 2 // len(axes))
        cos, sin = codes_at(axes, offset, self._exact, dtype).chunk(2, -1)
        if self.attention_factor != 1:
            cos, sin = cos * self.attention_factor, sin * self.attention_factor
        if is_traced():
            # The compiler keeps what is joined, and computes it once for all heads.
            cos, sin = cat((cos, sin), -1).chunk(2, -1)
        return cos, sin

    def _parts(self, name: str, x: Tensor, given: Given, traced: bool) -> Parts:
        """What turns positions [length] or [batch, length], from the table if there."""
        positions, offset, cos_sin = given = self._checked(name, x, given)
        if cos_sin is None and (positions is None or not traced):
            table, length = self._ready_for(x), x.shape[-2]
            plain = positions is None and table is not None and not traced
            if plain and 0 <= offset <= self.max_length - length:
                end = offset + length
                return [part[offset:end] for part in self._table_parts]
            rows = self._looked_up(table, positions, length, offset)
            if rows is not None:
                return parts_of(rows, self.layout, traced)
        return laid_out(*self._angles(x, given), self.layout, traced)

    def _angles(self, x: Tensor, given: Given) -> CosSin:
        """The cosines and sines that were given, or those of the positions."""
        positions, offset, cos_sin = given
        if cos_sin is not None:
            return cos_sin
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        return self._cos_sin((positions,), offset, wide_of(x))

    def _turned(self, name: str, x: Tensor, parts: Parts, traced: bool) -> Tensor:
        """x, rotated, with its length where it was."""
        if parts[0].ndim == 3:  # of a batch, whose heads come before the length
            heads = (slice(None), *[None] * (x.ndim - 3))
            parts = [self._match(name, x, part, 1)[heads] for part in parts]
        x = rotate_by(x, parts, self.layout, traced)
        return x if self.seq_dim == -2 else x.transpose(self.seq_dim, -2)

    def _match(self, name: str, x: Tensor, at: Tensor, columns: int) -> Tensor:
        length = x.shape[-2]
        rows = (x.shape[0], length) if x.ndim > 2 else (length,)
        return match_rows(name, at, length, rows, columns)

    def _checked(self, name: str, x: Tensor, given: Given) -> Given:
        """The same, if x can be turned by them."""
        positions, offset, cos_sin = given
        if type(offset) is not int:
            offset = as_whole("offset", offset)
        if cos_sin is None:
            if positions is not None:
                positions = as_positions("positions", positions)
                positions = self._match(name, x, positions, 0).to(x.device)
            return positions, offset, None
        if positions is not None or offset:
            raise ValueError(
                "cos_sin must come without positions and offset, which it holds, got "
                f"positions of type {type(positions).__name__} and offset {offset}"
            )
        as_turning(name, x, cos_sin)
        for part in cos_sin:
            if part.shape[-1] != self.rotary_dim // 2:
                raise ValueError(
                    f"cos_sin must have {self.rotary_dim // 2} columns, one a pair, "
                    f"got {part.shape[-1]}"
                )
        cos, sin = (self._match(name, x, part, 1).to(x.device) for part in cos_sin)
        return None, 0, (cos, sin)

    def _length_before_last(self, name: str, x: Tensor) -> Tensor:
        """A view of queries or keys with axes [..., length, head_dim]."""
        shape = as_float_tensor(name, x).shape
        if len(shape) < -self.seq_dim or shape[-1] != self.head_dim:
            between = ", heads" * (-self.seq_dim - 2)
            raise ValueError(
                f"{name} must have shape [..., length{between}, head_dim] with "
                f"head_dim = {self.head_dim}, got {list(shape)}"
            )
        return x if self.seq_dim == -2 else x.transpose(self.seq_dim, -2)

    def _fill(self, table: Tensor) -> None:
        positions = torch.arange(self.max_length, device=table.device)
        cos_sin = self._cos_sin((positions,), 0, table.dtype)
        table.copy_(row_of(*cos_sin, self.layout))
        self._table_parts = parts_of(table, self.layout, traced=False)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        rule = "frequencies given" if self._given else f"base={self.base:g}"
        factor = self.attention_factor
        more = "" if factor == 1 else f", attention_factor={factor:.4g}"
        return (
            f"{self.head_dim}, max_length={self.max_length}, {rule}, "
            f"layout={self.layout!r}, rotary_dim={self.rotary_dim}{more}"
        )
