"""Special functions, with PyTorch's names and arguments: ``gs.special.gammaln(x)``."""

from typing import Any

from gradsmith.generated.special_namespace import *  # noqa: F403
from gradsmith.generated.special_namespace import __all__ as __all__


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
