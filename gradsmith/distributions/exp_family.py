"""Exponential families: densities that are the exponential of a product of natural parameters and statistics."""

from __future__ import annotations

from typing import Any

from gradsmith.autograd import grad
from gradsmith.autograd.grad_mode import enable_grad, is_grad_enabled
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import _sum_rightmost
from gradsmith.generated.tensor import Tensor

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """The base class of distributions with densities ``exp(<t(x), natural> - log_normalizer(natural) + k(x))``.

    Subclasses give the natural parameters, the logarithm of the normalizer as a function of them, and the mean of
    the carrier measure k. Entropy and divergences follow from the gradient of that function (Nielsen and Nock,
    Entropies and cross-entropies of exponential families, 2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not define its natural parameters")

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define its normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define its carrier measure")

    def entropy(self) -> Tensor:
        natural, normalizer, gradients = self._expected_statistics()
        result: Tensor = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(natural, gradients):
            result = result - _sum_rightmost(parameter * gradient, parameter.ndim - len(self._batch_shape))
        return result

    def _expected_statistics(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """Natural parameters, the normalizer, and its gradient, which is the expectation of the statistics."""
        recorded = is_grad_enabled() and any(parameter.requires_grad for parameter in self._natural_params)
        with enable_grad():
            natural = [p if recorded and p.requires_grad else p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*natural)
            gradients = grad(normalizer.sum(), natural, create_graph=recorded)
        return (natural, normalizer, gradients) if recorded else (
            [p.detach() for p in natural], normalizer.detach(), tuple(gradients)
        )  # fmt: skip
