"""`gradsmith.futures`, with and without a collective behind them."""

import logging
import threading

import pytest

import gradsmith as gs

futures = gs.futures
dist = gs.distributed


def test_a_value_goes_to_all_who_ask():
    future = futures.Future()
    seen = []
    future.add_done_callback(lambda one: seen.append(one.value()))
    following = future.then(lambda one: one.value() + 1).then(lambda one: one.value() * 2)
    assert not future.done() and not following.done()
    with pytest.raises(RuntimeError, match="not complete"):
        future.value()
    future.set_result(3)
    assert future.done() and future.wait() == future.value() == 3
    assert following.done() and following.wait() == 8 and seen == [3]
    assert future.then(lambda one: -one.value()).value() == -3  # at once
    with pytest.raises(RuntimeError, match="complete already"):
        future.set_result(4)


def test_an_error_goes_on():
    future = futures.Future()
    following = future.then(lambda one: one.wait() + 1)
    future.set_exception(ArithmeticError("no value"))
    for one in (future, following):
        with pytest.raises(ArithmeticError, match="no value"):
            one.wait()
    failing = future.then(lambda one: [][1])
    with pytest.raises(IndexError):
        failing.value()
    with pytest.raises(TypeError, match="is of type int, not an Exception"):
        future.set_exception(3)


def test_an_error_of_a_callback_is_logged(caplog):
    future = futures.Future()
    future.add_done_callback(lambda one: [][1])
    with caplog.at_level(logging.ERROR):
        future.set_result(1)
    assert "IndexError" in caplog.text and future.value() == 1


def test_another_thread_gives_the_value():
    future = futures.Future()
    threading.Timer(0.05, lambda: future.set_result("it")).start()
    assert future.then(lambda one: one.value().upper()).wait() == "IT"


def test_many():
    several = [futures.Future() for _ in range(3)]
    collected = futures.collect_all(several)
    for number, future in enumerate(several):
        assert not collected.done()
        future.set_result(number)
    assert [future.value() for future in collected.wait()] == futures.wait_all(several) == [0, 1, 2]
    assert futures.collect_all([]).wait() == []
    failed = futures.Future()
    failed.set_exception(ValueError("one of them"))
    with pytest.raises(ValueError, match="one of them"):
        futures.wait_all([*several, failed])


def test_of_a_collective():
    dist.init_process_group()
    try:
        x = gs.ones(2)
        works = [dist.all_reduce(x, async_op=True) for _ in range(2)]
        first, second = (work.get_future() for work in works)
        doubled = first.then(lambda future: future.value()[0] * 2)
        assert doubled.wait().tolist() == [2, 2] and second.done()
        assert futures.wait_all([first, second])[0][0] is x
    finally:
        dist.destroy_process_group()
