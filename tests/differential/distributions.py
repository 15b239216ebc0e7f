"""Distributions of gradsmith and of PyTorch with the same parameters: ``python -m tests.differential.distributions``.

Compares text, shapes, supports, log densities, cumulative ones and quantiles with their gradients, moments, entropies,
enumerated supports, expanded copies, divergences of all registered pairs, transforms and constraints. It needs PyTorch.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

import gradsmith as gs

P = np.array([0.3, 0.6])
A = np.array([1.3, 2.4])
B = np.array([0.7, 3.1])
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.5, 0.2], [-0.3, 0.2, 1.1]])
FACTOR = np.linalg.cholesky(COVARIANCE)
CLASSES = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
# Name -> parameters of two distributions of its class.
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "Bernoulli": [{"probs": P}, {"logits": B}],
    "Beta": [{"concentration1": A, "concentration0": B}, {"concentration1": B, "concentration0": A}],
    "Binomial": [{"total_count": 5, "probs": P}, {"total_count": 5, "logits": B}],
    "Categorical": [{"probs": CLASSES}, {"logits": CLASSES[::-1].copy()}],
    "Cauchy": [{"loc": B, "scale": A}, {"loc": A, "scale": B}],
    "Chi2": [{"df": A}, {"df": B}],
    "ContinuousBernoulli": [{"probs": P}, {"logits": B}, {"probs": np.array([0.5, 0.4995])}],
    "Dirichlet": [{"concentration": CLASSES * 5}, {"concentration": CLASSES * 2}],
    "Exponential": [{"rate": A}, {"rate": B}],
    "FisherSnedecor": [{"df1": A + 2, "df2": B + 5}, {"df1": A, "df2": B}],
    "Gamma": [{"concentration": A, "rate": B}, {"concentration": B, "rate": A}],
    "GeneralizedPareto": [
        {"loc": B, "scale": A, "concentration": np.array([0.3, 0.2])},
        {"loc": B, "scale": A, "concentration": np.array([-0.3, 0.0])},
    ],
    "Geometric": [{"probs": P}, {"logits": B}],
    "Gumbel": [{"loc": B, "scale": A}, {"loc": A, "scale": B}],
    "HalfCauchy": [{"scale": A}, {"scale": B}],
    "HalfNormal": [{"scale": A}, {"scale": B}],
    "InverseGamma": [{"concentration": A + 2, "rate": B}, {"concentration": B, "rate": A}],
    "Kumaraswamy": [
        {"concentration1": A, "concentration0": B + 1}, {"concentration1": B + 1, "concentration0": A},
    ],
    "LKJCholesky": [{"dim": 3, "concentration": A}, {"dim": 3, "concentration": B}],
    "Laplace": [{"loc": B, "scale": A}, {"loc": A, "scale": B}],
    "LogNormal": [{"loc": B, "scale": A}, {"loc": A, "scale": B}],
    "LogisticNormal": [{"loc": CLASSES, "scale": CLASSES + 1}, {"loc": CLASSES + 1, "scale": CLASSES}],
    "LowRankMultivariateNormal": [
        {"loc": CLASSES, "cov_factor": FACTOR[:, :2].copy(), "cov_diag": CLASSES + 1},
        {"loc": CLASSES[::-1].copy(), "cov_factor": FACTOR[:, :1].copy(), "cov_diag": np.ones(3)},
    ],
    "Multinomial": [{"total_count": 4, "probs": CLASSES}, {"total_count": 4, "logits": CLASSES}],
    "MultivariateNormal": [
        {"loc": CLASSES, "covariance_matrix": COVARIANCE},
        {"loc": np.zeros(3), "precision_matrix": np.stack([COVARIANCE, np.eye(3)])},
        {"loc": CLASSES, "scale_tril": FACTOR},
    ],
    "NegativeBinomial": [{"total_count": A, "probs": P}, {"total_count": np.array([0.0, 2.0]), "logits": -B}],
    "Normal": [{"loc": B, "scale": A}, {"loc": A, "scale": B}],
    "OneHotCategorical": [{"probs": CLASSES}, {"logits": CLASSES[::-1].copy()}],
    "OneHotCategoricalStraightThrough": [{"probs": CLASSES}, {"logits": CLASSES[::-1].copy()}],
    "Pareto": [{"scale": B + 1, "alpha": A + 2}, {"scale": B, "alpha": A}],
    "Poisson": [{"rate": A}, {"rate": B}],
    "RelaxedBernoulli": [{"temperature": np.array(0.7), "probs": P}, {"temperature": np.array(0.7), "logits": B}],
    "RelaxedOneHotCategorical": [
        {"temperature": np.array(0.7), "probs": CLASSES}, {"temperature": np.array(0.7), "logits": CLASSES},
    ],
    "StudentT": [{"df": A + 2, "loc": B, "scale": A}, {"df": np.array([0.7, 1.5]), "loc": A, "scale": B}],
    "Uniform": [{"low": -A, "high": B + 2}, {"low": P, "high": P + 0.3}, {"low": P, "high": B + 5}],
    "VonMises": [{"loc": B, "concentration": A}, {"loc": A, "concentration": B * 20}],
    "Weibull": [{"scale": A, "concentration": B + 1}, {"scale": B, "concentration": A}],
    "Wishart": [{"df": A + 3, "covariance_matrix": COVARIANCE}, {"df": B + 5, "scale_tril": FACTOR}],
}  # fmt: skip

NUMBERS = np.array([[0.15], [0.4], [0.85]])


def main() -> int:
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64)
    gs.set_default_dtype(gs.float64)
    found, compared = [], 0
    for title, check in checks(torch):
        compared += 1
        found += [(title, difference) for difference in guarded(check)]
    new = [one for one in found if not is_explained(*one)]
    for title, difference in new:
        print(f"{title}: {difference}")
    for pattern in EXPLAINED:
        if not any(fnmatchcase(title, pattern[0]) for title, _ in found):
            print(f"no longer: {pattern}")
    print(f"{compared} comparisons, {len(new)} differences, {len(found) - len(new)} explained")
    return 1 if new else 0


def guarded(check: Callable[[], Iterator[str]]) -> Iterator[str]:
    try:
        yield from check()
    except Exception as error:
        yield f"{type(error).__name__}: {error}"


def checks(torch: Any) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    for name, cases in PARAMETERS.items():
        for number, case in enumerate(cases):
            pair = Pair(torch, name, case)
            for part in (pair.texts, pair.moments, pair.densities, pair.quantiles, pair.enumerated, pair.expanded):
                yield f"{name} {number} {part.__name__}", part
    yield from divergences(torch)
    yield from registries(torch)


# ---- distributions


class Pair:
    """A distribution of both libraries, with gradients in its parameters."""

    def __init__(self, torch: Any, name: str, case: dict[str, Any]) -> None:
        self.torch, self.name, self.case = torch, name, case

    def made(self) -> tuple[Any, Any, list[Any], list[Any]]:
        theirs = {key: parameter(value, self.torch) for key, value in self.case.items()}
        ours = {key: parameter(value, gs) for key, value in self.case.items()}
        their = getattr(self.torch.distributions, self.name)(**theirs)
        own = getattr(gs.distributions, self.name)(**ours)
        return their, own, differentiable(theirs), differentiable(ours)

    def texts(self) -> Iterator[str]:
        their, own, *_ = self.made()
        for attribute in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
            one, other = getattr(own, attribute), getattr(their, attribute)
            if (tuple(one) if isinstance(one, tuple) else one) != (tuple(other) if isinstance(one, tuple) else other):
                yield f"{attribute} {one} instead of {other}"
        if text(own) != text(their):
            yield f"text {text(own)} instead of {text(their)}"
        if self.name != "Uniform" and str(own.arg_constraints) != str(their.arg_constraints):
            yield f"arg_constraints {own.arg_constraints} instead of {their.arg_constraints}"
        if text(own.support) != text(their.support) and "bound=" not in text(their.support):
            yield f"support {own.support} instead of {their.support}"

    def moments(self) -> Iterator[str]:
        for attribute in ("mean", "mode", "variance", "stddev", "entropy", "perplexity"):
            yield from self.compared(attribute, lambda one, _, a=attribute: value_of(one, a))

    def densities(self) -> Iterator[str]:
        values = self.values()
        yield from self.compared("log_prob", lambda one, library: one.log_prob(library.tensor(values)))
        yield from self.compared("cdf", lambda one, library: one.cdf(library.tensor(values)))

    def quantiles(self) -> Iterator[str]:
        yield from self.compared("icdf", lambda one, library: one.icdf(library.tensor(NUMBERS)))

    def enumerated(self) -> Iterator[str]:
        for expand in (True, False):
            yield from self.compared("enumerate_support", lambda one, _, e=expand: one.enumerate_support(e))

    def expanded(self) -> Iterator[str]:
        values = self.values()
        shape = (3, *self.made()[0].batch_shape)
        yield from self.compared("expand", lambda one, library: one.expand(shape).log_prob(library.tensor(values)))
        their, own, *_ = self.made()
        if own.expand(shape).sample((4,)).shape != tuple(their.expand(shape).sample((4,)).shape):
            yield "samples of another shape"

    def values(self) -> np.ndarray:
        self.torch.manual_seed(3)
        return self.made()[0].sample((3,)).detach().numpy()

    def compared(self, name: str, function: Callable[[Any, Any], Any]) -> Iterator[str]:
        their, own, their_parameters, own_parameters = self.made()
        expected, found = outcome(function, their, self.torch), outcome(function, own, gs)
        if isinstance(expected, NotImplementedError):
            return  # there may be more here
        try:
            yield from difference(name, expected, found, their_parameters, own_parameters, self.torch)
        except NotImplementedError:  # both have no such derivative; PyTorch is asked first
            yield from difference(name, expected.detach(), found.detach(), [], [], self.torch)


def parameter(value: Any, library: Any) -> Any:
    return library.tensor(value).requires_grad_() if isinstance(value, np.ndarray) else value


def differentiable(parameters: dict[str, Any]) -> list[Any]:
    return [value for value in parameters.values() if hasattr(value, "requires_grad")]


def text(thing: Any) -> str:
    found = re.sub(r"torch\.Size\(\[(\d+)\]\)", r"(\1,)", repr(thing))
    return re.sub(r"torch\.Size\(\[([\d, ]*)\]\)", r"(\1)", found)


def value_of(one: Any, attribute: str) -> Any:
    value = getattr(one, attribute)
    return value() if callable(value) else value


def outcome(function: Callable[[Any, Any], Any], one: Any, library: Any) -> Any:
    try:
        return function(one, library)
    except Exception as error:
        return error


def difference(name: str, expected: Any, found: Any, theirs: list[Any], ours: list[Any], torch: Any) -> Iterator[str]:
    """Of values, and of gradients of their sum with weights."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        if type(expected) is not type(found):
            yield f"{name} gives {found!r} instead of {expected!r}"
        return
    one, other = expected.detach().numpy(), found.detach().numpy()
    if one.shape != other.shape or one.dtype != other.dtype:
        yield f"{name} has shape {other.shape} and dtype {other.dtype} instead of {one.shape} and {one.dtype}"
        return
    if not close(one, other):
        yield f"{name} is {other} instead of {one}"
    if expected.requires_grad != found.requires_grad:
        yield f"{name} has requires_grad {found.requires_grad}"
    elif found.requires_grad:
        again = {"allow_unused": True, "retain_graph": True}
        weights = np.cos(np.arange(one.size)).reshape(one.shape)
        expected_gradients = torch.autograd.grad((expected * torch.tensor(weights)).sum(), theirs, **again)
        gradients = gs.autograd.grad((found * gs.tensor(weights)).sum(), ours, **again)
        for number, (a, b) in enumerate(zip(expected_gradients, gradients)):
            a, b = (np.zeros(()) if g is None else g.detach().numpy() for g in (a, b))
            if not close(a, b):
                yield f"{name} has gradient {number} {b} instead of {a}"


