"""Selective checkpoints: results of some ops of the first run are kept, and handed out when the function runs again.

`Keeping` observes the first run of a checkpointed function, `Giving` every recomputation.

Note [What a given result carries]
A given result is an array and nothing else. The op that takes it goes on as if it had computed it: it makes a node with
edges to the operands of this run, saves what its formulas need, and carries tangents. So the recomputed graph is that
of the first run, a backward inside the function finds its way, and the checkpoint counts the same saved tensors.

Calls are told apart by their place in the order of calls. Ops that write, view, or consist of other ops are not counted,
nor is what an op calls while it computes its result: all these run in a recomputation as ever.
"""
from gradsmith.runtime.arrays.array cimport readable_copy
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap
from gradsmith.runtime.history.observers cimport Observer

from gradsmith.runtime.calls.inplace import watch_changes
from gradsmith.runtime.history.observers import install, uninstall


cdef class KeptResult:
    """The value of one result. It shares the memory until that is about to be changed in place.

    It does not hold the tensor, whose history leads to the checkpoint.
    """

    cdef object __weakref__
    cdef object array           # None after a change that was not to be
    cdef bint allow_change

    def __init__(self, TensorBase tensor not None, bint allow_change):
        self.array = <object>tensor.array
        self.allow_change = allow_change
        watch_changes(tensor, self)

    def before_change(self):
        """The memory is about to be written: from now on keep a copy, or nothing."""
        self.array = readable_copy(self.array) if self.allow_change else None

    cdef TensorBase give(self):
        cdef TensorBase given
        if self.array is None:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated. "
                "Pass allow_cache_entry_mutation=True to keep a copy of it then, or use the out-of-place op."
            )
        given = wrap(self.array)
        watch_changes(given, self)
        return given


cdef object kept(object result, bint allow_change):
    """`result` of an op (a tensor, None, or a tuple or list of these) with a KeptResult in the place of each tensor."""
    if isinstance(result, (tuple, list)):
        return type(result)([kept(item, allow_change) for item in result])
    return KeptResult(result, allow_change) if isinstance(result, TensorBase) else result


cdef object given(object result):
    if isinstance(result, (tuple, list)):
        return type(result)([given(item) for item in result])
    return (<KeptResult>result).give() if isinstance(result, KeptResult) else result


cdef list arrays_in(object result):
    if isinstance(result, (tuple, list)):
        return [array for item in result for array in arrays_in(item)]
    return [(<KeptResult>result).array] if isinstance(result, KeptResult) else []


cdef class Call:
    """One call of a replaceable op in the first run."""

    cdef str name
    cdef object result          # what `kept` made of it; None when it is to be computed again


cdef class Selective(Observer):
    """Common base of both observers: which calls count."""

    cdef list calls             # of the first run, in order
    cdef list running           # for each op and node that runs, innermost last: does it count
    cdef int counted_inside     # how many of them do

    cdef int begin(self, bint counts) except -1:
        self.running.append(counts)
        self.counted_inside += counts
        return 0

    cdef bint end(self) except -1:
        cdef bint counts = self.running.pop()
        self.counted_inside -= counts
        return counts

    cdef bint may_count(self, bint replaceable) noexcept:
        return replaceable and not self.counted_inside


