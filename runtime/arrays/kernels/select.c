/* condition ? a : b */
#include "support/array_cache.h"
#include "support/meta.h"
#include "walks/assign.h"
#include "walks/order.h"
#include "walks/tiles.h"

typedef struct {
    uint64_t halves[2];
} sixteen_bytes;

/* Inner loops by element size: args are condition, a, b, result.  Both sources are read in any case, so that the plain
 * loop becomes a vector select; one of them, or both, may be a single element (`a_moves`, `b_moves` are constants). */
#define SELECT(name, element)                                                                                     \
    GS_INLINE void name##_row(char **args, npy_intp n, npy_intp a_moves, npy_intp b_moves)                        \
    {                                                                                                             \
        const uint8_t *condition = (const uint8_t *)args[0];                                                      \
        const element *a = (const element *)args[1], *b = (const element *)args[2];                               \
        element *out = (element *)args[3];                                                                        \
        const element all_a = a[0], all_b = b[0];                                                                 \
        GS_IVDEP                                                                                                  \
        for (npy_intp i = 0; i < n; i++) {                                                                        \
            element from_a = a_moves ? a[i] : all_a, from_b = b_moves ? b[i] : all_b;                             \
            out[i] = condition[i] ? from_a : from_b;                                                              \
        }                                                                                                         \
    }                                                                                                             \
                                                                                                                  \
    GS_CLONES static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data)            \
    {                                                                                                             \
        npy_intp n = dims[0], size = sizeof(element);                                                             \
        (void)data;                                                                                               \
        if (n > 0 && strides[0] == 1 && strides[3] == size) {                                                     \
            if (strides[1] == size && strides[2] == size) {                                                       \
                name##_row(args, n, 1, 1);                                                                        \
                return;                                                                                           \
            }                                                                                                     \
            if (strides[1] == 0 && strides[2] == size) {                                                          \
                name##_row(args, n, 0, 1);                                                                        \
                return;                                                                                           \
            }                                                                                                     \
            if (strides[1] == size && strides[2] == 0) {                                                          \
                name##_row(args, n, 1, 0);                                                                        \
                return;                                                                                           \
            }                                                                                                     \
            if (strides[1] == 0 && strides[2] == 0) {                                                             \
                name##_row(args, n, 0, 0);                                                                        \
                return;                                                                                           \
            }                                                                                                     \
        }                                                                                                         \
        for (npy_intp i = 0; i < n; i++) {                                                                        \
            const char *from = *(args[0] + i * strides[0]) ? args[1] + i * strides[1] : args[2] + i * strides[2]; \
            *(element *)(args[3] + i * strides[3]) = *(const element *)from;                                      \
        }                                                                                                         \
    }

SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)
SELECT(select_16, sixteen_bytes)

static gs_loop_function
selector(int type)
{
    switch (gs_itemsize[type]) {
    case 1: return select_1;
    case 2: return select_2;
    case 4: return select_4;
    case 8: return select_8;
    case 16: return select_16;
    default: return NULL;
    }
}

/* Operands are condition, a and b, converted; held by the caller. */
static PyObject *
select_elements(PyObject *const *operands, int type)
{
    npy_intp dims[NPY_MAXDIMS];
    int nd = gs_broadcast_shape(operands, 3, dims);
    if (nd < 0) {
        return NULL;
    }
    if (gs_any_meta(operands, 3)) {
        return gs_meta_new(type, nd, dims);
    }
    gs_loop loop = {selector(type), NULL, (int16_t)type, 1, GS_DIRECT};
    if (loop.run == NULL) {
        return gs_as_array(PyArray_Where(operands[0], operands[1], operands[2]));
    }
    PyObject *out = gs_result_new(type, operands, 3, nd, dims);
    if (out != NULL) {
        PyObject *all[4] = {operands[0], operands[1], operands[2], out};
        gs_iteration it;
        gs_iteration_init(&it, all, 4, nd, dims);
        gs_run_elementwise(&it, &loop);
    }
    return out;
}

PyObject *
gs_where(PyObject *condition, PyObject *a, PyObject *b)
{
    int condition_type = gs_numeric_type(condition);
    if (condition_type < 0) {
        return NULL;
    }
    if (condition_type != NPY_BOOL) {
        PyErr_Format(PyExc_RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype %S",
                     (PyObject *)gs_fields(condition)->descr);
        return NULL;
    }
    int type = gs_result_type_of(a, b);
    if (type < 0) {
        return NULL;
    }
    PyObject *operands[3] = {gs_meta_or_prepared(condition, NPY_BOOL), NULL, NULL};
    operands[1] = operands[0] == NULL ? NULL : gs_meta_or_prepared(a, type);
    operands[2] = operands[1] == NULL ? NULL : gs_meta_or_prepared(b, type);
    PyObject *result = operands[2] == NULL ? NULL : select_elements(operands, type);
    for (int i = 0; i < 3; i++) {
        gs_array_xrelease(operands[i]);
    }
    return result;
}
