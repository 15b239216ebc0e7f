"""NumPy's statistics: variances, averages, quantiles, histograms."""

from __future__ import annotations

import math
from typing import Any

import gradsmith.generated as generated
from gradsmith.generated import where as chosen
from gradsmith.numpy import reductions
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axes_of,
    by_numpy,
    common,
    delivered,
    exact,
    floating,
    is_recorded,
    np,
    of_dtype,
    reduced_axes,
    unwrapped,
    without_data,
    wrapped,
)


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    if correction is not NO_VALUE:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = floating(as_tensor(a))
    x = x if dtype is None else of_dtype(x, dtype)
    if mean is NO_VALUE and where is NO_VALUE and x.dtype.kind == "f" and reduced_axes(axis, x.ndim) and x.numel():
        axes = reduced_axes(axis, x.ndim)
        found = generated.var(x, axes, correction=ddof, keepdim=_keeps(keepdims))
        return delivered(found, out)
    center = reductions.mean(x, axis, keepdims=True, where=where) if mean is NO_VALUE else as_tensor(mean)
    distance = x - center
    squares = distance * distance if x.dtype.kind == "f" else distance.real**2 + distance.imag**2
    count = reductions._count(x, axis, keepdims, where)
    total = reductions.sum(squares, axis, None, None, keepdims, NO_VALUE, where)
    return delivered(
        total / (np.maximum(count - ddof, 0) if isinstance(count, int) else (count - ddof).clamp(min=0)), out
    )


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    options = {"where": where, "mean": mean, "correction": correction}
    return delivered(var(a, axis, dtype, None, ddof, keepdims, **options).sqrt(), out)


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    mask = reductions.present(a, where)
    found = var(
        reductions._filled(a, 0), axis, dtype, None, ddof, keepdims, where=mask, mean=mean, correction=correction
    )
    taken = correction if correction is not NO_VALUE else ddof
    few = reductions._count(as_tensor(a), axis, keepdims, mask) <= taken
    return delivered(chosen(few, as_tensor(np.nan, found.dtype), found), out)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    options = {"where": where, "mean": mean, "correction": correction}
    return delivered(nanvar(a, axis, dtype, None, ddof, keepdims, **options).sqrt(), out)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    x = as_tensor(a)
    if weights is None:
        result = reductions.mean(x, axis, keepdims=keepdims)
        total = as_tensor(float(reductions._count(x, axis, keepdims, NO_VALUE)), result.dtype)
    else:
        shares = _shares(x, as_tensor(weights), axis)
        x, shares = common([floating(x), shares])
        total = reductions.sum(shares, axis, keepdims=keepdims)
        if not without_data([total]) and bool(reductions.any(total == 0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = reductions.sum(x * shares, axis, keepdims=keepdims) / total
    return (result, total.expand(result.shape)) if returned else result


def _shares(x: Any, weights: Any, axis: Any) -> Any:
    """Weights in the shape of what they weigh."""
    if tuple(weights.shape) == tuple(x.shape):
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(axis, x.ndim)
    if tuple(weights.shape) != tuple(x.shape[one] for one in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=lambda place: axes[place])
    sizes = [n if place in axes else 1 for place, n in enumerate(x.shape)]
    return weights.permute(order).reshape(sizes).expand(x.shape)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _variables(m, y, rowvar, dtype)
    correction = (0 if bias else 1) if ddof is None else int(ddof)
    weights = [None if one is None else as_tensor(one) for one in (fweights, aweights)]
    if weights[1] is not None:
        weights[1] = floating(weights[1])
    found = generated.cov(x, correction=correction, fweights=weights[0], aweights=weights[1])
    return found.squeeze()


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Variables in rows, observations in columns."""
    tables = [as_tensor(m)] + ([] if y is None else [as_tensor(y)])
    if max(table.ndim for table in tables) > 2:
        raise ValueError("m and y have at most two dimensions")
    rows: list[Any] = []
    for table in common([floating(table) for table in tables]):
        two = table.reshape(1, -1) if table.ndim < 2 else table
        rows.append(two if rowvar or (two.shape[0] == 1 and not rows) else two.T)
    x = rows[0] if len(rows) == 1 else generated.cat(rows, 0)
    return of_dtype(x, np.result_type(x.dtype, np.float64) if dtype is None else dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    scale = c.diagonal().real.sqrt() if c.dtype.kind == "c" else c.diagonal().sqrt()
    found = c / scale.unsqueeze(1) / scale.unsqueeze(0)
    return found if c.dtype.kind == "c" else found.clamp(-1, 1)


# ---- quantiles


def _ranked(name: str, a: Any, arguments: Any, axis: Any, keepdims: Any, out: Any, **options: Any) -> Any:
    """A quantile of elements, by the same quantile of their ranks.

    NumPy gives a place between two ranks, by any of its methods; the result is the same place between two of the sorted
    elements, of which it is a linear function.
    """
    x = floating(as_tensor(a))
    if x.dtype.kind == "c" and "median" not in name:
        raise TypeError(f"{name}: a must be an array of real numbers")
    axes = axes_of(axis, x.ndim)
    rows = x.movedim(axes, tuple(range(-len(axes), 0))) if axes else x.unsqueeze(-1)
    rows = rows.reshape((*rows.shape[: x.ndim - len(axes)], math.prod(rows.shape[x.ndim - len(axes) :])))
    if not rows.shape[-1] and "median" in name:
        return delivered(
            _kept(rows.sum(-1) * np.nan, 0, axes, x.ndim) if _keeps(keepdims) else rows.sum(-1) * np.nan, out
        )
    plain = not name.startswith("nan") and options.get("weights") is None and rows.shape[-1] and x.dtype.kind == "f"
    found, ahead = (_of_order if plain else _of_ranks)(name, x, rows, axis, arguments, options)
    found = of_dtype(found, _dtype_of_quantile(name, as_tensor(a).dtype, arguments, options))
    return delivered(_kept(found, ahead, axes, x.ndim) if _keeps(keepdims) else found, out)


def _keeps(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _dtype_of_quantile(name: str, kind: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """NumPy's, which depends on the method and on whether `q` is a Python number."""
    given = {key: value for key, value in options.items() if key != "weights"}
    return np.asarray(getattr(np, name)(np.ones(2, kind), *unwrapped(arguments), **given)).dtype


# Of n sorted elements a quantile is at the place n * q + a + q * (1 - a - b) - 1, counted from 0. Methods that are not
# here give one of the elements, or the middle of two, whatever small change `q` undergoes.
_CONTINUOUS = {
    "linear": (1.0, 1.0), "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip


def _motion(name: str, arguments: Any, options: dict[str, Any], count: Any) -> Any:
    """What a change of `q` adds to the places among `count` elements: zero, with a history; None where there is none.

    `count` is a number, or an array with one for each row; the dimension of `q` is the last one.
    """
    q = as_tensor(arguments[0]) if arguments and not isinstance(arguments[0], (int, float)) else None
    if q is None or not is_recorded(q) or options.get("weights") is not None:
        return None
    q = q.reshape(-1) / (100 if name.endswith("percentile") else 1)
    values, ends = array_of(q), _CONTINUOUS.get(options["method"])
    if ends is None:
        return None
    rate = np.asarray(count)[..., None] + 1 - sum(ends)
    places = rate * values + ends[0] - 1
    rate = np.where((places >= 0) & (places <= np.asarray(count)[..., None] - 1), rate, 0.0)
    return wrapped(rate) * (q - wrapped(values.copy()))


def _of_order(name: str, x: Any, rows: Any, axis: Any, arguments: Any, options: dict[str, Any]) -> tuple[Any, int]:
    """Without NaN and weights, the places are the same in all rows."""
    options.pop("weights", None)
    ranks = np.arange(rows.shape[-1], dtype=np.float64)
    places = np.asarray(getattr(np, name)(ranks, *unwrapped(arguments), **options))
    ordered = generated.sort(rows, -1, stable=True)[0]
    low = np.floor(places.reshape(-1)).astype(np.int64)
    high = np.minimum(low + 1, rows.shape[-1] - 1)
    below, above = (ordered.index_select(-1, wrapped(at)) for at in (low, high))
    share, motion = wrapped(places.reshape(-1) - low), _motion(name, arguments, options, rows.shape[-1])
    found = _lerp(below, above, share if motion is None else share + motion)
    found = chosen(ordered.narrow(-1, rows.shape[-1] - 1, 1).isnan(), as_tensor(np.nan, found.dtype), found)
    found = found.movedim(-1, 0)
    return found.reshape((*places.shape, *rows.shape[:-1])), places.ndim


def _lerp(below: Any, above: Any, share: Any) -> Any:
    """Between two elements; no difference of infinities is taken at the first of them."""
    way = above - below
    is_first = share == 0
    if is_recorded(share):
        is_first = is_first & way.isfinite().logical_not()
    return chosen(is_first, below, below + way * of_dtype(share, below.dtype))


def _of_ranks(name: str, x: Any, rows: Any, axis: Any, arguments: Any, options: dict[str, Any]) -> tuple[Any, int]:
    if options.get("weights") is not None:
        shares = _shares(x, as_tensor(options["weights"]), axis)
        options["weights"] = _as_rows(shares, axes_of(axis, x.ndim), x.ndim)
    given = unwrapped(arguments)
    *places, counts = by_numpy(_places, name, rows.detach(), given, options)
    is_moved = arguments and is_recorded(as_tensor(arguments[0]))
    motion = _motion(name, arguments, options, array_of(counts)) if is_moved else None
    shape = (*np.shape(given[0] if given else 0.5), *rows.shape[:-1])
    return _between(rows, places, motion, shape), len(shape) - (rows.ndim - 1)


def _places(name: str, values: Any, arguments: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Of rows: the order, where between its elements what is asked for lies, or whether it is NaN, and the numbers.

    NaN is not counted.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1, kind="stable").astype(np.float64)
    ranks[np.isnan(values)] = np.nan
    places = np.asarray(getattr(np, name)(ranks, *arguments, axis=-1, **options))
    ahead = places.ndim - (values.ndim - 1)
    last = np.moveaxis(places.reshape(math.prod(places.shape[:ahead]), *places.shape[ahead:]), 0, -1)
    known = np.nan_to_num(last)
    low = np.floor(known).astype(np.int64)
    high = np.minimum(low + 1, order.shape[-1] - 1)
    found = order, low, high, known - low, np.isnan(last)
    return (*map(np.ascontiguousarray, found), (~np.isnan(values)).sum(-1))


def _as_rows(x: Any, axes: tuple[int, ...], ndim: int) -> Any:
    rows = x.movedim(axes, tuple(range(-len(axes), 0)))
    return rows.reshape((*rows.shape[: ndim - len(axes)], math.prod(rows.shape[ndim - len(axes) :])))


def _between(rows: Any, places: Any, motion: Any, shape: Any) -> Any:
    """Elements at what `_places` gives, which has the dimensions of `q` last."""
    order, low, high, share, missing = places
    ordered = generated.gather(rows, -1, order)
    below, above = (generated.gather(ordered, -1, at) for at in (low, high))
    found = _lerp(below, above, share if motion is None else share + motion)
    found = chosen(missing, as_tensor(np.nan, found.dtype), found)
    return found.movedim(-1, 0).reshape(shape)


def _kept(found: Any, ahead: int, axes: tuple[int, ...], ndim: int) -> Any:
    for axis in sorted(axes):
        found = found.unsqueeze(ahead + axis)
    return found


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _ranked("median", a, (), axis, keepdims, out)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NO_VALUE
) -> Any:
    return _ranked("nanmedian", a, (), axis, keepdims, out)


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _ranked("quantile", a, (q,), axis, keepdims, out, method=method, weights=weights)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _ranked("nanquantile", a, (q,), axis, keepdims, out, method=method, weights=weights)


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _ranked("percentile", a, (q,), axis, keepdims, out, method=method, weights=weights)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _ranked("nanpercentile", a, (q,), axis, keepdims, out, method=method, weights=weights)


# ---- histograms: differentiable by the weights, and their edges by the ends


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    places = as_tensor(x)
    shares = None if weights is None else of_dtype(as_tensor(weights), np.float64)
    if shares is not None and (is_recorded(shares) or without_data([shares])):
        return _summed_by_places(places, shares, int(minlength))
    return wrapped(np.bincount(array_of(places), None if shares is None else array_of(shares), minlength))


def _summed_by_places(places: Any, shares: Any, minlength: int) -> Any:
    """In a `vmap` the length has to follow from places that are the same for all slices."""
    if without_data([places]) or not without_data([shares]):
        return generated.bincount(places, shares, minlength)
    length = max([minlength, *(array_of(places) + 1).tolist()])
    return shares.new_zeros(length).index_add(0, of_dtype(places, np.int64), shares)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    column = as_tensor(a).reshape(-1)
    edges = _edges_by_numpy(column, bins, range, weights)
    counts = _binned([column], [edges], weights)
    moving = _edges(edges, column, bins, range)
    return (_density(counts, [moving]) if density else counts), moving


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    column = as_tensor(a).reshape(-1)
    return _edges(_edges_by_numpy(column, bins, range, weights), column, bins, range)


def _edges_by_numpy(column: Any, bins: Any, range: Any, weights: Any) -> Any:
    if isinstance(bins, str):  # whose number depends on the values; weights have a say in nothing but an error
        return np.histogram_bin_edges(array_of(column), bins, unwrapped(range), unwrapped(weights))
    return by_numpy(np.histogram_bin_edges, column.detach(), bins, range)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    columns = [as_tensor(one) for one in (x, y)]
    edges = by_numpy(_edges_of_two, [one.detach() for one in columns], bins, range)
    counts, moving = _of_several(columns, edges, _bins_of_two(bins), range, density, weights)
    return (counts, *moving)


def _edges_of_two(columns: Any, bins: Any, range: Any) -> Any:
    return np.histogram2d(*columns, bins, range)[1:]


def _bins_of_two(bins: Any) -> Any:
    """As NumPy reads it: what has another length than one or two are the edges of both."""
    return [bins, bins] if _are_several(bins) and len(bins) not in (1, 2) else bins


def _are_several(bins: Any) -> bool:
    return isinstance(bins, (list, tuple)) or getattr(bins, "ndim", 0) > 0


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if type(sample) in (list, tuple):
        columns = [as_tensor(one) for one in sample]
    else:
        table = as_tensor(sample)
        columns = list((table.unsqueeze(1) if table.ndim == 1 else table).unbind(1))
    edges = by_numpy(_edges_of_several, [one.detach() for one in columns], bins, range)
    counts, moving = _of_several(columns, list(edges), bins, range, density, weights)
    return counts, tuple(moving)


def _edges_of_several(columns: Any, bins: Any, range: Any) -> Any:
    return tuple(np.histogramdd(columns, bins, range)[1])


def _of_several(columns: Any, edges: Any, bins: Any, range: Any, density: Any, weights: Any) -> tuple[Any, list[Any]]:
    counts = _binned(columns, edges, weights, np.float64)
    each = list(bins) if _are_several(bins) else [bins] * len(edges)
    each = each * len(edges) if len(each) == 1 else each
    ranges = [None] * len(edges) if range is None else list(range)
    moving = [_edges(*one) for one in zip(edges, columns, each, ranges)]
    return (_density(counts, moving) if density else counts), moving


def _edges(edges: Any, column: Any, bins: Any, range: Any) -> Any:
    """NumPy's edges as a tensor: those that were given, or at even distances between ends that may have a history."""
    if not isinstance(bins, str) and len(as_tensor(bins).shape):
        return of_dtype(as_tensor(bins), edges.dtype)
    if range is None and (exact(column) or not column.numel()):
        return wrapped(edges)
    ends = (column.min(), column.max()) if range is None else range
    low, high = (as_tensor(end, np.float64) for end in ends)
    if not (is_recorded(low) or is_recorded(high)):
        return wrapped(edges)
    share = wrapped(np.linspace(0.0, 1.0, len(edges)))
    moved = (1 - share) * (low - wrapped(array_of(low).copy())) + share * (high - wrapped(array_of(high).copy()))
    return wrapped(edges) + of_dtype(moved, edges.dtype)


def _binned(columns: list[Any], edges: list[Any], weights: Any, dtype: Any = None) -> Any:
    """Sums of weights in the bins."""
    columns = [one.detach() for one in columns]
    if weights is None:
        return by_numpy(_counts, columns, edges, dtype)
    shares = as_tensor(weights).reshape(-1)
    if exact(shares):
        shares = shares.to(np.float64 if dtype is not None else shares.dtype)
    sizes = [len(one) - 1 for one in edges]
    kept, places = _bins_of(unwrapped(columns), unwrapped(edges))
    return shares.new_zeros(math.prod(sizes)).index_add(0, wrapped(places), shares[wrapped(kept)]).reshape(sizes)


def _counts(columns: list[Any], edges: list[Any], dtype: Any) -> Any:
    sizes = [len(one) - 1 for one in edges]
    counts = np.bincount(_bins_of(columns, edges)[1], minlength=math.prod(sizes))
    return (counts if dtype is None else counts.astype(dtype)).reshape(sizes)


def _bins_of(columns: list[Any], edges: list[Any]) -> tuple[Any, Any]:
    """Which elements lie in a bin, and in which."""
    inside = np.ones(len(columns[0]), bool)
    places = np.zeros(len(columns[0]), np.int64)
    for column, edge in zip(columns, edges):
        size = len(edge) - 1
        at = np.searchsorted(edge, column, side="right") - 1
        at = np.where(column == edge[-1], size - 1, at)
        inside &= (at >= 0) & (at < size) & (column <= edge[-1])
        places = places * size + np.clip(at, 0, max(size - 1, 0))
    kept = np.flatnonzero(inside)
    return kept, places[kept]


def _density(counts: Any, edges: list[Any]) -> Any:
    widths: Any = 1.0
    for place, edge in enumerate(edges):
        shape = [1] * len(edges)
        shape[place] = -1
        widths = widths * of_dtype(edge[1:] - edge[:-1], np.float64).reshape(shape)
    counts = of_dtype(counts, np.float64) if exact(counts) else counts
    return counts / widths / counts.sum()
