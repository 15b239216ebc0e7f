"""Ops that write some elements of a tensor leave the others alone, whatever its memory is, and what they read too."""

import numpy as np
import pytest

import gradsmith as gs

INDEX = gs.tensor([3, 0, 3])
PLACES = gs.tensor([[0, 2, 1, 0], [3, 3, 3, 3]])
MASK = gs.tensor([[True, False, False, True]] * 2 + [[False] * 4] * 2)
ROWS = gs.arange(12.0).reshape(3, 4) + 100
FEW = gs.arange(8.0).reshape(2, 4) + 100

# Name of the method -> its arguments, for a tensor of four rows and four columns.
WRITES = {
    "index_put_": ((INDEX,), ROWS),
    "index_put_ of a list": ([INDEX, gs.tensor([1, 2, 2])], gs.tensor([7.0, 8.0, 9.0])),
    "index_put_ of a slice": ((slice(1, 3), INDEX), FEW[:, :3]),
    "index_put_ with an integer": ((2, INDEX), ROWS[0, :3]),
    "index_put_ added": ((INDEX,), ROWS, True),
    "index_put_ under a mask": ((MASK,), gs.tensor(5.0)),
    "scatter_": (0, PLACES, FEW),
    "scatter_ of a number": (1, PLACES, 2.5),
    "scatter_add_": (0, PLACES, FEW),
    "scatter_reduce_ amax": (0, PLACES, FEW, "amax"),
    "scatter_reduce_ prod": (0, PLACES, FEW, "prod"),
    "index_add_": (0, INDEX, ROWS),
    "index_add_ of columns": (1, INDEX, ROWS.t()),
    "index_copy_": (0, gs.tensor([3, 0]), FEW),
    "index_fill_": (1, INDEX, -1.0),
    "index_fill_ with a tensor": (0, INDEX, gs.tensor(4.0)),
    "put_": (INDEX, gs.tensor([1.0, 2.0, 3.0])),
    "put_ added": (INDEX, gs.tensor([1.0, 2.0, 3.0]), True),
    "masked_fill_": (MASK, 9.0),
    "masked_fill_ of columns": (gs.tensor([True, False, False, True]), 9.0),
    "tril_": (-1,),
    "triu_": (1,),
    "fill_diagonal_": (6.0,),
}
COPIED = [name for name in WRITES if name != "fill_diagonal_"]
OF_INTEGERS = [name for name in COPIED if not isinstance(WRITES[name][-1], float) or WRITES[name][-1].is_integer()]
DTYPES = {"float32": COPIED, "float64": COPIED, "float16": COPIED, "int64": OF_INTEGERS, "int32": OF_INTEGERS}
# Four rows and four columns of larger memory.
LAYOUTS = {
    "dense": lambda whole: whole[:4, :4].clone(),
    "part": lambda whole: whole[2:6, 1:5],
    "transposed": lambda whole: whole[2:6, 1:5].t(),
    "steps": lambda whole: whole[1:8:2, ::2],
    "expanded columns": lambda whole: whole[:4].as_strided((4, 4), (8, 2)),
}


def whole(dtype=gs.float64):
    return gs.arange(64.0).reshape(8, 8).to(dtype)


def method(name):
    return name.split()[0]


def cast(arguments, dtype):
    return [a.to(dtype) if gs.is_tensor(a) and a.is_floating_point() else a for a in arguments]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dtype", "name"), [(dtype, name) for dtype, names in DTYPES.items() for name in names])
def test_written_is_what_the_copying_form_gives(name, layout, dtype):
    dtype = getattr(gs, dtype)
    arguments = cast(WRITES[name], dtype)
    target = LAYOUTS[layout](whole(dtype))
    expected = getattr(target.clone(), method(name)[:-1])(*arguments)
    version = target._version
    result = getattr(target, method(name))(*arguments)
    assert result is target
    assert target._version > version
    np.testing.assert_array_equal(target.numpy(), expected.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WRITES)
def test_what_lies_around_stays(name, layout):
    base = whole()
    target = LAYOUTS[layout](base)
    before = base.numpy().copy()
    mine = np.zeros(base.shape, bool)
    shown = LAYOUTS[layout](gs.arange(64).reshape(8, 8))
    mine.reshape(-1)[shown.numpy()] = True
    getattr(target, method(name))(*cast(WRITES[name], gs.float64))
    np.testing.assert_array_equal(base.numpy()[~mine], before[~mine])


