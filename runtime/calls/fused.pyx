"""Compiled loops of pointwise formulas, run on the arrays of a node or of a forward.

Note [Loops or ops]
A loop and the ops that its formula names round differently. Which of them runs depends on the operands, their tangents
included, and on whether the graph of the gradient is wanted; never on what happens to be switched on elsewhere. The loops
are for float32 and float64. Half precision is computed in float32 and rounded once at the end, as PyTorch does.
"""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t, uint64_t
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    FusedKernel,
    cast,
    copy_into,
    empty_array,
    fused,
    fused_doubled,
    fused_over,
    fused_sum,
    is_batched_array,
    is_meta,
    release_array,
)
from gradsmith.runtime.arrays.functions.ordered.clamped cimport clamped_integers
from gradsmith.runtime.batching.batch cimport VmapLevel, batch_of, current_trace, living
from gradsmith.runtime.engine.sums_at cimport is_first
from gradsmith.runtime.engine.zero_gradients cimport nan_safe_enabled
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, metadata_shape
from gradsmith.runtime.graph.node cimport (
    LEAF_EDGE,
    SAVED_DUAL,
    SAVED_INPUT,
    SAVED_INTERIOR,
    SAVED_OUTPUT,
    Edge,
    Node,
    SavedVariable,
    metadata_of,
)
from gradsmith.runtime.graph.saved_variable cimport saved_array, unpack, unpack_number
from gradsmith.runtime.graph.tangent cimport carries_tangent, open_levels, swap_ceiling
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap_owned
from gradsmith.runtime.history.input_buffer cimport is_owned
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, swap_grad_mode

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef extern from *:
    """
    #define GS_IS_PASS(kernel) ((kernel)->loops[0] == NULL)
    #define GS_SHARE_LOOPS(a, b) ((a)->loops[0] == (b)->loops[0])
    #define GS_IS_CLAMP(kernel) (strcmp((kernel)->name, "clamp_scalar_scalar_forward") == 0)
    """
    bint GS_IS_PASS(const FusedKernel *kernel) noexcept
    bint GS_SHARE_LOOPS(const FusedKernel *a, const FusedKernel *b) noexcept
    bint GS_IS_CLAMP(const FusedKernel *kernel) noexcept

cdef enum:
    SAVED_SOURCE = 0x40         # GS_SAVED of kernels/fused.h
    SOURCE_MASK = 0x3F
    MAX_INPUTS = 8
    DOUBLED_FROM = 1 << 12      # elements
    SUMMED_FROM = 1 << 14


cdef bint apply_fused(Node node, const FusedKernel *const *kernels, PyObject **grads, PyObject **grad_inputs) except -1:
    cdef uint32_t wanted = node.wanted      # a bit for each edge: kernels have few
    cdef int edge = 0
    if grad_enabled() or (open_levels != 0 and meets_tangent(node, grads)):
        return False
    if wanted == 3 and are_twins(node, kernels[0], kernels[1]):
        return apply_twins(node, kernels, grads, grad_inputs)
    while wanted != 0:
        if wanted & 1 and not apply_one(node, kernels, edge, grads, &grad_inputs[edge], wanted == 1, False):
            drop_all(grad_inputs, edge)
            return False
        wanted >>= 1
        edge += 1
    return True


cdef bint are_twins(Node node, const FusedKernel *first, const FusedKernel *second) noexcept:
    """Do two edges get the same gradient, as those of ``x * x`` do?

    It is computed once, and added to itself where both edges end. Hooks see a tensor for each edge.
    """
    cdef int i
    if node.meta is not None or not GS_SHARE_LOOPS(first, second) or GS_IS_PASS(first):
        return False
    if node.edges[0].node != node.edges[1].node or node.edges[0].input_nr != node.edges[1].input_nr:
        return False
    for i in range(first.n_inputs):
        if first.inputs[i] != second.inputs[i] and not hold_the_same(node, first.inputs[i], second.inputs[i]):
            return False
    return True


