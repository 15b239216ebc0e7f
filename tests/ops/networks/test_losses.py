"""Losses of probabilities and margins against sums written out, and what PyTorch decided where mathematics does not."""

import math
import warnings

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import grad, gradcheck

RNG = np.random.default_rng(11)
X, Y = RNG.standard_normal((2, 3, 4))
P, T = RNG.uniform(0.05, 0.95, (2, 3, 4))
SIGNS = np.array([[1.0, -1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0], [1.0, 1.0, -1.0, 1.0]])
CLASSES = np.array([1, 3, 0])


def stirling(t):
    return np.where(t > 1, t * np.log(t) - t + 0.5 * np.log(2 * np.pi * t), 0)


def distance(a, b, p=2.0, eps=1e-6):
    return (np.abs(a - b + eps) ** p).sum(-1) ** (1 / p)


def cosine(a, b):
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def multi_margin(x, classes, power, margin):
    losses = []
    for row, chosen in zip(x, classes, strict=True):
        others = [max(0, margin - row[chosen] + row[k]) ** power for k in range(len(row)) if k != chosen]
        losses.append(sum(others) / len(row))
    return np.array(losses)


COUNTS = np.array([[1.0, 2.0, 3.0, 1.0], [4.0, 1.0, 2.0, 2.0], [1.0, 5.0, 1.0, 3.0]])
LOSSES = {
    "binary_cross_entropy": (F.binary_cross_entropy, (P, T), {}, -(T * np.log(P) + (1 - T) * np.log(1 - P))),
    "kl_div": (F.kl_div, (X, T), {}, T * (np.log(T) - X)),
    "kl_div of logarithms": (F.kl_div, (X, Y), {"log_target": True}, np.exp(Y) * (Y - X)),
    "poisson": (F.poisson_nll_loss, (X, COUNTS), {}, np.exp(X) - COUNTS * X),
    "poisson of rates": (
        F.poisson_nll_loss, (P, COUNTS), {"log_input": False, "full": True},
        P - COUNTS * np.log(P + 1e-8) + stirling(COUNTS),
    ),
    "gaussian": (F.gaussian_nll_loss, (X, Y, P), {}, 0.5 * (np.log(P) + (X - Y) ** 2 / P)),
    "gaussian of rows": (
        F.gaussian_nll_loss, (X, Y, P[:, 0]), {"full": True},
        0.5 * (np.log(2 * np.pi * P[:, :1]) + (X - Y) ** 2 / P[:, :1]),
    ),
    "gaussian of one": (F.gaussian_nll_loss, (X, Y, 0.5), {}, 0.5 * (np.log(0.5) + (X - Y) ** 2 / 0.5)),
    "margin_ranking": (F.margin_ranking_loss, (X, Y, SIGNS), {"margin": 0.25}, np.maximum(0.25 - SIGNS * (X - Y), 0)),
    "triplet": (F.triplet_margin_loss, (X, Y, P), {}, np.maximum(1 + distance(X, Y) - distance(X, P), 0)),
    "triplet, swapped": (
        F.triplet_margin_loss, (X, Y, P), {"p": 3.0, "swap": True},
        np.maximum(1 + distance(X, Y, 3) - np.minimum(distance(X, P, 3), distance(Y, P, 3)), 0),
    ),
    "triplet with a distance": (
        F.triplet_margin_with_distance_loss, (X, Y, P), {"distance_function": lambda a, b: (a - b).abs().sum(-1)},
        np.maximum(1 + np.abs(X - Y).sum(-1) - np.abs(X - P).sum(-1), 0),
    ),
    "cosine_embedding": (
        F.cosine_embedding_loss, (X, Y, SIGNS[:, 0]), {"margin": -0.5},
        np.where(SIGNS[:, 0] == 1, 1 - cosine(X, Y), np.maximum(cosine(X, Y) + 0.5, 0)),
    ),
    "multi_margin": (F.multi_margin_loss, (X, CLASSES), {}, multi_margin(X, CLASSES, 1, 1.0)),
    "multi_margin, squared": (
        F.multi_margin_loss, (X, CLASSES), {"p": 2, "margin": 0.5}, multi_margin(X, CLASSES, 2, 0.5),
    ),
    "multilabel_soft_margin": (
        F.multilabel_soft_margin_loss, (X, T), {},
        (T * np.log1p(np.exp(-X)) + (1 - T) * np.log1p(np.exp(X))).mean(-1),
    ),
}  # fmt: skip


