"""Sequences of several lengths, padded and packed, beside lists of arrays."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import gradcheck, gradgradcheck
from gradsmith.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

RNG = np.random.default_rng(0)


def sequences(lengths, *others):
    return [RNG.standard_normal((n, *others)) for n in lengths]


def packed_by_hand(arrays):
    """Data and batch sizes of arrays of which the longest come first."""
    steps = range(max(map(len, arrays)))
    rows = [[a[t] for a in arrays if t < len(a)] for t in steps]
    return np.array([row for step in rows for row in step]), [len(step) for step in rows]


def padded_by_hand(arrays, value, length=0, left=False):
    length = max(length, *map(len, arrays))
    result = np.full((len(arrays), length, *arrays[0].shape[1:]), value)
    for row, a in zip(result, arrays):
        if left:
            row[length - len(a) :] = a
        else:
            row[: len(a)] = a
    return result


@pytest.mark.parametrize("lengths", [[4, 3, 3, 1], [3, 3], [2], [1, 1, 1]])
@pytest.mark.parametrize("others", [(), (2,), (2, 3)])
@pytest.mark.parametrize("batch_first", [False, True])
def test_sorted_sequences_are_packed_step_by_step(lengths, others, batch_first):
    arrays = sequences(lengths, *others)
    data, batch_sizes = packed_by_hand(arrays)
    padded = padded_by_hand(arrays, 7.0, 5)
    given = gs.tensor(padded if batch_first else padded.swapaxes(0, 1))
    for counts in (lengths, tuple(lengths), gs.tensor(lengths), gs.tensor(lengths, dtype=gs.int32)):
        packed = pack_padded_sequence(given, counts, batch_first)
        np.testing.assert_array_equal(packed.data, data)
        assert packed.batch_sizes.tolist() == batch_sizes
        assert packed.batch_sizes.dtype == gs.int64
        assert packed.sorted_indices is None
        assert packed.unsorted_indices is None
    back, counts = pad_packed_sequence(packed, batch_first, -1.0, 6)
    assert counts.tolist() == lengths
    expected = padded_by_hand(arrays, -1.0, 6)
    np.testing.assert_array_equal(back, expected if batch_first else expected.swapaxes(0, 1))


@pytest.mark.parametrize("lengths", [[1, 4, 2], [2, 3, 3, 1, 3], [4, 2, 1]])
def test_others_are_sorted_and_come_back_in_their_order(lengths):
    arrays = sequences(lengths, 2)
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    data, batch_sizes = packed_by_hand([arrays[i] for i in order])
    packed = pack_sequence([gs.tensor(a) for a in arrays], enforce_sorted=False)
    np.testing.assert_array_equal(packed.data, data)
    assert packed.batch_sizes.tolist() == batch_sizes
    assert packed.sorted_indices.tolist() == order
    assert packed.unsorted_indices.tolist() == np.argsort(order).tolist()
    padded, counts = pad_packed_sequence(packed)
    assert counts.tolist() == lengths
    np.testing.assert_array_equal(padded, padded_by_hand(arrays, 0.0).swapaxes(0, 1))
    for found, expected in zip(unpack_sequence(packed), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_and_its_inverse(batch_first, side):
    arrays = sequences([2, 4, 3], 2)
    padded = pad_sequence([gs.tensor(a) for a in arrays], batch_first, 5.0, side)
    expected = padded_by_hand(arrays, 5.0, left=side == "left")
    np.testing.assert_array_equal(padded, expected if batch_first else expected.swapaxes(0, 1))
    if side == "right":
        for lengths in ([2, 4, 3], gs.tensor([2, 4, 3])):
            for found, array in zip(unpad_sequence(padded, lengths, batch_first), arrays, strict=True):
                np.testing.assert_array_equal(found, array)
        assert padded.shape == ((3, 4, 2) if batch_first else (4, 3, 2))


def test_gradients_go_through_packing_and_padding():
    x = gs.tensor(RNG.standard_normal((4, 3, 2)), requires_grad=True)

    def there_and_back(x):
        packed = pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        return pad_packed_sequence(PackedSequence(packed.data**2, *packed[1:]), total_length=5)[0]

    assert gradcheck(there_and_back, [x], check_forward_ad=True)
    assert gradgradcheck(there_and_back, [x])
    (gradient,) = gs.autograd.grad(there_and_back(x).sum(), x)
    there = np.arange(4)[:, None] < [2, 4, 1]
    np.testing.assert_allclose(gradient, 2 * x.detach().numpy() * there[..., None])
    assert gradcheck(lambda a, b: pad_sequence([a, b]), [x[:, 0].detach().requires_grad_(), x[:2, 1].detach()])


def test_a_layer_over_packed_sequences_is_one_over_each():
    arrays, weights = sequences([2, 4, 3], 2), [RNG.standard_normal(s) for s in ((9, 2), (9, 3))]
    params, settings = [gs.tensor(w) for w in weights], (False, 1, 0.0, False, False)
    packed = pack_sequence([gs.tensor(a) for a in arrays], enforce_sorted=False)
    h = gs.tensor(RNG.standard_normal((1, 3, 3)))
    start = h.index_select(1, packed.sorted_indices)
    data, last = gs.gru(packed.data, packed.batch_sizes, start, params, *settings)
    outputs = unpack_sequence(PackedSequence(data, *packed[1:]))
    for i, (output, array) in enumerate(zip(outputs, arrays, strict=True)):
        alone, end = gs.gru(gs.tensor(array[:, None]), h[:, i : i + 1], params, *settings, False)
        np.testing.assert_allclose(output, alone[:, 0], atol=1e-12)
        np.testing.assert_allclose(last[0, packed.unsorted_indices[i]], end[0, 0], atol=1e-12)


def test_vmap_over_packing():
    x = gs.tensor(RNG.standard_normal((2, 4, 3)))
    found = gs.vmap(lambda x: pack_padded_sequence(x, [4, 3, 1]).data)(x)
    np.testing.assert_array_equal(found[1], pack_padded_sequence(x[1], [4, 3, 1]).data)


def test_a_packed_sequence_is_a_tuple_of_its_parts():
    data, sizes, order = gs.ones(3), gs.tensor([2, 1]), gs.tensor([1, 0])
    packed = PackedSequence(data, sizes, order)
    assert packed[:3] == (data, sizes, order)
    assert packed.unsorted_indices.tolist() == [1, 0]
    assert PackedSequence((data, sizes)).batch_sizes is sizes
    for convert, dtype in (("double", gs.float64), ("half", gs.float16), ("long", gs.int64), ("int", gs.int32),
                           ("short", gs.int16), ("char", gs.int8), ("byte", gs.uint8)):  # fmt: skip
        assert getattr(packed, convert)().data.dtype == dtype
    assert packed.float() is packed
    assert packed.cpu() is packed
    assert packed.to(gs.float64).sorted_indices is order
    assert not packed.is_cuda
    with pytest.raises(TypeError, match="must be a pair"):
        PackedSequence(data)


def test_permutations_are_inverted():
    permutation = gs.tensor(RNG.permutation(7))
    np.testing.assert_array_equal(permutation[invert_permutation(permutation)], np.arange(7))
    assert invert_permutation(None) is None


X = gs.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pack_padded_sequence(X, [4, 2, 3]), RuntimeError, "must be sorted in decreasing order"),
        (lambda: pack_padded_sequence(X, [4, 2]), RuntimeError, r"got 2 \(batch_size=3\)"),
        (lambda: pack_padded_sequence(X, [4, 2, 0]), RuntimeError, "has to be greater than 0"),
        (lambda: pack_padded_sequence(X, [5, 2, 1]), RuntimeError, "more than the 4 steps"),
        (lambda: pack_padded_sequence(X, gs.tensor([[3, 2, 1]])), RuntimeError, "but got 2D int64"),
        (lambda: pack_padded_sequence(X, gs.tensor([3.0, 2.0, 1.0])), RuntimeError, "but got 1D float32"),
        (lambda: pack_padded_sequence(gs.ones(3), [1]), RuntimeError, "its size is .3."),
        (lambda: pack_padded_sequence(gs.ones(3, 0), []), RuntimeError, "Cannot pack empty"),
        (lambda: pad_packed_sequence(pack_padded_sequence(X, [3, 2, 1]), total_length=2), ValueError, "total_length=2"),
        (lambda: pad_packed_sequence(PackedSequence(X, gs.tensor([1, 2]))), RuntimeError, "do not grow"),
        (lambda: pad_packed_sequence(PackedSequence(X, gs.tensor([2, 1]))), RuntimeError, "add up"),
        (lambda: pad_sequence([]), RuntimeError, "empty list of sequences"),
        (lambda: pad_sequence(3), RuntimeError, "Expected iterable"),
        (lambda: pad_sequence([gs.ones(2), gs.ones(3, 2)]), RuntimeError, "sequence 1 has the size .3, 2."),
        (lambda: pad_sequence([gs.ones(2)], padding_side="top"), RuntimeError, "left or right, but got top"),
        (lambda: pack_padded_sequence(None, [1]), TypeError, "'input' must be Tensor, not NoneType"),
        (lambda: pad_sequence([gs.ones(2), [1.0]]), TypeError, r"'sequences.1.' must be Tensor, not list"),
        (lambda: pad_packed_sequence(X), TypeError, "expected a PackedSequence"),
        (lambda: unpad_sequence(X, [1, 2]), ValueError, "there are 2 lengths"),
    ],
)
def test_errors_say_what_is_wrong(call, error, text):
    with pytest.raises(error, match=text):
        call()
