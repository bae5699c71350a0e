"""The house style is legible on both pages; notebooks compare every byte of it."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib_inline.config import InlineBackend

from pe_lib import plotting
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


@pytest.mark.parametrize("name", DATA_COLOURS)
def test_data_colours_are_seen_on_every_page(name):
    # WCAG 2.2, success criterion 1.4.11: graphical objects, 3:1.
    for page in PAGES:
        assert contrast(getattr(plotting, name), page) >= 3, page


def test_ink_is_read_on_paper():
    # WCAG 2.2, success criterion 1.4.6: enhanced contrast of text, 7:1.
    assert contrast(plotting.INK, plotting.PAPER) >= 7


def test_more_ink_is_more():
    """The map has one ink, and opacity alone says how much."""
    table = matplotlib.colormaps[plotting.MAGNITUDE]
    colours = table(np.linspace(0, 1, 256), bytes=True)
    shown = {"#" + bytes(colour[:3].tolist()).hex() for colour in colours}
    assert shown == {plotting.INK}
    assert np.abs(colours[:, 3] - np.arange(256.0)).max() <= 1


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
