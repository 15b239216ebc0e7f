"""Turn the outputs of a custom Function's forward into results of one recorded operation.

Note [Input returned as it is]
A forward may return one of its inputs. The caller's tensor must not get another history by that, so the output is a new
view of it, unless the input was marked dirty: then it was written, and its history is replaced as by any in-place op.

Note [Views made in a Function]
A view that a forward returns has the Function's backward for its history, although it shares memory with its base.
After a write to it or to its base, the history would have to follow from the geometry of the two (view.pyx, Note
[In-place on a view]), and the user's backward would be forgotten. So such a write is an error, or, of the base, makes
the view's next use one. `ctx._is_pure_view` says that the backward is the plain one of a view; it may be forgotten.
"""
from cpython.ref cimport PyObject

from gradsmith.runtime.batching.batch cimport Batch, as_batched, as_traced, batch_of, is_batched
from gradsmith.runtime.calls.inplace cimport check_inplace
from gradsmith.runtime.custom_function.node cimport FunctionNode, IS_TENSOR
from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.input_metadata cimport set_metadata
from gradsmith.runtime.graph.node cimport metadata_of
from gradsmith.runtime.graph.saved_variable cimport save_output
from gradsmith.runtime.graph.tensor cimport (
    IS_VIEW,
    TensorBase,
    VIEW_IN_FUNCTION,
    VIEW_MULTI_OUTPUT,
    VIEW_NO_GRAD,
    bump_version,
    version_of,
)
from gradsmith.runtime.history.copy_slices cimport make_copy_slices
from gradsmith.runtime.history.history cimport has_gradient, requires_grad, set_grad_fn
from gradsmith.runtime.history.view cimport as_view, current_grad_fn, share_version
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import warnings

cdef tuple nothing = ()


cdef class Call:
    """One call of a Function, while its outputs are wrapped."""

    def __cinit__(self, FunctionNode node, tuple inputs, bint recorded, bint has_setup):
        self.node = node
        self.inputs = inputs
        self.recorded = recorded
        self.has_setup = has_setup
        self.to_save = node.to_save or nothing
        self.dirty = node.dirty_tensors or nothing
        self.non_differentiable = node.non_differentiable or nothing
        node.to_save = node.dirty_tensors = node.non_differentiable = None


cdef list wrap_outputs(Call call, tuple outputs):
    """Result of `apply`: the outputs of forward, with the node as the history of tensors."""
    cdef FunctionNode node = call.node
    cdef list wrapped = []
    cdef int i
    check_marks(call, outputs)
    for value in call.dirty:
        bump_version(value)
    if call.recorded:
        node.set_outputs(len(outputs))
        note_cycles(call, outputs)
    for i in range(len(outputs)):
        value = outputs[i]
        wrapped.append(wrap_output(call, i, value, len(outputs)) if isinstance(value, TensorBase) else value)
    if call.differentiable > 1:
        restrict_views(wrapped)
    if call.recorded:
        save_tensors(call)
    return wrapped


cdef int check_marks(Call call, tuple outputs) except -1:
    """Refuse what cannot be saved or marked, before anything is changed."""
    if call.recorded:
        check_tensors(call, call.to_save, "save_for_backward", TypeError, True)
    check_tensors(call, call.dirty, "mark_dirty", RuntimeError, False)
    check_tensors(call, call.non_differentiable, "mark_non_differentiable", RuntimeError, False)
    for position, value in enumerate(call.dirty):
        if not is_among(outputs, value):
            raise RuntimeError(
                f"{name_of(call)}: argument {position} of mark_dirty is not returned. Some elements marked as dirty "
                "during the forward method were not returned as output. The inputs that are modified inplace must all be "
                "outputs of the Function."
            )
        if not is_among(call.inputs, value):
            warnings.warn(
                f"{name_of(call)}: ctx.mark_dirty() received a tensor that was not an input. Only input Tensors "
                "that have been mutated should be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=2,
            )
    return 0


# What PyTorch says that they do with tensors, which it calls variables there.
cdef dict WORDS = {"save_for_backward": "save", "mark_dirty": "accept"}


cdef int check_tensors(Call call, tuple values, str method, object error, bint may_be_none) except -1:
    for position, value in enumerate(values):
        if not isinstance(value, TensorBase) and not (may_be_none and value is None):
            raise error(
                f"{name_of(call)}: {method} can only {WORDS.get(method, 'take')} variables, that is tensors"
                f"{' or None' if may_be_none else ''}, but argument {position} is of type {type(value).__name__}. Keep "
                "other things as attributes of ctx."
            )
    return 0


cdef str name_of(Call call):
    return call.node._forward_cls.__name__


cdef bint is_among(tuple values, object value) noexcept:
    cdef int i
    for i in range(len(values)):
        if <PyObject *>values[i] == <PyObject *>value:
            return True
    return False


cdef int note_cycles(Call call, tuple outputs) except -1:
    """See custom_function/node.pyx, Note [Cycles through a context]."""
    for value in call.to_save:
        if value is not None and (call.dirty or not is_among(call.inputs, value) and not is_among(outputs, value)):
            track(call.node)
            track(value)
    return 0


