"""How the results of each kind of node depend on its inputs, by the entry of its op.

A rule may link too much, never too little: where nothing is known of a node, all of its results depend on all of its
inputs. Values decide nothing, but for the places that an index names: a rule holds for all inputs of the same shapes.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Hashable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.func.sparse import links, networks, stored
from gradsmith.func.sparse.links import Link, Shape
from gradsmith.func.sparse.probes import probed
from gradsmith.generated import op_table
from gradsmith.runtime.calls.forward_ad import AliasBackward0
from gradsmith.runtime.custom_function.node import FunctionNode
from gradsmith.runtime.history.basic_ops import UndefinedGradBackward
from gradsmith.runtime.history.copy_slices import AsStridedBackward0, CopySlices

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

    Rule = Callable[["Call"], list[Link]]


class Call(NamedTuple):
    """One recorded call of an op: its node, and the shapes of the inputs that have a gradient (None for others)."""

    node: Any
    results: tuple[Shape, ...]
    inputs: tuple[Shape | None, ...]

    @property
    def size(self) -> int:
        """How many elements the results have."""
        return sum(math.prod(shape) for shape in self.results)

    def edges(self) -> list[tuple[int, Shape]]:
        """Number and shape of each input that has a gradient."""
        return [(edge, shape) for edge, shape in enumerate(self.inputs) if shape is not None]

    def saved(self, name: str) -> Any:
        return getattr(self.node, f"_saved_{name}", None)


def links_of(call: Call) -> list[Link]:
    """The links of a call's results with its inputs."""
    cls = type(call.node)
    if issubclass(cls, FunctionNode):
        return opaque(call)
    rule = OF_RUNTIME.get(cls) or rule_for(cls.__module__, cls.__name__)
    return rule(call)


@cache
def rule_for(module: str, node_name: str) -> Rule:
    """The rule for the nodes of an op, of gradsmith's table or of another one."""
    package, _, _ = module.rpartition(".")
    own = package == "gradsmith.generated"
    table = op_table if own else sys.modules.get(f"{package}.op_table")
    rows = rows_of(node_name, table) if table else []
    return rule_of_rows(rows, own) if rows else opaque


def rule_of_rows(rows: list[Any], own: bool) -> Rule:
    """The rule that is right for all of these entries."""
    rules = {OF_OPS.get(row.base) if own else None for row in rows}
    if rules != {None}:
        return rules.pop() or opaque if len(rules) == 1 else opaque
    if all(formula == "zeros_like(grad)" for row in rows for _, formula in row.gradients):
        return nothing
    if all(row.tangent == "auto_element_wise" for row in rows):
        return elementwise
    return by_probes if all(row.is_view for row in rows) else opaque


def rows_of(node_name: str, table: ModuleType) -> list[Any]:
    """The entries whose node may have this name: ``MulScalarBackward0`` is of `mul`, or would be of `mul_scalar`."""
    name = re.sub(r"Backward\d+$", "", node_name)
    shortest = re.sub(r"(Tensor|Scalar)+$", "", name)
    return [
        row
        for row in table.OPS
        if row.gradients and name.startswith(camel_case(row.base)) and len(camel_case(row.base)) >= len(shortest)
    ]


