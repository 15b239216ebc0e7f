"""Special functions, with PyTorch's names and arguments: ``gs.special.gammaln(x)``."""

from gradsmith.generated.special_namespace import *  # noqa: F403
from gradsmith.generated.special_namespace import __all__ as __all__
