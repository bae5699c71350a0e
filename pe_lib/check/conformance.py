"""Checks that tell whether a positional encoding module is right.

First it is found out what a module is; each kind has checks of its own. A check tests
one property and yields findings. The checks are independent of one another;
:func:`check_encoding` runs all that apply.
"""

import copy
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import torch

from pe_lib._arguments import as_callable, as_choice, as_integer, short_repr
from pe_lib.check import consistency, given, shapes, state, training, values
from pe_lib.check.biases import BIAS_CHECKS, Bias
from pe_lib.check.find import find_kind
from pe_lib.check.kinds import ROTARY_AXES, Kind
from pe_lib.check.probe import (
    AXES,
    CannotCallError,
    Probe,
    WrongOutputError,
    parameters_of,
)
from pe_lib.check.report import Finding, Findings, Report, first_line
from pe_lib.check.turner import Turner
from pe_lib.check.turning import ROTARY_CHECKS
from pe_lib.check.undisturbed import undisturbed
from pe_lib.check.wrapped import Build

Check = Callable[[Probe], Findings]

CHECKS: dict[str, Check] = {
    "axes": shapes.axes,
    "batches": consistency.batches,
    "convention": values.convention,
    "apart": consistency.apart,
    "widths": shapes.widths,
    "length": shapes.length,
    "prefix": consistency.prefix,
    "dtype": values.dtype,
    "accuracy": values.accuracy,
    "half": values.half,
    "positions": given.positions,
    "offset": given.offset,
    "rows": consistency.rows,
    "device": state.device,
    "meta": state.meta,
    "state_dict": state.state_dict,
    "determinism": state.determinism,
    "history": state.history,
    "input": state.input_,
    "gradient": state.gradient,
    "training": training.training,
}
IMAGE_CHECKS = {name: CHECKS[name] for name in (
    "batches", "apart", "dtype", "device", "meta", "state_dict", "determinism",
    "history", "input", "gradient", "training",
)} | {"grid": consistency.grid}  # fmt: skip


class Options(TypedDict, total=False):
    """What :func:`check_encoding` takes besides `build`."""

    d_model: int
    ignore: Collection[str]
    positions: str | None
    offset: str | None
    axes: str | None


HERE = Path(__file__).parent
NOT_THE_MODULE = (HERE, *(Path(str(m.__file__)).parent for m in (torch, np)))
IN_THE_MODULE = ("_call_impl", "_engine_run_backward")  # where torch calls it

FIRST = "determinism"
OUT_OF_SCOPE = "Nothing was checked: this kind is out of the checker's scope."


def check_encoding(
    build: Build,
    *,
    d_model: int = 64,
    ignore: Collection[str] = (),
    positions: str | None = None,
    offset: str | None = None,
    axes: str | None = None,
) -> Report:
    """Run a positional encoding module through all checks that apply.

    What it is is found by calling it: whether it adds an encoding to x or returns it,
    takes positions instead of x, turns x or queries and keys (rotary), returns cosines
    and sines, or a bias for the scores. Nothing in the module is changed, and no
    random state.

    Parameters
    ----------
    build : callable, or torch.nn.Module
        From a width to a new torch.nn.Module, whose forward takes x, a float tensor
        [batch, length, d_model] or with these axes in a different order. For rotary the
        width is that of a head, for a bias the number of heads. A module with
        a different signature needs a small wrapper. A module that is there already is
        copied, and checked at its one width.
    d_model : int
        The width to check, at least 1; that of the module, if there is one. Some
        checks try others as well.
    ignore : collection of str
        Checks that are left out, by name.
    positions, offset : str, optional
        The names of forward's arguments for positions and for the first position,
        where they are not among the usual ones.
    axes : str, optional
        The order of the axes that x has in your model, as the report prints it,
        "[batch, heads, length, dim]" for instance: another one is then wrong.

    Returns
    -------
    Report
        ``report.ok``: whether nothing is wrong. ``report.findings``: what was found,
        each with its reason and, where it is wrong, the way to fix it.
        ``report.kind``: what it does. ``report.convention``: the published convention.
        ``print(report)`` prints it. An exception in the module is a finding as well.

    Raises
    ------
    TypeError
        If `build` cannot be called, `d_model` is not an integer, or `ignore` is one
        word and no collection of words.
    ValueError
        If `d_model` is below 1 or not that of the module, there is no check of a name
        in `ignore`, or `axes` are none that a report prints.

    Examples
    --------
    A module that adds nothing gives every position the same encoding:

    >>> from torch import nn
    >>> report = check_encoding(lambda d_model: nn.Identity())
    >>> report.ok, report.wrong[0].check
    (False, 'axes')
    """
    bare, ignore = _as_probe(build, d_model, ignore, positions, offset, axes)
    name = getattr(build, "__name__", type(build).__name__)
    with undisturbed():
        try:
            name = type(bare.make()).__name__
            kind = find_kind(bare)
        except (Exception, SystemExit) as error:
            found = (_cannot_call(error, bare),)
            return Report(name, bare.d_model, "", None, found)
        checks, subject = _that_apply(kind)
        checks = {key: check for key, check in checks.items() if key not in ignore}
        findings = _run_all(checks, subject)
        if not kind.checks:
            why = f"Seen: {kind.evidence}."
            findings = [Finding("scope", "fact", OUT_OF_SCOPE, why)]
        try:
            match = kind.probe.match if kind.checks == "code" and kind.probe else None
        except (Exception, SystemExit):  # the checks have said so
            match = None
    convention = match.convention if match else None
    return Report(name, bare.d_model, kind.name, convention, tuple(findings))


