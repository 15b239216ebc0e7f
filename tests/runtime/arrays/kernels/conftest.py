"""The kernels under the ops, called directly; the helpers in this folder are importable by its tests."""

import sys
from pathlib import Path

import pytest

from gradsmith.runtime.arrays import array

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)
# Kernels as Python functions, compiled for these tests. Last, so that another build of them can come before.
sys.path.append(str(Path(HERE).parents[2] / "compiled"))


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = array.get_num_threads()
    array.set_num_threads(request.param)
    yield request.param
    array.set_num_threads(before)
