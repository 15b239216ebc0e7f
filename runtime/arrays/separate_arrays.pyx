"""ndarray objects for both sides of one memory: the tensor's and the user's.

Note [Separate arrays]
An ndarray is more than its memory: shape, strides, dtype and the right to write can be assigned by anyone who has the
object. So the object that a tensor uses is never one that the user has. Where memory is shared, each side gets an
ndarray of its own, and a `MemoryShare` connects the two:

    from_numpy(w)     tensor.array -base-> MemoryShare -> w
    tensor.numpy()    the result   -base-> MemoryShare -> tensor.array

It keeps the other array alive and does not show it: NumPy's `base` would hand a tensor's own array to the user. Since
NumPy looks no further than the share for the owner of the memory, it is also the share that answers whether an array
may be made writeable again.

The array at the end, which owns the memory, gets a weak reference as long as the share lives. NumPy resizes no array
that has one, whatever `refcheck` says, and the write guard finds through it all arrays over one memory.

An array that was just computed is handed over as it is where nobody else can have it.
"""
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF, PyObject
cimport cython
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_exclusive, is_meta

import weakref

import numpy as np

from gradsmith.runtime.arrays.memory import address_of, array_over

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    PyTypeObject PyArray_Type
    object PyArray_NewFromDescr(
        PyTypeObject *, cnp.dtype, int, cnp.npy_intp *, cnp.npy_intp *, void *, int, PyObject *
    )

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *) noexcept
    PyObject *PySequence_Fast_GET_ITEM(object, Py_ssize_t)
    object PyWeakref_NewRef(object, PyObject *callback)

cdef enum:
    KEPT_FLAGS = (
        cnp.NPY_ARRAY_WRITEABLE | cnp.NPY_ARRAY_ALIGNED | cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_F_CONTIGUOUS
    )


class Pin(weakref.ref):
    """Weak reference to the owner of memory; `array` is one to the separate array over it."""

    __slots__ = ("array",)


@cython.final
@cython.no_gc
cdef class MemoryShare:
    """The `base` of a separate array; see Note [Separate arrays]."""

    cdef object array       # the array of the other side; None in a share that Python made
    cdef object pin

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        # NumPy asks how far the memory reaches, and whether it may be written.
        cdef char *first = NULL
        cdef Py_ssize_t nbytes = 0
        writeable = self.array is not None and cnp.PyArray_ISWRITEABLE(<cnp.ndarray>self.array)
        if self.array is not None:
            first = bytes_of(<cnp.ndarray>self.array, &nbytes)
        PyBuffer_FillInfo(buffer, self, first, nbytes, not writeable, flags)


cdef char *bytes_of(cnp.ndarray array, Py_ssize_t *nbytes) noexcept:
    """The lowest address of an element, and the bytes from there to the end of the highest."""
    cdef char *first = <char *>cnp.PyArray_DATA(array)
    cdef cnp.npy_intp reach, above = 0
    cdef int i
    nbytes[0] = 0
    if cnp.PyArray_SIZE(array) == 0:
        return first
    for i in range(cnp.PyArray_NDIM(array)):
        reach = (cnp.PyArray_DIM(array, i) - 1) * cnp.PyArray_STRIDE(array, i)
        if reach > 0:
            above += reach
        else:
            first += reach
    nbytes[0] = <char *>cnp.PyArray_DATA(array) + above + cnp.PyArray_ITEMSIZE(array) - first
    return first


cpdef object separate(object array):
    """Another ndarray, of the plain class, over the memory of `array`. None, and what has no data, have nothing to share."""
    cdef MemoryShare share
    cdef object result
    if array is None:
        return None
    if not cnp.PyArray_Check(array):
        raise TypeError(f"expected an ndarray, got {type(array).__name__}")
    if is_meta(<PyObject *>array):
        return array
    result = array_over_all(<cnp.ndarray>array)
    share = MemoryShare.__new__(MemoryShare)
    share.array = array
    share.pin = Pin(owner_of(array))
    share.pin.array = PyWeakref_NewRef(result, NULL)
    cnp.set_array_base(result, share)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>array):
        follow_guard(array, result)
    return result


cdef object lent(object value):
    """Copies or read-only views that a user's function may keep, also of arrays in a list or an index."""
    if isinstance(value, (list, tuple)):
        return type(value)([lent(part) for part in value])
    if value is None or not cnp.PyArray_Check(value) or is_meta(<PyObject *>value):
        return value
    return locked(separate(value))


