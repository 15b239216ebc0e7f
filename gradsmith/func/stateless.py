"""Calls of an object with other tensors in the place of its parameters and buffers.

A module is anything that can be called and has `named_parameters` and `named_buffers`, or whose attributes, or the
attributes of its attributes, are tensors. It is used by one call at a time: another thread would see the other tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from gradsmith.generated import stack
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.switches.transformed import is_transforming
from gradsmith.runtime.tensors.factories.python_data import is_tensor

Named = dict[str, Any]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors as its parameters and buffers, for this call only.

    Parameters
    ----------
    module : callable
        Has `named_parameters` and `named_buffers`, or tensors as attributes.
    parameter_and_buffer_dicts : dict, or tuple or list of dict
        Tensors by name, or None. Dots lead to attributes of attributes: ``"layer.weight"``. In a single dict, tensors
        that the module assigns to such an attribute take the place of those that were given.
    args : object, optional
        Positional arguments of the call, a tuple; anything else is the only one.
    kwargs : dict, optional
        Arguments by name.
    tie_weights : bool
        A tensor that the module has under several names is replaced under all of them.
    strict : bool
        Raise unless the names are exactly those of the module.

    Returns
    -------
    object
        What the module returns.

    Raises
    ------
    ValueError
        A name comes twice, or tied names get different tensors.
    TypeError
        Something else than a tensor or None is given for a name.
    RuntimeError
        With `strict`: names are missing or unknown.
    AttributeError
        The module has nothing at a dotted name.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> class Scale:
    ...     def __init__(self):
    ...         self.weight = gs.tensor(2.0)
    ...     def __call__(self, x):
    ...         return self.weight * x
    >>> model = Scale()
    >>> func.functional_call(model, {"weight": gs.tensor(3.0)}, gs.tensor(5.0))
    tensor(15.)
    >>> def loss(parameters, x):
    ...     return func.functional_call(model, parameters, x) ** 2
    >>> func.grad(loss)({"weight": gs.tensor(2.0)}, gs.tensor(5.0))
    {'weight': tensor(100.)}
    >>> model.weight
    tensor(2.)
    """
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with with_other_tensors(module, parameter_and_buffer_dicts, tie_weights=tie_weights, strict=strict):
        return module(*positional, **({} if kwargs is None else kwargs))


@contextmanager
def with_other_tensors(
    module: Any, parameter_and_buffer_dicts: Any, *, tie_weights: bool, strict: bool
) -> Iterator[None]:
    """A block in which a module has other tensors as its parameters and buffers; see `functional_call`."""
    given = _merged(parameter_and_buffer_dicts)
    own = _tensors_of(module) if tie_weights or strict else {}
    if tie_weights:
        given = _with_tied(given, own)
    if strict:
        _require_all(module, given, own)
    left: Named = {}
    try:
        with ExitStack() as replaced:
            for name, tensor in given.items():
                replaced.enter_context(_replaced(module, name, tensor, left))
            yield
    finally:
        if isinstance(parameter_and_buffer_dicts, MutableMapping):
            _take_back(parameter_and_buffer_dicts, left)


def _take_back(dicts: MutableMapping[str, Any], left: Named) -> None:
    """Store the tensors that the module assigned during the call, such as a state, under the names of those given."""
    for name, tensor in left.items():
        if name in dicts and dicts[name] is not tensor:
            dicts[name] = tensor


def _merged(dicts: Any) -> Named:
    if isinstance(dicts, Mapping):
        dicts = (dicts,)
    elif not isinstance(dicts, (list, tuple)):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts).__name__}"
        )
    if not all(isinstance(names, Mapping) for names in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for one in dicts for name in one]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    merged = {name: tensor for one in dicts for name, tensor in one.items()}
    for name, tensor in merged.items():
        if not (tensor is None or is_tensor(tensor)):
            raise TypeError(f"functional_call: {name!r} is given a {type(tensor).__name__}; expected a Tensor or None")
    return merged


