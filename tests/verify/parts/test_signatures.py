"""Signatures as PyTorch and NumPy have them: what the list says, and that a proof reads it."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from gradsmith.generated.op_table import OPS
from gradsmith.verify import prove
from gradsmith.verify.checks.signature import known_signatures, signature_of
from gradsmith.verify.samples import key_of

NAMES = Path(__file__).resolve().parents[3] / "docs" / "names" / "torch.txt"
OF_NUMPY = {
    "isclose": "isclose", "tril": "tril", "correlate": "correlate", "convolve": "convolve",
    "unwrap": "unwrap", "interp": "interp", "ediff1d": "ediff1d", "choose": "choose", "tensordot": "tensordot",
}  # fmt: skip


def row_named(key):
    return next(row for row in OPS if key_of(row) == key)


def pytorchs_name(row):
    """``special.i0`` of ``special_i0``."""
    module, _, name = row.base.partition("_")
    return f"{module}.{name}" if module in ("special", "linalg", "fft") else row.base


def test_all_public_ops_that_pytorch_has_are_listed():
    public = [row for row in OPS if row.forms and "internal" not in row.forms]
    assert set(known_signatures()) <= {key_of(row) for row in public}
    names = {line.removeprefix("Tensor.") for line in NAMES.read_text(encoding="utf-8").splitlines()}
    missing = [key_of(row) for row in public if pytorchs_name(row) in names and key_of(row) not in known_signatures()]
    assert not missing, "write them into gradsmith/verify/signatures.py, as PyTorch has them"


@pytest.mark.parametrize("key", OF_NUMPY)
def test_defaults_are_those_of_numpy(key):
    theirs = inspect.signature(getattr(np, OF_NUMPY[key])).parameters.values()
    values = [p.default for p in theirs if p.default is not p.empty and p.name != "out"]
    own = [text.partition("=")[2] for text in known_signatures()[key].split(", ") if "=" in text]
    assert own == [repr(value) for value in values]


def test_signatures_have_stars_and_defaults():
    assert signature_of(row_named("var")) == "self, dim=None, *, correction=1, keepdim=False"
    assert signature_of(row_named("histc")) == "self, bins=100, min=0, max=0"


def changed(key, number, **fields):
    row = row_named(key)
    arguments = list(row.arguments)
    arguments[number] = arguments[number]._replace(**fields)
    return row._replace(arguments=tuple(arguments))


@pytest.mark.parametrize(
    "row",
    [
        changed("addcmul", 3, default="2"),
        changed("isclose", 2, default="1e-04"),
        changed("cosine_similarity", 2, default="0"),
        changed("rsub", 2, keyword_only=False),
        changed("tril", 1, default=None),
        changed("heaviside", 1, name="other"),
    ],
    ids=lambda row: key_of(row),
)
def test_another_default_place_or_star_is_wrong(row):
    assert "signature" in {failure.subject for failure in prove(row).failures}


def test_an_op_of_ones_own_is_compared_with_nobody():
    row = changed("tanh", 0, name="angle")._replace(base="arctangent_of_nobody")
    assert "signature" not in {failure.subject for failure in prove(row).failures}
