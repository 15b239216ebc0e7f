"""no_grad, enable_grad, set_grad_enabled: blocks, decorators, generators, threads."""

import asyncio
import inspect
import itertools
import threading

import pytest

import gradsmith as gs
from gradsmith.autograd.forward_ad import set_fwd_grad_enabled
from gradsmith.runtime.calls.forward_ad import is_forward_enabled
from gradsmith.runtime.history.accumulate_grad import is_grad_layout_enforced


@pytest.fixture(autouse=True)
def recording_is_on():
    assert gs.is_grad_enabled()
    yield
    assert gs.is_grad_enabled()


def test_blocks_nest_and_restore():
    with gs.no_grad():
        assert not gs.is_grad_enabled()
        with gs.enable_grad():
            assert gs.is_grad_enabled()
        assert not gs.is_grad_enabled()


def test_one_instance_entered_inside_itself():
    mode = gs.no_grad()
    with mode:
        with gs.enable_grad(), mode, mode:
            assert not gs.is_grad_enabled()
        assert not gs.is_grad_enabled()


MODES = {
    "no_grad": gs.no_grad,
    "enable_grad": gs.enable_grad,
    "inference_mode": gs.inference_mode,
    "inference_mode(False)": lambda: gs.inference_mode(False),
}


@pytest.mark.parametrize("others", list(itertools.product(MODES, repeat=2)))
@pytest.mark.parametrize("name", MODES)
def test_each_entry_of_one_instance_restores_what_it_found(name, others):
    """Nested in any other modes, and in itself."""

    def state():
        return gs.is_grad_enabled(), gs.is_inference_mode_enabled()

    mode = MODES[name]()

    def enter(depth):
        found = state()
        with mode:
            inside = state()
            with mode:
                assert state() == inside
            assert state() == inside
            if depth < len(others):
                with MODES[others[depth]]():
                    enter(depth + 1)
            assert state() == inside
        assert state() == found

    for _ in range(2):
        enter(0)


def test_restored_when_the_block_raises():
    with pytest.raises(ZeroDivisionError), gs.no_grad():
        _ = 1 / 0


@pytest.mark.parametrize("mode", [gs.no_grad, gs.no_grad()])
def test_decorator_with_and_without_parentheses(mode):
    @mode
    def f(n):
        """Doc."""
        return gs.is_grad_enabled() if n == 0 else f(n - 1)

    assert f(3) is False
    assert f.__name__ == "f" and f.__doc__ == "Doc."


def test_decorator_over_methods():
    class Thing:
        @gs.no_grad
        def plain(self):
            return self, gs.is_grad_enabled()

        @gs.no_grad()
        def called(self):
            return self, gs.is_grad_enabled()

    thing = Thing()
    assert thing.plain() == thing.called() == (thing, False)


def test_generators_have_the_mode_only_while_they_run():
    @gs.no_grad()
    def steps():
        seen = yield gs.is_grad_enabled()
        try:
            yield seen, gs.is_grad_enabled()
        except KeyError:
            yield "caught", gs.is_grad_enabled()
        return "end"

    generator = steps()
    assert next(generator) is False
    assert gs.is_grad_enabled()
    assert generator.send(7) == (7, False)
    assert generator.throw(KeyError()) == ("caught", False)
    assert gs.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"


def test_coroutines_have_the_mode_only_while_they_run():
    seen = []

    @gs.no_grad()
    async def without():
        seen.append(gs.is_grad_enabled())
        await asyncio.sleep(0)
        seen.append(gs.is_grad_enabled())
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.001)
        seen.append(gs.is_grad_enabled())
        return "result"

    async def others():
        for _ in range(20):
            assert gs.is_grad_enabled()
            await asyncio.sleep(0)

    async def together():
        return await asyncio.gather(without(), others(), without(), others())

    assert inspect.iscoroutinefunction(without)
    assert asyncio.run(together()) == ["result", None, "result", None]
    assert seen == [False] * 6 and gs.is_grad_enabled()


def test_asynchronous_generators_have_the_mode_only_while_they_run():
    closed = []

    @gs.no_grad()
    async def steps():
        try:
            sent = yield gs.is_grad_enabled()
            await asyncio.sleep(0)
            try:
                yield sent, gs.is_grad_enabled()
            except KeyError:
                yield "caught", gs.is_grad_enabled()
            yield "last"
        finally:
            closed.append(gs.is_grad_enabled())

    async def use():
        generator = steps()
        assert await generator.__anext__() is False
        assert gs.is_grad_enabled()
        assert await generator.asend(7) == (7, False)
        assert await generator.athrow(KeyError()) == ("caught", False)
        assert gs.is_grad_enabled()
        await generator.aclose()
        assert closed == [False] and gs.is_grad_enabled()
        assert [item async for item in steps()] == [False, (None, False), "last"]

    assert inspect.isasyncgenfunction(steps)
    asyncio.run(use())


def test_set_grad_enabled_switches_at_once():
    gs.set_grad_enabled(False)
    assert not gs.is_grad_enabled()
    with gs.set_grad_enabled(True):
        assert gs.is_grad_enabled()
    assert not gs.is_grad_enabled()
    gs.set_grad_enabled(True)

    @gs.set_grad_enabled(False)
    def f():
        return gs.is_grad_enabled()

    assert gs.is_grad_enabled()
    assert f() is False


def test_each_thread_has_its_own():
    seen = []
    with gs.no_grad():
        thread = threading.Thread(target=lambda: seen.append(gs.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


SWITCHES = [
    (gs.autograd.set_multithreading_enabled, gs.autograd.is_multithreading_enabled),
    (gs.autograd.enforce_grad_layout_policy, is_grad_layout_enforced),
    (set_fwd_grad_enabled, is_forward_enabled),
]


@pytest.mark.parametrize(("switch", "state"), SWITCHES)
def test_other_switches_of_a_thread(switch, state):
    """At once, in blocks, as decorators of functions and generators, each thread for itself."""
    seen = []

    @switch(False)
    def function():
        return state()

    @switch(False)
    def generator():
        yield state()
        yield state()

    assert state() and function() is False and state()
    running = generator()
    assert next(running) is False and state() and next(running) is False
    with switch(False):
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
        with switch(True):
            assert state()
        assert not state()
    assert state() and seen == [True]
    switch(False)
    assert not state()
    switch(True)
    assert state()


@pytest.mark.parametrize(
    "make_mode",
    [gs.no_grad, lambda: gs.no_grad, gs.inference_mode, lambda: gs.inference_mode, lambda: gs.set_grad_enabled(False)],
)
def test_a_decorated_class_makes_its_instances_in_the_mode(make_mode):
    class Thing:
        def __init__(self, size=1):
            self.size, self.recorded = size, gs.is_grad_enabled() and not gs.is_inference_mode_enabled()

        def recording(self):
            return gs.is_grad_enabled()

    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        make = make_mode()(Thing)
    thing = make(size=2)
    assert type(thing) is Thing and thing.size == 2 and not thing.recorded and thing.recording()


def test_what_is_recorded():
    x = gs.ones(2, requires_grad=True)
    with gs.no_grad():
        assert not (x * 2).requires_grad
        with gs.enable_grad():
            assert (x * 2).requires_grad
        assert gs.ones(2, requires_grad=True).requires_grad
