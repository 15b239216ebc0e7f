# ---- gated(Tensor self, Tensor other) -> Tensor

cdef class GatedBackward0(Node):
    """Backward of ``gated``."""

    # Saves self and other: every gradient needs them.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        if apply_fused(self, GATED_BACKWARD, grads, grad_inputs):
            return 0
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase self_, other, exp_part
        self_ = unpack(self, 0)
        other = unpack(self, 1)
        exp_part = op_exp(op_mul_tensor(self_, other))
        if wants(wanted, 0):    # self (derived)
            set_grad_input(
                grad_inputs,
                0,
                op_mul_tensor(grad, op_conj(op_mul_tensor(exp_part, op_add_scalar(op_mul_tensor(other, self_), 1, 1)))),
            )
        if wants(wanted, 1):    # other (derived)
            set_grad_input(
                grad_inputs, 1, op_mul_tensor(grad, op_conj(op_mul_tensor(op_mul_tensor(self_, self_), exp_part)))
            )

    _saved_self, _raw_saved_self = saved_tensor(0)
    _saved_other, _raw_saved_other = saved_tensor(1)

cdef object tangents_gated(tuple tangents, tuple given):    # auto_element_wise
    self_t, other_t = tangents
    self, other = given
    result_t = None
    if self_t is not None:
        result_t = op_mul_tensor(
            self_t, op_mul_tensor(op_exp(op_mul_tensor(self, other)), op_add_scalar(op_mul_tensor(other, self), 1, 1))
        )
    if other_t is not None:
        result_t = plus(
            result_t,
            op_mul_tensor(other_t, op_mul_tensor(op_mul_tensor(self, self), op_exp(op_mul_tensor(self, other)))),
        )
    return result_t

cdef object gated_by_ops(tuple given):
    self, other = given
    self, other = as_promoted((self, other))
    self = as_floating(self)
    other = as_floating(other)
    return op_mul_tensor(self, op_exp(op_mul_tensor(self, other)))

cdef TensorBase op_gated(TensorBase self, TensorBase other):
    cdef int depth = begin_replaceable_op("gated", (self, other), &batched_gated) if watching else 0
    cdef PyObject *operands[2]
    operands[0] = <PyObject *>self
    operands[1] = <PyObject *>other
    cdef TensorBase result = replayed_tensor() if replays(depth) else fused_forward(&GATED_FORWARD, operands, ())
    if result is None:
        result = by_ops(gated_by_ops, (self, other))
    cdef Node node
    if requires_grad_2(self, other):
        node = <Node>GatedBackward0.__new__(GatedBackward0)
        connect_2(node, 2, 0, self, other)
        save_input(node, 0, self)
        save_input(node, 1, other)
        set_history(result, node)
    if has_tangent_2(self, other):
        carry_tangents(result, (self, other), tangents_gated, (self, other))
    return ended(depth, result)

cdef object packed_gated(tuple operands):
    return op_gated(<TensorBase>operands[0], <TensorBase>operands[1])

cdef BatchRule batched_gated
batched_gated = BatchRule(b"gated", elementwise, b"ee", packed_gated, NULL, loop_of_kernel(&GATED_FORWARD))

cpdef object call_gated(self, other):
    return op_gated(
        as_tensor_operand(self, "gated", "input", 1, other), as_tensor_operand(other, "gated", "other", 2, self)
    )

def gated(input, other):
    """Grows with the product.

    ``gated(Tensor self, Tensor other) -> Tensor``

    Parameters:
    input : Tensor
    other : Tensor

    Raises: TypeError, RuntimeError

    Gradients:
        input: grad * conj(exp(self * other) * (1 + other * self))
        other: grad * conj(self * self * exp(self * other))
        result: auto_element_wise
    """
    return call_gated(input, other)


write_out_docstrings(globals())
take_second_names(globals())    # x for input, axis for dim
