"""Calls one after the other, and changes between them that a program could overlook: each does what eager does."""

import io
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

import gradsmith as gs


def seen(value: Any) -> Any:
    """What can be compared."""
    if isinstance(value, gs.Tensor):
        return value.dtype, value.requires_grad, repr(value.tolist())
    if isinstance(value, (list, tuple)):
        return type(value), [seen(one) for one in value]
    if isinstance(value, dict):
        return {name: seen(one) for name, one in value.items()}
    return type(value), repr(value)


def expect_alike(make: Any, programs: int | None = None) -> None:
    """`make` gives a function and the arguments of its calls, one after the other; and what it looks at after each."""
    histories = []
    compiled = None
    for wrap in (lambda function: function, gs.compile):
        function, calls, look = make()
        compiled = wrap(function)
        history = []
        for call in calls:
            try:
                found = seen(compiled(*call()))
            except Exception as error:
                found = type(error)
            history.append((found, seen(look())))
        histories.append(history)
    for number, (expected, found) in enumerate(zip(*histories)):
        assert found == expected, f"call {number}"
    if programs is not None:
        assert len(compiled.programs) == programs  # type: ignore[union-attr]


# ---- what is shared


def an_argument_that_shows_what_is_captured() -> Any:
    outside = gs.zeros(4)

    def f(x):
        outside.add_(1)
        return x * 2 + outside[:2].sum()

    ones = gs.ones(2)
    return f, [lambda: [ones], lambda: [outside[1:3]], lambda: [ones], lambda: [outside[:2]]], lambda: outside


def an_argument_that_shows_what_is_captured_at_first() -> Any:
    function, calls, look = an_argument_that_shows_what_is_captured()
    return function, [calls[1], calls[0], calls[3], calls[2]], look


def an_argument_that_is_captured() -> Any:
    outside = gs.ones(2)

    def f(x):
        x.mul_(2)
        return x + outside

    return f, [lambda: [outside], lambda: [gs.ones(2)], lambda: [outside], lambda: [gs.ones(2)]], lambda: outside


def arguments_that_overlap_by_more_or_less() -> Any:
    memory = gs.arange(6.0)

    def f(x, y):
        x.mul_(2)
        return y + 1

    starts = [1, 2, 0, 1, 3]
    return f, [lambda n=n: [memory[:3], memory[n : n + 3]] for n in starts], lambda: memory


def one_argument_twice_or_two_views() -> Any:
    memory = gs.arange(4.0)

    def f(x, y):
        x.add_(1)
        return x * y, x is y

    return f, [lambda: [memory, memory], lambda: [memory, memory[:]], lambda: [memory, memory]], lambda: memory


# ---- counts and lists


def a_count_whose_step_varies() -> Any:
    s = SimpleNamespace(n=0, by=[1, 1, 2, 3, 1, 1])

    def f(x):
        s.n += s.by.pop()
        return x * 2

    return f, [lambda: [gs.ones(2)]] * 6, lambda: s.n


def a_count_by_an_argument() -> Any:
    s = SimpleNamespace(n=0, last=None)

    def f(x, by):
        s.n += by
        s.last = "even" if by % 2 == 0 else "odd"
        return x * 2

    return f, [lambda by=by: [gs.ones(2), by] for by in (1, 2, 1, 1, 2, 2)], lambda: (s.n, s.last)


def a_count_beside_a_choice() -> Any:
    """Two runs that find other counts and another tensor."""
    s = SimpleNamespace(n=0, tables=[gs.ones(2), gs.zeros(2)])

    def f(x):
        s.n += 1
        table = s.tables[0]
        s.tables.reverse()
        return x + table

    return f, [lambda: [gs.ones(2)]] * 6, lambda: (s.n, s.tables)


def a_count_beside_a_result() -> Any:
    s, names = SimpleNamespace(n=0), iter("abcdefgh")

    def f(x):
        s.n += 1
        return x * 2, s.name

    def call():
        s.name = next(names)
        return [gs.ones(2)]

    return f, [call] * 6, lambda: s.n


