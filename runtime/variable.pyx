"""The autograd side of a tensor: gradient edges, history, views, in-place changes.

Note [In-place on a view]
A tensor and its views share memory and one version counter. Writing to a view changes its base, so the *base* gets a
new history: a `CopySlices` node, which sends the gradient of the untouched elements to the base's old history and that
of the overwritten ones through the operation that wrote. The view itself, and every other view of the base, has a
stale grad_fn from then on; `current_grad_fn` renews it from the geometry of the two arrays, when it is asked for.
"""
from cpython.mem cimport PyMem_Free
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.accumulate_grad cimport leaf_metadata, make_accumulator
from gradsmith.runtime.copy_slices cimport make_view_node
from gradsmith.runtime.grad_mode cimport grad_enabled, inference_mode_enabled
from gradsmith.runtime.node cimport (
    InputMetadata,
    LEAF_EDGE,
    NODE_TRACKED,
    Node,
    hook_table,
    metadata_of,
    node_meta,
    release_reference,
    set_accumulator_functions,
    set_metadata,
    track,
)
from gradsmith.runtime.saved_variable cimport settle_output
from gradsmith.runtime.tensor cimport (
    HAS_GRAD_DTYPE,
    HAS_HOOKS,
    INFERENCE,
    IS_VIEW,
    REQUIRES_GRAD,
    SAVED_AS_OUTPUT,
    TensorBase,
    TensorMeta,
    VIEW_IN_FUNCTION,
    VIEW_INFERENCE,
    VIEW_MULTI_OUTPUT,
    VIEW_NO_GRAD,
    VIEW_RESTRICTIONS,
    meta_of,
    version_of,
    wrap,
)

import weakref

import numpy as np

from gradsmith.runtime import upcalls
from gradsmith.runtime.geometry import geometry_of, is_inside
from gradsmith.runtime.indexing import getitem, setitem

cnp.import_array()

cdef extern from *:
    """
    static PyObject *gs_array_at(char *start, int type, int nd, npy_intp *shape, npy_intp *strides) {
        return PyArray_New(&PyArray_Type, nd, shape, type, strides, start, 0, NPY_ARRAY_WRITEABLE, NULL);
    }
    """
    object gs_array_at(char *start, int type, int nd, cnp.npy_intp *shape, cnp.npy_intp *strides)

cdef extern from "Python.h":
    int PyObject_GC_IsTracked(object)
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


# ---- who requires grad

cdef bint requires_grad(TensorBase t) noexcept:
    """Of the tensor alone, whatever the grad mode; a view may inherit it from its base."""
    cdef PyObject *owner = <PyObject *>t
    while not (<TensorBase>owner).flags & REQUIRES_GRAD:
        if not (<TensorBase>owner).flags & IS_VIEW:
            return False
        owner = (<TensorBase>owner).base
    return True


cdef bint requires_grad_list(object tensors) except -1:
    cdef TensorBase t
    for t in tensors or ():
        if requires_grad_1(t):
            return True
    return False


# ---- edges

cdef int collect_edge(Node node, int edge, TensorBase t) except -1:
    """Lead edge number `edge` to where the gradient of `t` goes; nowhere when `t` does not require grad."""
    cdef PyObject *target
    if t is None or not t.flags & (REQUIRES_GRAD | IS_VIEW):
        return 0
    target = t.grad_fn
    if t.flags & IS_VIEW:
        target = current_grad_fn(t)
        if target != NULL:      # perhaps made just now
            node.come_after(<Node>target)
    if target == NULL:
        return collect_leaf(node, edge, t)
    Py_INCREF_pointer(target)
    node.edges[edge].node = target
    node.edges[edge].input_nr = t.output_nr
    if (<Node>target).flags & NODE_TRACKED:
        track(node)
    return 0


cdef int collect_leaf(Node node, int edge, TensorBase t) except -1:
    """See node.pxd, Note [Edges to leaves]."""
    if not t.flags & REQUIRES_GRAD:
        return 0
    if t.meta is not None and (<TensorMeta>t.meta).stands_for is not None:
        return collect_leaf(node, edge, (<TensorMeta>t.meta).stands_for)
    if t.meta is not None and (<TensorMeta>t.meta).accumulator != NULL:
        node.edges[edge].node = grad_accumulator(t)
    else:
        Py_INCREF(t)
        node.edges[edge].node = <PyObject *>t
        node.edges[edge].input_nr = LEAF_EDGE
    if t.flags & HAS_HOOKS:
        track(node)
    return 0


cdef int collect_edge_list(Node node, int first_edge, object tensors) except -1:
    cdef int edge = first_edge
    cdef TensorBase t
    for t in tensors or ():
        collect_edge(node, edge, t)
        edge += 1
    return edge