def close(one: np.ndarray, other: np.ndarray) -> bool:
    try:
        return np.allclose(one, other, rtol=1e-6, atol=1e-8, equal_nan=True)
    except ValueError:
        return False


# ---- divergences


def divergences(torch: Any) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    names = {cls: cls.__name__ for pair in torch.distributions.kl._KL_REGISTRY for cls in pair}
    for p, q in torch.distributions.kl._KL_REGISTRY:
        first, second = names[p], names[q]
        for i, one in enumerate(PARAMETERS.get(first, [])):
            for j, other in enumerate(PARAMETERS.get(second, [])):
                pairs = Pair(torch, first, one), Pair(torch, second, other)
                yield f"KL {first} {i} {second} {j}", lambda pairs=pairs: divergence(*pairs)


def divergence(p: Pair, q: Pair) -> Iterator[str]:
    their_p, own_p, their_parameters, own_parameters = p.made()
    their_q, own_q, more_theirs, more_own = q.made()
    expected = outcome(lambda one, library: library.distributions.kl_divergence(one, their_q), their_p, p.torch)
    found = outcome(lambda one, library: library.distributions.kl_divergence(one, own_q), own_p, gs)
    yield from difference(
        "divergence", expected, found, [*their_parameters, *more_theirs], [*own_parameters, *more_own], p.torch
    )


