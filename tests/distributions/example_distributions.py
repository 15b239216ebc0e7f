"""One distribution of each kind, with parameters that have gradients."""

import numpy as np

import gradsmith as gs
import gradsmith.distributions as dist

COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.5]])
CLASSES = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])


def tensor(*values):
    return gs.tensor(np.array(values), dtype=gs.float64).requires_grad_()


def made(name, requires_grad=True):
    """A distribution with `batch_shape` (2,), and its parameters."""
    parameters = {key: tensor(*value) if isinstance(value, list) else value for key, value in EXAMPLES[name].items()}
    parameters = {
        key: gs.tensor(value).requires_grad_() if isinstance(value, np.ndarray) else value
        for key, value in parameters.items()
    }
    if not requires_grad:
        parameters = {key: value.detach() if gs.is_tensor(value) else value for key, value in parameters.items()}
    tensors = [value for value in parameters.values() if gs.is_tensor(value)]
    return getattr(dist, name)(**parameters), tensors


EXAMPLES = {
    "Bernoulli": {"probs": [0.3, 0.6]},
    "Beta": {"concentration1": [1.3, 2.4], "concentration0": [1.7, 3.1]},
    "Binomial": {"total_count": 5, "probs": [0.3, 0.6]},
    "Categorical": {"probs": CLASSES},
    "Cauchy": {"loc": [0.5, -1.0], "scale": [1.3, 0.7]},
    "Chi2": {"df": [3.0, 4.5]},
    "ContinuousBernoulli": {"probs": [0.3, 0.5]},
    "Dirichlet": {"concentration": CLASSES * 5},
    "Exponential": {"rate": [1.3, 0.7]},
    "FisherSnedecor": {"df1": [3.0, 4.5], "df2": [9.5, 12.0]},
    "Gamma": {"concentration": [1.3, 2.4], "rate": [0.7, 3.1]},
    "GeneralizedPareto": {"loc": [0.5, -1.0], "scale": [1.3, 0.7], "concentration": [0.1, -0.3]},
    "Geometric": {"probs": [0.3, 0.6]},
    "Gumbel": {"loc": [0.5, -1.0], "scale": [1.3, 0.7]},
    "HalfCauchy": {"scale": [1.3, 0.7]},
    "HalfNormal": {"scale": [1.3, 0.7]},
    "InverseGamma": {"concentration": [5.3, 6.4], "rate": [0.7, 3.1]},
    "Kumaraswamy": {"concentration1": [1.3, 2.4], "concentration0": [1.7, 3.1]},
    "LKJCholesky": {"dim": 3, "concentration": [1.3, 2.4]},
    "Laplace": {"loc": [0.5, -1.0], "scale": [1.3, 0.7]},
    "LogNormal": {"loc": [0.5, -1.0], "scale": [0.4, 0.7]},
    "LogisticNormal": {"loc": CLASSES, "scale": CLASSES + 0.5},
    "LowRankMultivariateNormal": {
        "loc": CLASSES, "cov_factor": np.array([[1.0], [0.5], [-0.3]]), "cov_diag": CLASSES + 0.5,
    },
    "Multinomial": {"total_count": 4, "probs": CLASSES},
    "MultivariateNormal": {"loc": np.array([[0.5, -1.0], [1.0, 2.0]]), "covariance_matrix": COVARIANCE},
    "NegativeBinomial": {"total_count": [1.5, 4.0], "probs": [0.3, 0.6]},
    "Normal": {"loc": [0.5, -1.0], "scale": [1.3, 0.7]},
    "OneHotCategorical": {"probs": CLASSES},
    "OneHotCategoricalStraightThrough": {"probs": CLASSES},
    "Pareto": {"scale": [1.3, 0.7], "alpha": [5.5, 6.5]},
    "Poisson": {"rate": [1.3, 2.7]},
    "RelaxedBernoulli": {"temperature": 0.7, "probs": [0.3, 0.6]},
    "RelaxedOneHotCategorical": {"temperature": 0.7, "probs": CLASSES},
    "StudentT": {"df": [5.5, 9.0], "loc": [0.5, -1.0], "scale": [1.3, 0.7]},
    "Uniform": {"low": [0.5, -1.0], "high": [1.3, 0.7]},
    "VonMises": {"loc": [0.5, -1.0], "concentration": [1.3, 20.0]},
    "Weibull": {"scale": [1.3, 0.7], "concentration": [1.7, 3.1]},
    "Wishart": {"df": [4.5, 6.0], "covariance_matrix": COVARIANCE},
}  # fmt: skip
NAMES = sorted(EXAMPLES)
COUNTING = ("Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson")
OF_NUMBERS = [name for name in NAMES if not made(name)[0].event_shape and name not in (*COUNTING, "Categorical")]
