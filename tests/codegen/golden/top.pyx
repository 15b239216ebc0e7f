# ---- top(Tensor self) -> Tensor

cdef class TopBackward0(Node):
    """Backward of ``top``."""

    # Saves self and result: top need not be computed again.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase self_ = unpack(self, 0)
        cdef TensorBase result = unpack(self, 1)
        set_grad_input(
            grad_inputs,
            0,
            op_mul_tensor(grad, op_where_tensor_scalar(op_gt_tensor(self_, op_sub_tensor_scalar(result, 1)), self_, 0)),
        )

    _saved_self, _raw_saved_self = saved_tensor(0)
    _saved_result, _raw_saved_result = saved_tensor(1)

cdef tuple tangents_top(list gradients, tuple tangents, tuple given):    # transposed
    result, self = given
    grad, = gradients
    return (op_mul_tensor(grad, op_where_tensor_scalar(op_gt_tensor(self, op_sub_tensor_scalar(result, 1)), self, 0)),)

cdef TensorBase op_top(TensorBase self):
    cdef int depth = begin_replaceable_op("top", (self,), &batched_top) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(own_memory(np.max(array_of(self))))
    cdef Node node
    if requires_grad_1(self):
        node = <Node>TopBackward0.__new__(TopBackward0)
        connect_1(node, 2, 0, self)
        save_input(node, 0, self)
        set_history(result, node)
        save_output(node, 1, result)
    if has_tangent_1(self):
        carry_transposed((result,), (self,), tangents_top, (result, self))
    return ended(depth, result)

cdef object packed_top(tuple operands):
    return op_top(<TensorBase>operands[0])

cdef BatchRule batched_top
batched_top = BatchRule(b"top", slice_by_slice, b".", packed_top, NULL, no_loop())


# ---- top.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)

cdef class TopBackward1(Node):
    """Backward of ``top.dim``."""

    # Saves indices: the gradient needs it.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad_values = gradient_or_zeros(self, grads, 0)
        cdef TensorBase indices = unpack(self, 0)
        cdef object self_shape = value_of(self, 0)
        set_grad_input(grad_inputs, 0, op_mul_tensor(op_expand(grad_values, self_shape), indices))

    _saved_indices, _raw_saved_indices = saved_tensor(0)
    _saved_self_shape = saved_value(0)

cdef tuple tangents_top_dim(list gradients, tuple tangents, tuple given):    # transposed
    indices, self = given
    grad_values, = gradients
    return (op_mul_tensor(op_expand(grad_values, shape_of(self)), indices),)

cdef tuple op_top_dim(TensorBase self, object dim, bint keepdim):
    cdef int depth = begin_replaceable_op("top", (self, dim, keepdim), &batched_top_dim) if watching else 0
    cdef TensorBase values, indices
    if replays(depth):
        values, indices = replayed_result()
    else:
        values_array, indices_array = own_memory(
            (np.max(array_of(self), dim, keepdims=keepdim), np.argmax(array_of(self), dim, keepdims=keepdim))
        )
        values = wrap(values_array)
        indices = wrap(indices_array)
    cdef Node node
    if requires_grad_1(self):
        node = <Node>TopBackward1.__new__(TopBackward1)
        connect_1(node, 1, 1, self)
        set_value(node, 0, shape_of(self))
        set_history_list([values, None], node)
        save_output(node, 0, indices)
    if has_tangent_1(self):
        carry_transposed((values,), (self,), tangents_top_dim, (indices, self))
    if depth:
        end_op(depth, (values, indices))
    return (values, indices)

cdef object packed_top_dim(tuple operands):
    return op_top_dim(<TensorBase>operands[0], operands[1], operands[2])

cdef BatchRule batched_top_dim
batched_top_dim = BatchRule(b"top", slice_by_slice, b"...", packed_top_dim, NULL, no_loop())


# ---- top.other(Tensor self, Tensor other) -> Tensor

cdef TensorBase op_top_other(TensorBase self, TensorBase other):
    cdef int depth = begin_op("top", (self, other), NULL) if watching else 0
    cdef TensorBase result = op_where_tensor_tensor(op_gt_tensor(self, other), self, other)
    return ended_composite(depth, result)

TopDimResult = return_type("top", "TopDimResult", ("values", "indices"), __name__)

cdef object call_top(self):
    return op_top(as_input(self, "top"))

cdef object call_top_dim(self, dim, keepdim):
    return TopDimResult._make(
        op_top_dim(as_input(self, "top"), as_int(dim, "top", "dim", 2), as_bool(keepdim, "top", "keepdim", 3))
    )

cdef object call_top_other(self, other):
    return op_top_other(
        as_tensor_operand(self, "top", "input", 1, other), as_tensor_operand(other, "top", "other", 2, self)
    )

cdef Overloads TOP_OVERLOADS = Overloads("top", (
    Overload("(Tensor input)"),
    Overload("(Tensor input, int dim, bool keepdim=False)", False),
    Overload("(Tensor input, Tensor other)"),
))

cdef object bind_top(tuple args, dict kwargs):
    if len(args) == 1 and not kwargs:
        return call_top(args[0])
    if len(args) == 3 and not kwargs:
        return call_top_dim(args[0], args[1], args[2])
    cdef int choice = 0
    cdef tuple found = TOP_OVERLOADS.bind(args, kwargs, &choice)
    if choice == 0:
        return call_top(found[0])
    if choice == 1:
        return call_top_dim(found[0], found[1], found[2])
    return call_top_other(found[0], found[1])

def top(*args, **kwargs):
    """The greatest element.

    ``top(Tensor self) -> Tensor``
        The greatest element.
    ``top.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)``
        The greatest elements along a dimension.
    ``top.other(Tensor self, Tensor other) -> Tensor``
        The greater of two elements.

    Returns:
    Tensor
    values : Tensor
        Of ``top.dim``.
    indices : Tensor
        Of ``top.dim``.

    Raises: TypeError, RuntimeError

    Gradients:
        top
            input: grad * where(self > result - 1, self, 0)
            result: transposed
        top.dim
            input: grad_values.expand(self.shape) * indices
            result: transposed
    """
    return bind_top(args, kwargs)
