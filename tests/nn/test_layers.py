"""Layers: text, state and shapes are PyTorch's (`layers.txt`); values are by hand; what parameters are at first."""

import copy
import math
import pickle

import layer_table
import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith import nn
from gradsmith.nn import init

LINES = layer_table.lines()
CALLED = [line for line in LINES if line.inputs]


def made(line):
    return eval(line.source, {"nn": nn}).double()


def inputs_of(line):
    return [gs.tensor(array) for array in layer_table.arrays(line.inputs)]


def called(line, layer):
    return layer_table.tensors_in(layer(*inputs_of(line)), gs.Tensor)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.source)
def test_text_and_state(line):
    layer = made(line)
    if "Lazy" in line.source:  # the table shows what they become
        called(line, layer)
    assert repr(layer).replace("\n", "\\n") == line.text
    assert layer_table.state_text(layer.state_dict()) == line.state


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("line", CALLED, ids=lambda line: f"{line.source} {line.inputs}")
def test_outputs_and_copies(line):
    layer = made(line)
    twin = copy.deepcopy(layer)
    outputs = called(line, layer)
    assert " ".join(layer_table.shape_text(output.shape) for output in outputs) == line.outputs
    if "Lazy" in line.source:
        return
    twin.load_state_dict(pickle.loads(pickle.dumps(layer)).state_dict())
    layer.eval()
    for one, other in zip(called(line, layer), called(line, twin.eval())):
        np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("line", [line for line in CALLED if "eval" not in line.source], ids=lambda line: line.source)
def test_all_parameters_get_gradients(line):
    layer = made(line)
    first, *rest = inputs_of(line)
    outputs = layer_table.tensors_in(layer(first, *rest), gs.Tensor)
    recorded = [output for output in outputs if output.requires_grad]
    if not recorded:
        assert not list(layer.parameters())
        return
    sum(output.cos().sum() for output in recorded).backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


# ---- values: a layer is its function, with its settings in the right places

X = gs.tensor(np.random.default_rng(3).standard_normal((2, 4, 6, 6)))
VALUES = {
    "linear": (nn.Linear(6, 3), lambda m: X @ m.weight.T + m.bias),
    "bilinear": (nn.Bilinear(6, 6, 3), lambda m: gs.einsum("...i,kij,...j->...k", X, m.weight, X) + m.bias),
    "a convolution of 1 x 1": (
        nn.Conv2d(4, 3, 1),
        lambda m: gs.einsum("bihw,oi->bohw", X, m.weight[..., 0, 0]) + m.bias[:, None, None],
    ),
    "circular padding": (
        nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"),
        lambda m: F.conv2d(F.pad(X, (1, 1, 1, 1), mode="circular"), m.weight, m.bias),
    ),
    "layers": (
        nn.LayerNorm(6),
        lambda m: (X - X.mean(-1, keepdim=True)) / (X.var(-1, correction=0, keepdim=True) + 1e-5).sqrt(),
    ),
    "batches": (
        nn.BatchNorm2d(4),
        lambda m: (X - X.mean((0, 2, 3), keepdim=True)) / (X.var((0, 2, 3), correction=0, keepdim=True) + 1e-5).sqrt(),
    ),
    "leaky": (nn.LeakyReLU(0.3), lambda m: gs.where(X > 0, X, 0.3 * X)),
    "hardtanh": (nn.Hardtanh(-0.5, 0.25), lambda m: X.clamp(-0.5, 0.25)),
    "softmax": (nn.Softmax(1), lambda m: X.exp() / X.exp().sum(1, keepdim=True)),
    "images flat": (nn.Flatten(), lambda m: X.reshape(2, -1)),
    "zeros": (nn.ZeroPad2d((1, 0, 0, 2)), lambda m: F.pad(X, (1, 0, 0, 2))),
    "means": (nn.AvgPool2d(2), lambda m: X.reshape(2, 4, 3, 2, 3, 2).mean((3, 5))),
}


@pytest.mark.parametrize(("layer", "expected"), VALUES.values(), ids=VALUES)
def test_values(layer, expected):
    layer = layer.double()
    np.testing.assert_allclose(layer(*[X] * (1 + isinstance(layer, nn.Bilinear))).detach(), expected(layer).detach())


