"""The checks of rotary modules: how they turn, how fast, and whether it shows."""

import contextlib
from collections.abc import Callable, Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pe_lib.check import rotary_calls, state
from pe_lib.check.longest import first_repeat
from pe_lib.check.offsets import picture_width
from pe_lib.check.probe import noise
from pe_lib.check.recognition import HARMFUL, lost_by_float32
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.shapes import wrong_axes
from pe_lib.check.speeds import CLOSE, exact_speeds, numbers_of, recognize_speeds
from pe_lib.check.tensors import as_numpy, close
from pe_lib.check.turner import FAR, Turner

Array = NDArray[np.float64]

AUTOCAST = "Under autocast to bfloat16"
LAYOUTS = {
    "interleaved": "interleaved: numbers 2j and 2j + 1 are a pair",
    "half_split": "half-split: numbers j and j + half the width are a pair",
}


def axes(turner: Turner) -> Findings:
    """Along which axis of x does it count?"""
    words = turner.call.axes
    if not words:
        return
    yield from wrong_axes(turner.probe, words)
    at = words.strip("[]").split(", ").index("length")
    yield Finding.fact(
        f"x is {words}; it counts along axis {at}.",
        "With the axes in another order heads or sentences are turned by their number, "
        "words not at all, and no error says so.",
    )


def norm(turner: Turner) -> Findings:
    """Are vectors as long as before?"""
    x = noise(turner.count, turner.probe.d_model)
    factors = as_numpy(turner.turn(x).norm(dim=1) / x.norm(dim=1))
    spread = float(np.ptp(factors) / factors.mean())
    if spread > CLOSE and 0 < len(turner.pairs) * 2 < turner.probe.d_model:
        factors = np.abs(turner.hands).ravel()
        spread = float(np.ptp(factors) / factors.mean())
    if spread > CLOSE and turner.lost and turner.disagreement < CLOSE:
        yield Finding.wrong(
            "Vectors that differ come back as one: a part of x is lost.",
            "What the queries and keys say there, no score can see.",
        )
    elif spread > CLOSE and turner.disagreement < CLOSE:
        yield Finding.fact(
            f"Norms change by {spread:.0%}; scores depend on the offset alone.",
            "As in xPos, where queries grow as keys shrink."
            if turner.grown
            else "The numbers have factors of their own, the same at each position.",
        )
    elif spread > CLOSE:
        yield Finding.wrong(
            f"The norm of a vector changes by {spread:.0%} on the way.",
            "What turns must keep norms; scores then depend on more than the offset.",
            "Take cosine and sine of the same angle, and one pairing for both."
            if turner.grown and not turner.even
            else "",
        )
    else:
        times = float(factors.mean())
        more = "" if abs(times - 1) < CLOSE else f", times {times:.4g}"
        yield Finding.fact(
            f"Norms stay{more}.", "A factor other than 1 is a temperature."
        )


def relative(turner: Turner) -> Findings:
    """Does the score depend on the offset alone, and no value on its position?"""
    given = turner.inputs()
    turned = turner.probe.call(turner.make(), *given)
    if turner.call.tensors == 2 and len(turned) == 3 and not close(turned[2], given[1]):
        yield Finding.wrong(
            "The values are turned as well.",
            "What attention sums up then depends on more than the offset.",
            "Turn queries and keys alone.",
        )
    off = turner.disagreement
    if not off > CLOSE:
        yield Finding.fact("The score depends on the offset alone.", "As it should.")
        return
    if grid := picture_width(turner.scores, CLOSE):
        yield Finding.fact(
            f"The score depends on the offset in a picture {grid} wide.",
            "Rows and columns have angles of their own.",
        )
    else:
        seen, fix = _cause(turner)
        yield Finding.wrong(
            f"Two words the same way apart get scores that differ by up to "
            f"{off:{'.0%' if off >= 0.01 else '.1%'}}.{seen}",
            "The promise of a rotary encoding is that only the offset counts.",
            fix,
        )


def _cause(turner: Turner) -> tuple[str, str]:
    """What else was seen where scores depend on more than the offset; and the fix."""
    rows = noise(turner.count, turner.d_model)
    keys = turner.turn(rows, part=len(turner.parts) - 1)
    if close(keys, rows):
        return " The keys are not turned.", "Turn them by the angles of the queries."
    if close(turner.turn(keys), rows):
        return " The keys turn the other way.", "Turn both by the same angles."
    if turner.grown and not turner.even:
        return "", (
            "Cosines and sines of one layout, the rotation of the other: repeat each "
            "frequency twice in a row for pairs of neighbours, the whole list twice "
            "for halves."
        )
    return "", ""


