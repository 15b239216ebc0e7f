"""Affine maps of the last dimension."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.lazy import LazyModuleMixin
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter, UninitializedParameter
from gradsmith.runtime.tensors.factories.creation import empty

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]


class Identity(Module):
    """Returns its input; takes any arguments and does not use them.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Identity(54, unused=True)(gs.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    """``input @ weight.T + bias``, over the last dimension.

    Parameters
    ----------
    in_features, out_features : int
        The sizes of the last dimension of input and output.
    bias : bool, optional
        Whether there is a bias.
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_features, in_features), at first uniform up to ``1 / sqrt(in_features)``, as the bias.
    bias : Parameter or None
        Of shape (out_features,).

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Linear(20, 30)
    >>> layer(gs.ones(128, 20)).shape
    (128, 30)
    """

    __constants__ = ("in_features", "out_features")
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.linear`."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that attention has for its output projection."""


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias[k]`` for every output feature k, over the last dimensions.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        The sizes of the last dimensions of the inputs and of the output.
    bias : bool, optional
        Whether there is a bias.
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_features, in1_features, in2_features), at first uniform up to ``1 / sqrt(in1_features)``, as the
        bias.
    bias : Parameter or None
        Of shape (out_features,).

    Raises
    ------
    ValueError
        `in1_features` is not positive.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Bilinear(2, 3, 4)(gs.ones(5, 2), gs.ones(5, 3)).shape
    (5, 4)
    """

    __constants__ = ("in1_features", "in2_features", "out_features")
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """See `nn.functional.bilinear`."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` whose `in_features` is the last size of the first input.

    Parameters
    ----------
    out_features : int
    bias : bool, optional
    device, dtype : optional
        Those of the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyLinear(3)
    >>> layer(gs.ones(1, 2)).shape
    (1, 3)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that the input asks for."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
            self.reset_parameters()
        if self.in_features == 0:  # a state was loaded
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
