"""Methods of tensors mean NumPy's in functions of arrays, and PyTorch's elsewhere and with PyTorch's arguments."""

import numpy as np
import pytest

import gradsmith as gs

A = np.array([[3.0, 1.0, 2.5], [5.25, 4.0, 7.0]])
B = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

METHODS = [
    "x.std()", "x.std(axis=1)", "x.std(ddof=1)", "x.std(1, keepdims=True)", "x.var()", "x.var(0)",
    "x.var(axis=(0, 1))", "x.max()", "x.max(1)", "x.max(axis=(0, 1))", "x.min(axis=1, keepdims=True)",
    "x.min(initial=2.0)", "x.repeat(2)", "x.repeat(2, 0)", "x.repeat([1, 0, 2], axis=1)", "x[x.nonzero()]",
    "x.transpose()", "x.transpose(1, 0)", "x.transpose(0, 1)", "x.transpose((1, 0))", "x.transpose(None)",
    "x[None].transpose(2, 0, 1)", "x.cumsum()", "x.cumsum(1)", "x.cumsum(axis=0)", "x.cumprod()", "x.cumprod(axis=1)",
    "x.dot(b)", "x.dot(np.ones(3))", "x[0].dot(x[1])", "x.take([0, 4])", "x.take([0, 2], axis=1)",
    "x.take(np.array([[1, 0]]), 0)", "x.ravel('F')", "x.ravel()", "x.flatten('F')", "x.flatten()",
    "x.reshape(3, 2, order='F')", "x.reshape((3, 2), order='F')", "x.reshape(-1)", "x[:1].squeeze()",
    "x[:1].squeeze(axis=0)", "np.take_along_axis(x, x.argsort(kind='stable'), 1)",
    "np.take_along_axis(x, x.argsort(axis=0), 0)", "x.copy()", "x.T.copy()", "x.copy('F')", "x.astype(float)",
    "x.flat[2]", "x.flat[1:5]", "np.sum([3 * v for v in x.flat][1])", "divmod(x, 2.3)[1]", "divmod(9.7, x)[1]",
    "x / x.size", "x * (x.size == 6)", "np.ones(x.size) * x.ravel()", "x.sum(axis=(0, 1))", "x.mean(0)", "x.prod()",
]  # fmt: skip
STEPS = ["x.round(1)", "x.round()", "x.round(decimals=1)", "divmod(x, 2.3)[0]", "x.astype('float32')", "x.astype(int)"]


def numeric_gradient(f, x, step=1e-6):
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        one = np.zeros_like(x)
        one[place] = step
        found[place] = (np.sum(f(x + one)) - np.sum(f(x - one))) / (2 * step)
    return found


def function_of(expression):
    return eval(f"lambda x: {expression}", {"np": np, "b": B})


def value_and_gradient(f, x):
    values = []

    def of_arrays(x):
        values.append(f(x))
        return np.sum(values[-1] * 1.0)

    gradient = gs.grad(of_arrays)(x)
    value = values[-1]
    return (value.detach().numpy() if isinstance(value, gs.Tensor) else value), gradient


@pytest.mark.parametrize("expression", METHODS)
def test_a_method_and_its_gradient_are_numpys(expression):
    f = function_of(expression)
    value, gradient = value_and_gradient(f, A)
    np.testing.assert_allclose(value, f(A), rtol=1e-12)
    assert np.shape(value) == np.shape(f(A))
    np.testing.assert_allclose(gradient, numeric_gradient(f, A), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("expression", STEPS)
def test_values_of_methods_that_step(expression):
    f = function_of(expression)
    found = []
    gs.grad(lambda x: np.sum(x) + 0.0 * np.sum(found.append(f(x)) or found[-1]))(A)
    np.testing.assert_array_equal(found[0].detach().numpy(), f(A))


def test_all_transforms_and_nested_calls():
    f = function_of("x.std() + x.max(0).sum()")
    np.testing.assert_allclose(gs.func.hessian(f)(A[0])[0, 1], gs.func.hessian(lambda x: np.std(x))(A[0])[0, 1])
    np.testing.assert_allclose(gs.vmap(function_of("x.std()"))(A), A.std(1))
    np.testing.assert_allclose(gs.func.jvp(f, (A,), (A,))[1], np.sum(numeric_gradient(f, A) * A), rtol=1e-6)
    inner = gs.grad(lambda x: gs.grad(lambda y: y.var() * y.size)(x * 1.0).sum() + x.var())
    np.testing.assert_allclose(inner(A), numeric_gradient(np.var, A), rtol=1e-5, atol=1e-6)


def test_arguments_of_pytorch_ask_for_pytorchs_method():
    def f(x):
        assert x.max(dim=1).values.shape == x.max(dim=1).indices.shape == (2,)
        assert x.sort(descending=True).values.shape == (2, 3)
        assert x.transpose(dim0=0, dim1=1).shape == (3, 2)
        assert x.nonzero(as_tuple=False).shape == (6, 2)
        return x.std(correction=1)

    np.testing.assert_allclose(gs.grad(f)(A), numeric_gradient(lambda x: x.std(ddof=1), A), rtol=1e-5, atol=1e-6)


def test_functions_of_tensors_keep_pytorchs_methods():
    x = gs.tensor(A, requires_grad=True)
    gs.grad(lambda x: np.sum(x))(A)  # from here on the class has both
    assert x.std().item() == pytest.approx(A.std(ddof=1))
    assert x.transpose(0, 1).shape == (3, 2) and x.repeat(2, 1).shape == (4, 3) and len(x.max(1)) == 2
    gs.grad(lambda x: pytest.approx(A.std(ddof=1)) == x.std().detach().item() and x.sum())(x)
    with pytest.raises(TypeError, match=r"transpose\(\)"):
        x.transpose(1)
    assert gs.Tensor.std.__name__ == "std" and gs.Tensor.std.__doc__.startswith("Standard deviation")


def test_layers_within_functions_of_arrays_keep_their_meaning():
    gs.manual_seed(0)
    layer = gs.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0).double().requires_grad_(False)
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    weights = np.random.default_rng(1).standard_normal((2, 3, 4))
    found = gs.grad(lambda x: np.sum(layer(x) * weights))(x)
    tensor = gs.tensor(x, requires_grad=True)
    (layer(tensor) * gs.tensor(weights)).sum().backward()
    np.testing.assert_array_equal(found, tensor.grad.numpy())


