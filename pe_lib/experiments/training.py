r"""One batched model that trains every position scheme and every seed at once.

Each weight has a leading axis of members, one for each scheme and seed, and each
product is a batched product along it. The members share the arithmetic and nothing
else: the sum of their losses has, for each weight, the gradient of its own member's
loss, and Adam treats every number by itself.

Schemes of one seed are a fair comparison: they start from the same weights and see
the same sequences. They differ in the plug alone, which has three contacts, each
with a value that does nothing:

    x_t = token + code_t                          code 0
    score = (turn_t q_t) . (turn_s k_s) / sqrt(head_dim)   turn by 0
            + bias_{t,s}                          bias 0
"""

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from pe_lib import naive
from pe_lib._arguments import as_choice, as_integer, as_reals
from pe_lib.beyond.bias import alibi_bias, t5_buckets
from pe_lib.experiments.tasks import NO_ANSWER, NUM_TOKENS, TASKS, Task
from pe_lib.sinusoidal import sinusoidal
from pe_lib.table import sinusoidal_table

WIDTH, HEADS, HIDDEN = 32, 2, 64
HEAD_DIM = WIDTH // HEADS
LOUDNESS = math.sqrt(0.5)
"""Root mean square of a sinusoid's numbers: a code of this one has length sqrt(d/2)."""
RATE, WARM_UP = 0.01, 50
SEQUENCES = 16
"""Sequences in a step of training, for each member."""
TEST_TOKENS = 16_384
"""Tokens on which each member is tested, at each length."""
BUCKETS = 32


class Given(NamedTuple):
    """What a scheme may use to make its codes; the same for all schemes of a seed.

    Attributes
    ----------
    trained_length : int
        The longest length in training.
    longest : int
        The longest length in training or test.
    direction : array [WIDTH]
        A random vector of length 1: where codes of one number go.
    noise : array [longest, WIDTH]
        Random numbers of standard deviation 1: where learned tables start.
    """

    trained_length: int
    longest: int
    direction: NDArray[np.float64]
    noise: NDArray[np.float64]


@dataclass(frozen=True)
class Scheme:
    """A way to tell the model where its tokens stand.

    Attributes
    ----------
    code : callable or None
        ``code(length, given)`` returns what is added to the tokens, [length, WIDTH].
    learned : bool
        The codes are only the start of a table that is trained.
    rotary : bool
        Queries and keys are turned by the angles of their positions.
    bias : "", "alibi" or "t5"
        What is added to the scores; T5's numbers are trained.
    """

    code: Callable[[int, Given], ArrayLike] | None = None
    learned: bool = False
    rotary: bool = False
    bias: str = ""


def _counting_raw(length: int, _given: Given) -> ArrayLike:
    return np.broadcast_to(naive.counting(np.arange(length)), (length, WIDTH))


def _along(
    numbers: NDArray[np.float64], in_training: NDArray[np.float64], given: Given
) -> ArrayLike:
    """Codes of one number: along a direction, in training as loud as a sinusoid."""
    scale = LOUDNESS * math.sqrt(WIDTH) / np.sqrt(np.mean(in_training**2))
    codes: NDArray[np.float64] = scale * numbers * given.direction
    return codes


def _counting(length: int, given: Given) -> ArrayLike:
    trained = naive.counting(np.arange(given.trained_length))
    return _along(naive.counting(np.arange(length)), trained, given)


def _normalized(length: int, given: Given) -> ArrayLike:
    n = given.trained_length
    numbers = naive.normalized(np.arange(length), length)
    return _along(numbers, naive.normalized(np.arange(n), n), given)


def _binary(length: int, given: Given) -> ArrayLike:
    bits = (given.longest - 1).bit_length()
    digits = naive.binary(np.arange(length), bits, centered=True)
    padded = np.pad(digits, [(0, 0), (0, WIDTH - bits)])
    return LOUDNESS * math.sqrt(WIDTH / bits) * padded


def _sinusoid(length: int, _given: Given) -> ArrayLike:
    return sinusoidal_table(length, WIDTH)


def _noise(std: float) -> Callable[[int, Given], ArrayLike]:
    return lambda length, given: std * given.noise[:length]


