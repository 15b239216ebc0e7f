"""Normalizations, dropout, attention and other layers against NumPy by hand."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import gradcheck

RNG = np.random.default_rng(5)
X = RNG.standard_normal((4, 6, 5))
W, B = RNG.standard_normal((2, 6))


def standardized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def per_channel(a):
    return a[:, None]


# ---- normalizations

NORMALIZED = {
    "layers": (lambda x: F.layer_norm(x, [5]), standardized(X, -1)),
    "layers of two dimensions": (lambda x: F.layer_norm(x, (6, 5), eps=0.5), standardized(X, (-2, -1), 0.5)),
    "root mean squares": (lambda x: F.rms_norm(x, [5], eps=0.1), X / np.sqrt((X * X).mean(-1, keepdims=True) + 0.1)),
    "groups": (
        lambda x: F.group_norm(x, 2, gs.tensor(W), gs.tensor(B)),
        standardized(X.reshape(4, 2, 15), -1).reshape(X.shape) * per_channel(W) + per_channel(B),
    ),
    "batches": (
        lambda x: F.batch_norm(x, None, None, gs.tensor(W), gs.tensor(B), training=True),
        standardized(X, (0, 2)) * per_channel(W) + per_channel(B),
    ),
    "instances": (lambda x: F.instance_norm(x, bias=gs.tensor(B)), standardized(X, 2) + per_channel(B)),
    "neighbouring channels": (
        lambda x: F.local_response_norm(x, 3, 0.5, 0.25, 2.0),
        X / (2 + 0.5 / 3 * sum(np.pad(X, [(0, 0), (1, 1), (0, 0)])[:, k : k + 6] ** 2 for k in range(3))) ** 0.25,
    ),
}


@pytest.mark.parametrize(("function", "expected"), NORMALIZED.values(), ids=NORMALIZED)
def test_normalizations(function, expected):
    x = gs.tensor(X, requires_grad=True)
    np.testing.assert_allclose(function(x).detach().numpy(), expected, rtol=1e-11, atol=1e-12)
    assert gradcheck(function, x)


def test_the_least_mean_square_is_that_of_the_dtype():
    for dtype in (gs.float32, gs.float64):
        eps = np.finfo(dtype).eps
        x = gs.full((4,), float(np.sqrt(eps)), dtype=dtype)
        np.testing.assert_allclose(F.rms_norm(x, [4]).numpy(), 1 / np.sqrt(2), rtol=1e-5)


def test_running_statistics():
    mean, var = gs.zeros(6, dtype=gs.float64), gs.ones(6, dtype=gs.float64)
    F.batch_norm(gs.tensor(X), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * X.mean((0, 2)))
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * X.var((0, 2), ddof=1))
    found = F.batch_norm(gs.tensor(X), mean, var, eps=0.5).numpy()
    expected = (X - per_channel(mean.numpy())) / np.sqrt(per_channel(var.numpy()) + 0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    mean.zero_()
    F.instance_norm(gs.tensor(X), mean, None, momentum=0.5)
    np.testing.assert_allclose(mean.numpy(), 0.5 * X.mean(2).mean(0))


def test_running_statistics_have_no_history():
    x, mean, var = gs.tensor(X, requires_grad=True), gs.zeros(6), gs.ones(6)
    F.batch_norm(x, mean, var, training=True).sum().backward()
    assert not mean.requires_grad and not var.requires_grad and np.abs(x.grad.numpy()).max() < 1e-12


LAYER_ERRORS = {
    "last sizes": (RuntimeError, lambda x: F.layer_norm(x, [6]), r"normalized_shape=\[6\], expected input with shape"),
    "no sizes": (RuntimeError, lambda x: F.layer_norm(x, []), "at least 1-dimensional"),
    "size of a weight": (RuntimeError, lambda x: F.layer_norm(x, [5], gs.ones(4)), "Expected weight to be of same"),
    "size of a bias": (RuntimeError, lambda x: F.layer_norm(x, [5], None, gs.ones(4)), "Expected bias to be"),
    "root mean squares": (RuntimeError, lambda x: F.rms_norm(x, [4]), "expected input with shape"),
    "groups": (RuntimeError, lambda x: F.group_norm(x, 4), "divisible by num_groups"),
    "no groups": (RuntimeError, lambda x: F.group_norm(x, 0), "num groups to be greater than 0"),
    "weight of channels": (RuntimeError, lambda x: F.group_norm(x, 2, gs.ones(5)), "number of channels"),
    "statistics": (RuntimeError, lambda x: F.batch_norm(x, None, None), "running_mean and running_var to be defined"),
    "one element": (ValueError, lambda x: F.batch_norm(x[:1, :, 0], None, None, training=True), "more than 1 value"),
    "one place": (ValueError, lambda x: F.instance_norm(x[..., :1]), "more than 1 spatial element"),
    "size of statistics": (RuntimeError, lambda x: F.batch_norm(x, gs.ones(5), gs.ones(6)), "contain 6 elements"),
    "neighbours": (RuntimeError, lambda x: F.local_response_norm(x, 0), "greater than zero"),
    "dimensions of neighbours": (ValueError, lambda x: F.local_response_norm(x[0], 2), "3D or higher"),
    "similarity": (RuntimeError, lambda x: F.cosine_similarity(x, x[..., :4]), "do not broadcast"),
    "bilinear": (RuntimeError, lambda x: F.bilinear(x, x, gs.ones(2, 5, 4)), "does not go with inputs"),
    "shuffled pixels": (RuntimeError, lambda x: F.pixel_shuffle(x, 4), "divisible by the square"),
    "pixels": (RuntimeError, lambda x: F.pixel_unshuffle(x, 2), "expects width to be divisible"),
    "shuffled channels": (RuntimeError, lambda x: F.channel_shuffle(x, 4), "divides the number of channels"),
    "probability": (ValueError, lambda x: F.dropout(x, 1.5), "between 0 and 1, but got 1.5"),
    "dimensions of dropout": (RuntimeError, lambda x: F.dropout1d(x[0, 0]), "Expected 2D or 3D input"),
    "mask": (
        RuntimeError, lambda x: F.scaled_dot_product_attention(x, x, x, gs.ones(6, 6), is_causal=True),
        "should not be set when is_causal",
    ),
    "attention": (RuntimeError, lambda x: F.scaled_dot_product_attention(x, x[..., :4], x), "one last size"),
    "heads": (
        RuntimeError, lambda x: F.scaled_dot_product_attention(x[None], x[None, :3], x[None, :3], enable_gqa=True),
        "4 heads of queries cannot share 3 heads",
    ),
    "slopes": (RuntimeError, lambda x: F.rrelu(x, 0.5, 0.25), "less than or equal to the upper bound"),
}  # fmt: skip


@pytest.mark.parametrize(("error", "call", "match"), LAYER_ERRORS.values(), ids=LAYER_ERRORS)
def test_wrong_arguments(error, call, match):
    with pytest.raises(error, match=match):
        call(gs.tensor(X))


# ---- vectors and channels


def test_vectors_of_length_one():
    for p in (1.0, 2.0, 3.0):
        found = F.normalize(gs.tensor(X), p, dim=2).numpy()
        np.testing.assert_allclose((np.abs(found) ** p).sum(2), 1, rtol=1e-12)
    np.testing.assert_allclose(F.normalize(gs.tensor(X), dim=(1, 2)).square().sum().item(), len(X), rtol=1e-12)
    assert F.normalize(gs.zeros(2, 3)).tolist() == [[0.0] * 3] * 2


def test_similarities_broadcast():
    found = F.cosine_similarity(gs.tensor(X), gs.tensor(X[:, :1]), dim=-1).numpy()
    expected = (X * X[:, :1]).sum(-1) / np.linalg.norm(X, axis=-1) / np.linalg.norm(X[:, :1], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = F.pairwise_distance(gs.tensor(X), gs.tensor(X[0, 0]), eps=0.0, keepdim=True).numpy()
    np.testing.assert_allclose(found, np.linalg.norm(X - X[0, 0], axis=-1, keepdims=True), rtol=1e-12)


def test_pixels_come_and_go():
    x = gs.arange(2 * 8 * 3 * 2).reshape(2, 8, 3, 2)
    found = F.pixel_shuffle(x, 2)
    for image, channel, row, column in np.ndindex(2, 2, 6, 4):
        source = x[image, channel * 4 + row % 2 * 2 + column % 2, row // 2, column // 2]
        assert found[image, channel, row, column].item() == source.item()
    assert gs.equal(F.pixel_unshuffle(found, 2), x)
    assert F.channel_shuffle(x, 4)[0, :, 0, 0].tolist() == x[0, [0, 2, 4, 6, 1, 3, 5, 7], 0, 0].tolist()


def test_places_of_classes():
    assert F.one_hot(gs.tensor([[0, 2], [1, 1]])).tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 0]]]
    assert F.one_hot(gs.tensor([0]), 3).dtype == gs.int64 and F.one_hot(gs.zeros(0, 2, dtype=gs.int64), 3).shape == (
        0,
        2,
        3,
    )
    for call, match in (
        (lambda: F.one_hot(gs.tensor([3]), 3), "smaller than num_classes"),
        (lambda: F.one_hot(gs.tensor([-1])), "non-negative"),
        (lambda: F.one_hot(gs.tensor([1.0])), "index tensor of type int64"),
        (lambda: F.one_hot(gs.zeros(0, dtype=gs.int64)), "Can not infer"),
        (lambda: F.one_hot(gs.tensor([0]), 0), "num_classes must be positive"),
    ):
        with pytest.raises(RuntimeError, match=match):
            call()


# ---- dropout


def test_dropout_keeps_the_mean():
    gs.manual_seed(3)
    x = gs.ones(40_000, requires_grad=True)
    y = F.dropout(x, 0.25)
    assert set(y.unique().tolist()) == {0.0, np.float32(4 / 3)}
    assert abs((y == 0).float().mean().item() - 0.25) < 0.01
    y.sum().backward()
    assert gs.equal(x.grad, y.detach())


def test_dropout_of_nothing_and_of_all():
    x = gs.ones(5)
    assert F.dropout(x, 0.5, training=False) is x and F.dropout(x, 0.0) is x
    assert F.dropout(x, 1.0).tolist() == [0.0] * 5 and x.sum() == 5
    assert F.dropout(x, 1.0, inplace=True) is x and x.sum() == 0


@pytest.mark.filterwarnings("ignore:dropout2d")
@pytest.mark.parametrize(
    ("function", "shape", "kept"),
    [
        (F.dropout1d, (50, 7, 3), 2), (F.dropout1d, (50, 3), 1), (F.dropout2d, (50, 7, 2, 3), 2),
        (F.dropout2d, (50, 7, 3), 2), (F.dropout3d, (50, 7, 2, 2, 1), 2), (F.dropout3d, (50, 2, 2, 1), 1),
    ],
)  # fmt: skip
def test_channels_are_dropped_whole(function, shape, kept):
    gs.manual_seed(0)
    y = function(gs.ones(*shape), 0.5).numpy().reshape(*shape[:kept], -1)
    assert (y == y[..., :1]).all() and set(np.unique(y)) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("function", "shape", "kept"),
    [
        (F.dropout2d, (50, 7), 2), (F.dropout2d, (50, 7, 1, 2, 2), 2), (F.dropout3d, (50, 3), 1),
        (F.dropout3d, (50, 3, 2), 1), (F.dropout3d, (50,), 1),
    ],
)  # fmt: skip
def test_channels_of_other_inputs_are_dropped_with_a_warning(function, shape, kept):
    gs.manual_seed(0)
    with pytest.warns(
        UserWarning, match=rf"Received a {len(shape)}-D input to {function.__name__}, which is deprecated"
    ):
        y = function(gs.ones(*shape), 0.5).numpy().reshape(*shape[:kept], -1)
    assert (y == y[..., :1]).all() and set(np.unique(y)) == {0.0, 2.0}


@pytest.mark.filterwarnings("ignore:dropout2d")
def test_channels_that_there_are_not():
    with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        F.dropout2d(gs.ones(5))
    assert F.dropout2d(gs.ones(5), training=False).shape == (5,)
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 1D input"):
        F.dropout1d(gs.ones(5))


def test_alpha_dropout_keeps_mean_and_variance():
    gs.manual_seed(1)
    x = gs.randn(200_000)
    y = F.alpha_dropout(x, 0.3, training=True)
    assert abs(y.mean().item()) < 0.02 and abs(y.std().item() - 1) < 0.02
    assert F.alpha_dropout(x) is x
    channels = F.feature_alpha_dropout(gs.ones(50, 7, 3), 0.5, training=True).numpy()
    assert (channels == channels[..., :1]).all() and len(np.unique(channels)) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a.T, lambda a: a[::2], lambda a: a[:, ::-3]])
def test_dropout_of_all_dtypes_and_layouts(dtype, layout):
    array = layout(np.arange(1.0, 481.0).reshape(20, 24).astype(dtype))
    x = gs.from_numpy(array).requires_grad_()
    y = F.dropout(x, 0.5, generator=gs.Generator().manual_seed(2))
    kept = y.detach().numpy() != 0
    np.testing.assert_array_equal(y.detach().numpy(), np.where(kept, 2 * array, 0))
    assert 0.2 < kept.mean() < 0.8
    y.backward(gs.tensor(array))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(kept, 2 * array, 0))


@pytest.mark.parametrize(
    "name", ["dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]
)
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_in_place_gives_what_it_gives_elsewhere(name, p, training):
    function, shape = getattr(F, name), (4, 5, *[3] * int(name[7:-1] if name[-1] == "d" else 1))
    x = gs.tensor(np.random.default_rng(0).normal(size=shape))
    copy = x.clone()
    expected = function(x, p, training, generator=gs.Generator().manual_seed(4))
    found = function(copy, p, training, True, generator=gs.Generator().manual_seed(4))
    assert found is copy
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-15)


def test_dropout_by_a_generator_of_ones_own():
    first, second = (F.dropout(gs.ones(99), 0.5, generator=gs.Generator().manual_seed(4)) for _ in range(2))
    assert gs.equal(first, second)
    state = gs.get_rng_state()
    F.alpha_dropout(gs.ones(99), 0.5, True, generator=gs.Generator())
    assert gs.equal(state, gs.get_rng_state())


def test_dropout_keeps_what_is_no_number():
    y = F.dropout(gs.full((1000,), float("nan")), 0.5)  # zero times NaN, as in PyTorch
    assert y.isnan().all()


@pytest.mark.parametrize("function", [F.dropout, F.alpha_dropout, F.dropout1d, F.feature_alpha_dropout])
def test_dropout_in_batches(function):
    x = gs.ones(3, 40, 50)

    def dropped(row):
        return function(row, 0.5, True)

    with pytest.raises(RuntimeError, match="randomness"):
        gs.vmap(dropped)(x)
    same = gs.vmap(dropped, randomness="same")(x).numpy()
    different = gs.vmap(dropped, randomness="different")(x).numpy()
    assert (same == same[:1]).all() and not (different == different[:1]).all()
    assert 0.3 < (different == different.max()).mean() < 0.7


@pytest.mark.parametrize("dtype", [gs.int64, gs.bool_])
@pytest.mark.parametrize("function", [F.dropout, F.alpha_dropout, F.dropout1d, F.feature_alpha_dropout])
def test_integers_pass_where_nothing_is_dropped(function, dtype):
    x = gs.ones(1, 2, 3, dtype=dtype)
    assert function(x, 0.5, False) is x
    with pytest.raises(RuntimeError, match="expects a floating or complex dtype"):
        function(x, 0.5, True)


def test_dropout_without_data():
    assert F.dropout(gs.ones(3, 4, device="meta"), 0.5).shape == (3, 4)
    for call in (lambda: F.dropout(None), lambda: F.alpha_dropout([1.0], 0.5, True)):
        with pytest.raises(TypeError, match="must be Tensor"):
            call()
    with pytest.raises(RuntimeError, match="floating"):
        F.dropout(gs.ones(3, dtype=gs.int64))


# ---- attention


def attention(q, k, v, mask=None, scale=None):
    products = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        products = np.where(mask, products, -np.inf) if mask.dtype == bool else products + mask
    products = products - products.max(-1, keepdims=True)
    weights = np.exp(products)
    return weights / weights.sum(-1, keepdims=True) @ v


Q, K, V = (RNG.standard_normal(shape) for shape in ((2, 4, 5, 3), (2, 4, 6, 3), (2, 4, 6, 2)))
MASK = RNG.random((5, 6)) > 0.3
MASK[:, 0] = True


@pytest.mark.parametrize("mask", [None, MASK, RNG.standard_normal((4, 5, 6)), np.tril(np.ones((5, 6), bool))])
def test_attention(mask):
    arguments = [gs.tensor(a, requires_grad=True) for a in (Q, K, V)]
    given = None if mask is None else gs.tensor(mask)
    found = F.scaled_dot_product_attention(*arguments, given)
    np.testing.assert_allclose(found.detach().numpy(), attention(Q, K, V, mask), rtol=1e-11)
    small = [gs.tensor(a[0, :1], requires_grad=True) for a in (Q, K, V)]
    own = given[:1] if given is not None and given.ndim == 3 else given
    assert gradcheck(lambda *a: F.scaled_dot_product_attention(*a, own), small)


def test_causal_attention():
    found = F.scaled_dot_product_attention(*map(gs.tensor, (Q, K, V)), is_causal=True, scale=0.3).numpy()
    np.testing.assert_allclose(found, attention(Q, K, V, np.tril(np.ones((5, 6), bool)), 0.3), rtol=1e-11)


def test_queries_that_see_nothing():
    mask = np.array([[True, False], [False, False]])
    x = gs.tensor(RNG.standard_normal((2, 3)), requires_grad=True)
    for given in (gs.tensor(mask), gs.tensor(np.where(mask, 0.0, -np.inf))):
        found = F.scaled_dot_product_attention(x, x, x, given)
        assert found[1].tolist() == [0.0] * 3 and found[0].tolist() == x[0].tolist()
        x.grad = None
        found.sum().backward()
        assert np.isfinite(x.grad.numpy()).all()


def test_heads_that_are_shared():
    k, v = K[:, :2], V[:, :2]
    found = F.scaled_dot_product_attention(*map(gs.tensor, (Q, k, v)), enable_gqa=True).numpy()
    np.testing.assert_allclose(found, attention(Q, np.repeat(k, 2, 1), np.repeat(v, 2, 1)), rtol=1e-11)


# ---- activations that draw


def test_random_slopes():
    gs.manual_seed(2)
    x = gs.tensor([-2.0, 0.0, 3.0] * 500, requires_grad=True)
    y = F.rrelu(x, 0.25, 0.5, training=True)
    slopes = -y.detach().numpy()[::3] / 2
    assert slopes.min() >= 0.25 and slopes.max() <= 0.5 and slopes.std() > 0.05
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[::3], slopes, rtol=1e-6)
    assert (x.grad[2::3] == 1).all()
    assert F.rrelu(gs.tensor([-2.0, 3.0]), 0.25, 0.5).tolist() == [-0.75, 3.0]
    z = gs.tensor([-2.0, 3.0])
    assert F.rrelu(z, 0.25, 0.5, inplace=True) is z and z.tolist() == [-0.75, 3.0]


def test_gumbel_samples_have_the_given_frequencies():
    gs.manual_seed(4)
    probabilities = np.array([0.5, 0.3, 0.2])
    logits = gs.tensor(np.log(probabilities)).expand(20_000, 3).clone().requires_grad_()
    samples = F.gumbel_softmax(logits, hard=True)
    assert (samples.sum(-1) - 1).abs().max() < 1e-12
    np.testing.assert_allclose(samples.detach().numpy().mean(0), probabilities, atol=0.015)
    samples[:, 0].sum().backward()
    assert (logits.grad != 0).any()
    np.testing.assert_allclose(F.gumbel_softmax(logits, tau=0.5, dim=0).sum(0).detach().numpy(), 1, rtol=1e-12)


def test_images_without_a_batch_are_signals_to_dropout():
    with pytest.warns(UserWarning, match="assuming that channel-wise 1D dropout behavior is desired"):
        found = F.dropout2d(gs.ones(4, 8, 5))
    assert ((found == 0).all(-1) | (found == 2).all(-1)).all()


def test_similarity_of_integers_and_floats():
    x, y = gs.tensor([[1, 2], [3, -4]], dtype=gs.int8), gs.tensor(X[:2, :1, 0].repeat(2, 1))
    expected = F.cosine_similarity(x.to(y.dtype), y)
    assert F.cosine_similarity(x, y).equal(expected) and F.cosine_similarity(y, x).equal(expected)
