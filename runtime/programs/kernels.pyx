"""Loops of gradients by name, so that a program from a file can have them as steps."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport FusedKernel, fused
from gradsmith.runtime.batching.batch cimport VmapLevel, current_trace, is_batched, open_batch_of
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap_owned
from gradsmith.runtime.programs.trace cimport trace_kernel

cdef extern from *:
    """
    #define GS_HAS_LOOP(kernel) ((kernel)->loops[0] != NULL)
    """
    bint GS_HAS_LOOP(const FusedKernel *kernel) noexcept

cdef enum:
    MOST = 8    # inputs, or numbers


def kernels_of(list tables not None):
    """Name -> kernel, of what `backward_kernels` of a family gives."""
    cdef const FusedKernel *const *table
    cdef Kernel found
    cdef int i
    kernels = {}
    for capsule, count in tables:
        table = <const FusedKernel *const *>PyCapsule_GetPointer(capsule, "gradsmith.kernels")
        for i in range(count):
            if GS_HAS_LOOP(table[i]):
                found = Kernel.__new__(Kernel)
                found.kernel = table[i]
                kernels[table[i].name.decode()] = found
    return kernels


cdef class Kernel:
    def __call__(self, tuple tensors not None, tuple numbers not None):
        """The gradient, without history; in a thread that traces, as a step.

        Raises
        ------
        TypeError
            There are other numbers of operands, or operands of other types, than the loop takes.
        RuntimeError
            It does not take these tensors: all have to be float32, or all float64.
        """
        cdef PyObject *arrays[MOST]
        cdef double scalars[MOST]
        cdef VmapLevel trace = current_trace()
        cdef int i
        name = self.kernel.name.decode()
        if len(tensors) != self.kernel.n_inputs or len(numbers) != self.kernel.n_scalars:
            raise TypeError(f"{name} takes {self.kernel.n_inputs} tensors and {self.kernel.n_scalars} numbers")
        for i in range(self.kernel.n_scalars):
            scalars[i] = numbers[i]
        for i in range(self.kernel.n_inputs):
            tensor = <TensorBase?>tensors[i]
            if is_batched(tensor) and open_batch_of(tensor).level is not trace:
                raise RuntimeError(f"{name}: a loop of a program from a file does not take tensors of vmap")
            arrays[i] = (<TensorBase>tensor).array
        result = trace_kernel(self.kernel, arrays, scalars) if trace is not None else run(self.kernel, arrays, scalars)
        if result is None:
            raise RuntimeError(f"{name}: the loop does not take tensors of {', '.join([str(t.dtype) for t in tensors])}")
        return result


cdef TensorBase run(const FusedKernel *kernel, PyObject **arrays, const double *numbers):
    cdef PyObject *array = fused(kernel, arrays, numbers, NULL)
    return None if array == NULL else wrap_owned(array)
