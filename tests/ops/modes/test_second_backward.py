"""A second backward over one op, and the graph of its gradient: every sample of the table against PyTorch's answers.

What PyTorch 2.13 answers is recorded here by op. Samples that it refuses are left out.
"""

import numpy as np
import pytest
from table import DIFFERENTIABLE

import gradsmith as gs
from gradsmith.verify.calls import call
from gradsmith.verify.samples import as_tensors, key_of, leaves_among


def names(text):
    return frozenset(text.split())


FREES_NOTHING = names("""
    add add.alpha sub sub.alpha neg positive sign conj conj_physical sum sum.dim mean mean.dim cumsum reshape
    view view_as reshape_as flatten transpose permute t T mT squeeze squeeze.dim unsqueeze expand broadcast_to
    expand_as as_strided cat stack split split.sizes chunk unbind flip basic_index select narrow clone
    contiguous to to.other to.device fill_ zero_ copy_ real imag
""")
FREES = names("""
    mul abs sgn square reciprocal div div.mode pow maximum minimum clamp clamp.open clamp_min clamp_max exp
    expm1 log log1p sqrt rsqrt erf erfinv sin cos tan sinh cosh tanh sigmoid relu softplus gelu silu where prod
    prod.dim var var.all var.dim std std.all std.dim logsumexp amax amin max max.dim max.other min min.dim
    min.other softmax log_softmax index index_put gather scatter index_select masked_fill masked_select matmul
    mm bmm mv dot outer mse_loss nll_loss cross_entropy
""")

# Does the gradient under `create_graph` require grad: ops whose gradients all agree, whatever requires grad.
CONSTANT = FREES_NOTHING | names("""
    sgn maximum minimum clamp clamp.open clamp_min clamp_max where amax amin max max.dim max.other min min.dim
    min.other index index_put gather scatter scatter_add index_select index_add masked_fill masked_select
""")
DEPENDENT = names("""
    abs square reciprocal exp expm1 log log1p sqrt rsqrt erf erfinv sin cos tan sinh cosh tanh sigmoid relu
    softplus gelu silu prod prod.dim var var.all var.dim std std.all std.dim logsumexp softmax log_softmax
    mse_loss
""")


def cases(*answers):
    known = frozenset().union(*answers)
    found = [case for case in DIFFERENTIABLE if key_of(case.row) in known]
    return pytest.mark.parametrize("case", found, ids=lambda case: case.id)


def subsets(case):
    singles = [(place,) for place in case.inputs]
    return singles if len(singles) == 1 else [*singles, case.inputs]


def recorded(case, places):
    """Outputs with a history, the leaves, and gradients of the outputs."""
    tensors = as_tensors(case.values())
    leaves = leaves_among(tensors, places)
    result = call(case.row, tensors)
    outputs = [t for t in (result if isinstance(result, (tuple, list)) else (result,)) if t.requires_grad]
    return outputs, leaves, [gs.ones_like(t) for t in outputs]


@cases(FREES, FREES_NOTHING)
def test_a_graph_runs_once_when_something_of_it_was_freed(case):
    for places in subsets(case):
        outputs, leaves, ones = recorded(case, places)
        gs.autograd.grad(outputs, leaves, ones, allow_unused=True)
        if key_of(case.row) in FREES_NOTHING:
            gs.autograd.grad(outputs, leaves, ones, allow_unused=True)
        else:
            with pytest.raises(RuntimeError, match="a second time"):
                gs.autograd.grad(outputs, leaves, ones, allow_unused=True)


@cases(FREES)
def test_a_retained_graph_runs_again(case):
    outputs, leaves, ones = recorded(case, case.inputs)
    first = gs.autograd.grad(outputs, leaves, ones, retain_graph=True, allow_unused=True)
    second = gs.autograd.grad(outputs, leaves, ones, allow_unused=True)
    for one, other in zip(first, second, strict=True):
        if one is not None:
            np.testing.assert_array_equal(one.numpy(), other.numpy())


@cases(CONSTANT, DEPENDENT)
def test_which_gradients_require_grad(case):
    expected = key_of(case.row) in DEPENDENT
    for places in subsets(case):
        outputs, leaves, ones = recorded(case, places)
        gradients = gs.autograd.grad(outputs, leaves, ones, create_graph=True, allow_unused=True)
        assert {g.requires_grad for g in gradients if g is not None} <= {expected}


# ---- in place and through views


def leaf():
    return gs.ones(3, 4, dtype=gs.float64, requires_grad=True)


def assigned(key, value):
    def write(y):
        y[key] = value
        return y

    return write


def seen_by_another_view(y):
    """A view whose history is renewed, since its sibling was written."""
    view, other = y[0], y[1]
    other.zero_()
    return view


