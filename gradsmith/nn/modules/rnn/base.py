"""Base class of recurrent layers: weights by layer and direction, and the shapes of states."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import init
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.rnn.functions import function
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty, zeros

if TYPE_CHECKING:
    from typing_extensions import Self

# Mode -> how many gates there are.
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Weights, settings and checks of `RNN`, `LSTM` and `GRU`.

    Parameters
    ----------
    mode : {"LSTM", "GRU", "RNN_TANH", "RNN_RELU"}
    input_size, hidden_size : int
        The sizes of a step of the input, and of the state.
    num_layers : int, optional
        Each layer runs over the outputs of the one before.
    bias : bool, optional
        Whether there are biases.
    batch_first : bool, optional
        Whether input and output are (batch, steps, size) instead of (steps, batch, size).
    dropout : float, optional
        The probability of a zero among the outputs of all layers but the last, in training.
    bidirectional : bool, optional
        Whether each layer also runs from the end to the beginning.
    proj_size : int, optional
        The size to which the output of an LSTM is projected; 0 for no projection.
    device, dtype : optional
        Those of the parameters.

    Raises
    ------
    TypeError, ValueError
        A size or setting is not possible.
    """

    __constants__ = (
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    )  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_dropout(dropout, num_layers)
        _check_kinds(bias=(bias, bool), batch_first=(batch_first, bool))
        _check_kinds(input_size=(input_size, int), hidden_size=(hidden_size, int))
        _check_sizes(input_size, hidden_size, num_layers, proj_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_weights(layer, suffix, device, dtype)
        self.reset_parameters()

    def _add_weights(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        gates, state = GATES[self.mode] * self.hidden_size, self._output_size
        inputs = self.input_size if layer == 0 else state * self._directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, inputs), "weight_hh": (gates, state)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes.update(weight_hr=(self.proj_size, self.hidden_size))
        named = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
        for name, shape in named.items():
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        self._all_weights.append(list(named))

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        """What `forward` computes with: the parameters, unless another list has been set."""
        return self.__dict__.get("_set_weights") or [getattr(self, name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Tensor]) -> None:
        self.__dict__["_set_weights"] = weights

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self.__dict__.get("_set_weights") and name in self._flat_weights_names:
            self.__dict__["_set_weights"][self._flat_weights_names.index(name)] = value

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self.__dict__.pop("_set_weights", None)
        return super()._apply(fn, recurse)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing to be done: weights are used where they are."""

    def reset_parameters(self) -> None:
        """Draw the parameters anew: uniformly, up to ``1 / sqrt(hidden_size)``."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ---- checks

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise unless the input has the dtype, dimensions and size that the weights ask for."""
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 3 if batch_sizes is None else 2
        if input.ndim != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of a state: (layers and directions, batch, size)."""
        return self._state_shape(input, batch_sizes, self._output_size)

    def _state_shape(self, input: Tensor, batch_sizes: Any, size: int) -> tuple[int, int, int]:
        batch = input.shape[0 if self.batch_first else 1] if batch_sizes is None else int(batch_sizes.numpy()[0])
        return (self.num_layers * self._directions, batch, size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise unless a state has the expected shape."""
        if hx.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input and state fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states of the batch in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # ---- calls

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over a sequence.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape (steps, batch, input_size), with the first two exchanged when `batch_first`, or without a batch.
        hx : Tensor, or two of them for an LSTM, optional
            The states before the first step, (layers and directions, batch, size); zeros when they are not given.

        Returns
        -------
        output : Tensor or PackedSequence
            The last layer's states after each step.
        hx : Tensor, or two of them for an LSTM
            The states of all layers after the last step.
        """
        if hasattr(input, "batch_sizes"):
            return self._over_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D tensor instead")
        if hx is not None:
            self._check_state_dims(hx, input.ndim)
        if input.ndim == 3:
            return self._over_batch(input, hx)
        batch_dim = 0 if self.batch_first else 1
        output, hx = self._over_batch(input.unsqueeze(batch_dim), None if hx is None else self._each(hx, "unsqueeze"))
        return output.squeeze(batch_dim), self._each(hx, "squeeze")

    def _over_batch(self, input: Tensor, hx: Any) -> Any:
        hx = self._zero_states(input, None) if hx is None else hx
        self.check_forward_args(input, hx, None)
        return self._split(self._function()(input, hx, self._flat_weights, *self._settings(), self.batch_first))

    def _over_packed(self, packed: Any, hx: Any) -> Any:
        input, batch_sizes, order, original_order = packed
        hx = self._zero_states(input, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(input, hx, batch_sizes)
        results = self._function()(input, batch_sizes, hx, self._flat_weights, *self._settings())
        output, hx = self._split(results)
        return type(packed)(output, batch_sizes, order, original_order), self.permute_hidden(hx, original_order)

    def _settings(self) -> tuple[Any, ...]:
        return self.bias, self.num_layers, self.dropout, self.training, self.bidirectional

    def _function(self) -> Any:
        return function(self.mode.lower())

    def _split(self, results: Sequence[Tensor]) -> tuple[Tensor, Any]:
        """(output, states) of what the function returns."""
        return results[0], results[1]

    def _zero_states(self, input: Tensor, batch_sizes: Any) -> Any:
        return self._zeros(input, self.get_expected_hidden_size(input, batch_sizes))

    def _zeros(self, input: Tensor, shape: tuple[int, int, int]) -> Tensor:
        return zeros(shape, dtype=input.dtype, device=input.device)

    def _each(self, hx: Any, method: str) -> Any:
        """The state with, or without, a batch of one."""
        return getattr(hx, method)(1)

    def _check_state_dims(self, hx: Any, dims: int) -> None:
        if hx.ndim != dims:
            kind = "batched" if dims == 3 else "unbatched"
            raise RuntimeError(f"For {kind} {dims}-D input, hx should also be {dims}-D but got {hx.ndim}-D tensor")

    def extra_repr(self) -> str:
        return ", ".join(self._shown())

    def _shown(self) -> Iterator[str]:
        yield f"{self.input_size}, {self.hidden_size}"
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        for name, default in {**defaults, "bidirectional": False}.items():
            if getattr(self, name) != default:
                yield f"{name}={getattr(self, name)}"


def _check_dropout(dropout: Any, num_layers: int) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )


def _check_kinds(**values: tuple[Any, type]) -> None:
    for name, (value, kind) in values.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")


def _check_sizes(input_size: int, hidden_size: int, num_layers: int, proj_size: int) -> None:
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
