"""Creation functions: values, dtypes, sharing of memory, refusals."""

import array
from fractions import Fraction

import numpy as np
import pytest

import gradsmith as gs


def same(tensor, expected, dtype):
    __tracebackhide__ = True
    assert tensor.dtype == dtype
    np.testing.assert_array_equal(tensor.numpy(force=True), np.array(expected, dtype))


# ---- tensor


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, gs.float32),
        (2, gs.int64),
        (True, gs.bool),
        (1j, gs.complex64),
        ([1, 2.5, True], gs.float32),
        ([[1, 2], [3, 4]], gs.int64),
        ([1j, 2], gs.complex64),
        ([], gs.float32),
        ([[], []], gs.float32),
        (range(3), gs.int64),
        (np.float64(1), gs.float64),
        ([np.float64(1)], gs.float64),
        ([np.float32(1), 2.0], gs.float32),
        ([np.float16(1), 2], gs.float16),
        (np.arange(3, dtype=np.int16), gs.int16),
        ([np.ones(2, np.float32), [1, 2]], gs.float32),
        (array.array("d", [1, 2]), gs.float64),
        (bytearray(b"ab"), gs.uint8),
    ],
    ids=repr,
)
def test_dtype_that_data_implies(data, dtype):
    same(gs.tensor(data), data if not isinstance(data, bytearray) else list(data), dtype)


def test_tensor_copies():
    source = np.ones(3)
    made = gs.tensor(source)
    source[0] = 5
    same(made, [1, 1, 1], gs.float64)


def test_tensor_of_tensors_has_no_history():
    w = gs.tensor([1.0, 2.0], requires_grad=True)
    for made in (gs.tensor([w, w]), gs.tensor([[w[0], 3.0]])):
        assert not made.requires_grad
    same(gs.tensor([w, [3, 4]]), [[1, 2], [3, 4]], gs.float32)


@pytest.mark.parametrize("make", [gs.tensor, gs.as_tensor, gs.asarray, gs.FloatTensor])
def test_a_tensor_of_one_element_is_a_number(make):
    """Whatever its dimensions, as in PyTorch: a list of losses of shape (1,) makes a vector."""
    one, two = gs.tensor([1.0], requires_grad=True), gs.tensor([[2]])
    same(make([one, two]), [1, 2], gs.float32)
    same(make([one, 3.0]), [1, 3], gs.float32)
    same(make([[one, gs.tensor(2.0)], (4, two)]), [[1, 2], [4, 2]], gs.float32)
    assert make([np.ones(1), np.ones(1)]).shape == (2, 1)  # arrays are like lists


def test_copying_a_tensor_as_data_warns():
    w = gs.tensor([1.0, 2.0], requires_grad=True)
    words = r"To copy construct from a tensor, it is recommended to use sourceTensor\.detach\(\)\.clone\(\) .* than "
    with pytest.warns(UserWarning, match=words + r"gradsmith\.tensor\(sourceTensor\)") as seen:
        copy = gs.tensor(w)
    assert seen[0].filename == __file__
    assert not copy.requires_grad and copy.data_ptr() != w.data_ptr()
    same(copy, [1, 2], gs.float32)
    with pytest.warns(UserWarning, match=words + r"tensor\.new_tensor\(sourceTensor\)") as seen:
        copy = gs.zeros(1, dtype=gs.float64).new_tensor(w, requires_grad=True)
    assert len(seen) == 1 and copy.requires_grad
    same(copy.detach(), [1, 2], gs.float64)


