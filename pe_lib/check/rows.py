"""Which rows came in place of others, and which are the same."""

import contextlib

import numpy as np

from pe_lib.check.call import Array, ForeignError
from pe_lib.check.reader import CLOSE, Reader


def looks_like(r: Reader, got: Array, want: Array, loose: float) -> str:
    """How what came differs from what was wanted, in words."""
    got, want = np.broadcast_arrays(got, want)
    off, lost = np.abs(got - want), np.isnan(got) != np.isnan(want)
    bad = lost | (off > loose * np.nanmax(np.abs(want), initial=1e-3))
    sequence, head, t, i = np.argwhere(bad)[0] if bad.any() else (0, 0, 0, 0)
    part, column = divmod(int(i), r.width)
    places = ("sequence", sequence), ("head", head)
    where = "".join(f" in {name} {n}" for name, n in places if n)
    where += f" in the {r.parts[part]}" * (len(r.parts) > 1)
    columns = slice(part * r.width, (part + 1) * r.width)
    with contextlib.suppress(ForeignError):
        whole = r.answer(r.alone(r.limit))[0, 0][:, columns]
        rows, usual = (y[sequence, head][:, columns] for y in (got, want))
        which = same_rows(rows, whole)
        if which and which != same_rows(usual, whole):
            shown = ", ".join(map(str, which[:4])) + ", ..." * (len(which) > 4)
            return f"the rows are those of positions {shown}{where}"
    numbers = f"{got[sequence, head, t, i]:.3g}, not {want[sequence, head, t, i]:.3g}"
    size = "" if lost.any() else f", by up to {np.nanmax(off):.2g}"
    share = f"{100 * bad.mean():.3g} % of the numbers differ{size}"
    return f"{share}, first in row {t}, column {column}{where}: {numbers}"


def same_rows(rows: Array, whole: Array) -> list[int]:
    """The numbers of the rows that these are; none if one is not among them."""
    found: list[int] = []
    whole = np.nan_to_num(whole)
    near = CLOSE * max(1e-3, np.abs(whole).max())
    for row in np.nan_to_num(rows):
        off = np.abs(whole - row).max(1)
        if not off.min() < near:
            return []
        found.append(int(off.argmin()))
    return found


def repeated(rows: Array) -> tuple[int, int] | None:
    """The first row that equals an earlier one, and that one."""
    unit = 1e-6 * max(float(np.abs(rows).max(initial=0)), 1e-9)
    seen: dict[bytes, int] = {}
    for later, row in enumerate(np.round(rows / unit) + 0.0):
        earlier = seen.setdefault(row.tobytes(), later)
        if earlier < later:
            return later, earlier
    return None
