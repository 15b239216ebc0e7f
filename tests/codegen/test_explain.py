"""The output of `make explain OP=name`."""

from pathlib import Path

import pytest
from own_table import TEXT, own_table
from small_table import OPS

from codegen.__main__ import main
from codegen.build.build import load_table
from codegen.explain import Sources, explain, named_ops
from codegen.write.render import render_all


@pytest.fixture(scope="module")
def sources() -> Sources:
    table = load_table(OPS)
    return Sources(table, OPS, render_all(table))


def section(text: str, title: str) -> list[str]:
    """The lines below a heading, without their margin."""
    part = text.split(f"---- {title}", 1)[1].partition("\n\n")[2]
    return [line[2:] for line in part.split("\n\n---- ")[0].rstrip().splitlines()]


def test_the_entry_is_shown_as_it_is_written(sources: Sources) -> None:
    shown = section(explain("exp", sources), "The entry")
    start = OPS.splitlines().index("- name: exp(Tensor self) -> Tensor")
    assert shown == [f"{i + 1:5d}  {OPS.splitlines()[i]}" for i in range(start, start + 6)]


def test_consequences(sources: Sources) -> None:
    assert section(explain("exp", sources), "What follows from it") == [
        "value       NumPy's inner loop `exp`, called directly",
        "gradient    self: grad * conj(result)    (a loop, or ops when its graph is wanted)",
        "forward     result: auto_element_wise    (derived)",
        "            result_t = op_mul_tensor(self_t, result)",
        "forms       exp, x.exp()",
    ]
    assert "gradient    none: it jumps" in section(explain("gt", sources), "What follows from it")
    mul = section(explain("mul", sources), "What follows from it")
    assert (
        "forms       mul, x.mul(), x.mul_(), mul(..., out=), __mul__, __rmul__, __imul__, multiply (another name)"
        in mul
    )
    assert "variants    op_mul_tensor, op_mul_scalar, one for each kind of argument" in mul


def test_out_of_several_results_is_shown_by_name() -> None:
    text = OPS.replace(
        "output_differentiability: [true, false]\n  variants: [function, method]",
        "output_differentiability: [true, false]\n  variants: [function, out]",
    )
    table = load_table(text)
    shown = section(explain("max", Sources(table, text, render_all(table))), "What follows from it")
    assert "forms       max, max(..., out=(values, indices))" in shown


def test_what_is_saved(sources: Sources) -> None:
    assert section(explain("mul", sources), "What is saved") == [
        "MulBackward0:",
        "self        for the gradient of 'other', when that is wanted; an input",
        "other       for the gradient of 'self', when that is wanted; an input",
        "(not saved: result, which no formula reads)",
        "in short: saves self for the gradient of other, other for the gradient of self",
        "MulScalarBackward0:",
        "other       for the gradient of 'self'; a value",
        "(not saved: self, result, which no formula reads)",
    ]
    assert section(explain("exp", sources), "What is saved") == [
        "result      for the gradient of 'self'; an output, kept without a cycle",
        "(not saved: self, which no formula reads)",
        "in short: saves result: exp need not be computed again",
    ]
    assert section(explain("sum.dim", sources), "What is saved") == [
        "self.shape  for the gradient of 'self'; the value alone, not the tensor",
        "dim         for the gradient of 'self'; a value",
        "keepdim     for the gradient of 'self'; a value",
        "(not saved: result, which no formula reads)",
        "in short: saves no tensor: the shape of self is enough",
    ]
    assert section(explain("gt", sources), "What is saved") == ["Nothing: there is no node."]


def test_generated_text(sources: Sources) -> None:
    text = explain("exp", sources)
    node = section(text, "Node and wrapper")
    assert "cdef class ExpBackward0(Node):" in node and "cdef TensorBase op_exp(TensorBase self):" in node
    assert not any(line.startswith(("def ", "cdef class MulBackward")) for line in node)
    assert any("EXP_BACKWARD[1]" in line for line in section(text, "Kernels"))
    assert section(explain("sum", sources), "Kernels")[0] == "None: there is no loop in it."


def test_a_name_means_all_its_overloads(sources: Sources) -> None:
    def found(name: str) -> list[str]:
        return [op.signature.full_name for op in named_ops(name, sources.table)]

    assert found("sum") == ["sum", "sum.dim"]
    assert found("sum.dim") == ["sum.dim"]
    assert found("multiply") == found("mul_") == ["mul"]
    with pytest.raises(LookupError, match=r"derivatives.yaml has no op 'sub_'\. Did you mean 'sub'\?"):
        found("sub_")
    with pytest.raises(LookupError, match=r"has no op 'sumx'\. Did you mean 'sum'\? Beginning alike: sum, sum\.dim\."):
        found("sumx")


def test_headings_are_bold_on_a_terminal_only(sources: Sources) -> None:
    plain, styled = explain("exp", sources), explain("exp", sources, styled=True)
    assert "\033" not in plain
    assert "\033[1m---- The entry\033[0m\n" in styled
    assert styled.replace("\033[1m", "").replace("\033[0m", "") == plain


@pytest.mark.long
def test_every_entry_can_be_explained() -> None:
    table = own_table()
    sources = Sources(table, TEXT, render_all(table))
    for op in table.ops:
        text = explain(op.signature.full_name, sources)
        assert f"==== {op.signature.full_name}    derivatives.yaml:{op.line}" in text
        assert op.base in " ".join(section(text, "The entry")[:2]), op.name


@pytest.mark.long
def test_the_command_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nosuch"]) == 1
    assert "derivatives.yaml has no op 'nosuch'." in capsys.readouterr().err


def test_an_entry_of_another_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "my_ops.yaml"
    table.write_text(
        "own:\n- name: twice(Tensor self) -> Tensor\n  forward: array(doubled(self))\n  self: grad * 2\n"
        "  samples: real(3)\n  doc: Twice the tensor.\n"
    )
    functions = tmp_path / "functions.py"
    functions.write_text("def doubled(array):\n    return array + array\n")
    assert main(["explain", "twice", str(table), "--functions", str(functions)]) == 0
    shown = capsys.readouterr().out
    assert f"==== twice    {table}:2" in shown
    assert any(
        "_functions.doubled(lent(array_of(self)))" in line for line in section(shown, "Node and wrapper: own.pyx")
    )


def test_what_was_derived_and_chosen_is_said() -> None:
    entry = (
        "- name: root(Tensor self) -> Tensor\n  forward: pointwise(exp(self))\n"
        "  samples: real(3)\n  doc: Exponential.\n"
    )
    text = OPS.replace("exponential:\n", f"exponential:\n{entry}")
    table = load_table(text)
    shown = explain("root", Sources(table, text, render_all(table)))
    [gradient] = [line for line in section(shown, "What follows from it") if line.startswith("gradient")]
    assert gradient.endswith("grad * conj(result)    (derived; a loop, or ops when its graph is wanted)")
    assert section(shown, "What is saved")[-1] == "in short: saves result: exp need not be computed again"
