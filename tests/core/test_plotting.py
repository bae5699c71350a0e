"""The house style is legible on both pages; notebooks compare every byte of it."""

import matplotlib
import matplotlib.pyplot as plt
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


def test_house_style_outside_a_notebook_starts_no_shell():
    InteractiveShell.clear_instance()
    plotting.use_house_style()
    assert not InteractiveShell.initialized()
