"""Functions of gradsmith.scipy give what SciPy gives, of arrays and of tensors, and their gradients are right."""

import importlib
import warnings

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.scipy as gsp
from gradsmith.scipy import distribution_functions, linalg

pytest.importorskip("scipy")

RNG = np.random.default_rng(5)
P = RNG.uniform(0.2, 0.9, size=(2, 3))
Q = P + 1.3
V, W = RNG.normal(size=5), RNG.normal(size=5)
M, N = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
S = M @ M.T + np.eye(3)
A = RNG.normal(size=(5, 3))
K = RNG.normal(size=(2, 2))
SYMMETRIC = {"eigh", "cholesky", "cho_factor", "eigvalsh", "pinvh"}


def call(*args, **kwargs):
    return args, kwargs


def each(names, *calls):
    return {name: list(calls) for name in names.split()}


SPECIAL = {
    **each(
        "dawsn digamma ellipe ellipk ellipkm1 entr erf erfc erfcinv erfcx erfi erfinv exp1 exp10 exp2 expi expit expm1"
        " exprel gamma gammaln i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e log1p log_expit log_ndtr logit ndtr ndtri psi rgamma"
        " sinc spence wrightomega y0 y1 cosm1 cbrt cosdg sindg tandg cotdg gammasgn loggamma"
        " softplus round airy fresnel shichi sici",
        call(P),
        call(P.astype(np.float32)),
    ),
    **each(
        "beta betaln boxcox boxcox1p gammainc gammaincc inv_boxcox inv_boxcox1p iv ive jv jve kl_div kv kve rel_entr"
        " xlog1py xlogy yv yve binom poch powm1 huber pseudo_huber owens_t",
        call(P, Q),
        call(Q, P[0]),
        call(1.5, P),
    ),
    "zeta": [call(2.5, P)],
    "factorial": [call(P), call(np.array([3, 0, -1])), call(5, exact=True)],
    "comb": [call(5.5, 2), call(np.array([5, 2, 200]), 3), call(5, 2, exact=True), call(5, 2, repetition=True)],
    "hyp0f1": [call(1.5, P)],
    "hyp1f1": [call(1.5, 2.0, P)],
    "hyp2f1": [call(0.5, 1.5, 2.0, P)],
    "betainc": [call(Q, P, P)],
    "betaincc": [call(Q, P, P)],
    **each("expn kn polygamma yn", call(2, Q), call(np.array([1, 3, 1]), Q), call(np.array([2]), Q)),
    **each(
        "spherical_in spherical_jn spherical_kn spherical_yn",
        call(2, Q),
        call(np.array([[1], [3]]), Q),
        *[call(n, Q, True) for n in range(3)],
    ),
    "jn": [call(2.0, Q)],
    **each("eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre eval_legendre", call(3, P), call(4, P)),
    "multigammaln": [call(Q + 1, 2)],
    "lambertw": [call(P + 0j)],
    "jvp": [call(1.5, Q), call(1.0, Q, 2)],
    "logsumexp": [
        call(A),
        call(A, 1),
        call(A, axis=0, keepdims=True),
        call(A, 1, P[0]),
        call(A, b=-1.0, return_sign=True),
        call([1, 2]),
    ],
    **each("softmax log_softmax", call(A), call(A, 1), call(A, axis=(0, 1))),
    "ndtri_exp": [call(-Q)],
    "radian": [call(30.0, 20.0, 10.0)],
}

