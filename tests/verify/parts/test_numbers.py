"""Parts of the proofs: differences, complex steps, comparisons, samples, references."""

import math
import sys

import numpy as np
import pytest

from gradsmith.autograd.gradcheck import differences
from gradsmith.codegen.spec.vocabulary import REFERENCE_FUNCTIONS, SAMPLE_NAMES
from gradsmith.generated.op_table import OPS
from gradsmith.verify import numeric, samples
from gradsmith.verify.proof import Proof, difference
from gradsmith.verify.references import expected as references

ROWS = {samples.key_of(row): row for row in OPS}


def test_differences_are_of_fourth_order():
    x = np.array([0.3, 1.7])
    np.testing.assert_allclose(differences.slope(np.sin, x, np.ones(2)), np.cos(x), rtol=1e-11)
    np.testing.assert_allclose(differences.slope(lambda x: x**4, x, np.ones(2)), 4 * x**3, rtol=1e-12)


def test_gradient_of_a_complex_number():
    """Of |z|^2 it is 2z."""
    z = np.array([1 + 2j, -0.5j])
    np.testing.assert_allclose(numeric.gradient(lambda z: float(np.sum(np.abs(z) ** 2)), z), 2 * z, rtol=1e-9)


def test_complex_step_is_exact():
    x = np.array([0.3, 1.7])
    found = differences.complex_slope(np.exp, x, np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, np.exp(x) * [1, 2], rtol=1e-15)


@pytest.mark.parametrize("function", [np.abs, np.real, lambda z: z * np.conj(z)])
def test_complex_step_needs_an_analytic_function(function):
    assert differences.complex_slope(function, np.array([0.3, 1.7]), np.ones(2)) is None


def test_complex_step_of_a_conjugate():
    """As gradients are, element by element."""
    x = np.array([0.3, 1.7])

    def function(z):
        return np.concatenate([np.conj(np.exp(z)), np.sin(z)])

    found = differences.complex_slope(function, x, np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, np.concatenate([np.exp(x), np.cos(x)]) * [1, 2, 1, 2], rtol=1e-15)


@pytest.mark.parametrize(
    ("found", "expected", "problem"),
    [
        ([1.0, 2.0], [1.0, 2.0], ""),
        ([1.0, math.nan, math.inf], [1.0, math.nan, math.inf], ""),
        ([1.0, 2.0], [1.0, 2.5], "2.0 instead of 2.5 at [1], off by 0.5"),
        ([[1.0, 0.0], [0.0, 3.0]], [[1.1, 0.0], [0.0, 2.0]], "3.0 instead of 2.0 at [1, 1], off by 1"),
        (1.0, math.nan, "1.0 instead of nan, off by nan"),
        (math.nan, 1.0, "nan instead of 1.0, off by nan"),
        (math.inf, -math.inf, "inf instead of -inf, off by inf"),
        (1e300, math.inf, "1e+300 instead of inf, off by inf"),
        ([1.0], [[1.0]], "has shape (1,), expected (1, 1)"),
        ([1 + 1j], [1 - 1j], "(1+1j) instead of (1-1j) at [0], off by 2"),
        ([True, False], [True, True], "False instead of True at [1], off by 1"),
        ([], [], ""),
    ],
)
def test_difference(found, expected, problem):
    assert difference(np.asarray(found), np.asarray(expected), 1e-6, 1.0) == problem


def test_tolerance_is_relative_to_the_number_and_its_terms():
    assert difference(np.array(1e6 + 1), np.array(1e6), 1e-6, 0.0) == ""
    assert difference(np.array(2e-6), np.array(0.0), 1e-6, 1.0)
    assert difference(np.array(1.1e-9), np.array(1e-9), 1e-6, 1e-9)


def test_small_numbers_are_compared_as_well_as_large_ones():
    for scale in (1e-9, 1.0, 1e9):
        proof = Proof("op")
        assert not proof.compare("value", "", "", scale * np.array([1.0, 2.00001]), scale * np.array([1.0, 2.0]), 1e-6)
        assert proof.compare("value", "", "", scale * np.array([1.0, 2.000001]), scale * np.array([1.0, 2.0]), 1e-6)


def test_how_small_an_error_is_found():
    proof = Proof("op")
    proof.compare_derivative("reverse", "", "", 2.0, 2.0, 1e-8, terms=2.0)
    proof.compare_derivative("reverse", "", "", 2.0, 2.0, 1e-8, terms=20.0)
    proof.compare_derivative("reverse", "", "", 0.0, 0.0, 1e-8, terms=1.0)
    proof.compare_derivative("forward", "", "", 2.0, 2.0, 1e-11, terms=2.0, known=1e-9)
    assert proof.resolution == {"reverse": 2e-8, "forward": 1e-9}


def test_only_listed_properties_are_counted():
    with pytest.raises(AssertionError, match="sorcery"):
        Proof("op").expect("sorcery", "", "", "")


# ---- samples


def test_samples_are_the_same_in_every_run():
    case = samples.cases_of(ROWS["add"])[0]
    for one, other in zip(case.values().values(), case.values().values()):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(case.values()["self"], case.values()["other"])


def test_generators_are_those_that_the_language_has():
    made = {name for name in vars(samples.Generators) if not name.startswith("_")}
    assert made | {"slice"} == set(SAMPLE_NAMES)


def test_inputs_of_a_case():
    assert all(case.inputs == (("self",),) for case in samples.cases_of(ROWS["to.other"]))
    assert [place for place, _ in samples.places_of(samples.cases_of(ROWS["stack"])[0].values())] == [
        ("tensors", 0),
        ("tensors", 1),
    ]


# ---- references


def test_functions_of_references_are_those_that_the_language_has():
    assert set(references.FUNCTIONS) == set(REFERENCE_FUNCTIONS)


def test_a_ufunc_is_its_own_reference():
    assert references.reference_of(ROWS["maximum"]) == "np.maximum(self, other)"


def test_without_scipy_a_reference_is_not_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(references.NotAvailable, match="SciPy, which is not installed"):
        references.expected_results(ROWS["erf"], {"self": np.ones(2)})
    np.testing.assert_array_equal(references.expected_results(ROWS["exp"], {"self": np.zeros(2)}), [[1, 1]])
