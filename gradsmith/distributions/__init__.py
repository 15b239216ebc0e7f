"""Distributions with PyTorch's names, arguments and errors.

>>> import gradsmith as gs
>>> from gradsmith.distributions import Normal
>>> loc = gs.tensor(0.5, requires_grad=True)
>>> Normal(loc, 1.0).log_prob(gs.tensor(2.0)).backward()
>>> loc.grad
tensor(1.5000)

The files stand in folders by the support of the distributions; they are found under PyTorch's names too:

>>> from gradsmith.distributions.normal import Normal
"""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.missing import missing_attribute
from gradsmith.names.on_demand import show_all_names
from gradsmith.names.other_modules import add_other_name

if TYPE_CHECKING:
    from gradsmith.distributions import constraint_registry as constraint_registry
    from gradsmith.distributions import constraints as constraints
    from gradsmith.distributions import distribution as distribution
    from gradsmith.distributions import exp_family as exp_family
    from gradsmith.distributions import kl as kl
    from gradsmith.distributions import transforms as transforms
    from gradsmith.distributions import utils as utils
    from gradsmith.distributions.combined.independent import Independent as Independent
    from gradsmith.distributions.combined.mixture_same_family import MixtureSameFamily as MixtureSameFamily
    from gradsmith.distributions.combined.transformed_distribution import (
        TransformedDistribution as TransformedDistribution,
    )
    from gradsmith.distributions.constraint_registry import biject_to as biject_to
    from gradsmith.distributions.constraint_registry import transform_to as transform_to
    from gradsmith.distributions.discrete.bernoulli import Bernoulli as Bernoulli
    from gradsmith.distributions.discrete.binomial import Binomial as Binomial
    from gradsmith.distributions.discrete.categorical import Categorical as Categorical
    from gradsmith.distributions.discrete.geometric import Geometric as Geometric
    from gradsmith.distributions.discrete.multinomial import Multinomial as Multinomial
    from gradsmith.distributions.discrete.negative_binomial import NegativeBinomial as NegativeBinomial
    from gradsmith.distributions.discrete.one_hot_categorical import OneHotCategorical as OneHotCategorical
    from gradsmith.distributions.discrete.one_hot_categorical import (
        OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
    )
    from gradsmith.distributions.discrete.poisson import Poisson as Poisson
    from gradsmith.distributions.distribution import Distribution as Distribution
    from gradsmith.distributions.exp_family import ExponentialFamily as ExponentialFamily
    from gradsmith.distributions.half_line.chi2 import Chi2 as Chi2
    from gradsmith.distributions.half_line.exponential import Exponential as Exponential
    from gradsmith.distributions.half_line.fishersnedecor import FisherSnedecor as FisherSnedecor
    from gradsmith.distributions.half_line.gamma import Gamma as Gamma
    from gradsmith.distributions.half_line.generalized_pareto import GeneralizedPareto as GeneralizedPareto
    from gradsmith.distributions.half_line.half_cauchy import HalfCauchy as HalfCauchy
    from gradsmith.distributions.half_line.half_normal import HalfNormal as HalfNormal
    from gradsmith.distributions.half_line.inverse_gamma import InverseGamma as InverseGamma
    from gradsmith.distributions.half_line.log_normal import LogNormal as LogNormal
    from gradsmith.distributions.half_line.pareto import Pareto as Pareto
    from gradsmith.distributions.half_line.weibull import Weibull as Weibull
    from gradsmith.distributions.kl import kl_divergence as kl_divergence
    from gradsmith.distributions.kl import register_kl as register_kl
    from gradsmith.distributions.matrices.lkj_cholesky import LKJCholesky as LKJCholesky
    from gradsmith.distributions.matrices.wishart import Wishart as Wishart
    from gradsmith.distributions.real_line.cauchy import Cauchy as Cauchy
    from gradsmith.distributions.real_line.gumbel import Gumbel as Gumbel
    from gradsmith.distributions.real_line.laplace import Laplace as Laplace
    from gradsmith.distributions.real_line.normal import Normal as Normal
    from gradsmith.distributions.real_line.student_t import StudentT as StudentT
    from gradsmith.distributions.real_line.uniform import Uniform as Uniform
    from gradsmith.distributions.real_line.von_mises import VonMises as VonMises
    from gradsmith.distributions.transforms import *  # noqa: F403
    from gradsmith.distributions.unit_interval.beta import Beta as Beta
    from gradsmith.distributions.unit_interval.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
    from gradsmith.distributions.unit_interval.kumaraswamy import Kumaraswamy as Kumaraswamy
    from gradsmith.distributions.unit_interval.relaxed_bernoulli import LogitRelaxedBernoulli as LogitRelaxedBernoulli
    from gradsmith.distributions.unit_interval.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
    from gradsmith.distributions.vectors.dirichlet import Dirichlet as Dirichlet
    from gradsmith.distributions.vectors.logistic_normal import LogisticNormal as LogisticNormal
    from gradsmith.distributions.vectors.lowrank_multivariate_normal import (
        LowRankMultivariateNormal as LowRankMultivariateNormal,
    )
    from gradsmith.distributions.vectors.multivariate_normal import MultivariateNormal as MultivariateNormal
    from gradsmith.distributions.vectors.relaxed_categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical

