"""Which rows came in place of others, and which are the same."""

import contextlib

import numpy as np

from pe_lib.check.call import Array, ForeignError, UnaskedError
from pe_lib.check.reader import CLOSE, Reader


def looks_like(r: Reader, got: Array, want: Array) -> str:
    """How what came differs from what was wanted, in words."""
    if np.isnan(got).any() and not np.isnan(want).any():
        return "NaN"
    got, want = np.broadcast_arrays(got, want)
    each = range(len(got))
    bad = next((i for i in each if r.differ(got[[i]], want[[i]])), 0)
    where = f" in sequence {bad}" * (bad > 0)
    d, names = r.width, r.parts
    off = np.abs(got - want).max(axis=(0, 1, 2))
    apart = [i for i in range(len(names)) if (off[i * d :][:d] > CLOSE).any()]
    columns = slice(None)
    if len(apart) == 1 < len(names):
        columns = slice(apart[0] * d, apart[0] * d + d)
        where += f" in the {names[apart[0]]}"
    rows, wanted = (y[bad, 0][:, columns] for y in (got, want))
    with contextlib.suppress(ForeignError, UnaskedError):
        whole = r.answer(r.alone(r.limit))[0, 0][:, columns]
        which = same_rows(rows, whole)
        if which and which != same_rows(wanted, whole):
            shown = ", ".join(map(str, which[:4])) + ", ..." * (len(which) > 4)
            return f"the rows are those of positions {shown}{where}"
    off = np.nan_to_num(np.abs(rows - wanted))
    bad_rows = int((off.max(1) > CLOSE * np.abs(wanted).max(initial=1e-3)).sum())
    if not bad_rows:  # in other heads than the rows are of
        most = np.nan_to_num(np.abs(got - want)).max(initial=0)
        return f"numbers differ, by up to {most:.2g}{where}"
    share = f"{bad_rows} of {len(rows)} rows differ"
    return f"{share}, by up to {off.max(initial=0):.2g}{where}"


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
