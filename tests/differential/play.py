"""One program: drawn and compared step by step, or replayed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import gradsmith as gs

from .compare import Comparison, Difference
from .explained import explanation_of
from .generate import Generator
from .machine import Machine
from .program import Program, Step


@dataclass
class Result:
    program: Program
    differences: list[Difference] = field(default_factory=list)

    @property
    def unexplained(self):
        return [d for d in self.differences if explanation_of(d) is None]


def pytorch():
    """PyTorch on one thread, or a word about where it is missing."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise SystemExit(
            "error: programs are compared with PyTorch, and this Python has none. Install torch beside gradsmith "
            "(pip install torch), or run with a Python that has it: make fuzz TORCH_PYTHON=/path/to/python"
        ) from None
    torch.set_num_threads(1)
    return torch


def play(seed: int, theirs, ours=gs, tell: Callable[[Step], None] = lambda step: None) -> Result:
    """Draw a program and compare it until something differs."""
    mine, others = Machine(ours), Machine(theirs)
    generator = Generator(seed, others)
    return _compare(seed, generator.steps(), Comparison(mine, others), generator.watched, tell)


def replay(program: Program, theirs, ours=gs, tell: Callable[[Step], None] = lambda step: None) -> Result:
    """Compare a program again, all its values after every step."""
    return _compare(program.seed, program.steps, Comparison(Machine(ours), Machine(theirs)), True, tell)


def _compare(seed: int, steps: Iterable[Step], comparison: Comparison, watched: bool, tell) -> Result:
    done: list[Step] = []
    differences: list[Difference] = []
    try:
        for step in steps:
            tell(step)
            done.append(step)
            found = comparison.run(step, watched)
            differences += found
            if comparison.diverged or not (all(map(explanation_of, found)) and comparison.accept(found)):
                break
        else:
            differences += comparison.state()
    finally:
        comparison.ours.close()
        comparison.theirs.close()
    return Result(Program(seed, tuple(done)), differences)
