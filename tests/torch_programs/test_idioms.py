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
    assert [part.shape for part in torch.svd_lowrank(x)] == [(6, 4), (4,), (4, 4)]
    with pytest.raises(ValueError, match=r"q\(=5\) must be a non-negative integer"):
        torch.pca_lowrank(x, 5)
    with pytest.raises(ValueError, match=r"q\(=-1\) must be a non-negative integer"):
        torch.svd_lowrank(x, -1)
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.pca_lowrank([[1.0]])


def test_to_without_a_device_or_dtype() -> None:
    """None leaves what the tensor has, as programs rely on that hand `device=None` down."""
    x = torch.ones(2, 3)
    same = (
        x.to(), x.to(None), x.to(None, None), x.to("cpu", None), x.to(device=None), x.to(dtype=None),
        x.to(dtype=None, device=None), x.to(None, non_blocking=True), x.to(non_blocking=True),
        x.to(None, memory_format=torch.preserve_format),
    )  # fmt: skip
    assert all(found is x for found in same)
    wide = (
        x.to(None, torch.float64), x.to(None, torch.float64, True, True),
        x.to(device=None, dtype=torch.float64, copy=True),
        x.to(None, torch.float64, memory_format=torch.contiguous_format),
    )  # fmt: skip
    assert {found.dtype for found in wide} == {torch.float64}
    copies = x.to(copy=True), x.to(None, copy=True), x.to(None, None, False, True)
    assert all(found is not x and found.tolist() == x.tolist() for found in copies)
    assert x.to("meta").to(None, torch.float64).device.type == "meta"
    for refused in ((torch.float64, None), (None, None, None), (None, x), (None, True)):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            x.to(*refused)


class Left(tuple):
    """A tuple that has its own say in operators beside a tensor."""

    def _said(self, other):
        return "said"

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = _said
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _said
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _said
    __hash__ = tuple.__hash__


class LeftList(list):
    __radd__ = __rmul__ = __eq__ = __lt__ = __gt__ = Left._said
    __hash__ = None


SIGNS = "+ - * / // % ** @ & | ^ << >> == != < <= > >="


@pytest.mark.parametrize("sign", [*SIGNS.split()])
def test_classes_derived_from_tuple_have_their_own_operators(sign: str) -> None:
    for operand in (Left((1, 2)), Left((torch.ones(2), torch.ones(3)))):
        assert eval(f"x {sign} v", {"x": torch.tensor([1, 2]), "v": operand}) == "said"


def test_classes_derived_from_list_have_their_own_operators() -> None:
    x, v = torch.ones(2), LeftList([1.0, 2.0])
    assert (x + v, x * v, x == v, x < v, x > v) == ("said",) * 5
    assert (x - v).tolist() == [0.0, -1.0]  # of which it has none
    x += v
    assert x == "said"


def test_plain_lists_tuples_and_shapes_are_operands() -> None:
    class Plain(tuple):
        pass

    x = torch.ones(2)
    for operand in ([1.0, 2.0], (1.0, 2.0), Plain((1.0, 2.0)), torch.Size((1, 2))):
        assert (x * operand).tolist() == (operand * x).tolist() == [1.0, 2.0] and (x < operand).tolist() == [
            False,
            True,
        ]


def test_functions_that_change_a_tensor() -> None:
    """Of PyTorch's names of such functions, those whose method is here."""
    from gradsmith import in_place

    assert len(in_place.__all__) == 61 and all(getattr(torch, name) for name in in_place.__all__)
    x = torch.tensor([0.25, 4.0])
    assert torch.sqrt_(x) is x and x.tolist() == [0.5, 2.0]
    assert torch.clamp_(x, max=1.0) is x and torch.fill_(x, 3) is x and x.tolist() == [3.0, 3.0]
    leaf = torch.ones(2, requires_grad=True)
    torch.exp_(leaf * 2).sum().backward()
    np.testing.assert_allclose(leaf.grad, 2 * np.exp([2.0, 2.0]), rtol=1e-6)
    with pytest.raises(TypeError, match=r"^sigmoid_\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        torch.sigmoid_([1.0])


def test_the_mean_by_its_name_of_2018():
    with pytest.warns(UserWarning, match="reduction='elementwise_mean' is deprecated"):
        loss = nn.MSELoss(reduction="elementwise_mean")
    assert loss(torch.ones(2), torch.zeros(2)).item() == 1 and loss.reduction == "mean"


def test_variables_that_were_volatile():
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not torch.autograd.Variable(torch.ones(2), volatile=True).requires_grad
    with pytest.raises(ValueError, match="volatile and require_grad"), pytest.warns(UserWarning):
        torch.autograd.Variable(torch.ones(2), requires_grad=True, volatile=True)


class RAdam(torch.optim.Optimizer):
    """As programs of 2019 have it, or with the calls of today."""

    def __init__(self, params, lr=0.01, betas=(0.9, 0.99), older=False):
        super().__init__(params, {"lr": lr, "betas": betas})
        self.older = older

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self._update(p.data, p.grad.data, self.state[p], group["lr"], *group["betas"])

    def _update(self, p, grad, state, lr, beta1, beta2):
        if len(state) == 0:
            state["average"], state["squares"], state["step"] = torch.zeros_like(p), torch.zeros_like(p), 0
        average, squares = state["average"], state["squares"]
        state["step"] += 1
        if self.older:
            squares.mul_(beta2).addcmul_(1 - beta2, grad, grad)
            average.mul_(beta1).add_(1 - beta1, grad)
        else:
            squares.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            average.mul_(beta1).add_(grad, alpha=1 - beta1)
        if state["step"] < 4:
            p.add_(-lr, average) if self.older else p.add_(average, alpha=-lr)
        elif self.older:
            p.addcdiv_(-lr, average, squares.sqrt().add_(1e-8))
        else:
            p.addcdiv_(average, squares.sqrt().add_(1e-8), value=-lr)


@pytest.mark.filterwarnings("ignore:This overload of")
def test_an_optimizer_with_factors_by_position():
    weights = []
    for older in (True, False):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer = RAdam(model.parameters(), older=older)
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()
        weights.append(torch.nn.utils.parameters_to_vector(model.parameters()))
    assert torch.equal(*weights)
