# ---- extent(Tensor self, Tensor?[] parts, int[2] pair=1, float[]? scales=None) -> (Tensor low, Tensor high)

cdef class ExtentBackward0(Node):
    """Backward of ``extent``."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef unsigned int wanted = self.wanted
        cdef TensorBase grad_low = gradient_or_zeros(self, grads, 0)
        cdef TensorBase grad_high = gradient(grads, 1)
        cdef object pair
        if wants(wanted, 0):    # self
            pair = value_of(self, 0)
            set_grad_input(
                grad_inputs,
                0,
                op_mul_scalar(grad_low, item_of(pair, 0)) if grads[1] == NULL else op_add_tensor(
                    grad_low, grad_high, 1
                ),
            )
        if wants_any(wanted, 1, self.n_edges) and grads[0] != NULL:    # parts
            set_grad_inputs(
                self, grad_inputs, 1, self.n_edges, (grad_low,) if self.is_retained() else (op_mul_scalar(grad_low, 1),)
            )

    _saved_pair = saved_value(0)

cdef tuple tangents_extent(list gradients, tuple tangents, tuple given):    # transposed
    self_t, parts_t = tangents
    grad_low, grad_high = gradients
    return (
        op_add_tensor(grad_low, grad_high, 1) if self_t is not None else None,
        (grad_low,) if parts_t is not None else None,
    )

cdef tuple op_extent(TensorBase self, list parts, object pair, object scales):
    cdef int depth = begin_replaceable_op("extent", (self, parts, pair, scales), &batched_extent) if watching else 0
    cdef TensorBase low, high
    if replays(depth):
        low, high = replayed_result()
    else:
        low_array, high_array = own_memory(
            (array_of(self) * pair[0], array_of(self) if scales is None else arrays_of(parts))
        )
        low = wrap(low_array)
        high = wrap(high_array)
    cdef Node node
    if requires_grad_1(self) or requires_grad_list(parts):
        node = <Node>ExtentBackward0.__new__(ExtentBackward0)
        node.init(1 + <int>len(parts), 0, 1)
        collect_edge(node, 0, self)
        collect_edge_list(node, 1, parts)
        if node.edges[0].node != NULL:
            set_value(node, 0, pair)
        set_history_list([low, high], node)
    if has_tangent_1(self) or has_tangent_list(parts):
        carry_transposed((low, high), (self, parts), tangents_extent, ())
    if depth:
        end_op(depth, (low, high))
    return (low, high)

cdef object packed_extent(tuple operands):
    return op_extent(<TensorBase>operands[0], <list>operands[1], operands[2], operands[3])

cdef BatchRule batched_extent
batched_extent = BatchRule(b"extent", slice_by_slice, b"....", packed_extent, NULL, no_loop())

ExtentResult = return_type("extent", "ExtentResult", ("low", "high"), __name__)

cdef object call_extent(self, parts, pair, scales):
    return ExtentResult._make(
        op_extent(
            as_input(self, "extent"),
            as_optional_tensor_list(parts, "extent", "parts", 2),
            as_tuple(pair, "extent", "pair", 3, INT_ITEMS, 2),
            as_tuple_or_none(scales, "extent", "scales", 4, FLOAT_ITEMS, 0),
        ),
    )

def extent(input, parts, pair=1, scales=None):
    """Lower and upper bound.

    ``extent(Tensor self, Tensor?[] parts, int[2] pair=1, float[]? scales=None) -> (Tensor low, Tensor high)``

    Parameters:
    input : Tensor
    parts : sequence of Tensor or None
    pair : 2 int, or one for all, default 1
    scales : sequence of float, optional

    Returns:
    low : Tensor
    high : Tensor

    Gradients:
        input: grad_low * pair[0] if grad_high is None else grad_low + grad_high
        parts: (grad_low,) if retain_variables else (grad_low * 1,)
        result: transposed
    """
    return call_extent(input, parts, pair, scales)
