"""The checks of the shapes that a module takes: axes, widths, lengths."""

import numpy as np
import torch

from pe_lib.check.longest import LARGEST, LONG
from pe_lib.check.probe import AXES, Probe
from pe_lib.check.recognition import HARMFUL, table
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import as_numpy, close

# What a module raises that refuses on purpose; anything else is an accident.
REFUSALS = (ValueError, TypeError, NotImplementedError, AssertionError)


def axes(probe: Probe) -> Findings:
    """Which axis is the sequence, and what comes back?"""
    if probe.alike:
        yield Finding.wrong(
            "axes",
            "Every position gets the same encoding.",
            "The model cannot tell the order of the words, and no error says so.",
            "Look at the slice of the table: pe[:, :length], not pe[:, length].",
        )
        return
    if probe.by_batch:
        yield Finding.wrong(
            "axes",
            "The sequences of a batch get different encodings for the same position.",
            "What a word means would depend on its neighbours in the batch.",
            "Make one table [length, d_model] and broadcast it over the batch.",
        )
    if probe.odd_shape:
        yield Finding.wrong(
            "axes",
            f"x [2, {probe.few}, {probe.d_model}] comes back as "
            f"{list(probe.odd_shape)}.",
            "No error says so, and the next layer gets a different shape from x.",
            "Broadcast the table over the batch: pe[:length] is added to the last two "
            "axes of x.",
        )
    if probe.without_x:
        yield _of_positions(probe)
        return
    hint = {
        "sequence": " If yours is [batch, length, d_model], all words of a sequence "
        "get the same encoding.",
        "channels": " If yours is [batch, length, d_model], it fails, or gets the "
        "transposed table where length is d_model.",
    }.get(probe.axes, "")
    yield Finding.fact(
        "axes",
        f"x is {AXES[probe.axes]}.{hint}",
        "Another order of the axes raises no error.",
    )
    if probe.filled:
        yield Finding.fact(
            "axes",
            "The parameters start alike; they were drawn at random for the checks.",
            "Before training all positions have the same encoding.",
        )
    yield _what_comes_back(probe)


def _of_positions(probe: Probe) -> Finding:
    """What one that takes no x gives for its positions."""
    codes = probe.codes(probe.make(), probe.few)
    times = torch.arange(probe.few)[:, None] * codes[1:2]
    if probe.few > 2 and close(codes, times):
        return Finding.fact(
            "axes",
            "It returns angles: each position times the frequencies.",
            "Sine and cosine are taken elsewhere; check that place as well.",
        )
    return Finding.fact(
        "axes", "It returns the encodings of positions.", "You add them to x yourself."
    )


def _what_comes_back(probe: Probe) -> Finding:
    gain = probe.gain
    if gain is None:
        what, why = (
            "The output is more than a multiple of x plus an encoding.",
            f"The checks looked at the output for x = {probe.level:g}.",
        )
    elif gain == 0:
        what, why = "It returns the encoding alone.", "You add it to x yourself."
    elif gain == 1:
        what, why = "It returns x + encoding.", "Do not add x a second time."
    else:
        what, why = (
            f"It returns {gain:g} x + encoding.",
            ("Scale the embeddings here or in the model, not twice."),
        )
    return Finding.fact("axes", what, why)


