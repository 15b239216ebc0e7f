"""Tensors as text, like PyTorch's.

    tensor([[1.0000, 0.5000],
            [0.2500, 0.1250]], dtype=gradsmith.float64, requires_grad=True)

All numbers of a tensor are written alike, in one width.  A `_Style` decides how from the
values that will be shown; the layout functions then join the written numbers, at most
``edgeitems`` at either end of a dimension once the tensor has more than ``threshold``
elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.dtypes import bool_, default_complex_dtype, get_default_dtype, int64
from gradsmith.runtime.graph.indexed_rows import indexed_rows
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.graph.tensor_api import data_of, is_batched, refused
from gradsmith.runtime.switches import upcalls

if TYPE_CHECKING:
    from gradsmith.runtime.graph.indexed_rows import IndexedRows

    Array = np.ndarray[Any, Any]

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


class PrintOptions(NamedTuple):
    """Options that `set_printoptions` sets and documents."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


# Classes whose objects are shown as tensors; others by their own names.
SHOWN_AS_TENSORS = ("Tensor", "Parameter", "MaterializedBuffer")

PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

_options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are shown; what is not given stays as it is.

    Parameters
    ----------
    precision : int
        Digits after the point (4).
    threshold : int
        Number of elements above which a tensor is shortened (1000).
    edgeitems : int
        Elements shown at either end of a shortened dimension (3).
    linewidth : int
        Characters per line (80).
    profile : str
        ``"default"``, ``"short"`` or ``"full"``: sets all of the above first.
    sci_mode : bool
        Whether to write numbers with an exponent; with a profile or at first, that is
        decided for each tensor by its values.
    """
    global _options
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"set_printoptions(): unknown profile {profile!r}; there are {', '.join(PROFILES)}")
    given: dict[str, Any] = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth,
        "sci_mode": sci_mode,
    }  # fmt: skip
    start = _options if profile is None else PROFILES[profile]
    _options = start._replace(**{name: value for name, value in given.items() if value is not None})


def get_printoptions() -> dict[str, Any]:
    """The options in force, as a dict that `set_printoptions` takes."""
    return _options._asdict()


@contextmanager
def printoptions(**changes: Any) -> Iterator[None]:
    """Show tensors with other options inside a ``with`` block; takes what `set_printoptions` takes."""
    global _options
    before = _options
    set_printoptions(**changes)
    try:
        yield
    finally:
        _options = before


def tensor_repr(tensor: Any) -> str:
    """The text that ``repr`` gives for a tensor."""
    rows = indexed_rows(tensor)
    if rows is not None:
        return _indexed_repr(tensor, rows)
    own_name = type(tensor).__name__
    prefix = "tensor(" if own_name in SHOWN_AS_TENSORS else f"{own_name}("
    if is_batched(array_behind(tensor)):
        return _batched_repr(tensor, prefix)
    if tensor.is_meta:
        return _with_suffixes(prefix + "...", _suffixes_without_data(tensor), len(prefix))
    array = tensor.numpy(force=True)
    return _with_suffixes(prefix + text_of_numbers(array, len(prefix)), _suffixes(tensor, array), len(prefix))


def _indexed_repr(tensor: Any, rows: IndexedRows) -> str:
    """The rows that an indexed gradient has, and their indices."""
    parts = (("indices", rows.indices[None]), ("values", rows.values))
    shown = [f"{name}={_array_text(part, len(name) + 8)}" for name, part in parts]
    return ",\n       ".join((f"tensor({shown[0]}", shown[1], f"size={tensor.shape}, nnz={len(rows.values)})"))


def _batched_repr(tensor: Any, prefix: str) -> str:
    """The data of all slices, and how many calls of `vmap` are around them."""
    array = array_behind(tensor)
    if array.base.is_traced:  # type: ignore[union-attr]
        raise refused(array, "repr(), and so print(),")
    data, depth = data_of(array), 1
    while is_batched(array_behind(data)):
        data, depth = data_of(array_behind(data)), depth + 1
    facts = [f"size={tensor.shape}", f"batched={depth}"]
    if data.is_meta:
        return _with_suffixes(prefix + "...", iter(("device='meta'", *facts)), len(prefix))
    values = _array_text(data.numpy(force=True), len(prefix))
    return _with_suffixes(prefix + values, iter(facts), len(prefix))


def _suffixes(tensor: Any, array: Array) -> Iterator[str]:
    """The suffix after the numbers: size when there are none, dtype when it is not implied, history."""
    if array.size == 0 and array.ndim != 1:
        yield f"size={array.shape}"
    if array.dtype not in _implied_dtypes(array):
        yield f"dtype=gradsmith.{array.dtype.name}"
    yield from history(tensor)
    yield from _tangent(tensor)


def _suffixes_without_data(tensor: Any) -> Iterator[str]:
    yield "device='meta'"
    yield f"size={tensor.shape}"
    if tensor.dtype != get_default_dtype():
        yield f"dtype=gradsmith.{tensor.dtype.name}"
    yield from history(tensor)
    yield from _tangent(tensor)


def history(tensor: Any) -> Iterator[str]:
    """How the tensor was computed, or that it requires grad."""
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view that may not be used any more can still be looked at
        yield "grad_fn=<Invalid>"
        return
    if node is not None:
        yield f"grad_fn=<{node.name()}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"


def _tangent(tensor: Any) -> Iterator[str]:
    """The tangent of the innermost level. One that is being traced has no numbers to show."""
    tangent = upcalls.innermost_tangent(tensor)
    if tangent is not None:
        traced = getattr(array_behind(tangent).base, "is_traced", False)
        yield f"tangent={'...' if traced else tensor_repr(tangent)}"


def _implied_dtypes(array: Array) -> tuple[np.dtype[Any], ...]:
    default = get_default_dtype()
    return (default, default_complex_dtype(), int64, bool_) if array.size else (default,)


def _with_suffixes(text: str, suffixes: Iterator[str], indent: int) -> str:
    """Append each suffix, on a new line when the last one would become too long."""
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            last_line = indent + len(suffix)
        else:
            text += ", " + suffix
            last_line += len(suffix) + 2
    return text + ")"


# ---- one number


class _Style:
    """The style in which every real number of an array is written."""

    def __init__(self, values: Array) -> None:
        self.floating = values.dtype.kind == "f"
        self.scientific = bool(_options.sci_mode)
        self.integral = True
        written = values.ravel()
        if self.floating:
            # Double precision, so that the ratio of extremes does not overflow.
            written = written[np.isfinite(written) & (written != 0)].astype(np.float64)
            self._look_at(np.abs(written))
        texts = map(self._text, written.tolist())
        self.width = max(map(len, texts), default=1)

    def _look_at(self, sizes: Array) -> None:
        if sizes.size == 0:
            self.scientific = False
            return
        self.integral = bool(np.all(sizes == np.ceil(sizes)))
        largest, smallest = float(sizes.max()), float(sizes.min())
        if _options.sci_mode is None:
            self.scientific = largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4

    def _text(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{_options.precision}e}"
        if self.integral:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{_options.precision}f}"

    def write(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


class _ComplexStyle:
    """The style of every complex number of an array: each part has one of its own."""

    def __init__(self, values: Array) -> None:
        self.real, self.imaginary = _Style(values.real), _Style(values.imag)
        self.width = self.real.width + self.imaginary.width + 1

    def write(self, value: Any) -> str:
        imaginary = self.imaginary.write(value.imag).lstrip() + "j"
        sign = "" if imaginary.startswith("-") else "+"
        return self.real.write(value.real) + sign + imaginary


def number_style(values: Array) -> _Style | _ComplexStyle:
    """The style in which all numbers of an array are written."""
    return _ComplexStyle(values) if values.dtype.kind == "c" else _Style(values)


# ---- the whole


def text_of_numbers(array: Array, indent: int) -> str:
    """The numbers of an array in brackets, where lines after the first are indented."""
    return _array_text(array, indent) if array.size else "[]"


def _array_text(array: Array, indent: int) -> str:
    shortened = array.size > _options.threshold
    shown = _ends(array) if shortened else array
    return _nested(array, indent, number_style(shown), shortened)


def _ends(array: Array) -> Array:
    """The array without the middle of every long dimension."""
    edge = _options.edgeitems
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            kept = [*range(edge), *range(length - edge, length)]
            array = array.take(kept, axis)
    return array


def _nested(array: Array, indent: int, style: _Style | _ComplexStyle, shortened: bool) -> str:
    if array.ndim == 0:
        return style.write(array.item())
    if array.ndim == 1:
        return _line(array, indent, style, shortened)
    before, after = _split(array, shortened)
    rows = [_nested(row, indent + 1, style, shortened) for row in before]
    if after is not None:
        rows += ["...", *(_nested(row, indent + 1, style, shortened) for row in after)]
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(rows)}]"


def _line(array: Array, indent: int, style: _Style | _ComplexStyle, shortened: bool) -> str:
    """The numbers of one row, broken into lines."""
    before, after = _split(array, shortened)
    texts = [style.write(value) for value in before.tolist()]
    if after is not None:
        texts += [" ...", *(style.write(value) for value in after.tolist())]
    per_line = max(1, (_options.linewidth - indent) // (style.width + 2))
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    return f"[{(',' + chr(10) + ' ' * (indent + 1)).join(lines)}]"


def _split(array: Array, shortened: bool) -> tuple[Array, Array | None]:
    """The part at either end that is shown; no second part when all is."""
    edge = _options.edgeitems
    if not shortened or len(array) <= 2 * edge:
        return array, None
    return array[:edge], array[len(array) - edge :]