cdef object readonly(object value):
    """The same for an expression, which keeps no array: a write to one would pass the version counter by."""
    if isinstance(value, (list, tuple)):
        return type(value)([readonly(part) for part in value])
    if value is None or not cnp.PyArray_Check(value) or is_meta(<PyObject *>value):
        return value
    result = array_over_all(<cnp.ndarray>value)
    cnp.set_array_base(result, value)
    return locked(result)


cdef object locked(cnp.ndarray array):
    cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef object owned(object result):
    if isinstance(result, (list, tuple)):
        return [owned(part) for part in result]
    if not isinstance(result, cnp.ndarray) or is_meta(<PyObject *>result) or is_exclusive(<PyObject *>result):
        return result
    shared = share_below(result)
    return separate(result) if shared is None else view_of_share(shared, result)


cdef object own_memory(object result):
    """The values of an expression, copied where an input or its author shares their memory."""
    if isinstance(result, (list, tuple)):
        return own_parts(result)
    return result if is_unshared(<PyObject *>result) else np.array(result)


cdef list own_parts(object parts):
    cdef bint is_new = Py_REFCNT(<PyObject *>parts) == 1
    cdef list found = []
    cdef PyObject *part
    cdef Py_ssize_t i
    for i in range(len(parts)):
        part = PySequence_Fast_GET_ITEM(parts, i)      # borrowed: only `parts` refers to it
        if <object>part is None or isinstance(<object>part, (list, tuple)):    # no result, or a list of them
            found.append(None if <object>part is None else own_parts(<object>part))
            continue
        found.append(<object>part if is_new and is_unshared(part) else np.array(<object>part))
    return found


cdef bint is_unshared(PyObject *array) noexcept:
    """Is there no other holder of the array or its memory, or has it no data?"""
    cdef PyObject *base
    if not cnp.PyArray_Check(<object>array) or is_meta(array) or is_exclusive(array):
        return True
    base = cnp.PyArray_BASE(<cnp.ndarray>array)
    return Py_REFCNT(array) == 1 and base != NULL and cnp.PyArray_Check(<object>base) and is_exclusive(base)


cdef MemoryShare share_below(object array):
    """The share that `array` is a view over, if it is one."""
    cdef PyObject *base = cnp.PyArray_BASE(<cnp.ndarray>array)
    while base != NULL and cnp.PyArray_Check(<object>base):
        base = cnp.PyArray_BASE(<cnp.ndarray>base)
    return <MemoryShare>base if base != NULL and isinstance(<object>base, MemoryShare) else None


cdef object view_of_share(MemoryShare share, object array):
    """The same view of what was shared: a tensor's array, whose views are known by their base."""
    offset = address_of(array) - address_of(share.array)
    return array_over(share.array, array.dtype, array.shape, array.strides, offset)


cdef cnp.ndarray array_over_all(cnp.ndarray array):
    cdef cnp.dtype dtype = <cnp.dtype>(<object>cnp.PyArray_DESCR(array))
    Py_INCREF(dtype)        # the array takes the reference
    return PyArray_NewFromDescr(
        &PyArray_Type,
        dtype,
        cnp.PyArray_NDIM(array),
        cnp.PyArray_DIMS(array),
        cnp.PyArray_STRIDES(array),
        cnp.PyArray_DATA(array),
        cnp.PyArray_FLAGS(array) & KEPT_FLAGS,
        NULL,
    )


cdef int follow_guard(object array, object result) except -1:
    """An array that a write guard has locked is writeable again one day, and then so is `result`."""
    from gradsmith.runtime.arrays.write_guard import follow

    follow(array, result)
    return 0


cdef object owner_of(object array):
    source = memory_source(array)
    while source is not None:
        array, source = source, memory_source(source)
    return array


def memory_source(cnp.ndarray array not None):
    """The array that `array` has its memory from, or None."""
    cdef PyObject *base = cnp.PyArray_BASE(array)
    if base == NULL:
        return None
    if isinstance(<object>base, MemoryShare):
        return (<MemoryShare>base).array
    return <object>base if cnp.PyArray_Check(<object>base) else None


def separated_from(owner):
    """All separate arrays over the memory of `owner`."""
    pins = [pin for pin in weakref.getweakrefs(owner) if isinstance(pin, Pin)]
    return [array for array in (pin.array() for pin in pins) if array is not None]