def a_count_beside_a_constant() -> Any:
    s, numbers = SimpleNamespace(n=0), iter([1.0, 1.0, 2.0, 2.0, 3.0])

    def f(x):
        s.n += 1
        return x + gs.tensor([s.number, s.number])

    def call():
        s.number = next(numbers)
        return [gs.ones(2)]

    return f, [call] * 5, lambda: s.n


def a_count_and_what_else_is_left() -> Any:
    s, modes = SimpleNamespace(n=0, last=""), iter("aabba")

    def f(x):
        s.n += 1
        s.last = s.mode + "!"
        return x * 2

    def call():
        s.mode = next(modes)
        return [gs.ones(2)]

    return f, [call] * 5, lambda: (s.n, s.last)


# ---- iterators


def an_iterator_that_goes_on() -> Any:
    numbers, s = iter([1.0, 2.0, 3.0, 4.0, 5.0]), SimpleNamespace(left=itertools.count(3))
    return lambda x: x * next(numbers) + next(s.left), [lambda: [gs.ones(2)]] * 6, lambda: None


def a_generator_that_goes_on() -> Any:
    def halves():
        number = 1.0
        while True:
            yield number
            number /= 2

    rates = halves()
    return lambda x: x * next(rates), [lambda: [gs.ones(2)]] * 4, lambda: None


def lines_that_go_on() -> Any:
    lines = io.StringIO("1\n2\n3\n4\n")
    return lambda x: x * float(next(lines)), [lambda: [gs.ones(2)]] * 4, lambda: lines.tell()


def batches_that_go_on() -> Any:
    data = iter(gs.utils.data.DataLoader(gs.utils.data.TensorDataset(gs.arange(6.0)), batch_size=2))

    def f(x):
        (batch,) = next(data)
        return x * batch

    return f, [lambda: [gs.ones(2)]] * 4, lambda: None


class Steps:
    """An iterator of the user's, which counts in an attribute."""

    def __init__(self) -> None:
        self.n = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        self.n += 1
        return self.n


def steps_that_are_counted() -> Any:
    steps = Steps()
    return lambda x: x * next(steps), [lambda: [gs.ones(2)]] * 4, lambda: steps.n


# ---- what is put in another's place


def two_that_change_places() -> Any:
    s = SimpleNamespace(a=gs.tensor([1.0, 2.0]), b=gs.tensor([3.0, 4.0]))

    def f(x):
        s.a, s.b = s.b + x * 0, s.a + x
        return s.a * 1

    return f, [lambda: [gs.ones(2)]] * 4, lambda: (s.a, s.b)


def views_of_each_other() -> Any:
    s = SimpleNamespace(a=gs.tensor([1.0, 2.0]), b=gs.tensor([3.0, 4.0]))

    def f(x):
        both = gs.stack([s.b + x, s.a * 2])
        s.a, s.b = both[0], both[1]
        return x * 2

    return f, [lambda: [gs.ones(2)]] * 4, lambda: (s.a, s.b)


def views_that_change_places() -> Any:
    s = SimpleNamespace(a=gs.tensor([1.0, 2.0]), b=gs.tensor([3.0, 4.0]))

    def f(x):
        y = s.a * 1 + s.b * 10
        s.a, s.b = s.b.view(2), s.a.view(2)
        return x + y

    return f, [lambda: [gs.ones(2)]] * 4, lambda: (s.a, s.b)


def one_from_outside_that_is_moved() -> Any:
    s, numbers = SimpleNamespace(now=gs.ones(2), tables=[gs.ones(2), gs.zeros(2)]), iter("12345")

    def f(x):
        s.now = s.tables[0]
        return x * 2

    def call():
        s.tables[0] = gs.full((2,), float(next(numbers)))
        return [gs.ones(2)]

    return f, [call] * 5, lambda: s.now


