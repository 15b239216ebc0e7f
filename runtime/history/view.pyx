"""Views: tensors that share the memory and the version of another.

Note [In-place on a view]
A tensor and its views share memory and one version counter. Writing to a view changes its base, so the *base* gets a
new history: a `CopySlices` node, which sends the gradient of the untouched elements to the base's old history and that
of the overwritten ones through the operation that wrote. The view itself, and every other view of the base, has a
stale grad_fn from then on; `current_grad_fn` renews it from the geometry of the two arrays, when it is asked for.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_batched_array
from gradsmith.runtime.batching.batch cimport (
    Batch,
    VmapLevel,
    as_batched,
    batch_of,
    current_trace,
    share_memory_of_batches,
    slice_of_array,
)
from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tangent cimport open_levels
from gradsmith.runtime.graph.tensor cimport (
    INFERENCE,
    IS_SHARED,
    IS_VIEW,
    MADE_IN_CALL,
    REQUIRES_GRAD,
    TensorBase,
    VIEW_IN_FUNCTION,
    VIEW_INFERENCE,
    VIEW_MULTI_OUTPUT,
    VIEW_NO_GRAD,
    VIEW_RESTRICTIONS,
    version_of,
    wrap,
)
from gradsmith.runtime.history.copy_slices cimport make_view_node
from gradsmith.runtime.history.history cimport requires_grad, set_grad_fn
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled

from gradsmith.runtime.arrays.memory import array_over
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object view_geometry = LazyModule("gradsmith.runtime.arrays.functions.view_geometry")

cnp.import_array()

cdef extern from "Python.h":
    int PyObject_GC_IsTracked(object)
    Py_ssize_t Py_REFCNT(PyObject *)


cdef enum:
    MADE_WITHOUT_HISTORY = REQUIRES_GRAD | VIEW_NO_GRAD | VIEW_IN_FUNCTION    # where there is no grad_fn


cdef TensorBase as_view(TensorBase base, object array):
    """Tensor around `array`, a view of `base` (and so of what `base` is a view of) when it shares memory with it.

    A reshape that had to copy gives an ordinary tensor, and so does an inference tensor, which has no views.
    """
    cdef TensorBase result
    if not shares_memory(base.array, array):
        return wrap(array)
    result = share_version(root_of(base), array)
    if base.flags & INFERENCE:
        return result
    result.flags |= IS_VIEW | (base.flags & VIEW_RESTRICTIONS)
    if inference_mode_enabled():
        result.flags |= VIEW_INFERENCE
    if not grad_enabled():
        result.flags |= VIEW_NO_GRAD
    result.own_version = version_of(result)
    return result


cdef bint shares_memory(PyObject *array, object view) except -1:
    """NumPy lets a view refer to the array it was made from, or to the array that owns the memory of both."""
    if (is_batched_array(array) or is_batched_array(<PyObject *>view)) and <PyObject *>view != array:
        return share_memory_of_batches(array, <PyObject *>view)
    cdef PyObject *owner = cnp.PyArray_BASE(<cnp.ndarray>view)
    if <PyObject *>view == array or owner == array:
        return True
    return owner != NULL and owner == cnp.PyArray_BASE(<cnp.ndarray>array)


cdef TensorBase root_of(TensorBase t):
    return <TensorBase>t.base if t.flags & IS_VIEW else t


cdef list as_view_list(TensorBase base, object arrays):
    cdef list results = []
    cdef TensorBase view
    for array in arrays:
        view = as_view(base, array)
        if view.flags & IS_VIEW:
            view.flags |= VIEW_MULTI_OUTPUT
        results.append(view)
        if len(results) & 0xFFF == 0:
            PyErr_CheckSignals()
    return results


cdef TensorBase view_at(TensorBase other, TensorBase base, TensorBase view):
    """The view of `other`, laid out like `base`, that shows of it what `view` shows of `base`."""
    cdef object shown = slice_of_array(<object>view.array)
    cdef object geometry = view_geometry.geometry_of(slice_of_array(<object>base.array), shown)
    cdef TensorBase result
    if not view_geometry.is_inside(geometry):
        raise RuntimeError("a view that reaches beyond its base has no tangent; clone() it")
    return view_over(other, shown.dtype, shown.shape, shown.strides, geometry.offset)


cdef TensorBase view_over(TensorBase t, object dtype, tuple shape, tuple strides, object offset):
    """A view of the memory of `t`; of a batch, one that shows the same of each slice."""
    cdef TensorBase result
    cdef VmapLevel trace = current_trace()
    if is_batched_array(t.array):
        array = view_over_batch(batch_of(t.array), dtype, shape, strides, offset)
    elif trace is not None:
        array = traced_view_over(trace, t, dtype, shape, strides, offset)
    else:
        array = array_over(<object>t.array, dtype, shape, strides, offset)
    result = share_version(root_of(t), array)
    result.flags |= IS_VIEW
    result.own_version = version_of(result)
    return result


cdef object view_over_batch(Batch batch, object dtype, tuple shape, tuple strides, object offset):
    if batch.level.is_trace:
        return traced_view_over(batch.level, batch.physical, dtype, shape, strides, offset)
    data = slice_of_array(<object>batch.physical.array)
    seen = view_over(batch.physical, dtype, (data.shape[0], *shape), (data.strides[0], *strides), offset)
    cdef TensorBase batched = as_batched(seen, batch.level)
    return <object>batched.array


cdef object traced_view_over(VmapLevel trace, TensorBase t, object dtype, tuple shape, tuple strides, object offset):
    cdef TensorBase traced = trace.call_of(view_of, (t, dtype, shape, strides, offset), "view", False)
    return <object>traced.array


def view_of(TensorBase tensor not None, dtype, tuple shape, tuple strides, offset):
    """A view of the memory of `tensor`, as a step of a program."""
    return view_over(tensor, dtype, shape, strides, offset)


cdef TensorBase share_version(TensorBase source, object array):
    cdef TensorBase result = wrap(array)
    result.flags = source.flags & INFERENCE | result.flags & MADE_IN_CALL
    Py_INCREF(source)
    result.base = <PyObject *>source
    source.flags |= IS_SHARED
    if PyObject_GC_IsTracked(source):
        track(result)       # it may be what closes a cycle through the source
    return result


cdef int become_own(TensorBase view) except -1:
    """Let a view be none if its base is not known to anybody else. The base goes on counting the changes.

    With a tangent it stays what it is: the tangent of a view is that of its base.
    """
    if Py_REFCNT(view.base) != 1 or open_levels or view.flags & VIEW_INFERENCE:
        return 0
    if current_grad_fn(view) == NULL and requires_grad(view):
        return 0
    if view.grad_fn != NULL:
        view.flags |= REQUIRES_GRAD
    view.flags &= ~<uint32_t>(IS_VIEW | VIEW_RESTRICTIONS)
    return 0


cdef object ended_composites(int depth, object results):
    if depth:
        end_op(depth, results)
        return results
    for result in results:
        if isinstance(result, TensorBase) and (<TensorBase>result).flags & IS_VIEW:
            become_own(<TensorBase>result)
    return results


def one_slice(TensorBase tensor not None, VmapLevel level not None):
    """A tensor that stands for each slice of `tensor` along dimension 0. A write to one is a change of the other."""
    cdef TensorBase batched = as_batched(tensor, level)
    return share_version(tensor, <object>batched.array)


def view_of_all(TensorBase data not None, TensorBase part not None, TensorBase view not None):
    """The view of `data` that shows of each slice what `view` shows of `part`, the first slice; None where it copied."""
    cdef TensorBase result
    if not shares_memory(part.array, <object>view.array):
        return None
    shown = slice_of_array(<object>view.array)
    slices = slice_of_array(<object>data.array)
    geometry = view_geometry.geometry_of(slice_of_array(<object>part.array), shown)
    shape, strides = (slices.shape[0], *shown.shape), (slices.strides[0], *shown.strides)
    result = view_over(data, shown.dtype, shape, strides, geometry.offset)
    return result if view.flags & IS_VIEW else share_version(data, <object>result.array)


upcalls.fill(one_slice=one_slice, view_of_all=view_of_all)


cdef PyObject *current_grad_fn(TensorBase t) except? NULL:
    """Borrowed grad_fn. That of a view is renewed when its base has been changed since; see Note [In-place on a view].

    A view that was made while nothing was recorded has none: it requires grad when its base does, and its gradient goes
    nowhere.
    """
    cdef TensorBase base
    if not t.flags & IS_VIEW:
        return t.grad_fn
    if t.own_version == version_of(t) and (t.grad_fn != NULL or t.flags & MADE_WITHOUT_HISTORY):
        return t.grad_fn
    base = <TensorBase>t.base
    if t.grad_fn == NULL and not requires_grad(base):
        return NULL
    if t.own_version != version_of(t):
        check_view(t)
    node = make_view_node(base, t)
    set_grad_fn(t, node, 0)
    t.own_version = version_of(t)
    return t.grad_fn


cdef int check_view(TensorBase view) except -1:
    """The memory of a view was written: is it clear what the history of the view is now?"""
    if view.flags & VIEW_IN_FUNCTION:
        raise function_view_error(view, "its base or another view of its base has been modified inplace")
    if view.flags & (VIEW_NO_GRAD | VIEW_INFERENCE):
        raise ambiguous_view_error(view, "its base or another view of its base has been modified inplace")
    return 0


cdef object function_view_error(TensorBase view, str what):
    source = "A tensor" if view.grad_fn == NULL else f"Output {view.output_nr} of {(<Node>view.grad_fn).name()}"
    return RuntimeError(
        f"{source} is a view and {what}. This view was created inside a custom Function (or because an input was "
        "returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated "
        "with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by "
        "cloning the output of the custom Function."
    )


cdef object ambiguous_view_error(TensorBase view, str what):
    """Of a view made while nothing was recorded: is what is computed from it to be part of its base's graph?"""
    made, modified, block = (
        ("inference mode", "in normal mode", "inference_mode")
        if view.flags & VIEW_INFERENCE
        else ("no_grad mode", "with grad mode enabled", "no_grad")
    )
    source = "A view was"
    if view.grad_fn != NULL:
        source = f"Output {view.output_nr} of {(<Node>view.grad_fn).name()} is a view of a view which was"
    return RuntimeError(
        f"{source} created in {made} and {what} {modified}. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
        f"{block} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked)."
    )
