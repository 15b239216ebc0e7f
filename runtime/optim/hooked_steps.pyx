"""What every step of an optimizer goes through: hooks are called around it, and a trace takes it as one call."""

from gradsmith.runtime.batching.batch cimport current_trace
from gradsmith.runtime.history.observers cimport watching

import functools

import cython


def hooked(step, hooks_before not None, hooks_after not None, with_hooks not None, in_trace not None):
    """A `step` that calls the hooks, once, however many steps of base classes it calls.

    Parameters
    ----------
    step : callable
        ``step(optimizer, *args, **kwargs)``.
    hooks_before, hooks_after : dict
        The hooks of all optimizers.
    with_hooks : callable
        ``with_hooks(optimizer, step, args, kwargs)`` calls the step and all hooks.
    in_trace : callable
        ``in_trace(hooked_step, optimizer, args, kwargs)`` stands for the step while a function is traced.
    """

    @functools.wraps(step)
    @cython.binding(True)  # so that it is a method, with a name and a docstring, as functions of Python are
    def hooked_step(self, *args, **kwargs):
        self._opt_called = True  # for schedulers, which have to come after it
        if current_trace() is not None:
            return in_trace(hooked_step, self, args, kwargs)
        if (self._has_step_hooks or hooks_before or hooks_after or watching) and not self._is_in_step:
            self._is_in_step = True
            try:
                return with_hooks(self, step, args, kwargs)
            finally:
                self._is_in_step = False
        if args or kwargs:
            return step(self, *args, **kwargs)
        return step(self)

    hooked_step.hooked = True
    return hooked_step
