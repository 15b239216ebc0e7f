"""Custom Functions of batched tensors.

Note [Functions of batches]
What `Function.apply` computes for batched tensors it computes for their data, by one of two rules that the class gives:

- A static `vmap` gets the data, and returns the results with their batch dimensions.
- With `generate_vmap_rule`, another Function of the data does. Each of its methods opens a level of its own, maybe long
  after the call of `vmap`, and calls the user's method with batched tensors. Its context hides from that method that
  data are saved.

Either is recorded as the history of the data, if these have one. The history of the batched tensors is recorded by
`apply` as ever: the user's backward is called with batched gradients there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from gradsmith.runtime.batching.batch import VmapLevel, all_slices, batched, level_of
from gradsmith.runtime.batching.levels import below, open_level
from gradsmith.runtime.custom_function.node import backward_of
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches import upcalls


class VmapInfo(NamedTuple):
    """The first argument of a static `vmap`: facts about the call."""

    batch_size: int
    randomness: str


def call_on_data(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: VmapLevel) -> Any:
    """The output of a Function for batched arguments: batched tensors without a history of their own."""
    _require_rule(cls, level)
    dims = tuple(_mapped(lambda t: 0 if level_of(t) is level else None, arg, None) for arg in args)
    data = tuple(_mapped(lambda t: _data(t, level), arg) for arg in args)
    with below(level):
        rule = _by_generated_rule if cls.generate_vmap_rule else _by_own_rule
        output = rule(cls, level, dims, data, kwargs)
    return _rebatched(output, [(one, arg) for one, arg in zip(data, args) if isinstance(arg, TensorBase)], level)


def _require_rule(cls: Any, level: VmapLevel) -> None:
    base: Any = upcalls.function_type
    own = cls.vmap is not base.vmap
    if cls.setup_context is base.setup_context:
        raise level.call.error(
            f"the autograd.Function {cls.__name__} must override the setup_context staticmethod to be called under "
            "vmap: forward takes no ctx then"
        )
    if own and cls.generate_vmap_rule:
        raise level.call.error(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity"
        )
    if not own and not cls.generate_vmap_rule:
        raise level.call.error(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            "the vmap staticmethod or set generate_vmap_rule=True"
        )


def _mapped(function: Callable[[Any], Any], value: Any, *other: Any) -> Any:
    """`value` with `function` of each tensor in it; with `other`, that in place of all else."""
    if isinstance(value, TensorBase):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)(_mapped(function, item, *other) for item in value)
    return other[0] if other else value


def _data(tensor: Any, level: VmapLevel) -> Any:
    return all_slices(tensor, level) if level_of(tensor) is level else tensor


class _Unbatched(NamedTuple):
    """A result that is the same for all slices."""

    value: Any


def _rebatched(output: Any, arguments: list[tuple[Any, Any]], level: VmapLevel) -> Any:
    """Data as batched tensors; data of an argument, which forward has written, as that argument."""
    if isinstance(output, _Unbatched):
        return next((arg for data, arg in arguments if data is output.value), output.value)
    if isinstance(output, TensorBase):
        same = next((arg for data, arg in arguments if data is output), None)
        return batched(output, level) if same is None else same
    if type(output) in (tuple, list):
        return type(output)(_rebatched(item, arguments, level) for item in output)
    return output


# ---- a static vmap


def _by_own_rule(cls: Any, level: VmapLevel, dims: tuple[Any, ...], data: tuple[Any, ...], kwargs: Any) -> Any:
    found = cls.vmap(VmapInfo(level.size, level.randomness), dims, *data, **kwargs)
    if not isinstance(found, tuple) or len(found) != 2:
        what = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found).__name__}"
        raise level.call.error(
            f"Expected the vmap staticmethod of {cls.__name__} to have two returns, an output and out_dims with pytree "
            f"structure compatible with the output. Got {what} instead"
        )
    return _slices_first(cls, level, *found)


def _slices_first(cls: Any, level: VmapLevel, output: Any, dims: Any) -> Any:
    if type(output) in (tuple, list):
        each = dims if isinstance(dims, (tuple, list)) else [dims] * len(output)
        if len(each) != len(output):
            raise _misfit(cls, level, output, dims)
        return type(output)([_slices_first(cls, level, item, dim) for item, dim in zip(output, each)])
    if isinstance(dims, (tuple, list)):
        raise _misfit(cls, level, output, dims)
    if not isinstance(output, TensorBase):
        return output
    if dims is None:
        return _Unbatched(output)
    _require_slices(cls, level, output, dims)
    data: Any = output
    return data.movedim(dims, 0) if dims % output.ndim else data


def _misfit(cls: Any, level: VmapLevel, output: Any, dims: Any) -> Exception:
    got = f"{len(output)} outputs" if isinstance(output, (tuple, list)) else "one output"
    return level.call.error(  # type: ignore[no-any-return]
        f"The vmap staticmethod of {cls.__name__} returned an incompatible (output, out_dims) tuple. Expected "
        f"out_dims={dims} to be compatible with the structure of `output`: {got}"
    )


def _require_slices(cls: Any, level: VmapLevel, output: Any, dim: Any) -> None:
    fits = isinstance(dim, int) and -output.ndim <= dim < output.ndim and output.shape[dim] == level.size
    if not fits:
        raise level.call.error(
            f"The vmap staticmethod of {cls.__name__} says that dimension {dim!r} of an output of shape "
            f"{list(output.shape)} counts the slices; expected a dimension of size {level.size}, or None"
        )


# ---- a generated rule: see Note [Functions of batches]


class Plan:
    """Facts about a call, besides its data, for the methods of the generated Function."""

    def __init__(self, cls: Any, level: VmapLevel, dims: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.cls, self.kwargs, self.dims = cls, kwargs, dims
        self.size, self.randomness, self.call = level.size, level.randomness, level.call.ended()
        self.out_dims: list[int | None] = []
        self.saved_dims: list[int | None] = []
        self.forward_dims: list[int | None] = []
        self.attributes: dict[str, Any] = {}

    @contextmanager
    def level(self, *data: Any) -> Iterator[VmapLevel]:
        with open_level(self.size, self.randomness, self.call) as level:
            note_history(level, data)
            yield level

    def arguments(self, data: Sequence[Any], level: VmapLevel) -> list[Any]:
        return [_as_slices(value, dim, level) for value, dim in zip(data, self.dims)]


def note_history(level: VmapLevel, data: Sequence[Any]) -> None:
    level.has_history = level.has_history or any(isinstance(one, TensorBase) and one.requires_grad for one in data)


def _as_slices(value: Any, dim: Any, level: VmapLevel) -> Any:
    if isinstance(value, TensorBase):
        return value if dim is None else batched(value, level)
    if type(value) in (tuple, list):
        return type(value)(_as_slices(item, part, level) for item, part in zip(value, dim))
    return value


def _by_generated_rule(cls: Any, level: VmapLevel, dims: tuple[Any, ...], data: tuple[Any, ...], kwargs: Any) -> Any:
    plan = Plan(cls, level, dims, kwargs)
    output = _generated(cls).apply(plan, *data)
    outputs = output if isinstance(output, tuple) else (output,)
    found = tuple(map(_marked, outputs, plan.out_dims))
    return found if isinstance(output, tuple) else found[0]


def _marked(value: Any, dim: Any) -> Any:
    if isinstance(value, TensorBase):
        return _Unbatched(value) if dim is None else value
    return type(value)(map(_marked, value, dim)) if type(value) in (tuple, list) else value


def _generated(cls: Any) -> Any:
    """The Function of data that belongs to a Function. It maps its own methods where it is called on batches itself."""
    found = cls.__dict__.get("_function_of_data")
    if found is None:
        methods: dict[str, Any] = {"forward": forward, "setup_context": setup_context, "backward": backward, "jvp": jvp}
        members: dict[str, Any] = {name: staticmethod(method) for name, method in methods.items()}
        members["generate_vmap_rule"] = True
        members["clear_saved_tensors_on_access"] = cls.clear_saved_tensors_on_access
        base = upcalls.function_type
        found = type(base)(f"Vmapped{cls.__name__}", (base,), members)
        cls._function_of_data = found
    return found


def forward(plan: Plan, *data: Any) -> Any:
    with plan.level(*data) as level:
        given = plan.arguments(data, level)
        output = plan.cls.forward(*given, **plan.kwargs)
        outputs = output if isinstance(output, tuple) else (output,)
        plan.out_dims = [_mapped(lambda t: 0 if _is_at(t, level) else None, value, None) for value in outputs]
        known = _known(given, data)
        found = tuple(_mapped(lambda t: known[id(t)] if id(t) in known else _data(t, level), one) for one in outputs)
    return found if isinstance(output, tuple) else found[0]


def _is_at(value: Any, level: VmapLevel) -> bool:
    return isinstance(value, TensorBase) and level_of(value) is level


def _known(given: Sequence[Any], data: Sequence[Any]) -> dict[int, Any]:
    """The data of batched tensors, by the id of these."""
    return {id(one): value for one, value in zip(given, data) if isinstance(one, TensorBase)}


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    plan, *data = inputs
    ctx.plan = plan
    with plan.level(*data) as level:
        given = plan.arguments(data, level)
        outputs = output if isinstance(output, tuple) else (output,)
        shown = [_shown(value, dim, given, data, level) for value, dim in zip(outputs, plan.out_dims)]
        known = {**_known(shown, outputs), **_known(given, data)}
        result = tuple(shown) if isinstance(output, tuple) else shown[0]
        plan.cls.setup_context(Context(ctx, level, known), tuple(given), result)


def _shown(output: Any, dim: Any, given: Sequence[Any], data: Sequence[Any], level: VmapLevel) -> Any:
    """An output for the user's `setup_context`: an argument, if it is one."""
    same = next((arg for arg, one in zip(given, data) if one is output and isinstance(one, TensorBase)), None)
    return _as_slices(output, dim, level) if same is None else same


