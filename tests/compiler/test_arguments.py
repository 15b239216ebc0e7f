"""Static and donated arguments."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradsmith as gs


@dataclass(frozen=True)
class Setting:
    power: int


def powered(x: Any, setting: Any, *, by: float = 1.0) -> Any:
    return x**setting.power * by


@pytest.mark.parametrize("static", ["setting", 1, ("setting",), ["setting", "by"]])
def test_equal_values_share_a_program(static: Any) -> None:
    compiled, x = gs.compile(powered, static=static), gs.tensor([1.0, 2.0])
    for _ in range(3):
        assert compiled(x, Setting(2)).tolist() == [1.0, 4.0]
        assert compiled(x, setting=Setting(3), by=2.0).tolist() == [2.0, 16.0]
    assert len(compiled.programs) == 2
    assert "pow" in compiled.explain(x, Setting(2)) and len(compiled.programs) == 2


def test_decorator_and_pickle() -> None:
    import pickle

    found = pickle.loads(pickle.dumps(gs.compile(powered, static="setting")))
    assert found(gs.ones(2), Setting(2)).tolist() == [1.0, 1.0]
    assert found.options.static == ("setting",)


def test_what_may_be_static() -> None:
    compiled = gs.compile(powered, static="setting")
    with pytest.raises(TypeError, match="'setting' is static, but is a tensor"):
        compiled(gs.ones(2), gs.ones(2))
    with pytest.raises(TypeError, match="'setting' is static and of type list, which cannot be hashed"):
        compiled(gs.ones(2), [1])
    for wrong in ("power", 7, 1.5, True):
        with pytest.raises(ValueError, match="the parameters are x, setting, by"):
            gs.compile(powered, static=[wrong])
    with pytest.raises(ValueError, match="both in static and in donate"):
        gs.compile(powered, static="x", donate="x")


def advanced(state: Any, rate: Any) -> Any:
    return {"x": state["x"] + rate}, state["x"].sum()


def test_donated_tensors_are_used_no_more() -> None:
    compiled, rate = gs.compile(advanced, donate="state"), gs.tensor(0.5)
    for _ in range(3):
        state = {"x": gs.ones(4)}
        kept = state["x"]
        found, total = compiled(state, rate)
        assert found["x"].tolist() == [1.5] * 4 and total.item() == 4.0
        uses: list[Any] = [lambda one: one["x"] + 1, lambda one: one["x"].tolist(), lambda one: one["x"].numpy()]
        for use in [*uses, lambda one: compiled(one, rate)]:
            with pytest.raises(RuntimeError, match="donated to it as 'state' is used"):
                use(state)
        assert kept.shape == (4,)
    state = {"x": gs.ones(4)}
    for _ in range(5):
        state, _ = compiled(state, rate)
    assert state["x"].tolist() == [3.5] * 4


def test_what_is_given_back_is_kept() -> None:
    compiled, x = gs.compile(lambda x: (x, x * 2), donate="x"), gs.ones(2)
    for _ in range(2):
        assert compiled(x)[0] is x
        assert (x + 1).tolist() == [2.0, 2.0]


def test_a_call_that_raises_takes_nothing() -> None:
    compiled, x = gs.compile(lambda x, i: x[i], donate="x"), gs.ones(2)
    compiled(x.clone(), gs.tensor([0]))
    with pytest.raises(IndexError):
        compiled(x, gs.tensor([5]))
    assert x.tolist() == [1.0, 1.0]


def test_what_requires_grad_is_not_given_away() -> None:
    with pytest.raises(RuntimeError, match="'x' is donated, but requires grad"):
        gs.compile(lambda x: x * 2, donate="x")(gs.ones(2, requires_grad=True))


def test_exact_and_compiler() -> None:
    assert gs.compile(lambda x: x * 2, exact=False)(gs.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="exact must be True or False"):
        gs.compile(lambda x: x, exact="no")
    with pytest.raises(ValueError, match="compiler must be None"):
        gs.compile(lambda x: x, compiler="c")


# ---- lists and dicts that the function changes


def appends(x: Any, found: list[Any]) -> Any:
    found.append((x * 2).sum())
    return x + 1


def counts(x: Any, cache: dict[str, Any]) -> Any:
    cache["n"] = cache.get("n", 0) + 1
    return x * cache["n"]


def keeps_a_state(x: Any, states: dict[str, Any]) -> Any:
    states["h"] = states["h"] * 0.5 + x
    return states["h"].sum()


def takes_out(x: Any, scales: list[float]) -> Any:
    return x * (scales.pop() if scales else 1.0)


def goes_deep(x: Any, tree: Any) -> Any:
    tree[0]["l"].append(x.sum())
    return x


def exchanges(x: Any, pair: list[Any]) -> Any:
    pair[0], pair[1] = pair[1], pair[0]
    return x * pair[0]


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (appends, list), (counts, dict), (keeps_a_state, lambda: {"h": gs.zeros(2)}), (takes_out, lambda: [2.0, 3.0]),
        (goes_deep, lambda: ({"l": []}, 1)), (exchanges, lambda: [gs.ones(2), gs.zeros(2)]),
    ],
)  # fmt: skip
def test_lists_and_dicts_that_a_function_changes(function: Any, given: Any) -> None:
    compiled, ours, theirs = gs.compile(function), given(), given()
    for n in range(4):
        x = gs.full((2,), float(n))
        assert str(compiled(x, ours)) == str(function(x, theirs)) and str(ours) == str(theirs)


def test_gradients_of_what_is_appended() -> None:
    w, found = gs.ones(2, requires_grad=True), []
    compiled = gs.compile(lambda x, w, out: out.append((x * w).sum()))
    for _ in range(3):
        compiled(gs.ones(2), w, found)
    sum(found).backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_lists_and_dicts_of_arrays_that_a_function_changes() -> None:
    array = np.ones(2)
    found: list[Any] = [array]
    cache: dict[str, Any] = {"b": 1, "a": array}

    @gs.compile
    def function(x: Any, found: list[Any], cache: dict[str, Any]) -> Any:
        found.append(np.sum(x))
        cache["c"] = x * 2
        return x * found[0]

    for n in range(3):
        function(np.full(2, float(n)), found, cache)
    assert found[0] is array and found[1:] == [0.0, 2.0, 4.0] and all(isinstance(one, np.generic) for one in found[1:])
    assert list(cache) == ["b", "a", "c"] and cache["a"] is array
    assert isinstance(cache["c"], np.ndarray) and cache["c"].tolist() == [4.0, 4.0]