def test_requires_grad():
    assert gs.tensor([1.0], requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="floating point and complex"):
        gs.tensor([1], requires_grad=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1, 2], [3]], r"expected sequence of length 2 at dim 1 \(got 1\), at data\[1\]"),
        ([[[1], [2]], [[3], [4, 5]]], r"expected sequence of length 1 at dim 2 \(got 2\), at data\[1\]\[1\]"),
        ([[1, 2], 3], r"expected a sequence of length 2 at data\[1\], got a number"),
        ([3, [1, 2]], r"expected a number at data\[1\], got a sequence of length 2"),
        ([np.ones(2), [1, 2, 3]], r"expected sequence of length 2 at dim 1 \(got 3\), at data\[1\]"),
    ],
    ids=repr,
)
def test_ragged(data, message):
    with pytest.raises(ValueError, match=message):
        gs.tensor(data)


def test_ragged_with_a_tensor_that_requires_grad():
    w = gs.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"got 3\), at data\[1\]"):
        gs.tensor([w, [1, 2, 3]])


def test_a_list_in_itself():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="more than 64 deep"):
        gs.tensor(data)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ("1.5", TypeError, "invalid data type 'str'"),
        (["1.5"], TypeError, "invalid data type 'str'"),
        (b"ab", TypeError, "invalid data type 'bytes'"),
        ([1, None], RuntimeError, "could not infer dtype of NoneType"),
        ({1: 2}, RuntimeError, "could not infer dtype of dict"),
        (np.array([Ellipsis]), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
        (np.zeros(2, "longdouble"), TypeError, "can't convert np.ndarray of type numpy.longdouble"),
        (np.ma.array([1, 2], mask=[0, 1]), TypeError, "masked array"),
        (2**70, RuntimeError, "int64 without overflow"),
        ([2**63, -1], RuntimeError, "int64 without overflow"),
    ],
    ids=repr,
)
def test_what_is_no_data(data, error, message):
    for dtype in (None, gs.float32) if error is not RuntimeError else (None,):
        with pytest.raises(error, match=message):
            gs.tensor(data, dtype=dtype)


def test_given_dtype():
    same(gs.tensor([1.7, 2], dtype=gs.int32), [1, 2], gs.int32)
    same(gs.tensor([1, 0], dtype="bool"), [True, False], gs.bool)
    with pytest.raises(RuntimeError, match="uint8 without overflow"):
        gs.tensor([300], dtype=gs.uint8)
    with pytest.raises(TypeError, match="complex"):
        gs.tensor([1j], dtype=gs.float32)


# ---- sharing memory


def test_from_numpy_shares():
    source = np.arange(3.0)
    made = gs.from_numpy(source)
    source[0] = 7
    made[1] = 8
    same(made, [7, 8, 2], gs.float64)
    np.testing.assert_array_equal(source, [7, 8, 2])


def test_from_numpy_gives_a_tensor_back():
    """NumPy's functions give tensors for tensors, and programs call `from_numpy` on their results."""
    found = np.isin(gs.arange(3), np.array([1]))
    assert gs.from_numpy(found) is found and found.tolist() == [False, True, False]


def test_from_numpy_of_a_strided_array():
    source = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    same(gs.from_numpy(source) + 1, source + 1, gs.float64)


def test_from_numpy_wants_an_array():
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        gs.from_numpy([1, 2])


def test_a_read_only_array_cannot_be_written():
    source = np.zeros(3)
    source.flags.writeable = False
    made = gs.from_numpy(source)
    same(made + 1, [1, 1, 1], gs.float64)
    for write in (lambda: made.add_(1), lambda: made.fill_(1), lambda: made.zero_(), lambda: made.mul_(gs.ones(3))):
        with pytest.raises((RuntimeError, ValueError), match="read-only|read only|writeable"):
            write()
    with pytest.raises((RuntimeError, ValueError)):
        made[0] = 1
    np.testing.assert_array_equal(source, [0, 0, 0])


def test_as_tensor():
    w = gs.ones(2, requires_grad=True)
    assert gs.as_tensor(w) is w
    converted = gs.as_tensor(w, dtype=gs.float64)
    assert converted.dtype == gs.float64 and converted.requires_grad
    source = np.zeros(2)
    gs.as_tensor(source)[0] = 3
    assert source[0] == 3
    same(gs.as_tensor(source, dtype=gs.int64), [3, 0], gs.int64)
    same(gs.as_tensor([1, 2]), [1, 2], gs.int64)


