"""The checks of modules that return a bias for the scores: ALiBi, T5 and their like."""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pe_lib.beyond.bias import alibi_slopes, t5_buckets
from pe_lib.check import state
from pe_lib.check.kinds import BiasCall
from pe_lib.check.longest import first_repeat
from pe_lib.check.offsets import ends_by_offset, spread_by_offset
from pe_lib.check.probe import Asked
from pe_lib.check.report import Finding, Findings
from pe_lib.check.tensors import as_numpy, close

Array = NDArray[np.float64]

COUNT = 300  # positions; past T5's largest distance, 128, and what bfloat16 counts
SHORT = 12  # positions of a short text
STEPS = 128  # more different values than any list of buckets has
MASKED = -1e4  # and below: a mask, not a bias
CLOSE = 1e-3


@dataclass(frozen=True)
class Bias(Asked):
    """A module that returns a bias, and how it is called."""

    call: BiasCall

    @cached_property
    def values(self) -> Array:
        """[heads, query, key]; what a mask hides is NaN."""
        bias = as_numpy(self.of(self.make(), COUNT, COUNT))
        return np.where(bias > MASKED, bias, np.nan)

    def of(self, module: nn.Module, queries: int, keys: int, device: Any = None) -> Any:
        """The bias [heads, queries, keys]."""
        with torch.no_grad():
            return self.call(module, queries, keys, device)

    def make(self) -> nn.Module:
        """An unused module; weights that are all 0 are drawn at random."""
        module = self.probe.make()
        if all(not parameter.any() for parameter in module.parameters()):
            module = self.probe.filled_at_random()
        return module

    def codes(self, module: nn.Module) -> Tensor:
        """The bias of a short text, without its masks."""
        bias: Tensor = self.of(module, SHORT, SHORT)
        return bias.masked_fill(bias < MASKED, 0.0)

    def on(self, module: nn.Module, device: str) -> Any:
        """Its bias where the module is on a device."""
        if not [*module.parameters(), *module.buffers()]:
            return None  # it cannot know where it is
        return self.of(module, SHORT, SHORT, device)

    def lengthen(self, module: nn.Module) -> None:
        """Let it see a long text, if it takes one."""
        with contextlib.suppress(Exception):
            self.of(module, 1000, 1000)

    def other_calls(self) -> dict[str, Callable[[nn.Module], Any]]:
        """Calls that should change nothing."""
        return {"a longer text": self.lengthen, "one query": lambda m: self.of(m, 1, 5)}

    @cached_property
    def free(self) -> bool:
        """Whether what is trained makes it: no list of steps, or a window's own."""
        trained = any(p.requires_grad for p in self.probe.make().parameters())
        few = max(len(np.unique(np.round(head, 5))) for head in self.values)
        return trained and (few > STEPS or self.count < COUNT)

    @cached_property
    def as_rows(self) -> bool:
        """Whether all queries get the same row, up to a number of their own."""
        rows = self.values - self.values[:, :, :1]
        size = np.nanmax(np.abs(self.values))
        return bool(np.nanmax(np.abs(rows - rows[:, -1:])) < CLOSE * size)

    @cached_property
    def by_offset(self) -> Array:
        """[heads, key - query + count - 1]: the middle of each diagonal."""
        level = np.diagonal(self.values, axis1=1, axis2=2)[..., None]
        low, high = ends_by_offset(self.values - level if self.as_rows else self.values)
        return np.asarray((low + high) / 2)

    @cached_property
    def past(self) -> Array:
        """[heads, distance] for keys before the query, from distance 0 on."""
        return self.by_offset[:, self.count - 1 :: -1]

    @property
    def count(self) -> int:
        """How many positions are looked at: a window has a number of its own."""
        return int(self.values.shape[-1])


def offset(bias: Bias) -> Findings:
    """Does it depend on the offset alone?"""
    spread = spread_by_offset(bias.values)
    enough = CLOSE * float(np.nanmax(np.abs(bias.values)))
    if not np.ptp(bias.values, axis=2).any():
        yield Finding.wrong(
            "Each query gets one number for all keys.",
            "The softmax cannot see it: scores know nothing of positions.",
            "Compute it from key position minus query position.",
        )
        return
    if spread < enough:
        yield Finding.fact("The bias depends on the offset alone.", "As it should.")
    elif bias.as_rows:
        yield Finding.fact(
            "All queries get the same row, up to a number of their own.",
            "The softmax cannot see that number: as good as the offset alone under a "
            "causal mask, where keys are before the query.",
        )
    elif bias.free:
        yield Finding.fact(
            f"The same offset gets values that differ by up to {spread:.3g}.",
            "Trained with the positions themselves, as TUPE's, or with shares of the "
            "text, as FIRE's.",
        )
    else:
        yield Finding.wrong(
            f"The same offset gets values that differ by up to {spread:.3g}.",
            "What is far apart is then not the same at the beginning and the end.",
            "Compute it from key position minus query position.",
        )


