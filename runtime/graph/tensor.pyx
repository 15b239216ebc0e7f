"""`TensorBase`: an ndarray with a history.

The final `Tensor` class, with the methods and operators of every op, is generated on top of it; it makes itself
known through `set_tensor_type`, and every tensor the package makes is of that class.
"""
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_batched_array, is_indexed_array, is_meta, is_on_meta, release_array
from gradsmith.runtime.arrays.separate_arrays cimport separate
from gradsmith.runtime.graph.node cimport release_reference
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.saved_variable cimport detach_saved_output
from gradsmith.runtime.graph.size cimport size_of
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled, threads_in_inference_mode
from gradsmith.runtime.switches.transformed cimport DEEPEST, TransformedCall, call_depth, innermost_call, running_calls

import numpy as np

from gradsmith.runtime.arrays.device import CPU, META
from gradsmith.runtime.arrays.dtypes import check_array_dtype
from gradsmith.runtime.graph import tensor_api as api
from gradsmith.runtime.switches.truth import truth_of

cnp.import_array()

cdef extern from *:
    """
    #include <Python.h>
    #define GS_HAS_WEAKREFS(self) (*(PyObject **)((char *)(self) + Py_TYPE(self)->tp_weaklistoffset) != NULL)
    """
    bint GS_HAS_WEAKREFS(PyObject *) noexcept

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    int PyObject_TypeCheck(object, PyTypeObject *) noexcept
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    ctypedef object (*newfunc)(PyTypeObject *, object, PyObject *)
    ctypedef int (*inquiry)(PyObject *) noexcept
    ctypedef void (*destructor)(PyObject *) noexcept
    ctypedef void (*freefunc)(void *) noexcept
    ctypedef struct PyTypeObject:
        const char *tp_name
        traverseproc tp_traverse
        newfunc tp_new
        freefunc tp_free
        Py_ssize_t tp_dictoffset
        inquiry tp_clear
        unsigned long tp_flags
    PyTypeObject *Py_TYPE(PyObject *) noexcept
    void PyObject_ClearWeakRefs(PyObject *) noexcept
    unsigned long Py_TPFLAGS_IMMUTABLETYPE
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef extern from "runtime/graph/untracked.h":
    void gs_allocate_untracked(PyTypeObject *, destructor, Py_ssize_t) noexcept
    Py_ssize_t gs_visit_living(visitor) noexcept

cdef PyObject *tensor_type = NULL
cdef newfunc new_empty = NULL       # what Cython wrote: without the arguments that construct.pyx takes
cdef tuple no_arguments = ()

# The array of a tensor that has not got its own yet. Python can call __new__ and stop there: it gets a tensor without
# elements, as it does from PyTorch.
cdef object no_elements = np.empty(0, np.float32)
cdef PyObject *nothing = <PyObject *>no_elements


def set_tensor_type(type final_type):
    """Make `final_type` the class of every new tensor. Called once, by the generated Tensor class."""
    global tensor_type
    if not issubclass(final_type, TensorBase):
        raise TypeError(f"{final_type.__name__} is not a subclass of TensorBase")
    Py_INCREF(final_type)       # never given back: the class lives as long as the process
    tensor_type = <PyObject *>final_type
    # The classes below it are parts of it, and are called what the user knows.
    for part in final_type.__mro__[: final_type.__mro__.index(object)]:
        (<PyTypeObject *>part).tp_name = b"gradsmith.Tensor"
    # Programs may set attributes of the class, as of PyTorch's; those below it are none of theirs.
    (<PyTypeObject *>final_type).tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE


def set_public_name(type cls, bytes name):
    """Have a class of C say that it is of the module where users find it: to errors, `repr` and pickle."""
    Py_INCREF(name)             # never given back, as the class
    (<PyTypeObject *>cls).tp_name = name



cdef bint is_tensor(object value) noexcept:
    return isinstance(value, TensorBase)


cdef class TensorMeta:
    """Optional per-tensor state: a gradient, an accumulator, hooks, a name."""


cdef TensorMeta meta_of(TensorBase t):
    if t.meta is None:
        t.meta = TensorMeta.__new__(TensorMeta)
    return <TensorMeta>t.meta


cdef TensorBase wrap_owned(PyObject *array):
    cdef TensorBase result = <TensorBase>new_empty(<PyTypeObject *>tensor_type, no_arguments, NULL)
    Py_DECREF_pointer(nothing)
    result.array = array
    if threads_in_inference_mode or running_calls:
        result.flags = flags_at_birth()
    return result


