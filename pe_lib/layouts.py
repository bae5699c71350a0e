"""Where the sine and the cosine of each pair are in the encoding."""

from pe_lib._arguments import as_choice, as_integer

LAYOUTS = ("interleaved", "half_split")


def layout_columns(d_model: int, layout: str) -> tuple[slice, slice]:
    """The columns of the sines and the columns of the cosines.

    "interleaved" is sin w0, cos w0, sin w1, cos w1, ... as printed by Vaswani
    et al. (2017), section 3.5. "half_split" is all K = ceil(d_model / 2) sines,
    then the floor(d_model / 2) cosines; for even widths as in the authors'
    tensor2tensor. In an odd width the last sine is alone.

    Returns two slices of range(d_model); the j-th column of each belongs to
    frequency j. Raises TypeError if `d_model` is not an integer, ValueError if it
    is below 1 or the layout is unknown.

    >>> columns = ["a", "b", "c", "d"]
    >>> sines, cosines = layout_columns(4, "interleaved")
    >>> columns[sines], columns[cosines]
    (['a', 'c'], ['b', 'd'])
    >>> sines, cosines = layout_columns(4, "half_split")
    >>> columns[sines], columns[cosines]
    (['a', 'b'], ['c', 'd'])
    """
    d_model = as_integer("d_model", d_model, at_least=1)
    if as_choice("layout", layout, LAYOUTS) == "interleaved":
        return slice(0, None, 2), slice(1, None, 2)
    half = (d_model + 1) // 2
    return slice(0, half), slice(half, None)
