"""Ops of which several lists of tensors have gradients: each list has a run of edges of its own."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad as fwAD
from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck import gradcheck, gradgradcheck

pytestmark = pytest.mark.compiles

HERE = Path(__file__).resolve().parent
random = np.random.default_rng(3)


@pytest.fixture(scope="module")
def ops(cache):
    return gs.load_ops(HERE / "language.yaml", functions=HERE / "language_functions.py")


def leaf(*shape, requires_grad=True):
    return gs.tensor(random.normal(size=shape), requires_grad=requires_grad)


def leaves(*shapes, requires_grad=True):
    return [leaf(*shape, requires_grad=requires_grad) for shape in shapes]


# ---- gradients


def test_each_list_has_its_own_gradients(ops):
    weight, first, second = leaf(3), leaves((3,), (3,)), leaves((3,))
    third = [None, *leaves((3,), (3,))]
    result = ops.combined(weight, first, second, third)
    result.sum().backward()
    for factor, tensors in ((1, first), (2, second), (3, third[1:])):
        for tensor in tensors:
            np.testing.assert_allclose(tensor.grad, factor * weight.detach())
    np.testing.assert_allclose(weight.grad, (result / weight).detach())


@pytest.mark.parametrize("wanted", list(product([False, True], repeat=4)))
def test_any_of_the_inputs_may_be_constant(ops, wanted):
    lengths = (1, 2, 3)
    weight = leaf(3, requires_grad=wanted[0])
    lists = [leaves(*[(3,)] * n, requires_grad=flag) for n, flag in zip(lengths, wanted[1:])]
    result = ops.combined(weight, *lists)
    assert result.requires_grad == any(wanted)
    if not any(wanted):
        return
    result.sum().backward()
    for factor, tensors in zip((1, 2, 3), lists):
        for tensor in tensors:
            assert (tensor.grad is not None) == tensor.requires_grad
            if tensor.requires_grad:
                np.testing.assert_allclose(tensor.grad, factor * weight.detach())


@pytest.mark.parametrize("lengths", [(0, 0, 2), (0, 2, 0), (2, 0, 0), (1, None, 1), (40, 1, 1), (1, 40, 40)])
def test_lists_of_any_length(ops, lengths):
    """Also none at all, and more than the bits of a node's mask."""
    weight = leaf(2)
    lists = [None if n is None else leaves(*[(2,)] * n) for n in lengths]
    ops.combined(weight, *lists).sum().backward()
    for factor, tensors in zip((1, 2, 3), lists):
        assert all(np.allclose(tensor.grad, factor * weight.detach()) for tensor in tensors or ())


def test_one_tensor_in_two_lists(ops):
    x = leaf(3)
    first, second = ops.pairwise([x, x], [x, x.detach()])
    (first + second).sum().backward()
    np.testing.assert_allclose(x.grad, 3 * x.detach())


def test_edges_follow_the_lists(ops):
    weight, first, second = leaf(3), leaves((3,)), leaves((3,), (3,))
    node = ops.combined(weight, first, second).grad_fn
    assert [edge.variable for edge, _ in node.next_functions] == [weight, *first, *second]
    assert (node._saved_first_count, node._saved_second_count) == (1, 2)


def test_results_that_are_not_used(ops):
    self, other = leaves((3,), (2,)), leaves((3,), (2,))
    found = grad(ops.pairwise(self, other)[1].sum(), [*self, *other], allow_unused=True)
    np.testing.assert_allclose(found[1], other[1].detach())
    np.testing.assert_allclose(found[3], self[1].detach())
    assert not found[0].any() and not found[2].any()


def test_only_what_is_wanted_is_computed(ops):
    known, unknown = leaves((3,), (3,), (3,)), leaves((3,))
    result = ops.half_known(known, unknown).sum()
    assert all((g == 1).all() for g in grad(result, known, retain_graph=True))
    with pytest.raises(NotImplementedError, match="the derivative for 'half_known: unknown' is not implemented"):
        grad(result, unknown)


def test_gradients_do_not_run_into_the_next_list(ops):
    result = ops.half_known(leaves((3,), (3,)), leaves((3,), requires_grad=False))
    with pytest.raises(RuntimeError, match="HalfKnownBackward0: the formula gives 3 gradients for 2 tensors"):
        result.sum().backward()


@pytest.mark.parametrize("name", ["pairwise", "products", "times", "sums"])
def test_against_differences(ops, name):
    tensors = leaves((3,), (2,), (3,), (2,))

    def function(a, b, c, d):
        return tuple(getattr(ops, name)([a, b], [c, d]))

    assert gradcheck(function, tensors, check_forward_ad=True)
    assert gradgradcheck(function, tensors, check_fwd_over_rev=True, check_rev_over_rev=True)


def test_a_list_and_a_tensor_against_differences(ops):
    tensors = leaves((3,), (3,), (3,))
    assert gradcheck(lambda a, b, w: ops.weighted_sum([a, b], w), tensors, check_forward_ad=True)
    assert gradgradcheck(lambda a, b, w: ops.weighted_sum([a, b], w), tensors)


# ---- forward mode


def test_rules_of_forward_mode(ops):
    rules = {row.base: row.tangent for row in ops.op_table.OPS}
    assert rules["sums"] == "auto_linear"
    assert rules["weighted_sum"] == rules["times"] == "auto_linear_in_each"
    assert rules["products"] == rules["combined"] == "transposed"
    assert rules["pairwise"] == "products(self_t, other) + products(self, other_t)"


@pytest.mark.parametrize("name", ["pairwise", "products", "times", "sums"])
@pytest.mark.parametrize("dual", [(0,), (3,), (1, 2), (0, 1, 2, 3)])
def test_tangents_of_some_of_the_tensors(ops, name, dual):
    values = [leaf(3, requires_grad=False) for _ in range(4)]
    directions = [leaf(3, requires_grad=False) if i in dual else None for i in range(4)]
    with fwAD.dual_level():
        given = [v if d is None else fwAD.make_dual(v, d) for v, d in zip(values, directions)]
        results = getattr(ops, name)(given[:2], given[2:])
        tangents = [fwAD.unpack_dual(result).tangent for result in results]
    zeros = [np.zeros(3) if d is None else d.numpy() for d in directions]
    (a, b, c, d), (da, db, dc, dd) = [v.numpy() for v in values], zeros
    wanted = [da + dc, db + dd] if name == "sums" else [da * c + a * dc, db * d + b * dd]
    for tangent, number in zip(tangents, wanted):
        np.testing.assert_allclose(np.zeros(3) if tangent is None else tangent, number, rtol=1e-12)


def test_what_adds_a_constant_is_not_applied_to_tangents(ops):
    with fwAD.dual_level():
        dual = fwAD.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([3.0, 4.0]))
        assert fwAD.unpack_dual(ops.shifted(dual)).tangent.tolist() == [6.0, 8.0]


def test_a_transposed_rule_of_three_lists(ops):
    weight, first, second = leaf(3), leaves((3,), (3,)), leaves((3,))
    direction = leaf(3, requires_grad=False)
    with fwAD.dual_level():
        dual = fwAD.make_dual(second[0].detach(), direction)
        tangent = fwAD.unpack_dual(ops.combined(weight.detach(), [t.detach() for t in first], [dual])).tangent
    np.testing.assert_allclose(tangent, 2 * (weight.detach() * direction))
