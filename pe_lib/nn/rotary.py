"""Rotary positions as a PyTorch module."""

from typing import Any, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pe_lib._arguments import as_base, as_choice, as_integer, as_positive
from pe_lib.beyond.rotary import BASE, _pair_frequencies
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.nn._angles import codes_at
from pe_lib.nn._arguments import as_offset, as_real_tensor, match_rows
from pe_lib.nn._configs import rotary_arguments
from pe_lib.nn._rotate import rotate
from pe_lib.nn._tables import WIDE, Tabled


class RotaryEmbedding(Tabled):
    r"""Rotates queries and keys by the angles of their positions, as Su et al. (2021).

    What :func:`pe_lib.beyond.rotary.apply_rotary` computes, for tensors: cosines and
    sines are that function's, rounded once to float32 (to float64 for float64
    queries), whatever the dtype of the module; the rotation is computed in float32
    and rounded once to the dtype of what is rotated, under autocast too.

    The module has no parameters, saves nothing, and remembers nothing: what it has
    rotated before, and how long that was, changes no number. It keeps cosines and
    sines of positions 0 to max_length - 1 ready. Others, and those of given positions,
    are computed in each call; where many layers need the same ones, :meth:`cos_sin`
    computes them once.

    Parameters
    ----------
    head_dim : int
        Width of a head, at least 2.
    max_length : int
        How many positions are kept ready, at least 0. No limit for the module, nor
        under torch.compile; a program that torch.export wrote down from an example
        within it keeps these positions alone. With 0 all are computed.
    base, layout, rotary_dim, frequencies
        As in :func:`pe_lib.beyond.rotary.apply_rotary`. The layout must be that of
        the weights: "half_split" for Llama, Mistral, Qwen, Gemma, Phi and GPT-NeoX as
        transformers has them, "interleaved" for GPT-J, Cohere, GLM and Meta's own
        Llama files. :meth:`from_config` knows it.
    attention_factor : float
        Multiplies what is rotated, and so scores by its square; above 0. The word is
        that of transformers. YaRN's paper divides scores by a temperature t instead,
        and the factor is its 1 / sqrt(t).
    seq_dim : int
        The axis of the length, counted from the end: -2 for
        [batch, heads, length, head_dim], -3 for [batch, length, heads, head_dim].
    device, dtype
        Of the table, which has 32 bits or more.

    Raises
    ------
    TypeError, ValueError
        If :func:`pe_lib.beyond.rotary.apply_rotary` would raise, or `head_dim` or
        `max_length` is out of range.

    Examples
    --------
    For the weights of a model, its layout; a wrong one raises no error, and scores
    differ:

    >>> llama = {"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0}
    >>> RotaryEmbedding.from_config(llama).layout
    'half_split'

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
        self.layout = as_choice("layout", layout, LAYOUTS)
        self._given = frequencies is not None
        turning, steps = _pair_frequencies(
            self.head_dim, self.base, rotary_dim, frequencies
        )
        self.rotary_dim, self._frequencies = 2 * len(turning), tuple(turning.tolist())
        self.attention_factor = as_positive("attention_factor", attention_factor)
        self.seq_dim = as_integer("seq_dim", seq_dim)
        if self.seq_dim > -2:
            raise ValueError(
                "seq_dim must be counted from the end, -2 or -3 as a rule, got "
                f"{self.seq_dim}"
            )
        cosines, sines = layout_columns(self.rotary_dim, "half_split")
        self._make_table(self.rotary_dim, (sines, cosines, steps), device, dtype)

    @classmethod
    def from_config(
        cls, config: Any, *, layout: str | None = None, **options: Any
    ) -> Self:
        """The rotary module of a model that transformers describes.

        Parameters
        ----------
        config : transformers configuration, or the dict of its config.json
            `rope_parameters`, or `rope_theta` and `rope_scaling` of older files, with
            the rules "default", "linear", "llama3" and "yarn"; the width of a head
            and the share that turns.
        layout : "half_split" or "interleaved"
            Needed where it is not known from `model_type`.
        **options
            `max_length`, `seq_dim`, `device` and `dtype` of the module.

        Raises
        ------
        ValueError
            If the layout is not known, angles depend on the length of the text
            ("dynamic", "longrope"), or layers differ in their parameters.

        Examples
        --------
        Position interpolation by a factor of 8:

        >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}
        >>> config["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
        >>> config["max_position_embeddings"] = 8192
        >>> RotaryEmbedding.from_config(config).frequencies
        (0.125, 0.00125)
        """
        return cls(**rotary_arguments(config, layout), **options)

    @property
    def frequencies(self) -> tuple[float, ...]:
        """Radians per position of each pair that turns."""
        return self._frequencies

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        cos_sin: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys, rotated by their positions.

        Parameters
        ----------
        queries, keys : tensors [..., length, head_dim]
            Floating-point numbers of one length, in the axis `seq_dim`. The batch
            comes first where positions are given for each sentence; the number of
            heads may differ. Nothing in a tensor says which axis is the length:
            [batch, length, heads, head_dim] needs seq_dim=-3.
        positions : tensor [length], [1, length] or [batch, length]
            Real numbers, negative and fractional ones too; 0, ..., length - 1 if
            left out. Their values are not checked: exact up to 2**31, NaN gives NaN.
            Positions that are learned get their gradient.
        offset : int
            Is added to every position.
        cos_sin : tuple of two tensors
            What :meth:`cos_sin` returned, in the place of positions and offset.

        Returns
        -------
        tuple of two tensors
            Of the shapes and dtypes of queries and keys.

        Raises
        ------
        TypeError
            If queries or keys are no floating-point numbers, positions no real
            numbers, offset no integer, or cosines and sines have too few bits.
        ValueError
            If shapes do not fit, or `cos_sin` comes with positions or an offset.
            Queries and keys of different lengths are at different positions: rotate
            them apart, with :meth:`rotate`.
        """
        queries = self._length_before_last("queries", queries)
        keys = self._length_before_last("keys", keys)
        length, as_many = queries.shape[-2], keys.shape[-2]
        if length != as_many:
            raise ValueError(
                f"keys must have the length of queries, {length}, got {as_many}; "
                "rotate() takes each with its own positions"
            )
        given = positions, offset, cos_sin
        cos, sin = self._angles("queries", queries, *given)
        rotated = rotate(queries, cos, sin, self.layout)
        if positions is not None or cos_sin is not None or keys.dtype != queries.dtype:
            cos, sin = self._angles("keys", keys, *given)
        both = rotated, rotate(keys, cos, sin, self.layout)
        if self.seq_dim == -2:
            return both
        return both[0].transpose(self.seq_dim, -2), both[1].transpose(self.seq_dim, -2)

    def rotate(
        self,
        x: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        cos_sin: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Rotate queries alone, or keys alone; otherwise as :meth:`forward`."""
        x = self._length_before_last("x", x)
        cos, sin = self._angles("x", x, positions, offset, cos_sin)
        rotated = rotate(x, cos, sin, self.layout)
        return rotated if self.seq_dim == -2 else rotated.transpose(self.seq_dim, -2)

    def cos_sin(
        self,
        positions: Tensor,
        *,
        offset: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> tuple[Tensor, Tensor]:
        """Cosines and sines of positions [...]: two [..., rotary_dim / 2].

        One number a pair, float32, or float64 for float64 queries, times
        `attention_factor`. Models of transformers keep each twice:

        >>> rotary = RotaryEmbedding(4, layout="half_split")
        >>> cos, sin = rotary.cos_sin(torch.tensor([1]))
        >>> torch.cat([cos, cos], -1)
        tensor([[0.5403, 0.9999, 0.5403, 0.9999]])
        """
        positions = as_real_tensor("positions", positions)
        if dtype not in WIDE:
            raise TypeError(
                f"dtype must be torch.float32 or torch.float64, got {dtype}: angles "
                "of fewer bits confuse positions"
            )
        return _split(self._codes(positions, as_offset(offset), dtype))

    def _codes(self, positions: Tensor, offset: Any, dtype: torch.dtype) -> Tensor:
        """Cosines, then sines: [..., rotary_dim]."""
        codes = codes_at(positions, offset, self._columns, dtype)
        return codes if self.attention_factor == 1 else codes * self.attention_factor

    def _angles(
        self,
        name: str,
        x: Tensor,
        positions: Tensor | None,
        offset: Any,
        cos_sin: tuple[Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor]:
        """Cosines and sines given, or of positions + offset, if it has them ready."""
        if cos_sin is not None:
            if positions is not None or type(offset) is not int or offset:
                raise ValueError(
                    "cos_sin must come without positions and offset, which it holds, "
                    f"got positions of type {type(positions).__name__} and offset "
                    f"{offset}"
                )
            return self._fitting(name, x, cos_sin)
        offset, length = as_offset(offset), x.shape[-2]
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        if positions is not None:
            found = self.cos_sin(positions, offset=offset, dtype=dtype)
            return self._fitting(name, x, found)
        table = self._ready()
        inside = offset >= 0 and offset + length <= self.max_length
        fits = table is not None and table.dtype == dtype and table.device == x.device
        if inside and fits:
            return _split(table[offset : offset + length])  # type: ignore[index]
        positions = torch.arange(length, device=x.device)
        return _split(self._codes(positions, offset, dtype))

    def _fitting(
        self, name: str, x: Tensor, cos_sin: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Cosines and sines with the axes of x."""
        length, found = x.shape[-2], []
        rows = (x.shape[0], length) if x.ndim > 2 else (length,)
        for part in cos_sin:
            if part.dtype not in WIDE or (x.dtype, part.dtype) == WIDE[::-1]:
                raise TypeError(
                    f"cos_sin must be float64 for float64 {name}, and float32 at "
                    f"least, got {part.dtype}"
                )
            if part.shape[-1] != self.rotary_dim // 2:
                raise ValueError(
                    f"cos_sin must have {self.rotary_dim // 2} columns, one a pair, "
                    f"got {part.shape[-1]}"
                )
            part = match_rows(name, part, length, rows, columns=1).to(x.device)
            heads = (slice(None), *[None] * (x.ndim - 3))
            found.append(part[heads] if part.ndim == 3 else part)
        return found[0], found[1]

    def _length_before_last(self, name: str, x: Tensor) -> Tensor:
        """A view of queries or keys with axes [..., length, head_dim]."""
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(x).__name__}")
        if not x.is_floating_point():
            raise TypeError(f"{name} must be floating-point numbers, got {x.dtype}")
        if x.ndim < -self.seq_dim or x.shape[-1] != self.head_dim:
            between = ", heads" * (-self.seq_dim - 2)
            raise ValueError(
                f"{name} must have shape [..., length{between}, head_dim] with "
                f"head_dim = {self.head_dim}, got {list(x.shape)}"
            )
        return x if self.seq_dim == -2 else x.transpose(self.seq_dim, -2)

    def _fill(self, table: Tensor) -> None:
        positions = torch.arange(self.max_length, device=table.device)
        table.copy_(self._codes(positions, 0, table.dtype))

    def _known(self, count: int) -> Tensor:
        return torch.tensor(self._frequencies, dtype=torch.float64).expand(count, -1)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        rule = "frequencies given" if self._given else f"base={self.base:g}"
        factor = self.attention_factor
        more = "" if factor == 1 else f", attention_factor={factor:.4g}"
        return (
            f"{self.head_dim}, max_length={self.max_length}, {rule}, "
            f"layout={self.layout!r}, rotary_dim={self.rotary_dim}{more}"
        )


def _split(codes: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = codes.chunk(2, -1)
    return cos, sin
