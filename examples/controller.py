"""A controller in C whose model and derivatives are written in Python.

A pendulum on a cart is to be kept upright. Each step takes one Newton step on the forces of the next moments.
Gradient and Hessian of the cost are exported as `newton.c`, and `controller.c`, which could run without any operating
system, calls them.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import gradsmith as gs

HORIZON, STEP = 8, 0.05


def moved(state, force):
    """The pendulum's angle and speed, one step later."""
    angle, speed = state[0], state[1]
    return gs.stack([angle + STEP * speed, speed + STEP * (9.81 * angle.sin() - force * angle.cos())])


def cost(forces, state):
    total = 0.001 * (forces * forces).sum()
    for i in range(HORIZON):
        state = moved(state, forces[i])
        total = total + 10 * state[0] ** 2 + state[1] ** 2
    return total


def derivatives(forces, state):
    return gs.func.grad(cost)(forces, state), gs.func.hessian(cost)(forces, state), moved(state, forces[0])


def main(folder: Path) -> None:
    forces, state = gs.zeros(HORIZON, dtype=gs.float64), gs.tensor([0.3, 0.0], dtype=gs.float64)
    files = gs.graph.export_c(derivatives, [forces, state], "newton", folder)
    print(f"{', '.join(file.name for file in files)} written")
    if shutil.which("cc") is None:
        print("no C compiler: the controller is not run")
        return
    program = folder / "controller"
    sources = [str(Path(__file__).with_name("controller.c")), str(files[0])]
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    subprocess.run(["cc", *flags, *sources, "-lm", "-o", str(program)], check=True)
    print(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
