# ---- put_(Tensor(a!) self, Tensor|Scalar value) -> Tensor(a!)

cdef class PutBackward0(Node):
    """Backward of ``put_(Tensor(a!) self, Tensor value) -> Tensor(a!)``."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad = gradient(grads, 0)
        if wants(wanted, 0):    # self: grad * 0
            set_grad_input(grad_inputs, 0, op_mul_scalar(grad, 0))
        if wants(wanted, 1):    # value: grad
            set_grad_input(grad_inputs, 1, grad)

cdef tuple tangents_put__tensor(list gradients, tuple tangents, tuple given):    # transposed
    self_t, value_t = tangents
    grad, = gradients
    return (op_mul_scalar(grad, 0) if self_t is not None else None, grad if value_t is not None else None)

cdef TensorBase op_put__tensor(TensorBase self, TensorBase value):
    check_inplace("put_", self)
    cdef int depth = begin_op("put_", (self, value), NULL) if watching else 0
    cdef Node node, history = None
    if requires_grad_2(self, value):
        node = <Node>PutBackward0.__new__(PutBackward0)
        connect_2(node, 0, 0, self, value)
        history = prepare_history("put_", self, node)
    if not (watching and written_batched(&batched_inplace_put__tensor, (self, value))):
        write_values("put_", self, np.asarray(array_of(value)))
    finish_inplace(self, history)
    if has_tangent_2(self, value):
        carry_transposed((self,), (self, value), tangents_put__tensor, ())
    return ended(depth, self)

cdef object packed_inplace_put__tensor(tuple operands):
    return op_put__tensor(<TensorBase>operands[0], <TensorBase>operands[1])

cdef BatchRule batched_inplace_put__tensor
batched_inplace_put__tensor = BatchRule(b"put_", slice_by_slice, b"..", packed_inplace_put__tensor, NULL, no_loop())

cdef class PutScalarBackward0(Node):
    """Backward of ``put_(Tensor(a!) self, Scalar value) -> Tensor(a!)``."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef TensorBase grad = gradient(grads, 0)
        # self: grad * 0
        set_grad_input(grad_inputs, 0, op_mul_scalar(grad, 0))

    cpdef str name(self):
        return "PutBackward0"

cdef tuple tangents_put__scalar(list gradients, tuple tangents, tuple given):    # transposed
    grad, = gradients
    return (op_mul_scalar(grad, 0),)

cdef TensorBase op_put__scalar(TensorBase self, object value):
    check_inplace("put_", self)
    cdef int depth = begin_op("put_", (self, value), NULL) if watching else 0
    cdef Node node, history = None
    if requires_grad_1(self):
        node = <Node>PutScalarBackward0.__new__(PutScalarBackward0)
        connect_1(node, 0, 0, self)
        history = prepare_history("put_", self, node)
    if not (watching and written_batched(&batched_inplace_put__scalar, (self, value))):
        write_values("put_", self, np.asarray(value))
    finish_inplace(self, history)
    if has_tangent_1(self):
        carry_transposed((self,), (self,), tangents_put__scalar, ())
    return ended(depth, self)

cdef object packed_inplace_put__scalar(tuple operands):
    return op_put__scalar(<TensorBase>operands[0], operands[1])

cdef BatchRule batched_inplace_put__scalar
batched_inplace_put__scalar = BatchRule(b"put_", slice_by_slice, b"..", packed_inplace_put__scalar, NULL, no_loop())

cdef object call_put_(self, value):
    self = check_input(self, "put_")
    value = as_operand(value, "put_", "value", 2, self)
    if is_tensor(value):
        return op_put__tensor(<TensorBase>self, <TensorBase>value)
    return op_put__scalar(<TensorBase>self, value)


write_out_docstrings(globals())
take_second_names(globals())    # x for input, axis for dim
