"""Gradients of the rows that were looked up in a table."""

from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import numpy as np

from gradsmith.runtime.arrays.device import CPU
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.graph.indexed_rows import indexed_tensor
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.tensors.factories.creation import ones, zeros


cpdef object is_table_of_leaf(object weight, object sparse):
    """Leaves take indexed gradients; what comes before another tensor would have to spread them out."""
    return sparse and weight.is_leaf and weight.requires_grad and not is_batched_tensor(weight)


cpdef object embedded_by_parts(object weight, object indices, object padding_idx, object by_frequency):
    """The rows by ops that have batching rules, with the derivative that `shared_rows` says; infinite ones as they are."""
    rows = weight.index_select(0, indices.reshape(-1)).reshape((*indices.shape, weight.shape[1]))
    shared = shared_rows(rows, indices, weight.shape[0], padding_idx, by_frequency)
    return rows if shared is rows else rows.where(~rows.isfinite(), shared + (rows - shared).detach())


cpdef object shared_rows(object rows, object indices, object count, object padding_idx, object by_frequency):
    """The rows of a gradient: zero where they are padding, divided by how often their index comes `by_frequency`."""
    if rows.dtype.kind not in "fc":
        return rows
    if by_frequency:
        places = indices.reshape(-1)
        shares = ones(indices.shape, dtype=rows.dtype, device=rows.device)
        times = zeros(count, dtype=rows.dtype, device=rows.device).index_add(0, places, shares.reshape(-1))
        rows = rows * (shares / times.index_select(0, places).reshape(indices.shape)).unsqueeze(-1)
    # Not by a factor: NaN and infinities of padding are no gradient either.
    return rows if padding_idx < 0 else rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


cpdef object keeps_rows(object sparse, object device):
    """Does the gradient of the table stay one of rows? Not where it is recorded, without data, or among batches."""
    return sparse and not grad_enabled() and not living and device == CPU


cpdef object used_rows(object gradient, object indices, object shape, object padding_idx, object by_frequency):
    """The gradient of a table of that shape by its rows, those of padding left out."""
    gradient = shared_rows(gradient, indices, shape[0], -1, by_frequency)
    places = array_behind(indices).reshape(-1).astype(np.int64)
    rows = array_behind(gradient).reshape(len(places), shape[1])
    kept = places != padding_idx
    if not kept.all():
        return indexed_tensor(places[kept], rows[kept], tuple(shape))
    # Nobody else may write to what is shared from now on.
    return indexed_tensor(places, rows.copy(), tuple(shape))