cdef uint32_t flags_at_birth() noexcept:
    return (INFERENCE if inference_mode_enabled() else 0) | min(call_depth(), <uint32_t>DEEPEST) << BIRTH_SHIFT


cdef int report_to_calls(TensorBase self) except -1:
    """Tell the calls under way that the tensor is about to require grad, or to stop."""
    cdef TransformedCall call = innermost_call()
    while call is not None:
        call.changes_requires_grad(self)
        call = call.outer
    return 0


cdef TensorBase new_instance(PyObject *cls):
    cdef TensorBase result = <TensorBase>new_empty(<PyTypeObject *>cls, no_arguments, NULL)
    if cls != tensor_type:
        result.flags |= HAS_ATTRIBUTES
    if running_calls:
        result.flags |= flags_at_birth() & MADE_IN_CALL
    return result


cdef TensorBase wrap(object array):
    if not cnp.PyArray_CheckExact(array):
        array = np.asarray(array)       # a NumPy scalar, or a subclass of ndarray
    Py_INCREF(array)
    return wrap_owned(<PyObject *>array)


def from_array(array):
    """Tensor around an array that nobody else has; TypeError for a dtype that tensors do not have."""
    check_array_dtype(array)
    return wrap(array)


def from_shared_array(array):
    """Tensor over the memory of an array that the user has; see separate_arrays.pyx, Note [Separate arrays]."""
    check_array_dtype(array)
    return wrap(separate(array))


def array_behind(TensorBase tensor not None):
    """The array of a tensor, whatever its device and its history."""
    return readable(tensor)


def lent_array(TensorBase tensor not None):
    """The array of a tensor, for a function that does not keep it. Errors are those of `Tensor.numpy`."""
    return array_with_data(tensor, False)


cdef object array_with_data(TensorBase t, bint force):
    """The tensor's own array; of a batched tensor a copy."""
    array = readable(t)
    if is_batched_array(t.array):
        return api.known(array, "numpy()").copy()
    if api.when_read is not None:
        api.when_read("numpy()", t)
    if is_meta(t.array):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!") if force else TypeError(
            "can't convert meta device type tensor to numpy: it has no data"
        )
    return array


cdef object readable(TensorBase t):
    """The array of a tensor, of an indexed gradient with all its rows."""
    if is_indexed_array(t.array):
        api.fill(t)
    return <object>t.array


# ---- versions

cdef uint32_t version_of(TensorBase t) noexcept:
    return (<TensorBase>version_owner(<PyObject *>t)).own_version


cdef void bump_version(TensorBase t) noexcept:
    (<TensorBase>version_owner(<PyObject *>t)).own_version += 1


