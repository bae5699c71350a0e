"""What the functions of pe_lib accept, and the errors that say so.

Every check returns its value in the type that the formulas need, or raises
an error that names the argument, what it must be and what came.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

LARGEST_POSITION = 2**31
LARGEST_BASE = 1e300  # so that the longest wavelength is a float
FLOAT_DTYPES = ("float64", "float32", "float16", "bfloat16")

Encode = Callable[[int], ArrayLike]
"""A function from a length to a table of encodings, [length, d_model]."""


def short_repr(value: Any) -> str:
    """What came, for an error: its repr in one line of at most 80 characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes out no integer of more than 4,300 digits
        text = f"an integer of {value.bit_length()} bits"
    return text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"


def as_integer(name: str, value: Any, *, at_least: int | None = None) -> int:
    """Return `value` as an int; a bool or a float is a TypeError."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {short_repr(value)}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must fit 64 bits, got {short_repr(number)}")
    if at_least is not None and number < at_least:
        raise ValueError(
            f"{name} must be at least {at_least}, got {short_repr(number)}"
        )
    return number


def as_integers(
    name: str, value: ArrayLike, *, at_least: int | None = None
) -> NDArray[np.integer[Any]]:
    """Return `value` as an array of integers; booleans and floats are a TypeError."""
    array = as_array(name, value)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    if at_least is not None and (array < at_least).any():
        raise ValueError(f"{name} must be at least {at_least}, got {array.min()}")
    return array


def as_number(name: str, value: Any) -> float:
    """Return `value`, a single real number, as a float."""
    number = as_reals(name, value)
    if number.ndim:
        raise TypeError(f"{name} must be a single number, got shape {number.shape}")
    return float(number)


def as_base(value: Any) -> float:
    """Return `base` as a finite float above 1."""
    base = as_number("base", value)
    if not 1 < base <= LARGEST_BASE:
        raise ValueError(
            f"base must be finite and above 1, at most {LARGEST_BASE}, "
            f"got {short_repr(value)}"
        )
    return base


def as_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above 0."""
    number = as_number(name, value)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a positive number, got {short_repr(value)}")
    return number


