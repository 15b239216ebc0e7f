"""The in-place form of every op: the numbers of the plain form, written; or a refusal, and nothing is changed."""

import numpy as np
import pytest
from table import CASES, DIFFERENTIABLE, cases_by_row, writes

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.verify.calls import call, call_method, outputs_of
from gradsmith.verify.numeric import weights_like
from gradsmith.verify.samples import as_tensors, at, key_of, places_of, replaced

WRITING = [case for case in CASES if writes(case.row)]
DTYPES = ("float64", "complex128")


def name_of(row):
    return row.base if row.base.endswith("_") else row.base + "_"


def write(case, tensors):
    """Call the in-place method; what it gives back is the tensor itself."""
    target = tensors["self"]
    result = call_method(case.row, tensors, name=name_of(case.row))
    assert result is target
    return target


def plain(case, dtype="float64"):
    """Arguments of the call, and the array that the plain form gives."""
    values = case.values(dtype)
    (result,) = outputs_of(call(case.row, as_tensors(values)))
    return values, result.detach().numpy()


def fits(values, result):
    """Whether the result can be written into the first argument."""
    target = values.get("self")
    return (
        isinstance(target, np.ndarray)
        and result.shape == target.shape
        and np.can_cast(result.dtype, target.dtype, "same_kind")
        and values.get("dtype") is None
    )


FITTING = [case for case in WRITING if fits(*plain(case))]
TOO_LARGE = [
    case
    for case in WRITING
    if isinstance(case.values()["self"], np.ndarray) and case not in FITTING and case.values().get("dtype") is None
]
RECORDED = cases_by_row([case for case in FITTING if case in DIFFERENTIABLE])
IN_BOTH_DTYPES = [
    (key, dtype)
    for key, cases in RECORDED.items()
    for dtype in DTYPES[: 1 + (cases[0].row.complex and key != "abs")]  # abs_ of complex numbers has no place
]
both_dtypes = pytest.mark.parametrize(("key", "dtype"), IN_BOTH_DTYPES, ids=[f"{k}-{d}" for k, d in IN_BOTH_DTYPES])


def ids(cases):
    return [case.id for case in cases]


@pytest.mark.parametrize("case", FITTING, ids=ids(FITTING))
def test_value_and_version(case):
    values, expected = plain(case)
    tensors = as_tensors(values)
    target = write(case, tensors)
    np.testing.assert_array_equal(target.numpy(), expected.astype(target.dtype))
    assert target._version == 1 and target.grad_fn is None and not target.requires_grad
    for place, array in places_of(values):
        if place != ("self",):
            np.testing.assert_array_equal(at(tensors, place).numpy(), array)
            assert at(tensors, place)._version == 0


@pytest.mark.parametrize("case", FITTING, ids=ids(FITTING))
def test_writes_through_any_strides_and_overlap(case):
    """Into a transposed, a strided and a reversed view; the memory around stays as it is."""
    values, expected = plain(case)
    shape, dtype = values["self"].shape, values["self"].dtype
    for layout in ("transposed", "strided", "reversed"):
        memory, view = room(shape, dtype, layout)
        view[...] = values["self"]
        outside = memory.copy()
        write(case, {**as_tensors(values), "self": gs.from_numpy(view)})
        np.testing.assert_allclose(view, expected.astype(dtype), rtol=1e-15, err_msg=layout)
        view[...] = values["self"]
        np.testing.assert_array_equal(memory, outside, err_msg=f"{layout}: memory beside the tensor was written")


def room(shape, dtype, layout):
    """Memory with a margin, and a view of that shape in it."""
    memory = np.full([2 * n + 2 for n in (shape[::-1] if layout == "transposed" else shape)], 7).astype(dtype)
    if layout == "transposed":
        return memory, memory.T[tuple(slice(1, n + 1) for n in shape)]
    step = 2 if layout == "strided" else -1
    return memory, memory[tuple(slice(1, 2 * n + 1, 2) if step == 2 else slice(n, 0, -1) for n in shape)]


# ---- gradients


def written(case, values, places, target_of):
    """Write into `target_of(first argument)`, with gradients wanted at `places`; leaves by place."""
    tensors = as_tensors(values)
    leaves = {place: at(tensors, place).requires_grad_() for place in places}
    root, target = target_of(tensors["self"])
    write(case, {**tensors, "self": target})
    return root, leaves


