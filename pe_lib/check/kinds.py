"""Kinds of modules, and those that turn vectors or return a bias."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.probe import Probe, lengths_in, noise, parameters_of
from pe_lib.check.tables import Tables, tables_in, turned_by
from pe_lib.check.tensors import close, differ
from pe_lib.check.undisturbed import seed_all

BATCH, HEADS = 2, 3
ROTARY_AXES = (
    "[length, batch, heads, dim]",
    "[batch, length, heads, dim]",
    "[batch, heads, length, dim]",
    "[length, batch, dim]",
    "[batch, length, dim]",
)
PICTURES = (16, 36, 49, 64, 196, 256)  # patches of a square one

BiasCall = Callable[..., Any]
"""From a module, the numbers of queries and keys, and a device, to a bias."""


def _as_it_is(x: Tensor) -> Tensor:
    return x


@dataclass(frozen=True)
class Caller:
    """How a rotary module is called, and what it does to vectors."""

    # From vectors [batch, length, dim] to x as the module takes it, and back.
    lay: Callable[[Tensor], Tensor] = _as_it_is
    back: Callable[[Tensor], Tensor] = _as_it_is
    tensors: int = 1  # how many x: 2 for queries and keys, 0 for positions alone
    where: int | None = None  # axes of the positions that it needs; -1 for a length
    tables: Tables | None = None  # what it returns, if that is cosines and sines
    axes: str = ""  # those of x, in words; empty where it takes no x

    def inputs(self, vectors: Tensor, at: Tensor | None = None) -> list[Any]:
        """What forward is given for vectors [batch, length, dim]."""
        given: list[Any] = [self.lay(vectors).clone() for _ in range(self.tensors)]
        length = vectors.shape[1]
        if self.where is not None:
            at = torch.arange(length, device=vectors.device) if at is None else at
            more = self.where == 2 and at.ndim == 1
            given.append(length if self.where < 0 else at[None] if more else at)
        return given

    def turned(self, output: Any, vectors: Tensor, part: int = 0) -> Tensor:
        """The vectors turned, from the module's output; `part` 1 is the keys."""
        if self.tables is not None:
            batch, length, dim = vectors.shape
            rows = self.tables.rows(output)
            every = len(rows[0]) == batch * length
            flat = vectors if every else vectors[:, : len(rows[0])]
            parts = rows if every else tuple(row.repeat(batch, 1) for row in rows)
            return turned_by(flat.reshape(-1, dim), *parts).reshape(flat.shape)
        turned = output[part] if self.tensors == 2 else output
        return self.back(turned)

    def __call__(
        self,
        module: nn.Module,
        vectors: Tensor,
        *,
        part: int = 0,
        at: Tensor | None = None,
        **given: Any,
    ) -> Any:
        """Vectors [length, dim], or a batch of them, turned."""
        batch = vectors if vectors.ndim == 3 else vectors[None]
        turned = self.turned(module(*self.inputs(batch, at), **given), batch, part)
        return turned if vectors.ndim == 3 else turned[0]


@dataclass(frozen=True)
class Kind:
    """What a module does with its input."""

    name: str  # what it does, as a sentence that begins with "It"
    checks: str = ""  # that apply: of "code", "image", "rotary" or "bias"; or none
    probe: Probe | None = None  # how to ask for its encodings; None: out of scope
    call: Any = None  # a rotary module, or a bias, as a function of plain tensors
    evidence: str = ""  # what was seen of one that is out of scope


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
        words = ROTARY_AXES[3 + axis]
        lay = _as_it_is if axis else _swapped
        return Kind("turns x", "rotary", probe, Caller(lay, lay, axes=words))
    return None


def _swapped(x: Tensor) -> Tensor:
    return x.transpose(0, 1)


def _is_turn(call: Callable[[Tensor], Any], x: Tensor, axis: int) -> bool:
    """Whether it is linear, changes along an axis, and mixes columns."""

    def apply(x: Tensor) -> Any:
        seed_all(0)  # a random one is told by its own check
        return call(x)

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
    if tables.length not in (probe.few, BATCH * probe.few):
        raise TypeError("cosines and sines of something else than the words")
    where = arguments[0].ndim if arguments else None
    return of_tables(probe, Caller(where=where, tables=tables))


def of_tables(probe: Probe, call: Caller) -> Kind:
    """The kind of one that returns cosines and sines."""
    first = call.tables is None or call.tables.cosine_first
    name = "returns cosines and sines" if first else "returns sines, then cosines"
    return Kind(name, "rotary", probe, call)


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
                        where = arguments[0].ndim if arguments else None
                        return _of_heads(probe, tensors, axis, where)
                except Exception:  # another form may do
                    break
    return None


def _of_heads(probe: Probe, tensors: int, axis: int, where: int | None) -> Kind:
    heads = 1 if axis == 2 else 2  # the axis that vectors [batch, length, dim] lack

    def lay(x: Tensor) -> Tensor:
        return (_swapped(x) if axis == 0 else x).unsqueeze(heads)

    def back(x: Tensor) -> Tensor:
        x = x.squeeze(heads)
        return _swapped(x) if axis == 0 else x

    words = ROTARY_AXES[axis]
    name = "turns queries and keys" if tensors == 2 else "turns x"
    caller = Caller(lay, back, tensors, where, axes=words)
    return Kind(name, "rotary", probe, caller)


def returns_bias(probe: Probe) -> Kind | None:
    """A forward that returns a number a head and pair of positions."""
    forms: tuple[Callable[[int, int, Any], tuple[Any, ...]], ...] = (
        lambda _, keys, __: (keys,),
        lambda queries, keys, _: (queries, keys),
        lambda queries, keys, device: (
            torch.zeros(1, probe.d_model, queries, keys, device=device),
        ),
        lambda _, keys, device: (torch.ones(1, keys, dtype=torch.long, device=device),),
    )
    constant = None
    for form in forms:
        given = form(probe.few, probe.few, None)
        try:
            output = probe.call(probe.filled_at_random(), *given)
        except Exception:  # another form may do
            continue
        if not isinstance(output, Tensor) or output.ndim < 2:
            continue
        if output.shape[-2] not in (1, probe.few) or output.shape[-1] != probe.few:
            continue

        def call(
            module: nn.Module,
            queries: int,
            keys: int,
            device: Any = None,
            form: Callable[[int, int, Any], tuple[Any, ...]] = form,
        ) -> Any:
            bias = module(*form(queries, keys, device))
            rows = queries if bias.shape[-2] == 1 else -1  # one for all queries
            return bias.reshape(-1, *bias.shape[-2:]).expand(-1, rows, -1)

        kind = Kind("returns a bias for the scores", "bias", probe, call)
        if differ(output, -1):
            return kind
        constant = constant or kind  # nothing that a softmax would see
    return constant


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
        for length in dict.fromkeys((x.shape[-2], x.shape[1])):
            yield (torch.arange(length)[None],)
            yield (torch.arange(length),)


def _is_no_position(name: str) -> bool:
    """Whether an argument is something else, by its name."""
    return any(word in name for word in ("mask", "len", "size", "shape", "grid"))
