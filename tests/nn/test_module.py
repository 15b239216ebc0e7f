"""Modules: attributes, registration, walks, conversion, text, copies. Messages are those of PyTorch 2.13."""

import copy
import pickle
import threading

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn.modules import module as module_file


class Layer(nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.weight = nn.Parameter(gs.ones(size, size))
        self.register_buffer("steps", gs.zeros(1))
        self.register_buffer("scratch", gs.zeros(1), persistent=False)

    def forward(self, x, scale=1.0):
        return x @ self.weight * scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer()
        self.second = nn.Sequential(Layer(), nn.ReLU())

    def forward(self, x):
        return self.second(self.first(x))


# ---- attributes and registration


def test_parameters_buffers_and_modules_are_found_by_name():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["first.weight", "second.0.weight"]
    assert [name for name, _ in net.named_buffers(prefix="net")] == [
        f"net.{part}.{name}" for part in ("first", "second.0") for name in ("steps", "scratch")
    ]
    assert [name for name, _ in net.named_modules()] == ["", "first", "second", "second.0", "second.1"]
    assert list(net.children()) == [net.first, net.second]
    assert list(net.parameters(recurse=False)) == []
    assert len(list(net.modules())) == 5 and len(list(net.buffers())) == 4


def test_what_has_two_names_comes_once():
    net = Net()
    net.third = net.first
    net.tied = net.first.weight
    assert [name for name, _ in net.named_parameters()] == ["tied", "second.0.weight"]
    assert [name for name, _ in net.named_parameters(remove_duplicate=False)] == [
        "tied", "first.weight", "second.0.weight", "third.weight",
    ]  # fmt: skip
    assert [name for name, _ in net.named_modules(remove_duplicate=False)][-1] == "third"
    assert "third" not in dict(net.named_modules())


def test_assignment_decides_by_class():
    layer = Layer()
    layer.other = gs.ones(2)  # a plain attribute
    assert "other" in vars(layer) and "other" not in layer.state_dict()
    layer.other = nn.Parameter(gs.ones(2))  # now a parameter
    assert "other" not in vars(layer) and "other" in layer._parameters
    layer.child = gs.ones(2)
    layer.child = nn.ReLU()
    assert "child" not in vars(layer) and layer.child in list(layer.children())
    layer.child = nn.Parameter(gs.ones(1))  # a parameter takes the place of a module
    assert list(layer.children()) == [] and "child" in layer._parameters
    layer.steps = gs.ones(1)  # stays a buffer
    assert layer._buffers["steps"] is layer.steps
    layer.weight = None
    assert layer.weight is None and layer.weight not in list(layer.parameters()) and "weight" in layer._parameters
    layer.count = nn.Buffer(gs.zeros(1), persistent=False)
    assert "count" in layer._buffers and "count" not in layer.state_dict()
    layer.scratch = gs.ones(1)
    assert "scratch" not in layer.state_dict()


def test_deleted_attributes_are_gone():
    layer = Layer()
    del layer.weight, layer.scratch
    layer.register_buffer("scratch", gs.zeros(1))
    assert list(layer.state_dict()) == ["steps", "scratch"]
    layer.child = nn.ReLU()
    layer.plain = 1
    del layer.child, layer.plain
    with pytest.raises(AttributeError):
        del layer.child
    with pytest.raises(AttributeError, match="'Layer' object has no attribute 'weight'"):
        layer.weight  # noqa: B018


REFUSED = {
    "a tensor for a parameter": (
        lambda m: setattr(m, "weight", gs.ones(2)),
        TypeError,
        r"cannot assign 'gradsmith.Tensor' as parameter 'weight' \(gradsmith.nn.Parameter or None expected\)",
    ),
    "a number for a module": (
        lambda m: [setattr(m, "child", nn.ReLU()), setattr(m, "child", 3)],
        TypeError,
        r"cannot assign 'int' as child module 'child' \(gradsmith.nn.Module or None expected\)",
    ),
    "a number for a buffer": (lambda m: setattr(m, "steps", 3), TypeError, "cannot assign 'int' as buffer 'steps'"),
    "a parameter's name with a dot": (
        lambda m: m.register_parameter("a.b", None),
        KeyError,
        "parameter name can.+t contain",
    ),
    "an empty name": (lambda m: m.register_buffer("", None), KeyError, "buffer name can.+t be empty string"),
    "a name that is no string": (
        lambda m: m.register_buffer(3, None),
        TypeError,
        "buffer name should be a string. Got int",
    ),
    "a name that is taken": (
        lambda m: m.register_parameter("forward", None),
        KeyError,
        "attribute 'forward' already exists",
    ),
    "a tensor to register": (
        lambda m: m.register_parameter("w", gs.ones(1)),
        TypeError,
        "cannot assign 'gradsmith.Tensor' object to parameter 'w'",
    ),
    "a buffer that is none": (
        lambda m: m.register_buffer("w", [1.0]),
        TypeError,
        "cannot assign 'list' object to buffer 'w'",
    ),
    "a module that is none": (lambda m: m.add_module("m", 3), TypeError, "int is not a Module subclass"),
    "a module's name with a dot": (
        lambda m: m.add_module("a.b", nn.ReLU()),
        KeyError,
        'module name can.+t contain ".", got: a.b',
    ),
    "a mode that is no bool": (lambda m: m.train(1), ValueError, "training mode is expected to be boolean"),
    "an integer dtype": (
        lambda m: m.to(gs.int64),
        TypeError,
        "only accepts floating point or complex dtypes, but got desired dtype=int64",
    ),
    "a call without forward": (
        lambda m: nn.Module()(1),
        NotImplementedError,
        r'Module \[Module\] is missing the required "forward" function',
    ),
    "arguments that nobody takes": (
        lambda m: nn.Module(size=2),
        TypeError,
        r"Module.__init__\(\) got an unexpected keyword argument 'size'",
    ),
    "positional ones": (
        lambda m: nn.Module(2),
        TypeError,
        r"Module.__init__\(\) takes 1 positional argument but 2 were given",
    ),
}


@pytest.mark.parametrize(("change", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(change, error, message):
    layer = Layer()
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    with pytest.raises(error, match=message):
        change(layer)
    assert layer.state_dict().keys() == before.keys()


def test_a_parameter_is_a_leaf():
    computed = nn.Parameter(gs.ones(1)) * 2
    computed._is_param = True
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        Layer().register_parameter("w", computed)


@pytest.mark.parametrize("value", [nn.Parameter(gs.ones(1)), nn.ReLU()], ids=["parameter", "module"])
def test_nothing_is_assigned_before_init(value):
    class Forgetful(nn.Module):
        def __init__(self):
            self.value = value

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Forgetful()


def test_subclasses_may_have_bases_of_their_own():
    class Named:
        def __init__(self, name="", **kwargs):
            super().__init__(**kwargs)
            self.name = name

    class Both(nn.Linear, Named):
        call_super_init = True

    class First(Named, nn.Module):
        pass

    assert First(name="x").name == "x"
    assert nn.Module.call_super_init is False


def test_dir_lists_what_is_registered():
    assert {"weight", "steps", "forward", "training"} <= set(dir(Layer()))
    assert "0" not in dir(nn.Sequential(nn.ReLU()))


# ---- dotted names


def test_dotted_names_lead_to_parts():
    net = Net()
    assert net.get_submodule("") is net and net.get_submodule("second.0") is net.second[0]
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_buffer("second.0.steps") is net.second[0].steps
    net.set_submodule("second.1", nn.Tanh())
    assert isinstance(net.second[1], nn.Tanh)
    net.set_submodule("extra", nn.Tanh())
    assert isinstance(net.extra, nn.Tanh)


@pytest.mark.parametrize(
    ("look", "error", "message"),
    [
        (lambda n: n.get_submodule("first.third"), AttributeError, "Layer has no attribute `third`"),
        (lambda n: n.get_submodule("first.weight"), AttributeError, "`weight` is not an nn.Module"),
        (lambda n: n.get_parameter("first.steps"), AttributeError, "`steps` is not an nn.Parameter"),
        (lambda n: n.get_buffer("first.weight"), AttributeError, "`weight` is not a buffer"),
        (lambda n: n.get_buffer("first.none"), AttributeError, "Layer has no attribute `none`"),
        (lambda n: n.set_submodule("", nn.ReLU()), ValueError, "without a target name"),
        (lambda n: n.set_submodule("first", 3), ValueError, "`module` is not an nn.Module, found <class 'int'>"),
        (lambda n: n.set_submodule("x", nn.ReLU(), strict=True), AttributeError, "Net has no attribute `x`"),
        (lambda n: n.set_submodule("first.weight", nn.ReLU()), AttributeError, "`weight` is not an nn.Module"),
    ],
)
def test_names_that_lead_nowhere(look, error, message):
    with pytest.raises(error, match=message):
        look(Net())


# ---- changes of all


def test_apply_goes_from_the_inside_out():
    seen = []
    net = Net()
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Layer", "Layer", "ReLU", "Sequential", "Net"]


def test_train_and_eval_reach_all():
    net = Net()
    assert net.eval() is net and not any(module.training for module in net.modules())
    net.second.train()
    assert [module.training for module in net.modules()] == [False, False, True, True, True]


def test_gradients_are_removed_or_set_to_zero():
    net = Net()
    net(gs.ones(1, 2)).sum().backward()
    gradient = net.first.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad is gradient and not gradient.any()
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())
    net.requires_grad_(False)
    assert not net(gs.ones(1, 2)).requires_grad


def test_conversion_keeps_the_parameters_and_converts_their_gradients():
    net = Net()
    net.register_buffer("count", gs.tensor(3))
    net(gs.ones(1, 2)).sum().backward()
    weight = net.first.weight
    assert net.double() is net
    assert net.first.weight is weight and weight.dtype == gs.float64 == weight.grad.dtype
    assert net.first.steps.dtype == gs.float64 and net.count.dtype == gs.int64
    net(gs.ones(1, 2, dtype=gs.float64)).sum().backward()
    np.testing.assert_array_equal(weight.grad.numpy(), np.full((2, 2), 4.0))
    net.half()
    assert weight.dtype == gs.float16
    assert net.to(gs.ones(1)).first.weight.dtype == gs.float32
    assert net.to("cpu", gs.float64).count.dtype == gs.int64
    assert net.to(dtype=gs.float32).first.weight.dtype == gs.float32
    assert net.to(device="cpu") is net
    assert net.to(None, gs.float64).first.weight.dtype == gs.float64
    for same in (net.to(), net.to(None), net.to(None, None, True), net.to(device=None, dtype=None)):
        assert same.first.weight.dtype == gs.float64
    with pytest.raises(TypeError, match="argument 'dtype' must be a dtype, not bool"):
        net.to(None, True)
    assert net.type(gs.float64).count.dtype == gs.float64


def test_other_devices():
    net = Net().to("meta")
    assert net.first.weight.is_meta and isinstance(net.first.weight, nn.Parameter)
    with pytest.raises(NotImplementedError, match="Module.to_empty"):
        net.to("cpu")
    net.to_empty(device="cpu")
    assert net.first.weight.shape == (2, 2) and not net.first.weight.is_meta
    with pytest.raises(RuntimeError, match="cuda"):
        net.cuda()
    assert net.cpu() is net and net.share_memory() is net
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
        nn.Sequential(nn.LazyLinear(3)).share_memory()


# ---- calls


def test_arguments_reach_forward():
    layer = Layer()
    np.testing.assert_array_equal(layer(gs.ones(1, 2), scale=2.0).detach().numpy(), [[4.0, 4.0]])
    layer.forward = lambda x: x + 1  # an attribute of the object counts, too
    np.testing.assert_array_equal(layer(gs.ones(1)).numpy(), [2.0])


def test_threads_may_call_one_module():
    net, results = Net(), [None] * 4

    def work(place):
        x = gs.full((1, 2), float(place))
        results[place] = sum(net(x).sum().item() for _ in range(50))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [400.0 * place for place in range(4)]


# ---- text


def test_text():
    class Noted(nn.Module):
        def extra_repr(self):
            return "one\ntwo"

    net = nn.Sequential(Noted(), nn.Linear(2, 3))
    net.add_module("inner", nn.Sequential(nn.ReLU()))
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Noted(\n"
        "    one\n"
        "    two\n"
        "  )\n"
        "  (1): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (inner): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Module()) == "Module()"


# ---- copies


def test_copies_are_independent():
    net = Net()
    net(gs.ones(1, 2)).sum().backward()
    twin = copy.deepcopy(net)
    twin.first.weight.data.fill_(5.0)
    assert net.first.weight[0, 0].item() == 1.0 and twin.first.weight.grad is None
    assert [name for name, _ in twin.named_parameters()] == [name for name, _ in net.named_parameters()]


def test_tied_parameters_stay_tied_in_a_copy():
    net = Net()
    net.second[0].weight = net.first.weight
    twin = copy.deepcopy(net)
    assert twin.second[0].weight is twin.first.weight is not net.first.weight


def test_modules_are_pickled():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    twin = pickle.loads(pickle.dumps(net))
    x = gs.ones(2, 2)
    np.testing.assert_array_equal(twin.eval()(x).detach().numpy(), net.eval()(x).detach().numpy())
    assert isinstance(twin[0].weight, nn.Parameter) and twin[0].weight.requires_grad


def test_what_is_registered_can_be_watched():
    seen = []
    handles = [
        module_file.register_module_parameter_registration_hook(lambda m, n, p: seen.append(n)),
        module_file.register_module_buffer_registration_hook(lambda m, n, b: b + 1),
        module_file.register_module_module_registration_hook(lambda m, n, c: nn.Identity()),
    ]
    net = Net()
    for handle in handles:
        handle.remove()
    assert isinstance(net.first, nn.Identity) and seen == ["weight", "weight"]
    assert Layer().steps.item() == 0.0
