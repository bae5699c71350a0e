"""How each kind of module is read: added, table, rotary, bias."""

import contextlib
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pe_lib.check.call import FEW, Array, Call, MisreadError
from pe_lib.check.reader import CLOSE, HIDDEN, NEAR, READ, Cut, Reader
from pe_lib.check.signature import X_NAMES

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
        heads = None if self.kind == "bias" else 1
        x, other = (self.x(call)[:, :heads] for call in calls)
        with torch.no_grad():
            asked = [
                self.tensor(self.module(calls[0]), calls[0], y.clone())
                for y in (0 * x, x, other, 1e5 * x, 2e5 * x)
            ]
        none, once, then, much, more = asked
        seen = (none > HIDDEN) & (x.abs() > 0.1) & (other.abs() > 0.1)
        if not seen.any():
            return "sum"  # what is NaN, or hidden, is told elsewhere
        rates = ((once - none) / x)[seen], ((then - none) / other)[seen]
        most = max(0.01, float(rates[0].abs().max()))
        if (rates[0] - rates[1]).abs().max() > 10 * NEAR * most:
            sizes = much.norm(dim=-1)
            even = sizes.max() - sizes.min() < 0.2 * sizes.max()
            scales = (much - more).abs().max() < NEAR * much.abs().max()
            return "norm" if even and scales and self.kind == "added" else "other"
        self.gain = float(rates[0].median())
        even = (rates[0] - self.gain).abs().max() < 10 * NEAR * most
        if abs(self.gain) < NEAR and even:
            return "nothing"
        return "sum" if even else "product"


class Table(Added):
    """Encodings come back, for positions, a length, token ids or x."""

    kind = "table"
    nature = "sum"

    def alternatives(self, roles: list[str]) -> Iterable[Any]:
        if not roles:
            return [()]
        if self.axes and "dim" not in self.axes:
            return [("ids", *roles[1:])]
        likely = {"length": "length positions", "positions": "positions length"}
        options = likely.get(roles[0], "positions length x ids")
        if self.axes or re.fullmatch(X_NAMES, next(iter(self.signature.required))):
            options = "x ids positions length"
        return [(role, *roles[1:]) for role in options.split()]

    def read(self, output: list[Tensor], call: Call, _x: Tensor) -> Tensor:
        y, n, d, b = output[0], call.length, self.width, call.batch
        if y.shape[-1:] == (d,) and y.numel() == n * d:  # one for all
            return y.reshape(1, 1, n, d).expand(b, 1, n, d)
        if y.shape[-1:] == (d,) and y.numel() == b * d:  # by the batch
            return y.reshape(b, 1, 1, d).expand(b, 1, n, d)
        if y.shape == (b, n, d):
            return y[:, None]
        if "dim" in self.way.axes:
            with contextlib.suppress(RuntimeError):
                like = y.expand(self.way.lay(self.x(call)).shape)
                return self.way.back(like).expand(b, 1, n, d)
        self.judge(y[0] if y.ndim == 3 and len(y) == 1 else y, n)
        raise ValueError(self.misfit(y, call))

    def judge(self, flat: Tensor, n: int) -> None:
        """Raise MisreadError if these are rows, but not those asked for."""
        d = self.width
        if flat.shape == (d, n):
            raise MisreadError(f"It returns [{d}, {n}]: [dim, length].", "table.T")
        if flat.ndim == 2 and len(flat) == n and n != FEW + 2:
            flaw = f"Built for width {d} it returns {flat.shape[1]} columns."
            raise MisreadError(flaw, "Fill all columns.")
        rows = len(flat) if flat.shape[-1] == d and flat.ndim == 2 else n
        odd = "length" in self.way.given or abs(rows - n) == 1 or rows > self.longest
        if rows != n and not self.way.fixed and odd:
            flaw = f"For {n} positions it returns {rows:,} rows."
            raise MisreadError(flaw, "pe[:length], not the whole table.")


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
        "batch heads rows columns dim",
        "batch rows columns heads dim",
    )

    def alternatives(self, roles: list[str]) -> Iterable[Any]:
        free = iter("xkv")
        unnamed = "", "scores", "mask"
        usual = tuple(next(free, "") if r in unnamed else r for r in roles)
        if roles[:1] == ["positions"] and "x" not in usual:
            return [usual, ("x", *roles[1:])]
        return [usual]

    def plain(self, shape: tuple[int, ...]) -> Tensor:
        one = torch.Generator().manual_seed(1)
        return torch.randn(self.width, generator=one).expand(shape)

    def read(self, output: list[Tensor], call: Call, x: Tensor) -> Tensor:
        roles = self.way.given
        if roles == ("qkv",):
            packed = output[0] if len(output) == 1 else torch.stack(output[:3], 2)
            self.parts = NAMES
            each = [packed[:, :, i].transpose(1, 2) / 2**i for i in range(3)]
            return torch.cat(each, -1)
        given = [role for role in roles if role in "xkv"]
        turned = output[: len(given)]
        tables = not given or len(output) == 2 > len(given) or turned[0].is_complex()
        return self.turned_by(output, x) if tables else self.vectors(turned, call, x)

    def vectors(self, turned: list[Tensor], call: Call, x: Tensor) -> Tensor:
        """What comes back of queries, keys and values, one beside the other."""
        count = sum(role in "xkv" for role in self.way.given)
        shape = self.way.lay(x).shape
        alone = call.keys not in (None, call.length)  # of fewer queries than keys
        if alone and turned[0].shape == shape:
            return self.way.back(turned[0])
        if {y.shape for y in turned} == {shape} and len(turned) == count:
            self.parts = NAMES[:count] if count > 1 else ("vectors",)
            each = [self.way.back(y) / 2**i for i, y in enumerate(turned)]
            return torch.cat(each, -1)
        few = turned[0].shape[-1:] < shape[-1:]
        if few and turned[0].shape[:-1] == shape[:-1] and len(turned) + len(shape) > 4:
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


