"""Special functions: values and slopes that were computed to 40 digits, dtypes, errors, names."""

import _thread
import threading

import numpy as np
import pytest

import gradsmith as gs

# Function, argument, value, derivative.
KNOWN = [
    ("gammaln", 2.5, 0.28468287047291916, 0.70315664064524319),
    ("digamma", 0.3, -3.5025242222001331, 12.245364546107731),
    ("erfcx", 1.5, 0.3215854164543175, -0.16362291773256007),
    ("erfcinv", 0.3, 0.73286907795921687, -1.5163632173337645),
    ("ndtri", 0.2, -0.84162123357291417, 3.5719143465773617),
    ("log_ndtr", -30.0, -454.3212439563432, 30.033259667433677),
    ("dawsn", 0.9, 0.54072431872629868, 0.02669622629266236),
    ("i0", 0.7, 1.1263030183068092, 0.37187967777700863),
    ("i0e", 0.7, 0.55930552650706833, -0.37463554374432101),
    ("i1", 0.7, 0.37187967777700863, 0.59504633576822539),
    ("i1e", -0.7, -0.18466998276274732, 0.11082128265468197),
    ("bessel_j0", 1.3, 0.62008598956150911, -0.52202324741466041),
    ("bessel_j1", 1.3, 0.52202324741466041, 0.21852964539638573),
    ("bessel_y0", 1.3, 0.28653535716557012, 0.54851972998077604),
    ("bessel_y1", 1.3, -0.54851972998077604, 0.70847361099693629),
    ("modified_bessel_k0", 0.8, 0.56534710526589563, -0.86178163447218027),
    ("modified_bessel_k1", 0.8, 0.86178163447218027, -1.6425741483561209),
    ("scaled_modified_bessel_k0", 0.8, 1.2582031215739902, -0.65972717736698226),
    ("scaled_modified_bessel_k1", 0.8, 1.9179302989409725, -1.7376856963092332),
    ("spherical_bessel_j0", 1.1, 0.81018850914675937, -0.3241748979283473),
    ("airy_ai", -1.0, 0.53556088329235212, -0.010160567116645209),
    ("exp1", 0.4, 0.70238011886566244, -1.6758001150890981),
    ("expi", 0.4, 0.10476521861932488, 3.7295617441031757),
    ("spence", 0.6, 0.44928297447128169, -1.2770640594149767),
    ("ellipk", 0.25, 1.685750354812596, 0.54173184861328033),
    ("ellipe", 0.25, 1.4674622093394272, -0.43657629094633777),
    ("ellipkm1", 0.1, 2.5780921133481732, -4.7053640076069775),
    ("gamma", -1.3, 3.3283470067886093, 9.5940952077655029),
    ("rgamma", -2.0, 0.0, 2.0),
    ("wrightomega", 0.5, 0.76624860816175026, 0.43382828703782249),
]


@pytest.mark.parametrize(("name", "at", "value", "slope"), KNOWN)
def test_values_and_slopes(name, at, value, slope):
    x = gs.tensor([at], dtype=gs.float64, requires_grad=True)
    y = getattr(gs.special, name)(x)
    y.sum().backward()
    np.testing.assert_allclose(y.detach(), [value], rtol=1e-12)
    np.testing.assert_allclose(x.grad, [slope], rtol=1e-11)


@pytest.mark.parametrize("name", ["digamma", "erfcx", "i0e", "bessel_j1", "xlog1py", "legendre_polynomial_p"])
@pytest.mark.parametrize(("dtype", "expected"), [("int64", "float32"), ("float16", "float16"), ("float64", "float64")])
def test_dtypes(name, dtype, expected):
    arguments = [2] if name in ("xlog1py", "legendre_polynomial_p") else []
    assert getattr(gs.special, name)(gs.ones(3, dtype=dtype), *arguments).dtype == expected


def test_many_elements_are_shared_out():
    x = gs.linspace(0.1, 9, 300_000, dtype=gs.float64).reshape(3, 100_000)
    parts = gs.stack([gs.special.i1e(part) for part in x.reshape(30, 10_000)]).reshape(3, 100_000)
    np.testing.assert_array_equal(gs.special.i1e(x), parts)
    np.testing.assert_array_equal(gs.special.i1e(x.T), parts.T)


