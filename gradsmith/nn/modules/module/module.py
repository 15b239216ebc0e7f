"""The class that all layers and networks are written over."""

from __future__ import annotations

from gradsmith.nn.modules.module.calls import Calls
from gradsmith.nn.modules.module.conversion import Conversion
from gradsmith.nn.modules.module.hooks import Hooks
from gradsmith.nn.modules.module.loading import Loading
from gradsmith.nn.modules.module.text import Text
from gradsmith.nn.modules.module.traversal import Traversal


class Module(Calls, Hooks, Loading, Conversion, Traversal, Text):
    """A part of a network: parameters, buffers and other modules by name, and `forward`, which computes with them.

    Write a class over it: `__init__` calls ``super().__init__()`` and assigns parameters and modules to attributes,
    `forward` computes. Calling the module calls `forward`, with its hooks around it.

    Attributes
    ----------
    training : bool
        Whether the module behaves as in training (dropout, batch normalization) or as in use; see `train` and `eval`.

    Notes
    -----
    A module that is called by several threads at once is used safely as long as none of them changes it.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import nn
    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = nn.Parameter(gs.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.weight * x
    >>> scale = Scale()
    >>> scale(gs.tensor(3.0)).backward()
    >>> scale.weight.grad
    tensor(3.)
    >>> list(scale.state_dict())
    ['weight']
    >>> nn.Sequential(scale, nn.ReLU())
    Sequential(
      (0): Scale()
      (1): ReLU()
    )
    """
