"""Methods of tensors in NumPy's words, where PyTorch has no such call."""

import numpy as np
import pytest

import gradsmith as gs

A = np.random.default_rng(8).normal(size=(2, 3, 4))

CALLS = {
    "transpose": [lambda x: x.transpose(), lambda x: x.transpose(2, 0, 1), lambda x: x.transpose((1, 2, 0)),
                  lambda x: x.transpose([0, 2, 1])],
    "repeat": [lambda x: x.repeat(2, axis=0), lambda x: x.repeat([1, 0, 2], axis=1)],
    "reshape": [lambda x: x.reshape((6, 4), order="F"), lambda x: x.reshape(-1, 4, order="F")],
    "flatten": [lambda x: x.flatten("F"), lambda x: x.flatten(order="F")],
    "var": [lambda x: x.var(ddof=1), lambda x: x.var(axis=0, ddof=1), lambda x: x.var(ddof=0, keepdims=True)],
    "std": [lambda x: x.std(axis=(0, 1), ddof=0), lambda x: x.std(ddof=1, axis=-1, keepdims=True)],
    "extremes": [lambda x: x.max(axis=(0, 1)), lambda x: x.max(initial=0.5),
                 lambda x: x.min(axis=0, where=A > 0, initial=3.0)],
    "sums": [lambda x: x.sum(where=A > 0), lambda x: x.sum(axis=1, initial=2.0), lambda x: x.prod(axis=(0, 2))],
    "take": [lambda x: x.take([0, 1], axis=1), lambda x: x.take(np.array([5, 7]), mode="wrap")],
    "diagonal": [lambda x: x.diagonal(axis1=1, axis2=2), lambda x: x.diagonal(1, axis1=2, axis2=0)],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    for call in CALLS[name]:
        expected = call(A)
        weights = np.random.default_rng(1).normal(size=expected.shape)
        x = gs.tensor(A, requires_grad=True)
        found = call(x)
        np.testing.assert_allclose(found.detach(), expected)
        (gradient,) = gs.autograd.grad((found * gs.tensor(weights)).sum(), x)
        step = np.random.default_rng(2).normal(size=A.shape)
        slope = (np.sum(call(A + 1e-6 * step) * weights) - np.sum(call(A - 1e-6 * step) * weights)) / 2e-6
        np.testing.assert_allclose((gradient.numpy() * step).sum(), slope, rtol=1e-6)


def test_in_a_batch():
    found = gs.vmap(lambda x: x.transpose(1, 0, 2))(gs.tensor(A).unsqueeze(0))
    np.testing.assert_array_equal(found[0], A.transpose(1, 0, 2))
    found = gs.vmap(lambda x: x.var(axis=0, ddof=1))(gs.tensor(A))
    np.testing.assert_allclose(found, A.var(axis=1, ddof=1))


def test_calls_of_pytorch_keep_their_meaning():
    x = gs.tensor(A)
    assert x.transpose(0, 2).shape == (4, 3, 2)
    np.testing.assert_allclose(x.std(axis=0), A.std(axis=0, ddof=1))
    values, _ = x.max(axis=1)
    np.testing.assert_array_equal(values, A.max(axis=1))
    assert x.repeat(2, 1, 1).shape == (4, 3, 4)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: x.transpose(1), TypeError),
        (lambda x: x.transpose("a", 1, 2), TypeError),
        (lambda x: x.transpose(0, 1, 5), ValueError),
        (lambda x: x.sum(bogus=1), TypeError),
        (lambda x: x.var(bogus=1), TypeError),
        (lambda x: x.max(axis=(0, 7)), IndexError),
        (lambda x: x.flatten(1.5), TypeError),
        (lambda x: x.repeat("a"), TypeError),
    ],
)
def test_mistakes(call, kind):
    with pytest.raises(kind):
        call(gs.tensor(A))
