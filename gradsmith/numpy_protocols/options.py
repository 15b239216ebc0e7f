"""What can be asked of a call of a ufunc besides its operands: `out`, `where`, `dtype`."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith.numpy as gnp
from gradsmith.numpy_protocols.composed.operands import as_tensor, op_named, stored
from gradsmith.numpy_protocols.ufuncs import name_of
from gradsmith.runtime.tensors.factories.creation import zeros
from gradsmith.runtime.tensors.factories.python_data import is_tensor

# Of these only the usual value means something for tensors, whose memory has an order of its own.
_WITHOUT_EFFECT = ("order", "subok")
_OF_RESULTS = frozenset(("out", "where"))
_OF_PRODUCTS = ("matmul", "vecdot", "matvec", "vecmat")


def called(ufunc: np.ufunc, op: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with options; all but `out` and `where` mean what they mean in NumPy, whose loops they choose."""
    function = of_namespace(ufunc)
    if function is not None and not kwargs.keys() <= _OF_RESULTS:
        return function(*inputs, **kwargs)
    given = {name: value for name, value in kwargs.items() if name not in _WITHOUT_EFFECT}
    out, where = given.pop("out", None), given.pop("where", True)
    casting, dtype = given.pop("casting", "same_kind"), given.pop("dtype", None)
    if ufunc.__name__ not in _OF_PRODUCTS and given:
        raise TypeError(f"np.{name_of(ufunc)}() of tensors takes no {', '.join(given)}; it takes out, where and dtype")
    if dtype is not None:
        inputs = tuple(as_tensor(value).to(np.dtype(dtype)) for value in inputs)
    if where is not True:
        return _called_where(ufunc, op, inputs, where, out, casting)
    result = op(*inputs, **given)
    return result if out is None else stored(name_of(ufunc), result, out, casting)


def of_namespace(ufunc: np.ufunc) -> Any:
    """The function of `gradsmith.numpy` of the same name, or None."""
    return getattr(gnp, ufunc.__name__, None) if getattr(np, ufunc.__name__, None) is ufunc else None


def _called_where(ufunc: np.ufunc, op: Any, inputs: tuple[Any, ...], where: Any, out: Any, casting: str) -> Any:
    """Computed for the chosen elements alone, so that the others, at which it may be infinite, send no gradient.

    Where nothing was chosen the result is what `out` had, or zero.
    """
    if ufunc.nout != 1:
        raise TypeError(f"np.{name_of(ufunc)}() of tensors takes no where=")
    tensors = [as_tensor(value) for value in inputs]
    mask = as_tensor(where)
    shape = np.broadcast_shapes(*[tuple(tensor.shape) for tensor in (*tensors, mask)])
    mask = mask.broadcast_to(shape)
    chosen = op(*[tensor.broadcast_to(shape)[mask] for tensor in tensors])
    target = out[0] if isinstance(out, tuple) else out
    if target is None:
        return op_named("index_put")(zeros(shape, dtype=chosen.dtype), (mask,), chosen)
    before = as_tensor(target)
    result = op_named("index_put")(before.clone(), (mask,), chosen.to(before.dtype))
    return stored(name_of(ufunc), result, target, casting) if not is_tensor(target) else target.copy_(result)
