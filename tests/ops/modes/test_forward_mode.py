"""Forward mode of every op: tangents against differences of the values, mixed with reverse mode, and in place."""

import numpy as np
import pytest
from table import DIFFERENTIABLE, THRICE_DIFFERENTIABLE, cases_by_row

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.autograd.gradcheck.differences import slopes
from gradsmith.verify.calls import call, call_method, outputs_of
from gradsmith.verify.numeric import draw, weights_like
from gradsmith.verify.samples import as_tensors, at, places_of, replaced

pytestmark = pytest.mark.usefixtures("any_gradient")

# Entries with a surrogate have the tangents of that; `make verify` compares these.
ROWS = cases_by_row([case for case in DIFFERENTIABLE if not case.row.surrogate])
IN_BOTH_DTYPES = [
    (key, dtype) for key, cases in ROWS.items() for dtype in ("float64", "complex128")[: 1 + cases[0].row.complex]
]
both_dtypes = pytest.mark.parametrize(("key", "dtype"), IN_BOTH_DTYPES, ids=[f"{k}-{d}" for k, d in IN_BOTH_DTYPES])
quiet = pytest.mark.filterwarnings("ignore:Casting complex values to real")
# Where neighbouring singular values, poles or almost singular systems bend the slope, differences have fewer digits.
STEEP = {
    "banded_solve",
    "linalg_solve_banded",
    "linalg_solve_toeplitz",
    "polygamma_any",
    "reduced_svd",
    "special_betainccinv",
    "special_betaincinv",
    "special_gammaincinv",
    "special_shichi",
    "special_stdtrit",
    "special_gamma",
    "linalg_matrix_norm",
    "linalg_svd",
    "norm",
    "svd",
    "whole_svd",
    "linalg_pinv",
    "pinverse",
    "linalg_tensorinv",
    "toeplitz_solve",
}


def differentiable(case, results):
    outputs = outputs_of(results)
    flags = case.row.outputs if len(case.row.outputs) == len(outputs) else [True] * len(outputs)
    return [r for r, wanted in zip(outputs, flags) if wanted]


def directions_of(case, values, places):
    return {place: draw(np.random.default_rng(n), at(values, place)) for n, place in enumerate(places)}


def duals(values, directions, *, requires_grad=False):
    """The call's values as tensors, dual at the places of `directions`; and those leaves."""
    tensors = as_tensors(values)
    leaves = [at(tensors, place).requires_grad_(requires_grad) for place in directions]
    made = {p: make_dual(leaf, gs.tensor(d)) for (p, d), leaf in zip(directions.items(), leaves)}
    return replaced(tensors, made), leaves


def tangents_of(results):
    found = [unpack_dual(result).tangent for result in results]
    return [np.zeros(r.shape, r.dtype) if t is None else t.detach().numpy() for r, t in zip(results, found)]


def difference(case, values, directions):
    """Derivative of the results along the directions."""

    def results_at(step):
        moved = replaced(values, {p: np.asarray(at(values, p) + step * d) for p, d in directions.items()})
        return [r.numpy() for r in differentiable(case, call(case.row, as_tensors(moved)))]

    return slopes(lambda step: results_at(float(step)), np.zeros(()), np.ones(()))


@quiet
@both_dtypes
def test_tangent(key, dtype):
    for case in ROWS[key]:
        values = case.values(dtype)
        for places in [case.inputs, *[(place,) for place in case.inputs if len(case.inputs) > 1]]:
            directions = directions_of(case, values, places)
            with dual_level():
                results = differentiable(case, call(case.row, duals(values, directions)[0]))
                found = tangents_of(results)
                for result, tangent in zip(results, found):
                    assert (tangent.shape, tangent.dtype) == (result.shape, result.dtype), case.id
            tolerance = {"rtol": 1e-6, "atol": 1e-6} if key in STEEP else {"rtol": 1e-8, "atol": 1e-8}
            for one, other in zip(found, difference(case, values, directions)):
                np.testing.assert_allclose(one, other, **tolerance, err_msg=f"{case.id} {places}")


@quiet
@both_dtypes
def test_reverse_over_forward_is_forward_over_reverse(key, dtype):
    """The derivative along a direction of the gradient, both ways."""
    for case in (case for case in ROWS[key] if case in THRICE_DIFFERENTIABLE):
        values = case.values(dtype)
        directions = directions_of(case, values, case.inputs)
        with dual_level():
            tensors, leaves = duals(values, directions, requires_grad=True)
            results = differentiable(case, call(case.row, tensors))
            weights = [gs.tensor(w) for w in weights_like([r.detach().numpy() for r in results], case.id)]
            inner = [at(tensors, place) for place in directions]
            gradients = grad(results, inner, weights, create_graph=True, materialize_grads=True)
            outside = tangents_of(gradients)
            recorded = [(unpack_dual(r).tangent, w) for r, w in zip(results, weights)]
            recorded = [(t, w) for t, w in recorded if t is not None and t.requires_grad]
            if recorded:
                tangents, given = zip(*recorded)
                inside = grad(tangents, leaves, given, materialize_grads=True)
            else:
                inside = [gs.zeros_like(leaf) for leaf in leaves]
        for one, other in zip(outside, inside):
            np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-10, atol=1e-10, err_msg=case.id)


IN_PLACE = {key: cases for key, cases in ROWS.items() if "inplace" in (row := cases[0].row).forms and not row.is_view}


@quiet
@pytest.mark.parametrize("key", IN_PLACE)
def test_in_place(key):
    """Values and tangents of the in-place form, on a tensor and on a view of one, are those of the op."""
    for case in IN_PLACE[key]:
        values = case.values("float64")
        if not isinstance(values["self"], np.ndarray):
            continue
        directions = directions_of(case, values, case.inputs)
        with dual_level():
            tensors, _ = duals(values, directions)
            expected = call(case.row, tensors)
            if expected.shape != tensors["self"].shape or expected.dtype != tensors["self"].dtype:
                continue
            target = tensors["self"].clone()
            call_method(case.row, {**tensors, "self": target}, name=f"{case.row.base}_")
            base = gs.stack([tensors["self"], tensors["self"]])
            call_method(case.row, {**tensors, "self": base[0]}, name=f"{case.row.base}_")
            wanted = tangents_of([expected])[0]
            np.testing.assert_array_equal(tangents_of([target])[0], wanted, err_msg=case.id)
            np.testing.assert_array_equal(tangents_of([base])[0][0], wanted, err_msg=case.id)
            untouched = unpack_dual(tensors["self"]).tangent
            other = np.zeros(wanted.shape) if untouched is None else untouched.numpy()
            np.testing.assert_array_equal(tangents_of([base])[0][1], other, err_msg=case.id)
            assert len(list(places_of(values))) >= 1
