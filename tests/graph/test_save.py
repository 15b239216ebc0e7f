"""Programs that are saved and loaded: they do what the compiled function does, bit for bit."""

import io
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError
from gradsmith.utils import pytree


def saved(function: Any, args: list[Any], kwargs: Any = None) -> io.BytesIO:
    file = io.BytesIO()
    gs.graph.save(function, args, file, kwargs)
    file.seek(0)
    return file


def loaded(function: Any, *args: Any, **kwargs: Any) -> Any:
    return gs.graph.load(saved(function, list(args), kwargs))


def same(found: Any, expected: Any) -> bool:
    """The same structure, and the same bits."""
    (a, a_spec), (b, b_spec) = pytree.flatten(found), pytree.flatten(expected)
    return bool(a_spec == b_spec and all(map(same_leaf, a, b)))


def same_leaf(one: Any, other: Any) -> bool:
    if not isinstance(one, gs.Tensor) or not isinstance(other, gs.Tensor):
        return bool(one == other)
    x, y = one.detach().numpy(), other.detach().numpy()
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")


WEIGHT = gs.randn(4, 4)


def distance(y: Any) -> Any:
    for _ in range(50):
        y = y + 0.1 * gs.tanh(WEIGHT @ y)
    return (y * y).sum()


# ---- what is computed


@pytest.mark.parametrize(
    "function",
    [distance, gs.grad(distance), gs.func.hessian(distance), gs.func.jacrev(gs.grad(distance))],
    ids=["value", "gradient", "hessian", "jacobian of the gradient"],
)
def test_loops_and_transforms(function: Any) -> None:
    program, compiled = loaded(function, gs.ones(4)), gs.compile(function)
    for seed in range(3):
        y = gs.randn(4, generator=gs.Generator().manual_seed(seed))
        assert same(program(y), compiled(y))
    assert len(program.programs) == 1
    assert "50 times" in program.explain(gs.ones(4)) or "49 times" in program.explain(gs.ones(4))


def test_gradients_through_a_program() -> None:
    program = loaded(distance, gs.ones(4, requires_grad=True))
    compiled = gs.compile(distance)
    for _ in range(3):
        y = gs.randn(4)
        x, z = y.clone().requires_grad_(), y.clone().requires_grad_()
        (program(x) * 3).backward()
        (compiled(z) * 3).backward()
        assert same(x.grad, z.grad)
    assert same(gs.grad(lambda x: program(2 * x))(y), gs.grad(lambda x: compiled(2 * x))(y))
    with gs.no_grad():
        assert not program(x).requires_grad


def test_arguments_that_need_no_gradient_get_none() -> None:
    program = loaded(lambda x, y: (x * y, y + 1, x.detach()), gs.ones(2, requires_grad=True), gs.ones(2))
    x, y = gs.ones(2, requires_grad=True), gs.full((2,), 3.0)
    product, other, apart = program(x, y)
    assert product.requires_grad and not other.requires_grad and not apart.requires_grad
    product.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert not program(gs.ones(2), y)[0].requires_grad


def test_custom_functions_keep_their_own_gradients() -> None:
    class Straight(gs.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.round()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    program = loaded(lambda x: Straight.apply(x) * x.detach(), gs.ones(2, requires_grad=True))
    x = gs.tensor([1.4, 2.6], requires_grad=True)
    program(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * x.detach().numpy())


def test_second_derivatives_are_refused_with_advice() -> None:
    program = loaded(lambda x: x.sin(), gs.ones(2, requires_grad=True))
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"have no history \(create_graph=True\).*save the function that computes"):
        gs.autograd.grad(program(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="has no forward mode"):
        gs.func.jvp(program, (gs.ones(2),), (gs.ones(2),))
    with pytest.raises(RuntimeError, match="gives gradients of one result at a time"):
        gs.func.jacrev(program)(gs.ones(2))


def test_programs_inside_of_compiled_functions_and_of_programs() -> None:
    inner = loaded(lambda x: x.sin() * 2, gs.ones(2))
    outer = loaded(lambda x: inner(x) + 1, gs.ones(2))
    compiled = gs.compile(lambda x: inner(x) + 1)
    x = gs.randn(2)
    assert same(outer(x), x.sin() * 2 + 1) and same(compiled(x), compiled(x)) and same(compiled(x), outer(x))


# ---- trees, plain values, names


def test_trees_of_arguments_and_results() -> None:
    def function(point: Any, *, scale: float, name: str) -> Any:
        x, y = point["x"], point["more"][1]
        return OrderedDict(first=(x * scale, [y, None]), second=name, sorted=(x + y).sort())

    point = {"x": gs.ones(2), "more": (1, gs.tensor([3.0, 2.0]))}
    program = loaded(function, point, scale=2.0, name="a")
    found = program(point, scale=2.0, name="a")
    assert same(found, function(point, scale=2.0, name="a"))
    assert type(found) is OrderedDict and found["sorted"].values.tolist() == [3.0, 4.0]
    assert found["first"][1][0] is point["more"][1]


def test_what_differs_is_said() -> None:
    program = loaded(lambda x, d, k=1: x * d["a"] * k, gs.ones(2, 3), {"a": gs.ones(3)}, k=2)
    x, d = gs.ones(2, 3), {"a": gs.ones(3)}
    program(x, d, k=2)
    for args, kwargs, error, words in [
        ((gs.ones(3, 2), d), {"k": 2}, RuntimeError, r"argument 0 must be .*\[2, 3\], but is one of .*\[3, 2\]"),
        ((x.double(), d), {"k": 2}, RuntimeError, "must be a tensor of float32 .* but is one of float64"),
        ((x, {"b": gs.ones(3)}), {"k": 2}, TypeError, r"argument \[1\] has \['b'\] where \['a'\] is expected"),
        ((x, d), {"k": 3}, TypeError, "argument 'k' was 2 .* but is 3"),
        ((x, d), {}, TypeError, "has nothing where"),
        ((x,), {"k": 2}, TypeError, r"has \[0\] where \[0\], \[1\] is expected"),
        ((1.0, d), {"k": 2}, TypeError, "argument 0 must be a tensor of .* but is 1.0"),
        (
            (gs.ones(2, 3, requires_grad=True), d),
            {"k": 2},
            RuntimeError,
            "argument 0 requires grad, but did not when .* saved",
        ),
    ]:
        with pytest.raises(error, match=words):
            program(*args, **kwargs)


def test_one_tensor_twice_stays_one() -> None:
    x = gs.ones(2)
    program = loaded(lambda a, b: a.mul_(2) + b, x, x)
    assert program(y := gs.ones(2), y).tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="argument 0 and argument 1 were one tensor"):
        program(gs.ones(2), gs.ones(2))


