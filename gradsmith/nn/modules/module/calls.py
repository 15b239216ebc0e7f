"""Calls of a module: `forward`, and the hooks around it."""

from __future__ import annotations

import warnings
from typing import Any

from gradsmith.nn.modules.module.global_hooks import GLOBAL
from gradsmith.nn.modules.module.registry import Registry
from gradsmith.runtime.switches.lazy_modules import LazyModule
from gradsmith.runtime.tensors.module_calls import set_hooks

compiler: Any = LazyModule("gradsmith.compiler")


def forward_unimplemented(self: Any, *input: Any) -> Any:
    """The `forward` of a module whose class has none."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Calls(Registry):
    """A call without hooks is a call of `forward`; see module_calls.pyx."""

    forward: Any = forward_unimplemented

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have this module run as a program; takes the arguments of `gradsmith.compile`."""
        compiler.compile_module_in_place(self, *args, **kwargs)


class HookedCall:
    """One call of a module that has hooks."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.output: Any = None
        self.called: set[int] = set()  # forward hooks that have been called

    def run(self) -> Any:
        try:
            self._call_pre_hooks()
            self._forward()
        except Exception:
            self._call_remaining_hooks()
            raise
        return self.output

    def _call_pre_hooks(self) -> None:
        with_kwargs = self.module._forward_pre_hooks_with_kwargs
        for number, hook in (*GLOBAL.forward_pre.items(), *self.module._forward_pre_hooks.items()):
            if number in with_kwargs:
                self._replace_arguments(hook(self.module, self.args, self.kwargs))
                continue
            instead = hook(self.module, self.args)
            if instead is not None:
                self.args = instead if isinstance(instead, tuple) else (instead,)

    def _replace_arguments(self, instead: Any) -> None:
        if instead is None:
            return
        if not isinstance(instead, tuple) or len(instead) != 2:
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {instead}."
            )
        self.args, self.kwargs = instead

    def _forward(self) -> None:
        from gradsmith.nn.modules.module.backward_hooks import BackwardHooks, add_plain_hooks, hooks_of

        full, plain, before = hooks_of(self.module)
        around = BackwardHooks(self.module, full, before) if full or before else None
        if around is not None:
            self.args = around.enter(self.args)
        self.output = self.module.forward(*self.args, **self.kwargs)
        for number, hook in self._forward_hooks():
            self.called.add(number)
            self._call_forward_hook(number, hook)
        if around is not None:
            self.output = around.leave(self.output)
        if plain:
            add_plain_hooks(self.module, plain, self.args, self.output)

    def _forward_hooks(self) -> tuple[tuple[int, Any], ...]:
        return (*GLOBAL.forward.items(), *self.module._forward_hooks.items())

    def _call_forward_hook(self, number: int, hook: Any) -> None:
        if number in self.module._forward_hooks_with_kwargs or number in GLOBAL.forward_with_kwargs:
            instead = hook(self.module, self.args, self.kwargs, self.output)
        else:
            instead = hook(self.module, self.args, self.output)
        self.output = self.output if instead is None else instead

    def _call_remaining_hooks(self) -> None:
        """After an error: the hooks that are always called."""
        always = {**GLOBAL.forward_always_called, **self.module._forward_hooks_always_called}
        for number, hook in self._forward_hooks():
            if number not in always or number in self.called:
                continue
            try:
                self._call_forward_hook(number, hook)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=3,
                )


def _call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return HookedCall(module, args, kwargs).run()


set_hooks(GLOBAL.calls, _call_with_hooks)