cdef class TensorBase:
    """Array, history, version, link to the base of a view. See gc_tracking.pyx, Note [Collected late]."""

    def __cinit__(self):
        Py_INCREF_pointer(nothing)
        self.array = nothing

    # -- the array

    @property
    def shape(self):
        """Sizes of the dimensions, a `Size`."""
        return size_of(<object>self.array)

    @property
    def dtype(self):
        """Data type, a `numpy.dtype`."""
        return (<object>self.array).dtype

    @property
    def ndim(self):
        """Number of dimensions."""
        return cnp.PyArray_NDIM(<cnp.ndarray>self.array)

    @property
    def device(self):
        """Device of the data."""
        return META if is_on_meta(self.array) else CPU

    @property
    def is_cpu(self):
        """True when the data is in main memory."""
        return not is_on_meta(self.array)

    @property
    def is_meta(self):
        """True for a tensor without data, of which only shape, dtype and history are known."""
        return is_on_meta(self.array)

    def get_device(self):
        """Number of the accelerator that has the data; -1, since there is none."""
        return -1

    def cpu(self, memory_format=None):
        """The tensor in main memory, and in the order of a memory format: itself, when it is there."""
        return self.to("cpu", memory_format=memory_format or "preserve_format")

    @property
    def itemsize(self):
        """Bytes of one element."""
        return (<object>self.array).itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return (<object>self.array).nbytes

    @property
    def strides(self):
        """Bytes from one element to the next along each dimension, as an array has them; `stride` counts elements."""
        return (<object>self.array).strides

    def element_size(self):
        """Bytes of one element."""
        return (<object>self.array).itemsize

    def dim(self):
        """Number of dimensions."""
        return cnp.PyArray_NDIM(<cnp.ndarray>self.array)

    def numel(self):
        """Number of elements."""
        return cnp.PyArray_SIZE(<cnp.ndarray>self.array)

    def size(self, dim=None):
        """Shape, or the size of one dimension."""
        cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>self.array)
        if dim is None:
            return size_of(<object>self.array)
        if type(dim) is int and -ndim <= dim < ndim:
            return cnp.PyArray_DIM(<cnp.ndarray>self.array, <int>dim + (ndim if dim < 0 else 0))
        return api.size_of(self.shape, dim)

    def stride(self, dim=None):
        """Strides in elements, all of them or that of one dimension."""
        strides = strides_in_elements(<cnp.ndarray>self.array)
        return strides if dim is None else api.size_of(strides, dim)

    def storage_offset(self):
        """Elements between the start of the memory that the tensor shares and its first element."""
        owner = <object>self.array
        if is_batched_array(self.array):        # the first slice, as in `as_strided`, which counts from there
            return api.data_of(owner).storage_offset()
        if is_meta(self.array):
            return 0
        while isinstance(owner.base, cnp.ndarray):
            owner = owner.base
        return (self.data_ptr() - <size_t>cnp.PyArray_DATA(<cnp.ndarray>owner)) // self.itemsize

    def data_ptr(self):
        """Address of the first element; 0 when there is no data."""
        array = readable(self)
        return 0 if is_meta(<PyObject *>array) else <size_t>cnp.PyArray_DATA(<cnp.ndarray>array)

    def is_contiguous(self, *, memory_format=None):
        """True when the elements lie in row-major order without gaps, or in the order of `memory_format`."""
        if memory_format is not None:
            return lies_in(self, memory_format)
        if is_batched_array(self.array):
            return api.data_of(<object>self.array).is_contiguous()
        return is_meta(self.array) or bool((<object>self.array).flags.c_contiguous)

    def is_floating_point(self):
        """True for a real floating dtype."""
        return cnp.PyArray_ISFLOAT(<cnp.ndarray>self.array)

    def is_complex(self):
        """True for a complex dtype."""
        return cnp.PyArray_ISCOMPLEX(<cnp.ndarray>self.array)

    def numpy(self, *, force=False):
        """An array that shares the memory of the tensor.

        Raises
        ------
        RuntimeError
            When the tensor requires grad and recording is on: writes to the array would go unseen. `force` detaches
        first.
        TypeError
            When the tensor has no data; NotImplementedError with `force`.
        """
        if not force and grad_enabled() and self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        array = array_with_data(self, force)
        return array if is_batched_array(self.array) else separate(array)

    def to_numpy(self):
        """The same as `numpy`, by the name that other libraries look for: Matplotlib takes the columns of what has it."""
        return self.numpy()

    def __array__(self, dtype=None, copy=None):
        if running_calls and in_differentiated_call(self):
            raise lost_gradient("an ndarray", TypeError if api.is_given_arrays(innermost_call()) else RuntimeError)
        if grad_enabled() and self.requires_grad:
            raise RuntimeError(api.NO_ARRAY_WITH_GRADIENT)
        array = self.numpy()
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"cannot give a {array.dtype} tensor as a {dtype} array without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    # NumPy leaves functions of a tensor to the tensor; the final class says what they are.
    __array_priority__ = 1000

    def item(self):
        """The only element, as a Python number."""
        return api.item(readable(self))

    def tolist(self):
        """Nested lists of Python numbers."""
        return api.tolist(readable(self))

    def __len__(self):
        if cnp.PyArray_NDIM(<cnp.ndarray>self.array) == 0:
            raise TypeError("len() of a 0-d tensor")
        return cnp.PyArray_DIM(<cnp.ndarray>self.array, 0)

    def __bool__(self):
        return bool(api.truth(readable(self)))

    def __int__(self):
        return int(api.real_number(readable(self)))

    def __float__(self):
        number = float(api.real_number(readable(self)))
        if running_calls:
            check_constant(self)
        return number

    def __complex__(self):
        number = complex(api.number(readable(self)))
        if running_calls:
            check_constant(self)
        return number

    def __index__(self):
        return api.index(readable(self))

    def __contains__(self, element):
        return api.contains(readable(self), element)

    def __hash__(self):
        # Comparison is by element, so identity is all that can be hashed.
        return <Py_hash_t>(<size_t><void *>self >> 4)

    def __repr__(self):
        from gradsmith.runtime.graph.printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, specification):
        return api.format_tensor(self, readable(self), specification, type(self) is <object>tensor_type)

    def __deepcopy__(self, memo):
        return api.deepcopy(self, memo)

    def __copy__(self):
        return api.copy(self)

    def __reduce_ex__(self, protocol):
        if has_tangent_1(self):
            raise RuntimeError(
                "a tensor with a tangent of forward mode cannot be pickled: the tangent belongs to a level of this "
                "thread. Take the primal of unpack_dual(), or differentiate where the tensor is unpickled"
            )
        return api.reduce(self)

    # -- the history

    @property
    def requires_grad(self):
        """True when operations on the tensor are recorded. May be set on a leaf."""
        cdef TensorBase t = self
        while True:
            if t.flags & REQUIRES_GRAD:
                return True
            if not t.flags & IS_VIEW:
                return False
            t = <TensorBase>t.base

    @requires_grad.setter
    def requires_grad(self, value):
        if value is not True and value is not False and not isinstance(value, np.bool_):
            raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
        if not self.is_leaf:
            raise not_a_leaf()
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Start (or stop) recording operations on this leaf, in place.

        Raises
        ------
        RuntimeError
            For a dtype that has no gradient, and when a tensor with a history is asked to stop.
        TypeError
            `requires_grad` is no bool.
        """
        cdef bint wanted = requires_grad is True
        if not wanted and requires_grad is not False:
            wanted = truth_of(requires_grad, "requires_grad_", "requires_grad")
        if wanted == (self.flags & REQUIRES_GRAD != 0) and wanted == self.requires_grad:
            return self
        if wanted and self.flags & INFERENCE and not inference_mode_enabled():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. "
                "Make a normal tensor of it with clone()."
            )
        if not wanted and not self.is_leaf:
            raise not_a_leaf()
        if wanted and self.dtype.kind not in "fc":
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, got dtype {self.dtype}; "
                "convert it first, for example with .to(gradsmith.float32)"
            )
        if running_calls:
            report_to_calls(self)
        if wanted and self.is_leaf:
            self.flags |= REQUIRES_GRAD
        elif not wanted:
            self.flags &= ~<uint32_t>REQUIRES_GRAD
        return self

    @property
    def is_leaf(self):
        """True when no recorded operation made the tensor."""
        return self.grad_fn == NULL and not (self.flags & IS_VIEW and self.requires_grad)

    @property
    def output_nr(self):
        """Which output of `grad_fn` the tensor is."""
        return self.output_nr

    @property
    def _version(self):
        """How often the tensor's data has been changed in place."""
        if self.flags & INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return version_of(self)

    def is_inference(self):
        """True when the tensor was made in inference mode, other than as a view of one that was not."""
        return self.flags & INFERENCE != 0

    @property
    def _base(self):
        """The tensor that this one is a view of, or None."""
        return <object>self.base if self.flags & IS_VIEW else None

    def _is_view(self):
        """True when the tensor is a view of another."""
        return self.flags & IS_VIEW != 0

    @property
    def name(self):
        """Free for the user."""
        return None if self.meta is None else (<TensorMeta>self.meta).name

    @name.setter
    def name(self, value):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"name of a tensor must be a str or None, but got {type(value).__name__}")
        meta_of(self).name = value