def backward(ctx: Any, *grads: Any) -> Any:
    plan = ctx.plan
    with plan.level(*grads) as level:
        given = [_as_slices(grad, dim, level) for grad, dim in zip(grads, plan.out_dims)]
        cls = plan.cls
        found = backward_of(cls)(Context(ctx, level), *([given] if cls.boxed_grads_call else given))
        results = found if isinstance(found, tuple) else (found,)
        if len(results) < len(plan.dims) or any(one is not None for one in results[len(plan.dims) :]):
            raise RuntimeError(
                f"function {cls.__name__}Backward returned an incorrect number of gradients (expected "
                f"{len(plan.dims)}, got {len(results)}): backward returns one for each argument of forward, None "
                "where it has no gradient"
            )
        return (None, *(_gradient(result, dim, level) for result, dim in zip(results, plan.dims)))


def _gradient(result: Any, dim: Any, level: VmapLevel) -> Any:
    """The gradient of an argument; of one that is the same for all slices, their sum."""
    if not isinstance(result, TensorBase):
        return result
    if dim is None:
        return all_slices(result, level).sum(0) if level_of(result) is level else result
    return all_slices(result, level)


def jvp(ctx: Any, _: None, *tangents: Any) -> Any:
    plan = ctx.plan
    with plan.level(*tangents) as level:
        given = [_as_slices(tangent, dim, level) for tangent, dim in zip(tangents, plan.dims)]
        found = plan.cls.jvp(Context(ctx, level), *given)
        results = found if isinstance(found, tuple) else (found,)
        known = _known(given, tangents)
        out_dims = [*plan.out_dims, *[None] * (len(results) - len(plan.out_dims))]
        return tuple(_tangent(result, dim, known, level) for result, dim in zip(results, out_dims))


