"""NumPy's universal functions: NumPy's choice of the dtype, then the op of the table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gradsmith.generated as generated
from gradsmith.generated import Tensor, cat, stack, where
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axis_of,
    by_numpy,
    delivered,
    dtype_of,
    exact,
    is_recorded,
    is_tensor,
    np,
    numpys_error,
    of_dtype,
    reduced_axes,
    without_data,
    wrapped,
)
from gradsmith.numpy.published import describe
from gradsmith.runtime.tensors.summed_axes import expect_same_sizes

# The op of each ufunc that has derivatives; those that are named alike are written once.
NAMED_ALIKE = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil copysign cos cosh"
    " deg2rad degrees divide equal exp exp2 expm1 floor floor_divide fmax fmin fmod float_power frexp"
    " greater greater_equal heaviside hypot isfinite isinf isnan ldexp less less_equal log log10 log1p"
    " log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor matmul matvec maximum"
    " minimum modf multiply negative not_equal positive power rad2deg radians remainder rint sign signbit"
    " sin sinh sqrt square subtract tan tanh trunc vecdot vecmat nextafter divmod bitwise_and bitwise_or"
    " bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift gcd lcm reciprocal"
)
OPS = {
    **{name: name for name in NAMED_ALIKE.split()},
    "conjugate": "conj", "equal": "eq", "fabs": "abs", "sign": "sgn", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip

# Axes of both operands that are summed together.
SUMMED = {"vecdot": (-1, -1), "matvec": (-1, -1), "vecmat": (-1, -2), "matmul": (-1, -2)}

# Of these the op gives something else than NumPy for floating-point operands, or takes others.
UNUSUAL = {
    *SUMMED, "frexp", "ldexp", "heaviside", "modf", "divmod", "bitwise_and", "bitwise_or", "bitwise_xor", "invert",
    "left_shift", "right_shift", "gcd", "lcm",
}  # fmt: skip

_ORDERS = ("C", "F", "A", "K", None)

# Ufuncs whose accumulation is an op; of others the elements are combined one by one.
ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod", "logaddexp": "logcumsumexp"}


class Ufunc:
    """A universal function for tensors, with what NumPy's ufuncs have: calls, attributes and methods."""

    __name__: str

    def __init__(self, name: str) -> None:
        own: Any = getattr(np, name)
        self.name = own.__name__
        self.numpy, self.op = own, OPS.get(own.__name__)
        self.nin, self.nout, self.nargs = own.nin, own.nout, own.nargs
        self.identity, self.types, self.ntypes, self.signature = own.identity, own.types, own.ntypes, own.signature
        # How many operands NumPy and the op agree on, if they are usual ones.
        self._usual = self.nin if self.op is not None and self.name not in UNUSUAL else -1
        describe(self, name, own)

    def __repr__(self) -> str:
        return f"<ufunc 'gradsmith.numpy.{self.__name__}'>"

    def __reduce__(self) -> Any:
        return ufunc, (self.__name__,)

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """The op; NumPy's own loop for what has none, as it has no derivative."""
        if self.__name__ == "heaviside":
            return _heaviside
        return self.plain if self.op is None else getattr(generated, self.op)

    def __call__(self, *args: Any, **options: Any) -> Any:
        try:
            if not options and len(args) == self._usual and _are_usual(*args):
                return self.function(*args)
            return self._call(*args, **options)
        except RuntimeError as error:
            other = numpys_error(error, args[: self.nin])
            if other is error or self.signature is not None:
                raise
            raise other from None

    def _call(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        casting: Any = "same_kind",
        order: Any = "K",
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
        **gufunc_options: Any,
    ) -> Any:
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments, got {len(args)}"
            )
        inputs, outs = args[: self.nin], args[self.nin :]
        out = outs if outs else out
        if gufunc_options:
            return self._along(inputs, gufunc_options, out, casting=casting, dtype=dtype, signature=signature)
        if order not in _ORDERS:
            raise ValueError(f"{self.__name__}(): order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        tensors, computes = self._operands(inputs, dtype, signature, casting)
        if where is not True and self.signature is None:
            return self._masked(tensors, computes, out, where, casting)
        result = self._computed(tensors, computes)
        return self._placed(result, out, casting)

    # ---- what a call consists of

    def _operands(self, inputs: Any, dtype: Any, signature: Any, casting: Any) -> tuple[list[Any], Any]:
        """Tensors of the dtypes that NumPy's loop takes, and the dtypes of its results."""
        values = [value if type(value) in (bool, int, float, complex) else as_tensor(value) for value in inputs]
        if signature is None and dtype is not None:
            signature = (None,) * self.nin + (np.dtype(dtype),) * self.nout
        if type(signature) is list:
            signature = tuple(signature)
        loop = _loop(self.numpy, tuple(map(dtype_of, values)), signature, casting)
        if loop[self.nin - 1].char in "gG" or loop[self.nin].char in "gG":
            raise TypeError(f"{self.__name__}(): tensors have no dtype {loop[self.nin]}")
        tensors = [as_tensor(value, kind) for value, kind in zip(values, loop)]
        return tensors, loop[self.nin :]

    def _computed(self, tensors: list[Any], results: Any) -> Any:
        if self.name in SUMMED:
            _expect_one_length(self.name, *tensors)
        if all(kind.kind not in "fc" for kind in results) and not without_data(tensors):
            return self.plain(*tensors)
        if tensors[0].dtype.kind == "c" and self.name in OF_COMPLEX:
            return OF_COMPLEX[self.name](self, *tensors)
        found = self.function(*tensors)
        if self.nout == 1:
            return of_dtype(found, results[0])
        return tuple(of_dtype(one, kind) for one, kind in zip(found, results))

    def plain(self, *tensors: Any) -> Any:
        """NumPy's own loop, of what has no derivative."""
        return by_numpy(self.numpy, *tensors)

    def _placed(self, result: Any, out: Any, casting: Any) -> Any:
        outs = self._outs(out)
        results = result if type(result) is tuple else (result,)
        placed = tuple(delivered(one, target, casting) for one, target in zip(results, outs))
        return placed[0] if self.nout == 1 else placed

    def _outs(self, out: Any) -> Any:
        outs = (out if type(out) is tuple else (out,)) if out is not None else (None,) * self.nout
        if len(outs) != self.nout:
            raise ValueError(f"{self.__name__}(): out has to hold {self.nout} arrays, got {len(outs)}")
        return outs

    def _masked(self, tensors: list[Any], computes: Any, out: Any, mask: Any, casting: Any) -> Any:
        """With a mask: what is outside of it keeps what `out` had, or is zero.

        The function is computed of ones there, so that elements at which it is not finite send no gradient.
        """
        mask = as_tensor(mask) if hasattr(mask, "dtype") else as_tensor(mask, bool)
        if mask.dtype.kind != "b":
            raise TypeError(f"where= is a mask of bools, but has the dtype {mask.dtype}; use `where != 0`")
        shape = np.broadcast_shapes(tuple(mask.shape), *[tuple(tensor.shape) for tensor in tensors])
        safe = [where(mask, tensor, as_tensor(1, tensor.dtype)) for tensor in tensors]
        result = self._computed(safe, computes)
        results = result if type(result) is tuple else (result,)
        kept = [
            one.new_zeros(shape) if target is None else of_dtype(as_tensor(target), one.dtype)
            for one, target in zip(results, self._outs(out))
        ]
        return self._placed(tuple(where(mask, *both) for both in zip(results, kept)), out, casting)

    def _along(self, inputs: Any, options: dict[str, Any], out: Any, **rest: Any) -> Any:
        """The gufuncs with their axes elsewhere than at the end."""
        unknown = set(options) - {"axes", "axis", "keepdims"}
        if unknown or self.signature is None:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {min(unknown or options)!r}")
        cores = [
            part.strip("()").split(",") for part in self.signature.replace("),(", ");(").replace("->", ";").split(";")
        ]
        counts = [len([name for name in core if name]) for core in cores]
        axes = options.get("axes") or [(options.get("axis", -1),) if n == 1 else tuple(range(-n, 0)) for n in counts]
        axes = [(entry,) if isinstance(entry, int) else tuple(entry) for entry in axes]
        axes += [()] * (len(counts) - len(axes))
        ends = [tuple(range(-n, 0)) for n in counts]
        moved = [as_tensor(x).movedim(at, end) if at else as_tensor(x) for x, at, end in zip(inputs, axes, ends)]
        result = self(*moved, **rest)
        if counts[-1] and axes[-1]:
            result = result.movedim(ends[-1], axes[-1])
        if options.get("keepdims"):
            result = result.unsqueeze(axis_of(axes[0][0], as_tensor(inputs[0]).ndim))
        return delivered(result, out, rest["casting"])

    # ---- methods

    def _pairwise(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1 or self.signature is not None:
            raise ValueError(f"{self.__name__}.{method}: only functions of two arguments and one result have {method}")

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """All elements along axes combined into one."""
        from gradsmith.numpy import reductions

        self._pairwise("reduce")
        options = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        kinds = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
        if self.__name__ in kinds:
            if kinds[self.__name__] in ("sum", "prod"):
                return getattr(reductions, kinds[self.__name__])(array, axis, dtype=dtype, **options)
            given = array if dtype is None else as_tensor(array, dtype)
            return getattr(reductions, kinds[self.__name__])(given, axis, **options)
        x = self._of_results(array, dtype)
        if where is not True:
            raise ValueError(f"{self.__name__}.reduce: where is for add, multiply, maximum and minimum")
        axes = reduced_axes(axis, x.ndim)
        if not axes and initial is not NO_VALUE and initial is not None:
            x = self(x, as_tensor(initial, x.dtype))
        for one in sorted(axes, reverse=True):
            x = self._folded(x, one, initial)
            initial = NO_VALUE
        if keepdims:
            for one in sorted(axes):
                x = x.unsqueeze(one)
        return delivered(x, out)

    def _of_results(self, array: Any, dtype: Any) -> Any:
        """The elements in the dtype of the results, which they are combined with."""
        x = as_tensor(array, dtype)
        if dtype is not None or not (exact(x) or self.__name__.startswith("logical")):
            return x
        return of_dtype(x, _loop(self.numpy, (x.dtype, x.dtype), None, "same_kind")[-1])

    def _folded(self, x: Any, axis: int, initial: Any) -> Any:
        shape = [n for place, n in enumerate(x.shape) if place != axis]
        first = [] if initial is NO_VALUE or initial is None else [as_tensor(initial, x.dtype).expand(shape)]
        parts = first + list(x.unbind(axis))
        if not parts:
            if self.identity is None:
                raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
            return as_tensor(np.full(shape, self.identity), x.dtype)
        return functools.reduce(self, parts)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """All results of the reduction of ever more elements along an axis."""
        self._pairwise("accumulate")
        x = self._of_results(array, dtype)
        axis = axis_of(axis, x.ndim)
        if exact(x) and not without_data([x]):
            return delivered(wrapped(self.numpy.accumulate(array_of(x), axis, dtype)), out)
        if self.__name__ in ACCUMULATIONS:
            return delivered(getattr(generated, ACCUMULATIONS[self.__name__])(x, axis), out)
        parts = list(x.unbind(axis))
        for place in range(1, len(parts)):
            parts[place] = self(parts[place - 1], parts[place])
        return delivered(stack(parts, axis) if parts else x.clone(), out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reductions of the slices between indices along an axis."""
        self._pairwise("reduceat")
        x = self._of_results(array, dtype)
        axis = axis_of(axis, x.ndim)
        starts = [int(i) for i in array_of(as_tensor(indices))]
        parts = []
        for first, last in zip(starts, [*starts[1:], x.shape[axis]]):
            if not 0 <= first < x.shape[axis]:
                raise IndexError(f"index {first} out-of-bounds in {self.__name__}.reduceat [0, {x.shape[axis]})")
            part = x.narrow(axis, first, max(last - first, 1))
            parts.append(self.reduce(part, axis, keepdims=True))
        return delivered(cat(parts, axis), out)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of each element of `A` with each of `B`."""
        self._pairwise("outer")
        a, b = (value if type(value) in (bool, int, float, complex) else as_tensor(value) for value in (A, B))
        if is_tensor(a) and is_tensor(b):
            a = a.reshape((*a.shape, *[1] * b.ndim))
        return self(a, b, **options)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """The function at places of `a`, in place; a place that comes twice is changed twice."""
        if not is_tensor(a):
            if any(is_tensor(x) and is_recorded(x) for x in (indices, b)):
                raise RuntimeError(f"{self.__name__}.at: an array would lose the history of the result; give a tensor")
            more = () if b is None else (array_of(as_tensor(b)),)
            self.numpy.at(a, array_of(indices) if is_tensor(indices) else indices, *more)
            return
        places = as_tensor(np.arange(a.numel()).reshape(tuple(a.shape)))[indices].reshape(-1)
        if self.__name__ in ("add", "subtract"):
            values = as_tensor(b, a.dtype).expand(a[indices].shape).reshape(-1)
            a.put_(places, values if self.__name__ == "add" else -values, accumulate=True)
            return
        values = None if b is None else as_tensor(b).expand(a[indices].shape).reshape(-1)
        for number, place in enumerate(array_of(places)):
            more = () if values is None else (values[number],)
            at = np.unravel_index(place, tuple(a.shape))
            a[tuple(int(n) for n in at)] = self(a[tuple(int(n) for n in at)], *more)


def _are_usual(first: Any, second: Any = 0.0, *more: Any) -> bool:
    """Whether NumPy and PyTorch agree: floating-point tensors of one dtype, or one and a Python number."""
    if type(first) is Tensor:
        kind = first.dtype
        if kind.kind != "f" or more:
            return False
        return type(second) in (float, int) or (type(second) is Tensor and second.dtype == kind)
    return type(first) in (float, int) and type(second) is Tensor and second.dtype.kind == "f" and not more


def _expect_one_length(name: str, x: Any, y: Any) -> None:
    """NumPy's error where the ops have PyTorch's, or repeat an axis of one element."""
    left, right = SUMMED[name]
    expect_same_sizes(name, x, y, [left], [max(right, -max(y.ndim, 1))])


def _chosen(function: Ufunc, x1: Any, x2: Any) -> Any:
    """One of two complex numbers, in the order of real parts, then imaginary ones."""
    found = function.numpy(array_of(x1), array_of(x2))
    first = (found == array_of(x1)) | (np.isnan(found) & np.isnan(array_of(x1)))
    return where(wrapped(np.asarray(first)), x1, x2)


def _rounded(function: Ufunc, x: Any) -> Any:
    from gradsmith.generated.complex_numbers import complex_of_parts

    return complex_of_parts(generated.round(x.real), generated.round(x.imag))


# What the ops do not take.
OF_COMPLEX: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), _chosen),
    "rint": _rounded,
}


