"""Foreign signatures: what each argument is by its name, and the order of axes."""

import copy
import functools
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pe_lib.check.call import FEW

REQUIRED = 512  # what a length among the class's arguments gets, without a default
ROLES = {  # of forward's arguments, by name; the first that fits
    "device": "device",
    "offset": r"(\w+_)?(offset|past|shift)|(start|begin|first)(_\w+)?|step|"
    r"cache_pos\w*|(past|cached?|prefix)_\w*(len|length|size)",
    "positions": r"(\w+_)?pos(ition)?(s|_ids?|_?idx)?|ids|t|time(s|steps?|_?idx)?|"
    r"indices|coords?",
    "length": r"n|\w*(len|length|size|num_positions)",
    "mask": r"\w*mask",
}
CLASS = {  # arguments of the class
    "width": r"d|(\w+_)?(dim|d_model|channels|features|width|n_embd)|(dim|d)_\w+|"
    r"num_hiddens|hidden_size|emb\w*",
    "length": r"max_?\w*(len|length|positions|pos)|(block|context)_?(size|length)?|"
    r"\w*(seq_?len|num_positions|n_positions)",
}
CONSTANTS = r"(\w+_)?(base|theta|max_(distance|period|timescale))"
SAME = {"d_model": "dim", "channels": "dim", "head_dim": "dim", "seq": "length"}
SAME |= {"sequence": "length", "height": "rows", "width": "columns"}
AXES = "batch", "heads", "rows", "columns", "length", "dim"
WORDS = {"length": "a length", "offset": "an offset", "mask": "a mask"}


def axes_of(text: str) -> tuple[str, ...]:
    """The axes that a text such as "batch length dim" or "[batch, ...]" names."""
    words = tuple(SAME.get(word, word) for word in re.findall(r"\w+", text))
    along = {*words} - {"batch", "heads"}
    once = len({*words}) == len(words)
    if not once or along not in ({"length", "dim"}, {"rows", "columns", "dim"}):
        raise ValueError(
            f"axes must be names from {', '.join(AXES)}, each once, with dim, and "
            f"length or rows and columns, got {text!r}"
        )
    return words


@dataclass(frozen=True)
class Way:
    """What forward's arguments are, and in which order the axes of x."""

    roles: tuple[tuple[str, str], ...]
    axes: tuple[str, ...] = ()
    length: int = FEW
    fixed: bool = False  # it takes this length alone
    batched: bool = False  # positions are [batch, length]
    columns: int = 0  # of an image

    @property
    def given(self) -> tuple[str, ...]:
        """The roles of what is given."""
        return tuple(role for _, role in self.roles)

    @property
    def names(self) -> list[str]:
        """The axes of x before they are laid."""
        along = ["rows", "columns"] if "rows" in self.axes else ["length"]
        return ["batch", "heads", *along, "dim"]

    def lay(self, x: Tensor) -> Tensor:
        """[batch, heads, length, dim] in the order that the module takes."""
        names = self.names
        if "rows" in names:
            x = x.reshape(*x.shape[:2], -1, self.columns, x.shape[3])
        for name in [n for n in names if n not in self.axes]:
            x = x.select(names.index(name), 0)
            names.remove(name)
        x = x.permute([names.index(n) for n in self.axes])
        return x.clone(memory_format=torch.contiguous_format)

    def back(self, y: Tensor) -> Tensor:
        """The other way round."""
        y = y.permute([self.axes.index(n) for n in self.names if n in self.axes])
        for i, name in enumerate(self.names):
            y = y if name in self.axes else y.unsqueeze(i)
        return y.flatten(2, 3) if "rows" in self.axes else y

    def text(self, guessed: bool) -> str:
        """In words."""
        layout = f"[{', '.join(self.axes)}]"
        layout += ", guessed (axes says otherwise)" * guessed
        laid = {"x": layout, "k": "the same", "v": "the same"} if self.axes else {}
        told = [
            f"{name} is {(WORDS | laid).get(role, role)}"
            if name != role or role in laid
            else f"it takes {role}"
            for name, role in self.roles
        ]
        return "; ".join(told) or "it takes nothing"


