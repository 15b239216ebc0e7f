"""Proofs are kept as long as nothing that they depend on has changed."""

import pytest

from gradsmith.codegen.build.build import load_outside
from gradsmith.codegen.extension import library_table
from gradsmith.generated.op_table import OPS
from gradsmith.verify import kept as keeping
from gradsmith.verify import prove, session
from gradsmith.verify.kept import Calls, Kept
from gradsmith.verify.reports.summary import line_of
from gradsmith.verify.samples import key_of

NAMES = [row.name for row in OPS]


def row_of(key, rows=OPS):
    return next(row for row in rows if key_of(row) == key)


def kept_of(folder, rows=OPS):
    return Kept(library_table(), tuple(rows), folder=folder)


def with_changed(key, **changes):
    return [row._replace(**changes) if key_of(row) == key else row for row in OPS]


@pytest.fixture(scope="module")
def proof():
    return prove(row_of("tanh"))


def test_a_proof_comes_back_as_it_was(tmp_path, proof):
    kept = kept_of(tmp_path)
    assert kept.expect(row_of("tanh")) is None
    kept.keep(row_of("tanh"), proof)
    found = kept.expect(row_of("tanh"))
    assert found.is_kept and found.is_proven and found.tried == proof.tried
    assert (found.counts, found.mutants, found.resolution) == (proof.counts, proof.mutants, proof.resolution)
    assert line_of(found, 6).endswith("  kept")


def test_equal_mutants_come_back_with_their_reasons(tmp_path):
    made = prove(row_of("clamp_min"))
    kept_of(tmp_path).keep(row_of("clamp_min"), made)
    found = kept_of(tmp_path).expect(row_of("clamp_min"))
    assert found.mutants == made.mutants and found.mutants.by_algebra and found.mutants.explained


@pytest.mark.parametrize(
    ("key", "changes", "is_expected"),
    [
        ("tanh", {"samples": ({"self": "real(5)"},)}, False),
        ("tanh", {"gradients": (("self", "grad"),)}, False),
        ("tanh", {"doc": "In other words."}, True),
        ("mul", {"gradients": (("self", "grad"),)}, False),  # the formula multiplies
        ("cumsum", {"gradients": (("self", "grad"),)}, True),
    ],
)
def test_what_a_proof_depends_on(tmp_path, proof, key, changes, is_expected):
    kept_of(tmp_path).keep(row_of("tanh"), proof)
    rows = with_changed(key, **changes)
    found = kept_of(tmp_path, rows).expect(row_of("tanh", rows))
    assert (found is not None) == is_expected


def test_what_is_beneath_all(tmp_path, proof, monkeypatch):
    kept_of(tmp_path).keep(row_of("tanh"), proof)
    monkeypatch.setattr(keeping, "beneath", lambda: "another runtime")
    assert kept_of(tmp_path).expect(row_of("tanh")) is None


def test_only_what_is_proven_is_kept(tmp_path):
    row = row_of("sum.dim")._replace(samples=({"self": "real(3, 4)", "dim": "0"},))
    kept_of(tmp_path).keep(row, prove(row))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_broken_counts_as_none(tmp_path, proof):
    kept = kept_of(tmp_path)
    kept.keep(row_of("tanh"), proof)
    (file,) = tmp_path.iterdir()
    file.write_text("{")
    assert kept.expect(row_of("tanh")) is None


def test_reached_entries_are_those_of_formulas_and_references():
    assert row_of("exp").name in kept_of(None).reached(row_of("logsumexp")) | kept_of(None).reached(row_of("exp"))
    assert row_of("mul").name in kept_of(None).reached(row_of("tanh"))


def test_a_run_proves_what_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "proofs_folder", lambda: tmp_path)
    monkeypatch.setattr(keeping, "proofs_folder", lambda: tmp_path)
    number = NAMES.index(row_of("neg").name)
    (first,) = session.prove_rows(session.Source(), [number], 1)
    (second,) = session.prove_rows(session.Source(), [number], 1)
    (again,) = session.prove_rows(session.Source(), [number], 1, again=True)
    assert [proof.is_kept for proof in (first, second, again)] == [False, True, False]


FUNCTIONS = """
unary:
- function: scaled(Tensor x, int factor) -> Tensor
  forward: composite(x * (factor + {number}))
- name: doubled(Tensor self) -> Tensor
  forward: array(self * 2)
  let:
    part: scaled(grad, 1)
  self: part
  samples: real(3)
  doc: Twice the tensor.
"""


def test_a_proof_depends_on_what_formulas_have_from_functions_of_the_table():
    texts = {
        Calls(load_outside(FUNCTIONS.format(number=n), "ops.yaml", "ops", library_table(), {})).text_of(
            "doubled(Tensor self) -> Tensor"
        )
        for n in (1, 2)
    }
    assert len(texts) == 2