# ---- transforms of constraints


def registries(torch: Any) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    for source, shape in CONSTRAINTS.items():
        for registry in ("biject_to", "transform_to"):
            yield f"{registry}({source})", lambda s=source, r=registry, n=shape: transformed(torch, s, r, n)
    for source, shape in TRANSFORMS.items():
        yield source, lambda s=source, n=shape: transformed(torch, s, "", n)


CONSTRAINTS = {
    "real": (2, 3), "positive": (2, 3), "nonnegative": (3,), "greater_than(2.0)": (3,), "less_than(2.0)": (3,),
    "interval(-1.0, 3.0)": (3,), "unit_interval": (3,), "half_open_interval(-1.0, 3.0)": (3,), "simplex": (2, 3),
    "lower_cholesky": (2, 3, 3), "positive_definite": (2, 3, 3), "positive_semidefinite": (3, 3),
    "corr_cholesky": (2, 6), "real_vector": (2, 3), "independent(positive, 1)": (2, 3),
    "cat([positive, unit_interval], -1, [2, 1])": (2, 3), "stack([positive, real, unit_interval], -1)": (2, 3),
}  # fmt: skip
TRANSFORMS = {
    "AbsTransform()": (3,), "AffineTransform(1.0, -2.0)": (3,), "AffineTransform(1.0, 2.0, event_dim=1)": (2, 3),
    "ExpTransform()": (3,), "PowerTransform(3.0)": (3,), "PowerTransform(-2.0)": (3,), "SigmoidTransform()": (3,),
    "SoftplusTransform()": (3,), "TanhTransform()": (3,), "SoftmaxTransform()": (2, 3),
    "StickBreakingTransform()": (2, 3), "CorrCholeskyTransform()": (2, 6), "LowerCholeskyTransform()": (2, 3, 3),
    "PositiveDefiniteTransform()": (2, 3, 3), "ReshapeTransform((3, 2), (6,))": (4, 3, 2),
    "IndependentTransform(ExpTransform(), 1)": (2, 3), "identity_transform": (2, 3),
    "ComposeTransform([AffineTransform(1.0, 2.0), SigmoidTransform(), StickBreakingTransform()])": (2, 3),
    "CatTransform([ExpTransform(), AffineTransform(0.0, 2.0)], -1, [2, 1])": (2, 3),
    "StackTransform([ExpTransform(), SigmoidTransform()], 0)": (2, 3), "ExpTransform().inv": (3,),
    "ComposeTransform([ExpTransform(), AffineTransform(1.0, 2.0)]).inv": (3,),
}  # fmt: skip


