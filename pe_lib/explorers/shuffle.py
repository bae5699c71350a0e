"""Shuffle the sentence: outputs move along with the words."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pe_lib._arguments import as_flag
from pe_lib.attention import attention
from pe_lib.explorers._explorer import Explorer, number
from pe_lib.sinusoidal import sinusoidal

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Shuffle(Explorer):
    """Swap the words of "dog bites man": attention's outputs move along.

    Attention without learned weights, with dog = (1, 0), bites = (1, 1) and man =
    (0, -1). A switch adds the code (sin t, cos t) of its place t to each word.

    Parameters
    ----------
    codes : bool
        Begin with the switch on.

    Raises
    ------
    TypeError
        If `codes` is not a bool.

    Examples
    --------
    >>> print(Shuffle())
    dog 0.80 0.20, bites 0.93 0.55, man 0.42 −0.44: the order to compare with.
    """

    codes: bool = False

    _name = "shuffle"
    _goal = (
        "Goal: swap words until an output changes. Give up? Add position codes, and"
        " swap again."
    )
    _alt = (
        "Three words side by side. Each stands over the two numbers that go into"
        " attention and the two that come out of it."
    )
    _height = 168
    _styles = ("explorer.css", "shuffle.css")

    WORDS: ClassVar = {"dog": (1, 0), "bites": (1, 1), "man": (0, -1)}

    def __post_init__(self) -> None:
        as_flag("codes", self.codes)

    def _numbers(self) -> tuple[Array, Array]:
        """What goes in and what comes out, one row a word."""
        X = np.array(list(self.WORDS.values()), dtype=float)
        if self.codes:
            X = X + sinusoidal([0, 1, 2], 2)
        return X, attention(X, X, X)[0]

    def _picture(self) -> str:
        words = []
        for place, (word, before, after) in enumerate(
            zip(self.WORDS, *self._numbers(), strict=True)
        ):
            numbers = "".join(
                f'<text class="x" y="{y}">{number(x)}</text>'
                for y, x in zip((57, 77, 112, 132), [*before, *after], strict=True)
            )
            words.append(
                f'<g style="transform: translateX({105 + 95 * place}px)">'
                f'<path class="{("blue", "orange", "green")[place]}" stroke-width="2"'
                ' d="M-40 4h80v140h-80z"/>'
                f'<text y="28">{word}</text>{numbers}'
                '<path class="grey" d="M-30 92h60"/></g>\n'
            )
        return (
            '<text x="30" y="67">in</text><text x="30" y="122">out</text>'
            '<text x="30" y="162">place</text><text x="105" y="162">0</text>'
            '<text x="200" y="162">1</text><text x="295" y="162">2</text>\n'
            + "".join(words)
        )

    def _sentence(self) -> str:
        _, outputs = self._numbers()
        words = ", ".join(
            " ".join([word, *(number(x) for x in row)])
            for word, row in zip(self.WORDS, outputs, strict=True)
        )
        return f"{words}: the order to compare with."

    def _controls(self) -> str:
        checked = " checked" if self.codes else ""
        return (
            '<button type="button">swap first two</button>'
            '<button type="button">swap last two</button>\n'
            f'<label class="wide"><input type="checkbox"{checked}>'
            "add position codes</label>\n"
        )
