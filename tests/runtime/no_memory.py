"""Memory that runs out at any moment: MemoryError, nothing is changed, and the same call is right the next time."""

import gc

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad
from gradsmith.autograd.graph import saved_tensors_hooks
from gradsmith.generated.op_table import OPS
from gradsmith.profiler import profile
from gradsmith.runtime.graph.node import live_nodes
from gradsmith.runtime.graph.tensor import live_tensors
from gradsmith.runtime.history.observers import is_watching
from gradsmith.runtime.tensors.entry_points import run_grad
from gradsmith.verify.calls import call, call_method, function_of, outputs_of, split_arguments
from gradsmith.verify.samples import as_tensors, at, cases_of, key_of, leaves_among, replaced

_testcapi = pytest.importorskip("_testcapi")

ENOUGH = 8  # calls in a row that succeed: none of their requests was the one to be refused


def attempt(function, state, number):
    """Call with the `number`-th request for memory refused. True when it succeeds in spite of that, or made fewer."""
    try:
        _testcapi.set_nomemory(number, number + 1)
        function(state)
    except MemoryError:
        return False
    finally:
        _testcapi.remove_mem_hooks()
    return True


def assert_survives(prepare, function, most=400):
    """`function` of what `prepare` gives is called with each of its requests for memory refused in turn."""
    expected = description(function(prepare()))
    successes, number = 0, 0
    while successes < ENOUGH and number < most:
        state = prepare()
        before = description(state)
        if attempt(function, state, number):
            successes += 1
        else:
            successes = 0
            assert description(state) == before, f"changed after request {number} was refused"
            assert description(function(state)) == expected, f"wrong after request {number} was refused"
        number += 1
    assert successes == ENOUGH, "it never succeeds"


def description(value):
    """All that may not change, with every number of a tensor and of its gradient."""
    if isinstance(value, gs.Tensor):
        grad = value.grad if value.is_leaf else None
        history = (value.requires_grad, type(value.grad_fn), value._version)
        return (value.shape, value.dtype, value.detach().numpy().tobytes(), history, description(grad))
    if isinstance(value, (list, tuple)):
        return [description(part) for part in value]
    if isinstance(value, dict):
        return [description(part) for part in value.values()]
    return value if isinstance(value, (int, float, str, type(None))) else type(value)


def leaf(*values):
    return gs.tensor(np.array(values or (1.0, 2.0)), requires_grad=True)


# ---- every op


def is_fit(case):
    gs.manual_seed(0)
    one, other = (description(outputs_of(call(case.row, as_tensors(case.values())))) for _ in range(2))
    return one == other  # no random numbers


# Ops that NumPy's own functions compute, or their derivatives, are left out: short of memory these may crash, or raise
# nothing.
DERIVED_BY_NUMPY = ("tetragamma_loop", "special_spherical_bessel_j0")
OURS = [
    row
    for row in OPS
    if row.samples and row.forward.startswith(("ufunc(", "pointwise(")) and row.base not in DERIVED_BY_NUMPY
]
FIRST = [case for case in (cases_of(row)[0] for row in OURS) if is_fit(case)]
RECORDED = [case for case in FIRST if case.inputs]
IN_PLACE = [case for case in RECORDED if "inplace" in case.row.forms]


def caller(row):
    """A function that calls the op. An internal one is imported beforehand: an import fails in Python's own way."""
    if "internal" not in row.forms:
        return lambda values: call(row, values)
    function = function_of(row)

    def call_it(values):
        positional, keywords = split_arguments(row, values)
        return function(*positional, **keywords)

    return call_it


def ids(cases):
    return [key_of(case.row) for case in cases]


@pytest.mark.parametrize("case", RECORDED, ids=ids(RECORDED))
def test_recorded(case):
    op = caller(case.row)

    def prepare():
        tensors = as_tensors(case.values())
        leaves_among(tensors, case.inputs)
        return tensors

    assert_survives(prepare, lambda tensors: outputs_of(op(tensors)))


