"""A table of relations: the answer to one call is a part of the answer to another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from pe_lib.check.call import FEW, Array, Call, ForeignError, RefusedError, ShapeError
from pe_lib.check.kinds import Rotary
from pe_lib.check.reader import CLOSE, Reader
from pe_lib.check.report import ERROR, FAILED, NOTE, PASSED, UNCHECKED, WARNING, Finding
from pe_lib.check.tables import looks_like

SIXTEEN = {torch.bfloat16: "bfloat16", torch.float16: "float16"}
Cut = Callable[[Array], Array]
Pair = tuple[str, Call, Call, Cut]  # in words; its answer; is the cut of this answer


@dataclass(frozen=True)
class Relation:
    """A row of the table: each pair's first answer is what is cut from the second."""

    name: str
    level: str | Callable[[Reader], str]
    pairs: Iterable[Pair] | Callable[[Reader], Iterable[Pair]]
    fix: str = ""
    raises: str = FAILED  # or UNCHECKED: what it comes to if a call raises
    loose: float = CLOSE  # of the largest number


def at(where: Any) -> Cut:
    """What picks the answer for these positions, an index."""
    return lambda answer: answer[:, :, where]


WHOLE = at(slice(None))


def usually(words: str, **asked: Any) -> Callable[[Reader], Iterable[Pair]]:
    """A row in which the usual call is asked in one other way."""
    return lambda r: [(words, r.call(**asked), r.call(), WHOLE)]


