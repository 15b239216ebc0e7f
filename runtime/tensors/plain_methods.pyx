"""Methods of tensors that are short for others, ask plain questions, or make new tensors: none is an op of its own."""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject
from cpython.type cimport PyType_IsSubtype

cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.overlap cimport may_overlap_itself
from gradsmith.runtime.calls.inplace cimport check_inplace, finish_inplace, writes_directly
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of
from gradsmith.runtime.history.history cimport requires_grad_1
from gradsmith.runtime.history.observers cimport watching
from gradsmith.runtime.switches.array_functions cimport is_called_of_arrays, tensors_have_methods
from gradsmith.runtime.tensors.variable cimport Variable

cdef extern from "Python.h":
    PyObject *PyEval_GetGlobals()
    int PyUnicode_Tailmatch(object text, object part, Py_ssize_t start, Py_ssize_t end, int direction) except -1
    Py_ssize_t PY_SSIZE_T_MAX

cdef extern from "runtime/calls/call_errors.h":     # hints in errors
    pass

import importlib
import math

import numpy as np

from gradsmith.runtime.arrays.dtypes import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule
from gradsmith.runtime.tensors.factories import creation, quick
from gradsmith.runtime.tensors.numpy_names.element_count import ElementCount

cdef object queries = LazyModule("gradsmith.runtime.tensors.queries")
cdef object counting = LazyModule("gradsmith.counting")    # which is built on the ops
cdef object new = LazyModule("gradsmith.runtime.tensors.factories.new")
cdef object random = LazyModule("gradsmith.runtime.tensors.factories.random")
cdef object table_rows = LazyModule("gradsmith.runtime.tensors.table_rows")
cdef object html = LazyModule("gradsmith.runtime.graph.html")
cdef object devices = LazyModule("gradsmith.runtime.arrays.device")
cdef object layouts = LazyModule("gradsmith.runtime.arrays.memory_format")
cdef object shared_memory = LazyModule("gradsmith.multiprocessing.shared_memory")
cdef object storages = LazyModule("gradsmith.runtime.tensors.storage")
cdef object typed = LazyModule("gradsmith.runtime.tensors.typed")
cdef object exchange = LazyModule("gradsmith.runtime.tensors.factories.exchange")
cdef object copies = LazyModule("gradsmith.runtime.tensors.numpy_names.copies")
cdef object updates = LazyModule("gradsmith.runtime.tensors.numpy_names.updates")
cdef object flat_elements = LazyModule("gradsmith.runtime.tensors.numpy_names.flat_elements")


# What programs of PyTorch's ask about devices and kinds of tensors that there are not.
NEVER = property(lambda tensor: False, doc="Never: there is no such device or kind of tensor.")


cdef object standard_namespace(object api_version):
    """The array API standard over the ops, imported when it is first used."""
    return importlib.import_module("gradsmith.array_api.versions").namespace_of(api_version)


cdef double MOST = 3e38      # less than every float32 and float64 can be


cdef object cast(object self, object dtype, object memory_format):
    if memory_format is not None:
        return self.to(dtype, memory_format=memory_format)
    return self if array_of(<TensorBase>self).dtype is dtype else upcalls.to(self, dtype, False, False)


cdef object filled_diagonal(object self, object fill_value, object wrap):
    if self.ndim < 2:
        raise RuntimeError(f"fill_diagonal_(): needs a tensor of at least 2 dimensions, but got {self.ndim}")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(
            "fill_diagonal_(): all dimensions of a tensor of more than 2 must have one size, but they are "
            f"{list(self.shape)}"
        )
    if self.numel() == 0 or diagonal_written(self, fill_value, wrap):
        return self
    cdef object step = 1 + sum([math.prod(self.shape[dim + 1:]) for dim in range(self.ndim - 1)])
    cdef object end = self.numel() if wrap or self.ndim > 2 else min(self.numel(), self.shape[1] ** 2)
    places = np.unravel_index(np.arange(0, end, step), self.shape)
    return self.index_put_(tuple([creation.tensor(place, device=self.device) for place in places]), fill_value)


