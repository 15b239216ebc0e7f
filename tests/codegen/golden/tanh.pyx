# ---- tanh(Tensor self) -> Tensor

cdef class TanhBackward0(Node):
    """Backward of ``tanh``."""

    # Saves result: tanh need not be computed again.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        if apply_fused(self, TANH_BACKWARD, grads, grad_inputs):
            return 0
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase result = unpack(self, 0)
        set_grad_input(
            grad_inputs, 0, op_mul_tensor(grad, op_conj(op_sub_scalar_tensor(1, op_mul_tensor(result, result))))
        )

    _saved_result, _raw_saved_result = saved_tensor(0)

cdef object tangents_tanh(tuple tangents, tuple given):    # auto_element_wise
    self_t, = tangents
    result, = given
    return op_mul_tensor(self_t, op_sub_scalar_tensor(1, op_mul_tensor(result, result)))

cdef TensorBase op_tanh(TensorBase self):
    cdef int depth = begin_replaceable_op("tanh", (self,), &batched_tanh) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap_owned(unary(TANH, self.array))
    cdef Node node
    if requires_grad_1(self):
        node = <Node>TanhBackward0.__new__(TanhBackward0)
        connect_1(node, 1, 0, self)
        set_history(result, node)
        save_output(node, 0, result)
    if has_tangent_1(self):
        carry_tangents(result, (self,), tangents_tanh, (result,))
    return ended(depth, result)

cdef TensorBase inplace_tanh(TensorBase self):
    check_inplace("tanh_", self)
    cdef int depth = begin_op("tanh_", (self,), NULL) if watching else 0
    if self.flags & IS_VIEW or save_mode() or has_tangent_1(self):
        return ended(depth, copy_into("tanh_", self, op_tanh(self)))
    cdef Node node = None, history = None
    if requires_grad_1(self):
        node = <Node>TanhBackward0.__new__(TanhBackward0)
        connect_1(node, 1, 0, self)
        history = prepare_history("tanh_", self, node)
    if not (watching and written_batched(&batched_inplace_tanh, (self,))):
        unary_into(TANH, self.array, self.array)
    finish_inplace(self, history)
    if node is not None:
        save_output(node, 0, self)
    return ended(depth, self)

cdef object packed_tanh(tuple operands):
    return op_tanh(<TensorBase>operands[0])

cdef object packed_inplace_tanh(tuple operands):
    return inplace_tanh(<TensorBase>operands[0])

cdef BatchRule batched_tanh
batched_tanh = BatchRule(b"tanh", elementwise, b"e", packed_tanh, NULL, loop_of_ufunc(TANH))
cdef BatchRule batched_inplace_tanh
batched_inplace_tanh = BatchRule(b"tanh_", elementwise, b"w", packed_inplace_tanh, NULL, loop_of_ufunc(TANH))

cpdef object call_tanh(self):
    return op_tanh(as_input(self, "tanh"))

def call_tanh_(TensorBase self not None):
    return inplace_tanh(self)

def tanh(input, *, out=None):
    """Hyperbolic tangent of each element.

    ``tanh(Tensor self) -> Tensor``

    Parameters:
    input : Tensor
    out : Tensor, optional

    Gradients:
        input: grad * conj(1 - result * result)
        result: auto_element_wise
    """
    return give_out("tanh", out, call_tanh(input))


write_out_docstrings(globals())
take_second_names(globals())    # x for input, axis for dim