def camel_case(base: str) -> str:
    """``log_softmax`` -> ``LogSoftmax``, as nodes are named."""
    words = base.strip("_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words).removesuffix("Forward")


# ---- rules


def opaque(call: Call) -> list[Link]:
    """Nothing is known: everything depends on everything."""
    return [links.everything(edge, call.size, math.prod(shape)) for edge, shape in call.edges()]


def everything(call: Call) -> list[Link]:
    """What is known to mix all elements."""
    return opaque(call)


def nothing(call: Call) -> list[Link]:
    return []


def elementwise(call: Call) -> list[Link]:
    result, *others = call.results
    if any(other != result for other in others) or any(not _broadcasts(shape, result) for _, shape in call.edges()):
        return opaque(call)
    found = [links.broadcast(edge, result, shape) for edge, shape in call.edges()]
    return [link._replace(results=np.tile(link.results, len(call.results))) for link in found]


def _broadcasts(shape: Shape, result: Shape) -> bool:
    pairs = zip(shape[::-1], result[::-1])
    return len(shape) <= len(result) and all(length in (1, wanted) for length, wanted in pairs)


def same_places(call: Call) -> list[Link]:
    """Elements stay where they are, also where they lie in another order in memory."""
    return [
        links.element_by_element(edge, call.size) if math.prod(shape) == call.size else _all(call, edge, shape)
        for edge, shape in call.edges()
    ]


def _all(call: Call, edge: int, shape: Shape) -> Link:
    return links.everything(edge, call.size, math.prod(shape))


def by_probes(call: Call) -> list[Link]:
    return probed(call.node, call.inputs)


def written_by_index(call: Call) -> list[Link]:
    """Which elements are written may depend on a mask, so what is below still counts."""
    (result,) = call.results
    below, *values = call.inputs
    found = probed(call.node, (None, *values))
    return found if below is None else [links.element_by_element(0, math.prod(result)), *found]


def mixing(call: Call) -> list[Link]:
    """Reductions, and ops that keep the shape, mix what lies along their `dim`.

    So do `gather` and `scatter`: the index may be that of a maximum, and another one for other values.
    """
    result = call.results[0]
    dims = call.saved("dim")
    return [_mixed(call, edge, result, shape, dims) for edge, shape in call.edges()]


def _mixed(call: Call, edge: int, result: Shape, shape: Shape, dims: Any) -> Link:
    every = dims is None or dims == () or dims == []
    chosen = range(len(shape)) if every else [dims] if isinstance(dims, int) else dims
    mixed = frozenset(dim % len(shape) for dim in chosen) if shape else frozenset()
    kept = len(result) == len(shape)
    fits = kept or len(result) == len(shape) - len(mixed)
    return _padded(links.mixed_along(edge, result, shape, mixed), call) if fits else _all(call, edge, shape)


def transform(call: Call) -> list[Link]:
    """Fourier transforms and the like: every element along their `dim` depends on every one."""
    (result,) = call.results
    dims = {dim % len(result) for dim in call.saved("dim")}
    after: list[Hashable] = [("after", dim) if dim in dims else dim for dim in range(len(result))]
    before: list[Hashable] = [("before", dim) if dim in dims else dim for dim in range(len(result))]
    return [links.by_labels(edge, result, after, shape, before) for edge, shape in call.edges()]


def _padded(link: Link, call: Call) -> Link:
    """`link` of the first result, where others, of indices, depend on nothing."""
    others = call.size - link.results.size
    return link._replace(results=np.append(link.results, np.full(others, -1))) if others else link


PRODUCTS: dict[str, tuple[str, str, str]] = {  # labels of the last dimensions of both factors and of the result
    "Mm": ("mk", "kn", "mn"),
    "MatmulOfTranspose": ("km", "kn", "mn"),
    "Bmm": ("bmk", "bkn", "bmn"),
    "RowsOfGroups": ("mbk", "bkn", "mbn"),
    "OutersOfGroups": ("kbm", "kbn", "bmn"),
    "Mv": ("mk", "k", "m"),
    "Dot": ("k", "k", ""),
    "Outer": ("m", "n", "mn"),
}


def product(call: Call) -> list[Link]:
    """Products of matrices and vectors of fixed dimensions."""
    *factors, result = PRODUCTS[type(call.node).__name__.removesuffix("Backward0")]
    (shape,) = call.results
    return [links.by_labels(edge, shape, result, given, factors[edge]) for edge, given in call.edges()]


def matmul(call: Call) -> list[Link]:
    """Any dimensions, of which those before the last two are broadcast."""
    vectors = [call.saved(f"{name}_ndim") == 1 for name in ("self", "other")]
    core = ("k" if vectors[0] else "mk", "k" if vectors[1] else "kn")
    ends = ("" if vectors[0] else "m") + ("" if vectors[1] else "n")
    return _by_cores(call, ends, core)


def row_distances(call: Call) -> list[Link]:
    return _by_cores(call, "nm", ("nk", "mk"))


def weighted_row_steps(call: Call) -> list[Link]:
    """Along a row, the greatest of its differences decides about the others."""
    return _by_cores(call, "nk", ("nm", "nl", "ml"))


def _by_cores(call: Call, end: str, cores: tuple[str, ...]) -> list[Link]:
    (result,) = call.results
    return [
        links.by_labels(edge, result, labels(result, end), shape, labels(shape, cores[edge]))
        for edge, shape in call.edges()
    ]


def labels(shape: Shape, core: str) -> list[Hashable]:
    """`core` for the last dimensions; those before are counted from there, as in broadcasting."""
    before: list[Hashable] = [*range(len(core) - len(shape), 0)]
    return before + list(core)


def within_matrices(call: Call) -> list[Link]:
    """Functions of matrices: all elements of one mix, and those of other matrices of the batch do not."""
    inputs = [shape for _, shape in call.edges()]
    batch = min((shape[:-2] for shape in inputs), key=len, default=())
    if len(call.results) > 1 or len(inputs) > 1 or len(inputs[0]) < 2 or call.results[0][: len(batch)] != batch:
        return opaque(call)
    (result,), before = call.results, list(range(len(batch)))
    return [
        links.by_labels(edge, result, before + ["r"] * (len(result) - len(batch)), shape, [*before, "i", "j"])
        for edge, shape in call.edges()
    ]


def linear(call: Call) -> list[Link]:
    """``self @ weight.T + bias``, where a weight may be one row."""
    (result,) = call.results
    row = "" if call.saved("weight_ndim") == 1 else "n"
    core = ("k", f"{row}k", row)
    return [
        links.by_labels(edge, result, labels(result, row), shape, labels(shape, core[edge]))
        for edge, shape in call.edges()
    ]


def class_loss(call: Call) -> list[Link]:
    """A loss for each place, from all classes there, or one number. Weights belong to all."""
    (result,) = call.results
    return [
        _of_classes(call, result, shape) if edge == 0 else _all(call, edge, shape)
        for edge, shape in call.edges()
        if not (
            edge == 1 and type(call.node).__name__.startswith("NllLossBackwardBackward")
        )  # of which the shape counts
    ]


def _of_classes(call: Call, result: Shape, shape: Shape) -> Link:
    by_place, by_class = sorted((result, shape), key=len)
    if len(by_class) < 2 or by_class[:1] + by_class[2:] != by_place:
        return _all(call, 0, shape)
    labels = {len(by_class): list(range(len(by_class))), len(by_place): [0, *range(2, len(by_class))]}
    return links.by_labels(0, result, labels[len(result)], shape, labels[len(shape)])


# ---- views and what is written through them


def view_of_changed(call: Call) -> list[Link]:
    """A view after its base was changed."""
    ((_, base),) = call.edges()
    places = places_of(call.node._geometry)
    return opaque(call) if places is None else [Link(0, places, np.arange(math.prod(base)))]


def places_of(geometry: Any) -> NDArray[np.intp] | None:
    """For each element of a view the number of the one in the base; None if several in the base belong to one."""
    if geometry.joins_parts:
        return None
    base = _addresses(geometry.base_shape, geometry.base_strides)
    order = np.argsort(base, kind="stable")
    base = base[order]
    if (np.diff(base) == 0).any():
        return None
    found = order[np.searchsorted(base, _addresses(geometry.shape, geometry.strides) + geometry.offset)]
    return np.asarray(found // 2 if geometry.in_parts else found)  # real numbers within complex ones


def _addresses(shape: Shape, strides: Shape) -> NDArray[np.intp]:
    """Where each element lies, in bytes from the first one."""
    found = np.zeros((), np.intp)
    for length, stride in zip(shape, strides):
        found = found[..., None] + np.arange(length) * stride
    return found.reshape(-1)


def copy_slices(call: Call) -> list[Link]:
    """A base that was written through a view: the op's links inside of the view, and what was there outside."""
    node, size = call.node, call.size
    places = places_of(node._geometry)
    if places is None or np.unique(places).size < places.size:
        return opaque(call)
    written, has_base = node._written, call.inputs[0] is not None
    untouched = links.outside(0, places[:0] if node._geometry.in_parts else places, size)
    found = [untouched] if has_base else []
    for link in links_of(_write(call, node._geometry.shape, written)):
        if link.edge == written:
            found.append(links.within_both(link, 0, places, size))
        else:
            found.append(links.within(link, link.edge + (link.edge < written), places, size))
    return found


def _write(call: Call, view: Shape, written: int) -> Call:
    """The call of the op that wrote. Its input that was the view is the first of `call`, as a part of the base."""
    inputs = list(call.inputs[1:])
    inputs.insert(written, view if call.inputs[0] is not None else None)
    return Call(call.node._function, (view,), tuple(inputs))


OF_RUNTIME: dict[type, Rule] = {
    AliasBackward0: same_places,
    AsStridedBackward0: view_of_changed,
    CopySlices: copy_slices,
    UndefinedGradBackward: nothing,
}

OF_OPS: dict[str, Rule] = {
    op: rule
    for rule, ops in (
        (elementwise, "abs complex_of_parts masked_fill mse_loss scaled_pairs sgn variances_at_least"),
        (elementwise, "gamma_rise kept_part log_gamma_quantile"),
        (elementwise, "special_airy special_fresnel special_lambertw special_shichi special_sici"),
        (same_places, "clone clone_by_rows clone_in_order copy_to frexp imag overlap_envelope real_part to_copy"),
        (by_probes, "basic_index_backward cat copy_ fill fill_ flip geometry_scatter geometry_slice half_steps index"),
        (by_probes, "framed index_add"),
        (
            by_probes,
            "bincount consecutive_elements histogram_between histogram_even histogramdd_between histogramdd_even",
        ),
        (by_probes, "unique_elements"),
        (by_probes, "embedded embedded_diagonals rows_summed"),
        (by_probes, "index_backward index_select masked_select mean number_sum stack sum sum_to zero_"),
        (by_probes, "diagonal_scatter repeat_interleave roll_along tril triu unfold_backward"),
        (written_by_index, "index_put"),
        (mixing, "amax amin cumsum gather log_softmax log_softmax_backward logsumexp max min prod scatter scatter_add"),
        (mixing, "softmax softmax_backward std var"),
        (mixing, "cummax cummin cumprod cumsum_reversed kthvalue logcumsumexp median mode nanmedian p_norm recurrence"),
        (mixing, "recurrence_reversed sort topk"),
        (mixing, "greatest_magnitude group_extreme group_prod group_sum"),
        (transform, "dft dft_to_real real_dft real_transform"),
        (everything, "convolution conv_image conv_output conv_weight"),
        (nothing, "drawn_by"),
        (everything, "at_places spread_means to_places window_maxima window_means"),
        (everything, "sampled spread_samples weigh_samples"),
        (networks.resized, "resampled"),
        (everything, "lstm_steps lstm_pullback lstm_pushforward gru_steps gru_pullback gru_pushforward"),
        (everything, "rnn_steps rnn_pullback rnn_pushforward earlier_rows first_rows"),
        (everything, "ctc_losses ctc_slopes ctc_curvature linear_losses"),
        (product, "bmm dot matmul_of_transpose mm mv outer outers_of_groups rows_of_groups"),
        (matmul, "matmul"),
        (row_distances, "row_distances"),
        (weighted_row_steps, "weighted_row_steps"),
        (
            within_matrices,
            "cholesky_factor factored_adjugate factored_det factored_inverse factored_inverse_or_nan factored_slogdet",
        ),
        (
            within_matrices,
            "factored_solution greatest hermitian_eigen hermitian_mean hermitian_part inverse inverse_or_nan",
        ),
        (
            within_matrices,
            "hermitian_values linalg_qr linalg_svdvals reduced_svd complement lower_half main_diagonal on_diagonal",
        ),
        (within_matrices, "block_exponential chain cholesky_inverse cross_product matrix_power pseudo_inverse"),
        (within_matrices, "basis_checked eigen_inner phase_checked singular_inner"),
        (within_matrices, "eigen linalg_eigvals triangular_solution lu_compact permuted_rows"),
        (within_matrices, "cholesky_slope cholesky_with_order geqrf least_squares reflection_vectors"),
        (within_matrices, "ldl_compact linalg_ldl_solve linalg_logm linalg_solve_sylvester linalg_sqrtm"),
        (within_matrices, "linalg_solve_continuous_are linalg_solve_discrete_are"),
        (within_matrices, "banded_solve toeplitz_solve"),
        (linear, "linear"),
        (class_loss, "nll_loss nll_loss_backward"),
        (networks.classes, "class_losses class_losses_backward"),
        (networks.groups, "standardized standardized_backward standardized_sums"),
        (networks.heads, "attention attention_backward"),
        (stored.product, "sparse_product"),
        (stored.sampled, "sparse_sampled"),
        (stored.solve, "sparse_solve"),
        (everything, "all_reduce broadcast_from reduce_to all_gather reduce_scatter gather_to scatter_from all_to_all"),
        (everything, "shift_ranks send_recv"),
    )
    for op in ops.split()
}
