"""Random programs of ops, views and writes, run by gradsmith and by plain NumPy alike.

A program is a list of `Step`s, each of which works on a pool of values and may add one. `execute` says once what the
steps mean; two machines carry them out. `Machine` runs them on tensors. `Model` runs them on complex NumPy arrays,
where views share memory by themselves: the imaginary part that a tiny imaginary nudge of an input leaves in the result
is the derivative (complex step), exact and without any rule for it. Constants of reverse mode are not
computed anew in nudged runs but taken from the first one.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import gradsmith as gs

NUDGE = 1e-30
START = -1  # the step before the first
UNARY = ("sin", "tanh", "exp", "neg", "square")
BINARY = ("add", "mul", "sub")
VIEWS = {
    "first": lambda x: x[0, ...],
    "last": lambda x: x[-1, ...],
    "tail": lambda x: x[1:],
    "every other": lambda x: x[..., ::2],
    "columns": lambda x: x[..., 1:],
    "transposed": lambda x: x.T,
    "unsqueezed": lambda x: x[None],
}
WRITES = ("add_", "sub_", "mul_", "copy_", "sin_", "tanh_", "neg_", "zero_", "scale_")
# Ways to record a step.
RECORDED, NO_GRAD, DETACHED = "recorded", "no_grad", "detached"
MODES = (RECORDED, RECORDED, RECORDED, NO_GRAD, DETACHED)
# A hook on the result multiplies its gradient by one of these; None stands for no hook.
FACTORS = (None, None, None, -2.0, 0.5)


class Step(NamedTuple):
    """One step; numbers are taken modulo what there is to choose from, so that every program means something."""

    kind: str  # "unary", "binary", "view" or "write"
    which: int  # op of this kind
    first: int  # value of the pool
    second: int  # another one
    mode: str = RECORDED
    factor: float | None = None

    def plain(self):
        """The same step with nothing that reverse mode and forward mode see differently."""
        return self._replace(mode=RECORDED, factor=None)

    def twice_differentiable(self):
        """Without a hook on a result that its own node keeps: in second derivatives it would count twice."""
        names = {"unary": UNARY, "write": WRITES}.get(self.kind)
        keeps_result = names is not None and names[self.which % len(names)] in ("tanh", "exp", "tanh_")
        return self._replace(factor=None) if keeps_result else self


def execute(program, machine):
    """Carry the steps out in the machine's pool; what a step asks for and cannot be is left out."""
    for number, step in enumerate(program):
        pool = machine.pool
        a, b = pool[step.first % len(pool)], pool[step.second % len(pool)]
        if step.kind == "view":
            if machine.shape(a) and all(machine.shape(a)):
                pool.append(machine.view(list(VIEWS.values())[step.which % len(VIEWS)], a))
        elif step.kind == "write":
            machine.write(number, step, WRITES[step.which % len(WRITES)], a, b)
        elif step.kind == "unary":
            pool.append(machine.compute(number, step, UNARY[step.which % len(UNARY)], [a]))
        elif broadcast(machine.shape(a), machine.shape(b)) is not None:
            pool.append(machine.compute(number, step, BINARY[step.which % len(BINARY)], [a, b]))
    return pool


def broadcast(*shapes):
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def takes_operand(write):
    return write in ("add_", "sub_", "mul_", "copy_")


def weights(shape):
    """Weights of the elements of a value in the final sum, all different."""
    return np.cos(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape)


# ---- NumPy


@dataclass
class Memory:
    """An array that is no view, and what a graph would know of it."""

    array: np.ndarray
    is_leaf: bool = False
    requires_grad: bool = False
    version: int = 0
    made: int = START  # number of the step that gave it its last history


@dataclass
class Value:
    memory: Memory
    array: np.ndarray  # the memory's, or a view of it

    @property
    def is_view(self):
        return self.array is not self.memory.array

    @property
    def requires_grad(self):
        return self.memory.requires_grad


