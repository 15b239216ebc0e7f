"""Bad input: each kind raises PyTorch's exception type, says what was found and what to do, and changes nothing.

Every case is a function that prepares tensors and gives the call that must fail, with the tensors to look at after it.
"""

import copy
import re

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import backward, grad


def leaf(values, dtype=np.float64):
    return gs.tensor(np.asarray(values, dtype), requires_grad=True)


def state_of(tensor):
    gradient = tensor.grad if tensor.is_leaf else None
    return (
        tensor.detach().numpy().tolist(),
        tensor.shape,
        tensor.dtype,
        tensor._version,
        tensor.requires_grad,
        tensor.grad_fn,
        None if gradient is None else gradient.tolist(),
    )


CASES = {}


def case(error, *words):
    """Register a preparation; `words` are patterns that the message has to contain."""

    def register(prepare):
        CASES[prepare.__name__] = (prepare, error, words)
        return prepare

    return register


# ---- shapes


@case(
    RuntimeError, r"size of tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 0", r"\[3\]"
)
def shapes_do_not_broadcast():
    x, y = leaf([1, 2, 3]), leaf([1, 2])
    return lambda: x + y, [x, y]


@case(RuntimeError, "must match", r"\[2, 3\].*\[2, 2\]")
def shapes_do_not_broadcast_in_the_last_dimension():
    x, y = leaf(np.ones((2, 3))), leaf(np.ones((2, 2)))
    return lambda: gs.maximum(x, y), [x, y]


@case(RuntimeError, "must match|do not broadcast")
def shapes_do_not_broadcast_in_place():
    x, y = leaf([1, 2, 3]) * 1, leaf([1, 2])
    return lambda: x.mul_(y), [x, y]


@case(RuntimeError, r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]")
def in_place_cannot_grow():
    x, y = leaf([1, 2, 3]) * 1, leaf(np.ones((2, 3)))
    return lambda: x.add_(y), [x, y]


@case(RuntimeError, r"shapes cannot be multiplied|size mismatch|mat1 and mat2", r"2x3|\[2, 3\]")
def matrices_that_do_not_fit():
    x, y = leaf(np.ones((2, 3))), leaf(np.ones((2, 3)))
    return lambda: x @ y, [x, y]


@case(RuntimeError, r"shape '?\[4\]'? is invalid for input of size 6")
def reshape_to_another_size():
    x = leaf(np.ones((2, 3)))
    return lambda: x.reshape(4), [x]


@case(RuntimeError, r"size \[3, 2\] and strides \[1, 3\] cannot be seen as size \[6\] without a copy", "reshape")
def view_of_what_needs_a_copy():
    x = leaf(np.ones((2, 3)))
    y = x.T
    return lambda: y.view(6), [x, y]


@case(RuntimeError, "sizes of tensors must match except in dimension 0")
def parts_that_do_not_fit():
    x, y = leaf(np.ones((2, 3))), leaf(np.ones((2, 2)))
    return lambda: gs.cat([x, y]), [x, y]


# ---- requires_grad


@case(RuntimeError, "[Oo]nly [Tt]ensors of floating point (and complex )?dtype can require gradients", "int64")
def integer_tensor_made_to_require_grad():
    return lambda: gs.tensor([1, 2], requires_grad=True), []


@case(RuntimeError, "floating point (and|or) complex")
def integer_tensor_told_to_require_grad():
    x = gs.tensor([1, 2])
    return lambda: x.requires_grad_(), [x]


@case(RuntimeError, "floating point (and|or) complex")
def bool_tensor_set_to_require_grad():
    x = gs.tensor([True])

    def call():
        x.requires_grad = True

    return call, [x]


@case(RuntimeError, "you can only change requires_grad flags of leaf variables", "detach")
def intermediate_told_not_to_require_grad():
    x = leaf([1, 2])
    y = x * 2
    return lambda: y.requires_grad_(False), [x, y]


# ---- backward


@case(RuntimeError, "grad can be implicitly created only for scalar outputs")
def backward_of_several_numbers():
    x = leaf([1, 2])
    y = x * 2
    return lambda: y.backward(), [x, y]


@case(RuntimeError, "grad can be implicitly created only for scalar outputs")
def grad_of_several_numbers():
    x = leaf([1, 2])
    y = x * 2
    return lambda: grad(y, x), [x, y]


@case(RuntimeError, "grad can be implicitly created only for real scalar outputs|real scalar")
def backward_of_a_complex_number():
    x = gs.tensor(1 + 2j, requires_grad=True)
    y = x * x
    return lambda: y.backward(), [x, y]


@case(RuntimeError, "rying to backward through the graph a second time", "retain_graph=True")
def backward_twice():
    x = leaf([1, 2])
    y = (x * x).sum()
    y.backward()
    return lambda: y.backward(), [x, y]


@case(RuntimeError, "rying to backward through the graph a second time", "retain_graph=True")
def grad_twice():
    x = leaf([1, 2])
    y = (x * x).sum()
    grad(y, x)
    return lambda: grad(y, x), [x, y]


