"""Callbacks that return junk, raise, or change what is running: an exception at most, and the next run is right."""

import contextlib
import gc
import weakref

import numpy as np
import pytest
from steady import growth

import gradsmith as gs
from gradsmith.autograd import Function, forward_ad, grad
from gradsmith.autograd.graph import saved_tensors_hooks

pytestmark = pytest.mark.long


def leaf():
    return gs.tensor(np.array([1.0, 2.0]), requires_grad=True)


# ---- the places of callbacks: each function prepares a graph with it and gives the run that calls it


def on_tensor(callback):
    y = leaf() * 2
    y.register_hook(callback)
    return lambda: y.sum().backward()


def on_leaf(callback):
    x = leaf()
    x.register_hook(callback)
    return lambda: (x * 2).sum().backward()


def before_node(callback):
    x = leaf()
    y = x * 2
    y.grad_fn.register_prehook(callback)
    return lambda: grad(y.sum(), x, allow_unused=True)


def after_node(callback):
    x = leaf()
    y = x * 2
    y.grad_fn.register_hook(callback)
    return lambda: grad(y.sum(), x, allow_unused=True, create_graph=True)


def before_accumulation(callback):
    y = leaf() * 2
    y.grad_fn.next_functions[0][0].register_prehook(callback)
    return lambda: y.sum().backward()


def after_accumulation(callback):
    x = leaf()
    x.register_post_accumulate_grad_hook(callback)
    return lambda: (x * 2).sum().backward()


def packing(callback):
    def run():
        with saved_tensors_hooks(callback, lambda kept: kept):
            y = leaf().exp()
        y.sum().backward()

    return run


def unpacking(callback):
    with saved_tensors_hooks(lambda t: t, callback):
        y = leaf().exp()
    return lambda: y.sum().backward()


def function_of(forward, backward, jvp):
    class Own(Function):
        pass

    Own.forward = staticmethod(lambda ctx, x: forward(x))
    Own.backward = staticmethod(lambda ctx, gradient: backward(gradient))
    Own.jvp = staticmethod(lambda ctx, tangent: jvp(tangent))
    return Own


def twice(x):
    return x * 2


def own_forward(callback):
    own = function_of(callback, twice, twice)
    return lambda: own.apply(leaf())


def own_backward(callback):
    y = function_of(twice, callback, twice).apply(leaf())
    return lambda: y.sum().backward()


def own_jvp(callback):
    own = function_of(twice, twice, callback)

    def run():
        with forward_ad.dual_level():
            own.apply(forward_ad.make_dual(gs.tensor(np.ones(2)), gs.tensor(np.ones(2))))

    return run


PLACES = [on_tensor, on_leaf, before_node, after_node, before_accumulation, after_accumulation]
PLACES += [packing, unpacking, own_forward, own_backward, own_jvp]
places = pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)


def assert_all_is_well():
    x = leaf()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4] and gs.is_grad_enabled()


# ---- junk

JUNK = {
    "nothing": lambda: None,
    "a tuple of nothing": lambda: (None,),
    "no gradients": lambda: (),
    "many gradients": lambda: (None,) * 40,
    "a number": lambda: 3,
    "a text": lambda: "ab",
    "a list": lambda: [None],
    "a dictionary": dict,
    "a generator": lambda: (x for x in ()),
    "an array": lambda: np.ones(2),
    "a tensor of another shape": lambda: gs.ones(7),
    "such a tensor in a tuple": lambda: (gs.ones(7),),
    "a tensor of another dtype": lambda: (gs.ones(2, dtype=gs.int64),),
    "complex numbers": lambda: (gs.ones(2, dtype=gs.complex128),),
    "a tensor without an array": lambda: gs.Tensor.__new__(gs.Tensor),
    "such a tensor in a tuple too": lambda: (gs.Tensor.__new__(gs.Tensor),),
    "two tensors": lambda: (gs.ones(2), gs.ones(2)),
    "NotImplemented": lambda: NotImplemented,
    "a class": lambda: gs.Tensor,
}
REFUSALS = (TypeError, RuntimeError, ValueError)


