"""The base class of constraints, and constraints that depend on other parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor

__all__ = ["Constraint", "is_dependent"]


class Constraint:
    """A set of values; the base class of constraints.

    Attributes
    ----------
    is_discrete : bool
        Whether its values are isolated points.
    event_dim : int
        How many dimensions at the end of a tensor make up one value.
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Which values are in the set.

        Parameters
        ----------
        value : Tensor
            Of shape ``batch + event``.

        Returns
        -------
        Tensor
            Booleans of shape ``batch``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement check()")

    def _arguments(self) -> str:
        """What the parentheses of its text hold."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}({self._arguments()})"


class _Dependent(Constraint):
    """The set depends on other parameters, so nothing can be checked before these are known."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether values are isolated points, where that is known without the parameters."""
        return bool(_known(self._is_discrete, "is_discrete"))

    @property
    def event_dim(self) -> int:
        """How many dimensions make up one value, where that is known without the parameters."""
        return int(_known(self._event_dim, "event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with other attributes."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        """Raise an error: the parameters are not known."""
        raise ValueError("Cannot determine validity of dependent constraint")


def _known(attribute: Any, name: str) -> Any:
    if attribute is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return attribute


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is one that depends on other parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> constraints = gs.distributions.constraints
    >>> constraints.is_dependent(gs.distributions.Uniform.support), constraints.is_dependent(constraints.positive)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of objects whose value is a constraint; of the class it is a dependent constraint.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class FromZeroTo(gs.distributions.Distribution):
    ...     @gs.distributions.constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return gs.distributions.constraints.interval(0.0, self.high)
    >>> FromZeroTo.support.event_dim
    0
    """

    def __init__(
        self, fn: Callable[[Any], Any] | None = None, *,
        is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[[Any], Any]) -> Any:  # type: ignore[override]
        """The property of a function: as a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)
