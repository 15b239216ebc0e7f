"""The autograd side of a tensor, as Python sees it: history, gradient, hooks."""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.batching.batch cimport current_trace, is_batched
from gradsmith.runtime.calls.arguments cimport (
    as_int_or_none,
    as_int_tuple,
    as_int_tuple_or_none,
    check_tensor,
    check_tensor_or_none,
    one_of,
)
from gradsmith.runtime.calls.captured cimport expect_own
from gradsmith.runtime.graph.attributes cimport attributes_of, set_attribute, set_attributes
from gradsmith.runtime.graph.gc_tracking cimport track, track_for_gc
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, free_metadata
from gradsmith.runtime.graph.node cimport NODE_SHOWN, Node, metadata_of, release_reference
from gradsmith.runtime.graph.node_meta cimport hook_table, node_meta
from gradsmith.runtime.graph.saved_variable cimport detach_saved_output, replace_array
from gradsmith.runtime.graph.tensor cimport (
    HAS_ATTRIBUTES,
    HAS_GRAD_DTYPE,
    HAS_HOOKS,
    INFERENCE,
    IS_SHARED,
    IS_VIEW,
    MADE_IN_CALL,
    REQUIRES_GRAD,
    SAVED_AS_OUTPUT,
    TensorBase,
    TensorMeta,
    meta_of,
    wrap,
)
from gradsmith.runtime.history.accumulate_grad cimport leaf_metadata, touch_grad
from gradsmith.runtime.history.history cimport grad_accumulator, requires_grad
from gradsmith.runtime.history.view cimport current_grad_fn
from gradsmith.runtime.switches.grad_mode cimport inference_mode_enabled
from gradsmith.runtime.switches.transformed cimport running_calls
from gradsmith.runtime.switches.upcalls cimport c_upcalls
from gradsmith.runtime.tensors.construct cimport as_instance

import weakref

import numpy as np

from gradsmith.runtime.graph.gc_tracking import track_everything
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object indexing = LazyModule("gradsmith.runtime.tensors.indexing")
cdef object index_errors = LazyModule("gradsmith.runtime.tensors.index_errors")

cnp.import_array()

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef int expect_untraced_data(TensorBase self, TensorBase value) except -1:
    """Refuse that a tensor from outside of a trace goes on with the memory of another one, which later runs would not see."""
    cdef object trace = current_trace()
    if trace is None or is_batched(self) or self.array == value.array or self.flags & MADE_IN_CALL:
        return 0
    raise trace.call.error(
        f"the memory of a tensor of shape {list(self.shape)} that the function captures is exchanged by an assignment to `.data`. "
        "Write to it instead: x.data.copy_(new), or x.copy_(new) under no_grad()"
    )