def test_the_default_dtype_is_part_of_a_program() -> None:
    program = loaded(lambda x: x / 2, gs.arange(3))
    gs.set_default_dtype(gs.float64)
    try:
        with pytest.raises(RuntimeError, match="default dtype was float32"):
            program(gs.arange(3))
    finally:
        gs.set_default_dtype(gs.float32)
    assert program(gs.arange(3)).dtype == gs.float32


def test_other_layouts_get_programs_of_their_own() -> None:
    program = loaded(lambda x: (x * 2).sum(0), gs.ones(3, 4))
    x = gs.randn(4, 3).T
    assert same(program(x), (x * 2).sum(0)) and same(program(x.contiguous()), (x.contiguous() * 2).sum(0))
    assert len(program.programs) == 2
    strided = loaded(lambda x: x.as_strided((2, 2), (1, 2)), gs.ones(3, 4))
    with pytest.raises(RuntimeError, match="lies there otherwise than when it was saved"):
        strided(x)


# ---- tensors of the function's own, writes, random numbers


@pytest.mark.parametrize(
    "tensor",
    [gs.randn(3, 4), gs.randn(4, 3).T, gs.randn(6, 8)[::2, ::2], gs.randn(4).expand(3, 4), gs.tensor([1, 2, 3, 4])],
    ids=["rows", "columns", "gaps", "repeated", "integers"],
)  # fmt: skip
def test_captured_tensors_are_stored_with_their_layout(tensor: Any) -> None:
    def function(x: Any) -> Any:
        return (tensor * x).sum(0), tensor.sum()

    program, compiled = loaded(function, gs.ones(4)), gs.compile(function)
    x = gs.randn(4)
    assert same(program(x), compiled(x))


def test_captured_tensors_that_are_written_belong_to_the_program() -> None:
    count = gs.zeros(())

    def counted(x: Any) -> Any:
        count.add_(1)
        return x * count

    program = loaded(counted, gs.ones(2))
    assert [program(gs.ones(2)).tolist() for _ in range(3)] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert count.item() == 0


def test_constants_begin_anew() -> None:
    program = loaded(lambda x: gs.zeros(2).add_(x), gs.ones(2))
    assert [program(gs.ones(2)).tolist() for _ in range(3)] == [[1.0, 1.0]] * 3
    own = loaded(lambda: gs.ones(2))
    own().fill_(5.0)
    assert own().tolist() == [1.0, 1.0]


def test_arguments_are_written() -> None:
    def update(x: Any, state: Any) -> Any:
        x.add_(1)
        state["m"][1:].mul_(2)
        return x, x[0], state["m"].sum()

    args = gs.ones(3), {"m": gs.ones(3)}
    program = loaded(update, *args)
    assert args[0].tolist() == args[1]["m"].tolist() == [1.0, 1.0, 1.0]
    for _ in range(3):
        x, state = gs.randn(3), {"m": gs.randn(3)}
        y, other = x.clone(), {"m": state["m"].clone()}
        found, expected = program(x, state), update(y, other)
        assert same(found, expected) and same((x, state), (y, other)) and found[0] is x


