from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport FusedKernel
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


# One kernel per edge of the node, all pointwise. True: every wanted gradient is in grad_inputs. False: nothing was
# done (see Note [Loops or ops]): use the formula's ops.
cdef bint apply_fused(Node node, const FusedKernel *const *kernels, PyObject **grads, PyObject **grad_inputs) except -1
# Forward of a pointwise op; None when not fusable.
cdef TensorBase fused_forward(const FusedKernel *kernel, PyObject **tensors, object scalars)
# The same written over `out`, one of the operands perhaps. False: nothing was written, compute and copy instead.
cdef bint fused_into(const FusedKernel *kernel, PyObject **tensors, object scalars, TensorBase out) except -1
# An op's computation by other ops, from all its arguments, for operands that its loop does not take.
ctypedef object (*OpsRule)(tuple given)
cdef TensorBase by_ops(OpsRule rule, tuple given)

# In a thread that traces, the kernels of nodes are run by the tracer, which gives the traced result.
ctypedef TensorBase (*KernelTrace)(const FusedKernel *kernel, PyObject **arrays, const double *numbers)
cdef void trace_kernels_with(KernelTrace method) noexcept
