# ---- addcmul(Tensor self, Tensor tensor1, Tensor|Scalar tensor2, *, Scalar value=1) -> Tensor

cdef class AddcmulBackward0(Node):
    """Backward of ``addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor``."""

    # Saves tensor1 for the gradient of tensor2, tensor2 for the gradient of tensor1.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase tensor1, tensor2
        cdef object value
        if wants(wanted, 0):    # self
            set_grad_input(grad_inputs, 0, grad)
        if wants(wanted, 1):    # tensor1
            tensor2 = unpack(self, 1)
            value = value_of(self, 0)
            set_grad_input(grad_inputs, 1, op_mul_tensor(grad, op_conj(op_mul_scalar(tensor2, value))))
        if wants(wanted, 2):    # tensor2
            tensor1 = unpack(self, 0)
            value = value_of(self, 0)
            set_grad_input(grad_inputs, 2, op_mul_tensor(grad, op_conj(op_mul_scalar(tensor1, value))))

    _saved_tensor1, _raw_saved_tensor1 = saved_tensor(0)
    _saved_tensor2, _raw_saved_tensor2 = saved_tensor(1)
    _saved_value = saved_value(0)

cdef tuple tangents_addcmul_tensor(list gradients, tuple tangents, tuple given):    # transposed
    self_t, tensor1_t, tensor2_t = tangents
    tensor1, tensor2, value = given
    grad, = gradients
    return (
        grad if self_t is not None else None,
        op_mul_tensor(grad, op_conj(op_mul_scalar(tensor2, value))) if tensor1_t is not None else None,
        op_mul_tensor(grad, op_conj(op_mul_scalar(tensor1, value))) if tensor2_t is not None else None,
    )

cdef TensorBase op_addcmul_tensor(TensorBase self, TensorBase tensor1, TensorBase tensor2, object value):
    cdef int depth = begin_replaceable_op(
        "addcmul", (self, tensor1, tensor2, value), &batched_addcmul_tensor
    ) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(
        own_memory(array_of(self) + value * array_of(tensor1) * array_of(tensor2))
    )
    cdef Node node
    if requires_grad_3(self, tensor1, tensor2):
        node = <Node>AddcmulBackward0.__new__(AddcmulBackward0)
        connect_3(node, 2, 1, self, tensor1, tensor2)
        if node.edges[2].node != NULL:
            save_input(node, 0, tensor1)
        if node.edges[1].node != NULL:
            save_input(node, 1, tensor2)
        if node.edges[1].node != NULL or node.edges[2].node != NULL:
            set_value(node, 0, value)
        set_history(result, node)
    if has_tangent_3(self, tensor1, tensor2):
        carry_transposed((result,), (self, tensor1, tensor2), tangents_addcmul_tensor, (tensor1, tensor2, value))
    return ended(depth, result)

cdef TensorBase inplace_addcmul_tensor(TensorBase self, TensorBase tensor1, TensorBase tensor2, object value):
    check_inplace("addcmul_", self)
    cdef int depth = begin_op("addcmul_", (self, tensor1, tensor2, value), NULL) if watching else 0
    if has_tangent_3(self, tensor1, tensor2):
        return ended(depth, copy_into("addcmul_", self, op_addcmul_tensor(self, tensor1, tensor2, value)))
    cdef Node node, history = None
    if requires_grad_3(self, tensor1, tensor2):
        node = <Node>AddcmulBackward0.__new__(AddcmulBackward0)
        connect_3(node, 2, 1, self, tensor1, tensor2)
        if node.edges[2].node != NULL:
            save_input(node, 0, tensor1)
        if node.edges[1].node != NULL:
            save_input(node, 1, tensor2)
        if node.edges[1].node != NULL or node.edges[2].node != NULL:
            set_value(node, 0, value)
        history = prepare_history("addcmul_", self, node)
    if not (watching and written_batched(&batched_inplace_addcmul_tensor, (self, tensor1, tensor2, value))):
        write_inplace("addcmul_", self, own_memory(array_of(self) + value * array_of(tensor1) * array_of(tensor2)))
    finish_inplace(self, history)
    return ended(depth, self)

cdef object packed_addcmul_tensor(tuple operands):
    return op_addcmul_tensor(<TensorBase>operands[0], <TensorBase>operands[1], <TensorBase>operands[2], operands[3])

cdef object packed_inplace_addcmul_tensor(tuple operands):
    return inplace_addcmul_tensor(
        <TensorBase>operands[0], <TensorBase>operands[1], <TensorBase>operands[2], operands[3]
    )

cdef BatchRule batched_addcmul_tensor
batched_addcmul_tensor = BatchRule(b"addcmul", slice_by_slice, b"....", packed_addcmul_tensor, NULL, no_loop())
cdef BatchRule batched_inplace_addcmul_tensor
batched_inplace_addcmul_tensor = BatchRule(
    b"addcmul_", slice_by_slice, b"....", packed_inplace_addcmul_tensor, NULL, no_loop()
)