cdef class Keeping(Selective):
    """Context manager of the first run of a checkpointed function: keeps the results of some ops.

    Parameters
    ----------
    keeps : callable
        ``keeps(name, operands, result)``: is the result of this op to be kept?
    allow_change : bool
        Keep a copy of a result that is changed in place, instead of refusing to recompute.
    """

    cdef object keeps
    cdef bint allow_change
    cdef bint has_begun, has_ended
    cdef int asleep             # what runs now is no part of the first run
    cdef list waiting           # (Call, operands) of what counts and runs

    def __init__(self, keeps, bint allow_change=False):
        self.calls, self.running, self.waiting = [], [], []
        self.keeps = keeps
        self.allow_change = allow_change

    def __enter__(self):
        if self.has_begun:
            raise RuntimeError(
                "the contexts of a selective checkpoint serve one call: have context_fn make new ones each time"
            )
        self.has_begun = True
        install(self)

    def __exit__(self, *raised):
        try:
            uninstall(self)
        finally:
            self.has_ended = True

    def arrays(self):
        """The arrays that are kept."""
        return [array for call in self.calls for array in arrays_in((<Call>call).result) if array is not None]

    cdef object begin_op(self, str name, tuple operands, bint replaceable):
        cdef bint counts = not self.asleep and self.may_count(replaceable)
        cdef Call call
        self.begin(counts)
        if counts:
            call = Call.__new__(Call)
            call.name = name
            self.calls.append(call)
            self.waiting.append((call, operands))
        return None if self.outer is None else self.outer.begin_op(name, operands, replaceable)

    cdef int end_op(self, object result) except -1:
        cdef Call call = None
        if self.end():
            call, operands = self.waiting.pop()
        if self.outer is not None:
            self.outer.end_op(result)
        if call is not None and self.asks(call.name, operands, result):     # last: the user may raise
            call.result = kept(result, self.allow_change)
        return 0

    cdef bint asks(self, str name, tuple operands, object result) except -1:
        """Ask the user, whose own ops are no part of the first run."""
        self.asleep += 1
        try:
            return self.keeps(name, operands, result)
        finally:
            self.asleep -= 1

    cdef int begin_node(self, object node) except -1:
        self.begin(False)
        return 0 if self.outer is None else self.outer.begin_node(node)

    cdef int end_node(self, object node) except -1:
        self.end()
        return 0 if self.outer is None else self.outer.end_node(node)

    cdef int fail(self) except -1:
        if self.end():
            self.waiting.pop()
        return 0 if self.outer is None else self.outer.fail()


cdef class Giving(Selective):
    """Context manager of a recomputation: hands out what `keeping` has kept."""

    cdef Keeping keeping
    cdef Py_ssize_t next_call
    cdef list told              # for each op and node that runs, innermost last: do outer observers know of it

    def __init__(self, Keeping keeping not None):
        self.keeping = keeping
        self.calls, self.running, self.told = keeping.calls, [], []

    def __enter__(self):
        self.next_call = 0
        self.keeping.asleep += 1    # a backward inside the function recomputes in the middle of the first run
        install(self)

    def __exit__(self, *raised):
        try:
            uninstall(self)
        finally:
            self.keeping.asleep -= 1

    def arrays(self):
        """The arrays that are kept."""
        return self.keeping.arrays()

    cdef object begin_op(self, str name, tuple operands, bint replaceable):
        cdef bint counts = self.may_count(replaceable)
        cdef Call call
        self.begin(counts)
        self.told.append(False)
        if counts:
            call = self.take(name)
            if call is not None and call.result is not None:
                return given(call.result)
        self.told[len(self.told) - 1] = True
        return None if self.outer is None else self.outer.begin_op(name, operands, replaceable)

    cdef Call take(self, str name):
        """The call of the first run that this one repeats; None when the first run has not come here yet."""
        cdef Call call
        if self.next_call == len(self.calls):
            if self.keeping.has_ended:
                raise different(f"'{name}' ran after the last of {len(self.calls)} ops")
            return None
        call = self.calls[self.next_call]
        self.next_call += 1
        if call.name != name:
            raise different(f"op number {self.next_call} was '{call.name}' and is '{name}' now")
        return call

    cdef int end_op(self, object result) except -1:
        self.end()
        if self.told.pop() and self.outer is not None:
            self.outer.end_op(result)
        return 0

    cdef int begin_node(self, object node) except -1:
        self.begin(False)
        self.told.append(True)
        return 0 if self.outer is None else self.outer.begin_node(node)

    cdef int end_node(self, object node) except -1:
        self.end()
        self.told.pop()
        return 0 if self.outer is None else self.outer.end_node(node)

    cdef int fail(self) except -1:
        self.end()
        return self.outer.fail() if self.told.pop() and self.outer is not None else 0


cdef object different(str what):
    return RuntimeError(
        f"selective checkpoint: the recomputation ran other ops than the forward pass: {what}. This can happen if the "
        "operations in the checkpointed region are nondeterministic or depend on global state that changed between "
        "forward and backward."
    )
