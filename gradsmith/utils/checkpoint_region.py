"""One checkpointed call: which tensors were saved in it, and how they are computed again.

Note [Recomputing what was saved]
While the function of a checkpoint runs, every tensor that an op saves is replaced by an empty `_Slot`, numbered by its
place in the order of saving. When a backward needs the content of a slot, the function runs once more, and the tensors
that are saved then fill the slots of the same numbers that are still alive. A slot is emptied as it is read, so that
recomputed tensors live no longer than they must; a second backward makes the function run again.

What is computed for tangents keeps what it saves: the level of these may have ended when a backward runs, and the
function then runs again without them.

Checkpoints inside a checkpoint: what an inner one saves, the outer one never sees; the inputs of the inner one are
saved by the outer one, and so recomputed by it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from gradsmith.autograd.graph.saved_listing import Recomputable
from gradsmith.autograd.graph.saved_tensors import Kept, saved_tensors_hooks
from gradsmith.runtime.batching.levels import open_levels, reopened
from gradsmith.runtime.graph.changes import place_of_caller
from gradsmith.runtime.graph.tangent import runs_rule
from gradsmith.runtime.graph.tensor import TensorBase, array_behind
from gradsmith.runtime.history.saved_hooks import KeptTensor, StopRecomputation
from gradsmith.runtime.observers.selective import Giving
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.random import get_rng_state, set_rng_state


class CheckpointError(RuntimeError):
    """Recomputing a checkpointed function did not give what its first run gave."""


@contextmanager
def rng_state_set_to(state: Any) -> Iterator[None]:
    """Draw random numbers from `state` on inside the block, and go on as before after it; None changes nothing."""
    if state is None:
        yield
        return
    outside = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(outside)


class _Slot(Recomputable):
    """A saved tensor: empty, or recomputed and not yet read."""

    __slots__ = ("__weakref__", "kept", "region")

    def __init__(self, region: Region) -> None:
        self.kept: Kept | None = None
        self.region = region

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """Arrays kept because of this slot: those of its checkpoint, and the recomputed ones."""
        return [*self.region.arrays(), *([] if self.kept is None else [array_behind(self.kept.tensor)])]


class Region:
    """See Note [Recomputing what was saved]."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        recompute_context: AbstractContextManager[Any],
        preserve_rng_state: bool,
        describe: Callable[[Any], Any] | None,
        debug: bool,
        early_stop: bool,
    ) -> None:
        self.function = function
        self.levels = open_levels()
        self.args = tuple(_kept(value) for value in args)
        self.kwargs = {name: _kept(value) for name, value in kwargs.items()}
        self.recompute_context = recompute_context
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.describe = describe
        self.debug = debug
        self.early_stop = early_stop
        self.slots: list[weakref.ref[_Slot]] = []
        self.descriptions: list[Any] = []
        self.places: list[str] = []
        self.is_complete = False
        self.lock = threading.RLock()

    # -- the first run

    def hooks(self) -> saved_tensors_hooks:
        """Hooks for the first run of the function."""
        return saved_tensors_hooks(self._pack, self._unpack)

    def _pack(self, tensor: Any) -> _Slot | Kept:
        if runs_rule():
            return Kept(tensor)
        slot = _Slot(self)
        self.slots.append(weakref.ref(slot))
        if self.describe is not None:
            self.descriptions.append(self.describe(tensor))
        if self.debug:
            self.places.append(place_of_caller())
        return slot

    def _unpack(self, slot: _Slot | Kept) -> Any:
        if isinstance(slot, Kept):
            return slot.unpacked()
        with self.lock:
            if slot.kept is None:
                self._recompute()
            kept, slot.kept = slot.kept, None
        if kept is None:
            raise CheckpointError(
                "gradsmith.utils.checkpoint: a tensor that was saved during the forward pass was not saved again by "
                "the recomputation. The function must do the same whenever it is called with the same arguments."
            )
        return kept.tensor

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """The results that a selective checkpoint keeps."""
        return self.recompute_context.arrays() if isinstance(self.recompute_context, Giving) else []

    # -- running again

    def _recompute(self) -> None:
        for reference in self.slots:
            slot = reference()
            if slot is not None:
                slot.kept = None
        run = _Recomputation(self)
        args = [_given(value) for value in self.args]
        kwargs = {name: _given(value) for name, value in self.kwargs.items()}
        try:
            with (
                reopened(self.levels),
                rng_state_set_to(self.rng_state),
                enable_grad(),
                self.recompute_context,
                saved_tensors_hooks(run.pack, run.unpack),
            ):
                self.function(*args, **kwargs)
        except StopRecomputation as stop:
            if stop.args[0] is not run:
                raise
        run.check()


class _Recomputation:
    """One run of the function of a region that fills the region's slots."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.descriptions: list[Any] = []
        self.places: list[str] = []
        self.count = 0
        self.went_further = False

    def pack(self, tensor: Any) -> Kept:
        region = self.region
        kept = Kept(tensor)
        if runs_rule():
            return kept
        if region.debug:
            self.places.append(place_of_caller())
        if self.count >= len(region.slots):
            if region.is_complete:
                raise CheckpointError(
                    "gradsmith.utils.checkpoint: trying to save more tensors during recomputation than during the "
                    f"original forward pass, which saved {len(region.slots)}." + self._comparison()
                )
            self.went_further = True  # a backward inside the function, whose first run has not come here yet
            return kept
        if region.describe is not None:
            self.descriptions.append(region.describe(tensor))
        slot = region.slots[self.count]()
        if slot is not None:
            slot.kept = kept
        self.count += 1
        if region.early_stop and self.count == len(region.slots):
            raise StopRecomputation(self)
        return kept

    def unpack(self, kept: Kept) -> Any:
        return kept.tensor

    def check(self) -> None:
        """Raise CheckpointError when other tensors were saved than in the first run."""
        region = self.region
        if self.went_further:
            return
        if self.count != len(region.slots):
            raise CheckpointError(
                "gradsmith.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(region.slots)}\n"
                f"Number of tensors saved during recomputation: {self.count}." + self._comparison()
            )
        different = [
            f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {now}"
            for i, (before, now) in enumerate(zip(region.descriptions, self.descriptions))
            if before != now and region.slots[i]() is not None
        ]
        if different:
            raise CheckpointError(
                "gradsmith.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                "during the forward pass.\n" + "\n".join(different) + self._comparison()
            )

    def _comparison(self) -> str:
        if not self.region.debug:
            return "\nPass debug=True to see where the tensors were saved."
        lines = [f"{i}: {place}" for i, place in enumerate(self.region.places)]
        again = [f"{i}: {place}" for i, place in enumerate(self.places)]
        return "\n".join(("", "Saved during forward:", *lines, "Saved during recomputation:", *again))


def _kept(value: Any) -> Any:
    return KeptTensor(value) if isinstance(value, TensorBase) else value


def _given(value: Any) -> Any:
    return value.get() if isinstance(value, KeptTensor) else value
