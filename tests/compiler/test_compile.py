"""Compiled functions: when a program is made, what it reads and writes, and what cannot become one."""

import copy
import gc
import pickle
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func, nn
from gradsmith.compiler import TraceError
from gradsmith.generated.index import basic_index_backward
from gradsmith.runtime.history.observers import is_watching
from gradsmith.utils import pytree


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """A traced tensor that lives on slows down all ops, and is of no use to anybody."""
    before = is_watching()  # tensors without data of other tests have the same effect
    yield
    gc.collect()
    assert is_watching() <= before


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, (tuple, list)):
        return len(found) == len(expected) and all(map(same, found, expected))
    return found.dtype == expected.dtype and np.array_equal(found.detach().numpy(), expected.detach().numpy())


def energy(x: Any, y: Any) -> Any:
    return ((x * y).sin() ** 2).sum() + x.exp().mean()


# ---- programs, and when one is made


def test_a_program_is_made_once_for_a_kind_of_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    @gs.compile
    def f(x: Any, factor: float = 2.0) -> Any:
        print("traced")
        return x * factor

    for _ in range(3):
        assert same(f(gs.ones(3)), gs.full((3,), 2.0))
    assert len(f.programs) == 1
    f(gs.ones(4)), f(gs.ones(3, dtype=gs.float64)), f(gs.ones(3), 3.0), f(gs.ones(3), factor=3.0)
    assert len(f.programs) == 5
    assert same(f(gs.ones(3), 3.0), gs.full((3,), 3.0)) and len(f.programs) == 5
    assert capsys.readouterr().out == "traced\n" * 5


@pytest.mark.parametrize(
    "other",
    [
        gs.ones(2, 3).t(), gs.ones(3, 2, requires_grad=True), gs.ones(3, 2, dtype=gs.float64), gs.ones(1, 2),
        gs.ones(6, 4)[::2, ::2], gs.ones(3, 2, dtype=gs.int64),
    ],
    ids=["layout", "requires_grad", "dtype", "shape", "strides", "integers"],
)  # fmt: skip
def test_arguments_of_another_kind_get_a_program_of_their_own(other: Any) -> None:
    f = gs.compile(lambda x: (x * 2).sum(0))
    f(gs.ones(3, 2))
    assert same(f(other), (other * 2).sum(0)) and len(f.programs) == 2


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1, True), (0.0, -0.0), ("a", "b"), (None, 0)])
def test_values_that_are_no_tensors_are_told_apart(first: Any, second: Any) -> None:
    f = gs.compile(lambda x, value: (x + 1, value))
    found = [f(gs.ones(2), value)[1] for value in (first, second, first)]
    assert [repr(value) for value in found] == [repr(first), repr(second), repr(first)]
    assert len(f.programs) == 2


def test_modes_of_the_thread_are_part_of_the_kind() -> None:
    x = gs.ones(3, requires_grad=True)
    f = gs.compile(lambda x: x * 2)
    assert f(x).requires_grad
    with gs.no_grad():
        assert not f(x).requires_grad
    with gs.inference_mode():
        assert f(x).is_inference()
    assert f(x).requires_grad and len(f.programs) == 3


def test_trees_of_arguments_and_results() -> None:
    @gs.compile
    def f(params: dict[str, Any], *rest: Any) -> Any:
        return {"sum": params["a"] + params["b"][0], "rest": [r * 2 for r in rest], "n": 3, "none": None}

    found = f({"a": gs.ones(2), "b": (gs.ones(2), 1)}, gs.ones(1), gs.zeros(1))
    again = f({"a": 2 * gs.ones(2), "b": (gs.ones(2), 1)}, gs.ones(1), gs.zeros(1))
    assert same(found["sum"], gs.full((2,), 2.0)) and same(again["sum"], gs.full((2,), 3.0))
    assert again["n"] == 3 and again["none"] is None and [float(r) for r in again["rest"]] == [2.0, 0.0]


