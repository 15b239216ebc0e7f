"""Lists of every kind, and what a formula may ask of one run: compiled, called and differentiated."""

from pathlib import Path

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad
from gradsmith.autograd.graph import get_gradient_edge
from gradsmith.verify import prove

pytestmark = pytest.mark.compiles

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def ops(cache):
    return gs.load_ops(HERE / "language.yaml", functions=HERE / "language_functions.py")


@pytest.fixture
def x():
    return gs.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def y():
    return gs.tensor([4.0, 5.0, 6.0], requires_grad=True)


def gradient(result, *inputs, **options):
    return [g if g is None else g.tolist() for g in grad(result.sum(), list(inputs), **options)]


# ---- lists


@pytest.mark.parametrize(
    ("arguments", "options", "factor"),
    [
        ((3,), {}, 9),
        (((2, 3),), {}, 6),
        (([2, np.int64(5)],), {"mask": [True, False, np.True_]}, 20),
        ((1, True), {"weights": (0.5, 2)}, 1),
        ((1,), {"factors": (7, 4.0), "names": ["three"]}, 12),
        ((np.array([2, 2]),), {"weights": [gs.tensor(0.25)], "factors": 8}, 8),
    ],
)
def test_lists_are_converted_and_saved(ops, x, arguments, options, factor):
    result = ops.weighted(x, *arguments, **options)
    assert result.tolist() == [factor, 2 * factor, 3 * factor]
    assert gradient(result, x, retain_graph=True) == [[factor] * 3]
    assert all(type(size) is int for size in result.grad_fn._saved_size)
    assert len(result.grad_fn._saved_factors) == 2


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (((1, 2, 3),), {}, RuntimeError,
         "weighted(): argument 'size' (position 2) must be 2 ints, or one for all, but got 3: [1, 2, 3]"),
        (((1, 2), (True, False)), {}, RuntimeError, "must be 3 bools, or one for all, but got 2: [True, False]"),
        ((0.5,), {}, TypeError, "weighted(): argument 'size' (position 2) must be 2 ints, not float"),
        (((1, 0.5),), {}, TypeError, "must be 2 ints, but found element of type float at pos 1"),
        ((1, 1), {}, TypeError, "weighted(): argument 'mask' (position 3) must be 3 bools, not int"),
        ((1,), {"weights": 2.0}, TypeError, "argument 'weights' (position 4) must be tuple of floats, not float"),
        ((1,), {"weights": (1j,)}, TypeError, "must be tuple of floats, but found element of type complex at pos 0"),
        ((1,), {"factors": ("a", 1)}, TypeError, "must be 2 numbers, but found element of type str at pos 0"),
        ((1,), {"names": "three"}, TypeError, "argument 'names' (position 6) must be tuple of strs, not str"),
        ((None,), {}, TypeError, "argument 'size' (position 2) must be 2 ints, not NoneType"),
    ],
)  # fmt: skip
def test_what_is_no_such_list(ops, x, arguments, options, error, message):
    with pytest.raises(error) as raised:
        ops.weighted(x, *arguments, **options)
    assert message in str(raised.value)


def test_tensors_that_may_be_missing(ops, x, y):
    result = ops.joined([x, None, y])
    assert result.tolist() == [5, 7, 9]
    assert gradient(result, x, y) == [[1, 1, 1], [1, 1, 1]]
    assert ops.joined([x.detach()], [y.detach(), x.detach()]).tolist() == [6, 9, 12]
    with pytest.raises(TypeError, match="expected Tensor or None as element 1 of argument 'parts', but got str"):
        ops.joined([x, "1"])
    with pytest.raises(TypeError, match="expected Tensor as element 0 of argument 'more', but got NoneType"):
        ops.joined([x], [None])


def test_a_list_that_may_be_missing(ops, x, y):
    assert gradient(ops.plain(x), x) == [[1, 1, 1]]
    assert gradient(ops.plain(x, [y]), x, y) == [[1, 1, 1], [1, 1, 1]]


