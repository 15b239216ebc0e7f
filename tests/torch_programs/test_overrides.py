"""Classes and modes that override functions with ``__torch_function__``."""

import copy
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
from typing import ClassVar

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith import nn
from gradsmith.overrides import TorchFunctionMode, resolve_name


class Plain(gs.Tensor):
    pass


class Logged(gs.Tensor):
    """Writes down what it is asked for."""

    calls: ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((resolve_name(func), types, args, dict(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs)


class Diagonal:
    """No tensor: a multiple of the identity, for the functions that it knows."""

    functions: ClassVar[dict] = {}

    def __init__(self, size, value):
        self.size, self.value = size, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in cls.functions or not all(issubclass(kind, (gs.Tensor, Diagonal)) for kind in types):
            return NotImplemented
        return cls.functions[func](*args, **(kwargs or {}))


def logged(*values):
    Logged.calls.clear()
    return gs.tensor(values or (1.0, 2.0)).as_subclass(Logged)


def names():
    return [name for name, *_ in Logged.calls]


# ---- classes over Tensor

CALLS = {
    "add": (lambda x, y: x + y, "Tensor.add"),
    "add of a plain tensor": (lambda x, y: y + x, "Tensor.add"),
    "number on the left": (lambda x, y: 2 - x, "Tensor.__rsub__"),
    "function": (lambda x, y: gs.mul(y, x), "mul"),
    "function by name": (lambda x, y: gs.add(y, other=x), "add"),
    "function of many forms": (lambda x, y: gs.where(y > 1, x, y), "where"),
    "list": (lambda x, y: gs.stack([y, x]), "stack"),
    "method": (lambda x, y: x.exp(), "Tensor.exp"),
    "method of a plain tensor": (lambda x, y: y.add(x), "Tensor.add"),
    "in place": (lambda x, y: x.add_(1), "Tensor.add_"),
    "index": (lambda x, y: x[0], "Tensor.__getitem__"),
    "reverse": (lambda x, y: x.T, "Tensor.T.__get__"),
    "comparison": (lambda x, y: y < x, "Tensor.gt"),
    "parameter": (lambda x, y: nn.Parameter(y, requires_grad=False) * x, "Tensor.mul"),
    "python": (lambda x, y: gs.einsum("i,i", x, y), "einsum"),
    "loss": (lambda x, y: F.mse_loss(x, y), "nn.functional.mse_loss"),
    "like": (lambda x, y: gs.zeros_like(x), "zeros_like"),
    "random": (lambda x, y: gs.rand_like(x), "rand_like"),
    "linalg": (lambda x, y: gs.linalg.vector_norm(x), "linalg.vector_norm"),
}


@pytest.mark.parametrize(("call", "name"), CALLS.values(), ids=CALLS.keys())
def test_results_are_of_the_class_and_it_is_asked_once(call, name):
    x, y = logged(1.0, 2.0), gs.tensor([3.0, 4.0])
    result = call(x, y)
    assert type(result) is Logged and names() == [f"torch.{name}"]
    assert Logged.calls[0][1] == (Logged,)
    gs.manual_seed(0)
    expected = call(gs.tensor([1.0, 2.0]), y)
    assert type(expected) is gs.Tensor and result.shape == expected.shape
    if name != "rand_like":
        np.testing.assert_array_equal(result.numpy(), expected.numpy())


def test_what_is_no_tensor_stays_what_it_is():
    x = logged()
    assert (x.shape, x.dtype, x.ndim, len(x)) == ((2,), gs.float32, 1, 2)
    assert x.tolist() == [1, 2] and x.sum().item() == 3 and float(x[0]) == 1 and bool(x[0])
    assert names()[:4] == [
        f"torch.Tensor.{name}" for name in ("shape.__get__", "dtype.__get__", "ndim.__get__", "__len__")
    ]
    assert type(x.numpy()) is np.ndarray and repr(gs.ones(1).as_subclass(Plain)) == "Plain([1.])"
    with pytest.warns(UserWarning, match="To copy construct"):
        assert type(gs.tensor(x.detach())) is gs.Tensor  # data, whatever it is of


def test_several_results():
    x = gs.tensor([[3.0, 1.0]]).as_subclass(Plain)
    largest = x.max(1)
    assert type(largest.values) is type(largest.indices) is Plain and largest.indices.tolist() == [0]
    assert [type(part) for part in x.split(1, 1)] == [Plain, Plain] and [type(row) for row in x] == [Plain]
    assert type(gs.meshgrid(x[0], x[0], indexing="ij")[1]) is Plain


def test_gradients_go_through():
    leaf = gs.tensor([1.0, 2.0], requires_grad=True)
    loss = (leaf.as_subclass(Plain) ** 2).sum()
    assert type(loss) is Plain
    loss.backward()
    assert leaf.grad.tolist() == [2, 4]
    (grad,) = gs.autograd.grad((leaf.as_subclass(Plain) ** 3).sum(), leaf, create_graph=True)
    assert grad.tolist() == [3, 12]
    weight = nn.Linear(2, 1)
    weight(leaf.as_subclass(Plain)).sum().backward()
    assert weight.weight.grad.tolist() == [[1, 2]]


def test_a_class_may_keep_more_than_values():
    class Named(gs.Tensor):
        name = "?"

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs)
            if isinstance(result, cls):
                result.name = "+".join(arg.name for arg in args if isinstance(arg, cls))
            return result

    a, b = gs.ones(2).as_subclass(Named), gs.ones(2).as_subclass(Named)
    a.name, b.name = "a", "b"
    assert (a + b).name == "a+b" and gs.exp(a + b).name == "a+b" and (2 * a)[0].name == "a"


def test_what_a_class_defines_itself_stays():
    class Shouting(gs.Tensor):
        def exp(self):
            return "exp!"

        @property
        def T(self):
            return "T!"

        def __neg__(self):
            return "-!"

    class Louder(Shouting):
        pass

    for cls in (Shouting, Louder):
        x = gs.ones(1).as_subclass(cls)
        assert (x.exp(), x.T, -x) == ("exp!", "T!", "-!") and type(x.log()) is cls


def test_subclasses_come_first_and_strangers_are_refused():
    class Sub(Plain):
        pass

    x, y = gs.ones(1).as_subclass(Plain), gs.ones(1).as_subclass(Sub)
    assert type(x + y) is type(y + x) is type(gs.add(x, y)) is Sub
    z = logged(1.0)
    with pytest.raises(TypeError, match=r"no implementation found for '.*add'.*Plain.*Logged"):
        gs.add(x, z)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + z
    with pytest.raises(TypeError, match="unsupported operand"):
        x + object()


def test_parameters_take_nothing_over():
    weight = nn.Parameter(gs.ones(2))
    assert type(weight + 1) is type(weight.exp()) is type(gs.exp(weight)) is gs.Tensor

    class Weight(nn.Parameter):
        pass

    class Disabled(gs.Tensor):
        __torch_function__ = gs._C._disabled_torch_function_impl

    assert type(Weight(gs.ones(2)) + 1) is type(gs.ones(2).as_subclass(Disabled) + 1) is gs.Tensor
    assert type(gs.ones(1).as_subclass(Disabled) * gs.ones(1).as_subclass(Plain)) is Plain


def test_asking_nobody():
    x = logged()
    with gs._C.DisableTorchFunctionSubclass(), gs._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is type(gs.exp(x)) is type(x.exp()) is gs.Tensor and not names()
    assert type(x + 1) is Logged
    with pytest.raises(ZeroDivisionError), gs._C.DisableTorchFunction():
        raise ZeroDivisionError
    assert type(x + 1) is Logged
    types = []
    thread = threading.Thread(target=lambda: types.append(type(x + 1)))
    with gs._C.DisableTorchFunctionSubclass():
        thread.start()
        thread.join()
    assert types == [Logged]  # each thread has its own


def test_errors_leave_nothing_behind():
    x = gs.ones(2).as_subclass(Plain)
    for call in (lambda: gs.add(x, gs.ones(3)), lambda: x.reshape(3), lambda: gs.exp(x, 1, 2), lambda: F.softmax(x, 5)):
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            call()
    assert type(x + 1) is Plain


def test_copies_and_pickles():
    x = gs.ones(2).as_subclass(Plain)
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert type(other) is Plain and other.tolist() == [1, 1]


def test_in_place_and_views_keep_their_history():
    leaf = gs.ones(3, requires_grad=True)
    x = (leaf * 1).as_subclass(Plain)
    x[1:].mul_(5)
    (x * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 10, 10]


# ---- other classes


def known(function):
    def mark(own):
        Diagonal.functions[function] = own
        return own

    return mark


@known(gs.mean)
def _mean(input):
    return input.value / input.size


@known(gs.matmul)
def _matmul(input, other):
    return input.value * other if isinstance(input, Diagonal) else input * other.value


@known(gs.cat)
def _cat(tensors, dim=0):
    return len(tensors), dim


@known(gs.max)
def _max(input, dim=None):
    return "max", dim


@known(gs.Tensor.mul)
def _mul(input, other):
    return "mul"


@known(F.dropout)
def _dropout(input, p=0.5, training=True, inplace=False):
    return "dropout", p


ASKED: list = []


def declining(*bases):
    """A class that writes down that it was asked, and declines."""

    class Declining(*bases):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            ASKED.append((cls, types))
            return NotImplemented

    return Declining


FIRST = declining()
OTHER = declining()
DERIVED = declining(FIRST)
LAST = declining(DERIVED, OTHER)


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ((FIRST, OTHER), [FIRST, OTHER]),
        ((OTHER, FIRST), [OTHER, FIRST]),
        ((FIRST, DERIVED), [DERIVED, FIRST]),
        ((DERIVED, FIRST), [DERIVED, FIRST]),
        ((OTHER, FIRST, DERIVED), [OTHER, DERIVED, FIRST]),
        ((FIRST, OTHER, DERIVED), [DERIVED, FIRST, OTHER]),
        ((FIRST, OTHER, LAST), [LAST, FIRST, OTHER]),
        ((FIRST, FIRST, DERIVED, FIRST), [DERIVED, FIRST]),
    ],
    ids=str,
)
def test_classes_are_asked_from_left_to_right_and_derived_ones_before_their_bases(given, order):
    """Python's own rule for operators, which NumPy has for functions too."""
    ASKED.clear()
    with pytest.raises(TypeError, match="no implementation found"):
        gs.stack([cls() for cls in given])
    assert [cls for cls, _ in ASKED] == order
    assert all(types == tuple(order) for _, types in ASKED)
    if len(given) == 3:
        ASKED.clear()
        with pytest.raises(TypeError, match="no implementation found"):
            gs.where(*[cls() for cls in given])
        assert [cls for cls, _ in ASKED] == order


