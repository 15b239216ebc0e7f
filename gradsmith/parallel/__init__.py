"""Many independent tasks: values and gradients for many arguments, in threads, in processes, or by another package.

>>> import gradsmith as gs
>>> def energy(x):
...     return (x**2).sum()
>>> xs = [gs.full((2,), float(n)) for n in range(3)]
>>> gs.parallel.map(gs.value_and_grad(energy), xs)
[(tensor(0.), tensor([0., 0.])), (tensor(2.), tensor([2., 2.])), (tensor(8.), tensor([4., 4.]))]
"""

from __future__ import annotations

from typing import Any

from gradsmith.names.missing import missing_attribute
from gradsmith.parallel.errors import Cancelled, RemoteError, TaskLost
from gradsmith.parallel.mapping import imap, map
from gradsmith.parallel.pool import Pool

__all__ = ["Cancelled", "Pool", "RemoteError", "TaskLost", "imap", "map"]


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