cdef class Variable(TensorBase):
    """A tensor with its autograd side. The generated Tensor adds the ops."""

    @staticmethod
    def _make_subclass(cls, data, bint require_grad=False):
        """Instance of `cls`, a subclass of Tensor, that shares memory and version with `data` and not its history."""
        if not isinstance(data, TensorBase):
            raise TypeError(f"_make_subclass(): argument 'data' must be Tensor, not {type(data).__name__}")
        detached = data.detach()
        if require_grad:
            detached.requires_grad_()    # before the class has a say in what its methods do
        return as_instance(cls, detached, "_make_subclass")

    def as_subclass(self, cls):
        """View of the whole tensor, as an instance of `cls`, a subclass of Tensor.

        Raises
        ------
        TypeError
            When `cls` is no subclass of Tensor.
        """
        return as_instance(cls, self.view(self.shape), "as_subclass")

    def __setattr__(self, name, value):
        set_attribute(self, name, value)

    @property
    def __dict__(self):
        """Attributes that the user has set."""
        return attributes_of(self)

    @__dict__.setter
    def __dict__(self, value):
        set_attributes(self, value)

    @__dict__.deleter
    def __dict__(self):
        set_attributes(self, {})

    @property
    def grad_fn(self):
        """Node that computes the gradient of what made this tensor; None for a leaf."""
        return shown_grad_fn(self)

    @property
    def is_leaf(self):
        """True when the tensor was made by the user, not by a recorded operation."""
        return current_grad_fn(self) == NULL

    @property
    def grad(self):
        """Gradient that backward has accumulated, a Tensor; None before."""
        touch_grad(self, True)
        cdef object found = None if self.meta is None else (<TensorMeta>self.meta).grad
        if found is None and self.grad_fn != NULL and not self.retains_grad:
            warn_non_leaf_grad()
        return found

    @grad.setter
    def grad(self, value):
        touch_grad(self, False)
        if value is None:
            if self.meta is not None:
                (<TensorMeta>self.meta).grad = None
            return
        check_grad_assignment(self, value)
        meta_of(self).grad = value
        if value.requires_grad or (<TensorBase>value).flags & HAS_ATTRIBUTES:
            track_everything()      # the history of the gradient may lead to this tensor

    @grad.deleter
    def grad(self):
        self.grad = None

    @property
    def _grad(self):
        """`grad`, by the name under which programs that share parameters among processes set it."""
        return self.grad

    @_grad.setter
    def _grad(self, value):
        self.grad = value

    @property
    def grad_dtype(self):
        """The dtype that gradients of this leaf are converted to: at first its own. None leaves them as they come.

        Raises
        ------
        RuntimeError
            When the tensor is not a leaf, or, on assignment, when it has a gradient of another dtype already.
        """
        if current_grad_fn(self) != NULL:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return expected_grad_dtype(self)

    @grad_dtype.setter
    def grad_dtype(self, value):
        if current_grad_fn(self) != NULL:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        set_grad_dtype(self, value)

    @property
    def data(self):
        """The same memory without the history; writes through it are not counted."""
        cdef TensorBase result = wrap(<object>self.array)
        cdef object trace = current_trace()
        result.flags = self.flags & INFERENCE | result.flags & MADE_IN_CALL
        if trace is not None and not is_batched(self):
            trace.slot(self)  # so that what is written through the result is written to this tensor in each run
        return result

    @data.setter
    def data(self, value):
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.flags & REQUIRES_GRAD and value.dtype.kind not in "fc":
            raise RuntimeError(
                f"data set to a tensor that requires gradients must be floating point or complex dtype, got {value.dtype}"
            )
        if self.flags & REQUIRES_GRAD and value.device != self.device:
            raise RuntimeError(
                f"data of a tensor on device '{self.device}' that requires gradients cannot be set to a tensor on "
                f"'{value.device}'"
            )
        expect_untraced_data(self, <TensorBase>value)
        replace_array(self, <object>(<TensorBase>value).array)
        renew_accumulator(self)

    @property
    def retains_grad(self):
        """True when `retain_grad` was called on this non-leaf."""
        return self.meta is not None and (<TensorMeta>self.meta).retains_grad

    def retain_grad(self):
        """Keep the gradient of this non-leaf in `.grad` during backward. Nothing to do for a leaf.

        Raises
        ------
        RuntimeError
            When the tensor does not require grad.
        """
        cdef PyObject *node = current_grad_fn(self)
        if not requires_grad(self):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if node == NULL and running_calls:
            expect_own("retain_grad() asks for the gradient of", self)  # what stands for it is a leaf, it need not be
        if node == NULL or meta_of(self).retains_grad:
            return
        meta_of(self).retains_grad = True
        node_meta(<Node>node).retained.append((self.output_nr, weakref.ref(self)))

    def register_hook(self, hook):
        """Call ``hook(grad)`` whenever a gradient of this tensor has been computed; its result replaces the gradient.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Raises
        ------
        RuntimeError
            When the tensor does not require grad.
        """
        from gradsmith.runtime.switches.hooks import add_hook, new_table

        cdef Node node = shown_grad_fn(self)
        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if running_calls:
            expect_own("register_hook() adds a hook to", self)
        if node is not None:
            track_for_gc(node)
            return add_hook(hook_table(node, self.output_nr), hook)
        track_for_gc(self)
        meta = meta_of(self)
        if meta.hooks is None:
            meta.hooks = new_table()
        observe_leaf(self)
        return add_hook(meta.hooks, hook)

    @property
    def _backward_hooks(self):
        """The hooks of `register_hook`, a dict by handle number; None where there never was one."""
        cdef PyObject *node = current_grad_fn(self)
        if node == NULL:
            return None if self.meta is None else (<TensorMeta>self.meta).hooks
        if (<Node>node).meta is not None:
            for output_nr, table in node_meta(<Node>node).tensor_hooks:
                if output_nr == self.output_nr:
                    return table
        return None

    @_backward_hooks.setter
    def _backward_hooks(self, hooks):
        set_backward_hooks(self, hooks)

    @property
    def _post_accumulate_grad_hooks(self):
        """The hooks of `register_post_accumulate_grad_hook`, likewise."""
        return None if self.meta is None else (<TensorMeta>self.meta).post_accumulate_hooks

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self, hooks):
        check_hook_dict("_post_accumulate_grad_hooks", hooks)
        track_for_gc(self)
        meta_of(self).post_accumulate_hooks = hooks
        observe_leaf(self)

    def register_post_accumulate_grad_hook(self, hook):
        """Call ``hook(tensor)`` after the `.grad` of this leaf was updated.

        Raises
        ------
        RuntimeError
            When the tensor is not a leaf that requires grad.
        """
        from gradsmith.runtime.switches.hooks import add_hook, new_table

        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if current_grad_fn(self) != NULL:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if running_calls:
            expect_own("register_post_accumulate_grad_hook() adds a hook to", self)
        track_for_gc(self)
        meta = meta_of(self)
        if meta.post_accumulate_hooks is None:
            meta.post_accumulate_hooks = new_table()
        observe_leaf(self)
        return add_hook(meta.post_accumulate_hooks, hook)

    def detach_(self):
        """Cut the tensor off from its history, in place. In inference mode nothing is cut.

        Raises
        ------
        RuntimeError
            For a view, whose history is that of its base.
        """
        if inference_mode_enabled():
            return self
        if self.flags & IS_VIEW:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        if running_calls and self.flags & REQUIRES_GRAD:
            expect_own("detach_() takes the history of", self)
        cdef PyObject *old = self.grad_fn
        if self.flags & SAVED_AS_OUTPUT:
            detach_saved_output(<PyObject *>self)
        self.grad_fn = NULL
        self.output_nr = 0
        self.flags &= ~<uint32_t>REQUIRES_GRAD
        if old != NULL:
            release_reference(old)
        return self

    def resize_(self, *args, size=None, memory_format=None):
        """Give the tensor another size, in place: the elements follow each other in memory as before, new ones are zero.

        They do so row by row whatever `memory_format` says.

        Raises
        ------
        RuntimeError
            When the tensor requires grad, or needs more memory while another tensor or array shares what it has.
        """
        from gradsmith.runtime.tensors.resizing import resize

        if not args and size is None:
            raise TypeError("resize_() missing 1 required positional argument: 'size'")
        resize("resize_", self, as_int_tuple(one_of(args, size, "resize_", "size"), "resize_", "size", 1))
        return self

    def resize_as_(self, the_template, *, memory_format=None):
        """Give the tensor the size of another one, in place; see `resize_`."""
        from gradsmith.runtime.tensors.resizing import resize

        resize("resize_as_", self, tuple(check_tensor(the_template, "resize_as_", "the_template", 1).shape))
        return self

    def set_(self, source=None, storage_offset=None, size=None, stride=None):
        """Have the tensor show the memory of `source`, in place; without a source it has no elements.

        Parameters
        ----------
        source : Tensor or UntypedStorage or TypedStorage, optional
        storage_offset : int, optional
        size : tuple of int, optional
            What to show of the memory; all that `source` shows when it is not given.
        stride : tuple of int, optional

        Raises
        ------
        RuntimeError
            When dtype or device differ, or when the size reaches beyond the memory.
        """
        from gradsmith.runtime.tensors.resizing import set_array
        from gradsmith.runtime.tensors.storage import UntypedStorage

        if isinstance(source, UntypedStorage):
            source = source.elements(self.dtype)
        set_array(
            self,
            check_tensor_or_none(source, "set_", "source", 1),
            as_int_or_none(storage_offset, "set_", "storage_offset", 2),
            as_int_tuple_or_none(size, "set_", "size", 3),
            as_int_tuple_or_none(stride, "set_", "stride", 4),
        )
        return self

    def __delitem__(self, key):
        raise TypeError("Tensor does not support deleting items; index what is to be kept, as in x[mask]")

    def __getitem__(self, key):
        cdef bint is_view = selects_view(key)
        index = key if is_view else index_of_tensors(key)
        if index is None:
            return indexing.getitem(self, key)
        try:
            return (<object>c_upcalls.basic_index)(self, index) if is_view else upcalls.index(self, index)
        except IndexError as error:
            raise index_errors.explained(error, self.shape, index if isinstance(index, tuple) else (index,)) from None

    def __setitem__(self, key, value):
        indexing.setitem(self, key, value)

    def __iter__(self):
        if cnp.PyArray_NDIM(<cnp.ndarray>self.array) == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(upcalls.unbind(self))

    def __reversed__(self):
        """The tensor from its end on, as one tensor."""
        return self.flip(0) if cnp.PyArray_NDIM(<cnp.ndarray>self.array) else self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Compute the gradients of this tensor with respect to the leaves and add them to their `.grad`.

        See `gradsmith.autograd.backward`.
        """
        cdef bint is_plain = gradient is None and inputs is None and not create_graph
        if not (is_plain and c_upcalls.backward_of_scalar(self, retain_graph is not None and retain_graph)):
            upcalls.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def _view_func(self, new_base):
        """The part of `new_base` that this view is of its own base; None when this is not a view.

        `new_base` has the shape, strides and dtype of the base: the view is described by where it lies in it.
        """
        if not self.flags & IS_VIEW:
            return None
        base = self._base
        if new_base.shape != base.shape or new_base.stride() != base.stride() or base.dtype != self.dtype:
            raise RuntimeError(
                f"_view_func: a view of dtype {self.dtype} of a base of shape {list(base.shape)}, strides "
                f"{list(base.stride())} and dtype {base.dtype} has no counterpart in a tensor of shape "
                f"{list(new_base.shape)} and strides {list(new_base.stride())}"
            )
        offset = (self.data_ptr() - base.data_ptr()) // self.itemsize
        return new_base.as_strided(self.shape, self.stride(), new_base.storage_offset() + offset)

    def share_version_with(self, TensorBase other not None):
        """Internal: count in-place changes of both tensors together."""
        if self.base == NULL and <PyObject *>self != <PyObject *>other:
            Py_INCREF(other)
            self.base = <PyObject *>other
            other.flags |= IS_SHARED
            track(self)


cdef bint selects_view(key):
    """Is an index made of integers, slices, None and at most one Ellipsis? The others are looked at more closely."""
    cdef int ellipses = 0
    if type(key) is int or type(key) is slice:
        return True
    if type(key) is not tuple:
        return False
    for part in <tuple>key:
        if part is Ellipsis:
            ellipses += 1
        elif not (type(part) is int or type(part) is slice or part is None):
            return False
    return ellipses <= 1


cdef tuple index_of_tensors(key):
    """An index of int64 tensors and masks with dimensions, of whole numbers, slices, None and at most one Ellipsis.

    It is a tuple; None of any other, which are looked at more closely.
    """
    cdef int ellipses = 0
    if isinstance(key, TensorBase):
        return (key,) if names_places(key) else None
    if type(key) is not tuple:
        return None
    for part in <tuple>key:
        if part is Ellipsis:
            ellipses += 1
        elif isinstance(part, TensorBase):
            if not names_places(part):
                return None
        elif not (type(part) is int or type(part) is slice or part is None):
            return None
    return key if ellipses <= 1 else None


cdef bint names_places(TensorBase t) noexcept:
    cdef cnp.ndarray array = <cnp.ndarray>t.array
    if cnp.PyArray_NDIM(array) == 0:
        return False
    return cnp.PyArray_TYPE(array) == cnp.NPY_INT64 or cnp.PyArray_TYPE(array) == cnp.NPY_BOOL and not is_meta(t.array)


def gradient_node(TensorBase t not None):
    """Node that takes the gradient of `t`: its grad_fn, or the accumulator of a leaf."""
    cdef PyObject *accumulator
    node = shown_grad_fn(t)
    if node is None:
        accumulator = grad_accumulator(t)
        node = <object>accumulator
        Py_DECREF_pointer(accumulator)
    return node


cdef Node shown_grad_fn(TensorBase t):
    """The node behind `t`, for callers that may attach to it what holds `t`; see gc_tracking.pyx, Note [Collected late]."""
    cdef PyObject *node = current_grad_fn(t)
    if node == NULL:
        return None
    track(t)
    (<Node>node).flags |= NODE_SHOWN
    return <Node>node


cdef int set_backward_hooks(TensorBase t, object hooks) except -1:
    """Replace the hooks of a tensor by those of a dict, which the leaf keeps; None for no hooks."""
    cdef Node node = shown_grad_fn(t)
    check_hook_dict("_backward_hooks", hooks)
    if node is None:
        track_for_gc(t)
        meta_of(t).hooks = hooks
        return observe_leaf(t)
    track_for_gc(node)
    table = hook_table(node, t.output_nr)
    table.clear()
    table.update(hooks or ())
    return 0


cdef int check_hook_dict(str name, object hooks) except -1:
    if hooks is not None and not isinstance(hooks, dict):
        raise TypeError(f"{name} must be a dict of hooks by number, or None, but got {type(hooks).__name__}")
    return 0


cdef int observe_leaf(TensorBase leaf) except -1:
    """The leaf's gradient is observed from now on: it must be summed before it is handled."""
    leaf.flags |= HAS_HOOKS
    if (<TensorMeta>leaf.meta).accumulator != NULL:
        track(<object>(<TensorMeta>leaf.meta).accumulator)
    return 0