cdef bint hold_the_same(Node node, int source, int other) noexcept:
    """Are both inputs of a kernel saved variables, and of one tensor?"""
    cdef SavedVariable *a = &node.saved[source & SOURCE_MASK]
    cdef SavedVariable *b = &node.saved[other & SOURCE_MASK]
    if not source & other & SAVED_SOURCE:
        return False
    return SAVED_INPUT <= a.kind <= SAVED_INTERIOR and SAVED_INPUT <= b.kind <= SAVED_INTERIOR and a.value == b.value


cdef bint apply_twins(Node node, const FusedKernel *const *kernels, PyObject **grads, PyObject **grad_inputs) except -1:
    """The first edge gets the sum of both where nothing has come along it before; elsewhere it would be rounded in
    another way.
    """
    cdef bint doubles = is_large(grads[0], DOUBLED_FROM) and not living and is_first(node, 0)
    if doubles and apply_one(node, kernels, 0, grads, grad_inputs, True, True):
        return True
    if not apply_one(node, kernels, 0, grads, grad_inputs, True, False):
        return False
    Py_INCREF_pointer(grad_inputs[0])
    grad_inputs[1] = grad_inputs[0]
    return True


cdef inline bint is_large(PyObject *grad, npy_intp size) noexcept:
    return grad != NULL and cnp.PyArray_SIZE(<cnp.ndarray>(<TensorBase>grad).array) >= size


cdef bint meets_tangent(Node node, PyObject **grads) except -1:
    """Does an incoming gradient or a saved tensor carry a tangent, which the loops would lose?"""
    cdef int i
    for i in range(node.n_outputs):
        if grads[i] != NULL and carries_tangent(<TensorBase>grads[i]):
            return True
    for i in range(node.n_saved):
        if saved_carries_tangent(node, i):
            return True
    return False


cdef bint saved_carries_tangent(Node node, int slot) except -1:
    cdef SavedVariable *saved = &node.saved[slot]
    if SAVED_INPUT <= saved.kind <= SAVED_OUTPUT:
        return carries_tangent(<TensorBase>saved.value)
    return saved.kind == SAVED_DUAL and carries_tangent(unpack(node, slot))


cdef void drop_all(PyObject **grad_inputs, int count) noexcept:
    cdef int i
    for i in range(count):
        if grad_inputs[i] != NULL:
            Py_DECREF_pointer(grad_inputs[i])
            grad_inputs[i] = NULL


cdef bint apply_one(
    Node node, const FusedKernel *const *kernels, int edge, PyObject **grads, PyObject **grad_input, bint last, bint doubled
) except -1:
    """Gradient of one edge, or twice that. The last one may be computed in the incoming gradient's own memory."""
    cdef const FusedKernel *kernel = kernels[edge]
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double scalars[MAX_INPUTS]
    cdef PyObject *grad = grads[0]
    cdef PyObject *array
    cdef PyObject *reuse = NULL
    cdef int i
    if GS_IS_PASS(kernel):
        Py_INCREF_pointer(grad)
        grad_input[0] = grad
        return True
    for i in range(kernel.n_inputs):
        if kernel.inputs[i] & SAVED_SOURCE:
            array = saved_array(node, kernel.inputs[i] & SOURCE_MASK)
        else:
            array = NULL if grads[kernel.inputs[i]] == NULL else (<TensorBase>grads[kernel.inputs[i]]).array
        if array == NULL:
            return False
        inputs[i] = array
    cdef VmapLevel trace = current_trace() if living else None
    if living and any_batched(inputs, kernel.n_inputs, trace):
        return False
    if kernel.n_scalars != 0 and not read_saved_scalars(node, kernel, scalars):
        return False
    if trace is not None:
        result = kernel_trace(kernel, inputs, scalars)
        if result is None:
            return False
        Py_INCREF(result)
        grad_input[0] = <PyObject *>result
        return True
    array = summed(node, edge, kernel, grad, inputs, scalars)
    if array == NULL:
        if last and is_owned(grad):
            reuse = (<TensorBase>grad).array
        array = (fused_doubled if doubled else fused)(kernel, inputs, scalars, reuse)
        if array == NULL and kernel.n_scalars == 0 and not doubled:
            array = fused_of_halves(kernel, inputs, scalars)
        if array == NULL:
            return False
    if array == reuse:
        # The engine's own reference, moved: the gradient tensor goes on with new contents.
        Py_DECREF_pointer(array)
        grads[0] = NULL
        grad_input[0] = grad
        return True
    result = wrap_owned(array)
    Py_INCREF(result)
    grad_input[0] = <PyObject *>result
    return True


