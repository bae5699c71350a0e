"""What matplotlib draws with on a page: figures go there, as in a notebook."""

from typing import Any

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

from website.live import inside


class FigureManager(FigureManagerBase):
    """Has no window."""

    @classmethod
    def pyplot_show(cls, **_options: Any) -> None:
        """``plt.show``."""
        inside.show_all()


class FigureCanvas(FigureCanvasAgg):
    """Draws for it."""

    manager_class = FigureManager