def test_many_programs_warn_and_name_what_varies() -> None:
    f = gs.compile(lambda x, lr: x * lr)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(9):
            f(gs.ones(2), 0.1 * n)
    (message,) = [str(w.message) for w in caught if "programs already" in str(w.message)]
    assert "argument 'lr' was 0.7" in message and "then 0.8" in message and "0-d tensor" in message


def test_what_shares_memory_is_part_of_the_kind() -> None:
    @gs.compile
    def f(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    assert same(f(gs.zeros(2), gs.zeros(2)), gs.zeros(2))
    both = gs.zeros(2)
    assert same(f(both, both), gs.full((2,), 2.0))
    base = gs.zeros(4)
    assert same(f(base[1:3], base[:2]), gs.tensor([0.0, 2.0]))
    base = gs.zeros(4)
    assert same(f(base[:2], base[1:3]), gs.tensor([2.0, 0.0]))


# ---- captured variables

SCALE = 2.0


def test_captured_tensors_are_read_at_each_call() -> None:
    w = gs.ones(3)
    f = gs.compile(lambda x: x * w)
    assert same(f(gs.ones(3)), gs.ones(3))
    w.mul_(5)
    assert same(f(gs.ones(3)), gs.full((3,), 5.0)) and len(f.programs) == 1


def test_ops_of_captured_tensors_alone_belong_to_the_program() -> None:
    w = gs.ones(3)
    f = gs.compile(lambda x: x + (w.exp() * w).sum().sqrt())
    f(gs.ones(3))
    w.fill_(2.0)
    assert same(f(gs.ones(3)), gs.ones(3) + (w.exp() * w).sum().sqrt())


def test_captured_variables_that_are_bound_anew_make_a_new_program() -> None:
    global SCALE
    w, factor = gs.ones(3), 1.0
    f = gs.compile(lambda x: x * w * factor * SCALE)
    assert same(f(gs.ones(3)), gs.full((3,), 2.0))
    w = gs.full((3,), 3.0)
    assert same(f(gs.ones(3)), gs.full((3,), 6.0))
    factor = 10.0
    assert same(f(gs.ones(3)), gs.full((3,), 60.0))
    SCALE = 1.0
    try:
        assert same(f(gs.ones(3)), gs.full((3,), 30.0))
    finally:
        SCALE = 2.0


def test_arrays_of_numpy_are_shared() -> None:
    array = np.ones(3, np.float32)
    f = gs.compile(lambda x: x + array)
    assert same(f(gs.ones(3)), gs.full((3,), 2.0))
    array[:] = 4
    assert same(f(gs.ones(3)), gs.full((3,), 5.0))


# ---- gradients inside and outside


@pytest.mark.parametrize(
    "transform",
    [
        func.grad, func.value_and_grad, func.jacrev, func.jacfwd, func.hessian,
        lambda f: lambda x, y: func.vjp(f, x, y)[1](gs.ones((), dtype=x.dtype)),
        lambda f: lambda x, y: func.jvp(f, (x, y), (y, x)),
        lambda f: lambda x, y: func.vmap(f)(x, y),
        lambda f: lambda x, y: func.vmap(func.grad(f))(gs.stack([x, y]), gs.stack([y, x])),
        lambda f: func.grad(lambda x, y: (func.grad(f)(x, y) ** 2).sum()),
    ],
    ids=["grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "vjp", "jvp", "vmap", "vmap_grad", "grad_grad"],
)  # fmt: skip
def test_transforms_inside(transform: Any) -> None:
    derived = transform(energy)
    f = gs.compile(derived)
    for seed in range(3):
        gs.manual_seed(seed)
        x, y = gs.randn(4, dtype=gs.float64), gs.randn(4, dtype=gs.float64)
        assert same(f(x, y), derived(x, y))
    assert len(f.programs) == 1


@pytest.mark.parametrize(
    "transform",
    [
        func.grad, func.value_and_grad, func.jacrev, func.jacfwd, func.hessian, lambda f: func.vmap(f),
        lambda f: func.grad(lambda x, y: (func.grad(f)(x, y) ** 2).sum()),
    ],
    ids=["grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "vmap", "grad_grad"],
)  # fmt: skip
def test_transforms_outside(transform: Any) -> None:
    f = gs.compile(energy)
    for seed in range(3):
        gs.manual_seed(seed)
        x, y = gs.randn(4, dtype=gs.float64), gs.randn(4, dtype=gs.float64)
        f(x, y)
        found, expected = transform(f)(x, y), transform(energy)(x, y)
        pairs = zip(found, expected) if isinstance(found, tuple) else [(found, expected)]
        for one, other in pairs:
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-13)


def test_a_compiled_call_has_one_node_and_its_gradients() -> None:
    f = gs.compile(energy)
    for _ in range(3):
        x, y = gs.randn(5, requires_grad=True), gs.randn(5, requires_grad=True)
        z = f(x * 2, y)
        assert z.grad_fn.name() == "RecordedCallBackward"
        z.backward()
        found = x.grad, y.grad
        x.grad = y.grad = None
        energy(x * 2, y).backward()
        assert same(found, (x.grad, y.grad))


def test_a_backward_without_steps_gives_gradients_too() -> None:
    f = gs.compile(lambda x: x.clone())
    for _ in range(3):
        x = gs.randn(5, requires_grad=True)
        (f(x) * 2).sum().backward()
        assert x.grad.tolist() == [2.0] * 5


def test_a_backward_reads_views_of_what_it_is_not_given() -> None:
    def scaled(x: Any, w: Any) -> Any:
        return (x * w.reshape(1, 1)).tanh()

    f = gs.compile(scaled)
    for _ in range(3):
        found = {}
        x, w = gs.randn(3, 4, requires_grad=True), gs.randn(1, requires_grad=True)
        for function in (f, scaled):
            x.grad = w.grad = None
            function(x, w).sum().backward()
            found[function] = (x.grad, w.grad)
        assert same(found[f], found[scaled])


@pytest.mark.parametrize(("rows", "size"), [(slice(1, 0), 1), (slice(1, 4), 1), (slice(1, 1), 0)])
def test_placed_gradients_that_are_broadcast(rows: slice, size: int) -> None:
    def placed(x: Any, gradient: Any) -> Any:
        return x + basic_index_backward(gradient, (5, 2), (rows,))

    f = gs.compile(placed)
    for _ in range(2):
        x, gradient = gs.randn(5, 2), gs.randn(size, 2)
        assert same(f(x, gradient), placed(x, gradient))


def test_gradients_of_many_results_at_once() -> None:
    def waves(x: Any) -> Any:
        return x.sin() * x

    f, x = gs.compile(waves), gs.randn(3)
    for _ in range(2):
        assert gs.allclose(gs.func.jacrev(f)(x), gs.func.jacrev(waves)(x))
        assert gs.allclose(gs.func.hessian(lambda x: f(x).sum())(x), gs.func.hessian(lambda x: waves(x).sum())(x))


def test_double_backward_through_a_compiled_call() -> None:
    f = gs.compile(energy)
    x, y = gs.randn(5, dtype=gs.float64, requires_grad=True), gs.randn(5, dtype=gs.float64)
    f(x, y)
    found = gs.autograd.gradgradcheck(lambda x: f(x, y), (x,))
    assert found


def with_noise(x: Any) -> Any:
    return (x * gs.rand(3, dtype=gs.float64) + gs.randn(3, dtype=gs.float64)) ** 3


def with_a_choice(x: Any) -> Any:
    chosen = gs.cond(x.sum() > 0, lambda x: x**3, gs.sin, x)
    _, halved = gs.while_loop(lambda n, y: (y * y).sum() > 1e-2, lambda n, y: (n + 1, y * y * 0.5), (gs.tensor(0), x))
    return chosen * halved


def with_itself(x: Any) -> Any:
    y = x * x
    return x, y, {"again": y}


@pytest.mark.parametrize("function", [with_noise, with_a_choice, with_itself])
def test_second_derivatives_of_calls_that_are_made_once_more(function: Any) -> None:
    def derivatives(function: Any, seed: int) -> Any:
        gs.manual_seed(seed)
        x = gs.tensor(np.random.default_rng(seed).standard_normal(3), requires_grad=True)
        results, _ = pytree.flatten(function(x))
        first = gs.rand(2)
        (gradient,) = gs.autograd.grad(sum((one * one).sum() for one in results), x, create_graph=True)
        (second,) = gs.autograd.grad((gradient * gradient).sum(), x)
        return [*results, first, gradient, second, gs.rand(2)]

    compiled = gs.compile(function)
    for seed in range(3):
        for found, expected in zip(derivatives(compiled, seed), derivatives(function, seed)):
            np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-12, atol=1e-13)


def test_gradients_of_captured_parameters_and_of_several_results() -> None:
    w = gs.randn(3, 3, requires_grad=True)
    b = (w * 2).sum(0)  # has a history of its own

    def g(x: Any) -> Any:
        return (x @ w + b).tanh(), x.sum(), gs.arange(3)

    f = gs.compile(g)
    for _ in range(2):
        x = gs.randn(2, 3, requires_grad=True)
        results = {}
        for function in (f, g):
            x.grad = w.grad = None
            y, s, n = function(x)
            assert y.requires_grad and s.requires_grad and not n.requires_grad
            (y.sum() + 3 * s).backward(retain_graph=True)
            results[function] = (x.grad, w.grad)
        assert same(results[f], results[g])


def test_unused_results_and_inputs_have_no_gradient() -> None:
    f = gs.compile(lambda x, y: (x * 2, x * 3))
    x, y = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    for _ in range(2):
        x.grad = None
        f(x, y)[1].sum().backward()
        assert same(x.grad, gs.full((2,), 3.0)) and y.grad is None


# ---- backward() and optimizers inside


def regression() -> tuple[Any, Any, Any]:
    gs.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    return model, gs.randn(16, 4), gs.randn(16, 1)


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "momentum", "scheduled", "clipped"])
def test_training_steps(kind: str, set_to_none: bool) -> None:
    found = []
    for is_compiled in (False, True):
        model, x, y = regression()
        make = {"Adam": gs.optim.Adam}.get(kind, gs.optim.SGD)
        optimizer = make(model.parameters(), lr=0.05, **({"momentum": 0.9} if kind == "momentum" else {}))
        scheduler = gs.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) if kind == "scheduled" else None

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad(set_to_none)  # noqa: B023
            loss = ((model(x) - y) ** 2).mean()  # noqa: B023
            loss.backward()
            if kind == "clipped":
                nn.utils.clip_grad_norm_(model.parameters(), 0.1)  # noqa: B023
            optimizer.step()  # noqa: B023
            if scheduler is not None:  # noqa: B023
                scheduler.step()  # noqa: B023
            return loss

        run = gs.compile(step) if is_compiled else step
        losses = [run(x, y).detach() for _ in range(6)]
        found.append([*losses, *(p.detach() for p in model.parameters()), *(p.grad for p in model.parameters())])
    assert same(found[0], found[1])