@pytest.mark.parametrize("create_graph", [False, True], ids=["", "graph"])
@pytest.mark.parametrize("case", RECORDED, ids=ids(RECORDED))
def test_backward(case, create_graph):
    def prepare():
        tensors = as_tensors(case.values())
        leaves = leaves_among(tensors, case.inputs)
        roots = [result for result in outputs_of(call(case.row, tensors)) if result.requires_grad]
        return leaves, roots, [gs.ones_like(root.detach()) for root in roots]

    def gradients(state):
        leaves, roots, weights = state
        return run_grad(roots, weights, True, create_graph, leaves, True)

    if prepare()[1]:
        assert_survives(prepare, gradients)


@pytest.mark.parametrize("through_view", [False, True], ids=["", "view"])
@pytest.mark.parametrize("case", IN_PLACE, ids=ids(IN_PLACE))
def test_in_place(case, through_view):
    def prepare():
        tensors = as_tensors(case.values())
        leaves_among(tensors, case.inputs)
        base = gs.stack([tensors["self"], tensors["self"]]) if through_view else tensors["self"] * 1
        return {**tensors, "self": base[0] if through_view else base}, base

    def write(state):
        tensors, base = state
        call_method(case.row, tensors, name=f"{case.row.base}_")
        return base

    try:
        write(prepare())
    except RuntimeError:
        return  # this sample does not go in place
    assert_survives(prepare, write)


@pytest.mark.parametrize("case", RECORDED, ids=ids(RECORDED))
def test_forward_mode(case):
    op = caller(case.row)

    def prepare():
        tensors = as_tensors(case.values())
        primals = {place: at(tensors, place) for place in case.inputs}
        duals = {place: forward_ad.make_dual(tensor, gs.ones_like(tensor)) for place, tensor in primals.items()}
        return replaced(tensors, duals)

    def tangents_of(duals):
        return [tuple(forward_ad.unpack_dual(result)) for result in outputs_of(op(duals))]

    with forward_ad.dual_level():
        assert_survives(prepare, tangents_of)


# ---- runs of the engine


def chain(x):
    y = x
    for _ in range(4):
        y = (y * 1.5).sin() + x
    return y.sum()


def fan(x):
    """More nodes than the queue has room for, and a node with more edges than fit on the stack."""
    parts = [(x * number).exp() for number in range(20)]
    return gs.stack(parts).sum() + sum(part.sum() for part in parts)


def hooked(x):
    y = x * 2
    x.register_hook(lambda grad: grad * 2)
    y.register_hook(lambda grad: grad + 1)
    y.retain_grad()
    y.grad_fn.register_hook(lambda outgoing, incoming: None)
    y.grad_fn.register_prehook(lambda incoming: None)
    return (y * y).sum() + x.sum()


def reentrant(x):
    """The run inside meets nodes that the run around it uses."""
    y = x.exp()
    total = (y * y).sum()
    runs = []

    def again(grad):
        if not runs:
            runs.append(True)
            try:
                return grad + run_grad([total], [gs.ones_like(total.detach())], True, False, [y])[0]
            finally:
                runs.clear()

    y.register_hook(again)
    return total


@pytest.mark.parametrize("graph", [chain, fan, hooked, reentrant], ids=lambda graph: graph.__name__)
@pytest.mark.parametrize("create_graph", [False, True], ids=["", "graph"])
def test_runs(graph, create_graph):
    """A gradient that was waiting when a run failed must not be added to by the next one."""

    def prepare():
        x = leaf()
        total = graph(x)
        return x, total, gs.ones_like(total.detach())

    def run(state):
        x, total, one = state
        return run_grad([total], [one], True, create_graph, [x])

    assert_survives(prepare, run)


