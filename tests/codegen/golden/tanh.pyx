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
        set_grad_input(grad_inputs, 0, op_mul_tensor(grad, op_conj(op_sub_scalar_tensor(1, op_mul_tensor(result, result)))))
        return 0

    cpdef str name(self):
        return "TanhBackward0"

    @property
    def _saved_result(self):
        return saved_attribute(self, 0)

    @property
    def _raw_saved_result(self):
        return raw_saved(self, 0)

cdef int tangents_tanh(TensorBase result, TensorBase self) except -1:
    """Forward mode: auto_element_wise."""
    cdef TensorBase self_t
    cdef LevelWalk walk = walk_levels((self,))
    try:
        while walk.next():
            self_t = walk.tangent(self)
            walk.set_tangent(result, op_mul_tensor(self_t, op_sub_scalar_tensor(1, op_mul_tensor(result, result))))
    finally:
        walk.end()
    return 0

cdef TensorBase op_tanh(TensorBase self):
    cdef int span = 0
    if watching:
        span = begin_replaceable_op("tanh", (self,))
    cdef TensorBase result = <TensorBase>replayed_result() if span < 0 else wrap_owned(unary(TANH, self.array))
    cdef TanhBackward0 node
    if requires_grad_1(self):
        node = TanhBackward0.__new__(TanhBackward0)
        node.init(1, 1, 0)
        collect_edge(node, 0, self)
        set_history(result, node)
        save_output(node, 0, result)
    if has_tangent_1(self):
        tangents_tanh(result, self)
    if span:
        end_op(span, result)
    return result

cdef TensorBase inplace_tanh(TensorBase self):
    check_inplace("tanh_", self)
    cdef int span = 0
    if watching:
        span = begin_op("tanh_", (self,))
    # saving the result would save the view, which will hold the node
    # what hooks make of the result when it is saved can fail
    # the rule of forward mode reads the value before the write
    if self.flags & IS_VIEW or save_mode() or has_tangent_1(self):
        copy_into("tanh_", self, op_tanh(self))
        if span:
            end_op(span, self)
        return self
    cdef TanhBackward0 node = None
    cdef Node history = None
    if requires_grad_1(self):
        node = TanhBackward0.__new__(TanhBackward0)
        node.init(1, 1, 0)
        collect_edge(node, 0, self)
        history = prepare_history("tanh_", self, node)
    unary_into(TANH, self.array, self.array)
    finish_inplace(self, history)
    if node is not None:
        save_output(node, 0, self)
    if span:
        end_op(span, self)
    return self

cdef object call_tanh(object self):
    self = check_tensor(self, "tanh", "input", 1)
    return op_tanh(<TensorBase>self)

cdef object call_tanh_(object self):
    self = check_tensor(self, "tanh_", "input", 1)
    return inplace_tanh(<TensorBase>self)

def tanh(input, *, out=None):
    """Hyperbolic tangent of each element.

    ``tanh(Tensor self) -> Tensor``

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Receives the result.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        If an argument has another type.

    Notes
    -----
    Gradients::

        input: grad * conj(1 - result * result)
        result: auto_element_wise
    """
    return give_out("tanh", out, call_tanh(input))


take_second_names(globals())    # x for input, axis for dim