def tensors(arrays):
    return [gs.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss:UserWarning")  # of kl_div
@pytest.mark.parametrize("name", LOSSES)
def test_definitions(name):
    function, arguments, options, expected = LOSSES[name]
    found = {reduction: function(*tensors(arguments), reduction=reduction, **options) for reduction in ("none", "sum")}
    np.testing.assert_allclose(found["none"].numpy(), expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["sum"].item(), expected.sum(), rtol=1e-6)
    np.testing.assert_allclose(function(*tensors(arguments), **options).item(), expected.mean(), rtol=1e-6)
    with pytest.raises(ValueError, match="'average' is not a valid value for reduction"):
        function(*tensors(arguments), reduction="average", **options)


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss:UserWarning")  # of kl_div
@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name):
    function, arguments, options, _ = LOSSES[name]
    inputs = tensors(arguments)
    inputs[0].requires_grad_()
    assert gradcheck(lambda *inputs: function(*inputs, **options), inputs)


def test_the_mean_of_a_divergence_over_its_rows():
    found = F.kl_div(gs.tensor(X), gs.tensor(T), reduction="batchmean").item()
    assert found == pytest.approx((T * (np.log(T) - X)).sum() / 3)
    assert F.kl_div(gs.zeros(2), gs.tensor([0.0, 1.0]), reduction="none").tolist() == [0.0, 0.0]


def test_certain_probabilities_cost_a_hundred():
    p = gs.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True, dtype=gs.float64)
    losses = F.binary_cross_entropy(p, gs.tensor([1.0, 0.0, 0.0, 1.0], dtype=gs.float64), reduction="none")
    assert losses.tolist() == [100.0, 100.0, 0.0, 0.0]
    assert grad(losses.sum(), p)[0].tolist() == [-1e12, 1e12, 0.0, 0.0]


@pytest.mark.parametrize("values", [[0.5, 1.5], [-0.1, 0.5]])
def test_what_is_no_probability(values):
    with pytest.raises(RuntimeError, match="between 0 and 1.*binary_cross_entropy_with_logits"):
        F.binary_cross_entropy(gs.tensor(values), gs.tensor([0.0, 1.0]))


def test_small_variances_can_grow():
    var = gs.tensor([0.0, 4.0], requires_grad=True)
    F.gaussian_nll_loss(gs.zeros(2), gs.tensor([1.0, 1.0]), var, eps=0.5, reduction="sum").backward()
    assert var.grad.tolist() == [0.5 * (1 / 0.5 - 1 / 0.25), 0.5 * (1 / 4 - 1 / 16)]


def test_sets_of_labels_end_at_the_first_negative_one():
    x = gs.tensor([[0.1, 0.2, 0.4, 0.8]], requires_grad=True, dtype=gs.float64)
    loss = F.multilabel_margin_loss(x, gs.tensor([[3, 0, -1, 1]]))
    pairs = [1 - (0.8 - 0.2), 1 - (0.8 - 0.4), 1 - (0.1 - 0.2), 1 - (0.1 - 0.4)]
    assert loss.item() == pytest.approx(sum(pairs) / 4)
    assert grad(loss, x)[0].tolist() == [[-0.5, 0.5, 0.5, -0.5]]
    assert F.multilabel_margin_loss(x, gs.tensor([[-1, 0, 1, 2]])).item() == 0


def test_class_weights_of_multi_margin_loss():
    weight = np.array([0.5, 1.0, 2.0, 4.0])
    found = F.multi_margin_loss(gs.tensor(X), gs.tensor(CLASSES), weight=gs.tensor(weight), reduction="none")
    np.testing.assert_allclose(found.numpy(), weight[CLASSES] * multi_margin(X, CLASSES, 1, 1.0), rtol=1e-12)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("target", [0, [0]])
def test_margins_of_one_class(target, reduction):
    """There is no other class to be compared with. The size of each loss is PyTorch's."""
    for x in (gs.tensor(0.3, requires_grad=True), gs.tensor([0.3], requires_grad=True)):
        classes = gs.tensor(target)
        loss = F.multi_margin_loss(x, classes, weight=gs.tensor([2.0]), reduction=reduction)
        assert loss.shape == (classes.shape if reduction == "none" else ()) and loss.sum().item() == 0
        sets = F.multilabel_margin_loss(x, classes, reduction=reduction)
        assert sets.shape == () and sets.item() == 0
        assert not grad(loss.sum() + sets, x)[0].any()


