"""Modules whose parameters get their shapes from the first input."""

from __future__ import annotations

from typing import Any

from gradsmith.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """First base of a lazy class: parameters are `UninitializedParameter` until the first call, or a state is loaded.

    A class over it defines ``initialize_parameters(*args)``, which is called with the input of the first call, and
    materializes all parameters and buffers. Then the module becomes one of the class `cls_to_become`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyLinear(3)
    >>> layer.weight
    <UninitializedParameter>
    >>> layer(gs.ones(1, 2)).shape
    (1, 3)
    >>> layer
    Linear(in_features=2, out_features=3, bias=True)
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _lazy_load_hook(
        self: Any,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        """Give what is not initialized yet the shapes of the state that is about to be loaded."""
        for name, own in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(own) and given is not None and not is_lazy(given):
                own.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize parameters and buffers for this input; to be written by classes over this one."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Is there a parameter or buffer whose shape is not known?"""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        """Before the first call: become an ordinary module."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