def recorded(case, values, places, root_of):
    """The same without writing: `root_of` puts the plain result where the written one would be."""
    tensors = as_tensors(values)
    leaves = {place: at(tensors, place).requires_grad_() for place in places}
    (result,) = outputs_of(call(case.row, tensors))
    return root_of(tensors["self"], result.to(tensors["self"].dtype)), leaves


def derivatives(root, leaves, label):
    """First and second derivatives of a fixed function of the root."""
    (weights,) = weights_like([root.detach().numpy()], label)
    inputs = list(leaves.values())
    firsts = grad(root, inputs, gs.tensor(weights), create_graph=True)
    total = sum((first * first.conj()).real.sum() for first in firsts)
    seconds = grad(total, inputs, materialize_grads=True) if total.requires_grad else ()
    return [g.detach().numpy() for g in (*firsts, *seconds)]


def assert_close(found, expected, label):
    assert len(found) == len(expected), label
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11, err_msg=label)


@both_dtypes
def test_gradients_of_a_written_tensor(key, dtype):
    """The target is no leaf: what flows on is what the plain form would pass."""
    for case in RECORDED[key]:
        values = case.values(dtype)
        root, leaves = written(case, values, case.inputs, lambda x: (y := x * 1, y))
        expected, expected_leaves = recorded(case, values, case.inputs, lambda x, result: result)
        np.testing.assert_allclose(root.detach().numpy(), expected.detach().numpy(), rtol=1e-15, atol=1e-15)
        assert_close(
            derivatives(root, leaves, case.id), derivatives(expected, expected_leaves, case.id), f"{case.id} {dtype}"
        )


@both_dtypes
def test_gradients_of_a_constant_that_was_written(key, dtype):
    """The target itself has no history; it gets one from the other inputs."""
    for case in RECORDED[key]:
        others = tuple(place for place in case.inputs if place != ("self",))
        if others:
            values = case.values(dtype)
            root, leaves = written(case, values, others, lambda x: (x, x))
            expected, expected_leaves = recorded(case, values, others, lambda x, result: result)
            assert root.requires_grad and not root.is_leaf
            assert_close(derivatives(root, leaves, case.id), derivatives(expected, expected_leaves, case.id), case.id)


@both_dtypes
def test_gradients_of_a_base_that_was_written_through_a_view(key, dtype):
    """The written view is the middle of a base, transposed: its part of the gradient is exchanged, the rest passes."""
    for case in RECORDED[key]:
        values = case.values(dtype)

        def base_and_view(x):
            base = gs.stack([x.T * 2, x.T, x.T * 3])
            return base, base[1].T

        def base_of(x, result):
            return gs.stack([x.T * 2, result.T, x.T * 3])

        root, leaves = written(case, values, case.inputs, base_and_view)
        expected, expected_leaves = recorded(case, values, case.inputs, base_of)
        np.testing.assert_allclose(root.detach().numpy(), expected.detach().numpy(), rtol=1e-15, atol=1e-15)
        assert root.grad_fn.name() == "CopySlices"
        assert_close(
            derivatives(root, leaves, case.id), derivatives(expected, expected_leaves, case.id), f"{case.id} {dtype}"
        )


@both_dtypes
def test_gradients_of_a_view_after_it_was_written(key, dtype):
    """The view itself, asked for its history afterwards, and a sibling that shows the same memory."""
    for case in RECORDED[key]:
        values = case.values(dtype)

        def view_and_view(x):
            base = gs.cat([x.reshape(-1), x.reshape(-1)])
            view = base[: x.numel()].view(x.shape)
            return view, view

        root, leaves = written(case, values, case.inputs, view_and_view)
        expected, expected_leaves = recorded(case, values, case.inputs, lambda x, result: result)
        assert_close(derivatives(root, leaves, case.id), derivatives(expected, expected_leaves, case.id), case.id)


# ---- refusals


def state_of(tensor):
    return tensor.detach().numpy().copy(), tensor._version, tensor.grad_fn, tensor.requires_grad


def assert_unchanged(tensor, state):
    np.testing.assert_array_equal(tensor.detach().numpy(), state[0])
    assert (tensor._version, tensor.grad_fn, tensor.requires_grad) == state[1:]


def assert_refused(case, tensors, error, words):
    state = state_of(tensors["self"])
    with pytest.raises(error, match=words):
        call_method(case.row, tensors, name=name_of(case.row))
    assert_unchanged(tensors["self"], state)


