#include "bounds.h"
#include "support/simd.h"

#define GREATER(x, y) ((x) > (y) ? (x) : (y))
#define LESSER(x, y) ((x) < (y) ? (x) : (y))

/* Side by side, beside one number, reduced into one number, and whatever else there is. */
#define LOOP(name, T, CHOOSE)                                                                                    \
    GS_CLONES static void name##_each(const T *x, const T *y, T *out, npy_intp n)                                \
    {                                                                                                            \
        GS_IVDEP                                                                                                 \
        for (npy_intp i = 0; i < n; i++) {                                                                       \
            out[i] = CHOOSE(x[i], y[i]);                                                                         \
        }                                                                                                        \
    }                                                                                                            \
                                                                                                                 \
    GS_CLONES static void name##_number(const T *x, T y, T *out, npy_intp n)                                     \
    {                                                                                                            \
        GS_IVDEP                                                                                                 \
        for (npy_intp i = 0; i < n; i++) {                                                                       \
            out[i] = CHOOSE(x[i], y);                                                                            \
        }                                                                                                        \
    }                                                                                                            \
                                                                                                                 \
    GS_CLONES static T name##_of_all(T found, const T *x, npy_intp n)                                            \
    {                                                                                                            \
        for (npy_intp i = 0; i < n; i++) {                                                                       \
            found = CHOOSE(found, x[i]);                                                                         \
        }                                                                                                        \
        return found;                                                                                            \
    }                                                                                                            \
                                                                                                                 \
    static void name(char **args, const npy_intp *dims, const npy_intp *strides, void *data GS_UNUSED)           \
    {                                                                                                            \
        const npy_intp size = sizeof(T), n = dims[0];                                                            \
        char *x = args[0], *y = args[1], *out = args[2];                                                         \
        if (strides[2] == size && strides[0] == size && strides[1] == size) {                                    \
            name##_each((const T *)x, (const T *)y, (T *)out, n);                                                \
        } else if (strides[2] == size && strides[0] == size && strides[1] == 0) {                                \
            name##_number((const T *)x, *(const T *)y, (T *)out, n);                                             \
        } else if (strides[2] == size && strides[0] == 0 && strides[1] == size) {                                \
            name##_number((const T *)y, *(const T *)x, (T *)out, n);                                             \
        } else if (strides[2] == 0 && strides[0] == 0 && strides[1] == size && x == out) {                       \
            *(T *)out = name##_of_all(*(const T *)out, (const T *)y, n);                                         \
        } else {                                                                                                 \
            for (npy_intp i = 0; i < n; i++, x += strides[0], y += strides[1], out += strides[2]) {              \
                *(T *)out = CHOOSE(*(const T *)x, *(const T *)y);                                                \
            }                                                                                                    \
        }                                                                                                        \
    }

#define LOOPS(suffix, T)             \
    LOOP(greater_##suffix, T, GREATER) \
    LOOP(lesser_##suffix, T, LESSER)

LOOPS(int8, npy_int8)
LOOPS(uint8, npy_uint8)
LOOPS(int16, npy_int16)
LOOPS(uint16, npy_uint16)
LOOPS(int32, npy_int32)
LOOPS(uint32, npy_uint32)
LOOPS(int64, npy_int64)
LOOPS(uint64, npy_uint64)

gs_loop_function
gs_integer_bound_loop(gs_ufunc ufunc, int type)
{
    int is_greater = ufunc == GS_MAXIMUM;
    if (!is_greater && ufunc != GS_MINIMUM) {
        return NULL;
    }
    switch (type) {
    case NPY_INT8: return is_greater ? greater_int8 : lesser_int8;
    case NPY_UINT8: return is_greater ? greater_uint8 : lesser_uint8;
    case NPY_INT16: return is_greater ? greater_int16 : lesser_int16;
    case NPY_UINT16: return is_greater ? greater_uint16 : lesser_uint16;
    case NPY_INT32: return is_greater ? greater_int32 : lesser_int32;
    case NPY_UINT32: return is_greater ? greater_uint32 : lesser_uint32;
    case NPY_INT64: return is_greater ? greater_int64 : lesser_int64;
    case NPY_UINT64: return is_greater ? greater_uint64 : lesser_uint64;
    default: return NULL;
    }
}
