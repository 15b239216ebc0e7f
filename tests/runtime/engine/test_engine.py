"""backward and grad: sums over paths, pruning, retained graphs, higher derivatives."""

import gc

import numpy as np
import pytest

import gradsmith as gs


def leaf(values, dtype=np.float64):
    return gs.tensor(np.asarray(values, dtype), requires_grad=True)


def test_gradient_of_a_line():
    x = leaf([1.0, 2.0])
    (x * 3 + 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])


def test_paths_are_summed():
    x = leaf([1.0, 2.0])
    (x * 2 + x * 3).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [5.0, 5.0])


def test_diamond_of_diamonds():
    x = leaf(1.5)
    y = x
    for _ in range(20):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**20


def test_backward_fills_every_leaf_and_adds_to_what_is_there():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x * y).sum().backward()
    (x * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [6.0, 8.0])
    np.testing.assert_array_equal(y.grad.numpy(), [2.0, 4.0])


def test_existing_grad_is_added_to_in_place():
    x = leaf([1.0, 2.0])
    x.sum().backward()
    first = x.grad
    x.sum().backward()
    assert x.grad is first and first._version == 1
    np.testing.assert_array_equal(first.numpy(), [2.0, 2.0])


@pytest.mark.filterwarnings("ignore:Using backward")
def test_existing_grad_is_left_alone_where_the_sum_has_a_history():
    """R134."""
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    first, version = x.grad, x.grad._version
    (x * x).sum().backward(create_graph=True)
    assert first.tolist() == [2, 4] and first._version == version
    assert x.grad.tolist() == [4, 8] and x.grad.requires_grad


def test_grad_leaves_dot_grad_alone_and_prunes():
    x, y = leaf([2.0]), leaf([3.0])
    ran = []
    a = x * 2
    b = y * 3
    a.register_hook(lambda g: ran.append("a"))
    b.register_hook(lambda g: ran.append("b"))
    z = (a * b).sum()
    (gx,) = gs.autograd.grad(z, x)
    assert gx.item() == 2 * 3 * 3.0
    assert ran == ["a"]
    assert x.grad is None and y.grad is None


def test_grad_of_an_intermediate():
    x = leaf([2.0])
    y = x * x
    z = (y * 3).sum()
    (gy,) = gs.autograd.grad(z, y)
    np.testing.assert_array_equal(gy.numpy(), [3.0])


def test_same_input_twice():
    x = leaf([2.0])
    g1, g2 = gs.autograd.grad((x * x).sum(), [x, x])
    assert g1.item() == g2.item() == 4.0


def test_backward_with_inputs_fills_only_those():
    x, y = leaf([2.0]), leaf([3.0])
    z = x * y
    w = (z * 2).sum()
    w.backward(inputs=[x, z])
    assert x.grad.item() == 6.0
    assert y.grad is None
    with pytest.warns(UserWarning, match="not a leaf"):
        _ = (x * 1).grad
    assert z.grad.item() == 2.0


def test_second_backward_needs_retain_graph():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_second_backward_works_when_nothing_was_saved():
    x = leaf([2.0])
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0


def test_unused_input():
    x, y = leaf([1.0]), leaf([1.0])
    z = (x * 2).sum()
    with pytest.raises(RuntimeError, match=r"at index 0 appears .*allow_unused=True"):
        gs.autograd.grad(z, y, retain_graph=True)
    assert gs.autograd.grad(z, y, allow_unused=True, retain_graph=True) == (None,)
    (zero,) = gs.autograd.grad(z, y, materialize_grads=True)
    np.testing.assert_array_equal(zero.numpy(), [0.0])
    with pytest.raises(ValueError, match="allow_unused"):
        gs.autograd.grad(z, y, materialize_grads=True, allow_unused=False)


def test_several_roots():
    x = leaf([1.0, 2.0])
    a, b = x * 2, x * x
    gs.autograd.backward([a, b], [gs.tensor([1.0, 1.0], dtype=gs.float64), gs.tensor([1.0, 10.0], dtype=gs.float64)])
    np.testing.assert_array_equal(x.grad.numpy(), [2 + 2, 2 + 40])


def test_a_root_that_is_a_leaf():
    x = leaf(3.0)
    x.backward()
    assert x.grad.item() == 1.0


