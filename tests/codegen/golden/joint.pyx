# ---- blend(Tensor self, Tensor weight, Tensor anchor, Scalar beta=1) -> Tensor
# derivatives.yaml: blend

cdef class BlendBackward0(Node):
    """Backward of ``blend(Tensor self, Tensor weight, Tensor anchor, Scalar beta=1) -> Tensor``."""

    # Saves self for the gradient of weight, weight for the gradient of self.
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad = gradient(grads, 0)
        cdef TensorBase self_, weight
        # self, weight: (grad * weight if grad_input_mask[0] else None, grad * self if grad_input_mask[1] else None)
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

cdef int tangents_blend(
    TensorBase result, TensorBase self, TensorBase weight, TensorBase anchor, object beta
) except -1:
    """Forward mode: transposed."""
    cdef TensorBase self_t, weight_t, grad
    cdef LevelWalk walk = walk_levels((self, weight))
    while walk.next():
        self_t = walk.tangent(self)
        weight_t = walk.tangent(weight)
        grad = stand_in(walk, result)
        # self, weight: (grad * weight if grad_input_mask[0] else None, grad * self if grad_input_mask[1] else None)
        if self_t is not None or weight_t is not None:
            parts = (op_mul_tensor(grad, weight), op_mul_tensor(grad, self))
            walk.transpose(self, self_t, parts[0])
            walk.transpose(weight, weight_t, parts[1])
        walk.give_transposed((result,), (grad,))

cdef TensorBase op_blend(TensorBase self, TensorBase weight, TensorBase anchor, object beta):
    check_no_gradient(anchor, "blend", "anchor")
    cdef int depth = begin_replaceable_op("blend", (self, weight, anchor, beta)) if watching else 0
    cdef TensorBase result = replayed_tensor() if replays(depth) else wrap(
        own_memory(array_of(self) * array_of(weight) + beta * array_of(anchor))
    )
    cdef BlendBackward0 node
    if is_differentiable(dtype_of(self)) and beta != 0 and requires_grad_2(self, weight):
        node = BlendBackward0.__new__(BlendBackward0)
        connect_2(node, 2, 0, self, weight)
        if node.edges[1].node != NULL:
            save_input(node, 0, self)
        if node.edges[0].node != NULL:
            save_input(node, 1, weight)
        set_history(result, node)
    if has_tangent_2(self, weight):
        tangents_blend(result, self, weight, anchor, beta)
    return ended(depth, result)

cdef object call_blend(self, weight, anchor, beta):
    self = check_tensor(self, "blend", "input", 1)
    weight = check_tensor(weight, "blend", "weight", 2)
    anchor = check_tensor(anchor, "blend", "anchor", 3)
    beta = as_number(beta, "blend", "beta", 4)
    return op_blend(<TensorBase>self, <TensorBase>weight, <TensorBase>anchor, beta)

def blend(input, weight, anchor, beta=1):
    """Weighted, and moved by an anchor.

    ``blend(Tensor self, Tensor weight, Tensor anchor, Scalar beta=1) -> Tensor``

    Parameters:
    input : Tensor
    weight : Tensor
    anchor : Tensor
    beta : number, default 1

    Returns:
    Tensor

    Raises: TypeError, RuntimeError

    Gradients:
        input, weight: (grad * weight if grad_input_mask[0] else None, grad * self if grad_input_mask[1] else None)
        result: transposed
    """
    return call_blend(input, weight, anchor, beta)
