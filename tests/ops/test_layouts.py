"""Every op on inputs that are not plain: other strides, no elements, no dimensions, broadcast, odd sizes, very large.

Nothing here needs finite differences. A layout must not change any number; of broadcasting, the gradient is that of the
expanded inputs, summed; of sizes, that every element is computed as it is alone.
"""

from itertools import product

import numpy as np
import pytest
from numeric import weights_like
from references import sum_to, value_of
from samples import CASES, as_tensors, at, call, cases_by_row, key_of, outputs_of, places_of, replaced

import gradsmith as gs
from gradsmith.autograd import grad

MEMORY_MATTERS = {"view", "view_as", "as_strided"}  # these ask what the memory looks like
BY_KEY = cases_by_row(CASES)

LAYOUTS = {
    "transposed": lambda a: np.array(a.T, order="C").T,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
    "reversed": lambda a: np.flip(np.flip(a).copy()),
    "broadcast": lambda a: np.broadcast_to(a, (2, *a.shape))[1],
    "rows of a block": lambda a: np.stack([a, a], axis=1)[:, 0] if a.ndim else a,
    "unaligned": lambda a: unaligned(a),
}


def unaligned(array):
    """A copy that starts at an odd address."""
    memory = np.empty(array.nbytes + 1, np.uint8)
    view = np.ndarray(array.shape, array.dtype, memory, 1)
    view[...] = array
    return view


def relaid(values, layout):
    """The call's values as tensors over memory of that layout."""
    return replaced(
        values, {place: gs.from_numpy(np.asarray(LAYOUTS[layout](array))) for place, array in places_of(values)}
    )


def results_of(case, tensors, places):
    """Values of the results, and the gradients of a fixed combination of them."""
    leaves = [at(tensors, place).requires_grad_() for place in places]
    results = outputs_of(call(case.row, tensors))
    values = [r.detach().numpy() for r in results]
    roots = [r for r in results if r.requires_grad]
    if not roots:
        return values, []
    weights = [gs.tensor(w) for w in weights_like([r.detach().numpy() for r in roots], case.id)]
    return values, [g.numpy() for g in grad(roots, leaves, weights)]


def assert_same(found, expected, label, rtol=1e-12):
    for ours, theirs in zip(found, expected):
        assert len(ours) == len(theirs), label
        for one, other in zip(ours, theirs):
            assert (one.shape, one.dtype) == (other.shape, other.dtype), label
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol, err_msg=label)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("key", [key for key in BY_KEY if key not in MEMORY_MATTERS])
def test_layout_changes_no_number(key):
    for case in BY_KEY[key]:
        dtype = "complex128" if case.row.complex and case.number else "float64"
        values = case.values(dtype)
        plain = results_of(case, as_tensors(values), case.inputs)
        for layout in LAYOUTS:
            found = results_of(case, relaid(values, layout), case.inputs)
            assert_same(found, plain, f"{case.id} {layout}")


# ---- elementwise ops: any shape


def is_elementwise(row):
    return row.forward.startswith(("ufunc(", "pointwise(")) or row.base in {"erf", "where", "clamp", "gelu"}


ELEMENTWISE = [case for case in CASES if is_elementwise(case.row)]
FIRST_OF_ROW = [cases[0] for cases in cases_by_row(ELEMENTWISE).values()]


def ids(cases):
    return [case.id for case in cases]


def tensors_of(case):
    return [place[0] for place, _ in places_of(case.values())]


@pytest.mark.parametrize("case", ELEMENTWISE, ids=ids(ELEMENTWISE))
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (1, 1)], ids=str)
def test_no_elements_and_no_dimensions(case, shape):
    values = case.values(shapes=dict.fromkeys(tensors_of(case), shape))
    found, gradients = results_of(case, as_tensors(values), case.inputs)
    expected = value_of(key_of(case.row), values)
    assert found[0].shape == shape
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
    assert [g.shape for g in gradients] == [shape] * len(case.inputs)


PATTERNS = [
    ((3, 4), (4,), (1, 4)),
    ((4,), (3, 4), (3, 4)),
    ((3, 1), (1, 4), (4,)),
    ((), (3, 4), ()),
    ((3, 4), (), (3, 1)),
    ((1,), (3, 4), (2, 3, 4)),
    ((2, 1, 4), (3, 1), (1, 1)),
    ((1, 1, 1), (4,), ()),
    ((0, 4), (1, 4), (4,)),
    ((0, 1), (1, 3), (1,)),
]
SEVERAL = [case for case in ELEMENTWISE if len(tensors_of(case)) > 1]


@pytest.mark.parametrize("case", SEVERAL, ids=ids(SEVERAL))
def test_broadcasting(case):
    """The gradient is that of the expanded inputs, summed back over what was expanded."""
    for pattern in PATTERNS:
        names = tensors_of(case)
        values = case.values(shapes=dict(zip(names, pattern)))
        common = np.broadcast_shapes(*pattern[: len(names)])
        expanded = replaced(values, {(name,): np.broadcast_to(values[name], common).copy() for name in names})
        found, gradients = results_of(case, as_tensors(values), case.inputs)
        full, full_gradients = results_of(case, as_tensors(expanded), case.inputs)
        summed = [sum_to(g, at(values, place).shape) for g, place in zip(full_gradients, case.inputs)]
        assert_same((found, gradients), (full, summed), f"{case.id} {pattern}")


# ---- sizes: the ends of vector loops, and what is cut for threads


def one_size(case, size, dtype):
    return case.values(dtype, shapes=dict.fromkeys(tensors_of(case), (size,)))


def head(values, start, stop):
    return replaced(values, {place: array[start:stop] for place, array in places_of(values)})


PRECISION = {"float32": 2e-5, "float64": 1e-12}


def sum_and_gradients(case, values):
    """Value of the op, and the gradients of its sum."""
    tensors = as_tensors(values)
    leaves = [at(tensors, place).requires_grad_() for place in case.inputs]
    (result,) = outputs_of(call(case.row, tensors))
    gradients = grad(result, leaves, gs.ones_like(result)) if leaves else ()
    return [result.detach().numpy(), *(g.numpy() for g in gradients)]


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("case", ELEMENTWISE, ids=ids(ELEMENTWISE))
def test_every_size_computes_each_element_alike(case, dtype):
    """Sizes 1 to 70 cross every width of a vector loop; starting at 1 shifts the alignment."""
    whole = one_size(case, 72, dtype)
    expected = sum_and_gradients(case, one_size(case, 72, "float64"))
    for size, start in product(range(1, 71), (0, 1)):
        stop = start + size
        for one, other in zip(sum_and_gradients(case, head(whole, start, stop)), expected):
            np.testing.assert_allclose(one, other[start:stop], rtol=PRECISION[dtype], atol=PRECISION[dtype])


@pytest.mark.parametrize("case", FIRST_OF_ROW, ids=ids(FIRST_OF_ROW))
def test_large_arrays_compute_each_element_alike(case):
    """Large enough for several threads, and no multiple of anything."""
    size, period = 300_007, 1009
    values = one_size(case, period, "float32")
    tiled = replaced(values, {place: np.resize(array, size) for place, array in places_of(values)})
    for one, other in zip(sum_and_gradients(case, tiled), sum_and_gradients(case, values)):
        np.testing.assert_allclose(one, np.resize(other, size), rtol=1e-5, atol=1e-6)
