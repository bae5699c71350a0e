"""A module under test, asked by calls: built, run, and read as one array."""

import contextlib
import copy
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pe_lib.check.call import (
    ALWAYS,
    FEW,
    HONOURS,
    Array,
    Call,
    ForeignError,
    MisreadError,
    RefusedError,
    UnaskedError,
    foreign,
    noise,
    seed_all,
)
from pe_lib.check.report import Recognised
from pe_lib.check.signature import Maker, Signature, Way, axes_of

CLOSE = 1e-4  # of the largest number: float32 rounds less
NEAR = 1e-3  # the same, of sums and scores
BIG = 2**22  # numbers in a tensor that is shared by all copies
SCORES = r"score|logit|weight|attn|attention|mask"  # arguments of biases
READ = 1024  # positions that are compared with formulas
PLAIN = 256  # positions: where these end plain use ends
ELSE = (
    "Of a table check a module that returns x + table(...); a bias is not checked by "
    "this command."
)
Cut = Callable[[Array], Array]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Those in lists, tuples and dictionaries of any depth."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(part)


def versions_of(value: Any) -> list[int]:
    """How often each of its tensors was written into."""
    return [t._version for t in tensors_in(value) if not t.is_inference()]


def states_of(value: Any) -> list[tuple[int, str]]:
    """Of each of its tensors the version, 0 of one that is a part, and the sum.

    What a part is cut from may be written into elsewhere. Sums are text: NaN is NaN.
    """
    there = [t for t in tensors_in(value) if not (t.is_meta or t.is_nested)]
    there = [t for t in there if not t.is_inference()]
    whole = [t.untyped_storage().nbytes() == t.nbytes for t in there]
    versions = [t._version if w else 0 for t, w in zip(there, whole, strict=True)]
    with torch.no_grad():
        sums = [str(t.sum().item()) for t in there]
    return [*zip(versions, sums, strict=True)]


