"""A batch of calls: which tensors differ from slice to slice, and a function of them by `vmap` and by a loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs

from ...calls import changed_by
from ...references.refusals import REFUSALS
from ...samples import array_of, as_tensors, at, key_of, places_of, replaced

if TYPE_CHECKING:
    from ...case import Setting
    from ...proof import Proof
    from ...samples import Array, Place, Values

SLICES = 3
SAME = 1e-10
# Slices, and the dimension that counts them.
USUAL: tuple[tuple[int, int], ...] = ((SLICES, 0), (SLICES, -1), (1, -2), (0, 0))
ONCE: tuple[tuple[int, int], ...] = ((SLICES, 0),)

Function = Callable[["Values"], Sequence[Any]]  # of the tensors of one call


@dataclass(frozen=True)
class Batch:
    """Calls that differ in the tensors at some places."""

    setting: Setting
    places: tuple[Place, ...]
    slices: tuple[Values, ...]

    def label(self, size: int, dim: int) -> str:
        names = ", ".join("".join(f"[{n}]" if isinstance(n, int) else n for n in place) for place in self.places)
        return f"{self.setting.label}, batched: {names} along {dim}, {size} slices"

    def stacked(self, place: Place, size: int, dim: int = 0) -> Array:
        """The arrays of the slices at one place."""
        first = at(self.setting.values, place)
        if not size:
            return np.zeros((*first.shape[:dim], 0, *first.shape[dim:]), first.dtype)
        return np.stack([at(values, place) for values in self.slices[:size]], dim)

    def tensors(self, parts: Iterable[Any]) -> Values:
        """A call with `parts` at the places of the batch."""
        return replaced(as_tensors(self.setting.values), dict(zip(self.places, parts)))

    def looped(self, function: Function) -> list[list[Array]]:
        """The results of `function` for each slice."""
        return [[array_of(result) for result in function(as_tensors(values))] for values in self.slices]

    def mapped(self, function: Function, size: int, dim: int, randomness: str = "error") -> list[Array]:
        """The results of `function` for all slices at once."""
        dims = tuple(self.dim_of(place, dim) for place in self.places)
        stacked = [gs.tensor(self.stacked(p, size, d)) for p, d in zip(self.places, dims)]
        found = vmapped(lambda *parts: function(self.tensors(parts)), stacked, dims, randomness)
        return list(map(array_of, found))

    def dim_of(self, place: Place, dim: int) -> int:
        """`dim`, as far as the tensor has so many dimensions."""
        rank: int = at(self.setting.values, place).ndim + 1
        return max(dim, -rank)

    @cached_property
    def is_written(self) -> bool:
        """Do all tensors that the op changes differ from slice to slice: only these can get such values."""
        return {(name,) for name in changed_by(self.setting.subject.row)} <= set(self.places)


def vmapped(
    function: Callable[..., Sequence[Any]],
    stacked: Sequence[Any],
    dims: tuple[int | None, ...],
    randomness: str = "error",
) -> list[Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="vmap calls")
        return list(gs.func.vmap(lambda *parts: list(function(*parts)), dims, randomness=randomness)(*stacked))


# Arguments of composites that say how many results there are, and of what shape: the same for all slices.
_DECIDING = {"tensor_split.tensor": "tensor_indices_or_sections"}


def batches_of(setting: Setting) -> Iterator[Batch]:
    """Each tensor alone, and all together."""
    deciding = _DECIDING.get(key_of(setting.subject.row))
    places = [place for place, _ in places_of(setting.values) if place[0] != deciding]
    slices = slices_of(setting)
    sets = [*((place,) for place in places), *([tuple(places)] if len(places) > 1 else ())]
    for chosen in sets if slices else ():
        parts = tuple(replaced(setting.values, {p: at(values, p) for p in chosen}) for values in slices)
        batch = Batch(setting, chosen, parts)
        if batch.is_written and is_accepted(batch):
            yield batch


def joint_batch_of(setting: Setting) -> Batch | None:
    """All tensors together."""
    *_, last = (None, *batches_of(setting))
    return last


def is_accepted(batch: Batch) -> bool:
    """Does the op take each of the slices?"""
    try:
        for values in batch.slices:
            batch.setting.results(values)
    except REFUSALS:
        return False
    return True


def slices_of(setting: Setting) -> list[Values]:
    """Other draws of the numbers; those that are written out come in another order, where the op takes it."""
    found = [setting.values]
    for draw in range(1, SLICES):
        arrays = {place: other_numbers(array, draw, place, setting) for place, array in places_of(setting.values)}
        found.append(replaced(setting.values, arrays))
    return found


def other_numbers(array: Array, draw: int, place: Place, setting: Setting) -> Array:
    drawn = at(setting.redrawn(draw), place)
    if array.dtype.kind in "fciu" and drawn.dtype.kind in "fc" and drawn.size:
        return np.resize(drawn, array.shape).astype(array.dtype)
    if drawn.shape == array.shape and drawn.dtype == array.dtype and not np.array_equal(drawn, array):
        return np.asarray(drawn)
    rolled = np.roll(array, draw)
    try:
        setting.results(replaced(setting.values, {place: rolled}))
    except REFUSALS:
        return array
    return rolled


# ---- comparisons


def compare(
    name: str,
    function: Function,
    batch: Batch,
    proof: Proof,
    ways: Iterable[tuple[int, int]] = USUAL,
    randomness: str = "error",
) -> None:
    """Count a comparison for each way to lay out the batch."""
    try:
        slices = batch.looped(function)
    except REFUSALS:
        return  # what one slice cannot do, a batch need not do
    for size, dim in ONCE if batch.setting.subject.row.depends_on_layout else ways:
        label = batch.label(size, dim)
        found = tried(lambda s=size, d=dim: batch.mapped(function, s, d, randomness), name, label, proof)  # type: ignore[misc]
        if found is not None:
            compare_results(name, label, found, expected_of(slices, size), proof)


def expected_of(slices: Sequence[Sequence[Array]], size: int) -> list[Array]:
    """The results of the slices, stacked."""
    return [np.stack(parts)[:size] for parts in zip(*slices)]


def tried(call: Callable[[], list[Array]], name: str, label: str, proof: Proof) -> list[Array] | None:
    try:
        return call()
    except Exception as error:
        proof.expect("batching", name, label, f"raised under vmap {type(error).__name__}: {error}")
        return None


def compare_results(name: str, label: str, found: Sequence[Array], expected: Sequence[Array], proof: Proof) -> None:
    if len(found) != len(expected):
        proof.expect("batching", name, label, f"{len(found)} results, the loop gives {len(expected)}")
        return
    for one, other in zip(found, expected):
        if one.dtype != other.dtype:
            proof.expect("batching", name, label, f"has dtype {one.dtype}, the loop gives {other.dtype}")
        else:
            proof.compare("batching", name, label, one, other, SAME if one.dtype.itemsize > 4 else 1e-5)