def apart(turner: Turner) -> Findings:
    """Are vectors turned otherwise at each position?"""
    if not turner.pairs:
        return
    row, most = noise(1, turner.d_model), min(10_000, 2**20 // turner.d_model)
    rows = _as_long_as_it_takes(turner, row, (most, 1000, turner.count))[1]
    again = first_repeat(rows)
    if again and 1e-30 < float(rows[again[0]].norm()) < torch.inf:  # xPos shrinks
        yield Finding.wrong(
            f"At position {again[0]:,} vectors are turned as at {again[1]:,}.",
            "The model cannot tell the two apart, and no error says so.",
        )
    else:
        yield Finding.fact("No two positions turn alike.", "As it should.")


def pairing(turner: Turner) -> Findings:
    """Which numbers turn together?"""
    dim, turned = turner.probe.d_model, 2 * len(turner.pairs)
    rest = f"; {dim - turned} of {dim} numbers stand still" if turned < dim else ""
    if turner.open_pairing and turner.pairs:
        yield Finding.fact(
            f"Left open: cosines and sines have one column per pair{rest}.",
            "The code that turns with them chooses; the checks took halves.",
        )
    elif not turner.pairs:
        yield Finding.wrong(
            "Nothing turns: all positions have the same cosines and sines.",
            "Without a mask the model cannot tell the order, and no error says so.",
            "Check how positions and frequencies are multiplied.",
        )
    elif (
        turner.layout
        and abs(np.abs(np.angle(turner.hands[0])) - np.pi / 2).max() < CLOSE
    ):
        yield Finding.wrong(
            "The first position turns each pair by a quarter turn: cosine and sine are "
            "swapped.",
            "Weights of any published model are wrong for it.",
            "x * cos + rotate_half(x) * sin.",
        )
    elif turner.layout:
        clockwise = ", turning clockwise" if turner.speeds[0] < 0 else ""
        yield Finding.fact(
            f"{LAYOUTS[turner.layout]}{rest}{clockwise}.",
            "Weights trained with one pairing are wrong for the other, and at offset "
            "1 it hardly shows.",
        )
    else:
        yield Finding.fact(
            f"A pairing of its own{rest}.",
            "Weights trained with a different pairing are wrong for it.",
        )


def frequencies(turner: Turner) -> Findings:
    """How fast do the pairs turn?"""
    if not turner.layout:
        return
    if not turner.even:
        yield Finding.fact(
            "The angles are not multiples of the position.",
            "Weights trained with others are wrong for them.",
        )
        return
    speeds = np.abs(turner.speeds)
    if len(speeds) > 2 and np.ptp(speeds) < CLOSE * speeds.max():
        yield Finding.wrong(
            f"All pairs turn at one speed, {speeds.max():.4g} a position.",
            "After one full turn what is far is taken for what is near.",
            "base ** (-2j / dim), the quotient in floating point.",
        )
        return
    name = recognize_speeds(speeds, turner.probe.d_model)
    yield Finding.fact(f"{name}." if name else
        f"Frequencies of its own, from {speeds.max():.4g} to {speeds.min():.4g}.",
        "Weights trained with one list of frequencies are wrong for another.",
    )  # fmt: skip


def accuracy(turner: Turner) -> Findings:
    """How far from the true angle, far from the beginning?"""
    if not turner.layout or not turner.even:
        return
    known = numbers_of(turner.probe.make())
    speeds, unsure = exact_speeds(np.abs(turner.speeds), turner.probe.d_model, known)
    if turner.longer_texts[0]:
        return
    first = [a for a, _ in turner.pairs]
    row = torch.zeros(turner.probe.d_model)
    row[first] = 1.0
    measured, harmful, lost = [], [], 0
    for length in FAR:
        if unsure * length > HARMFUL or length > turner.longer_texts[1]:
            break
        turned = as_numpy(turner.turn(row.repeat(length, 1)))[-1]
        hands = turned[first] + 1j * turned[[b for _, b in turner.pairs]]
        size = np.abs(hands)
        if size.min() < 1e-30:  # shrunk to nothing, as in xPos
            break
        angles = (length - 1) * speeds * np.sign(turner.speeds)
        angles += np.angle(turner.hands[0])  # positions may begin at 1
        error = float(np.abs(hands / size - np.exp(1j * angles)).max())
        measured.append(f"{length:,}: {error:.1e}")
        if lost_by_float32(error, length):
            lost = lost or length
        elif not error < HARMFUL + unsure * length:
            harmful.append(length)
    if harmful:
        yield Finding.wrong(
            f"Largest error before position {'; '.join(measured)}.",
            f"At {harmful[0]:,} it shows in every dtype: words turn by other angles.",
        )
    elif measured:
        yield Finding.fact(f"Largest error before position {'; '.join(measured)}.",
            f"float32 angles are lost before {lost:,}: that shows in any dtype."
            if lost
            else "float32 angles lose a digit a power of ten.",
        )  # fmt: skip


def length(turner: Turner) -> Findings:
    """Do the first words of a long text turn as those of a short one?"""
    longer, taken, refusal = turner.longer_texts
    if longer:
        yield Finding.fact(
            f"A text of {longer:,} is turned by other angles from its first word on.",
            "Frequencies that depend on the length: keys that stay in a cache as a "
            "shorter text had them no longer fit the queries.",
        )
        return
    if taken:
        yield Finding.fact(
            "A longer text changes nothing at its first words.",
            f"Keys may stay in a cache. Tried up to {taken:,} words.",
        )
    if refusal:
        yield Finding.fact(
            f"It refuses {refusal}",
            "Choose its longest text for the longest that you will ever have.",
        )


def half(turner: Turner) -> Findings:
    """Is it still right in 16 bits?"""
    row = noise(1, turner.probe.d_model)
    length, usual = _as_long_as_it_takes(turner, row, (2048, 1000, turner.count))
    size = float(usual.abs().max())
    refused, right = [], []
    rows, far = row.repeat(turner.count, 1), torch.arange(257, 257 + turner.count)
    yield from state.counted_in_half(lambda k: turner.turn(rows.to(k), at=far))
    for words, module, rows in _in_16_bits(turner, row.repeat(length, 1)):
        try:
            with torch.autocast("cpu", torch.bfloat16, enabled=words == AUTOCAST):
                turned = turner.turn(rows, module).float()
        except (RuntimeError, TypeError, ValueError) as error:  # a mixture of dtypes
            refused.append(f"{words} it refuses: {first_line(error)}")
            continue
        off = (turned - usual).abs().amax(1) / size
        bad = torch.nonzero(~(off < 4 * torch.finfo(torch.bfloat16).eps))
        if len(bad):
            yield Finding.wrong(
                f"{words} position {int(bad[0])} is off by "
                f"{float(off[bad[0]]):.2g}, and what follows.",
                "Positions, frequencies or angles are rounded to 8 bits before they "
                "become a cosine.",
                "Keep frequencies and angles in float32, out of .to(dtype); convert "
                "cosine and sine last.",
            )
            return
        right.append(words)
    for what in refused:
        yield Finding.fact(what, "No other angles, and an error that says so.")
    if right:
        yield Finding.fact("In bfloat16 only the result is rounded.", "As it should.")


def _as_long_as_it_takes(
    turner: Turner, row: Tensor, lengths: tuple[int, ...]
) -> tuple[int, Tensor]:
    """The first length that is not refused, and a row turned at each place."""
    for length in lengths[:-1]:
        with contextlib.suppress(Exception):  # the check of lengths tells refusals
            return length, turner.turn(row.repeat(length, 1))
    return lengths[-1], turner.turn(row.repeat(lengths[-1], 1))


def _in_16_bits(
    turner: Turner, rows: Tensor
) -> Iterable[tuple[str, nn.Module, Tensor]]:
    short = rows.bfloat16()
    yield AUTOCAST, turner.probe.make(), rows
    yield "With x in bfloat16", turner.probe.make(), short
    yield "After .bfloat16()", turner.probe.make().to(torch.bfloat16), short
    yield (
        "After .bfloat16().float()",
        turner.probe.make().to(torch.bfloat16).float(),
        rows,
    )


ROTARY_CHECKS: dict[str, Callable[[Turner], Findings]] = {
    "axes": axes,
    "norm": norm,
    "relative": relative,
    "pairing": pairing,
    "frequencies": frequencies,
    "apart": apart,
    "length": length,
    "accuracy": accuracy,
    "half": half,
    "positions": rotary_calls.positions,
    "cache": rotary_calls.cache,
    "dtype": rotary_calls.dtype,
    "device": state.device,
    "meta": state.meta,
    "state_dict": state.state_dict,
    "determinism": state.determinism,
    "history": state.history,
    "input": state.input_,
    "gradient": rotary_calls.gradient,
    "training": rotary_calls.training,
}
