"""Gamma samples as functions of their parameter; see Note [Moving gamma samples] in gammas_kernels.c."""

cimport numpy as cnp

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, call_each, has_no_data

cnp.import_array()

cdef extern from "runtime/arrays/functions/draws/gammas_kernels.h" nogil:
    enum:
        NODES "GS_GAMMA_NODES"
    ctypedef struct Rule "gs_gamma_rule":
        double[NODES] nodes
        double[NODES] weights
    double gs_gamma_rise(const Rule *rule, int order, double a, double l)

cdef enum:
    PIECE = 2048                # elements for one thread at a time

cdef Rule rule
cdef bint has_rule = False


cdef int make_rule() except -1:
    global has_rule
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    for i in range(NODES):
        rule.nodes[i], rule.weights[i] = (nodes[i] + 1) / 2, weights[i] / 2
    has_rule = True
    return 0


def rise(int order, object a, object l):
    """The first or second derivative of the probability in the parameter, divided by x times the density; `l` is log x."""
    dtype = np.result_type(a, l)
    shape = np.broadcast_shapes(a.shape, l.shape)
    if has_no_data(a) or has_no_data(l):
        return array_without_data(shape, dtype)
    if not has_rule:
        make_rule()
    wide_a = np.ascontiguousarray(np.broadcast_to(a, shape), np.float64)
    wide_l = np.ascontiguousarray(np.broadcast_to(l, shape), np.float64)
    out = np.empty(shape, np.float64)
    call_each(lambda i: fill(wide_a, wide_l, out, i * PIECE, order), (out.size + PIECE - 1) // PIECE)
    return out.astype(dtype, copy=False)


cdef int fill(cnp.ndarray a, cnp.ndarray l, cnp.ndarray out, Py_ssize_t first, int order) except -1:
    cdef const double *from_a = <const double *>cnp.PyArray_DATA(a)
    cdef const double *from_l = <const double *>cnp.PyArray_DATA(l)
    cdef double *to = <double *>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i, last = min(first + PIECE, cnp.PyArray_SIZE(out))
    with nogil:
        for i in range(first, last):
            to[i] = gs_gamma_rise(&rule, order, from_a[i], from_l[i])
    return 0
