"""Which versions of the array API standard the namespace follows."""

from __future__ import annotations

import importlib
from types import ModuleType

FOLLOWED = "2024.12"
_ALSO = ("2021.12", "2022.12", "2023.12")  # whose programs run unchanged


def namespace_of(api_version: str | None = None) -> ModuleType:
    """The namespace, if it follows a version of the standard: what `Tensor.__array_namespace__` gives.

    Raises
    ------
    ValueError
        That version is not followed.
    """
    if api_version is not None and api_version not in (*_ALSO, FOLLOWED):
        raise ValueError(
            f"__array_namespace__(): version {api_version!r} of the array API standard is not followed; these are: "
            f"{', '.join((*_ALSO, FOLLOWED))}"
        )
    return importlib.import_module("gradsmith.array_api")
