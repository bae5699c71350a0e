"""A rotary module, asked for what it does to the vectors of one head."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pe_lib.check.kinds import Call
from pe_lib.check.probe import Probe, WrongOutputError, noise
from pe_lib.check.speeds import CLOSE
from pe_lib.check.tensors import as_numpy

Array = NDArray[np.float64]

COUNT = 64  # positions that are looked at


@dataclass(frozen=True)
class Turner:
    """A rotary module, asked for what it does to vectors of one head.

    Attributes
    ----------
    probe : Probe
        How it is built.
    call : callable
        From a module and vectors [length, dim] at positions 0, 1, ... to them turned.
    open_pairing : bool
        Whether the module leaves open which numbers are a pair.
    call_keys : callable or None
        The same for keys, where they are turned in another way than queries.
    """

    probe: Probe
    call: Call
    open_pairing: bool = False
    call_keys: Call | None = None

    def turn(self, vectors: Tensor, module: nn.Module | None = None) -> Tensor:
        """Vectors [length, dim] at positions 0, 1, ..., turned."""
        return self._turned(self.call, vectors, module)

    def _turned(
        self, call: Call, vectors: Tensor, module: nn.Module | None = None
    ) -> Tensor:
        turned = call(self.probe.make() if module is None else module, vectors)
        if not isinstance(turned, Tensor) or turned.shape != vectors.shape:
            raise WrongOutputError(f"returned no tensor {list(vectors.shape)}")
        return turned

    @cached_property
    def count(self) -> int:
        """How many positions are looked at: 64, or as many as it takes."""
        row = noise(1, self.probe.d_model)
        tried = (COUNT, 32, 16, 8)
        for count in tried if self.probe.fixed is None else (self.probe.fixed,):
            try:
                self.turn(row.repeat(count, 1))
            except Exception:  # more than it takes
                continue
            return count
        return self.probe.few

    @cached_property
    def matrices(self) -> Array:
        """What each position does: [position, to, from]."""
        module, dim = self.probe.make(), self.probe.d_model
        columns = [
            as_numpy(self.turn(torch.eye(dim)[i].repeat(self.count, 1), module))
            for i in range(dim)
        ]
        return np.stack(columns, axis=2)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The columns that turn together, each pair once."""
        coupled = np.abs(self.matrices).max(axis=0) > 1e-4
        np.fill_diagonal(coupled, val=False)
        first, second = np.nonzero(np.triu(coupled | coupled.T))
        return list(zip(first.tolist(), second.tolist(), strict=True))

    @cached_property
    def layout(self) -> str:
        """The name of the pairing; empty if it has none."""
        columns = sorted({column for pair in self.pairs for column in pair})
        half = len(columns) // 2
        if not half or len(self.pairs) != half:
            return ""
        if all(b == a + 1 and a % 2 == 0 for a, b in self.pairs):
            return "interleaved"
        return "half_split" if all(b - a == half for a, b in self.pairs) else ""

    @cached_property
    def hands(self) -> NDArray[np.complex128]:
        """Each pair as a complex number, [position, pair]."""
        first, second = np.array(self.pairs).T
        return self.matrices[:, first, first] + 1j * self.matrices[:, second, first]

    @cached_property
    def speeds(self) -> Array:
        """Radians a position of each pair, counter-clockwise positive."""
        steps = self.hands[1:] * self.hands[:-1].conj()
        fast: Array = np.angle(steps.sum(axis=0))
        long = np.angle(self.hands[-1] * self.hands[0].conj())
        steps_in_all = self.count - 1
        turns = np.round((fast * steps_in_all - long) / (2 * math.pi))
        return np.asarray((long + 2 * math.pi * turns) / steps_in_all, dtype=np.float64)

    @cached_property
    def even(self) -> bool:
        """Whether each pair turns by the same angle at each step."""
        size = np.abs(self.hands).max(axis=0)
        steps = np.exp(1j * np.outer(np.arange(self.count), self.speeds))
        ideal = np.abs(self.hands) * steps * np.exp(1j * np.angle(self.hands[0]))
        return bool(np.abs(self.hands - ideal).max() < CLOSE * size.max())

    @cached_property
    def scores(self) -> Array:
        """What a query and a key score, all at [query's position, key's position]."""
        query, key = noise(2, self.probe.d_model)
        queries, keys = (part.repeat(self.count, 1) for part in (query, key))
        turned = self._turned(self.call_keys or self.call, keys)
        return np.asarray(as_numpy(self.turn(queries)) @ as_numpy(turned).T)

    def disagreement(self, columns: int = 0) -> float:
        """By how much scores at the same offset differ, as a share of the largest.

        With `columns` an offset is one of rows and columns in a picture so wide.
        """
        at = np.arange(self.count)
        row, column = np.divmod(at, columns or self.count)
        rows, across = row[:, None] - row, column[:, None] - column
        offsets = (rows * 2 * self.count + across).ravel()
        order = np.argsort(offsets, kind="stable")
        scores = self.scores.ravel()[order]
        offsets = offsets[order]
        starts = np.flatnonzero(np.diff(offsets, prepend=offsets[0] - 1))
        highest = np.maximum.reduceat(scores, starts)
        spread = highest - np.minimum.reduceat(scores, starts)
        return float(spread.max() / max(np.abs(scores).max(), 1e-30))
