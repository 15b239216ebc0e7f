"""SciPy's special functions for tensors: ``gradsmith.scipy.special``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.generated as generated
import gradsmith.special as ours
from gradsmith.numpy import reductions
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    axes_of,
    exact,
    floating,
    np,
    of_dtype,
    result_type,
    without_data,
    wrapped,
)
from gradsmith.scipy.distribution_functions import *  # noqa: F403
from gradsmith.scipy.distribution_functions import __all__ as _distributions

# Functions of the same name and order of arguments.
ELEMENTWISE = (
    "betainc betaincc betainccinv betaincinv betaln beta boxcox boxcox1p cosm1 dawsn digamma ellipe ellipk ellipkm1"
    " entr erf erfc erfcinv erfcx erfi erfinv exp1 exp10 exp2 expi expit expm1 exprel gamma gammainc gammaincc"
    " gammainccinv gammaincinv gammaln hyp0f1 hyp1f1 hyp2f1 i0 i0e i1 i1e inv_boxcox inv_boxcox1p iv ive j0 j1 jn jv"
    " jve k0 k0e k1 k1e kl_div kv kve log1p log_expit log_ndtr logit ndtr ndtri owens_t psi rel_entr rgamma sinc"
    " spence stdtr stdtrit wrightomega xlog1py xlogy y0 y1 yv yve zeta"
)
ORDERED = "expn kn polygamma yn"  # of an integer order, then x
SPHERICAL = "spherical_in spherical_jn spherical_kn spherical_yn"  # the same, and their derivatives
SEVERAL = "airy fresnel shichi sici"
COMPOSED = (
    "binom cbrt comb cosdg cotdg eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre eval_legendre"
    " factorial gammasgn huber jvp lambertw log_softmax loggamma logsumexp multigammaln ndtri_exp poch powm1"
    " pseudo_huber radian round sindg softmax softplus tandg"
)
__all__ = sorted({*" ".join((ELEMENTWISE, ORDERED, SPHERICAL, SEVERAL, COMPOSED)).split(), *_distributions})


def _operands(*values: Any) -> list[Any]:
    """Of one floating dtype, by NumPy's promotion; integers count as float64."""
    kind = result_type(*values)
    kind = np.dtype(np.float64) if kind.kind not in "fc" else kind
    return [as_tensor(value, kind) for value in values]


def _elementwise(name: str) -> Callable[..., Any]:
    op = getattr(ours, name)

    def function(*args: Any, out: Any = None) -> Any:
        from gradsmith.numpy.arguments import delivered

        return delivered(op(*_operands(*args)), out)

    return _named(function, name)


def _ordered(name: str) -> Callable[..., Any]:
    op = getattr(ours, name)

    def function(n: Any, x: Any) -> Any:
        return _of_orders(op, n, floating(as_tensor(x)))

    return _named(function, name)


def _of_orders(op: Callable[..., Any], n: Any, x: Any) -> Any:
    """An op of one whole order, for an order or an array of them."""
    if isinstance(n, int):
        return op(n, x)
    orders = array_of(as_tensor(n))
    several = np.unique(orders)
    if orders.ndim == 0 or several.size == 1:
        found = op(int(several[0]), x)
        return found.expand(np.broadcast_shapes(orders.shape, tuple(x.shape)))
    found = as_tensor(np.nan, x.dtype)
    for order in several:
        found = generated.where(wrapped(orders == order), op(int(order), x), found)
    return found


# Signs of the orders below and above in the derivative, which divides by nothing that may be zero:
# (2n + 1) f_n' = below * n * f_(n-1) + above * (n + 1) * f_(n+1).
_SPHERICAL = {"spherical_jn": (1, -1), "spherical_yn": (1, -1), "spherical_in": (1, 1), "spherical_kn": (-1, -1)}


def _spherical(name: str) -> Callable[..., Any]:
    op = getattr(ours, name)
    below, above = _SPHERICAL[name]

    def slope(n: int, x: Any) -> Any:
        far = above * (n + 1) * op(n + 1, x)
        return (far + below * n * op(n - 1, x)) / (2 * n + 1) if n else far

    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        return _of_orders(slope if derivative else op, n, floating(as_tensor(z)))

    return _named(function, name)