FIRST = [cases[0] for cases in RECORDED.values()]
first_of_row = pytest.mark.parametrize("case", FIRST, ids=[key_of(case.row) for case in FIRST])


@first_of_row
def test_leaf_is_not_written(case):
    tensors = as_tensors(case.values())
    tensors["self"].requires_grad_()
    assert_refused(case, tensors, RuntimeError, "a leaf Variable that requires grad is being used in an in-place")
    with gs.no_grad():
        write(case, tensors)
    assert tensors["self"].is_leaf and tensors["self"].requires_grad


@first_of_row
def test_view_of_a_leaf_is_not_written(case):
    tensors = as_tensors(case.values())
    leaf = tensors["self"].requires_grad_()
    tensors["self"] = leaf.view(leaf.shape)
    assert_refused(case, tensors, RuntimeError, "a view of a leaf Variable that requires grad")
    assert leaf._version == 0


@first_of_row
def test_part_of_several_views_is_not_written(case):
    tensors = as_tensors(case.values())
    first = tensors["self"].requires_grad_()
    tensors["self"] = gs.stack([first, first]).unbind()[0]
    assert_refused(case, tensors, RuntimeError, "returns multiple views")


@first_of_row
def test_read_only_memory_is_not_written(case):
    values = case.values()
    values["self"].flags.writeable = False
    tensors = {**as_tensors(values), "self": gs.from_numpy(values["self"])}
    assert_refused(case, tensors, ValueError, "read-only")


@pytest.mark.parametrize("case", TOO_LARGE, ids=ids(TOO_LARGE))
def test_result_of_another_shape_or_kind_is_not_written(case):
    tensors = as_tensors(case.values())
    assert_refused(case, tensors, RuntimeError, "shape|cast|broadcast|dtype")
    tensors["self"] = tensors["self"].requires_grad_() * 1 if tensors["self"].is_floating_point() else tensors["self"]
    assert_refused(case, tensors, RuntimeError, "shape|cast|broadcast|dtype|no derivative")


CHANGES_KIND = {  # op with an integer target -> other arguments whose result is no integer
    "add": (1.5,),
    "sub": (1.5,),
    "mul": (0.5,),
    "div": (2,),
    "pow": (0.5,),
    "exp": (),
    "sqrt": (),
    "reciprocal": (),
    "sigmoid": (),
    "copysign": (2,),
}


@pytest.mark.parametrize("base", [base for base in CHANGES_KIND if base in {case.row.base for case in WRITING}])
def test_floating_result_is_not_written_into_integers(base):
    target = gs.tensor([1, 2, 3])
    with pytest.raises(RuntimeError, match="float32 can't be cast to the desired output type int64"):
        getattr(target, base + "_")(*CHANGES_KIND[base])
    assert target.tolist() == [1, 2, 3] and target._version == 0


def test_complex_result_is_not_written_into_reals():
    target = gs.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="complex64 can't be cast to the desired output type float32"):
        target.mul_(1j)
    assert target.tolist() == [1.0, 2.0] and target._version == 0


def test_bool_takes_no_integers():
    target = gs.tensor([True, False])
    with pytest.raises(RuntimeError, match="int64 can't be cast to the desired output type bool"):
        target.add_(1)
    assert target.tolist() == [True, False] and target._version == 0


def test_lower_precision_keeps_its_dtype():
    target = gs.tensor([1.0, 2.0])
    target.mul_(gs.tensor([2.0, 3.0], dtype=gs.float64))
    assert target.dtype == gs.float32 and target.tolist() == [2.0, 6.0]
    target = gs.tensor([1, 2], dtype=gs.int8)
    target.add_(gs.tensor([100, 200]))
    assert target.dtype == gs.int8 and target.tolist() == [101, -54]


def test_op_without_derivative_does_not_change_what_requires_grad():
    x = gs.tensor([1.0, 2.0], requires_grad=True) * 1
    state = state_of(x)
    with pytest.raises(RuntimeError, match="eq_.*has no derivative"):
        x.eq_(1.0)
    assert_unchanged(x, state)


