"""Modules that give a bias for the scores, as ALiBi and T5 do: how they are read."""

import itertools
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check.call import CannotCallError, ForeignError, Make, Subject, adapter
from pe_lib.check.recognise import Array, Recognised

READ = 300  # positions: past T5's largest distance, 128, and what bfloat16 counts
SHORT = 12
HIDDEN = -1e4  # and below: a mask, not a bias
CLOSE = 1e-3
T5_BUCKETS, T5_DISTANCES = (32, 16, 64, 8), (128, 64, 256, 20)


class Bias(Subject):
    """A module that returns a number for each head, query and key."""

    kind = "bias"

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        del kind, axes, named
        super().__init__(make, d_model)
        if self.trained:
            self.fill()  # as they begin they may all be 0
        self.way = self._find()
        self.recognised = self._recognise()

    def _find(self) -> str:
        """How it is called: the first way that gives [..., queries, keys]."""
        needed, count = len(self.required), len(self.parameters)
        first = next(iter(self.required or self.parameters), "")
        one, two = (
            ["length", "scores", "positions", "x"],
            ["two lengths", "two positions"],
        )
        ways = two if needed == 2 else [*two[: count > 1], *one]
        ways = ["nothing"] if not count else ways
        ways = ["scores", *ways] if "scor" in first or "attn" in first else ways
        refusal: ForeignError | None = None
        for length, way in itertools.product((SHORT, *self.lengths()), ways):
            self.way, self.fixed = way, length if length != SHORT else 0
            try:
                with torch.no_grad():
                    self.of(self.fresh(), length, length)
            except ForeignError as error:
                refusal = refusal or error
                continue
            return way
        raise CannotCallError(
            f"forward was given lengths, positions and scores and raised {refusal}. "
            f"Say --kind, or {adapter(self.name, 'queries, keys')}"
        )

    @property
    def called(self) -> str:
        """How it was called, in words."""
        return f"it takes {self.way}"

    @property
    def length(self) -> int:
        """A short one that it takes."""
        return self.fixed or SHORT

    def of(
        self, module: nn.Module, queries: int, keys: int, device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:  # fmt: skip
        """The bias [heads, queries, keys]."""
        q, k = (torch.arange(n, device=device) for n in (queries, keys))

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, device=device, dtype=dtype)

        inputs: dict[str, list[Any]] = {
            "nothing": [],
            "length": [keys],
            "two lengths": [queries, keys],
            "positions": [k],
            "two positions": [q + keys - queries, k],
            "scores": [zeros(1, self.d_model, queries, keys)],
            "x": [zeros(1, keys, self.d_model)],
        }
        output = self.run(module, inputs[self.way])
        what = f"for {queries} queries and {keys} keys it returned "
        if not isinstance(output, Tensor) or output.ndim < 2:
            raise ForeignError(TypeError(f"{what}{type(output).__name__}"))
        if output.shape[-1] != keys or output.shape[-2] not in (1, queries):
            raise ForeignError(ValueError(f"{what}{list(output.shape)}"))
        flat = output.reshape(-1, *output.shape[-2:])
        return flat.expand(-1, queries, -1)

    def answer(
        self, module: nn.Module, length: int | None = None, *, batch: int = 1,
        **given: Any,
    ) -> Tensor:  # fmt: skip
        """The bias of a short input, without its masks."""
        n = min(length or self.length, READ)
        values = self.of(module, n, n, **given)
        return values.masked_fill(values < HIDDEN, 0.0) * min(batch, 1)

    # What it does

    @cached_property
    def values(self) -> Array:
        """[heads, query, key]; what a mask hides is NaN."""
        n = self.fixed or READ
        with torch.no_grad():
            found = self.of(self.fresh(), n, n).double().numpy()
        return np.where(found > HIDDEN, found, np.nan)

    @cached_property
    def level(self) -> Array:
        """The same less each query's number for itself: all that the softmax sees."""
        own = np.diagonal(self.values, axis1=1, axis2=2)
        return np.asarray(self.values - np.nan_to_num(own)[..., None])

    @cached_property
    def past(self) -> Array:
        """[heads, distance] of the keys up to the last query."""
        return self.level[:, -1, ::-1]

    @cached_property
    def ahead(self) -> Array:
        """[heads, distance] of the keys from the first query on."""
        return self.level[:, 0, :]

    @cached_property
    def size(self) -> float:
        """The largest number."""
        return float(np.nanmax(np.abs(self.values), initial=1e-9))

    @cached_property
    def as_rows(self) -> bool:
        """Whether queries get the same row, up to a number of their own."""
        return spread(self.values) > CLOSE * self.size > spread(self.level)

    @cached_property
    def slopes(self) -> Array | None:
        """Of heads whose bias is a straight line over the past; None if one is not."""
        steps = np.diff(self.past, axis=1)
        largest = float(np.nanmax(np.abs(steps), initial=0.0))
        if not largest or np.isnan(steps).any():
            return None
        straight = np.ptp(steps, axis=1).max() < CLOSE * largest
        return np.asarray(-steps.mean(axis=1)) if straight else None

    @cached_property
    def buckets(self) -> tuple[int, int, bool, bool] | None:
        """T5's number of buckets, distance, causal; whether the offset is reversed."""
        n = self.values.shape[-1]
        line = np.concatenate([self.values[:, -1], self.values[:, 0, 1:]], 1)
        seen, offsets = np.isfinite(line).all(axis=0), np.arange(1 - n, n)
        names = np.unique(np.round(line[:, seen], 6), axis=1, return_inverse=True)[1]
        for number, distance, causal in itertools.product(
            T5_BUCKETS, T5_DISTANCES, (True, False)
        ):
            if distance <= number // (2 if causal else 4):
                continue
            found = t5_buckets(
                offsets, num_buckets=number, max_distance=distance, causal=causal
            )
            for swapped, given in ((False, found), (True, found[::-1])):
                bucket = given[seen]
                both = {*zip(names.ravel().tolist(), bucket.tolist(), strict=True)}
                if len(both) == len({*names.ravel()}) == len({*bucket}) > 4:
                    swapped = swapped if causal else self._takes_row_of_after(number)
                    return number, distance, causal, swapped
        return None

    def _takes_row_of_after(self, number: int) -> bool:
        """Whether one key back has not T5's row 1: both directions look alike else."""
        back = torch.from_numpy(self.values[:, 1, 0])
        rows = [p for p in self.fresh().parameters() if p.shape == (number, len(back))]
        return any(not torch.allclose(p[1].double(), back, atol=1e-4) for p in rows)

    def _recognise(self) -> Recognised | None:
        """ALiBi's slopes or T5's buckets, in words."""
        slopes, heads = self.slopes, len(self.values)
        if slopes is not None:
            for rule, words in (
                ("program", "the slopes of Press et al. (2022)"),
                ("paper", "ALiBi, its printed formula for any number of heads"),
            ):
                if np.allclose(slopes, alibi_slopes(heads, rule=rule), rtol=CLOSE):
                    return Recognised("alibi", words)
            words = f"slopes from {slopes.max():.4g} to {slopes.min():.4g}"
            return Recognised("slopes", words)
        if self.buckets and not self.buckets[3]:
            number, distance, causal, _ = self.buckets
            which = "for a causal mask" if causal else "for both directions"
            return Recognised("t5", f"T5's {number} buckets up to {distance}, {which}")
        return None


def spread(values: Array) -> float:
    """By how much values [heads, query, key] of one offset differ."""
    half = values.shape[1] // 2
    both = (
        (values[:, :-1, :-1], values[:, 1:, 1:]),
        (values[:, :half, :half], values[:, -half:, -half:]),
    )
    return max(float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in both)
