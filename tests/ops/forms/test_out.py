"""The ``out=`` form: the results go into the given tensors, of which nothing is changed when one does not fit."""

import warnings

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.verify.calls import as_out, call, call_function, outputs_of
from gradsmith.verify.samples import as_tensors, at, places_of

OUT = [case for case in CASES if "out" in case.row.forms]
FIRST = [case for case in OUT if case.number == 0]


def ids(cases):
    return [case.id for case in cases]


def into(case, tensors, given):
    return call_function(case.row, tensors, out=as_out(given))


def plain(case):
    """Inputs, and the results as arrays."""
    values = case.values()
    results = outputs_of(call(case.row, as_tensors(values)))
    return as_tensors(values), [result.numpy() for result in results]


def filled(shape, dtype):
    return gs.tensor(np.full(shape, 7).astype(dtype))


def filled_like(arrays):
    return [filled(array.shape, array.dtype) for array in arrays]


def assert_given_back(result, given):
    assert all(one is other for one, other in zip(outputs_of(result), given, strict=True))


def assert_equal(given, expected):
    for tensor, array in zip(given, expected, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("case", OUT, ids=ids(OUT))
def test_result_is_written_into_out(case):
    tensors, expected = plain(case)
    given = filled_like(expected)
    memory = [out.data_ptr() for out in given]
    result = into(case, tensors, given)
    assert_given_back(result, given)
    assert type(result) is type(call(case.row, tensors))
    assert_equal(given, expected)
    for out, pointer in zip(given, memory, strict=True):
        assert out._version == 1 and out.data_ptr() == pointer and out.is_leaf and not out.requires_grad


@pytest.mark.parametrize("case", OUT, ids=ids(OUT))
def test_out_may_be_a_view_with_any_strides(case):
    tensors, expected = plain(case)
    bases = [filled((2, *array.shape), array.dtype) for array in expected]
    into(case, tensors, [base[1].permute(reversed_dims(base[1])).permute(reversed_dims(base[1])) for base in bases])
    for base, array in zip(bases, expected, strict=True):
        np.testing.assert_array_equal(base[1].numpy(), array)
        np.testing.assert_array_equal(base[0].numpy(), np.full_like(array, 7))
        assert base._version == 1
    transposed = [filled(array.shape[::-1], array.dtype) for array in expected]
    into(case, tensors, [out.permute(reversed_dims(out)) for out in transposed])
    for out, array in zip(transposed, expected, strict=True):
        np.testing.assert_allclose(out.permute(reversed_dims(out)).numpy(), array, rtol=1e-15)


def reversed_dims(tensor):
    return tuple(reversed(range(tensor.ndim)))


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_empty_out_is_resized(case):
    tensors, expected = plain(case)
    given = [gs.tensor(np.empty(0, array.dtype)) for array in expected]
    assert_given_back(into(case, tensors, given), given)
    assert_equal(given, expected)
    assert all(out._version == 1 for out in given)


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_may_be_an_input(case):
    """The result is that of the inputs as they were."""
    _, expected = plain(case)
    for place, array in places_of(case.values()):
        for number, result in enumerate(expected):
            if (array.shape, array.dtype) == (result.shape, result.dtype):
                again = as_tensors(case.values())
                given = filled_like(expected)
                given[number] = at(again, place)
                into(case, again, given)
                np.testing.assert_allclose(given[number].numpy(), result, rtol=1e-15, err_msg=str(place))


def assert_refused(case, tensors, given, error, words):
    states = [state_of(out) for out in given]
    with pytest.raises(error, match=words):
        into(case, tensors, given)
    assert [state_of(out) for out in given] == states


def state_of(out):
    version = None if out.is_inference() else out._version
    return out.tolist(), out.shape, out.data_ptr(), version


def with_one_exchanged(expected, strange):
    """Tensors for the results, of which each in turn is ``strange(array)`` instead; that one is named in errors."""
    for number, array in enumerate(expected):
        given = filled_like(expected)
        if number:
            given[0] = gs.tensor(np.empty(0, expected[0].dtype))  # would be resized
        given[number] = strange(array)
        if given[number] is not None:
            yield rf"out\[{number}\] \(\w+\)" if len(expected) > 1 else r"\bout\b|^[\w.]+:", given


def of_wrong_shape(array):
    return filled((*array.shape, 3), array.dtype)[..., :2]  # others see the memory, so that it is not exchanged


def of_lower_type(array):
    return filled(array.shape, {"f": np.int64, "i": np.bool_}[array.dtype.kind]) if array.dtype.kind in "fi" else None


def read_only(array):
    values = np.full(array.shape, 7).astype(array.dtype)
    values.flags.writeable = False
    return gs.from_numpy(values)


def repeating(array):
    return filled((), array.dtype).expand(array.shape) if array.size > 1 else None


def requiring_grad(array):
    return filled(array.shape, array.dtype).requires_grad_() if array.dtype.kind == "f" else None


def of_inference_mode(array):
    with gs.inference_mode():
        return filled(array.shape, array.dtype)


STRANGE = [
    (of_wrong_shape, RuntimeError, "has shape"),
    (of_lower_type, RuntimeError, "can't be cast to the desired output"),
    (read_only, ValueError, "read-only"),
    (repeating, RuntimeError, "more than one element of the written-to tensor"),
    (requiring_grad, RuntimeError, "don't support automatic differentiation, but the out.* tensor requires grad"),
    (of_inference_mode, RuntimeError, "Inplace update to inference tensor"),
]


COMPUTE_IN_OUT = ("sum", "prod", "cumsum")  # whatever dtype that has


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_that_does_not_fit(case):
    tensors, expected = plain(case)
    for strange, error, words in STRANGE:
        if strange is of_lower_type and case.row.base in COMPUTE_IN_OUT:
            continue
        for name, given in with_one_exchanged(expected, strange):
            assert_refused(case, tensors, given, error, rf"(?s)(?=.*({name}))(?=.*{words})")


@pytest.mark.parametrize("case", FIRST, ids=ids(FIRST))
def test_out_records_nothing(case):
    tensors, expected = plain(case)
    for place in case.inputs:
        leaf = at(tensors, place).requires_grad_()
        given = filled_like(expected)
        assert_refused(case, tensors, given, RuntimeError, "differentiation, but one of the arguments requires grad")
        with gs.no_grad():
            into(case, tensors, given)
        assert_equal(given, expected)
        leaf.requires_grad_(False)


@pytest.mark.parametrize("shape", [(2,), (5,), (2, 3), ()])
def test_out_of_another_shape_is_resized_with_a_warning(shape):
    out = gs.ones(shape)
    with pytest.warns(UserWarning, match=r"exp\(\): An output with one or more elements was resized"):
        assert gs.exp(gs.zeros(3), out=out) is out
    assert out.tolist() == [1, 1, 1] and out.is_contiguous()
    values, indices = gs.ones(2), gs.ones(1, dtype=gs.int64)
    with pytest.warns(UserWarning, match=r"out\[1\]|resized"):
        gs.sort(gs.tensor([3.0, 1.0, 2.0]), out=(values, indices))
    assert values.tolist() == [1, 2, 3] and indices.tolist() == [1, 2, 0]


def test_a_warning_that_is_an_error_leaves_out_as_it_was():
    out = gs.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            gs.exp(gs.zeros(3), out=out)
    assert out.tolist() == [1, 1]


def test_out_of_wider_type_takes_the_result():
    out = gs.zeros(2, dtype=gs.complex128)
    gs.add(gs.tensor([1, 2]), gs.tensor([0.5, 0.5]), out=out)
    np.testing.assert_array_equal(out.numpy(), [1.5, 2.5])


CATEGORIES = {
    "bool": 0, "uint8": 1, "int8": 1, "int16": 1, "int32": 1, "int64": 1, "float16": 2, "float32": 2, "float64": 2,
    "complex64": 3, "complex128": 3,
}  # fmt: skip


@pytest.mark.parametrize("target", CATEGORIES)
@pytest.mark.parametrize("found", CATEGORIES)
def test_a_result_is_written_to_all_dtypes_but_those_of_a_lower_category(found, target):
    """PyTorch's `can_cast`: signed and unsigned integers of all widths are one category."""
    ones = gs.ones(2, dtype=getattr(gs, found))
    for write in (lambda y: gs.mul(ones, ones, out=y), lambda y: y.add_(ones)):
        y = gs.zeros(2, dtype=getattr(gs, target))
        if CATEGORIES[found] <= CATEGORIES[target]:
            assert write(y) is y and y.dtype == target
        else:
            with pytest.raises(RuntimeError, match=f"can't be cast to the desired output type {target}"):
                write(y)
            assert not y.any()


@pytest.mark.parametrize("dtype", [gs.complex64, gs.complex128])
@pytest.mark.parametrize("norm", [gs.norm, gs.linalg.norm, gs.linalg.vector_norm, gs.linalg.matrix_norm])
def test_norms_computed_from_complex_numbers_go_into_real_ones(norm, dtype):
    x = np.random.default_rng(0).normal(size=(3, 3)) * (1 + 2j)
    real, other = (gs.float32, gs.float64) if dtype == gs.complex64 else (gs.float64, gs.float32)
    out = gs.empty((), dtype=real)
    assert norm(gs.tensor(x, dtype=dtype), dtype=dtype, out=out) is out
    assert out.item() == pytest.approx(np.linalg.norm(x), rel=1e-6)
    for wrong in (dtype, other):
        with pytest.raises(RuntimeError, match=f"out tensor to have dtype {real}"):
            norm(gs.tensor(x, dtype=dtype), dtype=dtype, out=gs.empty((), dtype=wrong))


def test_out_must_be_a_tensor():
    with pytest.raises(TypeError, match=r"add\(\): argument 'out' must be Tensor, not int"):
        gs.add(gs.ones(2), gs.ones(2), out=3)


def test_out_overlaps_an_input():
    x = gs.arange(6.0)
    gs.add(x[:-1], x[1:], out=x[1:])
    assert x.tolist() == [0, 1, 3, 5, 7, 9]


def test_out_changes_a_saved_tensor():
    """A write through ``out=`` is seen by the graph like any other."""
    x = gs.ones(3, requires_grad=True)
    factor = gs.full((3,), 2.0)
    y = x * factor
    gs.add(gs.ones(3), 1, out=factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2)])