LINALG = {
    "block_diag": [call(A, M), call(V)],
    "cholesky": [call(S), call(S, lower=True)],
    "circulant": [call(V)],
    "companion": [call(V)],
    "convolution_matrix": [call(V, 3), call(V, 3, "same"), call(V, 3, "valid"), call(V[:2], 4, "same")],
    **each("coshm sinhm tanhm cosm sinm tanm expm", call(M / 2)),
    "det": [call(M)],
    "dft": [call(4), call(3, "n")],
    "eig": [call(np.array([[3.0, 0.5], [1.0, 1.0]]))],
    "eigh": [call(S, eigvals_only=True), call(S, M.T @ M + np.eye(3), eigvals_only=True)],
    "eigvalsh": [call(S), call(S, lower=False)],
    "eigh_tridiagonal": [call(V, W[:4], True)],
    "eigvals": [call(S)],
    "expm_frechet": [call(M, N), call(M, N, compute_expm=False)],
    "fractional_matrix_power": [call(S, 0.5), call(S, 2)],
    "hankel": [call(V), call(V, W)],
    "helmert": [call(4), call(3, True)],
    "hilbert": [call(3)],
    "inv": [call(M)],
    "khatri_rao": [call(A, M)],
    "leslie": [call(V, W[:4])],
    "logm": [call(S)],
    "sqrtm": [call(S)],
    "lstsq": [call(A, V)],
    "lu": [call(M), call(A), call(M, True), call(M, p_indices=True)],
    "matmul_toeplitz": [call(V, W), call((V, W), A)],
    "norm": [call(M), call(V, 1), call(M, 2)],
    "orthogonal_procrustes": [call(A, A @ M + 0.1)],
    "pascal": [call(4), call(3, "lower")],
    "pinv": [call(A)],
    "pinvh": [call(S)],
    "polar": [call(A), call(M, "left")],
    "solve": [call(M, V[:3]), call(S, M, assume_a="pos"), call(M, N, transposed=True)],
    "solve_banded": [call((1, 1), np.stack([V, W + 4, V]), V)],
    "solve_circulant": [call(V, W)],
    "solve_continuous_lyapunov": [call(M, N)],
    "solve_lyapunov": [call(M, N)],
    "solve_discrete_lyapunov": [call(M / 3, N)],
    "solve_sylvester": [call(M, S, N)],
    "solve_toeplitz": [call(V + 3, W), call((V + 4, W + 4), A)],
    "solve_triangular": [
        call(S, V[:3]),
        call(S, N, lower=True),
        call(S, N, trans=1),
        call(S, N, "T", lower=True),
        call(S, N, unit_diagonal=True),
    ],
    "solveh_banded": [call(np.stack([V, W + 5]), V), call(np.stack([W + 5, V]), A, lower=True)],
    "subspace_angles": [call(A[:, :2], A[:, 2:])],
    "svdvals": [call(A)],
    "svd": [call(A, compute_uv=False)],
    "toeplitz": [call(V), call(V, W[:3])],
}

SIGNAL = {
    **each("convolve correlate", call(V, W[:3]), call(A, M, "same"), call(A, M, "valid")),
    "fftconvolve": [call(V, W[:3]), call(A, M, "same")],
    **each(
        "convolve2d correlate2d",
        call(A, M),
        call(A, K, "same", "wrap"),
        call(A, K, "full", "symm"),
        call(A, M, "same", "fill", 2.0),
        call(A, M, "valid"),
    ),
    "hilbert": [call(V), call(A, 6, 0)],
    "detrend": [call(A), call(V, type="constant"), call(V, bp=2), call(A, axis=0)],
    "lfilter": [
        call(V[:3], np.array([2.0, 0.5, -0.3, 0.1]), W),
        call(V[:3], np.array([2.0, 0.5]), A, 0),
        call(V[:2], np.array([1.5]), A),
        call(V[:1], np.array([1.5, 0.3]), A[0].astype(np.float32)),
        call(V[:3], np.array([2.0, 0.5, -0.3, 0.1]), W, -1, V[:3]),
        call(V[:3], np.array([2.0, 0.5, -0.3, 0.1]), W[:2], -1, V[:3]),
        call(V[:4], np.array([2.0, 0.5]), A, 0, A[:3]),
        call(V[:2], np.array([1.0, 0.5]), A, 1, np.array([[0.7]])),
        call(V[:1], np.array([2.0]), W, -1, W[:0]),
        call(V[:2] * 1j, np.array([1.0, 0.5j]), W),
    ],
    "lfilter_zi": [call(V[:3], np.array([2.0, 0.5, -0.3, 0.1])), call(V[:3], np.array([1.5, 0.2])), call(V, V[:1])],
    "sosfilt": [
        call([[0.2, 0.3, 0.1, 1.0, 0.5, 0.1], [1.2, 0.3, 0.1, 1.0, -0.3, 0.2]], A),
        call([[0.2, 0.3, 0.1, 1.0, 0.5, 0.1], [1.2, 0.3, 0.1, 1.0, -0.3, 0.2]], W, -1, N[:2, :2]),
    ],
}

