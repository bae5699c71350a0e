"""The house style is legible on both pages, and the same bytes every time."""

import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib_inline.config import InlineBackend

from pe_lib import plotting, sinusoidal_table
from tests.core.contrast import contrast

DATA_COLOURS = ("BLUE", "ORANGE", "PURPLE", "GREEN", "GREY", "RED")
PAGES = ("#fdfcf9", "#15181d")  # light, dark


@pytest.fixture(autouse=True)
def nothing_stays_behind(monkeypatch, tmp_path):
    """Agg for the test, then the settings and the shell that were there before."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    backend = matplotlib.get_backend()
    with matplotlib.rc_context():
        matplotlib.use("Agg")
        InteractiveShell.instance()
        yield
        plt.close("all")
    matplotlib.use(backend)
    InteractiveShell.clear_instance()
    InlineBackend.clear_instance()


@pytest.fixture
def axes():
    """One plot in the house style."""
    plotting.use_house_style()
    return plt.subplots()[1]


@pytest.mark.parametrize("name", DATA_COLOURS)
def test_data_colours_are_seen_on_every_page(name):
    # WCAG 2.2, success criterion 1.4.11: graphical objects, 3:1.
    for page in PAGES:
        assert contrast(getattr(plotting, name), page) >= 3, page


def test_ink_is_read_on_paper():
    # WCAG 2.2, success criterion 1.4.6: enhanced contrast of text, 7:1.
    assert contrast(plotting.INK, plotting.PAPER) >= 7


def figure_with_everything():
    """Lines, markers, a legend, a map, a clipped dial: all that gets an id in SVG."""
    figure, (left, middle, right) = plt.subplots(1, 3)
    left.plot([1, 3, 2], marker="o", label="$\\omega_0$")
    left.legend()
    plotting.code_map(middle, sinusoidal_table(12, 4))
    plotting.hand(right, (0.6, 0.8), alpha=0.4)
    return figure


def as_a_notebook_stores_it(figure):
    """The SVG that IPython makes of a figure with the formatter of this process."""
    formatter = InteractiveShell.instance().display_formatter.formatters[
        "image/svg+xml"
    ]
    return formatter.lookup_by_type(Figure)(figure)


def test_a_figure_wears_only_its_own_colours():
    plotting.use_house_style()
    figure, axes = plt.subplots()
    axes.plot([1, 2], label="a")
    axes.set(title="title", xlabel="position", ylabel="value")
    axes.legend()
    found = set(re.findall("#[0-9a-f]{6}", as_a_notebook_stores_it(figure)))
    assert found == {plotting.INK, plotting.PAPER}


def test_text_is_text_measured_with_the_face_that_matplotlib_brings(caplog):
    plotting.use_house_style()
    svg = as_a_notebook_stores_it(figure_with_everything())
    families = set(re.findall(r"<text[^>]*font-family: ([^;]*);", svg))
    assert families == {"'DejaVu Sans', 'Verdana', sans-serif"}
    assert ">position</text>" in svg
    assert "findfont" not in caplog.text


def test_more_ink_is_more():
    """The map has one ink, and opacity alone says how much."""
    table = matplotlib.colormaps[plotting.MAGNITUDE]
    colours = table(np.linspace(0, 1, 256), bytes=True)
    shown = {"#" + bytes(colour[:3].tolist()).hex() for colour in colours}
    assert shown == {plotting.INK}
    assert np.abs(colours[:, 3] - np.arange(256.0)).max() <= 1


def inks_of(image):
    """The ink and the opacity of each drawn square of an image, by (row, column)."""
    values = image.get_array()
    shown = image.to_rgba(values)
    return {
        tuple(at): (to_hex(shown[tuple(at)]), shown[tuple(at)][3])
        for at in np.argwhere(~np.ma.getmaskarray(values))
    }


@pytest.mark.parametrize(
    ("layout", "sines"),
    [
        ("interleaved", {0, 2, 4}),
        ("half_split", {0, 1, 2}),
        ("cosine_first", {1, 3}),
        ("sines", set(range(5))),
    ],
)
def test_code_map_tells_sines_from_cosines(axes, layout, sines):
    table = np.array([[-1, -1, -1, -1, -1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    drawn = {}
    for image in plotting.code_map(axes, table, layout=layout):
        drawn |= inks_of(image)
    assert set(drawn) == set(np.ndindex(5, 3))
    for (row, position), (ink, opacity) in drawn.items():
        colour = plotting.SINE if row in sines else plotting.COSINE
        assert ink == (plotting.INK if position == 0 else colour)
        assert opacity == pytest.approx([1, 1, 0][position], abs=0.01)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "dimension")
    # Position 0 on the left, dimension 0 at the top, each square round its number.
    assert axes.get_xlim() == (-0.5, 2.5)
    assert axes.get_ylim() == (4.5, -0.5)


def test_labels_stand_at_the_ends_of_their_lines_and_apart():
    plotting.use_house_style()
    figure, axes = plt.subplots(figsize=(plotting.WIDTH, 3))
    ends = {"low": 0, "one": 1, "two": 1, "three": 1.01, "top": 2}
    for label, end in ends.items():
        axes.plot([0, 5, 6], [0, 0, end], label=label)
    axes.plot([0, 6], [0.5, 0.5], color=plotting.GREY)  # a guide: no label
    plotting.label_lines(axes)
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert set(boxes) == set(ends)
    heights = [boxes[label].y0 for label in sorted(ends, key=ends.get)]
    assert np.diff(heights).min() >= 12  # no label over another
    colours = {line.get_label(): line.get_color() for line in axes.lines[:5]}
    assert {text.get_text(): text.get_color() for text in axes.texts} == colours
    for label in ("low", "top"):  # which nobody pushes away
        x, y = axes.transData.transform((6, ends[label]))
        assert boxes[label].x0 == pytest.approx(x + 6, abs=2)
        assert (boxes[label].y0 + boxes[label].y1) / 2 == pytest.approx(y, abs=13)
    dashes = [
        str(line.get_linestyle()) + str(line._dash_pattern) for line in axes.lines
    ]
    assert len(set(dashes[:5])) == 5
    assert axes.lines[5].get_linestyle() == "-"


def test_house_style_outside_a_notebook_starts_no_shell():
    InteractiveShell.clear_instance()
    plotting.use_house_style()
    assert not InteractiveShell.initialized()
