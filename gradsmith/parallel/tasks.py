"""Tasks, and what comes of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gradsmith.parallel.errors import Failure
from gradsmith.runtime.tensors.factories.random import own_generator, put_own_generator, seeded_lazily
from gradsmith.runtime.tensors.factories.sources import generator_behind

Function = Callable[..., Any]


class Task(NamedTuple):
    """One call of the function."""

    number: int
    args: tuple[Any, ...]
    seed: int


class Outcome(NamedTuple):
    """What a task has given: a value unless there is a failure."""

    number: int
    value: Any = None
    failure: Failure | None = None


class Lost(NamedTuple):
    """Tasks that were given to a worker that has ended; it was at the first of them."""

    tasks: Sequence[Task]
    reason: str
    may_be_tried_again: bool = True


def tasks_of(columns: Sequence[Any], base: int) -> Iterator[Task]:
    """A task for each element, until the shortest of the iterables ends."""
    for number, args in enumerate(zip(*columns)):
        yield Task(number, args, seed_of(base, number))


def new_base() -> int:
    """The number from which the seeds of all tasks follow, drawn from the default generator."""
    return int(generator_behind(None).numpy.integers(1 << 62))


def seed_of(base: int, index: int) -> int:
    """Far from that of any other task, and of any task of a map within a task."""
    return int.from_bytes(hashlib.blake2b(f"{base} {index}".encode(), digest_size=8).digest(), "little")


def run_task(function: Function, task: Task) -> Outcome:
    """Call the function in this thread, which draws from a generator of the task's."""
    before = own_generator()
    put_own_generator(seeded_lazily(task.seed))
    try:
        return Outcome(task.number, function(*task.args))
    except BaseException as error:
        return Outcome(task.number, failure=Failure(error))
    finally:
        put_own_generator(before)
