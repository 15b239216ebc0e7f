"""Activations that draw random numbers, with the arguments that ``torch.nn.functional`` has for them."""

from __future__ import annotations

from gradsmith.generated import leaky_relu, softmax, where
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.in_place import leaky_relu_
from gradsmith.runtime.tensors.factories.random import Generator

__all__ = ["gumbel_softmax", "rrelu", "rrelu_"]


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Negative elements multiplied by random slopes between two bounds, in training; by their mean otherwise.

    Parameters
    ----------
    input : Tensor
        Of any shape and of a floating dtype.
    lower, upper : float, optional
        Bounds of the slopes.
    training : bool, optional
        Draw the slopes.
    inplace : bool, optional
        Change the input itself.
    generator : Generator, optional
        The source of the slopes; the default one if not given.

    Returns
    -------
    Tensor
        Of the shape and dtype of the input.

    Raises
    ------
    RuntimeError
        `lower` is greater than `upper`.

    Notes
    -----
    Source: Xu et al., Empirical Evaluation of Rectified Activations in Convolutional Network, 2015.
    """
    if not lower <= upper:
        raise RuntimeError(
            f"rrelu(): lower bound should be less than or equal to the upper bound, got {lower}, {upper}"
        )
    if not training:
        slope = (lower + upper) / 2
        return leaky_relu_(input, slope) if inplace else leaky_relu(input, slope)
    negative = input.detach() <= 0
    slopes = where(negative, input.detach().new_empty(input.shape).uniform_(lower, upper, generator=generator), 1.0)
    return input.mul_(slopes) if inplace else input * slopes


def rrelu_(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """`rrelu` in place; the result is `input` itself."""
    return rrelu(input, lower, upper, training, True, generator=generator)


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Samples of a distribution over classes that have a gradient in its logits.

    Parameters
    ----------
    logits : Tensor
        Log-probabilities along a dimension, up to a term.
    tau : float, optional
        The temperature: the smaller, the nearer the samples are to one class.
    hard : bool, optional
        Give one class, with the gradient that the soft sample has.
    eps : float, optional
        Without effect, as in PyTorch.
    dim : int, optional
        The dimension of the classes.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor
        Of the shape of `logits`, with sums of one along `dim`.

    Notes
    -----
    Source: Jang et al., Categorical Reparameterization with Gumbel-Softmax, 2017.
    """
    gumbels = -logits.detach().new_empty(logits.shape).exponential_(generator=generator).log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, True)
    return soft.detach().new_zeros(soft.shape).scatter_(dim, chosen, 1.0) - soft.detach() + soft
