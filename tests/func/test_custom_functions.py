"""Custom Functions under transforms. Accepted arguments, refusals and numbers of calls are those of PyTorch 2.13."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import Function
from gradsmith.autograd.function import once_differentiable

X = gs.arange(6.0).reshape(3, 2) + 1


class Power(Function):
    """x**p, with a rule for `vmap` that the subclasses choose."""

    calls: list = []  # noqa: RUF012

    @staticmethod
    def forward(x, p):
        Power.calls.append(("forward", x.shape))
        return x**p

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.p = inputs
        Power.calls.append(("setup_context", ctx.needs_input_grad))
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        Power.calls.append(("backward", grad.shape, ctx.needs_input_grad))
        return ctx.p * x ** (ctx.p - 1) * grad, None

    @staticmethod
    def jvp(ctx, tangent, _):
        (x,) = ctx.saved_tensors
        return ctx.p * x ** (ctx.p - 1) * tangent


class Generated(Power):
    generate_vmap_rule = True


class Static(Power):
    @staticmethod
    def vmap(info, in_dims, x, p):
        assert info == (x.shape[0], "error") and in_dims == (0, None)
        return Static.apply(x, p), 0


BOTH = pytest.mark.parametrize("function", [Generated, Static])


def cube(function):
    return lambda x: function.apply(x, 3)


TRANSFORMS = {
    "vmap": lambda f: func.vmap(f),
    "vmap(vmap)": lambda f: func.vmap(func.vmap(f)),
    "vmap(vmap), other dims": lambda f: func.vmap(func.vmap(f, 0, 0), 1, 1),
    "vmap(grad)": lambda f: func.vmap(func.grad(lambda x: f(x).sum())),
    "vmap(vmap(grad))": lambda f: func.vmap(func.vmap(func.grad(f))),
    "grad(vmap)": lambda f: func.grad(lambda x: func.vmap(f)(x).sum()),
    "grad(vmap(vmap))": lambda f: func.grad(lambda x: func.vmap(func.vmap(f))(x).sum()),
    "grad(vmap(grad))": lambda f: func.grad(lambda x: (func.vmap(func.grad(lambda y: (f(y) * y).sum()))(x) * x).sum()),
    "vmap(grad(grad))": lambda f: func.vmap(func.vmap(func.grad(func.grad(f)))),
    "vmap(grad(vmap))": lambda f: func.vmap(func.grad(lambda x: func.vmap(f)(x).sum())),
    "jacrev": lambda f: lambda x: func.jacrev(f)(x[0]),
    "jacfwd": lambda f: lambda x: func.jacfwd(f)(x[0]),
    "jacrev(vmap)": lambda f: func.jacrev(func.vmap(f)),
    "jacfwd(vmap)": lambda f: func.jacfwd(func.vmap(f)),
    "vmap(jacrev)": lambda f: func.vmap(func.jacrev(f)),
    "vmap(jacfwd)": lambda f: func.vmap(func.jacfwd(f)),
    "hessian": lambda f: lambda x: func.hessian(lambda y: f(y).sum())(x[0]),
    "vmap(hessian)": lambda f: func.vmap(func.hessian(lambda y: f(y).sum())),
    "hessian(vmap)": lambda f: func.hessian(lambda x: func.vmap(f)(x).sum()),
    "jacrev(jacrev(vmap))": lambda f: func.jacrev(func.jacrev(lambda x: func.vmap(f)(x).sum())),
    "vmap(jvp)": lambda f: func.vmap(lambda x: func.jvp(f, (x,), (x,))[1]),
    "jvp(vmap)": lambda f: lambda x: func.jvp(func.vmap(f), (x,), (x,))[1],
    "jvp(grad(vmap))": lambda f: lambda x: func.jvp(func.grad(lambda y: func.vmap(f)(y).sum()), (x,), (x,))[1],
    "vmap(vjp)": lambda f: func.vmap(lambda x: func.vjp(f, x)[1](x)[0]),
    "in chunks": lambda f: func.vmap(f, chunk_size=2),
}


@BOTH
@pytest.mark.parametrize("name", TRANSFORMS)
def test_in_any_composition(function, name):
    transform = TRANSFORMS[name]
    expected = transform(lambda x: x**3)(X)
    np.testing.assert_allclose(transform(cube(function))(X).numpy(), expected.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "transform, expected",
    [
        (lambda f: func.vmap(f), [("forward", (2,)), ("setup_context", (False, False))]),
        (
            lambda f: func.vmap(func.grad(lambda x: f(x).sum())),
            [
                ("forward", (2,)),
                ("setup_context", (False, False)),
                ("setup_context", (True, False)),
                ("backward", (2,), (True, False)),
            ],
        ),
        (
            lambda f: func.grad(lambda x: func.vmap(f)(x).sum()),
            [("forward", (2,)), ("setup_context", (True, False)), ("backward", (2,), (True, False))],
        ),
    ],
)
def test_methods_see_one_slice(transform, expected):
    Power.calls.clear()
    transform(cube(Generated))(X)
    assert Power.calls == expected


@BOTH
def test_backward_after_the_call(function):
    x = X.clone().requires_grad_()
    y = func.vmap(cube(function))(x)
    assert type(y.grad_fn).__name__ in ("VmappedGeneratedBackward", "StaticBackward")
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * X.numpy() ** 2)


def test_without_a_rule():
    with pytest.raises(RuntimeError, match="You tried to vmap over Power, but it does not have vmap support"):
        func.vmap(cube(Power))(X)
    # Neither is a batch to begin with.
    assert func.jacfwd(cube(Power))(X[0]).tolist() == [[3, 0], [0, 12]]
    assert func.jacrev(cube(Power))(X[0]).tolist() == [[3, 0], [0, 12]]


def test_with_two_rules():
    class Two(Static):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overridden vmap"):
        func.vmap(cube(Two))(X)
    assert Two.apply(X, 2).tolist() == (X**2).tolist()


def test_a_forward_with_a_context_is_refused():
    class Old(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with pytest.raises(RuntimeError, match="Old must override the setup_context staticmethod"):
        func.vmap(Old.apply)(X)
    assert func.grad(lambda x: Old.apply(x).sum())(X).tolist() == [[2, 2]] * 3
    x = X.clone().requires_grad_()
    (found,) = gs.autograd.grad(Old.apply(x), x, gs.ones(2, 3, 2), is_grads_batched=True)
    assert found.tolist() == [[[2, 2]] * 3] * 2


@pytest.mark.parametrize(
    "result, text",
    [
        (lambda x: x, "Expected the vmap staticmethod of Rule to have two returns.*Got a Tensor instead"),
        (lambda x: (x, 0, 0), "Got 3 returns instead"),
        (lambda x: (x, (0,)), r"incompatible \(output, out_dims\) tuple. Expected out_dims=\(0,\)"),
        (lambda x: ((x, x), (0,)), "incompatible"),
        (lambda x: (x, 5), r"dimension 5 of an output of shape \[3, 2\]"),
        (lambda x: (x, 1), "expected a dimension of size 3"),
        (lambda x: (x, "a"), "dimension 'a'"),
    ],
)
def test_what_a_rule_may_return(result, text):
    class Rule(Power):
        @staticmethod
        def vmap(info, in_dims, x, p):
            return result(x)

    with pytest.raises(RuntimeError, match=text):
        func.vmap(cube(Rule))(X)


@pytest.mark.parametrize(
    "result, shape",
    [
        (lambda x: (x, None), (3, 2)),  # the argument itself
        (lambda x: (x + 1, None), (3, 3, 2)),
        (lambda x: (x.t(), -1), (3, 2)),
        (lambda x: ((x, x.sum(1)), 0), (3, 2)),
        (lambda x: ((x, x), (0, None)), (3, 2)),
    ],
)
def test_dimensions_of_results(result, shape):
    class Rule(Power):
        @staticmethod
        def vmap(info, in_dims, x, p):
            return result(x)

    out = func.vmap(cube(Rule))(X)
    assert (out[0] if isinstance(out, tuple) else out).shape == shape


# ---- arguments and results of all kinds


class Several(Function):
    """Products with a tensor that may be the same for all slices, an integer result, and one without gradient."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, options):
        return x * y * options["scale"], x.argmax(), y * 2, "text"

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], None, inputs[1])
        ctx.options = inputs[2]
        ctx.mark_non_differentiable(output[2])

    @staticmethod
    def backward(ctx, grad, *others):
        x, _, y = ctx.saved_tensors
        assert others[1].shape == y.shape
        scale = ctx.options["scale"]
        return grad * y * scale, grad * x * scale, None