def test_out_without_elements_takes_the_shape_of_a_result_without_elements(shape):
    out = gs.empty(shape)
    assert gs.exp(gs.empty(2, 0), out=out).shape == (2, 0)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_resized_out_has_the_strides_of_the_plain_result(dtype):
    out, x = gs.empty(0, dtype=dtype), gs.ones(2, 3).T
    assert gs.exp(x, out=out).stride() == gs.exp(x).stride() == (1, 3)


def test_conversion_that_fails_leaves_out_alone():
    """NumPy warns of a number that is too large, and a warning may be an error."""
    out = gs.zeros(2, dtype=gs.float32)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        gs.mul(gs.tensor([1.0, 1e300], dtype=gs.float64), 1, out=out)
    assert out.tolist() == [0, 0] and out._version == 0


def test_read_only_out_without_elements_is_not_resized():
    array = np.empty(0, np.float32)
    array.flags.writeable = False
    out = gs.from_numpy(array)
    with pytest.raises(ValueError, match="read-only"):
        gs.exp(gs.ones(2), out=out)
    assert out.shape == (0,)


# ---- several results

X = gs.tensor([[1.0, 4.0, 2.0], [6.0, 3.0, 5.0]])


def pair(count=2, *, values=gs.float32, indices=gs.int64):
    return gs.zeros(count, dtype=values), gs.zeros(count, dtype=indices)