def test_targets_of_numbers_and_of_single_rows():
    x = gs.tensor([[0.3, 0.4, 0.1]])
    expected = (1 - 0.4 + 0.3 + 1 - 0.4 + 0.1) / 3
    assert F.multi_margin_loss(x, gs.tensor(1), reduction="none").item() == pytest.approx(expected)
    found = F.multi_margin_loss(x[0], gs.tensor([1]), reduction="none")
    assert found.shape == (1,) and found.item() == pytest.approx(expected)
    for loss in (F.multi_margin_loss, F.multilabel_margin_loss):
        with pytest.raises(RuntimeError, match="out of range"):
            loss(gs.tensor(0.3), gs.tensor(1))
        with pytest.raises(RuntimeError, match="[Tt]arget size|inconsistent target size"):
            loss(gs.ones(2, 2), gs.tensor(1))
    assert F.multilabel_margin_loss(gs.tensor(0.3), gs.tensor(-1)).item() == 0
    with pytest.raises(RuntimeError, match="inconsistent target size"):
        F.multilabel_margin_loss(gs.ones(2), gs.tensor(1))


@pytest.mark.parametrize("p, swap", [(2.0, False), (1.0, True), (3.0, True)])
def test_triplets_of_complex_numbers(p, swap):
    a, b, c = (RNG.standard_normal((3, 5, 4)) + 1j * RNG.standard_normal((3, 5, 4)))[:, :, :3]
    farthest = np.minimum(distance(a, c, p), distance(b, c, p)) if swap else distance(a, c, p)
    found = F.triplet_margin_loss(*map(gs.tensor, (a, b, c)), p=p, swap=swap, reduction="none")
    assert found.dtype == gs.float64
    np.testing.assert_allclose(found.numpy(), np.maximum(1 + distance(a, b, p) - farthest, 0), rtol=1e-12)


def test_weights_of_another_dtype_do_not_count():
    p, target = gs.tensor(P, dtype=gs.float32), gs.tensor(T, dtype=gs.float32)
    found = F.binary_cross_entropy(p, target, weight=gs.tensor(P))
    assert found.dtype == gs.float32
    np.testing.assert_allclose(found, (P * -(T * np.log(P) + (1 - T) * np.log(1 - P))).mean(), rtol=1e-5)


def test_losses_of_each_slice():
    x, target = gs.tensor(X), gs.tensor(CLASSES)
    found = gs.vmap(F.multi_margin_loss)(x, target)
    one_by_one = [F.multi_margin_loss(row, chosen).item() for row, chosen in zip(x, target, strict=True)]
    np.testing.assert_allclose(found.numpy(), one_by_one)


ERRORS = {
    "size of a target": (ValueError, lambda x: F.binary_cross_entropy(x, x[0]), "expects a target of the size"),
    "integers": (NotImplementedError, lambda x: F.binary_cross_entropy(x.long(), x.long()), "not defined for int64"),
    "dtype of a target": (
        RuntimeError, lambda x: F.binary_cross_entropy(x.double(), x), "found dtype float32 but expected float64",
    ),
    "classes as a target": (
        RuntimeError, lambda x: F.binary_cross_entropy(x, x.long()), "found dtype int64 but expected float32",
    ),
    "dimensions": (RuntimeError, lambda x: F.margin_ranking_loss(x, x[0], x), "same number of dimensions"),
    "no margin": (ValueError, lambda x: F.triplet_margin_loss(x, x, x, margin=0.0), "margin must be greater than 0"),
    "no margin with a distance": (
        ValueError, lambda x: F.triplet_margin_with_distance_loss(x, x, x, margin=0.0), "margin must be greater than 0",
    ),
    "one target": (RuntimeError, lambda x: F.cosine_embedding_loss(x, x, gs.tensor(1)), "expects 1D input"),
    "targets": (RuntimeError, lambda x: F.cosine_embedding_loss(x, x, x), "0D or 1D target"),
    "power": (ValueError, lambda x: F.multi_margin_loss(x, gs.tensor([0, 1]), p=3), "only p == 1 and p == 2"),
    "classes": (RuntimeError, lambda x: F.multi_margin_loss(x, gs.tensor([0, 1, 1])), r"Expected target size \[2\]"),
    "class": (RuntimeError, lambda x: F.multi_margin_loss(x, gs.tensor([0, 5])), "target out of range: 5 is none"),
    "class of a dtype": (RuntimeError, lambda x: F.multi_margin_loss(x, x[:, 0]), "expected scalar type Long"),
    "class of a set": (
        RuntimeError, lambda x: F.multilabel_margin_loss(x, gs.tensor([[0, -2, 0]] * 2)), "'target' is out of range: -2"
    ),
    "no classes": (RuntimeError, lambda x: F.multi_margin_loss(x[:, :0], gs.tensor([0, 1])), "non-empty vector"),
    "sets": (RuntimeError, lambda x: F.multilabel_margin_loss(x, gs.tensor([0, 1])), "inconsistent target size"),
    "variances": (ValueError, lambda x: F.gaussian_nll_loss(x, x, -x), "negative entry"),
    "sizes of variances": (ValueError, lambda x: F.gaussian_nll_loss(x, x, x[:, :2]), "incorrect size"),
    "least variance": (ValueError, lambda x: F.gaussian_nll_loss(x, x, x, eps=0.0), "eps must be positive"),
}  # fmt: skip


