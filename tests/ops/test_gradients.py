"""Every formula of the table against finite differences: gradients, and gradients of gradients.

The first derivative is compared with differences of the NumPy reference, so that it owes nothing to the op itself; the
second with differences of the first.
"""

from itertools import combinations

import numpy as np
import pytest
from numeric import draw, gradient, loss, slope, weights_like
from references import value_of
from samples import DIFFERENTIABLE, as_tensors, at, call, cases_by_row, key_of, outputs_of, replaced

import gradsmith as gs
from gradsmith.autograd import grad

ROWS = cases_by_row(DIFFERENTIABLE)
DTYPES = ("float64", "complex128")
FIRST, SECOND = {"rtol": 1e-8, "atol": 1e-8}, {"rtol": 1e-6, "atol": 1e-6}
IN_BOTH_DTYPES = [(key, dtype) for key, cases in ROWS.items() for dtype in DTYPES[: 1 + cases[0].row.complex]]
both_dtypes = pytest.mark.parametrize(("key", "dtype"), IN_BOTH_DTYPES, ids=[f"{k}-{d}" for k, d in IN_BOTH_DTYPES])
quiet = pytest.mark.filterwarnings("ignore:Casting complex values to real")


def leaves_of(case, values, places):
    """The call's values as tensors, of which those at `places` require a gradient; and these, by place."""
    tensors = as_tensors(values)
    leaves = {place: at(tensors, place).requires_grad_() for place in places}
    return tensors, leaves


def differentiable_outputs(case, tensors):
    return [r for r, wanted in zip_outputs(case, outputs_of(call(case.row, tensors))) if wanted]


def zip_outputs(case, results):
    wanted = case.row.outputs if len(case.row.outputs) == len(results) else [True] * len(results)
    return zip(results, wanted)


def gradients_of(case, values, places, weights, create_graph=False):
    """Gradients at the given places; with `create_graph` also the leaves and weights they depend on."""
    tensors, leaves = leaves_of(case, values, places)
    outputs = differentiable_outputs(case, tensors)
    given = [gs.tensor(w, requires_grad=create_graph) for w in weights]
    found = grad(outputs, list(leaves.values()), given, create_graph=create_graph)
    return found, list(leaves.values()), given


def reference_loss(case, values, weights):
    """The loss as a function of the array at one place."""

    def at_place(place):
        def function(array):
            results = value_of(key_of(case.row), replaced(values, {place: array}))
            return loss([r for r, wanted in zip_outputs(case, results) if wanted], weights)

        return function

    return at_place


def reference_weights(case, values):
    results = value_of(key_of(case.row), values)
    return weights_like([r for r, wanted in zip_outputs(case, results) if wanted], case.id)


@quiet
@both_dtypes
def test_gradient(key, dtype):
    for case in ROWS[key]:
        values = case.values(dtype)
        weights = reference_weights(case, values)
        found, _, _ = gradients_of(case, values, case.inputs, weights)
        function_at = reference_loss(case, values, weights)
        for place, result in zip(case.inputs, found):
            array = at(values, place)
            assert (result.shape, result.dtype) == (array.shape, array.dtype)
            np.testing.assert_allclose(
                result.numpy(), gradient(function_at(place), array), **FIRST, err_msg=f"{case.id} {place}"
            )


@quiet
@both_dtypes
def test_gradient_of_some_inputs_is_that_of_all(key, dtype):
    """What is not wanted is neither saved nor computed; what is wanted must not depend on it."""
    for case in ROWS[key]:
        values = case.values(dtype)
        weights = reference_weights(case, values)
        every = dict(zip(case.inputs, gradients_of(case, values, case.inputs, weights)[0]))
        for count in range(1, len(case.inputs)):
            for places in combinations(case.inputs, count):
                some, _, _ = gradients_of(case, values, places, weights)
                for place, result in zip(places, some):
                    np.testing.assert_array_equal(result.numpy(), every[place].numpy(), err_msg=f"{case.id} {places}")


@quiet
@both_dtypes
def test_recorded_gradient_is_the_plain_one(key, dtype):
    """The two readings of a formula, compiled loop and ops that record themselves, give the same numbers."""
    for case in ROWS[key]:
        values = case.values(dtype)
        weights = reference_weights(case, values)
        plain, _, _ = gradients_of(case, values, case.inputs, weights)
        recorded, _, _ = gradients_of(case, values, case.inputs, weights, create_graph=True)
        for one, other in zip(plain, recorded):
            assert not one.requires_grad
            np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-13, atol=1e-14, err_msg=case.id)


@quiet
@both_dtypes
def test_gradient_of_the_gradient(key, dtype):
    """Along random directions, one for each input and each weight of the results."""
    for case in ROWS[key]:
        values = case.values(dtype)
        weights = reference_weights(case, values)
        firsts, leaves, given = gradients_of(case, values, case.inputs, weights, create_graph=True)
        outer = weights_like([first.detach().numpy() for first in firsts], case.id + " outer")
        recorded = [(first, w) for first, w in zip(firsts, outer) if first.requires_grad]
        if not recorded:  # the gradient depends on nothing, not even that of the result
            assert not any(first.numpy().any() for first in firsts), case.id
            continue
        seconds = grad(
            [first for first, _ in recorded],
            [*leaves, *given],
            [gs.tensor(w) for _, w in recorded],
            materialize_grads=True,
        )
        for number, second in enumerate(seconds):
            expected, array = difference_of_gradients(case, values, weights, outer, number)
            np.testing.assert_allclose(
                along(second.numpy(), array), expected, **SECOND, err_msg=f"{case.id} argument {number}"
            )


def difference_of_gradients(case, values, weights, outer, number):
    """Slope of the gradients' loss along a direction of one input or weight; and the direction."""
    places = case.inputs

    def function(array):
        if number < len(places):
            moved = gradients_of(case, replaced(values, {places[number]: array}), places, weights)[0]
        else:
            moved = gradients_of(case, values, places, substituted(weights, number - len(places), array))[0]
        return loss([g.numpy() for g in moved], outer)

    array = at(values, places[number]) if number < len(places) else weights[number - len(places)]
    direction = draw(np.random.default_rng(number), array)
    return slope(function, array, direction), direction


def substituted(arrays, number, array):
    return [array if n == number else one for n, one in enumerate(arrays)]


def along(second, direction):
    return float(np.sum(np.conj(second) * direction).real)
