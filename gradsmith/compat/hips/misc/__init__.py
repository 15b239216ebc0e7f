"""Trees as vectors, optimizers, fixed points."""

from gradsmith.compat.hips.misc.flatten import flatten
from gradsmith.compat.hips.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