def test_functions_ask_classes_that_are_no_tensors():
    d, x = Diagonal(4, 2.0), gs.ones(2)
    assert gs.mean(d) == 0.5 and gs.matmul(d, x).tolist() == gs.matmul(x, d).tolist() == [2, 2]
    assert gs.cat([x, d], dim=1) == (2, 1) and gs.max(d, dim=1) == ("max", 1) and x.mul(d) == "mul"
    assert F.dropout(d, p=0.1) == ("dropout", 0.1)
    with pytest.raises(TypeError, match=r"no implementation found for 'gradsmith\.\S*exp'.*Diagonal.*NotImplemented"):
        gs.exp(d)


@pytest.mark.parametrize("op", [gs.cat, gs.stack])
def test_classes_in_lists_within_lists_are_not_asked(op):
    """What is no tensor there is refused as any other value is."""
    with pytest.raises(TypeError, match="expected Tensor as element 0 .*, but got list"):
        op([[FIRST()]])


def in_new_process(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert not done.stderr
    return done.stdout.splitlines()


def test_the_first_call_asks_already():
    printed = in_new_process("""
        import gradsmith as torch

        class Five:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return 5

        print(torch.exp(Five()), torch.max(Five(), 1), torch.ones(2).mul(Five()), torch.nn.functional.dropout(Five()))
        """)
    assert printed == ["5 5 5 5"]


def test_foreign_functions_that_ask_a_class_are_refused():
    """As PyTorch's do, which see the method: a result of theirs would ask again, and so on."""

    def foreign(*args):
        return type(args[0]).__torch_function__(foreign, (type(args[0]),), args)

    assert foreign(gs.ones(1)) is NotImplemented and foreign(gs.ones(1).as_subclass(Plain)) is NotImplemented


def test_tensors_of_pytorch_are_not_asked():
    torch = pytest.importorskip("torch")
    for x in (gs.ones(2), gs.ones(2).as_subclass(Plain)):
        y = torch.ones(2)
        for call in (
            lambda x, y: x + y,
            lambda x, y: y + x,
            gs.add,
            torch.add,
            lambda x, y: x.mul(y),
            lambda x, y: gs.exp(y),
        ):
            with pytest.raises(TypeError):
                call(x, y)
        assert gs.tensor(y).tolist() == gs.from_dlpack(y).tolist() == [1, 1]


def test_nothing_is_loaded_or_slowed_before():
    printed = in_new_process("""
        import sys, gradsmith as gs
        gs.exp(gs.nn.Parameter(gs.ones(2))).sum().backward()
        print("gradsmith.compat.torch.overrides" in sys.modules, type(vars(gs.Tensor)["add"]).__name__)
        """)
    assert printed == ["False method_descriptor"]


# ---- modes


def test_modes():
    printed = in_new_process("""
        import gradsmith as torch
        from gradsmith.overrides import TorchFunctionMode, resolve_name

        class Say(TorchFunctionMode):
            def __init__(self, word): self.word = word
            def __torch_function__(self, func, types, args=(), kwargs=None):
                print(self.word, resolve_name(func), len(types))
                return func(*args, **(kwargs or {}))

        class My(torch.Tensor): pass

        x, y = torch.ones(2), torch.ones(2).as_subclass(My)
        with Say("a"):
            torch.zeros(2), torch.tensor([1.0]), torch.randn(1)
            x + x, x.exp(), x.shape, -x, 2 * x, x[0], torch.exp(x)
            with Say("b"):
                torch.exp(y)
        print(type(x + x).__name__, type(y + x).__name__, (x + x).tolist(), (x * torch.nn.Parameter(x)).tolist())
        """)
    of_tensors = ["add", "exp", "shape.__get__", "neg", "mul", "__getitem__"]
    assert printed == [
        "a torch.zeros 0", "a torch.tensor 0", "a torch.randn 0",
        *[f"a torch.Tensor.{name} 0" for name in of_tensors],
        "a torch.exp 0", "b torch.exp 1", "a torch.exp 1",
        "Tensor My [2.0, 2.0] [1.0, 1.0]",
    ]  # fmt: skip


def test_modes_are_left_in_order_and_with_errors():
    printed = in_new_process("""
        import threading
        import gradsmith as torch
        from gradsmith.overrides import TorchFunctionMode

        class Fails(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                raise ValueError("no")

        class Declines(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return NotImplemented

        x = torch.ones(2)
        try:
            with Fails():
                torch.exp(x)
        except ValueError as error:
            print(error)
        try:
            with Declines():
                torch.exp(x)
        except TypeError as error:
            print(error)
        try:
            with TorchFunctionMode():
                torch.exp(x)
        except NotImplementedError as error:
            print(error)
        with Fails():
            thread = threading.Thread(target=lambda: print(torch.exp(x).sum() > 0))
            with torch._C.DisableTorchFunction():
                thread.start(), thread.join()
                print((x + x).tolist())
        print(torch.exp(x).shape)
        """)
    assert printed[0] == "no" and "mode Declines returned NotImplemented" in printed[1]
    assert printed[2:] == ["TorchFunctionMode has no __torch_function__", "tensor(True)", "[2.0, 2.0]", "(2,)"]


def test_a_mode_that_was_not_entered_last_is_not_left():
    class Mode(TorchFunctionMode):
        pass

    with pytest.raises(RuntimeError, match="not the innermost"):
        Mode().__exit__(None, None, None)


# ---- names


def test_names():
    assert resolve_name(gs.add) == "torch.add" and resolve_name(gs.Tensor.add_) == "torch.Tensor.add_"
    assert resolve_name(gs.Tensor.shape.__get__) == "torch.Tensor.shape.__get__" and resolve_name(len) is None
    assert resolve_name(F.cross_entropy) == "torch.nn.functional.cross_entropy"
    overridable = gs.overrides.get_overridable_functions()
    assert gs.add in overridable[gs] and gs.einsum in overridable[gs] and gs.Tensor.add in overridable[gs.Tensor]
    assert gs.manual_seed in gs.overrides.get_ignored_functions()
    tests = gs.overrides.get_testing_overrides()
    assert tests[gs.add](1, 2) == -1 and "reduction" in inspect.signature(tests[F.mse_loss]).parameters
    assert gs.overrides.is_tensor_method_or_property(gs.Tensor.grad.__get__)
    assert not gs.overrides.is_tensor_method_or_property(gs.add)
    assert gs.Tensor.grad.__get__ in gs.overrides.get_default_nowrap_functions()


def test_every_overridable_function_asks():
    """Each is called with nothing but an object that takes everything over."""

    class Any:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    for owner, functions in gs.overrides.get_overridable_functions().items():
        if owner is not gs.Tensor:
            for function in functions:
                if function.__name__ not in ("tensor", "as_tensor", "asarray"):
                    assert function(Any()) is function, function


def test_signatures_and_identities_stay():
    assert list(inspect.signature(F.cross_entropy).parameters)[:3] == ["input", "target", "weight"]
    assert pickle.loads(pickle.dumps(gs.einsum)) is gs.einsum and pickle.loads(pickle.dumps(gs.where)) is gs.where
    assert F.dropout.__name__ == "dropout" and F.dropout.__doc__


def test_the_method_of_tensor_itself_may_be_called():
    class Marked(gs.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return gs.Tensor.__torch_function__(func, (gs.Tensor for _ in types), args, kwargs)

    x = gs.ones(2, 3).as_subclass(Marked)
    assert x.shape == (2, 3) and type(x * 2) is gs.Tensor and (x * 2).tolist() == [[2, 2, 2]] * 2
    assert gs.Tensor.__torch_function__(gs.add, (Marked,), (x, 1)) is NotImplemented


def test_a_parameter_of_a_class_that_takes_no_functions():
    class Closed(gs.nn.Parameter):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise TypeError(f"{func} of {cls}")

    made = gs.Tensor._make_subclass(Closed, gs.ones(2), True)
    with gs._C.DisableTorchFunctionSubclass():
        assert type(made) is Closed and made.requires_grad and made.is_leaf


class Passing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_size_stays_a_number_and_a_method() -> None:
    """Also of plain tensors once a class or a mode overrides their methods."""
    plain, logged = gs.ones(2, 3), gs.ones(2, 3).as_subclass(Logged)
    with Passing():
        plain + 1
    for x in (plain, logged):
        Logged.calls.clear()
        assert x.size == 6 and [0] * x.size == [0] * 6 and not Logged.calls
        assert x.size() == (2, 3) and x.size(1) == 3 and x.size(dim=0) == 2
    assert len(Logged.calls) == 3 and {call[0].split(".")[-1] for call in Logged.calls} == {"size"}
    assert np.array_equal(np.arange(6.0) / plain.size, np.arange(6.0) / 6)


def test_what_tensors_refuse_is_not_left_to_numpy() -> None:
    """Also once a mode has made their operators overridable: an array with a mask would compute the sum itself."""
    with Passing():
        gs.ones(3) + 1
    for refused in (np.ma.array([1.0, 2.0, 3.0]), np.array(["a", "b", "c"])):
        with pytest.raises(TypeError):
            gs.ones(3) + refused