COSINES = [call(V), call(V, 3), call(A, axis=0), call(A, 2, 4, norm="ortho"), call(V, 4)]
FFT = {
    **each("fft ifft rfft ihfft", call(V), call(A, 4, 0), call(V, norm="ortho")),
    **each("irfft hfft", call(V[:4] + 0j), call(A + 1j * A)),
    **each("fft2 ifft2 rfft2 ihfft2 fftn ifftn rfftn ihfftn", call(A), call(A, (4, 4))),
    **each("irfft2 hfft2 irfftn hfftn", call(A + 1j * A)),
    **each("dct idct dst idst", *COSINES),
    **each("dctn idctn dstn idstn", call(A), call(A, 3, norm="ortho")),
    **each("fftfreq rfftfreq", call(4)),
    **each("fftshift ifftshift", call(V)),
}

INTEGRATE = {
    "trapezoid": [call(V), call(V, np.array([0.0, 1.0, 2.5, 3.0, 5.0]))],
    "cumulative_trapezoid": [call(V), call(A, axis=0, initial=0), call(V, np.array([0.0, 1.0, 2.5, 3.0, 5.0]))],
    "simpson": [
        call(V),
        call(V[:4]),
        call(V, np.array([0.0, 1.0, 2.5, 3.0, 5.0])),
        call(A, dx=0.5, axis=0),
        call(V[:2]),
        call(V[:4], np.array([0.0, 1.0, 2.5, 3.0])),
    ],
}

INTERPOLATE: dict[str, list[object]] = {}  # its classes are in test_interpolate.py

TABLES = {
    "interpolate": INTERPOLATE,
    "special": SPECIAL,
    "linalg": LINALG,
    "signal": SIGNAL,
    "fft": FFT,
    "integrate": INTEGRATE,
}
CASES = [
    pytest.param(module, name, args, kwargs, id=f"{module}.{name}-{number}")
    for module, table in TABLES.items()
    for name, several in table.items()
    for number, (args, kwargs) in enumerate(several)
]
ELSEWHERE = {
    "special": {
        *distribution_functions.__all__, "betainccinv", "betaincinv", "gammainccinv", "gammaincinv", "stdtr", "stdtrit",
    },
    "linalg": {
        "LinAlgError", "cho_factor", "cho_solve", "lu_factor", "lu_solve", "null_space", "orth", "qr",
        "eigvalsh_tridiagonal", "solve_continuous_are", "solve_discrete_are", *linalg._PLAIN.split(),
    },
    "signal": {"windows"},
    "interpolate": {
        "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator", "interp1d",
        "make_interp_spline",
    },
    "integrate": {"fixed_quad", "odeint", "solve_ivp"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def functions(module, name):
    theirs = importlib.import_module(f"scipy.{module}")
    their_name = "solve_continuous_lyapunov" if name == "solve_lyapunov" else name
    if not hasattr(theirs, their_name):
        pytest.skip(f"this SciPy has no {name}")
    return getattr(theirs, their_name), getattr(getattr(gsp, module), name)


def mapped(function, value):
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, item) for item in value)
    return function(value) if isinstance(value, np.ndarray) and value.dtype.kind in "fc" else value


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def array(value):
    return value.detach().numpy() if isinstance(value, gs.Tensor) else np.asarray(value)


@pytest.mark.parametrize("module, name, args, kwargs", CASES)
def test_value(module, name, args, kwargs):
    theirs, ours = functions(module, name)
    expected = leaves(theirs(*args, **kwargs))
    for given in (args, mapped(gs.tensor, args)):
        found = leaves(ours(*given, **kwargs))
        assert len(found) == len(expected)
        for one, other in zip(map(array, found), map(np.asarray, expected)):
            assert one.shape == other.shape
            if other.dtype != np.float64 or one.dtype.kind != "c":
                assert one.dtype == other.dtype or other.dtype.kind in "biu" or other.dtype.kind == "c"
            tolerance = 1e-4 if other.dtype == np.float32 else 1e-8
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def total_of(result):
    total = 0.0
    for leaf in leaves(result):
        if (
            isinstance(leaf, (gs.Tensor, np.ndarray, np.generic))
            and leaf.dtype.kind in "fc"
            and getattr(leaf, "requires_grad", True)
        ):
            for part in (leaf.real, leaf.imag) if leaf.dtype.kind == "c" else (leaf,):
                weights = np.cos(np.arange(int(np.prod(part.shape))) + 1.0).reshape(tuple(part.shape))
                total = total + (part * (gs.tensor(weights) if isinstance(part, gs.Tensor) else weights)).sum()
    return total