def test_operands_may_overlap_the_target():
    """Everything is read before it is written."""
    memory = np.arange(6.0)
    x = gs.tensor(memory)
    x[1:].add_(x[:-1])
    np.testing.assert_array_equal(x.numpy(), [0, 1, 3, 5, 7, 9])
    x = gs.tensor(memory)
    x[:-1].mul_(x[1:])
    np.testing.assert_array_equal(x.numpy(), [0, 2, 6, 12, 20, 5])
    x = gs.tensor(memory.reshape(2, 3))[:, :2]
    x.sub_(x.T)
    np.testing.assert_array_equal(x.numpy(), [[0, -2], [2, 0]])
    with pytest.raises(RuntimeError, match="single memory location"):
        x.copy_(x.T)
    x.copy_(x.T.clone())
    x.copy_(x.T.clone())
    np.testing.assert_array_equal(x.numpy(), [[0, -2], [2, 0]])


REPEATING = [case for case in FIRST if case.row.base not in {"fill_", "zero_", "index_put"}]


@pytest.mark.parametrize("case", REPEATING, ids=[key_of(case.row) for case in REPEATING])
def test_repeated_elements_are_not_written(case):
    """An expanded tensor shows one place in memory several times: it takes no values that differ."""
    values = case.values()
    tensors = as_tensors(values)
    row = gs.tensor(values["self"][:1])
    tensors["self"] = row.expand(*values["self"].shape)
    assert_refused(case, tensors, RuntimeError, "more than one element of the written-to tensor")
    np.testing.assert_array_equal(row.numpy(), values["self"][:1])


def test_repeated_elements_take_one_value():
    row = gs.tensor([1.0, 2.0])
    expanded = row.expand(3, 2)
    expanded.fill_(5.0)
    assert row.tolist() == [5, 5]
    expanded[0] = 7.0
    assert row.tolist() == [7, 7]
    expanded.zero_()
    assert row.tolist() == [0, 0]
    gs.ones(3, 0).expand(2, 3, 0).mul_(2)  # nothing is repeated where there is nothing


def test_geometry_of_a_written_view_differentiates_twice():
    """A view of a view with every kind of stride; the plain form is indexing."""
    x = gs.tensor(np.arange(1.0, 25.0).reshape(2, 3, 4), requires_grad=True)

    def by_writing():
        base = x * x
        base.permute(2, 0, 1)[::2, :, 1:].flip(0)  # a copy, for contrast: writes nothing
        base.permute(2, 0, 1)[::2, :, 1:].sin_()
        return base

    def by_choosing():
        mask = np.zeros((2, 3, 4), bool)
        mask.transpose(2, 0, 1)[::2, :, 1:] = True
        return gs.where(gs.tensor(mask), gs.sin(x * x), x * x)

    results = []
    for function in (by_writing, by_choosing):
        (first,) = grad(function().sum(), x, create_graph=True)
        (second,) = grad(first.square().sum(), x)
        results.append((first.detach().numpy(), second.numpy()))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


@pytest.mark.parametrize("part", ["real", "imag"])
def test_written_part_of_complex_numbers(part):
    """Only that part of the gradient is exchanged."""
    x = gs.tensor(np.array([1 + 2j, 3 - 1j]), requires_grad=True)
    weights = gs.tensor(np.array([1 + 2j, 2 - 1j]))
    y = x * 1
    getattr(y, part).mul_(3.0)
    (found,) = grad(y, x, weights, create_graph=False)
    expected = weights.numpy().copy()
    getattr(expected, part)[...] *= 3
    np.testing.assert_array_equal(found.numpy(), expected)
    y = x * x
    getattr(y, part).square_()
    (first,) = grad(y, x, weights, create_graph=True)
    (second,) = grad((first * first.conj()).real.sum(), x)
    z = x * x
    real, imag = (z.real.square(), z.imag) if part == "real" else (z.real, z.imag.square())
    (plain_first,) = grad(real + 1j * imag, x, weights, create_graph=True)
    (plain_second,) = grad((plain_first * plain_first.conj()).real.sum(), x)
    np.testing.assert_allclose(first.detach().numpy(), plain_first.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(second.numpy(), plain_second.numpy(), rtol=1e-12)


def test_replaced_is_used_for_places():
    """`replaced` exchanges one tensor of a list and leaves the other arguments alone."""
    values = {"tensors": [1, 2], "dim": 0}
    assert replaced(values, {("tensors", 1): 5}) == {"tensors": [1, 5], "dim": 0}


def test_a_number_is_filled_in_to_the_last_digit():
    assert gs.zeros(1, dtype=gs.float64).fill_(0.1).item() == 0.1
    assert gs.zeros(1, dtype=gs.complex128).fill_(0.1 + 0.3j).item() == 0.1 + 0.3j
    assert gs.zeros(1, dtype=gs.float32).fill_(0.1).item() == np.float32(0.1)
