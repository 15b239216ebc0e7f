/* Arrays without data: stand-ins of a shape and a type.
 *
 * A tensor on the meta device has an ndarray like any other, but all its elements are one and the same zero, at an
 * address that says so: strides are 0, the memory is `gs_meta_memory`.  Reading a stand-in is harmless, writing is
 * forbidden (its flags say so, and nothing here does).  Views keep the address, so no other mark is needed.
 *
 * The kernels that compute element by element, reduce or multiply know the shape and the type of their result before
 * they touch an element; given a stand-in they stop there and give another one.
 *
 * The array of a batched tensor is a stand-in too, with an address of its own, and has for its base who has the data;
 * see runtime/batching.  So is that of an indexed gradient; see runtime/graph/indexed_rows.pyx.
 */
#ifndef GRADSMITH_META_H
#define GRADSMITH_META_H

#include "numpy_api.h"

GS_HIDDEN_BEGIN

/* Room for any element, and for views that begin inside it (imaginary parts). */
#define GS_META_BYTES 64
/* Of tensors on the meta device, of batched ones, and of indexed gradients. */
extern char gs_meta_memory[3 * GS_META_BYTES];

static inline int
gs_is_meta(PyObject *array)
{
    return (uintptr_t)gs_fields(array)->data - (uintptr_t)gs_meta_memory < 3 * GS_META_BYTES;
}

/* Of a batched tensor, or a view that NumPy made of one. */
static inline int
gs_is_batched(PyObject *array)
{
    return (uintptr_t)gs_fields(array)->data - (uintptr_t)(gs_meta_memory + GS_META_BYTES) < GS_META_BYTES;
}

/* Of an indexed gradient. */
static inline int
gs_is_indexed(PyObject *array)
{
    return (uintptr_t)gs_fields(array)->data - (uintptr_t)(gs_meta_memory + 2 * GS_META_BYTES) < GS_META_BYTES;
}

/* NumPy's views of stand-ins count as aligned.  A stand-in made here does not, whatever its size: kernels then never
 * take it for a plain array. */
static inline int
gs_is_stand_in(PyObject *array)
{
    return gs_is_meta(array) && !(gs_fields(array)->flags & NPY_ARRAY_ALIGNED);
}

static inline int
gs_any_meta(PyObject *const *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        if (gs_is_meta(arrays[i])) {
            return 1;
        }
    }
    return 0;
}

PyObject *gs_meta_like(PyObject *model, int type);

/* `gs_prepare` for callers that only want the shape and the type when there is no data. */
PyObject *gs_meta_or_prepared(PyObject *array, int type);

/* `wide`, which is consumed, and NULL stays NULL, as float16. */
PyObject *gs_rounded_to_half(PyObject *wide);

/* `gs_clone` for callers that do not write into the copy. */
PyObject *gs_meta_or_clone(PyObject *array);

int gs_raise_no_data(void);

GS_HIDDEN_END

#endif
