"""NumPy's functions of signals and samples, polynomials, and those that map a function over an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axes_of,
    axis_of,
    common,
    delivered,
    exact,
    floating,
    is_recorded,
    is_tensor,
    np,
    of_dtype,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.shapes import ndim
from gradsmith.numpy.ufuncs import ufunc

# ---- of each element


def angle(z: Any, deg: bool = False) -> Any:
    x = as_tensor(z)
    found = generated.atan2(x.imag, x.real) if x.dtype.kind == "c" else ufunc("arctan2")(0, x)
    return found * (180 / np.pi) if deg else found


def real(val: Any) -> Any:
    x = as_tensor(val)
    return x.real if x.dtype.kind == "c" else x


def imag(val: Any) -> Any:
    x = as_tensor(val)
    return x.imag if x.dtype.kind == "c" else as_tensor(np.zeros(tuple(x.shape), x.dtype))


def sinc(x: Any) -> Any:
    return generated.sinc(floating(as_tensor(x)))


def i0(x: Any) -> Any:
    return generated.i0(floating(as_tensor(x)))


def kaiser(M: Any, beta: Any) -> Any:
    if not is_tensor(beta):
        return wrapped(np.kaiser(M, beta))
    if M <= 1:
        return wrapped(np.ones(max(int(M), 0)))
    heights = np.sqrt(1 - np.linspace(-1.0, 1.0, int(M)) ** 2)
    return i0(beta * wrapped(heights)) / i0(beta)


def fix(x: Any, out: Any = None) -> Any:
    return ufunc("trunc")(x, out=out)


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    x = as_tensor(a)
    if exact(x):
        return delivered(wrapped(np.round(array_of(x), decimals)), out)
    if x.dtype.kind == "c":
        from gradsmith.generated.complex_numbers import complex_of_parts

        return delivered(complex_of_parts(round(x.real, decimals), round(x.imag, decimals)), out)
    if not decimals:
        return delivered(generated.round(x), out)
    if x.dtype == np.float16:
        return delivered(generated.round(x, decimals=int(decimals)), out)
    scale = 10.0 ** abs(decimals)
    found = generated.round(x * scale) / scale if decimals > 0 else generated.round(x / scale) * scale
    return delivered(found, out)


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return round(a, decimals, out)


# ---- differences and integrals


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    x = as_tensor(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return x
    axis = axis_of(axis, x.ndim)
    parts = [None if end is NO_VALUE else _end(end, x, axis) for end in (prepend, append)]
    if any(part is not None for part in parts):
        x = generated.cat(common([part for part in (parts[0], x, parts[1]) if part is not None]), axis)
    difference = ufunc("not_equal" if x.dtype.kind == "b" else "subtract")
    for _ in range(n):
        length = max(x.shape[axis] - 1, 0)
        x = difference(x.narrow(axis, min(1, x.shape[axis]), length), x.narrow(axis, 0, length))
    return x


def _end(value: Any, x: Any, axis: int) -> Any:
    end = as_tensor(value)
    return end.expand([1 if place == axis else n for place, n in enumerate(x.shape)]) if end.ndim == 0 else end


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = as_tensor(ary).reshape(-1)
    ends = [None if end is None else as_tensor(end).reshape(-1) for end in (to_begin, to_end)]
    if any(end is not None and not np.can_cast(end.dtype, x.dtype, "same_kind") for end in ends):
        raise TypeError(
            f"dtype of the ends must be compatible with input `ary` of dtype {x.dtype} under the same_kind rule"
        )
    parts = [ends[0], diff(x), ends[1]]
    return generated.cat([of_dtype(part, x.dtype) for part in parts if part is not None])


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    x = floating(as_tensor(f))
    axes = axes_of(axis, x.ndim)
    if len(varargs) not in (0, 1, len(axes)) or (len(varargs) == 1 and ndim(varargs[0]) and len(axes) > 1):
        raise TypeError("invalid number of arguments")
    spacings = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    found = tuple(_slopes(x, as_tensor(space, x.dtype), one, edge_order) for space, one in zip(spacings, axes))
    return found[0] if len(found) == 1 else found


def _slopes(x: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """Central differences of second order inside, one-sided ones at the ends."""
    count = x.shape[axis]
    if count < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    if spacing.ndim == 1 and spacing.shape[0] != count:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = diff(spacing) if spacing.ndim else spacing.expand(count - 1)
    y = x.movedim(axis, -1)
    before, after = steps[:-1], steps[1:]
    inner = (
        (y[..., 2:] - y[..., :-2]) / (2 * spacing)
        if spacing.ndim == 0
        else (
            -after / (before * (before + after)) * y[..., :-2]
            + (after - before) / (before * after) * y[..., 1:-1]
            + before / (after * (before + after)) * y[..., 2:]
        )
    )
    slopes = [_at_end(y, steps, edge_order, False), inner, _at_end(y, steps, edge_order, True)]
    return generated.cat(slopes, -1).movedim(-1, axis)


def _at_end(y: Any, steps: Any, edge_order: int, last: bool) -> Any:
    count = y.shape[-1]
    places = [count - 1, count - 2, count - 3] if last else [0, 1, 2]
    sign = -1.0 if last else 1.0
    near = steps[count - 2] if last else steps[0]
    if edge_order == 1:
        slope = (y[..., places[1]] - y[..., places[0]]) / (sign * near)
        return slope.unsqueeze(-1)
    far = steps[count - 3] if last else steps[1]
    slope = (
        -(2 * near + far) / (near * (near + far)) * y[..., places[0]]
        + (near + far) / (near * far) * y[..., places[1]]
        - near / (far * (near + far)) * y[..., places[2]]
    )
    return (sign * slope).unsqueeze(-1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    heights = as_tensor(y)
    axis = axis_of(axis, heights.ndim)
    rows = heights.movedim(axis, -1)
    if x is None:
        widths = dx if isinstance(dx, (int, float)) else as_tensor(dx)
    else:
        at = as_tensor(x)
        widths = diff(at if at.ndim == 1 else at.movedim(axis, -1))
    sums = ufunc("add")(rows[..., 1:], rows[..., :-1])
    return ufunc("divide")(ufunc("multiply")(widths, sums), 2.0).sum(-1)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    at, points, values = (as_tensor(one) for one in (x, xp, fp))
    kind = np.complex128 if values.dtype.kind == "c" else np.float64
    at, points, values = of_dtype(at, np.float64), of_dtype(points, np.float64), of_dtype(values, kind)
    if period is not None:
        length = as_tensor(period, np.float64).abs()
        if not without_data([length]) and not length.detach().item():
            raise ValueError("period must be a non-zero value")
        at, points, values = _around(at, points, values, length)
        left = right = None
    return _interpolated(at, points, values, left, right)


def _around(at: Any, points: Any, values: Any, period: Any) -> tuple[Any, Any, Any]:
    at, points = ufunc("remainder")(at, period), ufunc("remainder")(points, period)
    order = wrapped(np.argsort(array_of(points)))
    points, values = points[order], values[order]
    points = generated.cat([points[-1:] - period, points, points[:1] + period])
    return at, points, generated.cat([values[-1:], values, values[:1]])


def _interpolated(at: Any, points: Any, values: Any, left: Any, right: Any) -> Any:
    if points.ndim != 1 or tuple(points.shape) != tuple(values.shape):
        raise ValueError("fp and xp are not of the same length.")
    if not points.numel():
        raise ValueError("array of sample points is empty")
    low, high = values[0] if left is None else left, values[-1] if right is None else right
    low, high = as_tensor(low, values.dtype), as_tensor(high, values.dtype)
    if points.numel() == 1:
        inside = values.expand(at.shape)
    else:
        below = (generated.searchsorted(points.detach(), at.detach(), right=True) - 1).clamp(0, points.numel() - 2)
        above = below + 1
        share = (at - points[below]) / (points[above] - points[below])
        inside = values[below] + share.to(values.dtype) * (values[above] - values[below])
    inside = generated.where(at == points[-1], values[-1], inside)
    return generated.where(at < points[0], low, generated.where(at > points[-1], high, inside))


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 6.283185307179586) -> Any:
    x = as_tensor(p)
    if exact(x):
        return wrapped(np.unwrap(array_of(x), discont, axis, period=period))
    axis = axis_of(axis, x.ndim)
    if not is_tensor(period):
        return generated.unwrap(x, discont, axis, period=float(period))
    found = generated.unwrap(x, discont, axis, period=period.detach().item())
    turns = ((found - x) / period).detach().round()  # whole ones, that each element was moved by
    return x + turns * of_dtype(period, x.dtype)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    x, y = (one.reshape(1) if one.ndim == 0 else one for one in common([as_tensor(a), as_tensor(v)]))
    if not x.numel() or not y.numel():
        raise ValueError("a and v cannot be empty")
    if exact(x) and not without_data([x, y]):
        return wrapped(np.convolve(array_of(x), array_of(y), mode))
    return generated.convolve(x, y, mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    x, y = common([as_tensor(a), as_tensor(v)])
    if exact(x) and not without_data([x, y]):
        return wrapped(np.correlate(array_of(x), array_of(y), mode))
    if x.shape[0] >= y.shape[0]:
        return convolve(x, y.flip(0).conj(), mode)
    return convolve(y, x.flip(0).conj(), mode).flip(0).conj()


# ---- a function over an array


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    x = as_tensor(arr)
    axis = axis_of(axis, x.ndim)
    rows = x.movedim(axis, -1)
    sizes = tuple(rows.shape[:-1])
    if 0 in sizes:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_tensor(func1d(row, *args, **kwargs)) for row in rows.reshape((-1, x.shape[axis])).unbind(0)]
    joined = generated.stack(common(results))
    inner = tuple(joined.shape[1:])
    found = joined.reshape((*sizes, *inner))
    return (
        found.movedim(tuple(range(len(sizes), found.ndim)), tuple(range(axis, axis + len(inner)))) if inner else found
    )


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    value = as_tensor(a)
    for axis in np.atleast_1d(unwrapped(axes)):
        axis = axis_of(int(axis), value.ndim)
        result = as_tensor(func(value, axis))
        result = result.unsqueeze(axis) if result.ndim == value.ndim - 1 else result
        if result.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    tensor = as_tensor(x)
    several = isinstance(condlist, (list, tuple)) and not np.isscalar(condlist[0])
    conditions = (
        [as_tensor(one, bool) for one in condlist] if several else list(_rows(as_tensor(condlist, bool), tensor))
    )
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        found = _piece(functions.pop(), tensor, args, kw)
    elif len(functions) == len(conditions):
        found = tensor * 0
    else:
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    for condition, function in zip(conditions, functions):
        found = _set_piece(found, condition.expand(tensor.shape), function, tensor, args, kw)
    return found


def _rows(conditions: Any, x: Any) -> Any:
    return conditions.unbind(0) if conditions.ndim > x.ndim else [conditions]


def _piece(function: Any, x: Any, args: Any, kw: Any) -> Any:
    value = function(x, *args, **kw) if callable(function) else function
    return as_tensor(value, x.dtype).expand(x.shape)


def _set_piece(found: Any, mask: Any, function: Any, x: Any, args: Any, kw: Any) -> Any:
    """As NumPy does, the function sees only the elements under its condition."""
    if without_data([mask]):  # slices may go different ways: the function sees all elements
        return generated.where(mask, _piece(function, x, args, kw), found)
    places = np.nonzero(array_of(mask))
    if not places[0].size and places:
        return found
    at = tuple(wrapped(one) for one in places)
    value = function(x[at] if at else x, *args, **kw) if callable(function) else function
    value = as_tensor(value, x.dtype)
    return found.clone().index_put(at, value.expand(x[at].shape)) if at else (value if bool(mask) else found)


# ---- the old polynomials: coefficients of the highest power first


def _series(p: Any) -> Any:
    coefficients = getattr(p, "coeffs", p)
    x = as_tensor(coefficients)
    return x.reshape(1) if x.ndim == 0 else x


def polyval(p: Any, x: Any) -> Any:
    coefficients, at = _series(p), as_tensor(x)
    total = at * 0
    for coefficient in coefficients.unbind(0):
        total = ufunc("add")(ufunc("multiply")(total, at), coefficient)
    return total


def polyadd(a1: Any, a2: Any) -> Any:
    return _sum_of_series(_series(a1), _series(a2))


def polysub(a1: Any, a2: Any) -> Any:
    return _sum_of_series(_series(a1), _series(a2), -1)


def _sum_of_series(x: Any, y: Any, sign: int = 1) -> Any:
    x, y = common([x, y])
    length = max(x.shape[0], y.shape[0])
    x, y = (generated.cat([one.new_zeros(length - one.shape[0]), one]) for one in (x, y))
    return x + y if sign > 0 else x - y


def polymul(a1: Any, a2: Any) -> Any:
    return convolve(*map(_without_zeros_ahead, (_series(a1), _series(a2))))


def _without_zeros_ahead(x: Any) -> Any:
    """As NumPy does, where the numbers are known."""
    if without_data([x]) or not x.shape[0]:
        return x
    nonzero = np.flatnonzero(array_of(x))
    return x[int(nonzero[0]) if nonzero.size else x.shape[0] - 1 :]


def polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    x = _series(p)
    for _ in range(int(m)):
        powers = wrapped(np.arange(x.shape[0] - 1, 0, -1))
        x = ufunc("multiply")(x[:-1], powers)
    return x


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else list(as_tensor(k).reshape(-1).unbind(0))
    constants = constants * m if len(constants) == 1 else constants
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    x = _series(p)
    for constant in constants[:m]:
        powers = wrapped(np.arange(x.shape[0], 0, -1))
        x = generated.cat(common([ufunc("divide")(x, powers), as_tensor(constant).reshape(1)]))
    return x


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    rest, by = common([floating(_series(u)), floating(_series(v))])
    steps = rest.shape[0] - by.shape[0] + 1
    quotient = []
    for place in range(max(steps, 0)):
        factor = rest[place] / by[0]
        quotient.append(factor)
        product = generated.cat(
            [rest.new_zeros(place), factor * by, rest.new_zeros(rest.shape[0] - place - by.shape[0])]
        )
        rest = rest - product
    found = generated.stack(quotient) if quotient else rest.new_zeros(1)
    return found, _without_leading_zeros(rest)


def _without_leading_zeros(x: Any) -> Any:
    if without_data([x]):
        return x
    values = array_of(x)
    first = 0
    while first < len(values) - 1 and np.allclose(values[first], 0, rtol=1e-14):
        first += 1
    return x[first:]


def poly(seq_of_zeros: Any) -> Any:
    x = as_tensor(seq_of_zeros)
    if x.ndim == 2:
        from gradsmith.numpy.linalg import eigvals

        x = eigvals(x)
    x = floating(x.reshape(1) if x.ndim == 0 else x)
    found = x.new_ones(1)
    for zero in x.unbind(0):
        found = convolve(found, generated.stack([zero * 0 + 1, -zero]))
    if (
        found.dtype.kind == "c"
        and not without_data([x])
        and np.all(np.sort(array_of(x)) == np.sort(array_of(x).conj()))
    ):
        return found.real
    return found


def roots(p: Any) -> Any:
    from gradsmith.numpy.linalg import eigvals

    x = floating(_series(p))
    if x.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    nonzero = np.arange(x.shape[0]) if without_data([x]) else np.flatnonzero(array_of(x))
    if not nonzero.size:
        return x[:0]
    zeros = x.shape[0] - 1 - int(nonzero[-1])
    whole = x[int(nonzero[0]) :]
    x = x[int(nonzero[0]) : int(nonzero[-1]) + 1]
    count = x.shape[0] - 1
    below = as_tensor(np.eye(max(count - 1, 0), count), x.dtype)
    found = eigvals(generated.cat([(-x[1:] / x[0]).unsqueeze(0), below])) if count else x.new_zeros(0)
    found = generated.cat([found, found.new_zeros(zeros)])
    return _moving_with(whole, found) if zeros == 1 and is_recorded(x) else found


def _moving_with(series: Any, found: Any) -> Any:
    """Roots of a polynomial without constant term that move with this term, by two steps of Newton's."""
    slopes = polyder(series)
    for _ in range(2):
        found = found - polyval(series, found) / polyval(slopes, found)
    return found


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    from gradsmith.numpy.creation import vander
    from gradsmith.numpy.linalg import inv, lstsq

    at, values = floating(as_tensor(x)) + 0.0, floating(as_tensor(y)) + 0.0
    if at.ndim != 1 or values.ndim not in (1, 2) or at.shape[0] != values.shape[0] or not at.numel():
        raise TypeError("expected x and y to have same length, x a vector and y a vector or matrix")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    matrix, target = common([vander(at, deg + 1), values])
    if w is not None:
        weights = as_tensor(w, matrix.dtype)
        matrix, target = matrix * weights.unsqueeze(1), target * (weights if target.ndim == 1 else weights.unsqueeze(1))
    scale = (matrix * matrix).sum(0).sqrt()
    cut = at.shape[0] * np.finfo(at.dtype).eps if rcond is None else rcond
    solution, residuals, rank, values_ = lstsq(matrix / scale, target, cut)
    coefficients = (solution.T / scale).T
    if full:
        return coefficients, residuals, rank, values_, cut
    if not cov:
        return coefficients
    inverse = inv((matrix / scale).T @ (matrix / scale)) / (scale.unsqueeze(1) * scale.unsqueeze(0))
    factor = 1.0 if cov == "unscaled" else _variance(matrix, target, coefficients, deg)
    return coefficients, inverse * factor if values.ndim == 1 else inverse.unsqueeze(2) * factor


