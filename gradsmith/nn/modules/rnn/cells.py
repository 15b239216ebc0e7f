"""Cells: one step of a recurrent layer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import init
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.rnn.functions import function
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty, zeros


class RNNCellBase(Module):
    """Weights of a cell, and its step.

    Parameters
    ----------
    input_size, hidden_size : int
        The sizes of the input and of the state.
    bias : bool
        Whether there are biases.
    num_chunks : int
        How many gates there are.
    device, dtype : optional
        Those of the parameters.
    """

    __constants__ = ("input_size", "hidden_size", "bias")
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew: uniformly, up to ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, name: str, input: Tensor, hx: Any) -> Any:
        """The function of a name, of an input (batch, input_size) or (input_size,)."""
        self._check_dims("input", input)
        if input.ndim == 1:
            return self._without_batch(self._step(name, input.unsqueeze(0), self._with_batch(hx)))
        self._check_sizes(input, () if hx is None else hx if isinstance(hx, tuple) else (hx,))
        hx = self._zeros(input) if hx is None else hx
        return function(name)(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def _check_dims(self, what: str, value: Tensor) -> None:
        if value.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {value.ndim}D instead")

    def _check_sizes(self, input: Tensor, hidden: tuple[Tensor, ...]) -> None:
        batch, size = input.shape
        if size != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {size} expected {self.input_size}")
        for place, state in enumerate(hidden):
            if state.shape[0] != batch:
                raise RuntimeError(f"Input batch size {batch} doesn't match hidden{place} batch size {state.shape[0]}")
            if state.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{place} has inconsistent hidden_size: got {state.shape[1]}, expected {self.hidden_size}"
                )

    def _zeros(self, input: Tensor) -> Any:
        return zeros((input.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)

    def _with_batch(self, hx: Any) -> Any:
        return None if hx is None else hx.unsqueeze(0)

    def _without_batch(self, hx: Any) -> Any:
        return hx.squeeze(0)

    def extra_repr(self) -> str:
        return ", ".join(self._shown())

    def _shown(self) -> Iterator[str]:
        yield f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            yield f"bias={self.bias}"


class RNNCell(RNNCellBase):
    """``tanh(W_ih x + b_ih + W_hh h + b_hh)``.

    Parameters
    ----------
    input_size, hidden_size : int
        The sizes of the input and of the state.
    bias : bool, optional
        Whether there are biases.
    nonlinearity : {"tanh", "relu"}, optional
    device, dtype : optional
        Those of the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.RNNCell(10, 20)(gs.ones(3, 10)).shape
    (3, 20)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The state after a step from state `hx`, zero when it is not given."""
        if hx is not None:
            self._check_dims("hidden", hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, hx)  # type: ignore[no-any-return]

    def _shown(self) -> Iterator[str]:
        yield from super()._shown()
        if self.nonlinearity != "tanh":
            yield f"nonlinearity={self.nonlinearity}"


class GRUCell(RNNCellBase):
    """A step of `GRU`.

    Parameters
    ----------
    input_size, hidden_size : int
        The sizes of the input and of the state.
    bias : bool, optional
        Whether there are biases.
    device, dtype : optional
        Those of the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.GRUCell(10, 20)(gs.ones(3, 10)).shape
    (3, 20)
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The state after a step from state `hx`, zero when it is not given."""
        if hx is not None:
            self._check_dims("hidden", hx)
        return self._step("gru_cell", input, hx)  # type: ignore[no-any-return]


class LSTMCell(RNNCellBase):
    """A step of `LSTM`.

    Parameters
    ----------
    input_size, hidden_size : int
        The sizes of the input and of the state.
    bias : bool, optional
        Whether there are biases.
    device, dtype : optional
        Those of the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> h, c = gs.nn.LSTMCell(10, 20)(gs.ones(3, 10))
    >>> h.shape, c.shape
    ((3, 20), (3, 20))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """State and memory after a step from `hx`, state and memory, zero when they are not given."""
        for place, value in enumerate(hx or ()):
            self._check_dims(f"hx[{place}]", value)
        return self._step("lstm_cell", input, hx)  # type: ignore[no-any-return]

    def _zeros(self, input: Tensor) -> Any:
        state = super()._zeros(input)
        return state, state

    def _with_batch(self, hx: Any) -> Any:
        return None if hx is None else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))

    def _without_batch(self, hx: Any) -> Any:
        return hx[0].squeeze(0), hx[1].squeeze(0)
