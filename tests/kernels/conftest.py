"""The kernels under the ops, called directly; what their tests share lies beside them."""

import sys
from pathlib import Path

import pytest

from gradsmith.runtime import array

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = array.get_num_threads()
    array.set_num_threads(request.param)
    yield request.param
    array.set_num_threads(before)