# Folder -> its modules, under PyTorch's names, and the public names in them.
_FOLDERS: dict[str, dict[str, tuple[str, ...]]] = {
    "combined": {
        "independent": ("Independent",),
        "mixture_same_family": ("MixtureSameFamily",),
        "transformed_distribution": ("TransformedDistribution",),
    },
    "discrete": {
        "bernoulli": ("Bernoulli",),
        "binomial": ("Binomial",),
        "categorical": ("Categorical",),
        "geometric": ("Geometric",),
        "multinomial": ("Multinomial",),
        "negative_binomial": ("NegativeBinomial",),
        "one_hot_categorical": ("OneHotCategorical", "OneHotCategoricalStraightThrough"),
        "poisson": ("Poisson",),
    },
    "half_line": {
        "chi2": ("Chi2",),
        "exponential": ("Exponential",),
        "fishersnedecor": ("FisherSnedecor",),
        "gamma": ("Gamma",),
        "generalized_pareto": ("GeneralizedPareto",),
        "half_cauchy": ("HalfCauchy",),
        "half_normal": ("HalfNormal",),
        "inverse_gamma": ("InverseGamma",),
        "log_normal": ("LogNormal",),
        "pareto": ("Pareto",),
        "weibull": ("Weibull",),
    },
    "matrices": {"lkj_cholesky": ("LKJCholesky",), "wishart": ("Wishart",)},
    "real_line": {
        "cauchy": ("Cauchy",),
        "gumbel": ("Gumbel",),
        "laplace": ("Laplace",),
        "normal": ("Normal",),
        "studentT": ("StudentT",),
        "uniform": ("Uniform",),
        "von_mises": ("VonMises",),
    },
    "unit_interval": {
        "beta": ("Beta",),
        "continuous_bernoulli": ("ContinuousBernoulli",),
        "kumaraswamy": ("Kumaraswamy",),
        "relaxed_bernoulli": ("LogitRelaxedBernoulli", "RelaxedBernoulli"),
    },
    "vectors": {
        "dirichlet": ("Dirichlet",),
        "logistic_normal": ("LogisticNormal",),
        "lowrank_multivariate_normal": ("LowRankMultivariateNormal",),
        "multivariate_normal": ("MultivariateNormal",),
        "relaxed_categorical": ("RelaxedOneHotCategorical",),
    },
}
_MODULES = ("constraint_registry", "constraints", "distribution", "exp_family", "kl", "transforms", "utils")
_MODULE_OF = {
    "Distribution": "distribution",
    "ExponentialFamily": "exp_family",
    **{
        name: f"{folder}.{'student_t' if module == 'studentT' else module}"
        for folder, modules in _FOLDERS.items()
        for module, names in modules.items()
        for name in names
    },
    **dict.fromkeys(("biject_to", "transform_to"), "constraint_registry"),
    **dict.fromkeys(("kl_divergence", "register_kl"), "kl"),
    **dict.fromkeys(
        (
            "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
            "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
            "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
            "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
            "identity_transform",
        ),
        "transforms",
    ),
}  # fmt: skip

__all__ = sorted([*_MODULE_OF, *_MODULES])


def _add_other_names() -> None:
    for modules in _FOLDERS.values():
        for module, names in modules.items():
            globals()[module] = add_other_name(f"{__name__}.{module}", f"{__name__}.{_MODULE_OF[names[0]]}")


_add_other_names()


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MODULE_OF:
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        return value
    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


show_all_names(__name__)
