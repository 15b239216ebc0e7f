from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport FusedKernel
from gradsmith.runtime.batching.rules cimport BatchRule
from gradsmith.runtime.programs.block cimport Block

cdef enum StepKind:
    OP                      # the op of the table, called with tensors
    UNARY                   # a ufunc
    BINARY
    NUMBER_LAST             # a ufunc of an array and a number
    NUMBER_FIRST
    KERNEL                  # the loop of an elementwise formula, or of a gradient
    CALL                    # a Python function
    BLOCK                   # several steps that need no arrays; see block.pyx


cdef class Slot:
    """A value of a program, in the place of an operand."""

    cdef readonly Py_ssize_t number


cdef class Step:
    cdef readonly str name
    cdef readonly tuple operands        # values as slots, also in lists and tuples; everything else as it is
    cdef readonly tuple results         # numbers of slots; None for a result that is no tensor
    cdef readonly bint is_single        # the result is the one tensor, not a tuple or list of them
    cdef readonly bint writes           # into its first tensor, which is its result
    cdef readonly bint has_effects      # besides its results: it runs even where nothing reads them
    cdef readonly object function       # of a CALL
    cdef list slots                     # of the operands, once somebody has asked
    cdef object line                    # code and number of the line that called it, or None
    cdef const BatchRule *rule          # of an OP
    cdef StepKind kind
    cdef readonly Block block           # of a BLOCK
    cdef int ufunc
    cdef const FusedKernel *kernel
    cdef int n_inputs
    cdef int inputs[8]                  # slots of the arrays that the loop reads
    cdef double numbers[8]              # of a KERNEL
    cdef object number                  # of NUMBER_LAST and NUMBER_FIRST
    cdef int target                     # slot of the result, or of what is written
    cdef int counted                    # input of the program whose memory a loop writes; -1 of no other one
    cdef bint has_room                  # the result goes into an array that the frame keeps for it
    cdef int *dying                     # slots that nothing reads after it
    cdef int n_dying


cdef class Frame:
    """What one run of a program works in."""

    cdef Py_ssize_t n_slots, n_used
    cdef int *used                      # slots that ever hold an array
    cdef PyObject **arrays              # of each slot, owned
    cdef PyObject **tensors             # of each slot, owned; NULL until somebody wants a tensor
    cdef PyObject **rooms               # arrays kept from run to run, owned
    cdef list owners                    # the arena, and `rooms` in it
    cdef char *arena
    cdef Py_ssize_t arena_size          # bytes
    cdef char **addresses               # of the memory that blocks read and write


cdef class Program:
    cdef readonly list steps
    cdef readonly Py_ssize_t n_slots
    cdef readonly tuple outputs         # slots that `run` gives
    cdef readonly tuple inputs          # slots that `run` takes
    cdef readonly list room_models      # of each room that is seen as an array: (slot, place in the arena, array of its layout)
    cdef readonly Py_ssize_t arena_size # bytes
    cdef list gaps                      # of the arena, which belong to no room: (place, bytes)
    cdef readonly list room_addresses   # (address, place in the arena)
    cdef readonly list constant_addresses   # (address, array)
    cdef readonly Py_ssize_t n_addresses
    cdef readonly list guarded          # inputs to which writes are undone where a run raises
    cdef set used                       # slots that ever hold an array
    cdef list frames                    # not in use
    cdef bint is_planned
