"""Options of PyTorch's tracer: any may be set, and none means anything here.

>>> import gradsmith as gs
>>> gs._dynamo.config.cache_size_limit = 64
>>> with gs._dynamo.config.patch(verbose=True):
...     pass
"""

import contextlib
from typing import Any

accumulated_cache_size_limit = accumulated_recompile_limit = 256
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
optimize_ddp: Any = True
suppress_errors = False
verbose = False


def patch(*options: Any, **values: Any) -> contextlib.ContextDecorator:
    """A block, or a decorator, in which options have other values; nothing here."""
    return _Nothing()


class _Nothing(contextlib.ContextDecorator):
    def __enter__(self) -> None: ...

    def __exit__(self, *raised: Any) -> None: ...