def test_modules_with_states() -> None:
    model = gs.nn.Sequential(gs.nn.Linear(4, 8), gs.nn.BatchNorm1d(8), gs.nn.ReLU(), gs.nn.Linear(8, 2))
    program = loaded(model, gs.randn(16, 4, requires_grad=True))
    for _ in range(3):
        x = gs.randn(16, 4)
        y, z = x.clone().requires_grad_(), x.clone().requires_grad_()
        found, expected = program(y), model(z)
        assert gs.allclose(found, expected)
        found.sum().backward()
        expected.sum().backward()
        assert gs.allclose(y.grad, z.grad, atol=1e-6)


def noisy(x: Any) -> Any:
    drawn = gs.randn(3) + gs.rand_like(x) + gs.randint(0, 5, (3,)) + gs.randperm(3) + gs.normal(x, 1.0)
    return gs.nn.functional.dropout(x, 0.5) + drawn + gs.bernoulli(gs.full((3,), 0.5)) + gs.empty(3).exponential_()


def test_random_numbers_are_those_of_eager() -> None:
    state = gs.get_rng_state()
    file = saved(noisy, [gs.ones(3)])
    program = gs.graph.load(file)
    assert gs.equal(gs.get_rng_state(), state)
    for seed in range(3):
        gs.manual_seed(seed)
        found = program(gs.ones(3)), program(gs.ones(3))
        gs.manual_seed(seed)
        assert same(found, (noisy(gs.ones(3)), noisy(gs.ones(3))))


# ---- files


def test_a_fresh_process_runs_a_program_without_its_source(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(
        "import gradsmith as gs\n"
        "w = gs.tensor([[0.0, 0.5], [-0.5, 0.25]])\n"
        "def energy(y):\n"
        "    for _ in range(20):\n"
        "        y = y + 0.1 * gs.tanh(w @ y)\n"
        "    return (y * y).sum()\n"
        "gs.graph.save(gs.grad(energy), [gs.ones(2)], 'slope.gsp')\n"
        "print(gs.grad(energy)(gs.tensor([1.0, 2.0])).tolist())\n"
    )
    first = subprocess.run([sys.executable, source], cwd=tmp_path, capture_output=True, text=True, check=True)
    source.unlink()
    run = "import gradsmith as gs; print(gs.graph.load('slope.gsp')(gs.tensor([1.0, 2.0])).tolist())"
    second = subprocess.run([sys.executable, "-c", run], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert first.stdout == second.stdout != ""


def test_paths_and_files(tmp_path: Path) -> None:
    path = tmp_path / "program"
    gs.graph.save(gs.sin, [gs.ones(2)], path)
    gs.graph.save(gs.cos, [gs.ones(2)], str(path))
    program = gs.graph.load(path)
    assert same(program(gs.zeros(2)), gs.ones(2)) and program.__name__ == "cos"
    assert repr(program) == "<program cos of 1 ops: float32 of shape [2]>"
    assert [file.name for file in tmp_path.iterdir()] == ["program"]


def test_import_does_not_read_any_of_it() -> None:
    run = "import sys, gradsmith; print([name for name in sys.modules if name.startswith('gradsmith.graph')])"
    assert subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---- what is not saved


def choose(x: Any) -> Any:
    return gs.cond(x.sum() > 0, lambda y: y, lambda y: -y, x)


def seeded(x: Any) -> Any:
    return x + gs.rand(2, generator=gs.Generator().manual_seed(1))


@pytest.mark.parametrize("function", [choose, seeded], ids=["cond", "a generator"])
def test_steps_that_a_file_cannot_hold_are_listed_with_their_lines(function: Any) -> None:
    with pytest.raises(
        NotImplementedError, match=rf"save\({function.__name__}\): a file cannot hold .*\n.*test_save.py:\d+"
    ):
        saved(function, [gs.ones(2)])


def test_nothing_is_written_where_saving_fails(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        gs.graph.save(choose, [gs.ones(2)], tmp_path / "program")
    assert not list(tmp_path.iterdir())


class Settings:
    pass


@pytest.mark.parametrize(
    ("function", "args", "error", "words"),
    [
        (lambda x: float(x.sum()), [gs.ones(2)], TraceError, "the value of a tensor"),
        (lambda x, s: x, [gs.ones(2), Settings()], TypeError, "an argument is a Settings"),
        (lambda x: (x, Settings()), [gs.ones(2)], TypeError, "an argument is a Settings"),
        (lambda x: (x * x).sum().backward(), [gs.ones(2, requires_grad=True)], TraceError, "the .grad of a tensor"),
    ],
    ids=["a value", "an argument", "a result", ".grad"],
)  # fmt: skip
def test_functions_that_cannot_be_saved(function: Any, args: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        saved(function, args)


def test_memory_that_two_tensors_show_is_not_written() -> None:
    memory = gs.ones(4)
    head = memory[:2]

    def shared(x: Any) -> Any:
        head.add_(1)
        return x + memory.sum()

    with pytest.raises(TraceError, match="the function writes to memory that two tensors show"):
        saved(shared, [gs.ones(2)])
    with pytest.raises(TraceError, match="also a variable that the function captures"):
        saved(lambda x: x + memory, [memory])
    assert memory.tolist() == [1.0] * 4
