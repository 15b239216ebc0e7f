"""Types for annotations of layers: a size for each dimension, or one for all."""

from __future__ import annotations

from typing import TypeAlias, TypeVar, Union

from gradsmith.generated.tensor import Tensor

T = TypeVar("T")

_scalar_or_tuple_any_t: TypeAlias = Union[T, tuple[T, ...]]  # noqa: UP007  # T is no class before Python 3.12
_scalar_or_tuple_1_t: TypeAlias = Union[T, tuple[T]]  # noqa: UP007
_scalar_or_tuple_2_t: TypeAlias = Union[T, tuple[T, T]]  # noqa: UP007
_scalar_or_tuple_3_t: TypeAlias = Union[T, tuple[T, T, T]]  # noqa: UP007
_scalar_or_tuple_4_t: TypeAlias = Union[T, tuple[T, T, T, T]]  # noqa: UP007
_scalar_or_tuple_5_t: TypeAlias = Union[T, tuple[T, T, T, T, T]]  # noqa: UP007
_scalar_or_tuple_6_t: TypeAlias = Union[T, tuple[T, T, T, T, T, T]]  # noqa: UP007

# Sizes, of a kernel say.
_size_any_t: TypeAlias = _scalar_or_tuple_any_t[int]
_size_1_t: TypeAlias = _scalar_or_tuple_1_t[int]
_size_2_t: TypeAlias = _scalar_or_tuple_2_t[int]
_size_3_t: TypeAlias = _scalar_or_tuple_3_t[int]
_size_4_t: TypeAlias = _scalar_or_tuple_4_t[int]
_size_5_t: TypeAlias = _scalar_or_tuple_5_t[int]
_size_6_t: TypeAlias = _scalar_or_tuple_6_t[int]

# Sizes that may be None: that of the input.
_size_any_opt_t: TypeAlias = _scalar_or_tuple_any_t[int | None]
_size_2_opt_t: TypeAlias = _scalar_or_tuple_2_t[int | None]
_size_3_opt_t: TypeAlias = _scalar_or_tuple_3_t[int | None]

# Factors of sizes.
_ratio_2_t: TypeAlias = _scalar_or_tuple_2_t[float]
_ratio_3_t: TypeAlias = _scalar_or_tuple_3_t[float]
_ratio_any_t: TypeAlias = _scalar_or_tuple_any_t[float]

_tensor_list_t: TypeAlias = _scalar_or_tuple_any_t[Tensor]

# Of pooling: the result, perhaps with the places of the maxima.
_maybe_indices_t: TypeAlias = _scalar_or_tuple_2_t[Tensor]