cdef int check_grad_assignment(TensorBase t, object value) except -1:
    if not isinstance(value, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.device != t.device:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device}' to a tensor with device type "
            f"'{t.device}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if value.shape != t.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size {list(value.shape)} to a tensor of size {list(t.shape)}. Please "
            "ensure that the gradient and the tensor are the same size"
        )
    dtype = expected_grad_dtype(t)
    if dtype is not None and value.dtype != dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype {value.dtype} to a tensor with grad_dtype {dtype}. The gradient "
            "must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute to another dtype, or to None for any"
        )
    return 0


cdef object expected_grad_dtype(TensorBase t):
    return (<TensorMeta>t.meta).grad_dtype if t.flags & HAS_GRAD_DTYPE else t.dtype


cdef int set_grad_dtype(TensorBase leaf, object dtype) except -1:
    cdef TensorMeta meta = meta_of(leaf)
    if dtype is not None and not isinstance(dtype, np.dtype):
        raise RuntimeError(f"grad_dtype must be a dtype or None, but got {type(dtype).__name__}")
    if dtype is not None and dtype.kind not in "fc":
        raise RuntimeError(f"grad_dtype must be floating point or complex, but got {dtype}: gradients are never integers")
    if dtype is not None and meta.grad is not None and meta.grad.dtype != dtype:
        raise RuntimeError(
            f"Cannot set grad_dtype to {dtype} because there is already a gradient with dtype {meta.grad.dtype}. Please "
            "clear the gradient (.grad = None) before changing grad_dtype"
        )
    meta.grad_dtype = dtype
    leaf.flags |= HAS_GRAD_DTYPE
    return renew_accumulator(leaf)


cdef int renew_accumulator(TensorBase leaf) except -1:
    """The metadata that the leaf's gradient must match has changed."""
    cdef InputMetadata *metadata
    if leaf.meta is not None and (<TensorMeta>leaf.meta).accumulator != NULL:
        metadata = metadata_of((<TensorMeta>leaf.meta).accumulator, 0)
        free_metadata(metadata)
        leaf_metadata(metadata, leaf)
    return 0


cdef int warn_non_leaf_grad() except -1:
    import warnings

    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor.",
        UserWarning,
        stacklevel=2,
    )
    return 0