cdef PyObject *grad_accumulator(TensorBase leaf) except NULL:
    """The leaf's AccumulateGrad, a new reference; made when no graph holds one."""
    cdef TensorMeta meta = meta_of(leaf)
    cdef Node accumulator
    if meta.stands_for is not None:
        return grad_accumulator(meta.stands_for)
    if meta.accumulator != NULL:
        Py_INCREF_pointer(meta.accumulator)
        return meta.accumulator
    accumulator = make_accumulator(leaf)
    meta.accumulator = <PyObject *>accumulator
    if leaf.flags & HAS_HOOKS:
        track(accumulator)
    Py_INCREF(accumulator)
    return <PyObject *>accumulator


cdef void forget_accumulator(PyObject *leaf, PyObject *accumulator) noexcept:
    """The accumulator dies. The leaf may have been given another one since, see `reset_accumulator`."""
    cdef PyObject *meta
    if leaf == NULL or (<TensorBase>leaf).meta is None:
        return
    meta = <PyObject *>(<TensorBase>leaf).meta
    if (<TensorMeta>meta).accumulator == accumulator:
        (<TensorMeta>meta).accumulator = NULL


cdef int reset_accumulator(TensorBase leaf) except -1:
    """The next graph makes an accumulator of its own, for what the leaf is by then; earlier graphs keep theirs."""
    if leaf.meta is not None:
        (<TensorMeta>leaf.meta).accumulator = NULL
    return 0


set_accumulator_functions(grad_accumulator, forget_accumulator)


# ---- history

cdef int set_history(TensorBase result, Node node) except -1:
    """`node` made `result`. A result whose dtype has no gradient stays without history."""
    if not has_gradient(cnp.PyArray_TYPE(<cnp.ndarray>result.array)):
        return 0
    set_metadata(&node.metadata, result.array)
    Py_INCREF(node)
    result.grad_fn = <PyObject *>node
    result.flags |= REQUIRES_GRAD
    if result.flags & IS_VIEW:
        result.view_version = version_of(result)
    if node.flags & NODE_TRACKED:
        track(result)
    return 0


cdef inline bint has_gradient(int type_number) noexcept:
    return cnp.PyTypeNum_ISFLOAT(type_number) or cnp.PyTypeNum_ISCOMPLEX(type_number)


cdef int set_history_list(object results, Node node) except -1:
    """History of several outputs; None and outputs whose dtype has no gradient stay without."""
    cdef TensorBase result
    cdef int i = 0
    if node.outputs == NULL:
        node.set_outputs(len(results))
    for result in results:
        if result is not None and has_gradient(cnp.PyArray_TYPE(<cnp.ndarray>result.array)):
            set_metadata(metadata_of(<PyObject *>node, i), result.array)
            Py_INCREF(node)
            result.grad_fn = <PyObject *>node
            result.output_nr = i
            result.flags |= REQUIRES_GRAD
            if result.flags & IS_VIEW:
                result.view_version = version_of(result)
            if node.flags & NODE_TRACKED:
                track(result)
        i += 1
    return 0


cdef int set_grad_fn(TensorBase t, PyObject *grad_fn, int output_nr) except -1:
    """Replace the history of `t`. What its old node borrowed of it is settled first."""
    cdef PyObject *old = t.grad_fn
    if t.flags & SAVED_AS_OUTPUT:
        settle_output(<PyObject *>t)
    Py_INCREF_pointer(grad_fn)
    move_retained_grad(t, grad_fn, output_nr)
    t.grad_fn = grad_fn
    t.output_nr = output_nr
    t.flags |= REQUIRES_GRAD
    if (<Node>grad_fn).flags & NODE_TRACKED:
        track(t)
    if old != NULL:
        release_reference(old)
    return 0


cdef int move_retained_grad(TensorBase t, PyObject *grad_fn, int output_nr) except -1:
    """A retained gradient is that of the tensor as it is now; hooks stay with the history they were set on."""
    if t.meta is None or not (<TensorMeta>t.meta).retains_grad:
        return 0
    if t.grad_fn != NULL and (<Node>t.grad_fn).meta is not None:
        meta = node_meta(<Node>t.grad_fn)
        meta.retained = [entry for entry in meta.retained if entry[1]() is not t]
    node_meta(<Node>grad_fn).retained.append((output_nr, weakref.ref(t)))
    return 0


# ---- views

cdef TensorBase as_view(TensorBase base, object array):
    """Tensor around `array`, a view of `base` (and so of what `base` is a view of) when it shares memory with it.

    A reshape that had to copy gives an ordinary tensor.
    """
    cdef TensorBase result
    if not shares_memory(base.array, array):
        return wrap(array)
    result = share_version(root_of(base), array)
    result.flags |= IS_VIEW | (base.flags & VIEW_RESTRICTIONS)
    if inference_mode_enabled() and not result.flags & INFERENCE:
        result.flags |= VIEW_INFERENCE
    if not grad_enabled():
        result.flags |= VIEW_NO_GRAD
        if requires_grad(base):
            result.flags |= REQUIRES_GRAD   # a leaf of its own: what is computed from it does not reach the base
    result.view_version = version_of(result)
    return result


