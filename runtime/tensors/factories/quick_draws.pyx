"""Small tensors of random numbers without Python: what most calls of `rand` and its like ask for.

Each function is given the arguments of a call, and gives None where there is more to do, as those of `quick` do. Numbers
are those that the functions of `random` draw.
"""

from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t

from gradsmith.runtime.arrays.array cimport default_type, is_meta
from gradsmith.runtime.arrays.functions.draws.bits cimport normal_from_streams, even_from_streams
from gradsmith.runtime.arrays.functions.draws.words cimport (
    BERNOULLI, can_be_drawn_into, Distribution, move, POISSON, words_of,
)
from gradsmith.runtime.graph.tensor cimport REQUIRES_GRAD, TensorBase
from gradsmith.runtime.tensors.factories.quick cimport is_flag, made, made_like, type_of
from gradsmith.runtime.tensors.factories.sources cimport is_source, source_of

from gradsmith.runtime.batching import levels

cnp.import_array()

cdef dict NOTHING_NAMED = {}
cdef object open_calls = levels._open        # of `vmap`, in this thread

cdef enum:
    STREAMS_FROM = 1024         # numbers; as in `random`

ctypedef int (*filler)(object generator, cnp.ndarray out) except -1


# ---- real numbers


def even(tuple args not None, generator, dict named not None):
    """``rand(*args, **named)``."""
    return drawn(fill_even, args, None, generator, named)


def normal(tuple args not None, generator, dict named not None):
    """``randn(*args, **named)``."""
    return drawn(fill_normal, args, None, generator, named)


def even_like(tuple args not None, generator, dict named not None):
    """``rand_like(*args, **named)``."""
    return drawn(fill_even, (), args[0], generator, named) if len(args) == 1 else None


def normal_like(tuple args not None, generator, dict named not None):
    """``randn_like(*args, **named)``."""
    return drawn(fill_normal, (), args[0], generator, named) if len(args) == 1 else None


def normal_around(tuple args not None, generator, dict named not None):
    """``normal(*args)`` of a mean and deviation that are numbers, or tensors of one shape and dtype."""
    cdef object mean = args[0] if len(args) > 0 else None
    cdef object std = args[1] if len(args) > 1 else 1.0
    cdef TensorBase model = first_tensor(mean, std)
    if len(args) == 3:
        if model is not None or not isinstance(args[2], (tuple, list)):
            return None
        result = drawn_by(fill_normal, (args[2],), None, generator, named, mean, std)
    elif model is None or named:
        return None
    else:
        result = drawn_by(fill_normal, (), model, generator, named, mean, std)
    return result


cdef object drawn(filler fill, tuple size, object like, object generator, dict named):
    result = new_tensor(size, like, generator, named, default_type())
    if result is None or not has_words(result):
        return None
    fill(source_of(generator), array_of(result))
    return result


cdef object drawn_by(filler fill, tuple size, object like, object generator, dict named, object mean, object std):
    """The same, and then moved and stretched."""
    if not fits(mean, like) or not fits(std, like) or not is_deviation(std):
        return None
    result = drawn(fill, size, like, generator, named)
    if result is not None:
        move(array_of(result), parameter(mean), parameter(std))
    return result


cdef inline object parameter(object value):
    return array_of(value) if isinstance(value, TensorBase) else value


cdef inline TensorBase first_tensor(object one, object other):
    if isinstance(one, TensorBase):
        return one
    return other if isinstance(other, TensorBase) else None


cdef bint fits(object value, object like) except -1:
    """Is it a number, or a tensor like that?"""
    if PyFloat_CheckExact(value) or PyLong_CheckExact(value):
        return True
    if not isinstance(value, TensorBase) or like is None or is_meta((<TensorBase>value).array):
        return False
    cdef cnp.ndarray one = array_of(value), other = array_of(like)
    return (
        cnp.PyArray_TYPE(one) == cnp.PyArray_TYPE(other) and cnp.PyArray_IS_C_CONTIGUOUS(one)
        and cnp.PyArray_ISBEHAVED_RO(one) and cnp.PyArray_SAMESHAPE(one, other)
    )


cdef bint is_deviation(object std) except -1:
    """No number is negative."""
    cdef cnp.ndarray array
    cdef cnp.npy_intp i
    if not isinstance(std, TensorBase):
        return std >= 0
    array = array_of(std)
    for i in range(cnp.PyArray_SIZE(array)):
        if cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32:
            if (<float *>cnp.PyArray_DATA(array))[i] < 0:
                return False
        elif cnp.PyArray_TYPE(array) != cnp.NPY_FLOAT64 or (<double *>cnp.PyArray_DATA(array))[i] < 0:
            return False
    return True


cdef int fill_even(object generator, cnp.ndarray out) except -1:
    if cnp.PyArray_SIZE(out) < STREAMS_FROM:
        return words_of(generator).even(out)
    return even_from_streams(generator, out)


