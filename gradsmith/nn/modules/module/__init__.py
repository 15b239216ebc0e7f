"""The class Module, one concern a file, and the hooks that hold for all modules."""

from gradsmith.nn.modules.module.calls import forward_unimplemented as _forward_unimplemented
from gradsmith.nn.modules.module.global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from gradsmith.nn.modules.module.loading import IncompatibleKeys as _IncompatibleKeys
from gradsmith.nn.modules.module.module import Module
from gradsmith.nn.modules.module.wording import indented as _addindent

__all__ = [
    "Module", "_IncompatibleKeys", "_addindent", "_forward_unimplemented", "register_module_backward_hook",
    "register_module_buffer_registration_hook", "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip
