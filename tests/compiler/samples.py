"""Samples of the table as functions of their tensors, with two sets of numbers."""

from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.verify.case import Setting
from gradsmith.verify.samples import as_tensors, places_of, replaced

Arrays = list[np.ndarray[Any, Any]]


class Sample:
    """One sample of an entry: its tensors are the arguments of `values` and the other functions."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.places = [place for place, _ in places_of(setting.values)]
        self.first = self._arrays(setting.values)
        self.second = self._arrays(setting.redrawn(1))

    def _arrays(self, values: dict[str, Any]) -> Arrays:
        return [np.array(array) for _, array in places_of(values)]

    def tensors(self, arrays: Arrays) -> list[Any]:
        """Leaves; those with a gradient require one."""
        wanted = set(self.setting.places)
        return [
            gs.tensor(array, requires_grad=place in wanted and array.dtype.kind in "fc")
            for place, array in zip(self.places, arrays)
        ]

    def called(self, tensors: list[Any]) -> dict[str, Any]:
        values = as_tensors(self.setting.values)
        return replaced(values, dict(zip(self.places, tensors)))

    def values(self, *tensors: Any) -> list[Any]:
        """The results of the op."""
        return list(self.setting.subject.call(self.called(list(tensors))))

    def gradients(self, *tensors: Any) -> list[Any]:
        """Gradients of a weighted sum of the results."""
        return list(self._gradients(list(tensors), create_graph=False))

    def second_gradients(self, *tensors: Any) -> list[Any]:
        """Gradients of the sum of squares of the gradients."""
        leaves = self._leaves(list(tensors))
        found = [one for one in self._gradients(list(tensors), create_graph=True) if one is not None]
        found = [one for one in found if one.requires_grad]
        if not found:
            return []
        total = sum((one * one.conj()).real.sum() for one in found)
        return list(grad(total, leaves, allow_unused=True))

    def _leaves(self, tensors: list[Any]) -> list[Any]:
        return [tensor for tensor in tensors if tensor.requires_grad]

    def _gradients(self, tensors: list[Any], create_graph: bool) -> Any:
        leaves = self._leaves(tensors)
        results = self.setting.subject.differentiable(self.setting.subject.call(self.called(tensors)))
        results = [result for result in results if result.requires_grad]
        if not results or not leaves:
            return []
        weights = [
            gs.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape) for result in results
        ]
        return grad(results, leaves, weights, create_graph=create_graph, allow_unused=True)