cdef bint diagonal_written(TensorBase self, object value, bint wrap) except -1:
    """Write a number into the memory of a tensor of which nothing else changes, if it is one."""
    cdef cnp.ndarray array = <cnp.ndarray>self.array
    cdef int type_number = cnp.PyArray_TYPE(array), ndim = cnp.PyArray_NDIM(array), dim
    if type_number not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or type(value) not in (int, float) or not -MOST < value < MOST:
        return False
    if watching or requires_grad_1(self) or has_tangent_1(self) or (wrap and ndim == 2):
        return False
    check_inplace("fill_diagonal_", self)
    if not writes_directly("fill_diagonal_", self) or may_overlap_itself(array):
        return False
    cdef npy_intp count = min(cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1)), step = 0, i
    cdef char *to = cnp.PyArray_BYTES(array)
    for dim in range(ndim):
        step += cnp.PyArray_STRIDE(array, dim)
    cdef double number = value
    for i in range(count):
        if type_number == cnp.NPY_FLOAT32:
            (<float *>(to + i * step))[0] = <float>number
        else:
            (<double *>(to + i * step))[0] = number
    finish_inplace(self, None)
    return True


cdef extern from "runtime/tensors/numpy_names/array_ufunc.h":
    int gs_add_array_ufunc(
        PyTypeObject *, object, object, object, object, int (*)(PyObject *const *, Py_ssize_t) noexcept
    ) except -1
    void gs_forget_ufuncs() noexcept

cdef extern from "runtime/tensors/numpy_names/size_method.h":
    int gs_add_size(PyTypeObject *, object, object) except -1

# What NumPy's ufuncs are for tensors: filled when the first is called; see gradsmith/numpy_protocols.
cdef dict op_of_ufunc = {}

# The same for NumPy's other functions, each of which takes the tuple and the dict of the arguments.
cdef dict row_of_function = {}


def other_ufunc(ufunc, method, *inputs, **kwargs):
    """A call with options, or the first of a ufunc."""
    return upcalls.call_ufunc(ufunc, method, inputs, kwargs)


def numpys_error(error, operands):
    """The error of an op in the kind that NumPy's ufunc has for it."""
    return upcalls.numpys_error(error, operands)


cdef int joins_integers(PyObject *const *operands, Py_ssize_t count) noexcept:
    """Is there a tensor of integers or bools among them, in a function of arrays?"""
    cdef Py_ssize_t n
    if not tensors_have_methods or not is_called_of_arrays():
        return 0
    for n in range(count):
        if PyType_IsSubtype(type(<object>operands[n]), <type>TensorBase):
            if cnp.PyArray_TYPE(array_of(<TensorBase>operands[n])) <= cnp.NPY_ULONGLONG:
                return 1
    return 0


cdef object ARRAY = np.ndarray
cdef tuple NUMPY_TYPES = (np.ndarray, np.generic)


def is_foreign(*operands):
    """Is one of them of a class that says itself what ufuncs do with it, and neither a tensor nor one of NumPy's?"""
    for operand in operands:
        own = getattr(type(operand), "__array_ufunc__", None)
        if own is not None and not isinstance(operand, Variable) and not isinstance(operand, NUMPY_TYPES):
            return True
    return False


def set_op_of_ufunc(ufunc, op):
    """Have `op` called where `ufunc` is called with nothing but its operands, of which one is a tensor."""
    op_of_ufunc[ufunc] = op
    gs_forget_ufuncs()


def set_row_of_function(func, row):
    """Have `row` called with the arguments of `func` where they are tensors, arrays, numbers and sequences of them."""
    row_of_function[func] = row


cdef bint are_known(tuple types) except -1:
    """Is there no class among them but tensors and arrays? Others are asked by the slow way, and may come first."""
    cdef object kind
    for kind in types:
        if kind is not ARRAY and not PyType_IsSubtype(<type>kind, <type>TensorBase):
            return False
    return True


