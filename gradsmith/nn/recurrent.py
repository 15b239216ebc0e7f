"""Recurrent layers over whole sequences, and single steps of them, with the arguments that ``torch.lstm`` has.

What a step adds to the previous one is one product for all steps; the steps themselves are one op for each layer and
direction, such as `lstm_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradsmith.generated import cat, linear, reshape, stack, transpose
from gradsmith.generated.recurrent import first_rows, gru_steps, lstm_steps, rnn_steps
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.dropouts import dropout as dropped

__all__ = [
    "gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell",
]  # fmt: skip


class _Weights(NamedTuple):
    """Those of one layer in one direction."""

    of_input: Tensor
    of_output: Tensor
    input_bias: Tensor | None = None
    output_bias: Tensor | None = None
    projection: Tensor | None = None


class _Layout(NamedTuple):
    """Settings besides tensors: batch sizes of all steps, and the options of the network."""

    batch_sizes: list[int]
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool


# The rows of all steps, weights, states before the first step, batch sizes and direction -> rows and last states.
_Layer: TypeAlias = Callable[[Tensor, _Weights, Sequence[Tensor], list[int], bool], tuple[Tensor, tuple[Tensor, ...]]]


class _Cell(NamedTuple):
    name: str
    gates: int
    states: int
    run: _Layer


def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory: ``lstm(input, hx, params, ...)``, or ``lstm(data, batch_sizes, hx, params, ...)``.

    Parameters
    ----------
    input : Tensor
        Sequences of one length: (steps, batch, features), or (batch, steps, features) with `batch_first`.
    data, batch_sizes : Tensor
        Instead of `input` the parts of a `nn.utils.rnn.PackedSequence`: rows of features step by step, and how many
        sequences have each step.
    hx : sequence of Tensor
        Outputs and cells before the first step: (layers * directions, batch, size) each. Their sizes differ where there
        are projections.
    params : sequence of Tensor
        For each layer, and in it for each direction: the weight of the input (4 * hidden, features), the weight of the
        output (4 * hidden, size), with `has_biases` two biases (4 * hidden,), with projections one (size, hidden).
        Gates are input, forget, cell and output.
    has_biases : bool
        Whether there are biases.
    num_layers : int
        How many layers; each goes over the outputs of the one before.
    dropout : float
        The probability of a zero in what goes from one layer to the next in training.
    train : bool
        Whether there is dropout.
    bidirectional : bool
        Each layer goes over the steps forwards and backwards.
    batch_first : bool
        Of `input` alone: batches come before steps, in the output too.

    Returns
    -------
    tuple of Tensor
        Outputs of the last layer at all steps, laid out like the input, of directions * size features; then the last
        outputs and the last cells of all layers and directions, like `hx`.

    Raises
    ------
    RuntimeError
        There are no steps, sizes or dtypes do not go together, or there are too many or too few parameters.

    Notes
    -----
    With the gates i, f, g, o of a step, c' = f c + i g and h' = o tanh(c'), as in Hochreiter and Schmidhuber, Long
    Short-Term Memory, 1997, and Gers et al., Learning to Forget, 2000; projections are those of Sak et al., 2014.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x, h = gs.ones(5, 2, 3), gs.zeros(1, 2, 4)
    >>> params = [gs.zeros(16, 3), gs.zeros(16, 4)]
    >>> output, last, cells = gs.lstm(x, (h, h + 1), params, False, 1, 0.0, False, False, False)
    >>> output.shape, last.shape
    ((5, 2, 4), (1, 2, 4))
    >>> cells[0, 0, 0]
    tensor(0.0312)
    """
    return _run(_LSTM, args, kwargs)  # type: ignore[return-value]


