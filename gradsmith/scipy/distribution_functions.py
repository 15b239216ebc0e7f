"""Distribution functions and their inverses under the names of ``scipy.special``: incomplete functions of two kinds.

Their derivatives are those of the ops `gammainc`, `betainc`, `stdtr` and of their inverses.
"""

from __future__ import annotations

from typing import Any

import gradsmith.special as ours
from gradsmith.numpy.arguments import as_tensor, np, result_type

__all__ = [
    "bdtr", "bdtrc", "chdtr", "chdtrc", "chdtri", "fdtr", "fdtrc", "fdtri", "gdtr", "gdtrc", "gdtrix", "nbdtr",
    "nbdtrc", "pdtr", "pdtrc", "pdtri",
]  # fmt: skip


def _operands(*values: Any) -> list[Any]:
    """Of one floating dtype and one shape; integers count as float64."""
    kind = result_type(*values)
    tensors = [as_tensor(value, np.dtype(np.float64) if kind.kind not in "fc" else kind) for value in values]
    shape = np.broadcast_shapes(*[tuple(one.shape) for one in tensors])
    return [one.expand(shape) for one in tensors]


# ---- by the incomplete gamma function


def chdtr(v: Any, x: Any) -> Any:
    """Chi-squared distribution of `v` degrees of freedom: the probability of values up to `x`."""
    df, y = _operands(v, x)
    return ours.gammainc(df / 2, y / 2)


def chdtrc(v: Any, x: Any) -> Any:
    """One minus `chdtr`."""
    df, y = _operands(v, x)
    return ours.gammaincc(df / 2, y / 2)


def chdtri(v: Any, p: Any) -> Any:
    """Inverse of `chdtrc` by its second argument."""
    df, q = _operands(v, p)
    return 2 * ours.gammainccinv(df / 2, q)


def gdtr(a: Any, b: Any, x: Any) -> Any:
    """Gamma distribution of rate `a` and shape `b`: the probability of values up to `x`."""
    rate, shape, y = _operands(a, b, x)
    return ours.gammainc(shape, rate * y)


def gdtrc(a: Any, b: Any, x: Any) -> Any:
    """One minus `gdtr`."""
    rate, shape, y = _operands(a, b, x)
    return ours.gammaincc(shape, rate * y)


def gdtrix(a: Any, b: Any, p: Any) -> Any:
    """Inverse of `gdtr` by its third argument."""
    rate, shape, q = _operands(a, b, p)
    return ours.gammaincinv(shape, q) / rate


def pdtr(k: Any, m: Any) -> Any:
    """Poisson distribution of mean `m`: the probability of at most `k` events."""
    count, mean = _operands(k, m)
    return ours.gammaincc(count.floor() + 1, mean)


def pdtrc(k: Any, m: Any) -> Any:
    """One minus `pdtr`."""
    count, mean = _operands(k, m)
    return ours.gammainc(count.floor() + 1, mean)


def pdtri(k: Any, y: Any) -> Any:
    """Inverse of `pdtr` by its second argument."""
    count, q = _operands(k, y)
    return ours.gammainccinv(count.floor() + 1, q)


# ---- by the incomplete beta function


def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """Fisher's distribution: the probability of values up to `x`."""
    n, m, y = _operands(dfn, dfd, x)
    return ours.betainc(n / 2, m / 2, n * y / (m + n * y))


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """One minus `fdtr`."""
    n, m, y = _operands(dfn, dfd, x)
    return ours.betainc(m / 2, n / 2, m / (m + n * y))


def fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    """Inverse of `fdtr` by its third argument."""
    n, m, q = _operands(dfn, dfd, p)
    return m * ours.betaincinv(n / 2, m / 2, q) / (n * ours.betainccinv(m / 2, n / 2, q))


def bdtr(k: Any, n: Any, p: Any) -> Any:
    """Binomial distribution of `n` trials: the probability of at most `k` successes."""
    count, trials, chance = _operands(k, n, p)
    return ours.betaincc(count.floor() + 1, trials - count.floor(), chance)


def bdtrc(k: Any, n: Any, p: Any) -> Any:
    """One minus `bdtr`."""
    count, trials, chance = _operands(k, n, p)
    return ours.betainc(count.floor() + 1, trials - count.floor(), chance)


def nbdtr(k: Any, n: Any, p: Any) -> Any:
    """Negative binomial distribution: the probability of at most `k` failures before `n` successes."""
    count, trials, chance = _operands(k, n, p)
    return ours.betainc(trials, count.floor() + 1, chance)


def nbdtrc(k: Any, n: Any, p: Any) -> Any:
    """One minus `nbdtr`."""
    count, trials, chance = _operands(k, n, p)
    return ours.betaincc(trials, count.floor() + 1, chance)
