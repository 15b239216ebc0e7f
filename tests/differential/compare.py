"""Differences between what two libraries made of the same step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .machine import Facts, Machine, Outcome
from .program import Step

# Rounding errors of one op that are no difference, in units of the last place of the largest number involved.
UNITS = 32
# Gradients have come through several ops, some of which were near a pole.
GRADIENT_UNITS = 2048
# Ops that give a view, or the tensor itself, where its memory lies right, else a copy.
DEPEND_ON_LAYOUT = ("reshape", "reshape_as", "flatten", "ravel", "contiguous")
# After the label of a hook that was called with None.
UNDEFINED = " (None)"
EPSILONS = {
    name: float(np.finfo(name).eps) for name in ("float16", "float32", "float64", "complex64", "complex128")
} | {"complex32": float(np.finfo("float16").eps)}


@dataclass(frozen=True)
class Difference:
    aspect: str  # "error", "error type", "value", "gradient", "hook", or a field of Facts
    where: str  # the value looked at
    step: Step
    ours: Any
    theirs: Any
    operands: tuple[Facts, ...] = ()  # of the step, as they are for PyTorch after it
    history: tuple[Step, ...] = ()

    def kind(self):
        """Features that a smaller program must share with this one."""
        return self.aspect, self.step.call, self.ours if self.aspect.startswith("error") else None

    def __str__(self):
        return (
            f"{self.aspect} of {self.where} after `{self.step.source()}`\n"
            f"  gradsmith: {self.ours}\n  PyTorch:   {self.theirs}"
        )


@dataclass
class Comparison:
    """Two machines that have done the same so far."""

    ours: Machine
    theirs: Machine
    history: tuple[Step, ...] = ()
    diverged: bool = False  # a step failed in both, and PyTorch had changed something before it did
    accepted: set[tuple[str, str]] = field(default_factory=set)  # (value, aspect) that are known to differ
    first_versions: dict[str, int] = field(default_factory=dict)  # by how much PyTorch's began higher

    def run(self, step: Step, everything: bool) -> list[Difference]:
        """Carry the step out in both; what differs then."""
        before = self._snapshot() if step.writes() else {}
        ours, theirs = self.ours.run(step), self.theirs.run(step)
        self.step, self.operands = step, self._operands(step, self.theirs)
        self.by_rows = all(map(lies_by_rows, (*self.operands, *self._operands(step, self.ours))))
        found = self._outcomes(ours, theirs)
        if not found and ours.error:
            found = self._changed_by_failing(before)
            self.diverged = not found and (bool(self._logs()) or bool(self.state()))
        elif not found:
            found = self._results(ours.value, theirs.value) or self._logs()
            if found and not (step.writes() or "backward" in step.call):
                found = [d for d in self.state() if not self._is_new(d.where)] or found  # differed before
            if not found and (everything or step.writes() or "backward" in step.call):
                found = self.state()
        self.history += (step,)
        found = [d for d in found if (d.where, d.aspect) not in self.accepted]
        if not found and not self.diverged:
            self._make_equal()
        return found

    def accept(self, differences: list[Difference]) -> bool:
        """Go on in spite of differences that are explained, if that is possible."""
        for difference in differences:
            if difference.aspect in ("version", "is_view", "strides", "identity"):
                self.accepted.add((difference.where, difference.aspect))
            elif difference.aspect == "error" and is_left_out(difference.step):
                for machine in (self.ours, self.theirs):
                    machine.names.pop(difference.step.gives, None)
            elif difference.aspect != "error type" or difference.step.writes():
                return False
        return True

    def _snapshot(self):
        return {name: self.ours.facts(tensor) for name, tensor in self.ours.tensors().items()}

    def _changed_by_failing(self, before):
        """A step that fails changes nothing."""
        after, found = self._snapshot(), []
        for name, was in before.items():
            if not same_facts(was, after[name]):
                found.append(self._difference("changed by a failing step", name, after[name], was))
        return found

    def _operands(self, step, machine):
        tensors = machine.tensors()
        named = [name for name in tensors if name.split("[")[0] in step.uses()]
        return tuple(machine.facts(tensors[name]) for name in named)

    def _difference(self, aspect, where, ours, theirs):
        return Difference(aspect, where, self.step, ours, theirs, self.operands, self.history)

    def _outcomes(self, ours: Outcome, theirs: Outcome):
        texts = [f"{o.error}: {o.message}" if o.error else "no error" for o in (ours, theirs)]
        if (ours.error is None) != (theirs.error is None):
            return [self._difference("error", "the step", *texts)]
        if not comparable(ours.error, theirs.error):
            return [self._difference("error type", "the step", *texts)]
        return []

    def _results(self, ours, theirs):
        name = self.step.gives or "the result"
        mine, others = self.ours.tensors_in(name, ours), self.theirs.tensors_in(name, theirs)
        if list(mine) != list(others):
            return [self._difference("structure", name, list(mine), list(others))]
        if not mine and not same_plain(ours, theirs):
            return [self._difference("plain value", name, ours, theirs)]
        found = []
        for key in mine:
            found += self._identity(key, mine[key], others[key]) + self._tensors(key, mine[key], others[key])
        return found

    def _identity(self, key, ours, theirs):
        """Whether the result is an object that was there before."""
        same = [
            [name for name, tensor in machine.tensors().items() if tensor is value and name != key]
            for machine, value in ((self.ours, ours), (self.theirs, theirs))
        ]
        return [self._difference("identity", key, *same)] if same[0] != same[1] and not self._lies_otherwise() else []

    def _lies_otherwise(self):
        """Whether the step gives a view where memory lies so, and an operand lies as neither library promises."""
        mine, others = ([x.strides for x in self._operands(self.step, m)] for m in (self.ours, self.theirs))
        return self.step.name in DEPEND_ON_LAYOUT and mine != others

    def _tensors(self, name, ours, theirs, aspect="value"):
        mine, others = self.ours.facts(ours), self.theirs.facts(theirs)
        if mine.dtype != others.dtype:
            return [self._difference("dtype", name, mine.dtype, others.dtype)]
        found = []
        for item in fields(Facts):
            pair = getattr(mine, item.name), getattr(others, item.name)
            if item.name in ("array", "start", "strides", "version", "is_view") or pair[0] == pair[1]:
                continue
            if aspect == "value" or item.name in ("dtype", "shape", "requires_grad"):
                found.append(self._difference(item.name, name, *pair))
        if found:
            return found
        if aspect == "value" and mine.version != others.version - self._first_version(name, mine, others):
            return [self._difference("version", name, mine.version, others.version)]
        if self._is_new(name) and mine.is_view != others.is_view and self._is_shared(theirs):
            if self._lies_otherwise():
                return []
            return [self._difference("is_view", name, mine.is_view, others.is_view)]
        if aspect == "value" and not self._same_strides(name, mine, others):
            found.append(self._difference("strides", name, mine.strides, others.strides))
        if not close(mine.array, others.array, self._scale(), self._tolerance(others, aspect)):
            found.append(self._difference(aspect, name, mine.array, others.array))
        return found

    def _first_version(self, name, mine, others):
        """Some of PyTorch's functions write to their result before they give it; only later writes count."""
        if name.startswith("the result"):  # has no name that later steps could write to
            return others.version - mine.version
        begins_here = self._is_new(name) or self.step.gives is None
        return self.first_versions.setdefault(name, others.version - mine.version if begins_here else 0)

    def _is_new(self, name):
        return self.step.gives is not None and name.split("[")[0] == self.step.gives

    def _is_shared(self, tensor):
        """Whether PyTorch's tensor is a view of what the program has a name for, not of something inside the op."""
        array = self.theirs.array(tensor)
        others = (other for other in self.theirs.tensors().values() if other is not tensor)
        return any(np.may_share_memory(array, self.theirs.array(other)) for other in others)

    def _tolerance(self, facts, aspect):
        """The distance that is rounding, relative to the largest number involved."""
        if facts.dtype not in EPSILONS:
            return 0.0
        if aspect == "value" and "grad" not in self.step.call and self.step.call != "parts":
            return UNITS * max(EPSILONS.get(dtype, 0.0) for dtype in (facts.dtype, *(x.dtype for x in self.operands)))
        dtypes = (str(x.dtype).removeprefix("torch.") for x in self.theirs.tensors().values())
        return GRADIENT_UNITS * max(EPSILONS.get(dtype, 0.0) for dtype in (facts.dtype, *dtypes))

    def _same_strides(self, name, mine, others):
        """Strides are promised for views, and for what is computed from operands that lie by rows."""
        if all(a == b or n == 1 for n, a, b in zip(mine.shape, mine.strides, others.strides)) or not others.array.size:
            return True
        if not others.is_view and not (self._is_new(name) and self.by_rows):
            return True
        if [x.strides for x in self.operands] == [x.strides for x in self._operands(self.step, self.ours)]:
            return False
        self.accepted.add((name, "strides"))  # a view of something that lies as neither library promises
        return True

    def _scale(self):
        """The largest finite number among the operands."""
        sizes = [
            np.abs(x.array[np.isfinite(x.array)]).max(initial=0) for x in self.operands if x.array.dtype.kind in "fc"
        ]
        return float(max(sizes, default=0))

    def _logs(self):
        mine, others = self._log(self.ours), self._log(self.theirs)
        labels = [
            [label if t is not None else f"{label}{UNDEFINED}" for label, t in entries] for entries in (mine, others)
        ]
        if labels[0] != labels[1]:
            return [self._difference("order of hooks", "the log", *labels)]
        found = []
        for (label, a), (_, b) in zip(mine, others):
            if (a is None) != (b is None):
                found.append(self._difference("hook", label, a, b))
            elif a is not None:
                found += self._tensors(label, a, b, "hook")
        return found

    def _log(self, machine):
        """Gradients that hooks saw in the last step, where the nodes are of one kind: PyTorch composes some ops."""
        entries = list(machine.log())
        machine.log().clear()
        ours, theirs = self.ours.names["nodes"], self.theirs.names["nodes"]
        return [(label, tensor) for label, tensor in entries if ours.get(label) == theirs.get(label)]

    def state(self):
        """Differences among all values of the program and their gradients."""
        found = self._all_values()
        return [d for d in found if (d.where, d.aspect) not in self.accepted]

    def _all_values(self):
        mine, others = self.ours.tensors(), self.theirs.tensors()
        found = []
        for name in others:
            if different := self._tensors(name, mine[name], others[name]):
                found += different
                continue
            a, b = self.ours.gradient(mine[name]), self.theirs.gradient(others[name])
            if (a is None) != (b is None):
                found.append(self._difference("gradient", f"{name}.grad", a, b))
            elif b is not None:
                found += self._tensors(f"{name}.grad", a, b, "gradient")
        return found

    def _make_equal(self):
        """Give our values the bits of PyTorch's, so that rounding errors do not grow from step to step."""
        mine, others = self.ours.tensors(), self.theirs.tensors()
        for name, tensor in others.items():
            self._give_bits(mine[name], tensor)
            gradients = self.ours.gradient(mine[name]), self.theirs.gradient(tensor)
            if None not in gradients:
                self._give_bits(*gradients)

    def _give_bits(self, ours, theirs):
        target, source = self.ours.array(ours), self.theirs.array(theirs)
        if target.dtype.kind in "fc" and target.tobytes() != source.tobytes() and target.flags.writeable:
            target[...] = source


