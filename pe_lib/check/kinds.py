"""Kinds of modules, and those that turn vectors or return a bias."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.probe import Probe, lengths_in, noise, parameters_of
from pe_lib.check.tables import Tables, tables_in
from pe_lib.check.tensors import close, differ

BATCH, HEADS = 2, 3
PICTURES = (16, 36, 49, 64, 196, 256)  # patches of a square one

Call = Callable[[nn.Module, Tensor], Any]


@dataclass(frozen=True)
class Kind:
    """What a module does with its input.

    Attributes
    ----------
    name : str
        What it does, in the words of a sentence that begins with "It".
    evidence : str
        What was seen.
    checks : "code", "rotary", "bias" or ""
        The family of checks that applies; none if it is out of their scope.
    probe : Probe or None
        How to ask for its encodings, where it has some.
    call : callable or None
        A rotary or bias module as a function of plain tensors.
    open_pairing : bool
        Cosines and sines with a column a pair: which numbers are a pair is not told.
    call_keys : callable or None
        The same for keys, where a rotary module takes queries and keys.
    """

    name: str
    evidence: str
    checks: str = ""
    probe: Probe | None = None
    call: Call | None = None
    open_pairing: bool = False
    call_keys: Call | None = None


def turning(probe: Probe) -> Kind | None:
    """One that turns x itself: linear, mixes columns, changes along the sequence.

    Whether it keeps norms is no part of it: a faulty rotation is one still.
    """
    if probe.axes not in ("batch", "sequence", "unbatched"):
        return None
    length = probe.few
    vector = noise(1, probe.d_model)[0]
    for axis in (1, 0):
        shape = [BATCH, BATCH, probe.d_model]
        shape[axis] = length
        x = vector.expand(shape).clone()
        if not _is_turn(lambda x: probe.call(probe.make(), x.clone()), x, axis):
            continue
        other = 1 - axis

        def call(module: nn.Module, rows: Tensor, other: int = other) -> Any:
            stacked = rows.unsqueeze(other)
            with torch.no_grad():
                return module(stacked).select(other, 0)

        words = ("[length, batch, dim]", "[batch, length, dim]")[axis]
        return Kind(
            "turns x", f"linear, mixes columns, changes along {words}", "rotary",
            probe, call,
        )  # fmt: skip
    return None


def _is_turn(apply: Callable[[Tensor], Any], x: Tensor, axis: int) -> bool:
    """Whether it is linear, changes along an axis, and mixes columns."""
    turned = apply(x)
    if not isinstance(turned, Tensor) or turned.shape != x.shape:
        return False
    if not differ(turned, axis) or not close(apply(-x), -turned):
        return False
    for column in range(x.shape[-1]):
        alone = torch.zeros_like(x)
        alone[..., column] = 1.0
        others = apply(alone)
        others[..., column] = 0.0
        if others.abs().max() > 1e-4:
            return True
    return False


def from_pair(probe: Probe, output: Any, arguments: tuple[Any, ...]) -> Kind | None:
    """Two tables, cosines and sines; else nothing that we know."""
    tables = tables_in(output, probe.d_model)
    if tables is None:
        return None

    def call(module: nn.Module, rows: Tensor) -> Any:
        where = [
            torch.arange(len(rows)).reshape((1,) * (given.ndim - 1) + (-1,))
            for given in arguments
        ]
        with torch.no_grad():
            return tables.turned(rows, module(rows.unsqueeze(0), *where))

    return of_tables(probe, tables, call)


def of_tables(probe: Probe, tables: Tables, call: Call) -> Kind:
    """The kind of one that returns cosines and sines."""
    return Kind(
        "returns cosines and sines",
        "two tables whose squares add up to one number",
        "rotary", probe, call, tables.shared,
    )  # fmt: skip


def takes_heads(probe: Probe) -> Kind | None:
    """A forward that takes queries, or queries and keys, of four axes."""
    lengths = (probe.few, *lengths_in(probe.make(), probe.d_model), *PICTURES)
    for length in lengths:
        fixed = probe if length == probe.few else replace(probe, fixed=length)
        found = _takes_so_many(fixed)
        if found is not None:
            return found
    return None


def _takes_so_many(probe: Probe) -> Kind | None:
    """The same, for one length."""
    vector = noise(1, probe.d_model)[0]
    x = vector.expand(BATCH, HEADS, probe.few, probe.d_model).clone()
    for tensors in (2, 1):
        for arguments in positions_beside(probe, x, taken=tensors):

            def apply(
                x: Tensor, tensors: int = tensors, arguments: Any = arguments
            ) -> Any:
                given = [x.clone() for _ in range(tensors)]
                output = probe.call(probe.make(), *given, *arguments)
                return output[0] if tensors == 2 else output

            for axis in (2, 1, 0):
                try:
                    if _is_turn(apply, x, axis):
                        return _of_heads(probe, tensors, axis, bool(arguments))
                except Exception:  # another form may do
                    break
    return None


def _of_heads(probe: Probe, tensors: int, axis: int, asks: bool) -> Kind:
    def turned(module: nn.Module, rows: Tensor, part: int) -> Any:
        shape = [1, 1, 1, rows.shape[-1]]
        shape[axis] = len(rows)
        x = rows.reshape(shape)
        where = [torch.arange(len(rows))[None]] if asks else []
        with torch.no_grad():
            output = module(*(x.clone() for _ in range(tensors)), *where)
        return (output[part] if tensors == 2 else output).reshape(rows.shape)

    words = (
        "[length, batch, heads, dim]",
        "[batch, length, heads, dim]",
        "[batch, heads, length, dim]",
    )[axis]
    name = "turns queries and keys" if tensors == 2 else "turns x"
    return Kind(
        name, f"linear, mixes columns, changes along {words}", "rotary", probe,
        call=functools.partial(turned, part=0),
        call_keys=functools.partial(turned, part=1) if tensors == 2 else None,
    )  # fmt: skip


def returns_bias(probe: Probe) -> Kind | None:
    """A forward that returns a number a head and pair of positions."""
    forms: tuple[Callable[[int], tuple[Any, ...]], ...] = (
        lambda n: (n,),
        lambda n: (n, n),
        lambda n: (torch.zeros(1, probe.d_model, n, n),),
    )
    for form in forms:
        try:
            output = probe.call(probe.filled_at_random(), *form(probe.few))
        except Exception:  # another form may do
            continue
        square = (probe.few, probe.few)
        if not isinstance(output, Tensor) or output.shape[-2:] != square:
            continue
        if not differ(output, -1):
            continue  # the same for all keys: nothing that a softmax would see

        def call(
            module: nn.Module,
            rows: Tensor,
            form: Callable[[int], tuple[Any, ...]] = form,
        ) -> Any:
            with torch.no_grad():
                bias = module(*form(len(rows)))
            return bias.reshape(-1, len(rows), len(rows))

        return Kind(
            "returns a bias for the scores",
            f"{name_of_input(form(probe.few)[0])} gives {list(output.shape)}",
            "bias", probe, call,
        )  # fmt: skip
    return None


def name_of_input(given: Any) -> str:
    if isinstance(given, Tensor):
        return f"a tensor {list(given.shape)}"
    return f"the length {given}"


def positions_beside(
    probe: Probe, x: Tensor, taken: int = 1
) -> Iterator[tuple[Tensor, ...]]:
    """Nothing; and positions, where forward asks for one argument more than x."""
    yield ()
    needed = [
        p
        for p in parameters_of(probe.make()).values()
        if p.default is p.empty and p.kind < p.VAR_POSITIONAL
    ]
    if len(needed) == taken + 1 and not _is_no_position(needed[-1].name):
        yield (torch.arange(x.shape[-2])[None],)
        yield (torch.arange(x.shape[-2]),)


def _is_no_position(name: str) -> bool:
    """Whether an argument is something else, by its name."""
    return any(word in name for word in ("mask", "len", "size", "shape", "grid"))