SCHEMES: dict[str, Scheme] = {
    "none": Scheme(),
    "counting, raw": Scheme(_counting_raw),
    "counting": Scheme(_counting),
    "normalised": Scheme(_normalized),
    "binary": Scheme(_binary),
    "sinusoid": Scheme(_sinusoid),
    "random": Scheme(_noise(LOUDNESS)),
    "learned": Scheme(_noise(LOUDNESS), learned=True),
    "learned, quiet": Scheme(_noise(0.02), learned=True),
    "learned from sinusoid": Scheme(_sinusoid, learned=True),
    "rotary": Scheme(rotary=True),
    "T5 bias": Scheme(bias="t5"),
    "ALiBi": Scheme(bias="alibi"),
}
"""The schemes by name.

"counting, raw" adds the number t to every column. The other codes are equally loud:
in training the root mean square of their length is that of a sinusoid,
``sqrt(WIDTH / 2)``; counting and normalised go along one random direction. "random"
is a fixed table of random numbers; "learned" starts from the same table, "learned,
quiet" from standard deviation 0.02, "learned from sinusoid" from the sinusoid.
"""


@dataclass(frozen=True)
class Score:
    """One row of the result: a member's share of right answers at one length."""

    task: str
    scheme: str
    seed: int
    length: int
    accuracy: float


def train(
    task: str,
    schemes: Sequence[str] | Mapping[str, Scheme],
    *,
    steps: int,
    train_lengths: tuple[int, int] = (8, 24),
    test_lengths: Sequence[int] = (16,),
    seeds: int = 5,
    layers: int = 1,
    token_std: float = LOUDNESS,
    examples: int | None = None,
) -> list[Score]:
    """Train every scheme with every seed on a task, and test them.

    A pre-LN transformer of width 32 with 2 heads for each member; Adam at 0.01
    with warm-up and cosine decay, 16 sequences a step. A run is reproducible bit
    for bit on one machine with one number of threads, and leaves torch's global
    random state alone.

    Parameters
    ----------
    task : str
        A key of TASKS.
    schemes : sequence of keys of SCHEMES, or mapping of names to Scheme
    steps : int
        At least 1.
    train_lengths : (int, int)
        Each step draws its length from this range, both ends included.
    test_lengths : sequence of int
    seeds : int
        How many: seeds 0, 1, 2 ...
    layers : int
        At least 1.
    token_std : float
        Standard deviation of the tokens' vectors at the start. The default makes
        them as loud as a sinusoid.
    examples : int or None
        Train on so many sequences only, of one length, instead of fresh ones.

    Returns
    -------
    list of Score
        One row for each scheme, seed and test length, in this order.

    Raises
    ------
    TypeError
        If a count or a length is no integer, `token_std` no number, or a scheme
        in a mapping no Scheme.
    ValueError
        If the task or a scheme is unknown, a length is outside the task's range,
        a count is below 1, or there is nothing to train or to test. All before
        anything is trained.

    Examples
    --------
    >>> rows = train("copy", ["none", "rotary"], steps=2, seeds=2)
    >>> [(row.scheme, row.seed, row.length) for row in rows]
    [('none', 0, 16), ('none', 1, 16), ('rotary', 0, 16), ('rotary', 1, 16)]
    """
    chosen = TASKS[as_choice("task", task, tuple(TASKS))]
    plugs = _as_schemes(schemes)
    steps = as_integer("steps", steps, at_least=1)
    seeds = as_integer("seeds", seeds, at_least=1)
    layers = as_integer("layers", layers, at_least=1)
    std = _as_positive("token_std", token_std)
    shortest, longest = _as_range(train_lengths, chosen)
    tested = [chosen.as_length("test_lengths", n) for n in _as_list(test_lengths)]
    if examples is not None:
        examples = as_integer("examples", examples, at_least=1)
        if shortest != longest:
            raise ValueError(
                "train_lengths must be one length where examples are counted, got "
                f"{(shortest, longest)}"
            )
    model = Ensemble(
        chosen,
        plugs.values(),
        seeds=seeds,
        layers=layers,
        token_std=std,
        trained_length=longest,
        lengths={*range(shortest, longest + 1), *tested},
    )
    _fit(model, steps, (shortest, longest), examples)
    accuracy = {n: _accuracy(model, n) for n in tested}
    return [
        Score(task, name, seed, n, float(accuracy[n][i, seed]))
        for i, name in enumerate(plugs)
        for seed in range(seeds)
        for n in tested
    ]


