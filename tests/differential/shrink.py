"""Makes a failing program small: fewer steps, and simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .program import Program, Step

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, attempts: int = 400) -> Program:
    """The smallest program found that still fails; `fails` is asked at most so many times."""
    left = attempts
    smaller: Program | None = program
    while smaller is not None:
        program, smaller = smaller, None
        for candidate in candidates_for(program):
            if left == 0:
                return program
            left -= 1
            if fails(candidate):
                smaller = candidate
                break
    return program


def candidates_for(program: Program) -> Iterator[Program]:
    """Simpler programs, those first that leave most away."""
    count = len(program.steps)
    size = count // 2
    while size:
        for start in range(0, count, size):
            yield program.without(set(range(start, start + size)))
        size //= 2
    for number, step in enumerate(program.steps):
        for simpler in simpler_steps(step):
            yield program.with_step(number, simpler)


def simpler_steps(step: Step) -> Iterator[Step]:
    if step.mode:
        yield replace(step, mode=None)
    for name in step.kwargs:
        yield replace(step, kwargs={key: text for key, text in step.kwargs.items() if key != name})
    if step.call == "make":
        numbers, dtype, shape = step.args
        if dtype != "'float64'":
            yield replace(step, args=(numbers, "'float64'", shape))
        if numbers not in ("'small'", "'normal'") and numbers[0] == "'":
            yield replace(step, args=("'normal'", dtype, shape))
        if shape not in ("()", "(2,)") and numbers[0] == "'":
            yield replace(step, args=(numbers, dtype, "(2,)"))
