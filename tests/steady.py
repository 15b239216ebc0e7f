"""Does repeating something leave anything behind?

Python counts the blocks of memory it has handed out. A leak of one object per repetition leaves at least one block
each, while caches, pools and free lists stop growing once they are warm. The runtime's own counts of living
tensors and nodes are compared as well, exactly.
"""

import gc
import sys
from collections.abc import Callable

from gradsmith.runtime.graph.node import live_nodes
from gradsmith.runtime.graph.tensor import live_tensors


def counts() -> tuple[int, int]:
    """Blocks of memory, and tensors with nodes alive."""
    gc.collect()  # empties Python's free lists too
    return sys.getallocatedblocks(), live_tensors() + live_nodes()


def growth(call: Callable[[], object], times: int, warm_up: int) -> tuple[int, int]:
    """How many more of both there are after `times` repetitions, beyond those of the first ones."""
    gc.freeze()  # what was there before is not looked at: collecting is quick then
    try:
        repeat(call, warm_up)
        before = counts()
        repeat(call, times)
        after = counts()
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
    for _ in range(rounds):
        blocks, living = growth(call, times, warm_up)
        if blocks < times // 2 and living <= 0:
            return
    raise AssertionError(f"{blocks} blocks, {living} tensors and nodes more after each {times} repetitions")
