"""Which transform leads from unconstrained numbers to values that satisfy a constraint.

`biject_to` gives bijections, for changes of variables of densities; `transform_to` gives maps onto the set that need
not be one to one, for optimization.

>>> import gradsmith as gs
>>> scale = gs.distributions.transform_to(gs.distributions.Normal.arg_constraints["scale"])
>>> scale(gs.zeros(2))
tensor([1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Class of a constraint -> the function that makes the transform for a constraint of that class."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Make a factory that of a class of constraints.

        Parameters
        ----------
        constraint : Constraint, or a subclass of it
        factory : callable, optional
            Takes the constraint and returns a transform. If it is not given, the result is a decorator.

        Raises
        ------
        TypeError
            `constraint` is no constraint.
        """
        if factory is None:
            return lambda found: self.register(constraint, found)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint!r}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform for a constraint.

        Raises
        ------
        NotImplementedError
            None is registered for its class.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Those of this module are pickled by their names."""
        names = (name for name in ("biject_to", "transform_to") if globals()[name] is self)
        return next(names, None) or super().__reduce_ex__(protocol)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register_for_both(registry: ConstraintRegistry) -> None:
    registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    registry.register(constraints.greater_than, _above)
    registry.register(constraints.greater_than_eq, _above)
    registry.register(constraints.less_than, _below)
    registry.register(constraints.interval, _between)
    registry.register(constraints.half_open_interval, _between)
    registry.register(constraints.corr_cholesky, lambda constraint: transforms.CorrCholeskyTransform())
    # Constraints that are made of others, for which the same registry is asked:
    registry.register(
        constraints.independent,
        lambda one: transforms.IndependentTransform(registry(one.base_constraint), one.reinterpreted_batch_ndims),
    )
    registry.register(
        constraints.cat, lambda one: transforms.CatTransform([registry(c) for c in one.cseq], one.dim, one.lengths)
    )
    registry.register(
        constraints.stack, lambda one: transforms.StackTransform([registry(c) for c in one.cseq], one.dim)
    )


def _above(constraint: Any) -> Any:
    return _moved(transforms.ExpTransform(), constraint.lower_bound, 1)


def _below(constraint: Any) -> Any:
    return _moved(transforms.ExpTransform(), constraint.upper_bound, -1)


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    return _moved(transforms.SigmoidTransform(), low, high - low)


def _moved(transform: Any, loc: Any, scale: Any) -> Any:
    """A transform followed by an affine one, unless that changes nothing."""
    if all(isinstance(value, (int, float)) for value in (loc, scale)) and (loc, scale) == (0, 1):
        return transform
    return transforms.ComposeTransform([transform, transforms.AffineTransform(loc, scale)])


for _registry in (biject_to, transform_to):
    _register_for_both(_registry)
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda constraint: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda constraint: transforms.PositiveDefiniteTransform())