def save(scores: Iterable[Score], path: str | Path, *, command: str) -> None:
    """Write scores as CSV, below a line with the command that made them.

    Accuracies keep four digits. Raises ValueError if there are no scores.
    """
    rows = [asdict(row) | {"accuracy": f"{row.accuracy:.4f}"} for row in scores]
    if not rows:
        raise ValueError("scores must not be empty, got none")
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {command}\n")
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def load(path: str | Path) -> list[Score]:
    """Read scores that :func:`save` wrote."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        file.readline()
        return [
            Score(
                row["task"],
                row["scheme"],
                int(row["seed"]),
                int(row["length"]),
                float(row["accuracy"]),
            )
            for row in csv.DictReader(file)
        ]


def by_scheme(scores: Iterable[Score], length: int) -> dict[str, NDArray[np.float64]]:
    """The accuracies at one length: an array over the seeds for each scheme.

    >>> rows = [Score("copy", "none", 0, 16, 0.25), Score("copy", "none", 1, 16, 0.5)]
    >>> by_scheme(rows, 16)
    {'none': array([0.25, 0.5 ])}

    Raises ValueError if there is no row of that length.
    """
    found: dict[str, list[float]] = {}
    for row in scores:
        if row.length == length:
            found.setdefault(row.scheme, []).append(row.accuracy)
    if not found:
        raise ValueError(f"scores must have rows of length {length}, got none")
    return {name: np.array(values) for name, values in found.items()}


class Ensemble(nn.Module):
    """All members: ``len(schemes) * seeds`` small transformers in one.

    The member of scheme i and seed j is number ``i * seeds + j``. LayerNorms have no
    weights of their own: the matrix and the bias behind each can do what theirs
    would.
    """

    def __init__(
        self,
        task: Task,
        schemes: Iterable[Scheme],
        *,
        seeds: int,
        layers: int,
        token_std: float,
        trained_length: int,
        lengths: Iterable[int],
    ) -> None:
        super().__init__()
        self.task, self.seeds, self.layers = task, seeds, layers
        self.schemes = list(schemes)
        self.members = len(self.schemes) * seeds
        lengths = sorted(lengths)
        longest = lengths[-1]
        random = [torch.Generator().manual_seed(seed) for seed in range(seeds)]

        def normal(rows: int, columns: int, std: float) -> nn.Parameter:
            """One random matrix a seed, the same one for every scheme."""
            drawn = [torch.randn(rows, columns, generator=g) * std for g in random]
            return nn.Parameter(torch.stack(drawn).repeat(len(self.schemes), 1, 1))

        def zeros(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(self.members, rows, columns))

        shapes = {
            "query": (WIDTH, WIDTH),
            "key": (WIDTH, WIDTH),
            "value": (WIDTH, WIDTH),
            "out": (WIDTH, WIDTH),
            "up": (WIDTH, HIDDEN),
            "down": (HIDDEN, WIDTH),
        }
        self.tokens = normal(NUM_TOKENS, WIDTH, token_std)
        self.weight, self.bias = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(layers):
            for name, (rows, columns) in shapes.items():
                self.weight[f"{name} {layer}"] = normal(rows, columns, rows**-0.5)
                self.bias[f"{name} {layer}"] = zeros(1, columns)
        self.answer = normal(WIDTH, task.answers, WIDTH**-0.5)
        self.answer_bias = zeros(1, task.answers)
        self.bucket_bias = normal(HEADS, BUCKETS, WIDTH**-0.5)
        self.given = [
            Given(
                trained_length,
                longest,
                _unit(torch.randn(WIDTH, generator=g, dtype=torch.float64)),
                torch.randn(longest, WIDTH, generator=g, dtype=torch.float64).numpy(),
            )
            for g in random
        ]
        starts = [
            self._code(scheme, longest, given) if scheme.learned else None
            for scheme in self.schemes
            for given in self.given
        ]
        empty = torch.zeros(longest, WIDTH)
        self.table = nn.Parameter(
            torch.stack([empty if s is None else s for s in starts])
        )
        self._plugs = {length: self._plug(length) for length in lengths}

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits [members, positions or sequences, answers].

        tokens: [seeds, sequences, length], the same for all schemes of a seed.
        """
        _, count, length = tokens.shape
        plug = self._plugs[length]
        apart = (self.members, count, length, WIDTH)
        joined = (self.members, count * length, WIDTH)
        heads = (self.members, count, length, HEADS, HEAD_DIM)

        one_hot = functional.one_hot(tokens.flatten(1), NUM_TOKENS).float()
        one_hot = one_hot.repeat(len(self.schemes), 1, 1)
        codes = plug.codes + plug.is_learned * self.table[:, :length]
        x = ((one_hot @ self.tokens).view(apart) + codes[:, None]).view(joined)
        learned = (self.bucket_bias @ plug.bucket_one_hot) * plug.is_t5
        bias = (plug.bias + learned.view_as(plug.bias))[:, None]
        for layer in range(self.layers):
            y = functional.layer_norm(x, (WIDTH,))
            query = _turned(self._affine("query", layer, y).view(heads), plug.turns)
            key = _turned(self._affine("key", layer, y).view(heads), plug.turns)
            value = self._affine("value", layer, y).view(heads)
            query, key, value = (z.transpose(2, 3) for z in (query, key, value))
            scores = query @ key.transpose(-1, -2) / math.sqrt(HEAD_DIM) + bias
            seen = (torch.softmax(scores, -1) @ value).transpose(2, 3).reshape(joined)
            x = x + self._affine("out", layer, seen)
            y = functional.layer_norm(x, (WIDTH,))
            y = torch.relu(self._affine("up", layer, y))
            x = x + self._affine("down", layer, y)
        x = functional.layer_norm(x, (WIDTH,))
        if self.task.pooled:
            x = x.view(apart).mean(2)
        return torch.baddbmm(self.answer_bias, x, self.answer)

    def _affine(self, name: str, layer: int, x: Tensor) -> Tensor:
        """x W + b, with W and b of its own for each member."""
        key = f"{name} {layer}"
        return torch.baddbmm(self.bias[key], x, self.weight[key])

    def _code(self, scheme: Scheme, length: int, given: Given) -> Tensor:
        if scheme.code is None:
            return torch.zeros(length, WIDTH)
        code = as_reals("code", scheme.code(length, given))
        if code.shape != (length, WIDTH) or not np.isfinite(code).all():
            raise ValueError(
                f"code must be finite and of shape {(length, WIDTH)}, got {code.shape}"
            )
        return torch.tensor(code, dtype=torch.float32)

    def _plug(self, length: int) -> "_Plug":
        """The three contacts of every member, at one length."""
        t = np.arange(length)
        codes = [
            self._code(Scheme() if scheme.learned else scheme, length, given)
            for scheme in self.schemes
            for given in self.given
        ]
        angles = torch.tensor(sinusoidal(t, HEAD_DIM))
        turns = torch.complex(angles[:, 1::2], angles[:, 0::2])
        is_rotary = self._members([scheme.rotary for scheme in self.schemes])
        turns = torch.where(is_rotary > 0, turns, torch.ones_like(turns))
        is_alibi = self._members([scheme.bias == "alibi" for scheme in self.schemes])
        bias = is_alibi[..., None] * torch.tensor(alibi_bias(length, HEADS))
        if self.task.causal:
            bias = bias + torch.full((length, length), -torch.inf).triu(1)
        buckets = torch.tensor(
            t5_buckets(
                t - t[:, np.newaxis], num_buckets=BUCKETS, causal=self.task.causal
            )
        )
        return _Plug(
            codes=torch.stack(codes),
            is_learned=self._members([scheme.learned for scheme in self.schemes]),
            turns=turns[:, None, :, None].to(torch.complex64),
            bias=bias.float(),
            is_t5=self._members([scheme.bias == "t5" for scheme in self.schemes]),
            bucket_one_hot=functional.one_hot(buckets.flatten(), BUCKETS).T.float(),
        )

    def _members(self, of_schemes: list[bool]) -> Tensor:
        """A flag for each scheme as 0 or 1 for each member, [members, 1, 1]."""
        flags = torch.tensor(of_schemes).float().repeat_interleave(self.seeds)
        return flags[:, None, None]


