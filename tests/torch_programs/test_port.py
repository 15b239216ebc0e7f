"""``python -m gradsmith port``: what a program uses that is missing here, or does something else."""

import json

import pytest

from gradsmith.compat import port
from gradsmith.compat.used_names import uses_in

PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import export as models, optim
from torch.utils.data import DataLoader as Loader
import numpy as np

net = nn.Linear(2, 3).cuda()
x = torch.randn(3, device="cuda")
y = torch.compile(net)(x.to("cpu"))
z = nn.Linaer(2)
loss = F.mse_loss(y, x.bfloat16())
model = models.load("a", "b")
opt = optim.Adam(net.parameters())
torch.Tensor.foo, torch.float32.itemsize, np.nonsense
torch.package.PackageImporter()
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_report(program, capsys):
    assert port.main([str(program)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(f"{program}:").split(". ")[0] for line in lines[:-1]] == [
        "4:19: torch.export: missing",
        "8:7: .cuda: otherwise",
        '9:27: "cuda": otherwise',
        "10:5: torch.compile: otherwise",
        "11:5: torch.nn.Linaer: missing",
        "12:22: .bfloat16: perhaps",
        "13:9: torch.export.load: missing",
        "15:1: torch.Tensor.foo: missing",
        "16:1: torch.package.PackageImporter: missing",
    ]
    assert (
        "Functions run as Python" in lines[0]
        and "Did you mean 'Linear'" in lines[4]
        and "If this is a tensor" in lines[5]
    )
    assert lines[-1] == "5 missing, 3 with another meaning, 1 perhaps missing, 10 as they are"


def test_json(program, capsys):
    assert port.main(["--json", str(program)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"missing": 5, "otherwise": 3, "perhaps": 1, "fine": 10}
    assert found["findings"][0]["name"] == "torch.export" and found["findings"][0]["line"] == 4
    assert set(found["findings"][0]) == {"path", "line", "column", "name", "kind", "reason"}


def test_nothing_missing(tmp_path, capsys):
    (tmp_path / "fine.py").write_text("import torch\nprint(torch.ones(2).sum(), torch.nn.Module)\n")
    assert port.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 missing, 0 with another meaning, 3 as they are\n"
    assert port.main(["--all", str(tmp_path)]) == 0
    assert "torch.nn.Module: fine" in capsys.readouterr().out


def test_numpy_alone(tmp_path, capsys):
    path = tmp_path / "p.py"
    path.write_text("import numpy as np\nnp.sum(np.ones(3)), np.busday_count(1, 2), np.linalg.norm(3)\n")
    assert port.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "numpy.busday_count has no counterpart" in out and "1 missing" in out


def test_autograd(tmp_path, capsys):
    path = tmp_path / "p.py"
    path.write_text("import autograd.numpy as np\nfrom autograd import grad, nonsense\ngrad(np.sin)(1.0)\n")
    assert port.main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "2:28: autograd.nonsense: missing" in out and out.endswith(
        "1 missing, 0 with another meaning, 3 as they are\n"
    )


def test_files_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "wrong.py").write_text("def (:\n")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    assert port.main([str(tmp_path), str(tmp_path / "none.py")]) == 2
    errors = capsys.readouterr().err
    assert "wrong.py" in errors and "bytes.py" in errors and "none.py" in errors


def test_programs_are_not_run(tmp_path, capsys):
    (tmp_path / "p.py").write_text("import torch\nraise SystemExit('it ran')\n")
    assert port.main([str(tmp_path / "p.py")]) == 0
    assert "it ran" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "source, names",
    [
        ("import torch.nn.functional as F\nF.relu", ["torch.nn.functional", "torch.nn.functional.relu"]),
        ("import torch.nn\ntorch.nn.Linear", ["torch.nn", "torch.nn.Linear"]),
        ("from torch.nn import Linear as L\nL(2).weight", ["torch.nn.Linear", ".weight"]),
        ("from torch import *", ["torch"]),
        ("from . import torch\nfrom .torch import nn", []),
        ("def f():\n    return torch.ones\nimport torch", ["torch.ones", "torch"]),
        ("torch.ones", [".ones"]),
        ("import torch\nf(device='cuda')", ["torch", '"cuda"']),
        ("import torchvision", []),
    ],
)
def test_names(source, names):
    assert [use.name for use in uses_in(source, ("torch",))] == names
