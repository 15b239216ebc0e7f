"""No op leaves anything behind in any mode: tangents, in place, into `out`, views, copies, and backward that fails."""

import contextlib

import pytest
from steady import assert_steady
from table import CASES, DIFFERENTIABLE, THRICE_DIFFERENTIABLE, writes

import gradsmith as gs
from gradsmith.autograd import forward_ad
from gradsmith.verify.calls import as_out, call, call_function, call_method, call_property, outputs_of
from gradsmith.verify.samples import as_tensors, at, replaced

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("any_gradient")]

CALLS = {"function": call_function, "method": call_method, "property": call_property}
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)

quiet = pytest.mark.filterwarnings("ignore:Casting complex values to real")


class Failure(Exception):
    """Of a hook."""


def over(cases):
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


def having(form):
    return [case for case in CASES if form in case.row.forms]


def begins_with_a_tensor(case):
    return isinstance(as_tensors(case.values()).get("self"), gs.Tensor)


def steady(function):
    """Tensors and nodes are counted exactly, blocks of memory within half a block for each repetition.

    Caches fill slowly here and there, so there are many rounds: a leak is in each of them.
    """
    assert_steady(function, times=20, warm_up=4, rounds=60)


def recorded(case, values):
    """Tensors for a call, and those of them that require grad. These are no leaves, so that they may be written."""
    tensors = as_tensors(values)
    leaves = [at(tensors, place).requires_grad_() for place in case.inputs]
    return replaced(tensors, {place: leaf.clone() for place, leaf in zip(case.inputs, leaves)}), leaves


def run_back(results):
    wanted = [result for result in results if result.requires_grad]
    if wanted:
        sum((result * result.conj()).real.sum() for result in wanted).backward()


def whether_or_not(function, errors=REFUSALS):
    """Call the function, which may refuse."""
    with contextlib.suppress(errors):
        function()


@quiet
@over(THRICE_DIFFERENTIABLE)
def test_forward_mode(case):
    """Two levels, over a graph that records the tangents."""
    values = case.values()

    def run():
        tensors, _ = recorded(case, values)
        with forward_ad.dual_level(), forward_ad.dual_level():
            made = {}
            for place in case.inputs:
                primal = at(tensors, place)
                inner = forward_ad.make_dual(gs.ones_like(primal), primal.detach(), level=0)
                made[place] = forward_ad.make_dual(forward_ad.make_dual(primal, primal * 2, level=0), inner)
            results = outputs_of(call(case.row, replaced(tensors, made)))
            tangents = [forward_ad.unpack_dual(result).tangent for result in results]
            run_back([tangent for tangent in tangents if tangent is not None])

    steady(run)


WRITING = [case for case in CASES if writes(case.row)]


@over([case for case in WRITING if begins_with_a_tensor(case)])
def test_in_place(case):
    """Written with a history and without, or refused: a result may not fit."""
    values = case.values()
    name = case.row.base.rstrip("_") + "_"

    def run():
        whether_or_not(lambda: call_method(case.row, as_tensors(values), name=name))
        tensors, _ = recorded(case, values)
        whether_or_not(lambda: run_back([call_method(case.row, tensors, name=name)]))

    steady(run)


@over(having("out"))
def test_into_out(case):
    values = case.values()
    results = outputs_of(call(case.row, as_tensors(values)))
    layouts = [(result.shape, result.dtype) for result in results]

    def given(last=None):
        """Tensors for the results; the last of another dtype when that is given."""
        made = [gs.zeros(shape, dtype=dtype) for shape, dtype in layouts]
        return as_out(made if last is None else [*made[:-1], gs.zeros(layouts[-1][0], dtype=last)])

    def run():
        call_function(case.row, as_tensors(values), out=given())
        tensors, _ = recorded(case, values)
        whether_or_not(lambda: call_function(case.row, tensors, out=given()))
        whether_or_not(lambda: call_function(case.row, as_tensors(values), out=given(last=gs.bool)))

    steady(run)


@over([case for case in having("copy") if not case.row.stops_gradient])
def test_copies_of_views(case):
    values = case.values()

    def run():
        tensors, _ = recorded(case, values)
        run_back(outputs_of(call_function(case.row, tensors, name=f"{case.row.base}_copy")))

    steady(run)


@over([case for case in CASES if case.row.is_view])
def test_views_that_are_written(case):
    """Through each view, through its base, and once the base is gone."""
    values = case.values()

    def run():
        tensors, _ = recorded(case, values)
        views = outputs_of(call(case.row, tensors))
        for view in views:
            whether_or_not(lambda view=view: view.mul_(2))
        whether_or_not(lambda: tensors["self"].mul_(3))
        tensors.clear()
        whether_or_not(lambda: run_back(views))

    steady(run)


@over(CASES)
def test_every_form_and_operator(case):
    values = case.values()
    is_method = begins_with_a_tensor(case)
    others = [name for name in values if name != "self"]
    binary = [name for name, _ in case.row.operators] if is_method and len(others) == 1 else []

    def run():
        for form in case.row.forms:
            tensors, _ = recorded(case, values)
            if form in CALLS and (is_method or form == "function"):
                CALLS[form](case.row, tensors)
        for name in binary:
            tensors, _ = recorded(case, values)
            whether_or_not(lambda name=name, t=tensors: getattr(t["self"], name)(t[others[0]]))

    steady(run)


# ---- backward that fails


def fail(_):
    raise Failure


def hook_of_the_result(case, values):
    tensors, _ = recorded(case, values)
    results = [result for result in outputs_of(call(case.row, tensors)) if result.requires_grad]
    for result in results:
        result.register_hook(fail)
    run_back(results)


def hook_of_an_input(case, values):
    """The formulas have run; their gradients are dropped."""
    tensors, _ = recorded(case, values)
    for place in case.inputs:
        at(tensors, place).register_hook(fail)
    run_back(outputs_of(call(case.row, tensors)))


def saved_tensors_are_freed(case, values):
    tensors, _ = recorded(case, values)
    results = outputs_of(call(case.row, tensors))
    run_back(results)
    run_back(results)


def saved_tensors_are_changed(case, values):
    tensors, _ = recorded(case, values)
    results = outputs_of(call(case.row, tensors))
    with gs.no_grad():
        for place in case.inputs:
            at(tensors, place).add_(1)
        for result in results:
            whether_or_not(lambda result=result: result.add_(1))
    run_back(results)


def gradient_of_a_wrong_shape(case, values):
    tensors, _ = recorded(case, values)
    for result in outputs_of(call(case.row, tensors)):
        if result.requires_grad:
            result.backward(gs.ones(7, 11, dtype=result.dtype))


def hook_that_gives_a_wrong_shape(case, values):
    tensors, _ = recorded(case, values)
    results = [result for result in outputs_of(call(case.row, tensors)) if result.requires_grad]
    for result in results:
        result.register_hook(lambda gradient: gs.ones(7, 11, dtype=gradient.dtype))
    run_back(results)


FAILING = [hook_of_the_result, hook_of_an_input, saved_tensors_are_freed, saved_tensors_are_changed]
FAILING += [gradient_of_a_wrong_shape, hook_that_gives_a_wrong_shape]


@quiet
@over(DIFFERENTIABLE)
def test_backward_that_fails(case):
    """One after the other in each repetition; an op that saves nothing does not mind what happened to it."""
    values = case.values()

    def run():
        for failing in FAILING:
            whether_or_not(lambda failing=failing: failing(case, values), (Failure, *REFUSALS))

    steady(run)
