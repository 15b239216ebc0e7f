"""Convolutions and correlations against NumPy's, and against answers of SciPy."""

import numpy as np
import pytest

import gradsmith as gs

RNG = np.random.default_rng(3)
MODES = ["full", "same", "valid"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [complex, float, int])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_vectors(name, kind, mode):
    for m, n in [(1, 1), (5, 3), (4, 3), (3, 4), (2, 5), (1, 6), (40, 7), (6, 6)]:
        a, v = ((RNG.standard_normal((k, 2)) * 9).view(complex)[:, 0] for k in (m, n))
        a, v = (x if kind is complex else x.real.astype(kind) for x in (a, v))
        found = getattr(gs, name)(gs.tensor(a), gs.tensor(v), mode)
        np.testing.assert_allclose(found.numpy(), getattr(np, name)(a, v, mode), rtol=1e-12, atol=1e-12)


IN1 = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
IN2 = [[1.0, 0.0], [2.0, -1.0]]
OF_SCIPY = {
    ("convolve", "full"): [[1, 2, 3, 0], [6, 8, 10, -3], [15, 14, 16, -6], [14, 9, 10, -9]],
    ("convolve", "same"): [[1, 2, 3], [6, 8, 10], [15, 14, 16]],
    ("convolve", "valid"): [[8, 10], [14, 16]],
    ("correlate", "full"): [[-1, 0, 1, 6], [-4, 4, 6, 15], [-7, 10, 12, 24], [0, 7, 8, 9]],
    ("correlate", "same"): [[-1, 0, 1], [-4, 4, 6], [-7, 10, 12]],
    ("correlate", "valid"): [[4, 6], [10, 12]],
}


@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
@pytest.mark.parametrize(("name", "mode"), OF_SCIPY)
def test_images(name, mode, method):
    found = getattr(gs.signal, name)(gs.tensor(IN1), gs.tensor(IN2), mode, method)
    np.testing.assert_allclose(found.numpy(), OF_SCIPY[name, mode], atol=1e-5)
    whole = getattr(gs.signal, name)(gs.tensor(IN1).long(), gs.tensor(IN2).long(), mode, method)
    assert whole.dtype == gs.int64 and whole.tolist() == OF_SCIPY[name, mode]


@pytest.mark.parametrize("mode", MODES)
def test_methods_agree(mode):
    for shapes in [((300,), (301,)), ((40, 30), (9, 8)), ((3, 4, 5), (3, 2, 5)), ((), ())]:
        a, b = (gs.tensor(RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)) for shape in shapes)
        by_sums = gs.signal.convolve(a, b, mode, "direct").numpy()
        np.testing.assert_allclose(gs.signal.convolve(a, b, mode, "fft").numpy(), by_sums, atol=1e-11)
        np.testing.assert_allclose(gs.signal.fftconvolve(a, b, mode).numpy(), by_sums, atol=1e-11)


def test_axes_broadcast_the_others():
    a, b = RNG.standard_normal((4, 3, 9)), RNG.standard_normal((1, 2, 9))
    found = gs.signal.fftconvolve(gs.tensor(a), gs.tensor(b[..., :5]), axes=[-2, 2])
    for i in range(4):
        one = gs.signal.convolve(gs.tensor(a[i]), gs.tensor(b[0, :, :5]))
        np.testing.assert_allclose(found[i].numpy(), one.numpy(), atol=1e-12)
    along = gs.signal.fftconvolve(gs.tensor(a[0]), gs.tensor(b[0, :1]), "same", axes=1)
    for i in range(3):
        np.testing.assert_allclose(along[i].numpy(), np.convolve(a[0, i], b[0, 0])[4:13], atol=1e-12)


def test_gradients_of_a_short_filter_in_a_long_signal():
    signal, taps = gs.tensor(RNG.standard_normal(3000)), gs.tensor(RNG.standard_normal(20), requires_grad=True)
    for mode in MODES:
        result = gs.signal.convolve(signal, taps, mode)
        weights = gs.tensor(RNG.standard_normal(result.shape))
        (found,) = gs.autograd.grad(result, taps, weights)
        basis = [np.convolve(signal.numpy(), row) for row in np.eye(20)]
        first = (3019 - len(weights)) // 2
        expected = [np.dot(row[first : first + len(weights)], weights.numpy()) for row in basis]
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-11)


def test_infinities_touch_only_their_own_sums():
    a = gs.tensor([1.0, np.inf, 0.0, 2.0])
    assert gs.signal.convolve(a, gs.tensor([1.0, 1.0])).tolist() == [1, np.inf, np.inf, 2, 2]
    taps = gs.tensor([1.0, 1.0], requires_grad=True)
    gs.signal.convolve(a, taps, "same").sum().backward()
    assert taps.grad.tolist() == [np.inf, np.inf]


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("int32", "int64"), "int64"),
        (("int64", "float32"), "float32"),
        (("float32", "complex64"), "complex64"),
        (("float16", "float16"), "float16"),
    ],
)
def test_dtypes(dtypes, expected):
    a, b = (gs.tensor(np.ones(n, dtype)) for n, dtype in zip((4, 2), dtypes))
    for call in (gs.convolve, gs.correlate, gs.signal.convolve, gs.signal.correlate):
        assert str(call(a, b).dtype) == expected
    assert str(gs.signal.fftconvolve(a, b).dtype) == ("float32" if expected == "int64" else expected)


def test_signals_without_elements():
    nothing, something = gs.ones(0), gs.ones(3)
    for mode in MODES:
        assert gs.signal.convolve(nothing, something, mode).shape == (0,)
        assert gs.signal.fftconvolve(something[None], nothing[None], mode, axes=1).shape == (1, 0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: gs.signal.convolve(x, x[0]), ValueError, "should have the same dimensionality"),
        (lambda x: gs.signal.convolve(x, x, "all"), ValueError, "acceptable mode flags are 'valid', 'same', or 'full'"),
        (lambda x: gs.signal.correlate(x, x, "full", "sum"), ValueError, "acceptable method flags"),
        (lambda x: gs.signal.convolve(x, x.T, "valid"), ValueError, "at least as large as the other"),
        (lambda x: gs.signal.fftconvolve(x, x, axes=(0, -2)), ValueError, "axes must be unique"),
        (lambda x: gs.signal.fftconvolve(x, x, axes=()), ValueError, "axes cannot be empty"),
        (lambda x: gs.signal.fftconvolve(x, x, axes=2), IndexError, "out of range"),
        (lambda x: gs.signal.fftconvolve(x, x[:, :2], axes=0), ValueError, "shape"),
        (lambda x: gs.convolve(x, x), ValueError, "expected two vectors that are not empty"),
        (lambda x: gs.correlate(x[0], x[0, :0]), ValueError, "expected two vectors that are not empty"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(gs.ones(2, 3))
