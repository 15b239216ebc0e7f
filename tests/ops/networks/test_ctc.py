"""The loss over all alignments, beside each alignment by itself; its derivatives beside differences."""

import itertools
import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck, gradgradcheck

STEPS, CLASSES = 5, 4
STEP_COUNTS, LABEL_COUNTS = [5, 4, 3], [2, 3, 0]


def log_probs(dtype=np.float64, steps=STEPS, batch=3, classes=CLASSES):
    x = np.random.default_rng(steps).standard_normal((steps, batch, classes)).astype(dtype)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def loss_by_hand(log_probs, labels, blank):
    """Of one sequence, (steps, classes)."""
    steps, classes = log_probs.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        merged = [label for label, _ in itertools.groupby(path) if label != blank]
        if merged == list(labels):
            total += np.exp(log_probs[np.arange(steps), list(path)].sum())
    with np.errstate(divide="ignore"):
        return -np.log(total)


def labels_for(blank):
    """With equal neighbours in the second, between which there has to be a blank."""
    one, other = [label for label in range(CLASSES) if label != blank][:2]
    return np.array([[one, other, one], [other, other, one], [one, one, one]])


@pytest.mark.parametrize("blank", [0, 2, CLASSES - 1])
@pytest.mark.parametrize("is_padded", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_are_sums_over_alignments(blank, is_padded, dtype):
    x, labels = log_probs(dtype), labels_for(blank)
    expected = np.array([
        loss_by_hand(x[:steps, i].astype(np.float64), labels[i, :count], blank)
        for i, (steps, count) in enumerate(zip(STEP_COUNTS, LABEL_COUNTS, strict=True))
    ])  # fmt: skip
    targets = labels if is_padded else np.concatenate([labels[i, :n] for i, n in enumerate(LABEL_COUNTS)])
    for lengths in ((STEP_COUNTS, LABEL_COUNTS), (gs.tensor(STEP_COUNTS), gs.tensor(LABEL_COUNTS, dtype=gs.int32))):
        arguments = (gs.tensor(x), gs.tensor(targets), *lengths, blank)
        tolerance = 1e-12 if dtype == np.float64 else 1e-5
        found = F.ctc_loss(*arguments, reduction="none")
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance)
        np.testing.assert_allclose(F.ctc_loss(*arguments, reduction="sum"), expected.sum(), rtol=tolerance)
        mean = (expected / np.maximum(LABEL_COUNTS, 1)).mean()
        np.testing.assert_allclose(F.ctc_loss(*arguments), mean, rtol=tolerance)
        np.testing.assert_allclose(gs.ctc_loss(*arguments, 1), mean, rtol=tolerance)


def losses(x, reduction="none", **options):
    targets = gs.tensor(labels_for(0))
    return F.ctc_loss(x, targets, STEP_COUNTS, LABEL_COUNTS, reduction=reduction, **options)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_derivatives_of_first_and_second_order(reduction):
    """Of any numbers, whether or not they are log-probabilities."""
    x = gs.tensor(np.random.default_rng(1).standard_normal((STEPS, 3, CLASSES)), requires_grad=True)
    assert gradcheck(lambda x: losses(x, reduction), [x], check_forward_ad=True)
    assert gradgradcheck(lambda x: losses(x, reduction), [x])


def test_gradients_are_shares_of_alignments():
    """At each step of a sequence they sum up to minus one, and they are zero after its last."""
    x = gs.tensor(log_probs(), requires_grad=True)
    (gradient,) = gs.autograd.grad(losses(x).sum(), x)
    expected = -(np.arange(STEPS)[:, None] < STEP_COUNTS).astype(float)
    np.testing.assert_allclose(gradient.sum(-1), expected, atol=1e-12)


def test_through_log_softmax_a_probability_is_added():
    x = gs.tensor(log_probs() + 3, requires_grad=True)
    (gradient,) = gs.autograd.grad(losses(F.log_softmax(x, -1)).sum(), x)
    (shares,) = gs.autograd.grad(losses(x).sum(), x)
    there = (np.arange(STEPS)[:, None] < STEP_COUNTS)[..., None]
    np.testing.assert_allclose(gradient, shares.numpy() + there * F.softmax(x.detach(), -1).numpy(), atol=1e-12)