cdef bint is_called_by_solver() except -1:
    """Is it a function of SciPy's solvers that calls NumPy?"""
    cdef PyObject *names = PyEval_GetGlobals()    # of the function in Python that runs
    if names == NULL:
        return False
    cdef PyObject *name = PyDict_GetItem(<object>names, "__name__")
    if name == NULL or type(<object>name) is not str or not PyUnicode_Tailmatch(<object>name, "scipy.", 0, PY_SSIZE_T_MAX, -1):
        return False
    return (<str>name).startswith(("scipy.optimize.", "scipy.integrate."))


cdef class PlainMethods(Variable):
    """The methods of a tensor that need neither the table nor the engine."""

    # ---- functions of NumPy

    # `__array_ufunc__` is in array_ufunc.h, and put into the class below.

    def __array_function__(self, func, types, args, kwargs):
        if is_called_by_solver():
            computed = upcalls.call_numpy_by_solver(func, args, kwargs)
            if computed is not NotImplemented:
                return computed
        row = row_of_function.get(func)
        if row is not None and type(types) is tuple and are_known(<tuple>types):
            return row(args, kwargs)
        return upcalls.call_numpy(func, types, args, kwargs)

    # ---- names of NumPy's that PyTorch has no other use for; `size`, which it has, is in size_method.h

    def copy(self, order="C"):
        """A copy of the tensor in memory of its own, with gradient.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            How the elements lie: by rows, by columns, or as those of the tensor do.
        """
        return copies.copy(self, order)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A copy of the tensor in another dtype, with gradient where that has one.

        Parameters
        ----------
        dtype : dtype
        order : {"C", "F", "A", "K"}
            How the elements lie: by rows, by columns, or as those of the tensor do.
        casting : str
            Which conversions are allowed, in NumPy's words.
        subok : bool
            Without effect.
        copy : bool
            Whether a tensor that has the dtype already is copied.

        Raises
        ------
        TypeError
            `casting` does not allow the conversion.
        """
        return copies.astype(self, dtype, order, casting, copy)

    @property
    def flat(self):
        """The elements row by row: to go over, to read by one index, and to write."""
        return flat_elements.FlatElements(self)

    @flat.setter
    def flat(self, value):
        flat_elements.FlatElements(self)[...] = value

    @property
    def at(self):
        """Changed copies, in JAX's words: ``x.at[i].set(v)``, ``.add(v)``, ``.multiply(v)``, ``.min(v)``, ``.max(v)``."""
        return updates.Updates(self)

    def __divmod__(self, other):
        quotient = self // other
        return quotient, self - quotient * other

    def __rdivmod__(self, other):
        quotient = other // self
        return quotient, other - quotient * self

    # ---- conversions, differentiable as `to` is

    def half(self, *, memory_format=None):
        """The tensor in float16; the tensor itself if it has that dtype already."""
        return cast(self, float16, memory_format)

    def float(self, *, memory_format=None):
        """The tensor in float32; the tensor itself if it has that dtype already."""
        return cast(self, float32, memory_format)

    def double(self, *, memory_format=None):
        """The tensor in float64; the tensor itself if it has that dtype already."""
        return cast(self, float64, memory_format)

    def cfloat(self, *, memory_format=None):
        """The tensor in complex64; the tensor itself if it has that dtype already."""
        return cast(self, complex64, memory_format)

    def cdouble(self, *, memory_format=None):
        """The tensor in complex128; the tensor itself if it has that dtype already."""
        return cast(self, complex128, memory_format)

    def byte(self, *, memory_format=None):
        """The tensor in uint8; the tensor itself if it has that dtype already."""
        return cast(self, uint8, memory_format)

    def char(self, *, memory_format=None):
        """The tensor in int8; the tensor itself if it has that dtype already."""
        return cast(self, int8, memory_format)

    def short(self, *, memory_format=None):
        """The tensor in int16; the tensor itself if it has that dtype already."""
        return cast(self, int16, memory_format)

    def int(self, *, memory_format=None):
        """The tensor in int32; the tensor itself if it has that dtype already."""
        return cast(self, int32, memory_format)

    def long(self, *, memory_format=None):
        """The tensor in int64; the tensor itself if it has that dtype already."""
        return cast(self, int64, memory_format)

    def bool(self, *, memory_format=None):
        """Where the elements differ from zero; the tensor itself when it is bool already."""
        return cast(self, bool_, memory_format)

    def type(self, dtype=None, non_blocking=False, memory_format=None):
        """The tensor in another dtype, or without arguments PyTorch's name of its type, ``'torch.FloatTensor'``.

        Parameters
        ----------
        dtype : dtype, str or class, optional
            A dtype, a class such as `FloatTensor`, or the name of either.
        non_blocking : bool
            Without effect: there is one device.
        memory_format : memory_format, optional
            As of `to`.
        """
        if dtype is None:
            return typed.type_name(self)
        if memory_format is None and isinstance(dtype, cnp.dtype):
            return self.to(dtype)
        return self.to(typed.dtype_of_type(dtype), memory_format=memory_format or "preserve_format")

    # ---- devices and memory

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        """Not possible: tensors are in main memory. RuntimeError that says what to do."""
        return devices.as_device("cuda", "cuda")

    def xpu(self, device=None, non_blocking=False, memory_format=None):
        """Not possible: tensors are in main memory. RuntimeError that says what to do."""
        return devices.as_device("xpu", "xpu")

    def pin_memory(self, device=None):
        """The tensor itself: there is no other device for which memory would be pinned."""
        return self

    def is_pinned(self, device=None):
        """Whether the memory is pinned for another device: never."""
        return False

    def share_memory_(self):
        """Move the values to memory that other processes can have, see `multiprocessing`; views of them stay behind."""
        shared_memory.move_to_shared_memory(self)
        return self

    def is_shared(self):
        """Whether `share_memory_` has moved the values to memory that other processes can have."""
        return shared_memory.is_shared(self)

    @property
    def layout(self):
        """How elements are kept: `gradsmith.strided`; `gradsmith.sparse_coo` for an indexed gradient."""
        return layouts.sparse_coo if table_rows.is_indexed(self) else layouts.strided

    def untyped_storage(self):
        """The memory that the tensor is over, with all that views of it share."""
        return storages.UntypedStorage.of(self)

    def storage(self):
        """The memory that the tensor is over, as elements of its dtype."""
        return storages.TypedStorage.of(self)

    # Python 2's name, which PyTorch has kept.
    def __rdiv__(self, other):
        return other / self

    # ---- questions

    def nelement(self):
        """Number of elements; the same as ``numel()``."""
        return self.numel()

    def ndimension(self):
        """Number of dimensions; the same as ``dim()``."""
        return self.ndim

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return queries.is_signed(self)

    def is_nonzero(self):
        """Whether the only element differs from zero."""
        return queries.is_nonzero(self)

    def is_same_size(self, other):
        """Whether another tensor has the same shape."""
        return queries.is_same_size(self, other)

    def is_set_to(self, tensor):
        """Whether another tensor has the same elements in memory, in the same shape and strides."""
        return queries.is_set_to(self, tensor)

    def equal(self, other):
        """Whether another tensor has the same shape and equal elements."""
        return queries.equal(self, other)

    def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        """Whether all elements are close to those of another tensor; see ``isclose``."""
        return queries.allclose(self, other, rtol, atol, equal_nan)

    def nonzero(self, *, as_tuple=False):
        """Places of the elements that are not zero; see ``gradsmith.nonzero``."""
        return counting.nonzero(self, as_tuple=as_tuple)

    def lu(self, pivot=True, get_infos=False):
        """Triangular factors of a matrix; see ``gradsmith.lu``."""
        return counting.lu(self, pivot, get_infos)

    def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
        """Elements without repetitions; see ``gradsmith.unique``."""
        return counting.unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
        """The first of every run of equal elements; see ``gradsmith.unique_consecutive``."""
        return counting.unique_consecutive(self, return_inverse, return_counts, dim)

    def histogram(self, bins, *, range=None, weight=None, density=False):
        """How many elements lie in each bin, and the edges; see ``gradsmith.histogram``."""
        return counting.histogram(self, bins, range=range, weight=weight, density=density)

    def is_conj(self):
        """Whether a conjugation is pending: never, it is carried out at once."""
        return False

    def is_neg(self):
        """Whether a negation is pending: never, it is carried out at once."""
        return False

    def resolve_conj(self):
        """The tensor itself: no conjugation is ever pending."""
        return self

    def resolve_neg(self):
        """The tensor itself: no negation is ever pending."""
        return self

    @property
    def _cdata(self):
        """A number that no other tensor has as long as this one lives; libraries compare tensors by it."""
        return <size_t><void *>self

    @property
    def is_cuda(self):
        """Whether the tensor is on a CUDA device: never."""
        return False

    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = NEVER
    is_nested = is_quantized = is_sparse_csr = NEVER

    @property
    def is_sparse(self):
        """Whether this is an indexed gradient, which has the rows alone that are not zero.

        The table of an embedding with ``sparse=True`` gets such gradients. The first op that takes one makes an
        ordinary tensor of it.
        """
        return table_rows.is_indexed(self)

    # ---- of indexed gradients

    def to_dense(self, dtype=None, *, masked_grad=None):
        """An ordinary tensor with all rows of an indexed gradient; the tensor itself if it is one.

        Parameters
        ----------
        dtype : dtype, optional
            That of the result.
        masked_grad : bool, optional
            Without effect: it is for PyTorch's sparse tensors.
        """
        dense = table_rows.to_dense(self)
        return dense if dtype is None else cast(dense, dtype, None)

    def is_coalesced(self):
        """Whether the indices of an indexed gradient are different and in order."""
        return table_rows.is_coalesced(self)

    def coalesce(self):
        """The indexed gradient with one row for each index, in order."""
        return table_rows.coalesce(self)

    def indices(self):
        """The indices of a coalesced indexed gradient, of shape (1, n)."""
        table_rows.expect_coalesced(self, "indices")
        return table_rows.indices(self, "indices")

    def values(self):
        """The rows of a coalesced indexed gradient, of shape (n, ...)."""
        table_rows.expect_coalesced(self, "values")
        return table_rows.values(self, "values")

    def _indices(self):
        """The indices of an indexed gradient, of shape (1, n), each as often as it was looked up."""
        return table_rows.indices(self, "_indices")

    def _values(self):
        """The rows that go with `_indices()`, of shape (n, ...)."""
        return table_rows.values(self, "_values")

    def _nnz(self):
        """How many rows an indexed gradient has, each as often as it was looked up."""
        return table_rows.count(self)

    # ---- shown

    def _repr_html_(self):
        """The tensor as notebooks show it: what it is, and a table of some of its elements."""
        return html.tensor_html(self)

    # ---- drawn and filled

    def bernoulli(self, p=None, *, generator=None):
        """Zeros and ones, the latter with the probabilities that the elements are, or all with `p`."""
        return random.bernoulli(self, p, generator=generator)

    def fill_diagonal_(self, fill_value, wrap=False):
        """Give one value to the elements on the main diagonal.

        Parameters
        ----------
        fill_value : number
            The value.
        wrap : bool
            Whether the diagonal of a matrix with more rows than columns begins anew, one row after its end.
        """
        return filled_diagonal(self, fill_value, wrap)

    # ---- new tensors

    def new(self, *args, **named):
        """Tensor of this one's dtype: of a size when given ints, or with the elements of a sequence.

        PyTorch's older form of `new_empty` and `new_tensor`.
        """
        return typed.construct(args, named, self.dtype, "new")

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        """Copy of `data`, with this tensor's dtype and device unless others are given."""
        return new.new_tensor(self, data, dict(dtype=dtype, device=device, requires_grad=requires_grad))

    def new_zeros(
        self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **named
    ):
        """Tensor of zeros, with this tensor's dtype and device unless others are given."""
        if layout is None and not named:
            found = quick.filled_for(self, size, 0, dtype, device, requires_grad)
            if found is not None:
                return found
        options = dict(dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)
        return new.new_of_size("new_zeros", creation.zeros, self, size, named, options)

    def new_ones(
        self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **named
    ):
        """Tensor of ones, with this tensor's dtype and device unless others are given."""
        if layout is None and not named:
            found = quick.filled_for(self, size, 1, dtype, device, requires_grad)
            if found is not None:
                return found
        options = dict(dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)
        return new.new_of_size("new_ones", creation.ones, self, size, named, options)

    def new_empty(
        self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **named
    ):
        """Uninitialised tensor, with this tensor's dtype and device unless others are given."""
        if layout is None and not named:
            found = quick.filled_for(self, size, None, dtype, device, requires_grad)
            if found is not None:
                return found
        options = dict(dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)
        return new.new_of_size("new_empty", creation.empty, self, size, named, options)

    def new_empty_strided(
        self, size, stride, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
    ):
        """Uninitialised tensor of given strides, with this tensor's dtype and device unless others are given."""
        options = dict(dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)
        return new.new_empty_strided(self, size, stride, options)

    def new_full(
        self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
    ):
        """Tensor of one value, with this tensor's dtype and device unless others are given."""
        if layout is None:
            found = quick.full_for(self, size, fill_value, dtype, device, requires_grad)
            if found is not None:
                return found
        options = dict(dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)
        return new.new_full(self, size, fill_value, options)

    # ---- exchange with other libraries

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A DLPack capsule of the tensor, which shares its memory and keeps it alive.

        Parameters
        ----------
        stream : None
            The CPU has no streams.
        max_version : (int, int), optional
            The latest version of DLPack that the consumer knows. From (1, 0) on the capsule can say that the memory is
            read-only.
        dl_device : (int, int), optional
            The device that the consumer wants the memory on; (1, 0) is the CPU.
        copy : bool, optional
            Whether the capsule has a copy. None and False share the memory.

        Raises
        ------
        BufferError
            The tensor requires grad or has no data, the device is another one, or the memory is read-only and
            `max_version` leaves no way to say so.

        Examples
        --------
        >>> import gradsmith as gs
        >>> import numpy as np
        >>> np.from_dlpack(gs.arange(3))
        array([0, 1, 2])
        """
        return exchange.capsule_of(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        """Type and number of the device in DLPack's terms: ``(1, 0)``, the CPU."""
        return exchange.device_of(self)

    def __array_namespace__(self, *, api_version=None):
        """The functions of the array API standard for tensors, ``gradsmith.array_api``.

        Parameters
        ----------
        api_version : str, optional
            A version of the standard that must be followed, such as ``"2024.12"``.

        Raises
        ------
        ValueError
            That version is not followed.
        """
        return standard_namespace(api_version)

    def to_device(self, device, /, *, stream=None):
        """The tensor on a device, as ``to(device)`` gives it; the array API standard's name.

        `stream` is None, since the CPU has no streams.
        """
        if stream is not None:
            raise ValueError(f"to_device(): the CPU has no streams, so stream must be None, but got {stream!r}")
        return self.to(device)


gs_add_array_ufunc(
    <PyTypeObject *>PlainMethods, op_of_ufunc, other_ufunc, is_foreign, numpys_error, joins_integers
)
gs_add_size(<PyTypeObject *>PlainMethods, TensorBase.size, ElementCount)
