"""gradsmith under the name ``torch``, for libraries that import PyTorch."""

from __future__ import annotations

import importlib
import sys

from gradsmith.compat.aliases import Other, UnderName
from gradsmith.names.on_demand import show_all_names, show_imported_names
from gradsmith.version import OWN_VERSION

# Modules in whose `__dict__` libraries look for names that are imported on first use; see gradsmith/names/on_demand.py.
_LOOKED_THROUGH = ("gradsmith.nn", "gradsmith.nn.functional")


# Packages that come with PyTorch, and what they are here.
_COMPANIONS = {"functorch": "gradsmith.compat.functorch"}


def _reason_for(parent: str, name: str) -> str | None:
    from gradsmith.names.missing import reason_for

    return reason_for(parent, name)


def _introduce(name: str, version: str) -> None:
    """Let the package tell this name and this version, which libraries compare with what they have imported."""
    sys.modules["gradsmith"].__name__ = name
    for module in ("gradsmith", "gradsmith.version"):
        sys.modules[module].__version__ = version  # type: ignore[attr-defined]


class as_torch(UnderName):
    """Within the block, ``import torch`` gives gradsmith, and ``torch.nn``, ``torch.optim`` and so on its modules.
    ``functorch``, which comes with PyTorch, gives `gradsmith.compat.functorch`.

    Libraries that are imported in the block keep what they imported, and compute with gradsmith afterwards too. They
    stay in `sys.modules`, ``torch`` does not: what a library imports later, inside its functions, needs a block again.
    ``torch.__name__`` is "torch" and ``torch.__version__`` that of the PyTorch whose names gradsmith follows, for all
    threads as long as a block is open. Whether they find all they need is another question; ``python -m gradsmith
    port`` answers it for their files.

    Raises
    ------
    RuntimeError
        When PyTorch itself has been imported already: two libraries cannot have one name.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.compat.as_torch():
    ...     import torch
    ...     import torch.nn.functional as F
    ...     print(torch.__version__)
    2.13.0
    >>> torch is gs, F.relu(torch.tensor([-1.0, 2.0]))
    (True, tensor([0., 2.]))
    """

    other = Other("torch", ("gradsmith", "gradsmith.compat.torch"), "as_torch", "PyTorch", _reason_for, _COMPANIONS)

    def _begin(self) -> None:
        from gradsmith.compat.torch.torch_version import __version__ as torch_version

        for module in _LOOKED_THROUGH:
            importlib.import_module(module)
            show_all_names(module)
        _introduce("torch", torch_version)

    def _end(self) -> None:
        _introduce("gradsmith", OWN_VERSION)
        for module in _LOOKED_THROUGH:
            show_imported_names(module)