class Bias(Added):
    """A number for each head, query and key comes back, alone or added to scores."""

    kind = "bias"
    orders: tuple[str, ...] = ("batch length dim",)
    longest = 300
    thing, more = "scores", "bias"

    def alternatives(self, roles: list[str]) -> Iterable[Any]:
        if len(roles) < 2:
            likely = [role for role in roles if role in ("scores", "positions", "mask")]
            more = "length", "scores", "positions", "x", "mask"
            return [(role,) for role in (*likely, *more)] if roles else [()]
        if roles[0] in ("scores", "mask", "batch") and "" not in roles:
            return [tuple(roles)]
        pairs = [("length", "k_len"), ("positions", "k_positions")]
        pairs = pairs[::-1] if roles[0] == "positions" else pairs
        pairs = [("k_len", "length")] if roles[:2] == ["k_len", "length"] else pairs
        scores = [("scores", *roles[1:])] if "" not in roles[1:] else []
        return [*((*pair, *roles[2:]) for pair in pairs), *scores]

    @property
    def honours(self) -> set[str]:
        """Of axes those of scores; content where they are given."""
        able = super().honours - {"heads"}
        return able if "scores" in self.way.given else able - {"content"}

    def x(self, call: Call) -> Tensor:
        """Scores, [batch, heads, queries, keys]."""
        shape = self.width, call.length, call.keys or call.length
        return self.drawn_of(call, *shape)

    def values(self, call: Call, x: Tensor) -> dict[str, Any]:
        """Of the usual values x is [batch, length, dim]."""
        d = self.width
        like = x[:, :1, :, :1].expand(-1, -1, -1, d) if "x" in self.way.given else x
        given = super().values(call, like.contiguous())
        return given | {"scores": x}

    def read(self, output: list[Tensor], call: Call, _x: Tensor) -> Tensor:
        y, n, k, d = output[0], call.length, call.keys or call.length, self.width
        if y.shape[-3:] == (n, k, d) and d not in (n, k):
            flaw = "It returns [queries, keys, heads]: the heads are the last axis."
            raise MisreadError(flaw, ".permute(2, 0, 1)")
        roles = [*self.signature.required.values()][:2]
        if y.shape[-2:] == (k, n) != (n, k) and roles == ["length", "k_len"]:
            flaw = "It returns [heads, keys, queries]: the queries are the last axis."
            raise MisreadError(flaw, ".mT")
        if y.ndim < 2 or y.shape[-1] != k or y.shape[-2] not in (1, n):
            raise ValueError(f"for {n} queries and {k} keys it returned {[*y.shape]}")
        y = y if y.ndim > 3 else y.reshape(1, -1, *y.shape[-2:])
        y = y.reshape(-1, *y.shape[-3:])
        flat = len(y) == 1 and y.shape[1] == call.batch * d > d
        if "batch" in self.honours and flat:
            y = y.reshape(call.batch, -1, *y.shape[2:])
        y = y if len(y) in (1, call.batch) else y.flatten(0, 1)[None]
        return y.expand(-1, -1, n, -1)

    def seen(self, answer: Array) -> Array:
        """What the softmax sees: less a query's number for itself; hidden is NaN."""
        values = np.where(answer > HIDDEN, answer, np.nan)
        ahead = values.shape[-1] - values.shape[-2]
        own = np.diagonal(values, ahead, -2, -1)[..., None]
        alike = own.shape[-2] == values.shape[-2]
        seen: Array = values - (np.nan_to_num(own) if alike else 0)
        return seen

    def tells(self, answer: Array) -> bool:
        level = self.seen(answer)
        return bool(np.isnan(level).any() or np.ptp(level, axis=-1).max() > 1e-9)

    def size(self, want: Array, loose: float) -> Any:
        """Of a head the largest; where all is rounded each number, and its query's."""
        if loose > CLOSE:
            shown = np.abs(np.where(want > HIDDEN, want, 0))
            own = np.diagonal(shown, want.shape[-1] - want.shape[-2], -2, -1)
            return np.maximum(shown, own[..., None]) + 1e-6
        seen = np.abs(self.seen(want))
        return np.nanmax(seen, axis=(0, 2, 3), keepdims=True, initial=1e-6)

    def pick(self, at: Any) -> Cut:
        return lambda answer: answer[:, :, at][..., at]

    def lines(self, answer: Array) -> Array:
        rows = np.where(answer > HIDDEN, answer, np.nan)[0]
        level = (rows - rows[..., :1]).swapaxes(0, 1)
        lines: Array = level.reshape(rows.shape[1], -1)
        return lines

    @cached_property
    def table(self) -> Array:
        """[heads, query, key], as it begins, or filled where that is all alike."""
        call = self.upto(self.longest)
        begun = self.begins(call)
        table: Array = (begun if self.tells(begun) else self.answer(call))[0]
        return table


READERS: dict[str, type[Reader]] = {r.kind: r for r in (Added, Table, Rotary, Bias)}
