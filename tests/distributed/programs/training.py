"""A model and data that all ranks have alike."""

import numpy as np

import gradsmith as gs

F = gs.nn.functional
GENERATOR = np.random.default_rng(0)
INPUTS = gs.tensor(GENERATOR.standard_normal((24, 8)))
LABELS = gs.tensor(GENERATOR.integers(0, 4, 24))


class Network(gs.nn.Module):
    """Two layers, and one that is not always used."""

    def __init__(self, with_third=False):
        super().__init__()
        self.first, self.second = gs.nn.Linear(8, 15), gs.nn.Linear(15, 4)
        if with_third:
            self.third = gs.nn.Linear(4, 4)
        self.register_buffer("scale", gs.ones(1))

    def forward(self, x, uses_third=False):
        y = self.second(self.first(x * self.scale).tanh())
        return self.third(y) if uses_third else y


def network(seed=0, with_third=False):
    gs.manual_seed(seed)
    return Network(with_third).double()


def loss_of(model, inputs=INPUTS, labels=LABELS, **options):
    return F.cross_entropy(model(inputs, **options), labels)


def train(model, optimizer, steps, inputs=INPUTS, labels=LABELS, **options):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, inputs, labels, **options).backward()
        optimizer.step()


def expect_same_parameters(one, other, tolerance=1e-13):
    for (name, a), b in zip(one.named_parameters(), other.parameters()):
        np.testing.assert_allclose(a.detach(), b.detach(), rtol=0, atol=tolerance, err_msg=name)
