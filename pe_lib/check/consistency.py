"""The checks that compare rows, lengths or batches with each other."""

import contextlib

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.probe import Probe
from pe_lib.check.report import Finding, Findings
from pe_lib.check.tensors import as_numpy, close
from pe_lib.check.wrapped import inner_name

NEAR = 1 / 64  # of the usual distance between neighbours
MANY = 1000  # positions among which the nearest two are looked for


def batches(probe: Probe) -> Findings:
    """Are the encodings the same for one sentence, and for more than words?"""
    if probe.axes == "unbatched" or probe.alike:
        return
    length = probe.few
    usual = probe.codes(probe.make(), length)
    for batch in (1, length, 2 * length + 1):
        module = probe.make()
        output = probe.call(module, probe.blank(length, batch=batch))
        if not close(probe.rows(output, length), usual):
            yield Finding.wrong(
                f"A batch of {batch} gets other encodings than a batch of 2.",
                "With as many sentences as words the axes are confused, and no error "
                "says so.",
                "Take the length from the axis of the sequence, x.size(1) if the batch "
                "comes first.",
            )
            return
    yield Finding.fact(
        f"Batches of 1, 2, {length} and {2 * length + 1} get the same encodings.",
        "The size of a batch is no property of a sentence.",
    )


def prefix(probe: Probe) -> Findings:
    """Do the first positions of a long text get what those of a short one get?"""
    if probe.fixed is not None or probe.alike:
        return
    module, length = probe.make(), probe.length
    whole = probe.codes(module, length)
    parts = {n: probe.codes(module, n) for n in (2, 3, length // 2) if n < length}
    with contextlib.suppress(Exception):  # one word may be refused
        parts[1] = probe.codes(module, 1)
    changed = [n for n, part in parts.items() if not close(part, whole[:n])]
    if not changed:
        yield Finding.fact(
            "A longer text changes nothing at its first positions.",
            "Words that are decoded one by one keep their encodings.",
        )
    elif all(close(part, whole[-n:]) for n, part in parts.items()):
        yield Finding.fact(
            "It counts from the end of the text.",
            "Each further word changes the encodings of all words before it.",
        )
    elif _divides(probe, module):
        yield Finding.fact(
            "It divides by the length of the text.",
            "One step means something else in each text, and each further word "
            "changes the encodings of all words before it.",
        )
    else:
        yield Finding.wrong(
            f"The first {changed[0]} of {length} positions get other encodings than a "
            f"text of {changed[0]} words."
            if changed[0] > 1
            else "A word alone gets another encoding than the first of several.",
            "What a position is depends on how long the text is; decoding word by word "
            "gives other results than training.",
            "Compute row t from t alone.",
        )


def _divides(probe: Probe, module: nn.Module) -> bool:
    """Whether a position is a share of the text: its ends, or its cells, laid out."""
    few = probe.codes(module, 3)
    ends = close(few, probe.codes(module, 5)[::2])
    return ends or close(few, probe.codes(module, 9)[1::3])


def grid(probe: Probe) -> Findings:
    """Do the cells of an image get what those of a larger one get?"""
    module = probe.make()
    wide, small, large, few, odd = (
        probe.codes(module, rows * columns, columns=columns).reshape(rows, columns, -1)
        for rows, columns in ((5, 7), (7, 5), (9, 9), (3, 3), (5, 5))
    )
    shares = odd[::2, ::2], large[1::3, 1::3], large[2::3, 2::3]
    if close(large[:7, :5], small) and close(large[:5, :7], wide):
        yield Finding.fact(
            "A larger image changes nothing at its first cells.", "Good."
        )
    elif any(close(few, share) for share in shares) or (
        # what is learned is stretched: all cells change, or corners stay at corners
        [*module.parameters()]
        and not (
            close(small[:1, :1], large[:1, :1])
            and not close(small[-1:, -1:], large[-1:, -1:])
        )
    ):
        yield Finding.fact(
            "It is stretched to the image.", "A step differs with its size."
        )
    else:
        yield Finding.wrong(
            "Cells of 7 rows and 5 columns get other encodings than among 9 and 9.",
            "What a row is depends on the number of columns, or the other way round.",
        )


def apart(probe: Probe) -> Findings:
    """How near do the codes of two positions come?"""
    if probe.alike or probe.d_model < 4:
        return
    count = probe.fixed or min(MANY, probe.longest.length)
    codes = as_numpy(probe.codes(probe.make(), count))
    if count < 3 or not np.isfinite(codes).all():
        return
    squares = np.sum(codes**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * codes @ codes.T, 0) ** 0.5
    usual = float(np.median(np.diagonal(distances, offset=1)))
    rows, columns = np.triu_indices(count, k=1)
    at = int(np.argmin(distances[rows, columns]))
    left, right, least = rows[at], columns[at], distances[rows[at], columns[at]]
    what = (
        f"Of {count:,} positions {left} and {right} are the nearest: "
        f"{least / usual if usual else 0:.2g} of the distance between neighbours."
    )
    equal = bool((codes[left] == codes[right]).all())
    if equal and right - left == 1:  # a share of the text may be the same for two
        short = as_numpy(probe.codes(probe.make(), probe.few))
        equal = bool(np.abs(short - codes[: len(short)]).max() < 1e-4)
    if equal or (right - left > 1 and least < NEAR * usual):
        yield Finding.wrong(
            what,
            "They are equal: the model cannot tell the two apart."
            if equal
            else "In 16 bits, or with any noise, the model takes one for the other.",
            "Give each position a row of its own; of waves, the slowest far slower "
            "than a turn a text.",
        )
    else:
        yield Finding.fact(what, "What is near is hard to tell apart.")


def rows(probe: Probe) -> Findings:
    """Where the encodings are rows of a parameter: which, and are all trained?"""
    if probe.alike or probe.axes not in ("batch", "unbatched"):
        return
    module = probe.filled_at_random()
    found = _table_of(probe, module)
    if found is None:
        return
    name, parameter, taken = found
    length, height = len(taken), len(_as_table(parameter))
    untrained = _untrained(probe, module, parameter, taken)
    name, unused = inner_name(module, name), height - length
    shift = int(taken[0])
    in_order = bool((taken == torch.arange(length) + shift).all())
    if not in_order:
        some = ", ".join(map(str, taken[:4].tolist()))
        yield Finding.fact(
            f"Positions take rows {some}, ... of {name}.", "An order of its own."
        )
    if untrained:
        yield Finding.wrong(
            f"Position {untrained[0]} is row {int(taken[untrained[0]])} of {name}, "
            "which gets no gradient.",
            "That position always keeps its first encoding.",
            "No padding_idx in a table of positions, or one that no position takes.",
        )
    if in_order:
        more = f"; {unused} of {height:,} rows are never taken" if unused else ""
        yield Finding.fact(
            f"Position t is row t{f' + {shift}' if shift else ''} of {name}{more}.",
            "A checkpoint of a table that begins at a different row is off by as many."
            if shift or unused
            else "As one expects.",
        )


def _table_of(probe: Probe, module: nn.Module) -> tuple[str, Tensor, Tensor] | None:
    """The parameter whose rows the encodings are, its name, and the rows taken."""
    length = probe.fixed or min(probe.longest.length, 4096)
    try:
        codes = probe.codes(module, length)
    except Exception:  # longer than this width allows
        codes = probe.codes(module)
    for name, parameter in module.named_parameters():
        if parameter.ndim < 2 or not parameter.requires_grad:
            continue
        table = _as_table(parameter.detach())
        if table.shape[-1] != probe.d_model or len(table) < len(codes):
            continue
        taken = torch.cdist(codes.double(), table.double()).argmin(1)
        if close(codes, table[taken]):
            return name, parameter, taken
    return None


def _as_table(parameter: Tensor) -> Tensor:
    return parameter.reshape(-1, parameter.shape[-1])


def _untrained(
    probe: Probe, module: nn.Module, parameter: Tensor, taken: Tensor
) -> list[int]:
    """The positions whose rows get no gradient."""
    output = module(probe.blank(len(taken), batch=1))
    moved = torch.zeros(len(_as_table(parameter)), dtype=torch.bool)
    if output.requires_grad:
        (gradient,) = torch.autograd.grad(output.sum(), parameter, allow_unused=True)
        if gradient is not None:
            moved = _as_table(gradient.to_dense()).abs().sum(1) > 0
    return [t for t, row in enumerate(taken.tolist()) if not moved[row]]
