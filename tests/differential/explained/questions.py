"""Questions about a difference: its step, the steps before it, and the values they gave."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..compare import Difference
from ..program import Step


def only_pytorch_refuses(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.ours == "no error" and bool(pattern.search(difference.theirs))
        )

    return applies


def only_we_refuse(*messages: str) -> Callable[[Difference], bool]:
    pattern = re.compile("|".join(messages))

    def applies(difference: Difference) -> bool:
        return (
            difference.aspect == "error" and difference.theirs == "no error" and bool(pattern.search(difference.ours))
        )

    return applies


def into_out(*messages: str) -> Callable[[Difference], bool]:
    """PyTorch refuses an `out`."""
    return lambda difference: "out" in difference.step.kwargs and only_pytorch_refuses(*messages)(difference)


def sources(steps: Sequence[Step], names: Iterable[str | None]) -> set[str | None]:
    """These values and all that they were made of."""
    found = set(names)
    for step in reversed(steps):
        if step.gives in found:
            found |= step.uses()
    return found


def of_call(*names: str, aspects: tuple[str, ...]) -> Callable[[Difference], bool]:
    return lambda difference: difference.aspect in aspects and any(name in difference.step.call for name in names)


def result_of(difference: Difference, *names: str) -> bool:
    """Does the step use a result of one of these, or is the difference in one."""
    makers = [step for step in difference.history if any(name in step.call for name in names)]
    return bool({difference.where.split("[")[0], *difference.step.uses()} & {step.gives for step in makers})


def beside(difference: Difference, *names: str) -> bool:
    """The same of a result or an operand of one of these, which in PyTorch share memory."""
    calls = [step for step in difference.history if any(name in step.call for name in names)]
    tensors = {name for step in calls for name in (step.gives, *step.uses())}
    return bool({difference.where.split("[")[0], *difference.step.uses()} & tensors)


def made_of(steps: Sequence[Step], names: Iterable[str | None]) -> set[str | None]:
    """These values and all that was made of them, some of which are views."""
    found = set(names)
    for step in steps:
        if step.uses() & found:
            found.add(step.gives)
    return found - {None}


def called_before(difference: Difference, *names: str) -> bool:
    """Whether a step of the program has called one of these."""
    return any(name in step.call for step in (*difference.history, difference.step) for name in names)


def made_by(difference: Difference, *names: str) -> bool:
    """Whether the value looked at is a result of one of these."""
    name = difference.where.split("[")[0]
    makers = [step.call for step in (*difference.history, difference.step) if step.gives == name]
    return any(name in call for call in makers for name in names)


def is_floating(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"
