"""Signatures of helpers, as the declarations in runtime/formulas give them."""

from pathlib import Path

import pytest

from codegen.spec.helpers import FOLDER, helper_signatures, scan_helpers, scan_types
from codegen.spec.schema_types import Type

TYPES = scan_types((FOLDER / "schema_types.pxd").read_text(encoding="utf-8"))


def scanned(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "some.pxd"
    path.write_text(text, encoding="utf-8")
    return [str(signature) for signature in scan_helpers(path, TYPES)]


def test_a_declaration_is_a_signature(tmp_path: Path) -> None:
    text = (
        "cpdef TensorOrScalar first(\n    OptionalTensor self, OptionalIntList dim)\n"
        "cpdef Bool where_number(object x)\n"
        "cdef object private(object y)\n"
    )
    assert scanned(tmp_path, text) == [
        "first(Tensor? self, int[]? dim) -> Tensor|Scalar",
        "where.number(object x) -> bool",
    ]


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"some\.pxd: first: no type 'Tenser'.*Did you mean 'Tensor'\?"):
        scanned(tmp_path, "cpdef Tensor first(Tenser self)\n")


@pytest.mark.parametrize("declaration", ["cpdef first(Tensor self)", "cpdef Tensor first(Tensor self) except *"])
def test_a_declaration_of_another_form_is_refused(tmp_path: Path, declaration: str) -> None:
    with pytest.raises(ValueError, match=r"some\.pxd: a cpdef"):
        scanned(tmp_path, f"{declaration}\n")


def test_every_declaration_is_read() -> None:
    for module in ("formulas", "numbers"):
        text = (FOLDER / f"{module}.pxd").read_text(encoding="utf-8")
        assert len(helper_signatures()[module]) == text.count("cpdef ")


def test_names_of_types_say_what_they_are() -> None:
    """``OptionalIntList`` is ``int[]?``."""
    assert TYPES["OptionalIntList"] == Type("int", is_list=True, optional=True)
    assert len(set(TYPES.values())) == len(TYPES)