def test_labels_without_an_alignment():
    x = gs.tensor(log_probs(), requires_grad=True)
    arguments = (x, gs.tensor(labels_for(0)), [5, 3, 3], [2, 3, 0])  # 1 1 2 wants four steps, since it repeats itself
    found = F.ctc_loss(*arguments, reduction="none")
    assert np.isinf(found.detach().numpy()).tolist() == [False, True, False]
    (gradient,) = gs.autograd.grad(found.sum(), x)
    assert np.isnan(gradient.numpy()).any((0, 2)).tolist() == [False, True, False]
    found = F.ctc_loss(*arguments, reduction="none", zero_infinity=True)
    assert found[1].item() == 0.0
    (gradient,) = gs.autograd.grad(found.sum(), x)
    assert np.isfinite(gradient.numpy()).all()
    np.testing.assert_array_equal(gradient.numpy()[:, 1], 0)


def test_sequences_without_steps():
    x, labels = gs.tensor(log_probs(), requires_grad=True), gs.tensor(labels_for(0))
    found = F.ctc_loss(x, labels, [0, 0, 5], [0, 1, 1], reduction="none")
    assert found[:2].tolist() == [0.0, np.inf]
    np.testing.assert_array_equal(gs.autograd.grad(found[2], x)[0][:, :2], 0)


def test_one_sequence_without_a_batch():
    x, labels = log_probs()[:, 0], [1, 2]
    expected = loss_by_hand(x, labels, 0)
    for lengths in (([STEPS], [2]), (STEPS, 2), (gs.tensor(STEPS), gs.tensor(2))):
        found = F.ctc_loss(gs.tensor(x), gs.tensor(labels), *lengths, reduction="none")
        assert found.shape == ()
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(F.ctc_loss(gs.tensor(x), gs.tensor(labels), *lengths), expected / 2)


