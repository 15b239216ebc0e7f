"""Pairs of hooks on all tensors saved in a block, and the ready-made ones (H8-H11)."""

import gc
import threading
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad, graph
from gradsmith.autograd.graph import saved_tensors_hooks


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def same(t):
    return t


# ---- default hooks


def test_hooks_for_all():
    x = leaf([1.0, 2.0])
    packed, unpacked = [], []

    def pack(t):
        packed.append((t.tolist(), gs.is_grad_enabled()))
        return t.numpy(force=True).copy()

    def unpack(array):
        unpacked.append(array.tolist())
        return gs.from_numpy(array)

    with saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    after = x * x
    assert packed == [([1.0, 2.0], False), ([1.0, 2.0], False), (y.tolist(), False)]
    assert unpacked == []
    y.sum().backward()
    assert len(unpacked) == 3
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([1.0, 2.0]) * np.exp([1.0, 4.0]))
    assert after.grad_fn._saved_self is x


def test_only_what_is_needed_is_unpacked():
    x, w = leaf([1.0]), leaf([2.0])
    unpacked = []
    with saved_tensors_hooks(same, lambda t: unpacked.append(t.item()) or t):
        y = x * w
    gs.autograd.grad(y, x, retain_graph=True)
    assert unpacked == [2.0]


def test_what_is_not_needed_may_have_been_changed():
    x, w = leaf([1.0]), leaf([2.0])
    left, right = x * 1, w * 1
    y = left * right
    left.mul_(5)
    np.testing.assert_array_equal(gs.autograd.grad(y, x)[0].numpy(), [2.0])


def test_a_value_that_two_formulas_need_is_unpacked_once():
    x, w = leaf([6.0]), leaf([2.0])
    count = []
    with saved_tensors_hooks(same, lambda t: count.append(t.item()) or t):
        y = x / w
    y.backward()
    assert sorted(count) == sorted(set(count))
    assert (x.grad.item(), w.grad.item()) == (0.5, -1.5)


def test_numbers_are_never_packed():
    with saved_tensors_hooks(lambda t: pytest.fail("packed"), same):
        y = leaf([1.0]) * 2.0
    y.backward()


def test_an_error_in_pack():
    x = leaf([1.0])
    with pytest.raises(ZeroDivisionError), saved_tensors_hooks(lambda t: 1 / 0, same):
        x * x
    assert (x * x).grad_fn._saved_self is x


def test_an_error_in_unpack_leaves_the_graph_whole():
    x = leaf([3.0])
    fail = [True]

    def unpack(t):
        if fail[0]:
            raise KeyError("gone")
        return t

    with saved_tensors_hooks(same, unpack):
        y = x * x
    with pytest.raises(KeyError, match="gone"):
        y.backward()
    fail[0] = False
    y.backward()
    assert x.grad.item() == 6.0


def test_no_version_check_with_hooks():
    x = leaf([1.0, 2.0])
    with saved_tensors_hooks(same, same):
        y = x * 1
        z = y * y
    with gs.no_grad():
        y.mul_(5)
    (grad,) = gs.autograd.grad(z.sum(), x)
    np.testing.assert_array_equal(grad.numpy(), [10.0, 20.0])


def test_histories_survive_packing():
    """Third derivative of x**4 through copies: of a leaf, of an interior tensor, of an output."""
    x = leaf([1.5])
    with graph.save_on_cpu():
        y = x * x
        z = y * y
        first = gs.autograd.grad(z, x, create_graph=True)[0]
        second = gs.autograd.grad(first, x, create_graph=True)[0]
        third = gs.autograd.grad(second, x)[0]
    assert first.item() == pytest.approx(4 * 1.5**3)
    assert second.item() == pytest.approx(12 * 1.5**2)
    assert third.item() == pytest.approx(24 * 1.5)


@pytest.mark.parametrize("function", [gs.exp, gs.sin])
@pytest.mark.parametrize("alive", [True, False])
def test_tangents_survive_packing(function, alive):
    values, direction = np.array([0.5, 1.0]), np.array([1.0, 3.0])
    with forward_ad.dual_level():
        x = forward_ad.make_dual(leaf(values), gs.tensor(direction))
        with graph.save_on_cpu():
            y = function(x)
        end = y.sum()
        if not alive:
            del y
        (grad,) = gs.autograd.grad(end, x)
        tangent = forward_ad.unpack_dual(grad).tangent
    second = np.exp(values) if function is gs.exp else -np.sin(values)
    np.testing.assert_allclose(tangent.numpy(), second * direction)


