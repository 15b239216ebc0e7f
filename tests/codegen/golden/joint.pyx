# ---- blend(Tensor self, Tensor weight, Tensor anchor, Scalar beta=1) -> Tensor

cdef class BlendBackward0(Node):
    """Backward of ``blend``."""

    # Saves self for the gradient of weight, weight for the gradient of self.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase self_, weight
        if wants(wanted, 0) or wants(wanted, 1):
            self_ = unpack(self, 0)
            weight = unpack(self, 1)
            parts = (
                op_mul_tensor(grad, weight) if wants(wanted, 0) else None,
                op_mul_tensor(grad, self_) if wants(wanted, 1) else None,
            )
            set_grad_input(grad_inputs, 0, parts[0])
            set_grad_input(grad_inputs, 1, parts[1])

    _saved_self, _raw_saved_self = saved_tensor(0)
    _saved_weight, _raw_saved_weight = saved_tensor(1)

cdef tuple tangents_blend(list gradients, tuple tangents, tuple given):    # transposed
    self, weight = given
    grad, = gradients
    parts = (op_mul_tensor(grad, weight), op_mul_tensor(grad, self))
    return (*parts,)

cdef TensorBase op_blend(TensorBase self, TensorBase weight, TensorBase anchor, object beta):
    check_no_gradient(anchor, "blend", "anchor")
    cdef int depth = begin_replaceable_op("blend", (self, weight, anchor, beta), &batched_blend) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(
        own_memory(array_of(self) * array_of(weight) + beta * array_of(anchor))
    )
    cdef Node node
    if is_differentiable(dtype_of(self)) and beta != 0 and requires_grad_2(self, weight):
        node = <Node>BlendBackward0.__new__(BlendBackward0)
        connect_2(node, 2, 0, self, weight)
        if node.edges[1].node != NULL:
            save_input(node, 0, self)
        if node.edges[0].node != NULL:
            save_input(node, 1, weight)
        set_history(result, node)
    if has_tangent_2(self, weight):
        carry_transposed((result,), (self, weight), tangents_blend, (self, weight))
    return ended(depth, result)

cdef object packed_blend(tuple operands):
    return op_blend(<TensorBase>operands[0], <TensorBase>operands[1], <TensorBase>operands[2], operands[3])

cdef BatchRule batched_blend
batched_blend = BatchRule(b"blend", slice_by_slice, b"....", packed_blend, NULL, no_loop())

cdef object call_blend(self, weight, anchor, beta):
    return op_blend(
        as_tensor_operand(self, "blend", "input", 1, weight),
        as_tensor_operand(weight, "blend", "weight", 2, self),
        as_tensor_operand(anchor, "blend", "anchor", 3, self),
        as_number(beta, "blend", "beta", 4),
    )

def blend(input, weight, anchor, beta=1):
    """Weighted, and moved by an anchor.

    ``blend(Tensor self, Tensor weight, Tensor anchor, Scalar beta=1) -> Tensor``

    Parameters:
    input : Tensor
    weight : Tensor
    anchor : Tensor
    beta : number, default 1

    Raises: TypeError, RuntimeError

    Gradients:
        input, weight: (grad * weight if grad_input_mask[0] else None, grad * self if grad_input_mask[1] else None)
        result: transposed
    """
    return call_blend(input, weight, anchor, beta)
