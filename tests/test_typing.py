"""The types that a program which uses the package sees."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import gradsmith as gs
import gradsmith.nn.functional as F

x = gs.ones(2, 3, requires_grad=True)
y = (x * 2 + 1).exp().sum()
y.backward()
reveal_type(x)
reveal_type(y)
reveal_type(x @ x.T)
reveal_type(x.grad)
reveal_type(F.relu(x))
reveal_type(x.shape)
with gs.no_grad():
    reveal_type(x.max(0).indices)
    reveal_type(gs.max(x, 0, out=gs.min(x, 0)).values)

@gs.no_grad()
def doubled(a: gs.Tensor) -> gs.Tensor:
    return a * 2

reveal_type(doubled(x))
x + "2"
"""

TENSOR = "gradsmith.generated.tensor.Tensor"


def test_types_of_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    size = "gradsmith.runtime.graph.size.Size"
    assert revealed == [TENSOR, TENSOR, TENSOR, f"{TENSOR} | None", TENSOR, size, TENSOR, TENSOR, TENSOR]
    [error] = re.findall(r"program\.py:\d+: error: (.*)", done.stdout)
    assert error.startswith('Unsupported operand types for + ("Tensor" and "str")')
