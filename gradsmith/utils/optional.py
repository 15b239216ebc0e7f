"""Packages that gradsmith works with and does not need."""

from __future__ import annotations

import importlib
from types import ModuleType


def required(extra: str, user: str, module: str) -> ModuleType:
    """A module of an optional package.

    Parameters
    ----------
    extra : str
        The extra of gradsmith that installs the package.
    user : str
        What needs it, for the message.
    module : str
        The module.

    Raises
    ------
    ModuleNotFoundError
        The package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f"{user} needs {package}, which is not installed: pip install gradsmith[{extra}]", name=error.name
        ) from error
