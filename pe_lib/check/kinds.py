"""How each kind of module is read: added, rotary."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.call import Array, Call, MisreadError
from pe_lib.check.reader import CLOSE, NEAR, READ, Reader

BASIS = 2**22  # numbers of basis vectors that are rotated at once
NAMES = "queries", "keys", "values"


class Added(Reader):
    """x comes back plus rows, or that normalised."""

    kind = "added"
    orders: tuple[str, ...] = (
        "batch length dim",
        "length batch dim",
        "batch dim length",
        "length dim",
        "batch rows columns dim",
        "batch dim rows columns",
    )

    def read(self, output: list[Tensor], call: Call, _x: Tensor) -> Tensor:
        y, axes, d = output[0], self.way.axes, self.width
        y = self.way.back(y) if y.ndim == len(axes) else y[None]
        own = y.shape[2] - call.length if y.ndim == 4 else -1  # tokens put first
        if own == 0 and y.shape[-1] == 2 * d:
            both = "x and the encoding are put side by side, not added."
            flaw = f"It returns {2 * d} columns for {d}: {both}"
            raise MisreadError(flaw, "Return x + encoding.")
        batch = call.batch if "batch" in axes else 1
        fits = y.ndim == 4 and (len(y), y.shape[3]) == (batch, d)
        if y.is_complex() or not fits or not 0 <= own <= 5 * (axes[-1] == "dim"):
            raise ValueError(self.misfit(output[0], call))
        self.own = own
        return y[:, :, own:]

    def misfit(self, y: Tensor, call: Call) -> str:
        """What came back in place of what was asked for."""
        asked = f"for {call.length} positions of width {self.width}"
        return f"{asked} it returned {[*y.shape]}"

    @cached_property
    def nature(self) -> str:
        """What becomes of x: "sum", "product", "nothing", "norm" or "other"."""
        if "content" not in self.honours:
            return "sum"
        calls = self.call(content=3), self.call(content=4)
        x, other = (self.x(call)[:, :1] for call in calls)
        with torch.no_grad():
            asked = [
                self.tensor(self.module(calls[0]), calls[0], y.clone())
                for y in (0 * x, x, other, 1e5 * x, 2e5 * x)
            ]
        none, once, then, much, more = asked
        seen = none.isfinite() & (x.abs() > 0.1) & (other.abs() > 0.1)
        if not seen.any():
            return "sum"  # what is NaN is told elsewhere
        rates = ((once - none) / x)[seen], ((then - none) / other)[seen]
        most = max(0.01, float(rates[0].abs().max()))
        if (rates[0] - rates[1]).abs().max() > 10 * NEAR * most:
            sizes = much.norm(dim=-1)
            even = sizes.max() - sizes.min() < 0.2 * sizes.max()
            scales = (much - more).abs().max() < NEAR * much.abs().max()
            return "norm" if even and scales else "other"
        self.gain = float(rates[0].median())
        even = (rates[0] - self.gain).abs().max() < 10 * NEAR * most
        if abs(self.gain) < NEAR and even:
            return "nothing"
        return "sum" if even else "product"


class Rotary(Reader):
    """Queries and keys come back rotated, or cosines and sines do."""

    kind = "rotary"
    orders = (
        "batch heads length dim",
        "batch length heads dim",
        "length batch heads dim",
        "batch length dim",
        "length batch dim",
        "heads length dim",
        "length heads dim",
        "length dim",
    )

    def alternatives(self, roles: list[str]) -> Iterable[Any]:
        free = iter("xkv")
        unnamed = "", "mask"
        usual = tuple(next(free, "") if r in unnamed else r for r in roles)
        if roles[:1] == ["positions"] and "x" not in usual:
            return [usual, ("x", *roles[1:])]
        return [usual]

    def plain(self, shape: tuple[int, ...]) -> Tensor:
        one = torch.Generator().manual_seed(1)
        return torch.randn(self.width, generator=one).expand(shape)

    def read(self, output: list[Tensor], call: Call, x: Tensor) -> Tensor:
        roles = self.way.given
        given = [role for role in roles if role in "xkv"]
        turned = output[: len(given)]
        tables = not given or len(output) == 2 > len(given) or turned[0].is_complex()
        return self.turned_by(output, x) if tables else self.vectors(turned, call, x)

    def vectors(self, turned: list[Tensor], call: Call, x: Tensor) -> Tensor:
        """What comes back of queries, keys and values, one beside the other."""
        count = sum(role in "xkv" for role in self.way.given)
        shape = self.way.lay(x).shape
        if call.fewer:
            each = [self.way.back(y) / 2**i for i, y in enumerate(turned)]
            heads = [y.shape[1] for y in each[:2]]
            if heads[0] != call.heads or heads[1:] not in ([1], [call.heads]):
                asked = f"queries of {call.heads} heads and keys of 1 come back with"
                flaw = f"{asked} {' and '.join(map(str, heads))}."
                raise MisreadError(flaw, "Rotate keys by themselves.")
            return torch.cat([y.expand(-1, call.heads, -1, -1) for y in each], -1)
        alone = call.keys not in (None, call.length)
        if alone and turned[0].shape == shape:
            return self.way.back(turned[0])
        if {y.shape for y in turned} == {shape} and len(turned) == count:
            self.parts = NAMES[:count] if count > 1 else ("vectors",)
            each = [self.way.back(y) / 2**i for i, y in enumerate(turned)]
            return torch.cat(each, -1)
        few = turned[0].shape[-1:] < shape[-1:]
        vectors = count > 1 or len(turned) + len(shape) > 4
        if few and vectors and turned[0].shape[:-1] == shape[:-1]:
            back = f"{turned[0].shape[-1]} come back"
            flaw = f"Of {shape[-1]} columns {back}: the others are lost."
            raise MisreadError(flaw, "torch.cat what is rotated and what is not.")
        return self.turned_by(turned, x)

    def turned_by(self, output: list[Tensor], x: Tensor) -> Tensor:
        """Vectors rotated by the cosines and sines that came back."""
        (b, _, n, d), whole = x.shape, output[0]
        if len(output) == 1:
            output = [whole.real, whole.imag] if whole.is_complex() else [*whole]
        rows = [y.reshape(-1, y.shape[-1] if y.ndim else 1) for y in output]
        fits = len(rows) == 2 and rows[0].shape == rows[1].shape
        fits &= bool(self.lie) or not self.settled  # vectors came before
        if not fits or len(rows[0]) % n or not 1 <= rows[0].shape[1] <= d:
            what = f"{[*whole.shape]}: neither vectors nor cosines and sines"
            raise ValueError(f"for {n} positions of width {d} it returned {what}")
        shape = (b, 1, n, -1) if len(rows[0]) == b * n else (1, 1, n, -1)
        cos, sin = (y[: b * n if shape[0] == b else n].reshape(shape) for y in rows)
        cos, sin = self.one_a_pair(cos), self.one_a_pair(sin)
        x = x if x.device == cos.device else torch.zeros_like(x, device=cos.device)
        p = cos.shape[-1]
        one, two, rest = x[..., :p], x[..., p : 2 * p], x[..., 2 * p :]
        rest = rest + 0 * cos[..., :1]
        return torch.cat([one * cos - two * sin, one * sin + two * cos, rest], -1)

    def one_a_pair(self, y: Tensor) -> Tensor:
        """Of cosines, or sines, that may stand in both columns of a pair."""
        if not self.lie:
            beside, halves = (y[..., 0::2], y[..., 1::2]), y.tensor_split(2, -1)
            same = [
                a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=1e-5)
                for a, b in (beside, halves)
            ]
            twice = "interleaved" if same[0] and not same[1] else "half-split"
            once = 2 * y.shape[-1] <= self.width and not any(same)
            self.lie = "one a pair" if once else twice
        if self.lie == "one a pair":
            return y
        return y[..., ::2] if self.lie == "interleaved" else y.chunk(2, -1)[0]

    def differ(self, got: Array, want: Array, loose: float = CLOSE) -> bool:
        """What fades in the queries may grow in the keys, as in xPos."""
        d = self.width
        wrong = super().differ(got, want, loose)
        alike = got.shape[2:] == want.shape[2:] and got.shape[-1] >= 2 * d
        if not wrong or len(self.parts) < 2 or not alike:
            return wrong
        one, two = (y[..., :d] * y[..., d : 2 * d] for y in (got, want))
        return super().differ(one, two, loose) or bool((got * want < -CLOSE).any())

    @cached_property
    def matrices(self) -> Array:
        """[parts, length, dim, dim] by which queries, keys, values are multiplied."""
        d = self.width
        n = self.upto(min(READ // 2, max(16, BASIS // d**2))).length
        basis = torch.eye(d)[:, None, None].expand(-1, 2, n, -1)
        if "batch" in self.honours:
            call = self.call(n, batch=d)
            rows = self.rows(self.module(call), call, basis)[:, 0]
        else:
            call, each = self.call(n), basis[:, None].expand(-1, 3, -1, -1, -1)
            found = [self.rows(self.module(call), call, x)[:1, 0] for x in each]
            rows = np.concatenate(found)
        return rows.reshape(d, n, len(self.parts), d).transpose(2, 1, 3, 0)


READERS: dict[str, type[Reader]] = {r.kind: r for r in (Added, Rotary)}