def defaults_of_a_function_that_is_called() -> Any:
    s = SimpleNamespace(scale=2.0)

    def inner(x, state=s):
        return x * state.scale

    def f(x):
        return inner(x)

    def call(scale):
        s.scale = scale
        return [gs.ones(2)]

    return f, [lambda one=one: call(one) for one in (2.0, 3.0, 2.0, 3)], lambda: None


def a_number_that_becomes_another_kind_of_number() -> Any:
    s = SimpleNamespace(kind=1)

    def f(x):
        y = x * s.kind
        s.kind = True if s.kind == 1 and not isinstance(s.kind, bool) else 1.0
        return y

    return f, [lambda: [gs.arange(3)]] * 4, lambda: s.kind


def complex_zeros_of_either_sign() -> Any:
    s = SimpleNamespace(z=complex(-1.0, 0.0))

    def f(x, z):
        return (x * z).sqrt(), gs.full((2,), s.z).sqrt()

    def call(z):
        s.z = z
        return [gs.ones(2, dtype=gs.complex128), z]

    numbers = [complex(-1.0, 0.0), complex(-1.0, -0.0)] * 2
    return f, [lambda z=z: call(z) for z in numbers], lambda: None


def tuples_of_another_kind() -> Any:
    s = SimpleNamespace(numbers=None)

    def f(x, settings):
        return x * s.numbers[0], x / s.numbers[1], x * settings.factors[0]

    def call(numbers):
        s.numbers = numbers
        return [gs.arange(3), SimpleNamespace(factors=numbers)]

    tuples = [(1, 0.0), (1.0, 0.0), (True, -0.0), (1, -0.0), (1, 0.0)]
    return f, [lambda n=n: call(n) for n in tuples], lambda: None


def keys_of_another_kind() -> Any:
    def f(x, key):
        return x * max(key), x / min(key)

    keys = [frozenset({1, 2}), frozenset({1.0, 2}), frozenset({1, 2.0}), frozenset({0.0, 1}), frozenset({-0.0, 1})]
    return f, [lambda k=k: [gs.arange(3), k] for k in keys], lambda: None


def members_of_another_kind() -> Any:
    s = SimpleNamespace(numbers={1, 2})

    def f(x):
        return x * max(s.numbers)

    def call(numbers):
        s.numbers.clear()
        s.numbers.update(numbers)
        return [gs.arange(3)]

    return f, [lambda n=n: call(n) for n in ({1, 2}, {1.0, 2.0}, {1, 2})], lambda: None


CASES = [
    an_argument_that_shows_what_is_captured,
    an_argument_that_shows_what_is_captured_at_first,
    an_argument_that_is_captured,
    arguments_that_overlap_by_more_or_less,
    one_argument_twice_or_two_views,
    a_count_whose_step_varies,
    a_count_by_an_argument,
    a_count_beside_a_choice,
    a_count_beside_a_result,
    a_count_beside_a_constant,
    a_count_and_what_else_is_left,
    an_iterator_that_goes_on,
    a_generator_that_goes_on,
    lines_that_go_on,
    batches_that_go_on,
    steps_that_are_counted,
    two_that_change_places,
    views_of_each_other,
    views_that_change_places,
    one_from_outside_that_is_moved,
    defaults_of_a_function_that_is_called,
    a_number_that_becomes_another_kind_of_number,
    complex_zeros_of_either_sign,
    members_of_another_kind,
    tuples_of_another_kind,
    keys_of_another_kind,
]


@pytest.mark.parametrize("make", CASES)
def test_calls(make: Any) -> None:
    expect_alike(make)


def test_a_state_that_becomes_of_another_dtype_is_refused() -> None:
    s = SimpleNamespace(h=gs.tensor([1.0, 2.0], dtype=gs.float64))

    def f(x):
        y = x + s.h
        s.h = y.to(gs.float32)
        return y

    with pytest.raises(gs.compiler.TraceError, match="which was one of shape .* and float64 before"):
        gs.compile(f)(gs.ones(2))
    assert s.h.tolist() == [1, 2]