def transformed(torch: Any, source: str, registry: str, shape: tuple[int, ...]) -> Iterator[str]:
    array = np.cos(np.arange(math.prod(shape))).reshape(shape)
    if "Power" in source or ").inv" in source:
        array = np.abs(array) + 3
    if "Abs" in source:
        array = np.abs(array)

    def of(library: Any) -> Any:
        module = library.distributions.constraints if registry else library.distributions.transforms
        made = eval(source, vars(module))
        return getattr(library.distributions, registry)(made) if registry else made

    their, own = outcome(lambda a, b: of(torch), 0, 0), outcome(lambda a, b: of(gs), 0, 0)
    if isinstance(their, Exception) or isinstance(own, Exception):
        if type(their) is not type(own):
            yield f"{own!r} instead of {their!r}"
        return
    x, mine = torch.tensor(array).requires_grad_(), gs.tensor(array).requires_grad_()
    y, result = their(x), own(mine)
    yield from difference("result", y, result, [x], [mine], torch)
    yield from difference("inverse", their.inv(y), own.inv(result), [x], [mine], torch)
    for name, one, other in (("domain", their.domain, own.domain), ("codomain", their.codomain, own.codomain)):
        if text(one) != text(other):
            yield f"{name} {other} instead of {one}"
    expected = outcome(lambda a, b: a.log_abs_det_jacobian(x, y), their, 0)
    found = outcome(lambda a, b: a.log_abs_det_jacobian(mine, result), own, 0)
    yield from difference("log_abs_det_jacobian", expected, found, [x], [mine], torch)
    if tuple(own.forward_shape(shape)) != tuple(their.forward_shape(shape)):
        yield "another forward_shape"
    if own.bijective != their.bijective:
        yield "another bijective"


