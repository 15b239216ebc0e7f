"""Without SciPy, each function says how to install it; and importing the package does not import SciPy."""

import subprocess
import sys

import pytest

from gradsmith import optimize


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("minimize", (abs, 1.0)),
        ("minimize_scalar", (abs,)),
        ("least_squares", (abs, 1.0)),
        ("curve_fit", (abs, [1.0], [1.0], [1.0])),
        ("root", (abs, 1.0)),
        ("root_scalar", (abs, (), None, (0, 1))),
    ],
)
def test_the_extra_is_named(monkeypatch, name, arguments):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    message = rf"optimize\.{name}\(\) needs scipy\.optimize, which is not installed: pip install 'gradsmith\[scipy\]'"
    with pytest.raises(ModuleNotFoundError, match=message):
        getattr(optimize, name)(*arguments)


def test_it_is_imported_when_it_is_used():
    code = "import sys, gradsmith; assert 'gradsmith.optimize' not in sys.modules; gradsmith.optimize.minimize; " \
        "assert 'scipy' not in sys.modules"  # fmt: skip
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_example_runs():
    import doctest

    pytest.importorskip("scipy")
    from gradsmith.optimize import minimization, residuals, roots

    for module in (optimize, minimization, residuals, roots):
        done = doctest.testmod(module)
        assert done.attempted and not done.failed, module.__name__