class Reader:
    """Whatever comes back, as [batch, heads, position, numbers], in float64.

    A call with a field that no argument of forward can say raises UnaskedError.
    """

    kind: ClassVar[str]
    orders: tuple[str, ...]  # of axes, that are usual
    parts: tuple[str, ...] = ("encodings",)  # equal parts of each row
    longest = 4096  # input that is tried
    settled = False
    doubt = ""  # what the usual order of axes comes to, where another was taken
    lie = ""  # how cosines that come back lie
    own = 0  # tokens that it puts before x
    gain = 1.0  # by which it multiplies x
    nature: Any = "sum"  # or what else becomes of x

    def __init__(
        self, maker: Maker, width: int, axes: str | None, named: str | None
    ) -> None:
        self.maker, self.width, self.named = maker, width, named
        self.axes = axes_of(axes) if axes else ()
        self.kept: dict[Call, Array] = {}
        self.refused: dict[Call, ForeignError] = {}
        self.wrote = False  # into what it was given
        self.rewrote = False  # into what it had returned
        self.returned: Any = ()
        self.states: list[tuple[int, str]] = []
        self.failed: set[str] = set()  # checks that found an error
        self.recognised: Recognised | None = None
        self.begun = self.build()
        self.first = self.filled(self.begun)
        self.signature = Signature.of(self.first, named)
        if named and named not in self.signature.all:
            there = ", ".join(self.signature.all) or "nothing"
            raise RefusedError(f"forward takes {there}: no argument is {named!r}.")
        if re.search(SCORES, " ".join([*self.signature.required][:1])):
            raise RefusedError(f"forward takes scores. {ELSE}")
        self.find()
        self.place()

    # Built

    def build(self, seed: int = 0, maker: Maker | None = None) -> nn.Module:
        """A module from the caller's own hands, in evaluation mode."""
        seed_all(seed)
        with foreign():
            module = (maker or self.maker)(self.width)
            if not isinstance(module, nn.Module):
                kind = type(module).__name__
                raise TypeError(f"make must return a torch.nn.Module, got {kind}")
            return module.eval()

    def copy(self, module: nn.Module) -> nn.Module:
        """An unused one; what is big is shared."""
        held = [*module.parameters(), *module.buffers()]
        memo = {id(t): t for t in held if t.numel() >= BIG}
        with contextlib.suppress(Exception):  # not everything can be copied
            return copy.deepcopy(module, memo)
        new = self.build()
        new.load_state_dict(module.state_dict())
        return new

    @property
    def is_big(self) -> bool:
        """Whether it is too big to be built twice."""
        return sum(t.numel() for t in self.held()) >= BIG

    def filled(self, begun: nn.Module) -> nn.Module:
        """With a little added to what is trained and begins all alike.

        Relations read it; formulas read what it begins as.
        """
        own = [p for p in begun.parameters() if p.requires_grad]
        own = [p for p in own if p.numel() > 1 or not p.any()]
        if not any(bool((p == p.flatten()[:1]).all()) for p in own):
            return begun
        module = self.copy(begun)
        with torch.no_grad():
            for seed, p in enumerate(module.parameters()):
                if p.requires_grad and bool((p == p.flatten()[:1]).all()):
                    p.add_(0.02 * noise(*p.shape, seed=seed + 1))
        return module

    def module(self, call: Call) -> nn.Module:
        """The one that a call is put to: with its history, dtype and device."""
        module = self.copy(self.first)
        for earlier in call.history:
            with contextlib.suppress(ForeignError), torch.no_grad():
                self.tensor(module.train(earlier.mode == "train"), earlier)
        if self.is_big and (call.via != "as built" or call.cast):
            raise UnaskedError(f"it holds more than {BIG:,} numbers: no second one")
        with foreign():
            module = self.loaded(module, call) if call.via != "as built" else module
            module = module.to(call.cast) if call.cast else module
            module = module.to(call.device) if call.device != "cpu" else module
            return module.train(call.mode == "train")

    def loaded(self, module: nn.Module, call: Call) -> nn.Module:
        """A new one, filled from the checkpoint of this; or this, from another."""
        saved = copy.deepcopy(module.state_dict())
        if call.via == "other weights":
            new, floats = module, (v for v in saved.values() if v.is_floating_point())
            for seed, value in enumerate(floats):
                value += 0.1 * noise(*value.shape, seed=seed).to(value)
        elif call.via == "meta":
            new = self.build().to("meta").to_empty(device="cpu")
        else:
            new = self.build(seed=5)
        new.load_state_dict(saved)
        return new

    def held(self) -> list[Tensor]:
        """All tensors that it keeps, in buffers or not."""
        own = *self.first.parameters(), *self.first.buffers()
        return [*own, *self.loose().values()]

    def loose(self) -> dict[str, Tensor]:
        """Those that are neither parameters nor buffers, by the attribute's name."""
        own = {id(t) for t in (*self.first.parameters(), *self.first.buffers())}
        parts = self.first.named_modules()
        every = ((n, *v) for n, part in parts for v in vars(part).items())
        return {
            f"{prefix}.{name}".lstrip("."): leaf
            for prefix, name, value in every
            for leaf in tensors_in(value)
            if id(leaf) not in own
        }

    # Asked

    @property
    def honours(self) -> set[str]:
        """The fields of a call that this module can be asked about."""
        optional = self.signature.optional.values()
        roles = [*self.way.given, *optional]
        able = ALWAYS.union(*(HONOURS.get(role, set()) for role in roles))
        absent = {"batch", "heads"} - {*self.way.axes} if self.way.axes else {"heads"}
        return able - absent

    def tensor(self, module: nn.Module, call: Call, x: Tensor | None = None) -> Tensor:
        """What the module says to a call, [batch, heads, length, numbers]."""
        if unasked := call.asks - self.honours:
            names = " or ".join(sorted(unasked))
            raise UnaskedError(f"forward takes nothing that says {names}")
        x = self.x(call) if x is None else x
        given = self.values(call, x)
        for role, y in given.items() if call.strides else ():
            if isinstance(y, Tensor) and y.is_floating_point() and y.ndim > 2:
                given[role] = y.transpose(0, -2).contiguous().transpose(0, -2)
        by_name = self.signature.by_name
        args = [given[role] for name, role in self.way.roles if name not in by_name]
        named = {n: given[role] for n, role in self.way.roles if n in by_name}
        asked = self.options(call)
        optional = self.signature.optional.items()
        named |= {name: given[role] for name, role in optional if asked.get(role)}
        before = versions_of([args, named])
        output = self.run(module, call, args, named)
        self.wrote |= before != versions_of([args, named])
        self.rewrote |= self.states != states_of(self.returned)
        self.returned, self.states = output, states_of(output)
        output = [*output.values()] if isinstance(output, dict) else output
        output = [*output] if isinstance(output, tuple | list) else [output]
        if not output or not isinstance(output[0], Tensor) or output[0].is_nested:
            raise ForeignError(TypeError("it returned no tensor"))
        with foreign():
            return self.read(output, call, x)

    def options(self, call: Call) -> dict[str, Any]:
        """Which of the arguments that may be left out a call says, by role."""
        has_offset = "offset" in self.signature.optional.values()
        by_position = bool(call.offset) and not has_offset
        return {
            "offset": call.offset,
            "positions": call.positions is not None or by_position,
            "mask": call.mask is not None,
            "device": call.device != "cpu",
        }

    def run(self, module: nn.Module, call: Call, args: Any, named: Any) -> Any:
        """Forward's answer; dropout in training lets all through."""
        seed_all(call.seed)
        drop = functional.dropout

        def through(
            x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
        ) -> Tensor:
            evaluated = training and call.mode == "eval"
            return drop(x, p, training, inplace) if evaluated else x

        through_all = patch.object(functional, "dropout", through)
        with foreign(), through_all, torch.autocast("cpu", enabled=call.autocast):
            return module(*args, **named)

    def answer(self, call: Call) -> Array:
        """The same in float64, and asked once."""
        if refused := self.refusal(call):
            raise refused
        return self.kept[call]

    def refusal(self, call: Call) -> ForeignError | None:
        """What it raises, if it does."""
        if call not in self.kept and call not in self.refused:
            try:
                with foreign():
                    self.kept[call] = self.rows(self.module(call), call)
            except MisreadError as flaw:
                if not self.settled:
                    raise
                self.refused[call] = ForeignError(ValueError(flaw.args[0]))
            except ForeignError as error:
                self.refused[call] = error
        return self.refused.get(call)

    def values(self, call: Call, x: Tensor) -> dict[str, Any]:
        """What each role is given."""
        n, device, keys = call.length, call.device, call.keys or call.length
        first = call.offset
        where = torch.tensor(call.positions or range(first, first + n), device=device)
        if self.way.batched or where.ndim > 1:
            where = where.expand(call.batch, -1)
        own = call.but(length=keys, keys=None, heads=1 if call.fewer else call.heads)
        k = self.x(own) if call.fewer or call.keys is not None else x
        v = k if keys == n else x
        roles = self.way.given
        laid = {"x": x, "k": 2 * k, "v": 4 * v}
        given: dict[str, Any] = {
            role: self.way.lay(y) for role, y in laid.items() if role in roles
        }
        given |= {"positions": where, "offset": first, "length": n}
        real = call.mask or (not self.signature.pads,) * n
        given["mask"] = torch.tensor(real, device=device).expand(call.batch, n)
        return given | {"device": torch.device(device)}

    def x(self, call: Call) -> Tensor:
        """The content, [batch, heads, length, dim]."""
        shape = call.heads, call.length, self.width
        first, seeds = 9 * call.content, range(1, call.batch + 1)
        x = self.plain((call.batch, *shape))
        if call.content:
            x = torch.stack([i * noise(*shape, seed=first + i) for i in seeds])
        return x.to(call.device, call.dtype)

    def plain(self, shape: tuple[int, ...]) -> Tensor:
        """The usual content: the same at every position."""
        return torch.zeros(shape)

    def read(self, output: list[Tensor], call: Call, given: Tensor) -> Tensor:
        """What came back for x, given, as [batch, heads, length, numbers]."""
        raise NotImplementedError

    # How it is called

    def alternatives(self, roles: list[str]) -> Iterable[Any]:
        """The roles that required arguments may have, the likeliest first."""
        return [("x", *roles[1:])]

    def ways(self) -> Iterator[Way]:
        """All that are tried, the usual ones first."""
        required = self.signature.required
        lengths = [FEW + 2 * (self.width == FEW), *self.lengths()]
        options = self.alternatives([*required.values()])
        for length, roles in product(lengths, options):
            laid = {"x", "k"} & {*roles}
            orders = [axes_of(text) for text in self.orders] if laid else [()]
            for axes in [self.axes] if self.axes else orders:
                way = Way((*zip(required, roles, strict=False),), axes, length)
                way = replace(way, fixed=length != lengths[0])
                if "rows" in axes:
                    few = length if length < 65 else math.isqrt(length)
                    side, rows = (few, few) if way.fixed else (5, 7)
                    way = replace(way, columns=side, length=side * rows, fixed=True)
                if "" not in roles:
                    yield way
                    yield from [replace(way, batched=True)] * ("positions" in roles)

    def lengths(self) -> list[int]:
        """Lengths that its tensors suggest, where it takes one length alone."""
        sizes = {s - less for t in self.held() for s in t.shape for less in (0, 1)}
        whole = {n for n in self.maker.numbers if type(n) is int}
        sizes |= {a * b for a in whole for b in whole}  # of a grid
        fitting = [n for n in sizes if 1 < n <= 4096]
        return sorted(fitting, key=lambda n: (n == self.width, n))[:12]

    def find(self) -> None:
        """Take the first way under which positions differ, or the first of all."""
        tried: list[Way] = []
        refusals: list[Exception] = []
        wrong: list[tuple[MisreadError, Way]] = []
        for way in self.ways():
            misread = any(way.roles == earlier.roles for _, earlier in wrong)
            late = way.fixed and ((tried and not way.columns) or misread)
            if late or self.swapped(way, bool(tried)):
                continue
            self.way = way
            self.forget()
            try:
                if self.tells(self.answer(Call(way.length))):
                    self.doubt = self.doubted(tried, refusals)
                    return
                tried.append(way)
            except MisreadError as flaw:
                wrong.append((flaw, way))
            except (ForeignError, UnaskedError) as refusal:
                refusals.append(refusal)
        if wrong or not tried:
            if not wrong:
                raise self.refusing(refusals)
            self.way = wrong[0][1]
            raise wrong[0][0]
        self.way = tried[0]
        self.forget()

    def doubted(self, tried: list[Way], refusals: list[Exception]) -> str:
        """What the usual order of axes came to, where another was taken."""
        usual = axes_of(self.orders[0])
        if tried and tried[0].axes == usual != self.way.axes:
            return "all positions are alike"
        misfit = bool(refusals) and f"{refusals[0]}".startswith("RuntimeError")
        lost = "heads" in {*usual} - {*self.way.axes}
        return f"it raises {refusals[0]}" if misfit and lost else ""

    def forget(self) -> None:
        """All answers, where it is called in another way."""
        self.kept, self.refused = {}, {}

    def refusing(self, refusals: list[Exception]) -> RefusedError:
        """What was tried, what it raised, and what would help."""
        given = ", ".join(self.signature.required) or "nothing"
        raised = f"; the first raised {refusals[0]}" if refusals else ""
        hint = "" if self.axes else "Say axes or kind, or "
        return RefusedError(
            f"No usual way to call forward({given}) fits width {self.width}{raised}. "
            f"{hint}check an adapter: def forward(self, x): ... {ELSE}"
        )

    def swapped(self, way: Way, tried: bool) -> bool:
        """Whether the axis taken for the width may be of any size: then it is none."""
        doubt = way.fixed and way.axes and way.axes[-1] != "dim" and not self.axes
        if doubt and (tried or not way.columns):
            with torch.no_grad(), contextlib.suppress(Exception):
                x = torch.zeros(3, 2, way.length, self.width - 1)
                self.copy(self.first)(way.lay(x))
                return True
        return False

    def place(self) -> None:
        """Whether an argument for positions that may be left out is [batch, length]."""
        with contextlib.suppress(ForeignError, UnaskedError):
            self.answer(self.call(3, keys=FEW + 1))  # here they may be misread
        self.settled = True
        if "positions" not in self.signature.optional.values():
            return
        way, usual = self.way, self.call()
        for batched in (False, True):
            self.way = replace(way, batched=batched)
            self.forget()
            with contextlib.suppress(ForeignError, UnaskedError):
                said = self.answer(usual.but(positions=(*range(usual.length),)))
                if not self.differ(said, self.answer(usual)):
                    return

    @property
    def called(self) -> str:
        """How it was called, in words."""
        limited = self.limit < self.longest or self.way.fixed
        only = "only" if self.way.fixed else "at most"
        ends = [f"{only} {self.limit:,} positions"] * limited
        guessed = bool(self.way.axes) and not self.axes and len(self.orders) > 1
        return "; ".join([self.way.text(guessed), *self.maker.told(), *ends])

    # What relations compare

    def call(self, length: int | None = None, **asked: Any) -> Call:
        """The usual call, or one of so many positions."""
        return Call(length or self.way.length, **asked)

    @cached_property
    def limit(self) -> int:
        """The length of the longest input that it takes, of those that are tried."""
        low, high = self.way.length, self.longest + 1
        if self.way.fixed or not self.refusal(self.alone(self.longest)):
            return low if self.way.fixed else self.longest
        while high - low > 1:
            middle = (low + high) // 2
            if self.refusal(self.alone(middle)):
                high = middle
            else:
                low = middle
        return low

    def alone(self, length: int) -> Call:
        """One sequence of so many positions: a long one."""
        return self.call(length, **({"batch": 1} if "batch" in self.honours else {}))

    def upto(self, most: int) -> Call:
        """The call for so many positions, or for as many as it takes."""
        return self.alone(self.way.length if self.way.fixed else min(self.limit, most))

    def tells(self, answer: Array) -> bool:
        """Whether two positions differ."""
        rows = answer[0, 0]
        return not bool((abs(rows - rows[:1]) <= 1e-6).all())  # NaN is not near

    def pick(self, at: Any) -> Cut:
        """What picks the answer for these positions, an index."""
        return lambda answer: answer[:, :, at]

    def differ(self, got: Array, want: Array, loose: float = CLOSE) -> bool:
        """By more than float32 rounds."""
        if got.shape[2:] != want.shape[2:]:
            return True
        size = max(1e-3, np.abs(want[np.isfinite(want)]).max(initial=0))
        got, want = np.broadcast_arrays(got, want)
        apart = np.abs(np.nan_to_num(got, nan=0.0) - np.nan_to_num(want, nan=0.0))
        lost = bool((np.isnan(got) != np.isnan(want)).any())
        return lost or bool((apart / size).max(initial=0) > loose)

    @cached_property
    def trained(self) -> bool:
        """Whether training changes the answer."""
        if not any(p.requires_grad for p in self.begun.parameters()):
            return False
        if self.is_big:
            return self.tensor(self.begun, self.call()).requires_grad
        module, call = self.build(), self.call()
        with torch.no_grad():
            for p in (p for p in module.parameters() if p.requires_grad):
                p.data = torch.empty_like(p).uniform_(-1, 1)
        return self.differ(self.rows(module, call), self.begins(call))

    def rows(self, module: nn.Module, call: Call, x: Tensor | None = None) -> Array:
        """The answer of this module, in float64."""
        with torch.no_grad():
            found = self.tensor(module, call, x)
        rows: Array = found.detach().double().numpy()
        return rows

    def begins(self, call: Call) -> Array:
        """The answer of the module as it begins, unfilled."""
        return self.rows(self.copy(self.begun), call)

    @cached_property
    def table(self) -> Array:
        """The rows that are compared with formulas."""
        rows: Array = self.begins(self.upto(READ))[0, 0]
        return rows
