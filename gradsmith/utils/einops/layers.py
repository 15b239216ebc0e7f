"""The layers of einops as modules of gradsmith: `Rearrange`, `Reduce` and `EinMix`.

from gradsmith.utils.einops.layers import Rearrange
model = nn.Sequential(nn.Conv2d(3, 8, 3), Rearrange("b c h w -> b (c h w)"), nn.LazyLinear(10))
"""

from __future__ import annotations

from typing import Any

import gradsmith as gs
from gradsmith.nn.modules.module.module import Module
from gradsmith.nn.parameter import Parameter
from gradsmith.utils.optional import required

_layers = required("einops", "gradsmith.utils.einops", "einops.layers")
RearrangeMixin: Any = _layers.RearrangeMixin
ReduceMixin: Any = _layers.ReduceMixin
EinmixMixin: Any = required("einops", "gradsmith.utils.einops", "einops.layers._einmix")._EinmixMixin

__all__ = ["EinMix", "Rearrange", "Reduce"]


class Rearrange(RearrangeMixin, Module):
    """``einops.rearrange`` as a layer.

    Parameters
    ----------
    pattern : str
        What stands where before and after.
    **axes_lengths : int
        Sizes that do not follow from the input.
    """

    def forward(self, input: gs.Tensor) -> gs.Tensor:
        return self._apply_recipe(input)  # type: ignore[no-any-return]


class Reduce(ReduceMixin, Module):
    """``einops.reduce`` as a layer.

    Parameters
    ----------
    pattern : str
        What stands where before, and what is left after.
    reduction : {"min", "max", "sum", "mean", "prod", "any", "all"}
    **axes_lengths : int
        Sizes that do not follow from the input.
    """

    def forward(self, input: gs.Tensor) -> gs.Tensor:
        return self._apply_recipe(input)  # type: ignore[no-any-return]


class EinMix(EinmixMixin, Module):
    """A sum of products with a weight that the layer has, between two rearrangements.

    Parameters
    ----------
    pattern : str
        Axes of the input and of the result.
    weight_shape : str
        Axes of the weight.
    bias_shape : str, optional
        Axes of the bias; without it there is none.
    **axes_lengths : int
        Sizes of the axes of weight and bias.
    """

    def _create_parameters(self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float) -> None:
        self.weight = Parameter(gs.empty(weight_shape).uniform_(-weight_bound, weight_bound))
        self.bias = None
        if bias_shape is not None:
            self.bias = Parameter(gs.empty(bias_shape).uniform_(-bias_bound, bias_bound))

    def _create_rearrange_layers(
        self, pre_pattern: str | None, pre_lengths: Any, post_pattern: str | None, post_lengths: Any
    ) -> None:
        self.pre_rearrange = None if pre_pattern is None else Rearrange(pre_pattern, **pre_lengths)
        self.post_rearrange = None if post_pattern is None else Rearrange(post_pattern, **post_lengths)

    def forward(self, input: gs.Tensor) -> gs.Tensor:
        ready = input if self.pre_rearrange is None else self.pre_rearrange(input)
        result = gs.einsum(self.einsum_pattern, ready, self.weight)
        if self.bias is not None:
            result = result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)