def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Gated recurrent units: ``gru(input, hx, params, ...)``, or ``gru(data, batch_sizes, hx, params, ...)``.

    Parameters and results are those of `lstm`, with these differences: `hx` is one tensor, the outputs before the first
    step; the gates are reset, update and new; there are no cells and no projections.

    Returns
    -------
    tuple of Tensor
        Outputs of the last layer at all steps, and the last outputs of all layers and directions.

    Raises
    ------
    RuntimeError
        As `lstm`.

    Notes
    -----
    With the gates r, z, n of a step, h' = (1 - z) n + z h, where r multiplies what n takes from h after its weight and
    bias, as in Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014, version 3.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x, h = gs.ones(5, 2, 3), gs.ones(1, 2, 4)
    >>> output, last = gs.gru(x, h, [gs.zeros(12, 3), gs.zeros(12, 4)], False, 1, 0.0, False, False, False)
    >>> output.shape, last[0, 0, 0]
    ((5, 2, 4), tensor(0.0312))
    """
    return _run(_GRU, args, kwargs)  # type: ignore[return-value]


def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """The network of Elman: h' = tanh(W x + U h + b). Parameters and results are those of `gru`, with a single gate."""
    return _run(_RNN_TANH, args, kwargs)  # type: ignore[return-value]


