"""Every entry of the table is proven, and the support matrix says what was. `make test` proves one of each family."""

from pathlib import Path

import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify.reports.matrix import page_of
from gradsmith.verify.reports.summary import problems_of
from gradsmith.verify.samples import cases_of, key_of
from gradsmith.verify.session import Source, prove_rows

ROOT = Path(__file__).resolve().parents[2]

FAMILIES = list(dict.fromkeys(row.family for row in OPS))

whole_table = pytest.mark.long


def test_first_entries_hold():
    numbers = [next(n for n, row in enumerate(OPS) if row.family == family) for family in FAMILIES]
    proofs = prove_rows(Source(), numbers)
    assert [line for proof in proofs for line in problems_of(proof, Source().places)] == []


@whole_table
@pytest.mark.parametrize("family", FAMILIES)
def test_every_entry_holds(proofs, family):
    """These come first, so that none of them waits for the proofs of the whole table."""
    numbers = [n for n, row in enumerate(OPS) if row.family == family]
    assert [line for n in numbers for line in problems_of(proofs[n], Source().places)] == []


@whole_table
def test_no_entry_has_a_gap(proofs):
    assert [f"{proof.key}: {text}" for proof in proofs for text in proof.missing] == []


@whole_table
def test_every_value_has_a_reference(proofs):
    reasons = [reason for proof in proofs for reason in proof.not_run.values()]
    said = ("not_implemented(", "the derivative for ")
    assert [reason for reason in reasons if not reason.startswith(said)] == []
    assert [proof.key for proof in proofs if "value" not in proof.tried] == []


# They consist of `ldl_compact`, whose gradient is not implemented.
WITHOUT_GRADIENT = {"linalg_ldl_factor", "linalg_ldl_factor_ex"}


@whole_table
def test_every_gradient_was_tried(proofs):
    for row, proof in zip(OPS, proofs):
        if row.base not in WITHOUT_GRADIENT and any(case.inputs for case in cases_of(row)):
            assert {"reverse", "forward", "double", "float32"} <= set(proof.tried), key_of(row)
            assert row.complex == ("complex" in proof.tried), key_of(row)
        if "inplace" in row.forms or row.base.endswith("_"):
            assert "in-place" in proof.tried, key_of(row)
        if "out" in row.forms:
            assert "out" in proof.tried, key_of(row)
        if "copy" in row.forms:
            assert "copy" in proof.tried, key_of(row)
        if row.points:
            assert "points" in proof.tried, key_of(row)


@whole_table
def test_support_matrix_is_up_to_date(proofs):
    assert (ROOT / "docs" / "reference" / "support.md").read_text(encoding="utf-8") == page_of(OPS, proofs), (
        "run `make verify`"
    )


@whole_table
def test_every_batching_is_proven(proofs):
    assert [proof.key for proof in proofs if not proof.counts["batching"]] == []


def test_few_ops_are_called_once_for_each_slice():
    reasons = {key_of(row): row.batching.partition(": ")[2] for row in OPS if row.batching.startswith("loop")}
    assert len(reasons) <= len(OPS) / 20
    assert all(reasons.values()), reasons