@pytest.mark.parametrize("name", COPIED)
def test_gradients_are_those_of_the_copying_form(name):
    weights = gs.arange(16.0, dtype=gs.float64).reshape(4, 4)
    found = []
    for form in (method(name), method(name)[:-1]):
        x = (whole()[:4, :4] / 7).requires_grad_()
        values = [a.double().clone().requires_grad_() if gs.is_tensor(a) and a.is_floating_point() else a
                  for a in WRITES[name]]  # fmt: skip
        result = getattr(x * 1, form)(*values)
        leaves = [x, *[v for v in values if gs.is_tensor(v) and v.requires_grad]]
        found.append(gs.autograd.grad((result * weights).sum(), leaves, allow_unused=True))
    for of_written, of_copied in zip(*found, strict=True):
        assert (of_written is None) == (of_copied is None)
        if of_copied is not None:
            np.testing.assert_allclose(of_written.numpy(), of_copied.numpy())


def test_values_that_are_part_of_the_tensor():
    x = gs.arange(12.0).reshape(4, 3)
    expected = x.numpy().copy()
    expected[[0, 1, 2]] = expected[[1, 2, 3]]
    x.index_copy_(0, gs.tensor([0, 1, 2]), x[1:].clone())
    np.testing.assert_array_equal(x.numpy(), expected)
    places = gs.tensor([2, 0, 1])
    places.scatter_(0, places.clone(), gs.tensor([10, 20, 30]))
    assert places.tolist() == [20, 30, 10]


def test_index_that_is_the_written_tensor():
    places = gs.tensor([2, 0, 1])
    places.scatter_(0, places, 7)
    assert places.tolist() == [7, 7, 7]
    places = gs.tensor([2, 0, 1])
    places.index_add_(0, places, gs.tensor([10, 20, 30]))
    assert places.tolist() == [22, 30, 11]


def test_mask_and_value_that_are_part_of_the_tensor():
    x = gs.tensor([True, False, False, False])
    x[1:].masked_fill_(x[:-1], True)
    assert x.tolist() == [True, True, False, False]
    y = gs.tensor([1.0, 2.0, 3.0])
    y.masked_fill_(gs.tensor([True, True, True]), y[2])
    assert y.tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.index_put_((gs.tensor([0, 9]),), gs.tensor(1.0)),
        lambda x: x.index_put_((gs.tensor([0, 1]),), gs.ones(3)),
        lambda x: x.scatter_(0, gs.tensor([0, 9]), gs.ones(2)),
        lambda x: x.scatter_(0, gs.tensor([0, 1, 2]), gs.ones(2)),
        lambda x: x.scatter_add_(0, gs.tensor([0, 9]), gs.ones(2)),
        lambda x: x.scatter_reduce_(0, gs.tensor([0, 9]), gs.ones(2), "amax"),
        lambda x: x.index_add_(0, gs.tensor([0, 9]), gs.ones(2)),
        lambda x: x.index_copy_(0, gs.tensor([0, 9]), gs.ones(2)),
        lambda x: x.index_fill_(0, gs.tensor([0, 9]), 1.0),
        lambda x: x.put_(gs.tensor([0, 9]), gs.ones(2)),
        lambda x: x.masked_fill_(gs.tensor([True]), gs.ones(2)),
        lambda x: x.masked_fill_(gs.ones(2, 4, dtype=gs.bool), 1.0),
    ],
)
def test_a_refused_write_changes_nothing(write):
    x = gs.arange(4.0)
    with pytest.raises((IndexError, RuntimeError)):
        write(x)
    assert x.tolist() == [0, 1, 2, 3]


def test_fill_diagonal():
    for shape, wrap in (
        ((4, 4), False),
        ((2, 5), False),
        ((7, 2), False),
        ((7, 2), True),
        ((3, 3, 3), False),
        ((0, 3), False),
    ):
        x, expected = gs.zeros(shape), np.zeros(shape)
        if expected.size:
            np.fill_diagonal(expected, 3.0, wrap)
        np.testing.assert_array_equal(x.fill_diagonal_(3.0, wrap).numpy(), expected)


