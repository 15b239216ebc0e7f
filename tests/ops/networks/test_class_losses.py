"""Softmaxes and losses of classes: what is not finite, scores in any order, arguments of older days."""

import inspect
import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.nn.losses import reduced
from gradsmith.runtime.arrays.functions.algebra import linear_scores


def random(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def losses_of(scores, target, ignored=-100):
    """One for each place, in float64."""
    scores = np.moveaxis(scores.astype(np.float64), min(scores.ndim - 1, 1), -1)
    log_sum = np.logaddexp.reduce(scores, -1)
    right = np.take_along_axis(scores, np.where(target == ignored, 0, target)[..., None], -1)[..., 0]
    return np.where(target == ignored, 0, log_sum - right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape",
    [(5, 3), (4, 2500), (3, 7, 300), (2, 5, 3, 4), (6,), (40, 1), (2, 33, 1), (300, 7), (301, 10), (90, 31), (71, 50)],
    ids=str,
)
def test_values_and_gradients(shape, dtype):
    scores = random(*shape, dtype=dtype) * 3
    places = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = np.random.default_rng(1).integers(0, shape[min(len(shape) - 1, 1)], places)
    grad = random(*places, dtype=dtype, seed=2)
    x = gs.tensor(scores, requires_grad=True)
    loss = F.cross_entropy(x, gs.tensor(target), reduction="none")
    loss.backward(gs.tensor(grad))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(loss.detach().numpy(), losses_of(scores, target), rtol=tolerance, atol=tolerance)
    dim = min(len(shape) - 1, 1)
    moved = np.moveaxis(scores.astype(np.float64), dim, -1)
    shares = np.exp(moved - np.logaddexp.reduce(moved, -1)[..., None])
    wanted = grad[..., None] * (shares - np.eye(shape[dim])[target])
    np.testing.assert_allclose(x.grad.numpy(), np.moveaxis(wanted, -1, dim), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("weighted", [True, False])
def test_reductions(weighted, ignored):
    scores, target = random(20, 4), np.random.default_rng(1).integers(0, 4, 20)
    weight = np.array([0.5, 2.0, 1.0, 0.25])
    each = np.where(target == ignored, 0, weight[target] if weighted else 1.0)
    losses = losses_of(scores, target, ignored) * each
    given = gs.tensor(weight) if weighted else None

    def loss(reduction):
        return F.cross_entropy(gs.tensor(scores), gs.tensor(target), given, None, ignored, reduction=reduction).numpy()

    np.testing.assert_allclose(loss("none"), losses)
    np.testing.assert_allclose(loss("sum"), losses.sum())
    np.testing.assert_allclose(loss("mean"), losses.sum() / each.sum())


def test_scores_that_are_not_finite():
    inf, nan = math.inf, math.nan
    scores = np.array([[1, inf, 2], [-inf, -inf, -inf], [1, nan, inf], [-inf, 0, 0], [0, -inf, 0]])
    target = np.array([0, 1, 2, 0, 0])
    wanted = [nan, nan, nan, inf, math.log(2)]
    for dtype in (gs.float32, gs.float64):
        x = gs.tensor(scores, dtype=dtype)
        for times in (1, 200):  # few scores and many are computed by other loops
            many, classes = x.repeat(times, 1), gs.tensor(target).repeat(times)
            rows = F.cross_entropy(many, classes, reduction="none")
            columns = F.cross_entropy(many.t().unsqueeze(0), classes[None], reduction="none")[0]
            for found in (rows, columns):
                np.testing.assert_allclose(found.numpy(), wanted * times, rtol=1e-6)
        sums = [inf, -inf, nan, math.log(2), math.log(2)]
        np.testing.assert_allclose(x.logsumexp(1).numpy(), sums, rtol=1e-6)
        np.testing.assert_allclose(x.t().logsumexp(0).numpy(), sums, rtol=1e-6)
        np.testing.assert_array_equal(x.softmax(1).isnan().any(1).numpy(), [True, True, True, False, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [0, 1])
def test_softmaxes_to_the_last_digits(dim, dtype):
    """Against NumPy in long double, after the subtraction, whose rounding counts for much."""
    x = (np.random.default_rng(0).uniform(-100, 0, (300, 70))).astype(dtype)
    e = np.exp((x - x.max(dim, keepdims=True)).astype(np.longdouble))
    wanted = e / e.sum(dim, keepdims=True)
    limits = np.finfo(dtype)
    found = gs.tensor(x).softmax(dim).numpy()
    np.testing.assert_allclose(found, wanted.astype(dtype), rtol=8 * limits.eps, atol=limits.smallest_normal)
    found = gs.tensor(x).log_softmax(dim).numpy()
    np.testing.assert_allclose(found, np.log(wanted).astype(dtype), rtol=8 * limits.eps, atol=4 * limits.eps)


def test_a_softmax_without_a_dimension_chooses_one_and_warns():
    for ndim, dim in ((1, 0), (2, 1), (3, 0), (4, 1)):
        x = gs.tensor(random(*[2] * ndim))
        for name in ("softmax", "softmin", "log_softmax"):
            with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name}"):
                found = getattr(F, name)(x)
            np.testing.assert_array_equal(found.numpy(), getattr(F, name)(x, dim).numpy())
    assert F.softmax(gs.ones(2, dtype=gs.float32), 0, dtype=gs.float64).dtype == gs.float64


# ---- arguments of older days


def arguments_for(name):
    x, classes = gs.tensor(random(3, 4)).sigmoid(), gs.tensor([0, 3, 1])
    return {
        "cross_entropy": (x, classes), "nll_loss": (x, classes), "multi_margin_loss": (x, classes),
        "multilabel_margin_loss": (x, gs.tensor([[1, -1, 0, 0]] * 3)),
        "cosine_embedding_loss": (x, x.flip(0), gs.tensor([1, -1, 1])),
        "margin_ranking_loss": (x, x.flip(0), gs.ones(3, 4)), "triplet_margin_loss": (x, x.flip(0), x.flip(1)),
    }.get(name, (x, x.flip(0)))  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss:UserWarning")  # of kl_div
@pytest.mark.parametrize("name", [name for name in reduced.__all__ if name != "huber_loss"])  # which is younger
def test_the_older_words_for_reductions(name):
    loss, given = getattr(F, name), arguments_for(name)
    words = {
        (None, None): "mean", (True, None): "mean", (False, None): "sum", (None, True): "mean", (None, False): "none",
        (False, False): "none", (False, True): "sum",
    }  # fmt: skip
    for (size_average, reduce), reduction in words.items():
        wanted = loss(*given, reduction=reduction)
        if size_average is None and reduce is None:
            found = loss(*given)
        else:
            with pytest.warns(UserWarning, match=f"please use reduction='{reduction}'"):
                found = loss(*given, size_average=size_average, reduce=reduce)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_they_have_the_places_that_pytorch_gives_them():
    places = {
        "cross_entropy": "input target weight size_average ignore_index reduce reduction label_smoothing",
        "nll_loss": "input target weight size_average ignore_index reduce reduction",
        "mse_loss": "input target size_average reduce reduction weight",
        "kl_div": "input target size_average reduce reduction log_target",
        "poisson_nll_loss": "input target log_input full size_average eps reduce reduction",
        "multi_margin_loss": "input target p margin weight size_average reduce reduction",
        "triplet_margin_loss": "anchor positive negative margin p eps swap size_average reduce reduction",
        "binary_cross_entropy_with_logits": "input target weight size_average reduce reduction pos_weight",
    }
    for name, words in places.items():
        assert list(inspect.signature(getattr(F, name)).parameters) == words.split()


def test_squares_with_weights():
    x, y, w = random(3, 4), random(3, 4, seed=1), np.abs(random(3, 4, seed=2))
    squares = w * (x - y) ** 2
    given = [gs.tensor(a) for a in (x, y)]
    for reduction, wanted in {"none": squares, "sum": squares.sum(), "mean": squares.sum() / w.sum()}.items():
        found = F.mse_loss(*given, reduction=reduction, weight=gs.tensor(w))
        np.testing.assert_allclose(found.numpy(), wanted)
    with pytest.raises(ValueError, match="same size"):
        F.mse_loss(*given, weight=gs.tensor(w[0]))
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        F.mse_loss(*given, reduction="all", weight=gs.tensor(w))


def test_an_empty_range_is_a_value_error():
    with pytest.raises(ValueError, match="min_val cannot be greater"):
        F.hardtanh(gs.ones(2), 1.0, -1.0)
    x = gs.tensor([-3.0, 0.5])
    assert F.hardtanh(x, -2.0, 2.0, True) is x
    assert x.tolist() == [-2.0, 0.5]


# ---- with a linear layer before them


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [(), (2,), (2, 3)])
def test_a_linear_layer_and_its_loss(sizes, bias):
    """The layer for each place, then the loss."""
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(6, 4)), rng.normal(size=(5, *sizes, 4))
    term = rng.normal(size=(5, *sizes)) if bias else None
    classes = rng.integers(5, size=(6, *sizes))
    logits = np.moveaxis(np.tensordot(weight, x, ([-1], [1])), -1, 0) + (0 if term is None else term)
    scores = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    losses = -np.take_along_axis(scores, classes[:, None], 1)[:, 0]
    given = [gs.tensor(x), gs.tensor(weight), gs.tensor(classes)]
    named = {"linear_bias": None if term is None else gs.tensor(term)}
    for reduction, wanted in (("none", losses), ("sum", losses.sum()), ("mean", losses.mean())):
        found = F.linear_cross_entropy(*given, **named, reduction=reduction, options=object())
        np.testing.assert_allclose(found.numpy(), wanted)
    weights = [gs.tensor(each, requires_grad=True) for each in (x, weight)]
    assert gs.autograd.gradcheck(lambda x, w: F.linear_cross_entropy(x, w, given[2], **named), weights)


