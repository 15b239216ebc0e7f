"""Points that fill a cube more evenly than random ones do: ``gs.quasirandom.SobolEngine(2).draw(8)``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.dtypes import as_dtype, get_default_dtype
from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.runtime.tensors.factories.random import randint
from gradsmith.utils.optional import required

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from typing_extensions import Self

    from gradsmith.generated.tensor import Tensor

__all__ = ["SobolEngine"]


class SobolEngine:
    """Sobol' sequences, with the direction numbers of Joe and Kuo; SciPy computes them.

    Parameters
    ----------
    dimension : int
        That of the points, up to 21201.
    scramble : bool, default False
        Whether the points are moved at random, as evenly spread as before: by a random triangular matrix of bits and
        a shift. Their numbers are others than PyTorch's.
    seed : int, optional
        Of what is drawn for that; by default it is drawn from gradsmith's generator.

    Raises
    ------
    ValueError
        The dimension is not in the range.
    ModuleNotFoundError
        SciPy is not installed.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.quasirandom.SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.num_generated = 0
        if scramble and seed is None:
            seed = int(randint(2**62, ()))
        qmc = required("scipy", "SobolEngine", "scipy.stats.qmc")
        self._points = qmc.Sobol(dimension, scramble=scramble, bits=self.MAXBIT, seed=seed)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """The next points of the sequence.

        Parameters
        ----------
        n : int, default 1
            How many.
        out : Tensor, optional
            Takes the points, and their shape.
        dtype : dtype, optional
            By default the default dtype.

        Returns
        -------
        Tensor
            Of shape (n, dimension).
        """
        count = operator.index(n)
        if count < 1:
            raise ValueError(f"draw(): expected a positive number of points, got {n}")
        wanted = get_default_dtype() if dtype is None else as_dtype(dtype, "draw")
        found = over_array(self._next(count)).to(wanted)
        self.num_generated += count
        return found if out is None else out.resize_as_(found).copy_(found)

    def _next(self, count: int) -> Any:
        """SciPy warns of a first draw that is no power of two; one point is one."""
        if self.num_generated or count == 1:
            return self._points.random(count)
        return np.concatenate([self._points.random(1), self._points.random(count - 1)])

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """The next ``2**m`` points, where all that were drawn are a power of two: then they are balanced.

        Parameters
        ----------
        m : int
        out, dtype : optional
            As those of `draw`.

        Raises
        ------
        ValueError
            There would be another number of points.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> Self:
        """Begin again, with the same points."""
        self._points.reset()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> Self:
        """Leave out the next `n` points."""
        if n:
            self._points.fast_forward(n)
            self.num_generated += n
        return self

    def __repr__(self) -> str:
        texts = [f"dimension={self.dimension}"]
        if self.scramble:
            texts.append("scramble=True")
        if self.seed is not None:
            texts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(texts)})"


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
