"""`cond` and `while_loop` on values inside of a compiled function.

Note [Choices in programs]
A value that a program computes decides in each run. So the whole branch or loop is one step of the program, which runs
it as eager does, on the tensors of the run; what its functions capture of the traced function's values are operands of
the step. Its gradient, its tangent and what `vmap` makes of it are functions of tensors as well, and become steps of
the same kind, so that it can be differentiated any number of times. A backward runs the branch, or the steps of the
loop, once more with recording. Branches may differ in more than values; see ways.py, Note [Ways of choices].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gradsmith.autograd.function import Function
from gradsmith.control_flow.choices.ways import (
    ChangesOthers,
    Chosen,
    NotOneStep,
    SharesMemory,
    Way,
    Work,
    has_drawn_since,
)
from gradsmith.control_flow.held import Held
from gradsmith.control_flow.lifting import Lifted
from gradsmith.runtime.batching.batch import is_batched_tensor, level_of, trace_of_thread
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.layouts import copied_as_it_lies
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.runtime.tensors.factories.random import default_generator, place_of
from gradsmith.utils import pytree

Tensors = list[Any]


def is_traced(value: Any) -> bool:
    """Is it a tensor whose value is not known before the program runs?"""
    if not is_tensor(value) or not is_batched_tensor(value):
        return False
    trace = trace_of_thread()
    return trace is not None and level_of(value) is trace


def chosen_in_runs(op: str, functions: list[Any], operands: Any, run: Callable[..., Any]) -> Any:
    """A step that calls ``run(functions, operands)`` in each run of the program.

    Gives a tree of tensors. The first operand is the truth value of a `cond`.

    Raises
    ------
    NotOneStep
        No step can do what the functions of a `cond` do.
    TraceError
        Or those of a `while_loop`.
    """
    lifted = Lifted(functions, is_tensor)
    if lifted.hidden and is_grad_enabled():
        if op == "cond":
            raise NotOneStep(f"functions that read {lifted.hidden[0]}")
        raise trace_of_thread().call.error(
            f"{op}() with functions that read {lifted.hidden[0]}, which has tensors that require grad, cannot be "
            "traced: their gradients would be lost. Hand the tensors over as operands, or call it outside"
        )
    leaves, spec = pytree.flatten(operands)
    places = [place for place, leaf in enumerate(leaves) if is_tensor(leaf)]
    step = _Step(op, lifted, leaves, spec, places, run)
    tensors = [*[leaves[place] for place in places], *lifted.tensors]
    before = Held(functions)
    try:
        return step.tree_of(_ran(step, op, tensors), tensors)
    except ChangesOthers:
        raise _changes(op) from None
    except SharesMemory:
        if op == "cond":
            raise
        raise trace_of_thread().call.lasting(f"{op}() with results that are views,") from None
    finally:
        if before.has_changed(Held(functions)):
            raise _changes(op)


def _changes(op: str) -> Exception:
    """Of functions that change what outlasts them, of which no trace tells."""
    return trace_of_thread().call.lasting(f"{op}() with functions that change what outlasts them,")  # type: ignore[no-any-return]


def _ran(work: Work, op: str, tensors: Tensors) -> Tensors:
    return list(Ran.apply(work, op, is_grad_enabled(), *tensors))


class _Step:
    """What a step does, as a function of tensors."""

    def __init__(
        self,
        op: str,
        lifted: Lifted,
        leaves: Tensors,
        spec: pytree.TreeSpec,
        places: list[int],
        run: Callable[..., Any],
    ) -> None:
        self.op, self.lifted, self.run = op, lifted, run
        self.leaves = [None if place in places else leaf for place, leaf in enumerate(leaves)]
        self.spec, self.places = spec, places
        self.may_change = not _is_of_tuples(spec)
        self.result: pytree.TreeSpec | None = None
        self.looks: list[Any] = []
        self.way: Way | None = None
        self.gives_operands, self.is_exact = True, op == "cond"
        self.tried: set[bool] = set()  # truth values whose function has been called on copies
        self.is_new = False  # is the next call the first one of a function?

    def for_run(self, tensors: Tensors) -> Tensors:
        """What a run calls it with: copies for a function that is new to it, in case that it writes to them."""
        outcome = self.op == "cond" and bool(tensors[0])
        if outcome in self.tried:
            return tensors
        self.tried.add(outcome)
        self.is_new = True
        copies = {id(tensor): _copy_of(tensor) for tensor in tensors}
        return [copies[id(tensor)] for tensor in tensors]

    def __call__(self, tensors: Tensors) -> Tensors:
        count = len(self.places)
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        functions = self.lifted.bound(list(tensors[count:])) if self.lifted.tensors else self.lifted.function
        versions = [tensor._version for tensor in tensors]
        operands = self.spec.unflatten(leaves)
        before, self.is_new = Held(functions) if self.is_new else None, False
        found, spec = pytree.flatten(self.run(functions, operands))
        if before is not None and self.lifted.tensors and before.has_changed(Held(functions)):
            raise ChangesOthers()
        if versions != [tensor._version for tensor in tensors]:
            self._refuse("may not write to what they are given in a compiled function")
        if self.may_change and not _holds(operands, leaves, self.spec):
            self._refuse("may not change lists and dicts that they are given in a compiled function")
        self._expect_same(found, spec)
        return found

    def tree_of(self, found: Tensors, tensors: Tensors) -> Any:
        """The results: those that are operands, or one another, are the same tensors."""
        assert self.result is not None
        known = list(tensors)
        for n, one in enumerate(found):
            same_as = None if self.way is None else self.way.same_as[n]
            known.append(one if same_as is None else known[same_as])
        return self.result.unflatten(known[len(tensors) :])

    def _expect_same(self, found: list[Any], spec: pytree.TreeSpec) -> None:
        """A program has a place for tensors of one shape and dtype each."""
        looks = [(getattr(one, "dtype", type(one)), list(getattr(one, "shape", ()))) for one in found]
        if not all(hasattr(one, "grad_fn") for one in found):
            self._refuse(f"must give tensors in a compiled function, but gave {looks}")
        if self.result is None:
            self.result, self.looks = spec, looks
        elif (spec, looks) != (self.result, self.looks):
            self._refuse(
                "must give the same structure, shapes and dtypes in a compiled function, "
                f"but gave {self.looks} and {looks}"
            )

    def _refuse(self, what: str) -> NoReturn:
        if self.is_exact:
            raise NotOneStep(f"functions that {what}")
        raise RuntimeError(f"{self.op}(): its functions {what}")


def _copy_of(tensor: Any) -> Any:
    return from_array(copied_as_it_lies(array_behind(tensor)))


def _is_of_tuples(spec: pytree.TreeSpec) -> bool:
    return spec.is_leaf() or (spec.cls is tuple and all(map(_is_of_tuples, spec.children)))


def _holds(tree: Any, leaves: Tensors, spec: pytree.TreeSpec) -> bool:
    """Does a tree have these leaves still?"""
    now, spec_now = pytree.flatten(tree)
    return spec_now == spec and all(one is other for one, other in zip(now, leaves))


class Ran(Function):
    """``work(tensors)``, a step of the program. See Note [Choices in programs]."""

    @staticmethod
    def forward(work: Work, op: str, records: bool, *tensors: Any) -> tuple[Any, ...]:
        return tuple(_in_each_run(work, op, records, tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.work, ctx.op = inputs[:2]
        ctx.way = ctx.work.way
        ctx.inexact = [n for n, one in enumerate(output) if one.is_floating_point() or one.is_complex()]
        ctx.count = len(output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[3:])
        ctx.save_for_forward(*inputs[3:])
        if ctx.way is not None and ctx.way.reached is not None and not any(map(all_tangents, inputs[3:])):
            ctx.mark_non_differentiable(*[one for one, reached in zip(output, ctx.way.reached) if not reached])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        saved = ctx.saved_tensors
        places = [n for n, cotangent in enumerate(cotangents) if cotangent is not None]
        wanted = [n for n, needs in enumerate(ctx.needs_input_grad[3:]) if needs]
        if ctx.way is not None and ctx.way.reached is not None:
            reached = frozenset().union(*[ctx.way.reached[p] for p in places])
            wanted = [n for n in wanted if n in reached]
        gradients: list[Any] = [None] * len(saved)
        if places and wanted:
            pullback = Pullback(ctx.work, ctx.op, len(saved), wanted, places)
            for n, gradient in zip(wanted, _ran(pullback, ctx.op, [*saved, *[cotangents[p] for p in places]])):
                gradients[n] = gradient
        return (None, None, None, *gradients)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        saved = ctx.saved_tensors
        places = [n for n, tangent in enumerate(tangents[3:]) if tangent is not None]
        push = Push(ctx.work, ctx.op, len(saved), places, ctx.inexact)
        found = _ran(push, ctx.op, [*saved, *[tangents[3 + n] for n in places]])
        results: list[Any] = [None] * ctx.count
        for n, tangent in zip(ctx.inexact, found):
            results[n] = tangent
        return tuple(results)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], work: Work, op: str, records: bool, *tensors: Any) -> Any:
        found = tuple(_ran(Mapped(work, in_dims[3:], info.randomness), op, list(tensors)))
        return found, (0,) * len(found)


def _in_each_run(work: Work, op: str, records: bool, tensors: Sequence[Any]) -> Any:
    trace = trace_of_thread()
    if trace is None or not any(map(is_traced, tensors)):
        return work(list(tensors))
    needs = [records and tensor.requires_grad for tensor in tensors]
    return trace.call_of(Chosen(work, op, needs), tuple(tensors), op)


class _Derived:
    """What comes of a work in a transform."""

    way: Way | None = None
    gives_operands = False
    is_exact = True

    def for_run(self, tensors: Tensors) -> Tensors:
        return tensors

    def __call__(self, tensors: Tensors) -> Tensors:
        raise NotImplementedError


class Pullback(_Derived):
    """Gradients of some of the tensors of `work`, as a function of these and of cotangents."""

    def __init__(self, work: Work, op: str, count: int, wanted: list[int], results: list[int]) -> None:
        self.work, self.op, self.count = work, op, count
        self.wanted, self.results = wanted, results  # of the results that have a cotangent

    def __call__(self, tensors: Tensors) -> Tensors:
        from gradsmith.func import vjp

        of_some = _of_some(self.work, tensors[: self.count], self.wanted, self.results)
        place = place_of(default_generator)
        _, pullback = vjp(of_some, *[tensors[n] for n in self.wanted])
        _expect_none_drawn(self.op, place)
        return list(pullback(tuple(tensors[self.count :])))


class Push(_Derived):
    """Tangents of what `work` gives, as a function of its tensors and of their tangents."""

    def __init__(self, work: Work, op: str, count: int, places: list[int], results: list[int]) -> None:
        self.work, self.op, self.count, self.places, self.results = work, op, count, places, results

    def __call__(self, tensors: Tensors) -> Tensors:
        from gradsmith.func import jvp

        of_some = _of_some(self.work, tensors[: self.count], self.places, self.results)
        primals = tuple([tensors[place] for place in self.places])
        place = place_of(default_generator)
        tangents = jvp(of_some, primals, tuple(tensors[self.count :]))[1]
        _expect_none_drawn(self.op, place)
        return list(tangents)


def _expect_none_drawn(op: str, place: Any) -> None:
    """Refuse a derivative that has called a function which draws: it got other numbers than the value."""
    if has_drawn_since(place):
        raise RuntimeError(
            f"{op}(): gradients of random numbers that its functions draw are not possible in a compiled "
            "function; draw them outside of it and hand them over"
        )


def _of_some(work: Work, tensors: Tensors, places: list[int], results: list[int]) -> Callable[..., Any]:
    """Some results as a function of some of the tensors."""

    def function(*given: Any) -> tuple[Any, ...]:
        whole = list(tensors)
        for place, one in zip(places, given):
            whole[place] = one
        found = work(whole)
        return tuple([found[n] for n in results])

    return function


class Mapped(_Derived):
    """What `work` gives for each slice, as a function of all slices."""

    def __init__(self, work: Work, in_dims: tuple[Any, ...], randomness: str) -> None:
        self.work, self.in_dims, self.randomness = work, in_dims, randomness

    def __call__(self, tensors: Tensors) -> Tensors:
        from gradsmith.func import vmap

        def of_slice(*given: Any) -> tuple[Any, ...]:
            return tuple(self.work(list(given)))

        return list(vmap(of_slice, in_dims=self.in_dims, randomness=self.randomness)(*tensors))
