# ---- softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor

cdef class SoftplusBackward0(Node):
    """Backward of ``softplus``."""

    # Saves self: the gradient needs it.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        if apply_fused(self, SOFTPLUS_BACKWARD, grads, grad_inputs):
            return 0
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase product_of_self
        cdef TensorBase self_ = unpack(self, 0)
        cdef object beta = value_of(self, 0)
        cdef object threshold = value_of(self, 1)
        product_of_self = op_mul_scalar(self_, beta)
        set_grad_input(
            grad_inputs,
            0,
            op_where_tensor_tensor(
                op_gt_scalar(product_of_self, threshold),
                grad,
                op_mul_tensor(op_mul_scalar(grad, beta), op_exp(product_of_self)),
            ),
        )

    _saved_self, _raw_saved_self = saved_tensor(0)
    _saved_beta = saved_value(0)
    _saved_threshold = saved_value(1)

cdef object tangents_softplus(tuple tangents, tuple given):    # auto_element_wise
    self_t, = tangents
    self, beta, threshold = given
    return op_where_tensor_tensor(
        op_gt_scalar(op_mul_scalar(self, beta), threshold),
        self_t,
        op_mul_tensor(op_mul_scalar(self_t, beta), op_exp(op_mul_scalar(self, beta))),
    )

cdef object softplus_by_ops(tuple given):
    self, beta, threshold = given
    self = as_floating(self)
    return op_where_tensor_tensor(
        op_gt_scalar(op_mul_scalar(self, beta), threshold),
        self,
        op_sub_tensor_scalar(op_exp(op_mul_scalar(self, beta)), 1),
    )

cdef TensorBase op_softplus(TensorBase self, object beta, object threshold):
    cdef int depth = begin_replaceable_op("softplus", (self, beta, threshold), &batched_softplus) if watching else 0
    cdef PyObject *operands[1]
    operands[0] = <PyObject *>self
    cdef TensorBase result = replayed_tensor() if replays(depth) else fused_forward(
        &SOFTPLUS_FORWARD, operands, (beta, threshold)
    )
    if result is None:
        result = by_ops(softplus_by_ops, (self, beta, threshold))
    cdef Node node
    if requires_grad_1(self):
        node = <Node>SoftplusBackward0.__new__(SoftplusBackward0)
        connect_1(node, 1, 2, self)
        save_input(node, 0, self)
        set_value(node, 0, beta)
        set_value(node, 1, threshold)
        set_history(result, node)
    if has_tangent_1(self):
        carry_tangents(result, (self,), tangents_softplus, (self, beta, threshold))
    return ended(depth, result)

cdef object packed_softplus(tuple operands):
    return op_softplus(<TensorBase>operands[0], operands[1], operands[2])

cdef BatchRule batched_softplus
batched_softplus = BatchRule(b"softplus", elementwise, b"e..", packed_softplus, NULL, loop_of_kernel(&SOFTPLUS_FORWARD))

cpdef object call_softplus(self, beta, threshold):
    self = as_input(self, "softplus")
    beta = as_number(beta, "softplus", "beta", 2)
    threshold = as_number(threshold, "softplus", "threshold", 3)
    check_real(self, "softplus")
    return op_softplus(<TensorBase>self, beta, threshold)

def softplus(input, beta=1, threshold=20):
    """Not quite softplus.

    ``softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor``

    Parameters:
    input : Tensor
    beta : number, default 1
    threshold : number, default 20

    Gradients:
        input: where(self * beta > threshold, grad, grad * beta * exp(self * beta))
        result: auto_element_wise
    """
    return call_softplus(input, beta, threshold)


write_out_docstrings(globals())
take_second_names(globals())    # x for input, axis for dim