def test_losses_have_weights():
    scores, targets = gs.tensor([[2.0, 1.0], [0.5, 1.5]]), gs.tensor([0, 1])
    losses = -F.log_softmax(scores, 1)[[0, 1], [0, 1]]
    weight = gs.tensor([1.0, 3.0])
    weighted = nn.CrossEntropyLoss(weight=weight)
    np.testing.assert_allclose(weighted(scores, targets), (losses * weight).sum() / 4, rtol=1e-6)
    assert list(weighted.state_dict()) == ["weight"] and weighted.weight.dtype == gs.float32
    yes = nn.BCEWithLogitsLoss(pos_weight=gs.tensor([2.0]))(gs.tensor([0.0]), gs.tensor([1.0]))
    assert yes.item() == pytest.approx(2 * math.log(2))


@pytest.mark.parametrize(
    ("old", "reduction"),
    [({"size_average": False}, "sum"), ({"reduce": False}, "none"), ({"size_average": True}, "mean")],
)
def test_old_ways_to_reduce(old, reduction):
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        assert nn.MSELoss(**old).reduction == reduction


# ---- training and use


def test_dropout_drops_in_training_only():
    gs.manual_seed(0)
    layer, x = nn.Dropout(0.25), gs.ones(10_000)
    y = layer(x)
    assert abs((y == 0).float().mean().item() - 0.25) < 0.02 and y.max().item() == pytest.approx(4 / 3)
    assert layer.eval()(x) is x
    inplace = nn.Dropout(1.0, inplace=True)
    assert inplace(x) is x and not x.any()


def test_batch_normalization_learns_statistics():
    layer = nn.BatchNorm1d(1, momentum=0.5)
    x = gs.tensor([[0.0], [4.0]])
    layer(x)
    layer(x)
    assert (layer.running_mean.item(), layer.running_var.item(), layer.num_batches_tracked.item()) == (1.5, 6.25, 2)
    assert layer.eval()(gs.tensor([[1.5]])).item() == 0.0 and layer.num_batches_tracked.item() == 2
    layer.reset_running_stats()
    assert (layer.running_mean.item(), layer.running_var.item(), layer.num_batches_tracked.item()) == (0.0, 1.0, 0)
    means = nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 2.0, 6.0):
        means(gs.tensor([[value], [value]]))
    assert means.running_mean.item() == pytest.approx(3.0)
    without = nn.BatchNorm1d(1, track_running_stats=False).eval()
    np.testing.assert_allclose(without(x).detach(), [[-1.0], [1.0]], atol=1e-5)


def test_embeddings_keep_nothing_at_the_padding():
    layer = nn.Embedding(5, 2, padding_idx=-1)
    assert layer.padding_idx == 4 and not layer.weight[4].any()
    layer(gs.tensor([1, 4])).sum().backward()
    np.testing.assert_array_equal(layer.weight.grad, [[0, 0], [1, 1], [0, 0], [0, 0], [0, 0]])
    table = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    fixed = nn.Embedding.from_pretrained(table)
    assert not fixed.weight.requires_grad and fixed.weight.data_ptr() == table.data_ptr()
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_tables_that_are_given_are_frozen_unless_otherwise_said(kind):
    table = gs.arange(6.0).reshape(3, 2)
    options = {"padding_idx": 1, "max_norm": 2.0, "norm_type": 1.0, "scale_grad_by_freq": True, "sparse": False}
    if kind is nn.EmbeddingBag:
        options |= {"mode": "sum", "include_last_offset": True}
    for freeze, requires_grad in (({}, False), ({"freeze": True}, False), ({"freeze": False}, True)):
        layer = kind.from_pretrained(table, **freeze, **options)
        assert layer.weight.requires_grad is requires_grad and gs.equal(layer.weight, table)
        assert (layer.num_embeddings, layer.embedding_dim) == (3, 2)
        assert {name: getattr(layer, name) for name in options} == options


@pytest.mark.parametrize("shape", [(1, 2), (1, 2, 1, 1)])
def test_groups_of_one_element(shape):
    layer = nn.GroupNorm(2, 2)
    with pytest.raises(ValueError, match=r"^Expected more than 1 value per channel .*, got input size \[1, 2"):
        layer(gs.ones(shape))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.functional.group_norm(gs.ones(shape), 2)
    assert gs.group_norm(gs.ones(shape), 2).shape == layer(gs.ones(2, *shape[1:]))[:1].shape == shape


