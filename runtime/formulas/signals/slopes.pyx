"""Helpers of ops on functions that are given by samples: slopes, steps and running sums; see the .pxd for the types.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.numbers cimport wrapped
from gradsmith.runtime.formulas.statistics.missing cimport floating

import numpy as np

from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.creation import full, tensor


# ---- slopes


cpdef object gradients(object self, object spacing, object dim, object edge_order):
    """Slopes along dimensions of a function given on a grid, from differences of neighbours."""
    if self.dtype.kind in "bu":
        raise RuntimeError(
            f"gradient(): {self.dtype} input is not supported, since its differences are not of its dtype; convert it with "
            ".float()"
        )
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient(): only supports edge_order=1 and edge_order=2, but got {edge_order}")
    axes = axes_of(self, dim)
    spacings = spacings_of(self, spacing, len(axes), dim is not None)
    for axis in axes:
        if self.shape[axis] < edge_order + 1:
            raise RuntimeError(
                f"gradient(): expected each dimension size to be at least edge_order+1 = {edge_order + 1}, but the input "
                f"has size {list(self.shape)}"
            )
    return [slopes(self, axis, step, edge_order) for axis, step in zip(axes, spacings)]


cdef list axes_of(object self, object dim):
    if dim is None:
        return list(range(self.ndim))
    if dim and not self.ndim:
        raise IndexError(f"gradient(): dimension specified as {dim[0]} but tensor has no dimensions")
    axes = [wrapped(one, self.ndim) for one in dim]
    for axis in axes:
        if axes.count(axis) > 1:
            raise RuntimeError(f"gradient(): dim {axis} appears multiple times in the list of dims {list(dim)}")
    return axes


cdef list spacings_of(object self, object spacing, Py_ssize_t count, bint dims_given):
    """For each dimension, the distance of neighbours or their coordinates."""
    if isinstance(spacing, TensorBase) and spacing.ndim:
        raise TypeError(
            "gradient(): spacing must be a number, a list of numbers, or a list of tensors with the coordinates along each "
            f"dimension, not one tensor of size {list(spacing.shape)}"
        )
    if not isinstance(spacing, (list, tuple)):
        return [1 if spacing is None else spacing] * count
    if len(spacing) != count:
        why = "a list as long as dim" if dims_given else "a list with an item for each dimension"
        raise RuntimeError(f"gradient(): expected spacing to be a number, or {why}, {count}, but got a list of {len(spacing)}")
    return [step if is_number(step) else coordinates_of(step, self) for step in spacing]


cdef bint is_number(object step):
    return isinstance(step, (int, float, complex, np.number))


cdef object coordinates_of(object step, object self):
    if isinstance(step, TensorBase):
        return step.float() if step.dtype.kind in "bu" else step
    return tensor(step, dtype=self.real.dtype if self.dtype.kind in "fc" else None, device=self.device)


cdef object slopes(object self, object axis, object step, object edge_order):
    if isinstance(step, TensorBase) and step.ndim:
        return slopes_between(self, axis, spread(self, axis, step), edge_order)
    length = self.shape[axis]
    inner = (self.narrow(axis, 2, length - 2) - self.narrow(axis, 0, length - 2)) / (2 * step)
    if edge_order == 1:
        edges = [(element(self, axis, i + 1) - element(self, axis, i)) / step for i in (0, length - 2)]
    else:
        ends = ((0, 1), (length - 1, -1))
        edges = [weighed(self, axis, first, way, (-1.5 * way, 2 * way, -0.5 * way)) / step for first, way in ends]
    return upcalls.cat([edges[0], inner, edges[1]], axis)


cdef object spread(object self, object axis, object coordinates):
    """The distances of neighbours, beside the dimension to which they belong."""
    if coordinates.ndim != 1 or coordinates.shape[0] != self.shape[axis]:
        raise RuntimeError(
            f"gradient(): expected the coordinates along dimension {axis} to be a vector of {self.shape[axis]} numbers, "
            f"but got a tensor of size {list(coordinates.shape)}"
        )
    shape = [-1 if d == axis else 1 for d in range(self.ndim)]
    return coordinates.diff().reshape(shape)


cdef object slopes_between(object self, object axis, object steps, object edge_order):
    length = self.shape[axis]
    before, after = steps.narrow(axis, 0, length - 2), steps.narrow(axis, 1, length - 2)
    low, middle, high = [self.narrow(axis, first, length - 2) for first in range(3)]
    inner = (
        low * -(after / (before * (before + after)))
        + middle * ((after - before) / (before * after))
        + high * (before / (after * (before + after)))
    )
    edge = edge_slope if edge_order == 1 else curved_edge_slope
    return upcalls.cat([edge(self, axis, steps, 0, 1), inner, edge(self, axis, steps, length - 1, -1)], axis)


def edge_slope(self, axis, steps, first, way):
    step = element(steps, axis, min(first, first + way))
    return (element(self, axis, first + way) - element(self, axis, first)) * way / step


def curved_edge_slope(self, axis, steps, first, way):
    """The slope at an end of the parabola through its three points."""
    near = element(steps, axis, min(first, first + way))
    far = element(steps, axis, min(first + way, first + 2 * way))
    weights = (-(2 * near + far) / (near * (near + far)), (near + far) / (near * far), -near / (far * (near + far)))
    return weighed(self, axis, first, way, [weight * way for weight in weights])


cdef object weighed(object self, object axis, object first, object way, object weights):
    """A sum of elements, from the front of the dimension on."""
    parts = [element(self, axis, first + number * way) * weight for number, weight in enumerate(weights)]
    low, middle, high = parts[::way]
    return low + middle + high


cdef object element(object self, object axis, object place):
    return self.narrow(axis, place, 1)


# ---- steps


cpdef object steps_between(object self, object to_end, object to_begin):
    found = self.reshape(-1).diff()
    parts = [part.reshape(-1) for part in (to_begin, found, to_end) if part is not None]
    return upcalls.cat(parts, 0) if len(parts) > 1 else found


cpdef object accumulated(object self, object dim, object include_initial, object op):
    """Running sums or products, with that of nothing in front where it is asked for."""
    if dim is None and self.ndim != 1:
        raise ValueError(f"{op}(): axis must be given for a tensor of {self.ndim} dimensions")
    axis = wrapped(0 if dim is None else dim, self.ndim)
    found = self.cumsum(axis) if op == "cumulative_sum" else self.cumprod(axis)
    if not include_initial:
        return found
    shape = (*self.shape[:axis], 1, *self.shape[axis + 1:])
    first = full(shape, 0 if op == "cumulative_sum" else 1, dtype=found.dtype, device=found.device)
    return upcalls.cat([first, found], axis)


cpdef object unwrapped(object self, object discont, object dim, object period):
    """Multiples of the period added so that no step is longer than half of it; they are constant."""
    x = floating(self)
    axis = wrapped(dim, x.ndim)
    if x.shape[axis] < 2:
        return x.clone()
    half = period / 2
    steps = x.detach().diff(1, axis)
    short = (steps + half).remainder(period) - half
    short = short.masked_fill((short == -half) & (steps > 0), half)
    limit = half if discont is None else max(discont, half)
    turns = (short - steps).masked_fill(steps.abs() < limit, 0).cumsum(axis)
    length = x.shape[axis]
    return upcalls.cat([x.narrow(axis, 0, 1), x.narrow(axis, 1, length - 1) + turns], axis)