def test_long_sequences_neither_overflow_nor_vanish():
    """A uniform distribution: the loss is that of counting alignments, which are binomially many."""
    steps, labels, classes = 2000, 300, 3
    x = gs.full((steps, 1, classes), -np.log(classes), dtype=gs.float64, requires_grad=True)
    targets = gs.tensor([1, 2] * (labels // 2))
    loss = F.ctc_loss(x, targets, [steps], [labels], reduction="sum")
    n, k = steps + labels, 2 * labels  # places for the beginnings and ends of labels that differ from their neighbours
    count = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    np.testing.assert_allclose(loss.item(), steps * np.log(classes) - count, rtol=1e-10)
    np.testing.assert_allclose(gs.autograd.grad(loss, x)[0].sum().item(), -steps, rtol=1e-10)


def sums_over_paths(x, labels, blank=0):
    """The loss of a sequence by logarithms of sums, and its slopes: shares of the paths through each class."""
    states = [blank, *(state for label in labels for state in (label, blank))]
    emitted = x[:, states]
    skips = [0 if s % 2 and s > 1 and states[s] != states[s - 2] else -np.inf for s in range(len(states))]

    def steps(emitted, skips):
        rows = np.full((len(emitted), len(states) + 2), -np.inf)
        rows[0, 2:4] = emitted[0, :2]
        for t in range(1, len(emitted)):
            stayed, moved = rows[t - 1, 2:], rows[t - 1, 1:-1]
            rows[t, 2:] = np.logaddexp(np.logaddexp(stayed, moved), rows[t - 1, :-2] + skips) + emitted[t]
        return rows[:, 2:]

    with np.errstate(invalid="ignore"):
        before = steps(emitted, skips)
        after = steps(emitted[::-1, ::-1], [-np.inf] * 2 + skips[:1:-1])[::-1, ::-1]
        total = np.logaddexp(*before[-1, -2:]) if labels else before[-1, 0]
        shares = np.exp(before + after - emitted - total)
    slopes = np.zeros_like(x)
    for s, state in enumerate(states):
        slopes[:, state] -= shares[:, s]
    return -total, slopes


@pytest.mark.parametrize(
    "steps, count, scale", [(300, 40, 0.1), (300, 40, 3), (300, 40, 30), (600, 120, 8), (1500, 5, 1)]
)
def test_probabilities_in_any_range(steps, count, scale):
    """Near to each other they are multiplied, and far from each other their logarithms are added."""
    random = np.random.default_rng(steps)
    x = random.standard_normal((steps, 2, 6)) * scale
    x[:, 1] -= 900 * (random.random((steps, 6)) < 0.1)
    labels = random.integers(1, 6, (2, count))
    input = gs.tensor(x, requires_grad=True)
    found = F.ctc_loss(input, gs.tensor(labels), [steps] * 2, [count] * 2, reduction="none")
    slopes = gs.autograd.grad(found.sum(), input)[0].numpy()
    for i in range(2):
        loss, expected = sums_over_paths(x[:, i], list(labels[i]))
        np.testing.assert_allclose(found[i].item(), loss, rtol=1e-11)
        np.testing.assert_allclose(slopes[:, i], expected, rtol=1e-7, atol=1e-9)


def test_vmap_and_meta():
    x = gs.tensor(np.stack([log_probs(), log_probs() * 2]))
    np.testing.assert_allclose(gs.vmap(losses)(x), gs.stack([losses(x[0]), losses(x[1])]))
    gradient = gs.vmap(gs.grad(lambda x: losses(x, "sum")))(x)
    np.testing.assert_allclose(gradient[1], gs.grad(lambda x: losses(x, "sum"))(x[1]))
    nothing, targets = (a.to("meta") for a in (x[0], gs.tensor(labels_for(0))))
    for reduction, shape in (("none", (3,)), ("mean", ())):
        assert F.ctc_loss(nothing, targets, STEP_COUNTS, LABEL_COUNTS, reduction=reduction).shape == shape


def test_the_third_derivative_is_refused():
    x = gs.tensor(log_probs(), requires_grad=True)
    (first,) = gs.autograd.grad(losses(x).sum(), x, create_graph=True)
    (second,) = gs.autograd.grad((first**2).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="third derivative"):
        gs.autograd.grad(second.sum(), x)


X, LABELS = gs.tensor(log_probs()), gs.tensor(labels_for(0))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.ctc_loss(X, LABELS, [6, 5, 5], [2, 2, 2]), RuntimeError, "value at most 5, but got value 6"),
        (lambda: F.ctc_loss(X, LABELS, [5, -1, 5], [2, 2, 2]), RuntimeError, "at least 0, but got value -1"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 2, -2]), RuntimeError, "at least 0, but got value -2"),
        (lambda: F.ctc_loss(X, LABELS, [5], [2, 2, 2]), RuntimeError, "input_lengths must be of size batch_size"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 2]), RuntimeError, "targets of 2 sequences"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 4, 2]), RuntimeError, "at least 4 labels"),
        (lambda: F.ctc_loss(X, LABELS.reshape(-1), [5, 5, 5], [2, 2, 2]), RuntimeError, "size 6, the sum"),
        (lambda: F.ctc_loss(X, LABELS + 2, [5, 5, 5], [2, 2, 2]), RuntimeError, "classes from 0 to 3"),
        (lambda: F.ctc_loss(X, LABELS - 2, [5, 5, 5], [2, 2, 2]), RuntimeError, "classes from 0 to 3"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 2, 2], 4), RuntimeError, "blank must be in label range"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 2, 2], -1), RuntimeError, "blank must be in label range"),
        (lambda: F.ctc_loss(X, LABELS, gs.ones(3), [2, 2, 2]), RuntimeError, "must be integral"),
        (lambda: F.ctc_loss(X, None, [5, 5, 5], [2, 2, 2]), TypeError, "'targets' must be Tensor"),
        (lambda: F.ctc_loss(X, LABELS, None, [2, 2, 2]), TypeError, "'input_lengths' must be Tensor or"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5.0], [2, 2, 2]), TypeError, "'input_lengths' must be Tensor or"),
        (lambda: F.ctc_loss(X.half(), LABELS, [5, 5, 5], [2, 2, 2]), NotImplementedError, "float16"),
        (lambda: F.ctc_loss(X[0, 0], LABELS, [5, 5, 5], [2, 2, 2]), RuntimeError, "steps, batch, classes"),
        (lambda: F.ctc_loss(X, LABELS, [5, 5, 5], [2, 2, 2], reduction="x"), ValueError, "not a valid value"),
        (lambda: gs.ctc_loss(X, LABELS, [5, 5, 5], [2, 2, 2], 0, 3), ValueError, "not a valid value"),
    ],
)
def test_errors_say_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()
