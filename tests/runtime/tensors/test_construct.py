"""``Tensor(...)``, and classes written over Tensor."""

import copy
import pickle

import numpy as np
import pytest

import gradsmith as gs


class Plain(gs.Tensor):
    pass


class Weight(gs.Tensor):
    """PyTorch's idiom."""

    def __new__(cls, data, requires_grad=True):
        return gs.Tensor._make_subclass(cls, data, requires_grad)


class Labelled(gs.Tensor):
    def __new__(cls, data, label="none"):
        result = super().__new__(cls, data)
        result.label = label
        return result

    def __init__(self, data, label="none"):
        super().__init__()
        self.length = len(label)


# ---- Tensor(...)


@pytest.mark.parametrize("cls", [gs.Tensor, Plain])
def test_without_arguments_and_of_a_size(cls):
    assert cls().shape == (0,) and cls(2, 3).shape == (2, 3) and cls(np.int64(3)).shape == (3,)
    assert cls(size=(2,)).shape == (2,) and cls(2, device="cpu").shape == (2,)
    assert type(cls(2)) is cls and cls(2).dtype == gs.float32


@pytest.mark.parametrize("data", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), np.array([1.0, 2.0], np.float32)])
def test_data_takes_the_default_dtype(data):
    for made in (gs.Tensor(data), gs.Tensor(data=data), gs.Tensor.__new__(Plain, data)):
        assert made.dtype == gs.float32 and made.tolist() == [1.0, 2.0]


def test_a_size_is_a_sequence_of_data():
    """A shape is a tuple here, without a class of its own."""
    assert gs.Tensor((2, 3)).tolist() == [2.0, 3.0]


def test_an_array_is_copied():
    array = np.ones(2, np.float32)
    gs.Tensor(list(array)).fill_(5)
    assert array.tolist() == [1, 1]


def test_of_a_tensor_it_is_a_view():
    x = gs.ones(2, requires_grad=True)
    y = gs.Tensor(x)
    assert y is not x and y._base is x and y.requires_grad and not y.is_leaf
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert gs.Tensor(gs.tensor(3)).dtype == gs.int64


@pytest.mark.parametrize(
    "args, named, error, message",
    [
        ((True,), {}, TypeError, r"data must be a sequence \(got bool\)"),
        ((2.5,), {}, TypeError, r"data must be a sequence \(got float\)"),
        ((None,), {}, TypeError, r"data must be a sequence \(got NoneType\)"),
        ((np.float32(3),), {}, TypeError, "data must be a sequence"),
        (("abc",), {}, TypeError, "invalid data type 'str'"),
        ((2, "a"), {}, TypeError, "argument 2 of a size must be an int, not str"),
        ((2, 3.5), {}, TypeError, "argument 2 of a size must be an int, not float"),
        (([1, 2], [3]), {}, TypeError, "argument 1 of a size must be an int, not list"),
        (([[1, 2], [3]],), {}, ValueError, r"Tensor\(\): expected sequence of length 2 at dim 1 \(got 1\)"),
        ((-1,), {}, RuntimeError, "negative dimension -1"),
        ((2,), {"dtype": gs.float64}, TypeError, "unexpected keyword argument 'dtype'"),
        (([2.0],), {"requires_grad": True}, TypeError, "unexpected keyword argument 'requires_grad'"),
        ((2,), {"device": "meta"}, RuntimeError, "expects device type: cpu"),
    ],
)
def test_what_it_refuses(args, named, error, message):
    with pytest.raises(error, match=message):
        gs.Tensor(*args, **named)


# ---- subclasses


def test_new_with_arguments():
    data = gs.ones(3)
    parameter = Weight(data)
    assert type(parameter) is Weight and parameter.requires_grad and parameter.is_leaf
    assert parameter.data_ptr() == data.data_ptr() and not Weight(data, False).requires_grad
    assert Weight(gs.ones(3, requires_grad=True) * 2).is_leaf
    assert repr(parameter) == "Weight([1., 1., 1.], requires_grad=True)"


def test_new_and_init_with_arguments():
    labelled = Labelled([1, 2], label="two")
    assert type(labelled) is Labelled and labelled.tolist() == [1, 2]
    assert (labelled.label, labelled.length) == ("two", 3)


def test_what_new_does_not_take_init_does_not_get():
    class Flagged(gs.Tensor):
        def __init__(self, data, flag=False):
            self.flag = flag

    assert not Flagged([1, 2]).flag
    with pytest.raises(TypeError, match="unexpected keyword argument 'flag'"):
        Flagged([1, 2], flag=True)


def test_in_place_and_results_keep_the_class():
    parameter = Weight(gs.ones(2), False)
    assert parameter.add_(1) is parameter
    assert type(parameter + 1) is Weight and type(parameter.detach()) is Weight


def test_gradients_of_a_parameter():
    parameter = Weight(gs.ones(2))
    (parameter * parameter).sum().backward()
    assert parameter.grad.tolist() == [2, 2]


def test_make_subclass_shares_the_version():
    data = gs.ones(2)
    parameter = Weight(data)
    y = parameter.sin().sum()
    data.add_(1)
    assert parameter._version == 1 and not parameter._is_view()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_as_subclass():
    x = gs.ones(2, requires_grad=True)
    seen = x.as_subclass(Plain)
    assert type(seen) is Plain and seen._base is x and seen.requires_grad and not seen.is_leaf
    assert gs.autograd.grad((seen * 2).sum(), x)[0].tolist() == [2, 2]
    assert type(seen.as_subclass(gs.Tensor)) is gs.Tensor
    assert type((x * 2).as_subclass(Plain).grad_fn) is type(x.view(2).grad_fn)


@pytest.mark.parametrize("cls", [int, None, 3, gs.Tensor.__base__])
def test_only_subclasses_of_tensor(cls):
    x = gs.ones(2)
    for make in (lambda: x.as_subclass(cls), lambda: gs.Tensor._make_subclass(cls, x)):
        with pytest.raises(TypeError, match="does not inherit from Tensor"):
            make()


@pytest.mark.parametrize("data", [None, 3, [1.0]])
def test_a_subclass_is_made_of_a_tensor(data):
    with pytest.raises(TypeError, match="argument 'data' must be Tensor"):
        gs.Tensor._make_subclass(Plain, data)


def test_integers_make_no_parameter():
    with pytest.raises(RuntimeError, match="floating point and complex"):
        Weight(gs.tensor([1, 2]))


def test_subclasses_without_data_and_of_inference():
    assert Weight(gs.ones(2, device="meta")).is_meta
    with gs.inference_mode():
        made_there = gs.ones(2)
    assert gs.Tensor._make_subclass(Plain, made_there).is_inference()


def test_the_base_classes_are_not_constructed():
    with pytest.raises(TypeError, match="cannot be constructed"):
        gs.Tensor.__base__([1.0])


def test_copies_of_subclasses():
    labelled = Labelled([1, 2], label="two")
    for duplicate in (copy.copy(labelled), copy.deepcopy(labelled), pickle.loads(pickle.dumps(labelled))):
        assert type(duplicate) is Labelled and duplicate.label == "two" and duplicate.tolist() == [1, 2]
    assert copy.copy(labelled).data_ptr() == labelled.data_ptr()


# ---- numpy() while nothing is recorded


def test_numpy_of_a_tensor_that_requires_grad():
    x = gs.ones(2, requires_grad=True)
    for mode in (gs.no_grad, gs.inference_mode):
        with mode():
            assert x.numpy().tolist() == np.asarray(x).tolist() == [1, 1]
    for convert in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(RuntimeError, match="requires grad"):
            convert()
