"""The short examples: each succeeds, says what it found, and computes what its formulas say."""

import importlib.util
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from code_blocks import ROOT

import gradsmith as gs

EXAMPLES = ROOT / "examples"
# Program -> arguments that make it short, and a part of its last line.
PROGRAMS = {
    "controller": ([], r"step 60: angle +-?0\.000\d|no C compiler"),
    "dask_arrays": (["--rows", "20000", "--chunk", "3000"], r"The weights are found to 0\.0\d+"),
    "gaussian_process": ([], r"Error of the mean 0\.0\d\d, of one measurement 0\.15; \d+% of the truth"),
    "heat_conductivity": (["--steps", "1000", "--rounds", "4"], r"Conductivity found: at most [0-4]\.\d% apart"),
    "hmc": (["--count", "150"], r"They differ by 0\.0\d\d at most"),
    "kalman_filter": (["--length", "200"], r"The truth is [0-2]\.\d standard errors away"),
    "least_squares": ([], r"Strength by descent (1\.3\d+), by search 1\.3"),
    "multistart": (["--starts", "12", "--backend", "processes"], r"The best has 3\.0\d and 7\.[45]\d, the truth"),
    "ode_fit": ([], r"Fitted \[1\.\S+ 0\.\S+ +0\.\S+ 0\.\S+\], true .*: at most [0-2]\.\d% apart"),
    "pinn": (["--rounds", "8"], r"The network is within \d\.\de-0[3-9] of the solution"),
    "scipy_optimize": ([], r"Film of soap: waist 0\.848\d, of the catenary 0\.8483"),
    "vae": (["--epochs", "12"], r"Bound on images left out -2\d\.\d\d nats"),
}
NEED_SCIPY = ("gaussian_process", "kalman_filter", "scipy_optimize")
NEEDED = {**dict.fromkeys(NEED_SCIPY, "scipy"), "dask_arrays": "dask.array", "multistart": "cloudpickle"}


def load(name):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_succeeds(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    arguments, last = PROGRAMS[name]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(last, done.stdout.splitlines()[-1]), done.stdout
    assert not done.stderr and not list(tmp_path.iterdir())


def test_every_program_is_in_the_list():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+\.(?:py|yaml))\)", text)) == {
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".yaml")
    }
    assert {name for name in PROGRAMS if f"[{name}.py]({name}.py) †" in text} == set(NEED_SCIPY)


# ---- they fail when what they find is wrong


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pinn", ["--rounds", "0"]),
        ("vae", ["--epochs", "0"]),
        ("multistart", ["--starts", "1"]),
        ("ode_fit", ["--rounds", "1"]),
        ("heat_conductivity", ["--steps", "1000", "--rounds", "1"]),
    ],
)
def test_it_fails(name, arguments, capsys):
    assert load(name).main(arguments) == 1
    assert capsys.readouterr().out


# ---- their formulas


def test_likelihood_of_the_gaussian_process():
    program = load("gaussian_process")
    x, y = program.measurements(12, 0)
    logs = {"length": 0.1, "size": 0.2, "noise": -1.0}
    covariance = np.exp(0.4 - 0.5 * ((x[:, None] - x) / np.exp(0.1)) ** 2) + np.exp(-2) * np.eye(12)
    expected = 0.5 * (y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(2 * np.pi * covariance)[1])
    assert program.surprise(logs, x, y) == pytest.approx(expected)


def test_likelihood_of_the_filter():
    """All that is seen is one Gaussian vector, whose covariance is known."""
    program = load("kalman_filter")
    seen, (decay, push, noise) = program.series(30, 1), (0.7, 0.4, 0.9)
    lags = abs(np.subtract.outer(np.arange(30), np.arange(30)))
    covariance = push**2 / (1 - decay**2) * decay**lags + noise**2 * np.eye(30)
    expected = 0.5 * (seen @ np.linalg.solve(covariance, seen) + np.linalg.slogdet(2 * np.pi * covariance)[1])
    assert program.surprise(np.array([decay, push, noise]), seen) == pytest.approx(expected)


