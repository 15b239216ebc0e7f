"""Ops as methods of Tensor. Each test has a process of its own, since there is only one Tensor class."""

import pytest
from outside_tables import HERE, SMALL

pytestmark = pytest.mark.compiles

SETUP = (
    "import sys, numpy as np, gradsmith as gs\n"
    "ops = gs.load_ops(sys.argv[1], methods=True)\n"
    "x = gs.tensor([0.5, 2.0], requires_grad=True)\n"
)


def outputs(run_python, code, *arguments):
    done = run_python("-c", SETUP + code, *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_methods_do_what_functions_do(small, run_python):
    code = (
        "print((x.ripple() == ops.ripple(x)).all().item(), (x.ripples() == ops.ripple(x)).all().item())\n"
        "x.ripple().sum().backward(); print(np.allclose(x.grad, np.cos([0.5, 2]) * [0.5, 2] + np.sin([0.5, 2])))\n"
        "print(gs.Tensor.ripple, type(gs.Tensor.ripple) is type(gs.Tensor.exp))\n"
        "print(gs.Tensor.ripple.__doc__.splitlines()[-1])\n"
    )
    assert outputs(run_python, code, small) == [
        "True True",
        "True",
        "<method 'ripple' of 'gradsmith.Tensor' objects> True",
        "Waves that grow.",
    ]


def test_in_place(small, run_python):
    code = (
        "y = x * 1; version = y._version; z = y.ripple_(); print(z is y, y._version - version)\n"
        "y.sum().backward(); print(np.allclose(x.grad, np.cos([0.5, 2]) * [0.5, 2] + np.sin([0.5, 2])))\n"
        "base = gs.ones(3, requires_grad=True) * 1; base[1:].ripple_(); print(base.grad_fn.name())\n"
        "try:\n    x.ripple_()\nexcept RuntimeError as error:\n    print(error)\n"
    )
    found = outputs(run_python, code, small)
    assert found[:3] == ["True 1", "True", "CopySlices"]
    assert "leaf" in found[3]


def test_a_missing_in_place_form_says_why(small, run_python):
    lines = "  variants: [function, method]\n  out_of_place: 'the wave before it is needed: no, really'\n"
    small.write_text(SMALL.replace("  variants: [function, method, inplace]\n", lines), encoding="utf-8")
    code = (
        "for name in ('ripple_', 'ripples_'):\n"
        "    try:\n        getattr(x, name)()\n"
        "    except NotImplementedError as error:\n        print(error)\n"
    )
    message = (
        "ripple_(): ripple cannot be done in place: the wave before it is needed: no, really. "
        "Use ripple(), which gives its result as another tensor."
    )
    assert outputs(run_python, code, small) == [message, message]


def test_without_asking_there_are_none(small, run_python):
    done = run_python("-c", f"import gradsmith as gs; gs.load_ops({str(small)!r}); print(hasattr(gs.Tensor, 'ripple'))")
    assert done.stdout == "False\n"


def test_an_attribute_of_tensor_stays(small, run_python):
    small.write_text(SMALL.replace("ripple", "relu"), encoding="utf-8")
    done = run_python("-c", SETUP, str(small))
    assert done.stderr.splitlines()[-1] == (
        f"AttributeError: {small}: Tensor cannot get the method 'relu', since it has an attribute of that name of its "
        "own. Rename the op, leave 'method' out of its variants, or do without methods."
    )
    assert "cython" not in done.stdout  # it is found before anything is compiled


def test_an_edited_table_replaces_its_own_methods_alone(small, run_python, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(SMALL, encoding="utf-8")
    code = (
        "before = x.ripple(); text = open(sys.argv[1]).read()\n"
        "open(sys.argv[1], 'w').write(text.replace('sin(self) * self)', 'sin(self) * self + 1)'))\n"
        "gs.load_ops(sys.argv[1], methods=True); print((x.ripple() - before).tolist())\n"
        "try:\n    gs.load_ops(sys.argv[2], methods=True)\nexcept AttributeError as error:\n    print(error)\n"
        "print(len([name for name in sys.modules if name.startswith('other_')]))\n"
    )
    difference, message, left = outputs(run_python, code, small, other)
    assert eval(difference) == pytest.approx([1, 1])
    assert f"since it has an attribute of that name of {small}" in message
    assert left == "0"


def test_methods_of_many_kinds(cache, run_python, tmp_path):
    table = tmp_path / "kinds.yaml"
    text = (HERE / "kinds.yaml").read_text(encoding="utf-8")
    table.write_text(text.replace("variants: [function, inplace]", "variants: [function]"), encoding="utf-8")
    code = (
        "import sys, gradsmith as gs\n"
        "ops = gs.load_ops(sys.argv[1], functions=sys.argv[2], methods=True)\n"
        "x = gs.ones(2, 2)\n"
        "print(x.squareplus(width=0).tolist(), x.both(x).tolist() == ops.both(x, x).tolist())\n"
        "print(x.extremes(1).low.tolist(), x.every_other().shape, x.smoothed_(times=2) is x)\n"
        "print(hasattr(x, 'where'), x.mul(3).tolist(), hasattr(x, 'halves'), hasattr(x, 'spread_out'))\n"
    )
    done = run_python("-c", code, str(table), str(HERE / "kinds_functions.py"))
    assert done.stdout.splitlines() == [
        "[[1.0, 1.0], [1.0, 1.0]] True",
        "[1.0, 1.0] (1, 2) True",
        "True [[3.0, 3.0], [3.0, 3.0]] False False",
    ], done.stderr
