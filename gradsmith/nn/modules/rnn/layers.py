"""Recurrent layers: Elman's, with long short-term memory, and with gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.rnn.base import RNNBase


class RNN(RNNBase):
    """``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` at each step of a sequence.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        See `RNNBase`.
    nonlinearity : {"tanh", "relu"}, optional
        The fourth positional argument.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ... : Parameter
        Of shapes (hidden_size, input_size), (hidden_size, hidden_size), (hidden_size,) and (hidden_size,), and so on
        for all layers; with ``"_reverse"`` for the other direction. At first uniform up to ``1 / sqrt(hidden_size)``.

    Notes
    -----
    Source: Elman, Finding structure in time, 1990.

    Examples
    --------
    >>> import gradsmith as gs
    >>> output, h = gs.nn.RNN(10, 20, num_layers=2)(gs.ones(5, 3, 10))
    >>> output.shape, h.shape
    ((5, 3, 20), (2, 3, 20))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """A recurrent layer whose gates decide how much of its state is kept.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        See `RNNBase`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ... : Parameter
        As those of `RNN`, with three times as many rows: for the reset gate, the update gate and the new state.

    Notes
    -----
    Source: Cho et al., Learning phrase representations using RNN encoder-decoder, 2014.

    Examples
    --------
    >>> import gradsmith as gs
    >>> output, h = gs.nn.GRU(10, 20, batch_first=True)(gs.ones(3, 5, 10))
    >>> output.shape, h.shape
    ((3, 5, 20), (1, 3, 20))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """A recurrent layer with a memory, which gates write to, forget and read.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        See `RNNBase`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ... : Parameter
        As those of `RNN`, with four times as many rows: for the input gate, the forget gate, the new memory and the
        output gate.
    weight_hr_l0, ... : Parameter
        Of shape (proj_size, hidden_size), with a projection.

    Notes
    -----
    Source: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to forget, 2000.

    Examples
    --------
    >>> import gradsmith as gs
    >>> output, (h, c) = gs.nn.LSTM(10, 20, bidirectional=True)(gs.ones(5, 3, 10))
    >>> output.shape, h.shape, c.shape
    ((5, 3, 40), (2, 3, 20), (2, 3, 20))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the memory: (layers and directions, batch, hidden_size)."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input, state and memory fit."""
        self.check_input(input, batch_sizes)
        shapes = (self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes))
        for place, shape in enumerate(shapes):
            self.check_hidden_size(hidden[place], shape, f"Expected hidden[{place}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """State and memory of the batch in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _split(self, results: Sequence[Tensor]) -> tuple[Tensor, Any]:
        return results[0], (results[1], results[2])

    def _zero_states(self, input: Tensor, batch_sizes: Any) -> Any:
        shapes = (self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes))
        return tuple(self._zeros(input, shape) for shape in shapes)

    def _each(self, hx: Any, method: str) -> Any:
        return tuple(getattr(one, method)(1) for one in hx)

    def _check_state_dims(self, hx: Any, dims: int) -> None:
        if hx[0].ndim != dims or hx[1].ndim != dims:
            kind = "batched" if dims == 3 else "unbatched"
            raise RuntimeError(
                f"For {kind} {dims}-D input, hx and cx should also be {dims}-D but got ({hx[0].ndim}-D, "
                f"{hx[1].ndim}-D) tensors"
            )


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
