"""Tensors without data: every op gives them the shape, the dtype and the history that it gives to others."""

import copy
import gc
import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.generated.op_table import OPS
from gradsmith.runtime import observe
from gradsmith.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from gradsmith.verify.calls import call_method
from gradsmith.verify.samples import as_tensors, leaves_among
from gradsmith.verify.subject import Subject

MIXED = "Expected all tensors to be on the same device, but found at least two devices, meta and cpu"
NO_DATA = "Cannot copy out of meta tensor; no data!"


def meta(*shape, **kwargs):
    return gs.ones(*shape, device="meta", **kwargs)


# ---- every op of the table

# The first needs values; what the others give is on the device that they are asked for.
ELSEWHERE = {"masked_select", "to", "copy_to"}


def on_meta(value):
    """The same arguments without data, with gradients wanted where they were."""
    if isinstance(value, gs.Tensor):
        return value.detach().to("meta").requires_grad_(value.requires_grad)
    return [on_meta(item) for item in value] if isinstance(value, list) else value


def described(tensor):
    node = tensor.grad_fn
    return tensor.shape, tensor.dtype, tensor.requires_grad, node and node.name(), node and len(node.next_functions)


SETTINGS = [setting for row in OPS if row.base not in ELSEWHERE for setting in Subject(row).settings()]


def label(setting):
    return f"{setting.case.id}-{setting.dtype}"


@pytest.mark.parametrize("setting", SETTINGS, ids=label)
def test_every_op_gives_what_it_gives_with_data(setting):
    values = as_tensors(setting.values)
    leaves_among(values, setting.places)
    without_data = {name: on_meta(value) for name, value in values.items()}

    expected = setting.subject.call(values)
    found = setting.subject.call(without_data)

    assert [described(result) for result in found] == [described(result) for result in expected]
    assert all(result.is_meta for result in found)


@pytest.mark.parametrize("create_graph", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting.places], ids=label)
def test_every_gradient_has_the_shape_and_the_dtype_of_its_input(setting, create_graph):
    values = as_tensors(setting.values)
    without_data = {name: on_meta(value) for name, value in values.items()}
    leaves = leaves_among(without_data, setting.places)
    roots = setting.subject.differentiable(setting.subject.call(without_data))

    found = grad(roots, leaves, [gs.ones_like(root) for root in roots], create_graph=create_graph)

    assert [(g.shape, g.dtype, g.device) for g in found] == [(x.shape, x.dtype, x.device) for x in leaves]
    again = [g for g in found if g.requires_grad]
    if again:
        second = grad(again, leaves, [gs.ones_like(g) for g in again], allow_unused=True)
        assert all(g is None or (g.shape, g.device) == (x.shape, x.device) for g, x in zip(second, leaves))


INPLACE = [
    setting
    for setting in SETTINGS
    if "inplace" in setting.subject.row.forms
    and setting.dtype == "float64"
    and hasattr(setting.values["self"], "shape")
]


@pytest.mark.parametrize("setting", INPLACE, ids=label)
def test_every_inplace_form_leaves_the_history_that_it_leaves_with_data(setting):
    def changed(values):
        target = values["self"] * 1.0
        try:
            return call_method(setting.subject.row, {**values, "self": target}, setting.subject.row.base + "_")
        except RuntimeError as error:
            return type(error)

    values = as_tensors(setting.values)
    leaves_among(values, setting.places)
    without_data = {name: on_meta(value) for name, value in values.items()}
    expected, found = changed(values), changed(without_data)

    if isinstance(expected, type):
        assert found is expected
        return
    assert described(found) == described(expected)
    assert found._version == expected._version == 1
    if not found.requires_grad:
        return
    leaf = without_data["self"]
    (gradient,) = grad(found, leaf, gs.ones_like(found))
    assert (gradient.shape, gradient.device) == (leaf.shape, "meta")


# ---- the device of a tensor


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
    with pytest.raises(RuntimeError, match=rf"{name}\(\): Expected one of cpu, meta device type"):
        CREATED[name](device="cuda")
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


# ---- what needs data


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda m: m.item(), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (bool, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (float, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (complex, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: int(m.to(gs.int64)), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: [1, 2][m.to(gs.int64)], RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: 1.0 in m, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: gs.full((2,), m), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: f"{m:.2f}", RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda m: m.tolist(), NotImplementedError, NO_DATA),
        (lambda m: m.numpy(force=True), NotImplementedError, NO_DATA),
        (lambda m: m.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
        (np.asarray, TypeError, "can't convert meta device type tensor to numpy"),
        (lambda m: gs.tensor([m, m]), NotImplementedError, NO_DATA),
        (lambda m: gs.masked_select(m, m > 0), NotImplementedError, "depends on the values"),
        (lambda m: m.reshape(1)[(m > 0).reshape(1)], NotImplementedError, "depends on its values"),
        (lambda m: gs.ones(2)[m.to(gs.int64)], NotImplementedError, NO_DATA),
    ],
)
def test_values_cannot_be_asked_for(ask, error, message):
    with pytest.raises(error, match=message):
        ask(gs.ones((), device="meta"))


def test_a_mask_with_data_selects_from_a_tensor_without():
    m = meta(2, 3, requires_grad=True)
    chosen = m[gs.tensor([[True, False, True], [False, False, True]])]
    assert (chosen.shape, chosen.device) == ((3,), "meta")
    chosen.sum().backward()
    assert m.grad.shape == (2, 3)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: meta(2, 3), "tensor(..., device='meta', size=(2, 3))"),
        (lambda: meta(2, dtype=gs.int64), "tensor(..., device='meta', size=(2,), dtype=gradsmith.int64)"),
        (lambda: gs.ones((), device="meta"), "tensor(..., device='meta', size=())"),
        (lambda: meta(2, requires_grad=True), "tensor(..., device='meta', size=(2,), requires_grad=True)"),
        (lambda: meta(2, requires_grad=True) * 2, "tensor(..., device='meta', size=(2,), grad_fn=<MulBackward0>)"),
    ],
)
def test_what_is_shown(made, text):
    assert repr(made()) == text


