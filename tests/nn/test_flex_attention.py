"""Attention with functions of places: against the attention of whole masks, and blocks against counting."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    return (q_idx - kv_idx).abs() < 3


def inputs(*, heads=2, length=5):
    draw = np.random.default_rng(0).standard_normal
    return [gs.tensor(draw((2, heads, length, 4)), requires_grad=True) for _ in range(3)]


def gradients_of(result, tensors):
    weights = gs.arange(result.numel(), dtype=result.dtype).reshape(result.shape).cos()
    return gs.autograd.grad((result * weights).sum(), tensors)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("block", [128, 2, (2, 3)])
@pytest.mark.parametrize("mask_mod", [causal, near, and_masks(causal, near), or_masks(causal, near), noop_mask])
def test_masks_are_those_of_scaled_dot_product_attention(mask_mod, block):
    q, k, v = inputs()
    mask = create_block_mask(mask_mod, None, None, 5, 5, BLOCK_SIZE=block)
    found = flex_attention(q, k, v, block_mask=mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=create_mask(mask_mod, 1, 1, 5, 5))
    same(found, expected)
    for one, other in zip(gradients_of(found, (q, k, v)), gradients_of(expected, (q, k, v)), strict=True):
        same(one, other)


def test_a_score_is_changed_by_other_tensors_and_these_get_gradients():
    q, k, v = inputs()
    bias = gs.tensor(np.random.default_rng(1).standard_normal((2, 9)), requires_grad=True)
    distance = gs.arange(5).unsqueeze(1) - gs.arange(5) + 4

    def relative(score, b, h, q_idx, kv_idx):
        return score + bias[h, q_idx - kv_idx + 4]

    found = flex_attention(q, k, v, relative, scale=0.3)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[:, distance], scale=0.3)
    same(found, expected)
    for one, other in zip(gradients_of(found, (q, k, v, bias)), gradients_of(expected, (q, k, v, bias)), strict=True):
        same(one, other)


def test_masks_by_sequence_and_head_read_other_tensors():
    documents = gs.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]])
    mask = create_mask(lambda b, h, q, k: (documents[b, q] == documents[b, k]) & (k >= h), 2, 2, 5, 5)
    rows = documents.numpy()
    expected = (rows[:, None, :, None] == rows[:, None, None, :]) & (np.arange(5) >= np.arange(2)[:, None, None])
    np.testing.assert_array_equal(mask.numpy(), expected)


def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients():
    q, k, v = inputs()
    mask = create_block_mask(lambda b, h, q, k: q > k, None, None, 5, 5, BLOCK_SIZE=2)
    found, aux = flex_attention(q, k, v, block_mask=mask, return_aux=AuxRequest(lse=True))
    assert (found[:, :, 0] == 0).all()
    assert (aux.lse[:, :, 0] == -gs.inf).all()
    assert all(gradient.isfinite().all() for gradient in gradients_of(found, (q, k, v)))


def test_logarithms_and_largest_scores():
    q, k, v = inputs()
    scores = q @ k.transpose(-2, -1) / 2
    _, aux = flex_attention(q, k, v, return_aux=AuxRequest(lse=True, max_scores=True))
    same(aux.lse, scores.logsumexp(-1))
    same(aux.max_scores, scores.amax(-1))
    _, lse = flex_attention(q, k, v, return_lse=True)
    same(lse, aux.lse)


def test_heads_of_keys_are_shared():
    q, k, v = inputs(heads=4)
    found = flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    same(found, F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True))


def test_blocks_are_counted():
    mask = create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2)
    assert mask.shape == (1, 1, 6, 6)
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 1]]]
    assert mask.kv_indices[0, 0, :, 0].tolist() == [0, 1, 2]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 2]]]
    assert mask.full_q_num_blocks.tolist() == [[[2, 1, 0]]]
    assert mask.sparsity() == pytest.approx(100 / 3)
    together = create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2, separate_full_blocks=False)
    assert together.kv_num_blocks.tolist() == [[[1, 2, 3]]]
    assert together.full_kv_num_blocks is None


def test_blocks_that_are_given_hide_the_others():
    q, k, v = inputs(length=4)
    mask = BlockMask.from_kv_blocks(gs.ones(1, 1, 2).int(), gs.tensor([[[[0, 1], [1, 0]]]]).int(), BLOCK_SIZE=2)
    diagonal = gs.eye(2).bool().repeat_interleave(2, 0).repeat_interleave(2, 1)
    same(flex_attention(q, k, v, block_mask=mask), F.scaled_dot_product_attention(q, k, v, attn_mask=diagonal))


def test_a_slice_needs_a_function_of_its_own():
    q, k, v = inputs()
    mask = create_block_mask(lambda b, h, q, k: q >= k + h, None, 2, 5, 5, BLOCK_SIZE=2)[:, 1]
    with pytest.raises(RuntimeError, match="sliced BlockMask"):
        flex_attention(q[:, 1:], k[:, 1:], v[:, 1:], block_mask=mask)
    mask.mask_mod = lambda b, h, q, k: q >= k + 1
    allowed = gs.ones(5, 5).tril(-1).bool()
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)[:, 1:]
    same(flex_attention(q[:, 1:], k[:, 1:], v[:, 1:], block_mask=mask), expected)


def test_a_mask_is_cut_to_fewer_queries_and_keys():
    q, k, v = inputs(length=3)
    mask = create_block_mask(causal, None, None, 5, 5, BLOCK_SIZE=2)
    with pytest.raises(ValueError, match="q_len=3 and kv_len=3"):
        flex_attention(q, k, v, block_mask=mask)
    same(
        flex_attention(q, k, v, block_mask=mask._adjust(3, 3)), F.scaled_dot_product_attention(q, k, v, is_causal=True)
    )


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        ([(5, 4)] * 3, {}, "4D tensors"),
        ([(1, 2, 5, 4), (1, 2, 5, 3), (1, 2, 5, 4)], {}, "same embedding dimension"),
        ([(1, 4, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4)], {}, "enable_gqa=True"),
        ([(1, 3, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4)], {"enable_gqa": True}, "multiple of kv heads"),
        ([(2, 1, 5, 4), (1, 1, 5, 4), (1, 1, 5, 4)], {}, "same batch size"),
        ([(1, 1, 5, 4)] * 3, {"return_lse": True, "return_aux": AuxRequest(lse=True)}, "both return_lse"),
    ],
)
def test_sizes_that_do_not_go_together(shapes, options, message):
    with pytest.raises((ValueError, NotImplementedError), match=message):
        flex_attention(*(gs.ones(*shape) for shape in shapes), **options)


def test_a_mask_has_four_arguments():
    with pytest.raises(AssertionError, match="4 arguments"):
        create_block_mask(lambda score, b, h, q, k: score, None, None, 5, 5)
    hidden = create_mask(lambda score, b, h, q, k: gs.where(q >= k, score, -gs.inf), None, None, 3, 3)
    assert hidden.tolist() == create_mask(causal, None, None, 3, 3).tolist()


def test_it_is_an_attribute_of_its_package():
    assert gs.nn.attention.flex_attention.flex_attention is flex_attention


def test_what_libraries_take_besides():
    from gradsmith._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    table = gs.arange(6).reshape(2, 3)
    with TransformGetItemToIndex():
        assert gs.vmap(lambda i: table[1, i])(gs.arange(3)).tolist() == [3, 4, 5]
    assert (
        create_block_mask(causal, None, None, 1, 1).BLOCK_SIZE
        == (gs.nn.attention.flex_attention._DEFAULT_SPARSE_BLOCK_SIZE,) * 2
    )