def test_asarray():
    source = np.zeros(2)
    gs.asarray(source)[0] = 3
    assert source[0] == 3
    gs.asarray(source, copy=True)[0] = 5
    assert source[0] == 3
    with pytest.raises(ValueError, match="without a copy"):
        gs.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        gs.asarray(source, dtype=gs.float32, copy=False)
    assert gs.asarray([1.0], requires_grad=True).requires_grad


def test_asarray_of_a_tensor_with_a_gradient():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert gs.asarray(x) is x
    copied = gs.asarray(x, copy=True)
    assert copied.data_ptr() != x.data_ptr()
    (copied * gs.asarray(x, dtype=gs.float64)).sum().backward()
    assert x.grad.tolist() == [2, 4]
    assert not gs.asarray(x, requires_grad=False).requires_grad and not gs.asarray(x.detach(), copy=True).requires_grad
    leaf = gs.asarray(x.detach(), requires_grad=True)
    assert leaf.requires_grad and leaf.is_leaf


# ---- filled


@pytest.mark.parametrize("make", [gs.zeros, gs.ones, gs.empty, gs.rand, gs.randn], ids=lambda make: make.__name__)
def test_spellings_of_a_size(make):
    for result in (make(2, 3), make((2, 3)), make([2, 3]), make(size=(2, 3)), make(gs.tensor(2), np.int8(3))):
        assert result.shape == (2, 3)
    assert make(()).shape == ()
    assert make(0, 3).shape == (0, 3)
    assert make(2, dtype=gs.float64).dtype == gs.float64
    assert make(2, requires_grad=True).requires_grad


@pytest.mark.parametrize("make", [gs.zeros, gs.rand], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    ("size", "named", "error", "message"),
    [
        ((), {}, TypeError, "missing 1 required positional argument: 'size'"),
        (("a",), {}, TypeError, "argument 'size' must be ints or a tuple of ints, not str"),
        ((2.0,), {}, TypeError, "not float"),
        (((2, 3), 4), {}, TypeError, r"not tuple of \(tuple, int\)"),
        ((2, -1), {}, RuntimeError, r"every dimension must be non-negative, got \(2, -1\)"),
        ((2**62, 2**62), {}, RuntimeError, "cannot make a tensor of shape"),
        ((2,), {"size": (2,)}, TypeError, "multiple values for argument 'size'"),
        ((2,), {"names": 1}, TypeError, "unexpected keyword argument 'names'"),
        ((2,), {"device": "cuda"}, RuntimeError, "there is no device 'cuda'"),
        ((2,), {"dtype": "foo"}, TypeError, "unknown dtype 'foo'"),
    ],
)
def test_refused_sizes_and_arguments(make, size, named, error, message):
    with pytest.raises(error, match=rf"{make.__name__}\(\).*{message}"):
        make(*size, **named)


def test_device_cpu_is_accepted():
    assert gs.zeros(2, device="cpu").device == "cpu"


def test_full():
    same(gs.full((2,), 3), [3, 3], gs.int64)
    same(gs.full([2], 2.5), [2.5, 2.5], gs.float32)
    same(gs.full((), True), True, gs.bool)
    same(gs.full((1,), 2j), [2j], gs.complex64)
    same(gs.full((1,), gs.tensor(4)), [4], gs.int64)
    same(gs.full((1,), 2.7, dtype=gs.int32), [2], gs.int32)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, 1.0), TypeError, "argument 'size' must be"),
        (((2,), "a"), TypeError, "argument 'fill_value' must be Number, not str"),
        (((2,), 300, gs.uint8), RuntimeError, "value 300 cannot be converted to type uint8 without overflow"),
        (((2,), float("nan"), gs.int32), RuntimeError, "value nan cannot be converted to type int32"),
        (((2,), 2j, gs.float32), RuntimeError, "value 2j cannot be converted to type float32"),
    ],
)
def test_full_refuses(arguments, error, message):
    size, value, *dtype = arguments
    with pytest.raises(error, match=message):
        gs.full(size, value, dtype=dtype[0] if dtype else None)


