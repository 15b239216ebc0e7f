# ---- top(Tensor self) -> Tensor
# derivatives.yaml: top

cdef class TopBackward0(Node):
    """Backward of ``top(Tensor self) -> Tensor``."""

    # Saves self and result: top need not be computed again.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase self_, result
        # self: grad * where(self > result - 1, self, 0)
        self_ = unpack(self, 0)
        result = unpack(self, 1)
        set_grad_input(
            grad_inputs,
            0,
            op_mul_tensor(grad, op_where_tensor_scalar(op_gt_tensor(self_, op_sub_tensor_scalar(result, 1)), self_, 0)),
        )

    _saved_self, _raw_saved_self = saved_tensor(0)
    _saved_result, _raw_saved_result = saved_tensor(1)

cdef int tangents_top(TensorBase result, TensorBase self) except -1:
    """Forward mode: transposed."""
    cdef TensorBase self_t, grad
    cdef LevelWalk walk = walk_levels((self,))
    while walk.next():
        self_t = walk.tangent(self)
        grad = stand_in(walk, result)
        # self: grad * where(self > result - 1, self, 0)
        if self_t is not None:
            walk.transpose(
                self,
                self_t,
                op_mul_tensor(
                    grad, op_where_tensor_scalar(op_gt_tensor(self, op_sub_tensor_scalar(result, 1)), self, 0)
                ),
            )
        walk.give_transposed((result,), (grad,))

cdef TensorBase op_top(TensorBase self):
    cdef int depth = begin_replaceable_op("top", (self,)) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(own_memory(np.max(array_of(self))))
    cdef TopBackward0 node
    if requires_grad_1(self):
        node = TopBackward0.__new__(TopBackward0)
        connect_1(node, 2, 0, self)
        save_input(node, 0, self)
        set_history(result, node)
        save_output(node, 1, result)
    if has_tangent_1(self):
        tangents_top(result, self)
    return ended(depth, result)


# ---- top.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
# derivatives.yaml: top.dim

cdef class TopBackward1(Node):
    """Backward of ``top.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)``."""

    # Saves indices: the gradient needs it.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad_values = gradient_or_zeros(self, grads, 0)
        cdef TensorBase indices
        cdef object self_shape
        # self: grad_values.expand(self.shape) * indices
        indices = unpack(self, 0)
        self_shape = value_of(self, 0)
        set_grad_input(grad_inputs, 0, op_mul_tensor(op_expand(grad_values, self_shape), indices))

    _saved_indices, _raw_saved_indices = saved_tensor(0)
    _saved_self_shape = saved_value(0)

cdef int tangents_top_dim(TensorBase values, TensorBase indices, TensorBase self, object dim, bint keepdim) except -1:
    """Forward mode: transposed."""
    cdef TensorBase self_t, grad_values
    cdef LevelWalk walk = walk_levels((self,))
    while walk.next():
        self_t = walk.tangent(self)
        grad_values = stand_in(walk, values)
        # self: grad_values.expand(self.shape) * indices
        if self_t is not None:
            walk.transpose(self, self_t, op_mul_tensor(op_expand(grad_values, shape_of(self)), indices))
        walk.give_transposed((values,), (grad_values,))

cdef tuple op_top_dim(TensorBase self, object dim, bint keepdim):
    cdef int depth = begin_replaceable_op("top", (self, dim, keepdim)) if watching else 0
    cdef TensorBase values, indices
    if replays(depth):
        values, indices = replayed_result()
    else:
        values_array, indices_array = own_memory(
            (np.max(array_of(self), dim, keepdims=keepdim), np.argmax(array_of(self), dim, keepdims=keepdim))
        )
        values = wrap(values_array)
        indices = wrap(indices_array)
    cdef TopBackward1 node
    if requires_grad_1(self):
        node = TopBackward1.__new__(TopBackward1)
        connect_1(node, 1, 1, self)
        set_value(node, 0, shape_of(self))
        set_history_list([values, None], node)
        save_output(node, 0, indices)
    if has_tangent_1(self):
        tangents_top_dim(values, indices, self, dim, keepdim)
    if depth:
        end_op(depth, (values, indices))
    return (values, indices)


# ---- top.other(Tensor self, Tensor other) -> Tensor
# derivatives.yaml: top.other

cdef TensorBase op_top_other(TensorBase self, TensorBase other):
    cdef int depth = begin_op("top", (self, other)) if watching else 0
    cdef TensorBase result = op_where_tensor_tensor(op_gt_tensor(self, other), self, other)
    return ended(depth, result)

TopDimResult = return_type("top", "TopDimResult", ("values", "indices"), __name__)

cdef object call_top(self):
    self = check_tensor(self, "top", "input", 1)
    return op_top(<TensorBase>self)

cdef object call_top_dim(self, dim, keepdim):
    self = check_tensor(self, "top", "input", 1)
    dim = as_int(dim, "top", "dim", 2)
    keepdim = as_bool(keepdim, "top", "keepdim", 3)
    return TopDimResult._make(op_top_dim(<TensorBase>self, dim, keepdim))

cdef object call_top_other(self, other):
    self = check_tensor(self, "top", "input", 1)
    other = check_tensor(other, "top", "other", 2)
    return op_top_other(<TensorBase>self, <TensorBase>other)

cdef Overloads TOP_OVERLOADS = Overloads("top", (
    Overload("(Tensor input)", (
        ("input", "Tensor", REQUIRED, False),
    )),
    Overload("(Tensor input, int dim, bool keepdim=False)", (
        ("input", "Tensor", REQUIRED, False),
        ("dim", "int", REQUIRED, False),
        ("keepdim", "bool", False, False),
    )),
    Overload("(Tensor input, Tensor other)", (
        ("input", "Tensor", REQUIRED, False),
        ("other", "Tensor", REQUIRED, False),
    )),
))

cdef object bind_top(tuple args, dict kwargs):
    if len(args) == 1 and not kwargs:
        return call_top(args[0])
    if len(args) == 3 and not kwargs:
        return call_top_dim(args[0], args[1], args[2])
    cdef int choice = 0
    cdef tuple found = TOP_OVERLOADS.bind(args, kwargs, &choice)
    if choice == 0:    # (Tensor input)
        return call_top(found[0])
    if choice == 1:    # (Tensor input, int dim, bool keepdim=False)
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