cdef inline PyObject *summed(
    Node node, int edge, const FusedKernel *kernel, PyObject *grad, PyObject **inputs, const double *scalars
) except? NULL:
    """The gradient of what was broadcast, summed as it is computed; NULL where it is not broadcast, or small."""
    if not is_large(grad, SUMMED_FROM):
        return NULL
    return summed_to_input(&node.edges[edge], kernel, inputs, scalars)


cdef PyObject *summed_to_input(
    Edge *to, const FusedKernel *kernel, PyObject **inputs, const double *scalars
) except? NULL:
    cdef InputMetadata *metadata
    cdef cnp.ndarray leaf
    if nan_safe_enabled():      # which looks at every element
        return NULL
    if to.input_nr == LEAF_EDGE:
        leaf = <cnp.ndarray>(<TensorBase>to.node).array
        return fused_sum(kernel, inputs, scalars, cnp.PyArray_NDIM(leaf), cnp.PyArray_DIMS(leaf))
    metadata = metadata_of(to.node, to.input_nr)
    return fused_sum(kernel, inputs, scalars, metadata.ndim, metadata_shape(metadata))


cdef bint read_saved_scalars(Node node, const FusedKernel *kernel, double *numbers) except -1:
    """False when a number is complex, which no kernel takes."""
    cdef int i
    for i in range(kernel.n_scalars):
        scalar = unpack_number(node, kernel.scalars[i])
        if type(scalar) is complex:
            return False
        numbers[i] = scalar
    return True


cdef KernelTrace kernel_trace = NULL


cdef void trace_kernels_with(KernelTrace method) noexcept:
    global kernel_trace
    kernel_trace = method


cdef bint any_batched(PyObject **arrays, int count, VmapLevel trace) except -1:
    """Does any stand for a batch of slices? What is traced stands for one tensor."""
    cdef int i
    for i in range(count):
        if is_batched_array(arrays[i]) and batch_of(arrays[i]).level is not trace:
            return True
    return False


cdef bint read_scalars(const FusedKernel *kernel, object scalars, double *numbers) except -1:
    cdef int i
    for i in range(kernel.n_scalars):
        scalar = scalars[kernel.scalars[i]]
        if type(scalar) is complex:
            return False
        numbers[i] = scalar
    return True


cdef bint read_operands(
    const FusedKernel *kernel, PyObject **tensors, object scalars, PyObject **inputs, double *numbers
) except -1:
    """False when a number is complex, which no kernel takes."""
    cdef int i
    if not read_scalars(kernel, scalars, numbers):
        return False
    for i in range(kernel.n_inputs):
        inputs[i] = (<TensorBase>tensors[kernel.inputs[i]]).array
    return True


cdef TensorBase fused_forward(const FusedKernel *kernel, PyObject **tensors, object scalars):
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double numbers[MAX_INPUTS]
    cdef PyObject *array
    if not read_operands(kernel, tensors, scalars, inputs, numbers):
        return None
    array = fused_or_in_float32(kernel, inputs, numbers)
    if array == NULL and GS_IS_CLAMP(kernel):
        array = clamped(inputs[0], scalars, NULL)
    return None if array == NULL else wrap_owned(array)


cdef PyObject *clamped(PyObject *array, object scalars, PyObject *out) except? NULL:
    """Integers, for which there is a loop too; NULL without an exception for others."""
    least, greatest = scalars
    found = clamped_integers(array, least, greatest, out)
    if found is None:
        return NULL
    Py_INCREF(found)
    return <PyObject *>found


cdef TensorBase by_ops(OpsRule rule, tuple given):
    """Without history or tangents, which come from the rules of the whole op."""
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        return rule(given)
    finally:
        swap_grad_mode(recording)
        swap_ceiling(ceiling)


