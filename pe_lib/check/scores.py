"""Modules that give a bias for the scores, as ALiBi and T5 do: how they are read."""

import itertools
import re
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check.call import CannotCallError, ForeignError, Make, Subject, noise
from pe_lib.check.recognise import Array
from pe_lib.check.report import ERROR, NOTE, WARNING, Recognised
from pe_lib.check.vectors import POSITION_NAMES
from pe_lib.check.ways import Way

READ = 300  # positions: past T5's largest distance, 128, and what bfloat16 counts
SHORT = 12
PEAK = 3  # offsets by which people are off
LONGEST = 512  # positions that are tried
HIDDEN = -1e4  # and below: a mask, not a bias
NEAR = 1e-3  # of the largest number
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

    kind, names, by_number = "bias", ("biases",), True
    as_rows = False  # queries get the same row, up to a number of their own

    def __init__(
        self, make: Make, d_model: int, kind: str, axes: str | None, named: str | None
    ) -> None:
        del kind, axes
        super().__init__(make, d_model)
        self.named = named  # the first query's position
        if self.has_trained:
            self.fill(self.first)  # as they begin they may all be 0
        self._find()
        self.is_sum = self.way.form != "scores" or self._is_sum()
        if not self.fixed:
            self.way = replace(self.way, length=min(READ, self.limit))
        self.as_rows = spread(self.values) > NEAR * self.size > spread(self.level)

    def _find(self) -> None:
        """Take the first way that gives [..., queries, keys]."""
        required = [name for name in self.required if name != self.named]
        taken = [name for name in self.parameters if name != self.named]
        needed, count = len(required), len(taken)
        first = next(iter(required or taken), "")
        forms = ["length", "scores", "positions", "x"]
        if count > 1 and needed != 1:
            two = ["two lengths", "two positions"]
            forms = two if needed == 2 else [*two, *forms]
        forms = ["nothing"] if not count else forms
        for form, names in NAMES.items():
            forms = [form, *forms] if re.fullmatch(names, first) else forms
        refusal: ForeignError | None = None
        lengths = SHORT, *self.lengths()
        for length, form in itertools.product(lengths, forms):
            if length == self.d_model:
                continue  # whatever fits then may fit by accident
            self.way = Way(form=form, length=length, fixed=length != SHORT)
            try:
                with torch.no_grad():
                    self.of(self.fresh(), self.length, self.length)
                return
            except ForeignError as error:
                refusal = refusal or error
        raise CannotCallError(
            f"forward was given lengths, positions and scores and raised {refusal}. "
            f"Say --kind, or {self.adapter('queries, keys')}"
        )

    @property
    def called(self) -> str:
        """How it was called, in words."""
        most = (
            f"; at most {self.limit:,} positions" if self.limit < self.longest else ""
        )
        return f"it takes {self.way.form}{most}"

    @property
    def longest(self) -> int:
        """The length of the longest input that is tried."""
        return LONGEST

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
        last = (queries, keys, self.d_model)
        if output.shape[-3:] == last:
            what = "It returns [queries, keys, heads]: the heads are the last axis."
            self.tell(what, ".permute(2, 0, 1)")
            output = output.movedim(-1, -3)
        if output.shape[-1] != keys or output.shape[-2] not in (1, queries):
            raise ForeignError(ValueError(f"{what}{list(output.shape)}"))
        flat = output.reshape(-1, *output.shape[-2:])
        return flat.expand(-1, queries, -1)

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

    def _is_sum(self) -> bool:
        """Whether what comes back is the scores plus the bias."""
        there = noise(1, self.d_model, self.length, self.length)
        with torch.no_grad():
            bias, found = (
                self.of(self.fresh(), self.length, self.length, scores=scores)
                for scores in (0.0, there)
            )
            ones = self.of(self.fresh(), self.length, self.length, scores=1.0)
        if bias.isnan().any():  # which hides all else
            self.is_linear, self.gains = True, torch.ones(1)
            return True
        seen = bias > HIDDEN
        self.gains = (ones - bias)[seen]  # by what scores are multiplied
        rest = (found - bias)[seen] - there[0].expand_as(found)[seen] * self.gains
        self.is_linear = bool(rest.abs().max() < NEAR)
        return bool((self.gains - 1).abs().max() < NEAR and self.is_linear)

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

    @property
    def has_nan(self) -> bool:
        """Whether NaN comes back."""
        return bool(np.isnan(self.returned).any())

    @property
    def wraps(self) -> int:
        """The offset whose entry -1 shares, as negative indices do; 0 if none.

        Or that of 1, negative, if offsets are the query's position minus the key's.
        """
        for sign, here, there in (
            (1, self.past, self.ahead),
            (-1, self.ahead, self.past),
        ):
            one, two = here[:, 1:2], here[:, 2:3]
            same = (there[:, 2:] == one) & (there[:, 1:-1] == two) & (one != two)
            if same.all(axis=0).any():
                return sign * int(2 + same.all(axis=0).argmax())
        return 0

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

    @property
    def for_both(self) -> bool:
        """Whether it learns numbers for keys after the query, as an encoder does."""
        told = bool(np.ptp(self.ahead, axis=1).max() > NEAR * self.size)  # NaN is not
        return self.has_trained and self.slopes is None and told

    @cached_property
    def jump(self) -> Array:
        """What keys after the query have more than distances explain, of each head."""
        if self.has_trained:  # what no training changes
            module = self.fresh()
            with torch.no_grad():
                for parameter in module.parameters():
                    parameter.mul_(not parameter.requires_grad)
                values = self.of(module, 3, 3).double().numpy()
            return np.asarray(values[:, 1, 2] - values[:, 1, 1])
        step = self.past[:, 1] - self.past[:, 0]
        beyond = self.ahead[:, 1:]
        for slope in (step, -step, 0 * step):
            over = beyond - slope[:, None] * np.arange(1, beyond.shape[1] + 1)
            if np.ptp(over, axis=1).max() < NEAR * self.size:
                return over[:, 0]
        return 0 * step

    @property
    def peak(self) -> int:
        """The offset near 0 at which the bias of all heads is highest."""
        near = min(PEAK + 1, self.length - 1)
        values = [*self.past[:, near:0:-1].T, *self.ahead[:, : near + 1].T]
        line = np.nan_to_num(values, nan=-np.inf)
        highest = line.argmax(axis=0) - near
        lower = (line[near] < line.max(axis=0) - 1e-6 * self.size).all()
        inside = not np.ptp(highest) and abs(highest[0]) < near
        return int(highest[0]) if lower and inside else 0

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
        n = self.length
        line = np.concatenate([self.values[:, -1], self.values[:, 0, 1:]], 1)
        seen, offsets = np.isfinite(line).all(axis=0), np.arange(1 - n, n)
        names = np.unique(np.round(line[:, seen], 6), axis=1, return_inverse=True)[1]
        for causal, sign in itertools.product((True, False), (1, -1)):
            buckets = t5_buckets(sign * offsets, causal=causal)[seen]
            both = {*zip(names.ravel().tolist(), buckets.tolist(), strict=True)}
            if len(both) == len({*names.ravel()}) == len({*buckets}) > 4:
                swapped = sign < 0 if causal else self._takes_row_of_after()
                return "swapped" if swapped else "causal" if causal else "both"
        return ""

    def _reach(self) -> int:
        """The distance up to which the bias falls evenly, and not at all beyond."""
        steps = np.diff(self.past, axis=1)
        falls = np.abs(steps - steps[:, :1]).max(axis=0) < NEAR * self.size
        reach = int(falls.argmin())
        flat = not np.isnan(steps).any() and not np.abs(steps[:, reach:]).max() > 1e-9
        return reach if flat and reach > 1 and steps[:, 0].any() else 0

    def _takes_row_of_after(self) -> bool:
        """Whether one key back has not T5's row 1: both directions look alike else."""
        back = torch.from_numpy(self.values[:, 1, 0])
        rows = [p for p in self.first.parameters() if p.shape == (BUCKETS, len(back))]
        return any(not torch.allclose(p[1].double(), back, atol=1e-4) for p in rows)

    def _has_lost_minus(self, slopes: Array) -> bool:
        """Whether slopes are the inverse of ALiBi's."""
        of_paper = alibi_slopes(len(slopes), rule="paper")
        return np.allclose(1 / slopes, of_paper, rtol=NEAR)

    @cached_property
    def recognised(self) -> Recognised | None:
        """ALiBi's slopes or T5's buckets, in words."""
        slopes, heads = self.slopes, len(self.values)
        if slopes is not None:
            for rule, words in (
                ("program", "the slopes of Press et al. (2022)"),
                ("paper", "ALiBi, its printed formula for any number of heads"),
            ):
                if np.allclose(slopes, alibi_slopes(heads, rule=rule), rtol=NEAR):
                    return Recognised("alibi", words)
            words = f"ALiBi with slopes from {slopes.max():.4g} to {slopes.min():.4g}"
            hint = "Its own slopes: those of ALiBi are 2**(-8 h / heads)."
            if heads > 1 and np.ptp(slopes) < NEAR * slopes.max():
                hint = "All heads have one slope."
            if slopes.min() > 0 and self._has_lost_minus(slopes):
                hint = "2**(8 h / heads), where 2**(-8 h / heads) is meant."
                return Recognised("slopes", words, level=ERROR, hint=hint)
            level = NOTE if self.has_trained or slopes.min() < 0 else WARNING
            return Recognised("slopes", words, level=level, hint=hint)
        if reach := self._reach():
            words = f"ALiBi up to distance {reach}, and one number from there on"
            return Recognised("slopes", words, level=WARNING, hint=f"{words}.")
        if not self.buckets:
            steps = np.abs(np.diff(self.past, axis=1)).max(axis=0) > 1e-6 * self.size
            if self.has_trained and len(steps) > 200 and 0 < steps.sum() < 2 * BUCKETS:
                hint = "No buckets of T5: its weights do not fit."
                words = "a bias of steps of its own"
                return Recognised("steps", words, level=WARNING, hint=hint)
            return None
        words = f"T5's {BUCKETS} buckets, "
        if self.buckets == "swapped":
            words += "queries and keys swapped"
            return Recognised("t5_swapped", words, level=ERROR, hint=OFFSET)
        causal = self.buckets == "causal"
        return Recognised(
            "t5", words + ("for a causal mask" if causal else "for both directions")
        )


def spread(values: Array) -> float:
    """By how much values [heads, query, key] of one offset differ."""
    half = values.shape[1] // 2
    both = (
        (values[:, :-1, :-1], values[:, 1:, 1:]),
        (values[:, :half, :half], values[:, -half:, -half:]),
    )
    return max(float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in both)
