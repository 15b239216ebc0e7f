"""Transforms that are made of others, of a distribution, or of a change of shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from gradsmith.distributions import constraints
from gradsmith.distributions.transforms.base import Transform
from gradsmith.distributions.utils import _sum_rightmost, as_shape
from gradsmith.generated import cat, stack
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.size import Size

__all__ = [
    "CatTransform", "CumulativeDistributionTransform", "IndependentTransform", "ReshapeTransform", "StackTransform",
]  # fmt: skip


class IndependentTransform(Transform):
    """A transform that takes more dimensions together as one argument.

    Parameters
    ----------
    base_transform : Transform
    reinterpreted_batch_ndims : int
        How many dimensions it takes besides its own.
    cache_size : int, default 0
        See `Transform`.
    """

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @property
    def domain(self) -> Any:
        """That of the transform, with more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        """That of the transform, with more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether the transform is."""
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Any:
        """That of the transform."""
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        _require_dimensions(x, self.domain.event_dim)
        found: Tensor = self.base_transform(x)
        return found

    def _inverse(self, y: Tensor) -> Tensor:
        _require_dimensions(y, self.codomain.event_dim)
        found: Tensor = self.base_transform.inv(y)
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        """That of the transform."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """That of the transform."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def _require_dimensions(value: Tensor, count: int) -> None:
    if value.ndim < count:
        raise ValueError(f"Too few dimensions on input: expected at least {count}, got shape {tuple(value.shape)}")


class ReshapeTransform(Transform):
    """The shape of the last dimensions changes, and the elements stay.

    Parameters
    ----------
    in_shape, out_shape : tuple of int
        Of as many elements.
    cache_size : int, default 0
        See `Transform`.

    Raises
    ------
    ValueError
        The shapes have different numbers of elements.
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = as_shape(in_shape)
        self.out_shape = as_shape(out_shape)
        if prod(self.in_shape) != prod(self.out_shape):
            raise ValueError(
                f"in_shape {self.in_shape} and out_shape {self.out_shape} have different numbers of elements"
            )
        super().__init__(cache_size=cache_size)

    @property
    def domain(self) -> Any:
        """Arrays of real numbers."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """Arrays of real numbers."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(tuple(x.shape[: x.ndim - len(self.in_shape)]))

    def forward_shape(self, shape: Any) -> Any:
        """The shape with `out_shape` at its end."""
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape with `in_shape` at its end."""
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Sequence[int], old: tuple[int, ...], new: tuple[int, ...]) -> Size:
    shape = tuple(shape)
    if len(shape) < len(old):
        raise ValueError(f"Too few dimensions on input: expected at least {len(old)}, got shape {shape}")
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {old} but got {shape[cut:]}")
    return Size(shape[:cut] + new)


class _Several(Transform):
    """Several transforms, each for a part of a tensor along a dimension."""

    transforms: list[Any]
    dim: int

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        for one in tseq:
            if not isinstance(one, Transform):
                raise TypeError(f"each element of tseq must be a Transform, got {type(one).__name__}")
        super().__init__(cache_size=cache_size)
        self.transforms = [one.with_cache(cache_size) for one in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all are."""
        return all(one.bijective for one in self.transforms)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _require_dim(self, value: Tensor) -> None:
        if not -value.ndim <= self.dim < value.ndim:
            raise ValueError(f"dim {self.dim} is out of range for a value with {value.ndim} dimensions")


class CatTransform(_Several):
    """Transforms of parts that are joined as `cat` does it.

    Parameters
    ----------
    tseq : list of Transform
    dim : int, default 0
        The dimension along which the parts are.
    lengths : list of int, optional
        How long they are; 1 by default.
    cache_size : int, default 0
        See `Transform`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> transforms = gs.distributions.transforms
    >>> both = transforms.CatTransform([transforms.ExpTransform(), transforms.identity_transform], lengths=[2, 1])
    >>> both(gs.zeros(3))
    tensor([1., 1., 0.])
    """

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"lengths ({len(self.lengths)}) must match tseq ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        """The longest one of the transforms."""
        return max(int(one.event_dim) for one in self.transforms)

    @property
    def length(self) -> int:
        """How long the parts are together."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """The domains of the transforms, joined."""
        return constraints.cat([one.domain for one in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The codomains of the transforms, joined."""
        return constraints.cat([one.codomain for one in self.transforms], self.dim, self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        self._require_dim(value)
        if value.shape[self.dim] != self.length:
            raise ValueError(f"parts of length {self.length} do not fill {value.shape[self.dim]} along dim {self.dim}")
        return value.split_with_sizes(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return cat([one(part) for one, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return cat([one.inv(part) for one, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = []
        for one, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            term = one.log_abs_det_jacobian(before, after)
            found.append(_sum_rightmost(term, self.event_dim - one.event_dim))
        dim = self.dim - x.ndim if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return cat(found, dim)
        total = found[0]
        for term in found[1:]:
            total = total + term
        return total


class StackTransform(_Several):
    """Transforms of parts that are joined as `stack` does it.

    Parameters
    ----------
    tseq : list of Transform
    dim : int, default 0
        The dimension along which the parts are.
    cache_size : int, default 0
        See `Transform`.
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Any:
        """The domains of the transforms, stacked."""
        return constraints.stack([one.domain for one in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The codomains of the transforms, stacked."""
        return constraints.stack([one.codomain for one in self.transforms], self.dim)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        self._require_dim(value)
        if value.shape[self.dim] != len(self.transforms):
            raise ValueError(
                f"{len(self.transforms)} transforms, and {value.shape[self.dim]} parts along dim {self.dim}"
            )
        return value.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return stack([one(part) for one, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return stack([one.inv(part) for one, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), self._parts(y))
        return stack([one.log_abs_det_jacobian(before, after) for one, before, after in parts], self.dim)


class CumulativeDistributionTransform(Transform):
    """Numbers to the probability of what is at most as great, by the `cdf` of a distribution.

    Parameters
    ----------
    distribution : Distribution
        With `cdf`, and `icdf` for the inverse.
    cache_size : int, default 0
        See `Transform`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> normal = gs.distributions.Normal(0.0, 1.0)
    >>> gs.distributions.transforms.CumulativeDistributionTransform(normal)(gs.zeros(2))
    tensor([0.5000, 0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def sign(self) -> Any:
        """1."""
        return 1

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        found: Tensor = self.distribution.cdf(x)
        return found

    def _inverse(self, y: Tensor) -> Tensor:
        found: Tensor = self.distribution.icdf(y)
        return found

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: Tensor = self.distribution.log_prob(x)
        return found