cdef class AddcmulScalarBackward0(Node):
    """Backward of ``addcmul(Tensor self, Tensor tensor1, Scalar tensor2, *, Scalar value=1) -> Tensor``."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad = gradient(grads, 0)
        cdef object tensor2, value
        if wants(wanted, 0):    # self
            set_grad_input(grad_inputs, 0, grad)
        if wants(wanted, 1):    # tensor1
            tensor2 = unpack_number(self, 0)
            value = value_of(self, 1)
            set_grad_input(grad_inputs, 1, op_mul_scalar(grad, conj_number(tensor2 * value)))

    cdef void release_saved(self) noexcept:
        Node.release_saved(self)
        drop_value(self, 0)

    cpdef str name(self):
        return "AddcmulBackward0"

    _saved_tensor2 = saved_number(0)
    _saved_value = saved_value(1)

cdef tuple tangents_addcmul_scalar(list gradients, tuple tangents, tuple given):    # transposed
    self_t, tensor1_t = tangents
    tensor2, value = given
    grad, = gradients
    return (
        grad if self_t is not None else None,
        op_mul_scalar(grad, conj_number(tensor2 * value)) if tensor1_t is not None else None,
    )

cdef TensorBase op_addcmul_scalar(TensorBase self, TensorBase tensor1, object tensor2, object value):
    cdef int depth = begin_replaceable_op(
        "addcmul", (self, tensor1, tensor2, value), &batched_addcmul_scalar
    ) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(
        own_memory(array_of(self) + value * array_of(tensor1) * tensor2)
    )
    cdef Node node
    if requires_grad_2(self, tensor1):
        node = <Node>AddcmulScalarBackward0.__new__(AddcmulScalarBackward0)
        connect_2(node, 0, 2, self, tensor1)
        if node.edges[1].node != NULL:
            set_value(node, 0, tensor2)
            set_value(node, 1, value)
        set_history(result, node)
    if has_tangent_2(self, tensor1):
        carry_transposed((result,), (self, tensor1), tangents_addcmul_scalar, (tensor2, value))
    return ended(depth, result)

cdef TensorBase inplace_addcmul_scalar(TensorBase self, TensorBase tensor1, object tensor2, object value):
    check_inplace("addcmul_", self)
    cdef int depth = begin_op("addcmul_", (self, tensor1, tensor2, value), NULL) if watching else 0
    if has_tangent_2(self, tensor1):
        return ended(depth, copy_into("addcmul_", self, op_addcmul_scalar(self, tensor1, tensor2, value)))
    cdef Node node, history = None
    if requires_grad_2(self, tensor1):
        node = <Node>AddcmulScalarBackward0.__new__(AddcmulScalarBackward0)
        connect_2(node, 0, 2, self, tensor1)
        if node.edges[1].node != NULL:
            set_value(node, 0, tensor2)
            set_value(node, 1, value)
        history = prepare_history("addcmul_", self, node)
    if not (watching and written_batched(&batched_inplace_addcmul_scalar, (self, tensor1, tensor2, value))):
        write_inplace("addcmul_", self, own_memory(array_of(self) + value * array_of(tensor1) * tensor2))
    finish_inplace(self, history)
    return ended(depth, self)

cdef object packed_addcmul_scalar(tuple operands):
    return op_addcmul_scalar(<TensorBase>operands[0], <TensorBase>operands[1], operands[2], operands[3])

cdef object packed_inplace_addcmul_scalar(tuple operands):
    return inplace_addcmul_scalar(<TensorBase>operands[0], <TensorBase>operands[1], operands[2], operands[3])

cdef BatchRule batched_addcmul_scalar
batched_addcmul_scalar = BatchRule(b"addcmul", slice_by_slice, b"....", packed_addcmul_scalar, NULL, no_loop())
cdef BatchRule batched_inplace_addcmul_scalar
batched_inplace_addcmul_scalar = BatchRule(
    b"addcmul_", slice_by_slice, b"....", packed_inplace_addcmul_scalar, NULL, no_loop()
)

cdef object call_addcmul(self, tensor1, tensor2, value):
    self = as_tensor_operand(self, "addcmul", "input", 1, tensor1)
    tensor1 = as_tensor_operand(tensor1, "addcmul", "tensor1", 2, self)
    tensor2 = as_operand(tensor2, "addcmul", "tensor2", 3, self)
    value = as_number(value, "addcmul", "value", 4)
    if is_tensor(tensor2):
        return op_addcmul_tensor(<TensorBase>self, <TensorBase>tensor1, <TensorBase>tensor2, value)
    return op_addcmul_scalar(<TensorBase>self, <TensorBase>tensor1, tensor2, value)

cdef object call_addcmul_(TensorBase self, tensor1, tensor2, value):
    tensor1 = as_tensor_operand(tensor1, "addcmul_", "tensor1", 2, self)
    tensor2 = as_operand(tensor2, "addcmul_", "tensor2", 3, self)
    value = as_number(value, "addcmul_", "value", 4)
    if is_tensor(tensor2):
        return inplace_addcmul_tensor(self, <TensorBase>tensor1, <TensorBase>tensor2, value)
    return inplace_addcmul_scalar(self, <TensorBase>tensor1, tensor2, value)

def addcmul(input, tensor1, tensor2, *, value=1, out=None):
    """The first tensor plus the product of the others.

    ``addcmul(Tensor self, Tensor tensor1, Tensor|Scalar tensor2, *, Scalar value=1) -> Tensor``

    Parameters:
    input : Tensor
    tensor1 : Tensor
    tensor2 : Tensor or number
    value : number, default 1
    out : Tensor, optional

    Raises: TypeError, RuntimeError

    Gradients:
        input: grad
        tensor1: grad * conj(tensor2 * value)
        tensor2: grad * conj(tensor1 * value)
        result: transposed
    """
    return give_out("addcmul", out, call_addcmul(input, tensor1, tensor2, value))
