"""`resize_`, `resize_as_` and `set_`: other sizes over the same memory, and other memory, as in PyTorch."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd.forward_ad import dual_level, make_dual

# ---- resize_


@pytest.mark.parametrize(
    ("resized", "expected"),
    [
        (lambda x: x.resize_(2, 2), [[0, 1], [2, 3]]),
        (lambda x: x.resize_((2, 2)), [[0, 1], [2, 3]]),
        (lambda x: x.resize_(size=(2, 2)), [[0, 1], [2, 3]]),
        (lambda x: x.resize_(size=3), [0, 1, 2]),
        (lambda x: x.resize_(()), 0),
        (lambda x: x.resize_(0, 3), []),
        (lambda x: x.resize_as_(gs.ones(3, 2, requires_grad=True)), [[0, 1], [2, 3], [4, 5]]),
        (lambda x: x.resize_as_(the_template=gs.ones(1)), [0]),
    ],
)
def test_elements_follow_each_other_as_before(resized, expected):
    x = gs.arange(6.0)
    assert resized(x) is x
    assert x.tolist() == expected and x._version == 1 and x.is_contiguous()


def test_a_tensor_of_that_size_stays_as_it_is():
    x = gs.arange(6.0).reshape(2, 3).t()
    assert x.resize_(3, 2) is x and x.resize_as_(gs.ones(3, 2)) is x
    assert x.stride() == (1, 3) and x.tolist() == [[0, 3], [1, 4], [2, 5]] and x._version == 0
    x.resize_(2, 2)
    assert x.stride() == (2, 1) and x.tolist() == [[0, 1], [2, 3]] and x._version == 1


def test_what_was_saved_may_be_given_the_size_that_it_has():
    x, y = gs.ones(3, requires_grad=True), gs.arange(3.0)
    product = x * y
    y.resize_(3)
    product.sum().backward()
    assert x.grad.tolist() == [0, 1, 2]


def test_a_larger_size_keeps_the_elements():
    x = gs.arange(3.0)
    x.resize_(2, 2)
    assert x.flatten()[:3].tolist() == [0, 1, 2]
    x.resize_(2).resize_(4)
    assert x[:3].tolist() == [0, 1, 2]
    empty = gs.empty(0)
    assert empty.resize_(2, 3).shape == (2, 3)
    assert gs.arange(6.0)[2:].clone().resize_(5)[:4].tolist() == [2, 3, 4, 5]


def test_a_view_shows_more_of_its_memory():
    x = gs.arange(6.0)
    view = x[2:4]
    view.resize_(4)
    assert view.tolist() == [2, 3, 4, 5]
    view[3] = 9
    assert x.tolist() == [0, 1, 2, 3, 4, 9]


def test_memory_that_others_see_does_not_grow():
    """That of an array does not in PyTorch either; that of views does."""
    array = np.arange(4.0)
    x = gs.arange(4.0)
    view, other = x[2:], gs.from_numpy(array)
    for refused in (lambda: other.resize_(5), lambda: view.resize_(3), lambda: x.resize_(5)):
        with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
            refused()
    assert other.resize_(2).tolist() == [0, 1] and array.tolist() == [0, 1, 2, 3]
    assert x.shape == (4,) and x._version == view._version == 0


def test_a_read_only_array_stays_read_only():
    array = np.arange(4.0)
    array.flags.writeable = False
    x = gs.from_numpy(array).resize_(2)
    with pytest.raises(ValueError, match="read-only"):
        x.zero_()


def test_what_has_a_gradient_is_not_resized():
    x = gs.ones(2, requires_grad=True)
    for t in (x, x * 1, (x * 1)[:1]):
        for change in (lambda t: t.resize_(1, 1), lambda t: t.resize_as_(gs.ones(1))):
            with gs.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
                change(t)
    with dual_level(), pytest.raises(RuntimeError, match="cannot resize variables that have a forward grad"):
        make_dual(gs.ones(2), gs.ones(2)).resize_(1)


def test_a_saved_tensor_that_was_resized_is_not_used():
    x, constant = gs.ones(2, requires_grad=True), gs.ones(2)
    y = x * constant
    constant.resize_(2, 1)
    with pytest.raises(RuntimeError, match="changed by resize_"):
        y.sum().backward()


def test_resizing_on_meta_and_in_inference_mode():
    assert gs.ones(2, 3, device="meta").resize_(50, 100).shape == (50, 100)
    with gs.inference_mode():
        x = gs.ones(2)
        x.resize_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.resize_(2)


def test_wrong_arguments():
    x = gs.ones(2)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        x.resize_()
    with pytest.raises(RuntimeError, match="negative"):
        x.resize_(-1)
    with pytest.raises(TypeError, match="must be tuple of ints"):
        x.resize_(1.5)
    with pytest.raises(TypeError, match="multiple values"):
        x.resize_(1, size=2)
    with pytest.raises(TypeError, match="the_template"):
        x.resize_as_((2, 2))
    assert x.shape == (2,) and x._version == 0


# ---- set_


def test_set_shares_the_memory_of_its_source():
    source, x = gs.arange(5.0), gs.ones(2)
    assert x.set_(source) is x
    x.mul_(2)
    assert source.tolist() == [0, 2, 4, 6, 8]
    assert (x._version, source._version) == (2, 0)


@pytest.mark.parametrize(
    ("arguments", "keywords", "expected"),
    [
        ((), {}, []),
        ((1, (2, 3), (3, 1)), {}, [[1, 2, 3], [4, 5, 6]]),
        ((1, (2,)), {}, [1, 2]),
        ((), {"storage_offset": 0, "size": (2,), "stride": (4,)}, [0, 4]),
    ],
)
def test_parts_of_a_source(arguments, keywords, expected):
    x = gs.ones(2)
    assert x.set_(*([gs.arange(8.0)] if expected else []), *arguments, **keywords).tolist() == expected


def test_offsets_count_from_the_start_of_the_memory():
    view = gs.arange(8.0)[3:]
    assert gs.ones(1).set_(view, 1, (2,)).tolist() == [1, 2]
    assert gs.ones(1).set_(view).storage_offset() == 3


def test_a_part_outside_of_the_memory_is_refused():
    x = gs.ones(2)
    for part in ((1, (8,)), (9, (1,)), (-1, (2,)), (0, (2,), (-1,))):
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.set_(gs.arange(8.0), *part)
    assert x.tolist() == [1, 1] and x._version == 0


def test_dtypes_and_devices_agree():
    with pytest.raises(RuntimeError, match="Could not set tensor of type int64 to a tensor of type float32"):
        gs.ones(2).set_(gs.arange(3))
    with pytest.raises(RuntimeError, match="the devices must match"):
        gs.ones(2).set_(gs.ones(2, device="meta"))
    assert gs.ones(2, device="meta").set_().shape == (0,)


def test_a_view_that_was_set_is_none_any_more():
    base = gs.ones(2, 3)
    view = base[0]
    view.set_(gs.zeros(5))
    base.requires_grad_()
    assert not view.requires_grad and view.tolist() == [0] * 5 and base.tolist() == [[1, 1, 1]] * 2


def test_set_has_no_derivative():
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.set_(gs.ones(3))
    for target, source in ((x * 1, gs.ones(3)), (gs.ones(2), x * 1), (gs.ones(2), x)):
        target.set_(source)
        assert target.grad_fn.name() == "NotImplemented"
        with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
            target.sum().backward()
    with dual_level(), pytest.raises(NotImplementedError, match="forward mode"):
        make_dual(gs.ones(2), gs.ones(2)).set_(gs.ones(2))


def test_a_leaf_is_set_under_no_grad():
    x = gs.ones(2, requires_grad=True)
    with gs.no_grad():
        x.set_(gs.arange(3.0))
    (x * x).sum().backward()
    assert x.is_leaf and x.grad.tolist() == [0, 2, 4]


def test_a_saved_tensor_that_was_set_is_not_used():
    x, constant = gs.ones(2, requires_grad=True), gs.ones(2)
    y = x * constant
    constant.set_(gs.zeros(2))
    with pytest.raises(RuntimeError, match="changed by set_"):
        y.sum().backward()


def test_set_to_a_storage():
    x = gs.arange(10.0)
    assert gs.empty(0).set_(x.untyped_storage(), 1, (4,), (2,)).tolist() == [1, 3, 5, 7]
    assert gs.empty(0).set_(x[3:].storage()).tolist() == x.tolist()
    assert gs.empty(0, dtype=gs.int32).set_(x.untyped_storage(), 1, (1,)).tolist() == [0x3F800000]
    shared = gs.empty(0).set_(x.untyped_storage())
    shared[0] = 7
    assert x[0] == 7
    with pytest.raises(RuntimeError, match="type float32 to a tensor of type int32"):
        gs.empty(0, dtype=gs.int32).set_(x.storage())
    with pytest.raises(RuntimeError, match="out of bounds"):
        gs.empty(0).set_(x.untyped_storage(), 8, (4,))


def test_stride_of_a_new_dimension():
    x = gs.ones(4, 5)
    assert x[None].stride() == x.unsqueeze(0).stride() == (20, 5, 1)
    assert x[:, None].stride() == x.unsqueeze(1).stride() == (5, 5, 1)
    assert x[..., None].stride() == (5, 1, 1)
    assert gs.ones(3, 1).expand(3, 4).stride() == (1, 0)
