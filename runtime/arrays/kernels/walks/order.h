/* The order of a result's dimensions in memory.
 *
 * Note [Order of dimensions]
 * A result that is computed element by element keeps the order of its operands, so that all of them are walked as one
 * long row:
 *
 *     x        strides (1, 5)     dimension 0 is the inner one
 *     exp(x)   strides (1, 5)     not (4, 1), which would read or write with gaps
 *
 * The rule is that of PyTorch's TensorIterator.  Of two dimensions the one with the smaller stride is the inner one,
 * and the first operand that tells them apart decides.  An operand that is broadcast along one of them has no say, nor
 * has a dimension of size 1 one; between equal strides (elements that overlap) the longer dimension is the outer one.
 * Dimensions that no operand tells apart stay in row-major order.  A stride counts without its sign, as in NumPy.
 *
 * A result has no gaps, whatever its operands have.
 */
#ifndef GRADSMITH_ORDER_H
#define GRADSMITH_ORDER_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* The stride of an array along dimension d of a shape that it broadcasts to. */
static inline npy_intp
gs_broadcast_stride(PyObject *array, int nd, int d)
{
    PyArrayObject_fields *a = gs_fields(array);
    int own = d - (nd - a->nd);
    return own < 0 || a->dimensions[own] == 1 ? 0 : a->strides[own];
}

/* The dimensions of the operands' common shape, the innermost first. */
void gs_order(PyObject *const *operands, int n, int nd, const npy_intp *dims, int *order);

/* The strides of a result with elements of `size` bytes; 1 when they are those of row-major order. */
int gs_result_strides(PyObject *const *operands, int n, int nd, const npy_intp *dims, npy_intp size, npy_intp *strides);

/* Uninitialised array for a result. */
PyObject *gs_result_new(int type, PyObject *const *operands, int n, int nd, const npy_intp *dims);

/* Does the array have these strides?  Those of dimensions of size 1 do not matter. */
int gs_has_strides(PyObject *array, const npy_intp *strides);

GS_HIDDEN_END

#endif
