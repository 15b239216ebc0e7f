"""Tools around the graph."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.utils import _foreach_utils as _foreach_utils
    from gradsmith.utils import _pytree as _pytree
    from gradsmith.utils import benchmark as benchmark
    from gradsmith.utils import checkpoint as checkpoint
    from gradsmith.utils import data as data
    from gradsmith.utils import dlpack as dlpack
    from gradsmith.utils import einops as einops
    from gradsmith.utils import flop_counter as flop_counter
    from gradsmith.utils import hooks as hooks
    from gradsmith.utils import opt_einsum as opt_einsum
    from gradsmith.utils import pytree as pytree

__all__ = ["benchmark", "checkpoint", "data", "dlpack", "flop_counter", "hooks", "pytree"]
_FOR_LIBRARIES = ("_foreach_utils", "_pytree")
_OPTIONAL = ("einops", "opt_einsum")  # which need a package that may not be there


def __getattr__(name: str) -> Any:
    """Modules that are imported when they are first used."""
    if name in (*__all__, *_FOR_LIBRARIES, *_OPTIONAL):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "model_zoo":  # it stands among modules for PyTorch's libraries
        return importlib.import_module("gradsmith.compat.torch.utils.model_zoo")
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
