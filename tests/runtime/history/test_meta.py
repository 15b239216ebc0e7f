"""Tensors without data: what needs data, views of them, what watches ops, and what they cost."""

import copy
import gc
import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.runtime.history import observers
from gradsmith.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

MIXED = "Expected all tensors to be on the same device, but found at least two devices, meta and cpu"
NO_DATA = "Cannot copy out of meta tensor; no data!"


def meta(*shape, **kwargs):
    return gs.ones(*shape, device="meta", **kwargs)


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
    assert observers.is_watching()
    del m
    gc.collect()
    assert not observers.is_watching()


@pytest.mark.parametrize(
    "index",
    [
        lambda m: (m(2), m(2)),
        lambda m: (slice(None), m(2)),
        lambda m: gs.ones(2, dtype=gs.bool),
        lambda m: gs.ones(3, 3, dtype=gs.bool),
    ],
)
def test_an_index_that_does_not_fit_is_refused(index):
    """As of a tensor with data."""
    for device in ("meta", "cpu"):
        x, key = gs.ones(3, device=device), index(lambda n, d=device: gs.zeros(n, dtype=gs.int64, device=d))
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x.index_put_(key if isinstance(key, tuple) else (key,), gs.ones(2, device=device))


def test_indices_that_do_not_fit_each_other_are_refused():
    for device in ("meta", "cpu"):
        rows, columns = (gs.zeros(n, dtype=gs.int64, device=device) for n in (2, 3))
        with pytest.raises(IndexError, match="shape mismatch"):
            gs.ones(3, 3, device=device)[rows, columns]