def unchanged(*tensors):
    return all(tensor._version == 0 and not tensor.any() for tensor in tensors)


@pytest.mark.parametrize("kind", [tuple, list])
def test_several_results_come_back_as_their_named_tuple(kind):
    values, indices = pair()
    result = gs.max(X, 1, out=kind((values, indices)))
    assert type(result) is type(gs.max(X, 1))
    assert result.values is values and result.indices is indices
    assert values.tolist() == [4, 6] and indices.tolist() == [1, 0]


def test_out_may_be_an_earlier_result():
    result = gs.max(X, 1)
    again = gs.min(X, dim=1, out=result)
    assert result.values is again.values and result.values.tolist() == [1, 3] and result.indices.tolist() == [0, 1]


def test_each_overload_has_its_own_out():
    greatest = gs.zeros(())
    assert gs.max(X, out=greatest) is greatest and greatest.item() == 6
    elements = gs.zeros(2, 3)
    assert gs.max(X, 8 - X, out=elements) is elements and elements.tolist() == [[7, 4, 6], [6, 5, 5]]
    assert gs.max(X, 1, out=None).values.tolist() == [4, 6]
    for arguments in ((X, X), (X,)):
        with pytest.raises(TypeError, match=r"max\(\): argument 'out' must be Tensor, not tuple"):
            gs.max(*arguments, out=pair())
    with pytest.raises(TypeError, match=r"invalid combination of arguments - got \(Tensor, int, out=Tensor\)"):
        gs.max(X, 1, out=greatest)