cdef int fill_normal(object generator, cnp.ndarray out) except -1:
    if cnp.PyArray_SIZE(out) < STREAMS_FROM or cnp.PyArray_ITEMSIZE(out) == 8:
        return words_of(generator).normal(out)
    return normal_from_streams(generator, out)


def poisson(input, generator):
    """``poisson(input, generator)``."""
    return drawn_of_each(POISSON, input, generator, 1 << 62)


def bernoulli(input, generator):
    """``bernoulli(input, generator=generator)``."""
    return drawn_of_each(BERNOULLI, input, generator, 1)


cdef object drawn_of_each(Distribution which, object input, object generator, double most):
    """Of few parameters in the elements of a tensor, which are not negative."""
    if not isinstance(input, TensorBase) or (<TensorBase>input).flags & REQUIRES_GRAD:
        return None
    result = new_tensor((), input, generator, NOTHING_NAMED, -1)
    if result is None or not has_words(result) or not can_be_drawn_into(array_of(result)):
        return None
    cdef cnp.ndarray parameters = array_of(input)
    if cnp.PyArray_SIZE(parameters) >= STREAMS_FROM or not cnp.PyArray_ISBEHAVED_RO(parameters):
        return None
    if not are_within(parameters, most):
        return None
    words_of(source_of(generator)).of_each(array_of(result), which, parameters)
    return result


cdef bint are_within(cnp.ndarray parameters, double most) noexcept:
    """Are all of them from 0 to a number, and none NaN?"""
    cdef bint is_float = cnp.PyArray_ITEMSIZE(parameters) == 4
    cdef cnp.npy_intp i
    cdef double value
    for i in range(cnp.PyArray_SIZE(parameters)):
        if is_float:
            value = (<float *>cnp.PyArray_DATA(parameters))[i]
        else:
            value = (<double *>cnp.PyArray_DATA(parameters))[i]
        if not 0 <= value <= most:
            return False
    return True


# ---- integers


def integers(tuple args not None, generator, dict named not None):
    """``randint(*args, **named)`` in int64, int32, float64 and float32."""
    if len(args) not in (2, 3) or not isinstance(args[len(args) - 1], (tuple, list)):
        return None
    cdef object low = args[0] if len(args) == 3 else 0, high = args[len(args) - 2]
    return drawn_between(low, high, (args[len(args) - 1],), None, generator, named)


def integers_like(tuple args not None, generator, dict named not None):
    """``randint_like(*args, **named)`` likewise."""
    if len(args) not in (2, 3):
        return None
    return drawn_between(args[1] if len(args) == 3 else 0, args[len(args) - 1], (), args[0], generator, named)


cdef object drawn_between(object low, object high, tuple size, object like, object generator, dict named):
    if not PyLong_CheckExact(low) or not PyLong_CheckExact(high) or not -(1 << 31) <= low < high <= 1 << 31:
        return None
    result = new_tensor(size, like, generator, named, cnp.NPY_INT64)
    if result is None:
        return None
    cdef int type_num = cnp.PyArray_TYPE(array_of(result))
    if type_num == cnp.NPY_INT64 or type_num == cnp.NPY_INT32:
        words_of(source_of(generator)).integers(array_of(result), <int64_t>low, <uint32_t>(high - 1 - low))
    elif has_words(result):
        words_of(source_of(generator)).counts(array_of(result), <int64_t>low, <uint32_t>(high - 1 - low))
    else:
        return None
    return result


def permutation(tuple args not None, generator, dict named not None):
    """``randperm(*args, **named)`` in int64."""
    if len(args) != 1 or not PyLong_CheckExact(args[0]):
        return None
    result = new_tensor(args, None, generator, named, cnp.NPY_INT64)
    if result is None or cnp.PyArray_TYPE(array_of(result)) != cnp.NPY_INT64:
        return None
    words_of(source_of(generator)).permutation(array_of(result))
    return result


# ---- the tensor


cdef inline cnp.ndarray array_of(object tensor):
    return <cnp.ndarray>(<TensorBase>tensor).array


cdef bint has_words(object tensor) noexcept:
    cdef int type_num = cnp.PyArray_TYPE(array_of(tensor))
    return type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_FLOAT64


cdef object new_tensor(tuple size, object like, object generator, dict named, int otherwise):
    """An uninitialised tensor of sizes, or like another one, as the named arguments of the call say."""
    cdef object dtype = None, device = None
    cdef bint requires_grad = False
    if not is_source(generator) or open_calls.levels:
        return None
    for name, value in named.items():
        if name == "dtype":
            dtype = value
        elif name == "device":
            device = value
        elif name == "requires_grad" and is_flag(value):
            requires_grad = value is True
        else:
            return None
    if like is not None:
        return made_like(like, None, dtype, device, requires_grad)
    return made(size, None, type_of(dtype, otherwise), device, requires_grad)
