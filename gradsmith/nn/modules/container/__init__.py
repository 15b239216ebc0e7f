"""Modules that hold modules or parameters, in order or by name."""

from gradsmith.nn.modules.container.module_dict import ModuleDict
from gradsmith.nn.modules.container.module_list import ModuleList
from gradsmith.nn.modules.container.parameter_dict import ParameterDict
from gradsmith.nn.modules.container.parameter_list import ParameterList
from gradsmith.nn.modules.container.sequential import Container, Sequential

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
