"""The distribution of Lewandowski, Kurowicka and Joe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.unit_interval.beta import Beta
from gradsmith.distributions.utils import broadcast_all, standard_normal_like
from gradsmith.generated import cat, clamp_min, diag_embed, lgamma, log, mvlgamma, sqrt, square
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import arange

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, with density of the matrix ``det(matrix) ** (concentration - 1)``.

    With concentration 1 all correlation matrices are as likely; the greater it is, the smaller correlations are.

    Parameters
    ----------
    dim : int
        How many rows the matrices have, at least 2.
    concentration : float or Tensor, default 1
        Positive.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        There are fewer rows.

    Notes
    -----
    Samples are made row by row, by the onion method of Lewandowski, Kurowicka and Joe, Generating random correlation
    matrices based on vines and extended onion method (2009): a direction on a sphere and a length.

    Examples
    --------
    >>> import gradsmith as gs
    >>> factor = gs.distributions.LKJCholesky(3, 2.0).sample()
    >>> bool(gs.distributions.constraints.corr_cholesky.check(factor))
    True
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Parameter = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(LKJCholesky, batch_shape, _instance)
        new.dim = self.dim
        return new

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            lengths = self._squares_of_lengths().sample(sample_shape)[..., None]
            normal = standard_normal_like((*shape[:-2], self.dim - 1, self.dim), self.concentration).tril()
            direction = normal / sqrt(square(normal).sum(-1, keepdim=True))
            below = cat([direction.new_zeros((*shape[:-2], 1, self.dim)), sqrt(lengths) * direction], -2)
            rest = clamp_min(1 - square(below).sum(-1), finfo(below.dtype).tiny)
            return below + diag_embed(sqrt(rest))

    def _squares_of_lengths(self) -> Beta:
        """Of the rows left of the diagonal, all but the first one, which has none."""
        before = arange(self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        after = self.concentration.unsqueeze(-1) + (self.dim - 2 - before) / 2
        return Beta((before + 1) / 2, after, validate_args=False)

    def log_prob(self, value: Tensor) -> Tensor:
        diagonal = self._checked(value).diagonal(dim1=-2, dim2=-1)[..., 1:]
        below = self.dim - arange(2, self.dim + 1, dtype=diagonal.dtype, device=diagonal.device)
        power = 2 * (self.concentration - 1).unsqueeze(-1) + below
        count, half = self.dim - 1, self.concentration + (self.dim - 1) / 2
        volume = count * math.log(math.pi) / 2 + mvlgamma(half - 0.5, count) - count * lgamma(half)
        return (power * log(diagonal)).sum(-1) - volume