cdef int check_constant(TensorBase t) except -1:
    """In a function that is being differentiated, `math.sin(x)` is a constant.

    In functions of tensors it is one with a warning, as in PyTorch. Functions of arrays know of no tensors, so that
    for them it is an error.
    """
    if not in_differentiated_call(t):
        return 0
    if api.is_given_arrays(innermost_call()):
        raise lost_gradient("a Python number", TypeError)
    api.warn_of_constant()
    return 0


cdef bint in_differentiated_call(TensorBase t):
    """Would a derivative of this thread's transforms pass through the tensor?"""
    return innermost_call() is not None and innermost_call().transform is not None and (has_tangent_1(t) or (grad_enabled() and t.requires_grad))


cdef object lost_gradient(str wanted, type kind):
    return kind(
        f"this tensor is being differentiated, and as {wanted} it would lose its gradient: use functions of NumPy or "
        "gradsmith on it (not those of math, nor np.array of tensors, which is np.stack). If it is to be a constant, "
        "say so by x.detach() or x.item()."
    )


# ---- the end of a tensor

cdef object not_a_leaf():
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
    )


cdef void dealloc_tensor(PyObject *self) noexcept:
    """In place of the destructor that Cython would write; see untracked.h.

    Borrowed casts only: a reference taken to a dying tensor would end it a second time.
    """
    cdef PyObject *meta = <PyObject *>(<TensorBase>self).meta
    PyObject_GC_UnTrack(self)
    if GS_HAS_WEAKREFS(self):
        PyObject_ClearWeakRefs(self)
    if (<TensorBase>self).flags & SAVED_AS_OUTPUT:
        detach_saved_output(self)
    release_array((<TensorBase>self).array)
    if (<TensorBase>self).grad_fn != NULL:
        release_reference((<TensorBase>self).grad_fn)
    if (<TensorBase>self).base != NULL:
        Py_DECREF_pointer((<TensorBase>self).base)
    Py_XDECREF_pointer(meta)
    Py_XDECREF_pointer((<TensorBase>self).attributes)
    Py_TYPE(self).tp_free(self)


