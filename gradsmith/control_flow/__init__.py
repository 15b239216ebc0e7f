"""Loops and branches as functions: `scan`, `fori_loop`, `while_loop`, `cond`.

They run as the Python loops and branches that they stand for, so gradients, hooks and debuggers work as ever. What they
add: states and results are trees whose structure, shapes and dtypes are checked at every step, results are stacked, and
`scan` keeps for backward only every k-th state if it is asked to.

>>> import gradsmith as gs
>>> def step(total, x):
...     return total + x, total
>>> gs.scan(step, gs.tensor(0.0), gs.tensor([1.0, 2.0, 3.0]))
(tensor(6.), tensor([0., 1., 3.]))
"""

from gradsmith.control_flow.branches import cond
from gradsmith.control_flow.loops import fori_loop, while_loop
from gradsmith.control_flow.scans import scan

__all__ = ["cond", "fori_loop", "scan", "while_loop"]
