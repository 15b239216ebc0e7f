"""``Function.apply``: a forward and a backward written in Python, recorded as one operation.

`apply` calls the user's forward with recording off and gives its outputs a node for their history, whose own `apply`
calls the user's backward. The classes that users derive from, with their documentation, are in
gradsmith/autograd/function.py; the node is in custom_function/node.pyx, what becomes of the outputs in
custom_function/outputs.pyx, and forward mode in custom_function/tangents.pyx.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.batching.batch cimport (
    VmapLevel,
    innermost_level,
    is_batched,
    living,
    share_memory_of_batches,
)
from gradsmith.runtime.custom_function.node cimport FunctionNode, is_own_setup_context
from gradsmith.runtime.custom_function.outputs cimport Call, wrap_outputs
from gradsmith.runtime.custom_function.tangents cimport carry_tangents
from gradsmith.runtime.graph.tangent cimport has_tangent_1, has_tangent_list, open_levels, swap_ceiling
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.history cimport requires_grad
from gradsmith.runtime.history.view cimport as_view
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, swap_grad_mode

from gradsmith.runtime.custom_function.arguments import bind, takes_exactly
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef extern from "Python.h":
    ctypedef object (*newfunc)(PyTypeObject *, object, PyObject *)
    ctypedef struct PyTypeObject:
        newfunc tp_new

cdef tuple no_arguments = ()
cdef object batching = LazyModule("gradsmith.runtime.custom_function.batching")


def apply(cls, *args, **kwargs):
    """Call the forward of the Function `cls` and record it: ``Function.apply``."""
    cdef type backward_cls = cls._backward_cls
    cdef FunctionNode node = (<PyTypeObject *>backward_cls).tp_new(<PyTypeObject *>backward_cls, no_arguments, NULL)
    cdef bint has_setup = is_own_setup_context(cls.setup_context)
    if kwargs or (has_setup and not takes_exactly(cls.forward, len(args))):
        args, kwargs = bind(cls.forward, args, kwargs, not has_setup)
        check_keywords(cls, kwargs)
    cdef bint recorded = node.look_at_inputs(args) and grad_enabled()
    if recorded:
        node.lead_to(args)
    cdef VmapLevel level = innermost_level(args) if living != 0 else None
    if level is None or level.is_trace:
        output = call_forward(cls, node, args, kwargs, has_setup)
    else:
        output = call_for_batches(cls, node, args, kwargs, level, recorded)
    cdef bint is_tuple = isinstance(output, tuple)
    cdef Call call = Call(node, args, recorded, has_setup)
    cdef list results = wrap_outputs(call, output if is_tuple else (output,))
    if open_levels != 0:
        carry_tangents(call, results)
    node.saved_for_forward = None
    return tuple(results) if is_tuple else results[0]


cdef object call_forward(object cls, FunctionNode node, tuple args, dict kwargs, bint has_setup):
    """Run the user's forward without recording and without tangents."""
    forward = cls.forward
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        if has_setup:
            output = forward(*args, **kwargs)
            cls.setup_context(node, args, output)
        elif kwargs:
            output = forward(node, *args, **kwargs)
        else:
            output = forward(node, *args)
    finally:
        swap_ceiling(ceiling)
        swap_grad_mode(recording)
    return output


cdef object call_for_batches(object cls, FunctionNode node, tuple args, dict kwargs, VmapLevel level, bint recorded):
    """The same for batched tensors; see batching.py, Note [Functions of batches]."""
    output = with_shared_memory(args, batching.call_on_data(cls, args, kwargs, level))
    cdef tuple outputs = output if isinstance(output, tuple) else (output,)
    if not recorded and not has_tangent_list([value for value in args if isinstance(value, TensorBase)]):
        node.dirty_tensors = tuple([value for value in args if is_one_of(outputs, value)]) or None
        return output
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        cls.setup_context(node, args, output)
    finally:
        swap_ceiling(ceiling)
        swap_grad_mode(recording)
    return output


cdef bint is_one_of(tuple outputs, object value) noexcept:
    cdef int i
    for i in range(len(outputs)):
        if <PyObject *>outputs[i] == <PyObject *>value and isinstance(value, TensorBase):
            return True
    return False


cdef object with_shared_memory(tuple args, object output):
    """Outputs whose data share memory with those of an argument, as views of it."""
    if isinstance(output, tuple):
        return tuple([with_shared_memory(args, value) for value in output])
    if not isinstance(output, TensorBase) or not is_batched(output) or is_one_of(args, output):
        return output
    for value in args:
        if isinstance(value, TensorBase) and is_batched(value) and share_memory_of_batches(
            (<TensorBase>value).array, (<TensorBase>output).array
        ):
            return as_view(value, <object>(<TensorBase>output).array)
    return output


cdef int check_keywords(object cls, dict kwargs) except -1:
    for name, value in kwargs.items():
        if isinstance(value, TensorBase) and (grad_enabled() and requires_grad(value) or has_tangent_1(value)):
            raise TypeError(
                f"{cls.__name__}.apply: the keyword-only argument '{name}' requires grad or has a tangent, but only positional "
                "arguments have them. Make it positional in forward, or detach() it."
            )
    return 0