def test_eye():
    same(gs.eye(2), np.eye(2), gs.float32)
    same(gs.eye(2, 3, dtype=gs.int64), np.eye(2, 3), gs.int64)
    with pytest.raises(RuntimeError, match="m must be greater or equal to 0, got -3"):
        gs.eye(2, -3)


def test_like():
    source = gs.ones(2, 3, dtype=gs.float64, requires_grad=True)
    for make in (gs.zeros_like, gs.ones_like, gs.empty_like, gs.rand_like, gs.randn_like):
        made = make(source)
        assert (made.shape, made.dtype, made.requires_grad) == ((2, 3), gs.float64, False)
        assert make(source, dtype=gs.float32, requires_grad=True).requires_grad
        with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not list"):
            make([1.0])
    same(gs.full_like(source, 2), np.full((2, 3), 2.0), gs.float64)


# ---- out=


@pytest.mark.parametrize(
    "make",
    [
        lambda **named: gs.zeros(4, **named),
        lambda **named: gs.full((4,), 2.0, **named),
        lambda **named: gs.arange(4, **named),
        lambda **named: gs.linspace(0, 1, 4, **named),
        lambda **named: gs.rand(4, **named),
        lambda **named: gs.randperm(4, **named),
    ],
)
def test_out(make):
    out = gs.full((4,), 9.0, dtype=gs.float64)
    before = out._version
    assert make(out=out) is out
    assert out.dtype == gs.float64 and not (out == 9.0).any() and out._version > before
    with pytest.warns(UserWarning, match=r"resized since it had shape \[5\]"):
        assert make(out=gs.zeros(5)).shape == (4,)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        make(out=gs.zeros(4, requires_grad=True))
    assert make(out=gs.empty(0)).shape == (4,)


# ---- ranges


@pytest.mark.parametrize(
    ("arguments", "expected", "dtype"),
    [
        ((5,), [0, 1, 2, 3, 4], gs.int64),
        ((5, 1, -2), [5, 3], gs.int64),
        ((1, 4), [1, 2, 3], gs.int64),
        ((3.0,), [0, 1, 2], gs.float32),
        ((1, 2, 0.25), [1, 1.25, 1.5, 1.75], gs.float32),
        ((0,), [], gs.int64),
        ((2**62, 2**62 + 2), [2**62, 2**62 + 1], gs.int64),
    ],
)
def test_arange(arguments, expected, dtype):
    same(gs.arange(*arguments), expected, dtype)


def test_arange_needs_an_end():
    for named in ({}, {"dtype": gs.float32}, {"step": 2}):
        with pytest.raises(TypeError, match=r"arange\(\) missing 1 required positional arguments: \"end\""):
            gs.arange(**named)
    same(gs.arange(end=2), [0, 1], gs.int64)


def test_arange_rounds_each_value_once():
    made = gs.arange(0, 1000, 0.1, dtype=gs.float64).numpy()
    np.testing.assert_array_equal(made, 0.1 * np.arange(10000))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 10, 0), RuntimeError, "step must be nonzero"),
        ((0, 10, -1), RuntimeError, "wrong sign"),
        ((0, float("inf")), RuntimeError, "unsupported range"),
        (("a",), TypeError, "argument 'end' must be Number, not str"),
        ((1j,), RuntimeError, "must be real"),
    ],
)
def test_arange_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        gs.arange(*arguments)


