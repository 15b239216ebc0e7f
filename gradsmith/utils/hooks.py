"""The handle that `register_forward_hook` and its like return, under the name of ``torch.utils.hooks``."""

from gradsmith.names.missing import raise_missing
from gradsmith.runtime.switches.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
__getattr__ = raise_missing(__name__)
