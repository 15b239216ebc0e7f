"""Functions of `array(...)` may keep the arrays that they get and give, and change their attributes."""

import importlib

import pytest

import gradsmith as gs

pytestmark = pytest.mark.compiles

TABLE = """
keeping:
- name: doubled(Tensor self) -> Tensor
  forward: array(doubled_of(self))
  self: grad * 2
  samples: real(3)
  doc: Twice the tensor, by a function that keeps everything and changes it.
- name: unchanged(Tensor self) -> Tensor
  forward: array(unchanged_of(self))
  self: grad
  samples: real(3)
  doc: The array that came in.
- name: both(Tensor self, Tensor? other=None) -> (Tensor first, Tensor second)
  forward: array(both_of(self, other))
  nondifferentiable: a case
  samples: real(3)
  doc: Two results, the second an array that the function keeps.
- name: all_of(Tensor[] tensors) -> Tensor[]
  forward: array(all_of_them(tensors))
  nondifferentiable: a case
  samples: tensors=[real(3), real(2)]
  doc: A list.
- name: ends(Tensor(a) self) -> Tensor(a)
  forward: array(ends_of(self))
  nondifferentiable: a case
  samples: real(4)
  doc: A view of every third element.
"""

FUNCTIONS = """
import numpy as np

kept = []


def change(array):
    kept.append(array)
    array.shape = (*array.shape, 1)
    return array


def doubled_of(array):
    result = array * 2
    kept.append(result)
    change(array)
    return result


def unchanged_of(array):
    kept.append(array)
    return array


def both_of(array, other):
    second = np.ones(3)
    kept.append(second)
    change(array)
    if other is not None:
        change(other)
    return array[:, 0] * 2, second


def all_of_them(arrays):
    results = [array * 2 for array in arrays]
    kept.extend(results)
    for array in arrays:
        change(array)
    return results


def ends_of(array):
    kept.append(array)
    return array[::3]
"""


@pytest.fixture(scope="module")
def keeping(cache, tmp_path_factory):
    folder = tmp_path_factory.mktemp("keeping")
    (folder / "keeping.yaml").write_text(TABLE, encoding="utf-8")
    (folder / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    return gs.load_ops(folder / "keeping.yaml", functions=folder / "functions.py")


def change_all(keeping):
    for array in importlib.import_module(f"{keeping.__name__}._functions").kept:
        array.shape = (1, *array.shape)
        array.setflags(write=False)


def test_a_function_of_one_tensor(keeping):
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = keeping.doubled(x) * keeping.doubled(x)
    change_all(keeping)
    assert x.shape == y.shape == (3,)
    y.sum().backward()
    assert x.grad.tolist() == [8, 16, 24]
    with gs.no_grad():
        x.add_(1)


def test_the_array_that_came_in(keeping):
    x = gs.tensor([1.0, 2.0, 3.0])
    y = keeping.unchanged(x)
    change_all(keeping)
    assert x.shape == y.shape == (3,) and y.tolist() == [1, 2, 3]
    x.add_(1)


def test_several_results(keeping):
    first, second = keeping.both(gs.ones(3), gs.ones(2))
    lists = keeping.all_of([gs.ones(3), gs.ones(2)])
    change_all(keeping)
    assert first.shape == second.shape == (3,)
    assert [t.shape for t in lists] == [(3,), (2,)] and lists[0].tolist() == [2, 2, 2]


def test_a_view_still_shares_memory_and_version(keeping):
    x = gs.tensor([1.0, 2.0, 3.0, 4.0])
    view = keeping.ends(x)
    change_all(keeping)
    assert view.tolist() == [1, 4]
    view.mul_(2)
    assert x.tolist() == [2, 2, 3, 8] and x._version == 1


WRITING = """
writing:
- name: stepped(Tensor self) -> Tensor
  forward: array(stepped_of(self))
  nondifferentiable: a case
  samples: real(3)
  doc: A function that writes to its argument.
- name: emptied(Tensor[] tensors) -> Tensor
  forward: array(emptied_of(tensors))
  nondifferentiable: a case
  samples: "[real(3), real(3)]"
  doc: The same of a list.
- name: chosen(Tensor self, object index) -> Tensor
  forward: array(chosen_of(self, index))
  nondifferentiable: a case
  samples: real(3), index=1
  doc: The same of a tensor in an index.
- name: rest(Tensor(a) self) -> Tensor(a)
  forward: array(rest_of(self))
  nondifferentiable: a case
  samples: real(3)
  doc: A view, by a function that writes.
- name: summed(Tensor self) -> Tensor
  forward: array(self.cumsum(0, None, self))
  nondifferentiable: a case
  samples: real(3)
  doc: An expression that writes where the generator does not see it.
- name: grown(Tensor self) -> Tensor
  forward: "array(np.exp(self, **{'out': self}))"
  nondifferentiable: a case
  samples: real(3)
  doc: Another one.
"""

WRITERS = """
def stepped_of(array):
    array += 1
    return array * 2


def emptied_of(arrays):
    for array in arrays:
        array *= 0
    return sum(arrays)


def chosen_of(array, index):
    index[0][...] = 0
    return array[index]


def rest_of(array):
    array[0] = 7
    return array[1:]
"""


def test_no_function_or_expression_writes_to_its_arguments(cache, tmp_path):
    (tmp_path / "writing.yaml").write_text(WRITING)
    (tmp_path / "writers.py").write_text(WRITERS)
    ops = gs.load_ops(tmp_path / "writing.yaml", functions=tmp_path / "writers.py")
    x, index = gs.tensor([1.0, 2.0]), gs.tensor([1])
    calls = (
        lambda: ops.stepped(x), lambda: ops.emptied([x, x]), lambda: ops.chosen(x, (index,)), lambda: ops.rest(x),
        lambda: ops.summed(x), lambda: ops.grown(x),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="read-only"):
            call()
        assert (x.tolist(), index.tolist(), x._version) == ([1, 2], [1], 0)
    x.mul_(2)
    assert x.tolist() == [2, 4]
