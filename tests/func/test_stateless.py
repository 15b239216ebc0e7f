"""`functional_call`, `stack_module_state`, `functionalize`, `debug_unwrap`; errors are those of PyTorch 2.13."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.func import debug_unwrap, functional_call, functionalize, stack_module_state
from gradsmith.nn.utils.parametrize import register_parametrization

X = gs.tensor([1.0, 2.0])


class Module:
    """The interface of modules that is used here: named parameters, named buffers, and the tables that keep both."""

    training = True

    def __init__(self, **children):
        self.__dict__.update(_parameters={}, _buffers={}, children=children)

    def __getattr__(self, name):
        for table in (self._parameters, self._buffers, self.children):
            if name in table:
                return table[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        raise TypeError("cannot assign a Tensor as a parameter")

    def _named(self, table, remove_duplicate):
        found = [*getattr(self, table).items()]
        for prefix, child in self.children.items():
            found += [(f"{prefix}.{name}", value) for name, value in child._named(table, False)]
        seen = set()
        return [(n, v) for n, v in found if not (remove_duplicate and id(v) in seen) and not seen.add(id(v))]

    def named_parameters(self, remove_duplicate=True):
        return self._named("_parameters", remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        return self._named("_buffers", remove_duplicate)


class Affine(Module):
    def __init__(self):
        super().__init__()
        self._parameters["w"] = gs.ones(2, requires_grad=True)
        self._buffers["b"] = gs.zeros(2)

    def __call__(self, x, k=1):
        return (self.w * x + self.b) * k


class Tied(Module):
    def __init__(self):
        super().__init__(a=Affine())
        self._parameters["w2"] = self.a.w

    def __call__(self, x):
        return self.a(x) + self.w2


@pytest.mark.parametrize(
    "dicts, args, kwargs, expected",
    [
        ({"w": X}, (X,), None, [1, 4]),
        ({"w": X}, X, {"k": 3}, [3, 12]),
        ([{"w": X}, {"b": X}], X, None, [2, 6]),
    ],
)
def test_call(dicts, args, kwargs, expected):
    module = Affine()
    assert functional_call(module, dicts, args, kwargs).tolist() == expected
    assert module.w.tolist() == [1, 1] and module.b.tolist() == [0, 0]


@pytest.mark.parametrize(
    "dicts, options, error, text",
    [
        ([{"w": X}, {"w": X}], {}, ValueError, r"\['w'\] appeared in multiple dictionaries"),
        (3, {}, ValueError, "to be a dict, or a list/tuple of dicts, but got"),
        ([3], {}, ValueError, "Expected all elements of parameter_and_buffer_dicts to be dictionaries"),
        ({"w": 3}, {}, TypeError, "'w' is given a int"),
        ({"q": X}, {"strict": True}, RuntimeError, r"(?s)for Affine:.*Unexpected.*: 'q'.*Missing.*: 'b', 'w'"),
        ({"z.w": X}, {}, AttributeError, "Affine has no attribute `z`"),
    ],
)  # fmt: skip
def test_errors(dicts, options, error, text):
    module = Affine()
    with pytest.raises(error, match=text):
        functional_call(module, dicts, X, **options)
    assert module.w.tolist() == [1, 1]


def test_tied_weights():
    module = Tied()
    assert functional_call(module, {"a.w": X}, X).tolist() == [2, 6]
    assert functional_call(module, {"a.w": X}, X, tie_weights=False).tolist() == [2, 5]
    with pytest.raises(ValueError, match=r"multiple values for keys \['a.w', 'w2'\], which are tied"):
        functional_call(module, {"a.w": X, "w2": X + 1}, X)


def test_an_unknown_name_is_there_for_the_call_only():
    module = Affine()
    assert functional_call(module, {"q": X}, X).tolist() == [1, 2]
    assert not hasattr(module, "q")


class Counting(gs.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = gs.nn.Buffer(gs.zeros(1))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.count


def test_what_the_module_assigns_gets_into_the_dict_that_was_given():
    module, given = Counting(), gs.tensor([2.0])
    states = {"count": given}
    assert functional_call(module, states, gs.zeros(1)).tolist() == [3]
    assert functional_call(module, states, gs.zeros(1)).tolist() == [4]
    assert states["count"].tolist() == [4] and given.tolist() == [2] and module.count.tolist() == [0]
    several = ({"count": given},)
    functional_call(module, several, gs.zeros(1))
    assert several[0]["count"] is given


def test_none_stands_for_no_tensor():
    module, weight = gs.nn.Linear(2, 1), gs.ones(1, 2)
    bias = module.bias
    assert functional_call(module, {"weight": weight, "bias": None}, X).tolist() == [3]
    assert module.bias is bias


def test_modules_that_hold_themselves():
    module = gs.nn.Sequential(gs.nn.Linear(1, 1))
    module[0].whole = module
    found = functional_call(module, {"0.whole.0.weight": gs.ones(1, 1), "0.bias": gs.ones(1)}, X[:1], tie_weights=False)
    assert found.tolist() == [2]


def test_tied_tensors_are_there_for_strict_calls():
    module = gs.nn.Linear(2, 1)
    module.other = module.bias
    tensors = {"weight": gs.ones(1, 2), "bias": gs.ones(1)}
    assert functional_call(module, tensors, X, strict=True).tolist() == [4]
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'other'"):
        functional_call(module, tensors, X, tie_weights=False, strict=True)


def test_new_parameters_are_parameters_of_the_module():
    class Listing(gs.nn.Module):
        def forward(self):
            return dict(self.named_parameters())

    extra, module = gs.nn.Parameter(gs.ones(1)), Listing()
    assert functional_call(module, {"extra": extra}) == {"extra": extra}
    assert not module._parameters and not hasattr(module, "extra")


def test_restored_after_an_error():
    module = Affine()
    before = module.w
    with pytest.raises(RuntimeError):
        functional_call(module, {"w": X, "b": gs.zeros(3)}, X)
    assert module.w is before and module.b.shape == (2,)


class Doubled(gs.nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, y):
        return y / 2


def doubled():
    module = gs.nn.Linear(2, 2, bias=False)
    gs.nn.init.zeros_(module.weight)
    return register_parametrization(module, "weight", Doubled())


@pytest.mark.parametrize("name, expected", [("weight", [[2, 2]]), ("parametrizations.weight.original", [[4, 4]])])
def test_parametrized_tensors(name, expected):
    module = doubled()
    original = module.parametrizations.weight.original
    assert functional_call(module, {name: gs.ones(2, 2)}, gs.ones(1, 2)).tolist() == expected
    with pytest.raises(RuntimeError):
        functional_call(module, {name: gs.ones(2, 2)}, gs.ones(1, 3))
    assert module.parametrizations.weight.original is original and not original.any()


def test_parametrized_tensors_whose_inverse_loses_something():
    module = gs.nn.utils.parametrizations.weight_norm(gs.nn.Linear(2, 2))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    functional_call(module, {"weight": gs.ones(2, 2)}, gs.ones(1, 2))
    assert all(value.equal(before[name]) for name, value in module.state_dict().items())


def test_derivatives_reach_only_the_originals_of_parametrized_tensors():
    module = doubled()

    def loss(weight, name):
        return functional_call(module, {name: weight}, gs.ones(1, 2)).sum()

    with pytest.raises(RuntimeError, match=r"give its original instead: 'parametrizations\.weight\.original'"):
        func.grad(loss)(gs.ones(2, 2), "weight")
    assert func.grad(loss)(gs.ones(2, 2), "parametrizations.weight.original").tolist() == [[2, 2], [2, 2]]


class WithProperty(gs.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = X

    @property
    def scale(self):
        return self.kept

    @scale.setter
    def scale(self, value):
        self.kept = value

    def forward(self, x):
        return self.scale * x


def test_properties():
    module = WithProperty()
    assert functional_call(module, {"scale": X * 2}, X).tolist() == [2, 8]
    assert module.scale is X


class Plain:
    def __init__(self):
        self.inner = Slotted()
        self.scale = gs.tensor(2.0, requires_grad=True)

    def __call__(self, x):
        return self.scale * x + self.inner.offset


class Slotted:
    __slots__ = ("offset",)

    def __init__(self):
        self.offset = gs.tensor(1.0)


def test_plain_objects():
    module = Plain()
    assert functional_call(module, {"scale": X, "inner.offset": X}, X).tolist() == [2, 6]
    assert (module.scale.item(), module.inner.offset.item()) == (2, 1)
    with pytest.raises(AttributeError, match="Plain has no attribute `weight`"):
        functional_call(module, {"weight": X}, X)


def test_gradient_by_parameters():
    module = Affine()
    found = func.grad(lambda named: functional_call(module, named, X).sum())({"w": X})
    assert found["w"].tolist() == [1, 2]


def test_ensemble():
    models = [Affine(), Affine()]
    params, buffers = stack_module_state(models)
    assert params["w"].shape == (2, 2) and params["w"].requires_grad and params["w"].is_leaf
    assert not buffers["b"].requires_grad
    found = func.vmap(lambda p, b: functional_call(models[0], (p, b), X))(params, buffers)
    assert found.tolist() == [[1, 2], [1, 2]]
    found.sum().backward()
    assert params["w"].grad.tolist() == [[1, 2], [1, 2]] and models[0].w.grad is None


def test_errors_of_ensembles():
    frozen = Affine()
    frozen.w.requires_grad_(False)
    resting = Affine()
    resting.__dict__["training"] = False
    for models, text in [
        ([], "Expected at least one model, got 0"),
        ([Affine(), Tied()], "to be of the same class"),
        ([Affine(), resting], "the same training/eval mode"),
        ([Affine(), frozen], "the same .requires_grad"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            stack_module_state(models)


# ---- functionalize


def test_arguments_stay():
    def f(x):
        y = x.view(-1)
        y.add_(1)
        return y * 2

    x = gs.ones(2)
    assert functionalize(f)(x).tolist() == [4, 4] and x.tolist() == [1, 1]
    assert func.grad(lambda x: functionalize(f)(x).sum())(x).tolist() == [2, 2]
    assert functionalize(func.grad(lambda x: f(x * 1).sum()))(x).tolist() == [2, 2]
    assert func.vmap(functionalize(f))(gs.ones(3, 2)).tolist() == [[4, 4]] * 3
    leaf = gs.ones(2, requires_grad=True)
    functionalize(f)(leaf).sum().backward()
    assert leaf.grad.tolist() == [2, 2] and leaf.tolist() == [1, 1]


def test_arguments_that_share_memory_still_do():
    x = gs.arange(4.0)

    def f(x, part, same):
        part.mul_(10)
        return x + same

    assert functionalize(f)(x, x[1:3], x).tolist() == [0, 20, 40, 6]
    assert x.tolist() == [0, 1, 2, 3]


def test_only_mutations_can_be_removed():
    with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
        functionalize(gs.sin, remove="views")
    assert functionalize(gs.sin, remove="mutations_and_views")(gs.zeros(1)).tolist() == [0]


# ---- debug_unwrap


def test_what_is_behind():
    shapes = []

    def f(x):
        shapes.append((debug_unwrap(x).shape, debug_unwrap(x, recurse=False).shape))
        return x

    func.vmap(func.vmap(f))(gs.ones(2, 3, 4))
    assert shapes == [((2, 3, 4), (3, 4))]
    assert debug_unwrap(X) is X
    with pytest.raises(TypeError, match="expected a Tensor, got int"):
        debug_unwrap(3)


def test_batch_norms_without_running_statistics():
    """Each input of a batch of models is then normalized by its own statistics, and nothing is written."""
    model = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.BatchNorm1d(4), gs.nn.Sequential(gs.nn.BatchNorm1d(4)))
    keys = [name for name in model.state_dict() if "running" not in name and "num_batches" not in name]

    assert func.replace_all_batch_norm_modules_(model) is model

    assert list(model.state_dict()) == keys and not model[1].track_running_stats
    x = gs.randn(5, 6, 3)
    weights = dict(model.named_parameters())
    together = func.vmap(lambda one: functional_call(model, weights, one))(x)
    np.testing.assert_allclose(together.detach(), gs.stack([model(one) for one in x]).detach(), rtol=1e-5, atol=1e-6)
    model.eval()
    np.testing.assert_allclose(model(x[0]).detach(), together[0].detach(), rtol=1e-5, atol=1e-6)
