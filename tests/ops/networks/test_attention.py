"""Attention against NumPy in float64: sizes around those of tiles, masks, shared heads, memory."""

import tracemalloc

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck, gradgradcheck

TOLERANCES = {np.float32: 3e-5, np.float64: 1e-11}


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def expected(query, key, value, mask=None, causal=False, scale=None, grad=None):
    """The averages and, given their gradient, those of query, key and value."""
    query, key, value = (a.astype(np.float64) for a in (query, key, value))
    scale = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    scores = scale * query @ key.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    greatest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(greatest), 0, greatest))
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    values = weights @ value
    if grad is None:
        return values
    slopes = weights * (grad @ value.swapaxes(-1, -2) - (grad * values).sum(-1, keepdims=True))
    return values, scale * slopes @ key, scale * slopes.swapaxes(-1, -2) @ query, weights.swapaxes(-1, -2) @ grad


# heads, queries, keys, columns of keys and of values
SIZES = [
    ((), 3, 5, 4, 3), ((2,), 64, 64, 64, 64), ((2, 3), 70, 130, 20, 70), ((1,), 65, 63, 100, 33),
    ((9,), 33, 129, 8, 16), ((1,), 1100, 70, 5, 7), ((2,), 1, 1, 1, 1), ((1,), 130, 1, 3, 2), ((1,), 1, 200, 17, 65),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["all", "causal", "some", "terms", "hidden rows"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values_and_gradients(size, kind, dtype):
    heads, queries, keys, width, value_width = size
    query, key, value = (
        random(*heads, *own, dtype=dtype, seed=n)
        for n, own in enumerate([(queries, width), (keys, width), (keys, value_width)])
    )
    grad = random(*heads, queries, value_width, dtype=dtype, seed=3)
    mask = None
    if kind in ("some", "hidden rows"):
        mask = np.random.default_rng(4).random((queries, keys)) < 0.6
        mask[:, 0] = kind == "some"
        mask[::3] &= kind == "some"
    if kind == "terms":
        mask = random(queries, keys, dtype=dtype, seed=5)
    leaves = [gs.tensor(array, requires_grad=True) for array in (query, key, value)]
    given = None if mask is None else gs.tensor(mask)
    result = F.scaled_dot_product_attention(*leaves, given, is_causal=kind == "causal")
    found = [result.detach(), *gs.autograd.grad(result, leaves, gs.tensor(grad))]
    wanted = expected(query, key, value, mask, kind == "causal", grad=grad.astype(np.float64))
    for one, other in zip(found, wanted, strict=True):
        tolerance = TOLERANCES[dtype] * (1 + np.abs(other).max())
        np.testing.assert_allclose(one.numpy(), other, rtol=TOLERANCES[dtype], atol=tolerance)


def test_terms_of_minus_infinity_hide_keys():
    query, key, value = random(3, 4), random(5, 4, seed=1), random(5, 2, seed=2)
    seen = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
    terms = gs.tensor(np.where(seen, 0.0, -np.inf))
    found = F.scaled_dot_product_attention(*map(gs.tensor, (query, key, value)), terms).numpy()
    np.testing.assert_allclose(found, expected(query, key, value, seen))
    assert (found[1] == 0).all()


def test_derivatives_of_any_order():
    query, key, value = (
        gs.tensor(random(2, *s, seed=n), requires_grad=True) for n, s in enumerate([(3, 4), (5, 4), (5, 2)])
    )
    terms = gs.tensor(random(3, 5, seed=3), requires_grad=True)
    seen = gs.tensor(np.tri(3, 5, 1, dtype=bool))
    for call in (
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.7),
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, is_causal=True) + m.sum(),
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, seen) + m.sum(),
    ):
        assert gradcheck(call, (query, key, value, terms), check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(call, (query, key, value, terms))


def test_operands_may_lie_in_memory_in_any_way():
    whole = random(7, 2, 3, 3, 4)  # places, batch, three projections, heads, columns
    query, key, value = (gs.from_numpy(whole)[:, :, n].permute(1, 2, 0, 3) for n in range(3))
    found = F.scaled_dot_product_attention(query, key, value).numpy()
    np.testing.assert_allclose(found, expected(*(whole[:, :, n].transpose(1, 2, 0, 3) for n in range(3))))
    turned = gs.from_numpy(random(2, 4, 5)).transpose(-2, -1)
    found = F.scaled_dot_product_attention(turned, turned, turned.flip(-1)).numpy()
    numbers = turned.numpy()
    np.testing.assert_allclose(found, expected(numbers, numbers, numbers[..., ::-1]))
    one = gs.from_numpy(random(4)).expand(3, 6, 4)
    np.testing.assert_allclose(F.scaled_dot_product_attention(one, one, one).numpy(), one.numpy())


def test_results_and_gradients_lie_in_memory_as_queries_do():
    """So that heads side by side in a row are joined without a copy."""
    places = gs.from_numpy(random(7, 2, 3, 4)).requires_grad_()  # places, batch, heads, columns
    heads = places.permute(1, 2, 0, 3)
    found = F.scaled_dot_product_attention(heads, heads, heads)
    assert found.permute(2, 0, 1, 3).is_contiguous()
    (gradient,) = gs.autograd.grad((found * found).sum(), heads)
    assert gradient.permute(2, 0, 1, 3).is_contiguous()
    one = heads.detach()[:, :1].expand(2, 3, 7, 4)
    assert F.scaled_dot_product_attention(one, one, one).is_contiguous()
    apart = gs.from_numpy(random(2, 5, 4, 3)).transpose(-2, -1)
    assert F.scaled_dot_product_attention(apart, apart, apart).shape == (2, 5, 3, 4)


@pytest.mark.parametrize("mask", [None, "of queries' heads", "of pairs"])
def test_heads_of_queries_share_those_of_keys(mask):
    query, key, value = (gs.tensor(random(2, h, 5, 4, seed=n), requires_grad=True) for n, h in enumerate((6, 2, 2)))
    shape = {"of queries' heads": (2, 6, 5, 5), "of pairs": (5, 5)}.get(mask)
    given = None if shape is None else gs.tensor(random(*shape, seed=4))
    found = F.scaled_dot_product_attention(query, key, value, given, enable_gqa=True)
    each = [shared.repeat_interleave(3, 1) for shared in (key, value)]
    wanted = F.scaled_dot_product_attention(query, *each, given)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-12)
    for one, other in zip(
        *(gs.autograd.grad(y.sin().sum(), (query, key, value)) for y in (found, wanted)), strict=True
    ):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)


