"""The checks of positions that a module is given: all of them, or the first one."""

import contextlib
import math

import numpy as np
import torch
from torch import Tensor, nn

from pe_lib.check.longest import LARGEST
from pe_lib.check.probe import Probe, first_position
from pe_lib.check.recognition import HARMFUL, table
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import as_numpy, close


def positions(probe: Probe) -> Findings:
    """Where it takes positions, are they the right ones?"""
    name = probe.positions
    if name is None:
        yield Finding.fact(
            "No argument for positions.", "Packed and left-padded batches need one."
        )
        return
    module, first = probe.make(), first_position(probe)
    usual = probe.codes(module)
    order = torch.arange(probe.length).flip(0)
    try:
        codes = probe.placed(module, order + first)
    except Exception as error:
        if probe.takes_positions:  # somebody said that this is its name
            raise
        yield Finding.fact(
            f"{name} = {probe.length - 1}, ..., 1, 0 is refused, as [length] and as "
            f"[batch, length]: {first_line(error)}",
            "Either it takes something else, or packed batches cannot be had.",
        )
        return
    if not close(codes, usual.flip(0)):
        yield Finding.wrong(
            f"{name} = {probe.length - 1}, ..., 1, 0 does not give the usual encodings "
            "in that order.",
            "Packed and left-padded sequences get the encodings of other positions.",
            f"Compute the encoding from {name}, in whatever order they come.",
        )
        return
    can = []
    apart, alike = _per_batch(probe, module, first)
    if apart:
        can.append("per batch")
    elif alike:
        yield Finding.wrong(
            f"{name} [batch, length]: each sequence gets those of the first.",
            "Packed and left-padded batches differ from sequence to sequence.",
            f"Take the row of each sequence, or refuse {name} of two axes.",
        )
    for words, value in (("fractional", 2.5), ("negative", -3)):
        try:
            at = torch.full((probe.length,), value) + first
            found = probe.placed(module, at)[0]
        except Exception:  # refused
            continue
        if _is_encoding_of(probe, found, value):
            can.append(words)
            continue
        other = _position_of(probe, module, found, value)
        if other is not None:
            yield Finding.wrong(
                f"{name} = {value:g} gets the encoding of position {other}.",
                f"A {words} position is silently taken for a different one.",
                "Compute it from the formula, or refuse it.",
            )
    yield Finding.fact(
        f"{name} is right{f', from {first} on' if first else ''}"
        f"{': also ' + ', '.join(can) if can else ''}.",
        "Packed and left-padded batches are possible.",
    )


def _per_batch(probe: Probe, module: nn.Module, first: int) -> tuple[bool, bool]:
    """Whether each sequence of a batch has its own positions; or the first's."""
    order = torch.arange(probe.length)
    both = torch.stack([order.flip(0), order]) + first
    try:
        output = probe.call(
            module, probe.blank(probe.length), **{str(probe.positions): both}
        )
        second = output[:, 1] if probe.axes == "sequence" else output[1]
        usual = probe.codes(module)
        alike = probe.axes == "batch" and close(second, usual.flip(0))
        return close(second, usual), alike
    except Exception:  # then it may not
        return False, False


def _position_of(
    probe: Probe, module: nn.Module, code: Tensor, value: float
) -> int | None:
    """The position whose code it gets, rounded, without its sign, from the end."""
    codes, longest = probe.codes(module), probe.longest
    if longest.refusal and longest.length * probe.d_model <= LARGEST:
        with contextlib.suppress(Exception):  # longer than this width allows
            codes = probe.codes(module, longest.length)
    near = (math.floor(value), math.ceil(value), 0, abs(int(value)))
    for at in (*(n for n in near if n >= 0), len(codes) + int(value)):
        if at < len(codes) and close(code, codes[at]):
            return at
    return None


def _is_encoding_of(probe: Probe, code: Tensor, position: float) -> bool:
    convention = probe.convention
    if convention is None or probe.match is None or probe.d_model % 2:
        return False
    ideal = table(convention, probe.d_model, [position])[0] * probe.match.scale
    return bool(np.abs(as_numpy(code) - ideal).max() < HARMFUL)


def offset(probe: Probe) -> Findings:
    """Where it takes the first position, is it the right one?"""
    name = probe.offset
    if name is None:
        yield Finding.fact(
            "No argument for the first position.",
            "Decoding word by word with a cache needs one.",
        )
        return
    module = probe.make()
    usual = probe.codes(module)
    wrong = not_counted_on(probe)
    words = [n for n in (1, 3) if n < len(usual)]
    alone = [
        n for n in words if not close(_from(probe, module, n, 1), usual[n : n + 1])
    ]
    if wrong and not alone:
        yield Finding.fact(
            f"{name} is right for one word at a time, and for one alone.",
            "Several words at once all get its encoding, or are refused.",
        )
    elif wrong:
        yield Finding.wrong(
            f"{name} = {wrong[0]} does not give the encodings from position {wrong[0]} "
            "on.",
            "Words that are decoded one by one get other encodings than in training.",
            f"Add {name} to the positions, and to the key of a cache.",
        )
    elif alone:
        yield Finding.wrong(
            f"{name} = {alone[0]} is right for two words, and not for one.",
            "A decoder asks for one word at a time.",
            "Let no short cut for one word forget the first position.",
        )
    else:
        yield Finding.fact(f"{name} is right.", "A key-value cache needs it.")


def not_counted_on(probe: Probe) -> list[int]:
    """First positions from which two words get other codes than from 0 on."""
    module = probe.make()  # one for all calls: it may keep what it must not
    usual = probe.codes(module)
    return [
        n
        for n in (1, 3)
        if n + 2 <= len(usual)
        and not close(_from(probe, module, n, 2), usual[n : n + 2])
    ]


def _from(probe: Probe, module: nn.Module, start: int, length: int) -> Tensor:
    """The codes from a position on; NaN if so many at once are refused."""
    try:
        return probe.codes(module, length, **{str(probe.offset): start})
    except Exception:
        if length == 1:
            raise
        return torch.full((length, probe.d_model), torch.nan)
