"""The differential fuzzer without PyTorch: gradsmith is on both sides, and one of them is made wrong."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gradsmith as gs

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.differential import play as playing  # noqa: E402
from tests.differential.compare import Difference  # noqa: E402
from tests.differential.explained import EXPLANATIONS, explanation_of  # noqa: E402
from tests.differential.generate import CALLED, Generator  # noqa: E402
from tests.differential.machine import Machine  # noqa: E402
from tests.differential.program import Program, Step, script_of  # noqa: E402
from tests.differential.shrink import shrink  # noqa: E402

SEEDS = range(1, 41)


def library_with(**functions):
    """gradsmith with other functions in the place of some."""
    library = ModuleType("changed")
    library.__dict__.update({name: getattr(gs, name) for name in dir(gs)})
    library.__dict__.update(functions)
    return library


WRONG = library_with(sin=lambda *args, **kwargs: gs.sin(*args, **kwargs) * 1.001)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_library_does_not_differ_from_itself(seed):
    assert playing.play(seed, gs).differences == []


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_a_seed_gives_one_program(seed):
    assert playing.play(seed, gs).program == playing.play(seed, gs).program


def test_every_op_of_the_table_is_called():
    for row in CALLED:
        machine = Machine(gs)
        generator = Generator(1, machine, ops=(row,))
        generator.draw.made.clear()
        step = generator._op(generator.pool())
        names = {row.base, *row.aliases}
        assert any(name in step.call for name in names), row.name


def test_a_program_is_data():
    program = playing.play(5, gs).program
    assert Program.from_json(program.to_json()) == program


PLANTED = Program(
    0,
    (
        Step("make", ("'normal'", "'float32'", "(3, 4)"), {"layout": "'columns'", "requires_grad": "True"}, "t1"),
        Step("make", ("'normal'", "'float64'", "(4,)"), {}, "t2"),
        Step("lib.exp", ("t2",), {}, "t3"),
        Step("lib.sin", ("t1",), {}, "t4", "lib.no_grad()"),
        Step(".add_", ("t4", "t3"), {}, "t5"),
    ),
)


def test_a_planted_fault_is_found_and_made_small():
    def fails(program):
        return any(d.aspect == "value" for d in playing.replay(program, gs, ours=WRONG).differences)

    assert fails(PLANTED)
    small = shrink(PLANTED, fails)
    assert [step.call for step in small.steps] == ["make", "lib.sin"]
    assert small.steps[1].mode is None
    assert small.steps[0].args == ("'normal'", "'float64'", "(2,)")


@pytest.mark.parametrize(
    "step, aspect, wrong",
    [
        (Step("lib.exp", ("t1",), {}, "t2"), "dtype", {"exp": lambda x: gs.exp(x).to(gs.float32)}),
        (Step("lib.exp", ("t1",), {}, "t2"), "shape", {"exp": lambda x: gs.exp(x)[0]}),
        (Step("lib.exp", ("t1",), {}, "t2"), "requires_grad", {"exp": lambda x: gs.exp(x).detach()}),
        (Step("lib.exp", ("t1",), {}, "t2"), "strides", {"exp": lambda x: gs.exp(x.t().contiguous().t())}),
        (Step("lib.exp", ("t1",), {}, "t2"), "error", {"exp": lambda x: 1 // 0}),
        (Step("lib.t", ("t1",), {}, "t2"), "is_view", {"t": lambda x: x.t().clone()}),
        (Step("lib.reshape", ("t1", "(3, 4)"), {}, "t2"), "identity", {"reshape": lambda x, shape: x}),
    ],
)
def test_what_is_compared(step, aspect, wrong):
    make = Step("make", ("'normal'", "'float64'", "(3, 4)"), {"requires_grad": "True"}, "t1")
    result = playing.replay(Program(0, (make, step)), gs, ours=library_with(**wrong))
    assert aspect in {difference.aspect for difference in result.differences}


def test_gradients_are_compared():
    make = Step("make", ("'normal'", "'float64'", "()"), {"requires_grad": "True"}, "t1")
    steps = (make, Step("lib.exp", ("t1",), {}, "t2"), Step(".backward", ("t2",)))
    result = playing.replay(Program(0, steps), gs, ours=library_with(exp=lambda x: gs.exp(x.detach()) + 0 * x))
    assert [difference.aspect for difference in result.differences] == ["gradient"]


@pytest.mark.parametrize("seed", (1, 4, 9))
def test_a_script_runs_by_itself(seed, tmp_path, capsys, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(script_of(playing.play(seed, gs).program))
    monkeypatch.setattr(sys, "argv", [str(path), "gradsmith"])
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    assert "---- at the end" in capsys.readouterr().out


def test_explanations_are_documented():
    for explanation in EXPLANATIONS:
        page, words = explanation.documented
        assert words in (ROOT / "docs" / "internals" / "decisions" / page).read_text(), explanation.name


def test_nothing_explains_a_wrong_value():
    result = playing.replay(PLANTED, gs, ours=WRONG)
    assert [explanation_of(difference) for difference in result.differences] == [None] * len(result.differences)


def test_nothing_explains_a_wrong_gradient_beside_special_values():
    make = Step("make", ("'special'", "'float64'", "(3, 4)"), {"requires_grad": "True"}, "t1")
    steps = (
        make,
        Step("lib.mul", ("t1", "2"), {}, "t2"),
        Step("lib.sum", ("t2",), {}, "t3"),
        Step(".backward", ("t3",)),
    )

    def mul(*args):
        result = gs.mul(*args)
        result.register_hook(lambda grad: grad * 0.75)
        return result

    result = playing.replay(Program(0, steps), gs, ours=library_with(mul=mul))
    assert [(d.aspect, explanation_of(d)) for d in result.differences] == [("gradient", None)]


def test_only_the_order_of_additions_explains_cancelled_gradients():
    """Of 1e30 and -1e30 and what was there: a hook on the leaf makes one sum of the first two."""
    names = {"t1": "[1.0]", "t2": "[1e30]", "t3": "[-1e30]", "t4": "[1.0]"}
    makes = [Step("make", (n, "'float64'", "(1,)"), {"requires_grad": str(t == "t1")}, t) for t, n in names.items()]
    steps = (
        *makes,
        Step("lib.mul", ("t1", "t4"), {}, "t5"),
        Step(".backward", ("t5",)),
        Step("lib.mul", ("t1", "t2"), {}, "t6"),
        Step("lib.mul", ("t1", "t3"), {}, "t7"),
        Step("lib.add", ("t6", "t7"), {}, "t8"),
    )
    backward = Step(".backward", ("t8",))
    for sums, name in (([0.0], [1.0]), "leaves take gradients as they arrive"), (([0.5], [1.0]), None):
        ours, theirs = (np.array(number) for number in sums)
        difference = Difference("gradient", "t1.grad", backward, ours, theirs, (), steps)
        assert getattr(explanation_of(difference), "name", None) == name


def test_only_tangents_of_the_operands_explain_one_at_a_nan():
    makes = [
        Step("make", (numbers, "'float64'", "(1,)"), {}, name)
        for name, numbers in {"t1": "[nan]", "t2": "[1.0]", "t3": "[2.0]", "t4": "[3.0]"}.items()
    ]
    dual = "lib.autograd.forward_ad.make_dual"
    steps = (
        *makes,
        Step("enter_level"),
        Step(dual, ("t1", "t3"), {}, "t5"),
        Step(dual, ("t2", "t4"), {}, "t6"),
        Step("lib.maximum", ("t5", "t6"), {}, "t7"),
    )
    machine = Machine(gs)
    for step in makes:
        machine.run(step)
    operands = (machine.facts(machine.names["t1"]),)
    for tangent, name in (5.0, "the tangent of a NaN"), (4.0, None):
        parts = Step("parts", ("t7",), {}, "t8")
        difference = Difference("value", "t8[1]", parts, np.array([tangent]), np.array([3.0]), operands, steps)
        assert getattr(explanation_of(difference), "name", None) == name


def test_without_pytorch_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match="compared with PyTorch, and this Python has none"):
        playing.pytorch()


def test_the_command_exists():
    assert callable(importlib.import_module("tests.differential.__main__").main)