@dataclass
class Model:
    """Runs a program in NumPy; `constants` are filled by the first run and read by nudged ones."""

    leaves: list
    constant: np.ndarray
    reverse: bool = True  # reverse mode's view of what is constant and of what hooks do; else forward mode's
    constants: dict = field(default_factory=dict)
    nudges: list = field(default_factory=list)  # (place in the pool, step after which, direction)
    saved: list = field(default_factory=list)  # (memory, version) of everything that a node would keep

    def __post_init__(self):
        self.first_run = not self.constants
        self.pool = [self._leaf(x, self.reverse) for x in self.leaves] + [self._leaf(self.constant, False)]
        self._nudge(START)

    def _leaf(self, array, requires_grad):
        array = np.array(array, complex)
        return Value(Memory(array, requires_grad, requires_grad), array)

    def shape(self, value):
        return value.array.shape

    def view(self, take, a):
        return Value(a.memory, take(a.array))

    def compute(self, number, step, op, operands):
        result = np.asarray(NUMPY[op](*[x.array for x in operands]))
        if step.mode == DETACHED or (step.mode == NO_GRAD and self.reverse):
            result = self._constant(number, result)
        value = Value(memory := Memory(result), result)
        memory.made = number
        if step.mode == RECORDED and any(x.requires_grad for x in operands):
            memory.requires_grad = True
            self._keep(op, operands, memory)
        self.pool.append(value)
        self._nudge(number)
        self.pool.pop()
        self._hook(number, step, memory)
        return value

    def write(self, number, step, op, target, operand):
        memory = target.memory
        if step.mode == RECORDED and memory.is_leaf:
            return
        if takes_operand(op) and broadcast(target.array.shape, operand.array.shape) != target.array.shape:
            return
        before = target.array.copy()
        after = np.broadcast_to(NUMPY[op](before, operand.array), before.shape)
        if step.mode == DETACHED or (step.mode == NO_GRAD and self.reverse):
            after = before + self._constant(number, after - before)
        memory_before = memory.requires_grad
        memory.version += 1
        target.array[...] = after
        if step.mode != RECORDED:
            return
        operands = [target, operand] if takes_operand(op) else [target]
        if any(x.requires_grad for x in operands):
            memory.requires_grad = True
            memory.made = number
            if op == "mul_" and memory_before:
                self.saved.append((operand.memory, operand.memory.version - (operand.memory is memory)))
            if op == "tanh_":
                self.saved.append((memory, memory.version))
            self._nudge(number)
            if not target.is_view:
                self._hook(number, step, memory)

    def _keep(self, op, operands, memory):
        if op == "mul":
            a, b = operands
            kept = [a.memory] * b.requires_grad + [b.memory] * a.requires_grad
        else:
            kept = {"sin": [operands[0].memory], "square": [operands[0].memory], "tanh": [memory], "exp": [memory]}.get(
                op, []
            )
        self.saved += [(m, m.version) for m in kept]

    def _hook(self, number, step, memory):
        """A hook that multiplies the gradient is a function with this slope through the same value."""
        if step.factor is not None and self.reverse and memory.requires_grad:
            value = self._constant(("hook", number), memory.array)
            memory.array[...] = value + step.factor * (memory.array - value)

    def _constant(self, key, array):
        if self.first_run:
            self.constants[key] = array.copy()
        return self.constants[key].copy()

    def _nudge(self, number):
        for place, step, direction in self.nudges:
            if step == number:
                self.pool[place].memory.array[...] += NUDGE * 1j * direction

    def total(self):
        return sum((value.array * weights(value.array.shape)).sum() for value in self.pool)

    @property
    def may_be_refused(self):
        """Something that a node keeps has been changed since."""
        return any(memory.version != version for memory, version in self.saved)


NUMPY = {
    "sin": np.sin,
    "tanh": np.tanh,
    "exp": np.exp,
    "neg": np.negative,
    "square": lambda x: x * x,
    "add": np.add,
    "mul": np.multiply,
    "sub": np.subtract,
    "add_": np.add,
    "sub_": np.subtract,
    "mul_": np.multiply,
    "copy_": lambda x, y: y,
    "sin_": lambda x, y: np.sin(x),
    "tanh_": lambda x, y: np.tanh(x),
    "neg_": lambda x, y: -x,
    "zero_": lambda x, y: np.zeros_like(x),
    "scale_": lambda x, y: x * 0.5,
}


# ---- gradsmith


class Machine:
    """Runs a program on tensors. Hooks go on the results that the model has hooks on."""

    def __init__(self, leaves, constant):
        self.pool = [*leaves, constant]
        self.leaves = {id(x) for x in leaves if x.requires_grad}
        self.roots = {id(x): x for x in self.pool}  # the tensors that are no views

    def shape(self, x):
        return tuple(x.shape)

    def view(self, take, x):
        return take(x)

    def compute(self, number, step, op, operands):
        if step.mode == DETACHED:
            operands = [x.detach() for x in operands]
        with gs.set_grad_enabled(step.mode != NO_GRAD):
            result = operands[0] * operands[0] if op == "square" else getattr(gs, op)(*operands)
        self.roots[id(result)] = result
        self._hook(step, result)
        return result

    def write(self, number, step, op, target, operand):
        takes = takes_operand(op)
        if takes and broadcast(self.shape(target), self.shape(operand)) != self.shape(target):
            return
        root = target if target._base is None else target._base
        if step.mode == RECORDED and id(root) in self.leaves:
            self._refused(op, target, operand)
            return
        with gs.set_grad_enabled(step.mode != NO_GRAD):
            if step.mode == DETACHED:
                self._write(op, target.detach(), operand.detach())
            else:
                self._write(op, target, operand)
        if step.mode == RECORDED and id(target) in self.roots:
            self._hook(step, target)

    def _write(self, op, target, operand):
        if op == "scale_":
            target.mul_(0.5)
        elif takes_operand(op):
            getattr(target, op)(operand)
        else:
            getattr(target, op)()

    def _refused(self, op, target, operand):
        before = target.detach().clone()
        try:
            self._write(op, target, operand)
        except RuntimeError as error:
            assert "leaf Variable that requires grad" in str(error) or "made of a tensor that requires" in str(error)
            assert target.detach().tolist() == before.tolist()
        else:
            raise AssertionError(f"{op} changed a leaf that requires grad")

    def _hook(self, step, result):
        if step.factor is not None and result.requires_grad:
            result.register_hook(lambda gradient, factor=step.factor: gradient * factor)

    def total(self):
        return sum((x * gs.tensor(weights(tuple(x.shape)))).sum() for x in self.pool)