def test_gradients_accumulate() -> None:
    found = []
    for is_compiled in (False, True):
        model, x, y = regression()

        def step(x: Any, y: Any) -> Any:
            ((model(x) - y) ** 2).mean().backward()  # noqa: B023

        run = gs.compile(step) if is_compiled else step
        for _ in range(4):
            assert run(x, y) is None
        found.append([p.grad for p in model.parameters()])
    assert same(found[0], found[1])


def test_updates_in_place_without_an_optimizer() -> None:
    found = []
    for is_compiled in (False, True):
        w = gs.ones(3, requires_grad=True)

        def step(x: Any) -> Any:
            loss = ((x * w) ** 2).sum()  # noqa: B023
            (g,) = gs.autograd.grad(loss, [w])  # noqa: B023
            with gs.no_grad():
                w.sub_(0.1 * g)  # noqa: B023
            return loss.detach()

        run = gs.compile(step) if is_compiled else step
        found.append([run(gs.tensor([1.0, 2.0, 0.5])) for _ in range(5)] + [w])
    assert same(found[0], found[1])


# ---- writes and views


def test_writes_through_views() -> None:
    def g(x: Any) -> Any:
        y = x * 1
        row = y[0]
        row.add_(10)
        y[:, 1] = row.sum()
        z = y.t()
        z[2] *= 3
        return y, row, z.reshape(-1)

    f = gs.compile(g)
    for seed in range(3):
        gs.manual_seed(seed)
        x = gs.randn(3, 3)
        assert same(f(x), g(x))


