"""Every function of gradsmith.numpy gives what NumPy gives, of arrays and of tensors, and its gradients are right."""

import inspect
import warnings

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.numpy as gnp
from gradsmith.numpy.ufuncs import Ufunc
from tests.numpy_namespace.calls import CALLS, FFT, LINALG

SPACES = {"": (np, gnp, CALLS), "linalg": (np.linalg, gnp.linalg, LINALG), "fft": (np.fft, gnp.fft, FFT)}
CASES = [
    pytest.param(space, name, args, kwargs, id=f"{space}.{name}-{number}".lstrip("."))
    for space, (_, _, calls) in SPACES.items()
    for name, several in calls.items()
    for number, (args, kwargs) in enumerate(several)
]
# Tested elsewhere: objects that are indexed, files, and what writes in place.
ELSEWHERE = {
    "c_",
    "mgrid",
    "ogrid",
    "r_",
    "vectorize",
    "s_",
    "index_exp",
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "fromregex",
    "from_dlpack",
    "empty",
    "empty_like",
    "datetime_as_string",
    "datetime_data",
}
# Functions that jump where elements change a little, and those whose results are float32 or matrices of NumPy.
NOT_SMOOTH = {
    "spacing",
    "nextafter",
    "trim_zeros",
    "intersect1d",
    "setdiff1d",
    "setxor1d",
    "astype",
    "asarray",
    "asanyarray",
    "require",
    "bmat",
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def mapped(function, value):
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, item) for item in value)
    if isinstance(value, dict):
        return {key: mapped(function, item) for key, item in value.items()}
    return function(value)


def as_tensors(value):
    """Arrays as tensors; those of floating point are differentiated."""
    return mapped(
        lambda x: (
            gs.tensor(x, requires_grad=x.dtype.kind in "fc")
            if isinstance(x, np.ndarray) and x.dtype.kind in "fciub"
            else x
        ),
        value,
    )


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [value]


def assert_same(found, expected):
    if isinstance(expected, (list, tuple)) and not isinstance(expected, str):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same(one, other)
        return
    if isinstance(found, gs.Tensor):
        array, expected = found.detach().numpy(), np.asarray(expected)
        assert array.dtype == expected.dtype and array.shape == expected.shape
        tolerance = {2: 1e-2, 4: 2e-5}.get(np.dtype(array.real.dtype).itemsize, 1e-10)
        np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance)
    elif isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray) and (found == expected).all()
    else:
        assert found == expected


@pytest.mark.parametrize("space, name, args, kwargs", CASES)
def test_value_of_arrays(space, name, args, kwargs):
    theirs, ours, _ = SPACES[space]
    assert_same(getattr(ours, name)(*args, **kwargs), getattr(theirs, name)(*args, **kwargs))


@pytest.mark.parametrize("space, name, args, kwargs", CASES)
def test_value_of_tensors(space, name, args, kwargs):
    theirs, ours, _ = SPACES[space]
    try:
        found = getattr(ours, name)(*as_tensors(args), **as_tensors(kwargs))
    except RuntimeError as error:
        assert "has no derivative here" in str(error)
        return
    expected = getattr(theirs, name)(*args, **kwargs)
    if (
        name in ("array2string", "array_repr", "array_str")
        or name.endswith("share_memory")
        or name.startswith("shares")
    ):
        return
    assert_same(found, expected)


def smooth(space, name, args, kwargs):
    """A function of the floating-point arrays among the arguments, one number of all results."""
    theirs, _ours, _ = SPACES[space]
    places = [x for x in leaves([list(args), kwargs]) if isinstance(x, np.ndarray) and x.dtype == np.float64]

    def number(module, arrays):
        waiting = iter(arrays)

        def next_one(x):
            return next(waiting) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x

        result = getattr(module, name)(*mapped(next_one, args), **mapped(next_one, kwargs))
        total = 0.0
        for leaf in leaves(result):
            if isinstance(leaf, (gs.Tensor, np.ndarray, np.generic)) and leaf.dtype.kind in "fc":
                weights = np.cos(np.arange(leaf.size if module is theirs else leaf.numel()) + 1.0).reshape(
                    tuple(leaf.shape)
                )
                for part in (leaf.real, leaf.imag) if leaf.dtype.kind == "c" else (leaf,):
                    part = part if module is theirs else part.nan_to_num()
                    total = (
                        total
                        + (
                            np.nan_to_num(part) * weights
                            if module is theirs
                            else part * gs.tensor(weights, dtype=part.dtype)
                        ).sum()
                    )
        return total

    return places, number


