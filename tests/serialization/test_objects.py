"""`save` and `load` of whole objects: modules, optimizers, and what no tree of tensors can hold."""

import io
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.LazyLinear(2)
        self.tied = self.first.weight
        self.register_buffer("steps", gs.arange(3.0))
        self.part = self.steps[1:]

    def forward(self, x):
        return self.last(self.norm(self.first(x)).relu())


def saved(value, **options):
    file = io.BytesIO()
    gs.save(value, file, **options)
    file.seek(0)
    return file


def test_a_module_and_its_optimizer():
    net = Net()
    x = gs.from_numpy(np.random.default_rng(0).standard_normal((5, 3)).astype("float32"))
    net(x)
    optimizer = gs.optim.Adam(net.parameters(), lr=0.1)
    net(x).square().sum().backward()
    optimizer.step()
    net.eval()
    found = gs.load(saved({"model": net, "optimizer": optimizer, "args": SimpleNamespace(lr=0.1)}), weights_only=False)
    model = found["model"]
    assert isinstance(model, Net) and not model.training and found["args"].lr == 0.1
    np.testing.assert_array_equal(model(x).detach().numpy(), net(x).detach().numpy())
    assert model.tied is model.first.weight is found["optimizer"].param_groups[0]["params"][0]
    model.steps.fill_(7)
    assert model.part.tolist() == [7, 7] and net.part.tolist() == [1, 2]
    net.train(), model.train()
    for module, steps in ((net, optimizer), (model, found["optimizer"])):
        steps.zero_grad()
        module(x).square().sum().backward()
        steps.step()
    np.testing.assert_array_equal(model(x).detach().numpy(), net(x).detach().numpy())


def test_a_lazy_module_and_a_subclass_of_tensors():
    class_of = type(gs.load(saved([nn.LazyLinear(2), Marked(gs.ones(2))]), weights_only=False)[1])
    assert class_of is Marked
    (lazy,) = gs.load(saved([nn.LazyLinear(2)]), weights_only=False)
    assert lazy(gs.ones(1, 3)).shape == (1, 2)


class Marked(gs.Tensor):
    pass


def test_attributes_of_a_tensor_come_along():
    net = nn.Linear(2, 2)
    net.weight.is_special = "yes"
    assert gs.load(saved(net), weights_only=False).weight.is_special == "yes"


def test_code_runs_only_where_it_is_asked_for(tmp_path):
    path = tmp_path / "model.pt"
    gs.save(Net(), path)
    for options in ({}, {"weights_only": True}, {"weights_only": None}):
        with pytest.raises(UnsafeFileError, match=r"model.pt holds a whole object.*weights_only=False"):
            gs.load(path, **options)
    assert isinstance(gs.load(path, weights_only=False), Net)
    assert isinstance(gs.load(path, pickle_module=pickle), Net)


def test_a_tree_needs_no_trust():
    assert gs.load(saved({"w": Net().state_dict()["first.weight"]}))["w"].shape == (4, 3)


@pytest.mark.parametrize("value", [[print], {"s": np.array(["a"])}, {1: np.dtype("U3")}, gs.optim.SGD([gs.ones(2)])])
def test_other_objects(value):
    found = gs.load(saved(value), weights_only=False)
    assert type(found) is type(value) and (not isinstance(value, list) or found == value)


def test_what_cannot_be_pickled_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "model.pt"
    gs.save([1], path)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        gs.save([lambda: 1], path)
    assert gs.load(path) == [1] and [item.name for item in tmp_path.iterdir()] == ["model.pt"]


def test_errors_of_the_code_come_as_they_are():
    with pytest.raises(ZeroDivisionError):
        gs.load(saved(Failing()), weights_only=False)
    with pytest.raises(CorruptFileError):
        gs.load(io.BytesIO(saved(Net()).getvalue()[:200]), weights_only=False)


def fail():
    return 1 // 0


class Failing:
    def __reduce__(self):
        return fail, ()


def test_another_pickle_module():
    protocols = []

    class Pickler(pickle.Pickler):
        def __init__(self, file, protocol=None):
            protocols.append(protocol)
            super().__init__(file, protocol)

    module = SimpleNamespace(Pickler=Pickler, Unpickler=pickle.Unpickler)
    file = saved(Net(), pickle_module=module, pickle_protocol=3)
    assert protocols == [3] and isinstance(gs.load(file, pickle_module=module), Net)


def test_a_history_stays_behind_as_in_pytorch():
    w = gs.ones(2, requires_grad=True)
    for found in (
        pickle.loads(pickle.dumps(w * 2)),
        gs.load(saved(w * 2)),
        gs.load(saved([print, w * 2]), weights_only=False)[1],
    ):
        assert found.is_leaf and found.requires_grad and found.tolist() == [2, 2]
