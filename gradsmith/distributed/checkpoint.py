"""Checkpoints that all ranks write together, and that any number of ranks can read.

A checkpoint is a folder: ``index.json`` says what there is and where, and each rank has a file of arrays in NumPy's
format. Nothing in it is run when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.objects import gathered_bytes
from gradsmith.distributed.operands import array_of
from gradsmith.distributed.shards import Shard
from gradsmith.distributed.world import group_of
from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.tensors.factories.creation import over_array

__all__ = ["Shard", "load", "save"]
__getattr__ = raise_missing(__name__)

_VERSION = 1


def save(state_dict: dict[str, Any], folder: Any, process_group: Any = None) -> None:
    """Write a dictionary of tensors, shards, numbers and texts; all ranks call it.

    Parameters
    ----------
    state_dict : dict
        It may hold dictionaries and lists. Tensors are the same for all ranks, of which each writes some; a `Shard`, as
        `DistributedOptimizer.state_dict` has them, is written by its rank.
    folder : path-like
        Made if it is not there. All ranks see the same files.
    process_group : ProcessGroup, optional
        Default: the world.

    Raises
    ------
    TypeError
        A value is something else.
    """
    group = group_of(process_group, "checkpoint.save")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    index: dict[str, Any] = {}
    file = f"rank_{group.rank()}.npz"
    for number, (name, value) in enumerate(leaves_of(state_dict)):
        if isinstance(value, Shard):
            index[name] = _described(value.tensor, [value.total], [[file, value.start, value.length]])
            arrays[name] = array_of(value.tensor)[: value.length]
        elif isinstance(value, Tensor):
            is_own = number % group.size() == group.rank()
            index[name] = _described(value, list(value.shape), [[file, 0, value.numel()]] if is_own else [])
            if is_own:
                arrays[name] = array_of(value).reshape(-1)
        else:
            index[name] = {"value": _plain(name, value)}
    with open(folder / file, "wb") as out:
        contiguous: dict[str, Any] = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        np.savez(out, **contiguous)
    everyone = [json.loads(data) for data in gathered_bytes(group, json.dumps(index).encode())]
    if group.rank() == 0:
        merged = {"version": _VERSION, "values": _merged(everyone)}
        (folder / "index.json").write_text(json.dumps(merged), encoding="utf-8")
    _wait_for_all(group)


def load(state_dict: dict[str, Any], folder: Any, process_group: Any = None) -> None:
    """Read into the tensors and shards of a dictionary, in place; its numbers and texts are replaced.

    Parameters
    ----------
    state_dict : dict
        It has the structure of what was saved. Each rank reads what it needs: shards may be divided otherwise.
    folder : path-like
    process_group : ProcessGroup, optional

    Raises
    ------
    FileNotFoundError
        There is no checkpoint.
    RuntimeError
        A name is missing in it, or has another size or dtype. Nothing has been changed then.
    """
    group = group_of(process_group, "checkpoint.load")
    folder = Path(folder)
    saved = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    if saved.get("version") != _VERSION:
        raise RuntimeError(f"checkpoint.load: {folder} has version {saved.get('version')}, expected {_VERSION}")
    values = saved["values"]
    wanted = list(leaves_of(state_dict))
    for name, value in wanted:
        _check(name, value, values)
    reader = _Reader(folder)
    with no_grad():
        for name, value in wanted:
            if isinstance(value, Shard):
                reader.into(array_of(value.tensor)[: value.length], name, values[name], value.start)
            elif isinstance(value, Tensor):
                flat = np.empty(value.numel(), value.dtype)
                reader.into(flat, name, values[name], 0)
                value.copy_(over_array(flat.reshape(tuple(value.shape))))
            else:
                _replace(state_dict, name, values[name]["value"])
    _wait_for_all(group)


class _Reader:
    """The files of a checkpoint, each opened once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Any] = {}

    def into(self, out: Any, name: str, entry: dict[str, Any], start: int) -> None:
        """Elements from `start` on, out of all the files that have some of them."""
        for file, first, length in entry["pieces"]:
            low, high = max(start, first), min(start + out.size, first + length)
            if low < high:
                if file not in self._files:
                    if Path(file).name != file:
                        raise RuntimeError(f"checkpoint.load: {file!r} is no file of the checkpoint")
                    self._files[file] = np.load(self._folder / file, allow_pickle=False)
                out[low - start : high - start] = self._files[file][name][low - first : high - first]


def leaves_of(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values; the name of a value is its keys, joined by slashes. A list of numbers is one value."""
    if isinstance(tree, Shard):
        yield name, tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves_of(value, f"{name}/{key}" if name else str(key))
    elif isinstance(tree, (list, tuple)) and not all(map(is_plain, tree)):
        for place, value in enumerate(tree):
            yield from leaves_of(value, f"{name}/{place}" if name else str(place))
    else:
        yield name, tree


def _described(tensor: Any, shape: list[int], pieces: list[list[Any]]) -> dict[str, Any]:
    return {"dtype": np.dtype(tensor.dtype).str, "shape": shape, "pieces": pieces}


def _merged(everyone: list[dict[str, Any]]) -> dict[str, Any]:
    """The pieces of all ranks; what else they say is the same."""
    values: dict[str, Any] = everyone[0]
    for other in everyone[1:]:
        for name, entry in other.items():
            if "pieces" in entry:
                values[name]["pieces"] += entry["pieces"]
    return values


def _plain(name: str, value: Any) -> Any:
    if not is_plain(value) and not isinstance(value, (list, tuple)):
        raise TypeError(f"checkpoint.save: {name} is a {type(value).__name__}; it should be a tensor, number or text")
    return value


def is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _check(name: str, value: Any, values: dict[str, Any]) -> None:
    entry = values.get(name)
    if entry is None:
        raise RuntimeError(f"checkpoint.load: there is no {name} in the checkpoint")
    tensor = value.tensor if isinstance(value, Shard) else value
    if isinstance(tensor, Tensor) != ("pieces" in entry):
        raise RuntimeError(
            f"checkpoint.load: {name} is a tensor here or in the checkpoint, and something else in the other"
        )
    if isinstance(tensor, Tensor):
        shape = [value.total] if isinstance(value, Shard) else list(tensor.shape)
        if entry["shape"] != shape or entry["dtype"] != np.dtype(tensor.dtype).str:
            raise RuntimeError(
                f"checkpoint.load: {name} has shape {tuple(entry['shape'])} and dtype {np.dtype(entry['dtype'])} in "
                f"the "
                f"checkpoint, and here {tuple(shape)} and {tensor.dtype}"
            )


def _replace(tree: Any, name: str, value: Any) -> None:
    """A number or a text at its place."""
    first, _, rest = name.partition("/")
    key = int(first) if isinstance(tree, list) else next(key for key in tree if str(key) == first)
    if rest:
        _replace(tree[key], rest, value)
    else:
        tree[key] = tuple(value) if isinstance(tree[key], tuple) else value


def _wait_for_all(group: ProcessGroup) -> None:
    group.ranks.start("barrier", list, lambda: None, (), 0).wait()
