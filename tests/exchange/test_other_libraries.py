"""Libraries that take arrays take tensors, each where it is installed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradsmith as gs


def test_scipy_dispatches_on_tensors():
    """SciPy reads its switch when it is imported, so another process has it on."""
    pytest.importorskip("scipy", minversion="1.14")
    code = """
import numpy as np
import scipy.fft, scipy.signal, scipy.special, scipy.stats
import gradsmith as gs
values = np.random.default_rng(0).normal(size=20)
for name, function in {
    "logsumexp": scipy.special.logsumexp, "softmax": scipy.special.softmax, "erf": scipy.special.erf,
    "gammaln": lambda x: scipy.special.gammaln(abs(x)), "zscore": scipy.stats.zscore, "skew": scipy.stats.skew,
    "kurtosis": scipy.stats.kurtosis, "gmean": lambda x: scipy.stats.gmean(abs(x)), "fft": scipy.fft.fft,
    "variation": scipy.stats.variation, "dct": scipy.fft.dct, "ttest": lambda x: scipy.stats.ttest_1samp(x, 0.1)[1],
}.items():
    found = function(gs.tensor(values))
    assert type(found) is gs.Tensor, (name, type(found))
    np.testing.assert_allclose(found.numpy(), function(values), rtol=1e-10, err_msg=name)
x = gs.tensor(values, requires_grad=True)
for function in (scipy.special.logsumexp, scipy.stats.skew, lambda x: scipy.stats.gmean(abs(x))):
    assert gs.autograd.gradcheck(function, (x,))
print("done")
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout == "done\n", run.stderr


def test_scikit_learn_dispatches_on_tensors():
    pytest.importorskip("sklearn", minversion="1.5")
    code = """
import numpy as np
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler
import gradsmith as gs
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
for name, function in {
    "StandardScaler": lambda X, y: StandardScaler().fit_transform(X),
    "MinMaxScaler": lambda X, y: MinMaxScaler().fit_transform(X),
    "PCA": lambda X, y: PCA(2, svd_solver="full").fit(X).explained_variance_,
    "Ridge": lambda X, y: Ridge(solver="svd").fit(X, X[:, 0]).coef_,
    "LDA": lambda X, y: LinearDiscriminantAnalysis().fit(X, y).predict(X),
}.items():
    with config_context(array_api_dispatch=True):
        found = function(gs.tensor(X), gs.tensor(y))
    assert type(found) is gs.Tensor, (name, type(found))
    np.testing.assert_allclose(found.numpy(), function(X, y), rtol=1e-6, err_msg=name)
with config_context(array_api_dispatch=True):
    assert accuracy_score(gs.tensor(y), gs.tensor(y)) == 1.0
    assert r2_score(gs.tensor(X[:, 0]), gs.tensor(X[:, 0])) == 1.0
print("done")
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout == "done\n", run.stderr


def test_array_api_compat_knows_tensors():
    compat = pytest.importorskip("array_api_compat")
    x = gs.ones(2, 3)
    assert compat.is_array_api_obj(x) and compat.array_namespace(x) is gs.array_api
    assert compat.size(x) == 6 and compat.device(x) == x.device and compat.to_device(x, "cpu") is x


def test_pandas_takes_tensors():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(gs.arange(3.0))
    assert series.tolist() == [0.0, 1.0, 2.0] and series.dtype == np.float32
    frame = pandas.DataFrame(gs.arange(6).reshape(2, 3), columns=list("abc")).assign(d=gs.ones(2))
    assert frame.to_numpy().tolist() == [[0, 1, 2, 1], [3, 4, 5, 1]]
    assert gs.as_tensor(series).tolist() == series.tolist() and gs.tensor(frame[["a", "b"]]).shape == (2, 2)
    with pytest.raises(RuntimeError, match="Use tensor.detach"):
        pandas.Series(gs.ones(2, requires_grad=True))


def test_xarray_keeps_tensors_and_their_gradients():
    xarray = pytest.importorskip("xarray")
    x = gs.arange(6.0).reshape(2, 3).requires_grad_()
    named = xarray.DataArray(x, dims=("row", "column"))
    weighted = (named * xarray.DataArray(gs.tensor([1.0, 2.0, 3.0]), dims="column")).sum("column")
    assert type(weighted.data) is gs.Tensor and weighted.data.tolist() == [8.0, 26.0]
    weighted.data.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 3.0]] * 2
    assert named.isel(row=1).data.tolist() == [3.0, 4.0, 5.0]
    assert named.where(named.data > 2, 0.0).data.tolist() == [[0.0, 0.0, 0.0], [3.0, 4.0, 5.0]]


def test_matplotlib_draws_tensors():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    x = gs.arange(4.0)
    assert np.asarray(axes.plot(x, x * 2)[0].get_ydata()).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert axes.imshow(x.reshape(2, 2)).get_array().shape == (2, 2)
    assert axes.hist(x)[0].sum() == 4 and len(axes.bar(x, x)) == 4
    axes.figure.canvas.draw()
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach"):
        axes.plot(gs.ones(2, requires_grad=True))
    axes.plot(gs.ones(2, requires_grad=True).detach())


@pytest.mark.parametrize("package", ["einops", "opt_einsum"])
def test_what_is_not_installed_says_how_to_install_it(package):
    code = f"import sys; sys.modules[{package!r}] = None; import gradsmith.utils.{package}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"needs {package}, which is not installed: pip install gradsmith[{package}]" in run.stderr
