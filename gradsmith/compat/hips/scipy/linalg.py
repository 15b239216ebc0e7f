"""SciPy's `linalg` for arrays and boxes."""

import gradsmith.scipy.linalg as _ours
from gradsmith.compat.hips.scipy.functions import namespace as _namespace

__all__ = list(_ours.__all__)
__getattr__ = _namespace(_ours, globals())
