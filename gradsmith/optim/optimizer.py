"""`Optimizer`: parameter groups, states, hooks, and the dictionaries that all of it is saved as."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.observers.recorder import record_function
from gradsmith.runtime.optim.hooked_steps import hooked
from gradsmith.runtime.optim.updates import clear_gradients
from gradsmith.runtime.programs.python_calls import traced_step
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, set_grad_enabled
from gradsmith.runtime.switches.hooks import RemovableHandle, add_hook, new_table
from gradsmith.runtime.tensors.factories.creation import tensor

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Group: TypeAlias = dict[str, Any]
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
Closure: TypeAlias = Callable[[], Any]

_all_pre_hooks = new_table()
_all_post_hooks = new_table()

_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as a default: each parameter group has to say it


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimizer; see `Optimizer`."""
    return add_hook(_all_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimizer."""
    return add_hook(_all_post_hooks, hook)


def calls_closure_first(step: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `step` that calls its closure once, before anything else: in a program that comes before the step."""
    step.calls_closure_first = True  # type: ignore[attr-defined]
    return step


def _traced(step: Any, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    closure = args[0] if args else kwargs.get("closure")
    if closure is None or not hasattr(step, "calls_closure_first"):
        return traced_step(step, optimizer, args, kwargs)
    loss = loss_of(closure)
    traced_step(step, optimizer, (), {})
    return loss


class Optimizer:
    """Base class of all optimizers. A subclass defines `step`.

    Parameters
    ----------
    params : iterable
        Of tensors, of pairs of a name and a tensor, or of dictionaries with ``params`` and settings of their own.
        Their order must be the same in every run.
    defaults : dict
        Settings of groups that do not say otherwise.

    Attributes
    ----------
    param_groups : list of dict
        Each has ``params``, a list of tensors, and its settings.
    state : dict
        What the optimizer remembers of each tensor, a dictionary.
    defaults : dict

    Raises
    ------
    TypeError
        A parameter is no tensor, or `params` is a tensor or a set.
    ValueError
        There is no parameter, one is not a leaf, or one is in two groups.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class Descent(gs.optim.Optimizer):
    ...     @gs.no_grad()
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> w = gs.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = Descent([w], {"lr": 0.5})
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    _has_step_hooks = False
    _is_in_step = False
    _opt_called = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = hooked(  # type: ignore[method-assign]
                cls.step, _all_pre_hooks, _all_post_hooks, Optimizer._step_with_hooks, _traced
            )

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__name__}"
            )
        self.defaults = defaults
        self._make_tables()
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients again, and returns the loss.

        Returns
        -------
        What `closure` returned; None without one.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, default True
            Make each `.grad` None. Otherwise it is filled with zeros, and a step goes on with what it remembers.
        """
        clear_gradients(self.param_groups, set_to_none)

    # ---- groups

    def add_param_group(self, param_group: Group) -> None:
        """Optimize more parameters.

        Parameters
        ----------
        param_group : dict
            ``params`` and settings; those that are not there are the defaults.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        names, params = _names_and_tensors(param_group["params"])
        self._check_params(params)
        group = {**param_group, "params": params}
        if names:
            group["param_names"] = names
        self._put_defaults(group)
        self._check_against_groups(group)
        param_group.update(group)
        self.param_groups.append(param_group)

    def _check_params(self, params: list[Any]) -> None:
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    def _put_defaults(self, group: Group) -> None:
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)

    def _check_against_groups(self, group: Group) -> None:
        if len(set(group["params"])) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters: each step updates them once for "
                "every time that they are there",
                stacklevel=4,
            )
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if 'param_names' in group else 'without'} names to the optimizer"
                )
            if not set(group["params"]).isdisjoint(other["params"]):
                raise ValueError("some parameters appear in more than one parameter group")

    # ---- hooks

    def _make_tables(self) -> None:
        for name in _TABLES:
            if name not in self.__dict__:
                setattr(self, name, new_table())

    def _add_hook(self, table: str, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        hooks = getattr(self, table)
        others = dict(hooks)
        handle = add_hook(hooks, hook)
        if prepend:
            for key in others:
                hooks[key] = hooks.pop(key)
        return handle

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        The first of `args` is the optimizer. The hook may return other arguments, as a pair ``(args, kwargs)`` in which
        the optimizer is the first one too.
        """
        self._has_step_hooks = True
        return self._add_hook("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step, with the arguments that the step got."""
        self._has_step_hooks = True
        return self._add_hook("_optimizer_step_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict` does anything; before other such hooks with `prepend`."""
        return self._add_hook("_optimizer_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` with what `state_dict` returns; it may return another dictionary."""
        return self._add_hook("_optimizer_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before a dictionary is loaded; it may return another one."""
        return self._add_hook("_optimizer_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a dictionary has been loaded."""
        return self._add_hook("_optimizer_load_state_dict_post_hooks", hook, prepend)

    def _step_with_hooks(self, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self.__dict__
        args = (self, *args)  # hooks get what the function `step` is called with
        with record_function(f"Optimizer.step#{type(self).__name__}.step"):
            for hook in [*_all_pre_hooks.values(), *own["_optimizer_step_pre_hooks"].values()]:
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{hook} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            out = step(*args, **kwargs)
            for hook in [*own["_optimizer_step_post_hooks"].values(), *_all_post_hooks.values()]:
                hook(self, args, kwargs)
        return out

    def _patch_step_function(self) -> None:
        """Nothing left to be done: a class has its steps hooked when it is made. Wrappers of optimizers call it."""

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """Everything but the parameters, which are counted instead.

        Returns
        -------
        dict
            ``state`` has the states by the numbers of parameters, ``param_groups`` the settings of each group and the
            numbers of its parameters. Tensors are those of the optimizer, not copies.
        """
        for hook in self._tables("_optimizer_state_dict_pre_hooks"):
            hook(self)
        numbers = {id(p): i for i, p in reversed(list(enumerate(self._all_params())))}
        state = {numbers[id(p)] if isinstance(p, Tensor) else p: kept for p, kept in self.state.items()}
        groups = [
            _settings(group) | {"params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups
        ]
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._tables("_optimizer_state_dict_post_hooks"):
            found = _unless_none(hook(self, found), found)
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned, perhaps in another run.

        States are converted to the dtypes of the parameters and copied; those that are one number keep their dtype.

        Raises
        ------
        ValueError
            The groups are other ones.
        """
        state_dict = state_dict.copy()
        for hook in self._tables("_optimizer_load_state_dict_pre_hooks"):
            state_dict = _unless_none(hook(self, state_dict), state_dict)
        groups = copy.deepcopy(state_dict["param_groups"])
        self._check_groups(groups)
        params = dict(zip((number for group in groups for number in group["params"]), self._all_params()))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, kept in state_dict["state"].items():
            state[params.get(number, number)] = self._fitted(params[number], kept) if number in params else kept
        for group, own in zip(groups, self.param_groups):
            group["params"] = own["params"]
            if "param_names" in own:
                group.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._tables("_optimizer_load_state_dict_post_hooks"):
            hook(self)

    def _check_groups(self, groups: list[Group]) -> None:
        if len(groups) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(groups)}, and the optimizer has "
                f"{len(self.param_groups)}"
            )
        for i, (group, own) in enumerate(zip(groups, self.param_groups)):
            if len(group["params"]) != len(own["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {i} has {len(group['params'])} parameters there, and {len(own['params'])} here"
                )

    def _counts(self, name: Any) -> bool:
        """Is a state of this name a number, whose dtype is not that of its parameter?"""
        return bool(name == "step")

    def _fitted(self, param: Tensor, value: Any, name: Any = None) -> Any:
        """A copy of loaded states, with tensors in the dtype and on the device of their parameter."""
        if isinstance(value, Tensor):
            if self._counts(name) or not param.is_floating_point():
                return value.detach().clone()
            return value.detach().to(device=param.device, dtype=param.dtype, copy=True)
        if isinstance(value, dict):
            return {key: self._fitted(param, item, key) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._fitted(param, item) for item in value)
        return value

    def _all_params(self) -> Iterator[Tensor]:
        return (p for group in self.param_groups for p in group["params"])

    def _tables(self, name: str) -> list[Callable[..., Any]]:
        return list(getattr(self, name).values())

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_tables()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


# ---- helpers of all optimizers


def _settings(group: Group) -> Group:
    return {name: value for name, value in group.items() if name != "params"}


def counter(value: float) -> Tensor:
    """A state that is one number: float32, whatever the dtype of the parameter, unless float64 is the default dtype."""
    return tensor(value, dtype=get_default_dtype())


def loss_of(closure: Closure | None) -> Any:
    """Result of the closure, called with gradients enabled."""
    if closure is None:
        return None
    mode = is_grad_enabled()
    set_grad_enabled(True)
    try:
        return closure()
    finally:
        set_grad_enabled(mode)


def require_range(name: str, value: Any, is_valid: Any) -> None:
    if not is_valid:
        raise ValueError(f"Invalid {name}: {value}")


def require_betas(betas: Any) -> None:
    for i in range(2):
        require_range(f"beta parameter at index {i}", betas[i], 0.0 <= betas[i] < 1.0)


def require_rate(lr: Any) -> None:
    """A learning rate: at least zero, and a single number."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    require_range("learning rate", lr, lr >= 0.0)


def require_one_form(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """All steps are fused here; the arguments that say so must still not contradict each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _names_and_tensors(params: Any) -> tuple[list[str], list[Any]]:
    if isinstance(params, Tensor):
        return [], [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    found = list(params)
    names = [item[0] for item in found if isinstance(item, tuple)]
    if names and len(names) != len(found):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return names, [item[1] if isinstance(item, tuple) else item for item in found]


def _unless_none(value: Any, other: Any) -> Any:
    return other if value is None else value


# ---- what optimizers that are written for PyTorch import


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A step that is recorded if the optimizer is differentiable, and only then."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        mode = is_grad_enabled()
        set_grad_enabled(self.defaults["differentiable"])
        try:
            return func(self, *args, **kwargs)
        finally:
            set_grad_enabled(mode)

    return step


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether a step should be PyTorch's fused one, or its one over lists of tensors: neither, on the CPU."""
    return False, False


def _get_value(x: Any) -> Any:
    """The number in a tensor; anything else as it is."""
    return x.item() if isinstance(x, Tensor) else x