def group_reduced(array, dim, index, src, how, include_self):
    """One element after the other."""
    groups = {}
    for place in np.ndindex(index.shape):
        named = (*place[:dim], int(index[place]), *place[dim + 1 :])
        groups.setdefault(named, [array[named]] if include_self else []).append(src[place])
    result = array.copy()
    functions = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "mean": np.sum}
    for named, values in groups.items():
        value = functions[how](np.array(values))
        if how == "mean":
            value = value // len(values) if array.dtype.kind == "i" else value / len(values)
        result[named] = value
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("how", ["sum", "prod", "amax", "amin", "mean"])
def test_groups_are_reduced_where_they_lie(how, include_self, dtype, layout):
    dtype = getattr(gs, dtype)
    base = (whole() % 7 - 3).to(dtype)
    src = (ROWS % 5 - 2).to(dtype)
    for dim in (0, 1):
        target, index = LAYOUTS[layout](base.clone()), PLACES if dim == 0 else PLACES.t()
        values = (src[:2] if dim == 0 else src.t()[:, :2]).to(dtype)
        expected = group_reduced(target.numpy().copy(), dim, index.numpy(), values.numpy(), how, include_self)
        assert target.scatter_reduce_(dim, index, values, how, include_self=include_self) is target
        np.testing.assert_allclose(target.numpy(), expected, rtol=1e-3 if dtype == gs.float16 else 1e-6)
    if how == "sum":
        return
    for dim in (0, 1):
        target, values = LAYOUTS[layout](base.clone()), src if dim == 0 else src.t()
        places = INDEX[:, None].expand(3, 4) if dim == 0 else INDEX.expand(4, 3)
        expected = group_reduced(target.numpy().copy(), dim, places.numpy(), values.numpy(), how, include_self)
        target.index_reduce_(dim, INDEX, values, how, include_self=include_self)
        np.testing.assert_allclose(target.numpy(), expected, rtol=1e-3 if dtype == gs.float16 else 1e-6)


def test_groups_of_nothing_of_nan_and_without_dimensions():
    x = gs.tensor([1.0, 2.0])
    empty = gs.zeros(0, dtype=gs.int64)
    for how in ("sum", "prod", "amax", "amin", "mean"):
        x.scatter_reduce_(0, empty, gs.zeros(0), how, include_self=False)
        assert x.tolist() == [1, 2]
        lone = gs.tensor(3.0)
        assert lone.scatter_reduce_(0, gs.tensor(0), gs.tensor(3.0), how, include_self=False).item() == 3
    x.scatter_reduce_(0, gs.tensor([0, 0]), gs.tensor([float("nan"), 5.0]), "amax")
    assert np.isnan(x[0].item())
    assert x[1].item() == 2
    x.scatter_reduce_(0, gs.tensor([0, 0]), gs.tensor([4.0, 5.0]), "mean", include_self=False)
    assert x.tolist() == [4.5, 2]


def test_groups_of_what_is_written():
    places = gs.tensor([2, 0, 1])
    places.scatter_reduce_(0, places, gs.tensor([10, 20, 30]), "prod")
    assert places.tolist() == [40, 0, 10]
    x = gs.arange(1.0, 5.0)
    x[1:].scatter_reduce_(0, gs.tensor([0, 1, 2]), x[:-1], "prod")
    assert x.tolist() == [1, 2, 6, 12]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mask", [MASK, MASK[:1], gs.tensor(True), gs.zeros(4, 4, dtype=gs.bool)])
def test_masked_scatter(mask, layout):
    base = whole()
    target = LAYOUTS[layout](base)
    expected = target.numpy().copy()
    source = gs.arange(20.0, dtype=gs.float64).reshape(5, 4) + 100
    chosen = np.broadcast_to(mask.numpy(), (4, 4))
    expected[chosen] = source.numpy().reshape(-1)[: chosen.sum()]
    version = target._version
    assert target.masked_scatter_(mask, source) is target
    assert target._version == version + 1
    np.testing.assert_array_equal(target.numpy(), expected)


def test_masked_scatter_of_what_is_written():
    x = gs.arange(5.0)
    x[1:].masked_scatter_(gs.tensor([True, False, True, True]), x)
    assert x.tolist() == [0, 0, 2, 1, 2]
    mask = gs.tensor([True, True, False])
    mask.masked_scatter_(mask, gs.tensor([False, True]))
    assert mask.tolist() == [False, True, False]