def names_of_checks(build: Build, **options: Unpack[Options]) -> tuple[str, ...]:
    """The checks that apply to a module; none if it cannot be called.

    Parameters and errors as in :func:`check_encoding`.
    """
    bare, ignore = _as_probe(build, **options)
    with undisturbed():
        try:
            checks, _ = _that_apply(find_kind(bare))
        except (Exception, SystemExit):  # the report says why
            return ()
    return tuple(name for name in checks if name not in ignore)


def _as_probe(
    build: Build,
    d_model: int = 64,
    ignore: Collection[str] = (),
    positions: str | None = None,
    offset: str | None = None,
    axes: str | None = None,
) -> tuple[Probe, Collection[str]]:
    as_callable("build", build)
    d_model = as_integer("d_model", d_model, at_least=1)
    if axes is not None:
        as_choice("axes", axes, (*AXES.values(), *ROTARY_AXES))
    if isinstance(build, torch.nn.Module):
        build, ignore = _copies(build, d_model), {*_as_checks(ignore), "widths"}
    probe = Probe(
        build, d_model, "batch", takes_positions=positions, takes_offset=offset,
        takes_axes=axes,
    )  # fmt: skip
    return probe, _as_checks(ignore)


def _copies(module: torch.nn.Module, d_model: int) -> Build:
    """What "makes" a module that is there already, of its one width."""

    for name in ("d_model", "embedding_dim", "hidden_size", "head_dim"):
        width = getattr(module, name, d_model)
        if isinstance(width, int) and width != d_model:
            raise ValueError(
                f"d_model must be the module's {name}, {width}, got {d_model}"
            )

    def copy_of(width: int) -> torch.nn.Module:
        if width != d_model:
            raise ValueError(f"there is one module, of width {d_model}")
        return copy.deepcopy(module)

    return copy_of


def _as_checks(ignore: Collection[str]) -> Collection[str]:
    if isinstance(ignore, str):
        raise TypeError(
            f"ignore must be a collection of names, got {short_repr(ignore)}"
        )
    known = {*CHECKS, *ROTARY_CHECKS, *BIAS_CHECKS, *IMAGE_CHECKS}
    for name in ignore:
        if name not in known:
            raise ValueError(
                f"ignore must hold names of checks ({', '.join(sorted(known))}), "
                f"got {short_repr(name)}"
            )
    return ignore


def _that_apply(kind: Kind) -> tuple[dict[str, Callable[[Any], Findings]], Any]:
    """The checks of a kind, and what they test."""
    if kind.probe is None:
        return {}, None
    if kind.checks == "rotary":
        return ROTARY_CHECKS, Turner(kind.probe, kind.call)
    if kind.checks == "bias":
        return BIAS_CHECKS, Bias(kind.probe, kind.call)
    return IMAGE_CHECKS if kind.checks == "image" else CHECKS, kind.probe


def _run_all(
    checks: dict[str, Callable[[Any], Findings]], subject: Any
) -> list[Finding]:
    """What the checks find; where two calls differ, that alone, as all else follows."""
    if isinstance(subject, Turner):
        try:
            subject.codes(subject.make())
        except Exception as error:  # then it is something else
            why = f"It was taken for a rotary module, and then: {first_line(error)}"
            return [Finding("scope", "fact", OUT_OF_SCOPE, why)]
    first = _run(FIRST, checks[FIRST], subject) if FIRST in checks else []
    if any(found.severity == "wrong" for found in first):
        return first
    return [
        found
        for name, check in checks.items()
        for found in (first if name == FIRST else _run(name, check, subject))
    ]


def _run(name: str, check: Callable[[Any], Findings], subject: Any) -> list[Finding]:
    """What one check finds; if the module raises, that is the finding."""
    findings: list[Finding] = []
    try:
        findings += (replace(found, check=name) for found in check(subject))
    except (Exception, SystemExit) as error:
        if _is_of_the_module(error):
            found = Finding(
                name,
                "wrong",
                f"The module raised {first_line(error)}",
                "What other modules do without an error, this one cannot do.",
                "Call the module in the same way and follow the traceback.",
            )
        else:
            found = Finding(
                name,
                "fact",
                f"Not told: {first_line(error)}",
                "What came back is nothing that this check can read.",
            )
        findings.append(found)
    return findings


def _is_of_the_module(error: BaseException) -> bool:
    """Whether an error comes from the module, and not from looking at its answer."""
    if isinstance(error, WrongOutputError | SystemExit):
        return True
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(
        code.co_name in IN_THE_MODULE
        or not any(Path(code.co_filename).is_relative_to(at) for at in NOT_THE_MODULE)
        for code in codes
    )


def _cannot_call(error: BaseException, probe: Probe) -> Finding:
    d_model = probe.d_model
    try:
        takes = ", ".join(parameters_of(probe.make()))
    except Exception:  # it cannot be built
        takes = "..."
    cause = error.__cause__ if isinstance(error, CannotCallError) else error
    assert cause is not None
    if isinstance(error, CannotCallError):
        what = f"forward took x in no order of its axes: {first_line(cause)}"
    else:
        what = f"build({d_model}) raised {first_line(cause)}"
    return Finding(
        "call",
        "wrong",
        what,
        "Nothing else can be checked.",
        f"Wrap it: a module built from d_model alone whose forward takes one of what "
        f"was tried: x [2, 5, {d_model}], positions [5], the length 5, or queries and "
        f"keys [2, 3, 5, {d_model}]. In two lines: def forward(self, x): return "
        f"self.inner({takes}), made from x; or (self, q, k) for both turned; or "
        f"(self, queries, keys), two lengths, for a bias.",
    )
