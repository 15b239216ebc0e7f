"""Carries out the steps of a program in one library and says what is there afterwards."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import prelude
from .program import Step

PRELUDE = compile(inspect.getsource(prelude).replace("import gradsmith as lib\n", ""), prelude.__file__, "exec")


@dataclass
class Facts:
    """All that is observed of a tensor."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    is_leaf: bool
    version: int
    is_view: bool
    has_node: bool
    retains_grad: bool
    array: np.ndarray
    start: int  # address of the first element


@dataclass
class Outcome:
    error: str | None  # name of the exception's type
    message: str
    value: Any  # what the step gave


class Machine:
    def __init__(self, library):
        self.library = library
        self.names: dict[str, Any] = {"lib": library, "__name__": "prelude"}
        exec(PRELUDE, self.names)

    def run(self, step: Step) -> Outcome:
        self.names.pop("_", None)
        source = step.source() if step.gives else step.source().replace(step.expression(), assigned(step), 1)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(compile(source, "step", "exec"), self.names)
        except Exception as error:
            return Outcome(type(error).__name__, str(error), None)
        return Outcome(None, "", self.names.get(step.gives or "_"))

    def close(self):
        """Leave the levels of forward mode that the program has opened."""
        exit_level = self.library.autograd.forward_ad.exit_dual_level
        for _ in range(5):
            try:
                exit_level()
            except Exception:
                return

    def tensors(self) -> dict[str, Any]:
        """The values of the program that are tensors, by the text that names them."""
        found = {}
        for name, value in self.names.items():
            if name[0] == "t" and name[1:].isdigit():
                found.update(self.tensors_in(name, value))
        return found

    def tensors_in(self, name: str, value: Any) -> dict[str, Any]:
        if isinstance(value, (tuple, list)):
            parts = ((f"{name}[{number}]", part) for number, part in enumerate(value))
            return {key: part for key, part in parts if self.is_tensor(part)}
        return {name: value} if self.is_tensor(value) else {}

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.library.Tensor)

    def log(self):
        return self.names["log"]

    def facts(self, tensor: Any) -> Facts:
        """Facts about a tensor; a view whose history cannot be made anew refuses to say some of them."""
        try:
            return self._facts(tensor)
        except RuntimeError as error:
            return Facts(
                f"refused: {type(error).__name__}", (), (), False, False, 0, False, False, False, np.zeros(0), 0
            )

    def _facts(self, tensor: Any) -> Facts:
        return Facts(
            dtype=str(tensor.dtype).removeprefix("torch."),
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            requires_grad=tensor.requires_grad,
            is_leaf=tensor.is_leaf,
            version=-1 if tensor.is_inference() else tensor._version,
            is_view=tensor._is_view(),
            has_node=tensor.grad_fn is not None,
            retains_grad=tensor.retains_grad,
            array=np.array(self.array(tensor)),
            start=tensor.data_ptr(),
        )

    def gradient(self, tensor: Any) -> Any:
        """The `grad` of a tensor, if it can have one."""
        try:
            return tensor.grad if tensor.is_leaf or tensor.retains_grad else None
        except RuntimeError:
            return None

    def array(self, tensor: Any) -> np.ndarray:
        """The memory of a tensor (a copy of it where PyTorch conjugates lazily)."""
        plain = tensor.detach()
        if hasattr(plain, "resolve_conj"):
            plain = plain.resolve_conj().resolve_neg()
        if str(plain.dtype) == "torch.complex32":  # NumPy has none
            plain = plain.to(self.library.complex64)
        return plain.numpy()


def assigned(step: Step) -> str:
    """The expression so that its result can be looked at, unless it is a statement."""
    return step.expression() if " = " in step.call or "= {" in step.call else f"_ = {step.expression()}"