class _Plug(NamedTuple):
    codes: Tensor  # [members, length, WIDTH]
    is_learned: Tensor  # [members, 1, 1]
    turns: Tensor  # [members, 1, length, 1, HEAD_DIM / 2], complex, of size 1
    bias: Tensor  # [members, HEADS, length, length]
    is_t5: Tensor  # [members, 1, 1]
    bucket_one_hot: Tensor  # [BUCKETS, length * length]


def _turned(vectors: Tensor, turns: Tensor) -> Tensor:
    """Rotary: a pair of numbers is a complex number, and a turn is a product."""
    pairs = torch.view_as_complex(vectors.view(*vectors.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns).flatten(-2)


def _unit(vector: Tensor) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = (vector / vector.norm()).numpy()
    return unit


def _fit(
    model: Ensemble, steps: int, lengths: tuple[int, int], examples: int | None
) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    random = [torch.Generator().manual_seed(1_000 + s) for s in range(model.seeds)]
    of_lengths = torch.Generator().manual_seed(0)
    low, high = lengths
    kept = None if examples is None else _draw(model.task, high, examples, random)
    for step in range(steps):
        length = int(torch.randint(low, high + 1, (), generator=of_lengths))
        if kept is None:
            tokens, answers = _draw(model.task, length, SEQUENCES, random)
        else:
            tokens, answers = _some_of(kept, random)
        warm, share = min(1, (step + 1) / WARM_UP), step / steps
        for group in optimizer.param_groups:
            group["lr"] = RATE * warm * (1 + math.cos(math.pi * share)) / 2
        optimizer.zero_grad()
        _loss(model(tokens), answers).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _draw(
    task: Task, length: int, count: int, random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Sequences [seeds, count, length] and their answers, flat: [seeds, ...]."""
    drawn = [task.draw(length, count, generator) for generator in random]
    tokens = torch.stack([tokens for tokens, _ in drawn])
    return tokens, torch.stack([answers.flatten() for _, answers in drawn])


def _some_of(
    kept: tuple[Tensor, Tensor], random: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    tokens, answers = kept
    count = tokens.shape[1]
    answers = answers.view(len(answers), count, -1)
    chosen = [torch.randint(count, (SEQUENCES,), generator=g) for g in random]
    tokens = torch.stack([t[c] for t, c in zip(tokens, chosen, strict=True)])
    answers = torch.stack([a[c] for a, c in zip(answers, chosen, strict=True)])
    return tokens, answers.flatten(1)


def _loss(logits: Tensor, answers: Tensor) -> Tensor:
    """The sum over the members of each one's mean cross entropy."""
    wanted = answers.repeat(len(logits) // len(answers), 1)
    asked = (answers[0] != NO_ANSWER).sum()
    total = functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=NO_ANSWER, reduction="sum"
    )
    return total / asked


@torch.no_grad()
def _accuracy(model: Ensemble, length: int) -> NDArray[np.float64]:
    """The share of right answers, [schemes, seeds]."""
    random = [torch.Generator().manual_seed(2_000 + s) for s in range(model.seeds)]
    count = max(1, 512 // length)
    rights, asked = torch.zeros(len(model.schemes), model.seeds), 0
    for _ in range(TEST_TOKENS // (count * length)):
        tokens, answers = _draw(model.task, length, count, random)
        found = model(tokens).argmax(-1).view(-1, *answers.shape)
        rights += ((found == answers) & (answers != NO_ANSWER)).sum(-1)
        asked += int((answers[0] != NO_ANSWER).sum())
    return (rights.double() / asked).numpy()


def _as_schemes(schemes: Sequence[str] | Mapping[str, Scheme]) -> dict[str, Scheme]:
    if isinstance(schemes, Mapping):
        found = dict(schemes)
        for name, scheme in found.items():
            if not isinstance(name, str) or not isinstance(scheme, Scheme):
                raise TypeError(f"schemes must map names to Scheme, got {scheme!r}")
            as_choice("bias", scheme.bias, ("", "alibi", "t5"))
    else:
        names = _as_list(schemes, "schemes")
        known = [as_choice("schemes", name, tuple(SCHEMES)) for name in names]
        found = {name: SCHEMES[name] for name in known}
        if len(found) < len(names):
            raise ValueError(f"schemes must be different, got {names}")
    if not found:
        raise ValueError("schemes must not be empty, got none")
    return found


def _as_list(values: object, name: str = "test_lengths") -> list[object]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence, got {values!r}")
    found = list(values)
    if not found:
        raise ValueError(f"{name} must not be empty, got {values!r}")
    return found


def _as_range(lengths: object, task: Task) -> tuple[int, int]:
    pair = _as_list(lengths, "train_lengths")
    if len(pair) != 2:
        raise ValueError(f"train_lengths must be two lengths, got {lengths!r}")
    low, high = (task.as_length("train_lengths", n) for n in pair)
    if low > high:
        raise ValueError(f"train_lengths must not fall, got {lengths!r}")
    return low, high


def _as_positive(name: str, value: float) -> float:
    number = as_reals(name, value)
    if number.ndim:
        raise TypeError(f"{name} must be a single number, got shape {number.shape}")
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be finite and above 0, got {value!r}")
    return float(number)
