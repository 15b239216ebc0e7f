"""``torch.utils._pytree``, over the trees of `gradsmith.utils.pytree`."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest

from gradsmith.utils import _pytree as trees

Point = namedtuple("Point", "x y")


@dataclass
class Record:
    field: int


class Box:
    def __init__(self, inside, label):
        self.inside, self.label = inside, label


trees.register_pytree_node(
    Box, lambda box: ([box.inside], box.label), lambda values, label: Box(*values, label), serialized_type_name="Box"
)
TREE = {"w": 1, "l": [2, (3, Point(4, None))], "o": OrderedDict(a=5), "d": defaultdict(list, z=[6])}


def test_leaves_and_structure():
    leaves, spec = trees.tree_flatten(TREE)
    assert leaves == [1, 2, 3, 4, None, 5, 6] and trees.tree_unflatten(leaves, spec) == TREE
    assert (spec.num_leaves, spec.num_nodes, spec.num_children, spec.type) == (7, 14, 4, dict)
    assert spec == trees.tree_structure(trees.tree_map(str, TREE)) and len(spec.children_specs) == 4
    assert list(trees.tree_iter(TREE)) == trees.tree_leaves(TREE) == leaves
    assert trees.arg_tree_leaves(1, [2], x=(3,)) == [1, 2, 3]
    with pytest.raises(ValueError):
        trees.tree_unflatten(leaves[:-1], spec)
    with pytest.raises(TypeError):
        trees.tree_unflatten(spec, leaves)


def test_leaves_of_pytorch():
    record = Record(1)
    assert trees.tree_leaves([record]) == [record]
    assert trees.tree_leaves(deque([1, 2], 3)) == [1, 2]
    assert trees.tree_map(lambda x: -x, deque([1, 2], 3)) == deque([-1, -2], 3)
    assert trees.tree_map(lambda x: -x, Box(1, "a")).inside == -1
    assert trees.tree_leaves([1, [2]], is_leaf=lambda node: node == [2]) == [1, [2]]
    assert trees.tree_is_leaf(3) and not trees.tree_is_leaf([3])


def test_leaf_specs():
    assert trees.LeafSpec() == trees.tree_structure(3) and isinstance(trees.tree_structure(3), trees.LeafSpec)
    assert not isinstance(trees.tree_structure([3]), trees.LeafSpec)


def test_maps():
    assert trees.tree_map(lambda a, b: (a, b), [1, 2], [[3, 4], 5]) == [(1, [3, 4]), (2, 5)]
    with pytest.raises(ValueError):
        trees.tree_map(max, [1], (1,))
    assert trees.tree_map_only(int, lambda x: -x, (1, "a")) == (-1, "a")
    assert trees.tree_map_only(int | float, lambda x: -x, (1, 2.0, "a")) == (-1, -2.0, "a")
    assert trees.tree_map_only(lambda x: x == 1, lambda x: -x, (1, 2)) == (-1, 2)
    with pytest.raises(TypeError):
        trees.tree_map_only(3, len, [1])
    seen = []
    tree = [1, ("a",)]
    assert trees.tree_map_(seen.append, tree) is tree and trees.tree_map_only_(str, seen.append, tree) is tree
    assert seen == [1, "a", "a"]


def test_questions():
    assert trees.tree_any(lambda x: x == 4, TREE) and not trees.tree_all(lambda x: x == 4, TREE)
    assert trees.tree_all_only(int, lambda x: x > 0, TREE) and not trees.tree_any_only(int, lambda x: x > 6, TREE)
    assert trees.is_namedtuple(Point) and trees.is_namedtuple_instance(Point(1, 2)) and not trees.is_namedtuple((1,))


def test_nodes():
    assert trees._get_node_type(Point(1, 2)) is namedtuple and trees._get_node_type(3) is int
    assert {list, Box, namedtuple} <= set(trees.SUPPORTED_NODES) and int not in trees.SUPPORTED_NODES
    for node in ({"a": 1}, [1, 2], (1, 2), deque([1]), Point(1, 2), defaultdict(list, a=1)):
        definition = trees.SUPPORTED_NODES[trees._get_node_type(node)]
        children, context = definition.flatten_fn(node)
        assert type(children) is list and definition.unflatten_fn(iter(children), context) == node
    with pytest.raises(ValueError, match="already"):
        trees._register_pytree_node(list, None, None)


@pytest.mark.parametrize(
    "upper, whole, expected",
    [
        (1, {"a": [0, 0]}, [1, 1]),
        ([1, (2, 3)], [[0, 0], (0, [0, 0])], [1, 1, 2, 3, 3]),
        ([1, 2], [0], None),
        ((1, (2, 3)), (0, 0), None),
    ],
)
def test_broadcast(upper, whole, expected):
    assert trees._broadcast_to_and_flatten(upper, trees.tree_structure(whole)) == expected


# ---- paths


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second


Point = namedtuple("Point", "x y")


def test_leaves_have_paths():
    tree = {"a": [1, (2,)], "b": Point(3, OrderedDict(k=4)), "c": deque([5])}
    leaves, structure = trees.tree_flatten_with_path(tree)
    written = ["['a'][0]", "['a'][1][0]", "['b'].x", "['b'].y['k']", "['c'][0]"]
    assert [(trees.keystr(path), leaf) for path, leaf in leaves] == list(zip(written, [1, 2, 3, 4, 5], strict=True))
    assert structure == trees.tree_structure(tree)
    assert all(trees.key_get(tree, path) == leaf for path, leaf in leaves)
    whole = trees.tree_leaves_with_path(tree, is_leaf=lambda node: isinstance(node, list))
    assert whole[0] == ((trees.MappingKey("a"),), [1, (2,)])


def test_functions_of_paths():
    found = trees.tree_map_with_path(lambda path, a, b: (len(path), a + b), {"w": 1, "v": [2]}, {"w": 10, "v": [20]})
    assert found == {"w": (1, 11), "v": [(2, 22)]}


def test_a_class_says_the_keys_of_its_children():
    class Named(Pair):
        pass

    def take_apart(node):
        return [node.first, node.second], None

    trees.register_pytree_node(Pair, take_apart, lambda children, _: Pair(*children))
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type: .*Pair"):
        trees.tree_leaves_with_path([Pair(1, 2)])
    keys = [trees.GetAttrKey("first"), trees.GetAttrKey("second")]
    trees.register_pytree_node(
        Named,
        take_apart,
        lambda children, _: Named(*children),
        flatten_with_keys_fn=lambda node: (list(zip(keys, take_apart(node)[0], strict=True)), None),
    )
    assert [trees.keystr(path) for path, _ in trees.tree_leaves_with_path([Named(1, 2)])] == [
        "[0].first",
        "[0].second",
    ]
    # a class of dicts registers itself with the functions of dicts
    assert trees._dict_flatten_with_keys({"k": 1}) == ([(trees.MappingKey("k"), 1)], ["k"])
