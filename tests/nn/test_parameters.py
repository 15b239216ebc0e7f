"""Parameters, buffers, and both before their shape is known."""

import copy
import pickle

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn.parameter import is_lazy


def test_a_parameter_is_a_leaf_that_shares_memory():
    data = gs.ones(2)
    p = nn.Parameter(data)
    assert p.is_leaf and p.requires_grad and p.data_ptr() == data.data_ptr() and not data.requires_grad
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    computed = gs.ones(2, requires_grad=True) * 2
    assert nn.Parameter(computed).is_leaf
    with gs.no_grad():
        assert nn.Parameter(data).requires_grad
    assert nn.Parameter().shape == (0,)
    assert type(p * 2) is gs.Tensor and type(p.detach()) is gs.Tensor


def test_integers_have_no_gradient():
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
        nn.Parameter(gs.tensor([1]))
    assert nn.Parameter(gs.tensor([1]), requires_grad=False).dtype == gs.int64
    with pytest.raises(TypeError, match=r"Parameter\(\): argument 'data' must be Tensor, not list"):
        nn.Parameter([1.0])


def test_text():
    assert repr(nn.Parameter(gs.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_copies():
    p = nn.Parameter(gs.ones(2))
    p.note = "kept by pickle"
    (p * 2).sum().backward()
    twin = copy.deepcopy(p)
    assert isinstance(twin, nn.Parameter) and twin.grad is None and twin.data_ptr() != p.data_ptr()
    both = copy.deepcopy([p, p])
    assert both[0] is both[1]
    frozen = copy.deepcopy(nn.Parameter(gs.ones(1), requires_grad=False))
    assert not frozen.requires_grad
    other = pickle.loads(pickle.dumps(p))
    assert type(other) is nn.Parameter and other.requires_grad and other.note == "kept by pickle"


def test_classes_over_parameter_and_tensor():
    class Named(nn.Parameter):
        def __new__(cls, data, name):
            own = super().__new__(cls, data)
            own.label = name
            return own

    named = Named(gs.ones(2), "x")
    assert isinstance(named, nn.Parameter) and named.label == "x" and named.requires_grad
    assert not isinstance(nn.Parameter(gs.ones(1)), Named)

    class Special(gs.Tensor):
        pass

    special = nn.Parameter(gs.ones(2).as_subclass(Special))
    assert type(special) is Special and isinstance(special, nn.Parameter)
    assert not isinstance(gs.ones(2).as_subclass(Special), nn.Parameter)
    holder = nn.Module()
    holder.special = special
    assert list(holder.parameters()) == [special]


def test_buffers():
    buffer = nn.Buffer(gs.ones(2))
    assert isinstance(buffer, nn.Buffer) and type(buffer) is gs.Tensor and buffer.persistent
    assert not isinstance(gs.ones(2), nn.Buffer) and not isinstance(nn.Parameter(gs.ones(2)), nn.Buffer)
    assert nn.Buffer().shape == (0,)


# ---- without a shape


def test_what_has_no_shape_can_only_be_converted():
    waiting = nn.UninitializedParameter(dtype=gs.float64)
    assert is_lazy(waiting) and isinstance(waiting, nn.Parameter) and waiting.requires_grad
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        waiting.shape  # noqa: B018
    for use in (
        lambda: waiting + 1,
        lambda: 2 * waiting,
        lambda: waiting.sum(),
        lambda: waiting[0],
        lambda: len(waiting),
    ):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            use()
    assert repr(waiting) == "<UninitializedParameter>"
    for twin in (copy.deepcopy(waiting), pickle.loads(pickle.dumps(waiting))):
        assert is_lazy(twin) and twin.dtype == gs.float64
    waiting.materialize((2, 3))
    assert type(waiting) is nn.Parameter and waiting.shape == (2, 3) and waiting.dtype == gs.float64


@pytest.mark.parametrize("shape", [b"junk", "junk"])
def test_a_shape_is_not_text(shape):
    waiting = nn.UninitializedParameter()
    with pytest.raises(TypeError, match="argument 'shape' must be a tuple of ints"):
        waiting.materialize(shape)
    assert is_lazy(waiting)


def test_buffers_without_a_shape():
    holder = nn.Module()
    holder.waiting = nn.UninitializedBuffer()
    holder.double()
    assert is_lazy(holder.waiting) and holder.waiting.dtype == gs.float64 and "waiting" in holder._buffers
    holder.waiting.materialize((2,), dtype=gs.float32)
    assert not is_lazy(holder.waiting) and repr(holder.waiting.fill_(1.0)) == "tensor([1., 1.])"
    assert isinstance(holder.waiting, gs.Tensor) and isinstance(holder.waiting, nn.Buffer)


LAZY = {
    "linear": (lambda: nn.LazyLinear(3), (4, 5), "Linear(in_features=5, out_features=3, bias=True)"),
    "convolution": (
        lambda: nn.LazyConv2d(3, 2), (1, 4, 5, 5), "Conv2d(4, 3, kernel_size=(2, 2), stride=(1, 1))",
    ),
    "without a batch": (lambda: nn.LazyConv1d(3, 2), (4, 5), "Conv1d(4, 3, kernel_size=(2,), stride=(1,))"),
    "transposed": (
        lambda: nn.LazyConvTranspose1d(3, 2),
        (1, 4, 5),
        "ConvTranspose1d(4, 3, kernel_size=(2,), stride=(1,))",
    ),
    "batch normalization": (
        lambda: nn.LazyBatchNorm1d(),
        (4, 5),
        "BatchNorm1d(5, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
    ),
    "instance normalization": (
        lambda: nn.LazyInstanceNorm1d(affine=False, track_running_stats=False),
        (4, 5, 6),
        "InstanceNorm1d(0, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:input's size at dim")
@pytest.mark.parametrize(("make", "shape", "text"), LAZY.values(), ids=LAZY)
def test_lazy_modules_become_ordinary_ones(make, shape, text):
    lazy = make()
    twin = copy.deepcopy(lazy)
    lazy(gs.ones(shape))
    assert repr(lazy) == text and not type(lazy).__name__.startswith("Lazy")
    assert not lazy._forward_pre_hooks and not lazy._load_state_dict_pre_hooks
    assert all(not is_lazy(parameter) for parameter in lazy.parameters())
    lazy(gs.ones(shape))
    twin.load_state_dict(lazy.state_dict())  # shapes come with a state, too
    np.testing.assert_array_equal(twin.eval()(gs.ones(shape)).detach(), lazy.eval()(gs.ones(shape)).detach())


def test_states_of_lazy_modules():
    lazy = nn.LazyLinear(3)
    state = lazy.state_dict()
    assert is_lazy(state["weight"])
    other = nn.LazyLinear(3)
    other.load_state_dict(state)
    assert is_lazy(other.weight)
    with pytest.raises(RuntimeError, match="uninitialized parameter"):
        nn.Linear(2, 3).load_state_dict(state)


def test_wrong_inputs_of_lazy_modules():
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"):
        nn.LazyConv2d(3, 2)(gs.ones(2, 2))

    class Half(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

    with pytest.raises(RuntimeError, match="module Half has not been fully initialized"):
        Half()(gs.ones(1))