def test_sizes_and_strides_are_those_of_a_contiguous_tensor():
    m = meta(2, 3).t()
    assert (m.numel(), m.nbytes, len(m), m.size(-1)) == (6, 24, 3, 2)
    assert (m.stride(), m.storage_offset(), m.data_ptr(), m.is_contiguous()) == ((2, 1), 0, 0, True)
    assert m.contiguous() is m


def test_copies_have_no_data_either():
    leaf = meta(2, requires_grad=True)
    leaf.grad = meta(2)
    for copied in (copy.deepcopy(leaf), copy.copy(leaf), pickle.loads(pickle.dumps(leaf))):
        assert (copied.shape, copied.device, copied.requires_grad) == ((2,), "meta", True)
    assert copy.deepcopy(leaf).grad.is_meta


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


# ---- backward


def test_gradients_accumulate_and_hooks_run():
    m = meta(2, 3, requires_grad=True)
    seen = []
    y = m.exp()
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("tensor", g.device)))
    y.grad_fn.register_prehook(lambda grads: seen.append(("node", grads[0].device)))
    m.register_hook(lambda g: g * 2)
    for _ in range(2):
        (y * y).sum().backward(retain_graph=True)
    assert (m.grad.shape, m.grad.device, y.grad.device) == ((2, 3), "meta", "meta")
    assert seen == [("tensor", "meta"), ("node", "meta")] * 2
    assert [entry.device for entry in y.grad_fn._input_metadata] == ["meta"]
    assert [entry.device for entry in gs.ones(2, requires_grad=True).exp().grad_fn._input_metadata] == ["cpu"]


def test_missing_gradients_are_zeros_on_the_right_device():
    m = meta(3, 2, requires_grad=True)
    values, _ = m.max(1)
    first, _ = m.unbind(1)
    (found,) = grad([values, first], m, [gs.ones_like(values), gs.ones_like(first)], create_graph=True)
    assert (found.shape, found.device) == ((3, 2), "meta")
    (unused,) = grad(m.sum(), meta(2, requires_grad=True), materialize_grads=True)
    assert (unused.shape, unused.device) == ((2,), "meta")


def test_the_first_gradient_is_on_the_device_of_its_root():
    m, x = meta(2, requires_grad=True), gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device meta but got cpu"):
        (m * 2).backward(gs.ones(2))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        (x * 2).backward(meta(2))
    with pytest.raises(NotImplementedError, match=NO_DATA):
        x.sum().backward(gs.ones((), device="meta"))
    m.sum().backward(gs.tensor(1.0))
    assert m.grad.is_meta
    assert x.grad is None


def function_with_gradient(make):
    class Given(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return make()

    return Given.apply


def test_a_gradient_on_another_device_is_moved_or_refused():
    x, m = gs.ones(2, requires_grad=True), meta(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="GivenBackward returned an invalid gradient at index 0 - expected device cpu"
    ):
        function_with_gradient(lambda: meta(2))(x).sum().backward()
    with pytest.raises(RuntimeError, match="expected device meta but got cpu"):
        function_with_gradient(lambda: gs.ones(2))(m * 1).sum().backward()

    number = gs.ones((), device="meta", requires_grad=True)
    function_with_gradient(lambda: gs.tensor(1.0))(number).backward()
    assert number.grad.is_meta
    with pytest.raises(NotImplementedError, match=NO_DATA):
        function_with_gradient(lambda: gs.ones((), device="meta"))(gs.tensor(1.0, requires_grad=True)).backward()


def test_saved_tensors_are_packed_and_unpacked():
    m = meta(2, requires_grad=True)
    packed = []
    with gs.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.device) or t, lambda t: t):
        y = m.exp() * m
    y.sum().backward()
    assert set(packed) == {"meta"}
    assert m.grad.is_meta


def test_a_saved_tensor_that_was_changed_is_noticed():
    m = meta(2, requires_grad=True)
    y = m.exp()
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_forward_mode():
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(meta(2, 3), meta(2, 3))
        tangent = gs.autograd.forward_ad.unpack_dual(gs.softmax(dual * dual, 1).cumsum(0).sum(0)).tangent
        with pytest.raises(RuntimeError, match="a tangent on cpu for a primal on meta"):
            gs.autograd.forward_ad.make_dual(meta(2), gs.ones(2))
    assert (tangent.shape, tangent.device) == ((3,), "meta")


