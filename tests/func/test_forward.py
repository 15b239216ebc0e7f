"""jvp and linearize."""

import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import forward_ad

X = gs.tensor([1.0, 2.0])


def test_trees_of_primals_and_outputs():
    primals = ({"w": X, "b": gs.tensor(3.0)}, (gs.tensor(2.0),))
    tangents = ({"b": gs.tensor(1.0), "w": gs.tensor([1.0, -1.0])}, (gs.tensor(0.5),))
    output, product = func.jvp(lambda m, s: [m["w"] * s[0], m["b"] ** 2], primals, tangents)
    assert [one.tolist() for one in output] == [[2.0, 4.0], 9.0]
    assert [one.tolist() for one in product] == [[2.5, -1.0], 6.0]


def test_second_result():
    _output, product, aux = func.jvp(lambda x: (x * x, (x, "kept")), (X,), (gs.ones(2),), has_aux=True)
    assert product.tolist() == [2.0, 4.0] and aux[0].tolist() == [1.0, 2.0] and aux[1] == "kept"
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(aux[0]).tangent is None


def test_outputs_that_do_not_depend_on_the_primals():
    _output, product = func.jvp(lambda x: (x, gs.ones(3)), (X,), (gs.ones(2),))
    assert product[1].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match=r"output of f is independent of the inputs: output\[1\] does not"):
        func.jvp(lambda x: (x, gs.ones(3)), (X,), (gs.ones(2),), strict=True)


def test_levels_are_not_confused():
    def inner(x):
        return func.jvp(lambda y: x * y, (gs.tensor(5.0),), (gs.tensor(1.0),))[1]

    assert func.jvp(lambda x: x * inner(x), (gs.tensor(3.0),), (gs.tensor(1.0),))[1].item() == 6.0


def test_forward_mode_is_on_inside_and_as_before_outside():
    with forward_ad.set_fwd_grad_enabled(False):
        assert func.jvp(gs.exp, (gs.tensor(0.0),), (gs.tensor(2.0),))[1].item() == 2.0
        with pytest.raises(KeyError):
            func.jvp(lambda x: {}["missing"], (X,), (X,))
    with pytest.raises(RuntimeError, match="outside a level"):
        forward_ad.make_dual(X, X)  # no level was left open


def test_products_have_a_history():
    w = gs.tensor([2.0, 3.0], requires_grad=True)
    product = func.jvp(lambda x: w * x * x, (X,), (gs.ones(2),))[1]
    assert gs.autograd.grad(product.sum(), w)[0].tolist() == [2.0, 4.0]


# ---- linearize


def test_a_linear_part_is_used_again():
    calls = []

    def f(x, pair):
        calls.append(1)
        return {"y": gs.sin(x) * pair[0], "z": pair[1]}

    primals = (X, (gs.tensor([3.0, 4.0]), gs.tensor(1.0)))
    output, jvp_fn = func.linearize(f, *primals)
    for scale in (1.0, -2.0, 0.0):
        tangents = (scale * X, (gs.ones(2), gs.tensor(scale)))
        expected_output, expected = func.jvp(f, primals, tangents)
        found = jvp_fn(*tangents)
        for key in ("y", "z"):
            assert found[key].tolist() == pytest.approx(expected[key].tolist(), rel=1e-6)
            assert output[key].tolist() == expected_output[key].tolist()
            assert not found[key].requires_grad
    assert len(calls) == 4  # three of them by jvp


def test_a_linear_part_is_differentiable():
    w = gs.tensor([2.0, 3.0], requires_grad=True)
    _output, jvp_fn = func.linearize(lambda x: w * x * x, X)
    assert gs.autograd.grad(jvp_fn(gs.ones(2)).sum(), w)[0].tolist() == [2.0, 4.0]
    assert func.grad(lambda v: jvp_fn(v).sum())(gs.ones(2)).tolist() == [4.0, 12.0]
    second = func.grad(lambda x: func.linearize(gs.exp, x)[1](gs.tensor(1.0)))
    assert second(gs.tensor(0.0)).item() == 1.0


def test_the_linear_part_of_constants_is_zero():
    _output, jvp_fn = func.linearize(lambda x: (gs.ones(3), x.detach()), X)
    assert [one.tolist() for one in jvp_fn(X)] == [[0.0, 0.0, 0.0], [0.0, 0.0]]


# ---- errors


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: func.jvp(gs.sin, X, X), RuntimeError, r"jvp\(f, primals, tangents\): .* tuple, got Tensor"),
        (lambda: func.jvp(gs.sin, (X,), X), RuntimeError, r"same python structure: tangents is a Tensor where"),
        (lambda: func.jvp(gs.sin, (X,), (X, X)), RuntimeError, r"tangents has \[0\], \[1\] where \[0\] is expected"),
        (lambda: func.jvp(gs.sin, (X,), (gs.ones(3),)), RuntimeError, r"tangents\[0\] has shape \[3\]"),
        (lambda: func.jvp(gs.sin, (X,), (X.to(gs.float64),)), RuntimeError, r"tangents\[0\] has dtype float64"),
        (lambda: func.jvp(gs.sin, (X,), (1.0,)), RuntimeError, r"tangents to only contain Tensors, .* is float"),
        (lambda: func.jvp(gs.sin, (), ()), RuntimeError, r"at least one Tensor"),
        (lambda: func.jvp(gs.sin, ("1",), (1.0,)), ValueError, r"args\[0\] must be a Tensor"),
        (lambda: func.jvp(lambda x: None, (X,), (X,)), RuntimeError, r"non-empty output .*does f lack a return"),
        (lambda: func.jvp(lambda x: x, (X,), (X,), has_aux=True), RuntimeError, r"a tuple: \(output, aux\)"),
        (lambda: func.linearize(gs.sin, X)[1](X, X), RuntimeError, r"linearize\(f\): .* tangents has \[0\], \[1\]"),
        (lambda: func.linearize(lambda x: x.argmax(), X), RuntimeError, r"dtype int64"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