def test_arguments_are_written_in_order_and_results_may_be_views_of_them() -> None:
    def g(x: Any, y: Any) -> Any:
        y.copy_(x)
        x.zero_()
        y.add_(x + 1)
        return x, y[1:], y

    f = gs.compile(g)
    for seed in range(3):
        gs.manual_seed(seed)
        x, y = gs.randn(3), gs.randn(3)
        x2, y2 = x.clone(), y.clone()
        found, expected = f(x, y), g(x2, y2)
        assert same(found, expected) and same((x, y), (x2, y2))
        assert found[0] is x and found[2] is y and found[1].data_ptr() == y[1:].data_ptr()


def test_constants_that_are_written_begin_anew() -> None:
    @gs.compile
    def f(x: Any) -> Any:
        total = gs.zeros(2)
        for _ in range(3):
            total += x
        total[0] = 7
        return total

    for _ in range(3):
        assert same(f(gs.ones(2)), gs.tensor([7.0, 3.0]))


def test_results_into_a_tensor_that_is_given() -> None:
    def g(x: Any, out: Any) -> Any:
        inner = gs.empty(3)
        gs.mul(x, 2, out=inner)
        gs.ones(3, out=out)
        values, places = gs.empty(()), gs.empty((), dtype=gs.int64)
        gs.max(x, 0, out=(values, places))
        return inner, values, places, gs.add(inner, out, out=out)

    f = gs.compile(g)
    for seed in range(2):
        gs.manual_seed(seed)
        x, out, other = gs.randn(3), gs.empty(3), gs.empty(3)
        assert same(f(x, out), g(x, other)) and same(out, other)
    with pytest.raises(TraceError, match="not resized"):
        gs.compile(lambda x: gs.mul(x, 2, out=gs.empty(0)))(gs.ones(3))


