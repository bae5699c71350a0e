"""Modules that give a bias for the scores, as ALiBi and T5 do: how they are read."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check.call import ForeignError, WrongShapeError, noise
from pe_lib.check.recognise import Array, spread
from pe_lib.check.report import ERROR, NOTE, WARNING, Recognised
from pe_lib.check.subject import HIDDEN, NEAR, Make, Subject, gains
from pe_lib.check.vectors import POSITION_NAMES
from pe_lib.check.ways import Way

READ = 300  # positions: past T5's largest distance, 128, and what bfloat16 counts
SHORT = 12
COARSE = 0.01  # of a step: more than float32 rounds
LONGEST = 512  # positions that are tried
BUCKETS = 32  # of T5
NAMES = {  # of forward's first argument, and what it is given then
    "scores": r"\w*(score|logit|weight|sim|dot)\w*",
    "positions": POSITION_NAMES,
    "mask": r"\w*mask",
}
OFFSET = "The offset is the key's position minus the query's."


class Bias(Subject):
    """A module that returns a number for each head, query and key.

    Its rows are those of distances: the numbers of the last query for the keys so far
    back, then those of the first query for the keys so far ahead.
    """

    names, by_number = ("biases",), True
    longest = LONGEST
    as_rows = False  # queries get the same row, up to a number of their own

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        super().__init__(make, d_model, kind, axes, named)
        if self.has_trained:
            self.fill(self.first)  # as they begin they may all be 0
        self.find(self._ways())
        if self.way.form == "scores":
            there = noise(d_model, self.length, self.length)
            self.gains = gains(self._with, there)
        if not self.way.fixed:
            self.way = replace(self.way, length=min(READ, self.limit))
        self.as_rows = spread(self.values) > NEAR * self.size > spread(self.level)

    def _ways(self) -> Iterator[Way]:
        """What forward may take, the likeliest first."""
        taken = [name for name in self.parameters if name != self.named]
        required = [name for name in self.required if name != self.named]
        forms = ["length", "scores", "positions", "x"]
        if len(taken) > 1 and len(required) != 1:
            two = ["two lengths", "two positions"]
            forms = two if len(required) == 2 else [*two, *forms]
        forms = forms if taken else ["nothing"]
        first = next(iter(required or taken), "")
        forms = [f for f, names in NAMES.items() if re.fullmatch(names, first)] + forms
        short = SHORT + (self.d_model == SHORT)
        for length, form in itertools.product((short, *self.lengths()), forms):
            if length != self.d_model:  # whatever fits then may fit by accident
                yield Way(form=form, length=length, fixed=length != short)

    def of(
        self,
        module: nn.Module,
        queries: int,
        keys: int,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        scores: float | Tensor = 0.0,
        step: int = 1,
    ) -> Tensor:
        """The bias [heads, queries, keys], of positions 0, `step`, 2 `step`, ..."""
        q, k = (step * torch.arange(n, device=device) for n in (queries, keys))
        zeros = torch.zeros(1, self.d_model, queries, keys, device=device, dtype=dtype)
        zeros = zeros + scores
        inputs: dict[str, list[Any]] = {
            "nothing": [],
            "length": [keys],
            "two lengths": [queries, keys],
            "positions": [k],
            "two positions": [q + keys - queries, k],
            "scores": [zeros],
            "mask": [torch.ones_like(k)[None]],
            "x": [zeros[:, :, 0].mT],
        }
        offset = {self.named: keys - queries} if self.named else {}
        output = self.run(module, inputs[self.way.form], offset)
        what = f"for {queries} queries and {keys} keys it returned "
        if not isinstance(output, Tensor) or output.ndim < 2:
            raise ForeignError(TypeError(f"{what}{type(output).__name__}"))
        if output.shape[-3:] == (queries, keys, self.d_model):
            flaw = "It returns [queries, keys, heads]: the heads are the last axis."
            raise WrongShapeError(self.way, flaw, ".permute(2, 0, 1)")
        if output.shape[-1] != keys or output.shape[-2] not in (1, queries):
            raise ForeignError(ValueError(f"{what}{list(output.shape)}"))
        return output.reshape(-1, *output.shape[-2:]).expand(-1, queries, -1)

    def _with(self, scores: Tensor) -> Tensor:
        """What comes back for scores."""
        return self.of(self.fresh(), self.length, self.length, scores=scores)

    def answer(
        self, module: nn.Module, length: int | None = None, **given: Any
    ) -> Tensor:
        """The rows of distances [1, length, 2 heads]; what a mask hides is 0."""
        given = {k: v for k, v in given.items() if k in ("device", "dtype")}
        n = length or self.length
        values = self.of(module, n, n, **given)
        past, ahead = values[:, -1].flip(-1), values[:, 0]
        if self.as_rows:
            past, ahead = past - past[:, :1], ahead - ahead[:, :1]
        rows = torch.cat([past, ahead]).T[None]
        return rows.masked_fill(rows < HIDDEN, 0.0)

    # What it does

    @cached_property
    def returned(self) -> Array:
        """[heads, query, key], as it comes back."""
        with torch.no_grad():
            found = self.of(self.fresh(), self.length, self.length).double().numpy()
        return np.asarray(found)

    @cached_property
    def values(self) -> Array:
        """The same; what a mask hides is NaN."""
        return np.where(self.returned > HIDDEN, self.returned, np.nan)

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
    def line(self) -> Array:
        """[heads, offset] from the furthest key back to the furthest ahead."""
        return np.concatenate([self.past[:, :0:-1], self.ahead], 1)

    @cached_property
    def size(self) -> float:
        """The largest number."""
        return float(np.nanmax(np.abs(self.values), initial=1e-9))

    @cached_property
    def slopes(self) -> Array | None:
        """Of heads whose bias is a straight line over the past; None if one is not."""
        steps = np.diff(self.returned[:, -1, ::-1], axis=1)  # steep ones look hidden
        largest = float(np.nanmax(np.abs(steps), initial=0.0))
        if not largest or not np.isfinite(steps).all():
            return None
        straight = np.ptp(steps, axis=1).max() < NEAR * largest
        return np.asarray(-steps.mean(axis=1)) if straight else None

    @cached_property
    def buckets(self) -> str:
        """Which of T5's buckets: "causal", "both", "swapped"; empty if none."""
        offsets = np.arange(1 - self.length, self.length)
        seen = np.isfinite(self.line).all(axis=0)
        numbers = np.round(self.line[:, seen], 6)
        names = np.unique(numbers, axis=1, return_inverse=True)[1].ravel()
        for causal, sign in itertools.product((True, False), (1, -1)):
            buckets = t5_buckets(sign * offsets, causal=causal)[seen]
            both = {*zip(names.tolist(), buckets.tolist(), strict=True)}
            if len(both) == len({*names}) == len({*buckets}) > 4:
                swapped = sign < 0 if causal else self._takes_row_of_after()
                return "swapped" if swapped else "causal" if causal else "both"
        return ""

    def _takes_row_of_after(self) -> bool:
        """Whether one key back has not T5's row 1: both directions look alike else."""
        back = torch.from_numpy(self.values[:, 1, 0])
        rows = [p for p in self.first.parameters() if p.shape == (BUCKETS, len(back))]
        return any(not torch.allclose(p[1].double(), back, atol=1e-4) for p in rows)

    @cached_property
    def recognised(self) -> Recognised | None:
        """ALiBi's slopes or T5's buckets, in words."""
        if self.slopes is not None:
            return self._of_slopes(self.slopes)
        if self.buckets == "swapped":
            words = "T5's 32 buckets, queries and keys swapped"
            return Recognised("t5_swapped", words, level=ERROR, hint=OFFSET)
        if self.buckets:
            whom = {"causal": "a causal mask", "both": "both directions"}[self.buckets]
            return Recognised("t5", f"T5's {BUCKETS} buckets, for {whom}")
        steps = np.diff(self.past, axis=1)
        first = np.abs(steps[:, :1])
        bent = (np.abs(steps - steps[:, :1]) > COARSE * first).any(axis=0)
        if steps[:, 0].any() and bent.argmax() > 1:
            words = f"a straight line up to distance {bent.argmax()}, and not beyond"
            return Recognised("slopes", words, level=WARNING, hint=f"It is {words}.")
        return None

    def _of_slopes(self, slopes: Array) -> Recognised:
        """Straight lines in words."""
        heads = len(slopes)
        for rule, words in (
            ("program", "the slopes of Press et al. (2022)"),
            ("paper", "ALiBi, its printed formula for any number of heads"),
        ):
            ideal = alibi_slopes(heads, rule=rule)
            if np.allclose(slopes, ideal, rtol=NEAR):
                return Recognised("alibi", words)
        level = NOTE if self.has_trained or slopes.min() < 0 else WARNING
        hint = "Its own slopes: those of ALiBi are 2**(-8 h / heads)."
        if heads > 1 and np.ptp(slopes) < NEAR * slopes.max():
            hint = "All heads have one slope."
        if np.allclose(slopes * ideal, 1, rtol=NEAR):
            level, hint = ERROR, "2**(8 h / heads), where 2**(-8 h / heads) is meant."
        words = f"ALiBi with slopes from {slopes.max():.4g} to {slopes.min():.4g}"
        return Recognised("slopes", words, level=level, hint=hint)