def _tangent(result: Any, dim: Any, known: dict[int, Any], level: VmapLevel) -> Any:
    if not isinstance(result, TensorBase) or id(result) in known:
        return known.get(id(result), result)
    return all_slices(result, level) if dim is not None else _data(result, level)


class Context:
    """The `ctx` of a user's method that is called with batched tensors, over that of a generated Function."""

    def __init__(self, inner: Any, level: VmapLevel, known: dict[int, Any] | None = None) -> None:
        vars(self).update(_inner=inner, _level=level, _known=known or {})

    def __getattr__(self, name: str) -> Any:
        attributes = self._inner.plan.attributes
        return attributes[name] if name in attributes else getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self._inner), name):
            setattr(self._inner, name, value)  # such as materialize_grads
        else:
            self._inner.plan.attributes[name] = value

    def set_materialize_grads(self, value: bool) -> None:
        self._inner.set_materialize_grads(value)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        return self._inner.needs_input_grad[1:]  # type: ignore[no-any-return]

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        in_forward = self._inner.saved_for_forward is not None
        dims = self._inner.plan.forward_dims if in_forward else self._inner.plan.saved_dims
        return tuple(self._in_slices(self._inner.saved_tensors, dims))

    def _in_slices(self, data: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
        note_history(self._level, data)
        return [_as_slices(one, dim, self._level) for one, dim in zip(data, dims)]

    def save_for_backward(self, *tensors: Any) -> None:
        self._inner.plan.saved_dims = self._dims_of(tensors)
        self._inner.save_for_backward(*map(self._data_of, tensors))

    def save_for_forward(self, *tensors: Any) -> None:
        self._inner.plan.forward_dims = self._dims_of(tensors)
        self._inner.save_for_forward(*map(self._data_of, tensors))

    def mark_dirty(self, *tensors: Any) -> None:
        self._inner.mark_dirty(*map(self._data_of, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._inner.mark_non_differentiable(*map(self._data_of, tensors))

    def _dims_of(self, tensors: tuple[Any, ...]) -> list[int | None]:
        return [0 if _is_at(tensor, self._level) else None for tensor in tensors]

    def _data_of(self, tensor: Any) -> Any:
        if not isinstance(tensor, TensorBase) or id(tensor) in self._known:
            return self._known.get(id(tensor), tensor)
        return _data(tensor, self._level)
