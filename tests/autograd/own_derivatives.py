"""Operations whose derivatives a test writes itself, right or wrong."""

from gradsmith.autograd import Function


def custom(value, gradient, tangent=None, materialize=True):
    """An operation of tensors.

    `gradient` takes the gradients of the outputs and then the inputs, `tangent` the tangents of the inputs and then the
    inputs.
    """

    class Custom(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
            return value(*inputs)

        @staticmethod
        def backward(ctx, *grads):
            return gradient(*grads, *ctx.saved_tensors)

        if tangent is not None:

            @staticmethod
            def jvp(ctx, *tangents):
                return tangent(*tangents, *ctx.saved_tensors)

    return Custom.apply


def with_gradient(change):
    """Identity that changes gradients on their way back."""
    return custom(lambda x: x.clone(), lambda grad, x: change(grad))