def test_more_gradients_than_tensors_are_an_error(ops, x):
    result = ops.overlong([x, x])
    with pytest.raises(RuntimeError, match="OverlongBackward0: the formula gives 3 gradients for 2 tensors"):
        result.sum().backward()


# ---- inputs


def test_what_is_saved_follows_the_mask(ops, x, y):
    node = ops.blend(x, y.detach(), gs.zeros(3)).grad_fn
    assert node._saved_self is None and node._saved_weight is not None
    result = ops.blend(x, y, gs.zeros(3))
    assert gradient(result, x, y, retain_graph=True) == [[4, 5, 6], [1, 2, 3]]
    assert gradient(result, y) == [[1, 2, 3]]


def test_an_input_that_the_entry_is_silent_about_may_not_require_grad(ops, x, y):
    message = "The function 'blend' is not differentiable with respect to argument 'anchor'. This input cannot have "
    with pytest.raises(RuntimeError, match=f"{message}requires_grad True."):
        ops.blend(x, y, gs.zeros(3, requires_grad=True))
    with pytest.raises(RuntimeError, match="cannot have requires_grad True."):
        ops.joined([x], [y])
    with gs.no_grad():
        assert ops.blend(x, y, gs.zeros(3, requires_grad=True)).tolist() == [4, 10, 18]


def test_an_input_that_the_entry_is_silent_about_may_not_have_a_tangent(ops, x, y):
    with forward_ad.dual_level():
        anchor = forward_ad.make_dual(gs.zeros(3), gs.ones(3))
        with pytest.raises(NotImplementedError, match="'blend' is not .* 'anchor'.* cannot have a tangent"):
            ops.blend(x, y, anchor)


def test_a_gradient_that_nobody_has_worked_out(ops, x, y):
    assert gradient(ops.guarded(x, y), x) == [[4, 5, 6]]
    result = ops.guarded(x, y)
    with pytest.raises(NotImplementedError) as raised:
        result.sum().backward()
    assert str(raised.value) == "the derivative for 'guarded: other' is not implemented."


def tangent(function, *tensors):
    """Of the result, where all of the tensors have the tangent one."""
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(*(forward_ad.make_dual(t, gs.ones(3)) for t in tensors))).tangent


def test_an_op_of_which_no_gradient_is_known(ops, x, y):
    for result in (ops.unknown(x), ops.unknown_loop(x, y)):
        with pytest.raises(NotImplementedError, match="the derivative for 'unknown"):
            result.sum().backward()
    a, b = x.detach(), y.detach()
    for call in (ops.unknown, lambda t: ops.unknown_loop(t, b)):
        with pytest.raises(NotImplementedError, match="the derivative for 'unknown"):
            tangent(call, a)
    assert ops.unknown_loop(a, b).tolist() == [4, 10, 18]


def test_a_gradient_that_is_not_always_there(ops, x, y):
    assert gradient(ops.sometimes(x, True), x) == [[1, 1, 1]]
    assert grad(ops.sometimes(x, False).sum(), [x], allow_unused=True) == (None,)
    assert tangent(lambda t: ops.sometimes(t, True), x.detach()).tolist() == [1, 1, 1]
    assert tangent(lambda t: ops.sometimes(t, False), x.detach()) is None
    assert grad(ops.absent(x, y).sum(), [x], allow_unused=True) == (None,)
    assert tangent(ops.absent, x.detach(), y.detach()).tolist() == [1, 1, 1]


def test_a_joint_rule_of_which_one_input_has_a_tangent(ops, x, y):
    a, b = x.detach(), y.detach()
    assert tangent(lambda t: ops.blend(t, b, gs.zeros(3)), a).tolist() == [4, 5, 6]
    assert tangent(lambda t: ops.blend(a, t, gs.zeros(3)), b).tolist() == [1, 2, 3]


# ---- outputs


def test_a_formula_knows_which_gradients_have_arrived(ops, x):
    low, high = ops.bounds(x)
    assert gradient(low, x) == [[20] * 3]
    low, high = ops.bounds(x)
    assert gradient(low + high, x) == [[5] * 3]
    low, high = ops.bounds(x)
    assert gradient(high, x) == [[3] * 3]


