"""Whole files, and the command line."""

import ast
import re
from pathlib import Path

import jinja2
import pytest
from own_table import own_table
from small_table import OPS, table_with

from codegen.__main__ import main
from codegen.spec.vocabulary import module_within
from codegen.table_files import generated_table
from codegen.write.render import TEMPLATES, environment, render_all
from codegen.write.write import MARK, differences

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return render_all(table_with())


def test_one_module_per_family(files: dict[str, str]) -> None:
    families = ("arithmetic", "exponential", "comparison", "reduce", "shape")
    assert {f"{family}.{suffix}" for family in families for suffix in ("pyx", "pxd", "pyi")} <= files.keys()
    assert "arithmetic_kernels.c" in files
    assert "shape_kernels.c" not in files  # nothing there is a loop


def test_every_file_says_that_it_is_generated(files: dict[str, str]) -> None:
    assert all(MARK in text.partition("\n")[0] for name, text in files.items() if not name.endswith(".json"))


def test_every_file_ends_with_one_newline_and_has_no_trailing_space(files: dict[str, str]) -> None:
    for name, text in files.items():
        assert text.endswith("\n") and not text.endswith("\n\n"), name
        assert not re.search(r"[ \t]\n", text), name
        assert "\n\n\n\n" not in text, name


def test_the_same_table_gives_the_same_bytes(files: dict[str, str]) -> None:
    assert render_all(table_with()) == files


def test_python_files_are_python(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith((".py", ".pyi")):
            ast.parse(text, name)


def test_every_call_of_the_tensor_class_is_declared(files: dict[str, str]) -> None:
    declared = {name for file, text in files.items() if file.endswith(".pxd")
                for name in re.findall(r"^cdef \w+ (\w+)\(", text, re.MULTILINE)}  # fmt: skip
    called = set(re.findall(r"\b((?:call|bind)_\w+)\(", files["tensor.pyx"]))
    assert called and called <= declared


def test_declarations_keep_to_one_line(files: dict[str, str]) -> None:
    """The build finds out by name who depends on which."""
    for name, text in files.items():
        if name.endswith(".pxd"):
            lines = [line for line in text.splitlines() if line.startswith("cdef ") and "class" not in line]
            assert all(line.endswith(")") for line in lines), name


def test_adding_an_op_leaves_other_families_alone(files: dict[str, str]) -> None:
    added = render_all(table_with("more(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * result"))
    changed = {name for name in added if added[name] != files.get(name)}
    assert changed == {
        "loss.pyx", "loss.pxd", "loss.pyi", "loss_kernels.c", "loss_kernels.h",
        "tensor.pyx", "tensor.pyi", "op_table.py", "__init__.py", "kernel_formulas.json",
    }  # fmt: skip


def test_a_misspelt_name_in_a_template_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ entry.nmae }}").render(entry=object())


def test_every_template_compiles() -> None:
    for path in TEMPLATES.glob("*.j2"):
        environment().get_template(path.name)


def test_templates_loop_and_hardly_decide() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.j2")]
    tests = [found for text in texts for found in re.findall(r"\{%-? *(?:el)?if |\{\{[^}]* if ", text)]
    assert len(tests) < 40


def test_rows_of_the_table(files: dict[str, str]) -> None:
    namespace: dict[str, object] = {"__name__": "op_table"}
    exec(files["op_table.py"], namespace)
    rows = {row.name: row for row in namespace["OPS"]}  # type: ignore[attr-defined]
    mul = rows["mul(Tensor self, Tensor|Scalar other) -> Tensor"]
    assert mul.inputs == ("self", "other")
    assert mul.gradients == (("self", "grad * conj(other)"), ("other", "grad * conj(self)"))
    assert mul.samples == ({"self": "real(3, 4)", "other": "real(3, 4)"}, {"self": "real(3, 4)", "other": "2.5"})
    assert mul.entries == ("op_mul_tensor", "op_mul_scalar")
    assert mul.parameters == ("input", "other")


# ---- the command line


def test_generate_then_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "derivatives.yaml"
    table.write_text(OPS.replace("cat_backward(grad, tensors.shape, dim)", "cat_backward(grad, tensors.shape, dim)"))
    arguments = [str(table), "--output", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    capsys.readouterr()
    (tmp_path / "out" / "reduce.pyx").write_text(f"# {MARK}\n")
    assert main([*arguments, "--check"]) == 1
    output = capsys.readouterr().out
    assert "differs   reduce.pyx (+" in output and "make generate" in output


def test_mistakes_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "derivatives.yaml"
    table.write_text(OPS.replace("self: -grad", "self: -gard", 1))
    assert main([str(table), "--output", str(tmp_path / "out")]) == 1
    assert not (tmp_path / "out").exists()
    error = capsys.readouterr().err
    assert "derivatives.yaml:" in error and "gard" in error and "1 error" in error


def test_the_table_that_was_generated_from_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors that come into the table afterwards leave it alone."""
    table, kept = tmp_path / "derivatives.yaml", tmp_path / "build" / "derivatives.yaml"
    monkeypatch.setattr("codegen.__main__.ROOT", tmp_path)
    monkeypatch.setattr("codegen.__main__.OWN_TABLE", table)
    monkeypatch.setattr("codegen.table_files.GENERATED_FROM", kept)
    table.write_text(OPS)
    assert main([str(table)]) == 0
    assert kept.read_text() == OPS and generated_table() == kept
    table.write_text(OPS.replace("self: -grad", "self: -gard", 1))
    assert main([str(table)]) == 1
    assert kept.read_text() == OPS


def test_the_committed_files_are_up_to_date() -> None:
    folder = ROOT / "runtime/arrays/functions"
    compiled = frozenset(module_within(folder, path) for path in folder.rglob("*.pxd"))
    wanted = render_all(own_table(), compiled)
    assert [difference.summary for difference in differences(ROOT / "generated", wanted)] == []
