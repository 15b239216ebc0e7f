"""The array API standard over tensors: ``x.__array_namespace__()`` gives this module.

Names, arguments and dtypes are the standard's, version 2024.12; tensors are gradsmith's own, and so are gradients.
Defaults of dtypes are those of gradsmith: `gradsmith.set_default_dtype` sets the floating one.

>>> import gradsmith as gs
>>> x = gs.tensor([1.0, 4.0], requires_grad=True)
>>> xp = x.__array_namespace__()
>>> xp.sum(xp.sqrt(x), axis=0, keepdims=True)
tensor([3.], grad_fn=<SumBackward1>)
"""

from math import e, inf, nan, pi

from gradsmith.array_api import fft as fft
from gradsmith.array_api import linalg as linalg
from gradsmith.array_api.creation import *  # noqa: F403
from gradsmith.array_api.creation import __all__ as _creation
from gradsmith.array_api.dtypes import *  # noqa: F403
from gradsmith.array_api.dtypes import __all__ as _dtypes
from gradsmith.array_api.elementwise import *  # noqa: F403
from gradsmith.array_api.elementwise import __all__ as _elementwise
from gradsmith.array_api.linear import *  # noqa: F403
from gradsmith.array_api.linear import __all__ as _linear
from gradsmith.array_api.manipulation import *  # noqa: F403
from gradsmith.array_api.manipulation import __all__ as _manipulation
from gradsmith.array_api.searching import *  # noqa: F403
from gradsmith.array_api.searching import __all__ as _searching
from gradsmith.array_api.statistics import *  # noqa: F403
from gradsmith.array_api.statistics import __all__ as _statistics
from gradsmith.array_api.versions import FOLLOWED as __array_api_version__
from gradsmith.runtime.arrays.dtypes import bool_ as bool
from gradsmith.version import OWN_VERSION as __version__

newaxis = None

__all__ = [
    "__array_api_version__", "__version__", "bool", "e", "fft", "inf", "linalg", "nan", "newaxis", "pi",
    *_creation, *_dtypes, *_elementwise, *_linear, *_manipulation, *_searching, *_statistics,
]  # fmt: skip
