"""Recurrent layers, attention and transformers: steps, states, masks, packed sequences, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

X = gs.tensor(np.random.default_rng(0).standard_normal((5, 3, 4)))
RECURRENT = [nn.RNN, nn.GRU, nn.LSTM]


def states_of(layer, *shape):
    state = gs.zeros(shape, dtype=gs.float64)
    return (state, state) if isinstance(layer, nn.LSTM) else state


def first_of(hx):
    return hx[0] if isinstance(hx, tuple) else hx


# ---- recurrent layers


@pytest.mark.parametrize("make", RECURRENT)
def test_a_layer_is_its_cell_step_by_step(make):
    layer = make(4, 6).double()
    cell = getattr(nn, f"{make.__name__}Cell")(4, 6).double()
    cell.load_state_dict({name.removesuffix("_l0"): tensor for name, tensor in layer.state_dict().items()})
    output, last = layer(X)
    hx = None
    for step, expected in zip(X, output):
        hx = cell(step, hx)
        np.testing.assert_allclose(first_of(hx).detach(), expected.detach(), rtol=1e-12)
    np.testing.assert_allclose(first_of(hx).detach(), first_of(last)[0].detach(), rtol=1e-12)


@pytest.mark.parametrize("make", RECURRENT)
def test_batches_may_come_first_or_be_absent(make):
    layer, turned = make(4, 6, 2).double(), make(4, 6, 2, batch_first=True).double()
    turned.load_state_dict(layer.state_dict())
    output, _ = layer(X)
    np.testing.assert_allclose(turned(X.transpose(0, 1))[0].transpose(0, 1).detach(), output.detach())
    alone, hx = layer(X[:, 1], states_of(layer, 2, 6))
    np.testing.assert_allclose(alone.detach(), output[:, 1].detach(), rtol=1e-12)
    assert first_of(hx).shape == (2, 6)


@pytest.mark.parametrize("make", RECURRENT)
def test_packed_sequences(make):
    layer, lengths = make(4, 6, bidirectional=True).double(), [2, 5, 3]
    packed, last = layer(pack_padded_sequence(X, lengths, enforce_sorted=False))
    output, found = pad_packed_sequence(packed)
    assert found.tolist() == lengths
    for place, length in enumerate(lengths):
        alone, hx = layer(X[:length, place])
        np.testing.assert_allclose(output[:length, place].detach(), alone.detach(), rtol=1e-10)
        np.testing.assert_allclose(first_of(last)[:, place].detach(), first_of(hx).detach(), rtol=1e-10)


@pytest.mark.parametrize("make", RECURRENT)
def test_cells_without_a_batch(make):
    cell = getattr(nn, f"{make.__name__}Cell")(4, 6).double()
    one, rows = cell(X[0, 1]), cell(X[0])
    np.testing.assert_allclose(first_of(one).detach(), first_of(rows)[1].detach(), rtol=1e-12)
    np.testing.assert_allclose(
        first_of(cell(X[1, 1], one)).detach(), first_of(cell(X[1], rows))[1].detach(), rtol=1e-12
    )


def test_a_packed_sequence_is_on_the_one_device():
    packed = pack_padded_sequence(gs.ones(3, 2), [3, 1])
    assert not packed.is_cuda
    assert not packed.is_pinned()


def test_weights_follow_the_module():
    layer = nn.LSTM(4, 6, 2, bidirectional=True)
    layer.flatten_parameters()
    assert [len(weights) for weights in layer.all_weights] == [4] * 4
    layer.weight_ih_l0 = nn.Parameter(gs.zeros(24, 4))
    assert layer.all_weights[0][0] is layer.weight_ih_l0
    bound = 1 / np.sqrt(6)
    assert all(parameter.abs().max().item() <= bound for parameter in layer.parameters())
    assert layer.double()(X)[0].dtype == gs.float64


REFUSED = {
    "a proj_size": (lambda: nn.GRU(4, 6, proj_size=2), ValueError, "proj_size argument is only supported for LSTM"),
    "a nonlinearity": (lambda: nn.RNN(4, 6, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'"),
    "no layers": (lambda: nn.LSTM(4, 6, 0), ValueError, "num_layers must be greater than zero"),
    "no size": (lambda: nn.LSTM(4, 0), ValueError, "hidden_size must be greater than zero"),
    "a size that is no int": (lambda: nn.LSTM(4.0, 2), TypeError, "input_size should be of type int, got: float"),
    "a bias that is no bool": (lambda: nn.LSTM(4, 2, 1, 3), TypeError, "bias should be of type bool, got: int"),
    "a dropout": (lambda: nn.LSTM(4, 2, dropout=2.0), ValueError, "dropout should be a number in range"),
    "a large projection": (lambda: nn.LSTM(4, 2, proj_size=2), ValueError, "proj_size has to be smaller"),
    "a mode": (lambda: nn.RNNBase("X", 4, 2), ValueError, "Unrecognized RNN mode: X"),
    "features": (lambda: nn.GRU(3, 2).double()(X), RuntimeError, "Expected 3, got 4"),
    "a dtype": (lambda: nn.GRU(4, 2)(X), ValueError, "RNN input dtype .float64. does not match weight dtype .float32."),
    "dimensions": (lambda: nn.GRU(4, 2)(X[0, 0]), ValueError, "GRU: Expected input to be 2D or 3D, got 1D"),
    "a state's shape": (
        lambda: nn.GRU(4, 2).double()(X, gs.zeros(1, 2, 2, dtype=gs.float64)),
        RuntimeError,
        r"Expected hidden size \(1, 3, 2\), got \[1, 2, 2\]",
    ),
    "a state's dimensions": (
        lambda: nn.GRU(4, 2).double()(X[0], gs.zeros(1, 3, 2)),
        RuntimeError,
        "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor",
    ),
    "a memory's shape": (
        lambda: nn.LSTM(4, 2).double()(X, (gs.zeros(1, 3, 2), gs.zeros(1, 3, 3))),
        RuntimeError,
        r"Expected hidden\[1\] size \(1, 3, 2\), got \[1, 3, 3\]",
    ),
    "a cell's input": (lambda: nn.GRUCell(4, 2)(X), ValueError, "GRUCell: Expected input to be 1D or 2D, got 3D"),
    "a cell's memory": (
        lambda: nn.LSTMCell(4, 2)(X[0], (X[0], X)),
        ValueError,
        r"LSTMCell: Expected hx\[1\] to be 1D or 2D, got 3D instead",
    ),
    "a cell's size": (
        lambda: nn.GRUCell(4, 2)(gs.ones(3, 5)),
        RuntimeError,
        "^input has inconsistent input_size: got 5 expected 4",
    ),
    "a row's size": (lambda: nn.RNNCell(4, 2)(gs.ones(5)), RuntimeError, "^input has inconsistent input_size: got 5"),
    "a cell's state": (
        lambda: nn.RNNCell(4, 2)(gs.ones(3, 4), gs.ones(3, 5)),
        RuntimeError,
        "^hidden0 has inconsistent hidden_size: got 5, expected 2",
    ),
    "the size of a cell's memory": (
        lambda: nn.LSTMCell(4, 2)(gs.ones(3, 4), (gs.ones(3, 2), gs.ones(3, 5))),
        RuntimeError,
        "^hidden1 has inconsistent hidden_size: got 5, expected 2",
    ),
    "a cell's batch": (
        lambda: nn.LSTMCell(4, 2)(gs.ones(3, 4), (gs.ones(2, 2), gs.ones(3, 2))),
        RuntimeError,
        "^Input batch size 3 doesn't match hidden0 batch size 2",
    ),
    "heads": (lambda: nn.MultiheadAttention(8, 3), AssertionError, "embed_dim must be divisible by num_heads"),
    "no heads": (lambda: nn.MultiheadAttention(8, 0), ValueError, "must be greater than 0"),
    "an activation": (lambda: nn.TransformerEncoderLayer(8, 2, activation="x"), RuntimeError, "relu/gelu, not x"),
    "batches": (
        lambda: nn.Transformer(4, 2, 1, 1, 4)(gs.ones(5, 3, 4), gs.ones(5, 2, 4)),
        RuntimeError,
        "the batch number of src and tgt must be equal",
    ),
    "sizes": (
        lambda: nn.Transformer(4, 2, 1, 1, 4)(gs.ones(5, 3, 4), gs.ones(5, 3, 8)),
        RuntimeError,
        "the feature number of src and tgt must be equal to d_model",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_dropout_of_a_single_layer_is_a_warning():
    with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
        nn.GRU(4, 2, dropout=0.5)


# ---- attention and transformers


def test_attention_is_a_weighted_mean():
    attention = nn.MultiheadAttention(4, 1, bias=False).double()
    output, weights = attention(X, X, X)
    q, k, v = attention.in_proj_weight.chunk(3)
    scores = gs.einsum("sbe,tbe->bst", X @ q.T, X @ k.T) / 2
    expected = scores.softmax(-1)
    np.testing.assert_allclose(weights.detach(), expected.detach(), rtol=1e-10)
    mean = gs.einsum("bst,tbe->sbe", expected, X @ v.T) @ attention.out_proj.weight.T
    np.testing.assert_allclose(output.detach(), mean.detach(), rtol=1e-8, atol=1e-12)
    turned = nn.MultiheadAttention(4, 1, bias=False, batch_first=True).double()
    turned.load_state_dict(attention.state_dict())
    y = X.transpose(0, 1)
    np.testing.assert_allclose(turned(y, y, y)[0].transpose(0, 1).detach(), output.detach(), rtol=1e-8, atol=1e-12)


def test_no_step_attends_to_a_later_one():
    gs.manual_seed(0)
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2).double()
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=gs.float64)
    changed = X.clone()
    changed[3:] += 1.0
    for one in (mask, mask == -np.inf):
        before, after = layer(X, mask=one), layer(changed, mask=one)
        np.testing.assert_allclose(before[:3].detach(), after[:3].detach(), rtol=1e-8)
        assert not np.allclose(before[3:].detach(), after[3:].detach())


def test_padding_is_passed_over():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0).double()
    padding = gs.tensor([[False, False, False, True, True]] * 3)
    short, whole = layer(X[:3]), layer(X, src_key_padding_mask=padding)
    np.testing.assert_allclose(short.detach(), whole[:3].detach(), rtol=1e-8)
    with pytest.raises(AssertionError, match="only bool and floating types of src_key_padding_mask are supported"):
        layer(X, src_key_padding_mask=padding.long())


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformers_get_gradients_everywhere(norm_first):
    model = nn.Transformer(4, 2, 1, 1, 8, 0.0, norm_first=norm_first).double()
    model(X, X[:2]).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("stack", [nn.TransformerEncoder, nn.TransformerDecoder])
def test_stacks_of_what_is_no_module(stack):
    with pytest.raises(TypeError, match="must be a Module, not int"):
        stack(-1, 2**70)  # before it is copied that many times


def test_weights_that_are_set_as_a_list():
    """A library may have a layer compute with other tensors than its parameters."""
    layer, x = gs.nn.GRU(2, 3), gs.ones(4, 1, 2)
    expected = gs.nn.GRU(2, 3)
    layer._flat_weights = []
    assert layer._flat_weights == list(layer.parameters())
    others = [p.detach().clone().requires_grad_() for p in expected.parameters()]
    layer._flat_weights = others[:]
    assert gs.equal(layer(x)[0], expected(x)[0])
    layer.weight_ih_l0 = gs.nn.Parameter(gs.zeros(9, 2))
    assert layer._flat_weights[0] is layer.weight_ih_l0 and layer._flat_weights[1] is others[1]
    layer.double()
    assert layer._flat_weights == list(layer.parameters()) and layer.weight_hh_l0.dtype == gs.float64


@pytest.mark.parametrize("says", [None, False, True])
@pytest.mark.parametrize("kind", ["none", "causal", "other", "of another size"])
def test_what_layers_are_told_of_a_mask(kind, says):
    """Whether it is causal: as the caller says, or, when nothing is said, as the mask is."""
    told = []

    class Layer(nn.TransformerEncoderLayer):
        def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
            told.append(is_causal)
            return src

    causal = nn.Transformer.generate_square_subsequent_mask(3)
    mask = {"none": None, "causal": causal, "other": causal.T, "of another size": causal[:2, :2]}[kind]
    encoder = nn.TransformerEncoder(Layer(4, 1, 4, 0.0), 2, enable_nested_tensor=False)
    encoder(gs.zeros(3, 1, 4), mask, is_causal=says)
    assert told == [kind == "causal" if says is None else says] * 2
