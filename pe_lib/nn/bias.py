"""Biases of attention scores as PyTorch modules: ALiBi and T5."""

from collections.abc import Callable
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_choice, as_flag, as_integer
from pe_lib.beyond.bias import RULES, _bucket_starts, alibi_slopes
from pe_lib.nn._arguments import (
    as_number,
    as_positions,
    as_whole,
    with_float64,
)
from pe_lib.nn._tables import Tabled

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


class _Bias(nn.Module):
    """A number for each head, query and key, which depends on their offset alone."""

    _whole_only = False  # whether positions must be integers

    def _take(self, num_heads: Any, causal: Any) -> None:
        """Keep the arguments that both have."""
        self.num_heads = as_integer("num_heads", num_heads, at_least=1)
        self.causal = as_flag("causal", causal)

    def forward(
        self,
        length: int,
        key_length: int | None = None,
        *,
        offset: int | None = None,
        positions: Tensor | None = None,
        key_positions: Tensor | None = None,
        mask: bool = True,
    ) -> Tensor:
        """What is added to the scores, after these were divided by a root.

        Raises TypeError if an argument has a wrong type; ValueError if a length is
        below 1, shapes do not fit, positions come with an offset, or keys have
        positions and queries have none.

        Parameters
        ----------
        length, key_length : int
            Number of queries and of keys, at least 1; as many keys as queries if
            left out.
        offset : int
            Position of the first query, if the first key is at 0. If left out, the
            queries are the last: ``bias(1, 11)`` is the row of the eleventh word.
        positions, key_positions : tensors [length] and [key_length], or [batch, ...]
            In the place of offset; of the keys those of the queries if left out. In
            a cache keep them with the keys.
        mask : bool
            Whether a module made with causal=True hides later keys, by minus
            infinity. Positions decide what is later. So documents in one text, each
            counted from 0, need a mask of their own besides this one.

        Returns
        -------
        tensor [num_heads, length, key_length]
            With [batch, ...] in front where positions have a batch. Numbers of 32
            bits, also in a module cast to 16; of 64 in a module cast to 64. Add them
            to float32 scores, or hand them to scaled_dot_product_attention.
        """
        length = keys = as_whole("length", length, 1)
        if key_length is not None:
            keys = as_whole("key_length", key_length, 1)
        hides = as_flag("mask", mask) and self.causal
        if positions is not None:
            if offset is not None:
                raise ValueError(
                    f"offset must be left out where positions are given, got {offset}"
                )
            offsets = self._offsets(positions, key_positions, length, keys)
            return self._biases(offsets, hides)
        if key_positions is not None:
            raise ValueError("key_positions must come with positions, got them alone")
        first = keys - length if offset is None else as_whole("offset", offset)
        if torch.compiler.is_compiling():  # which would fix the number of keys below
            queries = first + torch.arange(length, device=self._device)
            offsets = torch.arange(keys, device=self._device) - queries.unsqueeze(-1)
            return self._biases(offsets, hides)
        # One number an offset; then each query takes its stretch of them.
        offsets = torch.arange(length + keys - 1, device=self._device)
        offsets = (offsets - (first + length - 1)).unsqueeze(0)
        return self._biases(offsets, hides).squeeze(-2).unfold(-1, keys, 1).flip(-2)

    def score_mod(self, *, offset: int = 0) -> ScoreMod:
        """The same bias for ``flex_attention(queries, keys, values, score_mod=...)``.

        With the first query at `offset`, if the first key is at 0. T5's weights learn
        through it; scores are those divided by the root, as FlexAttention has them.
        """
        start, read, hides = as_whole("offset", offset), self._reader(), self.causal

        def modify(score: Tensor, _: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
            distance = k - q - start
            biased = score + read(h, distance)
            return biased.masked_fill(distance > 0, float("-inf")) if hides else biased

        return modify

    def _offsets(
        self, positions: Any, key_positions: Any, length: int, keys: int
    ) -> Tensor:
        """Key's position minus query's: [..., length, key_length]."""
        queries = self._as_positions("positions", positions, length)
        if key_positions is None and keys != length:
            raise ValueError(
                f"key_positions must be given for {keys} keys and {length} queries"
            )
        others = queries
        if key_positions is not None:
            others = self._as_positions("key_positions", key_positions, keys)
        if queries.ndim == others.ndim == 2:
            batch, other = len(queries), len(others)
            if batch != other and 1 not in (batch, other):
                raise ValueError(
                    f"key_positions must have the batch of positions, {batch}, "
                    f"got {other}"
                )
        return others.unsqueeze(-2) - queries.unsqueeze(-1)

    def _as_positions(self, name: str, value: Any, length: int) -> Tensor:
        given = as_positions(name, value, whole=self._whole_only)
        if given.ndim not in (1, 2) or given.shape[-1] != length:
            raise ValueError(
                f"{name} must have shape [{length}] or [batch, {length}], got "
                f"{list(given.shape)}"
            )
        return given.double() if given.is_floating_point() else given.long()

    def _biases(self, offsets: Tensor, hides: bool) -> Tensor:
        values = self._values(offsets)
        if not hides:
            return values
        later = (offsets > 0).unsqueeze(-3).to(values.device)
        return values.masked_fill(later, float("-inf"))

    @property
    def _device(self) -> torch.device:
        raise NotImplementedError

    def _values(self, offsets: Tensor) -> Tensor:
        """The bias of offsets [..., q, k]: [..., num_heads, q, k]."""
        raise NotImplementedError

    def _reader(self) -> Callable[[Tensor, Tensor], Tensor]:
        """The bias as a function of one head and one offset."""
        raise NotImplementedError


class AlibiBias(_Bias, Tabled):
    r"""ALiBi's bias, the distance times minus a slope, as Press et al. (2022).

    .. math:: b_{h,t,s} = -m_h\,|t - s|

    What :func:`pe_lib.beyond.bias.alibi_bias` computes, rounded once to float32,
    whatever the dtype of the module. Nothing is learned and nothing is saved; a
    longer text needs no other module. Distances are computed before they are
    multiplied: slope times the key's position is the same to a softmax in exact
    numbers, and in bfloat16 it makes neighbours equal. In 16 bits what is lost is the
    sum of score and bias: add it in float32.

    ``nn.TransformerEncoder`` in eval under ``no_grad`` takes a fast path that turns a
    mask of numbers into booleans: each token then sees only itself, and no error is
    raised. ``torch.backends.mha.set_fastpath_enabled(False)`` cures it.

    With `causal` later keys are hidden; without a mask before and after are alike.
    `rule`, "program" or "paper", says which slopes, see
    :func:`pe_lib.beyond.bias.alibi_slopes`; they have 32 bits or more. Raises TypeError
    or ValueError if an argument has a wrong type or is out of range.

    >>> bias = AlibiBias(8, causal=True)
    >>> bias(3)[0]
    tensor([[ 0.0000,    -inf,    -inf],
            [-0.5000,  0.0000,    -inf],
            [-1.0000, -0.5000,  0.0000]])

    The next word, with ten in the cache, and the whole of attention:

    >>> bias(1, 11).shape
    torch.Size([8, 1, 11])
    >>> queries, keys, values = torch.randn(3, 2, 8, 10, 16)
    >>> attended = nn.functional.scaled_dot_product_attention(
    ...     queries, keys, values, attn_mask=bias(10)
    ... )
    """

    _always_wide = True

    def __init__(
        self,
        num_heads: int,
        *,
        causal: bool = False,
        rule: str = "program",
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._take(num_heads, causal)
        self.rule = as_choice("rule", rule, RULES)
        slopes = torch.from_numpy(alibi_slopes(self.num_heads, rule=self.rule))
        self._make_table(slopes.shape, (slopes,), device, dtype)

    @property
    def slopes(self) -> Tensor:
        """The slope of each head, [num_heads]."""
        return self.table

    @property
    def _device(self) -> torch.device:
        return self.table.device

    def _fill(self, table: Tensor) -> None:
        table.copy_(self._exact[0])

    def _known(self, count: int) -> Tensor:
        return self._exact[0].cpu().expand(count, -1)

    def _values(self, offsets: Tensor) -> Tensor:
        device = with_float64(self._device)
        slopes = self._exact[0].to(device)[:, None, None]
        distances = offsets.to(device).abs().unsqueeze(-3)
        return (0 - distances * slopes).to(self.table.dtype).to(self._device)

    def _reader(self) -> Callable[[Tensor, Tensor], Tensor]:
        slopes = self._exact[0].to(self.table)  # a loader may have emptied the buffer
        return lambda head, offset: -slopes[head] * offset.abs()

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return f"{self.num_heads}, causal={self.causal}, rule={self.rule!r}"


class T5Bias(_Bias):
    r"""T5's bias: a learned number for each bucket of offsets and each head.

    Buckets are those of :func:`pe_lib.beyond.bias.t5_buckets`, found in whole
    numbers: no logarithm can put a distance into a wrong one. T5 makes one such
    module for its encoder and one for its decoder, and uses it in all layers.

    With `causal` later keys are hidden, and all buckets are for earlier ones. Weights
    begin at 0, or at random with the standard deviation `init_std`. They are
    [num_buckets, num_heads], as transformers has them in
    ``relative_attention_bias.weight``. Raises TypeError or ValueError if an argument
    has a wrong type or is out of range.

    >>> bias = T5Bias(8, causal=True)
    >>> with torch.no_grad():
    ...     bias.weight[1] = 3.0  # one back
    >>> bias(3)[0].tolist()
    [[0.0, -inf, -inf], [3.0, 0.0, -inf], [0.0, 3.0, 0.0]]
    >>> bias(1, 11).shape
    torch.Size([8, 1, 11])
    """

    _whole_only = True

    def __init__(
        self,
        num_heads: int,
        *,
        num_buckets: int = 32,
        max_distance: int = 128,
        causal: bool = False,
        init_std: float = 0.0,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._take(num_heads, causal)
        starts = _bucket_starts(num_buckets, max_distance, self.causal)
        self.num_buckets, self.max_distance = int(num_buckets), int(max_distance)
        self.init_std = as_number("init_std", init_std)
        self._starts = torch.from_numpy(starts)
        shape = self.num_buckets, self.num_heads
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self._move_starts()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew: zeros, or random numbers of the deviation `init_std`."""
        if self.init_std:
            nn.init.normal_(self.weight, std=self.init_std)
        else:
            nn.init.zeros_(self.weight)

    def buckets(self, offsets: Tensor) -> Tensor:
        """The bucket of each offset, key's position minus query's: integers [...]."""
        offsets = as_positions("offsets", offsets, whole=True).long()  # of int8, too
        distances = (-offsets).clamp(min=0) if self.causal else offsets.abs()
        starts = self._starts.to(offsets.device)
        found = torch.bucketize(distances, starts, right=True) - 1
        if self.causal:
            return found
        return found + (self.num_buckets // 2) * (offsets > 0)

    def _move_starts(self) -> None:
        if not self.weight.is_meta:
            self._starts = self._starts.to(self.weight.device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the buckets with the weights, so that no call has to."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._move_starts()
        return self

    @property
    def _device(self) -> torch.device:
        return self.weight.device

    def _values(self, offsets: Tensor) -> Tensor:
        exact = self.weight.dtype == torch.float64
        weight = self.weight if exact else self.weight.float()
        buckets = self.buckets(offsets.to(self.weight.device))
        return functional.embedding(buckets, weight).movedim(-1, -3)

    def _reader(self) -> Callable[[Tensor, Tensor], Tensor]:
        far = self.max_distance  # from there on the last bucket has them all
        buckets = self.buckets(torch.arange(-far, far + 1, device=self._device))
        return lambda head, offset: self.weight[
            buckets[offset.clamp(-far, far) + far], head
        ]

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.num_heads}, num_buckets={self.num_buckets}, "
            f"max_distance={self.max_distance}, causal={self.causal}"
        )
