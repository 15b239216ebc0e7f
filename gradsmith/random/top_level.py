"""Draws with PyTorch's names and arguments, whose numbers have the dtype of the parameter: ``gs.poisson(rates)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.generated.sampling import counted_by
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import dirichlet, standard_gamma
from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.tensors.factories import quick_draws
from gradsmith.runtime.tensors.factories.random import Generator
from gradsmith.runtime.tensors.queries import is_tensor

__all__ = ["binomial", "poisson"]


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """How many events there are where each element says how many are expected.

    Parameters
    ----------
    input : Tensor
        Rates, of a floating dtype and not negative.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor
        Of the shape and dtype of `input`, without a gradient.

    Raises
    ------
    RuntimeError
        A rate is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.poisson(gs.zeros(3))
    tensor([0., 0., 0.])
    """
    if (few := quick_draws.poisson(input, generator)) is not None:
        return few
    _expect_floating("poisson", "input", input)
    check_values(_expect_rates, input)
    found: Tensor = counted_by(input.detach(), [], "poisson", list(input.shape), generator=generator).to(input.dtype)
    return found


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`.

    Parameters
    ----------
    count, prob : Tensor
        Of floating dtypes, and shapes that broadcast.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor
        Of the dtype of `count`, without a gradient.

    Raises
    ------
    RuntimeError
        A count is negative, or a probability is none.
    """
    _expect_floating("binomial", "count", count)
    _expect_floating("binomial", "prob", prob)
    check_values(_expect_counts, count)
    check_values(_expect_shares, prob)
    try:
        shape = np.broadcast_shapes(count.shape, prob.shape)
    except ValueError:
        raise RuntimeError(
            f"binomial(): shapes {tuple(count.shape)} of count and {tuple(prob.shape)} of prob do not broadcast"
        ) from None
    trials = count.detach().to(np.int64)
    found: Tensor = counted_by(trials, [prob.detach()], "binomial", list(shape), generator=generator).to(count.dtype)
    return found


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of scale 1, for programs that call PyTorch's internal name of `random.standard_gamma`."""
    _expect_floating("_standard_gamma", "input", input)
    return standard_gamma(input, generator=generator)


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Vectors of Dirichlet's distribution, for programs that call PyTorch's internal name of `random.dirichlet`."""
    _expect_floating("_sample_dirichlet", "input", input)
    return dirichlet(input, generator=generator)


def _expect_floating(op: str, name: str, value: Any) -> None:
    if not is_tensor(value):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(value).__name__}")
    if value.dtype.kind != "f":
        raise RuntimeError(f"{op}(): expects a floating dtype for '{name}', got {value.dtype}")


def _expect_rates(rates: Tensor) -> None:
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")


def _expect_counts(count: Tensor) -> None:
    if not (count >= 0).all():
        raise RuntimeError("binomial(): expects count to be non-negative")


def _expect_shares(prob: Tensor) -> None:
    if not ((prob >= 0) & (prob <= 1)).all():
        raise RuntimeError("binomial(): expects prob to be in [0, 1]")
