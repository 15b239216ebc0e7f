"""The switches of ``torch.backends``: libraries that are not used here, and settings that may be set without effect."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.backends import cuda as cuda
    from gradsmith.backends import cudnn as cudnn
    from gradsmith.backends import mkl as mkl
    from gradsmith.backends import mkldnn as mkldnn
    from gradsmith.backends import mps as mps
    from gradsmith.backends import openmp as openmp
    from gradsmith.backends import opt_einsum as opt_einsum

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]


def __getattr__(name: str) -> Any:
    """Import the settings of a library on first use."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
