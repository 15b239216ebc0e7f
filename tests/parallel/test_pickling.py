"""What can be pickled for other processes: transforms, ops, decorated functions; and what says that it cannot."""

import copy
import importlib
import pickle
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
import work

import gradsmith as gs
from gradsmith import func
from gradsmith.utils import pytree

X = np.array([0.5, 1.5, 2.0])


def again(value):
    return pickle.loads(pickle.dumps(value))


def solve_nothing(function, start):
    return start


def zero(x, a):
    return x * x - a


TRANSFORMS = {
    "grad": gs.grad(work.loss),
    "grad of a grad": gs.grad(func.grad(gs.sin)),
    "value_and_grad": gs.value_and_grad(work.loss),
    "grad_and_value": func.grad_and_value(work.loss),
    "jacrev": func.jacrev(gs.sin, chunk_size=2),
    "jacfwd": func.jacfwd(gs.sin),
    "hessian": func.hessian(work.loss),
    "vmap": gs.vmap(gs.sin),
    "vmap of a grad": gs.vmap(gs.grad(gs.sin)),
    "functionalize": func.functionalize(work.loss),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    transformed = TRANSFORMS[name]
    x = gs.tensor(0.5) if name == "grad of a grad" else gs.from_numpy(X)
    for other in (again(transformed), copy.deepcopy(transformed), copy.copy(transformed)):
        found, expected = (pytree.flatten(function(x))[0] for function in (other, transformed))
        assert [one.tolist() for one in found] == [one.tolist() for one in expected]
        assert other.__name__ == transformed.__name__ and other.__wrapped__ is not None


@pytest.mark.parametrize("name", TRANSFORMS)
def test_compiled_functions(name):
    compiled = gs.compile(TRANSFORMS[name])
    x = gs.tensor(0.5) if name == "grad of a grad" else gs.from_numpy(X)
    expected = pytree.flatten(compiled(x))[0]
    other = again(compiled)
    assert type(other) is type(compiled) and other.options == compiled.options and not other.programs
    assert [one.tolist() for one in pytree.flatten(other(x))[0]] == [one.tolist() for one in expected]


def test_options_are_kept():
    by_second = again(gs.grad(work.add, argnums=(1,)))
    assert [one.item() for one in by_second(gs.tensor(1.0), gs.tensor(2.0))] == [1]
    with_aux = again(func.grad(with_pair, has_aux=True))
    assert [one.item() for one in with_aux(gs.tensor(3.0))] == [6, 3]
    mapped = again(gs.vmap(work.add, in_dims=(0, None), out_dims=0))
    assert mapped(gs.ones(2), gs.tensor(1.0)).tolist() == [2, 2]


def with_pair(x):
    return x * x, x


def test_decorators_are_pickled_too():
    for decorator in (gs.grad(argnums=0), gs.value_and_grad(has_aux=False), func.grad_and_value(), gs.vmap(in_dims=0)):
        assert callable(again(decorator)(gs.sin))


def test_implicit_functions():
    root = again(func.custom_root(zero, tol=1e-6))
    assert root(gs.tensor(1.0), gs.tensor(4.0)).item() == pytest.approx(2)
    point = again(func.fixed_point(work.add, solve=solve_nothing))
    assert point(gs.tensor(1.0), gs.tensor(0.0)).item() == 1


def test_sparse_derivatives():
    pytest.importorskip("scipy")
    x = gs.from_numpy(X)
    pattern = func.jacobian_pattern(gs.sin)(x)
    expected = func.sparse_jacobian(gs.sin)(x).toarray()
    for transform in (func.sparse_jacobian(gs.sin, pattern=pattern), func.sparse_jacobian(gs.sin, mode="forward")):
        np.testing.assert_array_equal(again(transform)(x).toarray(), expected)
    assert again(func.jacobian_pattern(gs.sin))(x).array.nnz == 3
    np.testing.assert_array_equal(
        again(func.sparse_hessian(work.loss))(x).toarray(), func.sparse_hessian(work.loss)(x).toarray()
    )


def test_decorated_functions_are_found_by_name():
    for decorated in (work.decorated, work.not_recorded, work.without_parentheses):
        assert again(decorated) is decorated
    assert again(gs.vmap(work.decorated)).__wrapped__ is work.decorated


def test_modes():
    for mode in (gs.no_grad(), gs.enable_grad(), gs.inference_mode(), gs.inference_mode(False)):
        with mode:
            inside = gs.is_grad_enabled(), gs.is_inference_mode_enabled()
        with again(mode):
            assert (gs.is_grad_enabled(), gs.is_inference_mode_enabled()) == inside
    data = pickle.dumps(gs.set_grad_enabled(True))
    with gs.no_grad():
        mode = pickle.loads(data)
        assert not gs.is_grad_enabled(), "what is unpickled switches nothing"
        with mode:
            assert gs.is_grad_enabled()
        assert not gs.is_grad_enabled()


@pytest.mark.parametrize("op", [gs.sin, gs.sum, gs.nn.functional.relu, gs.einsum, gs.linalg.solve, gs.Tensor.sum])
def test_ops(op):
    assert again(op) is op


@pytest.mark.parametrize(
    "namespace",
    [
        "gradsmith", "gradsmith.autograd", "gradsmith.distributions", "gradsmith.fft", "gradsmith.func",
        "gradsmith.linalg", "gradsmith.nn", "gradsmith.nn.functional", "gradsmith.nn.init", "gradsmith.numpy",
        "gradsmith.numpy.linalg", "gradsmith.optim", "gradsmith.random", "gradsmith.signal", "gradsmith.special",
        "gradsmith.stats",
    ],
)  # fmt: skip
def test_everything_public_is_found_by_its_name(namespace):
    """Functions, classes and distributions: what a function of a script may refer to."""
    module = importlib.import_module(namespace)
    public = [getattr(module, name) for name in module.__all__]
    things = [one for one in public if callable(one) and not isinstance(one, types.ModuleType)]
    unlike = [one for one in things if again(one) is not one and type(again(one)) is not type(one)]
    assert things and not unlike


def test_functions_of_values_alone():
    pytest.importorskip("scipy")
    import gradsmith.scipy.linalg

    assert again(gradsmith.scipy.linalg.bandwidth) is gradsmith.scipy.linalg.bandwidth


def test_modules_of_distributions_under_second_names():
    cloudpickle = pytest.importorskip("cloudpickle")
    for value in (sys.modules["gradsmith.distributions.normal"], gs.distributions.biject_to):
        assert pickle.loads(cloudpickle.dumps(value)) is value


def test_transforms_within_a_module():
    class_of_module = work_module()
    other = again(class_of_module)
    assert other.gradient(gs.ones(2)).tolist() == class_of_module.gradient(gs.ones(2)).tolist()


def work_module():
    model = gs.nn.Linear(2, 1)
    model.gradient = gs.grad(work.loss)
    return model


def test_methods_of_a_class_may_be_transformed():
    class Energy:
        scale = 3.0

        def value(self, x):
            return self.scale * x * x

        gradient = gs.grad(value, argnums=1)

    assert Energy().gradient(gs.tensor(2.0)).item() == 12


def test_how_a_transformed_function_is_shown():
    assert repr(gs.grad(work.loss)).startswith("<grad of <function loss at ")
    assert repr(func.hessian(work.loss)).startswith("<jacfwd of <jacrev of <function loss at ")


# ---- what cannot be pickled


@pytest.mark.parametrize("arrays", [False, True])
def test_what_belongs_to_one_call_is_refused(arrays):
    x = X if arrays else gs.from_numpy(X)
    with pytest.raises(
        TypeError, match=r"cannot pickle the function that vjp\(\) has given: it has the recorded graph"
    ):
        pickle.dumps(func.vjp(gs.sin, x)[1])
    with pytest.raises(TypeError, match=r"cannot pickle the function that linearize\(\) has given"):
        pickle.dumps(func.linearize(gs.sin, x)[1])


def test_a_tangent_is_refused():
    def f(x):
        with pytest.raises(RuntimeError, match="a tensor with a tangent of forward mode cannot be pickled"):
            pickle.dumps(x)
        return x

    func.jvp(f, (gs.ones(2),), (gs.ones(2),))


def test_a_lambda_is_refused():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(gs.grad(lambda x: x))


# ---- cloudpickle

PROGRAM = """
    import pickle, subprocess, sys
    import cloudpickle, gradsmith as gs

    scale = gs.tensor(2.0)

    @gs.grad
    def decorated(x):
        return scale * x * x

    @gs.no_grad()
    def quiet(x):
        return x * scale

    @gs.no_grad
    def bare(x):
        return x * scale

    functions = decorated, quiet, bare, gs.vmap(gs.grad(lambda x: x * scale))
    code = (
        "import pickle, sys; import gradsmith as gs; d, q, b, v = pickle.load(sys.stdin.buffer);"
        "x = gs.ones(1, requires_grad=True);"
        "print(d(gs.tensor(3.0)).item(), q(x).requires_grad, b(x).requires_grad, v(gs.ones(2)).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], input=cloudpickle.dumps(functions), capture_output=True)
    print(done.stdout.decode(), done.stderr.decode())
"""


def test_cloudpickle_takes_functions_of_a_script_along(tmp_path):
    pytest.importorskip("cloudpickle")
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["12.0", "False", "False", "[2.0,", "2.0]"]
