"""`load_state_dict`: a state goes into the parameters and buffers of a module and of all in it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module.saving import EXTRA_STATE, Saving
from gradsmith.nn.parameter import Parameter, is_lazy


class IncompatibleKeys(NamedTuple):
    """Names that the module has and the state has not, and the other way around."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Loading(Saving):
    """Taking a state; saving.py makes it."""

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; defined by classes that define that one."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. A class whose state has "
            "something besides tensors defines get_extra_state() and set_extra_state()."
        )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy a state into the parameters and buffers of this module and of all in it.

        Parameters
        ----------
        state_dict : dict
            Name -> tensor, as `state_dict()` gives it. It is not changed.
        strict : bool, optional
            Whether the names must be exactly those of the module.
        assign : bool, optional
            Take the tensors themselves as parameters and buffers, with their dtypes, and copy nothing.

        Returns
        -------
        tuple
            `missing_keys` and `unexpected_keys`, lists of names.

        Raises
        ------
        TypeError
            `state_dict` is no mapping.
        RuntimeError
            Names, shapes or values do not fit; the message lists all of them. What fits was taken.

        Examples
        --------
        >>> import gradsmith as gs
        >>> from gradsmith import nn
        >>> nn.Linear(2, 1).load_state_dict({"weight": gs.ones(1, 2), "bias": gs.zeros(1)})
        <All keys matched successfully>
        >>> nn.Linear(2, 1).load_state_dict({"weight": gs.ones(2, 2)})
        Traceback (most recent call last):
            ...
        RuntimeError: Error(s) in loading state_dict for Linear:
            Missing key(s) in state_dict: "bias".
            size mismatch for weight: copying a param with shape (2, 2) from checkpoint, the shape in current model is (1, 2).
        """  # noqa: E501
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        task = _Task(state_dict, assign)
        task.load(self, task.state, "")
        errors = ([*_key_errors(task)] if strict else []) + task.errors
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return IncompatibleKeys(task.missing, task.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this module's own part of a state, and note what does not fit; classes may do it otherwise."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            if prefix + name in state_dict:
                error_msgs += _taken(self, name, tensor, prefix + name, state_dict[prefix + name], assign)
            elif strict:
                missing_keys.append(prefix + name)
        self._take_extra_state(state_dict, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys += self._strangers(state_dict, prefix, own)

    def _take_extra_state(
        self, state_dict: Any, key: str, strict: bool, missing_keys: list[str], unexpected_keys: list[str]
    ) -> None:
        takes_some = type(self).set_extra_state is not Loading.set_extra_state
        if takes_some and key in state_dict:
            self.set_extra_state(state_dict[key])
        elif strict and takes_some:
            missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _strangers(self, state_dict: Any, prefix: str, own: Any) -> Iterator[str]:
        """Names of the state under `prefix` that are neither the module's own nor those of a module in it."""
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA_STATE:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else own):
                    yield key


class _Task:
    """One run of `load_state_dict`: the state, and what was found not to fit."""

    def __init__(self, state_dict: Mapping[str, Any], assign: bool) -> None:
        self.metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)  # hooks may change it
        if self.metadata is not None:
            state._metadata = self.metadata
        self.state = state
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, state: Any, prefix: str) -> None:
        local_metadata = dict((self.metadata or {}).get(prefix[:-1], {}))
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local_metadata, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                self.load(child, OrderedDict((k, v) for k, v in state.items() if k.startswith(inner)), inner)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, IncompatibleKeys(self.missing, self.unexpected)) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )


def _key_errors(task: _Task) -> Iterator[str]:
    for what, names in (("Missing", task.missing), ("Unexpected", task.unexpected)):
        if names:
            listed = ", ".join(f'"{name}"' for name in names)
            yield f"{what} key(s) in state_dict: {listed}. "


def _taken(module: Any, name: str, own: Any, key: str, given: Any, assign: bool) -> list[str]:
    """Let `own`, a parameter or buffer, have the values of `given`; what went wrong."""
    if not isinstance(given, Tensor):
        return [
            f'While copying the parameter named "{key}", expected gradsmith.Tensor or Tensor-like object from '
            f"checkpoint but received {type(given)}"
        ]
    if not is_lazy(own):
        if own.ndim == 0 and given.shape == (1,):
            given = given[0]  # numbers in states of old programs
        if given.shape != own.shape:
            return [
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {own.shape}."
            ]
    if own.is_meta and not given.is_meta and not assign:
        _warn_no_data(key)
    try:
        with no_grad():
            if assign:
                setattr(module, name, _assignable(own, given))
            elif not (is_lazy(own) and is_lazy(given)):
                own.copy_(given)
    except Exception as error:
        return [
            f'While copying the parameter named "{key}", whose dimensions in the model are {own.size()} and whose '
            f"dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
        ]
    return []


def _assignable(own: Any, given: Tensor) -> Tensor:
    if not isinstance(own, Parameter):
        return given
    if isinstance(given, Parameter):
        return given.requires_grad_(own.requires_grad)
    return Parameter(given, requires_grad=own.requires_grad)  # type: ignore[no-any-return]


def _warn_no_data(key: str) -> None:
    warnings.warn(
        f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
        "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
        "corresponding key in the module instead of copying them in place?)",
        stacklevel=2,
    )
