"""Forward mode of custom Functions: the tangents of the outputs, from the user's `jvp`.

See tangent.pyx, Note [Levels]: `jvp` is called once for each level at which an input has a tangent, old to young, and
its operations carry the tangents of older levels.

Note [Tangents that share memory]
The tangent of an input that forward has written is written by `jvp` and returned as it is. The tangent of an output
that is a view must be a view too. As a rule it is one of the base's tangent at the same place: then it is what the output
shows already (forward_ad.pyx, Note [Tangents of views]). Any other is attached to the output itself.
"""
from gradsmith.runtime.calls.forward_ad cimport LevelWalk, or_zeros, walk_levels
from gradsmith.runtime.custom_function.outputs cimport Call, is_among, is_differentiable, name_of
from gradsmith.runtime.graph.tangent cimport attach, has_tangent_list
from gradsmith.runtime.graph.tensor cimport IS_VIEW, TensorBase
from gradsmith.runtime.history.history cimport has_gradient


cdef int carry_tangents(Call call, list outputs) except -1:
    """Give the outputs their tangents at every level at which an input has one."""
    cdef list tensors = [value for value in call.inputs if isinstance(value, TensorBase)]
    cdef list tangents
    cdef LevelWalk walk
    if not has_tangent_list(tensors):
        return 0
    walk = walk_levels((tensors,))
    while walk.next():
        tangents = [input_tangent(call, walk, value) for value in call.inputs]
        results = call.node._forward_cls.jvp(call.node, *tangents)
        give_all(call, walk, tangents, outputs, results if isinstance(results, tuple) else (results,))
    return 0


cdef TensorBase input_tangent(Call call, LevelWalk walk, object value):
    cdef TensorBase tangent
    if not isinstance(value, TensorBase):
        return None
    tangent = walk.tangent(value)
    if tangent is None and call.node.materialize and has_gradient(value):
        return or_zeros(None, value)
    return tangent


cdef int give_all(Call call, LevelWalk walk, list tangents, list outputs, tuple results) except -1:
    cdef int i
    if len(results) != len(outputs):
        raise RuntimeError(
            f"{name_of(call)}: Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} "
            f"but got {len(results)})"
        )
    for i in range(len(outputs)):
        output, tangent = outputs[i], results[i]
        if tangent is not None and not isinstance(tangent, TensorBase):
            raise RuntimeError(
                f"{name_of(call)}.jvp: expected Tensor or None (got {type(tangent).__name__}) for grad output {i}."
            )
        if isinstance(output, TensorBase) and is_differentiable(call, output):
            give_one(call, walk, tangents, <TensorBase>output, <TensorBase>tangent)
        elif tangent is not None:
            raise RuntimeError(
                f"{name_of(call)}: Function's jvp returned a gradient at position {i}, but the corresponding forward output is "
                "not a differentiable Tensor. You should return None at that position instead."
            )
    return 0


cdef int give_one(Call call, LevelWalk walk, list tangents, TensorBase output, TensorBase tangent) except -1:
    """The tangent of one output at the walk's level; None is zero. See Note [Tangents that share memory]."""
    check_shape(call, output, tangent)
    if is_among(call.dirty, output) and is_among(call.inputs, output):
        check_written(call, tangents, output, tangent)
        if walk.tangent(output) is None:
            walk.set_tangent(output, tangent)
    elif output.flags & IS_VIEW:
        give_view(call, walk, output, tangent)
    else:
        walk.set_tangent(output, tangent)
    return 0


cdef int check_shape(Call call, TensorBase output, TensorBase tangent) except -1:
    if tangent is not None and tangent.shape != output.shape:
        raise RuntimeError(
            f"{name_of(call)}.jvp: Trying to set a forward gradient that has a different size than that "
            f"of the original Tensor, this is not supported. Tensor is of size {list(output.shape)} while the given "
            f"forward gradient is of size {list(tangent.shape)}."
        )
    return 0


cdef int check_written(Call call, list tangents, TensorBase output, TensorBase tangent) except -1:
    for value, given in zip(call.inputs, tangents):
        if value is output and tangent is not given:
            raise RuntimeError(
                f"{name_of(call)}: An inplace custom Function is not returning the forward mode "
                "gradients as-is. If the forward is modifying an input inplace, then the jvp function must modify the "
                "gradient inplace and return it as-is."
            )
    return 0


cdef int give_view(Call call, LevelWalk walk, TensorBase output, TensorBase tangent) except -1:
    cdef TensorBase shown
    if tangent is None:
        tangent = or_zeros(None, output)
    elif not tangent.flags & IS_VIEW:
        raise RuntimeError(
            f"{name_of(call)}: A custom Function's forward is returning a view (or an input as-is) but "
            "the jvp is not returning a view."
        )
    shown = walk.tangent(output)
    if shown is None or not is_same_memory(shown, tangent):
        attach(output, walk.level, tangent)
    return 0


cdef bint is_same_memory(TensorBase a, TensorBase b) except -1:
    return a.data_ptr() == b.data_ptr() and a.stride() == b.stride() and a.dtype == b.dtype
