"""Does repeating something leave anything behind?

Python counts the blocks of memory it has handed out. A leak of one object per repetition leaves at least one block
each, while caches, pools and free lists stop growing once they are warm. The runtime's own counts of living
tensors and nodes are compared as well, exactly.
"""

import gc
import sys
import sysconfig
import tracemalloc
from collections.abc import Callable

from gradsmith.runtime.graph.node import live_nodes
from gradsmith.runtime.graph.tensor import live_tensors

#: Free-threaded Python gives memory of dictionaries that the collector lets go back a few hundred objects later.
HAS_DELAYED_MEMORY = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

#: Named anew in Python 3.13.
clear_cache_of_attributes = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def counts(forget_names: bool = False) -> tuple[int, int]:
    """Blocks of memory, and tensors with nodes alive.

    Python's cache of attributes keeps each name that was looked up in a type, in one of 4,096 places by the name's
    address: a library that makes its names anew, as f2py does, fills it a little at each call. `forget_names` empties
    it. That is not done always, because each time the types lose what Python has learnt of them.
    """
    if forget_names:
        clear_cache_of_attributes()
    gc.collect()  # empties Python's free lists too
    return sys.getallocatedblocks(), live_tensors() + live_nodes()


def growth(call: Callable[[], object], times: int, warm_up: int, forget_names: bool = False) -> tuple[int, int]:
    """How many more of both there are after `times` repetitions, beyond those of the first ones."""
    if HAS_DELAYED_MEMORY:
        warm_up = max(warm_up, times)
    gc.freeze()  # what was there before is not looked at: collecting is quick then
    try:
        repeat(call, warm_up)
        before = counts(forget_names)
        repeat(call, times)
        after = counts(forget_names)
    finally:
        gc.unfreeze()
    return after[0] - before[0], after[1] - before[1]


def repeat(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def assert_steady(call: Callable[[], object], times: int = 400, warm_up: int = 50, rounds: int = 6) -> None:
    """Fails when in every round half of the repetitions leave a block behind, or one of them a tensor or a node.

    A leak is in every round; what fills a cache or a pool somewhere, ours or NumPy's, comes to an end.
    """
    grown = []
    for number in range(rounds):
        blocks, living = growth(call, times, warm_up, forget_names=number > 0)
        if blocks < times // 2 and living <= 0:
            return
        grown.append((blocks, living))
    said = ", ".join(f"{blocks} blocks, {living} tensors and nodes" for blocks, living in grown)
    raise AssertionError(f"more after each {times} repetitions: {said}\n{lines_that_keep(call, times)}")


def lines_that_keep(call: Callable[[], object], times: int) -> str:
    """Of which lines most blocks of further repetitions are left."""
    tracemalloc.start(4)
    try:
        repeat(call, times)
        gc.collect()
        before = tracemalloc.take_snapshot()
        repeat(call, times)
        gc.collect()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    ours = [tracemalloc.Filter(False, tracemalloc.__file__)]
    kept = after.filter_traces(ours).compare_to(before.filter_traces(ours), "traceback")[:5]
    return "\n".join("\n".join([str(one), *one.traceback.format()]) for one in kept)
