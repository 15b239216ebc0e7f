"""Every sample of every entry either exports, and agrees with eager, or raises the error that lists ops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError
from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import key_of
from tests.compiler.samples import Sample
from tests.graph.compiled_c import called, joined, library_of

pytestmark = [
    pytest.mark.compiles,
    pytest.mark.filterwarnings("ignore:Casting complex values"),
]
DTYPES = ("float64", "float32")
TOLERANCES = {"float64": 1e-11, "float32": 2e-4}
FEWEST = 300  # entries of which something exports
IN_LIBRARY = 400


class Case:
    """A function that was exported, and what eager gives."""

    def __init__(self, row: Any, kind: str, sample: Sample, number: int) -> None:
        self.expected: list[Any] = []
        self.label = f"{key_of(row)} {kind}: {sample.setting.label}"
        self.key, self.kind, self.dtype, self.name = key_of(row), kind, sample.setting.dtype, f"f{number}"
        self.function, self.is_leaf = getattr(sample, kind), [one.requires_grad for one in sample.tensors(sample.first)]
        self.args = [one.detach() for one in sample.tensors(sample.second)]
        self.traced_with = [one.detach() for one in sample.tensors(sample.first)]

    def results(self, tensors: list[Any]) -> list[Any]:
        """As a function of tensors without history, which becomes that of leaves inside."""
        leaves = [one.detach().requires_grad_() if is_leaf else one for one, is_leaf in zip(tensors, self.is_leaf)]
        return [one.detach() for one in self.function(*leaves) if isinstance(one, gs.Tensor)]


def tried(row: Any, kind: str, setting: Any, number: int) -> Case | None:
    """None where eager raises."""
    case = Case(row, kind, Sample(setting), number)
    try:
        case.expected = case.results(case.args)
    except Exception:
        return None
    return case


def exported_cases(folder: Path) -> list[Case]:
    cases: list[Case] = []
    for row in OPS:
        for setting in Subject(row).settings(DTYPES):
            for kind in ("values", "gradients"):
                case = tried(row, kind, setting, len(cases))
                if case is not None and is_exported(case, folder):
                    cases.append(case)
    return cases


def is_exported(case: Case, folder: Path) -> bool:
    try:
        gs.graph.export_c(lambda *tensors: case.results(list(tensors)), case.traced_with, case.name, folder)
    except (NotImplementedError, TraceError, TypeError) as error:
        assert "export_c(f" in str(error) or "compile(f" in str(error), case.label
        return False
    return True


def agrees(found: Any, expected: Any, tolerance: float) -> bool:
    wanted = expected.detach().numpy()
    return np.allclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_what_exports_agrees_with_eager(tmp_path: Path) -> None:
    cases = exported_cases(tmp_path)
    keys = set()
    for first in range(0, len(cases), IN_LIBRARY):
        part = cases[first : first + IN_LIBRARY]
        file = joined([tmp_path / f"{case.name}.c" for case in part], tmp_path / f"part{first}.c")
        library = library_of([file], file.with_suffix(".so"))
        for case in part:
            found = called(library, case.name, case.args, case.expected)
            assert all(agrees(one, other, TOLERANCES[case.dtype]) for one, other in zip(found, case.expected)), (
                case.label
            )
            keys.add(case.key)
    assert len(keys) >= FEWEST
