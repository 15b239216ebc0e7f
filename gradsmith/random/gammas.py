"""The gamma distribution and those made of it, with implicit gradients in the parameters.

See Note [Moving gamma samples] in runtime/arrays/functions/draws/gammas_kernels.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradsmith.generated import clamp_min, exp, sigmoid, softmax, sqrt, square
from gradsmith.generated.sampling import log_gamma_quantile
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import standard_normal
from gradsmith.random.noise import counts, numbers, parameters, require
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import zeros
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.random.noise import Parameter, Size
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = [
    "beta", "chisquare", "dirichlet", "f", "gamma", "noncentral_chisquare", "noncentral_f", "standard_gamma",
    "standard_t",
]  # fmt: skip


def _log_gamma(op: str, shape: Any, size: Any, dtype: Any, generator: Any) -> Tensor:
    """Logarithms, which are of moderate size where the numbers themselves underflow."""
    require(op, shape > 0, "shape <= 0")
    _, sizes, found = parameters(op, size, shape, dtype=dtype)
    drawn = numbers(op, "log_gamma", sizes, shape, generator=generator).to(found)
    base = (zeros(sizes, dtype=found) + shape) if is_tensor(shape) else zeros(sizes, dtype=found) + float(shape)
    return log_gamma_quantile(base, drawn, base.detach())


def standard_gamma(
    shape: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Gamma numbers of scale 1, with the implicit gradient in their parameter.

    Parameters
    ----------
    shape : float or Tensor
        The parameter of the distribution, positive.
    size : int or tuple of int, optional
        Shape of the result; that of the parameter by default.
    dtype : dtype, optional
        A floating one; by default that of the parameter.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor
        Positive: what would underflow is the least number of the dtype with all digits, as in PyTorch.

    Raises
    ------
    ValueError
        A parameter is not positive.

    Notes
    -----
    Where the probability P(a, x) of a number is kept, it moves with the parameter as ``dx/da = -(dP/da) / (dP/dx)``
    (Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients, 2018).

    Examples
    --------
    >>> import gradsmith as gs
    >>> a = gs.tensor([0.5, 20.0], requires_grad=True)
    >>> x = gs.random.standard_gamma(a, (1000, 2))
    >>> (gradient,) = gs.autograd.grad(x.mean(0).sum(), a)     # the mean is the parameter
    >>> bool((abs(gradient - 1) < 0.3).all())
    True
    """
    logarithm = _log_gamma("standard_gamma", shape, size, dtype, generator)
    return clamp_min(exp(logarithm), finfo(logarithm.dtype).tiny)


def gamma(
    shape: Parameter, scale: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Gamma numbers; see `standard_gamma`."""
    require("gamma", scale >= 0, "scale < 0")
    _, sizes, found = parameters("gamma", size, shape, scale, dtype=dtype)
    return standard_gamma(shape, sizes, dtype=found, generator=generator) * scale


def chisquare(
    df: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Sums of squares of `df` normal numbers, also of a number of them that is no integer."""
    require("chisquare", df > 0, "df <= 0")
    return standard_gamma(df / 2, size, dtype=dtype, generator=generator) * 2


def standard_t(
    df: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Student's distribution: a normal number over the root of the mean of `df` squares."""
    require("standard_t", df > 0, "df <= 0")
    _, sizes, found = parameters("standard_t", size, df, dtype=dtype)
    z = standard_normal(sizes, dtype=found, generator=generator)
    return z * sqrt(df / chisquare(df, sizes, dtype=found, generator=generator))


def f(
    dfnum: Parameter, dfden: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Fisher's distribution: the quotient of the means of `dfnum` and of `dfden` squares."""
    require("f", dfnum > 0, "dfnum <= 0")
    require("f", dfden > 0, "dfden <= 0")
    _, sizes, found = parameters("f", size, dfnum, dfden, dtype=dtype)
    above = _log_gamma("f", dfnum / 2, sizes, found, generator)
    below = _log_gamma("f", dfden / 2, sizes, found, generator)
    return exp(above - below) * (dfden / dfnum)


def noncentral_chisquare(
    df: Parameter, nonc: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Sums of squares of normal numbers whose means have squares of the sum `nonc`.

    With more than one number, one has that mean alone, and there are gradients in both parameters. With fewer, a
    number of Poisson's distribution decides how many squares of mean zero there are, and the gradient is that in `df`.
    """
    require("noncentral_chisquare", df > 0, "df <= 0")
    require("noncentral_chisquare", nonc >= 0, "nonc < 0")
    _, sizes, found = parameters("noncentral_chisquare", size, df, nonc, dtype=dtype)
    if not (bool((df > 1).all()) if is_tensor(df) else df > 1):
        pairs = counts("noncentral_chisquare", "poisson", sizes, nonc / 2, generator=generator)
        return chisquare(pairs.to(found) * 2 + df, sizes, dtype=found, generator=generator)
    z = standard_normal(sizes, dtype=found, generator=generator)
    root = sqrt(nonc) if is_tensor(nonc) else nonc**0.5
    return chisquare(df - 1, sizes, dtype=found, generator=generator) + square(z + root)


def noncentral_f(
    dfnum: Parameter, dfden: Parameter, nonc: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Fisher's distribution with `noncentral_chisquare` above."""
    _, sizes, found = parameters("noncentral_f", size, dfnum, dfden, nonc, dtype=dtype)
    above = noncentral_chisquare(dfnum, nonc, sizes, dtype=found, generator=generator)
    return above / dfnum * (dfden / chisquare(dfden, sizes, dtype=found, generator=generator))


def beta(
    a: Parameter, b: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Numbers from 0 to 1 with density ``x^(a - 1) (1 - x)^(b - 1)``: the part of one of two gamma numbers.

    Their logarithms are drawn, so small parameters do no harm. Gradients are those of the gamma numbers.
    """
    require("beta", a > 0, "a <= 0")
    require("beta", b > 0, "b <= 0")
    _, sizes, found = parameters("beta", size, a, b, dtype=dtype)
    one = _log_gamma("beta", a, sizes, found, generator)
    return sigmoid(one - _log_gamma("beta", b, sizes, found, generator))


def dirichlet(
    alpha: Tensor | Sequence[float], size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Vectors of positive numbers with sum 1 along a last dimension: the parts that gamma numbers have in their sum."""
    from gradsmith.runtime.tensors.factories.creation import as_size, as_tensor

    values = alpha if is_tensor(alpha) else as_tensor(alpha)
    if values.ndim == 0:
        raise ValueError("dirichlet(): alpha has to have a dimension")
    if values.dtype.kind != "f":
        values = values.to(parameters("dirichlet", None, dtype=dtype)[2])
    before = values.shape[:-1] if size is None else as_size("dirichlet", (size,), {})
    return softmax(_log_gamma("dirichlet", values, [*before, values.shape[-1]], dtype, generator), -1)
