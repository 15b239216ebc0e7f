"""Tools for parameters and their gradients: clipping, vectors of all parameters, parametrizations."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.on_demand import show_all_names
from gradsmith.names.other_modules import add_other_name

if TYPE_CHECKING:
    from gradsmith.nn.utils import parametrizations as parametrizations
    from gradsmith.nn.utils import parametrize as parametrize
    from gradsmith.nn.utils import prune as prune
    from gradsmith.nn.utils import rnn as rnn
    from gradsmith.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
    from gradsmith.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
    from gradsmith.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
    from gradsmith.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
    from gradsmith.nn.utils.clip_grad import get_total_norm as get_total_norm
    from gradsmith.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
    from gradsmith.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
    from gradsmith.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
    from gradsmith.nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
    from gradsmith.nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
    from gradsmith.nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
    from gradsmith.nn.utils.init import skip_init as skip_init
    from gradsmith.nn.utils.spectral_norms import remove_spectral_norm as remove_spectral_norm
    from gradsmith.nn.utils.spectral_norms import spectral_norm as spectral_norm
    from gradsmith.nn.utils.weight_norms import remove_weight_norm as remove_weight_norm
    from gradsmith.nn.utils.weight_norms import weight_norm as weight_norm

# The functions of each file.
_FUNCTIONS = {
    "clip_grad": (
        "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    ),
    "convert_parameters": ("parameters_to_vector", "vector_to_parameters"),
    "fusion": ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"),
    "init": ("skip_init",),
    "spectral_norms": ("remove_spectral_norm", "spectral_norm"),
    "weight_norms": ("remove_weight_norm", "weight_norm"),
}  # fmt: skip
_FILE_OF = {name: file for file, names in _FUNCTIONS.items() for name in names}
_MODULES = ("parametrizations", "parametrize", "prune", "rnn")

__all__ = [*_FILE_OF, *_MODULES]

# PyTorch has a module of the name of each function; in this one, the name is the function's.
add_other_name(f"{__name__}.spectral_norm", f"{__name__}.spectral_norms")
add_other_name(f"{__name__}.weight_norm", f"{__name__}.weight_norms")


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use."""
    if name in _FILE_OF:
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_FILE_OF[name]}"), name)
        return value
    if name == "stateless":  # it stands among modules for PyTorch's libraries
        return importlib.import_module("gradsmith.compat.torch.nn.utils.stateless")
    if name in (*_MODULES, *_FUNCTIONS):
        return importlib.import_module(f"{__name__}.{name}")
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


show_all_names(__name__)