def test_batch_normalization_in_step():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm1d(3, affine=False)))
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert all(isinstance(layer, nn.SyncBatchNorm) for layer in (converted[0], converted[1][0]))
    assert list(converted.state_dict()) == list(net.state_dict()) and converted[1][0].weight is None


def test_classes_of_few_frequent_and_many_rare_ones():
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10]).double()
    x, targets = gs.tensor(np.random.default_rng(0).standard_normal((20, 16))), gs.arange(20)
    output, loss = layer(x, targets)
    everything = layer.log_prob(x)
    np.testing.assert_allclose(everything.exp().sum(1).detach(), 1.0)
    np.testing.assert_allclose(output.detach(), everything[targets, targets].detach())
    assert loss.item() == pytest.approx(-output.mean().item())
    np.testing.assert_array_equal(layer.predict(x), everything.argmax(1))
    one = layer(x[3], gs.tensor(3))
    assert one.output.item() == pytest.approx(output[3].item()) and one.loss.item() == pytest.approx(-output[3].item())


# ---- the first values of parameters


def spread(parameter):
    return parameter.abs().max().item()


@pytest.mark.parametrize(
    ("layer", "bound"),
    [
        (nn.Linear(100, 200), 0.1),
        (nn.Bilinear(25, 4, 100), 0.2),
        (nn.Conv1d(20, 50, 5), 0.1),
        (nn.Conv2d(8, 50, 5, groups=2), 0.1),
        (nn.Conv3d(4, 50, (1, 5, 5)), 0.1),
        (nn.ConvTranspose2d(50, 4, 5), 0.1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_uniform_up_to_a_bound(layer, bound):
    for parameter in layer.parameters():
        assert spread(parameter) <= bound
    weight = layer.weight
    assert spread(weight) > 0.98 * bound
    assert abs(weight.mean().item()) < 0.05 * bound
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)


def test_other_first_values():
    table = nn.Embedding(100, 100).weight
    assert abs(table.mean().item()) < 0.05 and table.std().item() == pytest.approx(1.0, rel=0.05)
    for layer in (nn.LayerNorm(3), nn.BatchNorm1d(3), nn.GroupNorm(1, 3)):
        assert layer.weight.eq(1).all() and layer.bias.eq(0).all()
    assert nn.PReLU(3, init=0.1).weight.eq(0.1).all() and nn.RMSNorm(3).weight.eq(1).all()


def test_parameters_are_made_where_and_as_asked():
    for layer in (
        nn.Linear(2, 3, dtype=gs.float64),
        nn.Conv1d(2, 3, 1, dtype=gs.float64),
        nn.LayerNorm(2, dtype=gs.float64),
    ):
        assert all(parameter.dtype == gs.float64 for parameter in layer.parameters())
    assert all(parameter.is_meta for parameter in nn.BatchNorm1d(2, device="meta").parameters())
    with gs.device("meta"):
        assert nn.Linear(2, 2).weight.is_meta


def test_drawing_anew_follows_the_seed():
    gs.manual_seed(1)
    first = nn.Linear(3, 3)
    gs.manual_seed(1)
    second = nn.Linear(3, 3)
    np.testing.assert_array_equal(first.weight.detach(), second.weight.detach())
    second.reset_parameters()
    assert (first.weight != second.weight).any()
    assert isinstance(init, type(math))


# ---- what is refused


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), ValueError, "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), ValueError, "groups must be a positive integer"),
        (lambda: nn.Conv2d(4, 4, 3, padding="full"), ValueError, "Invalid padding string 'full'"),
        (lambda: nn.Conv2d(4, 4, 3, 2, "same"), ValueError, "padding='same' is not supported for strided convolutions"),
        (lambda: nn.Conv2d(4, 4, 3, padding_mode="x"), ValueError, "padding_mode must be one of"),
        (
            lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"),
            ValueError,
            'Only "zeros" padding mode is supported for ConvTranspose2d',
        ),
        (
            lambda: nn.ConvTranspose1d(1, 1, 3, 2)(gs.ones(1, 1, 4), output_size=[20]),
            ValueError,
            r"requested an output size of \[20\], but valid sizes range from \[9\] to \[10\]",
        ),
        (
            lambda: nn.ConvTranspose1d(1, 1, 3, 2)(gs.ones(1, 1, 4), output_size=[1, 2]),
            ValueError,
            "output_size must have 1 or 3 elements",
        ),
        (lambda: nn.Dropout(1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
        (lambda: nn.BatchNorm2d(3)(gs.ones(2, 3)), ValueError, r"expected 4D input \(got 2D input\)"),
        (lambda: nn.BatchNorm1d(3)(gs.ones(3)), ValueError, r"expected 2D or 3D input \(got 1D input\)"),
        (
            lambda: nn.InstanceNorm1d(3, affine=True)(gs.ones(1, 4, 5)),
            ValueError,
            r"expected input's size at dim=1 to match num_features \(3\), but got: 4",
        ),
        (lambda: nn.GroupNorm(2, 3), ValueError, r"num_channels \(3\) must be divisible by num_groups \(2\)"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError, "padding_idx must be within num_embeddings"),
        (lambda: nn.Embedding(3, 2, _weight=gs.ones(2, 2)), AssertionError, "Shape of weight does not match"),
        (lambda: nn.Embedding.from_pretrained(gs.ones(2)), AssertionError, "expected to be 2-dimensional"),
        (lambda: nn.Hardtanh(1.0, 0.0), AssertionError, r"max_val \(0.0\) must be greater than min_val \(1.0\)"),
        (lambda: nn.Softmax2d()(gs.ones(2)), ValueError, "expected input to be 3D or 4D, got 1D instead"),
        (lambda: nn.CircularPad2d(1)(gs.ones(2)), ValueError, r"expected 3D or 4D input \(got 1D input\)"),
        (lambda: nn.Unflatten(1, 3), TypeError, "must be a tuple of ints, but found type int"),
        (lambda: nn.Unflatten(1, (1, "a")), TypeError, "found element of type str at pos 1"),
        (lambda: nn.FractionalMaxPool2d(2), ValueError, "either an output size, or a pooling ratio"),
        (lambda: nn.FractionalMaxPool2d(2, 3, 0.5), ValueError, "only one of output_size and output_ratio"),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=2.0), ValueError, "output_ratio must be between 0 and 1"),
        (lambda: nn.Bilinear(0, 1, 1), ValueError, r"in1_features must be > 0, but got \(in1_features=0\)"),
        (lambda: nn.HuberLoss(delta="a"), TypeError, "delta must be a float or int, got: <class 'str'>"),
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2 supported"),
        (lambda: nn.TripletMarginLoss(margin=0.0), ValueError, "expected margin to be greater than 0, got 0.0 instead"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, []), ValueError, "length larger than 0"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 20]), ValueError, "between 1 and n_classes-1"),
        (lambda: nn.Linear(2, 3)(gs.ones(2, 4)), RuntimeError, None),
        (lambda: nn.Linear(2.5, 3), TypeError, None),
        (lambda: nn.Linear(-1, 3), RuntimeError, None),
    ],
)  # fmt: skip
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_targets_out_of_range():
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])
    with pytest.raises(RuntimeError, match=r"Target values should be in \[0, 19\], but values in range \[0, 20\]"):
        layer(gs.ones(2, 16), gs.tensor([0, 20]))
    with pytest.raises(RuntimeError, match="same size in the batch dimension"):
        layer(gs.ones(2, 16), gs.tensor([0]))
    with pytest.raises(RuntimeError, match="multi-target not supported"):
        layer(gs.ones(2, 16), gs.zeros(2, 2, dtype=gs.int64))
    with pytest.raises(RuntimeError, match="1D target tensor expects 2D input"):
        layer(gs.ones(16), gs.tensor([0]))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_by_nothing_is_a_copy(mode):
    x = gs.ones(1, 2, 3, requires_grad=True)
    y = gs.nn.functional.pad(x, (0, 0), mode=mode)
    y.detach().fill_(4)
    assert x.tolist() == gs.ones(1, 2, 3).tolist()
    y.sum().backward()
    assert x.grad.tolist() == gs.ones(1, 2, 3).tolist()
