"""`vmap`: a function of one example as a function of many."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.func.arguments import Call, Function, described, path_of_output
from gradsmith.func.arrays import run_of_arrays, with_arrays, with_tensors
from gradsmith.func.transformed import transformed
from gradsmith.runtime.batching.batch import VmapLevel, all_slices, level_of, physical
from gradsmith.runtime.batching.levels import open_level
from gradsmith.runtime.calls.forward_ad import alias
from gradsmith.runtime.history.view import one_slice
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree
from gradsmith.utils.pytree import Mismatch, TreeSpec

Dims = int | Sequence[Any] | dict[Any, Any] | None

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Function | None = None,
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Any:
    """Function that maps `func` over a dimension of its arguments, all slices at once.

    Parameters
    ----------
    func : callable, optional
        Takes and gives tensors, or trees of them. Without it, the result is a decorator.
    in_dims : int, None or tree of these
        For each argument the dimension that is mapped over: one for all, or a tuple with one for each argument, which
        may be a tree like the argument. With None an argument is the same for all slices.
    out_dims : int, None or tree of these
        Where the dimension comes in each result. None is for a result that is the same for all slices.
    randomness : {"error", "different", "same"}
        Whether ops that draw random numbers draw new ones for each slice, the same for all, or raise.
    chunk_size : int, optional
        Take so many slices at a time, to save memory.

    Returns
    -------
    callable
        Takes what `func` takes, with one dimension more, and gives what it gives, with one dimension more. Arguments
        that are given by name are not mapped over: they are the same for all slices.

    Raises
    ------
    ValueError
        When the function is called: dimensions do not fit the arguments or results, sizes differ, or `func` gives
        something else than tensors where `out_dims` is not None.
    IndexError
        A result has no dimension `out_dims`.
    RuntimeError
        `func` asks for the value of one slice (``if x > 0``, ``x.item()``), changes a tensor that is not mapped in
        place by what is, draws random numbers without `randomness`, or keeps a tensor for later.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.vmap(gs.dot)(gs.tensor([[1.0, 2.0], [3.0, 4.0]]), gs.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor([1., 4.])
    >>> func.vmap(func.grad(lambda x, w: (w * x).sum() ** 2), in_dims=(0, None))(gs.eye(2), gs.tensor([1.0, 2.0]))
    tensor([[2., 4.],
            [4., 8.]])
    """
    again = functools.partial(vmap, in_dims=in_dims, out_dims=out_dims, randomness=randomness, chunk_size=chunk_size)
    if func is None:
        return again
    call = Call("vmap", func)
    if randomness not in RANDOMNESS:
        raise call.error(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness!r}")
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise call.error(f"chunk_size should be None or greater than 0. (got {chunk_size!r})", ValueError)

    @transformed(again, func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        _require_out_dims(call, out_dims)
        inputs = Inputs(call, args, kwargs, in_dims)
        if chunk_size is None or inputs.size <= chunk_size:
            found = _run(call, inputs, out_dims, randomness)
        else:
            found = _run_in_chunks(call, inputs, out_dims, randomness, chunk_size)
        return with_arrays(found) if inputs.of_arrays else found

    return mapped


# ---- arguments

NOTHING: tuple[list[Any], TreeSpec] = pytree.flatten({})


class Inputs:
    """The arguments of one call, and the dimension of each leaf that is mapped over."""

    def __init__(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], in_dims: Dims) -> None:
        if not args:
            raise call.error(
                "got no inputs: there are no positional arguments, so there is nothing to map over", ValueError
            )
        self.call = call
        self.leaves, self.spec = pytree.without_none(*pytree.flatten(args))
        self.dims = _dims_of_leaves(call, in_dims, self.spec, len(args))
        named, self.named_spec = pytree.flatten(kwargs) if kwargs else NOTHING
        self.leaves += named
        self.dims += [None] * len(named)
        self.of_arrays = self.take_arrays()
        self.dims = [self.checked(n) for n in range(len(self.leaves))]
        self.size = self.common_size()

    def take_arrays(self) -> bool:
        """Have tensors stand for arrays that are mapped over; is nothing else mapped over?"""
        mapped = [n for n, dim in enumerate(self.dims) if dim is not None]
        arrays = [n for n in mapped if isinstance(self.leaves[n], np.ndarray)]
        for n in arrays:
            self.leaves[n] = with_tensors(self.leaves[n])
        return bool(arrays) and len(arrays) == len(mapped)

    @property
    def paths(self) -> list[str]:
        """How errors name the leaves."""
        return [*self.spec.paths("args"), *self.named_spec.paths("kwargs")]

    def checked(self, n: int) -> int | None:
        leaf, dim = self.leaves[n], self.dims[n]
        if dim is None:
            return None
        if isinstance(dim, int) and not isinstance(dim, bool) and is_tensor(leaf) and -leaf.ndim <= dim < leaf.ndim:
            return dim % leaf.ndim
        raise self.wrong_dim(leaf, dim, self.paths[n])

    def wrong_dim(self, leaf: Any, dim: Any, path: str) -> Exception:
        if not isinstance(dim, int) or isinstance(dim, bool):
            return self.call.error(
                f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None: in_dims for "
                f"{path} is {dim!r}",
                ValueError,
            )
        if not is_tensor(leaf):
            return self.call.error(
                f"Got in_dim={dim} for an input but the input is of type {type(leaf)}: {path} is no tensor and cannot "
                "be mapped over. If it is to be the same for all slices, give it None as its in_dim",
                ValueError,
            )
        hint = f"expected a number from {-leaf.ndim} to {leaf.ndim - 1}" if leaf.ndim else "nothing can be mapped over"
        return self.call.error(
            f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim}: {path} has "
            f"shape {list(leaf.shape)}; {hint}",
            ValueError,
        )

    def common_size(self) -> int:
        sizes = {leaf.shape[dim]: n for n, (leaf, dim) in enumerate(zip(self.leaves, self.dims)) if dim is not None}
        if not sizes:
            raise self.call.error(
                "Expected at least one Tensor to vmap over: in_dims is None for every argument", ValueError
            )
        if len(sizes) > 1:
            found = ", ".join(
                f"{self.paths[n]} has {size} (dimension {self.dims[n]} of shape {list(self.leaves[n].shape)})"
                for size, n in sizes.items()
            )
            raise self.call.error(
                f"Expected all tensors to have the same size in the mapped dimension: {found}", ValueError
            )
        return int(next(iter(sizes)))

    def arguments(self, leaves: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        count = self.spec.num_leaves
        return self.spec.unflatten(leaves[:count]), self.named_spec.unflatten(leaves[count:])

    def slices(self, start: int, stop: int) -> Inputs:
        """The arguments of some of the slices."""
        part = object.__new__(Inputs)
        part.__dict__.update(self.__dict__)
        part.leaves = [
            leaf if dim is None else leaf.narrow(dim, start, stop - start) for leaf, dim in zip(self.leaves, self.dims)
        ]
        part.size = stop - start
        return part


def _dims_of_leaves(call: Call, in_dims: Dims, spec: TreeSpec, count: int) -> list[Any]:
    if in_dims is not None and not isinstance(in_dims, (int, tuple, list, dict)):
        raise call.error(
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}",
            ValueError,
        )
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    try:
        return pytree.spread_over(spec, in_dims, "in_dims")
    except Mismatch as error:
        hint = "in_dims has to have one entry for each positional argument" if isinstance(in_dims, tuple) else ""
        raise call.error(
            f"in_dims is not compatible with the structure of `inputs`: in_dims {in_dims} does not fit the {count} "
            f"positional arguments: {error}. {hint}",
            ValueError,
        ) from None


# ---- the call


def _run(call: Call, inputs: Inputs, out_dims: Dims, randomness: str) -> Any:
    with open_level(inputs.size, randomness, call) as level:
        args, kwargs = inputs.arguments(_batched_leaves(inputs, level))
        output = run_of_arrays(call.func, args, kwargs) if inputs.of_arrays else call.func(*args, **kwargs)
        return _unbatched(call, output, out_dims, level)


def _batched_leaves(inputs: Inputs, level: VmapLevel) -> list[Any]:
    """One tensor that is an argument twice is one tensor inside, so that a write to it is seen."""
    made: dict[tuple[int, int], Any] = {}
    found = []
    for leaf, dim in zip(inputs.leaves, inputs.dims):
        if dim is None:
            found.append(leaf)
            continue
        if (id(leaf), dim) not in made:
            made[id(leaf), dim] = one_slice(leaf.movedim(dim, 0) if dim else leaf, level)
            level.has_history = level.has_history or leaf.requires_grad
        found.append(made[id(leaf), dim])
    return found


def _unbatched(call: Call, output: Any, out_dims: Dims, level: VmapLevel) -> Any:
    leaves, spec = pytree.without_none(*pytree.flatten(output))
    dims = _out_dims(call, out_dims, spec)
    for n, (leaf, dim) in enumerate(zip(leaves, dims)):
        if dim is not None and not is_tensor(leaf):
            raise call.error(
                f"`f` must only return Tensors, got type {type(leaf)}. What is no tensor, and so the same for all "
                f"slices, needs None in out_dims: {path_of_output(spec, n)} is {described(leaf)}",
                ValueError,
            )
    return spec.unflatten([_result(call, level, leaf, dim, spec, n) for n, (leaf, dim) in enumerate(zip(leaves, dims))])


def _require_out_dims(call: Call, out_dims: Dims) -> None:
    for dim in pytree.flatten(out_dims)[0]:
        if dim is not None and (not isinstance(dim, int) or isinstance(dim, bool)):
            raise call.error(
                f"`out_dims` must be an int, None or a python collection of ints, which say where in the outputs the "
                f"mapped dimension comes; got {out_dims!r}",
                ValueError,
            )


def _out_dims(call: Call, out_dims: Dims, spec: TreeSpec) -> list[Any]:
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.cls is None:
        out_dims = out_dims[0]
    try:
        if spec.cls is None and pytree.flatten(out_dims)[1].cls is not None:
            raise Mismatch("the output is one tensor")
        return pytree.spread_over(spec, out_dims, "out_dims")
    except Mismatch as error:
        raise call.error(
            f"out_dims is not compatible with the structure of `outputs`: out_dims {out_dims} does not fit the output "
            f"of f: {error}",
            ValueError,
        ) from None


def _result(call: Call, level: VmapLevel, leaf: Any, dim: Any, spec: TreeSpec, n: int) -> Any:
    is_mapped = is_tensor(leaf) and level_of(leaf) is level
    if dim is None:
        if is_mapped:
            path = path_of_output(spec, n)
            raise call.error(
                f"`f` can not return a BatchedTensor when out_dim is None: {path} differs from slice to slice; give "
                "the dimension for the slices",
                ValueError,
            )
        return leaf
    ndim = leaf.ndim + 1
    if not -ndim <= dim < ndim:
        raise call.error(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim}): out_dims is "
            f"{dim!r} for {path_of_output(spec, n)}, which has {ndim} dimensions with that of the slices",
            IndexError,
        )
    data = _own(physical(leaf)) if is_mapped else all_slices(leaf, level)
    return data.movedim(0, dim) if dim % ndim else data


def _own(data: Any) -> Any:
    """Data that inside of the function was recorded where the caller does not record."""
    return alias(data) if data.requires_grad and not is_grad_enabled() else data


def _run_in_chunks(call: Call, inputs: Inputs, out_dims: Dims, randomness: str, chunk_size: int) -> Any:
    starts = range(0, inputs.size, chunk_size)
    outputs = [_run(call, inputs.slices(n, min(n + chunk_size, inputs.size)), out_dims, randomness) for n in starts]
    parts = [pytree.without_none(*pytree.flatten(output)) for output in outputs]
    spec = parts[0][1]
    dims = _out_dims(call, out_dims, spec)
    found = [
        leaves[0] if dim is None else upcalls.cat(list(leaves), dim)
        for dim, *leaves in zip(dims, *(leaves for leaves, _ in parts))
    ]
    return spec.unflatten(found)
