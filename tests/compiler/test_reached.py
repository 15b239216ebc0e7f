"""What a function comes to by way of others: when any of it changes, a compiled call does what eager does."""

import collections
import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func, nn
from tests.compiler import settings
from tests.compiler.settings import scaled as scaled_elsewhere

SCALE = 2.0
Case = tuple[Callable[[Any], Any], Callable[[], Any]]


def ones() -> Any:
    return gs.ones(3, dtype=gs.float64)


def set_scale(value: float) -> None:
    global SCALE
    SCALE = value


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    set_scale(2.0)
    settings.scale, settings.options["power"], settings.scaled = 2.0, 2.0, scaled_elsewhere
    vars(settings.inner).clear()


def expect_as_eager(function: Callable[[Any], Any], change: Callable[[], Any]) -> None:
    x = ones()
    compiled = gs.compile(function)
    before = compiled(x)
    assert gs.equal(compiled(x), before)
    change()
    after = function(x)
    assert not (after.dtype == before.dtype and gs.equal(after, before)), "the change makes a difference in eager"
    for _ in range(2):
        found = compiled(x)
        assert found.dtype == after.dtype and gs.equal(found, after)
    assert len(compiled.programs) == 2


# ---- functions


def test_a_function_of_no_module() -> None:
    """What `exec` makes in a dict without ``__name__`` is the user's all the same."""
    layer = nn.Dropout(0.5)
    variables: dict[str, Any] = {"layer": layer, "settings": [2.0]}
    exec("def function(x): return layer(x) * settings[0]", variables)
    layer.eval()
    expect_as_eager(variables["function"], lambda: variables["settings"].__setitem__(0, 3.0))
    layer.train()
    compiled = gs.compile(variables["function"])
    compiled(ones())
    layer.eval()
    assert gs.equal(compiled(ones()), variables["function"](ones()))


def helper(x: Any) -> Any:
    return x * SCALE


def deeper(x: Any) -> Any:
    return helper(x) + 1


@functools.wraps(helper)
def wrapped(x: Any) -> Any:
    return helper(x)


@functools.cache
def factor_of(power: int) -> float:
    return 2.0**power


def closure() -> Case:
    factor = 2.0

    def inner(x: Any) -> Any:
        return x * factor

    def change() -> None:
        nonlocal factor
        factor = 5.0

    return lambda x: inner(x), change


def function_attribute() -> Case:
    def inner(x: Any) -> Any:
        return x * inner.factor  # type: ignore[attr-defined]

    inner.factor = 2.0  # type: ignore[attr-defined]
    return lambda x: inner(x), lambda: setattr(inner, "factor", 5.0)


def table_of_functions() -> Case:
    table = {"a": lambda x: x * SCALE}
    return lambda x: table["a"](x), lambda: table.update(a=lambda x: x - 1)


def list_of_functions() -> Case:
    functions: list[Any] = [gs.sin]
    return lambda x: functions[0](x), lambda: functions.__setitem__(0, gs.cos)


def more_functions() -> Case:
    functions: list[Any] = [gs.sin]
    return lambda x: sum(one(x) for one in functions), lambda: functions.append(gs.cos)


FUNCTIONS: dict[str, Callable[[], Case]] = {
    "variable of a helper": lambda: (lambda x: helper(x), lambda: set_scale(5.0)),
    "helper of a helper": lambda: (lambda x: deeper(x), lambda: set_scale(5.0)),
    "decorated": lambda: (lambda x: wrapped(x), lambda: set_scale(5.0)),
    "cached": lambda: (lambda x: x * factor_of(int(SCALE)), lambda: set_scale(5.0)),
    "partial": lambda: (functools.partial(lambda k, x: x * k * SCALE, 2.0), lambda: set_scale(5.0)),
    "compiled": lambda: (gs.compile(lambda x: x * SCALE), lambda: set_scale(5.0)),
    "gradient": lambda: (func.grad(lambda x: helper(x).sum()), lambda: set_scale(5.0)),
    "nested transforms": lambda: (
        lambda x: func.vmap(func.grad(lambda one: helper(one).sin()))(x),
        lambda: set_scale(5.0),
    ),
    "jacobian": lambda: (func.jacrev(func.grad(lambda x: helper(x).exp().sum())), lambda: set_scale(5.0)),
    "loop": lambda: (lambda x: gs.scan(lambda c, _: (helper(c), None), x, None, length=3)[0], lambda: set_scale(5.0)),
    "closure": closure,
    "attribute": function_attribute,
    "table": table_of_functions,
    "function in a table": lambda: (table_of_functions()[0], lambda: set_scale(5.0)),
    "list": list_of_functions,
    "one more": more_functions,
}