def test_methods_take_no_out():
    for calling in (
        lambda: X.max(1, out=pair()),
        lambda: X.max(out=gs.zeros(())),
        lambda: X.clamp(0, 1, out=gs.zeros(2, 3)),
        lambda: X.exp(out=gs.zeros(2, 3)),
    ):
        with pytest.raises(TypeError, match="out"):
            calling()
    assert type(X.max(1)) is type(gs.max(X, 1)) and X.max(dim=1).values.tolist() == [4, 6]


def test_out_of_another_number():
    values, indices = pair()
    words = r"^max\(\): argument 'out' must be a tuple of 2 Tensors \(values, indices\), not of"
    for given in ((), (values,), (values, indices, indices)):
        with pytest.raises(TypeError, match=rf"{words} {len(given)}"):
            gs.max(X, 1, out=given)
    assert unchanged(values, indices)


@pytest.mark.parametrize("strange", [None, 3, np.zeros(2, np.int64)])
def test_out_with_something_that_is_no_tensor(strange):
    values, indices = pair()
    name = type(strange).__name__
    with pytest.raises(TypeError, match=rf"^max\(\): argument 'out\[1\] \(indices\)' must be Tensor, not {name}"):
        gs.max(X, 1, out=(values, strange))
    with pytest.raises(TypeError, match=rf"^max\(\): argument 'out\[0\] \(values\)' must be Tensor, not {name}"):
        gs.max(X, 1, out=(strange, indices))
    assert unchanged(values, indices)


def test_two_results_do_not_go_into_one_memory():
    words = r"^max\(\): unsupported operation: out\[0\] \(values\) and out\[1\] \(indices\) refer to the same memory"
    x, both, base = X.to(gs.int64), gs.zeros(2, dtype=gs.int64), gs.zeros(3, dtype=gs.int64)
    empty = gs.empty(0, dtype=gs.int64)
    for given in ((both, both), (both, both.detach()), (base[:2], base[1:]), (empty, empty)):
        with pytest.raises(RuntimeError, match=words):
            gs.max(x, 1, out=given)
    assert unchanged(both, base) and empty.shape == (0,)


def test_interleaved_out_shares_no_memory():
    base = gs.zeros(4, dtype=gs.int64)
    gs.max(X.to(gs.int64), 1, out=(base[::2], base[1::2]))
    assert base.tolist() == [4, 1, 6, 0]
    assert base._version == 2


def test_several_results_are_converted_and_resized_each_for_itself():
    values, indices = gs.empty(0, dtype=gs.complex64), gs.zeros(2, dtype=gs.int32)
    result = gs.max(X, 1, out=(values, indices))
    assert result.values.tolist() == [4, 6] and result.values.dtype == gs.complex64
    assert result.indices.tolist() == [1, 0] and result.indices.dtype == gs.int32


