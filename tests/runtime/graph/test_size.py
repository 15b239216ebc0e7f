"""`Size`, the class of shapes: a tuple that can count."""

import copy
import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest

import gradsmith as gs


def test_shapes_are_sizes():
    x = gs.zeros(2, 3, 4)
    for size in (x.shape, x.size(), gs.nn.Parameter(x).shape, gs.zeros(2, 3, 4, device="meta").shape):
        assert type(size) is gs.Size and size == (2, 3, 4) and size.numel() == 24
    assert isinstance(x.shape, tuple) and repr(x.shape) == "(2, 3, 4)" and hash(x.shape) == hash((2, 3, 4))
    assert type(x.stride()) is tuple
    assert gs.tensor(1.0).shape.numel() == 1 and gs.zeros(0, 3).shape.numel() == 0


def test_what_is_made_of_sizes_is_a_size():
    size = gs.Size([2, 3])
    made = {
        size[1:]: (3,),
        size[:]: (2, 3),
        size[::-1]: (3, 2),
        size + (4,): (2, 3, 4),  # noqa: RUF005
        (4,) + size: (4, 2, 3),  # noqa: RUF005
        size + size: (2, 3, 2, 3),
        size * 2: (2, 3, 2, 3),
        0 * size: (),
    }
    for found, expected in made.items():
        assert type(found) is gs.Size and found == expected
    assert size[0] == 2 and size[-1] == 3 and type(size[0]) is int
    rows, columns = size
    assert (rows, columns) == (2, 3) and [*size] == [2, 3] and 3 in size and size.index(3) == 1 and len(size) == 2


@pytest.mark.parametrize(
    "items", [[], (1, 2), range(3), iter([4, 5]), [True, np.int64(3)], [gs.tensor(7)], gs.Size([1])]
)
def test_items_are_plain_ints(items):
    size = gs.Size(items)
    assert all(type(item) is int for item in size)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([1.5],), r"item 0 is 'float'"),
        ((["a"],), r"item 0 is 'str'"),
        ((3,), "not iterable"),
        (([1], [2]), "at most 1 argument"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        gs.Size(*arguments)
    with pytest.raises(TypeError):
        gs.Size([1]) + [2]  # noqa: RUF005
    with pytest.raises(TypeError):
        gs.Size([1]) + ("a",)  # noqa: RUF005
    with pytest.raises(TypeError):
        gs.Size(iterable=[1])


def test_counts_beyond_64_bits():
    assert gs.Size([2**40, 2**40]).numel() == 2**80


def test_copies():
    size = gs.zeros(2, 3).shape
    for found in (pickle.loads(pickle.dumps(size)), copy.copy(size), copy.deepcopy(size)):
        assert type(found) is gs.Size and found == size


def test_ops_and_numpy_take_sizes():
    x = gs.arange(6.0).reshape(gs.Size([2, 3]))
    assert np.zeros(x.shape).shape == (2, 3) and x.numpy().reshape(x.shape[::-1]).shape == (3, 2)
    assert gs.ones(x.shape).expand(4, *x.shape).sum_to_size(x.shape).shape == x.shape
    assert gs.broadcast_to(gs.ones(3), x.shape).shape == x.view(x.shape).shape == x.shape
    assert gs.empty(x.shape).resize_(x.shape).shape == x.shape and gs.randn(x.shape).resize_as_(x).shape == x.shape
    assert x.new_zeros(x.shape[:1]).shape == (2,) and gs.full(x.shape, 1.0).unflatten(1, gs.Size([3, 1])).shape == (
        2,
        3,
        1,
    )


def test_size_of_a_dimension():
    x = gs.zeros(2, 3)
    assert [x.size(0), x.size(-1), x.size(dim=1)] == [2, 3, 3]
    for dim in (2, -3, 2**70):
        with pytest.raises(IndexError, match="Dimension out of range"):
            x.size(dim)


def test_the_collector_and_sizes():
    """A Size is none of the collector's business; memory that is freed is looked at in a process of its own."""
    program = (
        "import gc, gradsmith as gs\n"
        "gc.set_threshold(50)\n"
        "for n in range(3000):\n"
        "    sizes = [gs.Size(range(n % 7)), gs.zeros(2, 3).shape + (n,), gs.Size([n, 2])[1:] * 2]\n"
        "    try: gs.Size([1, 2.5])\n"
        "    except TypeError: pass\n"
        "    try: gs.Size([1]) + ['a']\n"
        "    except TypeError: pass\n"
        "gc.collect()\n"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not gc.is_tracked(gs.zeros(1).shape)
