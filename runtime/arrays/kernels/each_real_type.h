/* Includes TEMPLATE once for each real type that the machine computes with, whatever includes this again and again.
 *
 * A template has T, the type; MASK, an integer as wide, for conditions that are kept beside elements; NAME(x), the name of a
 * function for the type; and IS_NAN(x), 0 for integers. GS_REAL_CASES(call) are the cases of a
 * switch over gs_real_type(type): `call(float)` and so on, by the last part of the names. Booleans are bytes here. */
#define GS_JOINED_(name, suffix) name##_##suffix
#define GS_JOINED(name, suffix) GS_JOINED_(name, suffix)
#define NAME(x) GS_JOINED(x, SUFFIX)

#define IS_NAN(x) ((x) != (x))
#define T float
#define MASK npy_int32
#define SUFFIX float
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX

#define T double
#define MASK npy_int64
#define SUFFIX double
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX
#undef IS_NAN

#define IS_NAN(x) ((void)(x), 0)
#define T npy_int8
#define MASK npy_int8
#define SUFFIX int8
#include TEMPLATE
#undef T
#undef SUFFIX

#define T npy_uint8
#define SUFFIX uint8
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX

#define T npy_int16
#define MASK npy_int16
#define SUFFIX int16
#include TEMPLATE
#undef T
#undef SUFFIX

#define T npy_uint16
#define SUFFIX uint16
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX

#define T npy_int32
#define MASK npy_int32
#define SUFFIX int32
#include TEMPLATE
#undef T
#undef SUFFIX

#define T npy_uint32
#define SUFFIX uint32
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX

#define T npy_int64
#define MASK npy_int64
#define SUFFIX int64
#include TEMPLATE
#undef T
#undef SUFFIX

#define T npy_uint64
#define SUFFIX uint64
#include TEMPLATE
#undef T
#undef MASK
#undef SUFFIX
#undef IS_NAN
#undef NAME

#ifndef GS_REAL_CASES
#define GS_REAL_CASES(call)                      \
    case NPY_FLOAT32: call(float); break;        \
    case NPY_FLOAT64: call(double); break;       \
    case NPY_INT8: call(int8); break;            \
    case NPY_BOOL:                               \
    case NPY_UINT8: call(uint8); break;          \
    case NPY_INT16: call(int16); break;          \
    case NPY_UINT16: call(uint16); break;        \
    case NPY_INT32: call(int32); break;          \
    case NPY_UINT32: call(uint32); break;        \
    case NPY_INT64: call(int64); break;          \
    case NPY_UINT64: call(uint64); break;

/* NumPy has two numbers for integers of one width, since C has two types; the one that the cases know. */
static inline int
gs_real_type(int type)
{
    const int is_long = sizeof(long) == sizeof(npy_int64);
    if (type == NPY_LONG || type == NPY_LONGLONG)
        return type == NPY_LONG && !is_long ? NPY_INT32 : NPY_INT64;
    if (type == NPY_ULONG || type == NPY_ULONGLONG)
        return type == NPY_ULONG && !is_long ? NPY_UINT32 : NPY_UINT64;
    return type;
}
#endif
