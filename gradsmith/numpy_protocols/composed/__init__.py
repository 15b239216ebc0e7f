"""Functions of NumPy's that are not one op: a few ops each, with NumPy's names and defaults.

They differ from their nearest op in what NumPy has besides: several axes, orders of memory, other shapes of the result.
What is computed is differentiable because the ops are.
"""

from gradsmith.numpy_protocols.composed.choosing import *  # noqa: F403
from gradsmith.numpy_protocols.composed.joining import *  # noqa: F403
from gradsmith.numpy_protocols.composed.products import *  # noqa: F403
from gradsmith.numpy_protocols.composed.ranges import *  # noqa: F403
from gradsmith.numpy_protocols.composed.shapes import *  # noqa: F403
from gradsmith.numpy_protocols.composed.statistics import *  # noqa: F403
from gradsmith.numpy_protocols.composed.writing import *  # noqa: F403
