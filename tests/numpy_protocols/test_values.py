"""Every function of the table, called by NumPy's name on tensors, against NumPy on arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.numpy_protocols.table import TABLE
from tests.numpy_protocols.samples import SAMPLES, STEPS, WRITES, arrays

STEP = 1e-6


def function_at(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def call(name: str, text: str, values: dict[str, Any]) -> Any:
    return eval(f"np.{name}({text})", {"np": np, **values})


def cases(samples: dict[str, list[str]]) -> list[Any]:
    return [
        pytest.param(name, text, id=f"{name}({text})")
        for name, texts in samples.items()
        if function_at(name) is not None
        for text in texts
    ]


def tensors(values: dict[str, np.ndarray], **flags: bool) -> dict[str, Any]:
    return {name: gs.tensor(value, **flags) for name, value in values.items()}


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def as_arrays(value: Any) -> list[np.ndarray]:
    return [leaf.detach().numpy() if isinstance(leaf, gs.Tensor) else np.asarray(leaf) for leaf in leaves(value)]


def test_every_row_has_samples() -> None:
    assert set(SAMPLES) | set(WRITES) == set(TABLE)


@pytest.mark.parametrize(("name", "text"), cases(SAMPLES))
def test_values_are_those_of_numpy(name: str, text: str) -> None:
    expected = as_arrays(call(name, text, arrays()))
    found = as_arrays(call(name, text, tensors(arrays())))
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape
        assert one.dtype == other.dtype or one.dtype.kind in "iu"
        if name not in ("linalg.eig", "linalg.qr", "linalg.svd", "linalg.eigh"):
            np.testing.assert_allclose(one, other, rtol=1e-6 if one.dtype.itemsize == 4 else 1e-10, atol=1e-12)


def weighted(result: Any) -> float:
    """A number that depends on all elements of the results."""
    total = 0.0
    for n, part in enumerate(as_arrays(result)):
        if part.dtype.kind in "fc":
            weights = np.cos(np.arange(part.size) + n).reshape(part.shape)
            total += float(
                np.nansum(weights * part.real) + (np.nansum(weights * part.imag) if part.dtype.kind == "c" else 0)
            )
    return total


def weighted_tensor(result: Any) -> Any:
    total: Any = 0.0
    for n, part in enumerate(leaves(result)):
        if isinstance(part, gs.Tensor) and part.dtype.kind in "fc":
            weights = gs.tensor(np.cos(np.arange(part.numel()) + n).reshape(tuple(part.shape)))
            real = (weights * part.real).nansum()
            total = total + (real + (weights * part.imag).nansum() if part.is_complex() else real)
    return total


SMOOTH = {
    name: texts for name, texts in SAMPLES.items() if name not in STEPS and name not in ("linalg.eig", "linalg.lstsq")
}


def differentiable(name: str, values: dict[str, np.ndarray]) -> list[str]:
    return [key for key, value in values.items() if value.dtype.kind == "f"]


@pytest.mark.parametrize(("name", "text"), cases(SMOOTH))
def test_gradients_are_differences(name: str, text: str) -> None:
    base = arrays()
    given = tensors(base, requires_grad=True)
    total = weighted_tensor(call(name, text, given))
    direction = {key: np.cos(3.0 + np.arange(value.size)).reshape(value.shape) for key, value in base.items()}
    if not isinstance(total, gs.Tensor) or not total.requires_grad:
        assert numeric(name, text, base, direction) == pytest.approx(0, abs=1e-6)
        return
    keys = list(given)
    gradients = gs.autograd.grad(total, [given[key] for key in keys], allow_unused=True)
    found = sum(
        float((gradient.detach().numpy().conj() * direction[key]).real.sum())
        for key, gradient in zip(keys, gradients)
        if gradient is not None and not np.isnan(base[key]).any()
    )
    nan = {key: np.where(np.isnan(value), 0, direction[key]) for key, value in base.items()}
    found += sum(
        float(np.nansum(gradient.detach().numpy() * nan[key]))
        for key, gradient in zip(keys, gradients)
        if gradient is not None and np.isnan(base[key]).any()
    )
    tolerance = 2e-2 if "float32" in text else 1e-5
    assert found == pytest.approx(numeric(name, text, base, direction), rel=tolerance, abs=tolerance)


def numeric(name: str, text: str, base: dict[str, np.ndarray], direction: dict[str, np.ndarray]) -> float:
    step = 1e-3 if "float32" in text else STEP
    ends = [
        weighted(call(name, text, {key: value + sign * step * direction[key] for key, value in base.items()}))
        for sign in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize(("name", "text"), cases(WRITES))
def test_writes_are_those_of_numpy(name: str, text: str) -> None:
    expected, given = arrays(), tensors(arrays())
    assert call(name, text, expected) is None
    assert call(name, text, given) is None
    target = text.split(",")[0]
    np.testing.assert_allclose(given[target].numpy(), expected[target])
