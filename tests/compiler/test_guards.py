"""Each thing that a program takes for granted: where it differs, another one is made, and the results are right."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler.varying import what_varies
from tests.forking import answer_of_child, needs_fork
from tests.run_threads import run_threads

X = np.arange(6.0).reshape(2, 3)


def function(x: Any, y: Any = 1.0) -> Any:
    return (x * y).sin().sum(-1)


def of_modes(x: Any) -> Any:
    return x * 2, gs.is_grad_enabled(), gs.zeros(2).dtype


CASES: dict[str, tuple[Any, Any, str]] = {
    "dtype": (gs.tensor(X), gs.tensor(X, dtype=gs.float32), "argument 'x' was float64 of shape [2, 3], then float32"),
    "shape": (gs.tensor(X), gs.tensor(X[:1]), "then float64 of shape [1, 3]"),
    "layout": (gs.tensor(X), gs.tensor(X).t().contiguous().t(), "not contiguous"),
    "requires grad": (gs.tensor(X), gs.tensor(X, requires_grad=True), "requires grad"),
    "history": (gs.tensor(X, requires_grad=True), gs.tensor(X, requires_grad=True) * 1, "with a history"),
}


@pytest.mark.parametrize("name", CASES)
def test_tensors(name: str) -> None:
    first, second, words = CASES[name]
    compiled = gs.compile(function)
    for _ in range(3):
        for x in (first, second):
            np.testing.assert_array_equal(compiled(x).detach().numpy(), function(x).detach().numpy())
    assert len(compiled.programs) == 2
    known, key = list(compiled.variants)
    assert words in what_varies(function, [known], key)


def test_memory_that_arguments_share() -> None:
    def written(x: Any, y: Any) -> Any:
        x.add_(1)
        return x + y

    compiled = gs.compile(written)
    for _ in range(3):
        assert compiled(gs.ones(2), gs.ones(2)).tolist() == [3.0, 3.0]
        x = gs.ones(3)
        assert compiled(x, x).tolist() == [4.0] * 3 and compiled(x[:2], x[1:]).tolist() == [6.0, 5.0]


@pytest.mark.parametrize("is_shared_first", [True, False])
def test_arguments_of_one_shape_that_share_memory(is_shared_first: bool) -> None:
    def written(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    def differentiated(x: Any, y: Any) -> Any:
        (x * x * y).sum().backward()

    compiled, backward, recorded = gs.compile(written), gs.compile(differentiated), gs.compile(lambda x, y: x * x * y)
    for shared in [is_shared_first, not is_shared_first] * 3:
        x = gs.zeros(2)
        assert compiled(x, x if shared else gs.zeros(2)).tolist() == ([2.0, 2.0] if shared else [0.0, 0.0])
        x = gs.ones(2, requires_grad=True)
        y = x if shared else gs.ones(2, requires_grad=True)
        backward(x, y)
        assert x.grad.tolist() == ([3.0, 3.0] if shared else [2.0, 2.0])
        assert y.grad.tolist() == ([3.0, 3.0] if shared else [1.0, 1.0])
        x.grad = y.grad = None
        recorded(x, y).sum().backward()
        assert x.grad.tolist() == ([3.0, 3.0] if shared else [2.0, 2.0])


@pytest.mark.parametrize("is_shared_first", [True, False])
def test_gradients_by_arguments_that_are_the_same(is_shared_first: bool) -> None:
    gradients = gs.func.grad(lambda x, y: (x * x * y).sum(), (0, 1))
    compiled, x = gs.compile(gradients), gs.tensor([1.0, 2.0])
    for shared in [is_shared_first, not is_shared_first] * 3:
        y = x if shared else x * 2
        assert all(gs.equal(one, other) for one, other in zip(compiled(x, y), gradients(x, y)))


@pytest.mark.parametrize("value", [2.0, -0.0, 3, True, None, "text"])
def test_values(value: Any) -> None:
    def choosing(x: Any, y: Any) -> Any:
        return x if y is None or isinstance(y, str) else x / y if y else x - 1

    compiled, x = gs.compile(choosing), gs.ones(2)
    for other in (5.0, value, 5.0, value):
        assert gs.equal(compiled(x, other), choosing(x, other))
    assert len(compiled.programs) == 2
    known, key = list(compiled.variants)
    assert f"argument 'y' was 5.0, then {value!r}" in what_varies(choosing, [known], key)


def within(mode: Callable[[], Any], call: Callable[[], Any]) -> Any:
    with mode():
        return call()


@pytest.mark.parametrize("mode", [gs.no_grad, gs.inference_mode])
def test_modes(mode: Any) -> None:
    compiled, x = gs.compile(of_modes), gs.ones(2, requires_grad=True)
    for _ in range(3):
        assert compiled(x)[1] and compiled(x)[0].requires_grad
        found = within(mode, lambda: compiled(x))
        assert not found[1] and not found[0].requires_grad
    known, key = list(compiled.variants)
    assert "modes of the thread" in what_varies(of_modes, [known], key)


def test_default_dtype() -> None:
    compiled, x = gs.compile(of_modes), gs.ones(2)
    before = gs.get_default_dtype()
    try:
        for dtype in (gs.float32, gs.float64, gs.float32):
            gs.set_default_dtype(dtype)
            assert compiled(x)[2] == dtype
    finally:
        gs.set_default_dtype(before)


def test_captured_variables() -> None:
    scale: Any = gs.tensor(2.0)
    power = 2.0

    def captured(x: Any) -> Any:
        return x**power * scale

    compiled, x = gs.compile(captured), gs.tensor([1.0, 3.0])
    assert compiled(x).tolist() == [2.0, 18.0]
    scale.fill_(3.0)
    assert compiled(x).tolist() == [3.0, 27.0] and len(compiled.programs) == 1
    scale = gs.tensor(1.0)
    assert compiled(x).tolist() == [1.0, 9.0] and len(compiled.programs) == 2
    power = 3.0
    assert compiled(x).tolist() == [1.0, 27.0] and len(compiled.programs) == 3
    known, *_, key = list(compiled.variants)
    assert "captured variables" in what_varies(captured, [known], key)


def test_modules() -> None:
    layer = gs.nn.Sequential(gs.nn.Linear(2, 2), gs.nn.Dropout(0.5))
    compiled, x = gs.compile(lambda x: layer(x)), gs.ones(8, 2)
    layer.eval()
    with gs.no_grad():
        assert gs.equal(compiled(x), layer(x))
        layer[0].weight = gs.nn.Parameter(gs.ones(2, 2))
        assert gs.equal(compiled(x), layer(x))
        layer.train()
        for _ in range(2):
            gs.manual_seed(1)
            found = compiled(x)
            gs.manual_seed(1)
            assert gs.equal(found, layer(x))
    assert len(compiled.programs) == 3


def test_threads_trace_at_once() -> None:
    def slow(x: Any) -> Any:
        for _ in range(200):
            x = (x * 1.01).sin()
        return x

    compiled = gs.compile(slow)

    def work(seed: int) -> None:
        x = gs.tensor(np.random.default_rng(seed).standard_normal(5))
        for _ in range(50):
            assert gs.equal(compiled(x), slow(x))

    run_threads([partial(work, seed) for seed in range(8)])
    assert len(compiled.programs) == 1


def test_a_compiled_function_within_another_is_traced_with_it() -> None:
    inner = gs.compile(lambda x: x.sin() * 2)
    outer = gs.compile(lambda x: inner(x) + inner(x * 2))
    for number in (1.0, 2.0):
        x = gs.tensor([number])
        assert gs.equal(outer(x), x.sin() * 2 + (x * 2).sin() * 2)
    assert len(outer.programs) == 1 and not inner.programs


def test_recursion() -> None:
    @gs.compile
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    assert power(gs.tensor(2.0), 5).item() == 32.0 and power(gs.tensor(3.0), 4).item() == 81.0


@needs_fork
def test_fork() -> None:
    compiled, x = gs.compile(lambda x: (x * 2).sin()), gs.ones(3)
    expected = compiled(x).tolist()
    assert answer_of_child(lambda: (compiled(x).tolist() == expected, compiled(gs.ones(4)).shape[0])) == "(True, 4)"


# ---- overrides


class Named(gs.Tensor):
    """Results are of this class, as those of every class derived from Tensor."""


class Counting(gs.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Counting.calls += 1
        return super().__torch_function__(function, types, args, kwargs or {})


def test_arguments_whose_class_overrides_calls() -> None:
    compiled = gs.compile(lambda x: x * 2)
    for number in range(1, 4):
        assert type(compiled(gs.ones(2))) is gs.Tensor
        assert type(compiled(gs.ones(2).as_subclass(Named))) is Named
        calls = Counting.calls
        assert type(compiled(gs.ones(2).as_subclass(Counting))) is Counting
        assert Counting.calls == calls + 1, number
    assert len(compiled.programs) == 1


def test_captured_tensors_whose_class_overrides_calls() -> None:
    factor = gs.ones(2).as_subclass(Named)
    compiled = gs.compile(lambda x: x * factor)
    for _ in range(3):
        assert type(compiled(gs.ones(2))) is Named


def test_modes_that_override_calls() -> None:
    seen = []

    class Mode(gs.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    compiled, x = gs.compile(lambda x: x.sin() * 2), gs.ones(2)
    for _ in range(3):
        compiled(x)
        assert not seen
        with Mode():
            compiled(x)
        assert len(seen) == 2
        seen.clear()
