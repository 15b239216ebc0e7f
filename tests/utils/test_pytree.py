"""Trees of Python's containers, dataclasses and registered classes."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradsmith as gs
from gradsmith.utils import pytree
from gradsmith.utils.pytree import Mismatch

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class State:
    position: object
    velocity: object = 0

    def __post_init__(self):
        assert self.position is not None, "made by its own constructor only"


trees = st.recursive(
    st.integers() | st.none() | st.text(max_size=2),
    lambda children: (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), children, max_size=3)
        | st.dictionaries(st.integers(), children, max_size=3).map(OrderedDict)
        | st.tuples(children, children).map(lambda pair: Point(*pair))
        | st.tuples(st.integers(), children).map(lambda pair: State(*pair))
    ),
    max_leaves=12,
)


@given(trees)
def test_a_tree_is_put_together_again(tree):
    leaves, spec = pytree.flatten(tree)
    again = spec.unflatten(leaves)
    assert again == tree and type(again) is type(tree)
    assert len(leaves) == spec.num_leaves == len(list(spec.paths()))
    assert pytree.leaves_like(spec, tree) == leaves
    assert pytree.flatten(pytree.tree_map(lambda leaf: (leaf,), tree))[0] == leaves  # the tuples are nodes


def test_a_path_leads_to_its_leaf():
    tree = {"w": [1, Point(2, State(3, 4))], 5: (6,)}
    leaves, spec = pytree.flatten(tree)
    for leaf, path in zip(leaves, spec.paths("tree")):
        assert eval(path) == leaf


def test_keys_may_come_in_any_order():
    _, spec = pytree.flatten({"a": 1, "b": 2})
    assert pytree.leaves_like(spec, {"b": 20, "a": 10}) == [10, 20]


def test_default_factories_are_kept():
    tree = pytree.tree_map(lambda leaf: leaf + 1, defaultdict(list, {"a": 1}))
    assert tree == {"a": 2} and tree.default_factory is list


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": 1}, r"v is a dict where a list is expected"),
        ([1], r"v has \[0\] where \[0\], \[1\] is expected"),
        ([1, 2], r"v\[1\] is a int where a dict is expected"),
        ([[], {"k": 1}], r"v\[0\] is a list where a leaf is expected"),
        ([1, {"j": 1}], r"v\[1\] has \['j'\] where \['k'\] is expected"),
        ([1, {}], r"v\[1\] has nothing where \['k'\] is expected"),
    ],
)
def test_the_place_of_a_difference_is_named(other, message):
    _, spec = pytree.flatten([1, {"k": 2}])
    with pytest.raises(Mismatch, match=message):
        pytree.leaves_like(spec, other, "v")


def test_a_prefix_counts_for_what_is_below():
    _, spec = pytree.flatten(({"a": 1, "b": [2, 3]}, 4))
    assert pytree.spread_over(spec, 0) == [0, 0, 0, 0]
    assert pytree.spread_over(spec, ({"a": None, "b": 1}, 2)) == [None, 1, 1, 2]
    with pytest.raises(Mismatch, match=r"in_dims has \[0\] where"):
        pytree.spread_over(spec, (0,), "in_dims")


def test_the_number_of_leaves_counts():
    _, spec = pytree.flatten([1, 2])
    with pytest.raises(ValueError, match="the tree has 2 leaves, but 3 were given"):
        spec.unflatten([1, 2, 3])


def test_a_structure_is_shown_with_stars():
    assert str(pytree.flatten(({"w": 1}, [2, None]))[1]) == "({'w': *}, [*, *])"


class Pair:
    def __init__(self, first, second, name):
        self.first, self.second, self.name = first, second, name


def test_a_class_of_the_user():
    assert pytree.flatten(Pair(1, 2, "a"))[1] == pytree.LEAF
    pytree.register_pytree_node(Pair, lambda p: ([p.first, p.second], p.name), lambda leaves, name: Pair(*leaves, name))
    leaves, spec = pytree.flatten([Pair(1, 2, "a")])
    assert leaves == [1, 2]
    (again,) = spec.unflatten([3, 4])
    assert (again.first, again.second, again.name) == (3, 4, "a")
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, None, None)


def test_the_module_is_there_without_an_import():
    assert gs.utils.pytree is pytree