@pytest.mark.parametrize("case", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(case: Callable[[], Case]) -> None:
    expect_as_eager(*case())


# ---- modules


def imports_a_module(x: Any) -> Any:
    from tests.compiler import settings as imported

    return x * imported.scale


def imports_a_name(x: Any) -> Any:
    from tests.compiler.settings import scale

    return x * scale


MODULES: dict[str, Case] = {
    "variable": (lambda x: x * settings.scale, lambda: setattr(settings, "scale", 5.0)),
    "object": (lambda x: x + settings.inner.shift, lambda: setattr(settings.inner, "shift", 5.0)),
    "dict": (lambda x: (x + 1) ** settings.options["power"], lambda: settings.options.update(power=3.0)),
    "function": (lambda x: settings.scaled(x), lambda: setattr(settings, "scale", 5.0)),
    "imported function": (lambda x: scaled_elsewhere(x), lambda: setattr(settings, "scale", 5.0)),
    "another function": (lambda x: settings.scaled(x), lambda: setattr(settings, "scaled", lambda x: x - 1)),
    "imported inside": (imports_a_module, lambda: setattr(settings, "scale", 5.0)),
    "name imported inside": (imports_a_name, lambda: setattr(settings, "scale", 5.0)),
}


@pytest.mark.parametrize("case", MODULES.values(), ids=MODULES)
def test_modules(case: Case) -> None:
    expect_as_eager(*case)


# ---- classes and objects


def of_class(read: Callable[[type, Any, Any], Any], change: Callable[[type, Any], Any]) -> Callable[[], Case]:
    """`read` computes with a class and an object of it, and `change` changes one of these."""

    def make() -> Case:
        class Meta(type):
            level = 2.0

        class Base(metaclass=Meta):
            factor = 2.0

            def times(self, x: Any) -> Any:
                return x * self.factor

            @property
            def both(self) -> float:
                return self.factor + SCALE

            @classmethod
            def of_class(cls, x: Any) -> Any:
                return x * cls.factor

            @staticmethod
            def static(x: Any) -> Any:
                return x * SCALE

        class Child(Base):
            def by_base(self, x: Any) -> Any:
                return x * super().factor

        one = Child()
        return lambda x: read(Child, one, x), lambda: change(Child, one)

    return make


CLASSES: dict[str, Callable[[], Case]] = {
    "class": of_class(lambda cls, one, x: x * cls.factor, lambda cls, one: setattr(cls.__base__, "factor", 5.0)),
    "derived": of_class(lambda cls, one, x: x * cls.factor, lambda cls, one: setattr(cls, "factor", 5.0)),
    "object": of_class(lambda cls, one, x: x * one.factor, lambda cls, one: setattr(cls, "factor", 5.0)),
    "hidden": of_class(lambda cls, one, x: x * one.factor, lambda cls, one: setattr(one, "factor", 5.0)),
    "method": of_class(lambda cls, one, x: one.times(x), lambda cls, one: setattr(cls.__base__, "factor", 5.0)),
    "super": of_class(lambda cls, one, x: one.by_base(x), lambda cls, one: setattr(cls.__base__, "factor", 5.0)),
    "property": of_class(lambda cls, one, x: x * one.both, lambda cls, one: set_scale(5.0)),
    "class method": of_class(lambda cls, one, x: cls.of_class(x), lambda cls, one: setattr(cls, "factor", 5.0)),
    "static method": of_class(lambda cls, one, x: cls.static(x), lambda cls, one: set_scale(5.0)),
    "metaclass": of_class(lambda cls, one, x: x * cls.level, lambda cls, one: setattr(type(cls), "level", 5.0)),
    "another method": of_class(
        lambda cls, one, x: one.times(x), lambda cls, one: setattr(cls, "times", lambda self, x: x - 1)
    ),
    "method of an object": of_class(
        lambda cls, one, x: one.times(x), lambda cls, one: setattr(one, "times", lambda x: x - 1)
    ),
    "made inside": of_class(lambda cls, one, x: cls().times(x), lambda cls, one: setattr(cls, "factor", 5.0)),
    "asked for": of_class(
        lambda cls, one, x: x * getattr(one, "new", 1.0), lambda cls, one: setattr(one, "new", 5.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CLASSES.values(), ids=CLASSES)
def test_classes(case: Callable[[], Case]) -> None:
    expect_as_eager(*case())


class Slotted:
    __slots__ = ("factor",)

    def __init__(self) -> None:
        self.factor = 2.0

    def times(self, x: Any) -> Any:
        return x * self.factor


@dataclasses.dataclass(slots=True)
class Data:
    factor: Any = 2.0

    def times(self, x: Any) -> Any:
        return x * self.factor


class Named(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Values:
    def __init__(self) -> None:
        self.factor = 2.0


def held(make: Callable[[], Any], read: Callable[[Any, Any], Any], change: Callable[[Any], Any]) -> Callable[[], Case]:
    def case() -> Case:
        one = make()
        return lambda x: read(one, x), lambda: change(one)

    return case


OBJECTS: dict[str, Callable[[], Case]] = {
    "slots": held(Slotted, lambda one, x: x * one.factor, lambda one: setattr(one, "factor", 5.0)),
    "method": held(Slotted, lambda one, x: one.times(x), lambda one: setattr(one, "factor", 5.0)),
    "dataclass": held(Data, lambda one, x: one.times(x), lambda one: setattr(one, "factor", 5.0)),
    "tensor": held(lambda: Data(ones()), lambda one, x: one.times(x), lambda one: setattr(one, "factor", ones() * 2)),
    "namespace": held(
        lambda: types.SimpleNamespace(factor=2.0),
        lambda one, x: x * one.factor,
        lambda one: vars(one).update(factor=5.0),
    ),
    "function": held(
        lambda: types.SimpleNamespace(act=gs.sin), lambda one, x: one.act(x), lambda one: setattr(one, "act", gs.cos)
    ),
    "dtype": held(
        lambda: types.SimpleNamespace(to=gs.float32),
        lambda one, x: x.to(one.to),
        lambda one: setattr(one, "to", gs.int64),
    ),
    "array": held(
        lambda: types.SimpleNamespace(w=np.ones(3)),
        lambda one, x: x * gs.tensor(one.w),
        lambda one: setattr(one, "w", np.zeros(3)),
    ),
    "written array": held(
        lambda: types.SimpleNamespace(w=np.ones(3)),
        lambda one, x: x * gs.tensor(one.w),
        lambda one: one.w.__setitem__(0, 9.0),
    ),
    "array by columns": held(
        lambda: np.ones((3, 3)).T[:2], lambda one, x: x * gs.tensor(one[0]), lambda one: one.__setitem__((0, 1), 9.0)
    ),
    "number of an array": held(lambda: np.ones(3), lambda one, x: x * one[0], lambda one: one.__setitem__(0, 9.0)),
    "named dict": held(lambda: Named(a=2.0), lambda one, x: x * one.a, lambda one: one.update(a=5.0)),
    "all of a dict": held(
        lambda: {"a": 2.0}, lambda one, x: x * sum(value for _, value in one.items()), lambda one: one.update(a=5.0)
    ),
    "one more of a dict": held(
        lambda: {"a": 2.0}, lambda one, x: x * sum(value for _, value in one.items()), lambda one: one.update(b=5.0)
    ),
    "ordered dict": held(
        lambda: collections.OrderedDict(a=2.0), lambda one, x: x * one["a"], lambda one: one.update(a=5.0)
    ),
    "default dict": held(
        lambda: collections.defaultdict(float, a=2.0), lambda one, x: x * one["a"], lambda one: one.update(a=5.0)
    ),
    "user's dict": held(
        lambda: collections.UserDict(a=2.0), lambda one, x: x * one["a"], lambda one: one.update(a=5.0)
    ),
    "deque": held(
        lambda: collections.deque([2.0]), lambda one, x: x * one[0], lambda one: one.append(one.popleft() + 3)
    ),
    "set": held(lambda: {1.0}, lambda one, x: x * sum(one), lambda one: one.add(9.0)),
    "tuple": held(lambda: (Values(),), lambda one, x: x * one[0].factor, lambda one: setattr(one[0], "factor", 5.0)),
    "deep": held(
        lambda: types.SimpleNamespace(parts=(2.0, {"a": [Values()]})),
        lambda one, x: x * one.parts[1]["a"][0].factor,
        lambda one: setattr(one.parts[1]["a"][0], "factor", 5.0),
    ),
}


@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS)
def test_objects(case: Callable[[], Case]) -> None:
    expect_as_eager(*case())


# ---- modules of networks


class Layer(nn.Module):
    factor = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.act = gs.sin
        self.part = nn.LeakyReLU(0.5)

    def forward(self, x: Any) -> Any:
        return self.act(self.part(-x * self.factor)) * SCALE


def hooked(register: str, hook: Any) -> Callable[[Any], Any]:
    return lambda layer: getattr(layer.part, register)(hook)


LAYERS: dict[str, Callable[[Any], Any]] = {
    "function": lambda layer: setattr(layer, "act", gs.cos),
    "hidden": lambda layer: setattr(layer, "factor", 5.0),
    "variable": lambda layer: set_scale(5.0),
    "setting": lambda layer: setattr(layer.part, "negative_slope", 0.25),
    "part": lambda layer: setattr(layer, "part", nn.ReLU()),
    "forward": lambda layer: setattr(layer, "forward", lambda x: x - 1),
    "forward of a part": lambda layer: setattr(layer.part, "forward", lambda x: x - 1),
    "hook": hooked("register_forward_hook", lambda module, inputs, output: output * 2),
    "hook before": hooked("register_forward_pre_hook", lambda module, inputs: (inputs[0] * 2,)),
}
PLACES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda layer: layer,
    "variable": lambda layer: lambda x: layer(x),
    "list": lambda layer: functools.partial(lambda layers, x: layers[0](x), [layer]),
    "object": lambda layer: functools.partial(lambda one, x: one.net(x), types.SimpleNamespace(net=layer)),
    "sequence": lambda layer: nn.Sequential(layer),
}


@pytest.mark.parametrize("change", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_layers(place: Callable[[Any], Any], change: Callable[[Any], Any]) -> None:
    layer = Layer()
    function = place(layer)
    called = gs.compile(lambda x: function(x))
    for _ in range(2):
        assert gs.equal(called(ones()), function(ones()))
    change(layer)
    for _ in range(2):
        assert gs.equal(called(ones()), function(ones()))
    assert len(called.programs) == 2


@pytest.mark.parametrize("place", [*PLACES.values()][1:], ids=[*PLACES][1:])
def test_training(place: Callable[[Any], Any]) -> None:
    dropout = nn.Dropout(1.0)
    called = gs.compile(place(dropout))
    for _ in range(2):
        assert gs.equal(called(ones()), ones() * 0)
        dropout.eval()
        assert gs.equal(called(ones()), ones())
        dropout.train()


def test_hooks_that_are_removed() -> None:
    layer = Layer()
    called = gs.compile(lambda x: layer(x))
    expected = called(ones())
    handle = layer.register_forward_hook(lambda module, inputs, output: output * SCALE)
    assert gs.equal(called(ones()), expected * 2)
    set_scale(3.0)
    assert gs.equal(called(ones()), layer(ones()))
    handle.remove()
    set_scale(2.0)
    assert gs.equal(called(ones()), expected)
    assert len(called.programs) == 3


def test_hooks_of_all_modules() -> None:
    layer = Layer()
    called = gs.compile(lambda x: layer(x))
    expected = called(ones())
    with nn.modules.module.register_module_forward_hook(lambda module, inputs, output: output * 2):
        assert gs.equal(called(ones()), layer(ones()))
    assert gs.equal(called(ones()), expected)


def test_backwards_of_custom_functions() -> None:
    class Scaled(gs.autograd.Function):
        factor = 2.0

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * Scaled.factor

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * Scaled.factor * SCALE

    called = gs.compile(lambda x: Scaled.apply(x).sum())
    for factor, scale in ((2.0, 2.0), (3.0, 2.0), (3.0, 5.0)):
        Scaled.factor = factor
        set_scale(scale)
        for _ in range(2):
            x = ones().requires_grad_()
            called(x).backward()
            assert x.grad.tolist() == [factor * scale] * 3


# ---- what does not make another program


def counting(x: Any) -> Any:
    global calls
    calls += 1
    return x * 2


calls = 0


def test_what_a_function_changes_itself() -> None:
    memo: dict[int, float] = {}

    def remembered(n: int) -> float:
        if n not in memo:
            memo[n] = 2.0**n
        return memo[n]

    called = gs.compile(lambda x: counting(x) * remembered(len(x)))

    def call_twice() -> int:
        for size in (3, 4, 3, 4):
            assert called(gs.ones(size)).tolist() == [2 * 2.0**size] * size
        return len(called.programs)

    n_before = calls
    assert call_twice() == 4  # the first of each kind has written to `memo`
    assert call_twice() == call_twice() == 4
    assert calls == n_before + 12


def test_arrays_that_a_program_reads() -> None:
    """They need not be as they were."""
    array = np.ones(3)
    called = gs.compile(lambda x: x * array)
    for number in range(4):
        array[1] = number
        assert called(ones()).tolist() == [1, number, 1]
    assert len(called.programs) == 1


def test_what_is_not_named() -> None:
    one = types.SimpleNamespace(factor=2.0, other=1.0, note="a")
    called = gs.compile(lambda x: x * one.factor)
    for number in range(4):
        one.other, one.note, one.new = float(number), str(number), number
        assert called(ones()).tolist() == [2] * 3
    assert len(called.programs) == 1


# ---- states


def state_of_a_variable() -> Callable[[Any], Any]:
    state = ones() * 0

    def step(x: Any) -> Any:
        nonlocal state
        state = state + x
        return state * 1

    return step


class Slot:
    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = ones() * 0

    def step(self, x: Any) -> Any:
        self.state = self.state + x
        return self.state * 1


class OfClass:
    state = ones() * 0

    @classmethod
    def step(cls, x: Any) -> Any:
        cls.state = cls.state + x
        return cls.state * 1


total = ones() * 0


def step_of_module(x: Any) -> Any:
    global total
    total = total + x
    return total * 1


@pytest.mark.parametrize(
    "step",
    [state_of_a_variable(), Slot().step, OfClass.step, step_of_module],
    ids=["nonlocal", "slot", "class", "global"],
)
def test_tensors_put_elsewhere(step: Callable[[Any], Any]) -> None:
    called = gs.compile(lambda x: step(x))
    for number in range(1, 5):
        assert called(ones()).tolist() == [number] * 3
    assert len(called.programs) == 1


def test_a_variable_that_cannot_be_written_is_named() -> None:
    state: Any = gs.ones(2)

    def step(x: Any) -> Any:
        nonlocal state
        state = x * state.sum()
        return state * 1

    before = state
    with pytest.raises(gs.compiler.TraceError, match=r"into a variable of step\(\), which was one of shape \[2\]"):
        gs.compile(lambda x: step(x))(ones())
    assert state is before