@pytest.mark.parametrize("module, name, args, kwargs", CASES)
def test_gradient(module, name, args, kwargs):
    theirs, ours = functions(module, name)
    places = [x for x in leaves(list(args)) if isinstance(x, np.ndarray) and x.dtype == np.float64]
    if not places or name in ("round", "gammasgn"):
        return
    waiting = [gs.tensor(x, requires_grad=True) for x in places]

    def filled(arrays):
        rest = iter(arrays)
        return mapped(lambda x: next(rest) if x.dtype == np.float64 else x, args)

    total = total_of(ours(*filled(waiting), **kwargs))
    gradients = gs.autograd.grad(total, waiting, allow_unused=True)
    rng = np.random.default_rng(3)
    directions = [rng.normal(size=x.shape) for x in places]
    if name in SYMMETRIC:
        directions = [d + d.T for d in directions]
    exact = sum(float((g.numpy() * d).sum()) for g, d in zip(gradients, directions) if g is not None)
    step = 1e-6
    ahead, behind = (
        total_of(theirs(*filled([x + sign * step * d for x, d in zip(places, directions)]), **kwargs))
        for sign in (1, -1)
    )
    assert exact == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("module", TABLES)
def test_every_function_is_called(module):
    assert set(getattr(gsp, module).__all__) == set(TABLES[module]) | ELSEWHERE.get(module, set())


# ---- pairs of functions, and decompositions that are unique up to signs


def test_factors_solve():
    from scipy import linalg

    ours = gsp.linalg
    x = gs.tensor(M, requires_grad=True)
    for trans in (0, 1):
        found = ours.lu_solve(ours.lu_factor(x), V[:3], trans)
        np.testing.assert_allclose(array(found), linalg.lu_solve(linalg.lu_factor(M), V[:3], trans))
        assert found.requires_grad
    for lower in (True, False):
        np.testing.assert_allclose(
            array(ours.cho_solve(ours.cho_factor(gs.tensor(S), lower), N)), np.linalg.solve(S, N)
        )
    np.testing.assert_array_equal(array(ours.lu_factor(M)[1]), linalg.lu_factor(M)[1])


def test_bases():
    ours = gsp.linalg
    low = A[:, :1] * np.ones((1, 3))
    kernel, basis = array(ours.null_space(low)), array(ours.orth(low))
    assert kernel.shape == (3, 2) and basis.shape == (5, 1)
    np.testing.assert_allclose(low @ kernel, 0, atol=1e-12)
    for mode in ("full", "economic"):
        q, r = map(array, ours.qr(A, mode=mode))
        np.testing.assert_allclose(q @ r, A)
    (r,) = ours.qr(A, mode="r")
    assert r.shape == (5, 3)
    values, vectors = map(array, ours.eigh(S, N.T @ N + np.eye(3)))
    np.testing.assert_allclose(S @ vectors, (N.T @ N + np.eye(3)) @ vectors * values, atol=1e-10)


def test_errors():
    ours = gsp.linalg
    with pytest.raises(ValueError, match="infs or NaNs"):
        ours.solve(np.array([[np.nan]]), [1.0])
    with pytest.raises(np.linalg.LinAlgError):
        ours.solve_triangular(np.zeros((2, 2)), [1.0, 2.0])
    with pytest.raises(ValueError, match="pivoting"):
        ours.qr(M, pivoting=True)
    with pytest.raises(AttributeError, match="special functions"):
        gsp.special.wofz  # noqa: B018
    with pytest.raises(AttributeError, match="it has"):
        gsp.ndimage  # noqa: B018
    with pytest.raises(ValueError, match="2-D"):
        gsp.signal.convolve2d(V, W)


MAPPED = {
    "linalg.solve": lambda linalg, x: linalg.solve(x, V[:3]),
    "linalg.solve, pos": lambda linalg, x: linalg.solve(x @ x.T + np.eye(3), V[:3], assume_a="pos"),
    "linalg.solve_triangular": lambda linalg, x: linalg.solve_triangular(x, V[:3], lower=True),
    "linalg.solve_sylvester": lambda linalg, x: linalg.solve_sylvester(x, S, N),
    "linalg.solve_discrete_are": lambda linalg, x: linalg.solve_discrete_are(x, N, S, np.eye(3)),
    "linalg.lstsq": lambda linalg, x: linalg.lstsq(x[:, :2], V[:3])[0],
    "linalg.inv": lambda linalg, x: linalg.inv(x),
    "linalg.cho_solve": lambda linalg, x: linalg.cho_solve(linalg.cho_factor(x @ x.T + np.eye(3)), V[:3]),
    "linalg.lu": lambda linalg, x: linalg.lu(x)[2],
    "linalg.qr": lambda linalg, x: linalg.qr(x)[1],
    "linalg.expm": lambda linalg, x: linalg.expm(x),
    "linalg.sqrtm": lambda linalg, x: linalg.sqrtm(x @ x.T + np.eye(3)),
    "linalg.companion": lambda linalg, x: linalg.companion(x[0]),
    "special.binom": lambda special, x: special.binom(abs(x) + 2, 1.5),
    "special.comb": lambda special, x: special.comb(abs(x) + 2, 2.0),
    "special.poch": lambda special, x: special.poch(abs(x), 1.5),
    "special.gammasgn": lambda special, x: special.gammasgn(x * 3),
}


