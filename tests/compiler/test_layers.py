"""Steps of training with each layer of the table, compiled: the bits of eager, of losses, gradients and states."""

import layer_table
import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn, optim

# In a program each cluster of an AdaptiveLogSoftmaxWithLoss has all rows, see test_values.py.
LINES = [line for line in layer_table.lines() if line.inputs and "AdaptiveLogSoftmax" not in line.source]
STEPS = 3


class Training:
    """A layer, a factor of its first input, and an optimizer of both."""

    def __init__(self, line):
        self.line = line
        gs.manual_seed(0)
        self.layer = eval(line.source, {"nn": nn}).double()
        self.layer(*self.inputs(0))  # what is lazy becomes what it is
        self.factor = gs.ones(1, dtype=gs.float64, requires_grad=True)
        self.optimizer = optim.Adam([self.factor, *self.layer.parameters()], lr=1e-3)

    def inputs(self, seed):
        return [gs.tensor(array) for array in layer_table.arrays(self.line.inputs, seed)]

    def step(self, first, *rest):
        self.optimizer.zero_grad()
        first = first * self.factor if first.is_floating_point() else first
        outputs = layer_table.tensors_in(self.layer(first, *rest), gs.Tensor)
        loss = sum((output * output).sum() for output in outputs if output.is_floating_point())
        if loss.requires_grad:
            loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run(self, step):
        """Losses of some steps, and all that has changed by them."""
        gs.manual_seed(1)
        losses = [step(*self.inputs(seed)).numpy().copy() for seed in range(STEPS)]
        return [
            *losses,
            self.factor.detach().numpy(),
            *(one.detach().numpy() for one in self.layer.state_dict().values()),
        ]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.source} {line.inputs}")
def test_steps_have_the_bits_of_eager(line):
    eager, compiled = Training(line), Training(line)
    step = gs.compile(compiled.step)
    for one, other in zip(compiled.run(step), eager.run(eager.step), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(step.programs) == 1
