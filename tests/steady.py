"""Does repeating something leave anything behind?

Python counts the blocks of memory it has handed out. What leaks one object per repetition leaves at least one block
each, while caches, pools and free lists stop growing once they are warm. In a debug build the runtime's own counts of
living tensors are compared as well, exactly.
"""

import gc
import sys
from collections.abc import Callable

from gradsmith.runtime.tensor import live_tensors


def counts() -> tuple[int, int]:
    """Blocks and tensors alive; the number of tensors is -1 unless the build counts them."""
    gc.collect()
    return sys.getallocatedblocks(), live_tensors()


def growth(call: Callable[[], object], times: int, warm_up: int) -> tuple[int, int]:
    """How many blocks and tensors more there are after `times` repetitions, beyond those of the first ones."""
    repeat(call, warm_up)
    before = counts()
    repeat(call, times)
    after = counts()
    return after[0] - before[0], after[1] - before[1]


def repeat(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def assert_steady(call: Callable[[], object], times: int = 400, warm_up: int = 50) -> None:
    """Fails when every second repetition leaves one block behind, or any of them a tensor.

    The first measure may meet a table that happens to be resized; a leak meets the second one too.
    """
    found = growth(call, times, warm_up)
    if found[0] >= times // 2 or found[1] > 0:
        found = growth(call, times, 0)
    assert found[0] < times // 2, f"{found[0]} blocks more after {times} repetitions"
    assert found[1] <= 0, f"{found[1]} tensors more after {times} repetitions"
