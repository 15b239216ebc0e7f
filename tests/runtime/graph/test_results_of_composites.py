"""Results of composite ops that end with a view: of what nobody else has, they are tensors by themselves."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn import functional as F

CALLS = {
    "conv2d": lambda x: F.conv2d(x.reshape(1, 1, 4, 6), gs.ones(2, 1, 2, 2, dtype=x.dtype)),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "put": lambda x: x.put(gs.tensor([0]), gs.tensor([1.0], dtype=x.dtype)),
    "tensordot": lambda x: gs.tensordot(x, x, ([0], [0])),
    "repeat": lambda x: x.repeat(2, 2),
    "roll": lambda x: x.roll(1),
    "stft": lambda x: gs.stft(x.reshape(-1), 4, window=gs.ones(4, dtype=x.dtype), return_complex=True),
    "solve": lambda x: gs.linalg.solve(x[:, :4] + 9 * gs.eye(4, dtype=x.dtype), x),
}


def numbers(**options):
    return gs.tensor(np.random.default_rng(0).standard_normal((4, 6)), **options)


@pytest.mark.parametrize("name", CALLS)
def test_what_was_computed_without_recording_may_be_written_while_recording(name):
    with gs.no_grad():
        result = CALLS[name](numbers(requires_grad=True))
    assert not result._is_view() and result.is_leaf
    factor = gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    before = result.clone()
    result.mul_(factor)
    result.abs().sum().backward()
    np.testing.assert_allclose(factor.grad, before.abs().sum(), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "solve"])  # whose backward needs the result
def test_gradients_through_a_result_that_was_written(name):
    def written(x):
        result = CALLS[name](x)
        assert not result._is_view() and result.grad_fn is not None and result.requires_grad
        return result.mul_(3)

    x, y = numbers(requires_grad=True), numbers(requires_grad=True)
    written(x).abs().sum().backward()
    (CALLS[name](y) * 3).abs().sum().backward()
    np.testing.assert_allclose(x.grad, y.grad, rtol=1e-12)


def test_a_hook_of_the_node_stays_when_the_result_is_written():
    x = gs.tensor([[1.0, 2.0]], requires_grad=True)
    result = x.repeat(1, 2)
    result.grad_fn.register_hook(lambda inputs, outputs: tuple(g * 10 for g in inputs))
    result.mul_(2)
    result.sum().backward()
    assert x.grad.tolist() == [[40, 40]]


def test_writing_a_result_that_a_node_has_saved_is_seen():
    x = gs.tensor([[4.0, 9.0]], requires_grad=True)
    result = x.norm(dim=1)
    result.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_views_of_arguments_and_of_each_other_stay_views():
    x = gs.zeros(2, 3)
    assert x.contiguous() is x or x.contiguous()._is_view()
    row = gs.atleast_2d(gs.zeros(3)[1:])
    assert row._is_view()
    first, second = gs.zeros(4).tensor_split(2)
    assert first._is_view() and second._is_view()
    first.fill_(1)
    assert first._base.tolist() == [1, 1, 0, 0]


def test_a_view_of_a_result_is_one_of_it():
    result = gs.zeros(2, 3).repeat(2, 1)
    part = result[0]
    assert part._base is result
    part.fill_(1)
    assert result.sum().item() == 3 and result._version == 1
