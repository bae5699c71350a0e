"""The programs whose rows the chapters draw: what is trained for long, or opened.

``runs`` trains what *Experiments* reports; ``opened`` and the three named after it ask
two published models; ``small_models`` trains small rotary ones, and ``transformer``
*A transformer, whole*. The rows lie in ``book/*/data``, each file below the command,
the settings and the tolerance that made it.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPERIMENTS, BEYOND = ROOT / "book/experiments/data", ROOT / "book/beyond/data"
"""Where rows are kept, beside the chapters that read them."""
