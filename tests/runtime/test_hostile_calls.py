"""Nothing that Python can reach ends the process, and nothing takes forever: see hostile_calls.py."""

import importlib.util
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradsmith

pytestmark = pytest.mark.long

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What joins another package, which need not be installed.
OPTIONAL = {"gradsmith.utils.einops": "einops", "gradsmith.utils.opt_einsum": "opt_einsum"}
# Plain Python that writes files and starts compilers, starts or ends processes, which is no place for arguments without
# sense.
LEFT_OUT = (
    "gradsmith.codegen",
    "gradsmith.compiling",
    "gradsmith.extension",
    "gradsmith.verify",
    "gradsmith.multiprocessing",
    "gradsmith.parallel.crews.worker",
)
SECONDS = 300


def modules():
    """Names of all modules, compiled or not, public or not."""
    found = pkgutil.walk_packages(gradsmith.__path__, "gradsmith.", onerror=lambda name: None)
    absent = tuple(name for name, package in OPTIONAL.items() if importlib.util.find_spec(package) is None)
    return [m.name for m in found if not m.name.startswith((*LEFT_OUT, *absent)) and not m.name.endswith("__main__")]


def batches():
    """The modules, in groups of one folder and a first letter."""
    groups = {}
    for name in modules():
        folder, _, module = name.rpartition(".")
        groups.setdefault(f"{folder}.{module[0]}", []).append(name)
    return groups


BATCHES = batches()


def test_every_compiled_module_is_in_a_batch():
    compiled = [path for folder in ("runtime", "generated") for path in (ROOT / folder).rglob("*.pyx")]
    assert len(compiled) > 70 and len(modules()) > len(compiled)


@pytest.mark.parametrize("batch", BATCHES)
def test_no_call_ends_the_process(batch, tmp_path):
    log = tmp_path / "last call"
    done = subprocess.run(
        [sys.executable, str(HERE / "hostile_calls.py"), str(log), *BATCHES[batch]],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    last = log.read_text().strip()
    assert last == "the end" and done.returncode == 0, f"{last}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize(
    "code, message",
    [
        ("gs.Tensor._make_subclass(None)", "TypeError"),
        ("gs.Tensor._make_subclass(gs.Tensor, None)", "TypeError: .*'data' must be Tensor"),
        ("type(y.grad_fn).__new__(type(y.grad_fn))(gs.ones(2))", "RuntimeError: ExpBackward0 was not recorded"),
        ("saved_hooks.KeptTensor.__new__(saved_hooks.KeptTensor).get()", "RuntimeError: .*no tensor has been kept"),
        (
            "saved_attributes.SavedAttribute.__new__(saved_attributes.SavedAttribute).__get__(y.grad_fn, None)",
            "TypeError",
        ),
        ("type(y.grad_fn).__dict__['_saved_result'].__get__((y * y).grad_fn, None)", "TypeError: .*of other nodes"),
        ("from_shared_array(np.float32(1))", "TypeError: expected an ndarray"),
        ("shapes.T_of(None)", "TypeError: expected an ndarray"),
        ("pointwise.clone_of(None)", "TypeError: expected an ndarray"),
    ],
)
def test_what_once_crashed(code, message):
    prepared = (
        "import numpy as np, gradsmith as gs\nfrom gradsmith.runtime.history import saved_attributes, saved_hooks\n"
        "from gradsmith.runtime.arrays.functions import pointwise, shapes\n"
        "from gradsmith.runtime.graph.tensor import from_shared_array\n"
        f"y = gs.ones(2, requires_grad=True).exp()\n{code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", prepared], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert_matches(message, done.stderr.splitlines()[-1])


def assert_matches(pattern, text):
    with pytest.raises(RuntimeError, match=pattern):
        raise RuntimeError(text)
