"""Every op gives tensors without data the shape, the dtype and the history that it gives to others."""

import pytest

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.generated.op_table import OPS
from gradsmith.verify.calls import call_method
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import as_tensors, key_of, leaves_among

pytestmark = pytest.mark.usefixtures("any_gradient")

# The first needs values; what the others give is on the device that they are asked for.
ELSEWHERE = {
    "masked_select", "to", "copy_to", "argwhere", "nonzero_rows", "bincount", "unique_elements", "consecutive_elements",
    "repeat_interleave", "repeated_places", "tensor_split.tensor", "where.condition",
}  # fmt: skip


def on_meta(value):
    """The same arguments without data, with gradients wanted where they were."""
    if isinstance(value, gs.Tensor):
        return value.detach().to("meta").requires_grad_(value.requires_grad)
    return [on_meta(item) for item in value] if isinstance(value, list) else value


def described(tensor):
    node = tensor.grad_fn
    return tensor.shape, tensor.dtype, tensor.requires_grad, node and node.name(), node and len(node.next_functions)


SETTINGS = [setting for row in OPS if not ELSEWHERE & {row.base, key_of(row)} for setting in Subject(row).settings()]


def label(setting):
    return f"{setting.case.id}-{setting.dtype}"


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
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


@pytest.mark.filterwarnings("ignore:vmap calls")
@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting.places], ids=label)
def test_every_gradient_for_several_at_once_is_there_too(setting):
    without_data = {name: on_meta(value) for name, value in as_tensors(setting.values).items()}
    leaves = leaves_among(without_data, setting.places)
    roots = setting.subject.differentiable(setting.subject.call(without_data))

    given = [gs.ones((2, *root.shape), dtype=root.dtype, device=root.device) for root in roots]
    found = grad(roots, leaves, given, is_grads_batched=True)

    assert [(g.shape, g.dtype, g.device) for g in found] == [((2, *x.shape), x.dtype, x.device) for x in leaves]


# Their checks ask for values.
VALUES_CHECKED = {"phase_checked", "basis_checked"}


@pytest.mark.filterwarnings("ignore:vmap calls", "ignore:Casting complex values to real")
@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.subject.row.base not in VALUES_CHECKED], ids=label)
def test_every_op_gives_slices_what_it_gives_with_data(setting):
    values = as_tensors(setting.values)
    batched = [name for name, value in values.items() if isinstance(value, gs.Tensor)]
    batches = [gs.stack([values[name].detach()] * 2) for name in batched]

    def of_slices(*slices):
        others = values if slices[0].is_cpu else {name: on_meta(value) for name, value in values.items()}
        assert len({x.device for x in slices}) == 1
        return tuple(setting.subject.call({**others, **dict(zip(batched, slices))}))

    if not batches:
        return
    found, expected = (gs.vmap(of_slices, randomness="different")(*given) for given in (on_meta(batches), batches))

    assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in expected]
    assert all(x.is_meta for x in found)


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
