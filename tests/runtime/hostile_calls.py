"""Calls everything in modules of the package with what nobody should pass: ``python hostile_calls.py log module ...``.

Whatever Python can reach is called: classes by ``__new__``, on such objects every attribute, method and slot, unbound
methods with a wrong `self`, and every function of a module. An exception is an answer. The last line of the log names
the call that was on its way when the process died. What was asked to do something 2**70 times may try, as long as it
can be interrupted.
"""

import contextlib
import faulthandler
import importlib
import os
import random
import signal
import sys
import warnings

# Of a class rather than of its objects.
LEFT_OUT = {
    "__init_subclass__", "__subclasshook__", "__class__", "__abstractmethods__", "__bases__", "__mro__", "__dict__",
}  # fmt: skip
# They wait for other threads, which is all they do: the loop of a helper, and what waits for its answer.
WAITING = {"_work", "_wait_regardless", "receive"}
PATIENCE = 5  # seconds for one call, then it is interrupted
LIMIT = 240  # seconds for all, then the process ends and says where it was: a call could not be interrupted


def junk_values():
    import numpy as np

    import gradsmith as gs
    from gradsmith.runtime.graph import node, tensor

    x = gs.ones(2, 3, requires_grad=True)
    return [
        None, 0, -1, 3, 2**70, -(2**63), 1.5, True, "junk", b"junk", (), [], {}, (1, "2"), [None], [x], (x, 3),
        slice(None), ..., len, object(), int, gs.Tensor, np.ones(2), np.float32(1), np.dtype("f4"), np.array("text"),
        gs.tensor([1, 2]), gs.ones(0), gs.ones(2, device="meta"), gs.tensor(True), x, x * 2, (x * x).grad_fn,
        tensor.TensorBase.__new__(tensor.TensorBase), gs.Tensor.__new__(gs.Tensor), node.Node.__new__(node.Node),
        type((x * x).grad_fn).__new__(type((x * x).grad_fn)),
    ]  # fmt: skip


class Caller:
    """Makes the calls and notes each before it is made."""

    def __init__(self, log, seed=0):
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.all_junk = self.junk = junk_values()
        self.random = random.Random(seed)
        self.seen = set()

    def call(self, what, function, *arguments):
        """The result of a call, None for one that fails."""
        os.pwrite(self.log, f"{what}({', '.join(describe(a) for a in arguments)})".encode()[:400].ljust(400) + b"\n", 0)
        try:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            return function(*arguments)
        except BaseException:  # also SystemExit and KeyboardInterrupt: an answer like any other
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def with_junk(self, what, function, singles=True):
        self.call(what, function)
        values = self.junk if singles else self.random.sample(self.junk, 3)
        for value in values:
            self.call(what, function, value)
        for count in (2, 2, 3, 4):
            self.call(what, function, *self.random.choices(self.junk, k=count))

    def walk_module(self, module):
        self.junk = self.all_junk if is_compiled(module) else without_tensor_class(self.all_junk)
        for name, value in sorted(vars(module).items()):
            if name in WAITING:
                continue
            what = f"{module.__name__}.{name}"
            if isinstance(value, type):
                if getattr(value, "__module__", "").startswith("gradsmith") and value not in self.seen:
                    self.seen.add(value)
                    self.walk_class(what, value)
            elif callable(value) and belongs(value, module):
                self.with_junk(what, value)

    def walk_class(self, what, cls):
        if issubclass(cls, BaseException):
            return
        self.with_junk(what, cls, singles=False)
        for raw in self.raw_objects(what, cls):
            for name in sorted(set(dir(cls)) - LEFT_OUT - WAITING):
                self.walk_attribute(f"{what}.__new__().{name}", raw, name, is_new=name in vars(cls))
        for name in sorted(set(vars(cls)) - LEFT_OUT - WAITING):
            with contextlib.suppress(Exception):
                method = getattr(cls, name)
                if callable(method):
                    self.with_junk(f"{what}.{name}", method, singles=False)

    def raw_objects(self, what, cls):
        yield self.call(f"{what}.__new__", cls.__new__, cls)
        derived = self.call(f"class derived({what})", type, "Derived", (cls,), {})
        if derived is not None:
            yield self.call(f"{what}.__new__(derived)", derived.__new__, derived)

    def walk_attribute(self, what, raw, name, is_new):
        value = self.call(f"get {what}", getattr, raw, name)
        if callable(value):
            self.with_junk(what, value, singles=is_new)
        elif not name.startswith("__"):
            for junk in self.junk if is_new else self.random.sample(self.junk, 3):
                self.call(f"set {what}", setattr, raw, name, junk)
            self.call(f"del {what}", delattr, raw, name)


def describe(value):
    return repr(value)[:60] if isinstance(value, (int, float, str, bytes, type(None))) else type(value).__name__


def is_compiled(module):
    return not module.__file__.endswith(".py")


def without_tensor_class(values):
    """What functions written in Python are called with.

    Python 3.11 to 3.13 can crash there by a fault of its own: a line such as ``x.copy()`` that often ran for tensors
    reads past its arguments when `x` is the class.
    """
    import gradsmith as gs

    return [value for value in values if value is not gs.Tensor]


def belongs(function, module):
    """Is it a function of this module? Compiled ones do not always say so."""
    return getattr(function, "__module__", module.__name__) in (module.__name__, None)


def main(log, *modules):
    faulthandler.enable()
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    warnings.simplefilter("ignore")
    caller = Caller(log)
    for name in modules:
        caller.walk_module(importlib.import_module(name))
    os.pwrite(caller.log, b"the end".ljust(400), 0)


if __name__ == "__main__":
    sys.stdout = sys.stderr
    main(*sys.argv[1:])
