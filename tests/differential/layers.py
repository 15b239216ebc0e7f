"""Layers of gradsmith and of PyTorch with the same state, on the same inputs: ``python -m tests.differential.layers``.

Compares text, names of the state, outputs, gradients of inputs and parameters, and buffers afterwards, for all layers
in `tests/nn/layers.txt`; with ``--write`` it first fills in what PyTorch says of them. It needs PyTorch.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
from layer_table import PATH, Line, arrays, lines, shape_text, state_text, tensors_in

# PyTorch's gradient of the loss of alignments is that of what goes into `log_softmax`.
EXPLAINED = {"nn.CTCLoss": ("gradient of input 0 differs",)}


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    if "--write" in arguments:
        write(torch)
    found = [
        (line, difference)
        for line in lines()
        for difference in differences(line, torch)
        if difference not in EXPLAINED.get(line.source.partition("(")[0], ())
    ]
    for line, difference in found:
        print(f"{line.source}; {line.inputs}: {difference}")
    print(f"{len(lines())} layers, {len(found)} differences")
    return 1 if found else 0


# ---- what PyTorch says


def write(torch: Any) -> None:
    head = [row for row in PATH.read_text(encoding="utf-8").splitlines() if row.startswith("#")]
    rows = ["; ".join(filled(line, torch)).replace("; ; ", ";; ") for line in lines()]
    PATH.write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


def filled(line: Line, torch: Any) -> Line:
    layer = made(line, torch.nn)
    outputs = tensors_in(called(layer, line, torch)[1], torch.Tensor) if line.inputs else []
    text = repr(layer).replace("\n", "\\n")
    return line._replace(
        text=text, state=state_text(layer.state_dict()), outputs=" ".join(shape_text(tuple(o.shape)) for o in outputs)
    )


# ---- comparison


def differences(line: Line, torch: Any) -> Iterator[str]:
    try:
        yield from each_difference(line, torch)
    except Exception as error:
        yield f"{type(error).__name__}: {error}"


def each_difference(line: Line, torch: Any) -> Iterator[str]:
    theirs, ours = made(line, torch.nn), made(line, nn)
    if line.inputs and "Lazy" in line.source:
        called(theirs, line, torch)
        called(ours, line, gs)
    if repr(theirs) != repr(ours):
        yield f"text {ours!r} instead of {theirs!r}"
    state = theirs.state_dict()
    if list(state) != list(ours.state_dict()):
        yield f"state {list(ours.state_dict())} instead of {list(state)}"
    ours.load_state_dict({name: gs.tensor(value.numpy().copy()) for name, value in state.items()})
    if line.inputs:
        yield from differences_of_calls(line, theirs, ours, torch)


def differences_of_calls(line: Line, theirs: Any, ours: Any, torch: Any) -> Iterator[str]:
    for (name, value), (_, own) in zip(results(theirs, line, torch), results(ours, line, gs), strict=True):
        if (value is None) != (own is None):
            yield f"{name} is {own} instead of {value}"
        elif value is not None and (
            value.shape != own.shape or not np.allclose(value, own, rtol=1e-7, atol=1e-9, equal_nan=True)
        ):
            yield f"{name} differs"


def made(line: Line, nn: Any) -> Any:
    return eval(line.source, {"nn": nn}).double()


def called(layer: Any, line: Line, library: Any) -> tuple[list[Any], Any]:
    """The inputs and the output."""
    inputs = [library.tensor(array) for array in arrays(line.inputs)]
    if not line.source.endswith("Loss()"):
        inputs = [one.requires_grad_() if one.is_floating_point() else one for one in inputs]
    elif inputs[0].is_floating_point():
        inputs[0].requires_grad_()
    return inputs, layer(*inputs)


def results(layer: Any, line: Line, library: Any) -> Iterator[tuple[str, Any]]:
    """(name, array) of outputs, gradients and buffers."""
    inputs, output = called(layer, line, library)
    outputs = tensors_in(output, type(library.zeros(1)))
    for number, one in enumerate(outputs):
        yield f"output {number}", one.detach().numpy()
    recorded = [one for one in outputs if one.requires_grad]
    yield "number of recorded outputs", np.array(len(recorded))
    if recorded:
        sum((one * weights(one, library)).sum() for one in recorded).backward()
    named = [*((f"input {number}", one) for number, one in enumerate(inputs)), *layer.named_parameters()]
    for name, tensor in named:
        yield f"gradient of {name}", None if tensor.grad is None else tensor.grad.numpy()
    for name, buffer in layer.named_buffers():
        yield f"buffer {name}", buffer.numpy()


def weights(tensor: Any, library: Any) -> Any:
    return library.tensor(np.cos(np.arange(tensor.numel(), dtype=float)).reshape(tuple(tensor.shape)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
