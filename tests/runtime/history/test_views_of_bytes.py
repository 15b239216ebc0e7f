"""Views of the same memory as elements of another type: ``x.view(dtype)``."""

import numpy as np
import pytest

import gradsmith as gs

DTYPES = (
    gs.float16,
    gs.float32,
    gs.float64,
    gs.complex64,
    gs.complex128,
    gs.int8,
    gs.uint8,
    gs.int16,
    gs.int64,
    gs.uint32,
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_bytes_are_those_of_numpy(source, dtype):
    x = np.random.default_rng(0).integers(0, 100, (3, 16)).astype(source)
    for given in (gs.from_numpy(x), gs.from_numpy(x)[1:], gs.from_numpy(x)[::2], gs.from_numpy(x)[::-1]):
        seen = given.view(dtype)
        assert seen.dtype == dtype and seen.data_ptr() == given.data_ptr()
        np.testing.assert_array_equal(seen.numpy(), given.numpy().view(dtype))
        assert gs.view_copy(given, dtype).data_ptr() != given.data_ptr()
        np.testing.assert_array_equal(gs.view_copy(given, dtype=dtype).numpy(), seen.numpy())


def test_the_last_dimension_grows_and_shrinks():
    x = gs.zeros(3, 4)
    assert x.view(gs.uint8).shape == (3, 16) and x.view(gs.complex64).shape == (3, 2)
    assert x.view(gs.uint8).stride() == (16, 1) and x.view(gs.float64).stride() == (2, 1)
    assert gs.zeros(0, 4).view(gs.float64).shape == (0, 2) and gs.zeros(3, 0).view(gs.uint8).shape == (3, 0)
    assert gs.tensor(1.0).view(gs.int32).item() == 0x3F800000
    assert gs.zeros(3, 4, device="meta").view(gs.int16).shape == (3, 8)
    assert x[:, :1].expand(3, 4).view(gs.int32).stride() == (4, 0)


def test_any_layout_for_elements_of_the_same_size():
    x = gs.arange(12.0).reshape(3, 4).t()
    assert x.view(gs.int32).stride() == (1, 4)
    np.testing.assert_array_equal(x.view(gs.int32).numpy(), x.numpy().copy().view(np.int32))


@pytest.mark.parametrize(
    ("make", "dtype", "message"),
    [
        (lambda: gs.zeros(3, 3), gs.float64, r"self.size\(-1\) must be divisible by 2 .* but got 3"),
        (lambda: gs.zeros(3, 5)[:, :4], gs.float64, r"self.stride\(0\) must be divisible by 2 .* but got 5"),
        (lambda: gs.zeros(3, 4)[:, 1:3], gs.float64, r"self.storage_offset\(\) must be divisible by 2 .* but got 1"),
        (lambda: gs.zeros(4, 3).t(), gs.uint8, r"self.stride\(-1\) must be 1 .* but got 3"),
        (lambda: gs.zeros(4, 4).t(), gs.float64, r"self.stride\(-1\) must be 1 .* but got 4"),
        (lambda: gs.zeros(4, 1).expand(4, 4), gs.int16, r"self.stride\(-1\) must be 1 .* but got 0"),
        (lambda: gs.tensor(1.0), gs.float64, r"self.dim\(\) cannot be 0 to view float32 as float64"),
        (lambda: gs.tensor(1.0), gs.uint8, r"self.dim\(\) cannot be 0 to view float32 as uint8"),
        (lambda: gs.tensor([2], dtype=gs.uint8), gs.bool, "bytes other than 0 and 1 are no bools"),
    ],
)
def test_what_does_not_fit_is_refused(make, dtype, message):
    with pytest.raises(RuntimeError, match=message):
        make().view(dtype)


def test_bytes_of_bools():
    x = gs.tensor([True, False, True, True])
    assert x.view(gs.uint8).tolist() == [1, 0, 1, 1]
    assert x.view(gs.uint8).view(gs.bool).tolist() == x.tolist()


def test_a_dtype_that_no_tensor_has():
    with pytest.raises(TypeError, match="NumPy has no dtype bfloat16"):
        gs.zeros(2).view(gs.bfloat16)
    with pytest.raises(TypeError):
        gs.zeros(2).view(np.dtype("O"))
    with pytest.raises(TypeError):
        gs.zeros(2).view(np.dtype([("a", "f4")]))


def test_memory_and_version_are_shared_but_no_history():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    bits, same = y.view(gs.int32), y.view(gs.float32)
    assert not (bits.requires_grad or same.requires_grad) and same.is_leaf and not bits._is_view()
    bits.zero_()
    assert y.tolist() == same.tolist() == [0, 0]
    assert y._version == bits._version == same._version == 1
    assert y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_write_through_it_is_noticed_by_what_saved_the_tensor():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y.exp() * y
    y.view(gs.uint8)[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_leaf_may_be_written_through_it():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    x.view(gs.int32).add_(1)
    np.testing.assert_array_equal(x.detach().numpy(), np.nextafter(np.float32([1, 2]), np.float32(3)))


def test_no_tangent_goes_through():
    value, tangent = gs.func.jvp(lambda x: x.view(gs.complex64), (gs.ones(2),), (gs.ones(2),))
    assert value.tolist() == [1 + 1j] and tangent.tolist() == [0]
    gradient = gs.func.grad(lambda x: x.view(gs.complex64).abs().sum())(gs.ones(4))
    assert gradient.tolist() == [0] * 4


def test_slices_of_a_batch():
    x = gs.arange(24.0).reshape(2, 3, 4)
    for dtype in (gs.int32, gs.int16, gs.float64):
        seen = gs.vmap(lambda row, dtype=dtype: row.view(dtype))(x)
        np.testing.assert_array_equal(seen.numpy(), x.numpy().view(dtype))
        np.testing.assert_array_equal(
            gs.vmap(gs.vmap(lambda row, dtype=dtype: row.view(dtype)))(x).numpy(), x.numpy().view(dtype)
        )
    with pytest.raises(RuntimeError, match=r"self.dim\(\) cannot be 0"):
        gs.vmap(lambda number: number.view(gs.int16))(gs.arange(3.0))
    with pytest.raises(RuntimeError, match=r"self.stride\(-1\) must be 1"):
        gs.vmap(lambda column: column.view(gs.int16), in_dims=1)(gs.zeros(3, 4))


def test_a_write_to_a_slice_of_a_batch_reaches_the_memory():
    x = gs.arange(6.0).reshape(2, 3)

    def clear(row):
        row.view(gs.int32).zero_()
        return row * 1

    assert gs.vmap(clear)(x).tolist() == [[0] * 3] * 2 and x.tolist() == [[0] * 3] * 2


def test_numpy_arguments():
    x = gs.ones(2, 4)
    assert (
        x.view(np.float64).shape == x.view("f8").shape == x.view(float).shape == x.view(np.dtype("f8")).shape == (2, 2)
    )