def as_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`."""
    for choice in choices:
        if isinstance(value, str) and value == choice:
            return choice
    allowed = " or ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be {allowed}, got {short_repr(value)}")


def as_flag(name: str, value: Any) -> bool:
    """Return `value`, True or False and nothing that merely counts as one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {short_repr(value)}")
    return bool(value)


def as_positions(value: ArrayLike, name: str = "positions") -> NDArray[np.float64]:
    """Return `value` as float64, every one finite and within 2**31."""
    return _reals_within_limit(name, value)


def as_offset(value: Any) -> float:
    """Return `offset`, a single real number, finite and within 2**31."""
    offset = _reals_within_limit("offset", value)
    if offset.ndim:
        raise TypeError(f"offset must be a single number, got shape {offset.shape}")
    return float(offset)


def as_offsets(value: ArrayLike) -> NDArray[np.float64]:
    """Return `offsets`, real numbers of any shape, finite and within 2**31."""
    return _reals_within_limit("offsets", value)


def as_even_width(
    d_model: Any, otherwise: str = "so no matrix shifts it by every offset"
) -> int:
    """Return `d_model` as an even int: a lone sine has no cosine, and `otherwise`."""
    width = as_integer("d_model", d_model, at_least=1)
    if width % 2:
        raise ValueError(
            f"d_model must be even, got {width}: the last sine of an odd width "
            f"has no cosine, {otherwise}"
        )
    return width


def as_rotary_dim(rotary_dim: Any, head_dim: int) -> int:
    """Return how many numbers of a head turn: an even number; None is all."""
    if rotary_dim is None:
        if head_dim % 2:
            raise ValueError(f"head_dim must be even, got {head_dim}")
        return head_dim
    width = as_integer("rotary_dim", rotary_dim, at_least=2)
    if width % 2 or width > head_dim:
        raise ValueError(
            f"rotary_dim must be even and at most head_dim = {head_dim}, got {width}"
        )
    return width


def as_float_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return `value` as an array of one of the dtypes that pe_lib rounds to."""
    array = as_array(name, value)
    if array.dtype.name not in FLOAT_DTYPES:
        raise TypeError(
            f"{name} must have dtype {', '.join(FLOAT_DTYPES)}; got {array.dtype}"
        )
    return array


def as_callable(name: str, value: Any) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise TypeError(f"{name} must be callable, got {short_repr(value)}")


def as_table(
    name: str, value: ArrayLike, length: int | None = None
) -> NDArray[np.float64]:
    """Return `value` as finite numbers of shape [length, d_model]; None is any."""
    table = as_reals(name, value)
    if table.ndim != 2 or not table.shape[1] or length not in (None, len(table)):
        rows = "length" if length is None else length
        raise ValueError(f"{name} must have shape [{rows}, d_model], got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in it")
    return table


def as_targets(
    name: str, value: ArrayLike, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The queries that have a target, and their targets."""
    targets = as_integers(name, value)
    if targets.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got {targets.shape}")
    queries = np.flatnonzero((targets >= 0) & (targets < length))
    if not queries.size:
        raise ValueError(
            f"{name} must lie within 0 and {length - 1} for at least one query, "
            f"got {targets.min()} to {targets.max()}"
        )
    return queries, targets[queries].astype(np.int64)


def as_float_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return `dtype` as one of the dtypes that pe_lib rounds to."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found.name not in FLOAT_DTYPES:
        raise TypeError(
            f"dtype must be NumPy's {', '.join(FLOAT_DTYPES)}; got {short_repr(dtype)}"
        )
    return found


def round_once(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round float64 values to `dtype`, 16-bit types by way of float32."""
    return via_float32(values, dtype).astype(dtype, copy=False)


def via_float32(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values from which `dtype` is rounded: float32 for 16-bit types.

    These are the float32 value rounded, so that every path to them (function,
    table, module) gives the same bits.
    """
    return values.astype(np.float32) if dtype.itemsize < 4 else values


def as_array(name: str, value: Any) -> NDArray[Any]:
    """Return `value` as an array, if its rows have one length and none is masked.

    A tensor is detached; NumPy has no bfloat16, so its numbers come as float32.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"{name} must have no masked entries, got {short_repr(value)}")
    try:
        given: Any = value
        if hasattr(given, "detach"):  # a tensor, of torch or like it
            given = given.detach().cpu()
            given = given.float() if str(given.dtype) == "torch.bfloat16" else given
        return np.asarray(given)
    except (RuntimeError, TypeError, ValueError):  # of torch: sparse, meta, a list
        raise TypeError(
            f"{name} must be an array of real numbers, with rows of equal length, "
            f"got {short_repr(value)}"
        ) from None


def as_reals(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return `value` as float64, if it holds real numbers and no booleans."""
    array = as_array(name, value)
    if array.dtype == object and {type(item) for item in array.flat} == {int}:
        # NumPy keeps Python's integers as objects where 64 bits do not hold them.
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{name} must fit a float, got {short_repr(value)}"
            ) from None
    if array.dtype == bool or not np.can_cast(array.dtype, np.float64, "safe"):
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    return array.astype(np.float64)


def _reals_within_limit(name: str, value: ArrayLike) -> NDArray[np.float64]:
    dtype = str(getattr(value, "dtype", ""))
    if dtype.endswith("float16"):
        raise TypeError(
            f"{name} must be integers, float32 or float64, got {dtype}, in which "
            "neighbours are equal: pass them as they were before they were cast"
        )
    numbers = as_reals(name, value)
    bad = numbers[~np.isfinite(numbers)]
    if bad.size:
        raise ValueError(f"{name} must be finite, got {bad.flat[0]}")
    bad = numbers[np.abs(numbers) > LARGEST_POSITION]
    if bad.size:
        raise ValueError(
            f"{name} must lie within -2**31 and 2**31, got {bad.flat[0]:.17g}"
        )
    return numbers
