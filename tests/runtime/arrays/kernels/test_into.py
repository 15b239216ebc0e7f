"""Results into an existing array, which may overlap the operands."""

import array_testing as kernels
import numpy as np
import pytest
from operands import FLOATS, layouts, reference, values


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["ADD", "MULTIPLY", "TRUE_DIVIDE"])
def test_into(name, dtype):
    a, b = values(dtype, (40, 7), 1), values(dtype, (40, 7), 2)
    for _, out in layouts(np.zeros((40, 7), dtype)):
        if out.flags.writeable:
            kernels.apply_binary(name, a, b, out)
            np.testing.assert_array_equal(out, reference(name, a, b))


@pytest.mark.parametrize("shift", range(-40, 41, 8))
def test_into_overlapping_memory(shift):
    for name, unary in (("SUBTRACT", False), ("EXP", True)):
        base = values("float64", 200)
        x, out = base[50:150], base[50 + shift : 150 + shift]
        other = values("float64", 100, 2)
        expected = reference(name, x) if unary else reference(name, x, other)
        if unary:
            kernels.apply_unary(name, x, out)
        else:
            kernels.apply_binary(name, x, other, out)
        np.testing.assert_allclose(out, expected, rtol=1e-15 if unary else 0, atol=0)


def test_into_reversed_and_transposed_self():
    base = values("float64", (50, 50))
    expected = base.T + base
    kernels.apply_binary("ADD", base.T, base, base)
    np.testing.assert_array_equal(base, expected)
    line = values("float64", 60)
    expected = line * line[::-1]
    kernels.apply_binary("MULTIPLY", line, line[::-1], line)
    np.testing.assert_array_equal(line, expected)


def test_into_converts_upwards_only():
    out = np.zeros(3, "complex128")
    kernels.apply_scalar("ADD", np.arange(3), 0.5, False, out)
    np.testing.assert_array_equal(out, np.arange(3) + 0.5)
    integers = np.zeros(3, "int64")
    with pytest.raises(RuntimeError, match="result type float64 can't be cast to the desired output type int64"):
        kernels.apply_scalar("ADD", np.ones(3), 0.5, False, integers)
    assert not integers.any()


@pytest.mark.parametrize(
    "out, message",
    [
        (np.zeros(3), r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"),
        (np.broadcast_to(np.zeros(3), (2, 3)), "read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8)), "single memory location"),
    ],
)
def test_into_bad_targets(out, message):
    with pytest.raises(RuntimeError, match=message):
        kernels.apply_scalar("ADD", np.ones((2, 3)), 1, False, out)
    assert not out.any()


def test_integer_division_into_changes_nothing_on_failure():
    out = np.full(3, 7)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        kernels.apply_binary("FLOOR_DIVIDE", out, np.array([1, 0, 2]), out)
    assert out.tolist() == [7, 7, 7]