def reach(bias: Bias) -> Findings:
    """Do far offsets keep a bias of their own, or that of the farthest?"""
    for side in (bias.past, bias.by_offset[:, bias.count - 1 :]):
        at = np.flatnonzero(np.isfinite(side).all(axis=0))
        rows = side[:, at].T.astype(np.float32)  # a mean may be off by a digit
        new = np.r_[True, (np.diff(rows, axis=0) != 0).any(axis=1)][: len(at)]
        again = first_repeat(torch.from_numpy(rows[new])) if new.sum() > 1 else None
        if again:
            at = at[new]
            yield Finding.wrong(
                f"At distance {at[again[0]]} the bias is that of distance "
                f"{at[again[1]]}, and between them it is another.",
                "What is far is taken for what is near: a table that wraps round, or "
                "an integer too small. A period that is meant is no fault.",
            )
            return
    yield Finding.fact("No far offset is taken for a near one.", "Good.")


def slopes(bias: Bias) -> Findings:
    """A straight line in each head? Which slopes?"""
    lines = np.diff(bias.past, axis=1)
    size = np.nanmax(np.abs(lines))
    ahead = bias.by_offset[:, bias.count :]
    if not size and (np.nanmax(ahead, axis=1) > np.nanmin(ahead, axis=1)).any():
        yield Finding.wrong(
            "All keys before the query get one number, those after it do not.",
            "Under a causal mask no key is told from another: queries and keys are "
            "swapped.",
        )
    if np.isnan(lines).any() or np.ptp(lines, axis=1).max() > CLOSE * size or not size:
        return
    slope = -lines.mean(axis=1)
    if (slope < 0).any():
        yield Finding.wrong(
            f"In {int((slope < 0).sum())} of {len(slope)} heads the bias grows with "
            "the distance.",
            "The farthest word wins: the distance has the wrong sign.",
            "-slope * distance.",
        )
        return
    heads = len(slope)
    paper = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    known = {
        "as in Press et al. (2022)": alibi_slopes(heads),
        "the paper's formula, whatever the number of heads": paper,
    }
    name = next((n for n, s in known.items() if np.allclose(slope, s, rtol=CLOSE)), "")
    yield Finding.fact(
        f"ALiBi: {heads} slopes from {slope.max():.4g} to {slope.min():.4g}, "
        f"{name or 'of its own' if heads == 1 or np.ptp(slope) else 'all the same'}.",
        "A head of slope m looks about 1/m words back; other slopes are another model.",
    )


def buckets(bias: Bias) -> Findings:
    """Steps? Which buckets?"""
    known = bias.by_offset
    offsets = np.arange(1 - bias.count, bias.count)
    seen = np.asarray(np.isfinite(known).all(axis=0))
    same = np.asarray((np.abs(np.diff(known, axis=1)) < 1e-9).all(axis=0))
    if not same[seen[1:] & seen[:-1]].any():
        return
    for number, distance, causal in itertools.product(
        (32, 16, 64, 8), (128, 64, 256, 20), (True, False)
    ):
        if distance <= number // (2 if causal else 4):
            continue
        bucket = t5_buckets(
            offsets, num_buckets=number, max_distance=distance, causal=causal
        )
        for way, given in (("", bucket), (" (keys and queries swapped)", bucket[::-1])):
            if _agree(known[:, seen], given[seen]):
                after = torch.from_numpy(known[:, bias.count])  # offset 1
                if not causal and any(  # T5's row 1 is of offset -1
                    p.shape == (number, len(after)) and close(p[1].double(), after)
                    for p in bias.make().parameters()
                ):
                    way = " (keys and queries swapped)"
                yield _of_t5(number, distance, causal=causal, way=way)
                return
    edges = offsets[1:][~same & seen[1:] & seen[:-1]]
    alike = " Before and after alike." if np.allclose(known, known[:, ::-1]) else ""
    yield Finding.fact(
        f"Steps of its own, at offsets {', '.join(map(str, edges[:12]))} ...{alike}",
        "T5's weights fit T5's steps alone.",
    )


def _agree(values: Array, bucket: NDArray[np.int64]) -> bool:
    """Whether offsets have one value exactly where they share a bucket."""
    named = np.unique(np.round(values, 6), axis=1, return_inverse=True)[1].ravel()
    both = np.unique(np.stack([named, bucket]), axis=1).shape[1]
    return bool(both == len(np.unique(named)) == len(np.unique(bucket)))


def _of_t5(number: int, distance: int, *, causal: bool, way: str) -> Finding:
    direction = "for a causal mask" if causal else "for both directions"
    text = f"T5's {number} buckets up to distance {distance}, {direction}{way}."
    if way:
        return Finding.wrong(text, "What is before is treated as what is after.",
            "The offset is the key's position minus the query's.",
        )  # fmt: skip
    return Finding.fact(text, "Weights fit these steps alone.")