ROW = gs.ones(4, dtype=gs.float64)
RAISE = {
    "mul_": lambda y: y.mul_(2),
    "div_": lambda y: y.div_(2),
    "twice": lambda y: 2 * y,
    "a sum, twice": lambda y: y.sum() * 2,
    "a quarter": lambda y: y / 4,
    "a list as index": lambda y: y[[1, 1]],
    "an empty list": lambda y: y[[]],
    "a mask": lambda y: y[gs.tensor([True, False, True])],
    "True": lambda y: y[True],
    "a mask without dimensions": lambda y: y[gs.tensor(True)],
    "a list beside a slice": lambda y: y[:, [1, 1]],
    "a number to a row": assigned(0, 5.0),
    "a row to a row": assigned(0, ROW),
    "a number to some": assigned([0, 1], 5.0),
    "a row under a mask": assigned(gs.tensor([True, False, True]), ROW),
    "add_ to a row": lambda y: (y[0].add_(1), y)[1],
    "a row that was written": lambda y: y[0].add_(1),
    "a row beside one that was written": seen_by_another_view,
}
PASS = {
    "add_": lambda y: y.add_(1),
    "fill_": lambda y: y.fill_(2.0),
    "a number to all": assigned(slice(None), 5.0),
    "a number to all dimensions": assigned((slice(None), ...), 5.0),
    "a row to all": assigned(..., ROW),
    "an index without dimensions": lambda y: y[gs.tensor(1)],
    "plus": lambda y: y + 1,
    "minus": lambda y: 1 - y,
    "cat": lambda y: gs.cat([y, y]),
    "expand": lambda y: y.expand(2, 3, 4),
    "a view of what was written": lambda y: (y[0], y.add_(1))[0],
}


@pytest.mark.parametrize("name", RAISE)
def test_a_second_backward_raises(name):
    x = leaf()
    y = RAISE[name](x.clone())
    y.backward(gs.ones_like(y))
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward(gs.ones_like(y))


@pytest.mark.parametrize("name", PASS)
def test_a_second_backward_passes(name):
    x = leaf()
    y = PASS[name](x.clone())
    y.backward(gs.ones_like(y))
    first = x.grad.clone()
    y.backward(gs.ones_like(y))
    np.testing.assert_array_equal(x.grad.numpy(), 2 * first.numpy())


@pytest.mark.parametrize("name", RAISE)
def test_with_the_graph_retained_it_passes(name):
    x = leaf()
    y = RAISE[name](x.clone())
    y.backward(gs.ones_like(y), retain_graph=True)
    first = x.grad.clone()
    y.backward(gs.ones_like(y))
    np.testing.assert_array_equal(x.grad.numpy(), 2 * first.numpy())


def test_a_number_is_freed_with_the_graph():
    y = leaf() * 2
    assert y.grad_fn._saved_other == 2
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn._saved_other


# ---- gradients that are zero, and known to be


def test_the_second_gradient_of_relu_is_zero():
    x = gs.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    (first,) = gs.autograd.grad(x.relu().sum(), x, create_graph=True)
    np.testing.assert_array_equal(first.detach().numpy(), [0, 0, 1])
    (second,) = gs.autograd.grad(first.sum(), x)
    np.testing.assert_array_equal(second.numpy(), [0, 0, 0])


def test_the_second_gradient_of_relu_of_something():
    x = gs.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    (first,) = gs.autograd.grad((x.relu() ** 3).sum(), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    np.testing.assert_array_equal(second.numpy(), [0, 3, 12])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("options", [{}, {"ignore_index": 1}, {"weight": gs.tensor([1.0, 2.0, 3.0])}])
def test_the_second_gradient_of_nll_loss_is_zero(reduction, options):
    x = gs.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], requires_grad=True)
    loss = gs.nn.functional.nll_loss(x, gs.tensor([1, 2]), reduction=reduction, **options)
    (first,) = gs.autograd.grad(loss.sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = gs.autograd.grad(first.sum(), x)
    np.testing.assert_array_equal(second.numpy(), np.zeros((2, 3)))


@pytest.mark.parametrize("op", [gs.scatter, gs.scatter_add])
def test_a_gradient_that_an_empty_index_leaves_out_is_part_of_the_graph(op):
    """PyTorch's gradient of the source is zeros that require grad."""
    source, index = gs.ones(1, 2, requires_grad=True), gs.zeros((0, 2), dtype=gs.int64)
    result = op(gs.ones(2, 2), 0, index, source).exp().sum()
    (gradient,) = gs.autograd.grad(result, source, create_graph=True)
    assert gradient.requires_grad
    assert gradient.tolist() == [[0, 0]]


def test_the_result_of_erfinv_may_be_changed():
    """As in PyTorch, the node keeps the input."""
    pytest.importorskip("scipy")
    x = gs.tensor([0.0, 0.5], dtype=gs.float64, requires_grad=True)
    y = gs.erfinv(x)
    y.mul_(2)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1.7724538509055159, 2.225169637943899])


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("arguments", [(), (0,), (0, True)])
@pytest.mark.parametrize("first", [1 + 2j, 2j])
def test_the_gradient_of_a_product_of_real_parts(arguments, first):
    """PyTorch multiplies what `dtype` leaves of complex numbers, in the gradient too, where it may leave a zero."""
    x = gs.tensor([first, 3 - 1j, 0.25 + 0.5j], requires_grad=True)
    y = x.prod(*arguments, dtype=gs.float64)
    (gradient,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(gradient.detach().numpy(), [0.75, 0.25 * first.real, 3 * first.real], rtol=1e-6)
    (second,) = gs.autograd.grad(gradient.sum().real, x)
    np.testing.assert_allclose(second.numpy(), [3.25, 0.25 + first.real, 3 + first.real], rtol=1e-6)