def test_a_formula_without_its_gradients_is_left_out(ops, x):
    other = gs.tensor([0.0, 0.0, 0.0], requires_grad=True)  # where its own formula gives NaN
    left, _ = ops.apart(x, other)
    assert gradient(left, x, other, allow_unused=True) == [[2] * 3, None]


def test_one_of_two_results_has_no_history(ops, x):
    kept, dropped = ops.partner(x)
    assert kept.requires_grad and not dropped.requires_grad and dropped.grad_fn is None
    assert gradient(kept, x) == [[2, 2, 2]]
    with forward_ad.dual_level():
        results = ops.partner(forward_ad.make_dual(x.detach(), gs.ones(3)))
        tangents = [forward_ad.unpack_dual(result).tangent for result in results]
    assert tangents[0].tolist() == [2, 2, 2] and tangents[1] is None


def test_whether_a_result_has_a_history_may_depend_on_the_call(ops, x):
    assert ops.tied(x, False).requires_grad
    assert not ops.tied(x, True).requires_grad


# ---- the run


def test_a_formula_knows_whether_the_graph_is_kept(ops, x):
    result = ops.kept(x)
    assert gradient(result, x, retain_graph=True) == [[2] * 3]
    assert gradient(result, x) == [[3] * 3]
    assert result.grad_fn(gs.ones(3)).tolist() == [2] * 3  # who calls a node frees nothing


def test_a_formula_knows_whether_its_own_graph_is_wanted(ops, x):
    assert gradient(ops.graphed(x), x) == [[7] * 3]
    assert gradient(ops.graphed(x), x, create_graph=True) == [[5] * 3]


def test_strides_are_kept_as_numbers(ops):
    base = gs.tensor(np.arange(8.0), requires_grad=True)
    result = ops.laid_out(base[1:7:2])
    assert gradient(result, base, retain_graph=True) == [[0, 12, 0, 12, 0, 12, 0, 0]]
    assert result.grad_fn._saved_self_stride == (2,)
    assert not hasattr(result.grad_fn, "_saved_self")


# ---- memory


@pytest.mark.parametrize("name", ["itself", "twice", "parts", "constant"])
def test_results_have_memory_of_their_own(ops, x, name):
    values = x.detach().clone()
    results = getattr(ops, name)(values)
    before = getattr(ops, name)(values)
    for result in results if isinstance(results, (tuple, list)) else [results]:
        result.zero_()
    assert values.tolist() == [1, 2, 3] and values._version == 0
    again = getattr(ops, name)(values)
    for one, other in zip(*(r if isinstance(r, (tuple, list)) else [r] for r in (before, again))):
        assert one.tolist() == other.tolist() and any(one.tolist())


def test_gradients_after_a_write_to_what_might_be_the_argument(ops, x):
    y = x * 1
    product = y * y
    ops.itself(y).zero_()
    assert gradient(product, x) == [[2, 4, 6]]
    matrix = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    ops.turned(matrix)[0].zero_()
    assert matrix.tolist() == [[1, 2], [3, 4]]
    one, other = ops.twice(x.detach())
    one.zero_()
    assert other.tolist() == [1, 2, 3]


# ---- accumulators


def test_an_accumulator_is_made_anew(ops, x):
    """Graphs from before the write keep theirs, and both give to the same leaf."""
    before = get_gradient_edge(x).node
    earlier = x * 2
    with gs.no_grad():
        ops.refill_(x, 4)
    after = get_gradient_edge(x).node
    assert after is not before and after.variable is before.variable is x
    (earlier.sum() + (x * 3).sum()).backward()
    assert x.tolist() == [4, 4, 4] and x.grad.tolist() == [5, 5, 5]


def test_the_end_of_an_earlier_accumulator_leaves_the_new_one(ops, x):
    before = get_gradient_edge(x).node
    with gs.no_grad():
        ops.refill_(x, 4)
    after = get_gradient_edge(x).node
    del before
    assert get_gradient_edge(x).node is after


def test_an_accumulator_stays_otherwise(x):
    before = get_gradient_edge(x).node
    with gs.no_grad():
        x.zero_()
    assert get_gradient_edge(x).node is before


