"""Arguments that ops take, and their errors for the rest."""

import numpy as np
import pytest

import gradsmith as gs

X = gs.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.exp("1"), "exp(): argument 'input' (position 1) must be Tensor, not str"),
        (lambda: gs.exp(["1"]), "exp(): argument 'input' (position 1) must be Tensor, not list"),
        (lambda: gs.exp([1.0, None]), "exp(): argument 'input' (position 1) must be Tensor, not list"),
        (lambda: gs.maximum(None, X), "maximum(): argument 'input' (position 1) must be Tensor, not NoneType"),
        (lambda: gs.clamp(X, "a"), "clamp(): argument 'min' (position 2) must be Tensor or number, not str"),
        (lambda: gs.clamp(X, max=[None]), "clamp(): argument 'max' (position 3) must be Tensor or number, not list"),
        (lambda: gs.mul(X, "2"), "mul(): argument 'other' (position 2) must be Tensor or number, not str"),
        (lambda: gs.softmax(X, 0.5), "softmax(): argument 'dim' (position 2) must be int, not float"),
        (lambda: gs.softmax(X, True), "softmax(): argument 'dim' (position 2) must be int, not bool"),
        (lambda: X.sum(0, keepdim=1), "sum(): argument 'keepdim' (position 3) must be bool, not int"),
        (
            lambda: X.reshape(2, "2"),
            "reshape(): argument 'shape' (position 2) must be tuple of ints, but found element of type str at pos 1",
        ),
        (lambda: X.reshape(None), "reshape(): argument 'shape' (position 2) must be tuple of ints, but found"),
        (lambda: gs.cat(X), "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"),
        (lambda: gs.cat([X, "1"]), "cat(): expected Tensor as element 1 of argument 'tensors', but got str"),
        (lambda: X.add_({}), "add_(): argument 'other' (position 2) must be Tensor or number, not dict"),
        (lambda: X.add_(["1"]), "add_(): argument 'other' (position 2) must be Tensor or number, not list"),
        (lambda: gs.exp(X, out=1), "exp(): argument 'out' must be Tensor, not int"),
    ],
)
def test_wrong_types_are_refused_by_name(call, message: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("two", [2, 2.0, True + 1, np.float32(2), np.int8(2), np.float64(2), np.array(2.0)])
def test_numbers_of_every_kind(two) -> None:
    assert (X * two).tolist() == [[2, 4], [6, 8]]
    assert (two * X).tolist() == [[2, 4], [6, 8]]
    assert (X - two).tolist() == [[-1, 0], [1, 2]]
    assert (two - X).tolist() == [[1, 0], [-1, -2]]
    assert (X * two).dtype == (gs.float64 if isinstance(two, np.ndarray) and two.ndim else gs.float32)


def test_an_array_is_a_constant_on_either_side() -> None:
    array = np.array([[1.0, 1.0], [2.0, 2.0]], np.float32)
    assert isinstance(array + X, gs.Tensor)
    assert (array - X).tolist() == [[0, -1], [-1, -2]]
    assert (X @ array).tolist() == (X.numpy() @ array).tolist()
    assert (array @ X).tolist() == (array @ X.numpy()).tolist()
    assert gs.mul(array, X).tolist() == (array * X.numpy()).tolist()


def test_an_array_that_no_tensor_can_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="can't convert"):
        X + np.array([object(), object()])


def test_operators_leave_strangers_to_themselves() -> None:
    class Stranger:
        def __radd__(self, other):
            return "added"

        def __rsub__(self, other):
            return "taken away"

    assert X + Stranger() == "added"
    assert X - Stranger() == "taken away"
    assert (X == "text") is False
    assert (X != None) is True  # noqa: E711
    with pytest.raises(TypeError, match="unsupported operand"):
        X + None


def test_names_that_functions_of_pytorch_have_beside_those_of_methods() -> None:
    split = gs.split(tensor=X, split_size_or_sections=[1, 1], dim=1)
    assert [part.tolist() for part in split] == [part.tolist() for part in X.split([1, 1], 1)]
    with pytest.raises(TypeError, match="invalid combination"):
        gs.split(X, 1, split_size_or_sections=1)
    assert gs.tensordot(a=X, b=X, dims=2).item() == (X * X).sum().item()
    with pytest.raises(TypeError, match="several values for argument 'other'"):
        gs.tensordot(X, X, b=X)
    tau = gs.tensor([0.5, 0.25])
    assert gs.orgqr(X, input2=tau).tolist() == gs.orgqr(X, tau).tolist()
    assert gs.ormqr(X, input2=tau, input3=X).tolist() == gs.ormqr(X, tau, X).tolist()


def test_arguments_of_layout() -> None:
    assert X.clone().resize_(4, memory_format=gs.contiguous_format).shape == (4,)
    assert gs.ones(3).resize_as_(X, memory_format=gs.preserve_format).shape == X.shape
    assert X.to_dense(dtype=gs.float64).dtype == gs.float64 and X.to_dense() is X
    assert gs.fft.fftfreq(3, layout=gs.strided).shape == (3,)
    with pytest.raises(NotImplementedError, match="rfftfreq.*layout"):
        gs.fft.rfftfreq(3, layout=gs.sparse_coo)
    with pytest.raises(RuntimeError, match="tril_indices.*require gradients"):
        gs.tril_indices(2, 2, requires_grad=True)


