"""Which function computes the divergence of two distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradsmith.distributions.distribution import Distribution
from gradsmith.generated.tensor import Tensor

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Tensor]

_KL_REGISTRY: dict[tuple[type, type], Rule] = {}
_KL_MEMOIZE: dict[tuple[type, type], Rule | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorator: the function computes `kl_divergence` for these classes, and for those derived from them.

    Where several functions fit, that for the most derived classes is taken.

    Parameters
    ----------
    type_p, type_q : type
        Classes of distributions, or any from which such classes are derived: `object` stands for all.

    Raises
    ------
    TypeError
        They are no classes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class Certain(gs.distributions.Normal):
    ...     pass
    >>> @gs.distributions.register_kl(Certain, Certain)
    ... def no_difference(p, q):
    ...     return gs.zeros(p.batch_shape)
    >>> gs.distributions.kl_divergence(Certain(0.0, 1.0), Certain(1.0, 1.0))
    tensor(0.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a class of distributions but got {kind!r}")

    def register(rule: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = rule
        _KL_MEMOIZE.clear()
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence of Kullback and Leibler: the expectation under p of ``log(p(x) / q(x))``.

    Parameters
    ----------
    p, q : Distribution

    Returns
    -------
    Tensor
        Of the shape that the batches broadcast to.

    Raises
    ------
    NotImplementedError
        There is no function for these classes; see `register_kl`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.kl_divergence(gs.distributions.Normal(1.0, 1.0), gs.distributions.Normal(0.0, 1.0))
    tensor(0.5000)
    """
    types = type(p), type(q)
    if types not in _KL_MEMOIZE:
        _KL_MEMOIZE[types] = _dispatch_kl(*types)
    rule = _KL_MEMOIZE[types]
    if rule is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return rule(p, q)


def _dispatch_kl(type_p: type, type_q: type) -> Rule | None:
    """The rule for the most derived classes. If it depends on which of the two counts first, that is `p`'s."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    distance = {(p, q): (_steps_up(type_p, p), _steps_up(type_q, q)) for p, q in matches}
    nearest = min(matches, key=lambda match: distance[match])
    other = min(matches, key=lambda match: distance[match][::-1])
    if _KL_REGISTRY[nearest] is not _KL_REGISTRY[other]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({nearest[0].__name__}, {other[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[nearest]


def _steps_up(kind: type, base: type) -> int:
    """How far a class is from one it is derived from; farthest from abstract ones, which only say that it is."""
    bases = kind.__mro__
    return bases.index(base) if base in bases else len(bases)