def _heaviside(x1: Any, x2: Any) -> Any:
    """The op of this name has no derivative by the values at zero."""
    return where(x1 == 0, x2, generated.heaviside(x1, x2.detach()))


@functools.lru_cache(maxsize=4096)
def _loop(function: Any, kinds: tuple[Any, ...], signature: Any, casting: Any) -> tuple[Any, ...]:
    """The dtypes of NumPy's loop for these operands."""
    if len(kinds) == 1 or all(type(kind) is type for kind in kinds):
        kinds = tuple(_strong(kind) for kind in kinds)  # Python numbers alone are arrays like any other
    kinds = tuple(_strong(kind) if kind is bool else kind for kind in kinds)
    options = {} if signature is None else {"signature": signature}
    return tuple(function.resolve_dtypes((*kinds, *[None] * function.nout), casting=casting, **options))


def _strong(kind: Any) -> Any:
    """The dtype of an array of Python's numbers; bools are of one dtype whatever stands beside them."""
    return np.dtype(np.int64 if kind is int else kind)


@functools.cache
def ufunc(name: str) -> Ufunc:
    """The only one of this name; second names of one function are one object, as in NumPy."""
    own = getattr(np, name).__name__
    return Ufunc(own) if own == name or not isinstance(getattr(np, own, None), np.ufunc) else ufunc(own)