def test_what_is_kept_has_no_bytes():
    m = meta(100, requires_grad=True)
    listing = gs.autograd.graph.list_saved((m * m).exp())
    assert [(entry.shape, entry.nbytes, entry.shared) for entry in listing] == [((100,), 0, False)] * 3


# ---- views


def test_views_share_their_version_and_their_history():
    m = meta(4, 3, requires_grad=True)
    base = m * 1
    view = base[1:3].t()
    assert view._base is base
    view.mul_(2.0)
    assert (base._version, base.grad_fn.name()) == (1, "CopySlices")
    (found,) = grad(base.sum(), m, create_graph=True)
    assert (found.shape, found.device) == ((4, 3), "meta")
    (through_view,) = grad(view.sum(), m)
    assert through_view.is_meta


def test_a_write_to_an_element_goes_where_it_would_go():
    m = meta(4, requires_grad=True)
    y = m * 1
    y[0] = 3.0
    y[1:3] = meta(2)
    y[gs.tensor([0, 3])] = meta(2)
    y.sum().backward()
    assert m.grad.shape == (4,)
    with pytest.raises(RuntimeError, match=MIXED):
        y[1:3] = gs.ones(3).sum().reshape(1).expand(2) * m[:2]


@pytest.mark.parametrize(("size", "stride"), [((2, 2), (3, 1)), ((6,), (1,)), ((4, 2), (1, 1))])
def test_views_of_any_strides(size, stride):
    m = meta(2, 3, requires_grad=True)
    y = m.as_strided(size, stride)
    (found,) = grad(y.sum(), m, create_graph=True)
    assert (y.shape, y.device, found.shape) == (size, "meta", (2, 3))
    with pytest.raises(RuntimeError, match="reach beyond the 6 elements"):
        m.as_strided((7,), (1,))


def test_parts_of_complex_numbers():
    m = meta(3, dtype=gs.complex64, requires_grad=True)
    y = m * 1
    y.imag.mul_(2.0)
    (y.real + y.imag).sum().backward()
    assert (m.grad.dtype, m.grad.device) == (gs.complex64, "meta")


# ---- beside observers


def test_a_profile_sees_ops_without_data():
    m = meta(2, 3, requires_grad=True)
    with gs.profiler.profile() as profile:
        m.exp().sum().backward()
    names = [event.name for event in profile.events()]
    assert {"exp", "sum", "ExpBackward0"} <= set(names)
    assert m.grad.is_meta


def test_a_checkpoint_runs_again():
    m = meta(2, 3, requires_grad=True)
    y = checkpoint(lambda x: (x * x).exp(), m, use_reentrant=False)
    y.sum().backward()
    assert (m.grad.shape, m.grad.device) == ((2, 3), "meta")


def test_a_selective_checkpoint_keeps_results_without_data():
    def function(x):
        y = x.sin()
        z = y * y
        y.add_(1)
        return (z * y.exp()).sum()

    m = meta(2, 3, requires_grad=True)
    contexts = partial(create_selective_checkpoint_contexts, ["sin"], True)
    checkpoint(function, m, use_reentrant=False, context_fn=contexts).backward()
    assert (m.grad.shape, m.grad.device) == ((2, 3), "meta")


# ---- no memory


def test_a_tensor_costs_no_memory_whatever_its_size():
    tracemalloc.start()
    try:
        m = meta(10**6, 10**6, requires_grad=True)
        y = (m.t() * 2 + m).tanh().relu()
        z = (gs.softmax(y, 1) @ y).mean(0)
        w = gs.cat([y[3:5], gs.where(y > 0, y, m)[:1]]).sum() + z.amax() + gs.logsumexp(y, (1,)).sum()
        w = w + (y > 0).sum() + y.var() + y.cumsum(0).max() + y.reshape(-1).narrow(0, 5, 7).sum()
        (y * 1).mul_(2.0).add_(m)
        w.backward(retain_graph=True)
        w.backward()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert m.grad.shape == (10**6, 10**6)
    assert y.nbytes == 4 * 10**12
    assert peak < 2**20


def test_what_was_computed_on_the_way_is_not_kept():
    m = meta(500, 500, requires_grad=True)
    index = gs.zeros(500, 500, dtype=gs.int64, device="meta")
    m.gather(0, index)
    tracemalloc.start()
    try:
        y = m.gather(0, index).gather(1, index)
        current, _ = tracemalloc.get_traced_memory()
        y.sum().backward()
    finally:
        tracemalloc.stop()
    assert current < 10**5
    assert m.grad.is_meta


def test_ops_are_watched_until_the_last_tensor_without_data_has_gone():
    gc.collect()
    m = meta(2, requires_grad=True)
    m.exp().sum().backward()
    with pytest.raises(RuntimeError, match=MIXED):
        m + gs.ones(2)
    assert observe.is_watching()
    del m
    gc.collect()
    assert not observe.is_watching()