def test_linspace_and_logspace():
    same(gs.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1], gs.float32)
    same(gs.linspace(3, 1, 3), [3, 2, 1], gs.float32)
    same(gs.linspace(0, 10, 5, dtype=gs.int64), [0, 2, 5, 7, 10], gs.int64)
    same(gs.linspace(0, 1, 1), [0], gs.float32)
    same(gs.linspace(1j, 2, 3), [1j, 1 + 0.5j, 2], gs.complex64)
    same(gs.logspace(0, 2, 3), [1, 10, 100], gs.float32)
    same(gs.logspace(0, 3, 4, base=2), [1, 2, 4, 8], gs.float32)
    with pytest.raises(RuntimeError, match="steps must be greater or equal to 0, got -1"):
        gs.linspace(0, 1, -1)
    with pytest.raises(RuntimeError, match="complex bounds"):
        gs.linspace(1j, 2, 3, dtype=gs.float32)


def test_bools_are_bounds_as_integers_are():
    assert gs.linspace(True, True, 2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 7), (4, -3), (-(2**63), 2**63 - 1), (2**63 - 1, -(2**62)), (5, 5), (-9, 2)]
)
@pytest.mark.parametrize("steps", [2, 3, 7, 50])
def test_linspace_of_integers_is_cut_off_without_rounding_before(start, end, steps):
    exact = [Fraction(start * (steps - 1 - i) + end * i, steps - 1) for i in range(steps)]
    assert gs.linspace(start, end, steps, dtype=gs.int64).tolist() == [int(point) for point in exact]
    assert gs.linspace(False, True, 3).tolist() == [0.0, 0.5, 1.0]
    assert gs.linspace(True, 3, 3).tolist() == [1.0, 2.0, 3.0]
    assert gs.linspace(True, True, 2, dtype=gs.int64).tolist() == [1, 1]
    assert gs.logspace(False, True, 2).tolist() == [1.0, 10.0]


class OfAnotherLibrary:
    """As PyTorch's tensors are seen by one who has not imported it."""

    def __init__(self, array, requires_grad=False):
        self.array, self.requires_grad = array, requires_grad

    def detach(self):
        return OfAnotherLibrary(self.array)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self.array


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_of_another_library(requires_grad):
    array = np.arange(6.0).reshape(2, 3)
    other = OfAnotherLibrary(array, requires_grad)
    assert gs.tensor(other).tolist() == array.tolist() and gs.tensor(other).dtype == gs.float64
    shared = gs.as_tensor(other)
    array[0, 0] = 7
    assert shared[0, 0].item() == 7.0 and not shared.requires_grad
    assert gs.tensor([other, other]).shape == (2, 2, 3)


# ---- one number, and memory in a given order


def test_one_number_of_the_default_dtype():
    same(gs.scalar_tensor(2), 2, gs.float32)
    same(gs.scalar_tensor(True, dtype=gs.int64, layout=gs.strided, pin_memory=False), 1, gs.int64)
    assert gs.scalar_tensor(1.5, requires_grad=True).requires_grad
    assert gs.scalar_tensor(1, device="meta").is_meta
    with pytest.raises(RuntimeError, match="scalar_tensor.*without overflow"):
        gs.scalar_tensor(1j)
    with pytest.raises(TypeError, match="scalar_tensor.*'s' must be Number"):
        gs.scalar_tensor([1])


def test_strides_that_are_given():
    x = gs.empty_strided((2, 3), (1, 2), dtype=gs.int32, requires_grad=False)
    assert (x.shape, x.stride(), x.dtype) == ((2, 3), (1, 2), gs.int32) and not x._is_view()
    x.copy_(gs.arange(6).reshape(2, 3))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert gs.empty_strided((3,), (0,)).fill_(2).tolist() == [2, 2, 2]
    assert gs.empty_strided((0, 3), (3, 1)).shape == (0, 3) and gs.empty_strided((), ()).shape == ()
    assert gs.empty_strided((2,), (5,), requires_grad=True).requires_grad
    like = gs.ones(2, dtype=gs.float64).new_empty_strided((2, 2), (1, 2))
    assert (like.stride(), like.dtype) == ((1, 2), gs.float64)
    assert gs.empty_permuted((2, 3, 4), (1, 2, 0)).stride() == (1, 8, 2)
    assert gs.empty_permuted((2, 3), (0, 1)).is_contiguous() and gs.empty_permuted((), ()).shape == ()