def _require_all(module: Any, given: Named, own: Named) -> None:
    lines = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", given.keys() - own.keys()), ("Missing", own.keys() - given.keys()))
        if names
    ]
    if lines:
        raise RuntimeError("\n\t".join([f"Error(s) in reparametrizing for {type(module).__name__}:", *lines]))


def _with_tied(given: Named, own: Named) -> Named:
    """`given` under all names of the tensors that they replace."""
    names_of: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names_of.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for names in names_of.values():
        values = [given[name] for name in names if name in given]
        if any(value is not values[0] for value in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        found.update(dict.fromkeys(names, values[0]) if values else {})
    return found


# ---- the tensors of a module


def _tensors_of(module: Any) -> Named:
    """Parameters and buffers by name, with all names of each."""
    parameters, buffers = _state_of(module)
    return {**parameters, **buffers}


def _state_of(module: Any) -> tuple[Named, Named]:
    if hasattr(module, "named_parameters"):
        return _all_named(module.named_parameters), _all_named(getattr(module, "named_buffers", dict))
    found = dict(_attributes(module, "", set()))
    learned = {name: tensor for name, tensor in found.items() if tensor.requires_grad}
    return learned, {name: tensor for name, tensor in found.items() if name not in learned}


def _all_named(listing: Callable[..., Any]) -> Named:
    try:
        return dict(listing(remove_duplicate=False))
    except TypeError:  # it takes no such argument
        return dict(listing())


def _attributes(owner: Any, prefix: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    seen.add(id(owner))
    for name, value in getattr(owner, "__dict__", {}).items():
        if is_tensor(value):
            yield prefix + name, value
        elif not isinstance(value, type) and id(value) not in seen:
            yield from _attributes(value, f"{prefix}{name}.", seen)


# ---- replacement

_ABSENT = object()


@contextmanager
def _replaced(module: Any, name: str, tensor: Any, left: Named) -> Iterator[None]:
    """Another tensor under a dotted name, until the end of the block; what is there at the end gets into `left`."""
    *path, last = name.split(".")
    owner = module
    for step in path:
        owner = _attribute(owner, step)
    if not hasattr(module, "named_parameters"):
        _attribute(owner, last)  # a plain object ignores a name that it does not know
    if _is_property(owner, last):
        with _assigned(owner, last, tensor):
            yield
        return
    table = _table_of(owner, last, tensor)
    before = table.get(last, _ABSENT)
    table[last] = tensor
    try:
        yield
    finally:
        left[name] = table.get(last, tensor)
        if before is _ABSENT:
            table.pop(last, None)
        else:
            table[last] = before


def _attribute(owner: Any, name: str) -> Any:
    if not hasattr(owner, name):
        raise AttributeError(f"functional_call: {type(owner).__name__} has no attribute `{name}`")
    return getattr(owner, name)


def _table_of(owner: Any, name: str, tensor: Any) -> Any:
    """Where an object keeps the attribute: modules may keep parameters and buffers in dicts of their own."""
    for table in ("_parameters", "_buffers"):
        if name in getattr(owner, table, ()):
            return getattr(owner, table)
    if isinstance(tensor, Parameter) and hasattr(owner, "_parameters") and not hasattr(owner, name):
        return owner._parameters
    return _Slots(owner) if not hasattr(owner, "__dict__") else owner.__dict__


def _is_property(owner: Any, name: str) -> bool:
    """Would the class find its own value, whatever the object has under this name?"""
    return hasattr(getattr(type(owner), name, None), "__set__")


@contextmanager
def _assigned(owner: Any, name: str, tensor: Any) -> Iterator[None]:
    """Another value of a property, until the end of the block.

    That of a parametrized tensor goes through `right_inverse`, which changes the originals: these are put back, since
    the former value would not always lead to them again.
    """
    before = getattr(owner, name)
    chain = getattr(owner, "parametrizations", {})
    kept = None
    if name in chain:
        _refuse_in_transforms(owner, name)
        kept = _kept_tensors(chain[name])
    try:
        setattr(owner, name, tensor)
        yield
    finally:
        if kept is None:
            setattr(owner, name, before)
        else:
            _put_back(kept)


def _refuse_in_transforms(owner: Any, name: str) -> None:
    """Values are written to originals without a record, so no derivative would reach the tensor that is given."""
    if is_transforming():
        raise RuntimeError(
            f"functional_call: {name!r} of {type(owner).__name__} is parametrized. In a function that is transformed, "
            f"give its original instead: 'parametrizations.{name}.original'"
        )


def _kept_tensors(module: Any) -> list[tuple[dict[str, Any], str, Any, Any]]:
    tables = [table for one in module.modules() for table in (one._parameters, one._buffers)]
    return [(table, name, own, own.data) for table in tables for name, own in table.items() if own is not None]


def _put_back(kept: list[tuple[dict[str, Any], str, Any, Any]]) -> None:
    for table, name, own, data in kept:
        table[name] = own
        own.data = data


class _Slots:
    """Attributes of an object that has no `__dict__`."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def get(self, name: str, default: Any) -> Any:
        return getattr(self.owner, name, default)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self.owner, name, value)

    def pop(self, name: str, default: Any) -> None:
        if hasattr(self.owner, name):
            delattr(self.owner, name)


# ---- ensembles


def stack_module_state(models: Sequence[Any]) -> tuple[Named, Named]:
    """Parameters and buffers of several modules of one kind, stacked: for `vmap` of `functional_call`.

    Parameters
    ----------
    models : sequence of callable
        Modules of one class, as `functional_call` takes them. Of a module without `named_parameters`, tensors that
        require grad are parameters and all others are buffers.

    Returns
    -------
    params : dict
        The parameters of all, stacked along dimension 0: new leaves, which require grad where those of the modules do.
    buffers : dict
        The same for the buffers.

    Raises
    ------
    RuntimeError
        There is no module, or they differ in class, in training mode, in names, or in what requires grad.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> class Scale:
    ...     def __init__(self, weight):
    ...         self.weight = gs.tensor(weight, requires_grad=True)
    ...     def __call__(self, x):
    ...         return self.weight * x
    >>> models = [Scale(2.0), Scale(3.0)]
    >>> params, buffers = func.stack_module_state(models)
    >>> params
    {'weight': tensor([2., 3.], requires_grad=True)}
    >>> def call(params, buffers, x):
    ...     return func.functional_call(models[0], (params, buffers), x)
    >>> func.vmap(call, in_dims=(0, 0, None))(params, buffers, gs.tensor(5.0))
    tensor([10., 15.], grad_fn=<MulBackward0>)
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    first = models[0]
    if not all(type(model) is type(first) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({getattr(model, "training", None) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    params, buffers = zip(*map(_state_of, models))
    return _stacked(params), _stacked(buffers)


def _stacked(states: Sequence[Named]) -> Named:
    for state in states:
        if state.keys() != states[0].keys():
            raise RuntimeError(
                f"stack_module_state: Expected all models to have the same tensors, got {sorted(states[0])} and "
                f"{sorted(state)}."
            )
    return {name: _stacked_leaf(name, [state[name] for state in states]) for name in states[0]}


def _stacked_leaf(name: str, tensors: Sequence[Any]) -> Any:
    if len({tensor.requires_grad for tensor in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack([tensor.detach() for tensor in tensors]).requires_grad_(tensors[0].requires_grad)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let the batch normalizations of a module keep no running statistics, in place.

    They would be changed by each call, which neither `vmap` nor a gradient of a function can follow.

    Parameters
    ----------
    root : nn.Module

    Returns
    -------
    nn.Module
        `root` itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> model = gs.nn.Sequential(gs.nn.Linear(2, 3), gs.nn.BatchNorm1d(3))
    >>> gs.func.replace_all_batch_norm_modules_(model)[1]
    BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=False)
    """
    from gradsmith.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