def test_conversion_that_fails_leaves_all_alone():
    x = gs.tensor([[1e300, 2.0]], dtype=gs.float64)
    values, indices = pair(1)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        gs.max(x, 1, out=(values, indices))
    assert unchanged(values, indices)


def test_several_out_that_share_memory_with_the_input():
    """The results are those of the input as it was."""
    x = gs.tensor([[1, 4, 2], [6, 3, 5]])
    gs.max(x, 1, out=(x[:, 0], x[:, 1]))
    assert x.tolist() == [[4, 1, 2], [6, 0, 5]]


def test_several_out_with_tangents():
    words = "forward mode does not support functions with out=... arguments, but"
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(gs.zeros(2), gs.ones(2))
        with pytest.raises(
            NotImplementedError, match=rf"^max\(\): {words} the out\[0\] \(values\) tensor has a tangent"
        ):
            gs.max(X, 1, out=(dual, pair()[1]))
        with pytest.raises(NotImplementedError, match=rf"^max\(\): {words} one of the arguments has a tangent"):
            gs.max(gs.autograd.forward_ad.make_dual(X, X), 1, out=pair())


def test_several_out_without_data():
    def meta(*shape, dtype=gs.float32):
        return gs.empty(*shape, dtype=dtype, device="meta")

    values, indices = meta(0), meta(2, dtype=gs.int64)
    result = gs.max(meta(2, 3), 1, out=(values, indices))
    assert result.values is values and result.indices is indices and values.shape == indices.shape == (2,)
    cpu = gs.empty(0)
    with pytest.raises(RuntimeError, match=r"result is on device cpu and the out\[1\] \(indices\) tensor on meta"):
        gs.max(X, 1, out=(cpu, indices))
    assert cpu.shape == (0,)
    with pytest.raises(RuntimeError, match=r"out\[0\] \(values\) and out\[1\] \(indices\) refer to the same memory"):
        gs.max(meta(2, 3, dtype=gs.int64), 1, out=(indices, indices))


def test_several_out_change_saved_tensors():
    x = gs.ones(2, requires_grad=True)
    values, indices = pair()
    y = x * values
    gs.max(X, 1, out=(values, indices))
    with pytest.raises(RuntimeError, match=r"(?s)modified by an inplace.*changed by max, out\[0\] \(values\) at"):
        y.sum().backward()


def test_several_out_that_a_guard_or_a_graph_holds():
    """They are writes like others: a guard gives way, and what a graph has saved may be copied before."""
    x, kept = gs.ones(2, requires_grad=True), gs.full((2,), 3.0)
    with gs.autograd.graph.write_guard():
        y = x * kept
        gs.max(X, 1, out=(kept, pair()[1]))
        assert kept.tolist() == [4, 6]
        del y
    with gs.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * kept
        gs.min(X, 1, out=(kept, pair()[1]))
        y.sum().backward()
    assert x.grad.tolist() == [4, 6] and kept.tolist() == [1, 3]


def test_several_out_that_are_views_of_a_recorded_tensor():
    x = gs.ones(2, 2, requires_grad=True)
    base = x * 1
    view = base.detach()[0]
    gs.max(X, 1, out=(view, pair()[1]))
    assert base.tolist() == [[4, 6], [1, 1]] and base._version == 1
    with pytest.raises(RuntimeError, match=r"the out\[0\] \(values\) tensor requires grad"):
        gs.max(X, 1, out=(base[1], pair()[1]))
    with gs.no_grad():
        leaf = gs.zeros(2, requires_grad=True)
        assert gs.max(X, 1, out=(leaf, pair()[1])).values is leaf
    assert leaf.tolist() == [4, 6] and leaf.is_leaf


def test_several_out_of_inference_mode():
    with gs.inference_mode():
        values, indices = pair()
        gs.max(X, 1, out=(values, indices))
    assert values.tolist() == [4, 6] and indices.tolist() == [1, 0]