# ---- the collector

cdef traverseproc traverse_fields = NULL    # what Cython wrote for the field it knows of
cdef inquiry clear_fields = NULL


cdef int traverse_tensor(PyObject *self, visitproc visit, void *argument) noexcept:
    # Borrowed casts only: the collector's counts must not change under it.
    cdef int stop
    if (<TensorBase>self).grad_fn != NULL:
        stop = visit((<TensorBase>self).grad_fn, argument)
        if stop:
            return stop
    if (<TensorBase>self).base != NULL:
        stop = visit((<TensorBase>self).base, argument)
        if stop:
            return stop
    if (<TensorBase>self).attributes != NULL:
        stop = visit((<TensorBase>self).attributes, argument)
        if stop:
            return stop
    return traverse_fields(self, visit, argument)


cdef int clear_tensor(PyObject *self) noexcept:
    cdef PyObject *attributes = (<TensorBase>self).attributes
    (<TensorBase>self).attributes = NULL
    Py_XDECREF_pointer(attributes)
    return clear_fields(self)


traverse_fields = (<PyTypeObject *>TensorBase).tp_traverse
(<PyTypeObject *>TensorBase).tp_traverse = traverse_tensor
clear_fields = (<PyTypeObject *>TensorBase).tp_clear
(<PyTypeObject *>TensorBase).tp_clear = clear_tensor
(<PyTypeObject *>TensorBase).tp_dictoffset = offset_of_attributes()
new_empty = (<PyTypeObject *>TensorBase).tp_new
gs_allocate_untracked(<PyTypeObject *>TensorBase, dealloc_tensor, offset_of_place())


cdef Py_ssize_t offset_of_place() noexcept:
    cdef PyObject *anywhere = <PyObject *>4096      # only addresses are computed
    return <char *>&(<TensorBase>anywhere).place - <char *>anywhere


cdef Py_ssize_t offset_of_attributes() noexcept:
    cdef PyObject *anywhere = <PyObject *>4096
    return <char *>&(<TensorBase>anywhere).attributes - <char *>anywhere


# ---- all tensors

cdef Py_ssize_t visit_tensors(visitor visit) noexcept:
    return gs_visit_living(visit)


def live_tensors():
    """Tensors alive. Those of classes written in Python are not counted: the collector knows them."""
    return visit_tensors(noop_visitor)


cdef void noop_visitor(PyObject *tensor) noexcept:
    """Not used."""


cdef tuple strides_in_elements(cnp.ndarray array):
    """Those of a plain array without Python; `strides_of` knows of the others."""
    cdef cnp.npy_intp width = cnp.PyArray_ITEMSIZE(array)
    cdef int dim, ndim = cnp.PyArray_NDIM(array)
    if is_meta(<PyObject *>array) or cnp.PyArray_SIZE(array) == 0:
        return api.strides_of(array)
    for dim in range(ndim):
        if cnp.PyArray_STRIDE(array, dim) == 0 and cnp.PyArray_DIM(array, dim) == 1:
            return api.strides_of(array)
    return tuple([cnp.PyArray_STRIDE(array, dim) // width for dim in range(ndim)])


cdef object lies_in(object tensor, object memory_format):
    from gradsmith.runtime.arrays.memory_format import contiguous_format, format_of, lies_in_order, order_of

    found = format_of("is_contiguous", memory_format)
    if found.ndim is not None and found.ndim != tensor.ndim:
        return False
    order = order_of("is_contiguous", tensor.ndim, found)
    if found is contiguous_format or is_batched_array((<TensorBase>tensor).array):
        return tensor.is_contiguous()
    return lies_in_order(tensor.shape, tensor.stride(), order)