@pytest.mark.parametrize("space, name, args, kwargs", CASES)
def test_gradient(space, name, args, kwargs):
    theirs, ours, _ = SPACES[space]
    places, number = smooth(space, name, args, kwargs)
    if not places or name in NOT_SMOOTH:
        return
    tensors = [gs.tensor(x, requires_grad=True) for x in places]
    try:
        total = number(ours, tensors)
    except RuntimeError as error:
        assert "has no derivative here" in str(error)
        return
    if not isinstance(total, gs.Tensor) or not total.requires_grad:
        return
    gradients = gs.autograd.grad(total, tensors, allow_unused=True)
    rng = np.random.default_rng(3)
    directions = [rng.normal(size=x.shape) for x in places]
    if name in ("eigh", "eigvalsh", "cholesky"):
        directions = [d + d.T for d in directions]
    exact = sum(float((g.numpy() * np.nan_to_num(d)).sum()) for g, d in zip(gradients, directions) if g is not None)
    _, forward = gs.func.jvp(
        lambda *given: number(ours, given), tuple(map(gs.tensor, places)), tuple(map(gs.tensor, directions))
    )
    assert forward.item() == pytest.approx(exact, rel=1e-8, abs=1e-8)
    step = 1e-6
    ahead, behind = (number(theirs, [x + sign * step * d for x, d in zip(places, directions)]) for sign in (1, -1))
    assert exact == pytest.approx((ahead - behind) / (2 * step), rel=2e-5, abs=2e-6)


def converted(value, dtype):
    """Arrays of float64 in another dtype."""
    return mapped(lambda x: x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x, value)


# Where NumPy itself refuses or differs from itself, or what is not defined of these dtypes.
OTHER_DTYPES = {
    "float32": "",
    "float16": "poly",
    "int64": "nanquantile nanpercentile",
    "uint8": "",
    "bool": "piecewise polyval cond eig svd eigh qr",
}


@pytest.mark.parametrize("dtype", OTHER_DTYPES)
@pytest.mark.parametrize("space", SPACES)
def test_other_dtypes(space, dtype):
    theirs, ours, calls = SPACES[space]
    for name in sorted(set(calls) - set(OTHER_DTYPES[dtype].split())):
        for args, kwargs in calls[name]:
            given = converted(args, dtype)
            if any(map(callable, args)):
                continue
            try:
                expected = getattr(theirs, name)(*given, **kwargs)
            except (TypeError, ValueError, ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
                continue
            for found, other in zip(leaves(getattr(ours, name)(*given, **kwargs)), leaves(expected)):
                if isinstance(found, gs.Tensor):
                    assert (name, found.dtype, found.shape) == (name, np.asarray(other).dtype, np.shape(other))
                    tolerance = 1e-8 if found.dtype.itemsize // (1 + (found.dtype.kind == "c")) > 4 else 3e-2
                    if dtype not in ("float32", "float16"):
                        np.testing.assert_allclose(found.numpy(), other, rtol=tolerance, atol=1e-5, err_msg=name)


# What they give depends on the numbers themselves, or they have no op.
NOT_IN_BATCHES = """
    nanmedian nanquantile nanpercentile spacing histogram_bin_edges trim_zeros unique unique_all unique_counts
    unique_inverse unique_values union1d intersect1d setdiff1d setxor1d polyfit asarray_chkfinite poly roots bincount
"""


def is_given(x):
    return isinstance(x, np.ndarray) and x.dtype == np.float64


def filled(value, arrays):
    """Arguments with others in place of their arrays of float64."""
    return mapped(lambda x: next(arrays) if is_given(x) else x, value)


@pytest.mark.parametrize("name", sorted(set(CALLS) - set(NOT_IN_BATCHES.split())))
def test_batches(name):
    function = getattr(gnp, name)
    for args, kwargs in CALLS[name]:
        places = [x for x in leaves(list(args)) if is_given(x)]
        if not places or any(map(callable, args)) or {"weights", "period"} & set(kwargs):
            continue
        expected = function(*args, **kwargs)
        if not isinstance(expected, gs.Tensor) or expected.dtype.kind != "f":
            continue

        def of_slices(*slices, args=args, kwargs=kwargs):
            return function(*filled(args, iter(slices)), **kwargs)

        found = gs.vmap(of_slices)(*[gs.tensor(np.stack([x * 0 + 1, x])) for x in places])
        np.testing.assert_allclose(found[1].numpy(), expected.numpy(), rtol=1e-10, atol=1e-12)


def test_every_function_is_called():
    functions = {
        name for name in gnp.__all__ if isinstance(getattr(gnp, name), Ufunc) or inspect.isfunction(getattr(gnp, name))
    }
    own = {name for name in functions if getattr(gnp, name) is getattr(np, name)}
    assert not functions - own - set(CALLS) - ELSEWHERE
    assert set(gnp.linalg.__all__) - {"LinAlgError"} == set(LINALG) and set(gnp.fft.__all__) == set(FFT)