def test_a_root_that_is_a_leaf_and_not_asked_for():
    """Its accumulator has to live as long as the run, and to be gone afterwards: later runs are not disturbed."""
    for asked_for in (leaf([1.0]), leaf(2.0)):
        roots = [leaf(1.0), asked_for.sum()]
        for _ in range(3):
            assert gs.autograd.grad(roots[0], asked_for, allow_unused=True) == (None,)
            (found,) = gs.autograd.grad(roots, asked_for, retain_graph=True)
            assert found.shape == asked_for.shape
            x, y, s = leaf([[2.0], [3.0]]), leaf(np.ones((2, 3))), leaf(1.5)
            z = s / x
            z.tanh_()
            found = gs.autograd.grad([z.sum(), y.sum()], [x, y, s, y, z])
            assert [g.shape for g in found] == [(2, 1), (2, 3), (), (2, 3), (2, 1)]


def test_roots_must_take_part_and_be_scalars():
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        gs.tensor([1.0]).sum().backward()
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(gs.ones(3, dtype=gs.float64))
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        gs.autograd.backward([x.sum()], [None, None])
    assert x.grad is None


def test_second_and_third_derivative():
    x = leaf([0.3, -1.2])
    y = x.sin().sum()
    (first,) = gs.autograd.grad(y, x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = gs.autograd.grad(second.sum(), x)
    np.testing.assert_allclose(first.detach().numpy(), np.cos(x.detach().numpy()))
    np.testing.assert_allclose(second.detach().numpy(), -np.sin(x.detach().numpy()))
    np.testing.assert_allclose(third.numpy(), -np.cos(x.detach().numpy()))


def test_double_backward_through_a_saved_output_that_died():
    x = leaf([0.5])
    (first,) = gs.autograd.grad(x.exp().tanh().sum(), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    e = np.exp(0.5)
    t = np.tanh(e)
    np.testing.assert_allclose(first.item(), (1 - t * t) * e)
    np.testing.assert_allclose(second.item(), (1 - t * t) * e - 2 * t * (1 - t * t) * e * e)


def test_create_graph_in_backward_keeps_grad_differentiable():
    x = leaf([2.0])
    with pytest.warns(UserWarning, match="reference cycle"):
        (x**3).sum().backward(create_graph=True)
    (second,) = gs.autograd.grad(x.grad.sum(), x)
    assert x.grad.item() == 12.0
    assert second.item() == 12.0


def test_broadcasting_is_undone():
    x, b = leaf(np.ones((3, 4))), leaf(np.arange(4.0))
    c = leaf(2.0)
    (x * b * c).sum().backward()
    assert x.grad.shape == (3, 4) and b.grad.shape == (4,) and c.grad.shape == ()
    np.testing.assert_array_equal(b.grad.numpy(), [6.0] * 4)
    assert c.grad.item() == 3 * np.arange(4).sum()


def test_gradient_has_the_dtype_of_its_tensor():
    x = gs.tensor([1.0, 2.0], dtype=gs.float32, requires_grad=True)
    y = gs.tensor([3.0, 4.0], dtype=gs.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype == np.float32 and y.grad.dtype == np.float64
    z = leaf([1.0])
    w = gs.tensor([1j], requires_grad=True)
    (z * w).abs().sum().backward()
    assert z.grad.dtype == np.float64


def test_gradient_of_the_callers_is_never_overwritten():
    x = leaf([1.0, 2.0])
    given = gs.tensor([1.0, 1.0], dtype=gs.float64)
    x.exp().backward(given)
    np.testing.assert_array_equal(given.numpy(), [1.0, 1.0])
    captured = []
    y = x.exp()
    y.register_hook(captured.append)
    y.tanh().sum().backward()
    before = captured[0].numpy().copy()
    x.grad = None
    np.testing.assert_array_equal(captured[0].numpy(), before)
    np.testing.assert_allclose(before, 1 - np.tanh(np.exp([1.0, 2.0])) ** 2)


def test_saved_tensor_changed_in_place():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    a = x * 2
    z = (a * y).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*is at version 1; expected version 0"):
        z.backward()


def test_saved_output_changed_in_place_alive_or_dead():
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = y.sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.backward()
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = (y + 0).sum()
    with gs.no_grad():
        y.mul_(2)
    del y
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.backward()


def test_only_what_a_wanted_gradient_needs_is_checked():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    a, b = x * 1, y * 1
    z = (a * b).sum()
    with gs.no_grad():
        b.add_(1)
    (gb,) = gs.autograd.grad(z, b)  # needs a alone
    np.testing.assert_array_equal(gb.numpy(), [1.0, 2.0])


def test_nodes_and_edges_can_be_looked_at():
    x = leaf([1.0])
    y = x * 2 + 3
    assert y.grad_fn.name() == "AddBackward0"
    assert y.grad_fn is y.grad_fn
    ((mul, number),) = y.grad_fn.next_functions
    assert (mul.name(), number) == ("MulBackward0", 0)
    ((accumulate, _),) = mul.next_functions
    assert accumulate.name() == "AccumulateGrad"
    assert accumulate.variable is x
    assert x.grad_fn is None and x.is_leaf and not y.is_leaf
    z = x * x
    np.testing.assert_array_equal(z.grad_fn._saved_self.detach().numpy(), [1.0])
    z.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = z.grad_fn._saved_self


def test_a_tensor_whose_hook_refers_to_it_is_collected():
    class Witness:
        pass

    import weakref

    def make():
        x = leaf([1.0])
        y = x * 2
        witness = Witness()
        y.register_hook(lambda g, y=y, witness=witness: None)
        return weakref.ref(witness)

    reference = make()
    gc.collect()
    assert reference() is None


def test_a_gradient_that_nobody_holds_becomes_grad_itself():
    x = leaf(np.ones(3))
    addresses, held = [], []
    hook = x.register_hook(lambda grad: addresses.append(grad.data_ptr()))
    (x * x).sum().backward()
    assert x.grad.data_ptr() == addresses[0]
    x.grad = None
    x.register_post_accumulate_grad_hook(lambda t: addresses.append(t.grad.data_ptr()))
    (x * x).sum().backward()
    assert addresses[1] == addresses[2]  # R135
    hook.remove()
    x.grad = None
    x.register_hook(held.append)
    (x * x).sum().backward()
    assert x.grad.data_ptr() != held[0].data_ptr()
    x.grad.zero_()
    assert held[0].tolist() == [2, 2, 2]


def read_only(size):
    array = np.zeros(size)
    array.flags.writeable = False
    return gs.from_numpy(array)


PARTS_OF_LEAF = {
    "all": lambda x: x * 2,
    "a part": lambda x: x[1:],
    "rows": lambda x: x[gs.tensor([1, 1])],
    "indexed rows": lambda x: gs.embedding(x, gs.tensor([1])),
}


@pytest.mark.parametrize("part", PARTS_OF_LEAF.values(), ids=PARTS_OF_LEAF)
@pytest.mark.parametrize("grad", [lambda: read_only((3, 2)), lambda: gs.zeros(1, dtype=gs.float64).expand(3, 2)])
def test_a_grad_that_cannot_be_added_to_stays(grad, part):
    x = gs.ones(3, 2, dtype=gs.float64, requires_grad=True)
    x.grad = before = grad()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="read-only|single memory location"):
            part(x).sum().backward()
        assert x.grad is before and not before.any()


GIVEN = {
    "by detach": lambda kept: kept.detach(),
    "by a view": lambda kept: kept.view(4),
    "with NumPy": lambda kept: gs.from_numpy(kept.numpy()),
    "of a larger one": lambda kept: gs.cat([kept, kept])[:4],
    "itself": lambda kept: kept,
}


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("share", GIVEN.values(), ids=GIVEN)
def test_a_first_gradient_that_others_see_is_copied(share, times):
    """Whether a hook, a custom Function or the caller gives it, and however they keep hold of its memory."""

    class Given(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return share(kept)

    def by_hook(x):
        x.register_hook(lambda gradient: share(kept))
        return x.sum()

    for run in (by_hook, lambda x: Given.apply(x).sum()):
        kept = gs.arange(4.0)
        numbers = kept.numpy()
        x = gs.ones(4, requires_grad=True)
        for _ in range(times):
            run(x).backward()
        x.grad.fill_(7)
        assert kept.tolist() == numbers.tolist() == [0, 1, 2, 3]
    kept, x = gs.arange(4.0), gs.ones(4, requires_grad=True)
    x.backward(share(kept))
    x.grad.fill_(7)
    assert kept.tolist() == [0, 1, 2, 3]


def test_a_first_gradient_that_numpy_shares_is_copied():
    """Only the array of the caller holds the memory: the tensor around it is gone."""
    numbers = np.arange(4.0)
    x = gs.ones(4, dtype=gs.float64, requires_grad=True)
    x.register_hook(lambda gradient: gs.from_numpy(numbers))
    x.sum().backward()
    x.grad.fill_(7)
    assert numbers.tolist() == [0, 1, 2, 3]
