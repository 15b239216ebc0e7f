"""Dirichlet's distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import as_shape, noise_by
from gradsmith.generated import clamp_min, digamma, lgamma, where, xlogy
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import dirichlet
from gradsmith.runtime.tensors.factories.creation import arange

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet's distribution of vectors of the simplex.

    Parameters
    ----------
    concentration : Tensor
        Of shape ``(..., n)``, positive.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        The concentration has no dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Dirichlet(gs.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Dirichlet, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        # Where all concentrations are below 1, all corners are dense without bound; PyTorch says the first.
        above = clamp_min(self.concentration - 1, 0)
        total = above.sum(-1, keepdim=True)
        corners = arange(self._event_shape[0], device=above.device)
        corner = (corners == 0).to(above.dtype)
        at_corner = (self.concentration < 1).all(-1, keepdim=True)
        return where(at_corner, corner, above / where(at_corner, 1.0, total))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.mean * (1 - self.mean) / (total + 1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        # The function adds the last dimension itself.
        shape = (*as_shape(sample_shape), *self._batch_shape)
        if self.concentration.is_meta:
            return noise_by(dirichlet, (*shape, *self._event_shape), self.concentration)
        return dirichlet(self.concentration, shape, dtype=self.concentration.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        density = xlogy(self.concentration - 1, value).sum(-1)
        return density + lgamma(self.concentration.sum(-1)) - lgamma(self.concentration).sum(-1)

    def entropy(self) -> Tensor:
        n, total = self._event_shape[0], self.concentration.sum(-1)
        terms = lgamma(self.concentration) - (self.concentration - 1) * digamma(self.concentration)
        return terms.sum(-1) - lgamma(total) - (n - total) * digamma(total)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.concentration - 1,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return lgamma(x + 1).sum(-1) - lgamma((x + 1).sum(-1))
