"""``torch.library``: operators made of functions of Python, in all modes, beside what is registered for them."""

import copy
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import Tensor, library


def sine(x: Tensor) -> Tensor:
    return gs.from_numpy(np.sin(x.detach().numpy()))


def new_sine(name):
    operator = library.custom_op(f"tests::{name}", sine, mutates_args=())
    operator.register_autograd(
        lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    return operator


def test_gradients_of_any_order_are_those_of_the_formula():
    operator = new_sine("sine")
    x = gs.tensor([0.3, 1.2], dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(operator, [x]) and gs.autograd.gradgradcheck(operator, [x])
    np.testing.assert_array_equal(operator(x).detach().numpy(), np.sin(x.detach().numpy()))
    np.testing.assert_allclose(
        gs.func.grad(lambda x: operator(x).sum())(x).detach().numpy(), np.cos(x.detach().numpy())
    )
    assert type(operator(x).grad_fn).__name__ == "GeneratedBackwardFor_tests_sine_defaultBackward"


def test_operators_are_found_by_their_names():
    operator = new_sine("named")
    assert gs.ops.tests.named is operator and operator.default is operator and "named" in dir(gs.ops.tests)
    assert repr(operator) == "<CustomOpDef(tests::named)>" and operator.__name__ == "named"
    with pytest.raises(AttributeError, match="has no operator 'other'"):
        gs.ops.tests.other  # noqa: B018
    with pytest.raises(AttributeError, match="torch.ops.nowhere has no counterpart"):
        gs.ops.nowhere  # noqa: B018


@library.custom_op("tests::weighted", mutates_args=())
def weighted(
    xs: Sequence[Tensor],
    weights: list[float],
    shift: Tensor | None = None,
    *,
    scale: float = 1.0,
) -> list[Tensor]:
    total = sum(weight * x for weight, x in zip(weights, xs))
    return [scale * total if shift is None else scale * total + shift, xs[0] * 2]


def keep(ctx, inputs, keyword_only_inputs, output):
    xs, ctx.weights, ctx.shift = inputs
    ctx.scale, ctx.count = keyword_only_inputs["scale"], len(xs)
    assert type(output) is list


def weighted_backward(ctx, grads):
    of_total, of_first = grads
    xs, weights, *_ = ctx.needs_input_grad
    assert len(xs) == ctx.count and not any(weights)
    gradients = [ctx.scale * weight * of_total for weight in ctx.weights]
    return [gradients[0] + 2 * of_first, *gradients[1:]], None, None if ctx.shift is None else of_total


weighted.register_autograd(weighted_backward, setup_context=keep)


@pytest.mark.parametrize("count", [1, 2])
def test_lists_of_tensors_and_arguments_by_name(count):
    xs = [gs.randn(3, dtype=gs.float64, requires_grad=True) for _ in range(count)]
    shift = gs.randn(3, dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(lambda *xs: tuple(weighted(list(xs), [2.0, 5.0][:count], scale=3.0)), xs)
    assert gs.autograd.gradcheck(lambda shift, *xs: tuple(weighted(xs, [2.0, 5.0][:count], shift)), [shift, *xs])
    assert type(weighted(xs, [1.0] * count)) is list


def test_batches_are_computed_slice_by_slice_or_by_what_is_registered():
    operator = new_sine("batched")
    x = gs.randn(4, 3, dtype=gs.float64)
    expected = np.sin(x.numpy())
    np.testing.assert_array_equal(gs.func.vmap(operator, 1, 1)(x).numpy(), expected)
    slopes = gs.func.vmap(gs.func.grad(lambda x: operator(x).sum()))(x)
    np.testing.assert_allclose(slopes.numpy(), np.cos(x.numpy()))
    calls = []

    @operator.register_vmap
    def _(info, in_dims, x):
        calls.append((info.batch_size, in_dims))
        return operator(x), in_dims[0]

    np.testing.assert_array_equal(gs.func.vmap(operator)(x).numpy(), expected)
    assert calls == [(4, (0,))]


def test_tensors_without_data():
    operator = new_sine("fake")
    with pytest.raises(RuntimeError, match="no fake impl registered"):
        operator(gs.empty(2, 3, device="meta"))

    @library.register_fake("tests::fake")
    def _(x):
        return gs.empty_like(x)

    assert operator(gs.empty(2, 3, device="meta")).shape == (2, 3)


def test_operators_of_ops_are_compiled():
    @library.custom_op("tests::doubled", mutates_args=())
    def doubled(x: Tensor) -> Tensor:
        return x * 2

    doubled.register_autograd(lambda ctx, grad: grad * 2)
    slope = gs.compile(gs.func.grad(lambda x: (doubled(x) ** 2).sum()))
    assert slope(gs.tensor([1.0, 3.0])).tolist() == [8.0, 24.0] == slope(gs.tensor([1.0, 3.0])).tolist()


def test_copies_are_the_operator_itself():
    operator = new_sine("copied")
    assert copy.deepcopy(operator) is operator and pickle.loads(pickle.dumps(operator)) is operator


def test_an_operator_that_writes():
    @library.custom_op("tests::add_one", mutates_args={"x"})
    def add_one(x: Tensor) -> None:
        x.add_(1)

    x = gs.zeros(2)
    version = x._version
    assert add_one(x) is None and x.tolist() == [1.0, 1.0] and x._version > version
    with pytest.raises(RuntimeError, match="writes to x, which requires grad"):
        add_one(gs.ones(2, requires_grad=True) * 1)
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        add_one.register_autograd(lambda ctx, grad: grad)


def test_what_is_refused():
    operator = library.custom_op("tests::plain", sine, mutates_args=())
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        operator(x).sum().backward()
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        operator(3.0)
    with pytest.raises(RuntimeError, match="too many positional arguments"):
        operator(x, x)
    with pytest.raises(ValueError, match="'namespace::name'"):
        library.custom_op("plain", sine, mutates_args=())
    with pytest.raises(RuntimeError, match="does not exist"):
        library.register_vmap("tests::none", sine)

    @library.custom_op("tests::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    @library.custom_op("tests::part", mutates_args=())
    def part(x: Tensor) -> Tensor:
        return x[:1]

    for aliasing in (same, part):
        with pytest.raises(RuntimeError, match="must not also be an input"):
            aliasing(x)

    @library.custom_op("tests::elsewhere", mutates_args=(), device_types="cuda")
    def elsewhere(x: Tensor) -> Tensor:
        return x * 2

    with pytest.raises(RuntimeError, match="no kernel for the CPU"):
        elsewhere(x)
    library.register_kernel("tests::elsewhere", "cpu", lambda x: x * 3)
    assert elsewhere(gs.ones(1)).item() == 3.0
    operator.register_autograd(lambda ctx, grad: (grad, grad))
    with pytest.raises(RuntimeError, match="gave 2 gradients, expected one for each of the 1 arguments"):
        operator(x).sum().backward()


def numbers(
    x: Tensor | None,
    ys: list[int],
    n: int | float | bool,
    kind: gs.dtype | None = None,
    *,
    word: str = "a",
) -> tuple[Tensor, int]: ...


def nothing(x: Tensor, ys: "list[Tensor] | None" = None) -> None: ...


def test_signatures_in_pytorchs_words():
    written = '(Tensor? x, SymInt[] ys, Scalar n, ScalarType? kind=None, *, str word="a") -> (Tensor, SymInt)'
    assert library.infer_schema(numbers, mutates_args=()) == written
    assert library.infer_schema(nothing, mutates_args="unknown") == "(Tensor(a0!) x, Tensor(a1!)[]? ys=None) -> ()"
    assert library.infer_schema(sine, mutates_args=(), op_name="a::b") == "a::b(Tensor x) -> Tensor"


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: x, "Parameter x must have a type annotation"),
        (lambda *x: x, "varargs"),
    ],
)
def test_functions_without_a_signature(function, message):
    with pytest.raises(ValueError, match=message):
        library.infer_schema(function, mutates_args=())


def test_annotations_of_other_types():
    def of_dict(x: dict) -> Tensor: ...

    def giving_str(x: Tensor) -> str: ...

    def giving(x: Tensor): ...

    for function, message in ((of_dict, "unsupported type"), (giving_str, "Return has"), (giving, "No return type")):
        with pytest.raises(ValueError, match=message):
            library.infer_schema(function, mutates_args=())
    for names, message in ((["y"], "were not found"), ("some", "either be a sequence"), (["least"], "only Tensors")):
        with pytest.raises(ValueError, match=message):
            library.infer_schema(clipped, mutates_args=names)


def clipped(x: Tensor, least: float) -> Tensor: ...


# ---- opcheck


def checked_sine(name):
    operator = new_sine(name)
    operator.register_fake(lambda x: gs.empty_like(x))
    return operator


TESTS = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]


