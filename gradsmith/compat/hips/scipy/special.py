"""SciPy's `special` for arrays and boxes."""

import gradsmith.scipy.special as _ours
from gradsmith.compat.hips.scipy.functions import namespace as _namespace

__all__ = list(_ours.__all__)
__getattr__ = _namespace(_ours, globals())
