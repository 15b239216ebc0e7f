"""What distributions under SciPy's names have in common: arguments, supports, and what follows from other functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.generated import exp, expm1, floor, log, log1p, sqrt, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.switches.array_functions import is_in_function_of_arrays
from gradsmith.runtime.tensors.factories.creation import as_tensor, tensor
from gradsmith.runtime.tensors.factories.random import Generator
from gradsmith.runtime.tensors.queries import is_tensor

__all__ = ["Continuous", "Discrete", "Frozen", "Univariate", "as_generator", "tensors"]


def tensors(op: str, *values: Any) -> list[Tensor]:
    """Tensors, arrays, lists and numbers as tensors of one floating dtype.

    It is the widest one of tensors and arrays. Where none is floating, it is the default one if there is a tensor,
    else, and in functions of arrays, float64 as in SciPy.
    """
    given = [value if is_tensor(value) or _is_number(value) else _array(op, value) for value in values]
    kinds = [value.dtype for value in given if hasattr(value, "dtype")]
    if any(kind.kind == "c" for kind in kinds):
        raise TypeError(f"{op}(): arguments have to be real")
    counted = [one.dtype for one, value in zip(given, values) if is_tensor(value) or hasattr(value, "dtype")]
    floating = [kind for kind in counted if kind.kind == "f"]
    counts_as_tensor = any(is_tensor(value) for value in values) and not is_in_function_of_arrays()
    alone = get_default_dtype() if counts_as_tensor else np.float64
    dtype = np.result_type(*floating) if floating else alone
    device = next((value.device for value in values if is_tensor(value)), None)
    # tensors stay where they are: those on different devices are an error of the op that meets them
    return [_of_kind(one, dtype, None if is_tensor(value) else device) for one, value in zip(given, values)]


def _of_kind(value: Any, dtype: Any, device: Any) -> Tensor:
    if not is_tensor(value):
        return tensor(value, dtype=dtype, device=device)
    found: Tensor = value.to(dtype)
    return found if device is None else found.to(device)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, np.generic)


def _array(op: str, value: Any) -> Tensor:
    try:
        return as_tensor(np.asarray(value))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{op}(): arguments are tensors, arrays or real numbers, not {type(value).__name__}") from None


def as_generator(random_state: Any) -> Generator | None:
    """The generator that SciPy's argument `random_state` stands for."""
    if random_state is None or isinstance(random_state, Generator):
        return random_state
    if isinstance(random_state, (int, np.integer)):
        return Generator().manual_seed(int(random_state))
    raise TypeError(f"random_state is an int, a gradsmith.Generator or None, not {type(random_state).__name__}")


