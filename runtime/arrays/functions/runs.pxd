from libc.stdint cimport int64_t
from numpy cimport npy_intp

cdef enum:
    MOST_RUNS = 64
    SHORT_RUN = 8               # elements, up to which a loop costs less than the call of memcpy

# Neighbours that an index names one after the other.
cdef struct Run:
    npy_intp place              # of the first one
    npy_intp length

# Writes the runs of an index and gives their number: 0 where they are too many to be worth it, or one leads out of an
# axis of this length.
cdef npy_intp find_runs(Run *runs, const int64_t *chosen, npy_intp rows, npy_intp length) noexcept nogil
