"""The sparsity pattern of a Jacobian from the recorded graph, without any of its numbers.

From the outputs to the inputs, each node hands on, for each element, the set of the output elements that depend on it.
The sets of all elements are the rows of a sparse matrix, so that a link between results and an input of a node is two
steps on matrices: rows with the same key are united, and each element of the input takes the union for its key.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradsmith.autograd.graph import get_gradient_edge
from gradsmith.func.sparse.links import Link
from gradsmith.func.sparse.rules import Call, links_of
from gradsmith.runtime.arrays.scipy_modules import scipy_module

MOST_ENTRIES = 2**31 - 1  # what the indices of SciPy's matrices count in 32 bits: 8 GB


def pattern_between(outputs: Sequence[Any], inputs: Sequence[Any], transform: str) -> Any:
    """Which elements of the outputs may depend on which of the inputs, as a CSR array of bools.

    Parameters
    ----------
    outputs : sequence of Tensor
        Rows, one after the other, flattened.
    inputs : sequence of Tensor
        Columns. All require grad.
    transform : str
        Who asks, for errors.

    Returns
    -------
    scipy.sparse.csr_array
        With sorted indices.

    Raises
    ------
    MemoryError
        A step would have more than 2**31 - 1 entries.
    """
    sparse = scipy_module("sparse", f"{transform}()")
    found = Tracer(sparse, transform).traced(outputs, [get_gradient_edge(tensor) for tensor in inputs])
    pattern = sparse.hstack([sets.T for sets in found], format="csr", dtype=bool)
    pattern.sum_duplicates()
    return pattern


class Tracer:
    """Carries sets of output elements through a graph."""

    def __init__(self, sparse: Any, transform: str) -> None:
        self.sparse, self.transform = sparse, transform
        self.sets: dict[Any, dict[int, Any]] = {}  # of each node, by result: a row for each element

    def traced(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """For the elements of each input the sets of output elements that depend on them."""
        self.count = sum(output.numel() for output in outputs)
        self._start(outputs)
        leaves = {edge.node for edge in inputs}
        nodes = nodes_between(list(self.sets), leaves)
        wanted = leaves.union(nodes)
        for node in nodes:
            if node in self.sets and node not in leaves:
                self._pass_on(node, wanted)
        return [self._rows(edge.node, edge.output_nr) for edge in inputs]

    def _start(self, outputs: Sequence[Any]) -> None:
        """Each element of an output is one that depends on itself."""
        before = 0
        for output in outputs:
            size = output.numel()
            if output.requires_grad:
                edge = get_gradient_edge(output)
                places = (np.ones(size, bool), before + np.arange(size), np.arange(size + 1))
                self._add(edge.node, edge.output_nr, self.sparse.csr_array(places, shape=(size, self.count)))
            before += size

    def _add(self, node: Any, number: int, sets: Any) -> None:
        by_result = self.sets.setdefault(node, {})
        by_result[number] = by_result[number] + sets if number in by_result else sets

    def _rows(self, node: Any, number: int) -> Any:
        found = self.sets.get(node, {}).get(number)
        size = math.prod(node._input_metadata[number].shape)
        return self.sparse.csr_array((size, self.count), dtype=bool) if found is None else found

    def _pass_on(self, node: Any, wanted: set[Any]) -> None:
        call = call_of(node, wanted)
        rows = [self._rows(node, number) for number in range(len(call.results))]
        del self.sets[node]
        sets = rows[0] if len(rows) == 1 else self.sparse.vstack(rows, format="csr")
        for link in links_of(call) if sets.nnz else ():
            target, number = node.next_functions[link.edge]
            self._add(target, number, self._through(link, sets, node))

    def _through(self, link: Link, sets: Any, node: Any) -> Any:
        """The sets of the elements of an input, from those of the results."""
        keys = 1 + max(link.results.max(initial=-1), link.inputs.max(initial=-1))
        (linked,) = np.nonzero(link.results >= 0)
        members = (np.ones(linked.size, bool), (link.results[linked], linked))
        united = self.sparse.csr_array(members, shape=(keys + 1, link.results.size)) @ sets  # the last row is empty
        rows = np.where(link.inputs < 0, keys, link.inputs)
        self._require_sparse(int(np.diff(united.indptr)[rows].sum(dtype=np.int64)), node)
        return united[rows]

    def _require_sparse(self, entries: int, node: Any) -> None:
        if entries > MOST_ENTRIES:
            raise MemoryError(
                f"{self.transform}(f): {node.name()} connects {entries} pairs of elements: the result is not sparse. "
                "Use jacrev or jacfwd, or give a pattern= if this op has fewer dependences than is known of it"
            )


def call_of(node: Any, wanted: set[Any]) -> Call:
    """The facts about a node that its rule needs. Inputs that lead to nothing wanted have no shape."""
    results = tuple(result.shape for result in node._input_metadata)
    inputs = tuple(
        target._input_metadata[number].shape if target in wanted else None for target, number in node.next_functions
    )
    return Call(node, results, inputs)


def nodes_between(roots: Sequence[Any], leaves: set[Any]) -> list[Any]:
    """The nodes on a way from a root to a leaf, each before those that it leads to."""
    found: list[Any] = []
    leads: dict[Any, bool] = dict.fromkeys(leaves, True)
    for root in roots:
        for node, targets in finished(root, leads):
            leads[node] = any(leads.get(target) for target in targets)
            if leads[node]:
                found.append(node)
    return found[::-1]


def finished(root: Any, seen: dict[Any, bool]) -> Iterator[tuple[Any, list[Any]]]:
    """The nodes that are reached from `root` and not in `seen`, each after those that it leads to."""
    if root in seen:
        return
    seen[root] = False
    stack = [(root, targets := targets_of(root), iter(targets))]
    while stack:
        node, targets, rest = stack[-1]
        following = next((target for target in rest if target not in seen), None)
        if following is None:
            yield node, targets
            stack.pop()
        else:
            seen[following] = False
            stack.append((following, found := targets_of(following), iter(found)))


def targets_of(node: Any) -> list[Any]:
    return [target for target, _ in node.next_functions if target is not None]
