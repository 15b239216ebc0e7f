"""Functions and operators compared with HIPS autograd itself, where it is installed.

python tests/hips/against_autograd.py      print what differs; a whole run takes seconds
"""

import importlib
import sys
import warnings
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import gradsmith.compat.hips as ours
from tests.numpy_namespace.calls import CALLS, FFT, LINALG

# Names of HIPS autograd that no program needs, and functions whose gradient it gets wrong or does not have.
INTERNAL = {"numpy_jvps", "numpy_wrapper", "custom_where", "wrap_namespace"}


def names_missing(theirs):
    """(module, names) that are there and not here."""
    for module in (
        "",
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "numpy.random",
        "numpy.numpy_boxes",
        "scipy.special",
        "scipy.linalg",
        "scipy.signal",
        "scipy.integrate",
        "scipy.stats",
        "scipy.stats.norm",
        "misc",
        "misc.flatten",
        "misc.optimizers",
        "misc.fixed_points",
        "extend",
        "test_util",
        "builtins",
        "tracer",
        "wrap_util",
        "core",
        "differential_operators",
        "numpy.numpy_vspaces",
    ):
        there = importlib.import_module(f"autograd.{module}".rstrip("."))
        try:
            here = importlib.import_module(f"gradsmith.compat.hips.{module}".rstrip("."))
        except ImportError as error:
            yield module, [str(error)]
            continue
        names = [n for n in dir(there) if not n.startswith("_") and type(getattr(there, n)).__name__ != "module"]
        yield module, [n for n in names if not hasattr(here, n) and n not in INTERNAL]


def floats(value):
    """The places of arrays of float64 in arguments."""
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in floats(item)]
    return [value] if isinstance(value, numpy.ndarray) and value.dtype == numpy.float64 else []


def filled(value, arrays):
    if isinstance(value, (list, tuple)):
        return type(value)(filled(item, arrays) for item in value)
    return next(arrays) if isinstance(value, numpy.ndarray) and value.dtype == numpy.float64 else value


def gradients(library, module, name, args, kwargs):
    """Value of a weighted sum of the results, and its gradients by all arrays."""
    np = importlib.import_module(f"{library}.numpy")
    function = getattr(importlib.import_module(f"{library}.{module}"), name)
    builtins = importlib.import_module(f"{library}.builtins")
    grad = importlib.import_module(library).value_and_grad

    def total(arrays):
        found = function(*filled(args, iter(arrays)), **kwargs)
        parts = found if builtins.isinstance(found, (list, tuple)) else [found]
        whole = 0.0
        for part in parts:
            part = np.real(part) + np.imag(part) if np.iscomplexobj(part) else part
            whole = whole + np.sum(
                part * np.cos(1.0 + numpy.arange(int(numpy.prod(np.shape(part))))).reshape(np.shape(part))
            )
        return whole

    return grad(lambda arrays: total(list(arrays)))(tuple(floats(args)))


def differences():
    """(name, what it is) for each call whose value or gradients differ."""
    tables = {"numpy": CALLS, "numpy.linalg": LINALG, "numpy.fft": FFT}
    for module, table in tables.items():
        for name, several in table.items():
            for number, (args, kwargs) in enumerate(several):
                if floats(args):
                    found = compared(module, name, args, kwargs)
                    if found:
                        yield f"{module}.{name} {number}", found


def compared(module, name, args, kwargs):
    try:
        expected = gradients("autograd", module, name, args, kwargs)
    except Exception:
        return None  # it has no gradient there
    try:
        found = gradients("gradsmith.compat.hips", module, name, args, kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    for one, other in zip([found[0], *found[1]], [expected[0], *expected[1]]):
        if numpy.shape(one) != numpy.shape(other) or not numpy.allclose(
            one, other, rtol=1e-6, atol=1e-8, equal_nan=True
        ):
            return f"{one} here, {other} there"
    return None


def main():
    import autograd

    warnings.simplefilter("ignore")
    for module, names in names_missing(autograd):
        if names:
            print(f"{module or 'autograd'}: {' '.join(names)}")
    for name, what in differences():
        print(f"{name}: {what}")
    return ours


if __name__ == "__main__":
    main()