def _several(name: str) -> Callable[..., Any]:
    op = getattr(ours, name)

    def function(x: Any) -> tuple[Any, ...]:
        return tuple(op(*_operands(x)))

    return _named(function, name)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"SciPy's `{name}` for tensors; see `gradsmith.special.{name}`, and for the arguments\n"
        f"https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.{name}.html\n"
    )
    return function


globals().update({name: _elementwise(name) for name in ELEMENTWISE.split()})
globals().update({name: _ordered(name) for name in ORDERED.split()})
globals().update({name: _spherical(name) for name in SPHERICAL.split()})
globals().update({name: _several(name) for name in SEVERAL.split()})


# ---- along axes


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Logarithm of the sum of exponentials, with weights `b` that may be negative when `return_sign` is true."""
    x = floating(as_tensor(a))
    axes = axes_of(axis, x.ndim)
    if b is None and not return_sign and x.dtype.kind == "f":
        return generated.logsumexp(x, axes, keepdims) if axes else x
    weights = as_tensor(1.0 if b is None else b, x.dtype)
    x, weights = generated.broadcast_tensors(x, weights)
    axes = axes_of(axis, x.ndim)
    top = x.detach().real.amax(axes, True)
    top = generated.where(top.isfinite(), top, top.new_zeros(()))
    terms = generated.where(weights == 0, x.new_zeros(()), weights * (x - top).exp())
    total = reductions.sum(terms, axes, keepdims=True)
    signs = generated.sgn(total)
    found = (total.abs() if return_sign else total).log() + top
    found, signs = (one if keepdims else reductions.sum(one, axes) for one in (found, signs))
    return (found, signs) if return_sign else found


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials divided by their sum along axes, by default along all."""
    tensor = floating(as_tensor(x))
    if isinstance(axis, int):
        return generated.softmax(tensor, axis)
    return (tensor - logsumexp(tensor, axis, keepdims=True)).exp()


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Logarithm of `softmax`."""
    tensor = floating(as_tensor(x))
    return (
        generated.log_softmax(tensor, axis)
        if isinstance(axis, int)
        else tensor - logsumexp(tensor, axis, keepdims=True)
    )


# ---- gamma functions and what follows from them


def loggamma(z: Any) -> Any:
    """Logarithm of the gamma function of positive numbers; NaN of negative ones, for which SciPy's is complex."""
    (x,) = _operands(z)
    return generated.where(x >= 0, ours.gammaln(x), as_tensor(np.nan, x.dtype))


def gammasgn(x: Any) -> Any:
    """Sign of the gamma function."""
    values = _operands(x)[0].detach()
    whole, is_negative = values.floor(), values < 0
    minus = (is_negative & (whole % 2 != 0)) | (values.signbit() & (values == 0))
    signs = generated.where(minus, as_tensor(-1.0, values.dtype), as_tensor(1.0, values.dtype))
    return generated.where((is_negative & (values == whole)) | values.isnan(), as_tensor(np.nan, values.dtype), signs)


def multigammaln(a: Any, d: int) -> Any:
    """Logarithm of the multivariate gamma function of dimension `d`."""
    return ours.multigammaln(_operands(a)[0], d)


def poch(z: Any, m: Any) -> Any:
    """Rising factorial, ``gamma(z + m) / gamma(z)``."""
    x, y = _operands(z, m)
    signs = gammasgn(x + y) * gammasgn(x)
    return (ours.gammaln(x + y) - ours.gammaln(x)).exp() * signs.to(x.dtype)


def binom(x: Any, y: Any) -> Any:
    """Binomial coefficient of real numbers."""
    n, k = _operands(x, y)
    return ours.rgamma(k + 1) * ours.rgamma(n - k + 1) * ours.gamma(n + 1) if _is_small(n) else _large_binom(n, k)


def _is_small(n: Any) -> bool:
    if without_data([n]):
        return False
    values = np.abs(array_of(n))
    return bool(values.size == 0 or values.max() < 150)


def _large_binom(n: Any, k: Any) -> Any:
    signs = gammasgn(n + 1) * gammasgn(k + 1) * gammasgn(n - k + 1)
    return (ours.gammaln(n + 1) - ours.gammaln(k + 1) - ours.gammaln(n - k + 1)).exp() * signs.to(n.dtype)


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """Number of ways to choose `k` of `N` things."""
    if exact:
        import math

        n, m = int(N), int(k)
        return math.comb(n + m - 1 if repetition and m else n, m)
    n, m = _operands(N, k)
    found = binom(n + m - 1 if repetition else n, m)
    return generated.where((m <= n) & (n >= 0) & (m >= 0) if not repetition else m >= 0, found, found.new_zeros(()))


