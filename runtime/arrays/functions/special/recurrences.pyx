"""Derivatives of orthogonal polynomials, by the recurrence of three terms."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN

cdef enum:
    LARGEST_ORDER = 16
    STEPS_BETWEEN_SIGNALS = 1 << 18  # about a millisecond

cdef double LARGEST_DEGREE = 2.0**62

MAX_ORDER = LARGEST_ORDER

# p[m + 1] = ((slope y + shift) p[m] - last p[m - 1]) / divisor, from p[0] = 1 and p[1] = first y + constant.
cpdef enum Recurrence:
    CHEBYSHEV       # slope 2, last 1
    HERMITE_H       # slope 2, last 2 m
    HERMITE_HE      # slope 1, last m
    LAGUERRE        # slope -1, shift 2 m + 1, last m, divisor m + 1
    LEGENDRE        # slope 2 m + 1, last m, divisor m + 1


def put_polynomial(
    const double[::1] x, const double[::1] n, double[::1] out, int order, int recurrence, double first, double constant
):
    """Write derivatives of order `order`, at most `MAX_ORDER`, of polynomials of degrees `n` to `out`.

    It takes as many steps as the degrees say, and can be interrupted.
    """
    cdef Py_ssize_t i
    if not 0 <= order <= LARGEST_ORDER or not x.shape[0] == n.shape[0] == out.shape[0]:
        raise ValueError(f"order 0 to {MAX_ORDER} and vectors of one size are expected")
    with nogil:
        for i in range(x.shape[0]):
            out[i] = derivative_at(x[i], n[i], order, recurrence, first, constant)


cdef double derivative_at(double x, double n, int order, int recurrence, double first, double constant) except? -1 nogil:
    """The derivatives up to `order` obey the recurrence too, differentiated. Once one is NaN it remains so."""
    cdef double before[LARGEST_ORDER + 1]
    cdef double now[LARGEST_ORDER + 1]
    cdef double slope, shift, last, divisor, following
    cdef long degree, m
    cdef int k
    if n != n or x != x:
        return n + x
    if n <= -1:
        return 0
    if n > LARGEST_DEGREE:
        return NAN
    degree = <long>n
    for k in range(order + 1):
        before[k] = 1 if k == 0 else 0
        now[k] = first * x + constant if k == 0 else first if k == 1 else 0
    if degree == 0:
        return before[order]
    for m in range(1, degree):
        slope, shift, last, divisor = 2, 0, 1, 1
        if recurrence == HERMITE_H:
            last = 2 * m
        elif recurrence == HERMITE_HE:
            slope, last = 1, m
        elif recurrence == LAGUERRE:
            slope, shift, last, divisor = -1, 2 * m + 1, m, m + 1
        elif recurrence == LEGENDRE:
            slope, last, divisor = 2 * m + 1, m, m + 1
        for k in range(order, -1, -1):
            following = (slope * x + shift) * now[k] - last * before[k]
            if k:
                following += k * slope * now[k - 1]
            before[k], now[k] = now[k], following / divisor
        if now[order] != now[order]:
            break
        if m % STEPS_BETWEEN_SIGNALS == 0:
            check_signals()
    return now[order]


cdef int check_signals() except -1 with gil:
    return PyErr_CheckSignals()
