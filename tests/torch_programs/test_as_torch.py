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
        with pytest.raises(
            ModuleNotFoundError, match=r"No module named 'torch\.export'\. torch\.export has no counterpart"
        ):
            importlib.import_module("torch.export")
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
    assert not any(type(finder).__module__.startswith("gradsmith.compat") for finder in sys.meta_path)


def test_a_block_that_is_never_left(tmp_path):
    program = """
    import gradsmith as gs
    torch = gs.compat.as_torch().__enter__()
    import torch.utils._pytree as trees
    print(trees.tree_leaves([1, [2]]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")


@pytest.mark.skipif("torch" in sys.modules, reason="PyTorch has been imported")
def test_a_function_with_a_block_of_its_own():
    @gs.compat.as_torch()
    def imported(depth):
        import torch

        return torch if depth == 0 else imported(depth - 1)

    assert imported(2) is gs and "torch" not in sys.modules


def test_modules_by_attribute_and_by_import():
    with gs.compat.as_torch():
        from torch.distributions.distribution import Distribution
        from torch.utils.hooks import RemovableHandle
    assert gs.distributions.distribution.Distribution is Distribution is gs.distributions.Distribution
    assert isinstance(gs.nn.Linear(1, 1).register_forward_hook(print), RemovableHandle)


# ---- the version

VERSIONS = [
    "0.1", "1.10.0", "1.9", "1.10.0a", "1.10.0a1", "1.10.0.a2", "1.10.0b2", "1.10.0rc1", "1.10.0-alpha.3",
    "1.10.0.dev3", "1.10.0a1.dev2", "1.10.0.post1", "1.10.0-1", "1.10.0.post1.dev2", "1.10.0+cu118",
    "1.10.0+cpu", "1.10.0+2", "1.10", "1.10.1", "2", "2.0.0", "v2.0", "2.13.0", "2.13.0.dev20260101", "2.13",
]  # fmt: skip


def test_versions_have_the_order_of_packages():
    version = pytest.importorskip("packaging.version").Version
    for first in VERSIONS:
        for second in VERSIONS:
            for method in ("__lt__", "__le__", "__eq__", "__ne__", "__ge__", "__gt__"):
                expected = getattr(version(first), method)(version(second))
                made = gs.torch_version.TorchVersion(first)
                assert getattr(made, method)(second) is expected, (first, method, second)
                assert getattr(made, method)(version(second)) is expected


def test_versions_and_other_things():
    version = gs.torch_version.TorchVersion("2.13.0")
    assert version > (2, 9) and version >= (2, 13) and version == [2, 13, 0] and version < ("3", "0a1")
    assert version == "2.13.0" and version != "parrot" and version < "parrot" and hash(version) == hash("2.13.0")
    assert version.split(".")[:2] == ["2", "13"] and f"{version}" == "2.13.0"


@pytest.mark.skipif("torch" in sys.modules, reason="PyTorch has been imported")
def test_the_version_and_the_name_within_a_block():
    own = gs.__version__
    with pytest.raises(ZeroDivisionError), gs.compat.as_torch():
        import torch

        assert torch.__version__ == torch.version.__version__ == "2.13.0" and torch.__version__ >= (2, 0)
        with gs.compat.as_torch():
            from torch.torch_version import TorchVersion

            assert torch.__name__ == "torch" and torch.torch is torch
        assert isinstance(torch.__version__, TorchVersion) and torch.__name__ == "torch"
        with pytest.raises(AttributeError, match=r"'gradsmith' has no attribute 'return_types': torch\.return_types"):
            torch.return_types  # noqa: B018
        1 / 0  # noqa: B018
    assert gs.__version__ == gs.version.__version__ == own and gs.__name__ == "gradsmith"


def test_the_version_of_the_package_is_its_own(tmp_path):
    """In modules that are imported within a block too."""
    program = """
    import gradsmith as gs
    with gs.compat.as_torch():
        from gradsmith.environment import facts
        print(facts()["gradsmith"].split()[0], gs.array_api.__version__)
    print(gs.__version__)
    """
    shown, after = run(program, tmp_path)
    assert shown.split() == [after, after]


# ---- what libraries find in the dicts of modules

LOOKING = """
import gradsmith as gs
if {block}:
    gs.compat.as_torch().__enter__()
import importlib
for name in {modules}:
    module = importlib.import_module(f"gradsmith.{{name}}")
    print(name, sorted(set(module.__all__) - set(vars(module))))
for _, found in gs.optim.__dict__.items():
    getattr(gs.optim, "LBFGS")
    gs.optim.lr_scheduler
