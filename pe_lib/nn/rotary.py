"""Rotary positions as a PyTorch module."""

from typing import Any, Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pe_lib._arguments import as_base, as_choice, as_integer, as_positive
from pe_lib.beyond.rotary import BASE, _pair_speeds
from pe_lib.layouts import LAYOUTS, layout_columns
from pe_lib.nn._angles import codes_at
from pe_lib.nn._arguments import as_offset, lined_up
from pe_lib.nn._configs import rotary_arguments
from pe_lib.nn._tables import WIDE, Tabled
from pe_lib.nn._turning import turn


class RotaryEmbedding(Tabled):
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
        As in :func:`pe_lib.beyond.rotary.apply_rotary`. The layout must be that of
        the weights: "half_split" for Llama, Mistral, Qwen, Gemma, Phi and GPT-NeoX as
        transformers has them, "interleaved" for GPT-J, Cohere, GLM and Meta's own
        Llama files. :meth:`from_config` knows it.
    temperature : float
        Multiplies what is turned, and so scores by its square, as YaRN does; above 0.
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
        temperature: float = 1.0,
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
        speeds, steps = _pair_speeds(self.head_dim, self.base, rotary_dim, frequencies)
        self.rotary_dim, self._speeds = 2 * len(speeds), tuple(speeds.tolist())
        self.temperature = as_positive("temperature", temperature)
        self.seq_dim = as_integer("seq_dim", seq_dim)
        if self.seq_dim > -2:
            raise ValueError(
                "seq_dim must be counted from the end, -2 or -3 as a rule, got "
                f"{self.seq_dim}"
            )
        # Cosines stand where the first numbers of the pairs stand, sines second.
        cosines, sines = layout_columns(self.rotary_dim, self.layout)
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
        return self._speeds

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        turns: Tensor | tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys, turned to their positions.

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
        turns : tensor, or tuple of two
            What :meth:`turns_at` or :meth:`cos_sin` returned, in the place of
            positions and offset.

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
            Queries and keys of different lengths are at different positions: turn
            them apart, with :meth:`turn`.
        """
        queries = self._length_before_last("queries", queries)
        keys = self._length_before_last("keys", keys)
        length, as_many = queries.shape[-2], keys.shape[-2]
        if length != as_many:
            raise ValueError(
                f"keys must have the length of queries, {length}, got {as_many}; "
                "turn() takes each with its own positions"
            )
        of_queries = self._turns(queries, positions, offset, turns)
        alike = turns is not None or torch.float64 not in (queries.dtype, keys.dtype)
        alike = alike or queries.dtype == keys.dtype
        of_keys = of_queries if alike else self._turns(keys, positions, offset)
        return (
            self._turn("queries", queries, of_queries),
            self._turn("keys", keys, of_keys),
        )

    def turn(
        self,
        x: Tensor,
        *,
        positions: Tensor | None = None,
        offset: int = 0,
        turns: Tensor | tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Turn queries alone, or keys alone; otherwise as :meth:`forward`."""
        x = self._length_before_last("x", x)
        return self._turn("x", x, self._turns(x, positions, offset, turns))

    def turns_at(
        self,
        positions: Tensor,
        *,
        offset: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Cosines and sines of positions [...]: [..., rotary_dim], for :meth:`forward`.

        float32, or float64 for float64 queries; in the columns of the layout, the
        cosine where the first number of a pair is.
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
        return self._codes(positions, as_offset(offset), dtype)

    def cos_sin(
        self, position_ids: Tensor, *, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor]:
        """Cosines and sines [..., rotary_dim], each twice, as transformers keeps them.

        Both numbers of a pair get the cosine of their angle, and its sine. What
        ``model.rotary_emb`` returns there, given the dtype of the model, to which they
        are rounded last. :meth:`forward` takes them as `turns` if they have 32 bits.

        >>> rotary = RotaryEmbedding(4, layout="half_split")
        >>> rotary.cos_sin(torch.tensor([1]))[0]
        tensor([[0.5403, 0.9999, 0.5403, 0.9999]])
        """
        if dtype not in (*WIDE, torch.bfloat16, torch.float16):
            raise TypeError(f"dtype must have 16 bits or more, got {dtype}")
        wide = dtype if dtype in WIDE else torch.float32
        packed = self.turns_at(position_ids, dtype=wide)
        columns = layout_columns(self.rotary_dim, self.layout)
        cos, sin = torch.empty_like(packed), torch.empty_like(packed)
        for both, found in ((cos, columns[0]), (sin, columns[1])):
            for place in columns:
                both[..., place] = packed[..., found]
        return cos.to(dtype), sin.to(dtype)

    def _packed(self, turns: tuple[Tensor, Tensor]) -> Tensor:
        """Cosines and sines of :meth:`cos_sin` in the columns of :meth:`turns_at`."""
        if len(turns) != 2 or turns[0].shape != turns[1].shape:
            shapes = [list(part.shape) for part in turns]
            raise ValueError(
                "turns must be a tensor, or cosines and sines of one shape, "
                f"got {shapes}"
            )
        cos, sin = turns
        for name, part in (("cos", cos), ("sin", sin)):
            if part.dtype not in WIDE:
                raise TypeError(
                    f"{name} must be float32 or float64, got {part.dtype}: rounded "
                    "angles confuse positions"
                )
        first, second = layout_columns(cos.shape[-1], self.layout)
        packed = torch.empty_like(cos)
        packed[..., first], packed[..., second] = cos[..., first], sin[..., second]
        return packed

    def _codes(self, positions: Tensor, offset: Any, dtype: torch.dtype) -> Tensor:
        codes = codes_at(positions, offset, self._columns, dtype)
        return codes if self.temperature == 1 else codes * self.temperature

    def _turns(
        self, x: Tensor, positions: Tensor | None, offset: Any, turns: Any = None
    ) -> Tensor:
        """The turns given, or of positions + offset, from the table if it has them."""
        if turns is not None:
            if positions is not None or type(offset) is not int or offset:
                raise ValueError(
                    "turns must come without positions and offset, which they hold, "
                    f"got positions of type {type(positions).__name__} and offset "
                    f"{offset}"
                )
            return turns if isinstance(turns, Tensor) else self._packed(turns)
        length, offset = x.shape[-2], as_offset(offset)
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        if positions is not None:
            return self.turns_at(positions, offset=offset, dtype=dtype)
        table = self._ready()
        inside = offset >= 0 and offset + length <= self.max_length
        fits = table is not None and table.dtype == dtype and table.device == x.device
        if inside and fits:
            return table[offset : offset + length]  # type: ignore[index]
        positions = torch.arange(length, device=x.device)
        return self._codes(positions, offset, dtype)

    def _turn(self, name: str, x: Tensor, turns: Tensor) -> Tensor:
        length = x.shape[-2]
        rows = (x.shape[0], length) if x.ndim > 2 else (length,)
        turns = lined_up(name, turns, length, rows, columns=1)
        if turns.shape[-1] != self.rotary_dim:
            raise ValueError(
                f"turns must have {self.rotary_dim} columns, got {turns.shape[-1]}"
            )
        if x.dtype == torch.float64 and turns.dtype != torch.float64:
            raise TypeError(
                f"turns must be float64 for float64 {name}, got {turns.dtype}"
            )
        if turns.ndim == 3:
            turns = turns[(slice(None), *[None] * (x.ndim - 3))]
        turned = turn(x, turns.to(x.device), self.layout)
        return turned if self.seq_dim == -2 else turned.transpose(self.seq_dim, -2)

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
        return torch.tensor(self._speeds, dtype=torch.float64).expand(count, -1)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        speeds = "frequencies given" if self._given else f"base={self.base:g}"
        heat = "" if self.temperature == 1 else f", temperature={self.temperature:.4g}"
        return (
            f"{self.head_dim}, max_length={self.max_length}, {speeds}, "
            f"layout={self.layout!r}, rotary_dim={self.rotary_dim}{heat}"
        )
