"""Pruning: masks, their order, what is left. Values are those of PyTorch."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn.utils import prune

WEIGHT = gs.tensor([[0.1, -2.0, 0.5], [3.0, -0.4, 0.2], [0.7, 0.8, -0.9], [1.5, -1.6, 0.05]])


def made():
    layer = gs.nn.Linear(3, 4)
    with gs.no_grad():
        layer.weight.copy_(WEIGHT)
        layer.bias.copy_(gs.tensor([0.01, 1.0, 2.0, 3.0]))
    return layer


@pytest.fixture
def layer():
    return made()


def zeros_of(mask):
    return (mask == 0).nonzero().tolist()


def test_a_parameter_and_its_mask(layer):
    assert prune.l1_unstructured(layer, "weight", 0.3) is layer
    assert zeros_of(layer.weight_mask) == [[0, 0], [1, 1], [1, 2], [3, 2]]
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"] and prune.is_pruned(layer)
    layer(gs.ones(2, 3)).sum().backward()
    assert gs.equal(layer.weight_orig.grad, 2 * layer.weight_mask)
    with gs.no_grad():
        layer.weight_orig.add_(1.0)
    layer(gs.ones(1, 3))
    assert gs.equal(layer.weight, layer.weight_mask * (WEIGHT + 1))


def test_pruned_again_and_again(layer):
    prune.l1_unstructured(layer, "weight", 0.3)
    prune.l1_unstructured(layer, "weight", 2)
    assert zeros_of(layer.weight_mask) == [[0, 0], [0, 2], [1, 1], [1, 2], [2, 0], [3, 2]]
    prune.ln_structured(layer, "weight", 1, 2, 0)
    prune.ln_structured(layer, "weight", 1, float("inf"), 1)
    assert layer.weight_mask.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]]
    (hook,) = layer._forward_pre_hooks.values()
    assert len(hook) == 4 and isinstance(hook[0], prune.L1Unstructured) and list(hook)[3].dim == 1


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("n", [1, 2, 3.0, float("inf"), float("-inf"), 0, "fro"])
def test_slices_of_the_least_norm_of_any_order(n, dim):
    weights = np.array([[5.0, 0.0, 0.0, 1.0], [3.0, 3.0, -3.0, 1.5], [-4.0, 3.5, 0.5, 0.25], [2.0, -2.5, 2.5, 2.0]])
    norms = np.linalg.norm(np.moveaxis(weights, dim, 0), 2 if n == "fro" else n, axis=1)
    for count in (1, 2, 3):
        layer = gs.nn.Linear(4, 4)
        layer.weight = gs.nn.Parameter(gs.tensor(weights))
        prune.ln_structured(layer, "weight", count, n, dim)
        kept = np.ones_like(weights)
        np.moveaxis(kept, dim, 0)[np.argsort(norms, kind="stable")[:count]] = 0
        np.testing.assert_array_equal(layer.weight_mask, kept)


def test_what_is_pruned_stays_so_whatever_comes_later():
    """Each method prunes of what is left."""
    weights = gs.tensor([[1.0, -2.0, 3.0, -4.0], [5.0, -6.0, 7.0, -8.0]])
    later = {
        "mask": lambda layer: prune.custom_from_mask(layer, "weight", gs.tensor([[1.0, 1, 1, 1], [1, 1, 1, 0]])),
        "elements": lambda layer: prune.l1_unstructured(layer, "weight", 1),
        "chance": lambda layer: prune.random_unstructured(layer, "weight", 1),
        "slices": lambda layer: prune.ln_structured(layer, "weight", 1, 2, 1),
        "none": lambda layer: prune.identity(layer, "weight"),
    }
    for name, method in later.items():
        layer = gs.nn.Linear(4, 2)
        layer.weight = gs.nn.Parameter(weights.clone())
        prune.custom_from_mask(layer, "weight", gs.tensor([[0.0, 1, 1, 0], [1, 1, 1, 1]]))
        method(layer)
        mask = layer.weight_mask.numpy()
        assert mask[0, 0] == mask[0, 3] == 0, name
        assert (mask == 0).sum() == {"none": 2, "slices": 3}.get(name, 3), name
        assert gs.equal(layer.weight, weights * layer.weight_mask)


def test_what_is_left(layer):
    expected = prune.l1_unstructured(layer, "weight", 3).weight.detach()
    assert prune.is_pruned(gs.nn.Sequential(layer))
    assert prune.remove(layer, "weight") is layer and isinstance(layer.weight, gs.nn.Parameter)
    assert gs.equal(layer.weight, expected) and sorted(layer.state_dict()) == ["bias", "weight"]
    assert not prune.is_pruned(layer) and not layer._forward_pre_hooks
    with pytest.raises(ValueError, match="has to be pruned"):
        prune.remove(layer, "weight")


def test_several_parameters_as_one(layer):
    other = made()
    pairs = [(layer, "weight"), (other, "bias")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=5)
    assert zeros_of(layer.weight_mask) == [[0, 0], [1, 1], [1, 2], [3, 2]] and zeros_of(other.bias_mask) == [[0]]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
    assert layer.weight_mask.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert other.bias_mask.tolist() == [0, 0, 1, 1]
    scored = made()
    prune.global_unstructured([(scored, "weight")], prune.L1Unstructured, {(scored, "weight"): 1 / WEIGHT}, amount=1)
    assert zeros_of(scored.weight_mask) == [[1, 0]]


def test_scores_and_masks(layer):
    prune.l1_unstructured(layer, "weight", 3, importance_scores=10 - WEIGHT.abs())
    assert zeros_of(layer.weight_mask) == [[0, 1], [1, 0], [3, 1]]
    prune.identity(layer, "bias")
    assert layer.bias_mask.tolist() == [1, 1, 1, 1]
    prune.custom_from_mask(layer, "bias", gs.tensor([0, 1, 1, 0]))
    assert layer.bias.tolist() == [0, 1, 2, 0]
    assert prune.L1Unstructured(2).prune(gs.tensor([3.0, 1.0, 2.0])).tolist() == [3, 0, 0]


def test_by_chance(layer):
    prune.random_unstructured(layer, "weight", 5)
    assert layer.weight_mask.sum() == 7
    other = prune.random_structured(made(), "weight", 0.5, dim=0)
    assert sorted(other.weight_mask.sum(1).tolist()) == [0, 0, 3, 3]


def test_a_method_of_ones_own(layer):
    class EverySecond(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    EverySecond.apply(layer, "weight")
    EverySecond.apply(layer, "weight")
    assert layer.weight_mask.reshape(-1).tolist() == [0, 0, 0, 1] * 3


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda layer: prune.l1_unstructured(layer, "weight", 1.5), ValueError),
        (lambda layer: prune.l1_unstructured(layer, "weight", -1), ValueError),
        (lambda layer: prune.l1_unstructured(layer, "weight", "1"), TypeError),
        (lambda layer: prune.l1_unstructured(layer, "weight", 13), ValueError),
        (lambda layer: prune.l1_unstructured(layer, "weight", 1, gs.ones(2)), AssertionError),
        (lambda layer: prune.ln_structured(layer, "bias", 1, 2, 0), ValueError),
        (lambda layer: prune.ln_structured(layer, "weight", 1, 2, 5), IndexError),
        (lambda layer: prune.custom_from_mask(layer, "weight", gs.ones(2)), AssertionError),
        (lambda layer: prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2), TypeError),
        (lambda layer: prune.global_unstructured([layer], prune.L1Unstructured, amount=1), TypeError),
        (lambda layer: prune.PruningContainer().add_pruning_method(3), TypeError),
    ],
)
def test_what_is_refused_leaves_the_module_as_it_was(call, error, layer):
    with pytest.raises(error):
        call(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"] and not prune.is_pruned(layer)


def test_masks_of_containers_have_the_dtype_of_what_is_pruned():
    container = prune.PruningContainer()
    container._tensor_name = "weight"
    chosen = prune.L1Unstructured(amount=2)
    chosen._tensor_name = "weight"
    container.add_pruning_method(chosen)
    before = gs.tensor([[1, 1, 1, 0], [1, 1, 0, 1]])
    mask = container.compute_mask(gs.arange(1.0, 9.0).reshape(2, 4), before)
    assert mask.dtype == gs.float32 and mask.tolist() == [[0, 0, 1, 0], [1, 1, 0, 1]]
    assert before.tolist() == [[1, 1, 1, 0], [1, 1, 0, 1]]