cdef PyObject *fused_or_in_float32(
    const FusedKernel *kernel, PyObject **inputs, const double *numbers
) except? NULL:
    cdef PyObject *array = fused(kernel, inputs, numbers, NULL)
    return array if array != NULL else fused_of_halves(kernel, inputs, numbers)


cdef PyObject *fused_of_halves(const FusedKernel *kernel, PyObject **inputs, const double *numbers) except? NULL:
    """In float32, and rounded once at the end. NULL without an exception when the inputs are not all float16."""
    cdef PyObject *wide[MAX_INPUTS]
    cdef PyObject *result
    cdef PyObject *half
    cdef list held = []
    cdef int i
    for i in range(kernel.n_inputs):
        if cnp.PyArray_TYPE(<cnp.ndarray>inputs[i]) != cnp.NPY_FLOAT16 or is_meta(inputs[i]):
            return NULL
    half = dense_result_of_halves(kernel, inputs, numbers)
    if half != NULL:
        return half
    for i in range(kernel.n_inputs):
        wide[i] = cast(inputs[i], cnp.NPY_FLOAT32)
        held.append(<object>wide[i])
        Py_DECREF_pointer(wide[i])
    result = fused(kernel, wide, numbers, NULL)
    half = cast(result, cnp.NPY_FLOAT16)
    release_array(result)
    return half


cdef PyObject *dense_result_of_halves(
    const FusedKernel *kernel, PyObject **inputs, const double *numbers
) except? NULL:
    """A block at a time, for contiguous inputs of one shape; else NULL."""
    cdef cnp.ndarray first = <cnp.ndarray>inputs[0]
    cdef PyObject *half
    if GS_IS_PASS(kernel) or not cnp.PyArray_IS_C_CONTIGUOUS(first):
        return NULL
    half = empty_array(cnp.NPY_FLOAT16, cnp.PyArray_NDIM(first), cnp.PyArray_DIMS(first))
    if fused_over(kernel, inputs, numbers, half):
        return half
    release_array(half)
    return NULL


cdef bint fused_into(const FusedKernel *kernel, PyObject **tensors, object scalars, TensorBase out) except -1:
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double numbers[MAX_INPUTS]
    cdef int i
    if not read_operands(kernel, tensors, scalars, inputs, numbers):
        return False
    for i in range(kernel.n_inputs):
        if inputs[i] != out.array and may_overlap(inputs[i], out.array):
            return fused_and_copied(kernel, inputs, numbers, out)
    if fused_over(kernel, inputs, numbers, out.array) or fused_and_copied(kernel, inputs, numbers, out):
        return True
    if not GS_IS_CLAMP(kernel) or clamped(inputs[0], scalars, out.array) == NULL:
        return False
    Py_DECREF_pointer(out.array)
    return True


cdef bint fused_and_copied(
    const FusedKernel *kernel, PyObject **inputs, const double *numbers, TensorBase out
) except -1:
    """By way of a new array, so that the values are those of the op that makes one."""
    cdef PyObject *array = fused_or_in_float32(kernel, inputs, numbers)
    if array == NULL:
        return False
    result = <object>array
    Py_DECREF_pointer(array)
    if not (cnp.PyArray_SAMESHAPE(result, <cnp.ndarray>out.array) and result.dtype == out.dtype):
        return False
    copy_into(out.array, <PyObject *>result)
    return True


cdef bint may_overlap(PyObject *a, PyObject *b) except -1:
    """Elements of one array that are other elements of the other would be read after they are written."""
    cdef char *start_a = <char *>cnp.PyArray_DATA(<cnp.ndarray>a)
    cdef char *start_b = <char *>cnp.PyArray_DATA(<cnp.ndarray>b)
    if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a) and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>b):
        return (
            start_a < start_b + cnp.PyArray_NBYTES(<cnp.ndarray>b)
            and start_b < start_a + cnp.PyArray_NBYTES(<cnp.ndarray>a)
        )
    return np.may_share_memory(<object>a, <object>b)
