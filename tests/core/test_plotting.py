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
PHONE = 358  # pixels of a column on a phone of 390


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


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", DATA_COLOURS)
def test_data_colours_are_seen_on_every_page(name, page):
    # WCAG 2.2, success criterion 1.4.11: graphical objects, 3:1.
    assert contrast(getattr(plotting, name), page) >= 3


def test_ink_is_read_on_paper():
    # WCAG 2.2, success criterion 1.4.6: enhanced contrast of text, 7:1.
    assert contrast(plotting.INK, plotting.PAPER) >= 7


def figure_with_everything():
    """Lines, markers, a legend, a map, a clipped dial: all that gets an id in SVG."""
    figure, (left, middle, right) = plt.subplots(1, 3)
    left.plot([1, 3, 2], marker="o", label="$\\omega_0$")
    left.legend()
    plotting.heat_map(middle, sinusoidal_table(12, 4))
    plotting.hand(right, (0.6, 0.8), alpha=0.4)
    return figure


def as_a_notebook_stores_it(figure):
    """The SVG that IPython makes of a figure with the formatter of this process."""
    formatter = InteractiveShell.instance().display_formatter.formatters[
        "image/svg+xml"
    ]
    return formatter.lookup_by_type(Figure)(figure)


def test_the_same_figure_is_the_same_bytes():
    plotting.use_house_style()
    figure = figure_with_everything()
    first = as_a_notebook_stores_it(figure)
    assert first.startswith("<?xml")
    assert as_a_notebook_stores_it(figure) == first
    plt.close("all")
    plotting.use_house_style()
    assert as_a_notebook_stores_it(figure_with_everything()) == first


def test_a_figure_wears_only_its_own_colours():
    plotting.use_house_style()
    figure, axes = plt.subplots()
    axes.plot([1, 2], label="a")
    axes.set(title="title", xlabel="position", ylabel="value")
    axes.legend()
    found = set(re.findall("#[0-9a-f]{6}", as_a_notebook_stores_it(figure)))
    assert found == {plotting.INK, plotting.PAPER}


def test_no_letter_of_a_figure_is_smaller_than_12_pixels_on_a_phone():
    plotting.use_house_style()
    figure, axes = plt.subplots(figsize=(plotting.WIDTH, 3))
    axes.plot([1, 2], label="a line")
    axes.set(title="title", xlabel="position", ylabel="value")
    axes.legend()
    plotting.write_numbers(plotting.heat_map(axes, [[0.1, 0.2]]))
    svg = as_a_notebook_stores_it(figure)
    width = float(re.search(r'viewBox="0 0 (\S+)', svg).group(1))
    sizes = [float(size) for size in re.findall(r"font-size: ([0-9.]+)px", svg)]
    assert len(sizes) > 8
    assert min(sizes) * PHONE / width >= 12


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
        assert ink == (plotting.SINE if row in sines else plotting.COSINE)
        lowest = plotting.FAINT
        assert opacity == pytest.approx(
            [lowest, 1, (1 + lowest) / 2][position], abs=0.01
        )
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "dimension")


def test_hinton_squares_say_size_and_sign(axes):
    plotting.hinton(axes, [[4, -1, 0], [1e-9, 0, -4]])
    found = {
        tuple(np.add(square.get_xy(), square.get_width() / 2).round(9)): (
            square.get_width(),
            square.get_fill(),
        )
        for square in axes.patches
    }
    assert found == {(0, 0): (0.9, True), (1, 0): (0.45, False), (2, 1): (0.9, False)}
    assert (axes.get_xlim(), axes.get_ylim()) == ((-0.5, 2.5), (1.5, -0.5))
    inks = [to_hex(square.get_edgecolor()) for square in axes.patches]
    assert inks == [plotting.COSINE, plotting.SINE, plotting.INK]


def test_threads_are_as_wide_as_their_weights(axes):
    plotting.threads(axes, [[1, 0], [0.75, 0.25]], ["a", "b"], lag=1)
    drawn = {
        (*line.get_xdata(), line.get_color()): line.get_linewidth() / 9
        for line in axes.lines
    }
    assert drawn[0, 0, plotting.INK] == 1 and drawn[1, 0, plotting.TARGET] == 0.75
    assert [text.get_text() for text in axes.texts] == ["a", "a", "b", "b"]


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


