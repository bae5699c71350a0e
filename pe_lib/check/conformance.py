"""Checks that tell whether somebody's positional encoding module is right.

A check looks at one property of a module and yields findings. The checks are
independent of one another; :func:`check_encoding` runs them all.
"""

from collections.abc import Callable

from pe_lib._arguments import as_callable, as_integer
from pe_lib.check import shapes, state, values
from pe_lib.check.probe import Build, CannotCallError, Probe, make_probe, undisturbed
from pe_lib.check.report import Finding, Findings, Report, first_line

Check = Callable[[Probe], Findings]

CHECKS: dict[str, Check] = {
    "axes": shapes.axes,
    "convention": values.convention,
    "widths": shapes.widths,
    "length": shapes.length,
    "dtype": values.dtype,
    "accuracy": values.accuracy,
    "half": values.half,
    "positions": state.positions,
    "offset": state.offset,
    "device": state.device,
    "meta": state.meta,
    "state_dict": state.state_dict,
    "determinism": state.determinism,
    "history": state.history,
    "input": state.input_,
    "gradient": state.gradient,
}


def check_encoding(build: Build, *, d_model: int = 64) -> Report:
    """Run a positional encoding module through all checks.

    It is called with zeros, so that what comes back is the encoding, whether the
    module adds it to its input or returns it alone. Nothing in the module is changed,
    and no random state.

    Parameters
    ----------
    build : callable
        From a width to a new torch.nn.Module, whose forward takes x, a float tensor
        [batch, length, d_model] or with these axes in another order. A module with
        another signature wants a small wrapper.
    d_model : int
        The width to look at, at least 1. Some checks try others as well.

    Returns
    -------
    Report
        ``report.ok``: whether nothing is wrong. ``report.findings``: what was found,
        each with its reason and, where it is wrong, the way to fix it.
        ``report.convention``: the published convention. ``print(report)`` prints it.
        An exception in the module is a finding as well.

    Raises
    ------
    TypeError
        If `build` cannot be called or `d_model` is not an integer.
    ValueError
        If `d_model` is below 1.

    Examples
    --------
    A module that adds nothing gives every position the same encoding:

    >>> from torch import nn
    >>> report = check_encoding(lambda d_model: nn.Identity())
    >>> report.ok, report.wrong[0].check
    (False, 'axes')
    """
    as_callable("build", build)
    d_model = as_integer("d_model", d_model, at_least=1)
    name = getattr(build, "__name__", type(build).__name__)
    with undisturbed():
        try:
            probe = make_probe(build, d_model)
        except Exception as error:
            return Report(name, d_model, None, (_cannot_call(error, d_model),))
        findings = tuple(found for key in CHECKS for found in _run(key, probe))
        try:
            name = type(probe.make()).__name__
            match = probe.match
        except Exception:  # the checks have said so
            match = None
    convention = match.convention if match else None
    return Report(name, d_model, convention, findings)


def _run(name: str, probe: Probe) -> list[Finding]:
    """What one check finds; if it raises, that is the finding."""
    findings: list[Finding] = []
    try:
        findings += CHECKS[name](probe)
    except Exception as error:
        findings.append(
            Finding.wrong(
                name,
                f"The module raised {first_line(error)}",
                "What other modules do without an error, this one cannot do.",
                "Call the module in the same way and follow the traceback.",
            )
        )
    return findings


def _cannot_call(error: Exception, d_model: int) -> Finding:
    cause = error.__cause__ if isinstance(error, CannotCallError) else error
    assert cause is not None
    if isinstance(error, CannotCallError):
        what = f"forward took x in no order of its axes: {first_line(cause)}"
    else:
        what = f"build({d_model}) raised {first_line(cause)}"
    return Finding.wrong(
        "call",
        what,
        "Nothing else can be checked.",
        "Wrap it: a module that is built from d_model alone and whose forward takes "
        "x, zeros of shape [2, 5, d_model], and returns x + encoding or the encoding.",
    )
