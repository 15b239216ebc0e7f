"""The base class of distributions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.utils import as_shape, checks_values, lazy_property
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.tensors.queries import is_tensor

__all__ = ["Distribution"]


class Distribution:
    """The base class of distributions.

    A distribution is a batch of independent ones: its parameters have a shape, `batch_shape`, and each is a
    distribution over numbers, vectors or matrices of the shape `event_shape`. Samples have the shape
    ``sample_shape + batch_shape + event_shape``, log densities that of a sample without the `event_shape`.

    Parameters
    ----------
    batch_shape, event_shape : tuple of int, optional
        The shapes.
    validate_args : bool, optional
        Whether parameters and values are compared with their constraints; `set_default_validate_args` sets what
        holds if it is not given.

    Attributes
    ----------
    has_rsample : bool
        Whether there is `rsample`, whose samples have gradients in the parameters.
    has_enumerate_support : bool
        Whether there is `enumerate_support`.

    Raises
    ------
    ValueError
        A parameter does not satisfy its constraint.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions that are not told otherwise compare parameters and values with their constraints."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args() expects True or False, got {value!r}")
        Distribution._validate_args = bool(value)

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape = as_shape(batch_shape)
        self._event_shape = as_shape(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    # ---- shapes

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters, without what belongs to one distribution."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a sample of one distribution."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """The shape of samples."""
        return Size((*as_shape(sample_shape), *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with parameters expanded to another `batch_shape`.

        Parameters
        ----------
        batch_shape : tuple of int
        _instance : Distribution, optional
            The object to fill: for classes that are derived from others and have an `__init__` of their own.

        Returns
        -------
        Distribution

        Examples
        --------
        >>> import gradsmith as gs
        >>> gs.distributions.Normal(0.0, gs.ones(3)).expand((2, 3)).batch_shape
        (2, 3)
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement expand()")

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expand_parameters(self, cls: type, batch_shape: Any, _instance: Any = None) -> Any:
        """What `expand` of most classes is: parameters keep the dimensions that belong to one distribution."""
        new = self._get_checked_instance(cls, _instance)
        shape = as_shape(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                new.__dict__[name] = value.expand(shape + tuple(value.shape[value.ndim - constraint.event_dim :]))
        return self._finish_expanded(new, shape)

    def _finish_expanded(self, new: Any, batch_shape: Sequence[int]) -> Any:
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    # ---- what subclasses have

    @property
    def arg_constraints(self) -> Any:
        """Name of a parameter -> its constraint."""
        raise NotImplementedError(f"{type(self).__name__} does not define arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise NotImplementedError(f"{type(self).__name__} does not define a support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, element by element."""
        raise NotImplementedError(f"{type(self).__name__} does not implement variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation: the root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Random values without gradients.

        Parameters
        ----------
        sample_shape : tuple of int, optional
            How many of them.

        Returns
        -------
        Tensor
            Of shape ``sample_shape + batch_shape + event_shape``.
        """
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Random values that have gradients in the parameters; arguments and result as those of `sample`."""
        raise NotImplementedError(f"{type(self).__name__} does not implement rsample()")

    def sample_n(self, n: int) -> Tensor:
        """`n` samples; deprecated in favour of ``sample((n,))``."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at a value.

        Parameters
        ----------
        value : Tensor
            Of a shape that broadcasts with ``batch_shape + event_shape``.

        Returns
        -------
        Tensor

        Raises
        ------
        ValueError
            The shape does not broadcast, or a value is outside of the support, where arguments are validated.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement log_prob()")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability that a sample is at most `value`."""
        raise NotImplementedError(f"{type(self).__name__} does not implement cdf()")

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile: the value at which `cdf` is `value`."""
        raise NotImplementedError(f"{type(self).__name__} does not implement icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that samples have, along a first dimension.

        Parameters
        ----------
        expand : bool, default True
            Whether the `batch_shape` follows, or as many dimensions of size 1.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement enumerate_support()")

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """`enumerate_support` of these values, whose first dimension counts them and whose others are of one event."""
        sizes = values.shape[1:]
        values = values.reshape((len(values), *[1] * len(self._batch_shape), *sizes))
        return values.expand((-1, *self._batch_shape, *sizes)) if expand else values

    def entropy(self) -> Tensor:
        """The expectation of the negative log density, of the shape `batch_shape`."""
        raise NotImplementedError(f"{type(self).__name__} does not implement entropy()")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    # ---- checks

    def _checked(self, value: Tensor) -> Tensor:
        """A value, compared with shapes and support if arguments are validated."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint) or self._is_not_computed(name):
                continue
            value = getattr(self, name)
            if checks_values(value) and not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _is_not_computed(self, name: str) -> bool:
        return name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)

    def _validate_sample(self, value: Tensor) -> None:
        if not is_tensor(value):
            raise ValueError(f"The value argument to log_prob must be a Tensor, got {type(value).__name__}")
        event_start = value.ndim - len(self._event_shape)
        if event_start < 0 or tuple(value.shape[event_start:]) != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs {self._event_shape}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs {expected}."
                )
        self._require_support(value)

    def _require_support(self, value: Tensor) -> None:
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        if not checks_values(value):
            return
        valid = support.check(value)
        if checks_values(valid) and not bool(valid.all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (f"{name}: {_shown(self.__dict__[name])}" for name in names)
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: Any) -> Any:
    if not is_tensor(value):
        return value
    return value if value.numel() == 1 else value.size()
