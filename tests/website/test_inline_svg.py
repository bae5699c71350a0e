"""A stored figure in a page: its colours, its maps and its letters are the page's."""

import base64
import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from manuscript import ROOT
from pe_lib import plotting
from tests.core.contrast import contrast, mixed
from website import inline_svg


@pytest.fixture
def axes():
    """One pair of axes in the house style, closed afterwards."""
    plotting.use_house_style()
    _, drawn = plt.subplots()
    yield drawn
    plt.close("all")


def inline(axes):
    """The element that the page shows of a figure as a notebook stores it."""
    file = io.StringIO()
    axes.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return inline_svg.inline_svg(file.getvalue(), prefix="fig-x", label='A "map"')


def opacities(svg):
    """The masks of a page's drawing by the colour behind each, one number a square."""
    found = {}
    for mask, fill in re.findall(r'<mask.*?base64,([^"]*)".*?fill: ([^"]*)"', svg):
        picture = np.asarray(
            Image.open(io.BytesIO(base64.b64decode(mask))).convert("LA")
        )
        assert (picture[..., 0] == 255).all()  # white: by light or by opacity, the same
        found[fill] = picture[..., 1] / 255
    return found


def test_a_map_becomes_opacities_over_the_colour_of_the_page(axes):
    plotting.attention_map(axes, [[1, 0], [0.25, 0.75]])
    svg = inline(axes)
    assert "<image" not in re.sub(r"<mask.*?</mask>", "", svg)
    ((fill, mask),) = opacities(svg).items()
    assert fill == "currentColor"
    cell = mask.shape[0] // 2
    assert cell >= 200  # enlarged here, where it stays sharp
    assert mask[::cell, ::cell] == pytest.approx(
        np.array([[1, 0], [0.25, 0.75]]), abs=1 / 128
    )
    for row, column in np.ndindex(2, 2):  # nothing is mixed at the edges
        square = mask[
            row * cell : (row + 1) * cell, column * cell : (column + 1) * cell
        ]
        assert np.ptp(square) == 0


def test_sines_and_cosines_take_their_colours_from_the_page(axes):
    plotting.code_map(axes, np.ones((3, 2)))
    found = opacities(inline(axes))
    assert [fill.split(",")[0] for fill in found] == ["var(--sine", "var(--cosine"]
    sine, cosine = found.values()
    assert (sine[0] == 1).all() and (sine[-1] == 0).all()
    assert (cosine[0] == 0).all() and (cosine[-1] == 1).all()


def test_a_map_in_other_colours_raises(axes):
    """The build warns of it."""
    axes.imshow([[0, 1]], cmap="viridis")
    with pytest.raises(ValueError, match=r"pe_lib.plotting.*#440154"):
        inline(axes)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_page_has_each_colour_of_a_drawing_in_both_modes(mode, axes):
    style = (ROOT / "website/static/book.css").read_text(encoding="utf-8")
    both = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", style)
    page = {name: colours[mode == "dark"] for name, *colours in both}
    squares = axes.imshow([[1]])
    plotting.write_numbers(squares)
    named = {*re.findall(r"var\(--(\w+)", " ".join(inline_svg.COLOURS.values()))}
    named.remove("hair")  # of a grid, which is faint
    assert len(named) == 6
    for name in [*named, "ink"]:
        # WCAG 2.2, 1.4.11, graphical objects, and 1.4.3, numbers in a full square.
        assert contrast(page[name], page["paper"]) >= 3
        square = mixed(page[name], page["paper"], squares.get_alpha())
        assert contrast(page["ink"], square) >= 4.5