def widths(probe: Probe) -> Findings:
    """Widths 1, 2, 3 and 7, where formulas divide by zero or do not fit."""
    length = probe.few
    bad: dict[str, list[int]] = {"nan": [], "crash": [], "refused": []}
    errors: dict[str, str] = {}
    for width in sorted({1, 2, 3, 7, probe.d_model}):
        try:
            other = probe.at_width(width)
            codes = other.codes(other.make(), length)
        except Exception as error:
            deliberate = width < 4 or isinstance(error, REFUSALS)
            kind = "refused" if deliberate else "crash"
            bad[kind].append(width)
            errors[kind] = first_line(error)
            continue
        if not torch.isfinite(codes).all():
            bad["nan"].append(width)
    if bad["nan"]:
        yield Finding.wrong(
            "widths",
            f"NaN or infinity at d_model = {listed(bad['nan'])}.",
            "It spreads through the whole model, and no error says so.",
            "Divide by max(d_model // 2 - 1, 1).",
        )
    if bad["crash"]:
        yield Finding.wrong(
            "widths",
            f"d_model = {listed(bad['crash'])} fails by accident: {errors['crash']}",
            "An odd width has one cosine fewer than sines; the message says nothing "
            "of d_model.",
            "Cut the cosines to d_model // 2 columns, or refuse with a ValueError that "
            "names d_model.",
        )
    if bad["refused"]:
        yield Finding.fact(
            "widths",
            f"d_model = {listed(bad['refused'])} is refused: {errors['refused']}",
            "Other conventions define these widths.",
        )
    if not any(bad.values()):
        yield Finding.fact("widths", "Odd and very small widths work.", _odd(probe))


def _odd(probe: Probe) -> str:
    """What an odd width holds."""
    odd, match = probe.at_width(7), probe.match
    convention = probe.convention
    if match is None or convention is None:
        return "Widths 1, 2, 3 and 7 were tried."
    codes = as_numpy(odd.codes(odd.make(), probe.length))
    rows = range(len(codes))
    wider = table(convention, 8, rows)[:, :7]
    even = np.pad(table(convention, 6, rows), [(0, 0), (0, 1)])
    for ideal, words in (
        (table(convention, 7, rows), "its last sine has no cosine"),
        (even, "its last column is zero"),
        (wider, "it is the next even width without its last column"),
    ):
        if np.abs(codes / match.scale - ideal).max() < HARMFUL:
            return f"Where d_model is odd, {words}."
    return "An odd width has a layout of its own."


def length(probe: Probe) -> Findings:
    """What happens past the longest length?"""
    if probe.fixed is not None and not any(
        probe.fixed in p.shape for p in probe.make().parameters()
    ):
        yield Finding.wrong(
            "length",
            f"It takes sequences of {probe.fixed} positions and no others.",
            "Real sequences are shorter or longer; padding all of them costs time.",
            "Slice the table to the length of x.",
        )
        return
    if probe.fixed is not None:
        yield Finding.fact(
            "length",
            f"It takes sequences of {probe.fixed} positions and no others.",
            "That suits pictures of one size. Texts are shorter or longer: slice the "
            "table to the length of x.",
        )
        return
    longest = probe.longest
    if not probe.alike and _repeats(probe):
        assert longest.repeats is not None
        later, earlier = longest.repeats
        yield Finding.wrong(
            "length",
            f"Position {later:,} has the same encoding as position {earlier:,}.",
            "The model cannot tell the two apart, and no error says so.",
            "Refuse what is past the table, or compute it.",
        )
    lost = [n for n, end in longest.ends.items() if not torch.isfinite(end).all()]
    if lost:
        yield Finding.wrong(
            "length",
            f"NaN or infinity at length {lost[0]:,}.",
            "It spreads through the whole model, and no error says so.",
            "Keep angles in float64, and numbers that are divided by away from 0.",
        )
    if longest.refusal:
        yield Finding.fact(
            "length",
            f"It refuses more than {longest.length:,} positions: {longest.refusal}",
            "Choose the length of the table for the longest text you will ever have.",
        )
    else:
        more = "" if longest.length == LONG[-1] else "; more were not tried"
        yield Finding.fact(
            "length",
            f"It took {longest.length:,} positions{more}.",
            "A table that grows has no maximum; that a model copes with longer texts "
            "than it was trained on does not follow.",
        )


def _repeats(probe: Probe) -> bool:
    """Whether two rows that are equal at a small width are so at this one."""
    repeats = probe.longest.repeats
    if repeats is None or max(repeats) * probe.d_model > LARGEST:
        return repeats is not None
    try:
        codes = probe.codes(probe.make(), max(repeats) + 1)
    except Exception:  # longer than this width allows
        return False
    return bool((codes[repeats[0]] == codes[repeats[1]]).all())


def listed(widths: list[int]) -> str:
    """Numbers in words."""
    return ", ".join(map(str, widths))
