from gradsmith.runtime.batching.rules cimport BatchRule
from gradsmith.runtime.graph.tensor cimport TensorBase

# Observers that are installed, over all threads, one more while there are tensors without data, and one more while there
# are batched tensors. While there is none, an op asks this number and nothing else.
cdef int watching


cdef class Observer:
    cdef readonly Observer outer        # the one that was installed in this thread before
    cdef list places                    # of each op and node that runs, innermost last

    # A result in the place of what the op would compute, or None, which is all that those get that are not replaceable.
    cdef object begin_op(self, str name, tuple operands, bint replaceable)
    cdef int end_op(self, object result) except -1
    cdef int begin_node(self, object node) except -1
    cdef int end_node(self, object node) except -1
    cdef int fail(self) except -1                           # the innermost op or node has raised


# Calls of an op to its observers. `begin_op` gives the depth of the op among the ops and nodes that run, for `end_op`,
# with a mark when it is an op on the meta device or on batched tensors; 0 when this thread has no observer.
# `begin_replaceable_op` is for ops that compute a result, and neither write, view nor call other ops for it. When an
# observer has their result, `replays` says so right after it, and the op takes `replayed_result()` in the place of what
# it would compute: for one tensor a TensorBase, for several a tuple, for a list a list. All that follows (history,
# saving, tangents) it does as ever. The same for what a batching rule has computed; of an op that gives a view it is
# `replayed_arrays()`, one array or a list of them, that the view is made of.
# The rule is NULL for an op that writes, or consists of others: it is called with batched tensors as it is.
cdef int begin_op(str name, tuple operands, const BatchRule *rule) except? 0
cdef int begin_replaceable_op(str name, tuple operands, const BatchRule *rule) except? 0
cdef bint has_replayed_result() noexcept
cdef object replayed_result()
cdef TensorBase replayed_tensor()
cdef object replayed_arrays()
cdef int end_op(int depth, object result) except -1

cdef inline bint replays(int depth) noexcept:
    return depth != 0 and has_replayed_result()

cdef inline TensorBase ended(int depth, TensorBase result):
    """The result of an op, once its observer has seen it."""
    if depth:
        end_op(depth, result)
    return result

cdef int begin_node(object node) except? 0
cdef int end_node(int depth, object node) except -1

# The calling Python code goes on beside what ran before: what cannot be around it any more has failed.
cdef int settle(Observer observer, size_t address) except -1

# For a thread that works for another: what `enter_thread` gives is for `leave_thread`.
cdef list enter_thread(Observer observer)
cdef int leave_thread(Observer observer, list places) except -1

cdef Observer current_observer()                    # of this thread; None
cdef Observer swap_observer(Observer observer)      # gives the one before