def test_several_results():
    def f(x, y):
        product, index, double, text = Several.apply(x, y, {"scale": 2})
        assert text == "text" and not double.requires_grad
        return product.sum() + double.sum(), index

    y = gs.tensor([3.0, 4.0])
    (by_x, by_y), index = func.vmap(func.grad(f, argnums=(0, 1), has_aux=True), in_dims=(0, None))(X, y)
    assert by_x.tolist() == [[6, 8]] * 3 and by_y.tolist() == (2 * X).tolist() and index.tolist() == [1, 1, 1]
    total = func.grad(lambda x, y: func.vmap(f, in_dims=(0, None))(x, y)[0].sum(), argnums=(0, 1))
    by_x, by_y = total(X, y)
    assert by_x.tolist() == [[6, 8]] * 3 and by_y.tolist() == [18, 24]
    by_y, by_x = func.grad(lambda y, x: func.vmap(f, in_dims=(None, 0))(y, x)[0].sum(), argnums=(0, 1))(y, X)
    assert by_x.tolist() == [[6, 8]] * 3 and by_y.tolist() == [18, 24]


def test_tensors_in_a_list_have_no_gradient():
    class Listed(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(tensors):
            return tensors[0] * tensors[1]

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return None

    assert func.vmap(lambda x: Listed.apply([x, x]))(X).tolist() == (X * X).tolist()
    assert func.grad(lambda x: Listed.apply([x, x]).sum())(X).tolist() == gs.zeros(3, 2).tolist()


def test_keyword_arguments():
    assert func.vmap(lambda x: Generated.apply(x, p=2))(X).tolist() == (X**2).tolist()


class Saved(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


def test_a_saved_result():
    for transform in (TRANSFORMS["jacrev(jacrev(vmap))"], TRANSFORMS["vmap(grad)"], TRANSFORMS["vmap(grad(grad))"]):
        np.testing.assert_allclose(transform(Saved.apply)(X).numpy(), transform(gs.exp)(X).numpy(), rtol=1e-5)


class Written(Function):
    @staticmethod
    def forward(x):
        return x.mul_(2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.mul_(2)


class WrittenByRule(Written):
    @staticmethod
    def vmap(info, in_dims, x):
        return WrittenByRule.apply(x), in_dims[0]


class WrittenInSlices(Written):
    generate_vmap_rule = True


@pytest.mark.parametrize("function", [WrittenByRule, WrittenInSlices])
def test_written_arguments(function):
    def f(x):
        y = x * 1
        z = function.apply(y)
        assert z is y
        return y * x

    assert func.vmap(f)(X).tolist() == (2 * X * X).tolist()
    for name in ("vmap(grad)", "grad(vmap)", "vmap(jvp)", "jvp(vmap)", "vmap(vmap)", "hessian(vmap)"):
        transform = TRANSFORMS[name]
        np.testing.assert_allclose(transform(f)(X).numpy(), transform(lambda x: 2 * x * x)(X).numpy(), rtol=1e-5)


@pytest.mark.parametrize("function", [WrittenByRule, WrittenInSlices])
def test_a_write_to_what_was_saved_is_noticed(function):
    def f(x):
        y = x * 1
        z = y * y
        function.apply(y)
        return z.sum()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        func.vmap(func.grad(f))(X)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        func.grad(lambda x: func.vmap(f)(x).sum())(X)


class View(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x[:1]

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return gs.cat([grad, gs.zeros_like(grad)])


def test_views():
    assert func.vmap(func.grad(lambda x: View.apply(x).sum()))(X).tolist() == [[1, 0]] * 3

    def write(x):
        y = x * 1
        View.apply(y).mul_(2)
        return y.sum()

    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        func.vmap(func.grad(write))(X)


def test_an_argument_returned_as_it_is():
    class Same(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    assert func.vmap(func.grad(lambda x: Same.apply(x).sum()))(X).tolist() == [[2, 2]] * 3
    assert func.grad(lambda x: func.vmap(Same.apply)(x).sum())(X).tolist() == [[2, 2]] * 3


def test_once_differentiable():
    class Once(Generated):
        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return ctx.p * x ** (ctx.p - 1) * grad, None

    for name in ("vmap(grad)", "grad(vmap)", "jacrev(vmap)"):
        found = TRANSFORMS[name](cube(Once))(X)
        assert found.tolist() == TRANSFORMS[name](lambda x: x**3)(X).tolist()
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        TRANSFORMS["grad(vmap(grad))"](cube(Once))(X)
    for name in ("vmap(grad(grad))", "jacrev(jacrev(vmap))"):  # the gradient that comes in depends on nothing
        assert not TRANSFORMS[name](cube(Once))(X).any()


def test_saved_tensors_may_be_read_once():
    class Cleared(Generated):
        clear_saved_tensors_on_access = True

        @staticmethod
        def backward(ctx, grad):
            Power.backward(ctx, grad)
            return Power.backward(ctx, grad)

    with pytest.raises(RuntimeError, match="can only be accessed once"):
        func.grad(lambda x: func.vmap(cube(Cleared))(x).sum())(X)


def test_random_numbers():
    class Noise(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x + gs.randn(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad

    zeros = gs.zeros(3, 2)
    with pytest.raises(RuntimeError, match="draws random numbers"):
        func.vmap(Noise.apply)(zeros)
    same = func.vmap(Noise.apply, randomness="same")(zeros).numpy()
    assert (same == same[0]).all()
    different = func.vmap(Noise.apply, randomness="different")(zeros).numpy()
    assert len({tuple(row) for row in different.tolist()}) == 3
    nested = func.vmap(func.vmap(Noise.apply, randomness="same"), randomness="different")(gs.zeros(3, 4, 2)).numpy()
    assert (nested == nested[:, :1]).all() and len({tuple(row[0]) for row in nested.tolist()}) == 3


def test_an_intermediate_kept_on_the_context():
    class Kept(Generated):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.square = inputs[0] ** 2

        @staticmethod
        def backward(ctx, grad):
            return 3 * ctx.square * grad, None

    with pytest.raises(RuntimeError, match="after the call of the function that vmap mapped has ended"):
        func.grad(lambda x: func.vmap(cube(Kept))(x).sum())(X)


def test_values_are_refused():
    class Values(Generated):
        @staticmethod
        def forward(x, p):
            return gs.tensor(x.numpy() ** p)

    with pytest.raises(RuntimeError, match="numpy"):
        func.vmap(cube(Values))(X)
    assert func.vmap(lambda x: x + 1)(X).tolist() == (X + 1).tolist()  # nothing is left switched on


class Listed(Function):
    """A list among the results, which has no gradient, and None."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2, [x + 1, 3, gs.zeros(2)], None

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert output[1][0].shape == inputs[0].shape

    @staticmethod
    def backward(ctx, grad, *others):
        return grad * 2


@pytest.mark.parametrize("dims", [None, (0, [0, None, None], None)])
def test_a_list_among_the_results(dims):
    class ByRule(Listed):
        generate_vmap_rule = dims is None

        if dims:

            @staticmethod
            def vmap(info, in_dims, x):
                return Listed.apply(x), dims

    def f(x):
        double, (following, three, zeros), none = ByRule.apply(x)
        assert (three, none, zeros.shape) == (3, None, (2,))
        return double, following, zeros

    double, following, zeros = func.vmap(f)(X)
    assert double.tolist() == (2 * X).tolist() and following.tolist() == (X + 1).tolist()
    assert zeros.tolist() == [[0, 0]] * 3
    assert func.grad(lambda x: func.vmap(f)(x)[0].sum())(X).tolist() == [[2, 2]] * 3


def test_a_wrong_number_of_gradients():
    class Wrong(Power):
        generate_vmap_rule = True

        @staticmethod
        def backward(ctx, grad):
            return grad

    for name in ("grad(vmap)", "vmap(grad)"):
        with pytest.raises(RuntimeError, match=r"WrongBackward returned an incorrect number .* \(expected 2, got 1\)"):
            TRANSFORMS[name](cube(Wrong))(X)
