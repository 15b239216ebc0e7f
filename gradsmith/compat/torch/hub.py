"""``torch.hub``: names that libraries import for models with weights from the net. Nothing is downloaded.

Where files would be kept is known, so that weights which are there already are found. Weights in PyTorch's files are
read by ``gradsmith.load``.
"""

from __future__ import annotations

import os
import re
from typing import Any, NoReturn
from urllib.parse import urlparse

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir", "urlparse"]

# The beginning of a file's digest, in its name.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")

_chosen: dict[str, str] = {}


def get_dir() -> str:
    """The folder for files from the net: as set, or ``$TORCH_HOME/hub``, or ``torch/hub`` in the user's cache."""
    return _chosen.get("dir") or os.path.join(_get_torch_home(), "hub")


def set_dir(d: Any) -> None:
    """Choose the folder that `get_dir` gives."""
    _chosen["dir"] = os.path.expanduser(d)


def _get_torch_home() -> str:
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The weights in a file that has been downloaded before.

    Parameters
    ----------
    url : str
        Its last part is the name of the file.
    model_dir : str, optional
        The folder of the file; ``checkpoints`` in that of `get_dir` when none is given.
    map_location, weights_only
        As of `gradsmith.load`.
    progress, check_hash
        Without effect, as nothing is downloaded.
    file_name : str, optional
        The name of the file, if not that of the URL.

    Raises
    ------
    NotImplementedError
        The file is not there.
    """
    import gradsmith as gs

    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise NotImplementedError(
            f"hub.load_state_dict_from_url(): gradsmith downloads nothing, and {path} is not there. Download {url} "
            "to that place, or give its tensors to the model: model.load_state_dict(gradsmith.load(file))"
        )
    return gs.load(path, map_location=map_location, weights_only=weights_only)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """NotImplementedError: nothing is downloaded."""
    raise NotImplementedError(
        f"hub.download_url_to_file(): gradsmith downloads nothing; download {url} to {dst} by other means, "
        "urllib.request.urlretrieve for example"
    )


def _no_models(*args: Any, **named: Any) -> NoReturn:
    """NotImplementedError: models of the hub are code for PyTorch."""
    raise NotImplementedError(
        "torch.hub: models of the hub are files of weights and code for PyTorch; build the model, and read its weights "
        "with gradsmith.load"
    )


help = list = load = _no_models