def factorial(n: Any, exact: bool = False) -> Any:
    """``gamma(n + 1)``, and 0 of negative numbers."""
    if exact:
        import math

        return math.factorial(int(n))
    (x,) = _operands(n)
    return generated.where(x < 0, x.new_zeros(()), ours.gamma(x + 1))


# ---- elementary


def cbrt(x: Any) -> Any:
    """Cube root of each element."""
    return generated.cbrt(*_operands(x))


def sindg(x: Any) -> Any:
    """Sine of an angle in degrees."""
    return generated.sin(generated.deg2rad(*_operands(x)))


def cosdg(x: Any) -> Any:
    """Cosine of an angle in degrees."""
    return generated.cos(generated.deg2rad(*_operands(x)))


def tandg(x: Any) -> Any:
    """Tangent of an angle in degrees."""
    return generated.tan(generated.deg2rad(*_operands(x)))


def cotdg(x: Any) -> Any:
    """Cotangent of an angle in degrees."""
    return 1 / tandg(x)


def radian(d: Any, m: Any, s: Any) -> Any:
    """Angle of degrees, minutes and seconds."""
    degrees, minutes, seconds = _operands(d, m, s)
    return generated.deg2rad(degrees + minutes / 60 + seconds / 3600)


def round(x: Any) -> Any:
    """To the nearest integer, of two to the even one."""
    return generated.round(*_operands(x))


def powm1(x: Any, y: Any) -> Any:
    """``x**y - 1``, exact where the power is near one."""
    base, power = _operands(x, y)
    return generated.where(base > 0, (power * base.abs().log()).expm1(), base**power - 1)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``"""
    (tensor,) = _operands(x)
    return generated.logaddexp(tensor, tensor.new_zeros(()))


def ndtri_exp(y: Any) -> Any:
    """Inverse of `log_ndtr`."""
    return ours.ndtri(_operands(y)[0].exp())


def huber(delta: Any, r: Any) -> Any:
    """Huber's loss: quadratic up to `delta`, linear beyond."""
    d, x = _operands(delta, r)
    size = x.abs()
    found = generated.where(size <= d, 0.5 * x * x, d * (size - 0.5 * d))
    return generated.where(d < 0, as_tensor(np.inf, d.dtype), found)


def pseudo_huber(delta: Any, r: Any) -> Any:
    """A smooth form of Huber's loss."""
    d, x = _operands(delta, r)
    return d * d * ((1 + (x / d) ** 2).sqrt() - 1)


# ---- functions with an integer in them


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """Solution of ``w * exp(w) == z`` on branch `k`."""
    return ours.lambertw(_operands(z)[0], k)


def jvp(v: Any, z: Any, n: int = 1) -> Any:
    """Derivative of order `n` of the Bessel function of order `v`."""
    order, x = _operands(v, z)
    if n == 0:
        return ours.jv(order, x)
    return (jvp(order - 1, x, n - 1) - jvp(order + 1, x, n - 1)) / 2


def _polynomial(name: str, op: str) -> Callable[..., Any]:
    def function(n: Any, x: Any) -> Any:
        degree, at = as_tensor(n), floating(as_tensor(x))
        if not exact(degree):
            if not without_data([degree]) and (array_of(degree) % 1 != 0).any():
                raise ValueError(f"{name}: the degree n must be a whole number here; scipy.special.{name} takes others")
            degree = of_dtype(degree, np.int64)
        return getattr(ours, op)(at, degree)

    return _named(function, name)


globals().update(
    {
        f"eval_{name}": _polynomial(f"eval_{name}", op)
        for name, op in {
            "chebyt": "chebyshev_polynomial_t",
            "chebyu": "chebyshev_polynomial_u",
            "hermite": "hermite_polynomial_h",
            "hermitenorm": "hermite_polynomial_he",
            "laguerre": "laguerre_polynomial_l",
            "legendre": "legendre_polynomial_p",
        }.items()
    }
)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"gradsmith.scipy.special has no {name!r}: of SciPy's special functions those with a derivative in the table "
        "of operators are here; an array can be given to scipy.special itself"
    )
