"""Derivatives of orthogonal polynomials, by the recurrence of three terms."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN

cdef enum:
    LARGEST_ORDER = 16
    STEPS_BETWEEN_SIGNALS = 1 << 18  # about a millisecond
    SIDE_BY_SIDE = 64
    FEW = 4                         # elements that are computed one by one

cdef double LARGEST_DEGREE = 2.0**62

MAX_ORDER = LARGEST_ORDER

# p[m + 1] = ((slope y + shift) p[m] - last p[m - 1]) / divisor, from p[0] = 1 and p[1] = first y + constant.
cpdef enum Recurrence:
    CHEBYSHEV       # slope 2, last 1
    HERMITE_H       # slope 2, last 2 m
    HERMITE_HE      # slope 1, last m
    LAGUERRE        # slope -1, shift 2 m + 1, last m, divisor m + 1
    LEGENDRE        # slope 2 m + 1, last m, divisor m + 1


ctypedef fused real:
    float
    double

cdef struct Step:
    double slope, shift, last, divisor


def put_polynomial(
    const real[::1] x, const double[::1] n, real[::1] out, int order, int recurrence, double first, double constant,
    bint shifted
):
    """Write derivatives of order `order`, at most `MAX_ORDER`, of polynomials of degrees `n`, or of one, to `out`.

    Those of `shifted` ones are at 2 x - 1. It takes as many steps as the degrees say, and can be interrupted.
    """
    cdef Py_ssize_t i = 0, end
    if not 0 <= order <= LARGEST_ORDER or x.shape[0] != out.shape[0] or n.shape[0] not in (1, x.shape[0]):
        raise ValueError(f"order 0 to {MAX_ORDER} and vectors of one size are expected")
    with nogil:
        while i < x.shape[0]:
            end = end_of_degree(n, i, x.shape[0])
            put_values(
                &x[i], &out[i], end - i, n[0 if n.shape[0] == 1 else i], order, recurrence, first, constant, shifted)
            i = end


cdef Py_ssize_t end_of_degree(const double[::1] n, Py_ssize_t start, Py_ssize_t size) noexcept nogil:
    """Up to where, of a few elements, all have the degree of the first one."""
    cdef Py_ssize_t end = start + 1, last = min(start + SIDE_BY_SIDE, size)
    if n.shape[0] == 1:
        return last
    while end < last and n[end] == n[start]:
        end += 1
    return end


cdef int put_values(
    const real *x, real *out, Py_ssize_t count, double n, int order, int recurrence, double first, double constant,
    bint shifted
) except -1 nogil:
    """Values of one degree, side by side, each as `derivative_at` computes it; and derivatives, one by one."""
    cdef double at[SIDE_BY_SIDE]
    cdef double before[SIDE_BY_SIDE]
    cdef double now[SIDE_BY_SIDE]
    cdef double following, slope, shift, last, divisor
    cdef Step step
    cdef long degree, m
    cdef Py_ssize_t j
    if order or not -1 < n <= LARGEST_DEGREE:
        for j in range(count):
            at[0] = 2 * <double>x[j] - 1 if shifted else x[j]
            out[j] = <real>(derivative_at(at[0], n, order, recurrence, first, constant) * (1 << order if shifted else 1))
        return 0
    if count <= FEW:
        for j in range(count):
            out[j] = <real>value_at(2 * <double>x[j] - 1 if shifted else x[j], n, recurrence, first, constant)
        return 0
    for j in range(SIDE_BY_SIDE):
        at[j] = x[j] if j < count else 0
        at[j] = 2 * at[j] - 1 if shifted else at[j]
    degree = <long>n
    for j in range(SIDE_BY_SIDE):
        before[j] = 1
        now[j] = first * at[j] + constant
        if degree == 0:
            now[j] = 1 if at[j] == at[j] else at[j]
    for m in range(1, degree):
        step = step_of(recurrence, m)
        slope, shift, last, divisor = step.slope, step.shift, step.last, step.divisor
        for j in range(SIDE_BY_SIDE):
            following = (slope * at[j] + shift) * now[j] - last * before[j]
            before[j] = now[j]
            now[j] = following
        if divisor != 1:
            for j in range(SIDE_BY_SIDE):
                now[j] = now[j] / divisor
        if m % STEPS_BETWEEN_SIGNALS == 0:
            check_signals()
    for j in range(count):
        out[j] = <real>now[j]
    return 0


cdef inline Step step_of(int recurrence, long m) noexcept nogil:
    cdef Step step
    step.slope, step.shift, step.last, step.divisor = 2, 0, 1, 1
    if recurrence == HERMITE_H:
        step.last = 2 * m
    elif recurrence == HERMITE_HE:
        step.slope, step.last = 1, m
    elif recurrence == LAGUERRE:
        step.slope, step.shift, step.last, step.divisor = -1, 2 * m + 1, m, m + 1
    elif recurrence == LEGENDRE:
        step.slope, step.last, step.divisor = 2 * m + 1, m, m + 1
    return step


cdef double value_at(double x, double n, int recurrence, double first, double constant) except? -1 nogil:
    """The same of one element, of a degree that is neither negative nor too large."""
    cdef double before = 1, now = first * x + constant, following
    cdef long degree = <long>n, m
    cdef Step step
    if x != x or degree == 0:
        return x if x != x else 1
    for m in range(1, degree):
        step = step_of(recurrence, m)
        following = ((step.slope * x + step.shift) * now - step.last * before) / step.divisor
        before, now = now, following
        if m % STEPS_BETWEEN_SIGNALS == 0:
            check_signals()
    return now


cdef double derivative_at(double x, double n, int order, int recurrence, double first, double constant) except? -1 nogil:
    """The derivatives up to `order` obey the recurrence too, differentiated. Once one is NaN it remains so."""
    cdef double before[LARGEST_ORDER + 1]
    cdef double now[LARGEST_ORDER + 1]
    cdef double following
    cdef Step step
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
        step = step_of(recurrence, m)
        for k in range(order, -1, -1):
            following = (step.slope * x + step.shift) * now[k] - step.last * before[k]
            if k:
                following += k * step.slope * now[k - 1]
            before[k], now[k] = now[k], following / step.divisor
        if now[order] != now[order]:
            break
        if m % STEPS_BETWEEN_SIGNALS == 0:
            check_signals()
    return now[order]


cdef int check_signals() except -1 with gil:
    return PyErr_CheckSignals()
