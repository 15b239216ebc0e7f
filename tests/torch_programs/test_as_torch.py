"""Libraries that import torch, with gradsmith under that name."""

import importlib
import importlib.util
import subprocess
import sys
import textwrap

import pytest

import gradsmith as gs


def run(program, folder):
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


LIBRARY = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, optim
from torch.autograd import Function
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.layer(x))

def fit():
    net = Net()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4, 1)), batch_size=2):
        F.mse_loss(net(x), y).backward()
        optimizer.step()
    return net

def later():
    import torch
    return torch
"""


def test_a_library_that_imports_torch(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    program = """
    import sys
    sys.path.insert(0, ".")
    import gradsmith as gs
    with gs.compat.as_torch() as torch:
        import library
        print(torch is gs, library.torch is gs, library.nn is gs.nn, library.F is gs.nn.functional)
        print(library.later() is gs)
    print(isinstance(library.fit(), gs.nn.Module), library.Function is gs.autograd.Function)
    print([name for name in sys.modules if name.partition(".")[0] == "torch"])
    print(gs.nn.__name__, gs.nn.__spec__.name, gs.optim.lr_scheduler.__spec__.name)
    try:
        import torch_that_is_not_there
    except ModuleNotFoundError as error:
        print(error)
    """
    assert run(program, tmp_path) == [
        "True True True True",
        "True",
        "True True",
        "[]",
        "gradsmith.nn gradsmith.nn gradsmith.optim.lr_scheduler",
        "No module named 'torch_that_is_not_there'",
    ]


def test_pytorch_itself_is_not_replaced(tmp_path):
    (tmp_path / "torch.py").write_text("")
    program = """
    import sys
    sys.path.insert(0, ".")
    import torch
    import gradsmith as gs
    try:
        with gs.compat.as_torch():
            pass
    except RuntimeError as error:
        print(error)
    print(sys.modules["torch"] is torch, torch.__name__)
    """
    message, rest = run(program, tmp_path)
    assert message.startswith("as_torch(): PyTorch itself has been imported") and rest == "True torch"


def test_what_is_missing_says_why():
    with gs.compat.as_torch():
        with pytest.raises(ModuleNotFoundError, match=r"No module named 'torch\.hub'\. torch\.hub has no counterpart"):
            importlib.import_module("torch.hub")
        with pytest.raises(ImportError):
            from torch import nonsense  # noqa: F401


@pytest.mark.skipif("torch" in sys.modules, reason="PyTorch has been imported")
def test_blocks_may_be_nested_and_end_with_an_error():
    with gs.compat.as_torch():
        with gs.compat.as_torch() as inner:
            assert inner is gs
        assert sys.modules["torch"] is gs
    with pytest.raises(ZeroDivisionError), gs.compat.as_torch():
        1 / 0  # noqa: B018
    assert "torch" not in sys.modules
    assert not any(type(finder).__module__.startswith("gradsmith") for finder in sys.meta_path)


# ---- libraries, where they are installed

ODE = """
import math
import gradsmith as gs
with gs.compat.as_torch():
    from torchdiffeq import odeint, odeint_adjoint

class Decay(gs.nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = gs.nn.Parameter(gs.tensor(0.7, dtype=gs.float64))

    def forward(self, t, y):
        return -self.rate * y

with gs.compat.as_torch():
    for method in (odeint, odeint_adjoint):
        f = Decay()
        y = method(f, gs.ones(1, dtype=gs.float64), gs.linspace(0, 1, 3, dtype=gs.float64), rtol=1e-9, atol=1e-9)
        y[-1].sum().backward()
        print(abs(y[-1].item() - math.exp(-0.7)) < 1e-7, abs(f.rate.grad.item() + math.exp(-0.7)) < 1e-6)
"""

EINOPS = """
import gradsmith as gs
with gs.compat.as_torch():
    import einops
    x = gs.arange(24.0).reshape(2, 3, 4)
    print(einops.rearrange(x, "a b c -> b (a c)").shape, einops.reduce(x, "a b c -> b", "mean").tolist())
"""


@pytest.mark.parametrize(
    "library, program, printed",
    [
        ("torchdiffeq", ODE, ["True True", "True True"]),
        ("einops", EINOPS, ["(3, 8) [7.5, 11.5, 15.5]"]),
    ],
)
def test_library(library, program, printed, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    assert run(program, tmp_path) == printed
