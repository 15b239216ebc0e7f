"""Normalizations against NumPy in float64: how groups lie in memory, large means, long rows, factors of all kinds."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.generated.normalization import standardized
from gradsmith.verify.references.transformers import standardized as expected
from gradsmith.verify.references.transformers import standardized_backward as expected_backward

TOLERANCES = {np.float32: 3e-5, np.float64: 1e-11}

# shape, dimensions of a group, shape of weight and bias
GROUPS = {
    "rows": ((5, 33), [1], (33,)),
    "long rows": ((3, 5000), [1], (5000,)),
    "two dimensions": ((4, 3, 50), [1, 2], (3, 50)),
    "channels": ((4, 3, 100), [0, 2], (3, 1)),
    "long channels": ((2, 3, 3000), [0, 2], (3, 1)),
    "short channels": ((40, 300, 3), [0, 2], (300, 1)),
    "columns": ((40, 301), [0], (301,)),
    "groups of channels": ((3, 2, 4, 35), [2, 3], (2, 4, 1)),
    "images": ((3, 4, 35), [2], (4, 1)),
    "first and last": ((4, 3, 5, 2), [0, 3], (3, 5, 1)),
    "every other": ((2, 3, 4, 5), [1, 3], (4, 1)),
    "the middle": ((4, 5, 6), [1], (6,)),
    "all": ((4, 5), [0, 1], (5,)),
    "a factor of other dimensions": ((4, 5, 6), [2], (5, 1)),
    "a factor for rows of a group": ((4, 5, 6), [1, 2], (1, 6)),
    "one factor": ((4, 5), [1], (1,)),
    "ones": ((4, 1, 5, 1), [1, 2], (1, 5, 1)),
}


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kind", GROUPS)
def test_values_and_gradients(kind, centered, dtype):
    shape, dim, factors = GROUPS[kind]
    x, grad = random(*shape, dtype=dtype) + 1, random(*shape, dtype=dtype, seed=1)
    weight, bias = random(*factors, dtype=dtype, seed=2), random(*factors, dtype=dtype, seed=3)
    leaves = [gs.tensor(array, requires_grad=True) for array in (x, weight, bias)]
    results = standardized(*leaves, dim, 0.01, centered)
    found = gs.autograd.grad(results[0], leaves, gs.tensor(grad))
    x, weight, bias, grad = (array.astype(np.float64) for array in (x, weight, bias, grad))
    values = expected(x, weight, bias, dim, 0.01, centered)
    plain = expected(x, None, None, dim, 0.01, centered)[0]
    tolerance = TOLERANCES[dtype]
    for result, value in zip(results, values, strict=True):
        np.testing.assert_allclose(result.detach().numpy(), value, rtol=tolerance, atol=tolerance)
    gradients = (
        expected_backward(grad, x, values[1], values[2], weight, dim, 0.01, centered),
        reduced(grad * plain, factors), reduced(grad, factors),
    )  # fmt: skip
    for result, value in zip(found, gradients, strict=True):
        scale = 1 + np.abs(value).max()
        np.testing.assert_allclose(result.numpy(), value, rtol=tolerance, atol=tolerance * scale)


def reduced(a, shape):
    wanted = (1,) * (a.ndim - len(shape)) + shape
    axes = tuple(axis for axis in range(a.ndim) if wanted[axis] == 1)
    return a.sum(axes, keepdims=True).reshape(shape)


@pytest.mark.parametrize("kind", ["rows", "long channels", "columns", "groups of channels"])
def test_factors_alone_and_strided_inputs(kind):
    shape, dim, factors = GROUPS[kind]
    x = random(*shape[::-1]).transpose()
    weight, bias = random(*factors, seed=2), random(*factors, seed=3)
    for one, other in ((weight, None), (None, bias), (None, None)):
        given = [None if factor is None else gs.tensor(factor) for factor in (one, other)]
        found = standardized(gs.from_numpy(x), *given, dim, 0.1, True)[0].numpy()
        np.testing.assert_allclose(found, expected(x, one, other, dim, 0.1, True)[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 1000), (4, 40_000)])
def test_a_large_mean_takes_no_digits_from_the_variance(shape):
    """The mean of squares less the square of the mean would be 0 or negative in float32."""
    x = (random(*shape) + 10_000).astype(np.float32)
    variance = standardized(gs.tensor(x), None, None, [1], 0.0, True)[2].numpy()
    np.testing.assert_allclose(variance[:, 0], x.astype(np.float64).var(1), rtol=1e-5)
    channels = standardized(gs.tensor(x.T.copy()), None, None, [0], 0.0, True)[2].numpy()
    np.testing.assert_allclose(channels[0], x.astype(np.float64).var(1), rtol=1e-5)


def test_threads_change_no_bit():
    x, weight = gs.tensor(random(300, 700, dtype=np.float32)), gs.tensor(random(700, dtype=np.float32))

    def everything():
        leaves = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
        y = F.layer_norm(leaves[0], (700,), leaves[1])
        z = F.batch_norm(leaves[0], None, None, leaves[1], training=True)
        return [y, z, *gs.autograd.grad((y * y * z).sum(), leaves)]

    before = gs.get_num_threads()
    try:
        gs.set_num_threads(1)
        alone = everything()
        gs.set_num_threads(4)
        assert all((one == other).all() for one, other in zip(alone, everything(), strict=True))
    finally:
        gs.set_num_threads(before)


def test_halves_are_computed_in_float32():
    x = random(4, 600, dtype=np.float16) * 100
    found = F.layer_norm(gs.tensor(x), (600,))
    assert found.dtype == gs.float16
    np.testing.assert_allclose(found.numpy(), expected(x.astype(float), None, None, [1], 1e-5, True)[0], atol=2e-3)


def test_nothing_and_what_is_not_finite():
    assert F.layer_norm(gs.ones(0, 3), (3,)).shape == (0, 3)
    center, variance = standardized(gs.ones(2, 0), None, None, [1], 1e-5, True)[1:]
    assert center.isnan().all() and variance.isnan().all()
    x = gs.tensor([[1.0, gs.inf, 2.0], [1.0, 2.0, 3.0], [gs.nan, 1.0, 1.0]])
    found = F.layer_norm(x, (3,)).isnan().any(1)
    assert found.tolist() == [True, False, True]


def test_running_statistics_go_on_as_documented():
    x = random(6, 3, 4) * 2 + 1
    mean, var = gs.zeros(3, dtype=gs.float64), gs.ones(3, dtype=gs.float64)
    F.batch_norm(gs.tensor(x), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean((0, 2)))
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.var((0, 2), ddof=1))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: standardized(x, None, None, [2], 0.1, True), IndexError, "dimensions"),
        (lambda x: standardized(x, x[0, :3], None, [1], 0.1, True), RuntimeError, "does not go with"),
        (lambda x: standardized(x.long(), None, None, [1], 0.1, True), RuntimeError, "floating"),
        (lambda x: F.layer_norm(x, (4,), x[0, :3]), RuntimeError, "same shape as normalized_shape"),
        (lambda x: F.group_norm(x, 3), RuntimeError, "divisible by num_groups"),
        (lambda x: F.group_norm(x, 2, x[0, :3]), RuntimeError, "equal to the number of channels"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(gs.ones(3, 4))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("weighted", [False, True])
def test_root_mean_squares_of_complex_numbers_are_complex(dtype, weighted):
    """PyTorch's: squares, not magnitudes."""
    rng = np.random.default_rng(5)
    x, w = (rng.normal(size=(2, *shape)) * 1.0 for shape in ((3, 4), (4,)))
    x, w = ((part[0] + 1j * part[1]).astype(dtype) for part in (x, w))
    expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.finfo(dtype).eps) * (w if weighted else 1)
    found = F.rms_norm(gs.tensor(x), (4,), gs.tensor(w) if weighted else None)
    assert found.numpy().dtype == dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5 if dtype == "complex64" else 1e-12)


