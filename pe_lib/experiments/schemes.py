"""Ways to tell a model where its tokens stand: encodings, rotations, biases.

The encodings are equally loud, so that a comparison of two of them does not measure
which one is louder.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pe_lib import naive
from pe_lib._arguments import as_choice
from pe_lib.table import sinusoidal_table

WIDTH = 32
"""How many numbers a token has, unless a run says otherwise."""
ENCODING_RMS = math.sqrt(0.5)
"""Root mean square of a sinusoid's numbers: such a vector has norm sqrt(width / 2)."""

_Value = TypeVar("_Value")


class Context(NamedTuple):
    """What a scheme may use to make its encodings; the same for all schemes of a seed.

    Attributes
    ----------
    trained_length : int
        The longest length in training.
    longest : int
        The longest length in training or test.
    direction : array [width]
        A random vector of norm 1: where encodings of one number go.
    noise : array [longest, width]
        Random numbers of standard deviation 1: where learned tables start.
    """

    trained_length: int
    longest: int
    direction: NDArray[np.float64]
    noise: NDArray[np.float64]

    @property
    def width(self) -> int:
        """How many numbers a token has."""
        return len(self.direction)


@dataclass(frozen=True)
class Scheme:
    """A way to tell the model where its tokens stand.

    Attributes
    ----------
    encode : callable or None
        ``encode(length, context)`` returns what is added to the tokens,
        [length, context.width].
    learned : bool
        The encodings are only the start of a table that is trained.
    rotary : bool
        Queries and keys are turned by the angles of their positions.
    bias : "", "alibi" or "t5"
        What is added to the scores; T5's numbers are trained.
    slopes : tuple of float or None
        ALiBi's slopes, one for each head; None takes those of the paper.
    t5_scale : float
        By what T5's numbers are multiplied before they are added. They start as if
        it were 1, so it says how fast they are learned.
    label : str
        What figures and tables call it; the scheme's key if empty.
    """

    encode: Callable[[int, Context], ArrayLike] | None = None
    learned: bool = False
    rotary: bool = False
    bias: str = ""
    slopes: tuple[float, ...] | None = None
    t5_scale: float = 1.0
    label: str = ""

    def __post_init__(self) -> None:
        as_choice("bias", self.bias, ("", "alibi", "t5"))


def scaled_sinusoid(factor: float = 1.0, *, base: float = 10_000.0) -> Scheme:
    """The sinusoid of a base, times a factor.

    >>> context = Context(8, 8, np.zeros(WIDTH), np.zeros((8, WIDTH)))
    >>> scaled_sinusoid(3).encode(8, context)[0, :4]
    array([0., 3., 0., 3.])
    """

    def encode(length: int, context: Context) -> ArrayLike:
        return factor * sinusoidal_table(length, context.width, base=base)

    return Scheme(encode)


def labelled(values: Mapping[str, _Value]) -> dict[str, _Value]:
    """The same values under the labels of their schemes, for a figure or a table.

    >>> labelled({"t5": 1, "mine": 2})
    {'T5 bias': 1, 'mine': 2}
    """
    return {
        (key in SCHEMES and SCHEMES[key].label) or key: value
        for key, value in values.items()
    }


def _counting_raw(length: int, context: Context) -> ArrayLike:
    return np.broadcast_to(naive.counting(np.arange(length)), (length, context.width))


def _along(
    numbers: NDArray[np.float64], in_training: NDArray[np.float64], context: Context
) -> ArrayLike:
    """Encodings of one number: along a direction, in training as loud as a sinusoid."""
    scale = ENCODING_RMS * math.sqrt(context.width) / np.sqrt(np.mean(in_training**2))
    codes: NDArray[np.float64] = scale * numbers * context.direction
    return codes


def _counting(length: int, context: Context) -> ArrayLike:
    trained = naive.counting(np.arange(context.trained_length))
    return _along(naive.counting(np.arange(length)), trained, context)


def _normalized(length: int, context: Context) -> ArrayLike:
    n = context.trained_length
    numbers = naive.normalized(np.arange(length), length)
    return _along(numbers, naive.normalized(np.arange(n), n), context)


def _binary(length: int, context: Context) -> ArrayLike:
    bits = (context.longest - 1).bit_length()
    digits = naive.binary(np.arange(length), bits, centered=True)
    padded = np.pad(digits, [(0, 0), (0, context.width - bits)])
    return ENCODING_RMS * math.sqrt(context.width / bits) * padded


def _noise(std: float) -> Callable[[int, Context], ArrayLike]:
    return lambda length, context: std * context.noise[:length]


SCHEMES: dict[str, Scheme] = {
    "none": Scheme(),
    "counting_raw": Scheme(_counting_raw, label="counting, raw"),
    "counting": Scheme(_counting),
    "normalized": Scheme(_normalized, label="normalised"),
    "binary": Scheme(_binary),
    "sinusoid": scaled_sinusoid(),
    "random": Scheme(_noise(ENCODING_RMS)),
    "learned": Scheme(_noise(ENCODING_RMS), learned=True),
    "learned_quiet": Scheme(_noise(0.02), learned=True, label="learned, quiet"),
    "learned_from_sinusoid": Scheme(
        scaled_sinusoid().encode, learned=True, label="learned from sinusoid"
    ),
    "rotary": Scheme(rotary=True),
    "t5": Scheme(bias="t5", label="T5 bias"),
    "t5_fast": Scheme(bias="t5", t5_scale=8, label="T5 bias, ×8"),
    "alibi": Scheme(bias="alibi", label="ALiBi 1/16, 1/256"),
    "alibi_steep": Scheme(bias="alibi", slopes=(1 / 2, 1 / 4), label="ALiBi 1/2, 1/4"),
}
"""The schemes by key.

``counting_raw`` adds the number t to every column. The other encodings are equally
loud: in training the root mean square of their norm is that of a sinusoid,
``sqrt(width / 2)``; ``counting`` and ``normalized`` go along one random direction.
``random`` is a fixed table of random numbers; ``learned`` starts from the same table,
``learned_quiet`` from standard deviation 0.02, ``learned_from_sinusoid`` from the
sinusoid. ``t5_fast`` is ``t5`` with numbers that are learned eight times as fast.
``alibi`` has the paper's slopes for two heads, 1/16 and 1/256,
``alibi_steep`` 1/2 and 1/4.
"""
