"""Tools around the graph."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.utils import checkpoint as checkpoint
    from gradsmith.utils import data as data
    from gradsmith.utils import dlpack as dlpack
    from gradsmith.utils import einops as einops
    from gradsmith.utils import opt_einsum as opt_einsum
    from gradsmith.utils import pytree as pytree

__all__ = ["checkpoint", "data", "dlpack", "pytree"]
_OPTIONAL = ("einops", "opt_einsum")  # which need a package that may not be there


def __getattr__(name: str) -> Any:
    """Modules that are imported when they are first used."""
    if name in __all__ or name in _OPTIONAL:
        return importlib.import_module(f"{__name__}.{name}")
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
