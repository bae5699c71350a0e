"""The house style, and the drawings that more than one chapter makes.

Every figure uses one ink and one opaque paper colour, so that it reads well
wherever it is alone. The site turns the paper transparent and gives ink,
sine, cosine and target the colours of the page (``website/figures.py``). Data
colours reach a contrast of 3:1 on the light page and on the dark one. A map is
drawn in inks of growing opacity, so that more is more on either page.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pe_lib._arguments import short_repr
from pe_lib._extras import require_package

with require_package("matplotlib", by="pe_lib.plotting"):
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.patches import Circle, Rectangle
    from matplotlib.ticker import NullFormatter

INK = "#1d2126"
PAPER = "#fdfcf9"

BLUE = "#2d78f0"
ORANGE = "#d9650f"
PURPLE = "#a6429a"
GREEN = "#2a8f5c"
GREY = "#7a7f87"
RED = "#cf3b3b"
SINE, COSINE, TARGET = BLUE, ORANGE, PURPLE

MAGNITUDE = "house-ink"
"""Colours of a map: more ink is more. Blue is a sine's, and orange a cosine's."""

WIDTH = 4.8
"""Width of a figure in inches: fills a phone, and leaves 12 pixels to a letter."""

DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (2, 2)))
"""How the labelled lines of one figure differ besides their colours."""

_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": PAPER,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=[INK, PURPLE, GREEN, GREY, RED]),
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
    # Matplotlib brings DejaVu Sans along and measures with it on every machine.
    # Who lacks it sees Verdana, which is as wide; a page has a face of its own.
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 12,
    "image.aspect": "auto",
    "image.cmap": MAGNITUDE,
    "image.interpolation": "none",  # one pixel a square: small, and sharp at any size
    "legend.frameon": False,
    "legend.fontsize": 12,
    "lines.linewidth": 2,
    "savefig.facecolor": PAPER,
    "savefig.pad_inches": 0.08,  # a full width stays below a phone's column
    "svg.fonttype": "none",
    "svg.hashsalt": "positional encodings, checked",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def _ink(ink: str, levels: int) -> list[tuple[float, ...]]:
    """Return so many colours: one ink, whose opacity grows from 0 to 1.

    A quarter is added to each channel, since matplotlib cuts bytes to whole ones.
    """
    rgb = [(int(ink[i : i + 2], 16) + 0.25) / 255 for i in (1, 3, 5)]
    return [(*rgb, opacity) for opacity in np.linspace(0, 1, levels)]


# From ink at -1 by paper at 0 to the colour at 1.
_NEGATIVE = _ink(INK, 128)[::-1]
_SINES = ListedColormap(_NEGATIVE + _ink(SINE, 128), name="house-sines")
_COSINES = ListedColormap(_NEGATIVE + _ink(COSINE, 128), name="house-cosines")
colormaps.register(ListedColormap(_ink(INK, 256), name=MAGNITUDE), force=True)


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


def code_map(
    axes: Axes, table: ArrayLike, *, layout: str = "interleaved"
) -> list[AxesImage]:
    """Draw a table of sines and cosines, positions to the right.

    A row of sines runs from ink at -1 by paper at 0 to blue at 1, a row of cosines
    to orange. `layout`: "interleaved", "cosine_first" (interleaved, each pair turned
    round), "half_split", or "sines" if all columns are.
    """
    codes = np.asarray(table, dtype=float).T
    rows = np.arange(len(codes))
    sines = {
        "interleaved": rows % 2 == 0,
        "cosine_first": rows % 2 == 1,
        "half_split": rows < (len(codes) + 1) // 2,
        "sines": rows >= 0,
    }
    if layout not in sines:
        raise ValueError(
            f"layout must be one of {list(sines)}, got {short_repr(layout)}"
        )
    images = []
    for cmap, mine in ((_SINES, sines[layout]), (_COSINES, ~sines[layout])):
        if mine.any():
            shown = np.ma.masked_array(codes, np.broadcast_to(~mine, codes.T.shape).T)
            images.append(axes.imshow(shown, cmap=cmap, vmin=-1, vmax=1))
    axes.set(xlabel="position", ylabel="dimension")
    axes.spines[:].set_visible(False)
    return images


def hinton(axes: Axes, matrix: ArrayLike, *, limit: float | None = None) -> None:
    """Draw a matrix as squares: the area is the size, hollow is negative.

    In the 2x2 blocks along the diagonal, where a matrix that rotates hands has
    its cosines and sines, they have their colours. An entry of size `limit`, by
    default the largest, fills its square. What rounds to no area is blank.
    """
    values = np.asarray(matrix, dtype=float)
    largest = np.abs(values).max() if limit is None else limit
    sides = np.round(0.9 * np.sqrt(np.abs(values) / (largest or 1)), 2)
    for (row, column), side in np.ndenumerate(sides):
        if side:
            corner = (column - side / 2, row - side / 2)
            solid = values[row, column] > 0
            square = Rectangle(corner, side, side, fill=bool(solid))
            block = row // 2 == column // 2
            ink = (COSINE if row == column else SINE) if block else INK
            square.set(facecolor=ink, edgecolor=ink, linewidth=1)
            axes.add_patch(square)
    height, width = values.shape
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), aspect="equal")
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(GREY)


def label_lines(axes: Axes, *, room: float = 1.25) -> None:
    """Write the label of each line at its right end, and tell lines apart by dashes.

    Labels of lines that end together are moved apart by `room` letters' heights;
    lines without a label stay as they are, and so do dashes that a line has. Call
    it when limits and size are set.
    """
    lines = [line for line in axes.lines if str(line.get_label())[:1] != "_"]
    step = (
        room
        * plt.rcParams["font.size"]
        / (axes.bbox.height * 72 / plt.rcParams["figure.dpi"])
    )
    axes.get_xlim(), axes.get_ylim()  # fixes the limits, which are found lazily
    ends = [
        (line.get_transform() + axes.transAxes.inverted()).transform(
            np.asarray(line.get_xydata())[-1]
        )
        for line in lines
    ]
    order = sorted(range(len(lines)), key=lambda i: ends[i][1])
    heights = [float(ends[i][1]) for i in order]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + step)
    for i in range(len(heights) - 1, -1, -1):
        above = heights[i + 1] - step if i + 1 < len(heights) else 1.0
        heights[i] = min(heights[i], above)
    for i, y in zip(order, heights, strict=True):
        if lines[i].get_linestyle() == "-":
            lines[i].set_linestyle(DASHES[i % len(DASHES)])
        axes.annotate(
            str(lines[i].get_label()),
            (ends[i][0], round(y, 4)),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            color=lines[i].get_color(),
            va="center",
            annotation_clip=False,
        )


def powers_of_ten(axes: Axes) -> None:
    """Write the ticks of logarithmic axes in letters of one size, as 10⁻³.

    Matplotlib's own exponents are too small for a phone.
    """
    small = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def written(value: float, _place: float) -> str:
        return "10" + str(round(np.log10(value))).translate(small)

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(written)
            axis.set_minor_formatter(NullFormatter())


def write_numbers(image: AxesImage, *, digits: int = 2) -> None:
    """Write the number of each square of an image into it.

    The squares become paler, so that ink is read on each, on a dark page too.
    """
    image.set_alpha(0.35)
    values = np.ma.masked_array(image.get_array())
    for row, column in np.argwhere(~np.ma.getmaskarray(values)):
        text = f"{values[row, column]:.{digits}f}".replace("-", "−")
        image.axes.text(column, row, text, ha="center", va="center")


def attention_map(
    axes: Axes, weights: ArrayLike, *, lag: int | None = None
) -> AxesImage:
    """Draw where each query attends: keys to the right, queries downwards, 0 to 1.

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
        axes.plot(ends - lag, ends, color=PURPLE, linewidth=1.5, linestyle=(0, (1, 2)))
    return image