@pytest.mark.parametrize(
    ("polynomial", "expected"),
    [("chebyshev_polynomial_t", [0, 1, 0.3, -0.82]), ("laguerre_polynomial_l", [0, 1, 0.7, 0.445])],
)
def test_degrees_are_cut_and_those_below_zero_give_zero(polynomial, expected):
    found = getattr(gs.special, polynomial)(0.3, gs.tensor([-1.0, 0.9, 1.2, 2.0], dtype=gs.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_degrees_without_sense():
    degrees = gs.tensor([-np.inf, -1e30, 1e30, np.inf, np.nan])
    np.testing.assert_array_equal(gs.special.laguerre_polynomial_l(0.5, degrees), [0, 0, np.nan, np.nan, np.nan])


def test_a_degree_that_takes_forever_can_be_interrupted():
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gs.special.legendre_polynomial_p(0.3, gs.tensor(1e15, dtype=gs.float64))
    timer.join()


def test_a_negative_order_is_refused():
    with pytest.raises(RuntimeError, match="does not support negative n"):
        gs.polygamma(-1, gs.ones(2))
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        gs.mvlgamma(gs.ones(2), 0)
    for dtype in (gs.float16, gs.float32, gs.float64):
        x = gs.tensor([-gs.inf, gs.inf], dtype=dtype)
        assert gs.mvlgamma(x, 2).tolist() == gs.lgamma(x).tolist() == [gs.inf, gs.inf]


def test_names_of_pytorch_and_scipy():
    x = gs.tensor([0.5, 2.0])
    for one, other in (
        (gs.lgamma, gs.special.gammaln),
        (gs.digamma, gs.special.psi),
        (gs.special.j0, gs.special.bessel_j0),
    ):
        np.testing.assert_array_equal(one(x), other(x))
    np.testing.assert_array_equal(x.i0(), gs.special.modified_bessel_i0(x))
    out = gs.empty(2)
    assert gs.special.entr(x, out=out) is out
    np.testing.assert_allclose(out, [0.34657359, -1.38629436], rtol=1e-6)


def test_gradients_in_parameters_that_have_none_are_errors():
    a = gs.tensor([0.5], requires_grad=True)
    y = gs.special.hyp1f1(a, gs.ones(1), gs.ones(1, requires_grad=True))
    with pytest.raises(NotImplementedError, match="hyp1f1: a"):
        y.sum().backward()


# Parameter, bound, derivative of the incomplete gamma function with respect to the parameter.
SLOPES_IN_THE_PARAMETER = [
    (0.01, 2.0, -0.0504344676931651),
    (0.5, 0.1, -0.822936096979599),
    (2.5, 1.5, -0.252175400423628),
    (3.0, 40.0, -9.97433030008928e-15),
    (80.0, 70.0, -0.0241034637101032),
    (1000.0, 1100.0, -0.000110489877840794),
]


@pytest.mark.parametrize(("parameter", "bound", "slope"), SLOPES_IN_THE_PARAMETER)
def test_incomplete_gamma_functions_have_slopes_in_the_parameter(parameter, bound, slope):
    for function, sign in ((gs.special.gammainc, 1), (gs.special.gammaincc, -1)):
        a = gs.tensor([parameter], dtype=gs.float64, requires_grad=True)
        x = gs.tensor([bound], dtype=gs.float64, requires_grad=True)
        function(a, x).sum().backward()
        np.testing.assert_allclose(a.grad, [sign * slope], rtol=1e-12)
        density = np.exp((parameter - 1) * np.log(bound) - bound - gs.lgamma(a).item())
        np.testing.assert_allclose(x.grad, [sign * density], rtol=1e-11)


def test_beta_functions_of_positive_numbers():
    a = gs.tensor([2.0, 0.5], dtype=gs.float64, requires_grad=True)
    b = gs.tensor([3.0, 0.5], dtype=gs.float64)
    value = gs.special.beta(a, b)
    value.sum().backward()
    np.testing.assert_allclose(value.detach(), [1 / 12, np.pi], rtol=1e-14)
    np.testing.assert_allclose(a.grad, [-13 / 144, -2 * np.pi * np.log(2)], rtol=1e-13)
    large = gs.special.betaln(1e5, gs.tensor([3.0], dtype=gs.float64))
    np.testing.assert_allclose(large, [np.log(2 / (1e5 * 100001 * 100002))], rtol=1e-11)
    assert np.isnan(gs.special.beta(gs.tensor([-1.0, 1.0]), gs.tensor([1.0, -0.5])).numpy()).all()


def test_second_derivatives_at_negative_parameters_are_nan_at_once():
    a = gs.tensor([-1e12], dtype=gs.float64, requires_grad=True)
    (slope,) = gs.autograd.grad(gs.special.gammainc(a, gs.ones(1, dtype=gs.float64)).sum(), a, create_graph=True)
    slope.sum().backward()
    assert np.isnan(a.grad.numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spherical_bessel_function_of_order_zero(dtype):
    x = np.array([0.0, -0.0, 1e-30, 0.3, -2.5, 1e4, np.inf, -np.inf, np.nan], dtype)
    expected = [1, 1, 1, *np.sinc(x[3:6].astype(np.float64) / np.pi), 0, 0, np.nan]
    found = gs.special.spherical_bessel_j0(gs.tensor(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=3e-7 if dtype == "float32" else 1e-11)
    assert gs.special.spherical_bessel_j0(gs.tensor([0, 1])).dtype == gs.float32
