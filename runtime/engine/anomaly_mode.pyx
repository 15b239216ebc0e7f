"""Anomaly mode: nodes remember where they were recorded, and gradients are checked for NaN and infinity.

While it is off, recording a node tests one pointer, and a backward one byte per node.
"""
from cpython.ref cimport PyObject

from gradsmith.runtime.batching.batch cimport batch_of, is_batched
from gradsmith.runtime.engine.graph_task cimport GraphTask, current_task
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_meta cimport node_meta
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.switches.upcalls cimport c_upcalls, origin_recorder

import sys
import warnings

import numpy as np

# Keys in a node's own `metadata`.
TRACEBACK = "traceback_"
PARENT = "parent_"

BRANCH = " If that is on a branch which where() does not take, see gradsmith.autograd.nan_safe."

cdef bint enabled = False, checks_nan = True, checks_inf = True


cdef bint anomaly_enabled() noexcept:
    return enabled


def is_anomaly_enabled():
    """True while anomaly mode is on."""
    return enabled


def is_anomaly_check_nan_enabled():
    """True when anomaly mode, once it is on, raises for gradients that are NaN."""
    return checks_nan


def is_anomaly_check_inf_enabled():
    """True when anomaly mode, once it is on, raises for gradients that are infinite."""
    return checks_inf


def set_anomaly_enabled(bint mode, bint check_nan=True, bint check_inf=True):
    """Switch anomaly mode on or off, in all threads."""
    global enabled, checks_nan, checks_inf
    enabled, checks_nan, checks_inf = mode, check_nan, check_inf
    c_upcalls.record_origin = <origin_recorder>record_origin if mode else NULL


# ---- where a node comes from

cdef int record_origin(Node node) except -1:
    """Keep the lines that led to the recording of `node`, and the node that was running backward meanwhile."""
    import traceback    # half a millisecond that only anomaly mode needs

    cdef dict metadata = node_meta(node).metadata
    cdef GraphTask task = current_task()
    metadata[TRACEBACK] = traceback.format_stack()
    if task is not None and task.node != NULL:
        metadata[PARENT] = <object>task.node
    return 0


cdef int explain_error(Node node) except -1:
    """The error is described by warnings, so that the exception itself arrives as it was raised."""
    cdef object parent
    warn(f"Error detected in {node.name()}. {origin(node, 'caused the error')}")
    parent = node_meta(node).metadata.get(PARENT)
    while parent is not None:
        warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. "
            f"{origin(parent, 'induced the previous calculation')}"
        )
        parent = node_meta(parent).metadata.get(PARENT)
    return 0


cdef str origin(Node node, str what_it_did):
    cdef object lines = node_meta(node).metadata.get(TRACEBACK)
    if lines is None:
        return (
            "No forward pass information available. Enable detect anomaly during forward pass for more information."
        )
    return f"Traceback of forward call that {what_it_did}:\n{''.join(lines)}"


cdef int warn(str message) except -1:
    try:
        warnings.warn(message, UserWarning, stacklevel=2)
    except UserWarning as warning:      # warnings are errors; but what failed is the node
        print(f"UserWarning: {warning}", file=sys.stderr)
    return 0


# ---- results of a node

cdef int check_results(Node node, PyObject **results) except -1:
    cdef int i
    if not enabled:     # another mode has the task checked
        return 0
    for i in range(node.n_edges):
        if results[i] == NULL:
            continue
        array = data_of_all_slices(<TensorBase>results[i])
        if array.dtype.kind not in "fc":
            continue
        if checks_nan:
            check_all(node, i, array, "nan", np.isnan(array))
        if checks_inf:
            check_all(node, i, array, "inf", np.isinf(array))
    return 0


cdef object data_of_all_slices(TensorBase result):
    while is_batched(result):
        result = batch_of(result.array).physical
    return <object>result.array


cdef int check_all(Node node, int output, object array, str what, object bad) except -1:
    """Raise for the first of the elements that are `bad`."""
    if not bad.any():
        return 0
    first = np.unravel_index(int(np.argmax(bad)), bad.shape)
    where = [int(index) for index in first]
    raise RuntimeError(
        f"Function '{node.name()}' returned {what} values in its {output}th output: {int(bad.sum())} of {bad.size} "
        f"elements, the first at index {where} of shape {list(bad.shape)}, where it is {array[first]}."
        f"{BRANCH if what == 'nan' else ''}"
    )