# ---- in place, and out of place


def test_a_function_made_from_an_op_in_place(ops, x, y):
    """The value that is overwritten is another tensor's copy: whatever the formula reads of it is still there."""
    result = ops.scaled(x, y)
    assert result.tolist() == [4, 10, 18] and x.tolist() == [1, 2, 3] and x._version == 0
    assert gradient(result, x, y) == [[4, 5, 6], [1, 2, 3]]
    again = ops.scaled(ops.scaled(x, y), y)
    assert gradient(again, x, y) == [[16, 25, 36], [8, 20, 36]]
    filled = ops.refilled(x, 2.5)
    assert filled.tolist() == [2.5, 2.5, 2.5] and x.tolist() == [1, 2, 3]
    assert gradient(filled, x) == [[0, 0, 0]]


def test_what_is_non_differentiable_is_a_constant(ops, x, y):
    result = ops.partly(x, y)
    assert gradient(result, x) == [[4, 5, 6]]
    assert grad(ops.partly(x, y).sum(), [y], allow_unused=True) == (None,)
    assert not ops.partly(x.detach(), y).requires_grad


# ---- proofs


@pytest.mark.parametrize("name", ["refill_", "sums", "shifted", "apart"])
def test_ops_are_proven(ops, name):
    proof = prove(next(row for row in ops.op_table.OPS if row.base == name), ops)
    assert proof.holds and {"reverse", "forward"} <= set(proof.tried), proof.failures


def test_what_nobody_can_call_is_not_proven(ops):
    proof = prove(next(row for row in ops.op_table.OPS if row.base == "repeated"), ops)
    assert not proof.tried and "only formulas can call the op" in str(proof.gaps[0])


# ---- names


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_names_that_mean_something_in_c(ops, dtype):
    tensors = [gs.tensor([0.5, 1.0, 1.5], dtype=dtype, requires_grad=True) for _ in range(5)]
    assert "oddly_forward_f" in (Path(ops.__file__).parent / "names_kernels.c").read_text()
    a, linux, b, c, n = (t.detach().numpy().astype(np.float64) for t in tensors)
    inner, outer = a * np.exp(linux) + np.exp(n) * c * 7, (b + 6) * 8
    result = ops.oddly(*tensors, errno=6, EOF=7, I=8)
    np.testing.assert_allclose(result.detach(), inner * outer, rtol=1e-6)
    wanted = [
        np.exp(linux) * outer,
        a * np.exp(linux) * outer,
        inner * 8,
        np.exp(n) * 7 * outer,
        np.exp(n) * c * 7 * outer,
    ]
    for options in ({}, {"create_graph": True}):
        found = grad(ops.oddly(*tensors, errno=6, EOF=7, I=8).sum(), tensors, **options)
        for one, other in zip(found, wanted):
            np.testing.assert_allclose(one.detach(), other, rtol=1e-6)


def test_a_view_of_what_is_not_called_self(ops, x):
    proof = prove(next(row for row in ops.op_table.OPS if row.base == "backwards"), ops)
    assert proof.holds, proof.failures
    assert gradient(ops.backwards_copy(x)[:1], x) == [[0, 0, 1]]


def test_texts_are_taken_as_they_are(ops, x):
    assert 'An op that is called as a family is, with \\xi, \\N and """quotes""" in what' in ops.lists.__doc__
    result = ops.lists(x)
    assert result.tolist() == (24 * x.detach()).tolist()
    assert gradient(result, x) == [[24, 24, 24]]
    assert gradient(ops.lists(x, text="c"), x) == [[0, 0, 0]]


def test_an_op_may_have_the_name_of_a_family(ops, x):
    assert ops.several_lists is ops.args is ops.span is ops.lists


def test_an_op_may_have_the_name_of_a_function_that_a_forward_calls(ops, x, y):
    result = ops.sum(x, [y, y], max=2)
    assert result.tolist() == [18, 24, 30]
    assert gradient(result, x, y) == [[2, 2, 2], [4, 4, 4]]
    assert ops.min(x, []).tolist() == ops.abs(x, []).tolist() == [1, 2, 3]