def test_arguments_that_become_views_are_refused() -> None:
    with pytest.raises(TraceError, match="of an argument itself"):
        gs.compile(lambda x: x.unsqueeze_(0))(gs.ones(3))


def test_checkpoints_and_scans_inside() -> None:
    def g(x: Any) -> Any:
        def body(x: Any) -> Any:
            return gs.utils.checkpoint.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum()

        _, rows = gs.scan(lambda p, u: (0.9 * p + u, p**2), gs.tensor(0.0), x, checkpoint=2)
        return func.grad(body)(x), rows

    f = gs.compile(g)
    for seed in range(2):
        gs.manual_seed(seed)
        x = gs.randn(4)
        assert same(f(x), g(x))


def test_results_are_new_in_each_call() -> None:
    f = gs.compile(lambda x: (x * 2, gs.ones(2)))
    first, second = f(gs.ones(2)), f(gs.ones(2))
    first[0].fill_(9), first[1].fill_(9)
    assert same(second, (gs.full((2,), 2.0), gs.ones(2))) and same(f(gs.ones(2)), second)


def test_an_error_leaves_nothing_half_written() -> None:
    state = gs.zeros(2)

    @gs.compile
    def f(x: Any) -> Any:
        state.add_(1)
        return x.reshape(5)

    with pytest.raises(RuntimeError, match="invalid for input"):
        f(gs.ones(3))
    assert same(state, gs.zeros(2))


# ---- random numbers


