r"""Two layers of attention that learn to repeat a passage, and what is inside them.

"A B ... A": what comes next? The first layer's head brings to each word the one
before it; the second layer's head looks for a word that was brought what stands here,
and names it. Nobody says so to the model: it is asked for the next word alone.
:class:`Surgery` puts another matrix between the codes of the first head.
"""

import copy
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib._arguments import as_choice, as_integer
from pe_lib.encoding import sinusoidal
from pe_lib.experiments.one_head import angles
from pe_lib.nn import rotate

WORDS, LENGTH, BATCH = 128, 32, 32
SHORTEST, LONGEST = 4, 12
"""Lengths of the passage that comes again."""
STOPS = (0, 200, 300, 400, 500, 700)
"""Before these steps the model in training is put aside."""
PLACES = ("sinusoid", "learned", "rotary", "rotary_biased", "alibi", "none")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is made and trained.

    Parameters
    ----------
    places : str
        Of PLACES: what tells the model where a word stands.
    last_start : int
        A text begins at a random position from 0 to this one.
    loudness : float
        Standard deviation of the words' vectors at the start; 0.71 is a code's.
    width, steps : int
    rate : float
        The highest; it grows for 50 steps and then falls along a cosine.
    slopes : tuple of float
        Of ALiBi, one for each head; other models have one head.
    """

    places: str = "sinusoid"
    last_start: int = 500
    loudness: float = 0.71
    width: int = 32
    steps: int = 1000
    rate: float = 0.02
    slopes: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        as_choice("places", self.places, PLACES)
        as_integer("last_start", self.last_start, at_least=0)
        as_integer("steps", self.steps, at_least=1)


class Texts(NamedTuple):
    """Words [count, n], and for those asked the place of the match; -1 elsewhere."""

    words: Tensor
    match: Tensor


class Seen(NamedTuple):
    """What each word holds in the end, [count, n, width], and where the heads look:
    weights [count, heads, n, n] of both layers. A guess is ``last @ model.U``."""

    last: Tensor
    weights: list[Tensor]


@dataclass(frozen=True, kw_only=True)
class Surgery:
    """What is changed in a trained model, for one answer.

    Parameters
    ----------
    head : array [width, width], optional
        Between codes the first head scores P_t . head P_s, in the place of its own.
    deaf : bool
        The first head hears codes alone.
    blind : bool
        Queries and keys of the second layer are made without what came from codes.
    """

    head: NDArray[np.float64] | None = None
    deaf: bool = False
    blind: bool = False


AS_IT_IS = Surgery()


def passages(n: int, count: int, generator: torch.Generator) -> Texts:
    """Texts of n random words, none twice; but a passage of 4 to 12 comes again.

    Asked are the words of its second time, but the last: what comes next?
    Raises ValueError if n is not within 24 and 128.
    """
    if not 2 * LONGEST <= as_integer("n", n) <= WORDS:
        raise ValueError(f"n must lie within {2 * LONGEST} and {WORDS}, got {n}")
    words = torch.rand(count, WORDS, generator=generator).argsort(1)[:, :n]
    size = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    cuts = torch.rand(count, 2, generator=generator) * (n - 2 * size + 1)
    cuts = cuts.long().sort(1).values
    first, again = cuts[:, :1], cuts[:, 1:] + size
    t = torch.arange(n)
    repeated = (t >= again) & (t < again + size)
    earlier = t - again + first
    words = words.gather(1, torch.where(repeated, earlier, t))
    asked = (t >= again) & (t < again + size - 1)
    return Texts(words, torch.where(asked, earlier, -1))


class TwoLayers(nn.Module):
    """Word plus code, two layers of masked attention on a straight line, an answer.

    No biases (but of rotary's queries and keys, if asked), no norms, nothing between
    the layers. Parameters: E [128, width], q0, k0, v0, o0, q1, ..., U [width, 128].
    """

    def __init__(self, settings: Settings, generator: torch.Generator) -> None:
        super().__init__()
        self.settings, d = settings, settings.width

        def normal(rows: int, columns: int, size: float) -> nn.Parameter:
            drawn = torch.randn(rows, columns, generator=generator)
            return nn.Parameter(size * drawn)

        self.E = normal(WORDS, d, settings.loudness)
        names = [f"{kind}{layer}" for layer in (0, 1) for kind in "qkvo"]
        self.maps = nn.ParameterDict({name: normal(d, d, d**-0.5) for name in names})
        if settings.places == "rotary_biased":
            for name in ("q0", "k0", "q1", "k1"):
                self.maps["b" + name] = normal(1, d, d**-0.5)
        self.U = normal(d, WORDS, d**-0.5)
        longest = settings.last_start + WORDS
        if settings.places == "learned":
            self.table = normal(longest, d, 2**-0.5)
        else:
            P = sinusoidal(np.arange(longest), d, dtype=np.float32)
            P *= settings.places == "sinusoid"
            self.register_buffer("table", torch.from_numpy(P), persistent=False)

    def codes(self, start: Tensor, n: int) -> Tensor:
        """Codes [count, n, width] of texts that begin at `start` [count, 1]."""
        rows: Tensor = self.table[start + torch.arange(n)]
        return rows

    def forward(
        self, words: Tensor, start: Tensor, surgery: Surgery = AS_IT_IS
    ) -> Seen:
        """Read words [count, n] that begin at positions `start` [count, 1]."""
        weights: list[Tensor] = []
        of_codes = self.codes(start, words.shape[1])
        x = self.E[words] + of_codes
        for layer in (0, 1):
            listened, own = x, of_codes if layer == 0 else None
            if layer == 0 and surgery.deaf:
                listened = of_codes
            elif layer == 1 and surgery.blind:
                listened = x - of_codes
            scores = self._scores(layer, listened, own, surgery.head)
            a = scores.softmax(-1)
            weights.append(a)
            x = x + self._brought(a, x, layer)
            if layer == 0 and surgery.blind:
                of_codes = of_codes + self._brought(a, of_codes, layer)
        return Seen(x, weights)

    def _brought(self, a: Tensor, x: Tensor, layer: int) -> Tensor:
        values = self._heads(x @ self.maps[f"v{layer}"])
        out: Tensor = (a @ values).transpose(1, 2).flatten(2) @ self.maps[f"o{layer}"]
        return out

    def _heads(self, x: Tensor) -> Tensor:
        """From [count, n, width] to [count, heads, n, width / heads]."""
        heads = len(self.settings.slopes)
        return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)

    def _scores(
        self,
        layer: int,
        x: Tensor,
        codes: Tensor | None,
        head: NDArray[np.float64] | None,
    ) -> Tensor:
        """Scores [count, heads, n, n]; what comes later is masked."""
        query, key = x @ self.maps[f"q{layer}"], x @ self.maps[f"k{layer}"]
        if self.settings.places == "rotary_biased":
            query, key = query + self.maps[f"bq{layer}"], key + self.maps[f"bk{layer}"]
        if self.settings.places.startswith("rotary"):
            cos, sin = angles(*query.shape[-2:])
            query, key = (rotate(y, cos, sin, "interleaved") for y in (query, key))
        query, key = self._heads(query), self._heads(key)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if head is not None and codes is not None:
            new = torch.from_numpy(head - head_matrix(self)).float()
            scores = scores + (codes @ new @ codes.mT)[:, None]
        later = _later(scores.shape[-1])
        if any(self.settings.slopes):
            t = torch.arange(len(later))
            slopes = torch.tensor(self.settings.slopes)[:, None, None]
            later = later - slopes * (t[:, None] - t).clamp(min=0)
        return scores + later


@functools.cache
def _later(n: int) -> Tensor:
    """What is added to scores [n, n]: nothing, or minus infinity for later keys."""
    return torch.full((n, n), -torch.inf).triu(1)


def head_matrix(model: TwoLayers) -> NDArray[np.float64]:
    """W = Wq Wk^T / sqrt(width) of the first head: between codes it is P_t . W P_s."""
    q, k = (model.maps[name].detach().double() for name in ("q0", "k0"))
    return np.asarray(q @ k.T / math.sqrt(len(q)))


def train(seed: int, settings: Settings) -> list[dict[str, Tensor]]:
    """The parameters of the model of one seed before each step of STOPS, and last.

    It names the next word where that can be known. Adam, 32 texts of 32 words a step.
    """
    generator = torch.Generator().manual_seed(seed)
    model = TwoLayers(settings, generator)
    adam = torch.optim.Adam(model.parameters(), settings.rate, fused=True)
    course: list[dict[str, Tensor]] = []
    for step in range(settings.steps):
        if step in STOPS:
            course.append(copy.deepcopy(model.state_dict()))
        for group in adam.param_groups:
            fall = (1 + math.cos(math.pi * step / settings.steps)) / 2
            group["lr"] = settings.rate * min(1, (step + 1) / 50) * fall
        texts = passages(LENGTH, BATCH, generator)
        last = settings.last_start + 1
        start = torch.randint(last, (BATCH, 1), generator=generator)
        asked = texts.match >= 0
        guess = model(texts.words, start).last[asked] @ model.U
        wanted = texts.words.roll(-1, 1)[asked]
        loss = functional.cross_entropy(guess, wanted)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
    return [*course, copy.deepcopy(model.state_dict())]


def made_of(parameters: Mapping[str, Tensor], settings: Settings) -> TwoLayers:
    """The model of these parameters."""
    model = TwoLayers(settings, torch.Generator())
    model.load_state_dict(parameters)
    return model
