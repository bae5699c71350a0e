"""Draw book/_static/card.png, the picture that social networks show with a link."""

from pathlib import Path

import matplotlib.pyplot as plt

from pe_lib import plotting, sinusoidal_table

CARD = Path(__file__).parents[1] / "book/_static/card.png"


def main() -> None:
    """Draw the name beside the famous picture, 1200 by 630 pixels."""
    plotting.use_house_style()
    fig = plt.figure(figsize=(12, 6.3))
    axes = fig.add_axes((0.46, 0.1, 0.5, 0.8))
    plotting.heat_map(axes, sinusoidal_table(64, 32))
    axes.set_axis_off()
    lines = ("Positional", "encodings,", "checked")
    colours = (plotting.INK, plotting.INK, plotting.ORANGE)
    for height, line, colour in zip((0.68, 0.54, 0.40), lines, colours, strict=True):
        fig.text(0.05, height, line, fontsize=54, weight="bold", color=colour)
    fig.text(0.05, 0.22, "A book that runs.", fontsize=24, color=plotting.GREY)
    fig.savefig(CARD, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
