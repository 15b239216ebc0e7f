"""Custom Functions that tests of several files use."""

import numpy as np

import gradsmith as gs
from gradsmith.autograd import Function


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def make(forward, backward=None, name="Custom", **members):
    """A Function of the given functions."""
    functions = {"forward": forward, "backward": backward} if backward else {"forward": forward}
    functions |= members
    return type(name, (Function,), {k: staticmethod(v) if callable(v) else v for k, v in functions.items()})


class Cubic(Function):
    """x**3 with NumPy, so that nothing but `backward` can know the gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gs.from_numpy(x.numpy(force=True) ** 3)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g