# ---- by the names of PyTorch's kernels: the statistics come along


def test_statistics_of_layers():
    x = gs.tensor(random(2, 3, 4), requires_grad=True)
    weight, bias = gs.tensor(random(3, 4, seed=1)), gs.tensor(random(3, 4, seed=2))
    values, mean, rstd = gs.native_layer_norm(x, [3, 4], weight, bias, 1e-5)
    np.testing.assert_array_equal(values.detach().numpy(), F.layer_norm(x, [3, 4], weight, bias).detach().numpy())
    given = x.detach().numpy()
    np.testing.assert_allclose(mean.detach().numpy(), given.mean((1, 2), keepdims=True))
    np.testing.assert_allclose(rstd.detach().numpy(), (given.var((1, 2), keepdims=True) + 1e-5) ** -0.5)
    (gradient,) = gs.autograd.grad(mean.sum(), x)
    np.testing.assert_allclose(gradient.numpy(), 1 / 12)


def test_statistics_of_groups():
    x = gs.tensor(random(2, 4, 3, 2), requires_grad=True)
    values, mean, rstd = gs.native_group_norm(x, None, None, 2, 4, 6, 2, 1e-5)
    np.testing.assert_array_equal(values.detach().numpy(), F.group_norm(x, 2).detach().numpy())
    groups = x.detach().numpy().reshape(2, 2, -1)
    np.testing.assert_allclose(mean.detach().numpy(), groups.mean(-1))
    np.testing.assert_allclose(rstd.detach().numpy(), (groups.var(-1) + 1e-5) ** -0.5)
    (gradient,) = gs.autograd.grad(mean.sum(), x)
    np.testing.assert_allclose(gradient.numpy(), 1 / 12)
    with pytest.raises(RuntimeError, match="first two sizes"):
        gs.native_group_norm(x, None, None, 2, 3, 6, 1, 1e-5)
    with pytest.raises(RuntimeError, match="HxW must be"):
        gs.native_group_norm(x, None, None, 2, 4, 5, 2, 1e-5)


