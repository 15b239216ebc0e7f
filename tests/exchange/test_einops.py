"""einops on tensors, where it is installed: its functions and its layers."""

import pickle

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn

einops = pytest.importorskip("einops")
layers = pytest.importorskip("gradsmith.utils.einops.layers")

ARRAY = np.random.default_rng(0).normal(size=(2, 3, 4, 6))
PATTERNS = [
    ("b c h w -> b (h w) c", {}),
    ("b c (h1 h2) w -> h2 (b c h1) w", {"h1": 2}),
    ("... w -> w ...", {}),
    ("b c h w -> (b c h w)", {}),
]
FOLDED = "b c (h h2) (w w2) -> b h w"


def tensor():
    return gs.tensor(ARRAY, requires_grad=True)


def expect_equal(found, expected):
    assert isinstance(found, gs.Tensor) and found.grad_fn is not None
    np.testing.assert_allclose(found.numpy(force=True), expected)


@pytest.mark.parametrize("pattern, sizes", PATTERNS)
def test_rearrange(pattern, sizes):
    expect_equal(einops.rearrange(tensor(), pattern, **sizes), einops.rearrange(ARRAY, pattern, **sizes))


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
def test_reduce(operation):
    sizes = {"h2": 2, "w2": 3}
    expect_equal(einops.reduce(tensor(), FOLDED, operation, **sizes), einops.reduce(ARRAY, FOLDED, operation, **sizes))
    assert gs.autograd.gradcheck(lambda x: einops.reduce(x, FOLDED, operation, **sizes), (tensor(),))


def test_reduce_truth():
    for operation in ("any", "all"):
        found = einops.reduce(tensor() > 0, "b c h w -> b c", operation)
        assert found.tolist() == einops.reduce(ARRAY > 0, "b c h w -> b c", operation).tolist()


def test_repeat():
    pattern = "b c h w -> b (2 c) r h w"
    expect_equal(einops.repeat(tensor(), pattern, r=3), einops.repeat(ARRAY, pattern, r=3))


def test_einsum_pack_unpack():
    pattern = "b c h w, b d h w -> b c d"
    expect_equal(einops.einsum(tensor(), tensor(), pattern), einops.einsum(ARRAY, ARRAY, pattern))
    packed, shapes = einops.pack([tensor(), tensor()[:, :, 0]], "b c *")
    expect_equal(packed, einops.pack([ARRAY, ARRAY[:, :, 0]], "b c *")[0])
    expect_equal(einops.unpack(packed, shapes, "b c *")[0], ARRAY)
    pattern = "n b c h w -> b (n c) h w"
    expect_equal(einops.rearrange([tensor(), tensor()], pattern), einops.rearrange([ARRAY, ARRAY], pattern))
    assert einops.parse_shape(tensor(), "b c _ w") == {"b": 2, "c": 3, "w": 6}
    assert (einops.asnumpy(tensor()) == ARRAY).all()


def test_under_transforms():
    rows = gs.vmap(lambda x: einops.rearrange(x, "c h w -> (h w) c"))(tensor())
    expect_equal(rows, einops.rearrange(ARRAY, "b c h w -> b (h w) c"))
    assert einops.rearrange(gs.ones(2, 6, device="meta"), "a (b c) -> c b a", b=2).shape == (3, 2, 2)


def test_layers():
    x = gs.ones(2, 3, 4, 6)
    model = nn.Sequential(
        layers.Rearrange("b c h w -> b h w c"),
        layers.EinMix("b h w c -> b h w d", weight_shape="c d", bias_shape="d", c=3, d=5),
        layers.Reduce("b (h 2) w d -> b h w d", "max"),
    )
    assert [tuple(p.shape) for p in model.parameters()] == [(3, 5), (1, 1, 1, 5)]
    result = model(x)
    expected = x.numpy().transpose(0, 2, 3, 1) @ model[1].weight.numpy(force=True) + model[1].bias.numpy(force=True)
    np.testing.assert_allclose(result.numpy(force=True), expected[:, ::2], rtol=1e-5)
    result.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    split = layers.EinMix("b (g c) -> b (g d)", weight_shape="g c d", g=2, c=3, d=4)
    assert split(gs.ones(5, 6)).shape == (5, 8)
    copied = pickle.loads(pickle.dumps(model[0]))
    assert copied(x).shape == (2, 4, 6, 3) and repr(copied) == "Rearrange('b c h w -> b h w c')"


def test_errors_are_those_of_einops():
    with pytest.raises(einops.EinopsError, match="can't divide axis of length 4 in chunks of 3"):
        einops.rearrange(tensor(), "b c (h s) w -> b c h w s", s=3)
    with pytest.raises(einops.EinopsError):
        layers.Rearrange("b c -> b d")
