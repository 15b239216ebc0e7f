"""gradsmith under the name ``torch``, for libraries that import PyTorch."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Alias(Loader):
    """Gives a module of gradsmith under another name; nothing is run again."""

    def __init__(self, own_name: str) -> None:
        self.own_name = own_name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.own_name)
        self._spec, self._loader = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The import has given the module the spec of its other name: give the own one back."""
        module.__spec__, module.__loader__ = self._spec, self._loader


class _Finder(MetaPathFinder):
    """Finds ``torch.nn`` where ``gradsmith.nn`` is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_torch(fullname):
            return None
        own_name = f"gradsmith{fullname.removeprefix('torch')}"
        if importlib.util.find_spec(own_name) is None:
            raise ModuleNotFoundError(_problem(fullname), name=fullname)
        return ModuleSpec(fullname, _Alias(own_name), is_package=True)


def _problem(name: str) -> str:
    from gradsmith.names.missing import reason_for

    parent, _, last = name.rpartition(".")
    return f"No module named {name!r}. {reason_for(parent, last) or f'{name} has no counterpart in gradsmith.'}"


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


@contextlib.contextmanager
def as_torch() -> Iterator[ModuleType]:
    """Within the block, ``import torch`` gives gradsmith, and ``torch.nn``, ``torch.optim`` and so on its modules.

    Libraries that are imported in the block keep what they imported, and compute with gradsmith afterwards too. They
    stay in `sys.modules`, ``torch`` does not: what a library imports later, inside its functions, needs a block again.
    Whether they find all they need is another question; ``python -m gradsmith port`` answers it for their files.

    Yields
    ------
    module
        gradsmith.

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
    >>> torch is gs, F.relu(torch.tensor([-1.0, 2.0]))
    (True, tensor([0., 2.]))
    """
    outer = {name: module for name, module in sys.modules.items() if _is_torch(name)}
    if "torch" in outer and outer["torch"].__name__ != "gradsmith":
        raise RuntimeError(
            "as_torch(): PyTorch itself has been imported in this process, as 'torch'. Start a process in which it is "
            "not, and open the block before anything imports torch"
        )
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("torch")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_torch(name) and name not in outer]:
            del sys.modules[name]
