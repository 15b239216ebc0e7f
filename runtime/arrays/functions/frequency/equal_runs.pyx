"""Runs of equal elements, or of equal slices: where they begin, which of them each element is in, how long they are."""

cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes

cnp.import_array()


def runs(npy_intp count, cnp.ndarray differs not None):
    """Places of the first of each run, the run of each of `count` elements, and the lengths of the runs.

    `differs` says of each element but the first whether it differs from the one before.
    """
    cdef npy_intp n_runs = 0, i
    cdef const cnp.npy_bool *starts = checked(differs, count)
    numbers = fresh_of_sizes(differs, cnp.NPY_INT64, 1, &count)
    cdef cnp.npy_int64 *number = <cnp.npy_int64 *>cnp.PyArray_DATA(numbers)
    for i in range(count):
        if i:
            n_runs += <npy_intp>starts[i - 1]
        number[i] = n_runs
    if count:
        n_runs += 1
    places = fresh_of_sizes(differs, cnp.NPY_INT64, 1, &n_runs)
    lengths = fresh_of_sizes(differs, cnp.NPY_INT64, 1, &n_runs)
    cdef cnp.npy_int64 *place = <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    cdef cnp.npy_int64 *length = <cnp.npy_int64 *>cnp.PyArray_DATA(lengths)
    for i in range(count - 1, -1, -1):
        place[number[i]] = i
    for i in range(n_runs):
        length[i] = (place[i + 1] if i + 1 < n_runs else count) - place[i]
    return places, numbers, lengths


cdef const cnp.npy_bool *checked(cnp.ndarray differs, npy_intp count) except? NULL:
    """The bools, which lie side by side."""
    if cnp.PyArray_TYPE(differs) != cnp.NPY_BOOL or not cnp.PyArray_IS_C_CONTIGUOUS(differs):
        raise TypeError("runs(): expected a contiguous array of bools")
    if cnp.PyArray_SIZE(differs) != max(count - 1, 0):
        raise ValueError(f"runs(): expected {max(count - 1, 0)} bools for {count} elements, got {differs.size}")
    return <const cnp.npy_bool *>cnp.PyArray_DATA(differs)
