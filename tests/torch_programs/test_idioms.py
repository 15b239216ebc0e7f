"""What programs of PyTorch's rely on, found by running such programs on both: each against NumPy or by hand."""

import numpy as np
import pytest

import gradsmith as torch
from gradsmith import nn


def test_places_of_a_condition() -> None:
    mask = torch.tensor([[True, False, True], [False, True, False]])
    rows, columns = torch.where(mask)
    assert rows.tolist() == [0, 0, 1] and columns.tolist() == [0, 2, 1]
    assert rows.dtype == torch.int64 and isinstance(torch.where(mask), tuple)
    assert [place.tolist() for place in torch.where(torch.tensor([0.0, 2.0, 0.0, -1.0]))] == [[1, 3]]
    assert [place.tolist() for place in torch.where(torch.tensor(3.0))] == [[0]]
    assert torch.where(condition=mask)[0].shape == (3,)
    assert torch.where(mask, 1.0, torch.zeros(2, 3)).sum().item() == 3.0
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        torch.where(mask, 1.0)
    with pytest.raises(RuntimeError, match="differ from slice to slice"):
        torch.vmap(lambda one: torch.where(one)[0])(mask)


def test_routing_of_experts() -> None:
    """Tokens go to the two experts of the highest gates, whose outputs are added up."""
    torch.manual_seed(0)
    experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    x, gates = torch.randn(7, 4), torch.randn(7, 3).softmax(1)
    weights, selected = gates.topk(2, dim=-1)
    mask = nn.functional.one_hot(selected, num_classes=3).permute(2, 1, 0)
    found = torch.zeros(7, 4)
    for number, expert in enumerate(experts):
        place, token = torch.where(mask[number])
        found.index_add_(0, token, expert(x[token]) * weights[token, place, None])
    for token in range(7):
        expected = sum(weights[token, k] * experts[int(selected[token, k])](x[token]) for k in range(2))
        np.testing.assert_allclose(found[token].detach(), expected.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("use", [lambda x, r: x - r, lambda x, r: torch.exp(r), lambda x, r: torch.mul(r, 2)])
def test_a_pair_of_values_and_indices_is_no_tensor(use) -> None:
    x = torch.randn(2, 3)
    with pytest.raises(TypeError, match=r"the result of max\(\) is a tuple \(values, indices\), and no tensor"):
        use(x, x.max(1, keepdim=True))
    with pytest.raises(TypeError, match=r"take one of them, such as .values"):
        use(x, x.topk(2)) if use(x, x) is not None else None


def test_values_under_a_mask_differ_from_slice_to_slice() -> None:
    mask, x = torch.tensor([True, False, True]), torch.randn(4, 3)

    def squared(row):
        found = torch.zeros(3).index_put((mask,), row[mask] ** 2)
        copy = row.clone()
        copy[mask] = row[mask] ** 3
        return found + copy

    expected = torch.stack([squared(row) for row in x])
    np.testing.assert_allclose(torch.vmap(squared)(x), expected)
    forward, reverse = torch.func.jacfwd(squared)(x[0]), torch.func.jacrev(squared)(x[0])
    np.testing.assert_allclose(forward, reverse)
    np.testing.assert_allclose(forward.diagonal(), torch.where(mask, 2 * x[0] + 3 * x[0] ** 2, 1.0), rtol=1e-6)
    matrix = torch.tensor([[True, False], [True, True]])
    mapped = torch.vmap(lambda v: torch.zeros(2, 2).index_put((matrix,), v))(torch.arange(6.0).view(2, 3))
    assert mapped.tolist() == [[[0, 0], [1, 2]], [[3, 0], [4, 5]]]


def test_leading_components() -> None:
    x = torch.randn(6, 4, dtype=torch.float64)
    u, s, v = torch.pca_lowrank(x, q=2)
    centered = x.numpy() - x.numpy().mean(0)
    np.testing.assert_allclose(s, np.linalg.svd(centered, compute_uv=False)[:2])
    np.testing.assert_allclose((centered @ v.numpy()) ** 2, (u * s).numpy() ** 2, atol=1e-12)
    u, s, v = torch.svd_lowrank(x, q=4)
    np.testing.assert_allclose(u @ torch.diag(s) @ v.mH, x, atol=1e-12)
    assert torch.svd_lowrank(x, 1, M=x)[1].item() == pytest.approx(0.0, abs=1e-12)
    assert torch.autograd.gradcheck(lambda x: torch.pca_lowrank(x, 2)[1], (x.clone().requires_grad_(),))
    with pytest.raises(ValueError, match=r"q\(=5\) must be a non-negative integer"):
        torch.svd_lowrank(x, 5)
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.pca_lowrank([[1.0]])