def test_nothing_is_left():
    def prepare():
        x = leaf()
        total = fan(x)
        return x, total, gs.ones_like(total.detach())

    def run(state):
        x, total, one = state
        return run_grad([total], [one], True, False, [x])

    run(prepare())
    gc.collect()
    before = live_tensors(), live_nodes()
    for number in range(150):
        attempt(run, prepare(), number)
    gc.collect()
    assert (live_tensors(), live_nodes()) == before


def test_accumulation():
    """Gradients that have arrived by then stay; another backward is right in any case."""
    for number in range(60):
        x = leaf()
        y = chain(x)
        (expected,) = gs.autograd.grad(y, x, retain_graph=True)
        attempt(lambda y: y.backward(retain_graph=True), y, number)
        x.grad = None
        y.backward()
        assert x.grad.tolist() == expected.tolist()


# ---- what is switched on in between


def test_a_profile_that_cannot_begin():
    """Its end is Python's code alone, in which Python 3.13 itself crashes where memory is short."""
    for number in range(80):
        session = profile(profile_memory=True)
        if attempt(profile.start, session, number):
            session.stop()
        assert not is_watching(), f"request {number}"


def test_a_retained_gradient_follows_the_write():
    def prepare():
        x = leaf()
        y = x * 2
        y.retain_grad()
        return x, y

    def write(state):
        x, y = state
        y.mul_(3)
        y.sum().backward()
        return y.grad, x.grad

    expected = description(write(prepare()))
    for number in range(60):
        state = prepare()
        try:
            _testcapi.set_nomemory(number, number + 1)
            state[1].mul_(3)
        except MemoryError:
            _testcapi.remove_mem_hooks()
            assert state[1].tolist() == [2, 4]
            state[1].mul_(3)
        finally:
            _testcapi.remove_mem_hooks()
        state[1].sum().backward()
        assert description((state[1].grad, state[0].grad)) == expected


def test_saved_tensor_hooks():
    def gradient(x):
        y = chain(x)
        return run_grad([y], [gs.ones_like(y.detach())], False, False, [x])

    with saved_tensors_hooks(lambda tensor: tensor.detach().numpy(), gs.tensor):
        assert_survives(leaf, gradient, most=2000)


# ---- compiled functions


def of_a_loop(x):
    for _ in range(12):
        x = (x * 1.01).tanh() + 0.5
    return gs.linalg.inv(gs.eye(3, dtype=x.dtype) + x[:3]).sum() + x.sum()


def that_writes(x):
    x.mul_(2)
    return gs.linalg.inv(gs.eye(3, dtype=x.dtype) * x[0]).sum()


def of_tiles(x):
    return ((x * 2).tanh() + 1).exp().sum()


COMPILED = [(of_a_loop, 4), (gs.func.grad(of_a_loop), 4), (that_writes, 4), (of_tiles, 20_000)]


def modes():
    return gs.is_grad_enabled(), gs.is_inference_mode_enabled(), gs.compiler.is_compiling()


def assert_calls_survive(function, n, make, requests):
    """Calls of what `make` gives, with one request refused in each. A write that was undone still bumps the version."""
    numbers = np.random.default_rng(0).standard_normal(n) + 2
    expected, before = description(function(gs.tensor(numbers))), modes()
    for number in requests:
        compiled, x = make(), gs.tensor(numbers)
        if not attempt(compiled, x, number):
            assert x.tolist() == numbers.tolist(), f"changed after request {number} was refused"
        assert modes() == before
        assert description(compiled(gs.tensor(numbers))) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "n"), COMPILED)
def test_a_run_of_a_program(function, n):
    compiled = gs.compile(function)
    for _ in range(2):
        compiled(gs.ones(n, dtype=gs.float64) * 2)
    assert_calls_survive(function, n, lambda: compiled, range(60))
    assert len(compiled.programs) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "n"), COMPILED)
def test_a_program_that_is_being_made(function, n):
    """A plan makes far more requests than can be tried; the first ones are, and then every fifth."""
    assert_calls_survive(function, n, lambda: gs.compile(function), [*range(60), *range(60, 600, 5)])