@pytest.mark.parametrize("name", MAPPED)
def test_slices_of_a_vmap(name):
    """What is checked of arguments is not looked at where they differ from slice to slice."""
    module, rows = name.partition(".")[0], np.stack([M, S, S @ M])
    theirs = importlib.import_module(f"scipy.{module}")
    with warnings.catch_warnings():  # of decompositions that are computed slice by slice
        warnings.simplefilter("ignore")
        found = gs.vmap(lambda x: MAPPED[name](getattr(gsp, module), x))(rows)
        slopes = gs.vmap(gs.grad(lambda x: (MAPPED[name](getattr(gsp, module), x) ** 2).sum()))(rows)
    np.testing.assert_allclose(found, np.stack([MAPPED[name](theirs, row) for row in rows]), rtol=1e-8, atol=1e-10)
    each = [gs.grad(lambda x: (MAPPED[name](getattr(gsp, module), x) ** 2).sum())(row) for row in rows]
    np.testing.assert_allclose(slopes, each, rtol=1e-8, atol=1e-10)


OTHER_ARGUMENTS = {  # that are no arrays
    "signal.convolve2d": (lambda signal, c: signal.convolve2d(A, M, "same", "fill", c), 2.0),
    "integrate.simpson": (lambda integrate, dx: integrate.simpson(A, dx=dx), 0.3),
    "integrate.cumulative_trapezoid": (lambda integrate, dx: integrate.cumulative_trapezoid(A, dx=dx), 0.3),
    "linalg.fractional_matrix_power": (lambda linalg, t: linalg.fractional_matrix_power(S, t), 2.0),
}


@pytest.mark.parametrize("name", OTHER_ARGUMENTS)
def test_gradients_by_other_arguments(name):
    module, (function, x) = name.partition(".")[0], OTHER_ARGUMENTS[name]
    theirs, h = importlib.import_module(f"scipy.{module}"), 1e-6
    expected = (np.sum(function(theirs, x + h)) - np.sum(function(theirs, x - h))) / (2 * h)
    found = gs.grad(lambda v: function(getattr(gsp, module), v).sum())(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_triangle_alone_of_a_decomposition():
    from scipy import linalg as theirs

    for matrix in (A, A.T, M):
        (found,) = linalg.qr(matrix, mode="r")
        np.testing.assert_allclose(found, theirs.qr(matrix, mode="r")[0], atol=1e-12)
    h, direction = 1e-6, np.random.default_rng(0).normal(size=A.shape)

    def slope(f):
        return (f(A + h * direction) - f(A - h * direction)) / (2 * h)

    expected = slope(lambda x: np.sum(theirs.qr(x, mode="r")[0] ** 3))
    found = gs.grad(lambda x: (linalg.qr(x, mode="r")[0] ** 3).sum())(A)
    np.testing.assert_allclose((np.asarray(found) * direction).sum(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["eval_chebyt", "eval_legendre", "eval_hermite"])
def test_polynomials_have_whole_degrees(name):
    from gradsmith.scipy import special

    with pytest.raises(ValueError, match=rf"{name}: the degree n must be a whole number"):
        getattr(special, name)(2.5, P)
    getattr(special, name)(2.0, P)


def test_derivatives_of_spherical_bessel_functions_at_zero():
    from scipy import special as theirs

    from gradsmith.scipy import special

    for n in range(4):
        np.testing.assert_allclose(special.spherical_jn(n, 0.0, True), theirs.spherical_jn(n, 0.0, True), atol=1e-15)
        second = (theirs.spherical_jn(n, 1e-5, True) - theirs.spherical_jn(n, -1e-5, True)) / 2e-5 if n != 1 else 0.0
        np.testing.assert_allclose(gs.grad(lambda x, n=n: special.spherical_jn(n, x, True))(0.0), second, atol=1e-5)
