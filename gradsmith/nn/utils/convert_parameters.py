"""All parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from gradsmith.generated import cat
from gradsmith.generated.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of several tensors, one after the other.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.utils.parameters_to_vector([gs.ones(2, 1), gs.zeros(1)])
    tensor([1., 1., 0.])
    """
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let several tensors be parts of a vector, whose memory they share then.

    Parameters
    ----------
    vec : Tensor
        As `parameters_to_vector` gives it.
    parameters : iterable of Tensor

    Raises
    ------
    TypeError
        `vec` is no tensor.
    RuntimeError
        The vector has less elements than the tensors together; none has changed.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x, y = gs.ones(2, 1), gs.zeros(1)
    >>> gs.nn.utils.vector_to_parameters(gs.tensor([1.0, 2.0, 3.0]), [x, y])
    >>> y
    tensor([3.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected gradsmith.Tensor, but got: {type(vec).__name__}")
    parts, start = [], 0
    for parameter in parameters:
        stop = start + parameter.numel()
        if stop > vec.numel():
            raise RuntimeError(
                f"vector_to_parameters(): 'vec' has {vec.numel()} elements, less than the parameters need; expected as "
                "many as parameters_to_vector() gives"
            )
        parts.append((parameter, vec[start:stop].view(parameter.shape).data))
        start = stop
    for parameter, part in parts:
        parameter.data = part
