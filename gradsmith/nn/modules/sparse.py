"""Tables of vectors that are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn import init
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A table of vectors, one of which may stand for nothing."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _set_up(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx

    def _set_weight(self, given: Tensor | None, requires_grad: bool, device: Any, dtype: Any) -> None:
        size = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(empty(size, device=device, dtype=dtype), requires_grad=requires_grad)
            self.reset_parameters()
            return
        if given.shape != size:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(given, requires_grad=requires_grad)

    def reset_parameters(self) -> None:
        """Draw the table anew: normally distributed, with zeros for the vector that stands for nothing."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()


class Embedding(_Table):
    """The vectors of a table at indices.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The number of vectors, and their size.
    padding_idx : int, optional
        The vector that stands for nothing: zero at first, and without a gradient.
    max_norm : float, optional
        Vectors that are looked up and longer are shortened in the table.
    norm_type : float, optional
        The exponent of the norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a vector is divided by how often it was looked up.
    sparse : bool, optional
        Whether the gradient has only the rows that were looked up.
    device, dtype : optional
        Those of the table.

    Attributes
    ----------
    weight : Parameter
        Of shape (num_embeddings, embedding_dim), at first normally distributed.

    Raises
    ------
    AssertionError
        `padding_idx` is not in the table, or a given table has another shape.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Embedding(10, 3)(gs.tensor([[1, 2, 4, 5], [4, 3, 2, 9]])).shape
    (2, 4, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(num_embeddings, embedding_dim, padding_idx)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._set_weight(_weight, not _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.embedding`."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [
            f"{self.num_embeddings}, {self.embedding_dim}",
            "" if self.padding_idx is None else f"padding_idx={self.padding_idx}",
            "" if self.max_norm is None else f"max_norm={self.max_norm}",
            "" if self.norm_type == 2 else f"norm_type={self.norm_type}",
            f"scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq else "",
            "sparse=True" if self.sparse else "",
        ]
        return ", ".join(filter(None, parts))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding with a given table, which is learned unless it is frozen; see the class.

        Examples
        --------
        >>> import gradsmith as gs
        >>> layer = gs.nn.Embedding.from_pretrained(gs.tensor([[1.0, 2.0], [4.0, 5.0]]))
        >>> layer(gs.tensor([1]))
        tensor([[4., 5.]])
        """
        return cls(
            *_sizes(embeddings), padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of the vectors of a table at several indices, a bag.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        The number of vectors, and their size.
    max_norm : float, optional
        Vectors that are looked up and longer are shortened in the table.
    norm_type : float, optional
        The exponent of the norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a vector is divided by how often it was looked up.
    mode : {"sum", "mean", "max"}, optional
    sparse : bool, optional
        Whether the gradient has only the rows that were looked up.
    include_last_offset : bool, optional
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        The vector that is left out.
    device, dtype : optional
        Those of the table.

    Attributes
    ----------
    weight : Parameter
        Of shape (num_embeddings, embedding_dim), at first normally distributed.

    Raises
    ------
    AssertionError
        `padding_idx` is not in the table, or a given table has another shape.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_up(num_embeddings, embedding_dim, padding_idx)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._set_weight(_weight, True, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """One vector for each bag: a row of `input`, or, with `offsets`, the part of it from one offset to the next."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [
            f"{self.num_embeddings}, {self.embedding_dim}",
            "" if self.max_norm is None else f"max_norm={self.max_norm}",
            "" if self.norm_type == 2 else f"norm_type={self.norm_type}",
            f"scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq else "",
            f"mode={self.mode!r}",
            "" if self.padding_idx is None else f"padding_idx={self.padding_idx}",
        ]
        return ", ".join(filter(None, parts))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Bags over a given table, which is learned unless it is frozen; see the class."""
        made = cls(
            *_sizes(embeddings), max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        made.weight.requires_grad = not freeze
        return made


def _sizes(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.ndim != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns
