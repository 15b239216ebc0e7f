"""Devices, what is made on one or moved to one, and tensors of several."""

import pickle
import threading

import numpy as np
import pytest

import gradsmith as gs

MIXED = "Expected all tensors to be on the same device, but found at least two devices, meta and cpu"
NO_DATA = "Cannot copy out of meta tensor; no data!"


def meta(*shape, **kwargs):
    return gs.ones(*shape, device="meta", **kwargs)


def test_a_device_has_a_type_and_perhaps_a_number():
    device = gs.device("cpu", 1)
    assert (device.type, device.index, str(device)) == ("cpu", 1, "cpu:1")
    assert repr(device) == "device(type='cpu', index=1)"
    assert repr(gs.device("meta")) == "device(type='meta')"
    assert gs.device("cpu:1") == device == gs.device(device)
    assert gs.device("cpu") != gs.device("cpu:0")
    assert {gs.device("meta"): 1}["meta"] == 1
    assert pickle.loads(pickle.dumps(device)) == device


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("foo",), RuntimeError, "Expected one of cpu, meta device type at start of device string: foo"),
        (("cpu:x",), RuntimeError, "Invalid device string: 'cpu:x'"),
        (("cpu", -2), RuntimeError, "Device index must not be negative"),
        (("cpu:0", 1), RuntimeError, "must not include an index because index was passed explicitly"),
        ((None,), TypeError, "must be str, not NoneType"),
    ],
)
def test_what_is_no_device(arguments, error, message):
    with pytest.raises(error, match=message):
        gs.device(*arguments)


def test_an_accelerator_can_be_named():
    """As in PyTorch where there is none: programs have one as a default argument."""
    cuda = gs.device("cuda")
    assert (cuda.type, cuda.index, repr(cuda)) == ("cuda", None, "device(type='cuda')")
    assert gs.device("cuda:1") == gs.device("cuda", 1) != cuda != gs.device("cpu")
    assert (repr(gs.device("mps:0")), str(gs.device("xla", 2))) == ("device(type='mps', index=0)", "xla:2")
    assert pickle.loads(pickle.dumps(cuda)) == cuda and len({cuda, gs.device("cuda"), gs.device("cuda:0")}) == 2
    with pytest.raises(RuntimeError, match="Invalid device string: 'cuda:x'"):
        gs.device("cuda:x")


USES = {
    "to": lambda device: gs.ones(2).to(device),
    "to of a module": lambda device: gs.nn.Linear(2, 2).to(device),
    "a layer": lambda device: gs.nn.Linear(2, 2, device=device),
    "a generator": lambda device: gs.Generator(device),
    "the default": gs.set_default_device,
    "a block": lambda device: device.__enter__(),
    "new": lambda device: gs.ones(2).new_zeros(3, device=device),
    "a file": lambda device: gs.load("none", map_location=device),
}


@pytest.mark.parametrize("use", USES)
def test_an_accelerator_cannot_be_used(use):
    with pytest.raises(RuntimeError, match="CPU only: there is no device 'mps:1'"):
        USES[use](gs.device("mps:1"))
    assert gs.get_default_device() == "cpu" and gs.ones(1).is_cpu


def test_a_device_does_not_change():
    with pytest.raises(AttributeError, match="'type' cannot be set"):
        gs.device("cpu").type = "meta"


def test_a_tensor_knows_its_device():
    x, m = gs.ones(2), meta(2)
    assert (x.device, x.is_cpu, x.is_meta) == (gs.device("cpu"), True, False)
    assert (m.device, m.is_cpu, m.is_meta) == (gs.device("meta"), False, True)
    assert x.device == "cpu"
    assert m.device == "meta"
    assert x.get_device() == m.get_device() == -1


@pytest.mark.parametrize("target", ["meta", gs.device("meta"), "meta:0"])
def test_a_tensor_moves_to_meta(target):
    x = gs.ones(2, 3, requires_grad=True)
    y = x.to(target)
    assert (y.shape, y.dtype, y.device, y.requires_grad) == (x.shape, x.dtype, "meta", True)
    assert x.to(device=target, dtype=gs.float64).dtype == gs.float64
    assert x.to(target, gs.complex64).dtype == gs.complex64
    assert x.to(meta(1, dtype=gs.float64)).device == "meta"
    assert y.to("meta") is y
    assert x.to("cpu") is x.cpu() is x
    assert y.to("meta", copy=True) is not y


def test_nothing_comes_back():
    m = meta(2, requires_grad=True)
    for move in (m.cpu, lambda: m.to("cpu"), lambda: m.to(gs.ones(2)), lambda: gs.as_tensor(m, device="cpu")):
        with pytest.raises(NotImplementedError, match=NO_DATA):
            move()
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match=NO_DATA):
        x.to("meta").sum().backward()
    assert x.grad is None


def test_a_name_that_is_no_device_is_taken_for_a_dtype():
    with pytest.raises(TypeError, match="unknown dtype 'foo'"):
        gs.ones(2).to("foo")


CREATED = {
    "tensor": lambda **k: gs.tensor([[1, 2]], **k),
    "as_tensor": lambda **k: gs.as_tensor(np.ones(3), **k),
    "asarray": lambda **k: gs.asarray([1.5], **k),
    "zeros": lambda **k: gs.zeros(2, 3, **k),
    "ones": lambda **k: gs.ones((2, 3), dtype=gs.int8, **k),
    "empty": lambda **k: gs.empty(0, 3, **k),
    "full": lambda **k: gs.full((2,), 1.5, **k),
    "eye": lambda **k: gs.eye(3, 2, **k),
    "arange": lambda **k: gs.arange(1, 9, 2, **k),
    "linspace": lambda **k: gs.linspace(0, 1, 5, **k),
    "logspace": lambda **k: gs.logspace(0, 1, 5, dtype=gs.float64, **k),
    "zeros_like": lambda **k: gs.zeros_like(gs.ones(2), **k),
    "ones_like": lambda **k: gs.ones_like(gs.ones(2), dtype=gs.float64, **k),
    "empty_like": lambda **k: gs.empty_like(gs.ones(2), **k),
    "full_like": lambda **k: gs.full_like(gs.ones(2), 2, **k),
    "rand": lambda **k: gs.rand(2, 3, **k),
    "randn": lambda **k: gs.randn(2, dtype=gs.complex64, **k),
    "rand_like": lambda **k: gs.rand_like(gs.ones(2), **k),
    "randn_like": lambda **k: gs.randn_like(gs.ones(2), **k),
    "randint": lambda **k: gs.randint(0, 5, (2, 2), **k),
    "randint_like": lambda **k: gs.randint_like(gs.ones(2), 5, **k),
    "randperm": lambda **k: gs.randperm(4, **k),
    "normal": lambda **k: gs.normal(0.0, 1.0, (2, 3), **k),
}


@pytest.mark.parametrize("name", CREATED)
def test_every_creation_function_takes_a_device(name):
    expected, found = CREATED[name](), CREATED[name](device="meta")
    assert (found.shape, found.dtype, found.device) == (expected.shape, expected.dtype, "meta")
    assert CREATED[name](device="cpu:0").is_cpu
    with pytest.raises(
        RuntimeError, match=rf"{name}\(\): gradsmith computes on the CPU only: there is no device 'cuda'"
    ):
        CREATED[name](device="cuda")
    with pytest.raises(RuntimeError, match=rf"{name}\(\): .*there is no device 'cuda:1'"):
        CREATED[name](device=gs.device("cuda:1"))
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'device' must be gradsmith.device, not float"):
        CREATED[name](device=1.5)


def test_what_is_made_like_a_tensor_is_where_it_is():
    m = meta(2, dtype=gs.float64)
    for function in (gs.zeros_like, gs.ones_like, gs.empty_like, gs.rand_like, gs.randn_like, gs.clone):
        assert (function(m).dtype, function(m).device) == (gs.float64, "meta")
    assert gs.full_like(m, 2).is_meta
    assert gs.randint_like(m, 5).is_meta
    assert gs.bernoulli(m).is_meta
    assert gs.normal(m, 1.0).is_meta
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert gs.tensor(m).is_meta
    assert gs.as_tensor(m) is m
    assert gs.zeros_like(m, device="cpu").tolist() == [0.0, 0.0]


def test_drawing_on_meta_leaves_the_generator_alone():
    state = gs.get_rng_state()
    gs.randn(3, device="meta"), gs.randint(0, 5, (2,), device="meta"), gs.randperm(4, device="meta")
    gs.bernoulli(meta(3))
    assert gs.get_rng_state().tolist() == state.tolist()


def test_values_that_the_dtype_has_not_are_refused_all_the_same():
    with pytest.raises(RuntimeError, match="without overflow"):
        gs.full((2,), 300, dtype=gs.int8, device="meta")
    with pytest.raises(RuntimeError, match="'low' to be less than 'high'"):
        gs.randint(5, 5, (2,), device="meta")


# ---- several devices


@pytest.mark.parametrize(
    "mix",
    [
        lambda m, x: m * x,
        lambda m, x: x - m,
        lambda m, x: x + m.sum(),
        lambda m, x: gs.cat([m, x]),
        lambda m, x: gs.where(x > 0, m, m),
        lambda m, x: x @ m.t(),
        lambda m, x: gs.nn.functional.linear(m, m, x[0, :2]),
        lambda m, x: m.add_(x),
        lambda m, x: x.add_(m),
        lambda m, x: x[gs.tensor([0, 1]).to("meta")],
    ],
)
def test_tensors_on_several_devices_do_not_go_together(mix):
    m, x = meta(2, 3), gs.full((2, 3), 7.0)
    with pytest.raises(RuntimeError, match=MIXED):
        mix(m, x)
    assert x.tolist() == [[7.0] * 3] * 2
    assert (x + x).tolist() == [[14.0] * 3] * 2


def test_a_tensor_without_dimensions_is_as_good_as_a_number():
    m, number = meta(2, 3), gs.tensor(2.0)
    assert (m * number).is_meta
    assert (number * m).is_meta
    assert (gs.ones((), device="meta") * number).is_meta
    assert m.mul_(number).is_meta
    assert number.is_cpu
    with pytest.raises(NotImplementedError, match=NO_DATA):
        number.add_(gs.ones((), device="meta"))
    assert number.item() == 2.0


def test_only_shapes_are_taken_from_the_other_device():
    x = gs.ones(2, 3)
    assert x.view_as(meta(3, 2)).is_cpu
    assert gs.ones(3).expand_as(meta(2, 3)).is_cpu
    assert meta(3).expand_as(x).is_meta
    assert x.reshape_as(meta(6)).tolist() == [1.0] * 6


def test_copy_takes_data_away_and_cannot_bring_it():
    m, x = meta(2, 3, requires_grad=True) * 1, gs.ones(3, requires_grad=True)
    m.copy_(x)
    assert m.grad_fn.name() == "CopyBackward0"
    with pytest.raises(NotImplementedError, match=NO_DATA):
        gs.zeros(2, 3).copy_(m)


def test_out_is_on_the_device_of_the_result():
    m, x = meta(2), gs.ones(2)
    assert gs.add(m, m, out=meta(2)).is_meta
    assert gs.add(m, m, out=meta(0)).shape == (2,)
    assert gs.zeros(2, out=meta(2)).is_meta
    for result, out in ((x, m), (m, x)):
        with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
            gs.add(result, result, out=out)
    with pytest.raises(RuntimeError, match="does not match that of the out tensor"):
        gs.zeros(2, out=meta(2), device="cpu")


def test_devices_of_a_tensor_and_its_gradient_agree():
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="gradient with device type 'meta' to a tensor with device type 'cpu'"):
        x.grad = meta(2)
    with pytest.raises(RuntimeError, match="data of a tensor on device 'cpu'"):
        x.data = meta(2)


# ---- the default device

WITHOUT_DEVICE = {
    "ones": lambda: gs.ones(2),
    "tensor": lambda: gs.tensor([1.0]),
    "as_tensor": lambda: gs.as_tensor(np.ones(2)),
    "asarray": lambda: gs.asarray([1.0]),
    "arange": lambda: gs.arange(3),
    "eye": lambda: gs.eye(2),
    "linspace": lambda: gs.linspace(0, 1, 3),
    "logspace": lambda: gs.logspace(0, 1, 3),
    "full": lambda: gs.full((2,), 1.0),
    "empty": lambda: gs.empty(2),
    "randn": lambda: gs.randn(2),
    "randint": lambda: gs.randint(3, (2,)),
    "randperm": lambda: gs.randperm(3),
}


@pytest.mark.parametrize("name", WITHOUT_DEVICE)
def test_a_device_is_the_default_in_its_block(name):
    with gs.device("meta") as entered:
        assert entered == gs.get_default_device() == gs.device("meta")
        assert WITHOUT_DEVICE[name]().is_meta
    assert not WITHOUT_DEVICE[name]().is_meta and gs.get_default_device() == gs.device("cpu")


def test_what_the_default_device_leaves_where_it_is():
    x = gs.ones(2)
    with gs.device("meta"):
        made = [
            gs.ones(2, device="cpu"), gs.zeros_like(x), gs.full_like(x, 2), gs.empty_like(x), gs.rand_like(x),
            gs.randint_like(x, 3), gs.bernoulli(x), gs.normal(x, x), gs.Tensor(2), gs.from_numpy(np.ones(2)), x * 2,
            gs.ones(2, out=x), x.clone(),
        ]  # fmt: skip
    assert not any(t.is_meta for t in made)


def test_default_devices_nest_and_end_with_an_error():
    meta, cpu = gs.device("meta"), gs.device("cpu")
    with meta:
        with cpu, cpu:
            assert not gs.ones(1).is_meta
        assert gs.ones(1).is_meta
    with pytest.raises(KeyError), meta:
        raise KeyError
    assert not gs.ones(1).is_meta


def test_set_default_device():
    try:
        gs.set_default_device("meta")
        assert gs.ones(1).is_meta
        with gs.device("cpu"):
            assert not gs.ones(1).is_meta
        assert gs.ones(1).is_meta
    finally:
        gs.set_default_device(None)
    assert not gs.ones(1).is_meta
    with pytest.raises(RuntimeError, match="Expected one of cpu, meta"):
        gs.set_default_device("foo")
    with pytest.raises(TypeError, match="expected a device or its name, got int"):
        gs.set_default_device(3)


def test_the_default_device_is_that_of_one_thread():
    found = []
    with gs.device("meta"):
        thread = threading.Thread(target=lambda: found.append(gs.ones(1).is_meta))
        thread.start()
        thread.join()
    assert found == [False]