@pytest.mark.parametrize(("error", "call", "match"), ERRORS.values(), ids=ERRORS)
def test_wrong_arguments(error, call, match):
    with pytest.raises(error, match=match):
        call(gs.full((2, 3), 0.5))


def test_means_of_nothing():
    empty = gs.zeros(0, 3)
    assert math.isnan(F.binary_cross_entropy(empty, empty).item())
    assert F.margin_ranking_loss(empty, empty, empty, reduction="sum").item() == 0


def test_scores_just_at_the_margin_have_no_gradient():
    x = gs.tensor([[1.0, 0.0, 0.5]], requires_grad=True)
    F.multi_margin_loss(x, gs.tensor([0])).backward()
    assert x.grad.tolist() == [[pytest.approx(-1 / 3), 0, pytest.approx(1 / 3)]]
    x.grad = None
    F.multilabel_margin_loss(x, gs.tensor([[0, -1, -1]])).backward()
    assert x.grad.tolist() == [[pytest.approx(-1 / 3), 0, pytest.approx(1 / 3)]]


def test_the_mean_of_kl_div_warns():
    """It is not the divergence of the distributions; the other reductions are, or say what they are."""
    x, t = gs.tensor(X), gs.tensor(T)
    for call in (lambda: F.kl_div(x, t), lambda: gs.nn.KLDivLoss()(x, t)):
        with pytest.warns(UserWarning, match="'mean' divides the total loss by both .* 'batchmean' divides only by"):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for reduction in ("batchmean", "sum", "none"):
            F.kl_div(x, t, reduction=reduction)


@pytest.mark.parametrize(
    ("target", "settings", "kind", "message"),
    [
        (gs.ones(2, 4), {}, ValueError, r"Expected input batch_size \(3\) to match target batch_size \(2\)"),
        (gs.ones(3, 5), {}, RuntimeError, r"multi-target not supported.* of size \[3, 4\], or probabilities of"),
        (gs.ones(3), {}, RuntimeError, "expected target dtype to be Long or Byte, but got float32"),
        (gs.ones(3, 4), {"weight": gs.ones(3)}, RuntimeError, r"weight tensor should be defined .* shape: \[3\]"),
        (gs.tensor([0, 1]), {"label_smoothing": 0.1}, ValueError, r"Expected input batch_size \(3\) to match"),
        (
            gs.tensor([[0, 1]] * 3),
            {},
            RuntimeError,
            r"multi-target not supported. Expected target size \[3\], got \[3, 2\]",
        ),
        (
            gs.tensor([[0] * 4] * 3),
            {},
            RuntimeError,
            "Expected floating point type for target with class probabilities",
        ),
        (
            gs.tensor([0, 1, 2], dtype=gs.int32),
            {},
            RuntimeError,
            "expected target dtype to be Long or Byte, but got int32",
        ),
        (gs.tensor(1), {}, ValueError, r"Expected input batch_size \(3\) to match target batch_size \(0\)"),
        (
            gs.tensor([0, 1, 2]),
            {"label_smoothing": 0.1, "weight": gs.ones(3)},
            RuntimeError,
            "weight tensor should be defined either for all 4 classes or no classes",
        ),
    ],
)
def test_targets_that_do_not_fit_in_cross_entropy(target, settings, kind, message):
    with pytest.raises(kind, match=message):
        F.cross_entropy(gs.ones(3, 4), target, **settings)


@pytest.mark.parametrize(
    ("size", "amounts", "mode", "message"),
    [
        ((1, 3), (3, 1), "reflect", r"Padding size should be less than the corresponding input dim.* \(3, 1\) .* 3"),
        ((1, 3, 3), (1, 1, 0, 3), "reflect", "Padding size should be less than the corresponding input dimension"),
        ((1, 3), (4, 0), "circular", "Padding value causes wrapping around more than once"),
        ((1, 3), (-4, 0), "replicate", r"input \(size 3\) is too small. Calculated output size -1"),
    ],
)
def test_paddings_that_do_not_fit(size, amounts, mode, message):
    with pytest.raises(RuntimeError, match=message):
        F.pad(gs.ones(size), amounts, mode=mode)


