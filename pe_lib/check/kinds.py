"""How each kind of module is read: added, rotary."""

from functools import cached_property

import torch
from torch import Tensor

from pe_lib.check.call import Array
from pe_lib.check.reader import CLOSE, NEAR, READ, Reader

BASIS = 2**22  # numbers of basis vectors that are rotated at once


class Added(Reader):
    """x comes back plus rows."""

    kind = "added"
    axes = "batch", "length", "dim"
    most = 1

    @cached_property
    def nature(self) -> str:
        """What becomes of x: "sum", "product", "nothing" or "other"."""
        calls = self.call(content=3), self.call(content=4)
        x, other = (self.x(call) for call in calls)
        with torch.no_grad():
            none, once, then = (
                self.tensor(self.module(calls[0]), calls[0], y.clone())[:, 0]
                for y in (0 * x, x, other)
            )
        seen = none.isfinite() & (x.abs() > 0.1) & (other.abs() > 0.1)
        if not seen.any():
            return "sum"  # what is NaN is told elsewhere
        rates = ((once - none) / x)[seen], ((then - none) / other)[seen]
        most = max(0.01, float(rates[0].abs().max()))
        if (rates[0] - rates[1]).abs().max() > 10 * NEAR * most:
            return "other"
        self.gain = float(rates[0].median())
        even = (rates[0] - self.gain).abs().max() < 10 * NEAR * most
        if abs(self.gain) < NEAR and even:
            return "nothing"
        return "sum" if even else "product"


class Rotary(Reader):
    """Vectors come back rotated, or queries and keys do."""

    kind = "rotary"
    axes = "batch", "heads", "length", "dim"
    most = 2

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        """What stands side by side in a row."""
        return ("queries", "keys") if self.count > 1 else ("vectors",)

    def plain(self, shape: tuple[int, ...]) -> Tensor:
        one = torch.Generator().manual_seed(1)
        return torch.randn(self.width, generator=one).expand(shape)

    def differ(self, got: Array, want: Array, loose: float = CLOSE) -> bool:
        """What fades in the queries may grow in the keys, as in xPos."""
        d = self.width
        wrong = super().differ(got, want, loose)
        if not wrong or got.shape[-1] < 2 * d:
            return wrong
        one, two = (y[..., :d] * y[..., d:] for y in (got, want))
        return super().differ(one, two, loose) or bool((got * want < -CLOSE).any())

    @cached_property
    def matrices(self) -> Array:
        """[parts, length, dim, dim] by which queries and keys are multiplied."""
        d = self.width
        n = self.upto(min(READ // 2, max(16, BASIS // d**2))).length
        basis = torch.eye(d)[:, None, None].expand(-1, 1, n, -1)
        call = self.call(n, batch=d, heads=1)
        given = [2**i * basis for i in range(self.count)]
        rows = self.rows(self.module(call), call, *given)[:, 0]
        return rows.reshape(d, n, self.count, d).transpose(2, 1, 3, 0)


READERS: dict[str, type[Reader]] = {r.kind: r for r in (Added, Rotary)}
