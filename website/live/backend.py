"""What matplotlib draws with on a page: figures go there, as in a notebook."""

from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

from website.live.inside import show_all as show

__all__ = ["FigureCanvas", "show"]