def test_an_unpacked_leaf_stands_for_the_leaf():
    x = leaf([2.0, 3.0])
    with saved_tensors_hooks(lambda t: t.numpy(force=True), gs.from_numpy):
        y = x * x
    stand_in = y.grad_fn._saved_self
    assert stand_in is not x
    assert stand_in.is_leaf and stand_in.requires_grad
    (stand_in * 5).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [5.0, 5.0])
    (grad,) = gs.autograd.grad((stand_in * 2).sum(), x)
    np.testing.assert_array_equal(grad.numpy(), [2.0, 2.0])
    (grad,) = gs.autograd.grad((x * 3).sum(), stand_in)
    np.testing.assert_array_equal(grad.numpy(), [3.0, 3.0])


def test_an_unpacked_constant_stays_a_constant():
    with saved_tensors_hooks(same, lambda t: t.clone().requires_grad_()):
        y = leaf([1.0]) * gs.tensor([2.0], dtype=gs.float64)
    assert not y.grad_fn._saved_other.requires_grad


def test_a_saved_view_comes_back_as_an_ordinary_tensor():
    x = leaf([1.0, 2.0, 3.0])
    with saved_tensors_hooks(same, same):
        y = x[1:] * x[1:]
    saved = y.grad_fn._saved_self
    assert not saved._is_view()
    assert saved.grad_fn is not None


def test_hooks_are_of_one_thread():
    x = leaf([1.0])
    results = []

    def work():
        results.append((x * x).grad_fn._saved_self is x)

    with saved_tensors_hooks(lambda t: pytest.fail("packed"), same):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [True]


class Box:
    """Something that can be referred to weakly."""


@pytest.mark.parametrize(
    "pack",
    [same, lambda t: t.detach(), lambda t: (t,), lambda t: [t.detach()], lambda t: t.view(-1), lambda t: t.data],
    ids=["tensor", "detached", "tuple", "list", "view", "data"],
)
@pytest.mark.parametrize("how", ["default", "own", "own, output gone"])
def test_a_pair_that_keeps_its_tensor_is_collected(pack, how):
    x = leaf([1.0])
    box = Box()
    reference = weakref.ref(box)

    def hooks(box=box):
        return lambda t: (box, pack(t))[1], same

    if how == "default":
        with saved_tensors_hooks(*hooks()):
            y = x.exp()
    else:
        y = x.exp()
    y.grad_fn.metadata["box"] = box
    gone = weakref.ref(y)
    node = y.grad_fn
    if how == "own, output gone":
        end = y + 1
        del y
    if how != "default":
        node._raw_saved_result.register_hooks(*hooks())
    y = end = None
    del box, hooks, node
    gc.collect()
    assert gone() is None
    assert reference() is None
    assert y is end


def test_allowed_mutation_leaves_nothing_behind():
    x = leaf([1.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        gone = weakref.ref(y)
        del y
        assert gone() is None


# ---- pairs inside pairs


def test_pairs_compose():
    x = leaf([1.0, 2.0])
    order = []

    def pair(name, factor):
        def pack(t):
            order.append(f"pack {name}")
            return t.detach() * factor

        def unpack(t):
            order.append(f"unpack {name}")
            return t / factor

        return saved_tensors_hooks(pack, unpack)

    with pair("outer", 3.0), pair("inner", 5.0):
        y = x.exp()
    assert order == ["pack inner", "pack outer"]
    np.testing.assert_allclose(y.grad_fn._raw_saved_result.data.numpy(), 15 * np.exp([1.0, 2.0]))
    y.sum().backward()
    assert order == ["pack inner", "pack outer", "unpack outer", "unpack inner"]
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]))


def test_a_packed_value_that_is_no_tensor_ends_the_chain():
    x = leaf([1.0, 2.0])
    outer = saved_tensors_hooks(lambda t: pytest.fail("packed"), lambda t: pytest.fail("unpacked"))
    with outer, saved_tensors_hooks(lambda t: t.tolist(), lambda v: gs.tensor(v, dtype=gs.float64)):
        y = x.exp()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]))


# ---- refusing hooks


def test_hooks_refused():
    x = leaf([1.0])
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), saved_tensors_hooks(same, same):
            pass
        (x * x).grad_fn._raw_saved_self.register_hooks(same, same)
        with (
            graph.disable_saved_tensors_hooks("nor here"),
            pytest.raises(RuntimeError, match="nor here"),
            saved_tensors_hooks(same, same),
        ):
            pass
        with pytest.raises(RuntimeError, match="not here"), saved_tensors_hooks(same, same):
            pass
    with saved_tensors_hooks(same, same):
        pass
    with (
        saved_tensors_hooks(same, same),
        pytest.raises(RuntimeError, match="too late"),
        graph.disable_saved_tensors_hooks("too late"),
    ):
        pass


# ---- copies