LOW_LEVEL = {
    "kl_div": lambda x, t, r: gs.kl_div(x, t, r, log_target=True),
    "binary_cross_entropy_with_logits": lambda x, t, r: gs.binary_cross_entropy_with_logits(x, t, None, t, r),
    "poisson_nll_loss": lambda x, t, r: gs.poisson_nll_loss(x, t, True, False, 1e-8, r),
    "hinge_embedding_loss": lambda x, t, r: gs.hinge_embedding_loss(x, t, 1.0, r),
    "cosine_embedding_loss": lambda x, t, r: gs.cosine_embedding_loss(x, t, gs.ones(2), 0.0, r),
    "margin_ranking_loss": lambda x, t, r: gs.margin_ranking_loss(x, t, gs.ones(2, 3), 0.0, r),
    "triplet_margin_loss": lambda x, t, r: gs.triplet_margin_loss(x, t, x, 1.0, 2.0, 1e-6, False, r),
}


@pytest.mark.parametrize("name", LOW_LEVEL)
def test_numbers_for_reductions_outside_of_nn(name):
    """PyTorch's functions of the same names take 0, 1 and 2 in these places; those of nn.functional take words only."""
    x, t = gs.tensor([[0.1, 0.5, 0.9], [0.3, 0.3, 0.2]]), gs.tensor([[0.2, 0.4, 0.8], [0.9, 0.1, 0.3]])
    each = LOW_LEVEL[name](x, t, 0)
    assert each.ndim > 0 and gs.equal(each, LOW_LEVEL[name](x, t, "none"))
    np.testing.assert_allclose(LOW_LEVEL[name](x, t, 1).item(), each.numpy().mean(), rtol=1e-6)
    np.testing.assert_allclose(LOW_LEVEL[name](x, t, 2).item(), each.numpy().sum(), rtol=1e-6)
    with pytest.raises(TypeError, match="'reduction'.* must be str, not int"):
        LOW_LEVEL[name](x, t, 3)


@pytest.mark.parametrize("loss", [F.mse_loss, F.kl_div, F.huber_loss, F.binary_cross_entropy])
@pytest.mark.parametrize("reduction", [1, None])
def test_only_words_are_reductions_in_nn(loss, reduction):
    with pytest.raises(ValueError, match=f"{reduction} is not a valid value for reduction"):
        loss(gs.full((3,), 0.5), gs.full((3,), 0.5), reduction=reduction)


@pytest.mark.parametrize(
    ("p", "t", "name"),
    [
        (math.nan, 0.5, "input"),
        (-0.1, 0.5, "input"),
        (0.5, 1.5, "target"),
        (0.5, -1.0, "target"),
        (1.0, math.nan, "target"),
    ],
)
def test_probabilities_are_between_zero_and_one(p, t, name):
    with pytest.raises(RuntimeError, match=f"all elements of {name} should be between 0 and 1"):
        F.binary_cross_entropy(gs.tensor([0.5, p]), gs.tensor([0.5, t]))


@pytest.mark.parametrize("loss", [F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.poisson_nll_loss])
def test_targets_that_are_true_or_false(loss):
    x, t = gs.tensor([0.5, 2.0, -1.5]), gs.tensor([True, False, True])
    assert gs.equal(loss(x, t), loss(x, t.float()))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("loss", [F.huber_loss, F.soft_margin_loss])
def test_losses_in_the_dtype_of_the_input(loss, reduction):
    x = gs.tensor([0.5, 2.0, -1.5], requires_grad=True)
    t = gs.tensor([1.0, -1.0, 1.0], dtype=gs.float64, requires_grad=True)
    found, expected = loss(x, t, reduction=reduction), loss(x.double(), t, reduction=reduction)
    assert found.dtype == gs.float32 and gs.allclose(found.double(), expected)
    assert loss(t, x, reduction=reduction).dtype == gs.float64
    found.sum().backward()
    assert (x.grad.dtype, t.grad.dtype) == (gs.float32, gs.float64)


def test_triplets_of_tensors_with_different_numbers_of_dimensions():
    with pytest.raises(
        RuntimeError, match="same number of dimensions, but got: anchor 2D, positive 2D, and negative 1D"
    ):
        F.triplet_margin_with_distance_loss(gs.ones(2, 3), gs.ones(2, 3), gs.ones(3))
