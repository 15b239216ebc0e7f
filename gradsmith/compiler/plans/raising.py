"""Ops that refuse values: a program runs them even where nothing reads their results, and raises as eager does."""

from __future__ import annotations

from gradsmith.compiler.plans.memory import Memory
from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.programs.program import Step
from gradsmith.runtime.programs.trace import Check

# Indices outside of what they count, targets that are no class, probabilities and variances that are none.
OF_PLACES = frozenset({
    "at_places", "bernoulli", "binary_entropies", "class_losses", "class_losses_backward", "ctc_losses", "embedded",
    "gather", "group_extreme", "group_prod", "group_sum", "histc", "histogram_even", "histogramdd_even", "index",
    "index_add", "index_copy", "index_put", "index_select", "linear_losses", "nll_loss", "nll_loss_backward",
    "overlap_envelope", "permuted_rows", "quantile", "quantiles", "row_permutation", "rows_summed", "sampled",
    "scatter", "scatter_add", "searchsorted", "spread_samples", "take", "to_places", "variances_at_least",
    "weigh_samples",
})  # fmt: skip
# Matrices that are singular, not positive definite, or not finite.
OF_MATRICES = frozenset({
    "banded_solve", "cholesky_factor", "cholesky_inverse", "cholesky_with_order", "complement", "eigen", "eigenvalues",
    "factored_inverse", "factored_solution", "first_zero_pivot", "hermitian_eigen", "hermitian_values", "inverse",
    "ldl_compact", "least_squares", "linalg.eigvals", "linalg.ldl_solve", "linalg.logm", "linalg.matrix_rank",
    "linalg.solve_continuous_are", "linalg.solve_discrete_are", "linalg.solve_sylvester", "linalg.sqrtm",
    "linalg.svdvals", "lu_compact", "matrix_power", "pseudo_inverse", "reduced_svd", "singular_values", "sparse_solve",
    "toeplitz_solve", "triangular_solution",
})  # fmt: skip
# Integers divided by zero, or to a negative power.
OF_INTEGERS = frozenset({"div", "floor_divide", "fmod", "pow", "remainder"})


def may_refuse_values(step: Step, memory: Memory) -> bool:
    """May a step raise an error in a run that the traced one did not?"""
    if isinstance(step.function, Check) or getattr(step.function, "may_refuse_values", False):
        return True
    if any(has_no_data(memory.arrays[slot]) for slot in step.reads):
        return False  # batching rules ask meta tensors for shapes
    name = step.name.removesuffix("_")  # of the form in place
    if name in OF_PLACES or name in OF_MATRICES:
        return True
    if name not in OF_INTEGERS or step.results[0] is None:
        return False
    return memory.arrays[step.results[0]].dtype.kind in "iu"
