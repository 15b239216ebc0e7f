# ---- tanh(Tensor self) -> Tensor
# derivatives.yaml: tanh

cdef class TanhBackward0(Node):
    """Backward of ``tanh(Tensor self) -> Tensor``."""

    # Saves result: tanh need not be computed again.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        if apply_fused(self, TANH_BACKWARD, grads, grad_inputs):
            return 0
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase result
        # self: grad * conj(1 - result * result)
        result = unpack(self, 0)
        set_grad_input(
            grad_inputs, 0, op_mul_tensor(grad, op_conj(op_sub_scalar_tensor(1, op_mul_tensor(result, result))))
        )

    _saved_result, _raw_saved_result = saved_tensor(0)

cdef int tangents_tanh(TensorBase result, TensorBase self) except -1:
    """Forward mode: auto_element_wise."""
    cdef TensorBase self_t
    cdef LevelWalk walk = walk_levels((self,))
    while walk.next():
        self_t = walk.tangent(self)
        walk.set_tangent(result, op_mul_tensor(self_t, op_sub_scalar_tensor(1, op_mul_tensor(result, result))))

cdef TensorBase op_tanh(TensorBase self):
    cdef int depth = begin_replaceable_op("tanh", (self,)) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap_owned(unary(TANH, self.array))
    cdef TanhBackward0 node
    if requires_grad_1(self):
        node = TanhBackward0.__new__(TanhBackward0)
        connect_1(node, 1, 0, self)
        set_history(result, node)
        save_output(node, 0, result)
    if has_tangent_1(self):
        tangents_tanh(result, self)
    return ended(depth, result)

cdef TensorBase inplace_tanh(TensorBase self):
    check_inplace("tanh_", self)
    cdef int depth = begin_op("tanh_", (self,)) if watching else 0
    # saving the result would save the view, which will hold the node
    # what hooks make of the result when it is saved can fail
    # the rule of forward mode reads the value before the write
    if self.flags & IS_VIEW or save_mode() or has_tangent_1(self):
        return ended(depth, copy_into("tanh_", self, op_tanh(self)))
    cdef TanhBackward0 node = None
    cdef Node history = None
    if requires_grad_1(self):
        node = TanhBackward0.__new__(TanhBackward0)
        connect_1(node, 1, 0, self)
        history = prepare_history("tanh_", self, node)
    unary_into(TANH, self.array, self.array)
    finish_inplace(self, history)
    if node is not None:
        save_output(node, 0, self)
    return ended(depth, self)

cdef object call_tanh(self):
    self = check_tensor(self, "tanh", "input", 1)
    return op_tanh(<TensorBase>self)

cdef object call_tanh_(self):
    self = check_tensor(self, "tanh_", "input", 1)
    return inplace_tanh(<TensorBase>self)

def tanh(input, *, out=None):
    """Hyperbolic tangent of each element.

    ``tanh(Tensor self) -> Tensor``

    Parameters:
    input : Tensor
    out : Tensor, optional

    Returns:
    Tensor

    Raises: TypeError

    Gradients:
        input: grad * conj(1 - result * result)
        result: auto_element_wise
    """
    return give_out("tanh", out, call_tanh(input))


write_out_docstrings(globals())
take_second_names(globals())    # x for input, axis for dim
