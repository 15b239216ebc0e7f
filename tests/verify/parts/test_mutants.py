"""Formulas made wrong on purpose: all kinds, and that samples which do not notice one are said to be too few."""

import warnings

import numpy as np
import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.mutants.mutations import mutants_of
from gradsmith.verify.mutants.subjects import names_in
from gradsmith.verify.mutants.trial import tried
from gradsmith.verify.samples import key_of
from gradsmith.verify.trees.models import own_models
from gradsmith.verify.trees.situation import situation_of
from gradsmith.verify.trees.text import written

ROWS = {key_of(row): row for row in OPS}


def first_rule(key):
    variant = own_models().of(ROWS[key]).op.variants[0]
    return variant, variant.backward.gradients[0]


def mutants(key):
    variant, rule = first_rule(key)
    return {mutant.text for mutant in mutants_of(rule.formula.expr, names_in(variant), ("mT",))}


@pytest.mark.parametrize(
    ("key", "mutant"),
    [
        ("mul", "grad"),  # a factor dropped
        ("mul", "grad * 2 * conj(other)"),  # doubled
        ("mul", "grad * other"),  # without conj
        ("mul", "-grad * conj(other)"),  # the sign
        ("mul", "grad * conj(self)"),  # another name
        ("mul", "grad / conj(other)"),  # another operator
        ("tanh", "grad * conj(1 - self * result)"),  # the input for the result
        ("tanh", "grad * conj(1 + result * result)"),
        ("mm", "mm(mT(conj(mat2)), grad)"),  # operands exchanged
        ("mm", "mm(grad, conj(mat2))"),  # without the transposition
        ("mm", "mm(mT(grad), mT(conj(mat2)))"),  # with one more
        ("softmax", "softmax_backward(grad, result, -1)"),  # a constant for an argument
        ("maximum", "where(self != other, grad / 2, where(self < other, 0, grad))"),
        ("index_put", "grad"),  # one side of a choice
    ],
)
def test_mutation(key, mutant):
    assert mutant in mutants(key)


def trial(key, *samples, points=()):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        row = ROWS[key]._replace(samples=samples, points=points)
        tally, unlike = tried(Subject(row), own_models().of(row))
    assert not unlike
    return tally


def test_survivors_are_named_with_what_would_kill_them():
    tally = trial("transpose", {"self": "real(3, 4)", "dim0": "0", "dim1": "1"})
    texts = list(map(str, tally.survivors))
    assert (
        "gradient of 'self' might as well be `transpose(grad, 0, dim1)` instead of `transpose(grad, dim0, dim1)`: "
        "add a sample such as `real(3, 4), dim0=-1, dim1=1`"
    ) in texts


def test_ties_need_a_point():
    tally = trial("clamp_min", *ROWS["clamp_min"].samples)
    assert "where(self > min, grad, 0)" in [survivor.mutant for survivor in tally.survivors]


def test_what_is_equal_is_not_held_against_the_samples():
    tally = trial("abs", *ROWS["abs"].samples, points=ROWS["abs"].points)
    assert "grad * sgn(self) for real(grad) * sgn(self)" in list(map(str, tally.equal)) and not tally.survivors


def equal_in(key):
    row = ROWS[key]
    return {equal.mutant: equal for equal in trial(key, *row.samples, points=row.points).equal}


def test_equal_by_algebra():
    """A comparison passes no gradient, and an index is no number."""
    assert equal_in("clamp_min")["where(detach(self) >= min, grad, 0)"].is_by_algebra
    assert equal_in("index_select")["index_select_backward(grad, self.shape, dim, detach(index))"].is_by_algebra
    assert equal_in("clamp")["minimum(max, maximum(self, min))"].is_by_algebra


def test_the_smallest_step_that_gives_the_same_is_named():
    assert equal_in("clamp_min")["where(self >= result, grad, 0)"].because.startswith(
        "`self >= result` is `self >= min` in "
    )
    assert equal_in("dot")["mT(grad) * conj(tensor)"].because.startswith("`mT(grad)` is `grad` in ")
    cut = equal_in("max")["amax_backward(grad, self, detach(result), (), False)"]
    assert cut.because.startswith("no gradient of the gradient arrives at `result` through `amax_backward(")


def test_forwards_are_mutated():
    tally = trial("softplus", {"self": "real(3, 4)"})
    assert any(survivor.subject == "value" for survivor in tally.survivors)
    assert any(
        "copy_to(self, device" in survivor.mutant
        for survivor in trial("to.device", *ROWS["to.device"].samples[:3]).survivors
    )


def test_cut_graphs_are_noticed_at_the_second_order():
    tally = trial("square", {"self": "real(3, 4)"})
    assert tally.made == tally.killed > 5


@pytest.mark.parametrize("key", ["mul", "linear", "unbind", "nll_loss", "gelu", "split", "T"])
def test_steps_one_by_one_give_what_is_compiled(key):
    """The evaluator is proven by the compiled formulas before it is believed about others."""
    subject, model = Subject(ROWS[key]), own_models().of(ROWS[key])
    for setting in subject.differentiable_settings():
        situation = situation_of(setting, model)
        for rule in situation.variant.backward.gradients if situation.variant.backward else ():
            expected = situation.compiled_gradients()
            if any(place[0] in rule.inputs for place in setting.places):
                for place, found in situation.gradients_of(rule, rule.formula.expr).items():
                    np.testing.assert_allclose(found, expected[place], rtol=1e-12, atol=1e-14)


def test_formulas_are_written_as_the_table_has_them():
    for key, text in (("mul", "grad * conj(other)"), ("div", "grad / conj(other)"), ("tanh", None)):
        _, rule = first_rule(key)
        assert written(rule.formula.expr) == (text or rule.formula.text)
