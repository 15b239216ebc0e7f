"""Recurrent layers beside NumPy, step by step; their derivatives beside differences."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad, gradcheck, gradgradcheck

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
KINDS = tuple(GATES)
STEPS, BATCH, FEATURES, HIDDEN = 4, 3, 2, 3
PACKED = [3, 3, 2, 1]  # how many sequences have each step


def logistic(x):
    return 1 / (1 + np.exp(-x))


def step_by_hand(kind, x, h, c, weights):
    """Output and cells after a step; `weights` are two matrices, then two biases or none, then a projection or none."""
    of_input, of_output, *others = weights
    projection = others.pop() if len(others) % 2 else None
    a, b = x @ of_input.T, h @ of_output.T
    if others:
        a, b = a + others[0], b + others[1]
    if kind == "lstm":
        i, f, g, o = np.split(a + b, 4, -1)
        c = logistic(f) * c + logistic(i) * np.tanh(g)
        h = logistic(o) * np.tanh(c)
        return (h if projection is None else h @ projection.T), c
    if kind == "gru":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
        z = logistic(az + bz)
        return (1 - z) * np.tanh(an + logistic(ar + br) * bn) + z * h, c
    return (np.tanh(a + b) if kind == "rnn_tanh" else np.maximum(a + b, 0)), c


def sequence_by_hand(kind, x, h, c, weights, reverse):
    output = np.zeros((len(x), len(h)))
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        h, c = step_by_hand(kind, x[t], h, c, weights)
        output[t] = h
    return output, h, c


def network_by_hand(kind, sequences, states, params, layers, directions, each):
    """Outputs of each sequence, and last states of all layers and directions: (layers * directions, batch, size)."""
    last = [np.zeros(state.shape) for state in states]
    for layer in range(layers):
        outputs = [[] for _ in sequences]
        for direction in range(directions):
            place = layer * directions + direction
            weights = params[place * each : (place + 1) * each]
            for i, x in enumerate(sequences):
                c = states[-1][place, i]
                output, h, c = sequence_by_hand(kind, x, states[0][place, i], c, weights, direction == 1)
                outputs[i].append(output)
                last[0][place, i] = h
                if kind == "lstm":
                    last[1][place, i] = c
        sequences = [np.concatenate(parts, -1) for parts in outputs]
    return sequences, last


def made(kind, layers=1, directions=1, has_biases=True, size=HIDDEN, dtype=np.float64):
    """States and parameters."""
    random, rows = np.random.default_rng(layers + directions), GATES[kind] * HIDDEN
    params = []
    for layer, _ in itertools.product(range(layers), range(directions)):
        features = FEATURES if layer == 0 else directions * size
        shapes = [(rows, features), (rows, size)] + [(rows,)] * 2 * has_biases
        params += [random.standard_normal(shape) for shape in shapes + [(size, HIDDEN)] * (size != HIDDEN)]
    states = [random.standard_normal((layers * directions, BATCH, n)) for n in (size, HIDDEN)]
    return [s.astype(dtype) for s in states[: 1 + (kind == "lstm")]], [p.astype(dtype) for p in params]


def tensors(arrays, requires_grad=True):
    return [gs.tensor(a, requires_grad=requires_grad) for a in arrays]


def called(kind, x, states, params, *settings):
    """With x alone, or with data and batch sizes."""
    return getattr(gs, kind)(*x, tuple(states) if kind == "lstm" else states[0], params, *settings)


CASES = [
    (kind, layers, directions, has_biases, size)
    for kind in KINDS
    for layers, directions, has_biases in itertools.product((1, 2), (1, 2), (True, False))
    for size in ((HIDDEN, 2) if kind == "lstm" else (HIDDEN,))
]


@pytest.mark.parametrize(("kind", "layers", "directions", "has_biases", "size"), CASES)
def test_padded_and_packed_sequences_are_those_by_hand(kind, layers, directions, has_biases, size):
    states, params = made(kind, layers, directions, has_biases, size)
    each = len(params) // (layers * directions)
    x = np.random.default_rng(5).standard_normal((STEPS, BATCH, FEATURES))
    settings = (has_biases, layers, 0.0, True, directions == 2)
    outputs, last = network_by_hand(kind, list(x.swapaxes(0, 1)), states, params, layers, directions, each)
    found, *found_last = called(kind, tensors([x]), tensors(states), tensors(params), *settings, False)
    np.testing.assert_allclose(found.detach(), np.stack(outputs, 1), atol=1e-12)
    for one, other in zip(found_last, last, strict=True):
        np.testing.assert_allclose(one.detach(), other, atol=1e-12)
    turned, *_ = called(kind, tensors([x.swapaxes(0, 1)]), tensors(states), tensors(params), *settings, True)
    np.testing.assert_allclose(turned.detach(), found.detach().transpose(0, 1), atol=1e-12)

    lengths = [sum(i < n for n in PACKED) for i in range(BATCH)]
    sequences = [x[:length, i] for i, length in enumerate(lengths)]
    outputs, last = network_by_hand(kind, sequences, states, params, layers, directions, each)
    data = np.concatenate([[sequences[i][t] for i in range(n)] for t, n in enumerate(PACKED)])
    found, *found_last = called(kind, (gs.tensor(data), gs.tensor(PACKED)), tensors(states), tensors(params), *settings)
    expected = np.concatenate([[outputs[i][t] for i in range(n)] for t, n in enumerate(PACKED)])
    np.testing.assert_allclose(found.detach(), expected, atol=1e-12)
    for one, other in zip(found_last, last, strict=True):
        np.testing.assert_allclose(one.detach(), other, atol=1e-12)


def everything_of(kind, batch_sizes, size=HIDDEN):
    """A function of all tensors that gives all results, and these tensors."""
    states, params = made(kind, 2, 2, True, size)
    x = np.random.default_rng(6).standard_normal((sum(batch_sizes), FEATURES))
    inputs = tensors([x, *states, *params])

    def results(x, *others):
        own, params = others[: len(states)], others[len(states) :]
        return called(kind, (x, gs.tensor(batch_sizes)), own, list(params), True, 2, 0.0, True, True)

    return results, inputs


@pytest.mark.parametrize(("kind", "size"), [*((kind, HIDDEN) for kind in KINDS), ("lstm", 2)])
def test_gradients_of_all_orders(kind, size):
    results, inputs = everything_of(kind, PACKED, size)
    assert gradcheck(results, inputs, check_forward_ad=True, fast_mode=True)
    fewer = inputs[:5]
    assert gradgradcheck(lambda *own: results(*own, *inputs[5:]), fewer, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_third_derivatives(kind):
    states, params = made(kind)
    x = gs.tensor(np.random.default_rng(7).standard_normal((3, BATCH, FEATURES)), requires_grad=True)

    def slope(x):
        output = called(kind, [x], tensors(states, False), tensors(params, False), True, 1, 0.0, True, False, False)[0]
        return gs.autograd.grad((output**2).sum(), x, create_graph=True)[0]

    assert gradgradcheck(lambda x: (slope(x) ** 2).sum(), [x])


@pytest.mark.parametrize("kind", KINDS)
def test_tangents_beside_differences(kind):
    results, inputs = everything_of(kind, PACKED)
    random = np.random.default_rng(8)
    tangents = [gs.tensor(random.standard_normal(x.shape)) for x in inputs]
    step = 1e-6
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), t) for x, t in zip(inputs, tangents, strict=True)]
        found = [forward_ad.unpack_dual(result).tangent for result in results(*duals)]
    with gs.no_grad():
        ahead, behind = (
            results(*[x + sign * step * t for x, t in zip(inputs, tangents, strict=True)]) for sign in (1, -1)
        )
    for tangent, one, other in zip(found, ahead, behind, strict=True):
        np.testing.assert_allclose(tangent, (one - other) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_vmap_over_inputs_and_over_weights(kind):
    states, params = made(kind)
    random = np.random.default_rng(9)
    x = gs.tensor(random.standard_normal((2, STEPS, BATCH, FEATURES)))
    weights = gs.tensor(random.standard_normal((2, *params[0].shape)))
    own, others = tensors(states, False), tensors(params, False)

    def output(x, weight):
        return called(kind, [x], own, [weight, *others[1:]], True, 1, 0.0, True, False, False)[0]

    for dims in ((0, None), (None, 0), (0, 0)):
        operands = [a if dim == 0 else a[0] for a, dim in zip((x, weights), dims, strict=True)]
        slices = [output(*(a[i] if dim == 0 else a for a, dim in zip(operands, dims, strict=True))) for i in range(2)]
        np.testing.assert_allclose(gs.vmap(output, dims)(*operands), gs.stack(slices), atol=1e-12)
    gradients = gs.vmap(gs.grad(lambda x, w: (output(x, w) ** 2).sum()), (0, None))(x, weights[0])
    single = gs.grad(lambda x: (output(x, weights[0]) ** 2).sum())(x[1])
    np.testing.assert_allclose(gradients[1], single, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_dtypes(kind, dtype):
    states, params = made(kind, 1, 2, dtype=dtype)
    x = np.random.default_rng(4).standard_normal((STEPS, BATCH, FEATURES)).astype(dtype)
    settings = (True, 1, 0.0, True, True, False)
    found = called(kind, tensors([x]), tensors(states), tensors(params), *settings)
    exact = [a.astype(np.float64) for a in (x, *states, *params)]
    wanted = called(
        kind, tensors(exact[:1]), tensors(exact[1 : 1 + len(states)]), tensors(exact[1 + len(states) :]), *settings
    )
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one.detach(), other.detach(), atol=2e-6 if dtype == np.float32 else 1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_of_any_number_of_vectors(kind):
    """Edges of tiles and of panels, for every number of threads."""
    random, gates = np.random.default_rng(3), GATES[kind]
    threads = gs.get_num_threads()
    for hidden, batch in ((1, 1), (5, 7), (17, 13), (64, 100), (70, 97)):
        x, h = random.standard_normal((3, batch, 4)), random.standard_normal((1, batch, hidden))
        shapes = ((gates * hidden, 4), (gates * hidden, hidden))
        params = [random.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes]
        expected, _ = network_by_hand(kind, list(x.swapaxes(0, 1)), [h, h], params, 1, 1, 2)
        found = []
        for n in (1, 2):
            gs.set_num_threads(n)
            try:
                found.append(called(kind, [gs.tensor(x)], [gs.tensor(h)] * (1 + (kind == "lstm")),
                                    tensors(params), False, 1, 0.0, True, False, False)[0].detach())  # fmt: skip
            finally:
                gs.set_num_threads(threads)
        np.testing.assert_allclose(found[0], np.stack(expected, 1), atol=1e-11)
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("has_biases", [True, False])
def test_cells_are_single_steps(kind, has_biases):
    states, params = made(kind, has_biases=has_biases)
    x = np.random.default_rng(2).standard_normal((BATCH, FEATURES))
    h, c = states[0][0], states[-1][0]
    expected, cells = step_by_hand(kind, x, h, c, params)
    hx = (gs.tensor(h), gs.tensor(c)) if kind == "lstm" else gs.tensor(h)
    found = getattr(gs, f"{kind}_cell")(gs.tensor(x), hx, *tensors(params))
    np.testing.assert_allclose(found[0].detach() if kind == "lstm" else found.detach(), expected, atol=1e-12)
    if kind == "lstm":
        np.testing.assert_allclose(found[1].detach(), cells, atol=1e-12)


def test_dropout_is_between_layers_and_in_training_alone():
    states, params = made("rnn_relu", 2)
    x = gs.ones(STEPS, BATCH, FEATURES, dtype=gs.float64)

    def output(dropout, train):
        gs.manual_seed(1)
        return gs.rnn_relu(x, gs.tensor(states[0]), tensors(params, False), True, 2, dropout, train, False, False)[0]

    np.testing.assert_array_equal(output(0.0, True), output(0.5, False))
    assert not gs.equal(output(0.0, True), output(0.5, True))
    nothing = output(1.0, True)  # what the second layer makes of zeros
    settings = (True, 1, 0.0, False, False, False)
    alone = gs.rnn_relu(gs.zeros(STEPS, BATCH, HIDDEN, dtype=gs.float64), gs.tensor(states[0][1:]),
                        tensors(params[4:], False), *settings)[0]  # fmt: skip
    np.testing.assert_allclose(nothing, alone, atol=1e-12)


def test_a_transposed_input_and_a_frozen_one():
    """Memory in another order; gradients of weights alone."""
    states, params = made("lstm")
    own, weights = tensors(states, False), tensors(params)
    x = gs.tensor(np.random.default_rng(1).standard_normal((FEATURES, BATCH, STEPS))).permute(2, 1, 0)
    for given in (x, x.contiguous()):
        output, *_ = gs.lstm(given, own, weights, True, 1, 0.0, True, False, False)
        output.sum().backward()
    for weight in weights:
        half = weight.grad / 2
        weight.grad = None
        np.testing.assert_allclose(half, gs.autograd.grad(
            gs.lstm(x, own, weights, True, 1, 0.0, True, False, False)[0].sum(), weight)[0], atol=1e-12)  # fmt: skip


def test_meta_tensors_have_shapes():
    x, h = gs.empty(5, 2, 3, device="meta"), gs.empty(2, 2, 4, device="meta")
    params = [gs.empty(*shape, device="meta") for shape in ((16, 3), (16, 4)) * 2]
    output, last, cells = gs.lstm(x, (h, h), params, False, 1, 0.0, True, True, False)
    assert output.device.type == "meta"
    assert (output.shape, last.shape, cells.shape) == ((5, 2, 8), (2, 2, 4), (2, 2, 4))


X, H = gs.ones(5, 2, 3), gs.zeros(1, 2, 4)
WEIGHTS = [gs.ones(16, 3), gs.ones(16, 4)]
SETTINGS = (False, 1, 0.0, False, False, False)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gs.lstm(X, (H,), WEIGHTS, *SETTINGS), RuntimeError, "expects two hidden states"),
        (lambda: gs.gru(X, (H, H), WEIGHTS, *SETTINGS), RuntimeError, "expects one hidden state"),
        (lambda: gs.lstm(X, (H, H), WEIGHTS, True, *SETTINGS[1:]), RuntimeError, "incorrect number of RNN parameters"),
        (lambda: gs.lstm(X, (H, H), WEIGHTS[::-1], *SETTINGS), RuntimeError, "weight of the input has the size"),
        (lambda: gs.lstm(X, (H, H), [WEIGHTS[0], "1"], *SETTINGS), TypeError, "must be a Tensor, not str"),
        (lambda: gs.lstm(X[0], (H, H), WEIGHTS, *SETTINGS), RuntimeError, "must have 3 dimensions, got 2"),
        (lambda: gs.lstm(X[:0], (H, H), WEIGHTS, *SETTINGS), RuntimeError, "sequence length to be larger than 0"),
        (lambda: gs.lstm(X, (H[:, :1], H), WEIGHTS, *SETTINGS), RuntimeError, r"Expected hidden\[0\] size"),
        (lambda: gs.lstm(X, (H.double(), H), WEIGHTS, *SETTINGS), RuntimeError, "not of the same dtype"),
        (lambda: gs.lstm(X.int(), (H.int(), H.int()), [w.int() for w in WEIGHTS], *SETTINGS), RuntimeError, "int32"),
        (lambda: gs.lstm(X, (H, H), WEIGHTS), TypeError, "lstm.. missing 6 required"),
        (lambda: gs.lstm(None, (H, H), WEIGHTS, *SETTINGS), TypeError, "'input' must be Tensor, not NoneType"),
        (lambda: gs.lstm(X, None, WEIGHTS, *SETTINGS), TypeError, "'hx' must be Tensor or a tuple of Tensors"),
        (lambda: gs.lstm(X, (H, None), WEIGHTS, *SETTINGS), TypeError, r"'hx.1.' must be Tensor"),
        (lambda: gs.lstm(X, (H, H), WEIGHTS[0], *SETTINGS), TypeError, "'params' must be a list of Tensors"),
        (lambda: gs.gru(X[0], [1, 1], H, WEIGHTS, *SETTINGS[:5]), TypeError, "'batch_sizes' must be Tensor, not list"),
        (lambda: gs.gru_cell(X[0], None, *WEIGHTS), TypeError, r"'hx.0.' must be Tensor"),
        (lambda: gs.lstm(X, (H, H), WEIGHTS, False, 0, *SETTINGS[2:]), RuntimeError, "num_layers must be positive"),
        (lambda: gs.gru(X[0], gs.tensor([1, 2]), H, WEIGHTS, *SETTINGS[:5]), RuntimeError, "do not add up|not grow"),
        (lambda: gs.gru(X[0], gs.tensor([1.0, 1.0]), H, WEIGHTS, *SETTINGS[:5]), RuntimeError, "whole numbers"),
        (lambda: gs.lstm_cell(X[0], (H[0],), *WEIGHTS), RuntimeError, "expects two hidden states"),
        (lambda: gs.lstm_cell(X[0], (H[0, :1], H[0]), *WEIGHTS), RuntimeError, "hidden0 has the size"),
        (lambda: gs.lstm_cell(X[0, :, :2], (H[0], H[0]), *WEIGHTS), RuntimeError, "expected .16, 2."),
        (lambda: gs.lstm_cell(X[0, 0], (H[0, 0], H[0, 0]), *WEIGHTS), RuntimeError, "have 2 dimensions"),
    ],
)
def test_errors_say_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_steps_refuse_what_does_not_fit():
    from gradsmith.generated.recurrent import earlier_rows, first_rows, lstm_steps, rnn_steps

    x, weight, h = gs.ones(3, 8), gs.ones(8, 2), gs.ones(2, 2)
    for sizes in ([], [1, 2], [2, -1], [3], [2, 2]):
        with pytest.raises(RuntimeError):
            lstm_steps(x, weight, None, h, h, sizes, False)
    for arguments in (
        (x[0], weight, None, h, h), (x, weight[0], None, h, h), (x, weight[:7], None, h, h), (x, weight, h[0], h, h),
        (x, weight, None, h[:1], h), (x, weight, None, h, h.double()), (x, gs.ones(8, 3), None, gs.ones(2, 3), h),
    ):  # fmt: skip
        with pytest.raises(RuntimeError):
            lstm_steps(*arguments, [2, 1], False)
    with pytest.raises(RuntimeError):
        rnn_steps(gs.ones(3, 2), gs.ones(2, 3), gs.ones(2, 3), True, [2, 1], False)
    with pytest.raises(RuntimeError):
        earlier_rows(gs.ones(3), None, [2, 1], False)
    with pytest.raises(RuntimeError):
        first_rows(gs.ones(4, 2), [2, 1], False)
    assert lstm_steps(gs.ones(0, 8), weight, None, h[:0], h[:0], [0, 0], False)[0].shape == (0, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_of_steps_keep_their_digits(dtype):
    """Of numbers of all sizes: the tangent without a recurrence, and the gates of one step."""
    x = np.concatenate([np.linspace(-20, 20, 4001), np.logspace(-30, 2, 500), [0.0, 1000.0, np.inf]]).astype(dtype)
    x = np.concatenate([x, -x])
    one, none = gs.ones(1, 1, dtype=dtype), gs.zeros(1, 1, dtype=dtype)
    start = gs.zeros(1, x.size, 1, dtype=dtype)
    found = gs.rnn_tanh(gs.from_numpy(x[None, :, None]), start, [one, none], False, 1, 0.0, False, False, False)[0]
    expected = np.tanh(x.astype(np.float64))
    assert np.all(np.abs(found.numpy().ravel() - expected) <= 4 * np.spacing(np.abs(expected).astype(dtype)))
    assert np.isnan(gs.rnn_tanh_cell(gs.full((1, 1), np.nan, dtype=dtype), none, one, none).item())
    weights = [gs.ones(4, 1, dtype=dtype), gs.zeros(4, 1, dtype=dtype)]
    cells = gs.lstm(gs.from_numpy(x[None, :, None]), (start, start), weights, False, 1, 0.0, False, False, False)[2]
    finite = np.clip(x.astype(np.float64), -80, None)  # smaller results than the smallest normal number are zero
    expected = np.tanh(finite) / (1 + np.exp(-finite))
    np.testing.assert_allclose(cells.numpy().ravel(), expected, rtol=16 * np.finfo(dtype).eps, atol=1e-34)