def _variance(matrix: Any, target: Any, coefficients: Any, deg: int) -> Any:
    rest = target - matrix @ coefficients
    if matrix.shape[0] <= deg + 1:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    squares = rest * rest if rest.dtype.kind == "f" else rest.real**2 + rest.imag**2
    return squares.sum(0) / (matrix.shape[0] - deg - 1)


# ---- polynomials as objects


class poly1d:
    """A polynomial of one variable, whose coefficients are a tensor: `numpy.poly1d` with derivatives.

    Parameters
    ----------
    c_or_r : array_like or poly1d
        Coefficients from that of the highest power on, without leading zeros; the roots where `r` is true.
    r : bool
        Whether the roots are given.
    variable : str, optional
        For printing; "x" if it is not given.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.numpy as np
    >>> c = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> p = np.poly1d(c)
    >>> p(2.0).backward()
    >>> c.grad
    tensor([4., 2., 1.])
    >>> p.deriv()(2.0).item(), p.order
    (6.0, 2)
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # beside arrays its operators count

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        of_other = isinstance(c_or_r, poly1d)
        self._variable = variable or (c_or_r.variable if of_other else "x")
        given = c_or_r.coeffs if of_other else poly(c_or_r) if r else as_tensor(c_or_r)
        if given.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        flat = given.reshape(-1)
        places = np.flatnonzero(array_of(flat))
        self.coeffs = flat[places[0] :] if len(places) else as_tensor([0], flat.dtype)

    @property
    def coeffs(self) -> Any:
        """The coefficients, from that of the highest power on."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        self._coeffs = as_tensor(value)

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return self._variable

    @property
    def order(self) -> int:
        """The highest power."""
        return len(self.coeffs) - 1

    o = order

    @property
    def roots(self) -> Any:
        """Where the polynomial is zero."""
        return roots(self.coeffs)

    r = roots

    def __call__(self, val: Any) -> Any:
        """The value at `val`, or the composition with another polynomial."""
        if not isinstance(val, poly1d):
            return polyval(self.coeffs, val)
        found = poly1d([0])
        for coefficient in self.coeffs:
            found = found * val + coefficient
        return found

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative of order `m`."""
        return poly1d(polyder(self.coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """The integral of order `m`, with constants `k`."""
        return poly1d(polyint(self.coeffs, m, k))

    def __add__(self, other: Any) -> poly1d:
        return poly1d(polyadd(self.coeffs, _coefficients(other)))

    def __sub__(self, other: Any) -> poly1d:
        return poly1d(polysub(self.coeffs, _coefficients(other)))

    def __rsub__(self, other: Any) -> poly1d:
        return poly1d(polysub(_coefficients(other), self.coeffs))

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(polymul(self.coeffs, _coefficients(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        """The quotient by a number, or quotient and remainder of polynomials."""
        if not isinstance(other, poly1d) and np.ndim(array_of(as_tensor(other))) == 0:
            return poly1d(ufunc("divide")(self.coeffs, other))
        return tuple(map(poly1d, polydiv(self.coeffs, _coefficients(other))))

    def __rtruediv__(self, other: Any) -> Any:
        return tuple(map(poly1d, polydiv(_coefficients(other), self.coeffs)))

    def __pow__(self, val: int) -> poly1d:
        if int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        found = poly1d([1])
        for _ in range(int(val)):
            found = found * self
        return found

    def __pos__(self) -> poly1d:
        return self

    def __neg__(self) -> poly1d:
        return poly1d(-self.coeffs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self.coeffs.shape == other.coeffs.shape and bool((self.coeffs == other.coeffs).all())

    def __getitem__(self, val: int) -> Any:
        """The coefficient of a power."""
        return self.coeffs[self.order - val] if 0 <= val <= self.order else as_tensor(0, self.coeffs.dtype)

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        parts = list(self.coeffs)
        parts = [as_tensor(0, self.coeffs.dtype)] * (key - self.order) + parts
        parts[len(parts) - 1 - key] = as_tensor(val)
        self.coeffs = as_tensor(parts)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Any:
        return iter(self.coeffs)

    def __repr__(self) -> str:
        return f"poly1d({self.coeffs!r})"

    def __str__(self) -> str:
        return str(np.poly1d(array_of(self.coeffs), variable=self.variable))


def _coefficients(value: Any) -> Any:
    return value.coeffs if isinstance(value, poly1d) else as_tensor(value).reshape(-1)
