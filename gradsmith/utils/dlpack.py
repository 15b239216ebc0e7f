"""Memory shared with other libraries by DLPack.

>>> import gradsmith as gs
>>> from gradsmith.utils.dlpack import from_dlpack, to_dlpack
>>> x = gs.zeros(2)
>>> from_dlpack(to_dlpack(x)).add_(1)
tensor([1., 1.])
>>> x
tensor([1., 1.])
"""

from gradsmith.names.missing import raise_missing
from gradsmith.runtime.tensors.factories.exchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
__getattr__ = raise_missing(__name__)
