"""Operations whose derivatives a test writes itself, right or wrong, and what they are applied to."""

import numpy as np

import gradsmith as gs
from gradsmith.autograd import Function

RANDOM = np.random.default_rng(0)


def real(*shape):
    return gs.tensor(RANDOM.uniform(0.5, 1.5, shape), requires_grad=True)


def complex_(*shape):
    values = RANDOM.uniform(0.5, 1.5, shape) + 1j * RANDOM.uniform(0.2, 0.6, shape)
    return gs.tensor(values, requires_grad=True)


def square(x):
    return x * x


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
