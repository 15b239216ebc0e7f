"""A cycle that something of the user's closes is collected, whatever was there first."""

import contextlib
import gc
import weakref

import pytest
from custom_functions import make

import gradsmith as gs
from gradsmith.autograd import Function, forward_ad, grad, graph
from gradsmith.runtime.graph.node import live_nodes
from gradsmith.runtime.graph.tensor import live_tensors


class Holder:
    """Something of the user's that a cycle leads through."""


class Own(Exception):
    """Holds what it is given."""


def leaf():
    return gs.tensor([0.5, 1.5, 2.5], requires_grad=True, dtype=gs.float64)


Doubled = make(lambda ctx, x: x * 2, lambda ctx, gradient: gradient * 2, name="Doubled")


# ---- what closes the cycle is there before what it leads through is recorded


def hook_of_a_tensor(holder):
    holder.y = leaf() * 2
    holder.y.register_hook(lambda gradient: holder and None)
    holder.z = holder.y.exp()


def hook_of_a_leaf(holder):
    holder.x = leaf()
    holder.x.register_hook(lambda gradient: holder and None)
    holder.x.register_post_accumulate_grad_hook(lambda x: holder and None)
    holder.y = (holder.x * 2).sum()
    holder.y.backward()


def hooks_of_a_node(holder):
    holder.y = leaf() * 2
    holder.y.grad_fn.register_hook(lambda inputs, outputs: holder and None)
    holder.y.grad_fn.register_prehook(lambda outputs: holder and None)
    holder.y.grad_fn.metadata["holder"] = holder
    holder.z = holder.y.exp()


def remark_on_an_accumulator(holder):
    x = leaf()
    ((accumulator, _),) = (x * 1).grad_fn.next_functions
    accumulator.metadata["holder"] = holder
    holder.y = x * 2


def hooks_of_saved_tensors(holder):
    def pack(tensor):
        return holder, tensor

    with graph.saved_tensors_hooks(pack, lambda kept: kept[1]):
        holder.y = leaf().exp()