cdef bint shares_memory(PyObject *array, object view) noexcept:
    """NumPy lets a view refer to the array it was made from, or to the array that owns the memory of both."""
    cdef PyObject *owner = cnp.PyArray_BASE(<cnp.ndarray>view)
    if <PyObject *>view == array or owner == array:
        return True
    return owner != NULL and owner == cnp.PyArray_BASE(<cnp.ndarray>array)


cdef TensorBase root_of(TensorBase t):
    return <TensorBase>t.base if t.flags & IS_VIEW else t


cdef list as_view_list(TensorBase base, object arrays):
    cdef list results = []
    cdef TensorBase view
    for array in arrays:
        view = as_view(base, array)
        view.flags |= VIEW_MULTI_OUTPUT
        results.append(view)
    return results


cdef TensorBase view_at(TensorBase other, TensorBase base, TensorBase view):
    """The view of `other`, laid out like `base`, that shows of it what `view` shows of `base`."""
    cdef cnp.ndarray shown = <cnp.ndarray>view.array
    cdef object geometry = geometry_of(<object>base.array, shown)
    cdef TensorBase result
    if not is_inside(geometry):
        raise RuntimeError("a view that reaches beyond its base has no tangent; clone() it")
    cdef char *start = <char *>cnp.PyArray_DATA(<cnp.ndarray>other.array) + <Py_ssize_t>geometry.offset
    array = gs_array_at(start, cnp.PyArray_TYPE(shown), shown.ndim, shown.shape, shown.strides)
    cnp.PyArray_UpdateFlags(array, cnp.NPY_ARRAY_UPDATE_ALL)
    cnp.set_array_base(array, <object>other.array)
    result = share_version(root_of(other), array)
    result.flags |= IS_VIEW
    result.view_version = version_of(result)
    return result


cdef TensorBase share_version(TensorBase source, object array):
    cdef TensorBase result = wrap(array)
    result.flags = source.flags & INFERENCE
    Py_INCREF(source)
    result.base = <PyObject *>source
    if PyObject_GC_IsTracked(source):
        track(result)       # it may be what closes a cycle through the source
    return result


cdef PyObject *current_grad_fn(TensorBase t) except? NULL:
    """Borrowed grad_fn. That of a view is renewed when its base has been changed since; see Note [In-place on a view]."""
    cdef TensorBase base
    if not t.flags & IS_VIEW:
        return t.grad_fn
    if t.view_version == version_of(t) and (t.grad_fn != NULL or t.flags & REQUIRES_GRAD):
        return t.grad_fn
    base = <TensorBase>t.base
    if t.view_version != version_of(t) and (t.grad_fn != NULL or requires_grad(base)):
        check_view(t)
    if not requires_grad(base):
        return t.grad_fn
    node = make_view_node(base, t)
    set_metadata(&(<Node>node).metadata, t.array)
    set_grad_fn(t, <PyObject *>node, 0)
    t.view_version = version_of(t)
    return t.grad_fn


cdef int check_view(TensorBase view) except -1:
    """The memory of a view was written: is it clear what the history of the view is now?"""
    if view.flags & VIEW_IN_FUNCTION:
        raise function_view_error(view, "its base or another view of its base has been modified inplace")
    if view.flags & (VIEW_NO_GRAD | VIEW_INFERENCE):
        raise ambiguous_view_error(view, "its base or another view of its base has been modified inplace")
    return 0


cdef object function_view_error(TensorBase view, str what):
    source = "A tensor" if view.grad_fn == NULL else f"Output {view.output_nr} of {(<Node>view.grad_fn).name()}"
    return RuntimeError(
        f"{source} is a view and {what}. This view was created inside a custom Function (or because an input was "
        "returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated "
        "with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by "
        "cloning the output of the custom Function."
    )


cdef object ambiguous_view_error(TensorBase view, str what):
    """Of a view made while nothing was recorded: is what is computed from it to be part of its base's graph?"""
    made, modified, block = (
        ("inference mode", "in normal mode", "inference_mode")
        if view.flags & VIEW_INFERENCE
        else ("no_grad mode", "with grad mode enabled", "no_grad")
    )
    source = "A view was"
    if view.grad_fn != NULL:
        source = f"Output {view.output_nr} of {(<Node>view.grad_fn).name()} is a view of a view which was"
    return RuntimeError(
        f"{source} created in {made} and {what} {modified}. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
        f"{block} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
        "tracked)."
    )


# ---- the array