cdef TensorBase wrap_output(Call call, int output_nr, TensorBase t, int n_outputs):
    """The output number `output_nr` of forward with its history; see Note [Input returned as it is]."""
    cdef bint is_input = is_among(call.inputs, t)
    cdef bint is_dirty = is_among(call.dirty, t)
    if call.recorded:
        set_metadata(metadata_of(<PyObject *>call.node, output_nr), t.array)
    if not call.recorded or not is_differentiable(call, t):
        if not call.node._materialize_non_diff_grads:
            note_undifferentiable(call.node, output_nr)
        t = without_history(call, t, is_input, is_dirty)
    else:
        call.differentiable += 1
        if is_dirty:
            rewrite_history(call, t, output_nr, n_outputs)
        else:
            if is_input:
                t = view_of_input(call, t)
            set_grad_fn(t, call.node, output_nr)
    if t.flags & IS_VIEW and not (is_input and is_dirty):
        mark_view(call.node, t)
    return t


cdef int note_undifferentiable(FunctionNode node, int output_nr) except -1:
    if node.undifferentiable is None:
        node.undifferentiable = set()
    node.undifferentiable.add(output_nr)
    return 0


cdef bint is_differentiable(Call call, TensorBase output) noexcept:
    return has_gradient(output) and not is_among(call.non_differentiable, output)


cdef TensorBase without_history(Call call, TensorBase t, bint is_input, bint is_dirty):
    """An output that is not differentiable, and does not require grad unless it is a view of what does."""
    if not requires_grad(t):
        return view_of_input(call, t) if is_input and not is_dirty else t
    if is_input:
        return share_version(t, <object>t.array)
    if not t.flags & IS_VIEW:
        t.detach_()
    return t


cdef TensorBase view_of_input(Call call, TensorBase t):
    if call.has_setup and is_among(call.to_save, t):
        raise RuntimeError(
            f"{name_of(call)}: An input that has been returned as-is as output is being saved for "
            "backward. This is not supported if you override setup_context. You should return and save a view of the "
            "input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
        )
    return as_view(t, another_array(t))


cdef object another_array(TensorBase t):
    """An array of the same memory; of a batched or traced tensor one that is known as such."""
    cdef Batch batch
    cdef TensorBase made
    if not is_batched(t):
        return (<object>t.array).view()
    batch = batch_of(t.array)
    if batch.level.is_trace:
        made = as_traced(batch.physical, batch.level, batch.slot)
    else:
        made = as_batched(batch.physical, batch.level)
    return <object>made.array


cdef int rewrite_history(Call call, TensorBase t, int output_nr, int n_outputs) except -1:
    """Forward has written `t`, an input: the node comes on top of its history, as after an in-place op."""
    cdef FunctionNode node = call.node
    check_inplace(name_of(call), t)
    if not t.flags & IS_VIEW:
        return set_grad_fn(t, node, output_nr)
    if n_outputs > 1:
        raise RuntimeError(
            f"{name_of(call)}: If your Function modifies inplace an input that is a view of another Tensor, your Function "
            f"cannot return more than one Tensor; it returned {n_outputs} values. You should either make sure the input "
            "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting "
            "it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the "
            "other operations)."
        )
    base = <TensorBase>t.base
    copy_slices = make_copy_slices(base, t, node, edge_of(call, t))
    set_grad_fn(base, copy_slices, 0)
    current_grad_fn(t)
    return 0


cdef int edge_of(Call call, TensorBase t) except -1:
    cdef int i, edge = 0
    for i in range(call.node.n_inputs):
        if <PyObject *>call.inputs[i] == <PyObject *>t:
            return edge
        edge += call.node.inputs[i] & IS_TENSOR
    raise RuntimeError(
        f"{name_of(call)}: ctx.mark_dirty() received a view that was not an input. Only input Tensors "
        "that have been mutated should be passed to ctx.mark_dirty()."
    )


cdef void mark_view(FunctionNode node, TensorBase view) noexcept:
    """See Note [Views made in a Function]."""
    if grad_enabled() or not node._is_pure_view:
        view.flags &= ~<unsigned int>VIEW_NO_GRAD
    if not node._is_pure_view:
        view.flags |= VIEW_IN_FUNCTION
    view.own_version = version_of(view)


cdef int restrict_views(list outputs) except -1:
    """Several outputs with a history: none of their views may be written."""
    for value in outputs:
        if isinstance(value, TensorBase) and (<TensorBase>value).flags & IS_VIEW:
            (<TensorBase>value).flags |= VIEW_MULTI_OUTPUT
    return 0


cdef int save_tensors(Call call) except -1:
    """After the outputs have their history: an output is kept without a cycle."""
    cdef int i
    call.node.reserve_saved(len(call.to_save))
    for i in range(len(call.to_save)):
        if call.to_save[i] is not None:
            check_saved_number(call.node, <TensorBase>call.to_save[i])
            save_output(call.node, i, <TensorBase>call.to_save[i])
    return 0


cdef int check_saved_number(FunctionNode node, TensorBase t) except -1:
    """A saved slot counts the outputs of its own node in 16 bits."""
    if t.grad_fn == <PyObject *>node and t.output_nr > 0xFFFF:
        raise RuntimeError(f"{node.name()}: of its outputs only the first 65536 can be saved, got number {t.output_nr}")
    return 0
