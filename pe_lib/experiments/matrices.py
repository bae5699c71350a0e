"""Matrices of a small trained model, kept as :mod:`pe_lib.experiments.kept` does."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from pe_lib.experiments import kept


def save(matrices: Mapping[str, torch.Tensor], path: str | Path, **made: Any) -> None:
    """Write matrices as CSV, a row a line, four digits, else as kept.save_rows."""
    rows = [
        [name, *(f"{value:.4f}" for value in row)]
        for name, matrix in matrices.items()
        for row in matrix.tolist()
    ]
    kept.save_rows(rows, path, **made)


def load(path: str | Path) -> dict[str, torch.Tensor]:
    """Read what :func:`save` wrote: float32 matrices by name.

    Raises ValueError if the rows are not those that were written.
    """
    rows: dict[str, list[list[float]]] = {}
    for name, *values in csv.reader(kept.load_lines(path)[1]):
        rows.setdefault(name, []).append([float(value) for value in values])
    return {name: torch.tensor(matrix) for name, matrix in rows.items()}