def test_save_on_cpu_keeps_copies():
    data = np.array([1.0, 2.0])
    x = leaf([3.0, 4.0])
    with graph.save_on_cpu(pin_memory=True, device_type="cpu"):
        y = x * gs.from_numpy(data)
    data[:] = 100.0
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 2.0])


# ---- changes that copy first


def test_allow_mutation():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.sin_()
        y.mul_(2)
        w = (y * y).sum()
        z.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])
        x.grad = None
        y[0].zero_()
        w.backward()
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), 8 * np.sin(values) * np.cos(values))


def test_allow_mutation_through_a_view_and_of_an_output():
    x = leaf([1.0, 2.0, 3.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        end = y.sum()
        y[1:].zero_()
        end.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0, 3.0]))


def recorded_where_mutation_is_allowed():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        return x, y, (y * y).sum()


def test_allow_mutation_ends_with_its_block():
    x, y, z = recorded_where_mutation_is_allowed()
    for change in (lambda: None, lambda: y.zero_()):
        change()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
            gs.autograd.grad(z, x)
    with graph.allow_mutation_on_saved_tensors(), pytest.raises(AssertionError, match="originally recorded"):
        gs.autograd.grad(z, x)
    with pytest.raises(AssertionError, match="outside of"):
        _ = z.grad_fn.next_functions[0][0]._saved_self


def test_what_allow_mutation_has_kept_can_be_cleared():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = (y * y).sum()
        context.clear()
        w = (y * y).sum()
        with pytest.raises(AssertionError, match="before its clear"):
            gs.autograd.grad(z, x)
        np.testing.assert_array_equal(gs.autograd.grad(w, x)[0].numpy(), [2.0, 4.0])


def test_where_nothing_is_saved_the_block_does_not_matter():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors():
        z = (x + x).sum()
    np.testing.assert_array_equal(gs.autograd.grad(z, x)[0].numpy(), [2.0, 2.0])


def test_allow_mutation_copies_only_what_is_changed():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x * 2
        z = y * y
        before = z.grad_fn._saved_self.data_ptr()
        assert before == y.data_ptr()
        y.add_(1)
        assert z.grad_fn._saved_self.data_ptr() != y.data_ptr()


def test_allow_mutation_is_not_nested():
    with (
        graph.allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="cannot be nested"),
        graph.allow_mutation_on_saved_tensors(),
    ):
        pass
    with graph.allow_mutation_on_saved_tensors():
        pass


def sizes(context):
    return len(context.tid_to_weakhandle), len(context.cloned), len(context.original)


def test_what_a_block_of_allowed_mutation_keeps():
    """PyTorch's numbers."""
    with graph.allow_mutation_on_saved_tensors() as context:
        x = leaf([1.0]) * 1
        y, z = x.sin(), x.cos()
        found = [sizes(context)]
        x.add_(1)
        found.append(sizes(context))
        w = x.sin()
        found.append(sizes(context))
        x.mul_(2)
        found.append(sizes(context))
        (y + z + w).sum().backward()
        found.append(sizes(context))
        y = x.exp()
        found.append(sizes(context))
    assert found == [(1, 0, 1), (1, 1, 0), (2, 1, 1), (2, 2, 0), (0, 0, 0), (1, 0, 1)]
    assert sizes(context) == (0, 0, 0)


def test_the_hook_that_unpacks_a_saved_tensor():
    y = leaf([1.0]).exp()
    assert y.grad_fn._raw_saved_result.unpack_hook is None
    assert type(y.grad_fn._raw_saved_result) is graph.SavedTensor is gs.autograd.SavedTensor
    y.grad_fn._raw_saved_result.register_hooks(same, same)
    assert y.grad_fn._raw_saved_result.unpack_hook is same


def test_a_block_ends_without_arguments():
    block = saved_tensors_hooks(same, same)
    block.__enter__()
    block.__exit__()
    with graph.disable_saved_tensors_hooks("none is open"):
        pass


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_outer_pairs_are_there_again_when_an_inner_block_ends(depth):
    """Also when it ends with an error, and for what is saved between two inner blocks."""
    x, seen = gs.tensor([2.0], requires_grad=True), []

    def pair(number):
        return gs.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(number), t)[1], lambda t: t)

    def packed():
        seen.clear()
        x.exp()
        return list(seen)

    def nested(number, fails):
        outer = packed()
        with pair(number):
            assert packed() == [number, *outer]
            if number < depth:
                nested(number + 1, fails)
                assert packed() == [number, *outer]
                with pytest.raises(ZeroDivisionError):
                    nested(number + 1, True)
            assert packed() == [number, *outer]
            if fails:
                raise ZeroDivisionError
        assert packed() == outer

    nested(1, False)
    assert packed() == []