def test_a_linear_layer_and_a_loss_of_probabilities():
    x, weight, target = gs.randn(3, 4), gs.randn(5, 4), gs.rand(3, 5)
    wanted = F.cross_entropy(F.linear(x, weight), target, label_smoothing=0.25)
    found = F.linear_cross_entropy(x, weight, target, label_smoothing=0.25)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    one = F.linear_cross_entropy(x[0], weight, gs.tensor(2), ignore_index=2, reduction="none")
    assert one.item() == 0
    for arguments, named, text in (
        ((x, weight, target), {"ignore_index": 1}, "ignore_index cannot be specified"),
        ((x[None], weight, target), {}, "input with 1 or 2 dimensions, got 3"),
        ((x, weight[0], target), {}, "at least 2 dimensions, got 1"),
        ((x, weight[:, :3], target), {}, "to be equal, got 4 and 3"),
        ((x, weight, target), {"linear_bias": gs.ones(4)}, r"linear_bias of shape \[5\], got \[4\]"),
        ((x[0], weight[:, None], gs.tensor([1])), {}, "needs an input of shape"),
    ):
        with pytest.raises(RuntimeError, match=text):
            F.linear_cross_entropy(*arguments, **named)


def test_the_scores_of_a_linear_layer_are_not_kept(monkeypatch):
    """Some rows at a time, with the same values and gradients as the layer and its loss."""
    monkeypatch.setattr(linear_scores, "SCORES", 14)
    x, weight, term = (gs.tensor(random(*size, seed=seed), requires_grad=True) for seed, size in enumerate(SIZES))
    target = gs.tensor([0, 6, 1, 2, 2])
    wanted = F.cross_entropy(F.linear(x, weight, term), target, ignore_index=1)
    sizes: list[int] = []
    with gs.autograd.graph.saved_tensors_hooks(lambda saved: sizes.append(saved.numel()) or saved, lambda saved: saved):
        found = F.linear_cross_entropy(x, weight, target, linear_bias=term, ignore_index=1)
    assert max(sizes) <= weight.numel() < x.shape[0] * weight.shape[0]
    np.testing.assert_allclose(found.item(), wanted.item())
    for loss in (found, wanted):
        loss.backward()
    assert gs.func.hessian(lambda x: F.linear_cross_entropy(x, weight.detach(), target))(x.detach()).shape == (
        5,
        3,
        5,
        3,
    )
    assert gs.autograd.gradgradcheck(
        lambda *inputs: F.linear_cross_entropy(inputs[0], inputs[1], target, linear_bias=inputs[2]), (x, weight, term)
    )


SIZES = ((5, 3), (7, 3), (7,))
