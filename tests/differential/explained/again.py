"""The steps before a difference, carried out again by gradsmith alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable

import numpy as np

import gradsmith as gs

from ..compare import Difference
from ..machine import Machine
from ..program import Step

# The tensor that PyTorch finds changed, such as `torch.FloatTensor [2, 3]` or `CPUComplexFloatType [2, 3]`.
NAMED = re.compile(r"modified by an inplace operation: \[(?:torch\.|CPU)(\w+)(?:Tensor|Type) \[(.*?)\]\]")
KINDS = {
    "float16": "Half", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long",
}  # fmt: skip


def machine_after(steps: Iterable[Step]) -> Machine:
    """In a thread of its own, since levels of forward mode may be open in this one."""
    machine = Machine(gs)

    def run() -> None:
        for step in steps:
            machine.run(step)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return machine


def gradient_after(steps: Iterable[Step], name: str) -> np.ndarray | None:
    """The numbers of a tensor's `grad` after these steps."""
    machine = machine_after(steps)
    tensor = machine.tensors().get(name)
    gradient = None if tensor is None else machine.gradient(tensor)
    return None if gradient is None else np.array(machine.array(gradient))


def finds_changed(difference: Difference, names: Iterable[str | None], kinds: str = ".*") -> bool:
    """Whether PyTorch alone refuses, and the tensor that it finds changed can be one of these by dtype and shape."""
    found = NAMED.search(str(difference.theirs))
    if difference.aspect != "error" or difference.ours != "no error" or found is None:
        return False
    tensors = machine_after(difference.history).tensors()
    candidates = {KINDS[str(t.dtype)] + str(list(t.shape)) for n, t in tensors.items() if n.split("[")[0] in {*names}}
    return re.fullmatch(kinds, found[1]) is not None and f"{found[1]}[{found[2]}]" in candidates