def prefix(r: Reader) -> Iterator[Pair]:
    """A short input gets the first rows of a long one."""
    n = min(r.limit, 64)
    short = sorted({1, 2, 7, n // 2 + 1} & {*range(n)})
    most = (n, r.limit), (r.limit // 2 + 1, r.limit)  # no multiple of a piece
    for k, long in (*((k, n) for k in short), *most):
        words = f"In an input of length {k:,}, beside one of {long:,}"
        yield words, r.alone(k), r.alone(long), at(slice(k))


def batch(r: Reader) -> Iterator[Pair]:
    """Other numbers of sequences and heads; and each sequence as the first."""
    for content in (0, 3):
        words = "Of a sequence beside two others, not alone"
        yield words, r.call(content=content), r.call(batch=1, content=content), WHOLE
    ways = {f"With {n} sequences": {"batch": n} for n in (5, FEW + 2)}
    ways |= {"Beside the first of 3 sequences": {}}
    ways |= {"With 1 head": {"heads": 1}} if "heads" in r.axes else {}
    for words, given in ways.items():
        yield words, r.call(**given), r.call(), lambda a: a[:1, :1]
    yield "Of 3 sequences of one token", r.call(1), r.call(1, batch=1), WHOLE


def positions(r: Reader) -> Iterator[Pair]:
    """Positions in another order, some of them, and each sequence's own."""
    n, last, rest = FEW, r.limit - 1, r.call().batch - 2
    there, back = (*range(n),), (*range(n - 1, -1, -1),)
    words, later = f"Where positions are 1, 2, ..., {n - 1}", there[1:]
    yield words, r.call(n - 1, positions=later), r.call(), at(slice(1, n))
    words = f"Where positions are {n - 1}, ..., 1, 0"
    yield words, r.call(positions=back), r.call(), at(slice(None, None, -1))
    few = r.call(3, positions=(0, 5, last))
    words, long = f"Where positions are 0, 5, {last}", r.alone(last + 1)
    yield words, few, long, at([0, 5, last])
    if rest < 0:  # what is wrong with a batch is told
        return
    order = [*range(0, n, 2), *range(1, n, 2)]
    mixed = tuple(there[i] for i in order)
    each = r.call(positions=(there, mixed, *[there] * rest))

    def second(a: Array) -> Array:
        return np.concatenate([a[:1], at(order)(a[:1]), *[a[:1]] * rest])

    yield "Where the second sequence has others", each, r.call(), second


def offsets(r: Reader) -> Iterator[Pair]:
    """From other positions on, to the end of the range; and after one another."""
    if "positions" in r.failed and not r.offset:
        raise RefusedError("what is wrong with positions comes first")
    far = ((r.limit // 2, 2), (r.limit - 2, 2))
    for start, n in ((1, 2), (4, 3), (5, 2), *far, (1, 1)):
        long = r.alone(r.limit) if start > 5 else r.call(8)
        cut = at(slice(start, start + n))
        words = "A single token, unlike more, from" if n == 1 else "From"
        yield f"{words} offset {start:,}", r.call(n, offset=start), long, cut
    for now, then in ((3, 0), (0, 3), (3, 1)):
        used = r.call(2, offset=now, history=(r.call(2, offset=then),))
        words = f"From offset {now}" if now else "Without an offset"
        yield f"{words}, after offset {then}", used, r.call(8), at(slice(now, now + 2))


def histories(r: Reader) -> Iterator[Pair]:
    """The usual call, after others; and a longer one after the usual."""
    earlier = {
        "the same one": r.call(),
        "a longer one": r.alone(r.limit),
        "a shorter one": r.call(2),
        "one of 5 sequences": r.call(batch=5),
        "one in training": r.call(mode="train"),
        "one from offset 5": r.call(offset=5),
        "one in bfloat16": r.call(dtype=torch.bfloat16),
    }
    for words, call in earlier.items():
        used = r.call(history=(call,))
        yield f"After {words} the usual call", used, r.call(), WHOLE
    long = r.call(min(r.limit, 2 * FEW + 5))
    words = "After the usual call a longer one"
    yield words, long.but(history=(r.call(),)), long, WHOLE


def rounded(r: Reader) -> Iterator[Pair]:
    """In 16 bits, and under autocast: the same, rounded."""
    usual = r.upto(1500)
    if any(isinstance(part, nn.Linear) for part in r.first.modules()):
        raise RefusedError("its layers round on their own")
    own = (*r.first.named_parameters(), *r.first.named_buffers())
    unreal = [n for n, t in own if t.is_complex()]
    lost = f", which loses the imaginary part of {', '.join(unreal)}" * bool(unreal)
    for kind, name in SIXTEEN.items():
        low = usual.but(dtype=kind)
        yield f"After .to({name}){lost}", low.but(cast=kind), usual, WHOLE
        yield f"In {name}", low, usual, WHOLE
    yield "Under autocast", usual.but(autocast=True), usual, WHOLE


def in_training(r: Reader) -> Iterator[Pair]:
    """In training mode, but for dropout."""
    for content in (0, 3):
        usual = r.call(content=content)
        yield "In training mode", usual.but(mode="train"), usual, WHOLE


def shifted(r: Reader) -> str:
    """In training a random shift may be meant, or what is drawn for x alone."""

    def drawn(content: int) -> bool:
        call = r.call(mode="train", content=content)
        return r.differ(r.answer(call.but(seed=1)), r.answer(call.but(seed=2)))

    meant = r.trained if drawn(0) else drawn(3)
    return NOTE if meant else ERROR


def checkpoints(r: Reader) -> Iterator[Pair]:
    """Of one that has seen a long input into a new one; of another into a used one."""
    used = r.call(via="a checkpoint", history=(r.alone(r.limit),))
    yield "Loaded from the checkpoint of a used one", used, r.call(), WHOLE
    other = r.call(via="other weights")
    words = "After a call, and then other weights loaded"
    if not r.failed:  # what changes from call to call is told
        yield words, other.but(history=(r.call(),)), other, WHOLE


RANDOM = "functional.dropout(training=self.training); what is drawn once, in a buffer."


def at_all_lengths(r: Reader) -> str:
    """Rotations that stretch with the input, past a length that the class says."""
    said = (n for n in r.numbers if type(n) is int and 2 < n < r.limit)
    short = ((r.answer(r.call(2)), r.answer(r.call(n))[:, :, :2]) for n in said)
    kept = isinstance(r, Rotary) and not all(r.differ(*both) for both in short)
    return WARNING if kept else ERROR


PREFIX = "Compute from positions 0, 1, 2, ... alone."
KEEP = "Keep nothing from call to call, or under a key of all that counts."
OFFSET = "Add the offset to the positions, and to the key of any cache."
HALF = "Angles in float32, from numbers that no cast rounds; convert last."
META = "Compute it again after to_empty, or in forward."
SAVED = "Keep nothing that a checkpoint changes; save what is drawn, not what grows."
LENGTH = "Count along the length alone; no reshape or repeat of another axis."
ORDER = "Compute from the positions of each sequence, in whatever order they come."
SOME = UNCHECKED, 2.0**-6
TRANSPOSED = usually("Of what was transposed", strides=True)
ON_META = usually("Built on meta, then filled from a checkpoint", via="meta")
RELATIONS = (
    Relation("random", ERROR, usually("With other random numbers", seed=7), RANDOM),
    Relation("state", ERROR, histories, KEEP),
    Relation("batch", ERROR, batch, LENGTH),
    Relation("prefix", at_all_lengths, prefix, PREFIX),
    Relation("strides", WARNING, TRANSPOSED, "reshape, not view."),
    Relation("positions", ERROR, positions, ORDER),
    Relation("offset", ERROR, offsets, OFFSET),
    Relation("training", shifted, in_training, "Leave the encodings alone."),
    Relation("half", WARNING, rounded, HALF, *SOME),
    Relation("meta", NOTE, ON_META, META, raises=UNCHECKED),
    Relation("state_dict", WARNING, checkpoints, SAVED),
)


def hold(relation: Relation, r: Reader) -> Finding:
    """What one row of the table comes to."""
    name, level, asked, why = relation.name, relation.level, 0, ""
    try:
        pairs = relation.pairs
        for case, call, other, cut in pairs(r) if callable(pairs) else pairs:
            try:
                want = cut(r.answer(other))
                got = r.answer(call)
            except RefusedError as error:
                why = f"{error}"
                continue
            except ForeignError as error:
                why = f"{case} it raises {error}"
                fix = relation.fix
                if isinstance(error, ShapeError):
                    r.failed.add("shape")
                    why = f"{case}: {error}"
                    fix = "Keep every axis, also where its length is 1; no squeeze()."
                cast = call.cast and not error.meant and "not implemented" not in why
                if relation.raises != UNCHECKED or cast or "overflow" in why:
                    told = ERROR if callable(level) else level
                    return Finding(name, FAILED, told, f"{why}.", fix)
                continue
            asked += 1
            got = got if name == "batch" and not call.content else got[: len(want)]
            got = got[:, : want.shape[1], : want.shape[2]]
            if r.differ(got, want, relation.loose):
                how = "the rows are as in the call before"
                if not is_kept(r, call, got):
                    how = looks_like(r, got, want, relation.loose)
                told = level(r) if callable(level) else level
                return Finding(name, FAILED, told, f"{case}: {how}.", relation.fix)
    except (RefusedError, ForeignError) as error:
        why = f"{error}"
    return Finding(name, PASSED) if asked else Finding(name, UNCHECKED, "", f"{why}.")


def is_kept(r: Reader, call: Call, got: Array) -> bool:
    """Whether it is what the call before it got."""
    if not call.history or r.refusal(call.history[-1]):
        return False
    before = r.answer(call.history[-1])[: len(got), :, : got.shape[2]]
    return before.shape[1:] == got.shape[1:] and not r.differ(got, before)
