"""Tensors over the bytes of files: gradsmith.from_file."""

import numpy as np
import pytest

import gradsmith as gs


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.bin"
    np.arange(6, dtype=np.float32).tofile(path)
    return path


def test_first_elements(numbers):
    assert gs.from_file(str(numbers), False, 3).tolist() == [0.0, 1.0, 2.0]
    assert gs.from_file(numbers, size=6).sum().item() == 15.0
    found = gs.from_file(str(numbers), size=2, dtype=gs.int32)
    assert found.dtype == gs.int32 and found.tolist() == np.array([0, 1], np.float32).view(np.int32).tolist()
    assert gs.from_file(str(numbers)).shape == (0,)


def test_changes_stay_in_memory(numbers):
    tensor = gs.from_file(str(numbers), False, 2)
    tensor += 1
    assert tensor.tolist() == [1.0, 2.0] and np.fromfile(numbers, np.float32)[:2].tolist() == [0.0, 1.0]
    numbers.unlink()
    assert tensor.tolist() == [1.0, 2.0]


def test_changes_are_written_to_a_shared_file(numbers):
    gs.from_file(str(numbers), True, 2).fill_(7)
    assert np.fromfile(numbers, np.float32).tolist() == [7.0, 7.0, 2.0, 3.0, 4.0, 5.0]


def test_shared_files_are_made_and_grow(numbers, tmp_path):
    assert gs.from_file(str(numbers), True, 8).tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    assert numbers.stat().st_size == 32
    made = tmp_path / "made.bin"
    gs.from_file(str(made), shared=True, size=2, dtype=gs.int16)[1] = 3
    assert np.fromfile(made, np.int16).tolist() == [0, 3]


def test_gradients(numbers):
    x = gs.from_file(str(numbers), size=3, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        (("missing.bin", False, 1), {}, RuntimeError, "unable to map file <missing.bin> in read-only mode: No such"),
        (("numbers.bin", False, 7), {}, RuntimeError, "file <numbers.bin> size <24> is smaller than the required"),
        (("numbers.bin", None, -1), {}, RuntimeError, "size must be greater or equal to 0, got -1"),
        (("numbers.bin", 1, 1), {}, TypeError, "argument 'shared' must be bool, not int"),
        (("numbers.bin", True, 1.5), {}, TypeError, "argument 'size' must be int, not float"),
        ((3,), {}, TypeError, "argument 'filename' must be str, not int"),
        (("numbers.bin",), {"dtype": gs.bfloat16}, TypeError, "NumPy has no dtype bfloat16"),
        (("numbers.bin",), {"device": "meta"}, NotImplementedError, "a tensor on the meta device has no memory"),
    ],
)  # fmt: skip
def test_what_cannot_be_mapped(numbers, monkeypatch, arguments, options, error, message):
    monkeypatch.chdir(numbers.parent)
    with pytest.raises(error) as raised:
        gs.from_file(*arguments, **options)
    assert str(raised.value).startswith(f"from_file(): {message}")