def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """As `rnn_tanh`, with relu instead of tanh."""
    return _run(_RNN_RELU, args, kwargs)  # type: ignore[return-value]


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """A step of `lstm`: output and cells after it.

    Parameters
    ----------
    input : Tensor
        (batch, features).
    hx : sequence of Tensor
        Output and cells before the step, (batch, hidden) each.
    w_ih, w_hh : Tensor
        Weights of input and output, (4 * hidden, features) and (4 * hidden, hidden).
    b_ih, b_hh : Tensor, optional
        Biases, (4 * hidden,).

    Returns
    -------
    tuple of Tensor
        Output and cells, (batch, hidden) each.

    Raises
    ------
    RuntimeError
        Sizes or dtypes do not go together.

    Examples
    --------
    >>> import gradsmith as gs
    >>> h = gs.zeros(2, 4)
    >>> output, cells = gs.lstm_cell(gs.ones(2, 3), (h, h + 1), gs.zeros(16, 3), gs.zeros(16, 4))
    >>> output[0, 0], cells[0, 0]
    (tensor(0.2311), tensor(0.5000))
    """
    if not isinstance(hx, (list, tuple)) or len(hx) != 2:
        raise RuntimeError("lstm_cell(): expects two hidden states, a tuple of output and cells")
    return _step(_LSTM, input, hx, _Weights(w_ih, w_hh, b_ih, b_hh))  # type: ignore[return-value]


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """A step of `gru`: the output after it. Arguments are those of `lstm_cell`, with one state and three gates."""
    return _step(_GRU, input, (hx,), _Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """A step of `rnn_tanh`: the output after it. Arguments are those of `lstm_cell`, with one state and one gate."""
    return _step(_RNN_TANH, input, (hx,), _Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """As `rnn_tanh_cell`, with relu instead of tanh."""
    return _step(_RNN_RELU, input, (hx,), _Weights(w_ih, w_hh, b_ih, b_hh))[0]


# ---- one layer in one direction


def _lstm_layer(
    rows: Tensor, weights: _Weights, states: Sequence[Tensor], batch_sizes: list[int], reverse: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    added = linear(rows, weights.of_input, _sum(weights.input_bias, weights.output_bias))
    h, c = states
    output, _, cells = lstm_steps(added, weights.of_output, weights.projection, h, c, batch_sizes, reverse)
    return output, (first_rows(output, batch_sizes, not reverse), first_rows(cells, batch_sizes, not reverse))


def _gru_layer(
    rows: Tensor, weights: _Weights, states: Sequence[Tensor], batch_sizes: list[int], reverse: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    bias, of_new = weights.input_bias, None
    if weights.output_bias is not None:
        hidden = states[0].shape[-1]
        others, of_new = weights.output_bias[: 2 * hidden], weights.output_bias[2 * hidden :]
        others = cat([others, of_new.detach().new_zeros(of_new.shape)])
        bias = _sum(bias, others)
    output, _ = gru_steps(
        linear(rows, weights.of_input, bias), weights.of_output, of_new, states[0], batch_sizes, reverse
    )
    return output, (first_rows(output, batch_sizes, not reverse),)


def _rnn_layer(is_relu: bool) -> _Layer:
    def layer(
        rows: Tensor, weights: _Weights, states: Sequence[Tensor], batch_sizes: list[int], reverse: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        added = linear(rows, weights.of_input, _sum(weights.input_bias, weights.output_bias))
        output = rnn_steps(added, weights.of_output, states[0], is_relu, batch_sizes, reverse)
        return output, (first_rows(output, batch_sizes, not reverse),)

    return layer


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    return other if one is None else one if other is None else one + other


_LSTM = _Cell("lstm", 4, 2, _lstm_layer)
_GRU = _Cell("gru", 3, 1, _gru_layer)
_RNN_TANH = _Cell("rnn_tanh", 1, 1, _rnn_layer(False))
_RNN_RELU = _Cell("rnn_relu", 1, 1, _rnn_layer(True))


# ---- layers and directions


def _run(cell: _Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, ...]:
    """Packed sequences have a list of parameters in the fourth place, where the others have `has_biases`."""
    is_packed = "data" in kwargs or "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple)))
    is_packed = is_packed or (len(args) == 3 and "params" in kwargs)
    takes = _packed_arguments if is_packed else _padded_arguments
    try:
        return takes(cell, *args, **kwargs)
    except TypeError as error:
        raise TypeError(str(error).replace(takes.__name__, cell.name)) from None


def _packed_arguments(
    cell: _Cell,
    data: Tensor,
    batch_sizes: Tensor,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    _expect_tensors(cell.name, data=data, batch_sizes=batch_sizes)
    if data.ndim != 2:
        raise RuntimeError(f"{cell.name}(): packed data are rows of features, but their size is {list(data.shape)}")
    if batch_sizes.ndim != 1 or batch_sizes.dtype.kind not in "iu":
        raise RuntimeError(
            f"{cell.name}(): batch_sizes are a vector of whole numbers, but got {batch_sizes.dtype.name} of size "
            f"{list(batch_sizes.shape)}"
        )
    sizes = batch_sizes.numpy().tolist()
    layout = _Layout(sizes, bool(has_biases), num_layers, dropout, bool(train), bool(bidirectional))
    if sum(sizes) != data.shape[0]:
        raise RuntimeError(f"{cell.name}(): batch_sizes {sizes} do not add up to the {data.shape[0]} rows of the data")
    return _network(cell, data, hx, params, layout)


def _padded_arguments(
    cell: _Cell,
    input: Tensor,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    _expect_tensors(cell.name, input=input)
    if input.ndim != 3:
        raise RuntimeError(f"{cell.name}(): input must have 3 dimensions, got {input.ndim}: {list(input.shape)}")
    steps_first = transpose(input, 0, 1) if batch_first else input
    steps, batch, features = steps_first.shape
    layout = _Layout([batch] * steps, bool(has_biases), num_layers, dropout, bool(train), bool(bidirectional))
    rows, *states = _network(cell, reshape(steps_first, [steps * batch, features]), hx, params, layout)
    output = reshape(rows, [steps, batch, rows.shape[-1]])
    return (transpose(output, 0, 1) if batch_first else output, *states)


def _network(cell: _Cell, rows: Tensor, hx: Any, params: Sequence[Tensor], layout: _Layout) -> tuple[Tensor, ...]:
    states = _checked_states(cell, hx, layout)
    weights = _checked_weights(cell, rows, states, params, layout)
    directions = 2 if layout.bidirectional else 1
    last: list[tuple[Tensor, ...]] = []
    for layer in range(layout.num_layers):
        if layer and layout.train and layout.dropout:
            rows = dropped(rows, layout.dropout)
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            before = [state[place] for state in states]
            output, after = cell.run(rows, weights[place], before, layout.batch_sizes, direction == 1)
            outputs.append(output)
            last.append(after)
        rows = cat(outputs, -1) if layout.bidirectional else outputs[0]
    return (rows, *(stack(list(states)) for states in zip(*last, strict=True)))


def _step(cell: _Cell, input: Tensor, hx: Sequence[Tensor], weights: _Weights) -> tuple[Tensor, ...]:
    name = f"{cell.name}_cell"
    _expect_tensors(name, input=input, **{f"hx[{i}]": state for i, state in enumerate(hx)})
    if input.ndim != 2 or any(state.ndim != 2 for state in hx):
        sizes = [list(tensor.shape) for tensor in (input, *hx)]
        raise RuntimeError(f"{name}(): input and hidden states have 2 dimensions, but their sizes are {sizes}")
    for i, state in enumerate(hx):
        if state.shape != (input.shape[0], hx[0].shape[1]):
            raise RuntimeError(
                f"{name}(): hidden{i} has the size {list(state.shape)}, which does not match the batch of "
                f"{input.shape[0]} and the hidden size {hx[0].shape[1]}"
            )
    _expect_weights(name, cell, input, hx, weights, input.shape[1])
    return cell.run(input, weights, hx, [input.shape[0]], False)[1]


# ---- what goes together


def _expect_tensors(name: str, **arguments: Any) -> None:
    for argument, value in arguments.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}")


def _checked_states(cell: _Cell, hx: Any, layout: _Layout) -> tuple[Tensor, ...]:
    if not isinstance(hx, (Tensor, list, tuple)):
        raise TypeError(f"{cell.name}(): argument 'hx' must be Tensor or a tuple of Tensors, not {type(hx).__name__}")
    states = (hx,) if isinstance(hx, Tensor) else tuple(hx)
    _expect_tensors(cell.name, **{f"hx[{i}]": state for i, state in enumerate(states)})
    if len(states) != cell.states:
        expected = "two hidden states" if cell.states == 2 else "one hidden state"
        raise RuntimeError(f"{cell.name}(): expects {expected}, but got {len(states)} of them")
    if not layout.batch_sizes:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    if layout.num_layers < 1:
        raise RuntimeError(f"{cell.name}(): num_layers must be positive, but it is {layout.num_layers}")
    count = layout.num_layers * (2 if layout.bidirectional else 1)
    for i, state in enumerate(states):
        if state.ndim != 3 or tuple(state.shape[:2]) != (count, layout.batch_sizes[0]):
            raise RuntimeError(
                f"{cell.name}(): Expected hidden[{i}] size ({count}, {layout.batch_sizes[0]}, size), got "
                f"{list(state.shape)}"
            )
    return states


def _checked_weights(
    cell: _Cell, rows: Tensor, states: tuple[Tensor, ...], params: Sequence[Tensor], layout: _Layout
) -> list[_Weights]:
    """For each layer and direction, from the flat list."""
    if not isinstance(params, (list, tuple)):
        raise TypeError(f"{cell.name}(): argument 'params' must be a list of Tensors, not {type(params).__name__}")
    directions = 2 if layout.bidirectional else 1
    is_projected = cell.states == 2 and states[0].shape[-1] != states[1].shape[-1]
    each = (4 if layout.has_biases else 2) + is_projected
    count = layout.num_layers * directions
    if len(params) != each * count:
        raise RuntimeError(
            f"{cell.name}(): got an incorrect number of RNN parameters: {count} layers and directions have {each} "
            f"each, but there are {len(params)}"
        )
    found = []
    for i in range(count):
        own = list(params[i * each : (i + 1) * each])
        projection = own.pop() if is_projected else None
        weights = _Weights(*own)._replace(projection=projection)
        features = rows.shape[-1] if i < directions else directions * states[0].shape[-1]
        _expect_weights(cell.name, cell, rows, states, weights, features)
        found.append(weights)
    return found


def _expect_weights(
    name: str, cell: _Cell, rows: Tensor, states: Sequence[Tensor], weights: _Weights, features: int
) -> None:
    size, hidden = states[0].shape[-1], states[-1].shape[-1]
    gates = cell.gates * hidden
    expected = {
        "weight of the input": (weights.of_input, (gates, features)),
        "weight of the hidden state": (weights.of_output, (gates, size)),
        "bias of the input": (weights.input_bias, (gates,)),
        "bias of the hidden state": (weights.output_bias, (gates,)),
        "projection": (weights.projection, (size, hidden)),
    }
    for what, (tensor, shape) in expected.items():
        if tensor is None:
            continue
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}(): the {what} must be a Tensor, not {type(tensor).__name__}")
        if tuple(tensor.shape) != shape:
            raise RuntimeError(f"{name}(): the {what} has the size {list(tensor.shape)}, but expected {list(shape)}")
        _expect_dtype(name, rows, what, tensor)
    for state in states:
        _expect_dtype(name, rows, "hidden state", state)


def _expect_dtype(name: str, rows: Tensor, what: str, tensor: Tensor) -> None:
    if rows.dtype != tensor.dtype:
        raise RuntimeError(
            f"{name}(): input and {what} are not of the same dtype, found input with {rows.dtype.name} and {what} with "
            f"{tensor.dtype.name}"
        )
