"""NumPy's random numbers as tensors: ``gradsmith.numpy.random``.

The numbers are those that NumPy draws after the same seed. Where a parameter is differentiated by, the result is a
differentiable function of it and of numbers drawn without parameters, by the formulas below or by those of
`gradsmith.random`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.numpy.arguments import (
    as_tensor,
    is_recorded,
    is_tensor,
    mapped,
    np,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.moves import moved
from gradsmith.numpy.published import describe
from gradsmith.runtime.tensors.factories.random import Generator as OurGenerator

# Classes that are handed on.
_SAME = ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence", "get_bit_generator",
         "set_bit_generator", "bytes", "get_state", "set_state", "seed")  # fmt: skip
_DRAWS = (
    "beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "rand", "randint", "randn", "random", "random_integers", "random_sample", "ranf", "rayleigh", "sample", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular",
    "uniform", "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip
_OF_GENERATORS = ("integers", "multivariate_hypergeometric", "permuted")

__all__ = [*_SAME, *_DRAWS, "Generator", "RandomState", "default_rng"]


def _scaled(z: Any, scale: Any) -> Any:
    return scale * z


def _located(z: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * z


# How a draw follows from numbers without parameters, where it is differentiated: the parameters and their defaults, the
# name and arguments of the drawing, the formula.
_FORMULAS: dict[str, tuple[dict[str, Any], str, tuple[float, ...], Callable[..., Any]]] = {
    "normal": ({"loc": 0.0, "scale": 1.0}, "standard_normal", (), _located),
    "uniform": ({"low": 0.0, "high": 1.0}, "random", (), lambda u, low, high: low + (high - low) * u),
    "exponential": ({"scale": 1.0}, "standard_exponential", (), _scaled),
    "laplace": ({"loc": 0.0, "scale": 1.0}, "laplace", (0, 1), _located),
    "logistic": ({"loc": 0.0, "scale": 1.0}, "logistic", (0, 1), _located),
    "gumbel": ({"loc": 0.0, "scale": 1.0}, "gumbel", (0, 1), _located),
    "lognormal": ({"mean": 0.0, "sigma": 1.0}, "standard_normal", (), lambda z, mean, sigma: (mean + sigma * z).exp()),
    "rayleigh": ({"scale": 1.0}, "rayleigh", (1,), _scaled),
    "weibull": ({"a": None}, "weibull", (1,), lambda e, a: e ** (1 / a)),
    "pareto": ({"a": None}, "standard_exponential", (), lambda e, a: (e / a).expm1()),
}


class Source:
    """A source of random numbers: NumPy's global one, or a generator of NumPy's, whose methods it has."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        own = getattr(self._own, name)  # NumPy's error where there is none of this name
        return _draw(self._own, name) if name in _DRAWS or name in _OF_GENERATORS else own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._own!r})"

    def __reduce__(self) -> Any:
        return type(self)._of, (self._own,)

    @classmethod
    def _of(cls, own: Any) -> Any:
        made = object.__new__(cls)
        made._own = own
        return made


class Generator(Source):
    """NumPy's `Generator`, whose draws are tensors."""

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(np.random.Generator(bit_generator))


class RandomState(Source):
    """NumPy's `RandomState`, whose draws are tensors."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(np.random.RandomState(unwrapped(seed)))


def default_rng(seed: Any = None) -> Any:
    return seed if isinstance(seed, Generator) else Generator._of(np.random.default_rng(unwrapped(seed)))


def _draw(own: Any, name: str) -> Callable[..., Any]:
    if name in ("permutation", "permuted", "shuffle", "choice"):
        return _of_elements(own, name)

    def draw(*args: Any, **kwargs: Any) -> Any:
        if any(is_recorded(one) or without_data([one]) for one in _tensors([list(args), kwargs])):
            return _differentiable(own, name, args, kwargs)
        return wrapped_number(getattr(own, name)(*unwrapped(args), **unwrapped(kwargs)))

    return _zipf(draw) if name == "zipf" else draw


def _zipf(draw: Callable[..., Any]) -> Callable[..., Any]:
    """With exponents of at most 1024, beyond which nothing but 1 is drawn, and NumPy's older loop does not end."""

    def zipf(a: Any, size: Any = None) -> Any:
        return draw(np.minimum(unwrapped(a), 1024.0) if np.any(np.greater(unwrapped(a), 1024.0)) else a, size)

    return zipf


def wrapped_number(value: Any) -> Any:
    """A draw without a size is a tensor without dimensions."""
    return as_tensor(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else wrapped(value)


def _tensors(arguments: Any) -> list[Any]:
    found: list[Any] = []
    mapped(found.append, arguments)
    return found


def _differentiable(own: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if name not in _FORMULAS:
        return _by_ours(own, name, args, kwargs)
    usual, noise, fixed, formula = _FORMULAS[name]
    given = {**usual, **dict(zip((*usual, "size"), args)), **kwargs}
    size = given.pop("size", None)
    parameters = [given[key] if is_tensor(given[key]) else as_tensor(given[key], np.float64) for key in usual]
    shape = np.broadcast_shapes(*[tuple(one.shape) for one in parameters]) if size is None else size
    return formula(wrapped_number(getattr(own, noise)(*fixed, shape)), *parameters)


def _by_ours(own: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    import gradsmith.random as ours

    function = getattr(ours, name, None)
    if function is None or name in ("multinomial", "multivariate_hypergeometric"):
        raise RuntimeError(f"random.{name}() has no derivative by its parameters; detach() them where none is wanted")
    generator = OurGenerator()
    bits = np.random.get_bit_generator() if own is np.random else getattr(own, "bit_generator", None)
    generator._numpy = np.random.Generator(own._bit_generator if bits is None else bits)
    return function(*args, **kwargs, generator=generator)


def _of_elements(own: Any, name: str) -> Callable[..., Any]:
    """Draws that move or choose the elements of an array."""

    def draw(x: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = unwrapped(args), unwrapped(kwargs)
        if name == "shuffle":
            return _shuffled(own, x, args, kwargs)
        if not is_tensor(x) or x.ndim == 0:
            return wrapped_number(getattr(own, name)(unwrapped(x) if not is_tensor(x) else int(x), *args, **kwargs))
        return moved(lambda places: getattr(own, name)(places, *args, **kwargs), x)

    return draw


def _shuffled(own: Any, x: Any, args: Any, kwargs: Any) -> None:
    if not is_tensor(x):
        own.shuffle(x, *args, **kwargs)
        return
    places = np.arange(x.numel()).reshape(tuple(x.shape))
    own.shuffle(places, *args, **kwargs)
    x.copy_(
        x.detach().clone().reshape(-1)[wrapped(places)]
        if not is_recorded(x)
        else x.reshape(-1)[wrapped(places)].clone()
    )


globals().update({name: getattr(np.random, name) for name in _SAME})
globals().update(
    {name: describe(_draw(np.random, name), f"random.{name}", getattr(np.random, name)) for name in _DRAWS}
)
describe(default_rng, "random.default_rng", np.random.default_rng)
