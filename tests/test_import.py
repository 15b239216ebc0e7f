"""What ``import gradsmith`` brings in, beyond NumPy: it must stay quick."""

import math
import subprocess
import sys

import gradsmith

# Each takes milliseconds to import and is needed, if at all, by something the user asks for.
HEAVY = {
    "dataclasses",
    "numpy.random",
    "gradsmith.generated.op_table",
    "gradsmith.outside",
    "gradsmith.profiler",
    "pathlib",
    "tempfile",
    "concurrent.futures",
    "asyncio",
    "ctypes",
    "scipy",
    "jinja2",
    "yaml",
    "setuptools",
    "Cython",
}


def test_nothing_heavy_is_imported():
    code = "import sys, numpy; before = set(sys.modules); import gradsmith; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_every_public_name_is_there_once():
    assert len(gradsmith.__all__) == len(set(gradsmith.__all__))
    assert all(hasattr(gradsmith, name) for name in gradsmith.__all__)


def test_constants():
    assert (gradsmith.inf, gradsmith.pi, gradsmith.e, gradsmith.newaxis) == (
        math.inf,
        math.pi,
        math.e,
        None,
    ) and math.isnan(gradsmith.nan)
    assert gradsmith.ones(2)[gradsmith.newaxis].shape == (1, 2)
    assert {"inf", "nan", "pi", "e", "newaxis"} <= set(gradsmith.__all__)