def is_left_out(step: Step):
    """Whether the program can go on as if the step, which only one library takes, were not there."""
    return not step.writes() and not re.search("grad|backward", step.call)


def comparable(ours: str | None, theirs: str | None):
    """Would a handler of the one exception catch the other; NotImplementedError is a RuntimeError.

    PyTorch's `linalg.LinAlgError` calls itself `_LinAlgError`.
    """
    ours, theirs = (name and name.removeprefix("_") for name in (ours, theirs))
    return ours == theirs or {ours, theirs} == {"RuntimeError", "NotImplementedError"}


def lies_by_rows(facts: Facts):
    return are_by_rows(facts.shape, facts.strides)


def are_by_rows(shape: Sequence[int], strides: Sequence[int]):
    """Whether strides are those of a new array; a dimension of size one may have any."""
    expected, following = 1, []
    for size in reversed(shape):
        following.append(expected)
        expected *= size
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, reversed(following)))


def same_facts(one: Facts, other: Facts):
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") if isinstance(a, np.ndarray) else a == b
        for a, b in ((getattr(one, f.name), getattr(other, f.name)) for f in fields(Facts))
    )


def close(ours: np.ndarray, theirs: np.ndarray, scale: float, tolerance: float):
    """Whether two arrays are equal up to rounding; not-a-number is equal to itself."""
    if ours.dtype.kind not in "fc":
        return np.array_equal(ours, theirs)
    scale += largest(theirs)
    if ours.dtype.kind == "c":
        return all(close(a, b, scale, tolerance) for a, b in ((ours.real, theirs.real), (ours.imag, theirs.imag)))
    with np.errstate(all="ignore"):
        finite = np.isfinite(theirs)
        if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True):
            return False
        distance = np.abs(ours[finite].astype(np.longdouble) - theirs[finite])
        return bool(np.all(distance <= tolerance * scale + float(np.finfo(ours.dtype).tiny)))


def largest(array: np.ndarray):
    with np.errstate(all="ignore"):
        sizes = np.abs(array)
        return float(sizes[np.isfinite(sizes)].max(initial=0))


def same_plain(ours, theirs):
    if isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(same_plain, ours, theirs))
    if isinstance(theirs, (float, complex)):
        return close(np.array(ours, complex), np.array(theirs, complex), 0, 1e-6)
    return ours == theirs or type(theirs).__module__.startswith("torch")