def test_statistics_of_channels():
    x = gs.tensor(random(6, 3, 2))
    weight, bias = gs.tensor(random(3, seed=1)), gs.tensor(random(3, seed=2))
    running, same = ([gs.zeros(3), gs.ones(3)] for _ in range(2))
    values, mean, rstd = gs.native_batch_norm(x, weight, bias, *running, True, 0.1, 1e-5)
    wanted = F.batch_norm(x, *same, weight, bias, training=True)
    np.testing.assert_array_equal(values.numpy(), wanted.numpy())
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean((0, 2)))
    np.testing.assert_allclose(rstd.numpy(), (x.numpy().var((0, 2)) + 1e-5) ** -0.5)
    assert [each.tolist() for each in running] == [each.tolist() for each in same]
    values, mean, rstd = gs.native_batch_norm(x, weight, bias, *running, False, 0.1, 1e-5)
    np.testing.assert_array_equal(values.numpy(), F.batch_norm(x, *same, weight, bias).numpy())
    assert mean.shape == rstd.shape == (0,)


def test_no_elements_and_no_channels():
    x = gs.zeros(0, requires_grad=True)
    for training in (True, False):
        found = F.batch_norm(x, gs.zeros(0), gs.zeros(0), training=training)
        assert found.shape == (0,) and found.requires_grad
    with pytest.raises(RuntimeError, match="expected a floating tensor of shape"):
        F.batch_norm(gs.ones(3), None, None, training=True)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0)])
@pytest.mark.parametrize("momentum", [0.3, None])
def test_nothing_leaves_the_running_statistics_alone(shape, momentum):
    layer = gs.nn.BatchNorm1d(3, momentum=momentum)
    layer(gs.arange(12.0).reshape(4, 3))
    before = layer.running_mean.tolist(), layer.running_var.tolist()
    assert layer(gs.ones(shape)).shape == shape
    assert (layer.running_mean.tolist(), layer.running_var.tolist()) == before


@pytest.mark.parametrize("factors", [gs.float16, gs.float32, gs.float64])
@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64])
def test_factors_of_another_dtype_leave_that_of_the_result(dtype, factors):
    x, w = gs.tensor(random(3, 4, 2)).to(dtype).requires_grad_(), gs.ones(4, dtype=factors)
    pair = gs.ones(2, dtype=factors, requires_grad=True)
    for found in (
        F.layer_norm(x, (2,), pair, pair),
        F.rms_norm(x, (2,), pair),
        F.group_norm(x, 2, w, w),
        F.batch_norm(x, w, w, w, w),
        F.batch_norm(x, w.clone(), w.clone(), w, w, training=True),
        F.instance_norm(x, weight=w, bias=w),
    ):
        assert found.dtype == dtype
        found.sum().backward()
    assert x.grad.dtype == dtype and pair.grad.dtype == factors


def test_an_infinity_among_slices_leaves_zeros_beside_it():
    x = gs.tensor([[1.0, gs.inf, 2.0], [1.0, 2.0, 3.0]])
    found = gs.vmap(lambda row: F.rms_norm(row, (3,)))(x)
    np.testing.assert_allclose(found.numpy(), F.rms_norm(x, (3,)).numpy(), rtol=1e-6)
    assert found[0, 0] == 0 and found[0, 1].isnan() and found[0, 2] == 0