@case(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn")
def backward_without_a_graph():
    x = gs.tensor(1.0)
    return lambda: x.backward(), [x]


@case(RuntimeError, "element 1 of tensors does not require grad and does not have a grad_fn")
def backward_of_one_without_a_graph():
    x = leaf(1.0)
    return lambda: backward([x * 2, gs.tensor(1.0)]), [x]


@case(RuntimeError, "does not require grad")
def backward_of_what_was_computed_under_no_grad():
    x = leaf(1.0)
    with gs.no_grad():
        y = x * 2
    return lambda: y.backward(), [x, y]


@case(RuntimeError, "Mismatch in shape", r"grad_output\[0\] has a shape of \[3\]", r"output\[0\] has a shape of \[2\]")
def gradient_of_the_wrong_shape():
    x = leaf([1, 2])
    y = x * 2
    return lambda: y.backward(gs.ones(3)), [x, y]


@case(RuntimeError, "complex", "float")
def gradient_of_the_wrong_dtype():
    x = leaf([1, 2])
    y = x * 2
    return lambda: y.backward(gs.tensor([1j, 1j])), [x, y]


@case(RuntimeError, "real|complex", "dtype")
def real_gradient_of_complex_numbers():
    x = gs.tensor([1j, 2j], requires_grad=True)
    y = x * 2
    return lambda: y.backward(gs.ones(2)), [x, y]


@case(TypeError, "Tensor", "list|str")
def gradient_that_is_no_tensor():
    x = leaf([1, 2])
    y = x * 2
    return lambda: y.backward(["a"]), [x, y]


@case(RuntimeError, "got 2 tensors and 1 gradients|number of|length")
def too_few_gradients():
    x = leaf([1, 2])
    return lambda: backward([x * 2, x * 3], [gs.ones(2)]), [x]


@case(
    RuntimeError, "The differentiated Tensor at index 1 appears to not have been used in the graph", "allow_unused=True"
)
def unused_input():
    x, y = leaf([1, 2]), leaf([1, 2])
    z = (x * x).sum()
    return lambda: grad(z, [x, y]), [x, y, z]


@case(RuntimeError, "One of the differentiated Tensors does not require grad")
def input_that_does_not_require_grad():
    x, y = leaf([1, 2]), gs.tensor([1.0, 2.0])
    z = (x * y).sum()
    return lambda: grad(z, [x, y]), [x, y, z]


@case(RuntimeError, "inputs.*empty|empty.*inputs")
def no_inputs():
    x = leaf([1, 2])
    return lambda: (x * x).sum().backward(inputs=[]), [x]


@case((ValueError, RuntimeError), "materialize_grads", "allow_unused")
def materialize_what_must_be_used():
    x = leaf(1.0)
    return lambda: grad(x * x, x, allow_unused=False, materialize_grads=True), [x]


# ---- in-place


@case(
    RuntimeError,
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "MulBackward0",
    "version 1; expected version 0",
)
def saved_tensor_changed():
    x, factor = leaf([1, 2]), gs.tensor([2.0, 3.0], dtype=gs.float64)
    y = (x * factor).sum()
    factor.add_(1)
    return lambda: y.backward(), [x, factor, y]


@case(RuntimeError, "modified by an inplace operation", "output 0 of ExpBackward0", "version 1; expected version 0")
def saved_result_changed():
    x = leaf([1, 2])
    y = x.exp()
    z = y.sum()
    y.zero_()
    return lambda: z.backward(), [x, z]


@case(RuntimeError, "modified by an inplace operation")
def saved_tensor_changed_through_a_view():
    x = leaf([1, 2])
    y = x * 1
    z = (y * y).sum()
    y[:1].mul_(2)
    return lambda: z.backward(), [x, z]


@case(RuntimeError, "modified by an inplace operation")
def saved_tensor_changed_under_no_grad():
    x = leaf([1, 2])
    z = (x * x).sum()
    with gs.no_grad():
        x.add_(1)
    return lambda: z.backward(), [x, z]


@case(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation", "no_grad")
def leaf_changed_in_place():
    x = leaf([1, 2])
    return lambda: x.add_(1), [x]


@case(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation")
def leaf_changed_by_an_operator():
    x = leaf([1, 2])

    def call():
        y = x
        y += 1

    return call, [x]


@case(RuntimeError, "a (view of a )?leaf Variable that requires grad")
def leaf_changed_by_an_index():
    x = leaf([1, 2])

    def call():
        x[0] = 5.0

    return call, [x]


@case(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation")
def view_of_a_leaf_changed_in_place():
    x = leaf([1, 2])
    y = x[:1]
    return lambda: y.zero_(), [x, y]


@case(RuntimeError, "result type float64 can't be cast to the desired output type int64")
def floats_into_integers():
    x = gs.tensor([1, 2])
    return lambda: x.mul_(gs.tensor([0.5, 0.5], dtype=gs.float64)), [x]


@case(ValueError, "read-only")
def read_only_memory():
    array = np.ones(2)
    array.flags.writeable = False
    x = gs.from_numpy(array)
    return lambda: x.add_(1), [x]


# ---- places


@case(IndexError, "index 5 is out of bounds", "size 3")
def index_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x[5], [x]


@case(IndexError, "index -4 is out of (bounds|range)|out of range", "3")
def select_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x.select(0, -4), [x]


@case(IndexError, r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 1\)")
def dimension_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x.sum(1), [x]


@case(RuntimeError, "index 3 is out of bounds for dimension 0 with size 3")
def gather_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x.gather(0, gs.tensor([3])), [x]


@case((IndexError, RuntimeError), "index.* 3 .*out of (bounds|range)|out of (bounds|range).*3")
def index_select_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x.index_select(0, gs.tensor([3])), [x]


@case(RuntimeError, "out of bounds", "3")
def scatter_out_of_range():
    x = leaf([1, 2, 3]) * 1
    return lambda: x.scatter_add_(0, gs.tensor([3]), gs.ones(1, dtype=gs.float64)), [x]


@case(IndexError, "Target 3 is out of bounds")
def class_out_of_range():
    x = leaf(np.ones((2, 3)))
    return lambda: gs.cross_entropy(x, gs.tensor([0, 3])), [x]


@case(RuntimeError, "start.*length|out of range|exceeds")
def narrow_out_of_range():
    x = leaf([1, 2, 3])
    return lambda: x.narrow(0, 2, 2), [x]


# ---- dtypes and arguments


@case(TypeError, "float23|data type", "dtype|data type")
def unknown_dtype():
    return lambda: gs.zeros(2, dtype="float23"), []


@case(TypeError, "dtype", "list|object")
def dtype_that_is_none():
    x = leaf([1, 2])
    return lambda: x.to([1]), [x]


@case(TypeError, "object", "can't convert|supported")
def object_array():
    return lambda: gs.tensor(np.array([object(), None])), []


@case(TypeError, "object|str", "can't convert|supported|dtype")
def array_of_texts():
    return lambda: gs.from_numpy(np.array(["a", "b"])), []


@case((TypeError, RuntimeError), "object|dtype|operand|unsupported")
def object_array_as_an_operand():
    x = leaf([1, 2])
    return lambda: x * np.array([object(), None]), [x]


@case((TypeError, ValueError), "expected sequence of length 2|too many dimensions|ragged|inhomogeneous|str")
def ragged_list():
    return lambda: gs.tensor([[1.0, 2.0], [3.0]]), []


@case(TypeError, r"add\(\): argument 'input' \(position 1\) must be Tensor, not dict")
def argument_that_is_no_tensor():
    return lambda: gs.add({}, gs.ones(1)), []


@case(TypeError, "unsupported operand")
def operand_that_is_no_number():
    x = leaf([1, 2])
    return lambda: x + "a", [x]


@case(TypeError, "mul.*argument")
def argument_left_out():
    x = leaf([1, 2])
    return lambda: x.mul(), [x]


@case(TypeError, "unexpected keyword argument '?colour'?|colour")
def unknown_argument():
    x = leaf([1, 2])
    return lambda: x.sum(colour=1), [x]


@case(RuntimeError, "-?2.*(cannot|can't)|implemented|integer|negative")
def integers_to_a_negative_power():
    x = gs.tensor([1, 2])
    return lambda: x**-2, [x]


@case(RuntimeError, "ZeroDivisionError|divi.*zero")
def integers_divided_by_zero():
    x = gs.tensor([1, 2])
    return lambda: x // 0, [x]


@case(RuntimeError, "bool")
def bools_subtracted():
    x = gs.tensor([True, False])
    return lambda: x - x, [x]


@case((RuntimeError, ValueError), "with more than one (value|element)|ambiguous")
def truth_of_several():
    x = leaf([1, 2])
    return lambda: bool(x), [x]


@case((RuntimeError, ValueError), "Scalar|one element|single")
def item_of_several():
    x = leaf([1, 2])
    return lambda: x.item(), [x]


@case(RuntimeError, "requires grad", r"detach\(\)")
def array_of_what_requires_grad():
    x = leaf([1, 2])
    return lambda: x.numpy(), [x]


@case(RuntimeError, "leaf|graph", "deepcopy|detach")
def deep_copy_of_an_intermediate():
    x = leaf([1, 2])
    y = x * 2
    return lambda: copy.deepcopy(y), [x, y]


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name):
    """Raised with its words, twice alike, and nothing has changed: values, versions, gradients, histories."""
    prepare, error, words = CASES[name]
    call, tensors = prepare()
    before = [state_of(tensor) for tensor in tensors]
    for _ in range(2):
        with pytest.raises(error) as raised:
            call()
        message = str(raised.value)
        assert type(raised.value) in (error if isinstance(error, tuple) else (error,))
        for pattern in words:
            assert re.search(pattern, message), message
        assert [state_of(tensor) for tensor in tensors] == before
