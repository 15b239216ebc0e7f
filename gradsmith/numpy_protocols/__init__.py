"""What NumPy's own functions do with tensors: `np.exp(t)`, `np.sum(t, axis=0)`, `array @ t`, `np.add.reduce(t)`.

NumPy asks its operands before it computes: ufuncs through ``__array_ufunc__``, all other functions through
``__array_function__``. Tensors answer with the op of the table that computes the same, which records itself. Which op
that is, and how NumPy's arguments become the op's, is data: `table.py` for functions, `ufuncs.py` for ufuncs. One that
is in neither is an error, so that no gradient gets lost unseen.

This package is imported when the first such call is made.
"""

from gradsmith.numpy.arguments import numpys_error
from gradsmith.numpy_protocols.dispatch import call_numpy, call_numpy_by_solver, call_ufunc
from gradsmith.runtime.switches import upcalls

__all__ = ["call_numpy", "call_numpy_by_solver", "call_ufunc"]

upcalls.fill(
    call_numpy=call_numpy,
    call_numpy_by_solver=call_numpy_by_solver,
    call_ufunc=call_ufunc,
    numpys_error=numpys_error,
)