def test_slope_of_the_posterior():
    program = load("hmc")
    inputs, outputs = program.data()
    weights = np.array([0.1, -0.2, 0.3, 0.4])
    slope = gs.grad(program.log_posterior)(weights, inputs, outputs)
    expected = inputs.T @ (outputs - inputs @ weights) / program.NOISE**2 - weights
    np.testing.assert_allclose(slope, expected)
    mean, _ = program.exact(inputs, outputs)
    at_mean = gs.grad(program.log_posterior)(mean, inputs, outputs)
    np.testing.assert_allclose(at_mean, 0, atol=1e-12)


def test_the_solver_of_differential_equations_keeps_what_is_constant():
    program = load("ode_fit")
    births, hunting, deaths, growth = program.RATES
    prey, predators = program.counts(program.RATES).T
    constant = growth * prey - deaths * np.log(prey) + hunting * predators - births * np.log(predators)
    np.testing.assert_allclose(constant, constant[0], rtol=2e-3)


def test_the_right_side_is_the_second_derivative_of_the_solution():
    program = load("pinn")
    x = gs.linspace(0, 1, 11, dtype=gs.float64)[:, None].requires_grad_()
    second = program.derivative(program.derivative(program.solution(x), x), x)
    np.testing.assert_allclose(second.detach().numpy(), program.right_side(x).detach().numpy(), atol=1e-11)


def test_the_network_is_zero_at_both_ends():
    network = load("pinn").Network()
    assert network(gs.tensor([[0.0], [1.0]])).abs().max().item() == 0


def test_the_bound_is_below_the_likelihood():
    """Importance sampling with many draws estimates the likelihood from above the bound."""
    program = load("vae")
    gs.manual_seed(0)
    model, x = program.Autoencoder(), program.images()[:20]
    with gs.no_grad():
        bounds = gs.stack([model(x) for _ in range(200)])
    estimate = gs.logsumexp(bounds, 0) - math.log(200)
    assert (estimate > bounds.mean(0)).all()


def test_drawn_digits_are_text():
    program = load("vae")
    lines = program.as_text(gs.zeros(2, 64)).splitlines()
    assert len(lines) == 8 and {len(line) for line in lines} == {3 + 16 + 2 + 16}


def test_area_of_a_cylinder():
    program = load("scipy_optimize")
    area = program.area(np.full(program.POINTS, program.RADIUS))
    assert area == pytest.approx(2 * math.pi * program.RADIUS * program.WIDTH)


def test_ridge_weights_solve_their_equations():
    program = load("least_squares")
    random = np.random.default_rng(0)
    inputs, outputs = program.data(50, random, random.standard_normal(program.FEATURES))
    strength = 0.3
    for solution in (program.solved, program.implicit):
        weights = np.asarray(solution(strength, inputs, outputs))
        np.testing.assert_allclose(program.equations(weights, strength, inputs, outputs), 0, atol=1e-10)


def test_a_sum_over_chunks_is_that_of_the_whole():
    program = load("dask_arrays")
    inputs, labels = program.data(1000, 300, np.linspace(-1, 1, program.FEATURES))
    weights = np.full(program.FEATURES, 0.2)
    value, gradient = program.value_and_grad_of_sum(program.surprise, weights, inputs, labels)
    x, y = inputs.compute(), labels.compute()
    chances = 1 / (1 + np.exp(-x @ weights))
    assert value == pytest.approx(-np.sum(y * np.log(chances) + (1 - y) * np.log(1 - chances)))
    np.testing.assert_allclose(gradient, x.T @ (chances - y), atol=1e-10)
    curvature = program.curvature_of_sum(program.surprise, weights, inputs, labels)
    np.testing.assert_allclose(curvature, (x.T * (chances * (1 - chances))) @ x, atol=1e-10)