@dataclass(frozen=True)
class Signature:
    """Forward's arguments and what each is, by its name."""

    required: dict[str, str]
    optional: dict[str, str]
    by_name: frozenset[str]

    @property
    def all(self) -> dict[str, str]:
        """Whether required or not."""
        return self.required | self.optional

    @property
    def pads(self) -> bool:
        """Whether its mask, by its name, is true at padding, not at tokens."""
        return any("pad" in n for n, role in self.all.items() if role == "mask")

    @classmethod
    def of(cls, module: nn.Module, positions: str | None) -> "Signature":
        """Of a module; of one that takes whatever comes x alone is known."""
        alone = inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)
        given = [*inspect.signature(module.forward).parameters.values()]
        if [p.kind for p in given[:1]] == [alone.VAR_POSITIONAL]:
            given = [alone]
        given = [p for p in given if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        roles = {p.name: role_of(p, p.name == positions) for p in given}
        needed = {p.name for p in given if p.default is p.empty}
        return cls(
            {n: role for n, role in roles.items() if n in needed},
            {n: role for n, role in roles.items() if n not in needed},
            frozenset(p.name for p in given if p.kind == p.KEYWORD_ONLY),
        )


def role_of(parameter: inspect.Parameter, named: bool) -> str:
    """What an argument of forward is, by its name, or as the caller says."""
    whole = type(parameter.default) is int
    if named:
        return "offset" if whole else "positions"
    names = (r for r, names in ROLES.items() if re.fullmatch(names, parameter.name))
    found = next(names, "")
    found = "offset" if found == "positions" and whole else found
    return "" if parameter.default == 1 and whole else found  # a stride


@dataclass(frozen=True)
class Maker:
    """From a width to a module: the width goes to the argument that is called so."""

    make: Any
    d_model: int
    width: str = ""  # the argument's name, where it is not the first
    lengths: tuple[str, ...] = ()  # what must be given besides
    said: tuple[Any, ...] = ()  # what arguments are where nothing is given: it is meant
    names: tuple[str, ...] = ()  # of the same arguments

    @classmethod
    def of(cls, make: Any, d_model: int) -> "Maker":
        """Read off the signature of a class or function."""
        try:
            given = inspect.signature(make).parameters
        except (ValueError, TypeError):
            return cls(make, d_model)
        if isinstance(make, nn.Module) or not given:
            return cls(make, d_model)
        width = next((n for n in given if re.fullmatch(CLASS["width"], n)), "")
        needed = [n for n, p in given.items() if p.default is p.empty and n != width]
        lengths = [n for n in needed if re.fullmatch(CLASS["length"], n)]
        first = next(iter(given)) == width
        lengths = lengths if width else []
        said = tuple(p.default for p in given.values())
        width *= not first or bool(lengths)
        return cls(make, d_model, width, (*lengths,), said, (*given,))

    def __call__(self, width: int) -> Any:
        if isinstance(self.make, nn.Module):
            if width != self.d_model:
                raise ValueError(f"d_model must be {self.d_model}: there is one module")
            return copy.deepcopy(self.make)
        if not self.width:
            return self.make(width)
        return self.make(**{self.width: width}, **dict.fromkeys(self.lengths, REQUIRED))

    @property
    def is_class(self) -> bool:
        """Whether its arguments are known: those of a function's class are not."""
        return isinstance(getattr(self.make, "func", self.make), type)

    @property
    def numbers(self) -> set[float]:
        """Those that its arguments say, by default, by functools.partial or here."""
        here = [REQUIRED] * bool(self.lengths)
        return {v for v in (*self.said, *here) if type(v) in (int, float)}

    def others(self) -> Iterator[tuple[str, "Maker"]]:
        """Constants of formulas among its arguments, and a maker with each doubled."""
        named = zip(self.names, self.said, strict=True)
        for name, value in named if self.is_class else ():
            if re.fullmatch(CONSTANTS, name) and type(value) in (int, float):
                make = functools.partial(self.make, **{name: 2 * value})
                yield name, replace(self, make=make)

    def told(self) -> Iterator[str]:
        """What it is given, where that is not the width alone."""
        if self.width:
            yield f"{self.width} is {self.d_model}"
        yield from (f"{name} is {REQUIRED}" for name in self.lengths)
