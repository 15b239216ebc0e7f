"""Files to documents: everything that can be said of one without running an op."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import IO, Any

from gradsmith.graph.saved import trees
from gradsmith.graph.saved.document import Argument, Array, Backward, Call, Document, Kind, Result, Stored
from gradsmith.graph.saved.literals import MOST_BYTES, MOST_DIMS, decode, dtype_of, expect, integer, slots_in
from gradsmith.graph.saved.ops import Op, op_named
from gradsmith.graph.saved.writing import FORMAT, PROGRAM, SUFFIX, VERSION, array_in
from gradsmith.serialization.archive import Archive
from gradsmith.serialization.arrays import read_array
from gradsmith.utils.pytree import TreeSpec
from gradsmith.version import OWN_VERSION

KEYS = {
    "format", "version", "gradsmith", "name", "dtype", "tree", "arguments", "stored", "forward", "result_tree",
    "results", "recorded", "backward", "ops", "kinds",
}  # fmt: skip


def read(file: IO[bytes]) -> Document:
    """The document of a file.

    Raises
    ------
    CorruptFileError
        The file contradicts itself. Malformed data may raise other errors, see `gradsmith.serialization.errors`.
    """
    archive = Archive(file)
    archive.check_packing()
    text = archive.read(PROGRAM).decode("utf-8", "surrogatepass")
    node = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_float)
    return _Reader(archive, node).document()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    expect(len(found) == len(pairs), "an object has a key twice")
    return found


def _refuse_constant(text: str) -> Any:
    expect(False, f"{text} is no JSON")


def _float(text: str) -> float:
    found = float(text)
    expect(math.isfinite(found), f"the number {text[:40]} is too large")
    return found


class _Reader:
    """Reads one file. Values are numbered as they come, and may be meant from then on."""

    def __init__(self, archive: Archive, node: Any) -> None:
        expect(isinstance(node, dict) and node.get("format") == FORMAT, f"{PROGRAM} is no program")
        expect(node.get("version") == VERSION, f"the program is not of version {VERSION} of the format")
        expect(node.keys() == KEYS, f"{PROGRAM} has other parts than a program has")
        expect(isinstance(node["name"], str) and isinstance(node["gradsmith"], str), "the program has no name")
        self.archive, self.node, self.saved_by = archive, node, node["gradsmith"][:40]
        self.kinds = [_kind(one) for one in _list(node["kinds"], "kinds")]
        self.ops = [self._op(one) for one in _list(node["ops"], "ops")]
        self.count = 0  # of values so far

    def document(self) -> Document:
        node = self.node
        expect(node["dtype"] in ("float32", "float64"), "the default dtype is none")
        tree, arguments = trees.decode(node["tree"]), self._arguments()
        _expect_call(tree)
        expect(tree.num_leaves == len(arguments), "the arguments do not have their structure")
        stored = tuple([self._stored(one) for one in _list(node["stored"], "stored")])
        expect(
            len(self.archive.members) == len(stored) + 1, "the archive has members that the program does not mention"
        )
        forward = tuple(self._calls(node["forward"]))
        result_tree = trees.decode(node["result_tree"])
        results = tuple([self._result(one, arguments) for one in _list(node["results"], "results")])
        expect(result_tree.num_leaves == len(results), "the results do not have their structure")
        recorded = self._values(node["recorded"])
        expect(len(set(recorded)) == len(recorded), "a result is recorded twice")
        expect(set(recorded) <= {result.value for result in results}, "what is recorded is no result")
        backward = None if node["backward"] is None else self._backward(node["backward"], len(recorded), arguments)
        expect(bool(recorded) == (backward is not None), "there is a backward of nothing, or none of what is recorded")
        return Document(
            node["name"], node["dtype"], tree, arguments, stored, forward, result_tree, results, recorded, backward
        )

    # -- parts

    def _arguments(self) -> tuple[Argument, ...]:
        found = []
        for node in _list(self.node["arguments"], "arguments"):
            if "plain" in _keys(node, {"plain"}, {"tensor", "kind", "requires_grad"}):
                found.append(Argument(None, plain=decode(node["plain"])))
                expect(not slots_in(found[-1].plain), "a plain argument has tensors")
                continue
            value = integer(node["tensor"], "the number of a tensor")
            expect(value <= self.count and type(node["requires_grad"]) is bool, "an argument is no tensor")
            self.count = max(self.count, value + 1)
            found.append(Argument(self._kind(node["kind"]), node["requires_grad"], value))
        of_value = {one.value: one for one in found}
        expect(all(one.kind is None or one == of_value[one.value] for one in found), "one tensor is two arguments")
        return tuple(found)

    def _stored(self, node: Any) -> Stored:
        _keys(node, {"array", "layout", "is_fresh"})
        expect(isinstance(node["array"], str) and type(node["is_fresh"]) is bool, "a stored tensor is none")
        name = node["array"] + SUFFIX
        array = read_array(self.archive.read(name), name)
        self.count += 1
        return Stored(array if node["layout"] is None else _laid_out(array, node["layout"]), node["is_fresh"])

    def _calls(self, node: Any) -> Iterator[Call]:
        for call in _list(node, "calls"):
            expect(isinstance(call, list) and len(call) == 3, "a call is not of an op, operands and results")
            op = self.ops[_index(call[0], len(self.ops), "an op")]
            operands = decode(call[1])
            expect(isinstance(operands, tuple), "operands are no list")
            expect(all(number < self.count for number in slots_in(operands)), "a value is used before there is one")
            kinds = tuple([None if one is None else self._kind(one) for one in _list(call[2], "results of a call")])
            self.count += sum(kind is not None for kind in kinds)
            yield Call(op.name, operands, kinds)

    def _backward(self, node: Any, n_recorded: int, arguments: tuple[Argument, ...]) -> Backward:
        _keys(node, {"calls", "gradients"})
        self.count += n_recorded
        calls = tuple(self._calls(node["calls"]))
        with_gradient = {one.value for one in arguments if one.requires_grad}
        gradients = []
        for pair in _list(node["gradients"], "gradients"):
            expect(isinstance(pair, list) and len(pair) == 2, "a gradient is of no argument")
            expect(type(pair[0]) is int and pair[0] in with_gradient, "a gradient is of no argument that requires grad")
            gradients.append((pair[0], None if pair[1] is None else self._value(pair[1])))
        expect(len({number for number, _ in gradients}) == len(gradients), "an argument has two gradients")
        return Backward(calls, tuple(gradients))

    def _result(self, node: Any, arguments: tuple[Argument, ...]) -> Result:
        [kind] = _keys(node, {"value"}, {"argument"}, {"plain"})
        if kind == "value":
            return Result(value=self._value(node[kind]))
        if kind == "argument":
            place = _index(node[kind], len(arguments), "an argument")
            expect(arguments[place].kind is not None, "a result is an argument that is no tensor")
            return Result(argument=place)
        plain = decode(node[kind])
        expect(not slots_in(plain), "a plain result has tensors")
        return Result(plain=plain)

    # -- numbers of something

    def _op(self, node: Any) -> Op:
        expect(
            isinstance(node, list) and len(node) == 2 and isinstance(node[0], str), "an op is not a name and a meaning"
        )
        name, meaning = node
        op = op_named(name)
        versions = f"it was saved by gradsmith {self.saved_by}, and this is {OWN_VERSION}"
        expect(op is not None, f"there is no op {name[:80]!r}; {versions}")
        assert op is not None
        expect(
            op.meaning == meaning, f"the op {name!r} means something else than in the file; {versions}. Save it again"
        )
        return op

    def _kind(self, node: Any) -> Kind:
        return self.kinds[_index(node, len(self.kinds), "a kind of value")]

    def _value(self, node: Any) -> int:
        return _index(node, self.count, "a value")

    def _values(self, node: Any) -> tuple[int, ...]:
        return tuple([self._value(one) for one in _list(node, "values")])


def _kind(node: Any) -> Kind:
    expect(isinstance(node, list) and len(node) == 2, "a kind of value is not a dtype and a shape")
    dtype, shape = dtype_of(node[0]), tuple([integer(size, "a size") for size in _list(node[1], "a shape")])
    expect(len(shape) <= MOST_DIMS and math.prod(shape) * dtype.itemsize < MOST_BYTES, "a value is too large")
    return Kind(dtype.name, shape)


def _laid_out(memory: Array, node: Any) -> Array:
    """The array that lies in memory as the file says."""
    expect(isinstance(node, list) and len(node) == 3 and memory.ndim == 1, "a layout is none")
    offset, shape = integer(node[0], "an offset"), [integer(size, "a size") for size in _list(node[1], "a shape")]
    steps = _list(node[2], "strides")
    expect(len(steps) == len(shape) <= MOST_DIMS and all(type(step) is int for step in steps), "strides are none")
    expect(all(shape), "a layout of no elements")
    ends = [(size - 1) * step for size, step in zip(shape, steps)]
    first, last = offset + sum(end for end in ends if end < 0), offset + sum(end for end in ends if end > 0)
    expect(first >= 0 and last < memory.size and math.prod(shape) < MOST_BYTES, "a tensor reaches beyond its memory")
    expect(all(abs(step) < MOST_BYTES for step in steps), "strides are too large")
    return array_in(memory, offset, shape, steps)


def _expect_call(tree: TreeSpec) -> None:
    """Is it the structure of (args, kwargs)?"""
    is_pair = tree.cls is tuple and len(tree.children) == 2
    expect(
        is_pair and tree.children[0].cls is tuple and tree.children[1].cls is dict, "the arguments are none of a call"
    )
    keys = tree.children[1].context
    expect(all(isinstance(key, str) for key in keys), "a keyword is no name")


def _list(node: Any, what: str) -> list[Any]:
    expect(isinstance(node, list), f"{what} are no list")
    return node  # type: ignore[no-any-return]


def _keys(node: Any, *wanted: set[str]) -> set[str]:
    """The keys of an object, which have to be one of the sets."""
    expect(
        isinstance(node, dict) and node.keys() in wanted, f"an object has not the keys {' or '.join(map(str, wanted))}"
    )
    return set(node)


def _index(node: Any, count: int, what: str) -> int:
    number = integer(node, f"the number of {what}")
    expect(number < count, f"{what} has number {number}, but there are {count}")
    return number