class Univariate:
    """A distribution of numbers, whose parameters are `shapes`, then `loc`, and `scale` if there is one.

    Subclasses define functions with an underscore for location 0 and scale 1, which are called inside of the support
    only, and draw samples.
    """

    shapes: tuple[str, ...] = ()
    _moved_by: tuple[tuple[str, float], ...] = (("loc", 0.0),)

    @property
    def name(self) -> str:
        """The name of the distribution."""
        return type(self).__name__.removesuffix("_gen")

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        """The distribution with parameters, so that they need not be given again."""
        return self.freeze(*args, **kwds)

    def freeze(self, *args: Any, **kwds: Any) -> Frozen:
        """The distribution with parameters, so that they need not be given again."""
        return Frozen(self, self._parameters("freeze", args, kwds))

    def __repr__(self) -> str:
        return f"<gradsmith.stats.{self.name}>"

    # ---- arguments

    def _parameters(self, method: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> list[Any]:
        """All parameters in their order."""
        op = f"{self.name}.{method}"
        names = [*self.shapes, *(name for name, _ in self._moved_by)]
        if len(args) > len(names):
            raise TypeError(f"{op}() takes at most {len(names)} parameters ({', '.join(names)}), got {len(args)}")
        found: dict[str, Any] = dict(self._moved_by)
        found.update(zip(names, args))
        for name, value in kwds.items():
            if name not in names or name in names[: len(args)]:
                reason = "multiple values for" if name in names else "an unexpected keyword"
                raise TypeError(f"{op}() got {reason} argument '{name}'")
            found[name] = value
        missing = [name for name in self.shapes if name not in found]
        if missing:
            raise TypeError(f"{op}() missing the parameters {', '.join(missing)}")
        return [found[name] for name in names]

    def _absent(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{self.name} has no differentiable {name}()")

    # ---- of subclasses

    def _is_valid(self, *shapes: Tensor) -> Any:
        """Whether the shapes are such that there is a distribution: all positive unless a subclass says otherwise."""
        valid: Any = True
        for shape in shapes:
            valid = (shape > 0) & valid
        return valid

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        """The ends of the support."""
        return -math.inf, math.inf

    def _mean(self, *shapes: Tensor) -> Any:
        raise self._absent("mean")

    def _var(self, *shapes: Tensor) -> Any:
        raise self._absent("var")

    def _entropy(self, *shapes: Tensor) -> Any:
        raise self._absent("entropy")

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Any:
        raise self._absent("cdf")

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        raise NotImplementedError(f"{self.name} draws no samples")


def _inside(low: Any, high: Any) -> Any:
    """A value between the ends of a support, for the places where the given one is not."""
    bounded_below, bounded_above = (not (isinstance(end, float) and math.isinf(end)) for end in (low, high))
    if bounded_below and bounded_above:
        return (low + high) / 2
    return low + 1.0 if bounded_below else high - 1.0


def _nan_unless(valid: Any, value: Any) -> Tensor:
    found: Tensor = where(valid, value, math.nan) if is_tensor(valid) else value
    return found


class Continuous(Univariate):
    """A distribution with a density: that of ``loc + scale * x``, where x is distributed as the shapes say.

    Values outside of the support have density 0, and results are NaN where parameters are invalid.
    """

    _moved_by = (("loc", 0.0), ("scale", 1.0))

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of the density."""
        return self._log_density("logpdf", x, args, kwds)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The density."""
        return exp(self._log_density("pdf", x, args, kwds))

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The probability of values up to `x`."""
        return self._of_value("cdf", self._cdf, x, args, kwds, 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The probability of values above `x`, without the rounding of 1 - `cdf`."""
        return self._of_value("sf", self._sf, x, args, kwds, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return self._of_value("logcdf", self._logcdf, x, args, kwds, -math.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of `sf`."""
        return self._of_value("logsf", self._logsf, x, args, kwds, 0.0, -math.inf)

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Tensor:
        """The quantile: the value at which `cdf` is `q`."""
        return self._of_probability("ppf", self._ppf, q, args, kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Tensor:
        """The value at which `sf` is `q`."""
        return self._of_probability("isf", self._isf, q, args, kwds)

    def median(self, *args: Any, **kwds: Any) -> Tensor:
        """The quantile of 0.5."""
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: Any, *args: Any, **kwds: Any) -> tuple[Tensor, Tensor]:
        """The ends of the middle part that has a probability."""
        (part,) = tensors(f"{self.name}.interval", confidence)
        return self.ppf((1 - part) / 2, *args, **kwds), self.ppf((1 + part) / 2, *args, **kwds)

    def mean(self, *args: Any, **kwds: Any) -> Tensor:
        """The mean."""
        shapes, loc, scale, valid = self._moments_of("mean", args, kwds)
        return _nan_unless(valid, self._mean(*shapes) * scale + loc)

    def var(self, *args: Any, **kwds: Any) -> Tensor:
        """The variance."""
        shapes, _, scale, valid = self._moments_of("var", args, kwds)
        return _nan_unless(valid, self._var(*shapes) * scale * scale)

    def std(self, *args: Any, **kwds: Any) -> Tensor:
        """The standard deviation."""
        return sqrt(self.var(*args, **kwds))

    def entropy(self, *args: Any, **kwds: Any) -> Tensor:
        """The expectation of the negative logarithm of the density."""
        shapes, _, scale, valid = self._moments_of("entropy", args, kwds)
        return _nan_unless(valid, self._entropy(*shapes) + log(scale))

    def support(self, *args: Any, **kwds: Any) -> tuple[Tensor, Tensor]:
        """The ends of the support."""
        shapes, loc, scale, valid = self._moments_of("support", args, kwds)
        low, high = (_nan_unless(valid, end * scale + loc) for end in self._support(*shapes))
        return low, high

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwds: Any) -> Tensor:
        """Random values, with gradients in the parameters.

        Parameters
        ----------
        *args, **kwds : float, array or Tensor
            The parameters.
        size : int or tuple of int, optional
            The shape of the result; that to which the parameters broadcast by default.
        random_state : int or Generator, optional
            A seed, or the source of the numbers.

        Returns
        -------
        Tensor
        """
        shapes, loc, scale, _ = self._moments_of("rvs", args, kwds)
        shape = np.broadcast_shapes(*(tuple(one.shape) for one in (*shapes, loc, scale))) if size is None else size
        return self._rvs(shape, loc.dtype, as_generator(random_state), *shapes) * scale + loc

    # ---- what the methods have in common

    def _standard(self, method: str, x: Any, args: Any, kwds: Any) -> tuple[Tensor, list[Tensor], Tensor, Any]:
        """The value for location 0 and scale 1, the shapes, the scale, and where the parameters are valid."""
        parameters = self._parameters(method, args, kwds)
        value, *shapes, loc, scale = tensors(f"{self.name}.{method}", x, *parameters)
        return (value - loc) / scale, shapes, scale, self._is_valid(*shapes) & (scale > 0)

    def _log_density(self, method: str, x: Any, args: Any, kwds: Any) -> Tensor:
        y, shapes, scale, valid = self._standard(method, x, args, kwds)
        return _nan_unless(valid, self._in_support(self._logpdf, y, shapes, -math.inf, -math.inf) - log(scale))

    def _moments_of(self, method: str, args: Any, kwds: Any) -> tuple[list[Tensor], Tensor, Tensor, Any]:
        *shapes, loc, scale = tensors(f"{self.name}.{method}", *self._parameters(method, args, kwds))
        return shapes, loc, scale, self._is_valid(*shapes) & (scale > 0)

    def _of_value(self, method: str, function: Any, x: Any, args: Any, kwds: Any, below: float, above: float) -> Tensor:
        y, shapes, _, valid = self._standard(method, x, args, kwds)
        return _nan_unless(valid, self._in_support(function, y, shapes, below, above))

    def _in_support(self, function: Any, y: Tensor, shapes: list[Tensor], below: float, above: float) -> Tensor:
        """A function inside of the support, and what it is before and after."""
        low, high = self._support(*shapes)
        is_below, is_above = y < low, y > high
        if not (isinstance(low, float) and isinstance(high, float) and math.isinf(low) and math.isinf(high)):
            y = where(is_below | is_above, _inside(low, high), y)
            inside = where(is_below, below, where(is_above, above, function(y, *shapes)))
            return where(y == y, inside, math.nan)
        found: Tensor = function(y, *shapes)
        return found

    def _of_probability(self, method: str, function: Any, q: Any, args: Any, kwds: Any) -> Tensor:
        parameters = self._parameters(method, args, kwds)
        probability, *shapes, loc, scale = tensors(f"{self.name}.{method}", q, *parameters)
        inside = (probability >= 0) & (probability <= 1)
        found = function(where(inside, probability, 0.5), *shapes) * scale + loc
        return _nan_unless(inside & self._is_valid(*shapes) & (scale > 0), found)

    # ---- of subclasses; what a function is unless there is a better one

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        raise self._absent("logpdf")

    def _sf(self, x: Tensor, *shapes: Tensor) -> Any:
        return 1 - self._cdf(x, *shapes)

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Any:
        return log(self._cdf(x, *shapes))

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Any:
        return log(self._sf(x, *shapes))

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Any:
        raise self._absent("ppf")

    def _isf(self, q: Tensor, *shapes: Tensor) -> Any:
        return self._ppf(1 - q, *shapes)


class Discrete(Univariate):
    """A distribution of integers.

    Numbers that are no integers, or outside of the support, have probability 0, and results are NaN where parameters
    are invalid.
    """

    def logpmf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of the probability of `k`."""
        return self._log_probability("logpmf", k, args, kwds)

    def pmf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The probability of `k`."""
        return exp(self._log_probability("pmf", k, args, kwds))

    def cdf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The probability of values up to `k`."""
        return self._cumulative("cdf", self._cdf, k, args, kwds, 0.0, 1.0)

    def sf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The probability of values above `k`, without the rounding of 1 - `cdf`."""
        return self._cumulative("sf", self._sf, k, args, kwds, 1.0, 0.0)

    def logcdf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return log(self.cdf(k, *args, **kwds))

    def logsf(self, k: Any, *args: Any, **kwds: Any) -> Tensor:
        """The logarithm of `sf`."""
        return log(self.sf(k, *args, **kwds))

    def mean(self, *args: Any, **kwds: Any) -> Tensor:
        """The mean."""
        shapes, loc = self._moments_of("mean", args, kwds)
        return _nan_unless(self._is_valid(*shapes), self._mean(*shapes) + loc)

    def var(self, *args: Any, **kwds: Any) -> Tensor:
        """The variance."""
        shapes, _ = self._moments_of("var", args, kwds)
        return _nan_unless(self._is_valid(*shapes), self._var(*shapes))

    def std(self, *args: Any, **kwds: Any) -> Tensor:
        """The standard deviation."""
        return sqrt(self.var(*args, **kwds))

    def entropy(self, *args: Any, **kwds: Any) -> Tensor:
        """The expectation of the negative logarithm of the probability."""
        shapes, _ = self._moments_of("entropy", args, kwds)
        return _nan_unless(self._is_valid(*shapes), self._entropy(*shapes))

    def support(self, *args: Any, **kwds: Any) -> tuple[Tensor, Tensor]:
        """The ends of the support."""
        shapes, loc = self._moments_of("support", args, kwds)
        low, high = (_nan_unless(self._is_valid(*shapes), loc + end) for end in self._support(*shapes))
        return low, high

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwds: Any) -> Tensor:
        """Random integers as int64; parameters as those of `Continuous.rvs`."""
        shapes, loc = self._moments_of("rvs", args, kwds)
        shape = np.broadcast_shapes(*(tuple(one.shape) for one in (*shapes, loc))) if size is None else size
        shapes = [one.detach() for one in shapes]
        drawn = self._rvs(shape, np.int64, as_generator(random_state), *shapes)
        return drawn.to(np.int64) + loc.detach().to(np.int64)

    def _log_probability(self, method: str, k: Any, args: Any, kwds: Any) -> Tensor:
        value, shapes, _ = self._standard(method, k, args, kwds)
        low, high = self._support(*shapes)
        possible = (value >= low) & (value <= high) & (value == floor(value))
        found = self._logpmf(where(possible, value, low), *shapes)
        return _nan_unless((value == value) & self._is_valid(*shapes), where(possible, found, -math.inf))

    def _standard(self, method: str, k: Any, args: Any, kwds: Any) -> tuple[Tensor, list[Tensor], Tensor]:
        value, *shapes, loc = tensors(f"{self.name}.{method}", k, *self._parameters(method, args, kwds))
        return value - loc, shapes, loc

    def _moments_of(self, method: str, args: Any, kwds: Any) -> tuple[list[Tensor], Tensor]:
        *shapes, loc = tensors(f"{self.name}.{method}", *self._parameters(method, args, kwds))
        return shapes, loc

    def _cumulative(
        self, method: str, function: Any, k: Any, args: Any, kwds: Any, below: float, above: float
    ) -> Tensor:
        value, shapes, _ = self._standard(method, k, args, kwds)
        low, high = self._support(*shapes)
        is_below, is_above = value < low, value >= high
        found = function(floor(where(is_below | is_above, low, value)), *shapes)
        valid = (value == value) & self._is_valid(*shapes)
        return _nan_unless(valid, where(is_below, below, where(is_above, above, found)))

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Any:
        raise self._absent("logpmf")

    def _sf(self, k: Tensor, *shapes: Tensor) -> Any:
        return 1 - self._cdf(k, *shapes)


class Frozen:
    """A distribution with parameters: its methods take values alone.

    Parameters
    ----------
    dist : Continuous, Discrete or vector distribution
    args : list
        The parameters in their order.

    Examples
    --------
    >>> import gradsmith as gs
    >>> normal = gs.stats.norm(1.0, scale=2.0)
    >>> normal.mean(), normal.cdf(1.0)
    (tensor(1., dtype=gradsmith.float64), tensor(0.5000, dtype=gradsmith.float64))
    """

    _WITH_VALUE = ("cdf", "interval", "isf", "logcdf", "logpdf", "logpmf", "logsf", "pdf", "pmf", "ppf", "sf")
    _WITHOUT = ("cov", "entropy", "mean", "median", "rvs", "std", "support", "var")

    def __init__(self, dist: Any, args: list[Any]) -> None:
        self.dist = dist
        self.args = args

    def __getattr__(self, name: str) -> Any:
        if name not in (*self._WITH_VALUE, *self._WITHOUT) or not hasattr(self.dist, name):
            raise AttributeError(f"a frozen distribution of this kind has no attribute '{name}'")
        method = getattr(self.dist, name)
        if name in self._WITH_VALUE:
            return lambda value: method(value, *self.args)
        return lambda **options: method(*self.args, **options)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in (*self._WITH_VALUE, *self._WITHOUT) if hasattr(self.dist, name))]

    def __repr__(self) -> str:
        return f"<gradsmith.stats.{self.dist.name}({', '.join(map(repr, self.args))})>"


def complement(logarithm: Tensor) -> Tensor:
    """The logarithm of 1 less the exponential of a logarithm that is not positive."""
    small = logarithm < -math.log(2)
    return where(small, log1p(-exp(where(small, logarithm, -1.0))), log(-expm1(where(small, -1.0, logarithm))))