def test_strides_that_are_given_in_batches():
    def filled(x):
        made = x.new_empty_strided((2, 3), (1, 2))
        assert made.shape == (2, 3)
        return made.zero_() + x

    assert gs.vmap(filled)(gs.arange(2.0)).tolist() == [[[0] * 3] * 2, [[1] * 3] * 2]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: gs.empty_strided((2, 3), (1,)),
            r"dimensionality of sizes \(2\) must match dimensionality of strides \(1\)",
        ),
        (lambda: gs.empty_strided((2,), (-1,)), "every stride must be non-negative"),
        (lambda: gs.empty_strided((-2,), (1,)), "every dimension must be non-negative"),
        (lambda: gs.empty_permuted((2, 3), (1, 1)), "name each of the 2 dimensions once"),
        (lambda: gs.empty_permuted((2, 3), (1,)), "name each of the 2 dimensions once"),
    ],
)
def test_orders_that_there_are_not(make, text):
    with pytest.raises(RuntimeError, match=text):
        make()


def test_the_size_of_another():
    x = gs.arange(6.0)
    assert gs.resize_as_(x, gs.ones(2, 2)) is x
    assert x.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match="'the_template' must be Tensor, not int"):
        gs.resize_as_(x, 3)


# ---- filled


@pytest.mark.parametrize("value", [2.5, gs.tensor(2.5)])
def test_fill_keeps_its_argument(value):
    x = gs.arange(3.0)
    same(gs.fill(x, value), [2.5] * 3, gs.float32)
    same(gs.fill(gs.arange(2), value), [2, 2], gs.int64)
    assert x.tolist() == [0, 1, 2]
    out = gs.empty(3)
    assert gs.fill(x, value, out=out) is out and out.tolist() == [2.5] * 3


def test_a_value_that_fills_gets_the_sum():
    value = gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    for fill in (gs.fill, lambda x, value: x.clone().fill_(value)):
        x = gs.ones(2, 3, requires_grad=True)
        ours, of_value = gs.autograd.grad((fill(x, value) * gs.arange(6.0).reshape(2, 3)).sum(), (x, value))
        assert ours.tolist() == [[0] * 3] * 2 and of_value.item() == 15 and of_value.dtype == gs.float64
    with pytest.raises(RuntimeError, match="0-dim"):
        gs.fill(gs.ones(2), gs.ones(2))


# ---- arguments of PyTorch's for other kinds of memory

