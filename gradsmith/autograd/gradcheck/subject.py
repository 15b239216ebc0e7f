"""The function under test, and its value where one input is moved."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.python_data import is_tensor


def as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def is_differentiable(value: Any) -> bool:
    return is_tensor(value) and value.requires_grad


def array_of(tensor: Any) -> Array:
    """A copy of the elements."""
    return np.array(tensor.detach().numpy())


class Subject:
    """A function of tensors at one point.

    Attributes
    ----------
    inputs : tuple
        What the function is called with.
    places : tuple of int
        Which of the inputs require grad.
    """

    def __init__(self, func: Callable[..., Any], inputs: Any) -> None:
        self.func = func
        self.inputs = as_tuple(inputs)
        self.places = tuple(i for i, value in enumerate(self.inputs) if is_differentiable(value))

    @property
    def targets(self) -> list[Any]:
        """The inputs that require grad."""
        return [self.inputs[place] for place in self.places]

    def call(self, inputs: Any = None) -> tuple[Any, ...]:
        """All outputs, recorded again."""
        outputs = as_tuple(self.func(*(self.inputs if inputs is None else inputs)))
        for index, output in enumerate(outputs):
            if not is_tensor(output):
                raise TypeError(
                    f"gradcheck: func must return a Tensor or a tuple of Tensors, got {type(output).__name__} at index "
                    f"{index}"
                )
        return outputs

    @cached_property
    def outputs(self) -> tuple[Any, ...]:
        return self.call()

    @property
    def differentiable(self) -> list[int]:
        """The outputs that require grad."""
        return [index for index, output in enumerate(self.outputs) if output.requires_grad]

    def differentiable_outputs(self) -> list[Any]:
        """These outputs, recorded again."""
        return [output for output in self.call() if output.requires_grad]

    # ---- values at other points

    def moving(self, place: int) -> Callable[[Array], list[Array]]:
        """The outputs as a function of the array in one input.

        The elements are written into the tensor itself and put back afterwards, so that a function which reaches the
        tensor in another way than by its argument sees them too.
        """
        memory = self.inputs[place].detach().numpy()
        if not memory.flags.writeable:
            raise RuntimeError(
                f"The {place}th input is read-only, perhaps within write_guard(). gradcheck moves inputs where they "
                "stand in memory: call it outside, or with clones."
            )

        def function(array: Array) -> list[Array]:
            original = memory.copy()
            memory[...] = array
            try:
                return self._values(self.inputs, place)
            finally:
                memory[...] = original

        return function

    def moving_in_plane(self, place: int) -> Callable[[Array], list[Array]]:
        """The same for complex arrays in the place of a real one. All inputs that require grad become complex."""
        planes = {id(tensor): from_array(array_of(tensor).astype(np.complex128)) for tensor in self.targets}

        def function(array: Array) -> list[Array]:
            moved = {**planes, id(self.inputs[place]): from_array(array)}
            for tensor in moved.values():
                tensor.requires_grad_()
            return [array_of(output) for output in self.call([moved.get(id(one), one) for one in self.inputs])]

        return function

    def _values(self, inputs: Any, place: int) -> list[Array]:
        values = [array_of(output) for output in self.call(inputs)]
        expected = [(output.shape, output.dtype) for output in self.outputs]
        for what, index in (("shape", 0), ("dtype", 1)):
            before, after = [one[index] for one in expected], [getattr(value, what) for value in values]
            if before != after:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed, but got: "
                    f"{what}s {before} and {after} after a perturbation of input {place}."
                )
        return values


# ---- what can be tested at all


def check_inputs(subject: Subject) -> None:
    """Raise where nothing could be compared, warn where little can be expected of it."""
    if not subject.places:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for place in subject.places:
        tensor = subject.inputs[place]
        if tensor.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point or complex, but "
                f"{tensor.dtype}. This check will likely fail if all the inputs are not of double precision floating "
                "point or complex.",
                stacklevel=4,
            )
        if has_overlap(tensor):
            raise RuntimeError(
                f"The {place}th input has elements that share memory (shape {list(tensor.shape)}, strides "
                f"{tensor.stride()}). gradcheck moves one element at a time, so it only supports inputs that are "
                "non-overlapping. You should call .contiguous() on the input before passing it to gradcheck."
            )


def has_overlap(tensor: Any) -> bool:
    """Whether two elements are at one address."""
    if tensor.numel() == 0:
        return False
    offsets = np.zeros((1,), np.int64)
    for size, stride in zip(tensor.shape, tensor.stride()):
        if size > 1 and stride == 0:
            return True
        offsets = np.add.outer(offsets, np.arange(size) * stride).ravel()
    return len(np.unique(offsets)) < len(offsets)