# Shapes of the target -> the op and shapes of what it multiplies: small ones, and some for the kernel that adds.
PRODUCTS = [
    ("addmm_", (4, 5), (4, 3), (3, 5)),
    ("addmm_", (40, 70), (40, 1), (1, 70)),
    ("addmm_", (100, 90), (100, 20), (20, 90)),
    ("addmm_", (300, 200), (300, 64), (64, 200)),
    ("addmm_", (64, 64), (64, 600), (600, 64)),
    ("addmm_", (3, 4), (3, 0), (0, 4)),
    ("addmm_", (0, 4), (0, 2), (2, 4)),
    ("baddbmm_", (5, 4, 3), (5, 4, 2), (5, 2, 3)),
    ("baddbmm_", (7, 50, 60), (7, 50, 40), (7, 40, 60)),
    ("addr_", (4, 5), (4,), (5,)),
    ("addr_", (200, 300), (200,), (300,)),
]


def transposed(x):
    return x.transpose(-1, -2).contiguous().transpose(-1, -2) if x.ndim > 1 else x


@pytest.mark.parametrize("factors", [{}, {"beta": 0.5, "alpha": 2}, {"beta": 0, "alpha": -1}, {"alpha": 0}])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize(("name", "shape", "left", "right"), PRODUCTS)
def test_added_products(name, shape, left, right, dtype, factors):
    rng = np.random.default_rng(0)
    dtype = getattr(gs, dtype)
    start, a, b = (gs.tensor(rng.standard_normal(size)).to(dtype) for size in (shape, left, right))
    product = np.multiply.outer(a.numpy(), b.numpy()) if name == "addr_" else a.numpy() @ b.numpy()
    expected = factors.get("beta", 1) * start.numpy() + factors.get("alpha", 1) * product
    wide = gs.zeros(*shape[:-1], 2 * shape[-1], dtype=dtype)
    for target in (start.clone(), transposed(start), wide[..., : shape[-1]], wide[..., ::2]):
        for x, y in ((a, b), (transposed(a), b), (a, transposed(b)), (a[..., ::1].flip(-1).flip(-1), b)):
            target.copy_(start)
            version = target._version
            assert getattr(target, name)(x, y, **factors) is target
            assert target._version > version
            np.testing.assert_allclose(target.numpy(), expected, rtol=1e-4, atol=2e-4 if dtype == gs.float32 else 1e-9)
    assert not wide[..., 1::2][..., shape[-1] // 2 :].any() or shape[-1] == 0


def test_products_added_to_their_operands():
    x = gs.arange(9.0).reshape(3, 3)
    expected = x.numpy() + x.numpy() @ x.numpy()
    np.testing.assert_array_equal(x.addmm_(x, x).numpy(), expected)
    rng = np.random.default_rng(0)
    y = gs.tensor(rng.standard_normal((100, 100)))
    expected = y.numpy() + y.numpy() @ y.numpy().T
    np.testing.assert_allclose(y.addmm_(y, y.t()).numpy(), expected)


def test_added_product_replaces_nan_by_beta_zero():
    x = gs.full((2, 2), float("nan"))
    assert x.addmm_(gs.ones(2, 1), gs.ones(1, 2), beta=0).tolist() == [[1, 1], [1, 1]]


def test_history_of_added_products_and_groups():
    x, a, b = (gs.arange(4.0).reshape(2, 2).requires_grad_() for _ in range(3))
    y = (x * 1).addmm_(a, b, beta=2)
    assert y.grad_fn is not None
    found = gs.autograd.grad(y.sum(), (x, a, b))
    assert [g.tolist() for g in found] == [[[2, 2], [2, 2]], [[1, 5], [1, 5]], [[2, 2], [4, 4]]]
    z = (x * 1).scatter_reduce_(0, gs.tensor([[0, 0]]), a[:1] * 1, "prod")
    assert gs.autograd.grad(z.sum(), x)[0].tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("op", ["scatter", "scatter_add", "scatter_reduce"])
def test_an_index_without_elements_names_nothing_whatever_its_shape(op):
    x, src = gs.ones(2, 3, requires_grad=True), gs.ones(2, 2, requires_grad=True)
    reduce = ("sum",) if op == "scatter_reduce" else ()
    result = getattr(x, op)(0, gs.tensor([], dtype=gs.int64), src, *reduce)
    assert result.tolist() == x.tolist()
    result.sum().backward()
    assert x.grad.tolist() == gs.ones(2, 3).tolist() and src.grad.tolist() == gs.zeros(2, 2).tolist()
