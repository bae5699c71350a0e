"""A rotary module, asked for what it does to the vectors of one head."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pe_lib.check import longest
from pe_lib.check.kinds import Caller
from pe_lib.check.offsets import spread_by_offset
from pe_lib.check.probe import Asked, WrongOutputError, noise
from pe_lib.check.report import first_line
from pe_lib.check.speeds import CLOSE
from pe_lib.check.tensors import as_numpy, close

Array = NDArray[np.float64]

COUNT = 64  # positions that are looked at
FAR = (1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Turner(Asked):
    """A rotary module, asked for what it does to vectors of one head."""

    call: Caller

    @property
    def parts(self) -> tuple[str, ...]:
        """What it turns, by name."""
        return ("queries", "keys") if self.call.tensors == 2 else ("x",)

    @property
    def open_pairing(self) -> bool:
        """Whether the module leaves open which numbers are a pair."""
        return self.call.tables is not None and self.call.tables.shared

    @property
    def takes_positions(self) -> bool:
        """Whether it can be given positions."""
        return (self.call.where or 0) > 0 or self.probe.positions is not None

    def turn(
        self,
        vectors: Tensor,
        module: nn.Module | None = None,
        *,
        part: int = 0,
        start: int | None = None,
        at: Tensor | None = None,
    ) -> Tensor:
        """Vectors [length, dim], or a batch of them, turned.

        At positions 0, 1, ..., or from `start` on, or `at` given ones.
        """
        module = self.make() if module is None else module
        given: dict[str, Any] = {}
        if start is not None and self.probe.offset and at is None:
            given = {self.probe.offset: start}
        elif start is not None and at is None:
            at = torch.arange(start, start + vectors.shape[-2])
        if at is not None and not self.call.where:
            given = {str(self.probe.positions): at}
        try:
            with torch.no_grad():
                turned = self.call(module, vectors, part=part, at=at, **given)
            if not isinstance(turned, Tensor) or turned.shape != vectors.shape:
                raise WrongOutputError(f"returned no tensor {list(vectors.shape)}")
        except Exception:  # maybe it wants a row for each sequence
            if not given or at is None or at.ndim > 1:
                raise
            return self.turn(vectors, module, part=part, at=at[None])
        return turned

    def codes(self, module: nn.Module) -> Tensor:
        """What it makes of the same vectors: [count, dim of all parts]."""
        rows = noise(self.count, self.d_model)
        turned = [self.turn(rows, module, part=n) for n in range(len(self.parts))]
        return torch.cat(turned, dim=1)

    def on(self, module: nn.Module, device: str) -> Tensor | None:
        """Its first output for an input on a device."""
        held = [*module.parameters(), *module.buffers()]
        if self.call.where == -1 and not self.call.tensors and not held:
            return None  # it cannot know where it is
        inputs = self.call.inputs(noise(1, self.count, self.d_model).to(device))
        with torch.no_grad():
            output = module(*inputs)
        first: Tensor = output if isinstance(output, Tensor) else output[0]
        return first

    def lengthen(self, module: nn.Module) -> None:
        """Let it see a long text, if it takes one."""
        with contextlib.suppress(Exception):
            self.turn(noise(1, self.d_model).repeat(2000, 1), module)

    def other_calls(self) -> dict[str, Callable[[nn.Module], Any]]:
        """Calls that should change nothing."""
        rows = noise(self.count, self.d_model)
        words = min(20_000, 2**22 // self.d_model)
        return {
            f"a text of {words:,}": lambda m: self.turn(rows[:1].repeat(words, 1), m),
            "one word": lambda m: self.turn(rows[:1], m),
            "x in bfloat16": lambda m: self.turn(rows.bfloat16(), m),
        }

    def inputs(self) -> list[Any]:
        """What forward is given."""
        return self.call.inputs(noise(1, self.count, self.d_model))

    @cached_property
    def count(self) -> int:
        """How many positions are looked at: 64, or as many as it takes."""
        row = noise(1, self.d_model)
        tried = (COUNT, 32, 16, 8)
        for count in tried if self.probe.fixed is None else (self.probe.fixed,):
            try:
                self.turn(row.repeat(count, 1))
            except Exception:  # more than it takes
                continue
            return count
        return self.probe.few

    @cached_property
    def coupled(self) -> NDArray[np.bool_]:
        """Which numbers are mixed at some position: [from, to]."""
        module, dim, found = self.make(), self.d_model, []
        together = max(1, 2**19 // (self.count * dim))
        for units in torch.split(torch.eye(dim), together):
            rows = units[:, None].repeat(1, self.count, 1)
            try:
                turned = self.turn(rows, module)
            except Exception:  # it takes no such batch
                turned = torch.stack([self.turn(each, module) for each in rows])
            found.append(turned.abs().amax(1) > 1e-4)
        return np.asarray(torch.cat(found).numpy())

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The columns that turn together, each pair once."""
        first, second = np.nonzero(np.triu(self.coupled | self.coupled.T, k=1))
        return list(zip(first.tolist(), second.tolist(), strict=True))

    @cached_property
    def lost(self) -> bool:
        """Whether vectors that differ come back as one: the turn has no inverse."""
        place = torch.eye(self.d_model)[:, None].repeat(1, 2, 1)
        try:
            turns = self.turn(place)[:, 1]
        except Exception:  # it takes no such batch, or no two words
            return False
        pivots = torch.linalg.lu_factor_ex(turns.float())[0].diagonal().abs()
        return bool(pivots.min() < 1e-4 * pivots.max())

    @cached_property
    def longer_texts(self) -> tuple[int, int, str]:
        """The first length that turns its start otherwise; the longest; a refusal."""
        row = noise(1, self.d_model)
        usual, taken = self.turn(row.repeat(self.count, 1)), 0
        for longer in FAR:
            if longer * self.d_model > longest.LARGEST:
                break
            try:
                turned = self.turn(row.repeat(longer, 1))[: self.count]
            except Exception as error:
                return 0, taken, f"{longer:,} words: {first_line(error)}"
            if not close(turned, usual):
                return longer, taken, ""
            taken = longer
        return 0, taken, ""

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
        row = torch.zeros(self.d_model)
        row[first] = 1.0
        turned = as_numpy(self.turn(row.repeat(self.count, 1)))
        return np.asarray(turned[:, first] + 1j * turned[:, second])

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
    def grown(self) -> bool:
        """Whether a pair is longer at one position than at another."""
        size = np.abs(self.hands) if self.pairs else np.ones((1, 1))
        return bool(np.ptp(size, axis=0).max() > CLOSE * size.max())

    @cached_property
    def scores(self) -> Array:
        """What a query and a key score, all at [1, query's position, key's position].

        As shares of the largest.
        """
        query, key = noise(2, self.d_model)
        queries, keys = (part.repeat(self.count, 1) for part in (query, key))
        turned = self.turn(keys, part=len(self.parts) - 1)
        scores = as_numpy(self.turn(queries)) @ as_numpy(turned).T
        return np.asarray(scores / max(np.abs(scores).max(), 1e-30))[None]

    @cached_property
    def disagreement(self) -> float:
        """By how much scores at the same offset differ, as a share of the largest."""
        return spread_by_offset(self.scores)
