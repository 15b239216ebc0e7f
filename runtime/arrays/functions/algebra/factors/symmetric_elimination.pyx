"""Elimination of symmetric and of Hermitian matrices, with pivots of one or two rows (Bunch and Kaufman, 1977).

Only lower triangles are read. The factors and the numbers of rows are LAPACK's: a pivot of one row has the number of
the row that it came from, counted from 1; one of two rows has that of its second row twice, with the sign of minus.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, sqrt

import numpy as np

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex

cdef double ONE_ROW = (1 + sqrt(17.0)) / 8  # how large a pivot of one row has to be beside the others


cdef inline double magnitude(number x) noexcept nogil:
    """LAPACK's: of a complex number the sum of the magnitudes of its parts."""
    if number is cython.floatcomplex or number is cython.doublecomplex:
        return fabs(x.real) + fabs(x.imag)
    else:
        return fabs(x)


cdef inline number across(number x, bint hermitian) noexcept nogil:
    """The element on the other side of the diagonal."""
    if number is cython.floatcomplex or number is cython.doublecomplex:
        return x.conjugate() if hermitian else x
    else:
        return x


cdef inline number on_diagonal(number x, bint hermitian) noexcept nogil:
    if number is cython.floatcomplex or number is cython.doublecomplex:
        return x.real if hermitian else x
    else:
        return x


cdef inline void exchange(number *x, number *y) noexcept nogil:
    cdef number kept = x[0]
    x[0] = y[0]
    y[0] = kept


# ---- factors


