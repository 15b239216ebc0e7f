"""Functions of layers at PyTorch's top, and small names that programs ask for: against those of `nn.functional`."""

import importlib

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F

RNG = np.random.default_rng(0)
X = gs.from_numpy(RNG.normal(size=(4, 3, 5)).astype("float32"))


def same(found, expected):
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_dropouts(name):
    gs.manual_seed(0)
    found = getattr(gs, name)(X, 0.4, True)
    gs.manual_seed(0)
    same(found, getattr(F, name)(X, 0.4, True))
    assert getattr(gs, name)(X, 0.4, False).tolist() == X.tolist()
    y = X.clone()
    gs.manual_seed(0)
    assert getattr(gs, f"{name}_")(y, 0.4, True) is y
    same(y, found)


def test_dropout_of_features():
    x = gs.ones(50, 20, 3)
    found = gs.feature_dropout(x, 0.5, True)
    assert set(found.unique().tolist()) == {0.0, 2.0} and bool((found == found[..., :1]).all())
    assert gs.feature_dropout(x, 0.5, False) is x
    y = x.clone()
    assert gs.feature_dropout_(y, 0.5, True) is y and 0 in y
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        gs.feature_dropout(gs.ones(3), 0.5, True)


def test_normalizations():
    weight, bias = gs.tensor([1.0, 2.0, 3.0]), gs.tensor([0.5, 0.0, -0.5])
    mean, var = gs.zeros(3), gs.ones(3)
    for op in (gs.batch_norm, gs.instance_norm):
        there = getattr(F, op.__name__)
        for training in (True, False):
            found = op(X, weight, bias, mean.clone(), var.clone(), training, 0.1, 1e-5, False)
            same(found, there(X, mean.clone(), var.clone(), weight, bias, training, 0.1, 1e-5))
    same(gs.rms_norm(X, [5], gs.full((5,), 2.0)), F.rms_norm(X, [5]) * 2)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolution(dims, transposed):
    x = gs.from_numpy(RNG.normal(size=(2, 4, *[6] * dims)))
    weight = gs.from_numpy(RNG.normal(size=(4, 2, *[3] * dims)))
    bias = gs.from_numpy(RNG.normal(size=4))
    ones, none = [1] * dims, [0] * dims
    found = gs.convolution(x, weight, bias, [2] * dims, ones, ones, transposed, none, 2)
    if transposed:
        same(found, getattr(F, f"conv_transpose{dims}d")(x, weight, bias, 2, 1, 0, 2, 1))
    else:
        same(found, getattr(F, f"conv{dims}d")(x, weight, bias, 2, 1, 1, 2))


def test_grids_and_devices():
    theta = gs.tensor([[[1.0, 0.2, 0.0], [0.0, 1.0, 0.3]]])
    same(gs.affine_grid_generator(theta, [1, 1, 3, 3], False), F.affine_grid(theta, [1, 1, 3, 3], False))
    assert gs.get_device(X) == -1
    assert gs.cpu.is_available() and gs.cpu.device_count() == 1 and gs.cpu.current_device() == "cpu"
    gs.cpu.synchronize()
    with gs.compat.as_torch():
        amp = importlib.import_module("torch.cpu.amp")
        with pytest.warns(FutureWarning, match="deprecated"), amp.autocast():
            assert gs.ones(2).dtype == gs.float32
    assert F.grad.conv2d_input is importlib.import_module("gradsmith.compat.torch.nn.grad").conv2d_input


CHECKS = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_value": ValueError,
    "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}


@pytest.mark.parametrize("name", CHECKS)
def test_checks(name):
    check = getattr(gs, name)
    assert check(True) is None and check(True, lambda: 1 / 0) is None
    with pytest.raises(CHECKS[name], match="so it is"):
        check(False, lambda: "so it is")
    with pytest.raises(TypeError, match="cond must be a bool"):
        check(1)


def test_checks_of_sizes_and_tensors():
    gs._check_is_size(0)
    gs._check_tensor_all(gs.tensor([True, True]))
    with pytest.raises(RuntimeError):
        gs._check_is_size(-1)
    with pytest.raises(RuntimeError):
        gs._check_tensor_all(gs.tensor([True, False]))
    with pytest.raises(TypeError, match="dtype bool"):
        gs._check_tensor_all(gs.ones(2))
    with pytest.raises(AttributeError):
        gs._check_nothing  # noqa: B018


def test_assert_allclose():
    with pytest.warns(FutureWarning, match="assert_close"):
        gs.testing.assert_allclose(gs.ones(2), np.ones(2))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="not close"):
        gs.testing.assert_allclose([1.0, 2.0], gs.tensor([1.0, 2.5]))


@pytest.mark.parametrize("include_last", [False, True])
@pytest.mark.parametrize(("mode", "word"), [(0, "sum"), (1, "mean"), (2, "max")])
def test_bags_by_numbers_of_modes(mode, word, include_last):
    table = gs.tensor([[3.0, 0.0], [1.0, 2.0], [2.0, 2.0]], requires_grad=True)
    indices, offsets = gs.tensor([0, 1, 2, 1]), gs.tensor([0, 3, 3])
    ends = gs.tensor([0, 3, 3, 4]) if include_last else offsets
    found, bags, sizes, rows = gs.embedding_bag(table, indices, ends, False, mode, False, None, include_last)
    wanted = gs.nn.functional.embedding_bag(indices, table, offsets, mode=word)
    assert gs.equal(found, wanted) and bags.tolist() == [0, 0, 0, 2] and sizes.tolist() == [3, 0, 1]
    assert rows.tolist() == ([[0, 1], [0, 0], [1, 1]] if mode == 2 else [3, 0, 1])
    found.sum().backward()
    assert table.grad is not None


def test_bags_without_a_row_of_padding():
    table, indices = gs.tensor([[3.0], [1.0]]), gs.tensor([0, 1, 1])
    found, _, sizes, rows = gs.embedding_bag(table, indices, gs.tensor([0, 2]), mode=2, padding_idx=-2)
    assert found.tolist() == [[1], [1]] and sizes.tolist() == [1, 1] and rows.tolist() == [[1], [1]]


def test_norms_by_their_old_names():
    x = gs.tensor([[3.0, 0.0], [0.0, 4.0]], requires_grad=True)
    assert gs.frobenius_norm(x, ()).item() == 5 and gs.frobenius_norm(x, [0, 1], True).tolist() == [[5]]
    assert gs.frobenius_norm(x, 1).tolist() == [3, 4]
    assert gs.nuclear_norm(x).item() == pytest.approx(7)
    assert gs.nuclear_norm(x[None], (1, 2), True).shape == (1, 1, 1)
    gs.nuclear_norm(x).backward()
    assert gs.allclose(x.grad, gs.eye(2), atol=1e-6)
    for call in (lambda: gs.frobenius_norm(gs.ones(1, 1, 1), [0, 1, 2]), lambda: gs.nuclear_norm(gs.ones(2))):
        with pytest.raises(RuntimeError):
            call()
