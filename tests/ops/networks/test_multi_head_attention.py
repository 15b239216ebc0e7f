"""Attention with several heads, against the same written head by head in NumPy."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck

WIDTH, HEADS, QUERIES, KEYS, BATCH = 6, 2, 3, 4, 2


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def softmax(x):
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def expected(query, key, value, weights, biases, out, hidden=None, extra=(), static=(None, None)):
    """(L, N, E) and (N, heads, L, S), one head after the other; `hidden` holds terms of (N, heads, L, S)."""
    q, k, v = (x @ w.T + b for x, w, b in zip((query, key, value), weights, biases, strict=True))
    for more_k, more_v in extra:
        k = np.concatenate([k, np.broadcast_to(more_k, (1, *k.shape[1:]))])
        v = np.concatenate([v, np.broadcast_to(more_v, (1, *v.shape[1:]))])
    size = WIDTH // HEADS
    found = np.zeros(q.shape)
    shares = np.zeros((q.shape[1], HEADS, len(q), len(k)))
    for n, h in itertools.product(range(q.shape[1]), range(HEADS)):
        own = slice(h * size, (h + 1) * size)
        keys = k[:, n, own] if static[0] is None else static[0][n * HEADS + h]
        values = v[:, n, own] if static[1] is None else static[1][n * HEADS + h]
        scores = q[:, n, own] @ keys.T / np.sqrt(size) + (0 if hidden is None else hidden[n, h])
        shares[n, h] = softmax(scores)
        found[:, n, own] = shares[n, h] @ values
    return found @ out[0].T + out[1], shares


def arguments(**others):
    weight, bias = random(3 * WIDTH, WIDTH, seed=3), random(3 * WIDTH, seed=4)
    given = {
        "query": random(QUERIES, BATCH, WIDTH), "key": random(KEYS, BATCH, WIDTH, seed=1),
        "value": random(KEYS, BATCH, WIDTH, seed=2), "embed_dim_to_check": WIDTH, "num_heads": HEADS,
        "in_proj_weight": weight, "in_proj_bias": bias, "bias_k": None, "bias_v": None, "add_zero_attn": False,
        "dropout_p": 0.0, "out_proj_weight": random(WIDTH, WIDTH, seed=5), "out_proj_bias": random(WIDTH, seed=6),
    }  # fmt: skip
    return given | others


def called(given):
    tensors = {name: gs.tensor(x) if isinstance(x, np.ndarray) else x for name, x in given.items()}
    result, weights = F.multi_head_attention_forward(**tensors)
    return result.numpy(), None if weights is None else weights.numpy()


def expected_of(given, **more):
    weight, bias = given["in_proj_weight"], given["in_proj_bias"]
    return expected(
        given["query"], given["key"], given["value"], np.split(weight, 3), np.split(bias, 3),
        (given["out_proj_weight"], given["out_proj_bias"]), **more,
    )  # fmt: skip


MASKS = {
    "none": (None, None),
    "pairs": (np.triu(np.ones((QUERIES, KEYS), bool), 2), None),
    "heads": (random(BATCH * HEADS, QUERIES, KEYS, seed=7) > 0.8, None),
    "terms": (random(QUERIES, KEYS, seed=8), None),
    "keys": (None, np.array([[False, True, False, False], [False, False, False, True]])),
    "terms of keys": (None, random(BATCH, KEYS, seed=9)),
    "both": (np.triu(np.ones((QUERIES, KEYS), bool), 2), np.array([[False, True, False, False], [False] * 4])),
    "both of terms": (random(QUERIES, KEYS, seed=8), random(BATCH, KEYS, seed=9)),
}


def hidden_by(pairs, keys, added=0):
    terms = np.zeros((BATCH, HEADS, QUERIES, KEYS))
    if pairs is not None:
        own = np.where(pairs, -np.inf, 0.0) if pairs.dtype == bool else pairs
        terms = terms + (own if own.ndim == 2 else own.reshape(BATCH, HEADS, QUERIES, KEYS))
    if keys is not None:
        terms = terms + (np.where(keys, -np.inf, 0.0) if keys.dtype == bool else keys)[:, None, None]
    return np.concatenate([terms, np.zeros((*terms.shape[:-1], added))], -1)


@pytest.mark.parametrize("added", ["nothing", "biases", "zeros", "biases and zeros"])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", MASKS)
def test_masks_and_what_is_added(kind, need_weights, added):
    pairs, keys = MASKS[kind]
    given = arguments(attn_mask=pairs, key_padding_mask=keys, need_weights=need_weights, average_attn_weights=False)
    extra = []
    if "biases" in added:
        given |= {"bias_k": random(1, 1, WIDTH, seed=10), "bias_v": random(1, 1, WIDTH, seed=11)}
        extra.append((given["bias_k"], given["bias_v"]))
    if "zeros" in added:
        given["add_zero_attn"] = True
        extra.append((np.zeros((1, 1, WIDTH)), np.zeros((1, 1, WIDTH))))
    result, weights = called(given)
    wanted, shares = expected_of(given, hidden=hidden_by(pairs, keys, len(extra)), extra=extra)
    np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-12)
    if need_weights:
        np.testing.assert_allclose(weights, shares, rtol=1e-10, atol=1e-12)
    assert (weights is None) != need_weights


def test_biases_without_dimensions_of_size_one():
    given, flat = (arguments() | {"bias_k": random(*size, seed=10), "bias_v": random(*size, seed=11)} for size in SIZES)
    for one, other in zip(called(given), called(flat), strict=True):
        np.testing.assert_array_equal(one, other)


SIZES = ((1, 1, WIDTH), (WIDTH,))


def test_weights_are_averaged_over_heads():
    given = arguments()
    np.testing.assert_allclose(called(given)[1], expected_of(given)[1].mean(1))


def test_one_sequence_without_a_batch():
    given = arguments()
    for name in ("query", "key", "value"):
        given[name] = given[name][:, 0]
    whole = arguments()
    for name in ("query", "key", "value"):
        whole[name] = whole[name][:, :1]
    masked = {"key_padding_mask": MASKS["keys"][1][0]}
    result, weights = called(given | masked)
    other, others = called(whole | {"key_padding_mask": MASKS["keys"][1][:1]})
    np.testing.assert_allclose(result, other[:, 0])
    np.testing.assert_allclose(weights, others[0])


def test_projections_of_other_widths():
    given = arguments(
        key=random(KEYS, BATCH, 4, seed=1), value=random(KEYS, BATCH, 5, seed=2), use_separate_proj_weight=True,
        q_proj_weight=random(WIDTH, WIDTH, seed=12), k_proj_weight=random(WIDTH, 4, seed=13),
        v_proj_weight=random(WIDTH, 5, seed=14), average_attn_weights=False,
    )  # fmt: skip
    own = [given[f"{name}_proj_weight"] for name in "qkv"]
    wanted = expected(
        given["query"], given["key"], given["value"], own, np.split(given["in_proj_bias"], 3),
        (given["out_proj_weight"], given["out_proj_bias"]),
    )  # fmt: skip
    given["in_proj_weight"] = None
    for one, other in zip(called(given), wanted, strict=True):
        np.testing.assert_allclose(one, other)


def test_static_keys_and_values():
    static = [random(BATCH * HEADS, KEYS, WIDTH // HEADS, seed=n) for n in (15, 16)]
    given = arguments(static_k=static[0], static_v=static[1])
    np.testing.assert_allclose(called(given)[0], expected_of(given, static=static)[0])
    assert called(given | {"need_weights": False})[0].shape == (QUERIES, BATCH, WIDTH)


def test_projected_once_where_tensors_are_the_same():
    given = arguments()
    x, y = gs.tensor(given.pop("query")), gs.tensor(given.pop("key"))
    del given["value"]
    rest = {name: gs.tensor(a) if isinstance(a, np.ndarray) else a for name, a in given.items()}
    for tensors in ((x, x, x), (x, y, y)):
        one = F.multi_head_attention_forward(*tensors, **rest)[0]
        other = F.multi_head_attention_forward(*[t.clone() for t in tensors], **rest)[0]
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


def test_a_hint_that_the_mask_is_causal_changes_nothing():
    later = np.triu(np.ones((QUERIES, QUERIES), bool), 1)
    given = arguments(key=random(QUERIES, BATCH, WIDTH), value=random(QUERIES, BATCH, WIDTH), attn_mask=later)
    plain = called(given)[0]
    for need_weights in (True, False):
        np.testing.assert_allclose(called(given | {"is_causal": True, "need_weights": need_weights})[0], plain)
    # without weights the mask is not looked at, so that it may be of another length, as in PyTorch
    short = given | {"attn_mask": later[:1, :1], "is_causal": True, "need_weights": False}
    np.testing.assert_allclose(called(short)[0], plain)


def test_gradients():
    given = arguments(bias_k=random(1, 1, WIDTH, seed=10), bias_v=random(1, 1, WIDTH, seed=11))
    names = [name for name, x in given.items() if isinstance(x, np.ndarray)]
    leaves = [gs.tensor(given[name], requires_grad=True) for name in names]
    for need_weights in (True, False):

        def call(*tensors, need_weights=need_weights):
            found = F.multi_head_attention_forward(
                **given | dict(zip(names, tensors, strict=True)), need_weights=need_weights
            )
            return [x for x in found if x is not None]

        assert gradcheck(call, leaves)


def test_weights_are_dropped_in_training_alone():
    gs.manual_seed(0)
    given = arguments(dropout_p=0.5)
    assert (called(given)[1] == 0).any()
    np.testing.assert_allclose(called(given | {"training": False})[0], expected_of(given)[0])


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"query": random(3)}, AssertionError, "2D or batched 3D"),
        ({"key": random(4, 6)}, AssertionError, "expected `key` and `value` to be 3-D"),
        ({"key": random(4, 2, 5)}, AssertionError, "does not match value shape"),
        ({"key": random(4, 3, 6), "value": random(4, 3, 6)}, AssertionError, "one batch size"),
        ({"embed_dim_to_check": 8}, AssertionError, "expecting embedding dimension of 8"),
        ({"num_heads": 4}, AssertionError, "not divisible by num_heads"),
        ({"num_heads": 0}, AssertionError, "not divisible by num_heads"),
        ({"in_proj_weight": None}, AssertionError, "in_proj_weight is None"),
        ({"in_proj_weight": random(6, 6)}, AssertionError, "in_proj_weight of shape"),
        ({"use_separate_proj_weight": True}, AssertionError, "q_proj_weight is None"),
        ({"bias_k": random(1, 1, 6)}, AssertionError, "bias_v is None"),
        ({"bias_k": random(1, 1, 5), "bias_v": random(1, 1, 6)}, AssertionError, "expecting bias_k of shape"),
        ({"static_k": random(4, 4, 2)}, AssertionError, "expecting static_k"),
        ({"attn_mask": random(3, 3)}, RuntimeError, "should be \\[3, 4\\]"),
        ({"attn_mask": random(3, 3, 4)}, RuntimeError, "3D attn_mask"),
        ({"attn_mask": random(4)}, AssertionError, "2-D or 3-D"),
        ({"attn_mask": np.ones((3, 4), int)}, AssertionError, "only bool and floating"),
        ({"key_padding_mask": random(4)}, AssertionError, "`None` or 2-D"),
        ({"key_padding_mask": random(2, 3)}, AssertionError, "key_padding_mask of shape"),
        ({"is_causal": True}, RuntimeError, "Need attn_mask"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(changes, error, text):
    with pytest.raises(error, match=text):
        called(arguments(**changes))


def test_masks_of_two_kinds_are_deprecated():
    given = arguments(attn_mask=MASKS["terms"][0], key_padding_mask=MASKS["keys"][1])
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        result, _ = called(given)
    hidden = hidden_by(MASKS["terms"][0], MASKS["keys"][1])
    np.testing.assert_allclose(result, expected_of(given, hidden=hidden)[0])
