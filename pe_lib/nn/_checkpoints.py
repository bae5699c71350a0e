"""Tables that a checkpoint of another module carries, where ours saves none."""

from typing import Any

import torch
from torch import Tensor

NEAR = 1 / 128  # of a table in 16 bits, or of one whose angles were float32


def drop_tables(
    state: dict[str, Any], prefix: str, own: Any, width: int, errors: list[str]
) -> None:
    """Take tables [n, width] out of a checkpoint, and complain of other encodings.

    `own` gives the module's own codes [n, width], float64, for a number of positions.
    A table may have axes of size 1, as [1, n, width] and [n, 1, width] have, or be
    one row alone.
    """
    for name in [name for name in state if _is_below(name, prefix)]:
        table = state[name]
        if not (isinstance(table, Tensor) and table.is_floating_point()):
            continue
        rows = table.squeeze()
        rows = rows[None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != width or rows.is_meta:
            continue
        off = (rows.double().cpu() - own(len(rows))).abs().amax(1)
        wrong = torch.nonzero(~(off < NEAR))
        if len(wrong):
            row = int(wrong[0])
            errors.append(
                f"{name} {list(table.shape)} is another encoding than this module's: "
                f"row {row} differs by {float(off[row]):.2g}"
                f"{_said(rows, width)}. A table of this module's own base and layout "
                "is left out."
            )
        del state[name]


def _is_below(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and "." not in name[len(prefix) :]


def _said(rows: Tensor, width: int) -> str:
    """What encoding a table is, where that is known."""
    from pe_lib.check.recognition import describe, recognize

    if len(rows) < 8 or width % 2 or not torch.isfinite(rows).all():
        return ""
    found = recognize(rows[:64].double().cpu().numpy()).convention
    return f"; it is sinusoidal, {describe(found)}" if found else ""