def threads(axes: Axes, weights: ArrayLike, words: Sequence[str], *, lag: int) -> None:
    """Draw where each query attends: queries above, keys below, threads between them.

    A thread is as wide as its weight. Those to the keys `lag` positions back, where
    the head should attend, have the colour of a target.
    """
    for (t, s), weight in np.ndenumerate(np.asarray(weights, dtype=float).round(2)):
        ink = TARGET if t - s == lag else INK
        width = 9 * weight
        axes.plot([t, s], [1, 0], c=ink, lw=width, alpha=0.7, solid_capstyle="butt")
    for place, word in enumerate(words):
        axes.text(place, 1.1, word, ha="center", va="bottom")
        axes.text(place, -0.1, word, ha="center", va="top")
    axes.set(xlim=(-0.6, len(words) - 0.4), ylim=(-0.4, 1.4))
    axes.set_axis_off()


def attention_strip(
    maps: Mapping[str, ArrayLike], captions: Sequence[str], *, lag: int
) -> Figure:
    """Draw attention maps side by side, each under its name and over its caption.

    The dotted line in each map marks where the head should attend.
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
    are rounded to hundredths; seeds of one scheme are a little below each other.
    """
    for row, values in enumerate(accuracies.values()):
        rounded = np.round(np.asarray(values, dtype=float), 2)
        heights = row + np.linspace(-0.25, 0.25, len(rounded))
        axes.plot(rounded, heights, "o", color=INK, markersize=4, clip_on=False)
    axes.axvline(chance, color=GREY, linestyle=":")
    axes.set(xlim=(0, 1), xlabel="share of right answers")
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks(range(len(accuracies)), list(accuracies))
    axes.set_ylim(len(accuracies) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def hand(
    axes: Axes, tip: tuple[float, float], *, color: str = INK, **arrow: Any
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
