"""The house style, and the drawings that more than one chapter makes.

Every figure uses one ink and one opaque paper colour, so that it reads well
wherever it stands alone. The site turns the paper transparent and the ink into
the colour of the text (``book/_ext/figures.py``). Data colours reach a contrast
of 3:1 on the light page and on the dark one.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pe_lib._extras import needs

with needs("matplotlib", by="pe_lib.plotting"):
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.patches import Circle

INK = "#20242b"
PAPER = "#fdfdfd"

BLUE = "#2f7fc1"
ORANGE = "#c8641b"
GREEN = "#2a8f5c"
PURPLE = "#a05fb8"
GREY = "#7a7f87"
SINE, COSINE = BLUE, ORANGE

SIGNED = "RdBu_r"
MAGNITUDE = "Blues"

WIDTH = 4.8
"""Width of a figure in inches: fills a phone, and leaves 10 pixels to a letter."""

_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": PAPER,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PURPLE, GREY]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.dpi": 72,
    "figure.facecolor": PAPER,
    "figure.figsize": (WIDTH, 3.0),
    # No layout engine: what it computes falls on rounding ties, and a figure must
    # not depend on the processor in its last digit. Notebooks trim the margins.
    "figure.subplot.hspace": 0.4,
    "figure.subplot.wspace": 0.3,
    "font.size": 12,
    "image.aspect": "auto",
    "image.cmap": SIGNED,
    "image.interpolation": "nearest",
    "legend.frameon": False,
    "lines.linewidth": 2,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "positional encodings, checked",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def use_house_style() -> None:
    """Draw every figure of this process in the house style, as SVG in notebooks.

    Starts from matplotlib's defaults, so that a reader's own settings do not
    change a figure; leaves out the date, so that the same figure is the same
    bytes.
    """
    plt.rcdefaults()
    plt.rcParams.update(_STYLE)
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


def heat_map(axes: Axes, table: ArrayLike, *, limit: float = 1.0) -> AxesImage:
    """Draw a table [length, d_model] with positions to the right, dimensions down.

    The picture is the transpose of the array: a row of the table is a column
    of the picture. Colours run from -limit to limit.
    """
    image = axes.imshow(np.asarray(table).T, vmin=-limit, vmax=limit)
    axes.set(xlabel="position", ylabel="dimension")
    axes.spines[:].set_visible(False)
    return image


def write_numbers(image: AxesImage, *, digits: int = 2) -> None:
    """Write the number of each square of an image into it.

    The letters are black or white, whichever stands out more, and not ink: the
    square below them keeps its colour on a dark page.
    """
    values = np.asarray(image.get_array())
    red, green, blue, _ = np.moveaxis(np.asarray(image.to_rgba(values)) ** 2.2, -1, 0)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    for (row, column), value in np.ndenumerate(values):
        image.axes.text(
            column,
            row,
            f"{value:.{digits}f}",
            color="#000000" if luminance[row, column] > 0.18 else "#ffffff",
            ha="center",
            va="center",
            fontsize=11,
        )


def attention_map(
    axes: Axes, weights: ArrayLike, *, lag: int | None = None
) -> AxesImage:
    """Draw where each query looks: keys to the right, queries downwards, 0 to 1.

    With `lag`, a line marks the keys that lie `lag` positions back. Weights are
    rounded to hundredths, so that rounding noise does not reach the picture.
    """
    weights = np.round(np.asarray(weights, dtype=float), 2)
    image = axes.imshow(weights, vmin=0, vmax=1, cmap=MAGNITUDE, aspect="equal")
    axes.set(xlabel="looks at", ylabel="position")
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(GREY)
    if lag is not None:
        ends = np.array([max(lag, 0), len(weights) - 1 + min(lag, 0)])
        axes.plot(ends - lag, ends, color=ORANGE, linewidth=1, linestyle=(0, (1, 2)))
    return image


def attention_strip(
    maps: Mapping[str, ArrayLike], captions: Sequence[str], *, lag: int
) -> Figure:
    """Draw attention maps side by side, each under its name and over its caption.

    The dotted line in each map marks where the head should look.
    """
    fig, panels = plt.subplots(1, len(maps), figsize=(WIDTH, WIDTH / len(maps) + 0.7))
    fig.subplots_adjust(left=0.02, right=0.98, top=0.84, bottom=0.16, wspace=0.12)
    for axes, (name, weights), caption in zip(
        np.atleast_1d(panels), maps.items(), captions, strict=True
    ):
        attention_map(axes, weights, lag=lag)
        axes.set(xticks=[], yticks=[], ylabel="", xlabel=caption)
        axes.set_title(name, loc="center")
    return fig


def seed_dots(
    axes: Axes, accuracies: Mapping[str, ArrayLike], *, chance: float
) -> None:
    """Draw the accuracy of every seed as a dot, one row a scheme, the first on top.

    The dotted line is what a model reaches that does not see the order. Accuracies
    are rounded to hundredths; seeds of one scheme stand a little below each other.
    """
    for row, values in enumerate(accuracies.values()):
        rounded = np.round(np.asarray(values, dtype=float), 2)
        heights = row + np.linspace(-0.25, 0.25, len(rounded))
        axes.plot(rounded, heights, "o", color=BLUE, markersize=4, clip_on=False)
    axes.axvline(chance, color=ORANGE, linestyle=":")
    axes.set(xlim=(0, 1), xlabel="share of right answers")
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks(range(len(accuracies)), list(accuracies))
    axes.set_ylim(len(accuracies) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def dial(
    axes: Axes, tip: tuple[float, float], *, color: str = BLUE, **arrow: Any
) -> None:
    """Draw a round dial and a hand from its centre to `tip`, a point (x, y) on it.

    A second call adds a second hand. Other keywords go to the arrow, as in
    ``alpha=0.4``.
    """
    axes.add_patch(Circle((0, 0), 1, fill=False, color=GREY, linewidth=1))
    axes.annotate(
        "",
        xy=tip,
        xytext=(0, 0),
        arrowprops={
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": 2,
            "shrinkA": 0,
            "shrinkB": 0,
            **arrow,
        },
    )
    axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    axes.set_axis_off()