cdef Py_ssize_t pivot_of(const number *a, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The row of the pivot, or for two rows that of the second, less than zero: -1 - row. NaN stays where it is."""
    cdef double own = magnitude(a[k * n + k]), largest = 0, beside = 0
    cdef Py_ssize_t i, row = k
    if own != own:
        return k
    for i in range(k + 1, n):
        if magnitude(a[i * n + k]) > largest:
            largest, row = magnitude(a[i * n + k]), i
    if own >= ONE_ROW * largest:
        return k
    for i in range(k, row):
        beside = max(beside, magnitude(a[row * n + i]))
    for i in range(row + 1, n):
        beside = max(beside, magnitude(a[i * n + row]))
    if own >= ONE_ROW * largest * (largest / beside):
        return k
    return row if magnitude(a[row * n + row]) >= ONE_ROW * beside else -1 - row


cdef void exchange_rows(
    number *a, Py_ssize_t n, Py_ssize_t k, Py_ssize_t first, Py_ssize_t second, bint hermitian
) noexcept nogil:
    """Exchange rows and columns of what is left at step `k`, where `first` is the upper row."""
    cdef Py_ssize_t i
    cdef number kept
    if first == second:
        return
    for i in range(second + 1, n):
        exchange(&a[i * n + first], &a[i * n + second])
    for i in range(first + 1, second):
        kept = across(a[i * n + first], hermitian)
        a[i * n + first] = across(a[second * n + i], hermitian)
        a[second * n + i] = kept
    a[second * n + first] = across(a[second * n + first], hermitian)
    exchange(&a[first * n + first], &a[second * n + second])
    for i in range(k, first):
        exchange(&a[first * n + i], &a[second * n + i])


@cython.cdivision(True)
cdef void eliminate_row(number *a, number *work, Py_ssize_t n, Py_ssize_t k, bint hermitian) noexcept nogil:
    cdef number pivot = a[k * n + k], factor
    cdef Py_ssize_t i, j
    for i in range(k + 1, n):
        work[i] = across(a[i * n + k], hermitian)
        factor = a[i * n + k] / pivot
        for j in range(k + 1, i + 1):
            a[i * n + j] = a[i * n + j] - factor * work[j]
        a[i * n + k] = factor


@cython.cdivision(True)
cdef void eliminate_rows(number *a, number *work, Py_ssize_t n, Py_ssize_t k, bint hermitian) noexcept nogil:
    """For a pivot of two rows, divided by what is not on its diagonal, so that nothing overflows."""
    cdef number below = a[(k + 1) * n + k]
    cdef number above = across(below, hermitian)
    cdef number first = a[k * n + k] / above, second = a[(k + 1) * n + k + 1] / below
    cdef number rest = first * second - 1, x, y
    cdef number *other = work + n
    cdef Py_ssize_t i, j
    for i in range(k + 2, n):
        x, y = a[i * n + k], a[i * n + k + 1]
        work[i], other[i] = across(x, hermitian), across(y, hermitian)
        a[i * n + k] = (second * x - y) / above / rest
        a[i * n + k + 1] = (first * y - x) / below / rest
        for j in range(k + 2, i + 1):
            a[i * n + j] = a[i * n + j] - a[i * n + k] * work[j] - a[i * n + k + 1] * other[j]


cdef cnp.int32_t eliminate_one(
    number *a, number *work, cnp.int32_t *pivots, Py_ssize_t n, bint hermitian
) noexcept nogil:
    """Replace a matrix by its factors; the first step without a pivot, which changes nothing, or 0."""
    cdef Py_ssize_t i, k = 0, row
    cdef cnp.int32_t info = 0
    for i in range(n):
        a[i * n + i] = on_diagonal(a[i * n + i], hermitian)
    while k < n:
        row = pivot_of(a, n, k)
        if row >= 0:
            exchange_rows(a, n, k, k, row, hermitian)
            pivots[k] = <cnp.int32_t>(row + 1)
            a[k * n + k] = on_diagonal(a[k * n + k], hermitian)
            if not magnitude(a[k * n + k]) > 0:  # zero or NaN
                info = info if info else <cnp.int32_t>(k + 1)
            else:
                eliminate_row(a, work, n, k, hermitian)
            k += 1
        else:
            exchange_rows(a, n, k, k + 1, -1 - row, hermitian)
            pivots[k] = pivots[k + 1] = <cnp.int32_t>row
            for i in range(k, k + 2):
                a[i * n + i] = on_diagonal(a[i * n + i], hermitian)
            eliminate_rows(a, work, n, k, hermitian)
            k += 2
    return info


cdef void eliminate_all(
    number *a, number *work, cnp.int32_t *pivots, cnp.int32_t *info, Py_ssize_t count, Py_ssize_t n, bint hermitian
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        info[i] = eliminate_one(a + i * n * n, work, pivots + i * n, n, hermitian)


def eliminate_symmetric(cnp.ndarray a not None, bint hermitian):
    """Both factors of each matrix in one array, the numbers of rows, and the first step without a pivot, or 0."""
    check_squares("eliminate_symmetric", a)
    cdef int kind = cnp.PyArray_TYPE(a)
    cdef Py_ssize_t n = a.shape[a.ndim - 1]
    cdef Py_ssize_t count = 0 if n == 0 else cnp.PyArray_SIZE(a) // (n * n)
    cdef cnp.ndarray factors = np.ascontiguousarray(np.tril(a))
    cdef cnp.ndarray work = np.empty(2 * n, factors.dtype)
    cdef cnp.ndarray pivots = np.empty((<object>a).shape[:a.ndim - 1], np.int32)
    cdef cnp.ndarray info = np.zeros((<object>a).shape[:a.ndim - 2], np.int32)
    cdef void *data = cnp.PyArray_DATA(factors)
    cdef void *space = cnp.PyArray_DATA(work)
    cdef cnp.int32_t *rows = <cnp.int32_t *>cnp.PyArray_DATA(pivots)
    cdef cnp.int32_t *steps = <cnp.int32_t *>cnp.PyArray_DATA(info)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            eliminate_all[float](<float *>data, <float *>space, rows, steps, count, n, hermitian)
        elif kind == cnp.NPY_FLOAT64:
            eliminate_all[double](<double *>data, <double *>space, rows, steps, count, n, hermitian)
        elif kind == cnp.NPY_COMPLEX64:
            eliminate_all[cython.floatcomplex](
                <cython.floatcomplex *>data, <cython.floatcomplex *>space, rows, steps, count, n, hermitian
            )
        else:
            eliminate_all[cython.doublecomplex](
                <cython.doublecomplex *>data, <cython.doublecomplex *>space, rows, steps, count, n, hermitian
            )
    return factors, pivots, info


def check_squares(name, a):
    if a.ndim < 2 or a.dtype.char not in "fdFD" or not a.dtype.isnative or a.shape[a.ndim - 1] != a.shape[a.ndim - 2]:
        raise TypeError(
            f"{name}(): expected square matrices of real or complex numbers, got {a.dtype} of size {list(a.shape)}"
        )


# ---- solutions


cdef inline void add_row(number *x, Py_ssize_t k, Py_ssize_t to, Py_ssize_t row, number factor) noexcept nogil:
    """Subtract a multiple of one row of `k` elements from another."""
    cdef Py_ssize_t i
    for i in range(k):
        x[to * k + i] = x[to * k + i] - factor * x[row * k + i]


cdef inline void change_places(number *x, Py_ssize_t k, Py_ssize_t first, Py_ssize_t second) noexcept nogil:
    cdef Py_ssize_t i
    if first != second:
        for i in range(k):
            exchange(&x[first * k + i], &x[second * k + i])


@cython.cdivision(True)
cdef void divide(
    const number *a, number *x, Py_ssize_t n, Py_ssize_t k, Py_ssize_t at, bint one, bint hermitian
) noexcept nogil:
    """Divide by a pivot of one row, or of two."""
    cdef number below, above, first, second, rest, upper
    cdef Py_ssize_t i
    if one:
        first = on_diagonal(a[at * n + at], hermitian)
        for i in range(k):
            x[at * k + i] = x[at * k + i] / first
        return
    below = a[(at + 1) * n + at]
    above = across(below, hermitian)
    first = on_diagonal(a[at * n + at], hermitian) / below
    second = on_diagonal(a[(at + 1) * n + at + 1], hermitian) / above
    rest = first * second - 1
    for i in range(k):
        upper = x[at * k + i]
        x[at * k + i] = (second * upper - x[(at + 1) * k + i]) / below / rest
        x[(at + 1) * k + i] = (first * x[(at + 1) * k + i] - upper) / above / rest


cdef void substitute_one(
    const number *a, const cnp.int32_t *pivots, number *x, Py_ssize_t n, Py_ssize_t k, bint hermitian
) noexcept nogil:
    """Replace the right sides `x`, `k` columns, by the solutions."""
    cdef Py_ssize_t at = 0, last, row, column
    while at < n:
        last = at if pivots[at] > 0 else at + 1
        change_places(x, k, last, (pivots[at] if pivots[at] > 0 else -pivots[at]) - 1)
        for row in range(last + 1, n):
            for column in range(at, last + 1):
                add_row(x, k, row, column, a[row * n + column])
        divide(a, x, n, k, at, last == at, hermitian)
        at = last + 1
    last = n - 1
    while last >= 0:
        at = last if pivots[last] > 0 else last - 1
        for row in range(last + 1, n):
            for column in range(at, last + 1):
                add_row(x, k, column, row, across(a[row * n + column], hermitian))
        change_places(x, k, last, (pivots[at] if pivots[at] > 0 else -pivots[at]) - 1)
        last = at - 1


cdef void substitute_all(
    const number *a, const cnp.int32_t *pivots, number *x, Py_ssize_t count, Py_ssize_t n, Py_ssize_t k, bint hermitian
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        substitute_one(a + i * n * n, pivots + i * n, x + i * n * k, n, k, hermitian)


cdef bint are_steps(const cnp.int32_t *pivots, Py_ssize_t n) noexcept nogil:
    """Whether every number names a row that is left at its step, and those of two rows are there twice."""
    cdef Py_ssize_t at = 0
    while at < n:
        if pivots[at] > 0:
            if pivots[at] > n or pivots[at] <= at:
                return False
            at += 1
        else:
            if pivots[at] >= -at - 1 or pivots[at] < -n or at + 1 == n or pivots[at + 1] != pivots[at]:
                return False
            at += 2
    return True


def substitute_symmetric(cnp.ndarray a not None, cnp.ndarray pivots not None, cnp.ndarray x not None, bint hermitian):
    """Solutions for right sides `x`, of the dtype and the batch of the factors `a`, as a new array."""
    check_squares("substitute_symmetric", a)
    sizes = [(<object>one).shape for one in (a, pivots, x)]
    if x.dtype != a.dtype or x.ndim != a.ndim or not sizes[0][:a.ndim - 1] == sizes[1] == sizes[2][:x.ndim - 1]:
        raise TypeError(
            f"substitute_symmetric(): expected operands of one dtype and batch, got {a.dtype} of size {sizes[0]}, "
            f"pivots of size {sizes[1]} and {x.dtype} of size {sizes[2]}"
        )
    cdef int kind = cnp.PyArray_TYPE(a)
    cdef Py_ssize_t n = a.shape[a.ndim - 1], k = x.shape[x.ndim - 1], i
    cdef Py_ssize_t count = 0 if n == 0 else cnp.PyArray_SIZE(a) // (n * n)
    cdef cnp.ndarray rows = np.ascontiguousarray(pivots, np.int32)
    a, x = np.ascontiguousarray(a), np.array(x, order="C")
    cdef const cnp.int32_t *numbers = <const cnp.int32_t *>cnp.PyArray_DATA(rows)
    for i in range(count):
        if not are_steps(numbers + i * n, n):
            raise RuntimeError(
                f"linalg.ldl_solve: pivots {(<object>rows).reshape(-1, n)[i].tolist()} are not those of "
                f"linalg.ldl_factor for {n} rows"
            )
    cdef void *left = cnp.PyArray_DATA(a)
    cdef void *right = cnp.PyArray_DATA(x)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            substitute_all[float](<float *>left, numbers, <float *>right, count, n, k, hermitian)
        elif kind == cnp.NPY_FLOAT64:
            substitute_all[double](<double *>left, numbers, <double *>right, count, n, k, hermitian)
        elif kind == cnp.NPY_COMPLEX64:
            substitute_all[cython.floatcomplex](
                <cython.floatcomplex *>left, numbers, <cython.floatcomplex *>right, count, n, k, hermitian
            )
        else:
            substitute_all[cython.doublecomplex](
                <cython.doublecomplex *>left, numbers, <cython.doublecomplex *>right, count, n, k, hermitian
            )
    return x