def test_sorting_in_place_is_refused():
    with pytest.raises(TypeError, match=r"write x = np.sort\(x\)"):
        gs.grad(lambda x: x.sort() or np.sum(x))(A[0])


# ---- what tensors have everywhere


def test_size_is_a_number_and_a_method():
    x = gs.tensor(A)
    assert x.size == 6 and isinstance(x.size, int) and list(range(x.size)) == list(range(6)) and x.size / 2 == 3
    assert x.size() == x.shape == (2, 3) and x.size(0) == x.size(dim=-2) == 2
    size = x.size
    assert size() == (2, 3) and size(1) == 3 and hash(size) == hash(6) and repr(size) == "6"
    with pytest.raises(IndexError, match="Dimension out of range"):
        size(2)
    assert gs.Tensor.size(x) == (2, 3) and gs.nn.Parameter(x).size == 6
    assert bool(gs.ones(0).size) is False and gs.tensor(1.0).size == 1
    assert gs.vmap(lambda row: row * row.size)(x).tolist() == (3 * A).tolist()


def test_size_survives_pickling_as_an_int():
    import copy
    import pickle

    size = pickle.loads(pickle.dumps(gs.ones(2, 3).size))
    assert size == 6 and type(size) is int and copy.deepcopy(gs.ones(4).size) == 4


def test_copies_keep_the_gradient():
    x = gs.tensor(A, requires_grad=True)
    y = x.copy()
    assert y.data_ptr() != x.data_ptr() and y.is_contiguous()
    y.sum().backward()
    assert x.grad.tolist() == np.ones((2, 3)).tolist()
    turned = gs.tensor(A).T
    assert turned.copy().is_contiguous() and turned.copy("K").stride() == (1, 3) and turned.copy("F").stride() == (1, 3)
    assert gs.tensor(A).copy("F").stride() == (1, 2) and gs.ones(2, 3, 4).copy(order="F").stride() == (1, 2, 6)
    with pytest.raises(ValueError, match=r"copy\(\): order must be one of 'C', 'F', 'A', or 'K' \(got 'Z'\)"):
        turned.copy("Z")


def test_astype():
    x = gs.tensor(A, requires_grad=True)
    y = x.astype(np.float32)
    assert y.dtype == gs.float32 and x.astype("complex128").dtype == gs.complex128 and x.astype(int).dtype == gs.int64
    (y * 2).sum().backward()
    assert x.grad.tolist() == (2 * np.ones((2, 3))).tolist()
    assert x.astype(float, copy=False) is x and x.astype(float).data_ptr() != x.data_ptr()
    assert gs.tensor(A).T.astype(np.float32).stride() == (1, 3)
    with pytest.raises(
        TypeError, match=r"astype\(\): cannot cast from float64 to float32 according to the rule 'safe'"
    ):
        x.astype(np.float32, casting="safe")


def test_flat_elements():
    x = gs.tensor(A).T.clone(memory_format=gs.preserve_format)  # its rows do not lie one after the other
    flat = x.flat
    assert len(flat) == 6 and flat[1].item() == 5.25 and [v.item() for v in flat] == A.T.ravel().tolist()
    assert np.asarray(flat).tolist() == A.T.ravel().tolist() and flat.copy().tolist() == A.T.ravel().tolist()
    expected = A.T.copy()
    for index, value in [(1, -1.0), (slice(2, 4), [7.0, 8.0]), ([0, -1], 9.0)]:
        flat[index] = value
        expected.flat[index] = value
        assert x.tolist() == expected.tolist()
    x.flat = expected.flat = 5.0
    assert x.tolist() == expected.tolist() == np.full((3, 2), 5.0).tolist()


def test_divmod():
    x = gs.tensor([7.5, -7.5], requires_grad=True)
    quotient, rest = divmod(x, 2)
    assert quotient.tolist() == [3.0, -4.0] and rest.tolist() == [1.5, 0.5]
    rest.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert [part.tolist() for part in divmod(9, gs.tensor([2, 4]))] == [[4, 2], [1, 1]]


def test_an_error_within_a_function_of_arrays_ends_numpys_meaning():
    def f(x):
        raise KeyError(x.std().item())

    with pytest.raises(KeyError):
        gs.grad(f)(A)
    assert gs.is_grad_enabled() and gs.tensor(A).std().item() == pytest.approx(A.std(ddof=1))
    with gs.no_grad():
        np.testing.assert_array_equal(gs.grad(np.sum)(A), np.ones_like(A))
        assert not gs.is_grad_enabled()


def test_errors_of_methods_with_both_meanings_have_the_signature():
    gs.grad(lambda x: x.transpose().sum())(np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"The signature is transpose\(dim0, dim1\); permute"):
        gs.ones(2, 3).transpose(2, 0, 1)
