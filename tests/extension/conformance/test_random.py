"""Ops of a table that draw random numbers: the family `noise` of the conformance table."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad, gradcheck
from gradsmith.utils.checkpoint import checkpoint

pytestmark = pytest.mark.compiles


def seeded(seed=3):
    return gs.Generator().manual_seed(seed)


def test_the_numbers_are_those_of_the_generator(ops):
    x = gs.ones(4)
    noise = np.random.Generator(np.random.PCG64(3)).standard_normal(4)
    np.testing.assert_allclose(ops.noisy(x, generator=seeded()), 1 + noise, rtol=1e-6)
    assert ops.noisy(x, generator=seeded()).tolist() == x.noisy(generator=seeded()).tolist()
    generator = seeded()
    assert ops.noisy(x, generator=generator).tolist() != ops.noisy(x, generator=generator).tolist()


def test_the_default_generator_is_that_of_manual_seed(ops):
    x = gs.ones(4)
    gs.manual_seed(3)
    first, second = ops.noisy(x), ops.noisy(x)
    gs.manual_seed(3)
    assert ops.noisy(x).tolist() == first.tolist() != second.tolist()
    assert first.tolist() == ops.noisy(x, generator=seeded()).tolist()


@pytest.mark.parametrize("given", [3, np.random.default_rng(3), "cpu"])
def test_what_is_no_generator(ops, given):
    with pytest.raises(TypeError, match=r"noisy\(\): argument 'generator' \(position 3\) must be Generator, not"):
        ops.noisy(gs.ones(4), generator=given)
    with pytest.raises(TypeError, match=r"noisy_twice\(\): argument 'generator' \(position 2\) must be Generator"):
        ops.noisy_twice(gs.ones(4), None)


def test_every_form_draws_alike(ops):
    expected = ops.noisy(gs.ones(4), generator=seeded()).tolist()
    x, out = gs.ones(4), gs.zeros(4)
    assert x.noisy_(generator=seeded()).tolist() == expected
    assert ops.noisy(gs.ones(4), generator=seeded(), out=out).tolist() == out.tolist() == expected


def test_an_error_draws_nothing(ops):
    generator = seeded()
    with pytest.raises(TypeError):
        ops.noisy(gs.ones(4), "much", generator=generator)
    leaf = gs.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError):
        leaf.noisy_(generator=generator)
    assert generator.get_state().tolist() == seeded().get_state().tolist()


def test_the_gradient_reads_what_was_drawn(ops):
    x = gs.ones(100, requires_grad=True)
    kept, mask = ops.dropped(x, generator=seeded())
    assert not mask.requires_grad and 0 < int(mask.sum()) < 100
    (found,) = grad(kept.sum(), x)
    assert found.tolist() == mask.tolist()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), gs.full((100,), 2.0))
        results = ops.dropped(dual, generator=seeded())
        assert forward_ad.unpack_dual(results.kept).tangent.tolist() == (2 * mask).tolist()
        assert forward_ad.unpack_dual(results.mask).tangent is None


def test_against_differences(ops):
    x = gs.randn(5, dtype=gs.float64, requires_grad=True)
    assert gradcheck(lambda t: ops.dropped(t, 0.3, generator=seeded())[0], (x,), check_forward_ad=True)
    assert gradcheck(lambda t: ops.noisy_twice(t, seeded()), (x,), check_forward_ad=True)


def test_a_checkpoint_draws_the_same_again(ops):
    x = gs.ones(100, requires_grad=True)
    gs.manual_seed(3)
    (expected,) = grad(ops.dropped(x)[0].exp().sum(), x)
    gs.manual_seed(3)
    result = checkpoint(lambda t: ops.dropped(t)[0].exp(), x, use_reentrant=False)
    (found,) = grad(result.sum(), x)
    assert found.tolist() == expected.tolist()
