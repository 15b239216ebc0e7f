"""What is written to one place reduced: scatter_reduce and index_reduce, against PyTorch's recorded answers."""

import math

import numpy as np
import pytest

import gradsmith as gs

INDEX = [0, 0, 2]
NAN = math.nan


def leaves(*rows):
    return [gs.tensor(row, requires_grad=True) for row in rows]


@pytest.mark.parametrize(
    ("reduce", "include_self", "values", "of_self", "of_src"),
    [
        ("sum", True, [3, 2, 3], [1, 1, 1], [1, 1, 1]),
        ("sum", False, [2, 2, 0], [0, 1, 0], [1, 1, 1]),
        ("prod", True, [1, 2, 0], [1, 1, 0], [1, 1, 3]),
        ("prod", False, [1, 2, 0], [0, 1, 0], [1, 1, 1]),
        ("mean", True, [1, 2, 1.5], [1 / 3, 1, 0.5], [1 / 3, 1 / 3, 0.5]),
        ("mean", False, [1, 2, 0], [0, 1, 0], [0.5, 0.5, 1]),
        ("amax", True, [1, 2, 3], [1 / 3, 1, 1], [1 / 3, 1 / 3, 0]),
        ("amin", True, [1, 2, 0], [1 / 3, 1, 0], [1 / 3, 1 / 3, 1]),
        # PyTorch counts the element of the input that is left out as one of the equals, and gives 1/3.
        ("amax", False, [1, 2, 0], [0, 1, 0], [0.5, 0.5, 1]),
        ("amin", False, [1, 2, 0], [0, 1, 0], [0.5, 0.5, 1]),
    ],
)
def test_values_and_gradients(reduce, include_self, values, of_self, of_src):
    for op in ["scatter_reduce"] if reduce == "sum" else ["scatter_reduce", "index_reduce"]:
        x, src = leaves([1.0, 2.0, 3.0], [1.0, 1.0, 0.0])
        result = getattr(x, op)(0, gs.tensor(INDEX), src, reduce, include_self=include_self)
        assert result.tolist() == values
        result.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), of_self, rtol=1e-6)
        np.testing.assert_allclose(src.grad.numpy(), of_src, rtol=1e-6)
        changed = gs.tensor([1.0, 2.0, 3.0])
        getattr(changed, f"{op}_")(0, gs.tensor(INDEX), src.detach(), reduce, include_self=include_self)
        assert changed.tolist() == values


@pytest.mark.parametrize("dtype", [gs.int8, gs.int64, gs.float16])
@pytest.mark.parametrize(
    ("reduce", "all_of_them", "without_self"),
    [
        ("sum", [6, 2, 6], [5, 2, -1]),
        ("prod", [0, 2, -7], [0, 2, -1]),
        ("mean", [2, 2, 3], [2, 2, -1]),
        ("amax", [5, 2, 7], [5, 2, -1]),
        ("amin", [0, 2, -1], [0, 2, -1]),
    ],
)
def test_dtypes(dtype, reduce, all_of_them, without_self):
    x, src = gs.tensor([1, 2, 7], dtype=dtype), gs.tensor([5, 0, -1], dtype=dtype)
    both = x.scatter_reduce(0, gs.tensor(INDEX), src, reduce)
    alone = x.scatter_reduce(0, gs.tensor(INDEX), src, reduce, include_self=False)
    assert both.dtype == alone.dtype == dtype
    assert both.tolist() == all_of_them
    halves = dtype == gs.float16 and reduce == "mean"
    assert alone.tolist() == ([2.5, 2, -1] if halves else without_self)


def test_a_mean_of_integers_is_rounded_down():
    x, src = gs.tensor([-1, -2, -7]), gs.tensor([-5, 0, -1])
    assert x.scatter_reduce(0, gs.tensor(INDEX), src, "mean").tolist() == [-2, -2, -4]
    assert gs.tensor([1, 2, -3]).index_reduce(0, gs.tensor(INDEX), gs.tensor([4, 2, -5]), "mean").tolist() == [2, 2, -4]


