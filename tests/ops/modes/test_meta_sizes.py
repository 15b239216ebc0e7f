"""Ops on tensors without data compute shapes alone: sizes that no memory holds cost nothing."""

import gc
import itertools
import signal
import threading
import tracemalloc

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.nn import functional as F
from gradsmith.runtime.arrays.functions.index_shapes import indexed_shape

HUGE = 2**43


def meta(*shape, dtype=None):
    return gs.zeros(*shape, dtype=dtype, device="meta")


def of_result(compute):
    result = compute()
    return [(r.shape, r.dtype, r.device) for r in (result if isinstance(result, tuple) else (result,))]


ALL = [
    ("sum", gs.float32), ("mean", gs.float32), ("prod", gs.float32), ("var", gs.float32), ("std", gs.float32),
    ("amax", gs.float32), ("amin", gs.float32), ("max", gs.float32), ("min", gs.float32), ("any", gs.bool),
    ("all", gs.bool), ("argmax", gs.int64), ("argmin", gs.int64),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), ALL)
@pytest.mark.parametrize("make", [meta, lambda *shape: meta(1).expand(shape)], ids=["made", "expanded"])
def test_reductions_of_everything(name, dtype, make):
    assert of_result(lambda: getattr(make(HUGE), name)()) == [((), dtype, "meta")]


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    "name", ["sum", "mean", "prod", "var", "amax", "max", "min", "argmax", "any", "all", "logsumexp"]
)
def test_reductions_along_a_dimension(name, dim, keepdim):
    shape = (3, HUGE // 4)
    expected = gs.zeros(tuple(n if n == 3 else 5 for n in shape))
    found = of_result(lambda: getattr(meta(shape), name)(dim, keepdim=keepdim))
    like = of_result(lambda: getattr(expected, name)(dim, keepdim=keepdim))
    assert [(tuple(5 if n == HUGE // 4 else n for n in s), d) for s, d, _ in found] == [(s, d) for s, d, _ in like]


@pytest.mark.parametrize(
    "compute",
    [
        lambda m, i: m.cumsum(0), lambda m, i: m.softmax(0), gs.erf, gs.sigmoid, F.gelu, F.softplus,
        lambda m, i: m[i], lambda m, i: m.gather(0, i),
        lambda m, i: m.scatter(0, i, m), lambda m, i: m.scatter_add(0, i, m), lambda m, i: m.index_select(0, i),
        lambda m, i: m.index_add(0, i, m, alpha=2), lambda m, i: m.masked_fill(i > 0, 1.0), lambda m, i: m @ m,
        lambda m, i: F.mse_loss(m, m), lambda m, i: gs.cat([m, m]), lambda m, i: m.flip(0), lambda m, i: m.clone(),
        lambda m, i: F.cross_entropy(m.reshape(-1, 8), i[: HUGE // 8]), lambda m, i: gs.einsum("i,i->", m, m),
        lambda m, i: F.cross_entropy(m.reshape(-1, 8), i[: HUGE // 8], label_smoothing=0.1),
        lambda m, i: m.as_strided((HUGE // 2,), (2,)), lambda m, i: m.max(0)[0], lambda m, i: m.std(),
    ],
)  # fmt: skip
def test_ops_and_their_gradients_take_no_memory(compute):
    m = gs.zeros(HUGE, device="meta", requires_grad=True)
    index = meta(HUGE, dtype=gs.int64)
    arguments = (m, index) if compute.__name__ == "<lambda>" else (m,)
    tracemalloc.start()
    result = compute(*arguments)
    (gradient,) = grad(result, m, gs.ones_like(result), create_graph=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gradient.shape == m.shape and gradient.is_meta and result.is_meta
    assert peak < 10_000_000  # modules are imported on first use


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda: gs.arange(HUGE, device="meta"), gs.int64), (lambda: gs.arange(0, 1e13, device="meta"), gs.float32),
        (lambda: gs.linspace(0, 1, HUGE, device="meta"), gs.float32),
        (lambda: gs.eye(HUGE, 1, device="meta"), gs.float32),
        (lambda: gs.logspace(0, 1j, HUGE, device="meta"), gs.complex64),
        (lambda: gs.rand(HUGE, device="meta"), gs.float32),
        (lambda: gs.full((HUGE,), 1, device="meta"), gs.int64),
        (lambda: gs.randint(5, (HUGE,), device="meta"), gs.int64),
        (lambda: gs.normal(meta(HUGE), meta(HUGE)), gs.float32), (lambda: gs.bernoulli(meta(HUGE)), gs.float32),
    ],
)  # fmt: skip
def test_tensors_are_made_without_data(make, dtype):
    tracemalloc.start()
    made = make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.is_meta and made.dtype == dtype and made.numel() >= HUGE
    assert peak < 10_000_000  # numpy.random is imported on first use


@pytest.mark.parametrize(
    ("bounds", "count"),
    [((0, 10, 3), 4), ((10, 0, -3), 4), ((0, 9, 3), 3), ((5, 5), 0), ((0.0, 1.0, 0.3), 4), ((3,), 3)],
)
def test_ranges_have_as_many_elements_as_with_data(bounds, count):
    assert gs.arange(*bounds).shape == gs.arange(*bounds, device="meta").shape == (count,)


def test_erfinv_takes_no_memory():
    pytest.importorskip("scipy")
    assert gs.erfinv(meta(HUGE)).shape == (HUGE,)
    assert gs.erfinv(meta(3, dtype=gs.int32)).dtype == gs.float32


PARTS = [slice(None), slice(1, 3), None, np.array([0, 1, 1]), np.array([[0], [1]]), np.array([True, False, True])]


@pytest.mark.parametrize("index", [index for n in (1, 2, 3) for index in itertools.product([*PARTS, ...], repeat=n)])
def test_shape_of_an_index(index):
    if sum(part is ... for part in index) > 1:
        index = (..., *(part for part in index if part is not ...))
    x = np.zeros((3, 3, 3))
    try:
        expected = x[index].shape
    except IndexError:
        return
    assert indexed_shape(x.shape, index) == expected


# ---- lists of views


@pytest.mark.parametrize("cut", [lambda x: x.unbind(0), lambda x: x.split(1), lambda x: gs.unbind(x)])
def test_more_views_than_memory_holds(cut):
    with pytest.raises(MemoryError):
        cut(gs.zeros(2**60, 0))


def test_an_interrupt_ends_a_long_split():
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    gc.disable()  # Hypothesis has a callback for it, in which an exception would be lost
    before = signal.signal(signal.SIGUSR1, interrupt)
    main = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(Interrupted):
            for _ in range(1000):
                gs.zeros(2**22, 0).unbind(0)
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
        gc.enable()