def test_dim_has_a_second_name() -> None:
    assert X.sum(axis=0).tolist() == X.sum(dim=0).tolist() == gs.sum(X, 0).tolist()
    assert X.sum(0, keepdims=True).shape == (1, 2)
    assert gs.softmax(X, axis=1).shape == (2, 2)
    assert gs.stack([X, X], axis=2).shape == (2, 2, 2)
    assert gs.max(X, axis=1).indices.tolist() == [1, 1]


def test_shapes_may_be_spread_out() -> None:
    assert X.reshape(4, 1).shape == X.reshape((4, 1)).shape == X.reshape([4, 1]).shape == (4, 1)
    assert X.reshape(np.int64(4)).shape == (4,)
    assert X.reshape(gs.tensor(4)).shape == (4,)
    assert X.permute(1, 0).tolist() == X.permute((1, 0)).tolist()


def test_a_single_tensor_of_no_dimensions_is_a_number() -> None:
    assert gs.nn.functional.softplus(X, gs.tensor(1.0)).shape == (2, 2)


def test_complex_numbers_are_refused_where_they_mean_nothing() -> None:
    z = gs.tensor([1 + 2j])
    for call in (lambda: gs.maximum(z, z), lambda: z.clamp(0, 1), lambda: X.clamp_min(1j), lambda: z < 1):
        with pytest.raises(RuntimeError, match="not defined for complex numbers"):
            call()


# ---- out=


def test_out_receives_the_result() -> None:
    out = gs.zeros(2, 2)
    assert gs.mul(X, 2, out=out) is out
    assert out.tolist() == [[2, 4], [6, 8]]


def test_out_does_not_go_with_recording() -> None:
    x = gs.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        gs.exp(x, out=gs.zeros(1))
    with gs.no_grad():
        assert gs.exp(x, out=gs.zeros(1)).tolist() == pytest.approx([np.e])


# ---- in place


def test_in_place_without_a_derivative_leaves_history_alone() -> None:
    x = gs.tensor([1.0, -1.0], requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="no derivative"):
        x.logical_not_()
    assert x.tolist() == [1, -1]


def test_a_failed_change_changes_nothing() -> None:
    x = gs.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError):
        x.add_(gs.ones(3, 2))
    assert (x.tolist(), x._version) == ([1, 2], 0)


# ---- overloads


def test_overloads_are_told_apart() -> None:
    assert X.max().item() == 4
    assert X.max(0).values.tolist() == X.max(dim=0)[0].tolist() == [3, 4]
    assert gs.max(X, 1, True).indices.tolist() == gs.max(X, 1, keepdim=True).indices.tolist() == [[1], [1]]
    assert gs.max(X, X * 2).tolist() == gs.max(X, other=X * 2).tolist() == [[2, 4], [6, 8]]


def test_no_overload_fits() -> None:
    with pytest.raises(TypeError) as error:
        gs.max(X, "0", keepdim=True)
    assert str(error.value) == (
        "max() received an invalid combination of arguments - got (Tensor, str, keepdim=bool), but expected one of:\n"
        " * (Tensor input, *, Tensor? out=None)\n"
        " * (Tensor input, Tensor other, *, Tensor? out=None)\n"
        " * (Tensor input, int dim, bool keepdim=False, *, Tensor[2]? out=None)"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.max(X, 0, dim=0),
        lambda: gs.max(X, dim=0, axis=0),
        lambda: gs.max(X, 0, False, 1),
        lambda: gs.max(X, dims=0),
        lambda: gs.max(),
        lambda: X.max(True),
    ],
)
def test_arguments_that_fit_nowhere(call) -> None:
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        call()


def test_a_list_given_one_by_one_beside_another_overload() -> None:
    x = gs.arange(6.0)
    expected = [[0, 1, 2], [3, 4, 5]]
    three = np.int64(3)
    for seen in (
        x.view(2, 3),
        x.view((2, 3)),
        x.view([2, -1]),
        x.view(2, three),
        x.view(size=(2, 3)),
        x.view(2, gs.tensor(3)),
    ):
        assert seen.tolist() == expected
    assert x.view(6).shape == x.view((6,)).shape == x.view(size=6).shape == (6,)
    assert gs.tensor(1.0).view(()).shape == ()
    assert x.view(gs.int32).dtype == x.view(dtype=gs.int32).dtype == gs.int32


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.view(),
        lambda x: x.view(None),
        lambda x: x.view(2.0),
        lambda x: x.view(gs.int32, 3),
        lambda x: x.view(4, size=(4,)),
        lambda x: x.view(gs.int32, dtype=gs.int32),
        lambda x: x.view(shape=(2, 2)),
    ],
)
def test_a_list_given_one_by_one_with_something_else(call) -> None:
    with pytest.raises(TypeError, match=r"view\(\) received an invalid combination of arguments"):
        call(X)


def test_an_item_of_a_list_that_is_no_number() -> None:
    with pytest.raises(TypeError, match=r"view\(\): argument 'size' .* element of type Int32DType at pos 1"):
        X.view(4, gs.int32)


# ---- named tuples


def test_several_results_are_named() -> None:
    result = gs.max(X, 0)
    values, indices = result
    assert result.values is values and result.indices is indices
    assert type(result)._fields == ("values", "indices")
    assert repr(result) == "gradsmith.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 1]))"


def test_named_results_can_be_pickled() -> None:
    import pickle

    result = gs.max(X, 0)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert again.values.tolist() == [3, 4]
