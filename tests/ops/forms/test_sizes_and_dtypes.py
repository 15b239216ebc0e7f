"""Operands of sizes and dtypes that do not go together: errors as PyTorch's, and what it accepts."""

import numpy as np
import pytest

import gradsmith as gs

F = gs.nn.functional
ONES, EYE = gs.ones, gs.eye(3)

REFUSED = {
    "bias of a convolution of another dtype": (
        lambda: F.conv1d(ONES(1, 1, 4), ONES(1, 1, 2), ONES(1, dtype=gs.float64)), RuntimeError, "bias type"
    ),
    "bias of a transposed convolution of another dtype": (
        lambda: F.conv_transpose1d(ONES(1, 1, 4), ONES(1, 1, 2), ONES(1, dtype=gs.float64)), RuntimeError, "bias type"
    ),
    "weight of a convolution of another dtype": (
        lambda: F.conv1d(ONES(1, 1, 4), ONES(1, 1, 2, dtype=gs.float64)), RuntimeError, "weight type"
    ),
    "bias of a convolution of two dimensions": (
        lambda: F.conv2d(ONES(1, 1, 4, 4), ONES(1, 1, 2, 2), ONES(1, 1)), RuntimeError, "one dimension"
    ),
    "complex weights of classes": (
        lambda: F.nll_loss(ONES(1, 2), gs.tensor([0]), ONES(2, dtype=gs.complex64)), RuntimeError, "real numbers"
    ),
    "complex weights of many classes": (
        lambda: F.cross_entropy(ONES(1, 3000), gs.tensor([0]), ONES(3000, dtype=gs.complex64)), RuntimeError, "real"
    ),
    "too few values for a mask": (
        lambda: ONES(3).masked_scatter(gs.tensor([True, False, True]), ONES(0)), RuntimeError, "source has 0 elements"
    ),
    "a weight for each of other classes": (
        lambda: F.multi_margin_loss(ONES(2, 4), gs.tensor([0, 1]), weight=ONES(3)), RuntimeError, "one element for each"
    ),
    "a bias of other outputs": (
        lambda: F.bilinear(ONES(3), ONES(4), ONES(1, 3, 4), ONES(5)), RuntimeError, "for each of the outputs"
    ),
    "too few pivots": (
        lambda: gs.linalg.lu_solve(EYE, gs.tensor([1, 2], dtype=gs.int32), ONES(3, 1)), RuntimeError, "one pivot"
    ),
    "classes where probabilities are meant": (
        lambda: F.cross_entropy(ONES(2, 3), gs.ones(2, 3, dtype=gs.int64)), RuntimeError, "Expected floating point type"
    ),
    "an ignored class of probabilities": (
        lambda: F.cross_entropy(ONES(2, 3), ONES(2, 3), ignore_index=1), RuntimeError, "ignore_index is not supported"
    ),
    "another batch of classes": (
        lambda: F.cross_entropy(ONES(2, 3), gs.tensor([0])), ValueError, r"Expected target size \[2\]"
    ),
    "other places of classes": (
        lambda: F.cross_entropy(ONES(2, 3, 5), gs.zeros(2, 4, dtype=gs.int64)), RuntimeError, r"target size \[2, 5\]"
    ),
    "no variance": (
        lambda: F.batch_norm(ONES(2, 3), None, None, training=True, eps=0.0), ValueError, "eps must be positive"
    ),
    "triplets of other dimensions": (
        lambda: F.triplet_margin_loss(ONES(3), ONES(2, 3), ONES(2, 3)), RuntimeError, "same number of dimensions"
    ),
    "bounds that are exchanged": (lambda: F.rrelu(ONES(2), 0.3, 0.1), RuntimeError, "lower bound"),
    "a bias that makes the product larger": (
        lambda: F.linear(ONES(2, 3), ONES(4, 3), ONES(3, 1, 4)), RuntimeError, "does not fit"
    ),
    "singular values of a vector": (lambda: gs.linalg.svd(ONES(3)), RuntimeError, "at least 2 dimensions"),
    "a transform along nothing": (lambda: gs.fft.rfftn(ONES(3), dim=()), RuntimeError, "one axis"),
    "slopes of bytes": (lambda: gs.gradient(gs.tensor([3, 1, 2], dtype=gs.uint8)), RuntimeError, "uint8"),
    "areas of bools": (lambda: gs.trapezoid(gs.tensor([True, True])), RuntimeError, "bool"),
    "pooling of a matrix": (lambda: F.adaptive_avg_pool2d(ONES(2, 2), (1, 1)), ValueError, "adaptive_avg_pool2d"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()


UNBROADCAST = {
    "scipy.special": lambda: gs.special.gammainc(ONES(5), ONES(2)),
    "many elements": lambda: gs.special.zeta(ONES(200_000), ONES(2)),
    "polynomials": lambda: gs.special.chebyshev_polynomial_t(ONES(5), ONES(2)),
    "cross products": lambda: gs.linalg.cross(ONES(5, 3), ONES(2, 3)),
    "masks": lambda: ONES(5).masked_scatter(ONES(2) > 0, ONES(9)),
    "distances": lambda: gs.cdist(ONES(5, 3, 3), ONES(2, 3, 3)),
}


@pytest.mark.parametrize("case", UNBROADCAST)
def test_sizes_that_do_not_broadcast(case):
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(\d+\) must match the size of tensor b \(\d+\) at non-sing"
    ):
        UNBROADCAST[case]()


def test_a_bias_may_be_a_row_for_each_output_or_a_matrix():
    x, weight = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    for size in ((1, 4), (2, 4), (2, 1), (4,), (1,), ()):
        bias = np.arange(float(np.prod(size))).reshape(size)
        operands = [gs.tensor(a, requires_grad=True) for a in (x, weight, bias)]
        found = F.linear(*operands)
        np.testing.assert_array_equal(found.detach().numpy(), x @ weight.T + bias)
        gs.autograd.gradcheck(F.linear, operands)


def test_the_class_of_one_vector_may_be_a_vector():
    x = gs.tensor([-0.1, -0.2, -0.3], requires_grad=True)
    for loss in (F.nll_loss, F.cross_entropy):
        for reduction in ("none", "mean"):
            found, wanted = (loss(x, gs.tensor(target), reduction=reduction) for target in ([1], 1))
            assert found.shape == () and found.item() == wanted.item()
    assert F.nll_loss(x, gs.tensor([1])).item() == pytest.approx(0.2)


def test_a_source_without_dimensions():
    assert gs.zeros(3).index_copy(0, gs.tensor([1]), gs.tensor(5.0)).tolist() == [0.0, 5.0, 0.0]


def test_nothing_has_a_condition_number():
    assert gs.linalg.cond(gs.ones(2, 0, 5)).tolist() == [0.0, 0.0]


def test_batches_without_images_are_resized():
    assert F.interpolate(gs.ones(0, 3, 4, 4, 4), size=(3, 3, 3), mode="trilinear").shape == (0, 3, 3, 3, 3)


def test_losses_divide_by_what_the_input_says():
    assert F.kl_div(gs.ones(1), gs.ones(2), reduction="batchmean").item() == -2.0
    lone, many = gs.ones(1), gs.ones(5)
    assert F.multilabel_soft_margin_loss(lone, many).item() == pytest.approx(5 * np.log1p(np.exp(-1)))


def test_coordinates_of_bytes_have_differences():
    found = gs.gradient(gs.tensor([1.0, 2.0, 5.0]), spacing=(gs.tensor([3, 1, 2], dtype=gs.uint8),))
    np.testing.assert_allclose(found[0].numpy(), np.gradient([1.0, 2.0, 5.0], [3.0, 1.0, 2.0]))


def test_sums_of_exponentials_of_integers_are_floats():
    found = gs.masked.logaddexp(gs.tensor([1, 2]), gs.tensor([1, 5]))
    np.testing.assert_allclose(found.numpy(), np.logaddexp([1.0, 2.0], [1.0, 5.0]), rtol=1e-6)
