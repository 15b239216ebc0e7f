"""What distributions have in common: broadcast parameters, lazy attributes, probabilities and their logits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from gradsmith.generated import broadcast_tensors, cat, clamp, clamp_max, clamp_min, log, logit, logsumexp, softmax
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import random, standard_exponential
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.creation import as_size, as_tensor, empty, tensor
from gradsmith.runtime.tensors.factories.random import randn
from gradsmith.runtime.tensors.queries import is_tensor

Found = TypeVar("Found")

if TYPE_CHECKING:
    Parameter = Tensor | float
    Shape = Sequence[int]

__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape of tensors and numbers.

    Parameters
    ----------
    *values : Tensor, array or number
        Numbers become tensors of the dtype of the first tensor, or of the default dtype if there is none.

    Returns
    -------
    tuple of Tensor

    Raises
    ------
    ValueError
        A value is neither a tensor nor a number.
    RuntimeError
        The shapes do not broadcast.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.utils.broadcast_all(gs.ones(2), 3.0)
    (tensor([1., 1.]), tensor([3., 3.]))
    """
    for value in values:
        if not (is_tensor(value) or isinstance(value, (Number, np.ndarray))):
            raise ValueError(f"Input arguments must all be tensors, arrays or numbers, got {type(value).__name__}")
    given = [as_tensor(value) if isinstance(value, np.ndarray) else value for value in values]
    dtype, device = next(((v.dtype, v.device) for v in given if is_tensor(v)), (get_default_dtype(), None))
    tensors = [v if is_tensor(v) else tensor(v, dtype=dtype, device=device) for v in given]
    if all(one.shape == tensors[0].shape for one in tensors):
        return tuple(tensors)
    return tuple(broadcast_tensors(*tensors))


def as_shape(shape: Any) -> Size:
    """A shape of ints, of whatever sequence it is."""
    return Size(as_size("shape", (shape,), {}))


def checks_values(value: Any) -> bool:
    """Whether Python may decide by the elements of a tensor: not within `vmap` or `compile`, and not without data."""
    return is_tensor(value) and not value.is_meta and not is_batched_tensor(value) and not is_tracing()


# ---- probabilities


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities that are away from 0 and 1 by the distance of neighbouring numbers, so that logarithms are finite.

    Examples
    --------
    >>> import gradsmith as gs
    >>> bool(gs.distributions.utils.clamp_probs(gs.zeros(1)).log().isfinite())
    True
    """
    eps = finfo(probs.dtype).eps
    return clamp(probs, eps, 1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits: the logistic function if `is_binary`, else the softmax along the last dimension."""
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities: logarithms of odds if `is_binary`, else logarithms; finite also for 0 and 1."""
    clamped = clamp_probs(probs)
    return logit(clamped) if is_binary else log(clamped)


def normalized_logits(logits: Tensor) -> Tensor:
    """Logits along the last dimension whose exponentials have the sum 1."""
    return logits - logsumexp(logits, -1, keepdim=True)


# ---- attributes that are computed when they are asked for


class lazy_property(Generic[Found]):
    """A property that is computed once: its first value becomes the attribute of that name.

    Read from the class, it is a property, with the docstring of its function.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class Circle:
    ...     radius = 2.0
    ...     @gs.distributions.utils.lazy_property
    ...     def area(self):
    ...         return 3.14 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, circle.__dict__
    (12.56, {'area': 12.56})
    """

    def __init__(self, wrapped: Callable[[Any], Found]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Any: ...

    @overload
    def __get__(self, instance: object, owner: Any = None) -> Found: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _LazyOfClass(self.wrapped)
        with enable_grad():  # who reads it later may need its history
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyOfClass(lazy_property[Any], property):
    """What a lazy property is when a class is asked for it: a property for those who read it, and still lazy."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


# ---- triangles of matrices as vectors


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of a square matrix on and below a diagonal, row by row.

    Parameters
    ----------
    mat : Tensor
        Of shape ``(..., n, n)``.
    diag : int, default 0
        The diagonal, from ``-n`` to ``n - 1``; 0 is the main one.

    Returns
    -------
    Tensor
        With one dimension less.

    Raises
    ------
    ValueError
        There is no such diagonal.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.utils.tril_matrix_to_vec(gs.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 3., 4.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = np.tril_indices(n, diag)
    return mat.flatten(-2)[..., as_tensor(rows * n + columns)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The square matrix with these elements on and below a diagonal, row by row, and zeros above.

    Parameters
    ----------
    vec : Tensor
        Of shape ``(..., m)``.
    diag : int, default 0
        The diagonal; 0 is the main one.

    Returns
    -------
    Tensor
        Of shape ``(..., n, n)``.

    Raises
    ------
    ValueError
        There is no square matrix with as many elements there.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.utils.vec_to_tril_matrix(gs.tensor([1.0, 3.0, 4.0]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1))) / 2
    if abs(round(n) - n) > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    size = round(n)
    rows, columns = np.tril_indices(size, diag)
    places = np.full(size * size, count)  # behind the elements is the zero
    places[rows * size + columns] = np.arange(count)
    padded = cat([vec, vec.new_zeros((*vec.shape[:-1], 1))], -1)
    return padded[..., as_tensor(places)].unflatten(-1, (size, size))


# ---- sums and noise


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions."""
    if not dim or not is_tensor(value):
        return value
    return value.sum(tuple(range(-dim, 0)))


def standard_normal_like(shape: Sequence[int], like: Tensor) -> Tensor:
    """Normal numbers of a shape, with the dtype and on the device of a parameter."""
    return _noise(randn, shape, like)


def uniform_like(shape: Sequence[int], like: Tensor) -> Tensor:
    """Numbers from 0 (included) to 1 likewise, also where a number just below 1 would be rounded to it."""
    return clamp_max(_noise(random, shape, like), 1 - finfo(like.dtype).eps / 2)


def open_uniform_like(shape: Sequence[int], like: Tensor) -> Tensor:
    """Numbers between 0 and 1, neither of which is among them."""
    return clamp_min(uniform_like(shape, like), finfo(like.dtype).tiny)


def exponential_like(shape: Sequence[int], like: Tensor) -> Tensor:
    """Exponential numbers of mean 1, none of which is 0."""
    return _noise(standard_exponential, shape, like).clamp_min(finfo(like.dtype).tiny)


def _noise(draw: Callable[..., Tensor], shape: Sequence[int], like: Tensor) -> Tensor:
    if like.is_meta:
        return empty(tuple(shape), dtype=like.dtype, device="meta")
    return draw(tuple(shape), dtype=like.dtype)


def noise_by(draw: Callable[..., Tensor], shape: Sequence[int], *parameters: Tensor) -> Tensor:
    """Numbers that a function of `gradsmith.random` draws by parameters, with the gradients that it gives them."""
    like = parameters[0]
    if like.is_meta:
        return empty(tuple(shape), dtype=like.dtype, device="meta")
    return draw(*parameters, tuple(shape), dtype=like.dtype)


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any = None) -> Tensor:
    """Normal numbers, under the name by which libraries on top of PyTorch call them."""
    return standard_normal_like(shape, empty((), dtype=dtype, device=device))