@places
@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_refused_or_harmless(place, junk):
    try:
        place(lambda *arguments: JUNK[junk]())()
    except REFUSALS as error:
        assert str(error)
    assert_all_is_well()


# ---- exceptions


class Own(Exception):
    """Raised by the callback; no code but the test's knows it."""


@places
def test_ten_thousand_exceptions(place):
    """Each comes out with its own type, and nothing stays behind."""

    def fails(*arguments):
        raise Own

    def call():
        run = place(fails)
        try:
            run()
        except Own:
            return
        raise AssertionError("the callback's exception was lost")

    times = 10_000 if place not in (own_forward, own_backward, own_jvp) else 1_000  # each of these makes a class
    for _ in range(3):
        blocks, living = growth(call, times, 100)
        if blocks < times // 2 and living <= 0:
            break
    else:
        raise AssertionError(f"{blocks} blocks, {living} tensors and nodes more")
    assert_all_is_well()


# ---- callbacks that change the graph they run in


class Scene:
    """A graph whose callbacks know all of it."""

    def __init__(self):
        self.x = leaf()
        self.middle = self.x * 1.0
        self.y = gs.cat([self.middle.exp(), self.middle * self.middle]).tanh()
        self.total = self.y.sum()
        self.node = self.y.grad_fn
        self.depth = 0

    def again(self, run):
        """Nested, but not for ever."""
        if self.depth < 3:
            self.depth += 1
            run()

    def drop(self):
        del self.y, self.total, self.node, self.middle
        gc.collect()