SIZED = [
    gs.zeros, gs.ones, gs.empty, gs.rand, gs.randn, gs.zeros_like, gs.ones_like, gs.empty_like, gs.rand_like,
    gs.randn_like,
]  # fmt: skip
MAKERS = {
    **{make.__name__: lambda make=make, **named: make(gs.ones(2, 3) if "like" in make.__name__ else (2, 3), **named)
       for make in SIZED},
    "full": lambda **named: gs.full((2, 3), 1.0, **named),
    "full_like": lambda **named: gs.full_like(gs.ones(2, 3), 1.0, **named),
    "eye": lambda **named: gs.eye(3, **named),
    "arange": lambda **named: gs.arange(3.0, **named),
    "linspace": lambda **named: gs.linspace(0, 1, 3, **named),
    "logspace": lambda **named: gs.logspace(0, 1, 3, **named),
    "randint": lambda **named: gs.randint(3, (2, 3), **named),
    "randint_like": lambda **named: gs.randint_like(gs.ones(2, 3), 5, **named),
    "randperm": lambda **named: gs.randperm(3, **named),
    "normal": lambda **named: gs.normal(0.0, 1.0, (2, 3), **named),
    "scalar_tensor": lambda **named: gs.scalar_tensor(1, **named),
    "empty_strided": lambda **named: gs.empty_strided((2, 3), (3, 1), **named),
    "empty_permuted": lambda **named: gs.empty_permuted((2, 3), (1, 0), **named),
    "tril_indices": lambda **named: gs.tril_indices(3, 3, **named),
    "triu_indices": lambda **named: gs.triu_indices(3, 3, **named),
    "hann_window": lambda **named: gs.hann_window(5, **named),
    "kaiser_window": lambda **named: gs.kaiser_window(5, **named),
    "new_zeros": lambda **named: gs.ones(2).new_zeros((2, 3), **named),
    "new_full": lambda **named: gs.ones(2).new_full((2, 3), 1.0, **named),
    "new_empty_strided": lambda **named: gs.ones(2).new_empty_strided((2, 3), (3, 1), **named),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_layout_and_pin_memory(name):
    plain = MAKERS[name]()
    for named in ({"layout": gs.strided}, {"pin_memory": True}, {"layout": None, "pin_memory": False}):
        made = MAKERS[name](**named)
        assert (made.shape, made.dtype) == (plain.shape, plain.dtype)
    with pytest.raises(NotImplementedError, match="no tensor is made with the layout gradsmith.sparse_coo"):
        MAKERS[name](layout=gs.sparse_coo)
    with pytest.raises(TypeError, match="'layout' must be gradsmith.strided, not str"):
        MAKERS[name](layout="strided")


def test_memory_format():
    shape, image = (2, 3, 4, 5), gs.ones(2, 3, 4, 5)
    by_channels, by_rows = (60, 1, 15, 3), (60, 20, 5, 1)
    likes = [
        gs.zeros_like,
        gs.ones_like,
        gs.empty_like,
        gs.rand_like,
        gs.randn_like,
        lambda x, **n: gs.full_like(x, 2, **n),
    ]
    for make in likes:
        assert make(image, memory_format=gs.channels_last, requires_grad=True).stride() == by_channels
        assert make(image, memory_format=gs.channels_last, requires_grad=True).is_leaf
        turned = image.contiguous(memory_format=gs.channels_last)
        assert make(turned).stride() == make(turned, memory_format=gs.preserve_format).stride() == by_channels
        assert make(turned, memory_format=gs.contiguous_format).stride() == by_rows
    assert gs.empty(shape, memory_format=gs.channels_last).stride() == by_channels
    assert image.type(gs.float64, memory_format=gs.channels_last).stride() == by_channels
    assert image.cpu(gs.channels_last).stride() == by_channels
    assert image.cpu() is image
    with pytest.raises(TypeError, match="memory_format"):
        gs.zeros_like(image, memory_format="by channels")


class LikeAList:
    """Has a length and items by number, and nothing else of a list."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]


@pytest.mark.parametrize("make", [gs.tensor, gs.as_tensor, gs.asarray])
def test_what_is_like_a_list(make):
    assert make(LikeAList(1.0, 2.0, 3.0)).tolist() == [1.0, 2.0, 3.0]
    assert make(LikeAList(LikeAList(1, 2), [3, 4])).tolist() == [[1, 2], [3, 4]]
    assert make([LikeAList(1, 2), LikeAList(3, 4)]).tolist() == [[1, 2], [3, 4]]
    assert make([range(2), (2, 3)]).tolist() == [[0, 1], [2, 3]]
    assert make(LikeAList()).shape == (0,)
    with pytest.raises(ValueError, match="expected sequence of length 2 at dim 1"):
        make([LikeAList(1, 2), LikeAList(3)])
    with pytest.raises(RuntimeError, match="could not infer dtype of dict"):
        make([{0: 1}])