def test_random_numbers_are_those_of_eager() -> None:
    def g(x: Any) -> Any:
        y = x + gs.randn(3) * gs.rand_like(x)
        y = nn.functional.dropout(y, 0.5)
        return y + gs.randint(0, 5, (3,)), gs.randperm(4), gs.bernoulli(gs.full((3,), 0.5)), gs.empty(3).uniform_()

    f = gs.compile(g)
    gs.manual_seed(1)
    found = [f(gs.ones(3)) for _ in range(3)]
    gs.manual_seed(1)
    assert same(found, [g(gs.ones(3)) for _ in range(3)])


def test_seeds_inside() -> None:
    def g() -> Any:
        generator = gs.Generator().manual_seed(3)
        gs.manual_seed(5)
        return gs.rand(2, generator=generator), gs.rand(2)

    f = gs.compile(g)
    assert same(f(), g()) and same(f(), g())


# ---- escapes


@pytest.mark.parametrize(
    "escape",
    [
        lambda x: x * 2 if x.sum() > 0 else x, lambda x: x * float(x[0]), lambda x: x * x[0].item(),
        lambda x: x.numpy(), np.asarray, lambda x: x[x > 0], lambda x: x.tolist(), gs.nonzero, lambda x: x.unique(),
        lambda x: int(x.sum()), lambda x: f"{x.sum()}" and x, lambda x: x[: int(x[0])], lambda x: 1.0 in x and x,
    ],
    ids=[
        "if", "float", "item", "numpy", "array", "mask", "tolist", "nonzero", "unique", "int", "format", "slice", "in",
    ],
)  # fmt: skip
def test_escapes_name_the_line(escape: Any) -> None:
    x = gs.ones(3)
    with pytest.raises(TraceError, match=r"not possible for a tensor of a compiled function.*test_compile\.py:\d+"):
        gs.compile(escape)(x)
    with pytest.warns(UserWarning, match="run as they are"):
        f = gs.compile(escape, on_escape="eager")
        expected = escape(x)
        found = f(x)
    assert found is expected or np.array_equal(np.asarray(found), np.asarray(expected))
    f(x)  # without a further warning


def test_values_of_captured_tensors_are_escapes_too() -> None:
    w = gs.ones(2)
    with pytest.raises(TraceError, match="item"):
        gs.compile(lambda x: x * float(w[0]))(gs.ones(2))
    with pytest.raises(TraceError, match="numpy"):
        gs.compile(lambda x: x * gs.tensor(w.numpy()))(gs.ones(2))


def test_values_of_constants_are_none() -> None:
    f = gs.compile(lambda x: x * gs.arange(5).tolist()[3] + gs.tensor(2.0).item())
    assert same(f(gs.ones(2)), gs.full((2,), 5.0)) and same(f(gs.zeros(2)), gs.full((2,), 2.0))


def test_tensors_kept_from_inside_are_refused_afterwards() -> None:
    kept = np.empty(1, object)
    f = gs.compile(lambda x: (kept.__setitem__(0, x * 2), x)[1])
    f(gs.ones(2))
    with pytest.raises(TraceError):
        kept[0] + 1


def test_a_function_that_fails_raises_its_own_error_again() -> None:
    f = gs.compile(lambda x: x @ gs.ones(4, 4))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="matmul"):
            f(gs.ones(3, 3))
    assert same(f(gs.ones(3, 4)), gs.full((3, 4), 4.0))


def test_errors_of_a_program_are_those_of_the_op() -> None:
    f = gs.compile(lambda x, i: x.index_select(0, i))
    f(gs.ones(3), gs.tensor([0, 2]))
    with pytest.raises(IndexError, match="index"):
        f(gs.ones(3), gs.tensor([0, 7]))
    assert same(f(gs.ones(3), gs.tensor([1])), gs.ones(1))


# ---- modules, methods, threads


def test_modules() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    plain = copy.deepcopy(model)
    compiled = gs.compile(model)
    assert isinstance(compiled, nn.Sequential) and compiled._orig_mod is model
    assert list(compiled.state_dict()) == list(model.state_dict())
    for training in (True, False, True):
        compiled.train(training), plain.train(training)
        for seed in range(3):
            results = []
            for net in (compiled, plain):
                gs.manual_seed(seed)
                net.zero_grad()
                y = net(gs.randn(6, 4))
                y.sum().backward()
                results.append([y, *(p.grad for p in net.parameters()), *net.buffers()])
            assert same(*results)
    assert all(p is q for p, q in zip(compiled.parameters(), model.parameters()))