cdef int replace_array(TensorBase t, object array) except -1:
    """Give `t` another array; what its node borrowed of the old one is settled first."""
    cdef PyObject *old = t.array
    if t.flags & SAVED_AS_OUTPUT:
        settle_output(<PyObject *>t)
    Py_INCREF(array)
    t.array = <PyObject *>array
    Py_DECREF_pointer(old)
    return 0


cdef scalar_backward backward_of_scalar = NULL


cdef void set_backward_of_scalar(scalar_backward function) noexcept:
    global backward_of_scalar
    backward_of_scalar = function


cdef class Variable(TensorBase):
    """A tensor with its autograd side. The generated Tensor adds the ops."""

    @property
    def grad_fn(self):
        """Node that computes the gradient of what made this tensor; None for a leaf."""
        cdef PyObject *node = current_grad_fn(self)
        if node == NULL:
            return None
        track(self)         # a hook on the node may hold the tensor, and the tensor holds the node
        return <object>node

    @property
    def is_leaf(self):
        """True when the tensor was made by the user, not by a recorded operation."""
        return current_grad_fn(self) == NULL

    @property
    def grad(self):
        """Gradient that backward has accumulated, a Tensor; None before."""
        cdef object found = None if self.meta is None else (<TensorMeta>self.meta).grad
        if found is None and self.grad_fn != NULL and not self.retains_grad:
            warn_non_leaf_grad()
        return found

    @grad.setter
    def grad(self, value):
        if value is None:
            if self.meta is not None:
                (<TensorMeta>self.meta).grad = None
            return
        check_grad_assignment(self, value)
        meta_of(self).grad = value

    @grad.deleter
    def grad(self):
        self.grad = None

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
        result.flags = self.flags & INFERENCE
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
        from gradsmith.runtime.hooks import add_hook, new_table

        cdef PyObject *node = current_grad_fn(self)
        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        track(self)
        if node != NULL:
            track(<object>node)
            return add_hook(hook_table(<Node>node, self.output_nr), hook)
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

    @property
    def _post_accumulate_grad_hooks(self):
        """The hooks of `register_post_accumulate_grad_hook`, likewise."""
        return None if self.meta is None else (<TensorMeta>self.meta).post_accumulate_hooks

    def register_post_accumulate_grad_hook(self, hook):
        """Call ``hook(tensor)`` after the `.grad` of this leaf was updated.

        Raises
        ------
        RuntimeError
            When the tensor is not a leaf that requires grad.
        """
        from gradsmith.runtime.hooks import add_hook, new_table

        if not requires_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if current_grad_fn(self) != NULL:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        track(self)
        meta = meta_of(self)
        if meta.post_accumulate_hooks is None:
            meta.post_accumulate_hooks = new_table()
        observe_leaf(self)
        return add_hook(meta.post_accumulate_hooks, hook)

    def detach_(self):
        """Cut the tensor off from its history, in place.

        Raises
        ------
        RuntimeError
            For a view, whose history is that of its base.
        """
        if self.flags & IS_VIEW:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        cdef PyObject *old = self.grad_fn
        if self.flags & SAVED_AS_OUTPUT:
            settle_output(<PyObject *>self)
        self.grad_fn = NULL
        self.output_nr = 0
        self.flags &= ~<uint32_t>REQUIRES_GRAD
        if old != NULL:
            release_reference(old)
        return self

    def __getitem__(self, key):
        return getitem(self, key)

    def __setitem__(self, key, value):
        setitem(self, key, value)

    def __iter__(self):
        if cnp.PyArray_NDIM(<cnp.ndarray>self.array) == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(upcalls.unbind(self))

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Compute the gradients of this tensor with respect to the leaves and add them to their `.grad`.

        See `gradsmith.autograd.backward`.
        """
        cdef bint is_plain = gradient is None and inputs is None and not create_graph
        if not (is_plain and backward_of_scalar(self, retain_graph is not None and retain_graph)):
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


def gradient_node(TensorBase t not None):
    """Node that takes the gradient of `t`: its grad_fn, or the accumulator of a leaf."""
    cdef PyObject *node = current_grad_fn(t)
    if node != NULL:
        return <object>node
    node = grad_accumulator(t)
    accumulator = <object>node
    Py_DECREF_pointer(node)
    return accumulator


cdef int observe_leaf(TensorBase leaf) except -1:
    """From now on somebody sees the leaf's gradient: it must be summed before it is handled."""
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
    """What the leaf's gradient must look like has changed."""
    cdef InputMetadata *metadata
    if leaf.meta is not None and (<TensorMeta>leaf.meta).accumulator != NULL:
        metadata = metadata_of((<TensorMeta>leaf.meta).accumulator, 0)
        PyMem_Free(metadata.long_shape)
        metadata.long_shape = NULL
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
