"""A program is a list of steps, each one line of Python that means the same in both libraries."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict, dataclass, field, replace

from . import prelude

# A value of a program: the result of a step, or one of several.
VALUE = re.compile(r"\bt\d+\b(?:\[\d+\])?")
STEP = re.compile(r"\bt\d+\b")
# Steps that change something besides giving a result: `.name_(`, `[] =` and the like.
WRITES = re.compile(r"\w_$|\] = |^\{0\} .{1,2}= ")


@dataclass(frozen=True)
class Step:
    """A call as Python text.

    `call` is a function (``lib.add``), a method of the first argument (``.add_``) or a text with places for the
    arguments (``{0}[{1}]``). `mode` is the text of a context manager.
    """

    call: str
    args: tuple[str, ...] = ()
    kwargs: dict[str, str] = field(default_factory=dict)
    gives: str | None = None
    mode: str | None = None

    def expression(self):
        if "{" in self.call:
            return self.call.format(*self.args)
        function, args = (self.args[0] + self.call, self.args[1:]) if self.call[0] == "." else (self.call, self.args)
        return f"{function}({', '.join([*args, *(f'{name}={text}' for name, text in self.kwargs.items())])})"

    def source(self):
        text = f"{self.gives} = {self.expression()}" if self.gives else self.expression()
        return f"with {self.mode}:\n    {text}" if self.mode else text

    def uses(self):
        """Steps whose results this one needs."""
        return set(STEP.findall(" ".join([*self.args, *self.kwargs.values()])))

    def writes(self):
        return bool(WRITES.search(self.call)) or "out" in self.kwargs

    @property
    def name(self):
        """The op's name without the form of the call."""
        return self.call.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Program:
    seed: int
    steps: tuple[Step, ...]

    def to_json(self):
        return json.dumps({"seed": self.seed, "steps": [asdict(step) for step in self.steps]})

    @staticmethod
    def from_json(text):
        data = json.loads(text)
        return Program(data["seed"], tuple(Step(**{**step, "args": tuple(step["args"])}) for step in data["steps"]))

    def without(self, numbers):
        """The program without some steps and without all that need them."""
        kept, missing = [], set()
        for number, step in enumerate(self.steps):
            if number in numbers or step.uses() & missing:
                missing |= {step.gives}
            else:
                kept.append(step)
        return replace(self, steps=tuple(kept))

    def with_step(self, number, step):
        return replace(self, steps=(*self.steps[:number], step, *self.steps[number + 1 :]))


def script_of(program):
    """The program as a script that takes the library's name: ``python script.py gradsmith`` or ``... torch``."""
    lines = []
    for step in program.steps:
        lines += ["try:", *(f"    {line}" for line in step.source().splitlines())]
        lines += ["except Exception as error:", "    print(type(error).__name__, error)"]
        if step.gives:
            lines += ["else:", f"    show({step.gives!r}, {step.gives})"]
    values = [step.gives for step in program.steps if step.gives]
    end = [f"show_end(globals(), {values!r})"]
    return "\n".join(
        [SCRIPT_HEAD, inspect.getsource(prelude).replace("import gradsmith as lib\n", ""), *lines, *end, ""]
    )


SCRIPT_HEAD = '''\
"""Run with the name of a library: gradsmith or torch."""

import importlib
import sys

lib = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "gradsmith")
'''