"""


@pytest.mark.parametrize("block", [True, False])
def test_modules_have_their_names_in_their_dict(block, tmp_path):
    modules = ["distributions", "nn.utils", "nn.modules", "optim", "autograd", *block * ["nn", "nn.functional"]]
    assert run(LOOKING.format(block=block, modules=modules), tmp_path) == [f"{name} []" for name in modules]


def test_modules_stay_lazy(tmp_path):
    program = """
    import sys
    import gradsmith as gs
    with gs.compat.as_torch():
        import torch.nn as nn, torch.optim, torch.distributions
        dir(torch.optim), dir(nn), torch.optim.SGD, nn.functional.relu
        print("gradsmith.optim.lbfgs" in sys.modules, "gradsmith.nn.recurrent" in sys.modules)
    print(type(nn.functional).__name__)
    """
    assert run(program, tmp_path) == ["False False", "module"]


def test_modules_for_libraries_after_the_change_of_one_line(tmp_path):
    program = """
    import sys
    import gradsmith as torch
    print(any(name.startswith("gradsmith.compat") for name in sys.modules))
    import gradsmith.functional, gradsmith.hub, gradsmith.onnx, gradsmith.overrides, gradsmith.nn.common_types
    from gradsmith._utils import _flatten_dense_tensors
    from gradsmith.nn.utils.stateless import functional_call
    from gradsmith.types import Device, Number
    from gradsmith.utils.model_zoo import load_url
    print(gradsmith.types is torch.types is sys.modules["gradsmith.compat.torch.types"], torch.types.__name__)
    print(torch.types.__spec__.name, load_url is torch.hub.load_state_dict_from_url)
    with torch.compat.as_torch():
        import torch.types, torch.overrides
        from torch.nn.utils.stateless import functional_call as other
        print(torch.types.Device is Device, torch.overrides is gradsmith.overrides, other is functional_call)
    for name in ("gradsmith.export", "gradsmith.nn.utils.fusion2", "gradsmith.nowhere"):
        try:
            __import__(name)
        except ModuleNotFoundError as error:
            print(error.name, "|", error)
    """
    *printed, with_reason, _, _ = found = run(program, tmp_path)
    assert printed == [
        "False",
        "True gradsmith.compat.torch.types",
        "gradsmith.compat.torch.types True",
        "True True True",
    ]
    name, problem = with_reason.split(" | ")
    assert name == "gradsmith.export" and problem.startswith(
        "No module named 'gradsmith.export'. torch.export has no counterpart in gradsmith. Functions run"
    )
    assert found[-2:] == [
        "gradsmith.nn.utils.fusion2 | No module named 'gradsmith.nn.utils.fusion2'",
        "gradsmith.nowhere | No module named 'gradsmith.nowhere'",
    ]


def test_a_module_with_the_name_of_a_function(tmp_path):
    program = """
    import gradsmith as gs
    with gs.compat.as_torch():
        import torch.autograd.gradcheck
        from torch.optim.adamw import AdamW
    print(callable(gs.autograd.gradcheck), AdamW is gs.optim.AdamW)
    """
    assert run(program, tmp_path) == ["True True"]


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

# Its matrices are no tensors, and take functions over.
GPYTORCH = """
import numpy as np
import gradsmith as gs
with gs.compat.as_torch():
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean = gpytorch.means.ZeroMean()
            self.kernel = gpytorch.kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    x = gs.linspace(0, 1, 5, dtype=gs.float64)
    y = gs.sin(6 * x)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Model(x, y, likelihood).double()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)(model(x), y)
    evidence.backward()
    slope = model.kernel.raw_lengthscale.grad.item()

def log_density(raw):
    length, noise = np.log1p(np.exp(raw)), likelihood.noise.item()
    a, b = x.numpy(), y.numpy()
    cov = np.exp(-((a[:, None] - a) ** 2) / (2 * length**2)) + noise * np.eye(5)
    return -0.5 * (b @ np.linalg.solve(cov, b) + np.linalg.slogdet(cov)[1] + 5 * np.log(2 * np.pi)) / 5

raw = model.kernel.raw_lengthscale.item()
print(abs(evidence.item() - log_density(raw)) < 1e-6)
print(abs(slope - (log_density(raw + 1e-5) - log_density(raw - 1e-5)) / 2e-5) < 1e-5)
"""


@pytest.mark.parametrize(
    "library, program, printed",
    [
        ("torchdiffeq", ODE, ["True True", "True True"]),
        ("einops", EINOPS, ["(3, 8) [7.5, 11.5, 15.5]"]),
        ("gpytorch", GPYTORCH, ["True", "True"]),
    ],
)
def test_library(library, program, printed, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    assert run(program, tmp_path) == printed
