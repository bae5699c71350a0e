"""The checks of the shapes that a module takes: axes, widths, lengths."""

import torch

from pe_lib.check.longest import LARGEST, LONG
from pe_lib.check.probe import AXES, Probe, multiplies
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import close

# What a module raises that refuses on purpose; anything else is an accident.
REFUSALS = (ValueError, TypeError, NotImplementedError, AssertionError)


def axes(probe: Probe) -> Findings:
    """Which axis is the sequence, and what comes back?"""
    if probe.alike:
        yield Finding.wrong(
            "Every position gets the same encoding.",
            "Without a mask the model cannot tell the order, and no error says so.",
            "Look at the slice of the table: pe[:, :length], not pe[:, length].",
        )
        return
    if probe.by_batch:
        yield Finding.wrong(
            "The sequences of a batch get different encodings for the same position.",
            "What a word means would depend on its neighbours in the batch.",
            "Make one table [length, d_model] and broadcast it over the batch.",
        )
    if probe.odd_shape:
        yield Finding.wrong(
            f"x [2, {probe.few}, {probe.d_model}] comes back as "
            f"{list(probe.odd_shape)}.",
            "No error says so, and the next layer gets a different shape from x.",
            "Broadcast the table over the batch: pe[:length] is added to the last two "
            "axes of x.",
        )
    if probe.without_x:
        yield _of_positions(probe)
        return
    x = probe.blank(probe.few)
    given, came = list(x.shape), list(probe.call(probe.make(), x).shape)
    if probe.gain != 0 and len(given) == 2 and given != came:
        yield Finding.wrong(
            f"x {given} comes back as {came}; with a batch it is refused.",
            "The length is taken from an axis that is not the sequence.",
            "Take it from x.shape[-2].",
        )
    yield from wrong_axes(probe, AXES[probe.axes])
    hint = {
        "sequence": " If yours is [batch, length, d_model], all words of a sequence "
        "get the same encoding.",
        "channels": " If yours is [batch, length, d_model], it fails, or gets the "
        "transposed table where length is d_model.",
    }.get(probe.axes, "")
    yield Finding.fact(
        f"x is {AXES[probe.axes]}.{hint}", "Another order of the axes raises no error."
    )
    if probe.filled:
        yield Finding.fact(
            "The parameters start alike; they were drawn at random for the checks.",
            "Before training all positions have the same encoding.",
        )
    yield _what_comes_back(probe)


def wrong_axes(probe: Probe, axes: str) -> Findings:
    """Where the order of the axes was given, is it this one?"""
    if probe.takes_axes and probe.takes_axes != axes:
        yield Finding.wrong(
            f"x is {axes} and not {probe.takes_axes}.",
            "Heads or sentences are counted in the place of words, and no error says "
            "so.",
            "Take the length, and the place of the encodings, from the axis of words.",
        )


def _of_positions(probe: Probe) -> Finding:
    """What one that takes no x gives for its positions."""
    codes = probe.codes(probe.make(), probe.few)
    times = torch.arange(probe.few)[:, None] * codes[1:2]
    if probe.few > 2 and close(codes, times):
        return Finding.fact(
            "It returns angles: each position times the frequencies.",
            "Sine and cosine are taken elsewhere; check that place as well.",
        )
    return Finding.fact(
        "It returns the encodings of positions.", "You add them to x yourself."
    )


def _what_comes_back(probe: Probe) -> Finding:
    gain = probe.gain
    if gain is None and multiplies(probe):
        what, why = "It returns x times the encoding.", "Order is told by the sizes."
        lost = (probe.codes(probe.make(), probe.few) == 0).sum(1)
        if lost.any():
            at = int(lost.argmax())
            return Finding.wrong(
                f"{what} At position {at} it makes {int(lost[at])} of {probe.d_model} "
                "numbers of x 0.",
                "What a word says there is lost, whatever it is.",
                "x + encoding, not x * encoding.",
            )
    elif gain is None:
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
    return Finding.fact(what, why)


def widths(probe: Probe) -> Findings:
    """Widths 1, 2, 3 and 7, where formulas divide by zero or do not fit."""
    length = probe.few
    bad: dict[str, list[str]] = {"nan": [], "crash": [], "refused": []}
    errors: dict[str, str] = {}
    for width in sorted({1, 2, 3, 7, probe.d_model}):
        try:
            other = probe.at_width(width)
            codes = other.codes(other.make(), length)
        except Exception as error:
            deliberate = width < 4 or isinstance(error, REFUSALS)
            kind = "refused" if deliberate else "crash"
            bad[kind].append(str(width))
            errors[kind] = first_line(error)
            continue
        if not torch.isfinite(codes).all():
            bad["nan"].append(str(width))
    if bad["nan"]:
        yield Finding.wrong(
            f"NaN or infinity at d_model = {', '.join(bad['nan'])}.",
            "It spreads through the whole model, and no error says so.",
            "Divide by max(d_model // 2 - 1, 1).",
        )
    if bad["crash"]:
        yield Finding.wrong(
            f"d_model = {', '.join(bad['crash'])} fails by accident: {errors['crash']}",
            "An odd width has one cosine fewer than sines; the message says nothing "
            "of d_model.",
            "Cut the cosines to d_model // 2 columns, or refuse with a ValueError that "
            "names d_model.",
        )
    if bad["refused"]:
        yield Finding.fact(
            f"d_model = {', '.join(bad['refused'])} is refused: {errors['refused']}",
            "Other conventions define these widths.",
        )
    if not any(bad.values()):
        yield Finding.fact("Odd and very small widths work.", "1, 2, 3 and 7, that is.")


def length(probe: Probe) -> Findings:
    """What happens past the longest length?"""
    if probe.fixed is not None:
        what = f"It takes sequences of {probe.fixed} positions and no others."
        why = "Texts are shorter or longer; padding all of them costs time."
        sizes = [n for p in probe.make().parameters() for n in p.shape]
        if any(0 <= n - probe.fixed < 8 for n in sizes):  # some for tokens before x
            yield Finding.fact(what, f"That suits pictures of one size. {why}")
        else:
            yield Finding.wrong(what, why, "Slice the table to the length of x.")
        return
    longest = probe.longest
    if not probe.alike and _repeats(probe):
        assert longest.repeats is not None
        later, earlier = longest.repeats
        yield Finding.wrong(
            f"Position {later:,} has the same encoding as position {earlier:,}.",
            "The model cannot tell the two apart, and no error says so.",
            "Refuse what is past the table, or compute it.",
        )
    lost = [n for n, end in longest.ends.items() if not torch.isfinite(end).all()]
    if lost:
        yield Finding.wrong(
            f"NaN or infinity at length {lost[0]:,}.",
            "It spreads through the whole model, and no error says so.",
            "Keep angles in float64, and numbers that are divided by away from 0.",
        )
    if longest.refusal:
        yield Finding.fact(
            f"It refuses more than {longest.length:,} positions: {longest.refusal}",
            "Choose the length of the table for the longest text you will ever have.",
        )
    else:
        more = "" if longest.length == LONG[-1] else "; more were not tried"
        yield Finding.fact(
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
