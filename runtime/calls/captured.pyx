"""Writes to tensors that the function of a transform captures.

``func.grad(lambda x: buffer.add_(x).sum())`` would leave values of one call, with its history, in a tensor that
outlives the call. A tensor is captured when it was made before the call began and shares memory with no argument.

While a function is traced it may write to all tensors, but give a history only to its own: see `expect_own`.
"""
from libc.stdint cimport uint32_t

from gradsmith.runtime.batching.batch cimport batch_of, current_trace, is_batched
from gradsmith.runtime.graph.tensor cimport BIRTH_SHIFT, MADE_IN_CALL, TensorBase
from gradsmith.runtime.history.view cimport root_of
from gradsmith.runtime.switches.transformed cimport DEEPEST, TransformedCall, call_depth, innermost_call


cdef int refuse_captured(str op, TensorBase self) except -1:
    cdef TensorBase root = root_of(self)
    cdef TransformedCall call = innermost_call()
    while call is not None and call.depth > depth_at_birth(root):
        if call.transform is not None and call.depth <= DEEPEST and not is_argument(root, call):
            raise call.transform.error(
                f"f calls {op} on a captured tensor of shape {list(self.shape)}, which it would change in place. Give "
                "the tensor to f as an argument and return it, or write to a clone() of it"
            )
        call = call.outer
    return 0


cdef int expect_own(str what, TensorBase self) except -1:
    """While a function is traced, have only tensors of its own get a history or hooks.

    Others would keep them after the call, and the program that comes of the trace gives them nothing.
    """
    cdef object trace = current_trace()
    if trace is not None and trace.is_from_outside(self):
        raise trace.call.lasting(f"{what} a tensor of shape {list(self.shape)} that outlasts the call")
    return 0


cdef int depth_at_birth(TensorBase t) noexcept:
    return (t.flags & MADE_IN_CALL) >> BIRTH_SHIFT


cdef bint is_argument(TensorBase root, TransformedCall call) except -1:
    """Does any tensor among the arguments show memory of `root`?"""
    for leaf in call.transform.leaves(call.arguments):
        if isinstance(leaf, TensorBase) and shows(<TensorBase>leaf, root):
            return True
    return False


cdef bint shows(TensorBase tensor, TensorBase root) except -1:
    """Also the data of a batched tensor, which is what an op writes to."""
    cdef TensorBase own = root_of(tensor)
    return own is root or is_batched(own) and shows(batch_of(own.array).physical, root)


def leave_call(tensor):
    """Count a result of the function of a transform among the tensors that were made outside of the call."""
    cdef TensorBase made
    cdef uint32_t depth
    if isinstance(tensor, TensorBase):
        made = tensor
        if depth_at_birth(made) > <int>call_depth():
            depth = min(call_depth(), <uint32_t>DEEPEST)
            made.flags = made.flags & ~<uint32_t>MADE_IN_CALL | depth << BIRTH_SHIFT
    return tensor


def was_made_in_ended_call(TensorBase tensor not None):
    """Was it made in a call of a transformed function that is over, and has not left it as a result?"""
    return depth_at_birth(tensor) > <int>call_depth()