def mask(bias: Bias) -> Findings:
    """Does a mask hide what must be seen?"""
    hidden = np.isnan(bias.values)
    if not hidden.any():
        return
    heads, at = hidden.shape[0], np.arange(bias.count)
    for back, words in ((0, "the word itself"), (1, "the word before")):
        gone = hidden[:, at[back:], at[back:] - back].any(axis=1).sum()
        if gone:
            yield Finding.wrong(
                f"In {gone} of {heads} heads the mask hides {words}.",
                "A query that must not attend to a near key learns little of its text.",
                "Hide keys after the query, or those outside of a window around it.",
            )
            return
    later = hidden[:, at[:-1], at[1:]].all()
    yield Finding.fact(
        "Later keys are hidden." if later else "Some keys are hidden.",
        "A second mask changes nothing.",
    )


def widths(bias: Bias) -> Findings:
    """As many heads as it is asked for?"""
    counts = {}
    for heads in (1, 6, 12):
        other = replace(bias, probe=bias.probe.at_width(heads))
        with contextlib.suppress(Exception):  # an error that says so
            counts[heads] = len(other.of(other.probe.make(), SHORT, SHORT))
    bad = [heads for heads, count in counts.items() if count % heads]
    if bad and len({*counts.values()}) > 1:  # else it has heads of its own
        yield Finding.wrong(
            f"Built for {bad[0]} heads it returns {counts[bad[0]]}.",
            "Scores of that many heads do not fit, or the wrong ones are cut off.",
            "Make one slope, or one column, for each head.",
        )
    else:
        yield Finding.fact("As many heads as asked for, or an error.", "As it should.")


def cache(bias: Bias) -> Findings:
    """The last query alone, as with a cache: its own row?"""
    module = bias.make()
    try:
        one = bias.of(module, 1, SHORT)
    except Exception:  # it takes one length
        return
    whole = bias.of(module, SHORT, SHORT)
    if one.shape[-2:] != (1, SHORT):
        return
    found = [t for t in range(SHORT) if close(one[:, 0], whole[:, t])]
    if SHORT - 1 in found:
        yield Finding.fact(
            "One query among more keys is the last one.", "As a cache needs."
        )
    elif 0 in found:
        yield Finding.fact(
            "One query among more keys is taken for the first one.",
            "With a cache, take the last row of the whole bias.",
        )
    else:
        yield Finding.wrong(
            f"One query among {SHORT} keys gets "
            + (f"the row of query {found[0]}." if found else "the row of no query."),
            "Decoding word by word scores different offsets from training.",
            "The query is at position keys - 1, the keys at 0, 1, ...",
        )


def gradient(bias: Bias) -> Findings:
    """Are its weights trained?"""
    module = bias.make()
    trained = {n: p for n, p in module.named_parameters() if p.requires_grad}
    if not trained:
        return
    output = bias.call(module, SHORT, SHORT)
    if output.requires_grad:
        output[output > MASKED].sum().backward()
    idle = [n for n, p in trained.items() if p.grad is None or not p.grad.any()]
    if len(idle) == len(trained):
        yield Finding.wrong(
            f"No gradient reaches {', '.join(idle)}.",
            "The bias keeps its first numbers, and no error says so.",
            "Do not use .data, .detach() or no_grad around the bias.",
        )
    else:
        yield Finding.fact("Its weights are trained.", "As it should.")


def half(bias: Bias) -> Findings:
    """In 16 bits, still one value for each offset?"""
    size = float(np.nanmax(np.abs(bias.values)))
    spread = spread_by_offset(bias.values) > CLOSE * size
    if bias.free or (spread and not bias.as_rows):
        return
    for words in ("After .bfloat16()", "After .bfloat16().float()"):
        module = bias.make().bfloat16()
        module = module.float() if "float()" in words else module
        try:
            found = as_numpy(bias.of(module, COUNT, COUNT))
        except RuntimeError:  # a mixture of dtypes: an error that says so
            continue
        if spread:
            if (np.diff(found[:, -1])[np.diff(bias.values[:, -1]) != 0] == 0).any():
                yield Finding.wrong(
                    f"{words} neighbouring keys get one number.",
                    "8 bits are too few for a slope times the position of the key.",
                    "Multiply key - query, or return the bias in float32.",
                )
            return
        low, high = ends_by_offset(np.where(np.isnan(bias.values), np.nan, found))
        share = (high - low) / np.maximum(np.maximum(abs(low), abs(high)), 1e-30)
        if np.nanmax(share) > 4 * torch.finfo(torch.bfloat16).eps:
            at = int(np.nanargmax(share.max(axis=0))) + 1 - bias.count
            yield Finding.wrong(
                f"{words} the values at offset {at} differ by {np.nanmax(share):.0%}.",
                "Positions are counted in bfloat16, which has no odd number after 256.",
                "Count positions as integers, and convert the bias last.",
            )
            return
    yield Finding.fact("In bfloat16 an offset has one value.", "As it should.")


BIAS_CHECKS: dict[str, Callable[[Bias], Findings]] = {
    "offset": offset,
    "slopes": slopes,
    "buckets": buckets,
    "reach": reach,
    "mask": mask,
    "cache": cache,
    "widths": widths,
    "half": half,
    "device": state.device,
    "meta": state.meta,
    "state_dict": state.state_dict,
    "determinism": state.determinism,
    "history": state.history,
    "gradient": gradient,
}
