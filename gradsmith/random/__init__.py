"""Random numbers: PyTorch's functions for the generator, and the distributions of NumPy's with gradients."""

import contextlib
from collections.abc import Iterator
from typing import Any

from gradsmith.random.continuous import *  # noqa: F403
from gradsmith.random.continuous import __all__ as _continuous
from gradsmith.random.discrete import *  # noqa: F403
from gradsmith.random.discrete import __all__ as _discrete
from gradsmith.random.gammas import *  # noqa: F403
from gradsmith.random.gammas import __all__ as _gammas
from gradsmith.random.sequences import *  # noqa: F403
from gradsmith.random.sequences import __all__ as _sequences
from gradsmith.runtime.tensors.factories.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state", *_continuous, *_discrete, *_gammas, *_sequences,
]  # fmt: skip


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Context manager: the default generator has the state afterwards that it has now.

    Parameters
    ----------
    devices : optional
        Without effect: there is one device that draws.
    enabled : bool, default True
        False makes it do nothing.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.random.fork_rng():
    ...     first = gs.rand(3)
    >>> gs.equal(first, gs.rand(3))
    True
    """
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