def test_heat_map_draws_the_transpose(axes):
    table = sinusoidal_table(12, 5)
    image = plotting.heat_map(axes, table, limit=0.5)
    drawn = image.get_array()
    assert drawn.shape == (5, 12)
    for position, dimension in np.ndindex(table.shape):
        assert drawn[dimension, position] == table[position, dimension]
    assert image.get_clim() == (-0.5, 0.5)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "dimension")
    # Position 0 on the left, dimension 0 at the top, each square round its number.
    assert axes.get_xlim() == (-0.5, 11.5)
    assert axes.get_ylim() == (4.5, -0.5)


def test_written_numbers_stand_in_their_squares(axes):
    plotting.write_numbers(axes.imshow([[0.125, -1, 0.5], [1, 0, -0.25]]), digits=1)
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {
        (0, 0): "0.1",
        (1, 0): "−1.0",
        (2, 0): "0.5",
        (0, 1): "1.0",
        (1, 1): "0.0",
        (2, 1): "−0.2",
    }


def test_house_style_outside_a_notebook_starts_no_shell():
    InteractiveShell.clear_instance()
    plotting.use_house_style()
    assert not InteractiveShell.initialized()


@pytest.mark.parametrize("angle", [0, 1, 2.5, -2, np.pi / 2])
def test_the_hand_of_a_dial_ends_where_it_points(angle):
    plotting.use_house_style()
    figure, axes = plt.subplots(figsize=(3, 3))
    plotting.hand(axes, (np.cos(angle), np.sin(angle)), color=plotting.GREEN, alpha=0.4)
    (hand,), (face,) = axes.texts, axes.patches
    assert hand.xy == (np.cos(angle), np.sin(angle))
    assert hand.arrow_patch.get_alpha() == 0.4
    assert to_hex(hand.arrow_patch.get_edgecolor()) == plotting.GREEN
    assert [(face.center, face.radius)] == [((0, 0), 1)]
    assert axes.get_aspect() == 1
    figure.canvas.draw()  # gives the arrow its place on the canvas, in pixels
    drawn = hand.arrow_patch.get_path().vertices
    centre, tip = axes.transData.transform([(0, 0), hand.xy])
    assert np.linalg.norm(drawn - centre, axis=1).min() < 0.1
    # The head ends a mitre before its point: 1.1 times the line's two pixels.
    assert np.linalg.norm(drawn - tip, axis=1).min() < 2.5


def test_attention_map_draws_where_each_query_looks(axes):
    weights = np.tri(5) / np.arange(1, 6)[:, np.newaxis]
    image = plotting.attention_map(axes, weights + 1e-9, lag=2)
    assert image.get_array().tolist() == np.round(weights, 2).tolist()
    assert image.get_clim() == (0, 1)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("looks at", "position")
    (marked,) = axes.lines  # from query 2 at key 0 to query 4 at key 2
    assert marked.get_xydata().tolist() == [[0, 2], [2, 4]]


def test_attention_strip_puts_name_and_caption_to_each_map():
    plotting.use_house_style()
    maps = {"one": np.eye(4), "two": np.eye(6)}
    figure = plotting.attention_strip(maps, ["3% | 1%", "100% | 95%"], lag=3)
    assert figure.get_figwidth() == plotting.WIDTH
    found = [(axes.get_title("center"), axes.get_xlabel()) for axes in figure.axes]
    assert found == [("one", "3% | 1%"), ("two", "100% | 95%")]
    assert [len(axes.lines) for axes in figure.axes] == [1, 1]
    with pytest.raises(ValueError, match="zip"):
        plotting.attention_strip(maps, ["only one"], lag=3)


def test_seed_dots_shows_every_seed_and_the_line(axes):
    plotting.seed_dots(axes, {"a": [0.104, 0.5], "b": [1.0, 1.0]}, chance=0.2)
    first, second, line = axes.lines
    assert first.get_xdata().tolist() == [0.1, 0.5]
    assert second.get_xdata().tolist() == [1, 1]
    assert len(set(second.get_ydata())) == 2  # both are visible
    assert set(line.get_xdata()) == {0.2}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first on top


def test_powers_of_ten_are_letters_of_one_size():
    plotting.use_house_style()
    figure, axes = plt.subplots()
    axes.loglog([1e-3, 1e12], [1, 10])
    plotting.powers_of_ten(axes)
    axes.set_xticks([1e-3, 1, 1e12])
    svg = as_a_notebook_stores_it(figure)
    assert all(f">{label}</text>" in svg for label in ("10⁻³", "10⁰", "10¹²", "10¹"))
    assert set(re.findall(r"font-size: ([0-9.]+)px", svg)) == {"12"}
