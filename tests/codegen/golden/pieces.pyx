# ---- pieces(Tensor(a) self, int dim=0) -> Tensor(a)[]

cdef class PiecesBackward0(Node):
    """Backward of ``pieces``."""

    # Saves no tensor: the shape and dtype of self are enough.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef int i
        cdef list gradients = [gradient(grads, i) for i in range(self.n_outputs)]
        cdef object self_shape = value_of(self, 0)
        cdef object self_dtype = value_of(self, 1)
        cdef object dim = value_of(self, 2)
        set_grad_input(grad_inputs, 0, op_cat(filled_slices(gradients, self_shape, self_dtype, dim), dim))

    _saved_self_shape = saved_value(0)
    _saved_self_dtype = saved_value(1)
    _saved_dim = saved_value(2)

cdef object tangents_pieces(tuple tangents, tuple given):    # auto_linear
    self_t, = tangents
    dim, = given
    return op_pieces(self_t, dim)

cdef list op_pieces(TensorBase self, object dim):
    cdef int depth = begin_op("pieces", (self, dim), &batched_pieces) if watching else 0
    cdef list result = as_view_list(
        self, replayed_arrays() if replays(depth) else list(np.moveaxis(array_of(self), dim, 0))
    )
    cdef Node node
    if requires_grad_1(self):
        node = <Node>PiecesBackward0.__new__(PiecesBackward0)
        connect_1(node, 0, 3, self)
        set_value(node, 0, shape_of(self))
        set_value(node, 1, dtype_of(self))
        set_value(node, 2, dim)
        set_history_list(result, node)
    if depth:
        end_op(depth, result)
    return result

cdef object packed_pieces(tuple operands):
    return op_pieces(<TensorBase>operands[0], operands[1])

cdef BatchRule batched_pieces
batched_pieces = BatchRule(b"pieces", by_views, b"..", packed_pieces, NULL, no_loop())

cdef object call_pieces(self, dim):
    return tuple(op_pieces(as_input(self, "pieces"), as_int(dim, "pieces", "dim", 2)))

def pieces(input, dim=0):
    """Slices along a dimension.

    ``pieces(Tensor(a) self, int dim=0) -> Tensor(a)[]``

    Parameters:
    input : Tensor
    dim : int, default 0
    axis : int, optional

    Returns:
    tuple of Tensor

    Gradients:
        input: cat(filled_slices(grads, self.shape, self.dtype, dim), dim)
        result: auto_linear
    """
    return call_pieces(input, dim)


# ---- join(Tensor[] tensors, int dim=0) -> Tensor

cdef class JoinBackward0(Node):
    """Backward of ``join``."""

    # Saves no tensor: the shape of tensors is enough.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad = gradient(grads, 0)
        cdef object tensors_shape = value_of(self, 0)
        cdef object dim = value_of(self, 1)
        set_grad_inputs(self, grad_inputs, 0, self.n_edges, cat_backward(grad, tensors_shape, dim))

    _saved_tensors_shape = saved_value(0)
    _saved_dim = saved_value(1)

cdef object tangents_join(tuple tangents, tuple given):    # auto_linear
    tensors_t, = tangents
    dim, = given
    return op_join(tensors_t, dim)

cdef TensorBase op_join(list tensors, object dim):
    cdef int depth = begin_replaceable_op("join", (tensors, dim), &batched_join) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(
        own_memory(np.concatenate(arrays_of(tensors), dim))
    )
    cdef Node node
    if requires_grad_list(tensors):
        node = <Node>JoinBackward0.__new__(JoinBackward0)
        node.init(<int>len(tensors), 0, 2)
        collect_edge_list(node, 0, tensors)
        set_value(node, 0, shapes_of(tensors))
        set_value(node, 1, dim)
        set_history(result, node)
    if has_tangent_list(tensors):
        carry_tangents(result, (tensors,), tangents_join, (dim,))
    return ended(depth, result)

cdef object packed_join(tuple operands):
    return op_join(<list>operands[0], operands[1])

cdef BatchRule batched_join
batched_join = BatchRule(b"join", slice_by_slice, b"..", packed_join, NULL, no_loop())

cdef object call_join(tensors, dim):
    return op_join(as_tensor_list(tensors, "join", "tensors", 1), as_int(dim, "join", "dim", 2))

def join(tensors, dim=0):
    """The tensors one after the other.

    ``join(Tensor[] tensors, int dim=0) -> Tensor``

    Parameters:
    tensors : sequence of Tensor
    dim : int, default 0
    axis : int, optional

    Gradients:
        tensors: cat_backward(grad, tensors.shape, dim)
        result: auto_linear
    """
    return call_join(tensors, dim)