def context_of_a_function(holder):
    class Keeping(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.holder = holder
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    holder.y = Keeping.apply(leaf())
    holder.y.sum().backward()


def view_in_a_context(holder):
    class Keeping(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = x * 2
            ctx.alias, ctx.holder = ctx.result.detach(), holder
            return ctx.result

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    holder.y = Keeping.apply(leaf())


def tangent_of_a_dual_number(holder):
    with forward_ad.dual_level():
        holder.dual = forward_ad.make_dual(leaf() * 1, leaf() * 1)
        holder.dual.grad_fn.metadata["holder"] = holder
        holder.y = holder.dual.exp()


def graph_of_a_gradient(holder):
    x = leaf()
    x.register_hook(lambda gradient: holder and None)
    holder.x = x
    (x**3).sum().backward(inputs=[x], create_graph=True)


def failing_run(holder):
    holder.y = leaf() * 2

    def fail(gradient):
        raise Own(holder)

    holder.y.register_hook(fail)
    with pytest.raises(Own):
        holder.y.sum().backward()


def view_of_a_written_tensor(holder):
    """The tensor gets the hook with the history of what is written into it; its alias was there before."""
    source, written = leaf() * 1, leaf() * 2
    source.register_hook(lambda gradient: holder and None)
    holder.alias = written.detach()
    written.mul_(source)


def attributes_of_a_subclass(holder):
    class Parameter(gs.Tensor):
        pass

    parameter = gs.Tensor._make_subclass(Parameter, gs.ones(3), True)
    parameter.holder = holder
    holder.y = (parameter * 2).exp()


def attributes_of_a_saved_constant(holder):
    class Constant(gs.Tensor):
        pass

    constant = gs.Tensor._make_subclass(Constant, gs.ones(3))
    constant.holder = holder
    holder.y = leaf() * constant


# ---- what it leads through was recorded before


def late_hook_of_a_tensor(holder):
    y = leaf() * 2
    holder.z = y.exp()
    y.register_hook(lambda gradient: holder and None)


def late_hook_of_a_leaf(holder):
    x = leaf()
    holder.y = x * 2
    x.register_hook(lambda gradient: holder and None)


def late_hook_after_accumulation(holder):
    x = leaf()
    holder.y = x * 2
    x.register_post_accumulate_grad_hook(lambda x: holder and None)


def late_hooks_of_a_node(holder):
    y = leaf() * 2
    holder.z = y.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: holder and None)
    y.grad_fn.register_prehook(lambda outputs: holder and None)


def late_remark(holder):
    y = leaf() * 2
    holder.z = y.exp()
    y.grad_fn.metadata["holder"] = holder


def late_remark_far_below(holder):
    y = leaf()
    for _ in range(100):
        y = y.sin()
    holder.y = y
    node = y.grad_fn
    for _ in range(99):
        ((node, _),) = node.next_functions
    node.metadata["holder"] = holder


def late_remark_on_an_accumulator(holder):
    x = leaf()
    holder.y = x * 2
    ((accumulator, _),) = holder.y.grad_fn.next_functions
    holder.z = x * 3
    accumulator.metadata["holder"] = holder


def late_hook_of_a_saved_tensor(holder):
    y = leaf().exp()
    holder.z = y.sin()
    y.grad_fn._raw_saved_result.register_hooks(lambda tensor: (holder, tensor), lambda kept: kept[1])


def late_hook_of_an_edge(holder):
    y = leaf() * 2
    holder.y = y
    graph.get_gradient_edge(y).node.metadata["holder"] = holder


def late_attribute_of_a_context(holder):
    y = Doubled.apply(leaf())
    holder.z = y.exp()
    y.grad_fn.holder = holder


def late_hook_of_one_output(holder):
    first, holder.second = (leaf() * 2).split([1, 2])
    first.register_hook(lambda gradient: holder and None)


def late_hook_beside_an_alias(holder):
    y = leaf() * 2
    holder.alias = y.detach()
    y.register_hook(lambda gradient: holder and None)


def late_hook_beside_an_alias_of_a_leaf(holder):
    x, other = leaf(), leaf()
    holder.alias = x.detach()
    other.register_hook(lambda gradient: None)
    x.register_hook(lambda gradient: holder and None)


def late_hook_below_a_function(holder):
    """The node of a Function is one of Python's; what is recorded on it after the hook is not."""
    y = leaf() * 2
    z = Doubled.apply(y)
    y.register_hook(lambda gradient: holder and None)
    holder.w = z.exp()


def late_hook_below_a_saved_tensor(holder):
    y = leaf() * 2
    z = y.exp()
    y.register_hook(lambda gradient: holder and None)
    holder.revived = z.grad_fn._saved_result


def late_hook_below_a_view(holder):
    y = leaf() * 2
    holder.view = (y * 1)[1:]
    y.register_hook(lambda gradient: holder and None)


def late_hook_and_a_holder_filled_later(holder):
    """Neither hook nor remark know yet what the cycle leads through."""
    y = leaf() * 2
    z = y.exp()
    y.register_hook(lambda gradient: holder and None)
    holder.z = z


# ---- without anything of the user's


def gradient_with_a_graph(holder):
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    holder.watched = holder  # the tensors are counted


def retained_gradient_with_a_graph(holder):
    y = leaf() * 2
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)
    holder.watched = holder


def assigned_gradient_with_a_graph(holder):
    x = leaf()
    (gradient,) = grad((x**3).sum(), x, create_graph=True)
    x.grad = gradient
    holder.watched = holder


