"""Runs of consecutive places in an index, such as that of a padding, which are moved or added in one go.

Once the runs are found, the index is not read again, since another thread may write to it in the meantime.
"""

from libc.stdint cimport int64_t, uint64_t
from numpy cimport npy_intp


cdef npy_intp find_runs(Run *runs, const int64_t *chosen, npy_intp rows, npy_intp length) noexcept nogil:
    cdef npy_intp most = min(rows // SHORT_RUN + 1, <npy_intp>MOST_RUNS)
    cdef npy_intp count = 0, i
    cdef int64_t place, expected = -1
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return 0
        if place == expected:
            runs[count - 1].length += 1
        elif count == most:
            return 0
        else:
            runs[count].place, runs[count].length = place, 1
            count += 1
        expected = place + 1
    return count