def test_operators_that_do_what_they_should():
    operator = checked_sine("checked")
    x = gs.tensor([0.3, float("nan")], requires_grad=True)
    assert library.opcheck(operator, (x,)) == dict.fromkeys(TESTS, "SUCCESS")
    assert library.opcheck(operator.default, (), {"x": gs.ones(2)}, test_utils="test_aot_dispatch_static") == {
        "test_aot_dispatch_static": "SUCCESS"
    }
    assert x.grad is None


def doubled_in_place(x: Tensor) -> None:
    x.mul_(2)


def test_operators_that_write():
    operator = library.custom_op("tests::doubled_in_place", doubled_in_place, mutates_args=["x"])
    operator.register_fake(lambda x: None)
    x = gs.ones(2)
    assert set(library.opcheck(operator, (x,)).values()) == {"SUCCESS"} and x.tolist() == [1, 1]


def square_and_change(x: Tensor) -> Tensor:
    return x.add_(1) * x


def same(x: Tensor) -> Tensor:
    return x


@pytest.mark.parametrize(
    "function, fake, backward, test, message",
    [
        (square_and_change, None, None, "test_schema", "Argument x is not defined as mutable but was mutated"),
        (same, None, None, "test_schema", "may not alias any inputs"),
        (sine, None, None, "test_faketensor", "no fake impl registered"),
        (sine, lambda x: gs.empty_like(x)[:1], None, "test_faketensor", r"Shapes \(2,\) and \(1,\)"),
        (sine, lambda x: gs.empty_like(x).double(), None, "test_faketensor", "Dtypes float32 and float64"),
        (sine, lambda x: (x.clone(), x.clone()), None, "test_faketensor", "1 tensors .* fake 2"),
        (sine, None, lambda ctx, grad: 1 / 0, "test_autograd_registration", "division by zero"),
    ],
)
def test_operators_that_do_not(function, fake, backward, test, message):
    operator = library.custom_op("tests::wrong", function, mutates_args=())
    if fake is not None:
        operator.register_fake(fake)
    if backward is not None:
        operator.register_autograd(backward)
    arguments = (gs.ones(2, requires_grad=backward is not None),)
    with pytest.raises(library.checks.OpCheckError, match=rf"opcheck\(op, \.\.\.\): {test} failed with .*{message}"):
        library.opcheck(operator, arguments, test_utils=[test])
    found = library.opcheck(operator, arguments, test_utils=test, raise_exception=False)
    assert list(found) == [test] and isinstance(found[test], Exception)


def test_what_is_no_operator_and_no_test():
    with pytest.raises(ValueError, match="op must be an operator that custom_op has made"):
        library.opcheck(len, ())
    with pytest.raises(ValueError, match="expected test_utils to be subset of"):
        library.opcheck(checked_sine("other"), (gs.ones(1),), test_utils=["test_everything"])


def test_a_library_is_there_to_be_imported():
    with gs.compat.as_torch():
        from torch.library import Library
    with pytest.raises(NotImplementedError, match="custom_op"):
        Library("docs", "DEF")