def test_heads_that_broadcast_get_the_sum_of_gradients():
    query, key, value = (gs.tensor(random(*s), requires_grad=True) for s in [(3, 1, 5, 4), (2, 6, 4), (6, 4)])
    result = F.scaled_dot_product_attention(query, key, value)
    whole = [x.detach().expand(3, 2, *x.shape[-2:]).clone().requires_grad_() for x in (query, key, value)]
    other = F.scaled_dot_product_attention(*whole)
    assert result.shape == (3, 2, 5, 4)
    found, wanted = (gs.autograd.grad(y.sin().sum(), x) for y, x in ((result, (query, key, value)), (other, whole)))
    np.testing.assert_allclose(found[0].numpy(), wanted[0].numpy().sum(1, keepdims=True))
    np.testing.assert_allclose(found[1].numpy(), wanted[1].numpy().sum(0))
    np.testing.assert_allclose(found[2].numpy(), wanted[2].numpy().sum((0, 1)))


def test_long_sequences_have_no_matrix_of_weights():
    """8,192 x 8,192 weights would take 256 MB."""
    x = [gs.tensor(random(1, 8192, 16, dtype=np.float32, seed=n), requires_grad=True) for n in range(3)]
    gs.empty_cache()
    tracemalloc.start()
    try:
        F.scaled_dot_product_attention(*x).sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def test_threads_change_no_bit():
    arrays = [random(2, 1100, 24, dtype=np.float32, seed=n) for n in range(3)]

    def everything():
        x = [gs.tensor(array, requires_grad=True) for array in arrays]
        y = F.scaled_dot_product_attention(*x, is_causal=True)
        return [y, *gs.autograd.grad(y.square().sum(), x)]

    before = gs.get_num_threads()
    try:
        gs.set_num_threads(1)
        alone = everything()
        gs.set_num_threads(4)
        assert all((one == other).all() for one, other in zip(alone, everything(), strict=True))
    finally:
        gs.set_num_threads(before)


def test_halves_dropped_weights_and_nothing():
    x = random(2, 5, 4, dtype=np.float16)
    found = F.scaled_dot_product_attention(*[gs.tensor(x)] * 3)
    assert found.dtype == gs.float16
    np.testing.assert_allclose(found.numpy(), expected(x, x, x), atol=2e-3)
    gs.manual_seed(0)
    many = gs.ones(1, 400, 4)
    dropped = F.scaled_dot_product_attention(many, many, many, dropout_p=0.5)
    assert dropped.std() > 0
    assert abs(dropped.mean().item() - 1) < 0.05
    for queries, keys in ((0, 3), (3, 0)):
        q, k = gs.ones(2, queries, 4, requires_grad=True), gs.ones(2, keys, 4, requires_grad=True)
        empty = F.scaled_dot_product_attention(q, k, k)
        assert empty.shape == (2, queries, 4)
        assert (empty == 0).all()
        empty.sum().backward()
        assert q.grad.shape == q.shape
        assert (k.grad == 0).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: F.scaled_dot_product_attention(x[0, 0], x, x), "two dimensions"),
        (lambda x: F.scaled_dot_product_attention(x, x[..., :3], x), "one last size"),
        (lambda x: F.scaled_dot_product_attention(x, x, x[:, :2]), "one size before"),
        (lambda x: F.scaled_dot_product_attention(x, x.double(), x), "same dtype"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, gs.ones(5, 5).long()), "bool"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, gs.ones(5, 4)), "expand"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, gs.ones(3, 5, 5)), "their sizes are"),
        (lambda x: F.scaled_dot_product_attention(x, x[:1].expand(3, 5, 4), x), "their sizes are"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, gs.ones(5, 5), is_causal=True), "should not be set"),
        (lambda x: F.scaled_dot_product_attention(x[:1].expand(3, 5, 4), x, x, enable_gqa=True), "cannot share"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(gs.ones(2, 5, 4))
