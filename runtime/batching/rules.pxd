from gradsmith.runtime.arrays.array cimport FusedKernel
from gradsmith.runtime.batching.batch cimport VmapLevel
from gradsmith.runtime.graph.tensor cimport TensorBase

ctypedef object (*PackedOp)(tuple operands)                 # an op, or what it consists of, called with a tuple

cdef struct BatchRule

# Computes the physical result at `level`, or writes it into the first operand.
ctypedef object (*BatchMethod)(const BatchRule *rule, tuple operands, VmapLevel level)

# The compiled loop of an elementwise op: a ufunc, a kernel of its own, or neither.
cdef struct Loop:
    bint is_ufunc
    int ufunc
    const FusedKernel *kernel

cdef Loop no_loop() noexcept
cdef Loop loop_of_ufunc(int ufunc) noexcept
cdef Loop loop_of_kernel(const FusedKernel *kernel) noexcept

# How an op runs on batched tensors; see rules.pyx, Note [Batching rules].
cdef struct BatchRule:
    const char *name
    BatchMethod method
    const char *kinds           # of the operands, one letter each
    PackedOp op
    PackedOp parts              # of `by_parts`; of `by_copy`, the op whose result is copied
    Loop loop

cdef object elementwise(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object along_slices(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object of_cores(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object by_parts(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object by_copy(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object by_indexing(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object slice_by_slice(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object by_views(const BatchRule *rule, tuple operands, VmapLevel level)
cdef object by_values(const BatchRule *rule, tuple operands, VmapLevel level)

# The result of an op with a batched operand; None when it has none. Of a list of views a list.
cdef object batched_result(const BatchRule *rule, tuple operands)
# The same for an op that writes: False when nothing is batched.
cdef bint written_batched(const BatchRule *rule, tuple operands) except -1

# Ops that a thread traces are given to the tracer, which runs them and gives their traced results.
ctypedef object (*TraceMethod)(const BatchRule *rule, tuple operands, VmapLevel level, bint writes)
cdef void trace_with(TraceMethod method) noexcept