CHANGES = {
    "runs and frees it": lambda s: s.again(s.total.backward),
    "runs and keeps it": lambda s: s.again(lambda: s.total.backward(retain_graph=True)),
    "differentiates it": lambda s: s.again(lambda: grad(s.total, s.middle, create_graph=True)),
    "detaches": lambda s: s.y.detach_(),
    "writes": lambda s: s.middle.mul_(2),
    "writes through a view": lambda s: s.middle[0].mul_(2),
    "replaces the data": lambda s: setattr(s.middle, "data", gs.tensor(np.ones(5))),
    "replaces the leaf's data": lambda s: setattr(s.x, "data", gs.tensor(np.ones(5))),
    "adds hooks": lambda s: [s.middle.register_hook(lambda g: g) for _ in range(50)],
    "adds node hooks": lambda s: (s.node.register_hook(print), s.node.register_prehook(print)),
    "retains": lambda s: (s.middle.retain_grad(), s.y.retain_grad()),
    "clears the gradient": lambda s: setattr(s.x, "grad", None),
    "turns the leaf off": lambda s: s.x.requires_grad_(False),
    "looks at what is saved": lambda s: [getattr(s.node, n) for n in dir(s.node) if n.startswith(("_saved", "_raw"))],
    "packs what is saved": lambda s: s.node._raw_saved_result.register_hooks(lambda t: t, lambda t: t),
    "drops the graph": Scene.drop,
    "makes a cycle": lambda s: s.node.metadata.update(scene=s),
}
TARGETS = {
    "tensor": lambda s, call: s.middle.register_hook(call),
    "result": lambda s, call: s.y.register_hook(call),
    "before": lambda s, call: s.node.register_prehook(call),
    "after": lambda s, call: s.node.register_hook(call),
    "leaf": lambda s, call: s.x.register_hook(call),
    "accumulated": lambda s, call: s.x.register_post_accumulate_grad_hook(call),
}
RUNS = {
    "backward": lambda s: s.total.backward(),
    "twice": lambda s: (s.total.backward(retain_graph=True), s.total.backward()),
    "grad": lambda s: grad(s.total, [s.x, s.middle], allow_unused=True),
    "graph": lambda s: grad(s.total, s.x, create_graph=True),
    "inputs": lambda s: s.total.backward(inputs=[s.middle]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_graph_may_be_changed_while_it_runs(change, target, capsys):
    for run in RUNS.values():
        scene = Scene()
        TARGETS[target](scene, lambda *arguments, scene=scene: (CHANGES[change](scene), None)[1])
        try:
            run(scene)
        except (*REFUSALS, AttributeError) as error:
            assert str(error)
        vars(scene).clear()
    assert_all_is_well()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("side", ["packing", "unpacking"])
def test_the_graph_may_be_changed_while_its_tensors_are_kept(side, change, capsys):
    scenes = []

    def pack(tensor):
        if side == "packing" and scenes:
            CHANGES[change](scenes[0])
        return tensor.detach()

    def unpack(kept):
        if side == "unpacking" and scenes:
            CHANGES[change](scenes[0])
        return kept

    with saved_tensors_hooks(pack, unpack):
        scenes.append(Scene())
        try:
            (scenes[0].y * 2).exp().sum().backward(retain_graph=True)
            scenes[0].total.backward()
        except (*REFUSALS, AttributeError) as error:
            assert str(error)
    assert_all_is_well()


# ---- a write that fails at its end


@pytest.mark.parametrize("through_view", [False, True])
def test_a_pack_hook_that_raises_in_an_operation_in_place(through_view):
    """The result is packed before it is written: afterwards the node would have nothing to compute with."""

    def fails(tensor):
        raise Own

    x = leaf()
    y = x * 1.0
    with saved_tensors_hooks(fails, lambda kept: kept), pytest.raises(Own):
        (y[:1] if through_view else y).exp_()
    assert y.tolist() == [1, 2] and y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_numpy_is_not_asked_about_numbers_that_do_not_fit():
    """They become infinite, as in PyTorch, whatever the caller has told NumPy to do."""
    y = gs.ones(3) * 2
    with np.errstate(all="raise"):
        y.copy_(gs.tensor(np.array([1.0, 1e300, 1.0])))
    assert y.tolist() == [1, np.inf, 1] and y._version == 1


# ---- objects that raise as soon as one asks for their class


class Gone:
    """A weak proxy of one that has died."""


ASKING = {
    "add": lambda x, it: gs.add(x, it),
    "mul": lambda x, it: x * it,
    "reflected": lambda x, it: it * x,
    "power": lambda x, it: it**x,
    "dimension": lambda x, it: gs.sum(x, it),
    "keyword": lambda x, it: gs.sum(x, dim=it),
    "overload": lambda x, it: gs.max(x, it),
    "shape": lambda x, it: x.reshape(it),
    "softmax": lambda x, it: gs.softmax(x, it),
    "correction": lambda x, it: gs.var(x, correction=it),
    "flag": lambda x, it: gs.sum(x, keepdim=it),
    "dtype": lambda x, it: gs.ones(2, dtype=it),
    "index": lambda x, it: x[it],
    "value": lambda x, it: x.__setitem__(0, it),
    "to": lambda x, it: x.to(it),
    "tensor": lambda x, it: gs.tensor(it),
    "cat": lambda x, it: gs.cat([x, it]),
    "grad": lambda x, it: grad(x, it),
    "comparison": lambda x, it: x == it,
}


@pytest.mark.parametrize("ask", ASKING)
def test_a_dead_proxy_for_an_argument(ask, capsys):
    proxy = weakref.proxy(Gone())
    with pytest.raises((ReferenceError, TypeError)):
        ASKING[ask](gs.ones(2), proxy)
    assert capsys.readouterr().err == ""  # no exception was lost on the way


# ---- what runs when a saved value dies


class Kept:
    """The product of a pack hook; its end runs the very graph that lets it go."""

    def __init__(self, tensor, roots):
        self.tensor, self.roots = tensor, roots

    def __del__(self):
        for root in self.roots:
            with contextlib.suppress(RuntimeError):  # freed already, in parts
                root.backward(retain_graph=True)


def test_a_dying_value_may_run_the_graph_that_lets_it_go():
    roots = []
    x = leaf()
    with saved_tensors_hooks(lambda tensor: Kept(tensor.detach(), roots), lambda kept: kept.tensor):
        roots.append((x.exp() * x.sin()).tanh().sum())
    roots[0].backward()
    roots.clear()
    assert x.grad is not None
    assert_all_is_well()
