"""Random programs with views, writes, hooks and constants: their derivatives are those of the same NumPy program.

``GRADSMITH_EXAMPLES=5000 pytest tests/runtime/engine/test_random_graphs.py`` looks for what a few programs do not show.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_programs import BINARY, FACTORS, MODES, NUDGE, START, UNARY, VIEWS, WRITES, Machine, Model, Step, execute

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("GRADSMITH_EXAMPLES", "0"))
bounded = settings(
    max_examples=EXAMPLES or 200,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
)
LEAVES = [np.array([[0.3, -0.7, 0.9], [0.5, 0.2, -0.4]]), np.array([0.8, -0.6, 0.1])]
CONSTANT = np.array([[0.4], [-0.9]])
DIRECTIONS = [np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -1.1]]), np.array([0.6, 1.3, -0.8])]
SECONDS = [np.array([[0.2, 0.9, -0.4], [1.5, -0.6, 0.8]]), np.array([-0.7, 0.1, 1.2])]
STEP = 1e-4  # of differences between gradients, whose error is of its square

KINDS = {"unary": len(UNARY), "binary": len(BINARY), "view": len(VIEWS), "write": len(WRITES)}


@st.composite
def steps(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    place = st.integers(0, 11)
    which = draw(st.integers(0, KINDS[kind] - 1))
    return Step(kind, which, draw(place), draw(place), draw(st.sampled_from(MODES)), draw(st.sampled_from(FACTORS)))


programs = st.lists(steps(), min_size=1, max_size=10)


# ---- what NumPy says


def modelled(program, **options):
    """The model after its run, and its total."""
    model = Model(**{"leaves": LEAVES, "constant": CONSTANT, **options})
    execute(program, model)
    return model, model.total()


def slope(program, nudges, **options):
    """Derivative of the total along nudges."""
    return modelled(program, nudges=nudges, **options)[1].imag / NUDGE


def tame(program, below=100, **options):
    """The model; programs whose numbers grow beyond what can be compared are left out."""
    with np.errstate(all="ignore"):
        model, _ = modelled(program, **options)
        assume(all(np.isfinite(v.array).all() and (abs(v.array) < below).all() for v in model.pool))
    return model


def expected_gradient(program, model, place):
    """With respect to the last content of a value that is no view, element by element."""
    memory = model.pool[place].memory
    gradient = np.zeros(memory.array.shape)
    for index in np.ndindex(gradient.shape):
        direction = np.zeros(gradient.shape)
        direction[index] = 1
        gradient[index] = slope(program, [(place, memory.made, direction)], constants=model.constants)
    return gradient


def along(directions):
    return [(place, START, direction) for place, direction in enumerate(directions)]


def expected_second(program, model, directions):
    """Gradient of the slope along `directions`, by differences."""
    gradients = [np.zeros(leaf.shape) for leaf in LEAVES]
    for place, gradient in enumerate(gradients):
        for index in np.ndindex(gradient.shape):
            ends = []
            for sign in (1, -1):
                leaves = [leaf.copy() for leaf in LEAVES]
                leaves[place][index] += sign * STEP
                ends.append(slope(program, along(directions), leaves=leaves, constants=model.constants))
            gradient[index] = (ends[0] - ends[1]) / (2 * STEP)
    return gradients


# ---- what gradsmith says


def leaves_of(requires_grad=True):
    return [gs.tensor(leaf, requires_grad=requires_grad) for leaf in LEAVES]


def recorded(program, leaves):
    machine = Machine(leaves, gs.tensor(CONSTANT))
    execute(program, machine)
    return machine


def compare(found, expected, rtol=1e-9, atol=1e-9):
    if found is None:
        np.testing.assert_allclose(expected, 0, atol=atol)
    else:
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=rtol, atol=atol)


def unless_refused(model, compute):
    """The result of `compute`; None when it is refused because a saved tensor has changed, as the model knows."""
    try:
        return compute()
    except RuntimeError as error:
        assert "has been modified by an inplace operation" in str(error), error
        assert model.may_be_refused, "refused, though nothing that is kept has changed"
        return None


def inputs_of(model):
    """Places of the values that a gradient may be asked for."""
    return [place for place, value in enumerate(model.pool) if value.requires_grad and not value.is_view]


# ---- the comparisons


@bounded
@given(programs)
def test_values(program):
    model = tame(program)
    machine = recorded(program, leaves_of())
    for value, x in zip(model.pool, machine.pool, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), value.array.real, rtol=1e-12, atol=1e-12)
        assert x.requires_grad == value.requires_grad
        assert x._version == value.memory.version


@bounded
@given(programs, st.integers(1, 255))
def test_gradients_of_some_values(program, chosen):
    """Of leaves and of intermediate values, whichever bits of `chosen` say; the graph is run twice."""
    model = tame(program)
    machine = recorded(program, leaves_of())
    places = [place for bit, place in enumerate(inputs_of(model)) if chosen >> bit % 8 & 1]
    assume(places)
    inputs = [machine.pool[place] for place in places]
    total = machine.total()
    for keep in (True, False):
        found = unless_refused(model, lambda keep=keep: grad(total, inputs, retain_graph=keep, allow_unused=True))
        if found is None:
            return
        for place, gradient in zip(places, found, strict=True):
            compare(gradient, expected_gradient(program, model, place))
    assert all(leaf.grad is None for leaf in machine.pool[: len(LEAVES)])


@bounded
@given(programs)
def test_accumulated_and_retained_gradients(program):
    model = tame(program)
    machine = recorded(program, leaves_of())
    places = inputs_of(model)
    for place in places:
        machine.pool[place].retain_grad()
    done = unless_refused(model, lambda: [machine.total().backward()])
    if done:
        for place in places:
            compare(machine.pool[place].grad, expected_gradient(program, model, place))


@bounded
@given(programs)
def test_gradients_of_gradients(program):
    program = [step.twice_differentiable() for step in program]
    model = tame(program, below=4)
    machine = recorded(program, leaves_of())
    leaves = machine.pool[: len(LEAVES)]

    def second():
        firsts = grad(machine.total(), leaves, create_graph=True, materialize_grads=True)
        along = sum((first * gs.tensor(d)).sum() for first, d in zip(firsts, DIRECTIONS, strict=True))
        return grad(along, leaves, materialize_grads=True) if along.requires_grad else [None] * len(leaves)

    found = unless_refused(model, second)
    if found is not None:
        for gradient, expected in zip(found, expected_second(program, model, DIRECTIONS), strict=True):
            compare(gradient, expected, rtol=1e-5, atol=1e-5)


def tangent_of(x):
    tangent = unpack_dual(x).tangent
    return gs.zeros(tuple(x.shape)) if tangent is None else tangent


@bounded
@given(programs)
def test_tangents(program):
    """Forward mode computes under no_grad too, and passes hooks by."""
    tame(program, reverse=False)
    with dual_level():
        duals = [make_dual(x, gs.tensor(d)) for x, d in zip(leaves_of(False), DIRECTIONS, strict=True)]
        tangent = tangent_of(recorded(program, duals).total())
    model, _ = modelled(program, reverse=False)
    expected = slope(program, along(DIRECTIONS), reverse=False, constants=model.constants)
    compare(tangent, expected)


@bounded
@given(programs)
def test_tangents_of_tangents(program):
    """Two levels, along two directions."""
    program = [step.plain() for step in program]
    model = tame(program, below=4, reverse=False)
    with dual_level():
        outer = [make_dual(x, gs.tensor(d)) for x, d in zip(leaves_of(False), SECONDS, strict=True)]
        with dual_level():
            duals = [make_dual(x, gs.tensor(d)) for x, d in zip(outer, DIRECTIONS, strict=True)]
            first = tangent_of(recorded(program, duals).total())
        second = tangent_of(first)
    gradients = []
    for sign in (1, -1):
        leaves = [leaf + sign * STEP * d for leaf, d in zip(LEAVES, SECONDS, strict=True)]
        gradients.append(slope(program, along(DIRECTIONS), leaves=leaves, reverse=False, constants=model.constants))
    compare(second, (gradients[0] - gradients[1]) / (2 * STEP), rtol=1e-5, atol=1e-5)


@bounded
@given(programs)
def test_tangents_of_gradients(program):
    """Forward over reverse."""
    program = [step.plain() for step in program]
    model = tame(program, below=4)

    def second():
        with dual_level():
            duals = [make_dual(x, gs.tensor(d)) for x, d in zip(leaves_of(), DIRECTIONS, strict=True)]
            machine = recorded(program, duals)
            return [tangent_of(g) for g in grad(machine.total(), duals, materialize_grads=True)]

    found = unless_refused(model, second)
    if found is not None:
        for tangent, expected in zip(found, expected_second(program, model, DIRECTIONS), strict=True):
            compare(tangent, expected, rtol=1e-5, atol=1e-5)
