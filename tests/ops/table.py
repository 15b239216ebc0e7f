"""The rows of the op table that can be called, and their samples."""

import gradsmith as gs
from gradsmith.autograd import allow_phase_dependence, grad
from gradsmith.generated.op_table import OPS
from gradsmith.verify.calls import call, outputs_of
from gradsmith.verify.samples import as_tensors, cases_of, key_of, leaves_among


@allow_phase_dependence()
def has_derivative(case):
    """Are gradients implemented, for arguments such as these?"""
    if not case.inputs:
        return True
    tensors = as_tensors(case.values())
    leaves = leaves_among(tensors, case.inputs)
    roots = [result for result in outputs_of(call(case.row, tensors)) if result.requires_grad]
    try:
        grad(roots, leaves, [gs.ones_like(root.detach()) for root in roots], allow_unused=True)
    except NotImplementedError:
        return False
    return True


CALLABLE = [row for row in OPS if row.forms]
CASES = [case for row in CALLABLE for case in cases_of(row)]
DIFFERENTIABLE = [case for case in CASES if case.inputs and has_derivative(case)]
# Those whose second derivatives have one: kernels of alignments end at the second.
THRICE_DIFFERENTIABLE = [case for case in DIFFERENTIABLE if case.row.base != "ctc_losses"]


def writes(row):
    """Does the op have a form that writes into its first argument? In place, a view op writes nothing."""
    return row.base.endswith("_") or ("inplace" in row.forms and not row.is_view)


def cases_by_row(cases):
    """Rows with their cases, for tests that go over the samples of a row themselves."""
    grouped = {}
    for case in cases:
        grouped.setdefault(key_of(case.row), []).append(case)
    return grouped
