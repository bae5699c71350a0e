"""One call: build a module, say how it was called, run the checks of its kind."""

import copy
from collections.abc import Collection

from torch import nn

from pe_lib._arguments import as_callable, as_choice, as_integer, short_repr
from pe_lib.check import added, bias, rotary, shared
from pe_lib.check.call import (
    CannotCallError,
    ExitCalledError,
    ForeignError,
    WrongShapeError,
    isolated,
)
from pe_lib.check.registry import CHECKS, KINDS
from pe_lib.check.report import ERROR, Finding, Report
from pe_lib.check.rows import Rows
from pe_lib.check.scores import Bias
from pe_lib.check.subject import Make, Subject
from pe_lib.check.turns import Turns
from pe_lib.check.ways import Layout

FAMILIES = added, rotary, bias, shared  # importing them registers their checks
SUBJECTS: dict[str, type[Subject]] = {
    "added": Rows,
    "table": Rows,
    "rotary": Turns,
    "bias": Bias,
}


def check(
    make: Make | nn.Module,
    *,
    d_model: int,
    kind: str = "added",
    axes: str | None = None,
    positions: str | None = None,
    ignore: Collection[str] = (),
) -> Report:
    """Run a positional encoding module through the checks of its kind.

    Nothing in the module is changed, and no random state.

    Parameters
    ----------
    make : callable, or torch.nn.Module
        From a width to a new module. What functools.partial(Class, base=1000) says is
        meant, and no warning. A module that is there already is copied, and checked at
        its one width.
    d_model : int
        The width; of one head for "rotary", the number of heads for "bias".
    kind : "added", "table", "rotary" or "bias"
        What forward does: it takes x and returns x plus an encoding; it returns the
        encodings, for positions, a length or x; it rotates queries and keys, or
        returns cosines and sines; it returns a number for each head, query and key.
    axes : str, optional
        The axes of x, "batch length dim" for instance; "batch heads length dim" for
        rotary; "rows columns" instead of length on a grid; "batch length" if a table
        is asked for by token ids. Without it the usual orders are tried, and the report
        says which was taken.
    positions : str, optional
        The name of forward's argument for positions, or for the first one.
    ignore : collection of str
        Names of checks that are left out.

    Returns
    -------
    Report
        ``report.ok``, ``report.errors``, ``report.warnings``, ``report.recognised``;
        ``print(report)`` prints it. A module that cannot be built or called has
        ``report.ran`` False, and one finding, ``call``, says what would help.

    Raises
    ------
    TypeError
        If `make` cannot be called, `d_model` is no integer, or `ignore` is one word.
    ValueError
        If `d_model` is below 1, there is no such kind or check, or `axes` are none.

    Examples
    --------
    A module that adds nothing gives every position the same encoding:

    >>> from torch import nn
    >>> report = check(lambda d_model: nn.Identity(), d_model=8)
    >>> report.ok, report.errors[0].check
    (False, 'axes')
    """
    as_callable("make", make)
    d_model = as_integer("d_model", d_model, at_least=1)
    as_choice("kind", kind, KINDS)
    if axes is not None and "dim" not in Layout.of(axes).axes and kind != "table":
        raise ValueError(f"axes must name dim for kind {kind!r}, got {axes!r}")
    chosen = names_of_checks(kind, ignore)
    maker = _copies(make, d_model) if isinstance(make, nn.Module) else make
    name = getattr(make, "__name__", type(make).__name__)
    with isolated():
        try:
            subject = SUBJECTS[kind](maker, d_model, kind, axes, positions)
            found = _run_all(chosen, subject)
            told = subject.called, subject.recognised
            return Report(subject.name, kind, d_model, *told, found)
        except WrongShapeError as error:
            found = (Finding("shape", ERROR, error.flaw, error.fix),)
            return Report(name, kind, d_model, error.called, None, found)
        except (ForeignError, CannotCallError, ExitCalledError) as error:
            return Report(name, kind, d_model, "", None, (_not_called(error, d_model),))


def names_of_checks(kind: str, ignore: Collection[str] = ()) -> list[str]:
    """The names of the checks of a kind, but for those in `ignore`."""
    if isinstance(ignore, str):
        raise TypeError(
            f"ignore must be a collection of names, got {short_repr(ignore)}"
        )
    known = sorted({name for checks in CHECKS.values() for name in checks})
    for name in ignore:
        as_choice("ignore", name, known)
    return [name for name in CHECKS[kind] if name not in ignore]


def _run_all(names: list[str], subject: Subject) -> tuple[Finding, ...]:
    """What the checks find; of what is random, that alone: all else would follow."""
    found: list[Finding] = []
    for name in sorted(names, key=lambda name: name != "random"):
        try:
            run = CHECKS[subject.kind][name]
            found.extend(Finding(name, *parts) for parts in run(subject))
        except ForeignError as error:
            found.append(Finding(name, ERROR, f"{error.what} raises {error}."))
        if name == "random" and found:
            break
    return tuple(found)


def _copies(module: nn.Module, d_model: int) -> Make:
    """What "makes" a module that is there already, of its one width."""

    def copy_of(width: int) -> nn.Module:
        if width != d_model:
            raise ValueError(f"d_model must be {d_model}: there is one module")
        return copy.deepcopy(module)

    return copy_of


def _not_called(error: Exception, d_model: int) -> Finding:
    text, fix = str(error), ""
    if isinstance(error, ForeignError):
        text = f"make({d_model}) raised {error}."
        missing = text.partition("required positional argument")[2].split("'")
        if len(missing) > 1:
            name = missing[1]
            fix = f"Say --arg {name}=VALUE, or make=lambda d: Class(d, {name}=VALUE)."
    return Finding("call", ERROR, text, fix)


__all__ = ["check", "names_of_checks"]