EARLY = [hook_of_a_tensor, hook_of_a_leaf, hooks_of_a_node, remark_on_an_accumulator, hooks_of_saved_tensors]
EARLY += [context_of_a_function, view_in_a_context, tangent_of_a_dual_number, graph_of_a_gradient, failing_run]
EARLY += [view_of_a_written_tensor, attributes_of_a_subclass, attributes_of_a_saved_constant]
LATE = [late_hook_of_a_tensor, late_hook_of_a_leaf, late_hook_after_accumulation, late_hooks_of_a_node, late_remark]
LATE += [late_remark_far_below, late_remark_on_an_accumulator, late_hook_of_a_saved_tensor, late_hook_of_an_edge]
LATE += [late_attribute_of_a_context, late_hook_of_one_output, late_hook_beside_an_alias]
LATE += [late_hook_beside_an_alias_of_a_leaf, late_hook_below_a_function, late_hook_below_a_saved_tensor]
LATE += [late_hook_below_a_view, late_hook_and_a_holder_filled_later]
ALONE = [gradient_with_a_graph, retained_gradient_with_a_graph, assigned_gradient_with_a_graph]


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("close", EARLY + LATE + ALONE, ids=lambda close: close.__name__)
def test_cycles_are_collected(close):
    gc.collect()
    living = live_tensors() + live_nodes()
    holder = Holder()
    watched = weakref.ref(holder)
    close(holder)
    del holder
    gc.collect()
    assert watched() is None
    assert live_tensors() + live_nodes() == living


def test_what_is_in_use_is_not_collected():
    """A graph that the collector has seen works on, and goes when its last user does."""
    holder, x = Holder(), leaf()
    y = x * 2
    holder.z = (y * y).sum()
    holder.seen = []
    y.register_hook(lambda gradient: holder.seen.append(gradient.tolist()))
    gc.collect()
    holder.z.backward()
    assert holder.seen == [[2, 6, 10]] and x.grad.tolist() == [4, 12, 20]


# ---- what the collector has to look at


def tracked_nodes(y):
    """How many of the nodes from `y` down the collector sees."""
    found, nodes = 0, [y.grad_fn]
    while nodes:
        node = nodes.pop()
        found += gc.is_tracked(node)
        nodes += [following for following, _ in node.next_functions if following is not None]
    return found


def test_a_graph_without_hooks_is_not_looked_at():
    y = leaf()
    for _ in range(5):
        y = y.sin()
    assert tracked_nodes(y) == 0


def test_a_hook_that_is_set_at_once_shows_what_follows_alone():
    x = leaf()
    y = x * 2
    y.register_hook(lambda gradient: None)
    other = x * 3
    z = y.sin().cos()
    assert tracked_nodes(z) == 3 and tracked_nodes(other) == 0


def test_a_late_hook_shows_everything_alive():
    x = leaf()
    y = x * 2
    z, other = y.sin(), x * 3
    y.register_hook(lambda gradient: None)
    assert tracked_nodes(z) == 2 and tracked_nodes(other) == 1
    assert tracked_nodes(x * 4) == 0


def test_names_are_text():
    with pytest.raises(TypeError, match="name of a tensor must be a str or None, but got Holder"):
        leaf().name = Holder()


# ---- what the engine itself closes


def write_by_a_part(y):
    y[0].mul_(y[1])


def write_of_all_by_a_part(y):
    y.mul_(y[0])


def write_by_a_view_that_is_kept(y):
    part = y[:1]
    y[1:].mul_(part)
    return part


def write_by_a_shifted_part(y):
    y[1:].mul_(y[:-1])


def write_in_which_nothing_is_saved(y):
    y[0].add_(y[1])


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        write_by_a_part,
        write_of_all_by_a_part,
        write_by_a_view_that_is_kept,
        write_by_a_shifted_part,
        write_in_which_nothing_is_saved,
    ],
)
def test_a_write_that_saves_a_part_of_what_it_writes_is_collected(write, backward):
    gc.collect()
    before = live_tensors(), live_nodes()
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 2
    kept = write(y)
    if backward:
        refused = write is not write_in_which_nothing_is_saved
        with pytest.raises(RuntimeError, match="modified by an inplace") if refused else contextlib.nullcontext():
            y.exp().sum().backward(retain_graph=True)
    del x, y, kept
    gc.collect()
    gc.collect()
    assert (live_tensors(), live_nodes()) == before