# Title of a comparison and difference, as patterns of the shell -> why it is one.
EXPLAINED = {
    ("Beta * texts", "text *"): "the parameters are attributes here, and so they are shown",
    ("ContinuousBernoulli 2 *", "*cdf *"): "series around one half, where PyTorch takes the uniform distribution",
    ("FisherSnedecor 1 moments", "* has gradient * instead of *nan*"): "no NaN where a moment is infinite",
    ("Pareto 1 moments", "* has gradient *"): "no NaN where a moment is infinite",
    ("Kumaraswamy * moments", "mode *"): "PyTorch takes the logarithm of a negative number",
    ("NegativeBinomial 1 *", "* has gradient 0 * instead of *nan*"): "no NaN reaches a count of zero",
    ("VonMises 1 moments", "*"): "Bessel functions to all digits; PyTorch has polynomials of seven",
    ("Wishart 1 *", "* has gradient 1 *"): "nothing is read above the diagonal of a factor, so there is no gradient",
    ("KL LowRankMultivariateNormal 0 MultivariateNormal *", "divergence gives *"): "batches broadcast here",
    ("KL Uniform * *", "divergence has gradient * instead of *nan*"): "no NaN where a divergence is infinite",
    ("*_to(*positive*)", "codomain *"): "no affine map that changes nothing is added",
    ("*_to(nonnegative)", "codomain *"): "no affine map that changes nothing is added",
}  # fmt: skip


def is_explained(title: str, difference: str) -> bool:
    return any(fnmatchcase(title, one) and fnmatchcase(difference, other) for one, other in EXPLAINED)


if __name__ == "__main__":
    sys.exit(main())