def test_products_with_zeros_have_derivatives_of_any_order():
    x, src = leaves([1.0, 0.0, 3.0], [0.0, 0.0, 0.0, 2.0])
    product = x.scatter_reduce(0, gs.tensor([0, 0, 1, 2]), src, "prod")
    of_self, of_src = gs.autograd.grad(product.sum(), (x, src), create_graph=True)
    assert of_self.tolist() == [0.0, 0.0, 2.0]
    assert of_src.tolist() == [0.0, 0.0, 0.0, 3.0]
    (again,) = gs.autograd.grad(of_src[0], src)  # the derivative of x[0] * src[1]
    assert again.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_nan_spreads_within_its_group():
    x = gs.tensor([1.0, NAN, 3.0])
    found = x.scatter_reduce(0, gs.tensor([0, 1]), gs.tensor([NAN, 2.0]), "amax", include_self=False)
    np.testing.assert_array_equal(found.numpy(), [NAN, 2.0, 3.0])


def test_edges():
    one = gs.tensor(1.0)
    assert one.scatter_reduce(0, gs.tensor(0), gs.tensor(3.0), "amax").item() == 3.0
    assert one.scatter_reduce(0, gs.tensor([0, 0]), gs.tensor([3.0, 4.0]), "sum").item() == 8.0
    assert one.index_reduce(0, gs.tensor([0]), gs.tensor(3.0), "prod").item() == 3.0
    nothing = gs.zeros(0, dtype=gs.int64)
    assert gs.ones(2).scatter_reduce(0, nothing, gs.zeros(0), "prod", include_self=False).tolist() == [1.0, 1.0]
    assert gs.ones(2).index_reduce(0, nothing, gs.zeros(0), "mean", include_self=False).tolist() == [1.0, 1.0]
    assert gs.tensor([True, False]).scatter_reduce(0, gs.tensor([1]), gs.tensor([True]), "amax").tolist() == [
        True,
        True,
    ]
    meta = gs.ones(3, device="meta").scatter_reduce(
        0, gs.tensor(INDEX, device="meta"), gs.ones(3, device="meta"), "mean"
    )
    assert meta.shape == (3,)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.scatter_reduce(0, gs.tensor([0]), x, "foo"), RuntimeError, "sum, prod, mean, amax or amin"),
        (lambda x: x.scatter_reduce(0, gs.tensor([0]), gs.tensor([1]), "sum"), RuntimeError, "dtype"),
        (lambda x: x.scatter_reduce(0, gs.tensor([0.0]), x, "sum"), RuntimeError, "int64"),
        (lambda x: x.scatter_reduce(0, gs.tensor([2]), x, "sum"), RuntimeError, "scatter_reduce.*out of bounds"),
        (lambda x: x.scatter_reduce(0, gs.tensor([-1]), x, "amax"), RuntimeError, "out of bounds"),
        (lambda x: x.scatter_reduce(0, gs.tensor([1, 0]), gs.ones(1), "amax"), RuntimeError, "does not cover"),
        (lambda x: x.scatter_reduce(1, gs.tensor([0]), x, "amax"), IndexError, "range"),
        (lambda x: (x + 1j).scatter_reduce(0, gs.tensor([0]), x + 1j, "amax"), NotImplementedError, "order"),
        (lambda x: (x > 0).scatter_reduce(0, gs.tensor([0]), x > 0, "mean"), NotImplementedError, "bool"),
        (lambda x: x.index_reduce(0, gs.tensor([0]), gs.ones(1), "sum"), RuntimeError, "prod, mean, amax or amin"),
        (lambda x: x.index_reduce(0, gs.tensor([0]), gs.tensor([1]), "prod"), RuntimeError, "dtype"),
        (lambda x: x.index_reduce(0, gs.tensor([0.0]), gs.ones(1), "prod"), RuntimeError, "int32/int64"),
        (lambda x: x.index_reduce(0, gs.tensor([2]), gs.ones(1), "prod"), IndexError, "index_reduce.*out of bounds"),
        (lambda x: x.index_reduce(0, gs.tensor([0, 1]), gs.ones(1), "amax"), RuntimeError, "size"),
        (lambda x: x.index_reduce(0, gs.tensor([[0, 1]]), x, "amax"), IndexError, "vector"),
        (lambda x: (x + 1j).index_reduce(0, gs.tensor([0]), gs.ones(1) + 1j, "prod"), NotImplementedError, "complex"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(gs.tensor([1.0, 2.0]))


# ---- gradients of products without a history of their own


@pytest.mark.parametrize("dtype", [gs.float64, gs.complex128, gs.float32, gs.float16])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gradients_of_products_are_products_of_the_others(dim, dtype):
    rng = np.random.default_rng(dim + 1)
    values = np.round(rng.standard_normal((5, 4, 6)) * 2)  # with zeros
    x = gs.tensor(values[:, :, :3]).to(dtype).requires_grad_()
    src = gs.tensor(values[:, ::-1, ::-1].copy()).to(dtype).requires_grad_()  # more than the index takes
    sizes = [min(n, 3) if d != dim % 3 else 4 for d, n in enumerate(x.shape)]
    index = gs.tensor(rng.integers(0, x.shape[dim], sizes))
    weights = gs.tensor(rng.standard_normal(x.shape)).to(dtype)
    of_x, of_src = gs.autograd.grad((x.scatter_reduce(dim, index, src, "prod") * weights).sum().real, (x, src))
    expected_x, expected_src = weights.numpy().conj().copy(), np.zeros(src.shape, of_src.numpy().dtype)
    axis = dim % 3
    for place in np.ndindex(*x.shape):
        mine = [at for at in np.ndindex(*sizes) if (*at[:axis], int(index[at]), *at[axis + 1 :]) == place]
        factors = [x[place].item(), *(src[at].item() for at in mine)]
        for number in range(len(factors)):
            others = np.conj(np.prod(factors[:number] + factors[number + 1 :]))
            if number == 0:
                expected_x[place] *= others
            else:
                expected_src[mine[number - 1]] = weights[place].numpy().conj() * others
    tolerance = 2e-2 if dtype == gs.float16 else 1e-5
    np.testing.assert_allclose(of_x.numpy(), expected_x, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(of_src.numpy(), expected_src, rtol=tolerance, atol=tolerance)
    again = gs.autograd.grad(
        (x.scatter_reduce(dim, index, src, "prod") * weights).sum().real, (x, src), create_graph=True
    )
    for one, other in zip((of_x, of_src), again, strict=True):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("how", ["prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64, gs.int64, gs.int32])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_slices_are_reduced_as_elements_are(dim, dtype, how):
    rng = np.random.default_rng(dim + 1)
    x = gs.tensor(rng.integers(-3, 4, (4, 5, 40))).to(dtype)
    index = gs.tensor(rng.integers(0, 4, 7))
    sizes = [7 if d == dim else n for d, n in enumerate(x.shape)]
    src = gs.tensor(rng.integers(-3, 4, sizes)).to(dtype)
    if dtype.kind == "f":
        x[0, 0, 0], src[1, 1, 1] = float("nan"), float("nan")
    places = index.reshape([-1 if d == dim else 1 for d in range(3)]).expand(sizes).clone()
    for include_self in (True, False):
        found = x.index_reduce(dim, index, src, how, include_self=include_self)
        expected = x.scatter_reduce(dim, places, src, how, include_self=include_self)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        target = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        np.testing.assert_array_equal(
            target.index_reduce_(dim, index, src, how, include_self=include_self).numpy(), expected.numpy()
        )


def test_extremes_of_complex_numbers_among_helpers():
    """The greatest by the real part, as NumPy's; only the table's own checks ask for it."""
    from gradsmith.runtime.arrays.functions.indexed import grouped_of

    a, src = np.array([1 + 1j, 5.0]), np.array([2.0, 3 + 2j])
    found = grouped_of(a, 0, np.array([0, 1]), src, "amax", "scatter_reduce")
    assert found.tolist() == [2, 5]