def test_module_compile_in_place_and_new_parameters() -> None:
    model = nn.Linear(2, 2)
    model.compile()
    x = gs.ones(1, 2)
    first = model(x)
    model.weight = nn.Parameter(gs.zeros(2, 2))
    assert same(model(x), model.bias.reshape(1, 2)) and not same(first, model(x))


def test_modules_with_escapes_run_as_they_are() -> None:
    class Chooses(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2 if x.sum() > 0 else x

    model = gs.compile(Chooses())
    with pytest.warns(UserWarning, match="run as they are"):
        assert same(model(gs.ones(2)), gs.full((2,), 2.0))
    assert same(model(-gs.ones(2)), -gs.ones(2))


def test_methods() -> None:
    class Line:
        def __init__(self, slope: Any) -> None:
            self.slope = slope

        @gs.compile
        def at(self, x: Any) -> Any:
            return self.slope * x

    one, other = Line(gs.tensor(2.0)), Line(gs.tensor(3.0))
    assert [float(line.at(gs.tensor(5.0))) for line in (one, other, one)] == [10.0, 15.0, 10.0]


def test_compiled_functions_inside_compiled_functions() -> None:
    inner = gs.compile(lambda x: x.sin())
    outer = gs.compile(lambda x: inner(x) * 2)
    assert same(outer(gs.ones(2)), gs.ones(2).sin() * 2) and same(outer(gs.zeros(2)), gs.zeros(2))
    assert not inner.programs


def test_custom_functions_inside() -> None:
    class Cube(gs.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    f = gs.compile(func.grad(lambda x: Cube.apply(x).sum()))
    for value in (1.0, 2.0):
        assert same(f(gs.full((2,), value)), gs.full((2,), 3 * value**2))


def test_threads_share_a_compiled_function() -> None:
    f = gs.compile(func.grad(lambda x: (x.sin() * x).sum()))
    f(gs.ones(4))
    wrong = []

    def work(seed: int) -> None:
        x = gs.full((4,), float(seed))
        expected = x.cos() * x + x.sin()
        for _ in range(200):
            if not np.allclose(f(x).numpy(), expected.numpy(), atol=1e-6):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert not wrong and len(f.programs) == 1


def test_another_thread_is_not_traced() -> None:
    found = []

    @gs.compile
    def f(x: Any) -> Any:
        thread = threading.Thread(target=lambda: found.append(float(gs.ones(2).sum())))
        thread.start(), thread.join()
        return x * 2

    f(gs.ones(2))
    assert found == [2.0]


@gs.compile
def doubled(x: Any) -> Any:
    return x * 2


def test_pickling() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert same(copy.deepcopy(gs.compile(len and energy))(gs.ones(2), gs.ones(2)), energy(gs.ones(2), gs.ones(2)))


# ---- options, and what is shown


def test_options() -> None:
    assert gs.compile(energy, disable=True) is energy and gs.compile(backend="eager")(energy) is energy
    with pytest.raises(RuntimeError, match="mode or options"):
        gs.compile(energy, mode="default", options={})
    with pytest.raises(ValueError, match="on_escape"):
        gs.compile(energy, on_escape="maybe")
    with pytest.raises(TypeError, match="callable"):
        gs.compile(3)
    assert gs.compile(fullgraph=True)(energy).options.on_escape == "raise"
    assert gs.compile(fullgraph=False)(energy).options.on_escape == "eager"


def test_explain() -> None:
    f = gs.compile(lambda x: ((x * 2).sin() + x).sum())
    text = f.explain(gs.ones(3))
    assert "4 steps" in text and "%1 = mul(%0, 2)" in text and "test_compile.py" in text


def test_is_compiling_and_reset() -> None:
    found = []
    f = gs.compile(lambda x: (found.append(gs.compiler.is_compiling()), x)[1])
    f(gs.ones(1))
    assert found == [True] and not gs.compiler.is_compiling()
    gs.compiler.reset()
    f(gs.ones(1))
    assert found == [True, True]


def test_an_error_after_random_numbers() -> None:
    """It is the function's own, and the numbers are drawn again by whoever comes next."""

    @gs.compile
    def f(x: Any) -> Any:
        gs.randn(3)
        raise ValueError("of the function")

    gs.manual_seed(0)
    with pytest.raises(ValueError, match="of the function"):
        f(gs.ones(3))
    found = gs.randn(2)
    gs.manual_seed(0)
    assert gs.equal(found, gs.randn(2))


# ---- formulas that look at values in eager


@pytest.mark.parametrize("transform", [gs.grad, gs.func.hessian, lambda f: gs.func.vmap(gs.grad(f))])
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_gradients_of_products(dim: int | None, transform: Any) -> None:
    """Quotients, if no factor is zero, so that infinities and NaN spoil what they do in eager; else products."""
    function = transform(lambda x: (x.prod() if dim is None else x.prod(dim)).sum())
    compiled = gs.compile(function)
    compiled(gs.ones(2, 3))
    for special in (1.0, 0.0, np.nan, np.inf):
        for other in (2.0, 0.0, -np.inf):
            x = gs.tensor([[1.5, special, 0.7], [-3.0, other, 0.1]])
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(compiled(x).numpy(), function(x).numpy())
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_tensors_without_elements_fit_beside_any_other(dim: int) -> None:
    def function(empty: Any, x: Any) -> Any:
        return gs.cat([empty, x, gs.zeros(0), x * 2], dim) + 1

    compiled = gs.compile(function)
    for _ in range(2):
        empty, x = gs.zeros(0, requires_grad=True), gs.ones(2, 3, requires_grad=True)
        found = compiled(empty, x)
        assert same(found, function(empty, x))
        found.sum().backward()
        assert empty.grad.shape == (0,) and same(x.grad, gs.full((2, 3), 3.0))


def test_gradients_of_parts_keep_the_signs_of_zeros() -> None:
    """A later gradient is added in place, to its part of the sum, so zeros elsewhere keep their signs.

    The traced run adds whole tensors instead, so only the second call is compared.
    """
    parts = {
        "turned": lambda x: gs.cat([x[1:], x[:1]]),
        "overlapping": lambda x: gs.cat([x[:3], x[1:]]),
        "picked": lambda x: x[0] + x[1],
        "turned often": lambda x: sum((gs.cat([x[i:], x[:i]]) for i in range(1, 4)), gs.zeros(4)),
    }
    x = gs.tensor([1.0, -2.0, 3.0, -4.0])
    for name, part in parts.items():
        gradient = gs.grad(lambda x, part=part: (part(x) * -0.0).sum())
        compiled = gs.compile(gradient)
        compiled(x)
        assert same(compiled(x).signbit(), gradient(x).signbit()), name


@pytest.mark.parametrize("name", ["sin", "cos", "tanh", "sigmoid", "reciprocal", "softplus", "gelu", "atan", "mul"])
def test_gradients_of_halves_are_rounded_once(name: str) -> None:
    function = getattr(gs, name, None) or getattr(nn.functional, name)
    function = (lambda x: x * x.flip(0)) if name == "mul" else function
    x = gs.linspace(-3, 3, 200, dtype=gs.float16, requires_grad=True)
    cotangent = gs.linspace(1, 2, 200, dtype=gs.float16)
    (expected,) = gs.autograd.grad(function(x), x, cotangent)
    compiled = gs.compile(function)
    inside = gs.compile(lambda x, y: gs.func.vjp(function, x)[1](y)[0])
    for _ in range(2):
        assert same(gs.autograd.grad(compiled(x), x, cotangent), (expected,))
        assert same(inside(x.detach(), cotangent), expected)
