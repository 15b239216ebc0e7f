"""Training steps through modules, and the same step by hand with the functions that they call."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program, Run
from ...contestants import library
from ...contestants.eager import outcome, uncompared
from ..data import images, labels, normal

Loss = Callable[[Any, Any], Any]
RATE = 0.1


def module_step(inputs: int, hidden: int, batch: int) -> Builders:
    shapes = ((hidden, inputs), (hidden,), (10, hidden), (10,))
    arrays = [normal(*shape) for shape in shapes]
    data = (images(batch, inputs), labels(batch, 10))
    return {
        "gradsmith": lambda: program(through_modules, arrays, data),
        "by hand": lambda: program(by_hand, arrays, data),
    }


def program(make: Callable[[Any, list[Array]], tuple[Loss, list[Any], Run]], arrays: list[Array], data: Any) -> Program:
    lib = library("gradsmith")
    loss, parameters, update = make(lib, arrays)
    x, y = map(lib.tensor, data)

    def run() -> None:
        loss(x, y).backward()
        update()

    return Program(run, lambda: outcome(run, parameters))


def through_modules(lib: Any, arrays: list[Array]) -> tuple[Loss, list[Any], Run]:
    """With layers, a loss and an optimizer of the library."""
    nn = lib.nn
    hidden, inputs = arrays[0].shape
    net, loss = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10)), nn.CrossEntropyLoss()
    parameters = list(net.parameters())
    with lib.no_grad():
        for parameter, array in zip(parameters, arrays):
            parameter.copy_(lib.tensor(array))
    optimizer = lib.optim.SGD(parameters, lr=RATE)

    def update() -> None:
        optimizer.step()
        optimizer.zero_grad()

    return lambda x, y: loss(net(x), y), parameters, update


def by_hand(lib: Any, arrays: list[Array]) -> tuple[Loss, list[Any], Run]:
    """With the functions that layers and losses call, and an update of each parameter in place."""
    functional = lib.nn.functional
    parameters = [lib.tensor(array, requires_grad=True) for array in arrays]

    def loss(x: Any, y: Any) -> Any:
        w, b, v, c = parameters
        return functional.cross_entropy(functional.linear(functional.relu(functional.linear(x, w, b)), v, c), y)

    def update() -> None:
        with lib.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=RATE)
                p.grad = None

    return loss, parameters, update


def pass_over_data(count: int, batch: int) -> Builders:
    """A `DataLoader` over images and labels, in random order."""

    def build(lib: Any, x: Any, y: Any) -> Run:
        data = importlib.import_module(f"{lib.__name__}.utils.data")
        loader = data.DataLoader(data.TensorDataset(x, y), batch, shuffle=True)

        def run() -> None:
            for _ in loader:
                pass

        return run

    return uncompared(build, normal(count, 64), np.arange(count), requires_grad=False)


def rows() -> Iterator[Case]:
    for inputs, hidden in ((64, 32), (784, 256)):
        name = f"step of modules {inputs}-{hidden}-10, batch of 32"
        yield Case(name, module_step, (inputs, hidden, 32), (4, 3, 2), "by hand 1.15", rounds=60)
    yield Case("DataLoader, 1000 samples, batch 32", pass_over_data, (1000, 32), (10, 3), "torch 1/5")
